//! Patterns: a name that is a constant compares, any other one binds.

use syn::{Expr, ExprMatch, Pat};

use super::construct::Construct;
use super::frame::Bound;
use super::syntax::member;
use super::target::Target;
use super::ty::Ty;
use super::value::{Data, Value};
use super::{Eval, Evaluator, Frame};
use crate::names::{Miss, Named, Space};
use crate::text::plain;
use crate::tree::{Kind, Path};
use crate::types::Type;

impl Evaluator<'_> {
    pub fn match_arms(&self, frame: &Frame, it: &ExprMatch, expected: &Ty) -> Eval<Value> {
        let value = self.scrutinee(frame, &it.expr)?;
        for arm in &it.arms {
            if !self.is_active(frame, &arm.attrs, "an arm")? {
                continue;
            }
            if let Some(inside) = self.matches(frame, &arm.pat, &value)? {
                return self.eval(&inside, &arm.body, expected);
            }
        }
        self.refuse(frame, it, "no arm matches")
    }

    /// The value that is matched: numbers without a type are compared as numbers.
    pub fn scrutinee(&self, frame: &Frame, expr: &Expr) -> Eval<Value> {
        match self.type_of(frame, expr) {
            ty if ty.is_known() => self.eval(frame, expr, &ty),
            _ => self.eval(frame, expr, &Ty::Any),
        }
    }

    /// The frame with what a pattern binds; none where it does not match.
    pub fn matches(&self, frame: &Frame, pat: &Pat, value: &Value) -> Eval<Option<Frame>> {
        self.step(frame, pat)?;
        let Some(_level) = self.meter.enter() else {
            return self.refuse(frame, pat, "it goes too deep");
        };
        let here = |holds: bool| Ok(holds.then(|| frame.clone()));
        match pat {
            Pat::Wild(_) => here(true),
            Pat::Paren(it) => self.matches(frame, &it.pat, value),
            Pat::Reference(it) if it.mutability.is_none() => self.matches(frame, &it.pat, value),
            Pat::Lit(it) => {
                self.accept(Construct::MatchLiteral);
                here(self.is_literal(frame, &Expr::Lit(it.clone()), value)?)
            }
            Pat::Range(it) => here(self.is_in_range(frame, it, value)?),
            Pat::Or(it) => {
                for case in &it.cases {
                    if binds(case) {
                        return self.refuse(frame, case, "a name in one of several patterns");
                    }
                    if self.matches(frame, case, value)?.is_some() {
                        return here(true);
                    }
                }
                here(false)
            }
            Pat::Ident(it) => self.matches_name(frame, it, value),
            Pat::Path(it) => here(self.is_path(frame, it, value)?),
            Pat::TupleStruct(it) => {
                let path = syn::ExprPath {
                    attrs: Vec::new(),
                    qself: it.qself.clone(),
                    path: it.path.clone(),
                };
                self.matches_tuple_struct(frame, &path, &it.elems, value)
            }
            Pat::Struct(it) => self.matches_struct(frame, it, value),
            Pat::Tuple(it) => match value {
                Value::Tuple(items) if items.len() == it.elems.len() => {
                    self.matches_all(frame, it.elems.iter().zip(items.iter()))
                }
                _ => self.unsupported(frame, pat),
            },
            pat => self.unsupported(frame, pat),
        }
    }

    /// A name alone: a constant that the value must be, or a new local.
    fn matches_name(
        &self,
        frame: &Frame,
        it: &syn::PatIdent,
        value: &Value,
    ) -> Eval<Option<Frame>> {
        if it.subpat.is_some() || it.by_ref.is_some() || it.mutability.is_some() {
            return self.unsupported(frame, it);
        }
        if self.is_constant_name(frame, &it.ident)? {
            let path = syn::Path::from(it.ident.clone());
            let path = syn::ExprPath { attrs: Vec::new(), qself: None, path };
            return Ok(self.is_path(frame, &path, value)?.then(|| frame.clone()));
        }
        let bound = Bound::Value(value.clone());
        self.bind(frame, it, plain(&it.ident), value.ty(), false, bound).map(Some)
    }

    fn matches_all<'x>(
        &self,
        frame: &Frame,
        parts: impl Iterator<Item = (&'x Pat, &'x Value)>,
    ) -> Eval<Option<Frame>> {
        let mut frame = frame.clone();
        for (pat, value) in parts {
            match self.matches(&frame, pat, value)? {
                Some(next) => frame = next,
                None => return Ok(None),
            }
        }
        Ok(Some(frame))
    }

    fn matches_tuple_struct(
        &self,
        frame: &Frame,
        path: &syn::ExprPath,
        elems: &syn::punctuated::Punctuated<Pat, syn::Token![,]>,
        value: &Value,
    ) -> Eval<Option<Frame>> {
        match (self.target(frame, path)?, value) {
            (Target::Foreign(name, _), Value::Option(inside))
                if name == "std::option::Option::Some" && elems.len() == 1 =>
            {
                self.accept(Construct::MatchVariant);
                match inside {
                    Some(inside) => self.matches(frame, &elems[0], inside),
                    None => Ok(None),
                }
            }
            (Target::Variant(id, _, name), Value::Data(data)) if is_of(data, id) => {
                self.accept(Construct::MatchVariant);
                if data.variant.as_deref() != Some(&name) {
                    return Ok(None);
                }
                let rest = elems.iter().any(|it| matches!(it, Pat::Rest(_)));
                match (rest, elems.len() == data.fields.len()) {
                    (true, _) if elems.len() == 1 => Ok(Some(frame.clone())),
                    (false, true) => {
                        let values = data.fields.iter().map(|(_, it)| it);
                        self.matches_all(frame, elems.iter().zip(values))
                    }
                    _ => self.unsupported(frame, path),
                }
            }
            _ => self.unsupported(frame, path),
        }
    }

    fn matches_struct(
        &self,
        frame: &Frame,
        it: &syn::PatStruct,
        value: &Value,
    ) -> Eval<Option<Frame>> {
        let path =
            syn::ExprPath { attrs: Vec::new(), qself: it.qself.clone(), path: it.path.clone() };
        let (Target::Variant(id, _, name), Value::Data(data)) = (self.target(frame, &path)?, value)
        else {
            return self.unsupported(frame, it);
        };
        if !is_of(data, id) {
            return self.unsupported(frame, it);
        }
        self.accept(Construct::MatchVariant);
        if data.variant.as_deref() != Some(&name) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for field in &it.fields {
            let name = member(&field.member);
            match data.fields.iter().find(|(it, _)| *it == name) {
                Some((_, value)) if field.attrs.is_empty() => parts.push((&*field.pat, value)),
                _ => return self.unsupported(frame, it),
            }
        }
        self.matches_all(frame, parts.into_iter())
    }

    fn is_literal(&self, frame: &Frame, literal: &Expr, value: &Value) -> Eval<bool> {
        if matches!(value, Value::F32(_) | Value::F64(_)) {
            return self.refuse(frame, literal, "a float as a pattern is not evaluated");
        }
        let found = self.eval(frame, literal, &value.ty())?;
        self.equal(frame, literal, &found, value)
    }

    fn is_in_range(&self, frame: &Frame, it: &syn::ExprRange, value: &Value) -> Eval<bool> {
        self.accept(Construct::MatchLiteral);
        let Value::Int(number, of) = value else { return self.unsupported(frame, it) };
        let bound = |expr: &Option<Box<Expr>>, open: i128| match expr {
            Some(expr) => match self.eval(frame, expr, &Ty::Int(*of))? {
                Value::Int(bound, _) => Ok(bound),
                _ => self.unsupported(frame, expr),
            },
            None => Ok(open),
        };
        let (low, high) = (bound(&it.start, i128::MIN)?, bound(&it.end, i128::MAX)?);
        Ok(match (&it.limits, &it.end) {
            (syn::RangeLimits::HalfOpen(_), Some(_)) => low <= *number && *number < high,
            _ => low <= *number && *number <= high,
        })
    }

    /// A path as a pattern: a constant or a variant, that the value must be.
    fn is_path(&self, frame: &Frame, path: &syn::ExprPath, value: &Value) -> Eval<bool> {
        let target = self.target(frame, path)?;
        match (&target, value) {
            (Target::Variant(id, _, name), Value::Data(data)) if is_of(data, *id) => {
                self.accept(Construct::MatchVariant);
                return Ok(data.variant.as_ref() == Some(name));
            }
            (Target::Foreign(name, _), Value::Option(it))
                if name == "std::option::Option::None" =>
            {
                self.accept(Construct::MatchVariant);
                return Ok(it.is_none());
            }
            (Target::Item(_) | Target::Associated(..) | Target::Foreign(..), _) => {}
            _ => return self.unsupported(frame, path),
        }
        let constant = self.eval(frame, &Expr::Path(path.clone()), &Ty::Unknown)?;
        self.accept(Construct::MatchConstant);
        match (&constant, value) {
            // A number without a type of its own is of the constant's.
            (Value::Int(one, _), Value::Int(other, _)) => Ok(one == other),
            _ => self.equal(frame, path, &constant, value),
        }
    }

    /// Whether a name alone, as a pattern, is a constant rather than a new local.
    pub fn is_constant_name(&self, frame: &Frame, ident: &syn::Ident) -> Eval<bool> {
        let path = Path::from(&syn::Path::from(ident.clone()));
        match self.world.resolve(frame.scope.module, &path, Space::Values) {
            Ok(Named::Item(id)) => match &self.world.items[id].kind {
                Kind::Const(_) | Kind::Static(_) => Ok(true),
                Kind::Data(it) => Ok(matches!(
                    &it.data,
                    syn::Data::Struct(it) if matches!(it.fields, syn::Fields::Unit)
                )),
                _ => Ok(false),
            },
            Ok(Named::Member(..)) => Ok(true),
            Ok(Named::Foreign(name)) => Ok(name == "std::option::Option::None"
                || !plain(ident).starts_with(char::is_lowercase)),
            Ok(Named::Module(_)) | Err(Miss::Nothing) => Ok(false),
            Err(_) if plain(ident).starts_with(|it: char| it.is_lowercase() || it == '_') => {
                Ok(false)
            }
            Err(_) => self.refuse(frame, ident, "whether it is a constant is not certain"),
        }
    }
}

/// Whether a value is of an enum.
fn is_of(data: &Data, id: crate::tree::ItemId) -> bool {
    matches!(*data.ty, Type::Data(it, _) if it == id)
}

/// Whether a pattern may bind a name.
fn binds(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(it) => plain(&it.ident).starts_with(char::is_lowercase),
        Pat::TupleStruct(it) => it.elems.iter().any(binds),
        Pat::Tuple(it) => it.elems.iter().any(binds),
        Pat::Struct(it) => it.fields.iter().any(|it| binds(&it.pat)),
        Pat::Reference(it) => binds(&it.pat),
        Pat::Paren(it) => binds(&it.pat),
        _ => false,
    }
}
