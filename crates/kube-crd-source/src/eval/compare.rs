//! Which of two values is greater, and whether they are one; none where it is not known.

use std::cmp::Ordering;

use super::value::{Float, Value};

pub fn same(one: &Value, other: &Value) -> Option<bool> {
    match (one, other) {
        (Value::Json(one), Value::Json(other)) => Some(one == other),
        (Value::Json(one), Value::Text(other, _)) | (Value::Text(other, _), Value::Json(one)) => {
            Some(one.as_str() == Some(other.as_str()))
        }
        (Value::Foreign(one, left), Value::Foreign(other, right)) => {
            (one == other).then_some(left == right)
        }
        (Value::Float(_), Value::Float(_)) => {
            let (one, other) = (number(one)?, number(other)?);
            #[allow(clippy::float_cmp, reason = "this is what `==` does")]
            Some(one == other)
        }
        (Value::Set(left, one), Value::Set(right, other))
        | (Value::List(left, one), Value::List(right, other)) => {
            let hashed = one.contains("Hash") || other.contains("Hash");
            if hashed { None } else { all(left.iter(), right.iter()) }
        }
        (Value::Map(left, one), Value::Map(right, other)) if one == other => {
            if one.contains("Hash") && left.len() == right.len() && 1 < left.len() {
                return None;
            }
            let keys = all(left.iter().map(|it| &it.0), right.iter().map(|it| &it.0))?;
            let values = all(left.iter().map(|it| &it.1), right.iter().map(|it| &it.1))?;
            Some(keys && values)
        }
        _ => order(one, other).map(|it| it == Ordering::Equal),
    }
}

fn all<'a>(
    left: impl ExactSizeIterator<Item = &'a Value>,
    right: impl ExactSizeIterator<Item = &'a Value>,
) -> Option<bool> {
    if left.len() != right.len() {
        return Some(false);
    }
    left.zip(right).try_fold(true, |res, (one, other)| Some(res && same(one, other)?))
}

fn number(it: &Value) -> Option<f64> {
    match it {
        Value::Float(Float::F32(it)) => Some(f64::from(*it)),
        Value::Float(Float::F64(it) | Float::Either(_, it)) => Some(*it),
        _ => None,
    }
}

pub fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Unit, Value::Unit) => Some(Ordering::Equal),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::Char(one), Value::Char(other)) => Some(one.cmp(other)),
        (Value::Int(one, _), Value::Int(other, _)) => Some(one.cmp(other)),
        (
            Value::Float(Float::F32(one)),
            Value::Float(Float::F32(other) | Float::Either(other, _)),
        )
        | (Value::Float(Float::Either(one, _)), Value::Float(Float::F32(other))) => {
            one.partial_cmp(other)
        }
        (Value::Float(_), Value::Float(_)) => number(one)?.partial_cmp(&number(other)?),
        (Value::Text(one, _), Value::Text(other, _)) => Some(one.cmp(other)),
        (Value::Duration(one), Value::Duration(other)) => Some(one.cmp(other)),
        (Value::Option(one), Value::Option(other)) => match (one, other) {
            (None, None) => Some(Ordering::Equal),
            (None, Some(_)) => Some(Ordering::Less),
            (Some(_), None) => Some(Ordering::Greater),
            (Some(one), Some(other)) => order(one, other),
        },
        (Value::Tuple(one), Value::Tuple(other)) if one.len() == other.len() => lists(one, other),
        (Value::List(one, _), Value::List(other, _)) => lists(one, other),
        _ => None,
    }
}

fn lists(one: &[Value], other: &[Value]) -> Option<Ordering> {
    for (one, other) in one.iter().zip(other) {
        match order(one, other)? {
            Ordering::Equal => {}
            it => return Some(it),
        }
    }
    Some(one.len().cmp(&other.len()))
}
