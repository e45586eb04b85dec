//! Fitting the ranker's weights to recordings, each project left out in turn.

use longhaul_extract::{DefaultRanker, FactIndex, RankContext, Subjects, Weights, features};

use super::{
    session::{Group, Session, Where},
    weigh::Weigher,
};

/// How many properties a fact has.
pub const COUNT: usize = Weights::NAMES.len();

/// The facts before one cut, and which of them the future asks for.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The project of the recording.
    pub project: String,
    /// The properties of each fact, and how much of it is asked for, 0.0 to 1.0.
    pub examples: Vec<([f64; COUNT], f64)>,
}

/// Returns the cuts of all sessions of `group` at 50, 70 and 90 %.
pub fn cuts(sessions: &[Session], weigher: &Weigher, group: Group) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for session in sessions.iter().filter(|session| session.group == group) {
        if group == Group::Coding && session.tokens() < 4000 {
            continue;
        }
        for at in [0.5, 0.7, 0.9].into_iter().filter_map(|share| session.cut(share)) {
            let mut index = FactIndex::new();
            session.transcript.entries()[..at].iter().for_each(|entry| index.push(entry));
            let subjects = Subjects::new(&index, &DefaultRanker::default());
            let mut asked = vec![0.0_f64; subjects.all().len()];
            for (name, demanded) in session.demand(at) {
                if let Some(subject) = subjects.named(&index, &name)
                    && matches!(demanded.place, Where::Prose | Where::Key)
                {
                    let weight = weigher.weight(&name, demanded.kind, &session.project);
                    asked[subject] = asked[subject].max(weight);
                }
            }
            let context = RankContext::of(&index);
            let known = subjects.all().iter().zip(asked);
            let examples: Vec<_> = known
                .filter_map(|(subject, asked)| Some((features(&subject.fact, &context)?, asked)))
                .collect();
            if examples.iter().filter(|(_, asked)| *asked > 0.0).count() >= 2 {
                cuts.push(Cut { project: session.project.clone(), examples });
            }
        }
    }
    cuts
}

/// Returns the projects of `cuts`, sorted.
pub fn projects(cuts: &[Cut]) -> Vec<String> {
    let mut projects: Vec<String> = cuts.iter().map(|cut| cut.project.clone()).collect();
    projects.sort();
    projects.dedup();
    projects
}

/// Fits a logistic regression with a ridge penalty by Newton's method; every cut weighs the same. Properties that `used`
/// leaves out get the weight zero.
pub fn fit<'c>(cuts: impl Iterator<Item = &'c Cut> + Clone, used: &[bool; COUNT]) -> [f64; COUNT] {
    let (count, all) =
        cuts.clone().fold((0.0, 0.0), |(n, all), cut| (n + 1.0, all + cut.examples.len() as f64));
    let mut weights = [0.0; COUNT];
    for _ in 0..STEPS {
        let mut gradient = weights.map(|weight| -weight / RIDGE);
        gradient[0] = 0.0;
        let mut hessian = [[0.0; COUNT]; COUNT];
        for (at, row) in hessian.iter_mut().enumerate() {
            row[at] = if at == 0 { 1e-9 } else { 1.0 / RIDGE };
        }
        for cut in cuts.clone() {
            let share = all / count / cut.examples.len() as f64;
            for (x, asked) in &cut.examples {
                let score: f64 = x.iter().zip(weights).map(|(x, weight)| x * weight).sum();
                let chance = 1.0 / (1.0 + (-score).exp());
                let (miss, bend) = (share * (asked - chance), share * chance * (1.0 - chance));
                for i in (0..COUNT).filter(|i| used[*i] && x[*i] != 0.0) {
                    gradient[i] += miss * x[i];
                    for j in (0..=i).filter(|j| used[*j] && x[*j] != 0.0) {
                        hessian[i][j] += bend * x[i] * x[j];
                    }
                }
            }
        }
        let step = solve(hessian, gradient);
        let mut most = 0.0_f64;
        for (weight, step) in weights.iter_mut().zip(step) {
            *weight += step;
            most = most.max(step.abs());
        }
        if most < 1e-4 {
            break;
        }
    }
    weights
}

/// The inverse strength of the penalty, in the terms of scikit-learn's `C`.
const RIDGE: f64 = 0.05;

/// Newton's method is done long before.
const STEPS: usize = 25;

/// Solves a symmetric positive system, of which the lower half is given (Cholesky).
fn solve(mut a: [[f64; COUNT]; COUNT], mut b: [f64; COUNT]) -> [f64; COUNT] {
    for i in 0..COUNT {
        for j in 0..=i {
            let sum: f64 = a[i][j] - (0..j).map(|k| a[i][k] * a[j][k]).sum::<f64>();
            a[i][j] = if i == j { sum.max(1e-12).sqrt() } else { sum / a[j][j] };
        }
    }
    for i in 0..COUNT {
        b[i] = (b[i] - (0..i).map(|k| a[i][k] * b[k]).sum::<f64>()) / a[i][i];
    }
    for i in (0..COUNT).rev() {
        b[i] = (b[i] - (i + 1..COUNT).map(|k| a[k][i] * b[k]).sum::<f64>()) / a[i][i];
    }
    b
}

/// Returns the share of what is asked for that the best `most` facts hold, a mean over the cuts.
pub fn recall_at<'c>(cuts: impl Iterator<Item = &'c Cut>, weights: &[f64; COUNT], most: usize) -> Vec<f64> {
    cuts.map(|cut| {
        let mut scored: Vec<(f64, f64)> = cut
            .examples
            .iter()
            .map(|(x, asked)| (x.iter().zip(weights).map(|(x, weight)| x * weight).sum(), *asked))
            .collect();
        scored.sort_by(|one, other| other.0.total_cmp(&one.0));
        let sum = |facts: &[(f64, f64)]| facts.iter().map(|(_, asked)| asked).sum::<f64>();
        sum(&scored[..most.min(scored.len())]) / sum(&scored)
    })
    .collect()
}

/// Returns recall at `most` where each project is scored by weights that were fitted without it.
pub fn left_out(cuts: &[Cut], used: &[bool; COUNT], most: &[usize]) -> Vec<f64> {
    let mut values = vec![Vec::new(); most.len()];
    for project in projects(cuts) {
        let weights = fit(cuts.iter().filter(|cut| cut.project != project), used);
        for (values, most) in values.iter_mut().zip(most) {
            let own = cuts.iter().filter(|cut| cut.project == project);
            values.extend(recall_at(own, &weights, *most));
        }
    }
    values.iter().map(|values| values.iter().sum::<f64>() / values.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telling_property_gets_a_positive_weight() {
        let example = |key: f64, asked: f64| {
            let mut x = [0.0; COUNT];
            (x[0], x[1]) = (1.0, key);
            (x, asked)
        };
        let mut examples = vec![example(0.0, 0.0); 5000];
        examples.extend(vec![example(1.0, 1.0); 1500]);
        examples.extend(vec![example(1.0, 0.0); 1500]);
        let cut = Cut { project: "p".into(), examples };
        let weights = fit([&cut].into_iter(), &[true; COUNT]);
        assert!(weights[1] > 1.0 && weights[0] < -1.0, "{weights:?}");
        assert!(weights[2..].iter().all(|weight| *weight == 0.0));
    }
}
