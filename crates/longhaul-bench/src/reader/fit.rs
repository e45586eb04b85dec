//! Fitting the weights of statements to the evidence of the cases.

use longhaul_extract::{FactIndex, N_FEATURES, StatementWeights};

use super::{case::Case, score::fold};

/// The statements of one case and which of them hold evidence.
#[derive(Clone, Debug)]
pub struct Examples {
    /// The project of the case.
    pub project: String,
    /// The features of each statement, and whether it holds evidence.
    pub rows: Vec<([i32; N_FEATURES], bool)>,
}

/// Returns the examples of a case: a statement holds evidence where a span of a question stands in it.
pub fn examples(case: &Case) -> Examples {
    let mut index = FactIndex::new();
    case.entries.iter().for_each(|entry| index.push(entry));
    let pool = index.statements();
    let spans: Vec<&String> =
        case.questions.iter().flat_map(|question| question.needs.iter().flatten()).collect();
    let holds = |text: &str| {
        let text = fold(text);
        spans.iter().any(|span| text.contains(span.as_str()))
    };
    let features = pool.features();
    let rows = pool.all().iter().zip(features).map(|(statement, x)| (x, holds(&statement.text))).collect();
    Examples { project: case.project().to_string(), rows }
}

/// Fits a logistic regression with a ridge penalty by Newton's method and rounds its weights to thousandths. The penalty
/// is in units of each feature's spread, so that no feature pays for its scale.
pub fn fit<'e>(examples: impl Iterator<Item = &'e Examples> + Clone) -> StatementWeights {
    let rows = || examples.clone().flat_map(|case| case.rows.iter());
    let count = rows().count().max(1) as f64;
    let mut mean = [0.0; N_FEATURES];
    let mut spread = [0.0; N_FEATURES];
    rows().for_each(|(x, _)| (0..N_FEATURES).for_each(|at| mean[at] += f64::from(x[at]) / count));
    for (x, _) in rows() {
        (0..N_FEATURES).for_each(|at| spread[at] += (f64::from(x[at]) - mean[at]).powi(2) / count);
    }
    let penalty: Vec<f64> =
        (0..N_FEATURES).map(|at| if at == 0 { 1e-9 } else { spread[at].max(1e-6) / STRENGTH }).collect();
    let mut weights = vec![0.0; N_FEATURES];
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> = (0..N_FEATURES).map(|at| -weights[at] * penalty[at]).collect();
        let mut hessian = vec![vec![0.0; N_FEATURES]; N_FEATURES];
        (0..N_FEATURES).for_each(|at| hessian[at][at] = penalty[at]);
        for (x, holds) in rows() {
            let used: Vec<(usize, f64)> =
                x.iter().enumerate().filter(|(_, x)| **x != 0).map(|(at, x)| (at, f64::from(*x))).collect();
            let score: f64 = used.iter().map(|(at, x)| weights[*at] * x).sum();
            let chance = 1.0 / (1.0 + (-score).exp());
            let (miss, bend) = (f64::from(u8::from(*holds)) - chance, chance * (1.0 - chance));
            for (nth, (i, x)) in used.iter().enumerate() {
                gradient[*i] += miss * x;
                for (j, y) in &used[..=nth] {
                    hessian[*i][*j] += bend * x * y;
                }
            }
        }
        let step = solve(hessian, gradient);
        let most = step.iter().fold(0.0_f64, |most, step| most.max(step.abs()));
        weights.iter_mut().zip(step).for_each(|(weight, step)| *weight += step);
        if most < 1e-4 {
            break;
        }
    }
    StatementWeights::new(std::array::from_fn(|at| (weights[at] * 1000.0).round() as i32))
}

/// The inverse strength of the penalty, in the terms of scikit-learn's `C`.
const STRENGTH: f64 = 0.02;

/// Newton's method is done long before.
const STEPS: usize = 25;

/// Solves a symmetric positive system, of which the lower half is given (Cholesky).
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = a[i][j] - (0..j).map(|k| a[i][k] * a[j][k]).sum::<f64>();
            a[i][j] = if i == j { sum.max(1e-12).sqrt() } else { sum / a[j][j] };
        }
    }
    for i in 0..n {
        b[i] = (b[i] - (0..i).map(|k| a[i][k] * b[k]).sum::<f64>()) / a[i][i];
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|k| a[k][i] * b[k]).sum::<f64>()) / a[i][i];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telling_feature_gets_a_positive_weight() {
        let row = |telling: i32, holds: bool| {
            let mut x = [0; N_FEATURES];
            (x[0], x[5]) = (1, telling);
            (x, holds)
        };
        let mut rows = vec![row(0, false); 3000];
        rows.extend(vec![row(1, true); 500]);
        rows.extend(vec![row(1, false); 500]);
        let weights = fit([Examples { project: "p".into(), rows }].iter());
        let score = |telling| weights.score(&row(telling, false).0);
        assert!(score(1) > -1000 && score(0) < -2000, "{} {}", score(1), score(0));
    }
}
