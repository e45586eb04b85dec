//! How likely a statement is to be needed: a sum of whole-number weights, the same on every machine.

use std::fmt::Write as _;

use super::{FEATURES, N_FEATURES, Statement, StatementKind, Statements, signs::Signs};

/// What each feature of a statement adds to the logarithm of its odds, in thousandths.
///
/// The built-in weights are data (`weights.txt`), fitted by `cargo xtask bench fit`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementWeights {
    weights: Vec<i32>,
    alone: Alone,
}

/// The weights of what is known of a statement alone, at hand for each that is read: first of what is said, then of what is
/// shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Alone {
    settles: [i32; 2],
    fails: [i32; 2],
    sentence: [i32; 2],
    counts: [i32; 2],
    import: [i32; 2],
}

impl Alone {
    fn of(weights: &[i32]) -> Alone {
        let of = |name: &str| {
            let at = FEATURES.iter().position(|feature| *feature == name);
            at.and_then(|at| weights.get(at)).copied().unwrap_or_default()
        };
        Alone {
            settles: [of("settles_said"), of("settles_shown")],
            fails: [of("fails_said"), of("fails_shown")],
            sentence: [0, of("sentence_shown")],
            counts: [of("counts"), of("counts")],
            import: [0, of("import")],
        }
    }
}

/// A list of weights could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsError {
    line: String,
}

impl std::fmt::Display for WeightsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a weight is the name of a feature and a whole number, not {:?}", self.line)
    }
}

impl std::error::Error for WeightsError {}

impl StatementWeights {
    /// Returns the built-in weights.
    pub fn builtin() -> StatementWeights {
        // A test reads them, so that nothing is ever left out here.
        StatementWeights::parse(include_str!("weights.txt")).unwrap_or_default()
    }

    /// Returns weights in the order of [`FEATURES`].
    pub fn new(weights: [i32; N_FEATURES]) -> StatementWeights {
        StatementWeights { weights: weights.to_vec(), alone: Alone::of(&weights) }
    }

    /// Reads weights from lines of `name weight`; features that are not named weigh nothing.
    ///
    /// # Errors
    /// When a line names no feature, or gives no whole number.
    pub fn parse(text: &str) -> Result<StatementWeights, WeightsError> {
        let mut weights = vec![0; N_FEATURES];
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let fault = || WeightsError { line: line.to_string() };
            let (name, weight) = line.split_once(char::is_whitespace).ok_or_else(fault)?;
            let at = FEATURES.iter().position(|feature| *feature == name).ok_or_else(fault)?;
            weights[at] = weight.trim().parse().map_err(|_| fault())?;
        }
        Ok(StatementWeights { alone: Alone::of(&weights), weights })
    }

    /// Returns the weights as [`parse`](Self::parse) reads them.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, weight) in FEATURES.iter().zip(&self.weights) {
            let _ = writeln!(text, "{name} {weight}");
        }
        text
    }

    /// Returns the logarithm of the odds of a statement with these features, in thousandths.
    pub fn score(&self, features: &[i32; N_FEATURES]) -> i32 {
        self.weights.iter().zip(features).map(|(weight, value)| weight * value).sum()
    }

    /// Returns what a statement is worth by what is known of it alone: what the pool keeps when it is full.
    pub(super) fn prior(&self, statement: &Statement) -> i32 {
        let signs = statement.signs;
        let who = usize::from(!statement.kind.is_said() && statement.kind != StatementKind::Thought);
        let kind = match statement.kind {
            // What a person says is kept to the last.
            StatementKind::Person => 4000,
            StatementKind::Report => 1500,
            StatementKind::Answer => 1500,
            StatementKind::Prose => 1000,
            StatementKind::Thought => 500,
            StatementKind::Added => 200,
            StatementKind::Todo | StatementKind::Argument => 0,
            StatementKind::Removed | StatementKind::Harness => -1000,
            StatementKind::Command | StatementKind::Result | StatementKind::Pasted => 0,
        };
        let sign = |sign: Signs, weights: [i32; 2]| if signs.has(sign) { weights[who] } else { 0 };
        kind + sign(Signs::SETTLES, self.alone.settles)
            + sign(Signs::FAILS, self.alone.fails)
            + sign(Signs::PROSE, self.alone.sentence)
            + sign(Signs::COUNTS, self.alone.counts)
            + sign(Signs::IMPORT, self.alone.import)
            - i32::from(statement.words.len() < 3) * 1000
            - i32::from(statement.nth.min(200)) * 5
    }
}

/// Returns the logarithm of a probability in thousandths, from that of its odds.
fn log_probability(odds: i32) -> i32 {
    // -ln(1 + e^-x) at whole numbers from -3 to 5; beyond, the curve is a line.
    const CURVE: [i32; 9] = [-3049, -2127, -1313, -693, -313, -127, -49, -18, -7];
    if odds <= -3000 {
        return odds - 49;
    }
    let place = (odds + 3000).min(7999);
    let (at, rest) = ((place / 1000) as usize, place % 1000);
    CURVE[at] + (CURVE[at + 1] - CURVE[at]) * rest / 1000
}

impl Statements {
    /// Returns for every statement the logarithm of the probability that it is needed, in thousandths, by the built-in
    /// weights or by `weights`.
    pub fn rank(&self, weights: Option<&StatementWeights>) -> Vec<i32> {
        let by = |weights: &StatementWeights| {
            self.features().iter().map(|features| log_probability(weights.score(features))).collect()
        };
        match weights {
            Some(weights) => by(weights),
            // A compaction asks for it several times.
            None => self.ranked.get_or_init(|| by(&self.weights)).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_weights_can_be_read() {
        let weights = StatementWeights::parse(include_str!("weights.txt")).unwrap();
        assert_eq!(StatementWeights::parse(&weights.to_text()).unwrap(), weights);
        assert!(weights.weights.iter().any(|weight| *weight != 0));
        assert!(StatementWeights::parse("no_such_feature 3").is_err());
        assert!(StatementWeights::parse("base much").is_err());
    }

    #[test]
    fn a_probability_grows_with_its_odds() {
        let all: Vec<i32> = (-9000..9000).step_by(250).map(log_probability).collect();
        assert!(all.is_sorted() && all.iter().all(|log| *log < 0), "{all:?}");
        assert_eq!(log_probability(0), -693);
    }
}
