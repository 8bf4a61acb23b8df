//! Operators: arithmetic of numbers of one type, comparisons, `&&` and `||`.

use std::ops::{Add, Div, Mul, Rem, Sub};

use syn::{BinOp, Expr, ExprBinary};

use super::construct::Construct;
use super::syntax::peel_parens;
use super::ty::{Int, Ty};
use super::value::Value;
use super::{Eval, Evaluator, Frame};

impl Evaluator<'_> {
    pub fn eval_binary(
        &self,
        frame: &Frame,
        at: &Expr,
        it: &ExprBinary,
        expected: &Ty,
    ) -> Eval<Value> {
        match it.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.record_construct(Construct::Logic);
                let bool = Ty::foreign("bool");
                let left = self.eval_expr(frame, &it.left, &bool)?;
                match (left, &it.op) {
                    (Value::Bool(true), BinOp::Or(_)) => Ok(Value::Bool(true)),
                    (Value::Bool(false), BinOp::And(_)) => Ok(Value::Bool(false)),
                    _ => self.eval_expr(frame, &it.right, &bool),
                }
            }
            BinOp::Eq(_) | BinOp::Ne(_) => self.eval_comparison(frame, at, it),
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                self.order_comparison(frame, at, it)
            }
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                let ty = self.operand_type(frame, it, expected);
                let left = self.eval_expr(frame, &it.left, &ty)?;
                let right = self.eval_expr(frame, &it.right, &left.ty())?;
                self.eval_arithmetic(frame, at, it, left, right)
            }
            BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => {
                let ty = self.operand_type(frame, it, expected);
                let left = self.eval_expr(frame, &it.left, &ty)?;
                let right = self.eval_expr(frame, &it.right, &left.ty())?;
                let (Value::Int(left, ty), Value::Int(right, other)) = (left, right) else {
                    return self.unsupported(frame, at);
                };
                let (left, right) = (left as u128, right as u128);
                let pattern = match it.op {
                    BinOp::BitAnd(_) => left & right,
                    BinOp::BitOr(_) => left | right,
                    _ => left ^ right,
                };
                self.int_from_bits(frame, at, (ty == other).then_some(ty), pattern)
            }
            BinOp::Shl(_) | BinOp::Shr(_) => self.eval_shift(frame, at, it, expected),
            _ => self.unsupported(frame, at),
        }
    }

    fn eval_shift(&self, frame: &Frame, at: &Expr, it: &ExprBinary, expected: &Ty) -> Eval<Value> {
        let ty = match self.type_of(frame, &it.left) {
            own if own.is_known() => own,
            _ => expected.clone(),
        };
        let left = self.eval_expr(frame, &it.left, &ty)?;
        let amount = match self.type_of(frame, &it.right) {
            own if own.is_known() => own,
            _ => Ty::Any,
        };
        let right = self.eval_expr(frame, &it.right, &amount)?;
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
        self.int_from_bits(frame, at, Some(ty), pattern)
    }

    /// The number of a type that a pattern of bits is.
    fn int_from_bits(
        &self,
        frame: &Frame,
        at: &Expr,
        ty: Option<Int>,
        pattern: u128,
    ) -> Eval<Value> {
        match ty.and_then(|ty| Some(Value::Int(ty.number_of_pattern(pattern)?, ty))) {
            Some(value) => {
                self.record_construct(Construct::BitOperation);
                Ok(value)
            }
            None => self.unsupported(frame, at),
        }
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

    /// The values of both sides of a comparison.
    fn compared_values(&self, frame: &Frame, it: &ExprBinary) -> Eval<(Value, Value)> {
        let ty = self.operand_type(frame, it, &Ty::Unknown);
        // Two numbers without a type are of the types that literals have where nothing says one.
        let ty = if is_number(&it.left) && is_number(&it.right) && !ty.is_known() {
            Ty::Any
        } else {
            ty
        };
        if !is_number(&it.left) && ty.is_known() && !self.type_of(frame, &it.left).is_known() {
            // `value == T::default()`: the side that is known gives the other its type.
            let right = self.eval_expr(frame, &it.right, &ty)?;
            return Ok((self.eval_expr(frame, &it.left, &ty)?, right));
        }
        let left = self.eval_expr(frame, &it.left, &ty)?;
        let expected = if ty.is_known() { ty } else { left.ty() };
        let right = self.eval_expr(frame, &it.right, &expected)?;
        Ok((left, right))
    }

    fn eval_comparison(&self, frame: &Frame, at: &Expr, it: &ExprBinary) -> Eval<Value> {
        let (left, right) = self.compared_values(frame, it)?;
        self.record_construct(Construct::Comparison);
        let is_equal = self.are_equal(frame, at, &left, &right)?;
        Ok(Value::Bool(is_equal == matches!(it.op, BinOp::Eq(_))))
    }

    fn order_comparison(&self, frame: &Frame, at: &Expr, it: &ExprBinary) -> Eval<Value> {
        let found = match self.compared_values(frame, it)? {
            (Value::Int(left, of), Value::Int(right, other)) if of == other => {
                left.partial_cmp(&right)
            }
            (Value::F32(left), Value::F32(right)) => left.partial_cmp(&right),
            (Value::F64(left), Value::F64(right)) => left.partial_cmp(&right),
            (Value::Text(left), Value::Text(right)) => left.partial_cmp(&right),
            _ => None,
        };
        let Some(order) = found else { return self.unsupported(frame, at) };
        self.record_construct(Construct::Ordering);
        Ok(Value::Bool(match it.op {
            BinOp::Lt(_) => order.is_lt(),
            BinOp::Le(_) => order.is_le(),
            BinOp::Gt(_) => order.is_gt(),
            _ => order.is_ge(),
        }))
    }

    fn eval_arithmetic(
        &self,
        frame: &Frame,
        at: &Expr,
        it: &ExprBinary,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        let (left, right, of) = match (left, right) {
            (Value::Int(left, of), Value::Int(right, other)) if of == other => (left, right, of),
            (Value::F32(left), Value::F32(right)) => {
                self.record_construct(Construct::FloatArithmetic);
                let found = float_result(it.op, left, right);
                return self.finite_value(frame, at, f64::from(found), Value::F32(found));
            }
            (Value::F64(left), Value::F64(right)) => {
                self.record_construct(Construct::FloatArithmetic);
                let found = float_result(it.op, left, right);
                return self.finite_value(frame, at, found, Value::F64(found));
            }
            _ => return self.unsupported(frame, at),
        };
        let found = match it.op {
            BinOp::Add(_) => left.checked_add(right),
            BinOp::Sub(_) => left.checked_sub(right),
            BinOp::Mul(_) => left.checked_mul(right),
            // `MIN % -1` overflows as `MIN / -1` does, and is within an `i128`.
            BinOp::Rem(_) if left == of.range().0 && left < 0 && right == -1 => None,
            BinOp::Div(_) => left.checked_div(right),
            _ => left.checked_rem(right),
        };
        let Some(found) = found.filter(|number| of.can_hold(*number)) else {
            return self.panics(frame, at, "it overflows, or divides by zero");
        };
        self.record_construct(Construct::Arithmetic);
        Ok(Value::Int(found, of))
    }

    /// A value of a floating-point type, unless its number is infinite or not a number.
    pub fn finite_value(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        number: f64,
        value: Value,
    ) -> Eval<Value> {
        if number.is_finite() {
            Ok(value)
        } else {
            self.refuse(frame, at, "its value is not a finite number")
        }
    }
}

/// The result of an operation on floating-point numbers, rounded as the operation of the type is.
fn float_result<T>(operator: BinOp, left: T, right: T) -> T
where
    T: Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T> + Rem<Output = T>,
{
    match operator {
        BinOp::Add(_) => left + right,
        BinOp::Sub(_) => left - right,
        BinOp::Mul(_) => left * right,
        BinOp::Div(_) => left / right,
        _ => left % right,
    }
}

/// Returns whether an expression is made of number literals alone.
pub fn is_number(expr: &Expr) -> bool {
    match peel_parens(expr) {
        Expr::Lit(it) => matches!(it.lit, syn::Lit::Int(_) | syn::Lit::Float(_)),
        Expr::Unary(it) => is_number(&it.expr),
        Expr::Binary(it) => is_number(&it.left) && is_number(&it.right),
        _ => false,
    }
}
