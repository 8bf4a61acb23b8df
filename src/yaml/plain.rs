//! What a scalar without quotes stands for.
//!
//! Go has two readers of one lineage: kustomize's (`yaml.v3`) and that of kubectl and OLM
//! (`sigs.k8s.io/yaml`, `yaml.v2`). Here is what both read; where they part, nothing is.

use super::Value;

/// What Go reads, or why it is to be quoted.
pub fn resolve(text: &str) -> Result<Value, &'static str> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if is_old_boolean(text) {
        return Err("a string to some readers of YAML, and a boolean to others");
    }
    if is_infinite(text) {
        return Err("a number that JSON, and so Kubernetes, does not have");
    }
    if is_date(text) {
        return Err("a string to some readers of YAML, and a point in time to others");
    }
    Ok(number(text).unwrap_or_else(|| Value::String(text.to_owned())))
}

/// Whether any reader, of YAML 1.1 or 1.2, might take the text for something else than a string.
/// Says yes too often rather than too seldom.
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
    let radix = ["0x", "0o", "0b"].iter().find_map(|it| text.strip_prefix(it));
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

fn is_old_boolean(text: &str) -> bool {
    let cases = |word: &str| {
        let lower = text.to_ascii_lowercase() == word;
        let rest = text.get(1..).unwrap_or("");
        lower && (rest == &word[1..] || text == word.to_ascii_uppercase())
    };
    ["y", "n", "yes", "no", "on", "off"].iter().any(|it| cases(it))
}

fn is_infinite(text: &str) -> bool {
    let word = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(word, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

/// Starts as a date does: 2026-01-01.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let year = parts.next().is_some_and(|it| it.len() == 4 && all_digits(it));
    let month = parts.next().is_some_and(|it| it.len() <= 2 && all_digits(it));
    year && month && parts.next().is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// A number as Go's readers see it: `012` is octal, `08` is not, `1_000` is a thousand.
fn number(text: &str) -> Option<Value> {
    let first = *text.as_bytes().first()?;
    if first == b'.' {
        return float(text);
    }
    if !matches!(first, b'0'..=b'9' | b'+' | b'-') {
        return None;
    }
    let plain = text.replace('_', "");
    integer(&plain).or_else(|| float(&plain))
}

fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` takes a sign of its own.
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    if negative {
        let size = i128::from_str_radix(digits, radix).ok()?;
        return i64::try_from(-size).ok().map(Value::from);
    }
    u64::from_str_radix(digits, radix).ok().map(Value::from)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, if it is finite.
fn float(text: &str) -> Option<Value> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let shape = match whole {
        "" => all_digits(fraction),
        whole => digits(whole) && digits(fraction),
    };
    let power = exponent.is_none_or(|it| all_digits(it.strip_prefix(['+', '-']).unwrap_or(it)));
    if !shape || !power {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    serde_json::Number::from_f64(value).map(Value::Number)
}

#[test]
fn scalars_without_quotes_are_what_go_reads() {
    let check = |text: &str, expected: Value| assert_eq!(resolve(text), Ok(expected), "{text}");
    for text in ["tRue", "nULL", "_1", "1:30", "1e400", "0x", "0b12", "0x1p3", ".", "._1", "--1"] {
        check(text, text.into());
    }
    for text in ["1,000", "0.1.2", "5m", "16Mi", "v1", "0o8", ".5.5", "e1", "1e", "+", ".5_0"] {
        check(text, text.into());
    }
    check("012", 10.into());
    check("-012", (-10).into());
    check("08", 8.0.into());
    check("0o14", 12.into());
    check("0X1F", 31.into());
    check("-0b11", (-3).into());
    check("0x_1", 1.into());
    check("1_000", 1000.into());
    check("+1", 1.into());
    check("18446744073709551615", u64::MAX.into());
    check("-9223372036854775808", i64::MIN.into());
    check("18446744073709551616", 18_446_744_073_709_551_616.0.into());
    check("1E3", 1000.0.into());
    check("5.", 5.0.into());
    check(".5", 0.5.into());
    check("1_0.5", 10.5.into());
    for text in ["yes", "Off", "ON", "y", "N", "2026-1-1", "2026-01-01T00:00:00Z", ".inf"] {
        assert!(resolve(text).is_err(), "{text}");
    }
}
