//! Compares two values, and refuses a comparison that code of the project may implement.

use super::value::{AdtValue, Value};
use super::{Eval, Evaluator, Frame};
use crate::types::Type;

impl Evaluator<'_> {
    /// `==`: refused where a type of the project does not derive `PartialEq`.
    pub fn are_equal(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        left: &Value,
        right: &Value,
    ) -> Eval<bool> {
        self.step(frame, at)?;
        let each = |left: &[Value], right: &[Value]| -> Eval<bool> {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !self.are_equal(frame, at, left, right)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        Ok(match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Char(left), Value::Char(right)) => left == right,
            (Value::Int(left, of), Value::Int(right, other)) if of == other => left == right,
            #[allow(clippy::float_cmp, reason = "it is what the code does")]
            (Value::F32(left), Value::F32(right)) => left == right,
            #[allow(clippy::float_cmp, reason = "it is what the code does")]
            (Value::F64(left), Value::F64(right)) => left == right,
            (Value::Text(left), Value::Text(right)) => left == right,
            (Value::Option(Some(left)), Value::Option(Some(right))) => {
                self.are_equal(frame, at, left, right)?
            }
            (Value::Option(left), Value::Option(right)) => left.is_none() && right.is_none(),
            (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => {
                each(left, right)?
            }
            (Value::Set, Value::Set) | (Value::Map, Value::Map) => true,
            (Value::Data(left), Value::Data(right)) if left.ty == right.ty => {
                let Type::Data(id, _) = *left.ty else { return self.unsupported(frame, at) };
                if !self.derives_for_certain(id, "std::cmp::PartialEq")? {
                    return self.refuse(frame, at, "its `PartialEq` is not derived");
                }
                if left.variant != right.variant {
                    return Ok(false);
                }
                let values =
                    |data: &AdtValue| -> Vec<Value> { data.fields.values().cloned().collect() };
                each(&values(left), &values(right))?
            }
            (Value::Json(_, left), Value::Json(_, right)) => left == right,
            // The values in a map may have a `PartialEq` of their own.
            (Value::Foreign(of, left), Value::Foreign(other, right))
                if of == other && !of.ends_with("Map") =>
            {
                left == right
            }
            _ => return self.refuse(frame, at, "two values of these types are not compared"),
        })
    }
}
