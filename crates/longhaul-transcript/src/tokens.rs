//! The unit that every budget is stated in.

use std::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign, Sub, SubAssign},
};

use serde::{Deserialize, Serialize};

/// A number of tokens. Addition and subtraction saturate, so a budget cannot wrap around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Tokens = Tokens(0);

    /// Returns `ratio` of these tokens, rounded down. A ratio that is not a positive number gives zero.
    pub fn scaled(self, ratio: f64) -> Tokens {
        Tokens((self.0 as f64 * ratio.max(0.0)) as u64)
    }

    /// Returns these tokens as a share of `whole`; 0.0 where `whole` is zero and this is too, else infinity.
    pub fn ratio_of(self, whole: Tokens) -> f64 {
        match (self.0, whole.0) {
            (0, 0) => 0.0,
            (part, whole) => part as f64 / whole as f64,
        }
    }
}

impl Add for Tokens {
    type Output = Tokens;
    fn add(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_add(other.0))
    }
}

impl Sub for Tokens {
    type Output = Tokens;
    fn sub(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        *self = *self + other;
    }
}

impl SubAssign for Tokens {
    fn sub_assign(&mut self, other: Tokens) {
        *self = *self - other;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Tokens>>(iter: I) -> Tokens {
        iter.fold(Tokens::ZERO, Add::add)
    }
}

/// `{:#}` is [`grouped`].
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => f.pad(&grouped(self.0)),
            false => fmt::Display::fmt(&self.0, f),
        }
    }
}

/// Returns `number` as people read it, with a comma before every three digits: `181,575`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns `1 message`, `76 messages`, `2 summaries`: the number as people read it, and the word as it goes with it.
pub fn counted(number: u64, word: &str) -> String {
    match word.strip_suffix('y') {
        _ if number == 1 => format!("1 {word}"),
        Some(start) => format!("{} {start}ies", grouped(number)),
        None => format!("{} {word}s", grouped(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Tokens, counted, grouped};

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([grouped(7), grouped(181_575), grouped(1_000_000)], ["7", "181,575", "1,000,000"]);
    }

    #[test]
    fn what_is_one_is_not_several() {
        let said = [(0, "message"), (1, "message"), (1_234, "message"), (1, "summary"), (2, "summary")];
        let expected = ["0 messages", "1 message", "1,234 messages", "1 summary", "2 summaries"];
        assert_eq!(said.map(|(number, word)| counted(number, word)), expected);
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Tokens(1) - Tokens(2), Tokens::ZERO);
        assert_eq!(Tokens(u64::MAX) + Tokens(1), Tokens(u64::MAX));
        assert_eq!([Tokens(1), Tokens(2)].into_iter().sum::<Tokens>(), Tokens(3));
    }

    #[test]
    fn ratios_are_total() {
        assert_eq!(Tokens(0).ratio_of(Tokens(0)), 0.0);
        assert_eq!(Tokens(1).ratio_of(Tokens(0)), f64::INFINITY);
        assert_eq!(Tokens(10).scaled(f64::NAN), Tokens::ZERO);
        assert_eq!(Tokens(10).scaled(0.25), Tokens(2));
    }
}
