//! Warnings about a bundle that can be generated: above all, which parts are left out, and why.

use super::object;
use diagnostics::Diagnostic;
use go_data::yaml::Value;

/// In the order in which they were found.
#[derive(Default)]
pub struct Warnings(pub Vec<Diagnostic>);

impl Warnings {
    pub fn push(&mut self, warning: String) {
        self.0.push(warning.into());
    }

    /// Warns that an object is left out, which the user may expect in the bundle.
    pub fn leave_out(&mut self, object: &Value, reason: &str) {
        self.0.push(left_out(object, reason));
    }

    /// Notes that an object is left out, in place of which OLM creates another one: no action is needed.
    pub fn leave_to_olm(&mut self, object: &Value, reason: &str) {
        self.0.push(left_out(object, reason).into_note());
    }

    /// Warns that parts of an object are left out, which the user may expect in the bundle.
    pub fn warn_of_lost_parts(&mut self, object: &Value, parts: &[String], reason: &str) {
        if !parts.is_empty() {
            let verb = if parts.len() == 1 { "is" } else { "are" };
            let (title, parts) = (object::title(object), parts.join(", "));
            self.push(format!("{title}: its {parts} {verb} left out of the bundle: {reason}"));
        }
    }
}

fn left_out(object: &Value, reason: &str) -> Diagnostic {
    format!("{} is left out of the bundle: {reason}", object::title(object)).into()
}
