//! Blocks: `let`, statements behind a `#[cfg]`, and the value at the end.

use syn::{Block, Expr, ExprIf, Local, Pat, Stmt};

use super::construct::Construct;
use super::frame::Bound;
use super::ty::Ty;
use super::value::{JsonKind, Value};
use super::{Eval, Evaluator, Frame, Stop, syntax};
use crate::text::plain;

impl Evaluator<'_> {
    pub fn block(&self, frame: &Frame, block: &Block, expected: &Ty) -> Eval<Value> {
        let mut frame = frame.clone();
        // What a `cfg` takes away is gone before it is known which statement is the last.
        let mut active = Vec::new();
        for stmt in &block.stmts {
            if self.is_active(&frame, statement_attributes(stmt), "a statement")? {
                active.push(stmt);
            }
        }
        for (index, stmt) in active.iter().enumerate() {
            self.step(&frame, stmt)?;
            let is_last = index + 1 == active.len();
            match stmt {
                Stmt::Local(it) => frame = self.let_(&frame, it)?,
                Stmt::Expr(it, None) if is_last => return self.tail(&frame, it, expected),
                Stmt::Macro(it) if is_last && it.semi_token.is_none() => {
                    return self.macro_call(&frame, &it.mac, expected);
                }
                Stmt::Expr(it, semicolon) => {
                    let unit = Ty::Tuple(Vec::new());
                    let ty = if semicolon.is_some() { Ty::Unknown } else { unit };
                    self.statement(&frame, it, &ty)?;
                }
                Stmt::Item(it) => {
                    let why = "an item inside a function is not evaluated; move it to the module";
                    return self.refuse(&frame, it, why);
                }
                Stmt::Macro(it) => return self.unsupported(&frame, &it.mac),
            }
        }
        Ok(Value::unit())
    }

    /// The last expression of a block, its own `cfg` settled before.
    fn tail(&self, frame: &Frame, expr: &Expr, expected: &Ty) -> Eval<Value> {
        match expr {
            // The attributes of a statement are those of its expression to the parser.
            Expr::Block(it) if it.label.is_none() && !it.attrs.is_empty() => {
                self.accept(Construct::Block);
                self.block(frame, &it.block, expected)
            }
            expr => self.eval(frame, expr, expected),
        }
    }

    fn statement(&self, frame: &Frame, expr: &Expr, ty: &Ty) -> Eval<()> {
        match expr {
            Expr::MethodCall(it) if it.method == "insert" => self.insert(frame, it).map(drop),
            Expr::If(_) | Expr::Block(_) | Expr::Return(_) | Expr::Match(_) => {
                self.tail(frame, expr, ty).map(drop)
            }
            expr => self.unsupported(frame, expr),
        }
    }

    fn let_(&self, frame: &Frame, it: &Local) -> Eval<Frame> {
        let Some(init) = it.init.as_ref().filter(|it| it.diverge.is_none()) else {
            return self.unsupported(frame, it);
        };
        let (pat, ty) = match &it.pat {
            Pat::Type(typed) => (&*typed.pat, self.ty(frame, &typed.ty)?),
            pat => (pat, Ty::Unknown),
        };
        let ident = match pat {
            Pat::Ident(it) if it.subpat.is_none() && it.by_ref.is_none() => it,
            Pat::Wild(_) => {
                let known = self.type_of(frame, &init.expr);
                self.eval(frame, &init.expr, &known)?;
                self.accept(Construct::Let);
                return Ok(frame.clone());
            }
            pat => return self.unsupported(frame, pat),
        };
        if self.is_constant_name(frame, &ident.ident)? {
            return self.unsupported(frame, pat);
        }
        let name = plain(&ident.ident);
        let ty = if ty.is_known() { ty } else { self.type_of(frame, &init.expr) };
        let value = match self.eval(frame, &init.expr, &ty) {
            // A later use may tell the type; then it is as if the expression stood there.
            Err(Stop::Untyped(_)) if ident.mutability.is_none() && !frame.has_mutable() => {
                self.accept(Construct::Let);
                // What panics does so whether it is used or not.
                if let Err(Stop::Problem(problem)) = self.eval(frame, &init.expr, &Ty::Any) {
                    return Err(Stop::Problem(problem));
                }
                let bound = Bound::Later(init.expr.clone(), frame.clone());
                return self.bind(frame, pat, name, Ty::Unknown, false, bound);
            }
            found => found?,
        };
        let is_mutable = ident.mutability.is_some();
        if is_mutable {
            let changes = matches!(value, Value::Map(_))
                || matches!(value, Value::Json(JsonKind::Schema | JsonKind::Map, _));
            if !changes {
                return self.refuse(frame, pat, "only a schema or a map may be `mut`");
            }
            self.accept(Construct::LetMut);
        }
        self.accept(Construct::Let);
        let ty = if ty.is_known() { ty } else { value.ty() };
        self.bind(frame, pat, name, ty, is_mutable, Bound::Value(value))
    }

    pub fn if_else(&self, frame: &Frame, it: &ExprIf, expected: &Ty) -> Eval<Value> {
        let (holds, inside) = match syntax::peel(&it.cond) {
            Expr::Let(condition) => {
                let ty = self.type_of(frame, &condition.expr);
                let value = self.eval(frame, &condition.expr, &ty)?;
                self.accept(Construct::IfLet);
                match self.matches(frame, &condition.pat, &value)? {
                    Some(inside) => (true, inside),
                    None => (false, frame.clone()),
                }
            }
            condition => match self.eval(frame, condition, &Ty::foreign("bool"))? {
                Value::Bool(it) => {
                    self.accept(Construct::If);
                    (it, frame.clone())
                }
                _ => return self.unsupported(frame, condition),
            },
        };
        match (holds, &it.else_branch) {
            (true, _) => self.block(&inside, &it.then_branch, expected),
            (false, Some((_, other))) => self.eval(frame, other, expected),
            (false, None) => Ok(Value::unit()),
        }
    }
}

fn statement_attributes(stmt: &Stmt) -> &[syn::Attribute] {
    match stmt {
        Stmt::Local(it) => &it.attrs,
        Stmt::Macro(it) => &it.attrs,
        Stmt::Expr(it, _) => syntax::attributes(it),
        // All items are refused.
        Stmt::Item(_) => &[],
    }
}
