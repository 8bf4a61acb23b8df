//! Places in a schema, and the way from a place in an object to them.

use kube::core::crd::CustomResourceExt;
use serde_json::Value;

/// The schema of a version.
pub fn schema_of_version<K: CustomResourceExt>(version: &str) -> Value {
    let versions = K::crd().spec.versions.into_iter();
    let schema =
        versions.filter(|candidate| candidate.name == version).find_map(|found| found.schema?.open_api_v3_schema);
    let schema = schema.unwrap_or_else(|| panic!("{version} of `{}` has no schema", K::crd_name()));
    serde_json::to_value(schema).unwrap_or_else(|why| panic!("the schema of `{}`: {why}", K::crd_name()))
}

/// The schema of a field, and whether it is a declared one.
pub fn field_schema<'a>(schema: &'a Value, name: &str) -> Option<(&'a Value, bool)> {
    let declared = schema["properties"].get(name).map(|field| (field, true));
    declared.or_else(|| Some((schema.get("additionalProperties").filter(|schema| schema.is_object())?, false)))
}

pub fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
}

/// The place in the schema of a path in an object: keys of maps are `*`, and the indexes of lists `0`.
pub fn place(mut schema: &Value, path: &[String]) -> Vec<String> {
    let mut place = Vec::new();
    for name in path {
        let (next, name) = match field_schema(schema, name) {
            _ if schema["type"] == "array" => (&schema["items"], "0"),
            Some((field, true)) => (field, name.as_str()),
            Some((field, false)) => (field, "*"),
            None => (&Value::Null, name.as_str()),
        };
        place.push(name.to_owned());
        schema = next;
    }
    place
}

/// Returns true if an object without this place is valid: the innermost object around it does not require it.
pub fn is_optional(mut schema: &Value, place: &[String]) -> bool {
    let mut optional = false;
    for name in place {
        optional = schema["type"] != "array" && !is_required(schema, name);
        schema = match name.as_str() {
            _ if schema["type"] == "array" => &schema["items"],
            "*" => &schema["additionalProperties"],
            name => &schema["properties"][name],
        };
    }
    optional
}

/// The value of a sample at a place.
pub fn sample_at<'a>(mut sample: &'a Value, place: &[String]) -> Option<&'a Value> {
    for name in place {
        sample = match sample {
            Value::Object(map) if name == "*" => map.values().next()?,
            Value::Object(map) => map.get(name)?,
            Value::Array(list) => list.first()?,
            _ => return None,
        };
    }
    Some(sample)
}

/// A path for people: `spec.ports[0].name`.
pub fn display_path(path: &[String]) -> String {
    let mut text = String::new();
    for name in path {
        match name.parse::<usize>() {
            Ok(index) => text.push_str(&format!("[{index}]")),
            Err(_) if text.is_empty() => text.push_str(name),
            Err(_) => text.push_str(&format!(".{name}")),
        }
    }
    text
}

/// The paths of the lines that `serde_json::to_string_pretty` writes.
pub fn lines(value: &Value, path: &mut Vec<String>, into: &mut Vec<Vec<String>>) {
    into.push(path.clone());
    for (name, value) in children(value) {
        path.push(name);
        lines(value, path, into);
        path.pop();
    }
    if children(value).next().is_some() {
        into.push(path.clone()); // the closing bracket
    }
}

/// The fields of an object, or the items of a list.
pub fn children(value: &Value) -> Box<dyn Iterator<Item = (String, &Value)> + '_> {
    match value {
        Value::Object(map) => Box::new(map.iter().map(|(name, it)| (name.clone(), it))),
        Value::Array(list) => Box::new(list.iter().enumerate().map(|(i, it)| (i.to_string(), it))),
        _ => Box::new(std::iter::empty()),
    }
}

/// Removes what is at a path.
pub fn remove(value: &mut Value, path: &[String]) {
    let Some((last, parents)) = path.split_last() else { return };
    match value_mut(value, parents) {
        Some(Value::Object(map)) => _ = map.remove(last),
        Some(Value::Array(list)) => {
            _ = last.parse::<usize>().ok().filter(|index| *index < list.len()).map(|index| list.remove(index))
        }
        _ => {}
    }
}

/// The value at a path.
pub fn value_mut<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Object(map) => map.get_mut(name),
        Value::Array(list) => list.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    })
}
