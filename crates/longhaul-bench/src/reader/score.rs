//! How much of what the questions need a context holds.

use super::case::Question;

/// What a context answers.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// For each question its kind and which of its groups are met.
    pub met: Vec<(String, Vec<bool>)>,
}

impl Score {
    /// Scores a context, given as text, against `questions`, whose spans are folded.
    pub fn of(context: &str, questions: &[Question]) -> Score {
        let context = fold(context);
        let is_met = |group: &Vec<String>| group.iter().any(|span| context.contains(span.as_str()));
        let met = questions
            .iter()
            .map(|question| (question.kind.clone(), question.needs.iter().map(is_met).collect()))
            .collect();
        Score { met }
    }

    /// Returns the share of each question's groups that are met.
    pub fn groups(&self) -> impl Iterator<Item = f64> {
        self.met
            .iter()
            .map(|(_, met)| met.iter().filter(|met| **met).count() as f64 / met.len().max(1) as f64)
    }

    /// Returns for each question 1 where all of its groups are met, else 0.
    pub fn whole(&self) -> impl Iterator<Item = f64> {
        self.met.iter().map(|(_, met)| f64::from(u8::from(met.iter().all(|met| *met))))
    }
}

/// Returns the mean; nothing has the mean 0.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Returns `text` in lower case, with white space, backticks and asterisks folded to one blank.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || matches!(c, '`' | '*') {
            if !gap {
                folded.push(' ');
            }
            gap = true;
        } else {
            folded.extend(c.to_lowercase());
            gap = false;
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_whole_where_each_group_has_one_of_its_spans() {
        let spans = |group: &[&str]| group.iter().map(|span| fold(span)).collect::<Vec<_>>();
        let question = Question {
            kind: "state".into(),
            question: "What is done?".into(),
            needs: vec![spans(&["lint *clean*", "no findings"]), spans(&["1329 pass"])],
        };
        let score = |context| Score::of(context, std::slice::from_ref(&question));
        assert_eq!(score("Lint\n  `clean`, 1329  pass").whole().sum::<f64>(), 1.0);
        assert_eq!(score("no findings").groups().sum::<f64>(), 0.5);
        assert_eq!(score("no findings").whole().sum::<f64>(), 0.0);
        assert_eq!(mean(std::iter::empty()), 0.0);
    }
}
