//! `x as T`: between numbers, from booleans and enums without fields.

use syn::Expr;

use super::binary::is_number;
use super::construct::Construct;
use super::syntax::peel_parens;
use super::ty::{Int, Ty};
use super::value::{AdtValue, Value};
use super::{Eval, Evaluator, Frame, Stop};
use crate::text::unraw_name;
use crate::types::Type;

impl Evaluator<'_> {
    pub fn eval_cast(&self, frame: &Frame, it: &syn::ExprCast) -> Eval<Value> {
        let to = self.resolve_type(frame, &it.ty)?;
        let from = match self.type_of(frame, &it.expr) {
            own if own.is_known() => own,
            // A literal has the type that it is cast to, if it can be of that type.
            _ if is_number(&it.expr) && takes_type_of_cast(&it.expr, &to) => to.clone(),
            _ if is_number(&it.expr) => Ty::Any,
            _ => Ty::Unknown,
        };
        let value = self.eval_expr(frame, &it.expr, &from)?;
        match to {
            Ty::Int(to) => self.cast_to_integer(frame, it, &value, to),
            Ty::F32 => self.cast_to_f32(frame, it, &value),
            Ty::F64 => self.cast_to_f64(frame, it, &value),
            _ => self.unsupported(frame, it),
        }
    }

    fn cast_to_integer(
        &self,
        frame: &Frame,
        it: &syn::ExprCast,
        value: &Value,
        to: Int,
    ) -> Eval<Value> {
        let number = match value {
            Value::Int(number, _) => *number,
            Value::Bool(value) => (*value).into(),
            Value::F32(number) => return self.truncated_number(frame, it, f64::from(*number), to),
            Value::F64(number) => return self.truncated_number(frame, it, *number, to),
            Value::Data(data) => self.discriminant_of(frame, it, data)?,
            _ => return self.unsupported(frame, it),
        };
        let found = match to.bits() {
            Some(_) => to.number_of_pattern(number as u128),
            None => Some(number).filter(|number| is_portable(*number, to)),
        };
        let Some(found) = found else { return self.unsupported(frame, it) };
        self.record_construct(Construct::Cast);
        Ok(Value::Int(found, to))
    }

    /// A floating-point number without what is behind its point, at most the limits of the type.
    fn truncated_number(
        &self,
        frame: &Frame,
        it: &syn::ExprCast,
        number: f64,
        to: Int,
    ) -> Eval<Value> {
        let (low, high) = to.range();
        // A cast to an integer saturates, and `i128` holds the limits of the types with up to 64 bits.
        let found = (number as i128).clamp(low, high);
        if to == Int::U128 || to.bits().is_none() && !is_portable(found, to) {
            return self.unsupported(frame, it);
        }
        self.record_construct(Construct::Cast);
        Ok(Value::Int(found, to))
    }

    fn cast_to_f32(&self, frame: &Frame, it: &syn::ExprCast, value: &Value) -> Eval<Value> {
        let number = match value {
            Value::Int(number, _) => *number as f32,
            Value::F32(number) => *number,
            Value::F64(number) => *number as f32,
            _ => return self.unsupported(frame, it),
        };
        self.record_construct(Construct::Cast);
        self.finite_value(frame, it, f64::from(number), Value::F32(number))
    }

    fn cast_to_f64(&self, frame: &Frame, it: &syn::ExprCast, value: &Value) -> Eval<Value> {
        let number = match value {
            Value::Int(number, _) => *number as f64,
            Value::F32(number) => f64::from(*number),
            Value::F64(number) => *number,
            _ => return self.unsupported(frame, it),
        };
        self.record_construct(Construct::Cast);
        self.finite_value(frame, it, number, Value::F64(number))
    }

    /// The number of a variant of an enum without fields: the one that is written, or one more than that before it.
    fn discriminant_of(&self, frame: &Frame, at: &syn::ExprCast, data: &AdtValue) -> Eval<i128> {
        let (Type::Data(id, _), Some(name)) = (&*data.ty, &data.variant) else {
            return self.unsupported(frame, at);
        };
        let input = self.world.settled_input(*id).map_err(Stop::from)?;
        let syn::Data::Enum(declared) = &input.data else { return self.unsupported(frame, at) };
        if declared.variants.iter().any(|variant| variant.fields != syn::Fields::Unit) {
            return self.unsupported(frame, at);
        }
        let there = Frame::new(self.world.items[*id].module);
        let of = discriminant_type(&input.attrs);
        let mut next = 0;
        for variant in &declared.variants {
            let number = match &variant.discriminant {
                None => next,
                Some((_, expr)) => match self.eval_expr(&there, expr, &Ty::Int(of))? {
                    Value::Int(number, _) => number,
                    _ => return self.unsupported(frame, expr),
                },
            };
            if unraw_name(&variant.ident) == *name {
                self.record_construct(Construct::CastEnum);
                return Ok(number);
            }
            let Some(following) = number.checked_add(1) else { break };
            next = following;
        }
        self.unsupported(frame, at)
    }
}

/// Returns whether a number without a type is of the type that it is cast to: a single literal is, with or without a
/// sign, as rustc's `check_expr_lit` expects it; operands are of the types that literals have where nothing says one.
fn takes_type_of_cast(expr: &Expr, to: &Ty) -> bool {
    match peel_parens(expr) {
        Expr::Unary(it) => takes_type_of_cast(&it.expr, to),
        Expr::Lit(it) => match it.lit {
            syn::Lit::Int(_) => matches!(to, Ty::Int(_)),
            _ => matches!(to, Ty::F32 | Ty::F64),
        },
        _ => false,
    }
}

/// Returns whether every platform holds a number in `usize` or `isize`.
fn is_portable(number: i128, of: Int) -> bool {
    let smallest = if of.is_signed() { Int::I32 } else { Int::U32 };
    smallest.can_hold(number)
}

/// The integer type of the discriminants of an enum: `isize`, or the one in `#[repr(…)]`.
fn discriminant_type(attrs: &[syn::Attribute]) -> Int {
    let mut found = Int::Isize;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        // An argument that is not a type, such as `C`, leaves the type unchanged.
        let _ = attr.parse_nested_meta(|meta| {
            found = meta
                .path
                .get_ident()
                .and_then(|ident| Int::parse(&ident.to_string()))
                .unwrap_or(found);
            Ok(())
        });
    }
    found
}
