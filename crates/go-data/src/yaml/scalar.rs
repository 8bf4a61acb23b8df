//! The value of a scalar in each Go program.

use std::borrow::Cow;

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Fault, Mark, Value,
    parse::Scalar,
    plain::{self, Resolved},
    printed, timestamp,
};

/// Resolves a scalar by its tag, its quotes and its text.
pub fn resolve(scalar: &Scalar, dialect: Dialect, mark: Mark) -> Result<Resolved, Fault> {
    let Scalar { text, tag, style, .. } = scalar;
    let is_tagless = |it: &&String| dialect == Dialect::Kustomize && *it == "!";
    let Some(tag) = tag.as_ref().filter(|it| !is_tagless(it)) else {
        let is_plain = *style == ScalarStyle::Plain;
        return Ok(if is_plain { plain::resolve(text, dialect) } else { Resolved::Text });
    };
    // A scalar with a custom tag is a string.
    let Some(name) = tag.strip_prefix("tag:yaml.org,2002:") else { return Ok(Resolved::Text) };
    match (name, plain::resolve(text, dialect)) {
        ("binary", _) => Err(Fault::new(
            mark,
            "`!!binary` is not supported",
            Some("Kubernetes expects plain Base64: remove the tag"),
        )),
        ("float", Resolved::Int(it)) => Ok(Resolved::Float(it as f64)),
        ("null", it @ Resolved::Null)
        | ("bool", it @ Resolved::Bool(_))
        | ("int", it @ (Resolved::Int(_) | Resolved::Uint(_)))
        | ("float", it @ Resolved::Float(_))
        | ("timestamp", it @ Resolved::Time) => Ok(it),
        ("null" | "bool" | "int" | "float" | "timestamp", _) => {
            Err(Fault::new(mark, format!("`{text}` does not have the type `!!{name}`"), None))
        }
        _ => Ok(Resolved::Text),
    }
}

/// The JSON value of a scalar. `in_flow` is set between brackets or braces.
pub fn value(scalar: &Scalar, dialect: Dialect, in_flow: bool, mark: Mark) -> Result<Value, Fault> {
    let Scalar { text, tag, .. } = scalar;
    // kustomize prints each object before it reads its values, and puts quotes around these.
    let is_quoted =
        dialect == Dialect::Kustomize && in_flow && tag.as_ref().is_none_or(|it| it == "!");
    Ok(match resolve(scalar, dialect, mark)? {
        Resolved::Null if is_quoted && text.is_empty() => {
            let message = "this value is empty: kustomize prints `\"\"`, or drops the key";
            return Err(Fault::new(mark, message, Some("write `null` or `\"\"`")));
        }
        Resolved::Null => Value::Null,
        Resolved::Bool(it) => it.into(),
        Resolved::Int(it) => it.into(),
        Resolved::Uint(it) => it.into(),
        Resolved::Float(it) => float(it, dialect).ok_or_else(|| {
            let hint = Some("write it in quotes, if it is a string");
            Fault::new(mark, format!("JSON has no number `{text}`"), hint)
        })?,
        Resolved::Time if dialect == Dialect::Kustomize && !(is_quoted && text.contains(':')) => {
            Value::from(timestamp::parse(text).unwrap_or_default())
        }
        Resolved::Time => text.as_str().into(),
        Resolved::Text if dialect == Dialect::Kustomize => {
            printed::text(scalar, in_flow, mark).map(Cow::into_owned)?.into()
        }
        Resolved::Text => text.as_str().into(),
    })
}

/// A finite number. kustomize writes it as JSON, where `1.0` is `1`; other programs do so only if they do not need a
/// string.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn float(number: f64, dialect: Dialect) -> Option<Value> {
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

/// A number as sigs.k8s.io/yaml converts it to a string: with the precision of 32 bits.
pub fn key(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "that is what it does")]
    let short = number as f32;
    if !short.is_finite() {
        let infinite = if short > 0.0 { ".inf" } else { "-.inf" };
        return if short.is_nan() { ".nan" } else { infinite }.to_owned();
    }
    let text = format!("{short:e}");
    let exponent: i32 = text.rsplit('e').next().and_then(|it| it.parse().ok()).unwrap_or_default();
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
