//! Measuring: turn by turn, by processor time.

use std::hint::black_box;

use cpu_time::ProcessTime;

use super::{
    corpora::{self, Corpus},
    peers::Peer,
};

/// The speed of one peer on one text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Megabytes in a second, the median of the passes after the first.
    pub warm: f64,
    /// Megabytes in a second of the first pass.
    pub first: f64,
    /// The tokens it found, by which a wrong count is seen.
    pub tokens: usize,
}

/// Measures each peer on `text`: `rounds` passes, in turn, so that what slows the machine slows all alike. A pass over a
/// short text is repeated until it takes long enough to time, but the first never.
pub fn speeds(peers: &[Peer], text: &str, rounds: usize) -> Vec<Speed> {
    let mut passes: Vec<Vec<f64>> = vec![Vec::new(); peers.len()];
    let mut tokens = vec![0; peers.len()];
    for round in 0..rounds.max(2) {
        for (nth, peer) in peers.iter().enumerate() {
            let repeats = if round == 0 { 1 } else { 1_000_000 / text.len().max(1) + 1 };
            let start = ProcessTime::now();
            for _ in 0..repeats {
                tokens[nth] = (peer.count)(black_box(text));
            }
            let seconds = start.elapsed().as_secs_f64().max(1e-9);
            passes[nth].push((text.len() * repeats) as f64 / seconds / 1e6);
        }
    }
    let speed = |(passes, tokens): (&Vec<f64>, &usize)| Speed {
        warm: median(&passes[1..]),
        first: passes[0],
        tokens: *tokens,
    };
    passes.iter().zip(&tokens).map(speed).collect()
}

/// Measures the first pass of a peer over `text`.
pub fn first_pass(peer: &Peer, text: &str) -> Speed {
    let start = ProcessTime::now();
    let tokens = (peer.count)(black_box(text));
    let first = text.len() as f64 / start.elapsed().as_secs_f64().max(1e-9) / 1e6;
    Speed { warm: first, first, tokens }
}

/// Measures each peer on short messages cut from `corpus`, and returns the nanoseconds of one message.
pub fn small(peers: &[Peer], corpus: &Corpus, rounds: usize) -> Vec<f64> {
    let messages = corpora::messages(&corpus.text, 3_000);
    let mut passes: Vec<Vec<f64>> = vec![Vec::new(); peers.len()];
    for round in 0..=rounds {
        for (nth, peer) in peers.iter().enumerate() {
            let start = ProcessTime::now();
            for message in &messages {
                black_box((peer.count)(black_box(message)));
            }
            if round > 0 {
                passes[nth].push(start.elapsed().as_secs_f64() * 1e9 / messages.len().max(1) as f64);
            }
        }
    }
    passes.iter().map(|passes| median(passes)).collect()
}

/// Returns the middle value of a list that is not empty.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_three_is_the_second() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_peer_is_measured_in_every_round_and_its_count_kept() {
        let peer = Peer { name: "bytes", count: Box::new(str::len), is_fragile: false };
        let speed = speeds(&[peer], "four", 3)[0];
        assert_eq!(speed.tokens, 4);
        assert!(speed.warm > 0.0 && speed.first > 0.0);
    }
}
