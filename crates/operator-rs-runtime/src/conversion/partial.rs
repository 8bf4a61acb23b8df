//! The conversion of objects that may be partial: what is missing is made up, and what depends on it is dropped.

use super::{
    agree::agree,
    complete::{Completion, Undeclared, WAYS},
    object::Source,
    path,
    schema::Node,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The result of a conversion.
#[derive(Default)]
pub struct Outcome {
    pub object: Value,
    /// Where the conversion is lossless, the object in the hub's version.
    pub hub: Value,
    /// The same, after a conversion of `object` back.
    pub back: Value,
}

impl Outcome {
    fn agree(self, other: &Self) -> Self {
        let both = |a, b| agree(a, b).unwrap_or_else(|| json!({}));
        Self {
            object: both(self.object, &other.object),
            hub: both(self.hub, &other.hub),
            back: both(self.back, &other.back),
        }
    }
}

/// The reason why a complete object cannot be converted.
pub enum Fault {
    /// The type of its version cannot read it.
    Unreadable(serde_json::Error),
    Other(String),
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// Converts an object with a function for complete objects. `read` reads the text of an object as the function does.
pub fn convert_partial(
    source: &Source,
    schema: &Node,
    read: fn(&str) -> serde_json::Result<()>,
    convert: impl Fn(&Value) -> Result<Outcome, Fault>,
) -> Result<Outcome, String> {
    let (mut outcomes, mut refusal) = (Vec::new(), None);
    for way in 0..WAYS {
        match convert_completed(source, schema, read, &convert, way) {
            Ok((outcome, true)) => return Ok(outcome),
            Err((why, true)) => return Err(why),
            Ok((outcome, false)) => outcomes.push(outcome),
            Err((why, false)) => _ = refusal.get_or_insert(why),
        }
    }
    let mut outcomes = outcomes.into_iter();
    match (outcomes.next(), outcomes.next(), refusal) {
        (Some(first), Some(second), _) => Ok(outcomes.fold(first.agree(&second), |all, it| all.agree(&it))),
        // The schema may require more than the type does.
        (.., refusal) => guarded(&convert, &source.read()?).map_err(|_| refusal.unwrap_or_default()),
    }
}

/// Completes an object and converts it. Returns whether it was complete before, too.
fn convert_completed(
    source: &Source,
    schema: &Node,
    read: fn(&str) -> serde_json::Result<()>,
    convert: &impl Fn(&Value) -> Result<Outcome, Fault>,
    way: usize,
) -> Result<(Outcome, bool), (String, bool)> {
    let (mut tries, mut undeclared) = (BTreeMap::<String, usize>::new(), Undeclared::new());
    loop {
        let mut object = source.read().map_err(|why| (why, true))?;
        let Completion { missing, strings, .. } = Completion::of(schema, &undeclared, &mut object, way);
        let was_complete = missing.is_empty();
        let error = match guarded(convert, &object) {
            Ok(outcome) => return Ok((outcome, was_complete)),
            Err(Fault::Other(why)) => return Err((why, was_complete)),
            Err(Fault::Unreadable(error)) => error,
        };
        let at = serde_json::to_string_pretty(&object).ok().and_then(|text| read(&text).err());
        let at = at.and_then(|it| path::of_line(&object, it.line())).unwrap_or_default();
        let mut advanced = match missing_field(&error) {
            // The schema has no rule that names it, as those of enums that are tagged by a field.
            Some(name) if schema.at(&at).is_some_and(|it| it.properties.contains_key(&name)) => {
                undeclared.insert((at.clone(), name))
            }
            _ => false,
        };
        for string in strings.iter().filter(|it| path::is_within(&it.path, &at)) {
            let tries = tries.entry(string.path.clone()).or_default();
            *tries += 1;
            advanced |= string.advance(*tries);
        }
        if !advanced {
            let is_made = missing.iter().any(|it| path::is_within(&at, it));
            return Err((
                match at.as_str() {
                    "" => error.to_string(),
                    _ if is_made => format!("`{at}` is missing, and no value for it can be made up: {error}"),
                    _ => describe(&at, &object, &error),
                },
                was_complete,
            ));
        }
    }
}

/// Why a value cannot be read, with the value if it is short and the error does not have it.
fn describe(path: &str, object: &Value, error: &serde_json::Error) -> String {
    const LONGEST: usize = 100;
    let value = path::value_at(object, path).filter(|value| value.is_string() || value.is_number());
    let value = value.map(Value::to_string).filter(|value| value.len() <= LONGEST);
    match value.filter(|value| !error.to_string().contains(value)) {
        Some(value) => format!("`{path}` is {value}: {error}"),
        None => format!("`{path}`: {error}"),
    }
}

/// The field that serde says is missing.
fn missing_field(error: &serde_json::Error) -> Option<String> {
    Some(error.to_string().strip_prefix("missing field `")?.split('`').next()?.to_owned())
}

/// Runs code of the user: a panic in it is a fault.
fn guarded(convert: &impl Fn(&Value) -> Result<Outcome, Fault>, object: &Value) -> Result<Outcome, Fault> {
    catch_unwind(AssertUnwindSafe(|| convert(object))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Fault::Other(format!("the conversion panicked: {}", text.unwrap_or("without a message"))))
    })
}
