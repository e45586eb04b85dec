//! Numbers of tokens, as people say them.

/// Takes a number of tokens: `8000`, `8_000`, `8,000`, `8k`, `1.5k`, `1m`.
pub(crate) fn tokens(text: &str) -> Result<u64, String> {
    let refused = || format!("{text:?} is no number of tokens; expected 8000, 8k or 1m");
    if text.trim().starts_with('-') {
        return Err("tokens are not counted below 0; expected 8000, 8k or 1m".to_owned());
    }
    let plain: String = text.trim().chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let (digits, unit) = match plain.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match plain.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (plain.as_str(), 1),
        },
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_sound = !whole.is_empty() && is_number(whole) && is_number(part) && (part.is_empty() || unit > 1);
    if !is_sound || digits.ends_with('.') {
        return Err(refused());
    }
    let mut tokens =
        whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(unit)).ok_or_else(refused)?;
    let mut place = unit;
    for digit in part.bytes() {
        place /= 10;
        tokens = tokens.checked_add(u64::from(digit - b'0') * place).ok_or_else(refused)?;
    }
    Ok(tokens)
}

/// Takes a temperature: a number from 0 up.
pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("{text:?} is no temperature; expected a number from 0 up, such as 0.7"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_is_a_number_from_nothing_up() {
        assert_eq!(["0", "0.7", "2"].map(temperature), [Ok(0.0), Ok(0.7), Ok(2.0)]);
        for text in ["nan", "inf", "-1", "", "warm"] {
            assert!(temperature(text).is_err(), "{text}");
        }
    }

    #[test]
    fn people_say_numbers_of_tokens_so() {
        for (text, expected) in [
            ("0", 0),
            ("8000", 8_000),
            ("8_000", 8_000),
            ("8,000", 8_000),
            ("4k", 4_000),
            ("4K", 4_000),
            ("1.5k", 1_500),
            ("1.2345k", 1_234),
            ("1m", 1_000_000),
            (" 0.2M ", 200_000),
        ] {
            assert_eq!(tokens(text), Ok(expected), "{text}");
        }
        for text in [
            "", "k", "-1", "1.5", "1.", ".5k", "4kb", "1e3", "4 k", "20000000000000000000", "99999999999999m",
        ] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }
}
