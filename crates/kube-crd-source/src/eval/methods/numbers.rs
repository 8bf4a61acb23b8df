//! Methods of numbers, `bool`, `char` and `Duration`.

use super::super::number::{self, fits};
use super::super::value::{Float, Value};
use super::super::{Eval, Evaluator, Ty};
use super::Call;

impl Evaluator<'_> {
    pub fn number_method<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        value: Value,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let argument = |index: usize, want: &Ty| {
            let value = self.take(frame, at, &call.given, index, want)?;
            self.settled(frame, at, value)
        };
        if let ("max" | "min", 1) = call.shape()
            && !matches!(value, Value::Float(_))
        {
            let other = argument(0, &value.ty())?;
            let Some(order) = super::super::compare::order(&value, &other) else { return Ok(None) };
            let (value, other) = settle(value, other);
            return Ok(Some(match call.name {
                "max" if order.is_gt() => value,
                "min" if order.is_gt() => other,
                "max" => other,
                _ => value,
            }));
        }
        match value {
            Value::Int(one, ty) => {
                let want = ty.map_or(Ty::Unknown, Ty::known);
                let (name, count) = call.shape();
                if let ("pow" | "checked_pow" | "saturating_pow", 1) = (name, count) {
                    let Value::Int(power, _) = argument(0, &Ty::known("u32"))? else {
                        return Ok(None);
                    };
                    let found = u32::try_from(power).ok().and_then(|power| one.checked_pow(power));
                    return self.fitting(call, name, found, ty);
                }
                if let ("clamp", 2) = (name, count) {
                    let (low, high) = (argument(0, &want)?, argument(1, &want)?);
                    let (Value::Int(low, left), Value::Int(high, right)) = (low, high) else {
                        return Ok(None);
                    };
                    if high < low {
                        return self.panics(frame, at, "the lowest is above the highest");
                    }
                    return Ok(Some(Value::Int(one.clamp(low, high), ty.or(left).or(right))));
                }
                match (name, count) {
                    ("abs", 0) => return self.fitting(call, name, one.checked_abs(), ty),
                    ("signum", 0) => return Ok(Some(Value::Int(one.signum(), ty))),
                    ("is_positive", 0) => return Ok(Some(Value::Bool(0 < one))),
                    ("is_negative", 0) => return Ok(Some(Value::Bool(one < 0))),
                    _ => {}
                }
                if count != 1 {
                    return Ok(None);
                }
                let operation = name
                    .trim_start_matches("checked_")
                    .trim_start_matches("saturating_")
                    .trim_start_matches("wrapping_");
                if operation == name && !matches!(name, "div_ceil" | "abs_diff") {
                    return Ok(None);
                }
                let Value::Int(other, right) = argument(0, &want)? else { return Ok(None) };
                let found = match operation {
                    "add" => one.checked_add(other),
                    "sub" => one.checked_sub(other),
                    "mul" => one.checked_mul(other),
                    "div" => one.checked_div(other),
                    "rem" => one.checked_rem(other),
                    "div_ceil" if 0 <= one && 0 < other => Some((one + other - 1) / other),
                    _ => return Ok(None),
                };
                self.fitting(call, name, found, ty.or(right))
            }
            Value::Bool(it) => Ok(match call.shape() {
                ("not", 0) => Some(Value::Bool(!it)),
                ("then", 1) => {
                    let function = argument(0, &Ty::Unknown)?;
                    let inner = call.want.inside(0);
                    Some(match it {
                        true => {
                            Value::some(self.apply(frame, at, &function, Vec::new(), &inner)?)
                        }
                        false => Value::Option(None),
                    })
                }
                ("then_some", 1) => {
                    let inner = argument(0, &call.want.inside(0))?;
                    Some(Value::Option(it.then(|| Box::new(inner))))
                }
                _ => None,
            }),
            Value::Char(it) => Ok(match call.shape() {
                ("to_ascii_lowercase", 0) => Some(Value::Char(it.to_ascii_lowercase())),
                ("to_ascii_uppercase", 0) => Some(Value::Char(it.to_ascii_uppercase())),
                ("is_alphanumeric", 0) => Some(Value::Bool(it.is_alphanumeric())),
                ("is_ascii_digit", 0) => Some(Value::Bool(it.is_ascii_digit())),
                ("is_uppercase", 0) => Some(Value::Bool(it.is_uppercase())),
                ("is_lowercase", 0) => Some(Value::Bool(it.is_lowercase())),
                _ => None,
            }),
            Value::Duration(it) => Ok(match call.shape() {
                ("as_secs", 0) => Some(Value::Int(it.as_secs().into(), Some("u64"))),
                ("as_millis", 0) => {
                    i128::try_from(it.as_millis()).ok().map(|it| Value::Int(it, Some("u128")))
                }
                ("subsec_millis", 0) => Some(Value::Int(it.subsec_millis().into(), Some("u32"))),
                ("subsec_nanos", 0) => Some(Value::Int(it.subsec_nanos().into(), Some("u32"))),
                ("as_secs_f64", 0) => Some(Value::Float(Float::F64(it.as_secs_f64()))),
                ("is_zero", 0) => Some(Value::Bool(it.is_zero())),
                _ => None,
            }),
            Value::Float(it) => Ok(match (call.shape(), it) {
                (("abs", 0), Float::F64(it)) => Some(Value::Float(Float::F64(it.abs()))),
                (("abs", 0), Float::F32(it)) => Some(Value::Float(Float::F32(it.abs()))),
                (("round", 0), Float::F64(it)) => Some(Value::Float(Float::F64(it.round()))),
                (("floor", 0), Float::F64(it)) => Some(Value::Float(Float::F64(it.floor()))),
                (("ceil", 0), Float::F64(it)) => Some(Value::Float(Float::F64(it.ceil()))),
                (("max" | "min", 1), Float::F64(one)) => match argument(0, &Ty::known("f64"))? {
                    Value::Float(Float::F64(other)) => {
                        Some(Value::Float(Float::F64(match call.name {
                            "max" => one.max(other),
                            _ => one.min(other),
                        })))
                    }
                    _ => None,
                },
                _ => None,
            }),
            _ => Ok(None),
        }
    }

    /// What arithmetic comes to, as the name of the method says.
    fn fitting<A: quote::ToTokens>(
        &self,
        call: &Call<'_, '_, A>,
        name: &str,
        found: Option<i128>,
        ty: Option<&'static str>,
    ) -> Eval<Option<Value>> {
        let (frame, at) = (call.frame, call.at);
        let Some(ty) = ty.or_else(|| call.want.integer()) else {
            return self.refuse(frame, at, "is of a type that cannot be told here");
        };
        let good = found.filter(|it| fits(*it, ty));
        if name.starts_with("checked_") {
            return Ok(Some(Value::Option(good.map(|it| Box::new(Value::Int(it, Some(ty)))))));
        }
        match (good, found) {
            (Some(it), _) => Ok(Some(Value::Int(it, Some(ty)))),
            (None, Some(it)) if name.starts_with("saturating_") => {
                let (low, high) = number::range(ty);
                Ok(Some(Value::Int(it.clamp(low, high), Some(ty))))
            }
            (None, Some(it)) if name.starts_with("wrapping_") && number::bits(ty) < 128 => {
                Ok(Some(Value::Int(number::wrap(it, ty), Some(ty))))
            }
            _ => self.panics(frame, at, "it overflows"),
        }
    }
}

/// Two numbers with the type of either.
fn settle(one: Value, other: Value) -> (Value, Value) {
    match (one, other) {
        (Value::Int(one, left), Value::Int(other, right)) => {
            let ty = left.or(right);
            (Value::Int(one, ty), Value::Int(other, ty))
        }
        both => both,
    }
}
