//! Patterns: a variant without fields, a literal, several of these, and a name that is no constant.

use syn::Pat;

use super::target::PathTarget;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::names::{Miss, Named, Space};
use crate::text::unraw_name;
use crate::tree::{ItemKind, Path};
use crate::types::Type;

impl Evaluator<'_> {
    /// Returns whether a value is the variant or the literal that a pattern names; no other pattern is evaluated.
    pub fn matches_pattern(&self, frame: &Frame, pat: &Pat, value: &Value) -> Eval<bool> {
        let (path, data) = match (pat, value) {
            (Pat::Or(pattern), _) => {
                for case in &pattern.cases {
                    if self.matches_pattern(frame, case, value)? {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            (Pat::Paren(pattern), _) => return self.matches_pattern(frame, &pattern.pat, value),
            (Pat::Lit(literal), Value::Bool(_) | Value::Int(..) | Value::Text(_)) => {
                let at = syn::Expr::Lit(literal.clone());
                let literal = self.eval_literal(frame, &at, &literal.lit, false, &value.ty())?;
                return self.are_equal(frame, pat, value, &literal);
            }
            (Pat::Path(path), Value::Data(data)) => (path, data),
            _ => return self.unsupported(frame, pat),
        };
        match self.resolve_target(frame, path)? {
            PathTarget::Variant(id, _, name) if matches!(*data.ty, Type::Data(it, _) if it == id) => {
                Ok(data.variant.as_ref() == Some(&name))
            }
            _ => self.unsupported(frame, pat),
        }
    }

    /// Returns whether a name alone, as a pattern, is a constant rather than a new local.
    pub fn is_constant_name(&self, frame: &Frame, ident: &syn::Ident) -> Eval<bool> {
        let path = Path::from(&syn::Path::from(ident.clone()));
        match self.world.resolve_path(frame.scope.module, &path, Space::Values) {
            Ok(Named::Item(id)) => match &self.world.items[id].kind {
                ItemKind::Const(_) | ItemKind::Static => Ok(true),
                ItemKind::Data(it) => Ok(matches!(
                    &it.data,
                    syn::Data::Struct(it) if matches!(it.fields, syn::Fields::Unit)
                )),
                _ => Ok(false),
            },
            Ok(Named::Member(..)) => Ok(true),
            Ok(Named::Foreign(name)) => Ok(name == "std::option::Option::None"
                || !unraw_name(ident).starts_with(char::is_lowercase)),
            Ok(Named::Module(_)) | Err(Miss::Nothing) => Ok(false),
            Err(_) if unraw_name(ident).starts_with(|it: char| it.is_lowercase() || it == '_') => {
                Ok(false)
            }
            Err(_) => self.refuse(frame, ident, "operator-rs cannot tell whether it is a constant"),
        }
    }
}
