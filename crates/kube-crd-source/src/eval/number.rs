//! Arithmetic as it is done by a build that checks: what does not fit is no value.

use syn::BinOp;

use super::value::{Float, Value};

const NAMES: &[&str] =
    &["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// The name of an integer type.
pub fn integer(path: &str) -> Option<&'static str> {
    NAMES.iter().find(|it| **it == path).copied()
}

/// The lowest and highest number of a type; of `u128` as much as is read.
pub fn range(ty: &str) -> (i128, i128) {
    match ty {
        "i128" => (i128::MIN, i128::MAX),
        "u128" => (0, i128::MAX),
        ty => crate::values::range(ty).unwrap_or((0, 0)),
    }
}

pub fn bits(ty: &str) -> u32 {
    match ty {
        "i8" | "u8" => 8,
        "i16" | "u16" => 16,
        "i32" | "u32" => 32,
        "i128" | "u128" => 128,
        _ => 64,
    }
}

pub fn fits(number: i128, ty: &str) -> bool {
    let (low, high) = range(ty);
    (low..=high).contains(&number)
}

/// Why two values have no sum, product, …
pub enum Odd {
    /// It would overflow, or divide by zero.
    Panics,
    NotRead,
}

/// The two with the type of either.
fn together(
    left: (i128, Option<&'static str>),
    right: (i128, Option<&'static str>),
) -> Result<Option<&'static str>, Odd> {
    let ty = left.1.or(right.1);
    if left.1.is_some() && right.1.is_some() && left.1 != right.1 {
        return Err(Odd::NotRead);
    }
    match ty {
        Some(ty) if !fits(left.0, ty) || !fits(right.0, ty) => Err(Odd::NotRead),
        ty => Ok(ty),
    }
}

pub fn integers(
    op: &BinOp,
    left: (i128, Option<&'static str>),
    right: (i128, Option<&'static str>),
) -> Result<Value, Odd> {
    let shift = |by: fn(i128, u32) -> i128| match left.1 {
        Some("i128" | "u128") => {
            let count = u32::try_from(right.0).unwrap_or(u32::MAX);
            match count < 127 && 0 <= left.0 && left.0 <= i128::MAX >> count {
                true => Ok(Value::Int(by(left.0, count), left.1)),
                false => Err(Odd::NotRead),
            }
        }
        // What does not fit in the type that it turns out to have is told then.
        ty if (0..ty.map_or(31, |it| i128::from(bits(it)))).contains(&right.0) => {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is small"
            )]
            let found = by(left.0, right.0 as u32);
            Ok(Value::Int(ty.map_or(found, |ty| wrap(found, ty)), ty))
        }
        _ => Err(Odd::Panics),
    };
    match op {
        BinOp::Shl(_) | BinOp::ShlAssign(_) => return shift(|it, by| it << by),
        BinOp::Shr(_) | BinOp::ShrAssign(_) => return shift(|it, by| it >> by),
        _ => {}
    }
    let ty = together(left, right)?;
    let (one, other) = (left.0, right.0);
    let found = match op {
        BinOp::Add(_) | BinOp::AddAssign(_) => one.checked_add(other),
        BinOp::Sub(_) | BinOp::SubAssign(_) => one.checked_sub(other),
        BinOp::Mul(_) | BinOp::MulAssign(_) => one.checked_mul(other),
        BinOp::Div(_) | BinOp::DivAssign(_) => one.checked_div(other),
        BinOp::Rem(_) | BinOp::RemAssign(_) => one.checked_rem(other),
        BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => Some(one & other),
        BinOp::BitOr(_) | BinOp::BitOrAssign(_) => Some(one | other),
        BinOp::BitXor(_) | BinOp::BitXorAssign(_) => Some(one ^ other),
        _ => return Err(Odd::NotRead),
    };
    let found = found.ok_or(Odd::Panics)?;
    match ty {
        Some(ty) if !fits(found, ty) => Err(Odd::Panics),
        ty => Ok(Value::Int(found, ty)),
    }
}

/// As `as` cuts it off.
pub fn wrap(number: i128, ty: &str) -> i128 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "this is what `as` does"
    )]
    match ty {
        "i8" => i128::from(number as i8),
        "i16" => i128::from(number as i16),
        "i32" => i128::from(number as i32),
        "i64" | "isize" => i128::from(number as i64),
        "u8" => i128::from(number as u8),
        "u16" => i128::from(number as u16),
        "u32" => i128::from(number as u32),
        "u64" | "usize" => i128::from(number as u64),
        _ => number,
    }
}

/// `as` from a float.
pub fn cut(number: f64, ty: &str) -> i128 {
    let (low, high) = range(ty);
    if number.is_nan() {
        return 0;
    }
    #[allow(clippy::cast_possible_truncation, reason = "this is what `as` does")]
    (number as i128).clamp(low, high)
}

#[allow(clippy::cast_precision_loss, reason = "this is what `as` does")]
pub fn float(number: i128, ty: &str) -> Float {
    match ty {
        "f32" => Float::F32(number as f32),
        _ => Float::F64(number as f64),
    }
}

pub fn floats(op: &BinOp, left: Float, right: Float) -> Option<Float> {
    macro_rules! both {
        ($one:expr, $other:expr) => {
            match op {
                BinOp::Add(_) | BinOp::AddAssign(_) => $one + $other,
                BinOp::Sub(_) | BinOp::SubAssign(_) => $one - $other,
                BinOp::Mul(_) | BinOp::MulAssign(_) => $one * $other,
                BinOp::Div(_) | BinOp::DivAssign(_) => $one / $other,
                BinOp::Rem(_) | BinOp::RemAssign(_) => $one % $other,
                _ => return None,
            }
        };
    }
    Some(match (left, right) {
        (Float::F32(one), Float::F32(other) | Float::Either(other, _))
        | (Float::Either(one, _), Float::F32(other)) => Float::F32(both!(one, other)),
        (Float::F64(one), Float::F64(other) | Float::Either(_, other))
        | (Float::Either(_, one), Float::F64(other)) => Float::F64(both!(one, other)),
        (Float::Either(one, two), Float::Either(three, four)) => {
            Float::Either(both!(one, three), both!(two, four))
        }
        _ => return None,
    })
}
