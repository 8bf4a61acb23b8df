//! Operators: arithmetic of one type, comparisons, `&&` and `||`, and casts between numbers.

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
            BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_) => self.comparison(frame, at, it),
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                let ty = self.operand_type(frame, it, expected);
                let left = self.eval(frame, &it.left, &ty)?;
                let right = self.eval(frame, &it.right, &left.ty())?;
                self.arithmetic(frame, at, it, left, right)
            }
            BinOp::Shl(_) => {
                let left = self.eval(frame, &it.left, expected)?;
                let right = match self.type_of(frame, &it.right) {
                    ty @ Ty::Int(_) => self.eval(frame, &it.right, &ty)?,
                    _ => self.eval(frame, &it.right, &Ty::Any)?,
                };
                self.shift_left(frame, at, left, right)
            }
            _ => self.unsupported(frame, at),
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
        let found = match it.op {
            BinOp::Eq(_) => self.equal(frame, at, &left, &right)?,
            BinOp::Ne(_) => !self.equal(frame, at, &left, &right)?,
            ref op => {
                let Some(order) = order(&left, &right) else { return self.unsupported(frame, at) };
                match (op, order) {
                    (_, None) => false,
                    (BinOp::Lt(_), Some(it)) => it.is_lt(),
                    (BinOp::Le(_), Some(it)) => it.is_le(),
                    (BinOp::Gt(_), Some(it)) => it.is_gt(),
                    (_, Some(it)) => it.is_ge(),
                }
            }
        };
        Ok(Value::Bool(found))
    }

    fn arithmetic(
        &self,
        frame: &Frame,
        at: &Expr,
        it: &ExprBinary,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        let value = match (left, right) {
            (Value::Int(left, of), Value::Int(right, other)) if of == other => {
                let found = match it.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    // `MIN % -1` overflows as `MIN / -1` does, and is within an `i128`.
                    BinOp::Rem(_) if left == of.range().0 && left < 0 && right == -1 => None,
                    BinOp::Div(_) => left.checked_div(right),
                    _ => left.checked_rem(right),
                };
                match found.filter(|it| of.holds(*it)) {
                    Some(found) => Value::Int(found, of),
                    None => return self.panics(frame, at, "it overflows, or divides by zero"),
                }
            }
            (Value::F32(left), Value::F32(right)) => match it.op {
                BinOp::Add(_) => Value::F32(left + right),
                BinOp::Sub(_) => Value::F32(left - right),
                BinOp::Mul(_) => Value::F32(left * right),
                BinOp::Div(_) => Value::F32(left / right),
                _ => return self.unsupported(frame, at),
            },
            (Value::F64(left), Value::F64(right)) => match it.op {
                BinOp::Add(_) => Value::F64(left + right),
                BinOp::Sub(_) => Value::F64(left - right),
                BinOp::Mul(_) => Value::F64(left * right),
                BinOp::Div(_) => Value::F64(left / right),
                _ => return self.unsupported(frame, at),
            },
            _ => return self.unsupported(frame, at),
        };
        self.accept(Construct::Arithmetic);
        Ok(value)
    }

    fn shift_left(&self, frame: &Frame, at: &Expr, left: Value, right: Value) -> Eval<Value> {
        let (Value::Int(number, of), Value::Int(by, _)) = (left, right) else {
            return self.unsupported(frame, at);
        };
        let shifted = u32::try_from(by).ok().filter(|it| *it < 64).map(|by| number << by);
        // What is shifted out, or into the sign, is refused: nobody writes it in a default.
        match shifted.filter(|it| number.abs() < 1 << 62 && of.holds(*it)) {
            Some(shifted) => {
                self.accept(Construct::ShiftLeft);
                Ok(Value::Int(shifted, of))
            }
            None => self.refuse(frame, at, "it shifts bits out of its type"),
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "`as` does just this"
    )]
    pub fn cast(&self, frame: &Frame, it: &syn::ExprCast) -> Eval<Value> {
        let to = self.ty(frame, &it.ty)?;
        // A literal is of the type that it is cast to, where that can be.
        let from = match (peel(&it.expr), &to) {
            (literal, Ty::Int(_)) if is_literal(literal, false) => to.clone(),
            (literal, Ty::F32 | Ty::F64) if is_literal(literal, true) => to.clone(),
            (expr, _) => match self.type_of(frame, expr) {
                ty if ty.is_known() => ty,
                _ if is_number(expr) => Ty::Any,
                _ => return self.untyped(frame, expr),
            },
        };
        let value = match (self.eval(frame, &it.expr, &from)?, to) {
            (Value::Int(number, _), Ty::Int(to)) => match wrap(number, to) {
                Some(number) => Value::Int(number, to),
                None => return self.unsupported(frame, it),
            },
            (Value::Int(number, _), Ty::F32) => Value::F32(number as f32),
            (Value::Int(number, _), Ty::F64) => Value::F64(number as f64),
            (Value::F32(number), Ty::F64) => Value::F64(number.into()),
            (Value::F64(number), Ty::F32) => Value::F32(number as f32),
            (value @ Value::F32(_), Ty::F32) | (value @ Value::F64(_), Ty::F64) => value,
            (Value::F64(number), Ty::Int(to)) => saturate(number as i128, to),
            (Value::F32(number), Ty::Int(to)) => saturate(number as i128, to),
            _ => return self.unsupported(frame, it),
        };
        self.accept(Construct::Cast);
        Ok(value)
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

/// Whether an expression is one literal without a suffix, of an integer or of a float, negated or not.
fn is_literal(expr: &Expr, float: bool) -> bool {
    match peel(expr) {
        Expr::Lit(it) => match &it.lit {
            syn::Lit::Int(it) => !float && it.suffix().is_empty(),
            syn::Lit::Float(it) => float && it.suffix().is_empty(),
            _ => false,
        },
        Expr::Unary(it) => matches!(it.op, syn::UnOp::Neg(_)) && is_literal(&it.expr, float),
        _ => false,
    }
}

/// The lowest bits of a number, as `as` leaves them; none where they are beyond an `i128`.
fn wrap(number: i128, to: Int) -> Option<i128> {
    let (low, high) = to.range();
    match to {
        Int::I128 | Int::U128 => to.holds(number).then_some(number),
        _ => Some(number.checked_sub(low)?.rem_euclid(high - low + 1) + low),
    }
}

fn saturate(number: i128, to: Int) -> Value {
    let (low, high) = to.range();
    Value::Int(number.clamp(low, high), to)
}

/// How two scalars or texts are ordered; none where they are something else.
#[allow(clippy::option_option, reason = "floats may have no order")]
pub fn order(left: &Value, right: &Value) -> Option<Option<std::cmp::Ordering>> {
    Some(match (left, right) {
        (Value::Int(left, _), Value::Int(right, _)) => Some(left.cmp(right)),
        (Value::F32(left), Value::F32(right)) => left.partial_cmp(right),
        (Value::F64(left), Value::F64(right)) => left.partial_cmp(right),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Char(left), Value::Char(right)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        _ => return None,
    })
}
