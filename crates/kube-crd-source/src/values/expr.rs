//! Expressions, each in the type that its place expects.

use std::rc::Rc;

use syn::{Expr, UnOp};

use super::construct::Construct;
use super::syntax::{attributes_of, member_name, peel_parens};
use super::target::PathTarget;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::types::Type;

impl Evaluator<'_> {
    pub fn eval_expr(&self, frame: &Frame, expr: &Expr, expected: &Ty) -> Eval<Value> {
        let expr = peel_parens(expr);
        self.step(frame, expr)?;
        let Some(_level) = self.meter.enter_level() else {
            return self.refuse(frame, expr, "it is nested too deep");
        };
        if !self.is_active(frame, attributes_of(expr), "an expression")? {
            return self.refuse(frame, expr, "its `#[cfg]` is not true");
        }
        let value = self.dispatch_expr(frame, expr, expected)?;
        if value.fits_type(expected) {
            Ok(value)
        } else {
            let ty = self.name_of(expected);
            self.refuse(frame, expr, format!("its value is not of type `{ty}`"))
        }
    }

    fn dispatch_expr(&self, frame: &Frame, expr: &Expr, expected: &Ty) -> Eval<Value> {
        match expr {
            Expr::Lit(it) => self.eval_literal(frame, expr, &it.lit, false, expected),
            Expr::Unary(it) => self.eval_unary(frame, expr, it, expected),
            Expr::Binary(it) => self.eval_binary(frame, expr, it, expected),
            Expr::Cast(it) => self.eval_cast(frame, it),
            Expr::Reference(it) if it.mutability.is_none() => {
                self.record_construct(Construct::Reference);
                self.eval_expr(frame, &it.expr, expected)
            }
            Expr::Path(it) => self.eval_path(frame, it, expected),
            Expr::Struct(it) => self.struct_literal(frame, it, expected),
            Expr::Macro(it) => self.macro_call(frame, &it.mac, expected),
            Expr::Call(it) => self.eval_call(frame, it, expected),
            Expr::MethodCall(it) => self.eval_method_call(frame, it, expected),
            Expr::Field(it) => self.eval_field(frame, it),
            Expr::If(it) => self.if_expression(frame, it, expected),
            Expr::Block(it) if it.label.is_none() => {
                self.record_construct(Construct::Block);
                self.eval_block(frame, &it.block.stmts, expected)
            }
            expr => self.unsupported(frame, expr),
        }
    }

    /// The items of a list of this type.
    pub fn eval_items<'x>(
        &self,
        frame: &Frame,
        items: impl Iterator<Item = &'x Expr>,
        expected: &Ty,
    ) -> Eval<Rc<[Value]>> {
        let inner = expected.content_type(0);
        let items: Vec<&Expr> = items.collect();
        // Without a type from outside, one item may give the others theirs.
        let inner = if inner.is_known() {
            inner
        } else {
            let known = items.iter().map(|expr| self.type_of(frame, expr)).find(Ty::is_known);
            known.unwrap_or(inner)
        };
        items.into_iter().map(|expr| self.eval_expr(frame, expr, &inner)).collect()
    }

    fn eval_unary(
        &self,
        frame: &Frame,
        expr: &Expr,
        it: &syn::ExprUnary,
        expected: &Ty,
    ) -> Eval<Value> {
        match (it.op, peel_parens(&it.expr)) {
            (UnOp::Neg(_), Expr::Lit(lit)) => {
                self.record_construct(Construct::Negation);
                self.eval_literal(frame, expr, &lit.lit, true, expected)
            }
            (UnOp::Neg(_), inner) => {
                let value = self.eval_expr(frame, inner, expected)?;
                self.record_construct(Construct::Negation);
                match value {
                    Value::F32(number) => Ok(Value::F32(-number)),
                    Value::F64(number) => Ok(Value::F64(-number)),
                    Value::Int(number, of) => match number.checked_neg() {
                        Some(number) if of.can_hold(number) => Ok(Value::Int(number, of)),
                        _ => self.panics(frame, expr, "it overflows"),
                    },
                    _ => self.unsupported(frame, expr),
                }
            }
            (UnOp::Not(_), inner) => match self.eval_expr(frame, inner, &Ty::foreign("bool"))? {
                Value::Bool(value) => {
                    self.record_construct(Construct::Not);
                    Ok(Value::Bool(!value))
                }
                _ => self.unsupported(frame, expr),
            },
            (UnOp::Deref(_), inner) => {
                let value = self.eval_expr(frame, inner, expected)?;
                self.check_dereference(frame, expr, &value)?;
                self.record_construct(Construct::Dereference);
                Ok(value)
            }
            _ => self.unsupported(frame, expr),
        }
    }

    fn if_expression(&self, frame: &Frame, it: &syn::ExprIf, expected: &Ty) -> Eval<Value> {
        let holds = match self.eval_expr(frame, &it.cond, &Ty::foreign("bool"))? {
            Value::Bool(holds) => holds,
            _ => return self.unsupported(frame, &it.cond),
        };
        self.record_construct(Construct::If);
        match &it.else_branch {
            _ if holds => self.eval_block(frame, &it.then_branch.stmts, expected),
            Some((_, otherwise)) => self.eval_expr(frame, otherwise, expected),
            None => Ok(Value::unit()),
        }
    }

    /// Refuses `*x` where the type of `x` may decide what it leads to.
    fn check_dereference(&self, frame: &Frame, expr: &Expr, value: &Value) -> Eval<()> {
        match value {
            Value::Bool(_) | Value::Char(_) | Value::Int(..) | Value::F32(_) | Value::F64(_) => {
                Ok(())
            }
            Value::Text(_) | Value::Option(_) | Value::List(_) | Value::Set | Value::Map => Ok(()),
            Value::Data(data) => match &*data.ty {
                Type::Data(id, _) if !self.may_have_impl(*id, "std::ops::Deref", "deref")? => {
                    Ok(())
                }
                _ => self.refuse(frame, expr, "its type has a `Deref` of its own"),
            },
            _ => self.unsupported(frame, expr),
        }
    }

    /// A path that is not called.
    fn eval_path(&self, frame: &Frame, path: &syn::ExprPath, expected: &Ty) -> Eval<Value> {
        match self.resolve_target(frame, path)? {
            PathTarget::Local(name) => self.value_of_local(frame, path, &name),
            PathTarget::Item(id) => self.eval_item(frame, path, id, expected),
            PathTarget::Own => match frame.scope.parameters.get("Self") {
                Some(ty) => self.unit_struct(frame, path, &ty.clone()),
                None => self.unsupported(frame, path),
            },
            PathTarget::Variant(id, given, name) => {
                let ty = self.data_type(frame, path, id, given, expected)?;
                self.unit_variant(frame, path, &ty, name)
            }
            PathTarget::Associated(ty, name) => self.associated_constant(frame, path, &ty, &name),
            PathTarget::Foreign(name, _) => match self.foreign_constant(&name) {
                Some(value) => Ok(value),
                None => self.unsupported(frame, path),
            },
            PathTarget::Parameter(..) | PathTarget::Trait(..) => self.unsupported(frame, path),
        }
    }

    fn value_of_local(&self, frame: &Frame, path: &syn::ExprPath, name: &str) -> Eval<Value> {
        match frame.find_local(name) {
            Some(local) => Ok(local.value()),
            None => self.unsupported(frame, path),
        }
    }

    fn eval_field(&self, frame: &Frame, it: &syn::ExprField) -> Eval<Value> {
        let name = member_name(&it.member);
        let of = self.eval_expr(frame, &it.base, &Ty::Unknown)?;
        let found = match &of {
            Value::Data(data) if data.variant.is_none() => data.fields.get(&name).cloned(),
            Value::Tuple(items) => {
                name.parse::<usize>().ok().and_then(|index| items.get(index).cloned())
            }
            _ => None,
        };
        match found {
            Some(value) => {
                self.record_construct(Construct::Field);
                Ok(value)
            }
            None => self.unsupported(frame, it),
        }
    }
}
