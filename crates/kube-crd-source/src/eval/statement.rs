//! Blocks, `let`, `if`, `match` and loops.

use syn::{Expr, Stmt};

use super::value::{Function, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::world::plain;

impl Evaluator<'_> {
    pub fn block(&self, frame: &Frame, block: &syn::Block, want: &Ty) -> Eval<Value> {
        let before = frame.bound();
        let res = self.deeper(frame, block, || self.statements(frame, block, want));
        frame.forget(before);
        res
    }

    fn statements(&self, frame: &Frame, block: &syn::Block, want: &Ty) -> Eval<Value> {
        // Items hold in the whole block, wherever they stand.
        for it in &block.stmts {
            if let Stmt::Item(it) = it {
                self.item(frame, it)?;
            }
        }
        let mut res = Value::Unit;
        let last = block.stmts.len().saturating_sub(1);
        for (index, it) in block.stmts.iter().enumerate() {
            res = Value::Unit;
            if let Stmt::Expr(expr, _) = it
                && let Some(attr) = super::expr::condition(expr)
            {
                return self.refuse(frame, attr, "on an expression is not read");
            }
            match it {
                Stmt::Local(it) => self.local(frame, it)?,
                Stmt::Item(_) => {}
                Stmt::Expr(expr, None) if index == last => {
                    let value = self.expr(frame, expr, want)?;
                    res = self.conform(frame, expr, value, want)?;
                }
                Stmt::Expr(expr, _) => drop(self.expr(frame, expr, &Ty::Unknown)?),
                Stmt::Macro(it) if let Some(attr) = it.attrs.first() => {
                    return self.refuse(frame, attr, "on a statement is not read");
                }
                Stmt::Macro(it) if index == last && it.semi_token.is_none() => {
                    let value = self.macro_(frame, &it.mac, want)?;
                    res = self.conform(frame, &it.mac, value, want)?;
                }
                Stmt::Macro(it) => drop(self.macro_(frame, &it.mac, &Ty::Unknown)?),
            }
        }
        Ok(res)
    }

    fn item(&self, frame: &Frame, item: &syn::Item) -> Eval<()> {
        match item {
            syn::Item::Const(it) if it.attrs.is_empty() => {
                let ty = self.ty(frame, &it.ty)?;
                let value = self.expr_as(frame, &it.expr, &ty)?;
                frame.bind(plain(&it.ident), value);
                Ok(())
            }
            _ => self.refuse(frame, item, "is an item inside a function, which is not read"),
        }
    }

    fn local(&self, frame: &Frame, it: &syn::Local) -> Eval<()> {
        if let Some(attr) = it.attrs.iter().find(|it| !it.path().is_ident("allow")) {
            return self.refuse(frame, attr, "on a statement is not read");
        }
        let (pat, ty) = match &it.pat {
            syn::Pat::Type(it) => (&*it.pat, self.ty(frame, &it.ty)?),
            pat => (pat, Ty::Unknown),
        };
        let Some(init) = &it.init else {
            return match pat {
                // It is given its value later.
                syn::Pat::Ident(it) => {
                    frame.bind(plain(&it.ident), Value::Unit);
                    Ok(())
                }
                _ => self.refuse(frame, pat, "is given no value"),
            };
        };
        let value = self.expr(frame, &init.expr, &ty)?;
        let value = self.conform(frame, &init.expr, value, &ty)?;
        if self.matches(frame, pat, &value)? {
            return Ok(());
        }
        match &init.diverge {
            Some((_, other)) => {
                self.expr(frame, other, &Ty::Unknown)?;
                self.refuse(frame, other, "comes to an end, where it must not")
            }
            None => self.refuse(frame, pat, "does not match its value"),
        }
    }

    /// Whether a condition holds. What its patterns bind is bound.
    fn holds(&self, frame: &Frame, condition: &Expr) -> Eval<bool> {
        self.deeper(frame, condition, || match condition {
            Expr::Paren(it) => self.holds(frame, &it.expr),
            Expr::Let(it) => {
                let value = self.matched(frame, &it.expr)?;
                self.matches(frame, &it.pat, &value)
            }
            Expr::Binary(syn::ExprBinary { left, op: syn::BinOp::And(_), right, .. }) => {
                Ok(self.holds(frame, left)? && self.holds(frame, right)?)
            }
            condition => match self.part(frame, condition, &Ty::known("bool"))? {
                Value::Bool(it) => Ok(it),
                _ => self.refuse(frame, condition, "is no condition"),
            },
        })
    }

    /// What stands after `match`: a place where it is one that `&mut` leads to.
    fn matched(&self, frame: &Frame, expr: &Expr) -> Eval<Value> {
        self.expr(frame, expr, &Ty::Unknown)
    }

    pub fn if_(&self, frame: &Frame, it: &syn::ExprIf, want: &Ty) -> Eval<Value> {
        let before = frame.bound();
        let holds = self.holds(frame, &it.cond);
        let res = match holds {
            Ok(true) => self.block(frame, &it.then_branch, want),
            Ok(false) => {
                frame.forget(before);
                match &it.else_branch {
                    Some((_, other)) => self.expr(frame, other, want),
                    None => Ok(Value::Unit),
                }
            }
            Err(stop) => Err(stop),
        };
        frame.forget(before);
        res
    }

    pub fn match_(&self, frame: &Frame, it: &syn::ExprMatch, want: &Ty) -> Eval<Value> {
        let value = self.matched(frame, &it.expr)?;
        for arm in &it.arms {
            if let Some(attr) = arm.attrs.first() {
                return self.refuse(frame, attr, "on an arm of a `match` is not read");
            }
            let before = frame.bound();
            let taken = match &arm.pat {
                syn::Pat::Guard(it) => {
                    self.matches(frame, &it.pat, &value)? && self.holds(frame, &it.guard)?
                }
                pat => self.matches(frame, pat, &value)?,
            };
            if taken {
                let res = self.expr(frame, &arm.body, want);
                frame.forget(before);
                return res;
            }
            frame.forget(before);
        }
        self.refuse(frame, &it.expr, "matches no arm")
    }

    pub fn loop_(&self, frame: &Frame, expr: &Expr) -> Eval<Value> {
        match expr {
            Expr::ForLoop(it) => {
                let over = self.part_any(frame, &it.expr, &Ty::Unknown)?;
                let Some(items) = self.iterated(frame, &it.expr, over)? else {
                    return self.refuse(frame, &it.expr, "is no list that can be gone through");
                };
                for item in items {
                    let before = frame.bound();
                    if !self.matches(frame, &it.pat, &item)? {
                        return self.refuse(frame, &it.pat, "does not match its value");
                    }
                    let found = self.turn(frame, &it.body, it.label.as_ref());
                    frame.forget(before);
                    if let Some(value) = found? {
                        return Ok(value);
                    }
                }
                Ok(Value::Unit)
            }
            Expr::While(it) => loop {
                let before = frame.bound();
                if !self.holds(frame, &it.cond)? {
                    frame.forget(before);
                    return Ok(Value::Unit);
                }
                let found = self.turn(frame, &it.body, it.label.as_ref());
                frame.forget(before);
                if let Some(value) = found? {
                    return Ok(value);
                }
            },
            Expr::Loop(it) => loop {
                if let Some(value) = self.turn(frame, &it.body, it.label.as_ref())? {
                    return Ok(value);
                }
            },
            _ => self.refuse(frame, expr, "is no loop"),
        }
    }

    /// One turn of a loop; a value where it ends.
    fn turn(
        &self,
        frame: &Frame,
        body: &syn::Block,
        label: Option<&syn::Label>,
    ) -> Eval<Option<Value>> {
        let mine = |name: &Option<String>| {
            name.is_none() || *name == label.map(|it| it.name.ident.to_string())
        };
        match self.block(frame, body, &Ty::Unknown) {
            Ok(_) => Ok(None),
            Err(Stop::Break(name, value)) if mine(&name) => Ok(Some(value)),
            Err(Stop::Continue(name)) if mine(&name) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// Calls a closure or a function that is a value.
    pub fn apply(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        function: &Value,
        arguments: Vec<Value>,
        want: &Ty,
    ) -> Eval<Value> {
        match function {
            Value::Function(Function::Closure(it, there)) => {
                let there = Frame { returns: Ty::Unknown, ..(**there).clone() };
                if it.inputs.len() != arguments.len() || it.asyncness.is_some() {
                    return self.refuse(&there, &**it, "is no closure that can be read");
                }
                for (pat, value) in it.inputs.iter().zip(arguments) {
                    let (pat, value) = match pat {
                        syn::Pat::Type(it) => {
                            let ty = self.ty(&there, &it.ty)?;
                            (&*it.pat, self.conform(&there, &it.pat, value, &ty)?)
                        }
                        pat => (pat, value),
                    };
                    if !self.matches(&there, pat, &value)? {
                        return self.refuse(&there, pat, "does not match its value");
                    }
                }
                let returns = match &it.output {
                    syn::ReturnType::Type(_, ty) => self.ty(&there, ty)?,
                    syn::ReturnType::Default => want.clone(),
                };
                let there = Frame { returns: returns.clone(), ..there };
                match self.part(&there, &it.body, &returns) {
                    Err(Stop::Return(value)) => Ok(value),
                    found => found,
                }
            }
            Value::Function(Function::Path(path, there)) => {
                self.call_path(there, &**path, path, super::call::Given::Values(arguments), want)
            }
            _ => self.refuse(frame, at, "is no function that can be read"),
        }
    }
}
