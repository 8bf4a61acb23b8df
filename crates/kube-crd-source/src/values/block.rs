//! Blocks: `let`, statements behind a `#[cfg]`, and the value at the end.

use syn::{Expr, Local, Pat, Stmt};

use super::construct::Construct;
use super::ty::Ty;
use super::value::{JsonKind, Value};
use super::{Eval, Evaluator, Frame, syntax};
use crate::text::unraw_name;

impl Evaluator<'_> {
    pub fn eval_block(&self, frame: &Frame, statements: &[Stmt], expected: &Ty) -> Eval<Value> {
        let mut frame = frame.clone();
        // Statements are removed by `cfg` before the last one is determined.
        let mut active = Vec::new();
        for stmt in statements {
            if self.is_active(&frame, statement_attributes(stmt), "a statement")? {
                active.push(stmt);
            }
        }
        for (index, stmt) in active.iter().enumerate() {
            self.step(&frame, stmt)?;
            let is_last = index + 1 == active.len();
            match stmt {
                Stmt::Local(it) => {
                    let is_value = is_value_of(it, &active);
                    let expected = if is_value { expected } else { &Ty::Unknown };
                    frame = self.let_(&frame, it, expected)?;
                }
                Stmt::Expr(it, None) if is_last => return self.eval_expr(&frame, it, expected),
                Stmt::Macro(it) if is_last && it.semi_token.is_none() => {
                    return self.macro_call(&frame, &it.mac, expected);
                }
                Stmt::Expr(Expr::MethodCall(it), _) if it.method == "insert" => {
                    self.eval_insert(&frame, it)?;
                }
                Stmt::Expr(it, _) => return self.unsupported(&frame, it),
                Stmt::Item(it) => {
                    let why = "an item inside a function is not evaluated; move it to the module";
                    return self.refuse(&frame, it, why);
                }
                Stmt::Macro(it) => return self.unsupported(&frame, &it.mac),
            }
        }
        Ok(Value::unit())
    }

    /// `expected` is the type of what is bound, unless its code says another one.
    fn let_(&self, frame: &Frame, it: &Local, expected: &Ty) -> Eval<Frame> {
        let Some(init) = it.init.as_ref().filter(|init| init.diverge.is_none()) else {
            return self.unsupported(frame, it);
        };
        let (pat, ty) = match &it.pat {
            Pat::Type(typed) => (&*typed.pat, self.resolve_type(frame, &typed.ty)?),
            pat => (pat, Ty::Unknown),
        };
        let ident = match pat {
            Pat::Ident(it) if it.subpat.is_none() && it.by_ref.is_none() => it,
            Pat::Wild(_) => {
                let known = self.type_of(frame, &init.expr);
                self.eval_expr(frame, &init.expr, &known)?;
                self.record_construct(Construct::Let);
                return Ok(frame.clone());
            }
            pat => return self.unsupported(frame, pat),
        };
        if self.is_constant_name(frame, &ident.ident)? {
            return self.unsupported(frame, pat);
        }
        let name = unraw_name(&ident.ident);
        let ty = if ty.is_known() { ty } else { self.type_of(frame, &init.expr) };
        let ty = if ty.is_known() { ty } else { expected.clone() };
        let value = self.eval_expr(frame, &init.expr, &ty)?;
        let is_mutable = ident.mutability.is_some();
        if is_mutable {
            let changes = matches!(value, Value::Json(JsonKind::Schema | JsonKind::Map, _));
            if !changes {
                return self.refuse(frame, pat, "only a schema or a map may be `mut`");
            }
            self.record_construct(Construct::LetMut);
        }
        self.record_construct(Construct::Let);
        let ty = if ty.is_known() { ty } else { value.ty() };
        self.bind_local(frame, pat, name, ty, is_mutable, value)
    }
}

/// Returns whether a block of these statements has the value of a variable, whose name is bound only here.
fn is_value_of(binding: &Local, statements: &[&Stmt]) -> bool {
    let Pat::Ident(variable) = &binding.pat else { return false };
    let names_it = |stmt: &&&Stmt| match stmt {
        Stmt::Local(it) => matches!(&it.pat, Pat::Ident(other) if other.ident == variable.ident),
        _ => false,
    };
    let is_last = match statements.last() {
        Some(Stmt::Expr(Expr::Path(last), None)) => last.path.is_ident(&variable.ident),
        _ => false,
    };
    is_last && statements.iter().filter(names_it).count() == 1
}

fn statement_attributes(stmt: &Stmt) -> &[syn::Attribute] {
    match stmt {
        Stmt::Local(it) => &it.attrs,
        Stmt::Macro(it) => &it.attrs,
        Stmt::Expr(it, _) => syntax::attributes_of(it),
        // All items are refused.
        Stmt::Item(_) => &[],
    }
}
