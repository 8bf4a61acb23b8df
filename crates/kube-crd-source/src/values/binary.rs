//! Operators: arithmetic of integers of one type, `==` and `!=`, `&&` and `||`.

use syn::{BinOp, Expr, ExprBinary};

use super::construct::Construct;
use super::syntax::peel;
use super::ty::{Int, Ty};
use super::value::Value;
use super::{Eval, Evaluator, Frame};

impl Evaluator<'_> {
    pub fn binary(&self, frame: &Frame, at: &Expr, it: &ExprBinary, expected: &Ty) -> Eval<Value> {
        match it.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.accept(Construct::Logic);
                let bool = Ty::foreign("bool");
                let left = self.eval(frame, &it.left, &bool)?;
                match (left, &it.op) {
                    (Value::Bool(true), BinOp::Or(_)) => Ok(Value::Bool(true)),
                    (Value::Bool(false), BinOp::And(_)) => Ok(Value::Bool(false)),
                    _ => self.eval(frame, &it.right, &bool),
                }
            }
            BinOp::Eq(_) | BinOp::Ne(_) => self.comparison(frame, at, it),
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                let ty = self.operand_type(frame, it, expected);
                let left = self.eval(frame, &it.left, &ty)?;
                let right = self.eval(frame, &it.right, &left.ty())?;
                self.arithmetic(frame, at, it, left, right)
            }
            BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => {
                let ty = self.operand_type(frame, it, expected);
                let left = self.eval(frame, &it.left, &ty)?;
                let right = self.eval(frame, &it.right, &left.ty())?;
                let (Value::Int(left, ty), Value::Int(right, other)) = (left, right) else {
                    return self.unsupported(frame, at);
                };
                let (left, right) = (left as u128, right as u128);
                let pattern = match it.op {
                    BinOp::BitAnd(_) => left & right,
                    BinOp::BitOr(_) => left | right,
                    _ => left ^ right,
                };
                self.bits(frame, at, (ty == other).then_some(ty), pattern)
            }
            BinOp::Shl(_) | BinOp::Shr(_) => self.shift(frame, at, it, expected),
            _ => self.unsupported(frame, at),
        }
    }

    fn shift(&self, frame: &Frame, at: &Expr, it: &ExprBinary, expected: &Ty) -> Eval<Value> {
        let ty = match self.type_of(frame, &it.left) {
            own if own.is_known() => own,
            _ => expected.clone(),
        };
        let left = self.eval(frame, &it.left, &ty)?;
        let amount = match self.type_of(frame, &it.right) {
            own if own.is_known() => own,
            _ => Ty::Any,
        };
        let right = self.eval(frame, &it.right, &amount)?;
        let (Value::Int(left, ty), Value::Int(amount, _)) = (left, right) else {
            return self.unsupported(frame, at);
        };
        let Some(bits) = ty.bits() else { return self.unsupported(frame, at) };
        let Some(amount) = u32::try_from(amount).ok().filter(|amount| *amount < bits) else {
            return self.panics(frame, at, "it shifts by more than the bits of its type");
        };
        let pattern = match it.op {
            BinOp::Shl(_) => (left as u128) << amount,
            _ => (left >> amount) as u128,
        };
        self.bits(frame, at, Some(ty), pattern)
    }

    /// The number of a type that a pattern of bits is.
    fn bits(&self, frame: &Frame, at: &Expr, ty: Option<Int>, pattern: u128) -> Eval<Value> {
        match ty.and_then(|ty| Some(Value::Int(ty.number_of_pattern(pattern)?, ty))) {
            Some(value) => {
                self.accept(Construct::BitOperation);
                Ok(value)
            }
            None => self.unsupported(frame, at),
        }
    }

    /// `x as T` of an integer or a boolean, to an integer.
    pub fn cast(&self, frame: &Frame, it: &syn::ExprCast) -> Eval<Value> {
        let Ty::Int(to) = self.ty(frame, &it.ty)? else { return self.unsupported(frame, it) };
        let from = match self.type_of(frame, &it.expr) {
            own if own.is_known() => own,
            // A literal has the type that it is cast to.
            _ if is_number(&it.expr) => Ty::Int(to),
            _ => Ty::Unknown,
        };
        let number = match self.eval(frame, &it.expr, &from)? {
            Value::Int(number, _) => number,
            Value::Bool(value) => value.into(),
            _ => return self.unsupported(frame, it),
        };
        // A number that every platform holds is the same on each.
        let found = match to.bits() {
            Some(_) => to.number_of_pattern(number as u128),
            None => Some(number).filter(|number| {
                let smallest = if to.is_signed() { Int::I32 } else { Int::U32 };
                smallest.holds(*number)
            }),
        };
        let Some(found) = found else { return self.unsupported(frame, it) };
        self.accept(Construct::Cast);
        Ok(Value::Int(found, to))
    }

    /// The type of both sides: what is expected, or what one side says of itself.
    pub fn operand_type(&self, frame: &Frame, it: &ExprBinary, expected: &Ty) -> Ty {
        if matches!(expected, Ty::Int(_) | Ty::F32 | Ty::F64) {
            return expected.clone();
        }
        match self.type_of(frame, &it.left) {
            ty if ty.is_known() => ty,
            _ => match self.type_of(frame, &it.right) {
                ty if ty.is_known() => ty,
                _ => expected.clone(),
            },
        }
    }

    fn comparison(&self, frame: &Frame, at: &Expr, it: &ExprBinary) -> Eval<Value> {
        let ty = self.operand_type(frame, it, &Ty::Unknown);
        // Two numbers without a type are of the types that literals have where nothing says one.
        let is_literal = |it: &Expr| is_number(it);
        let ty = match is_literal(&it.left) && is_literal(&it.right) && !ty.is_known() {
            true => Ty::Any,
            false => ty,
        };
        let (left, right) = match (&ty, self.type_of(frame, &it.left).is_known()) {
            // `value == T::default()`: the side that is known gives the other its type.
            (_, false) if !is_literal(&it.left) && ty.is_known() => {
                let right = self.eval(frame, &it.right, &ty)?;
                (self.eval(frame, &it.left, &ty)?, right)
            }
            _ => {
                let left = self.eval(frame, &it.left, &ty)?;
                let right = match (left.ty(), &ty) {
                    (_, ty) if ty.is_known() => ty.clone(),
                    (own, _) => own,
                };
                let right = self.eval(frame, &it.right, &right)?;
                (left, right)
            }
        };
        self.accept(Construct::Comparison);
        let is_equal = self.equal(frame, at, &left, &right)?;
        Ok(Value::Bool(is_equal == matches!(it.op, BinOp::Eq(_))))
    }

    fn arithmetic(
        &self,
        frame: &Frame,
        at: &Expr,
        it: &ExprBinary,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        let (Value::Int(left, of), Value::Int(right, other)) = (left, right) else {
            return self.unsupported(frame, at);
        };
        if of != other {
            return self.unsupported(frame, at);
        }
        let found = match it.op {
            BinOp::Add(_) => left.checked_add(right),
            BinOp::Sub(_) => left.checked_sub(right),
            BinOp::Mul(_) => left.checked_mul(right),
            // `MIN % -1` overflows as `MIN / -1` does, and is within an `i128`.
            BinOp::Rem(_) if left == of.range().0 && left < 0 && right == -1 => None,
            BinOp::Div(_) => left.checked_div(right),
            _ => left.checked_rem(right),
        };
        let Some(found) = found.filter(|it| of.holds(*it)) else {
            return self.panics(frame, at, "it overflows, or divides by zero");
        };
        self.accept(Construct::Arithmetic);
        Ok(Value::Int(found, of))
    }
}

/// Whether an expression is made of number literals alone.
fn is_number(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::Lit(it) => matches!(it.lit, syn::Lit::Int(_) | syn::Lit::Float(_)),
        Expr::Unary(it) => is_number(&it.expr),
        Expr::Binary(it) => is_number(&it.left) && is_number(&it.right),
        _ => false,
    }
}
