//! Resolves scalars to values, as each Go program does.

use std::borrow::Cow;

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Mark, Value, YamlError,
    parse::Scalar,
    plain::{self, Resolved},
    printed, timestamp,
};

/// Resolves a scalar by its tag, its quotes and its text.
pub fn resolve_scalar(
    scalar: &Scalar,
    dialect: Dialect,
    mark: Mark,
) -> Result<Resolved, YamlError> {
    let Scalar { text, tag, style, .. } = scalar;
    let is_tagless = |tag: &&String| dialect == Dialect::Kustomize && *tag == "!";
    let Some(tag) = tag.as_ref().filter(|tag| !is_tagless(tag)) else {
        let is_plain = *style == ScalarStyle::Plain;
        return Ok(if is_plain { plain::resolve_plain(text, dialect) } else { Resolved::Text });
    };
    // A scalar with a custom tag is a string.
    let Some(name) = tag.strip_prefix("tag:yaml.org,2002:") else { return Ok(Resolved::Text) };
    match (name, plain::resolve_plain(text, dialect)) {
        ("binary", _) => Err(YamlError::new(
            mark,
            "`!!binary` is not supported",
            Some("Kubernetes expects plain Base64: remove the tag"),
        )),
        ("float", Resolved::Int(integer)) => Ok(Resolved::Float(integer as f64)),
        ("null", resolved @ Resolved::Null)
        | ("bool", resolved @ Resolved::Bool(_))
        | ("int", resolved @ (Resolved::Int(_) | Resolved::Uint(_)))
        | ("float", resolved @ Resolved::Float(_))
        | ("timestamp", resolved @ Resolved::Time) => Ok(resolved),
        ("null" | "bool" | "int" | "float" | "timestamp", _) => {
            Err(YamlError::new(mark, format!("`{text}` does not have the type `!!{name}`"), None))
        }
        _ => Ok(Resolved::Text),
    }
}

/// Returns the JSON value of a scalar. `in_flow` is set between brackets or braces.
pub fn to_json_value(
    scalar: &Scalar,
    dialect: Dialect,
    in_flow: bool,
    mark: Mark,
) -> Result<Value, YamlError> {
    let Scalar { text, tag, .. } = scalar;
    // kustomize prints each object before it reads its values, and puts quotes around these.
    let is_quoted =
        dialect == Dialect::Kustomize && in_flow && tag.as_ref().is_none_or(|tag| tag == "!");
    Ok(match resolve_scalar(scalar, dialect, mark)? {
        Resolved::Null if is_quoted && text.is_empty() => {
            let message = "this value is empty: kustomize prints `\"\"`, or drops the key";
            return Err(YamlError::new(mark, message, Some("write `null` or `\"\"`")));
        }
        Resolved::Null => Value::Null,
        Resolved::Bool(boolean) => boolean.into(),
        Resolved::Int(integer) => integer.into(),
        Resolved::Uint(integer) => integer.into(),
        Resolved::Float(number) => to_json_float(number, dialect).ok_or_else(|| {
            let hint = Some("write it in quotes, if it is a string");
            YamlError::new(mark, format!("JSON has no number `{text}`"), hint)
        })?,
        Resolved::Time if dialect == Dialect::Kustomize && !(is_quoted && text.contains(':')) => {
            Value::from(timestamp::parse(text).unwrap_or_default())
        }
        Resolved::Time => text.as_str().into(),
        Resolved::Text if dialect == Dialect::Kustomize => {
            printed::printed_text(scalar, in_flow, mark).map(Cow::into_owned)?.into()
        }
        Resolved::Text => text.as_str().into(),
    })
}

/// Converts a finite number. kustomize writes it as JSON, where `1.0` is `1`; other programs do so only if they do not
/// need a string.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn to_json_float(number: f64, dialect: Dialect) -> Option<Value> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    let is_whole = dialect == Dialect::Kustomize && number.fract() == 0.0;
    if is_whole && (-TWO_TO_63..TWO_TO_63).contains(&number) {
        return Some((number as i64).into());
    }
    if is_whole && (TWO_TO_63..2.0 * TWO_TO_63).contains(&number) {
        return Some((number as u64).into());
    }
    serde_json::Number::from_f64(number).map(Value::Number)
}

/// Formats a number as sigs.k8s.io/yaml converts a key to a string: with the precision of 32 bits.
pub fn format_float_key(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "that is what it does")]
    let short = number as f32;
    if !short.is_finite() {
        let infinite = if short > 0.0 { ".inf" } else { "-.inf" };
        return if short.is_nan() { ".nan" } else { infinite }.to_owned();
    }
    let text = format!("{short:e}");
    let exponent: i32 =
        text.rsplit('e').next().and_then(|exponent| exponent.parse().ok()).unwrap_or_default();
    if (-4..6).contains(&exponent) && short != 0.0 {
        return short.to_string();
    }
    if short == 0.0 {
        return if short.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = text.split('e').next().unwrap_or_default();
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
