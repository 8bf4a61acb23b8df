//! What a person should know about a bundle that can be generated: above all, what is left out of it, and why.

use super::object;
use go_data::yaml::Value;

/// In the order in which they were found.
#[derive(Default)]
pub struct Warnings(pub Vec<String>);

impl Warnings {
    pub fn push(&mut self, warning: String) {
        self.0.push(warning);
    }

    /// An object that the user may expect in the bundle.
    pub fn leave_out(&mut self, object: &Value, reason: &str) {
        self.push(format!("{} is left out of the bundle: {reason}", object::title(object)));
    }

    /// Parts of an object that the user may expect in the bundle.
    pub fn lose(&mut self, object: &Value, parts: &[String], reason: &str) {
        if !parts.is_empty() {
            let verb = if parts.len() == 1 { "is" } else { "are" };
            let (title, parts) = (object::title(object), parts.join(", "));
            self.push(format!("{title}: its {parts} {verb} left out of the bundle: {reason}"));
        }
    }
}
