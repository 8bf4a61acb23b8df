//! Numbers against a schema. Go compares whole numbers as such, and others as floats.

use super::{
    FieldPath, Findings, flag, format_of,
    validate::{limit, types},
};
use serde_json::{Number, Value};

pub fn check(schema: &Value, value: &Number, path: &FieldPath, findings: &mut Findings) {
    let types = types(schema);
    let Some(float) = value.as_f64() else { return };
    let format = format_of(schema, &types);
    let fits = match (format, value.as_i64()) {
        ("int32", whole) => {
            // Others than whole numbers are of the wrong type.
            let whole = whole.or_else(|| is_integer(float).then_some(float as i64));
            whole.is_none_or(|number| i32::try_from(number).is_ok())
        }
        ("float", _) => float.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if !fits {
        findings.fault(path, format!("does not fit into the format `{format}`"));
    }
    let integers = types == ["integer"];
    // Go truncates the bound, unless the type is `integer` and the bound is not whole.
    let whole = |bound: f64| {
        let is_cut = !integers || is_integer(bound) && bound.fract() == 0.0;
        value.as_i64().filter(|_| is_cut).map(|number| (number, bound as i64))
    };
    let order = |bound: f64| match whole(bound) {
        Some((value, bound)) => value.cmp(&bound),
        None => float.total_cmp(&bound),
    };
    if let Some(most) = limit(schema, "maximum") {
        let order = order(most);
        let is_exclusive = flag(schema, "exclusiveMaximum");
        if order.is_gt() || is_exclusive && order.is_eq() {
            let how = if is_exclusive { "less than" } else { "at most" };
            findings.fault(path, format!("must be {how} {most}"));
        }
    }
    if let Some(least) = limit(schema, "minimum") {
        let order = order(least);
        let is_exclusive = flag(schema, "exclusiveMinimum");
        if order.is_lt() || is_exclusive && order.is_eq() {
            let how = if is_exclusive { "greater than" } else { "at least" };
            findings.fault(path, format!("must be {how} {least}"));
        }
    }
    if let Some(factor) = limit(schema, "multipleOf") {
        let is_multiple = match whole(factor) {
            Some((value, factor)) => factor > 0 && value % factor == 0,
            None if factor < 1.0 => factor > 0.0 && is_integer(1.0 / factor * float),
            None => is_integer(float / factor),
        };
        if !is_multiple {
            findings.fault(path, format!("must be a multiple of {factor}"));
        }
    }
}

/// Returns true if Go's validator takes a float for a whole number (`IsFloat64AJSONInteger`).
pub fn is_integer(float: f64) -> bool {
    const MOST: f64 = 9_007_199_254_740_991.0;
    if !float.is_finite() || float.abs() > MOST {
        return false;
    }
    let (whole, near) = (float.trunc(), 1e-9);
    let difference = (float - whole).abs();
    float == whole || whole != 0.0 && difference / (float.abs() + whole.abs()) < near
}

/// Returns true if Go takes a value for this value of an enum: it converts it to the type of the latter first.
pub fn is_in_enum(value: &Number, allowed: &Number) -> bool {
    match (value.as_i64(), allowed.as_i64()) {
        (Some(one), Some(other)) => one == other,
        (None, Some(other)) => value.as_f64().is_some_and(|number| number as i64 == other),
        (_, None) => value.as_f64() == allowed.as_f64(),
    }
}
