//! Expressions, each in the type that its place expects.

use std::rc::Rc;

use syn::{Expr, UnOp};

use super::construct::Construct;
use super::frame::Bound;
use super::syntax::{attributes, member, peel};
use super::target::Target;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame, Stop};
use crate::text::plain;

impl Evaluator<'_> {
    pub fn eval(&self, frame: &Frame, expr: &Expr, expected: &Ty) -> Eval<Value> {
        let expr = peel(expr);
        self.step(frame, expr)?;
        let Some(_level) = self.meter.enter() else {
            return self.refuse(frame, expr, "it goes too deep");
        };
        if !self.is_active(frame, attributes(expr), "an expression")? {
            return self.refuse(frame, expr, "its `#[cfg]` takes it away");
        }
        let value = self.dispatch(frame, expr, expected)?;
        match value.fits(expected) {
            true => Ok(value),
            false => {
                let ty = self.name_of(expected);
                self.refuse(frame, expr, format!("it was evaluated to no value of type `{ty}`"))
            }
        }
    }

    fn dispatch(&self, frame: &Frame, expr: &Expr, expected: &Ty) -> Eval<Value> {
        match expr {
            Expr::Lit(it) => self.literal(frame, expr, &it.lit, false, expected),
            Expr::Unary(it) => self.unary(frame, expr, it, expected),
            Expr::Binary(it) => self.binary(frame, expr, it, expected),
            Expr::Cast(it) => self.cast(frame, it),
            Expr::Reference(it) if it.mutability.is_none() => {
                self.accept(Construct::Reference);
                self.eval(frame, &it.expr, expected)
            }
            Expr::Path(it) => self.path(frame, it, expected),
            Expr::Struct(it) => self.struct_literal(frame, it, expected),
            Expr::Tuple(it) => {
                self.accept(Construct::Tuple);
                let items = it.elems.iter().enumerate();
                let items: Eval<Rc<[Value]>> = items
                    .map(|(index, it)| self.eval(frame, it, &expected.inside(index)))
                    .collect();
                Ok(Value::Tuple(items?))
            }
            Expr::Array(it) => {
                self.accept(Construct::Array);
                Ok(Value::List(self.items(frame, it.elems.iter(), expected)?))
            }
            Expr::Macro(it) => self.macro_call(frame, &it.mac, expected),
            Expr::Call(it) => self.call(frame, it, expected),
            Expr::MethodCall(it) => self.method(frame, it, expected),
            Expr::Field(it) => self.field(frame, it),
            Expr::If(it) => self.if_else(frame, it, expected),
            Expr::Match(it) => self.match_arms(frame, it, expected),
            Expr::Block(it) if it.label.is_none() => {
                self.accept(Construct::Block);
                self.block(frame, &it.block, expected)
            }
            Expr::Return(it) => {
                self.accept(Construct::Return);
                Err(Stop::Return(match &it.expr {
                    Some(it) => self.eval(frame, it, &frame.returns)?,
                    None => Value::unit(),
                }))
            }
            expr => self.unsupported(frame, expr),
        }
    }

    /// The items of a list of this type.
    pub fn items<'x>(
        &self,
        frame: &Frame,
        items: impl Iterator<Item = &'x Expr>,
        expected: &Ty,
    ) -> Eval<Rc<[Value]>> {
        let inner = expected.inside(0);
        let items: Vec<&Expr> = items.collect();
        // Without a type from outside, one item may give the others theirs.
        let inner = match inner.is_known() {
            true => inner,
            false => {
                let known = items.iter().map(|it| self.type_of(frame, it)).find(Ty::is_known);
                known.unwrap_or(inner)
            }
        };
        items.into_iter().map(|it| self.eval(frame, it, &inner)).collect()
    }

    fn unary(&self, frame: &Frame, expr: &Expr, it: &syn::ExprUnary, expected: &Ty) -> Eval<Value> {
        match it.op {
            UnOp::Neg(_) => {
                self.accept(Construct::Negation);
                if let Expr::Lit(lit) = peel(&it.expr) {
                    return self.literal(frame, expr, &lit.lit, true, expected);
                }
                match self.eval(frame, &it.expr, expected)? {
                    Value::Int(number, of) => match number.checked_neg().filter(|it| of.holds(*it))
                    {
                        Some(number) => Ok(Value::Int(number, of)),
                        None => self.panics(frame, expr, "it overflows"),
                    },
                    Value::F32(number) => Ok(Value::F32(-number)),
                    Value::F64(number) => Ok(Value::F64(-number)),
                    _ => self.unsupported(frame, expr),
                }
            }
            UnOp::Not(_) => match self.eval(frame, &it.expr, &Ty::foreign("bool"))? {
                Value::Bool(it) => {
                    self.accept(Construct::Logic);
                    Ok(Value::Bool(!it))
                }
                _ => self.unsupported(frame, expr),
            },
            UnOp::Deref(_) => match self.eval(frame, &it.expr, expected)? {
                value @ (Value::Bool(_)
                | Value::Char(_)
                | Value::Int(..)
                | Value::F32(_)
                | Value::F64(_)
                | Value::Text(_)) => {
                    self.accept(Construct::Dereference);
                    Ok(value)
                }
                // A type of the project, or a box, may have a `Deref` of its own; a plain reference has none.
                value if is_reference(frame, &it.expr) => {
                    self.accept(Construct::Dereference);
                    Ok(value)
                }
                _ => self.unsupported(frame, expr),
            },
            _ => self.unsupported(frame, expr),
        }
    }

    /// A path that is not called.
    fn path(&self, frame: &Frame, path: &syn::ExprPath, expected: &Ty) -> Eval<Value> {
        match self.target(frame, path)? {
            Target::Local(name) => self.local(frame, path, &name, expected),
            Target::Item(id) => self.item(frame, path, id, expected),
            Target::Own => match frame.scope.parameters.get("Self") {
                Some(ty) => self.unit_struct(frame, path, &ty.clone()),
                None => self.unsupported(frame, path),
            },
            Target::Variant(id, given, name) => {
                let ty = self.data_type(frame, path, id, given, expected)?;
                self.unit_variant(frame, path, &ty, name)
            }
            Target::Associated(ty, name) => self.associated_constant(frame, path, &ty, &name),
            Target::Foreign(name, _) => match self.foreign_constant(&name) {
                Some(value) => Ok(value),
                None => self.unsupported(frame, path),
            },
            Target::Parameter(..) | Target::Trait(..) => self.unsupported(frame, path),
        }
    }

    fn local(&self, frame: &Frame, path: &syn::ExprPath, name: &str, expected: &Ty) -> Eval<Value> {
        let Some(local) = frame.lookup(name) else { return self.unsupported(frame, path) };
        match local.bound() {
            Bound::Value(value) => Ok(value),
            Bound::Later(expr, there) => {
                let value = self.eval(&there, &expr, expected)?;
                // `impl Serialize` takes any float: which one, another use may say.
                match (&value, expected) {
                    (Value::Int(..), Ty::Any) => Ok(value),
                    (_, ty) if ty.is_known() => Ok(value),
                    _ => self.untyped(frame, path),
                }
            }
        }
    }

    fn field(&self, frame: &Frame, it: &syn::ExprField) -> Eval<Value> {
        let name = member(&it.member);
        let of = self.eval(frame, &it.base, &Ty::Unknown)?;
        let found = match &of {
            Value::Data(data) if data.variant.is_none() => {
                data.fields.iter().find(|(field, _)| *field == name).map(|(_, it)| it.clone())
            }
            Value::Tuple(items) => name.parse::<usize>().ok().and_then(|it| items.get(it).cloned()),
            _ => None,
        };
        match found {
            Some(value) => {
                self.accept(Construct::Field);
                Ok(value)
            }
            None => self.unsupported(frame, it),
        }
    }
}

/// Whether an expression is a local that is certainly a plain reference.
fn is_reference(frame: &Frame, expr: &Expr) -> bool {
    let Expr::Path(path) = peel(expr) else { return false };
    let local = path.path.get_ident().and_then(|it| frame.lookup(&plain(it)));
    local.is_some_and(|it| it.is_reference)
}
