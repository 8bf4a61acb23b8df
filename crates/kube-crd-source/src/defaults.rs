//! Default values, as serde writes them: what `#[serde(default)]` says, run and written.

use serde_json::Value as Json;

use super::eval::value::Value;
use super::eval::{Eval, Evaluator, Frame, Stop, Ty, Writes};
use super::schema::container::{Fallback, Field};
use crate::model::Problem;

/// A field with a default, in the type that it is of.
pub struct Of<'a> {
    pub field: &'a Field,
    /// `#[serde(default)]` of the whole type.
    pub whole: &'a Fallback,
    pub ty: Ty,
}

impl Of<'_> {
    /// The default that the schema states; none where it states none.
    pub fn read(&self, evaluator: &Evaluator<'_>) -> Result<Option<Json>, Box<Problem>> {
        match self.written(evaluator) {
            Ok(found) => Ok(found),
            Err(stop) => match Evaluator::told(Err(stop)) {
                Err(problem) => Err(problem),
                Ok(_) => Ok(None),
            },
        }
    }

    fn written(&self, evaluator: &Evaluator<'_>) -> Eval<Option<Json>> {
        let Ty::Data(id, arguments) = &self.ty else { return Ok(None) };
        let frame = &evaluator.inside(*id, arguments);
        let field = self.field;
        let at = &field.ty;
        let ty = evaluator.ty(frame, at)?;
        let value = self.value(evaluator, frame, &ty)?;
        let value = evaluator.conform(frame, at, value, &ty)?;
        if let Some(skip) = &field.skip_if
            && evaluator.skipped(frame, skip, &value)?
        {
            return Ok(None);
        }
        if let Some(path) = &field.serialize_with {
            return evaluator.written_by(frame, path, value).map(Some);
        }
        // Of a type that cannot be written, schemars says nothing.
        match evaluator.writes(&ty)? {
            Writes::Yes => evaluator.json_if_written(frame, at, &value),
            Writes::No => Ok(None),
            Writes::Unknown(what) => {
                let message = format!("whether `{what}` is `Serialize` cannot be told");
                Err(evaluator.stop(frame, field.span, message))
            }
        }
    }

    fn value(&self, evaluator: &Evaluator<'_>, frame: &Frame, ty: &Ty) -> Eval<Value> {
        let Self { field, whole, .. } = self;
        let at = &field.ty;
        let whole = match (&field.default, whole) {
            (Fallback::Path(path), _) => return evaluator.call_named(frame, path, ty),
            (Fallback::Trait, _) => return evaluator.default_by_name(frame, at, ty),
            (Fallback::None, Fallback::Path(path)) => {
                evaluator.call_named(frame, path, &self.ty)?
            }
            (Fallback::None, _) => evaluator.default_by_name(frame, at, &self.ty)?,
        };
        let found = match whole {
            Value::Data(data) => data.fields.into_iter().find(|(it, _)| *it == field.member),
            _ => None,
        };
        match found {
            Some((_, value)) => Ok(value),
            None => Err(Stop::Problem(Box::new(evaluator.world.problem(
                frame.module,
                field.span,
                format!("the default of `{}` is not in that of the whole", field.member),
                "",
            )))),
        }
    }
}
