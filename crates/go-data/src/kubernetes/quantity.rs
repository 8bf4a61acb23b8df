//! Quantities such as `500m` and `1Gi`, in the form that k8s.io/apimachinery writes them.

use super::scalar::{self, ScalarError};
use crate::yaml::{Value, json};

#[derive(Clone, Copy, PartialEq)]
enum Notation {
    Decimal,
    Exponent,
    Binary,
}
use Notation::{Binary, Decimal, Exponent};

/// A number times a power of ten.
#[derive(Clone, Copy)]
struct Amount {
    number: i128,
    exponent: i32,
}

const DECIMAL: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: &[&str] = &["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

pub fn decode_quantity(value: &Value) -> Result<Value, ScalarError> {
    let text = match value {
        Value::Null => return Ok(json!("0")),
        Value::String(text) => text.clone(),
        value => scalar::format_float(value).unwrap_or_else(|| value.to_string()),
    };
    let error = ScalarError::Type("a quantity such as `500m` or `1Gi`");
    canonical_form(text.trim()).map(Value::String).ok_or(error)
}

/// Returns a quantity in canonical form; `None` if it is invalid, or does not fit into 128 bits.
pub fn canonical_form(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let is_negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = unsigned.split_at(digits(unsigned));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    let (notation, exponent) = parse_suffix(suffix)?;
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let shifted = format!("{whole}{fraction}");
    let number: i128 = shifted.parse().ok()?;
    let sign = if is_negative { -1 } else { 1 };
    let places = i32::try_from(fraction.len()).ok()?;
    let length = i32::try_from(shifted.len()).ok()?;

    // Go keeps a short whole number in 64 bits, and in its spelling if that looks canonical.
    let (precision, multiple) = match notation {
        Binary if fraction.is_empty() => (15 - length - exponent * 3 / 10 - 1, 1 << exponent),
        Binary => (-1, 1 << exponent),
        Decimal | Exponent => (18 - length, 1),
    };
    let number = number.checked_mul(multiple)?;
    let scale = if notation == Binary { -places } else { exponent.checked_sub(places)? };
    let mut amount = Amount { number: sign * number, exponent: scale };
    if precision >= 0 && scale >= -9 && i64::try_from(number).is_ok() {
        let is_canonical = match notation {
            Binary => (number / multiple) & 7 != 0,
            _ => scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0'),
        };
        return Some(if is_canonical { text.to_owned() } else { format_amount(amount, notation) });
    }
    if !has_digits {
        return None;
    }
    if amount.number != 0 && amount.exponent < -9 {
        amount = amount.round_to(-9)?;
    }
    if notation == Binary {
        let limit = i128::from(i64::MAX);
        let nano = Amount { number: amount.number.abs(), ..amount }.number_at(-9);
        if nano.is_none_or(|nano| nano > limit * 1_000_000_000) {
            amount = Amount { number: sign * limit, exponent: 0 };
        }
    }
    Some(format_amount(amount, notation))
}

/// Returns a quantity in billionths; `None` if it is invalid, or does not fit into 128 bits.
pub fn to_nano(text: &str) -> Option<i128> {
    let end =
        text.trim_start_matches(['+', '-', '.']).find(|c: char| !c.is_ascii_digit() && c != '.');
    let signs = text.len() - text.trim_start_matches(['+', '-', '.']).len();
    let (number, suffix) = text.split_at(end.map_or(text.len(), |length| signs + length));
    let (notation, exponent) = parse_suffix(suffix)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let (factor, exponent) = match notation {
        Binary => (1_i128 << exponent, 0),
        Decimal | Exponent => (1, exponent),
    };
    let number = digits.checked_mul(factor)?;
    Amount { number, exponent: exponent.checked_sub(places)? }.rounded_number_at(-9)
}

#[test]
fn quantities_are_compared_by_their_amount() {
    let check = |text: &str, expected: i128| assert_eq!(to_nano(text), Some(expected), "{text}");
    check("1", 1_000_000_000);
    check("500m", 500_000_000);
    check("1.5Gi", 1_610_612_736_000_000_000);
    check("2e3", 2_000_000_000_000);
    check(".5", 500_000_000);
    check("-1k", -1_000_000_000_000);
    check("0.1n", 1);
    assert_eq!(to_nano("lots"), None);
}

fn parse_suffix(suffix: &str) -> Option<(Notation, i32)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|unit| unit.0 == suffix) {
        return Some((Decimal, *exponent));
    }
    if let Some(at) = BINARY.iter().position(|unit| *unit == suffix) {
        return Some((Binary, 10 * i32::try_from(at).ok()?));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    Some((Exponent, exponent.parse().ok()?))
}

impl Amount {
    /// Returns the number with another exponent, if that is exact.
    fn number_at(self, exponent: i32) -> Option<i128> {
        let factor = 10i128.checked_pow(self.exponent.abs_diff(exponent))?;
        if exponent <= self.exponent {
            self.number.checked_mul(factor)
        } else {
            (self.number % factor == 0).then(|| self.number / factor)
        }
    }

    /// Returns the number with another exponent, rounded away from zero.
    fn rounded_number_at(self, exponent: i32) -> Option<i128> {
        if self.exponent < exponent {
            Some(self.round_to(exponent)?.number)
        } else {
            self.number_at(exponent)
        }
    }

    /// Rounds away from zero.
    fn round_to(self, exponent: i32) -> Option<Self> {
        // A factor beyond 128 bits leaves the least number there is.
        let factor = 10i128.checked_pow(self.exponent.abs_diff(exponent)).unwrap_or(i128::MAX);
        let rest = if self.number % factor == 0 { 0 } else { self.number.signum() };
        Some(Self { number: self.number / factor + rest, exponent })
    }
}

fn format_amount(amount: Amount, notation: Notation) -> String {
    let Amount { mut number, mut exponent } = amount;
    if number == 0 {
        return "0".to_owned();
    }
    let whole = amount.number_at(0).filter(|number| !(-1023..1024).contains(number));
    if let (Binary, Some(mut whole)) = (notation, whole) {
        let mut times = 0;
        while whole % 1024 == 0 {
            whole /= 1024;
            times += 1;
        }
        return format!("{whole}{}", BINARY.get(times).unwrap_or(&""));
    }
    while number % 10 == 0 {
        number /= 10;
        exponent += 1;
    }
    while exponent % 3 != 0 {
        number *= 10;
        exponent -= 1;
    }
    let suffix = match (notation, exponent) {
        (Exponent, 0) => String::new(),
        (Exponent, _) => format!("e{exponent}"),
        // In Go, an amount larger than `E` loses its suffix.
        _ => DECIMAL.iter().find(|unit| unit.1 == exponent).map_or("", |unit| unit.0).to_owned(),
    };
    format!("{number}{suffix}")
}
