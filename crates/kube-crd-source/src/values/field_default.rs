//! The default of a field, as serde writes it: what `#[serde(default)]` says, evaluated and written.

use serde_json::Value as Json;
use std::rc::Rc;
use syn::{ExprPath, spanned::Spanned as _};

use super::call::Arguments;
use super::serialize::SerializeSupport;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame, Stop};
use crate::text::{Problem, format_tokens};
use crate::types::{Scope, Type};

/// A field with a default, in the type that it is of.
pub struct FieldDefault<'a> {
    /// The module and the parameters of the type, `Self` among them.
    pub scope: &'a Scope,
    /// The field's name or number.
    pub member: &'a str,
    pub span: proc_macro2::Span,
    pub ty: &'a syn::Type,
    /// `#[serde(default = "…")]` of the field; none for `#[serde(default)]`.
    pub own: Option<Option<&'a ExprPath>>,
    /// The same of the whole type.
    pub whole: Option<Option<&'a ExprPath>>,
    pub skip_if: Option<&'a ExprPath>,
    pub serialize_with: Option<&'a ExprPath>,
}

impl Evaluator<'_> {
    /// The default that the schema states; none where it states none.
    pub fn field_default(&self, of: &FieldDefault<'_>) -> Result<Option<Json>, Box<Problem>> {
        let frame = Frame::in_scope(of.scope.clone());
        Self::into_result(self.default_json(&frame, of))
    }

    fn default_json(&self, frame: &Frame, of: &FieldDefault<'_>) -> Eval<Option<Json>> {
        let ty = self.resolve_type(frame, of.ty)?;
        let value = self.default_value(frame, of, &ty)?;
        if !value.fits_type(&ty) {
            let ty = self.name_of(&ty);
            let message = format!("the default of `{}` is not of type `{ty}`", of.member);
            let hint = "change the type of the field or that of its default";
            let problem = self.problem(frame, of.span, message, hint);
            return Err(Stop::Problem(Problem { does_not_compile: true, ..*problem }.into()));
        }
        if let Some(path) = of.skip_if {
            let whole = self.schema_type(frame, of.ty)?;
            if self.is_skipped(frame, path, &value, &whole)? {
                return Ok(None);
            }
        }
        if let Some(path) = of.serialize_with {
            let writer = format_tokens(path);
            let message = format!(
                "the default of `{}` is written by `{writer}`, which is not evaluated",
                of.member
            );
            let hint = "leave the default out of the schema with `skip_serializing_if`";
            return Err(Stop::Problem(self.problem(frame, path.span(), message, hint)));
        }
        // schemars writes no default for a type that cannot be serialized.
        match self.serialize_support(&ty)? {
            SerializeSupport::Yes => match self.serialize_value(frame, of.ty, &value) {
                Err(Stop::Unwritten(_)) => Ok(None),
                found => found.map(Some),
            },
            SerializeSupport::No => Ok(None),
            SerializeSupport::Unknown(what) => {
                // A type that the schema cannot have is refused with the reason.
                self.schema_type(frame, of.ty)?;
                let message =
                    format!("operator-rs cannot tell whether `{what}` implements `Serialize`");
                Err(Stop::Problem(self.problem(frame, of.span, message, super::HINT)))
            }
        }
    }

    fn default_value(&self, frame: &Frame, of: &FieldDefault<'_>, ty: &Ty) -> Eval<Value> {
        let nothing = Arguments::Values(Vec::new());
        let whole = frame
            .scope
            .parameters
            .get("Self")
            .map_or(Ty::Unknown, |it: &Rc<Type>| Ty::from_type(it));
        let found = match (of.own, of.whole) {
            (Some(Some(path)), _) => return self.call_path(frame, path, &nothing, ty),
            (Some(None), _) => return self.default_of_field(frame, of.ty, ty),
            (None, Some(Some(path))) => self.call_path(frame, path, &nothing, &whole)?,
            (None, _) => self.default_by_name(frame, of.ty, &whole)?,
        };
        let field = match &found {
            Value::Data(data) => data.fields.get(of.member),
            _ => None,
        };
        match field {
            Some(value) => Ok(value.clone()),
            None => self.refuse(frame, of.ty, "the default of the struct has no value for it"),
        }
    }
}
