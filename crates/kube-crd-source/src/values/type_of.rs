//! The types that expressions have by themselves, before they are evaluated.

use syn::{BinOp, Expr, ExprCall};

use super::syntax::peel_parens;
use super::target::PathTarget;
use super::ty::{Int, Ty};
use super::{Evaluator, Frame};
use crate::tree::ItemKind;

impl Evaluator<'_> {
    /// The type that an expression has by itself; `Unknown` where only its place says it.
    pub fn type_of(&self, frame: &Frame, expr: &Expr) -> Ty {
        match peel_parens(expr) {
            Expr::Lit(it) => match &it.lit {
                syn::Lit::Int(it) if !it.suffix().is_empty() => Ty::foreign(it.suffix()),
                syn::Lit::Float(it) if !it.suffix().is_empty() => Ty::foreign(it.suffix()),
                syn::Lit::Str(_) => Ty::foreign("str"),
                syn::Lit::Bool(_) => Ty::foreign("bool"),
                _ => Ty::Unknown,
            },
            Expr::Unary(it) => self.type_of(frame, &it.expr),
            Expr::Reference(it) => self.type_of(frame, &it.expr),
            Expr::Binary(it) => match it.op {
                BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                    self.operand_type(frame, it, &Ty::Unknown)
                }
                BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => {
                    self.operand_type(frame, it, &Ty::Unknown)
                }
                BinOp::Shl(_) | BinOp::Shr(_) => self.type_of(frame, &it.left),
                _ => Ty::foreign("bool"),
            },
            Expr::Path(path) => match self.resolve_target(frame, path) {
                Ok(PathTarget::Local(name)) => match frame.find_local(&name) {
                    Some(it) => it.ty.clone(),
                    None => Ty::Unknown,
                },
                Ok(PathTarget::Item(id)) => {
                    let there = Frame::new(self.world.items[id].module);
                    match &self.world.items[id].kind {
                        ItemKind::Const(it) => {
                            self.resolve_type(&there, &it.ty).unwrap_or(Ty::Unknown)
                        }
                        _ => Ty::Unknown,
                    }
                }
                Ok(PathTarget::Associated(ty, name)) => {
                    self.associated_type(frame, path, &ty, &name)
                }
                Ok(PathTarget::Foreign(name, _)) => {
                    self.foreign_constant(&name).map_or(Ty::Unknown, |value| value.ty())
                }
                _ => Ty::Unknown,
            },
            Expr::Cast(it) => self.resolve_type(frame, &it.ty).unwrap_or(Ty::Unknown),
            Expr::Call(it) => self.returned_type(frame, it),
            Expr::Field(_) => match self.eval_expr(frame, expr, &Ty::Unknown) {
                Ok(value) => value.ty(),
                Err(_) => Ty::Unknown,
            },
            Expr::If(it) => match &it.else_branch {
                Some((_, otherwise)) => self.type_of(frame, otherwise),
                None => Ty::Unknown,
            },
            Expr::MethodCall(it) if it.method == "len" => Ty::Int(Int::Usize),
            _ => Ty::Unknown,
        }
    }

    /// The return type of a call, if its function declares one.
    pub fn returned_type(&self, frame: &Frame, it: &ExprCall) -> Ty {
        let Expr::Path(path) = peel_parens(&it.func) else { return Ty::Unknown };
        let (there, output) = match self.resolve_target(frame, path) {
            Ok(PathTarget::Item(id)) => match &self.world.items[id].kind {
                ItemKind::Fn(it) => (Frame::new(self.world.items[id].module), &it.sig.output),
                _ => return Ty::Unknown,
            },
            Ok(PathTarget::Associated(ty, name)) => {
                match self.own_function(frame, path, &ty, &name) {
                    Ok(Some(it)) => (Frame::in_scope(it.scope), &it.signature.output),
                    Ok(None) if name == "default" => return Ty::from_type(&ty),
                    _ => return Ty::Unknown,
                }
            }
            Ok(PathTarget::Parameter(ty, name)) if name == "default" => return Ty::from_type(&ty),
            _ => return Ty::Unknown,
        };
        match output {
            syn::ReturnType::Type(_, ty) => self.resolve_type(&there, ty).unwrap_or(Ty::Unknown),
            syn::ReturnType::Default => Ty::Tuple(Vec::new()),
        }
    }
}
