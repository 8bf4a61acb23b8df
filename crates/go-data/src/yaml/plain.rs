//! Resolves scalars without quotes.
//!
//! Two related Go parsers are in use: kustomize's (`yaml.v3`) and that of kubectl and OLM
//! (`sigs.k8s.io/yaml`, `yaml.v2`). They differ in words such as `yes` and `no`, and in dates.

use super::{Dialect, timestamp};

/// The value that a text resolves to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// Greater than any `i64`.
    Uint(u64),
    Float(f64),
    Time,
    Text,
}

/// Resolves a text without quotes or tag.
pub fn resolve_plain(text: &str, dialect: Dialect) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Resolved::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Resolved::Float(f64::NAN),
        _ => {}
    }
    if dialect != Dialect::Kustomize {
        match text {
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Resolved::Bool(true),
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Resolved::Bool(false),
            _ => {}
        }
    }
    if timestamp::parse(text).is_some() {
        return Resolved::Time;
    }
    resolve_number(text, dialect).unwrap_or(Resolved::Text)
}

/// Returns whether YAML 1.1 reads the text as a boolean, and YAML 1.2 as a string.
pub fn is_old_boolean(text: &str) -> bool {
    matches!(resolve_plain(text, Dialect::Kubernetes), Resolved::Bool(_))
        && matches!(resolve_plain(text, Dialect::Kustomize), Resolved::Text)
}

/// Returns whether any parser of YAML 1.1 or 1.2 might read the text as something other than a string; `true` if in
/// doubt.
pub fn is_suspicious(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let word = matches!(
        lower.as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "=" | "<<"
    );
    let signless = lower.trim_start_matches(['+', '-']);
    let infinite = matches!(signless.trim_start_matches('.'), "inf" | "infinity" | "nan");
    word || infinite || is_date(text) || looks_numeric(&signless.replace(['_', ','], ""))
}

fn looks_numeric(text: &str) -> bool {
    let radix = ["0x", "0o", "0b"].iter().find_map(|prefix| text.strip_prefix(prefix));
    if let Some(rest) = radix {
        return rest.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, 'p' | '.' | '+' | '-'));
    }
    // 1:30, 190:20:30.15
    if text.contains(':') {
        return text.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, ""));
    let exponent = exponent.trim_start_matches(['+', '-']);
    let dots = mantissa.matches('.').count();
    dots < 2
        && mantissa.chars().all(|c| c.is_ascii_digit() || c == '.')
        && exponent.chars().all(|c| c.is_ascii_digit())
}

/// Returns whether a text starts like a date: 2026-01-01.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let year = parts.next().is_some_and(|year| year.len() == 4 && all_digits(year));
    let month = parts.next().is_some_and(|month| month.len() <= 2 && all_digits(month));
    year && month && parts.next().is_some_and(|day| day.starts_with(|c: char| c.is_ascii_digit()))
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Resolves a number as Go's parsers do: `012` is octal, `08` is not, `1_000` is a thousand.
fn resolve_number(text: &str, dialect: Dialect) -> Option<Resolved> {
    match text.as_bytes().first()? {
        b'.' if separates_digits(text) => resolve_float(&text.replace('_', "")),
        b'0'..=b'9' | b'+' | b'-' => {
            let plain = text.replace('_', "");
            resolve_integer(&plain)
                .or_else(|| resolve_float(&plain))
                .or_else(|| signed_late(&plain, dialect))
        }
        _ => None,
    }
}

/// Returns whether each underscore is between two digits.
fn separates_digits(text: &str) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    let mut underscores = (1..bytes.len()).filter(|at| bytes[*at] == b'_');
    underscores.all(|at| is_digit(bytes.get(at - 1)) && is_digit(bytes.get(at + 1)))
}

fn resolve_integer(text: &str) -> Option<Resolved> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' | b'+' => text.split_at(1),
        _ => ("", text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` would accept another sign.
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let size = i128::from_str_radix(digits, radix).ok()?;
    match i64::try_from(if sign == "-" { -size } else { size }) {
        Ok(integer) => Some(Resolved::Int(integer)),
        Err(_) if sign.is_empty() => u64::try_from(size).ok().map(Resolved::Uint),
        Err(_) => None,
    }
}

/// Resolves `0b-1`, which Go also reads as a number.
fn signed_late(text: &str, dialect: Dialect) -> Option<Resolved> {
    let octal = text.strip_prefix("0o").filter(|_| dialect == Dialect::Kustomize);
    let (radix, digits) = match (text.strip_prefix("0b"), octal) {
        (Some(digits), _) => (2, digits),
        (None, Some(digits)) => (8, digits),
        (None, None) => return None,
    };
    i64::from_str_radix(digits, radix).ok().map(Resolved::Int)
}

/// Resolves `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, if it is finite.
fn resolve_float(text: &str) -> Option<Resolved> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let shape = match whole {
        "" => all_digits(fraction),
        whole => digits(whole) && digits(fraction),
    };
    let power = exponent
        .is_none_or(|exponent| all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    if !shape || !power {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(Resolved::Float)
}

#[test]
fn scalars_without_quotes_are_what_go_reads() {
    use Resolved::{Bool, Float, Int, Text, Time, Uint};
    let check = |text: &str, expected: Resolved| {
        assert_eq!(resolve_plain(text, Dialect::Kubernetes), expected, "{text}");
    };
    for text in ["tRue", "nULL", "_1", "1:30", "1e400", "0x", "0b12", "0x1p3", ".", "._1", "--1"] {
        check(text, Text);
    }
    for text in ["1,000", "0.1.2", "5m", "16Mi", "v1", "0o8", ".5.5", "e1", "1e", "+", ".5_"] {
        check(text, Text);
    }
    check("012", Int(10));
    check("-012", Int(-10));
    check("08", Float(8.0));
    check("0o14", Int(12));
    check("0X1F", Int(31));
    check("-0b11", Int(-3));
    check("0b-1", Int(-1));
    check("0x_1", Int(1));
    check("1_000", Int(1000));
    check("+1", Int(1));
    check("18446744073709551615", Uint(u64::MAX));
    check("-9223372036854775808", Int(i64::MIN));
    check("18446744073709551616", Float(18_446_744_073_709_551_616.0));
    check("1E3", Float(1000.0));
    check("5.", Float(5.0));
    check(".5", Float(0.5));
    check(".5_0", Float(0.5));
    check("1_0.5", Float(10.5));
    check("2026-1-1", Time);
    for (text, truth) in [("yes", true), ("Off", false), ("ON", true), ("y", true), ("N", false)] {
        check(text, Bool(truth));
        assert_eq!(resolve_plain(text, Dialect::Kustomize), Text, "{text}");
    }
}
