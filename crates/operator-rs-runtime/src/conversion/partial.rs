//! Converts objects that may be partial: missing values are made up, and results that depend on them are dropped.

use super::{
    agree::common_part,
    complete::{Completion, Undeclared, VARIANTS},
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
pub struct ConversionOutcome {
    pub object: Value,
    /// The object in the hub's version, if the conversion is lossless.
    pub hub: Value,
    /// The object in the hub's version after `object` is converted back, if the conversion is lossless.
    pub back: Value,
}

impl ConversionOutcome {
    fn common_part(self, other: &Self) -> Self {
        let common = |a, b| common_part(a, b).unwrap_or_else(|| json!({}));
        Self {
            object: common(self.object, &other.object),
            hub: common(self.hub, &other.hub),
            back: common(self.back, &other.back),
        }
    }
}

/// The reason why a complete object cannot be converted.
pub enum Fault {
    /// The object cannot be parsed as the type of its version.
    Unreadable(serde_json::Error),
    Other(String),
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// Converts an object with a function for complete objects. `read` parses the JSON of an object as `convert` does.
pub fn convert_partial(
    source: &Source,
    schema: &Node,
    read: fn(&str) -> serde_json::Result<()>,
    convert: impl Fn(&Value) -> Result<ConversionOutcome, Fault>,
) -> Result<ConversionOutcome, String> {
    let (mut outcomes, mut refusal) = (Vec::new(), None);
    for variant in 0..VARIANTS {
        match convert_completed(source, schema, read, &convert, variant) {
            Ok((outcome, true)) => return Ok(outcome),
            Err((why, true)) => return Err(why),
            Ok((outcome, false)) => outcomes.push(outcome),
            Err((why, false)) => _ = refusal.get_or_insert(why),
        }
    }
    let mut outcomes = outcomes.into_iter();
    match (outcomes.next(), outcomes.next(), refusal) {
        (Some(first), Some(second), _) => {
            let common = first.common_part(&second);
            Ok(outcomes.fold(common, |common, outcome| common.common_part(&outcome)))
        }
        // The schema may require more than the type does, so that the object can be converted without a completion.
        (.., refusal) => catch_panic(&convert, &source.to_value()?).map_err(|_| refusal.unwrap_or_default()),
    }
}

/// Completes an object and converts it. The flag in the result is true if the object was already complete.
fn convert_completed(
    source: &Source,
    schema: &Node,
    read: fn(&str) -> serde_json::Result<()>,
    convert: &impl Fn(&Value) -> Result<ConversionOutcome, Fault>,
    variant: usize,
) -> Result<(ConversionOutcome, bool), (String, bool)> {
    let (mut tries, mut undeclared) = (BTreeMap::<String, usize>::new(), Undeclared::new());
    loop {
        let mut object = source.to_value().map_err(|why| (why, true))?;
        let Completion { missing, strings, .. } =
            Completion::complete_object(schema, &undeclared, &mut object, variant);
        let was_complete = missing.is_empty();
        let error = match catch_panic(convert, &object) {
            Ok(outcome) => return Ok((outcome, was_complete)),
            Err(Fault::Other(why)) => return Err((why, was_complete)),
            Err(Fault::Unreadable(error)) => error,
        };
        // The error of the pretty-printed object has the line of the value.
        let line_error = serde_json::to_string_pretty(&object).ok().and_then(|json| read(&json).err());
        let path = line_error.and_then(|error| path::path_of_line(&object, error.line())).unwrap_or_default();
        let mut advanced = match missing_field(&error) {
            // The schema does not require every field that the type requires, as for enums that are tagged by a field.
            Some(name) if schema.schema_at(&path).is_some_and(|schema| schema.properties.contains_key(&name)) => {
                undeclared.insert((path.clone(), name))
            }
            _ => false,
        };
        for string in strings.iter().filter(|string| path::is_within(&string.path, &path)) {
            let tries = tries.entry(string.path.clone()).or_default();
            *tries += 1;
            advanced |= string.advance_row(*tries);
        }
        if !advanced {
            let is_made_up = missing.iter().any(|missing| path::is_within(&path, missing));
            return Err((
                match path.as_str() {
                    "" => error.to_string(),
                    _ if is_made_up => format!("`{path}` is missing, and no value for it can be made up: {error}"),
                    _ => describe_error(&path, &object, &error),
                },
                was_complete,
            ));
        }
    }
}

/// Describes why a value cannot be read, with the value if it is short and the error does not contain it.
fn describe_error(path: &str, object: &Value, error: &serde_json::Error) -> String {
    const LONGEST: usize = 100;
    let value = path::value_at(object, path).filter(|value| value.is_string() || value.is_number());
    let value = value.map(Value::to_string).filter(|value| value.len() <= LONGEST);
    match value.filter(|value| !error.to_string().contains(value)) {
        Some(value) => format!("`{path}` is {value}: {error}"),
        None => format!("`{path}`: {error}"),
    }
}

/// Returns the field that is missing according to an error of serde.
fn missing_field(error: &serde_json::Error) -> Option<String> {
    Some(error.to_string().strip_prefix("missing field `")?.split('`').next()?.to_owned())
}

/// Runs the user's conversion. If it panics, that is a fault.
fn catch_panic(
    convert: &impl Fn(&Value) -> Result<ConversionOutcome, Fault>,
    object: &Value,
) -> Result<ConversionOutcome, Fault> {
    catch_unwind(AssertUnwindSafe(|| convert(object))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Fault::Other(format!("the conversion panicked: {}", message.unwrap_or("without a message"))))
    })
}
