//! `+`, `==`, `&&`, `as` and their like, on values of the language and of std.

use syn::{BinOp, Expr, ExprBinary};

use super::number::{self, Odd};
use super::value::{Float, Value};
use super::{Eval, Evaluator, Frame, Ty};

impl Evaluator<'_> {
    pub fn binary(&self, frame: &Frame, it: &ExprBinary, want: &Ty) -> Eval<Value> {
        match &it.op {
            BinOp::And(_) | BinOp::Or(_) => {
                let bool = Ty::known("bool");
                let left = self.part(frame, &it.left, &bool)?;
                match (&it.op, left) {
                    (BinOp::And(_), Value::Bool(false)) => Ok(Value::Bool(false)),
                    (BinOp::Or(_), Value::Bool(true)) => Ok(Value::Bool(true)),
                    _ => self.part(frame, &it.right, &bool),
                }
            }
            BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_) => self.comparison(frame, it),
            BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_) => self.compound(frame, it),
            BinOp::Shl(_) | BinOp::Shr(_) => {
                let left = self.part_any(frame, &it.left, want)?;
                let right = self.part_any(frame, &it.right, &Ty::Unknown)?;
                self.operate(frame, it, left, right)
            }
            _ => {
                // The sides of what a number or a text comes to are of its type.
                let simple = want.integer().is_some() || matches!(want.path(), "f32" | "f64");
                let side = if simple { want.clone() } else { Ty::Unknown };
                let left = self.part_any(frame, &it.left, &side)?;
                let hint = match (&left, side) {
                    (Value::Int(_, Some(ty)), Ty::Unknown) => Ty::known(ty),
                    (_, side) => side,
                };
                let right = self.part_any(frame, &it.right, &hint)?;
                self.operate(frame, it, left, right)
            }
        }
    }

    fn comparison(&self, frame: &Frame, it: &ExprBinary) -> Eval<Value> {
        let left = self.part_any(frame, &it.left, &Ty::Unknown)?;
        let right = self.part_any(frame, &it.right, &left.ty())?;
        if let (Value::Data(one), Value::Data(_)) = (&left, &right) {
            let id = one.id;
            let equal = matches!(it.op, BinOp::Eq(_) | BinOp::Ne(_));
            if equal && let Some(found) = self.equal(frame, it, id, &left, &right)? {
                return Ok(Value::Bool(found == matches!(it.op, BinOp::Eq(_))));
            }
            return self.refuse(frame, it, "compares by code that is not read");
        }
        if holds_data(&left) || holds_data(&right) {
            let found = self.same(frame, it, &left, &right)?;
            return match it.op {
                BinOp::Eq(_) => Ok(Value::Bool(found)),
                BinOp::Ne(_) => Ok(Value::Bool(!found)),
                _ => self.refuse(frame, it, "compares by code that is not read"),
            };
        }
        let found = match &it.op {
            BinOp::Eq(_) => super::compare::same(&left, &right),
            BinOp::Ne(_) => super::compare::same(&left, &right).map(|it| !it),
            op => super::compare::order(&left, &right).map(|order| match op {
                BinOp::Lt(_) => order.is_lt(),
                BinOp::Le(_) => order.is_le(),
                BinOp::Gt(_) => order.is_gt(),
                _ => order.is_ge(),
            }),
        };
        match found {
            Some(it) => Ok(Value::Bool(it)),
            None => self.refuse(frame, it, "compares what is not read"),
        }
    }

    /// Whether two values are one, by their own `PartialEq` where they are the project's.
    pub fn same(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        one: &Value,
        other: &Value,
    ) -> Eval<bool> {
        self.step(frame, at)?;
        let all = |one: &[Value], other: &[Value]| -> Eval<bool> {
            if one.len() != other.len() {
                return Ok(false);
            }
            for (one, other) in one.iter().zip(other) {
                if !self.same(frame, at, one, other)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        match (one, other) {
            (Value::Data(data), Value::Data(_)) => {
                match self.equal(frame, at, data.id, one, other)? {
                    Some(found) => Ok(found),
                    None => self.refuse(frame, at, "compares by code that is not read"),
                }
            }
            (Value::Option(Some(one)), Value::Option(Some(other)))
            | (Value::Result(Ok(one)), Value::Result(Ok(other))) => {
                self.same(frame, at, one, other)
            }
            (Value::Option(one), Value::Option(other)) => Ok(one.is_none() && other.is_none()),
            (Value::List(one, _), Value::List(other, _)) => all(one, other),
            (Value::Tuple(one), Value::Tuple(other)) => all(one, other),
            _ => match super::compare::same(one, other) {
                Some(found) => Ok(found),
                None => self.refuse(frame, at, "compares what is not read"),
            },
        }
    }

    fn compound(&self, frame: &Frame, it: &ExprBinary) -> Eval<Value> {
        let Some(place) = self.place(frame, &it.left)? else {
            return self.refuse(frame, it, "changes what is no place");
        };
        let Some(before) = place.read() else {
            return self.refuse(frame, it, "changes what is no place");
        };
        let hint = match &before {
            Value::Int(_, Some(ty)) => Ty::known(ty),
            _ => Ty::Unknown,
        };
        let right = self.part_any(frame, &it.right, &hint)?;
        let after = self.operate(frame, it, before, right)?;
        match place.write(after) {
            true => Ok(Value::Unit),
            false => self.refuse(frame, it, "changes what is no place"),
        }
    }

    fn operate(&self, frame: &Frame, it: &ExprBinary, left: Value, right: Value) -> Eval<Value> {
        let op = &it.op;
        let add = matches!(op, BinOp::Add(_) | BinOp::AddAssign(_));
        match (left, right) {
            (Value::Int(one, left), Value::Int(other, right)) => {
                match number::integers(op, (one, left), (other, right)) {
                    Ok(value) => Ok(value),
                    Err(Odd::Panics) => self.panics(frame, it, "it overflows"),
                    Err(Odd::NotRead) => self.refuse(frame, it, "is arithmetic that is not read"),
                }
            }
            (Value::Float(one), Value::Float(other)) => match number::floats(op, one, other) {
                Some(it) => Ok(Value::Float(it)),
                None => self.refuse(frame, it, "is arithmetic that is not read"),
            },
            (Value::Bool(one), Value::Bool(other)) => match op {
                BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => Ok(Value::Bool(one & other)),
                BinOp::BitOr(_) | BinOp::BitOrAssign(_) => Ok(Value::Bool(one | other)),
                BinOp::BitXor(_) | BinOp::BitXorAssign(_) => Ok(Value::Bool(one ^ other)),
                _ => self.refuse(frame, it, "is no operation that can be read"),
            },
            (Value::Text(one, true), Value::Text(other, _)) if add => {
                self.bounded(frame, it, one.len() + other.len())?;
                Ok(Value::text(one + &other))
            }
            (Value::Duration(one), Value::Duration(other)) => {
                let found = match op {
                    _ if add => one.checked_add(other),
                    BinOp::Sub(_) | BinOp::SubAssign(_) => one.checked_sub(other),
                    _ => return self.refuse(frame, it, "is no operation that can be read"),
                };
                match found {
                    Some(it) => Ok(Value::Duration(it)),
                    None => self.panics(frame, it, "it overflows"),
                }
            }
            (Value::Duration(one), Value::Int(other, _))
                if matches!(op, BinOp::Mul(_) | BinOp::Div(_)) =>
            {
                let Ok(other) = u32::try_from(other) else {
                    return self.refuse(frame, it, "is no operation that can be read");
                };
                let found = match op {
                    BinOp::Mul(_) => one.checked_mul(other),
                    _ => one.checked_div(other),
                };
                match found {
                    Some(it) => Ok(Value::Duration(it)),
                    None => self.panics(frame, it, "it overflows"),
                }
            }
            _ => self.refuse(frame, it, "is no operation that can be read"),
        }
    }

    pub fn cast(&self, frame: &Frame, it: &syn::ExprCast) -> Eval<Value> {
        let ty = self.ty(frame, &it.ty)?;
        // A number that does not say its type is, where any will do, of the one that it is cast to.
        let hint = match &*it.expr {
            Expr::Lit(_) if ty.integer().is_some() => ty.clone(),
            _ => Ty::Unknown,
        };
        let value = self.part_any(frame, &it.expr, &hint)?;
        let path = ty.path();
        Ok(match (value, ty.integer()) {
            (value, None) if ty == Ty::Unknown => value,
            (Value::Int(number, Some(_)), Some(to)) => {
                Value::Int(number::wrap(number, to), Some(to))
            }
            // It would be an `i32`, unless something else says otherwise.
            (Value::Int(number, None), Some(to)) if number::fits(number, "i32") => {
                Value::Int(number::wrap(number, to), Some(to))
            }
            (Value::Float(Float::F32(number)), Some(to)) => {
                Value::Int(number::cut(number.into(), to), Some(to))
            }
            (Value::Float(Float::F64(number) | Float::Either(_, number)), Some(to)) => {
                Value::Int(number::cut(number, to), Some(to))
            }
            (Value::Bool(it), Some(to)) => Value::Int(it.into(), Some(to)),
            (Value::Char(it), Some(to)) => {
                Value::Int(number::wrap(u32::from(it).into(), to), Some(to))
            }
            (Value::Int(number, _), None) if matches!(path, "f32" | "f64") => {
                Value::Float(number::float(number, path))
            }
            #[allow(clippy::cast_possible_truncation, reason = "this is what `as` does")]
            (Value::Float(number), None) if matches!(path, "f32" | "f64") => {
                Value::Float(match (number, path) {
                    (Float::F32(it), "f64") => Float::F64(it.into()),
                    (Float::F64(it) | Float::Either(_, it), "f64") => Float::F64(it),
                    (Float::F64(it) | Float::Either(_, it), _) => Float::F32(it as f32),
                    (it, _) => it,
                })
            }
            (Value::Int(number @ 0..=255, Some("u8")), None) if path == "char" => {
                Value::Char(u8::try_from(number).map_or('\0', char::from))
            }
            (Value::Data(data), Some(to)) => match self.discriminant(frame, it, &data)? {
                Some(number) => Value::Int(number::wrap(number, to), Some(to)),
                None => return self.refuse(frame, it, "is a cast that is not read"),
            },
            _ => return self.refuse(frame, it, "is a cast that is not read"),
        })
    }
}

/// Whether a value of the project is in it.
pub fn holds_data(value: &Value) -> bool {
    match value {
        Value::Data(_) => true,
        Value::Option(Some(it)) | Value::Result(Ok(it) | Err(it)) => holds_data(it),
        Value::List(it, _) | Value::Tuple(it) | Value::Set(it, _) => it.iter().any(holds_data),
        Value::Map(it, _) => it.iter().any(|(one, other)| holds_data(one) || holds_data(other)),
        _ => false,
    }
}
