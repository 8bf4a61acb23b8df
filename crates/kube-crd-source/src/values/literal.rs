//! Literals: integers in the range of their type, floats rounded once to its width.

use syn::{Expr, Lit};

use super::construct::Construct;
use super::ty::{Int, Ty};
use super::value::Value;
use super::{Eval, Evaluator, Frame};

impl Evaluator<'_> {
    /// A literal, negated where `-` stands before it: `-128` is an `i8`, and `128` is none.
    pub fn eval_literal(
        &self,
        frame: &Frame,
        at: &Expr,
        literal: &Lit,
        is_negative: bool,
        expected: &Ty,
    ) -> Eval<Value> {
        match literal {
            Lit::Int(it) => self.integer_literal(frame, at, it, is_negative, expected),
            Lit::Float(it) => {
                let ty = match it.suffix() {
                    "" => expected.clone(),
                    suffix => Ty::foreign(suffix),
                };
                self.eval_float(frame, at, it.base10_digits(), is_negative, &ty)
            }
            _ if is_negative => self.unsupported(frame, at),
            Lit::Str(it) => {
                self.record_construct(Construct::LiteralText);
                let text = it.value();
                self.spend(frame, at, text.len() / 64)?;
                Ok(Value::text(text))
            }
            Lit::Bool(it) => {
                self.record_construct(Construct::LiteralBool);
                Ok(Value::Bool(it.value))
            }
            _ => self.unsupported(frame, at),
        }
    }

    fn integer_literal(
        &self,
        frame: &Frame,
        at: &Expr,
        it: &syn::LitInt,
        is_negative: bool,
        expected: &Ty,
    ) -> Eval<Value> {
        let suffix = it.suffix();
        let ty = match suffix {
            "" => expected.clone(),
            suffix => Ty::foreign(suffix),
        };
        match (ty, Int::parse(suffix)) {
            // `1f64` is an integer to the lexer.
            (Ty::F32 | Ty::F64, _) if !suffix.is_empty() => {
                self.eval_float(frame, at, it.base10_digits(), is_negative, &Ty::foreign(suffix))
            }
            (Ty::Int(of), _) | (_, Some(of)) => self.eval_integer(frame, at, it, is_negative, of),
            (Ty::Any, _) => self.eval_integer(frame, at, it, is_negative, Int::I32),
            (Ty::Unknown, _) => self.untyped(frame, at),
            _ => self.refuse(frame, at, "it is not a number of the expected type"),
        }
    }

    fn eval_integer(
        &self,
        frame: &Frame,
        at: &Expr,
        literal: &syn::LitInt,
        is_negative: bool,
        of: Int,
    ) -> Eval<Value> {
        let number = literal.base10_parse::<i128>().ok();
        let number = number.map(|number| if is_negative { -number } else { number });
        match number.filter(|value| of.can_hold(*value)) {
            Some(number) => {
                self.record_construct(Construct::LiteralInteger);
                Ok(Value::Int(number, of))
            }
            None => self.refuse(frame, at, format!("it does not fit in `{}`", of.name())),
        }
    }

    fn eval_float(
        &self,
        frame: &Frame,
        at: &Expr,
        digits: &str,
        is_negative: bool,
        ty: &Ty,
    ) -> Eval<Value> {
        let sign = if is_negative { "-" } else { "" };
        let text = format!("{sign}{digits}");
        let value = match ty {
            Ty::F32 => text.parse().ok().filter(|it: &f32| it.is_finite()).map(Value::F32),
            Ty::F64 | Ty::Any => {
                text.parse().ok().filter(|it: &f64| it.is_finite()).map(Value::F64)
            }
            Ty::Unknown => return self.untyped(frame, at),
            _ => return self.refuse(frame, at, "it is not a number of the expected type"),
        };
        match value {
            Some(value) => {
                self.record_construct(Construct::LiteralFloat);
                Ok(value)
            }
            None => self.refuse(frame, at, "it is out of the range of its type"),
        }
    }
}
