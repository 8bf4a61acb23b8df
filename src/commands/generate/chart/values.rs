//! values.yaml, which is the user's once it is written, and values.schema.json, which is ours and follows it.

use diagnostics::Diagnostic;
use go_data::yaml::{self, Dialect, Map, Node, Value, json};
use model::ProjectPath;

use super::{manager::Manager, switches::Switch};
use crate::app::cluster_access::shipped::PLACEHOLDER;

/// The defaults that repeat what the project has.
const REPEATED: &[&str] = &["/image/repository", "/replicas", "/resources"];

/// Builds the variables of values.yaml.hbs.
pub fn build_context(manager: &Manager, objects: &[Value], switches: &[Switch]) -> Value {
    let has = |kinds: &[&str]| {
        let all = objects.iter().chain(switches.iter().flat_map(|switch| &switch.objects));
        { all }.any(|object| super::release::is_one_of(object, kinds))
    };
    let switch = |name: &str| {
        let switch = switches.iter().find(|switch| switch.name == name)?;
        Some(json!({ "fixed": switch.fixed }))
    };
    let line = |value: &Value| yaml::to_text(value).trim_end().to_owned();
    let resources = match manager.resources() {
        Value::Object(map) if !map.is_empty() => {
            let text = line(&Value::Object(map.clone()));
            format!("\n  {}", text.replace('\n', "\n  "))
        }
        _ => " {}".to_owned(),
    };
    json!({
        "account": manager.account.is_some(),
        "metrics": switch("metrics"),
        "monitor": has(&["PodMonitor", "ServiceMonitor"]),
        "network_policy": has(&["NetworkPolicy"]),
        "replicas": manager.replicas(),
        "repository": line(&chosen_repository(manager.image()).into()),
        "resources": resources,
        "watch": manager.watches_namespaces(),
        "webhook": switch("webhook"),
    })
}

/// The repository for values.yaml. Nothing for the image of a new project: the value is the user's once it is written, and
/// an empty one follows a later `--image`.
fn chosen_repository(image: &str) -> &str {
    if image == PLACEHOLDER { "" } else { repository_of(image) }
}

/// An image without its tag and digest.
fn repository_of(image: &str) -> &str {
    let name = image.split('@').next().unwrap_or_default();
    match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => name,
    }
}

/// The user's values beside those that would be written now.
pub struct Values<'a> {
    pub path: &'a ProjectPath,
    theirs: Option<Node>,
    fresh: Value,
    schema: Value,
}

impl<'a> Values<'a> {
    pub fn read(
        path: &'a ProjectPath,
        theirs: Option<&str>,
        fresh: &str,
        schema: &str,
    ) -> anyhow::Result<Self> {
        let theirs = match theirs {
            None => None,
            Some(text) => {
                let read = yaml::parse_document(text, Dialect::Strict).map_err(Into::into);
                let node = read.map_err(yaml::locate_error(path.as_str(), text))?;
                let is_map = node.as_ref().is_none_or(|node| node.clone().into_value().is_object());
                if !is_map {
                    let message = "this is not a map of names to values";
                    return Err(Diagnostic::in_file(path.as_str(), message).into_error());
                }
                node
            }
        };
        let fresh = yaml::from_text(fresh, Dialect::Kubernetes)?;
        Ok(Self { path, theirs, fresh, schema: yaml::from_json(schema)? })
    }

    fn user_values(&self) -> Map<String, Value> {
        let value = self.theirs.as_ref().map(|node| node.clone().into_value());
        value.and_then(|value| value.as_object().cloned()).unwrap_or_default()
    }

    /// The schema of what this project has, and of what the user has added. What others give has to be among it.
    pub fn adapted_schema(&self) -> Value {
        let mut schema = self.schema.clone();
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.retain(|key, _| key == "global" || self.fresh.get(key).is_some());
            for key in self.user_values().keys() {
                properties.entry(key).or_insert_with(|| json!({}));
            }
        }
        schema
    }

    /// The keys below ours that nothing reads.
    pub fn find_problems(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for (key, value) in &self.user_values() {
            let schema = &self.schema["properties"][key.as_str()];
            let (Some(value), Some(known)) = (value.as_object(), schema["properties"].as_object())
            else {
                continue;
            };
            for inner in value.keys().filter(|key| !known.contains_key(*key)) {
                let names: Vec<_> = known.keys().map(|key| format!("`{key}`")).collect();
                let hint = format!("the keys of `{key}` are {}", names.join(", "));
                let message = format!("`{key}.{inner}` is not known, and no template reads it");
                diagnostics
                    .push(self.diagnostic_at(&format!("/{key}/{inner}"), message).with_hint(hint));
            }
        }
        diagnostics
    }

    /// New keys, probable misspellings, and defaults that differ from the project.
    pub fn find_warnings(&self) -> Vec<Diagnostic> {
        let Some(node) = &self.theirs else { return Vec::new() };
        let theirs = node.clone().into_value();
        let known = || self.fresh.as_object().into_iter().flat_map(|map| map.keys());
        let mut diagnostics = Vec::new();
        for key in self.user_values().keys().filter(|key| self.fresh.get(key.as_str()).is_none()) {
            if let Some(near) = diagnostics::find_nearest(key, known().map(String::as_str)) {
                let message = format!("no template of operator-rs reads `{key}`");
                let hint = format!("is it `{near}`? otherwise a template of yours should use it");
                diagnostics.push(self.diagnostic_at(&format!("/{key}"), message).with_hint(hint));
            }
        }
        let missing = missing_values(&theirs, &self.fresh, &self.schema);
        if !is_empty(&missing) {
            let message = "values that the templates know are missing here";
            let text = yaml::to_text(&missing).trim_end().replace('\n', "\n  ");
            let hint = format!("add those that users should see:\n  {text}");
            diagnostics.push(Diagnostic::in_file(self.path.as_str(), message).with_hint(hint));
        }
        for pointer in REPEATED {
            let (Some(value), Some(own)) = (theirs.pointer(pointer), self.fresh.pointer(pointer))
            else {
                continue;
            };
            let is_given = !value.is_null() && *value != "" && !is_empty(value);
            // `generate chart` warns of a project without an image.
            if is_given && value != own && *own != "" {
                let key = pointer[1..].replace('/', ".");
                let message = format!("`{key}` replaces the project's value");
                let hint = format!("the project has `{own}`; leave the value empty to use it");
                diagnostics.push(self.diagnostic_at(pointer, message).with_hint(hint));
            }
        }
        diagnostics
    }

    fn diagnostic_at(&self, pointer: &str, message: String) -> Diagnostic {
        let diagnostic = Diagnostic::in_file(self.path.as_str(), message);
        match self.theirs.as_ref().map(|node| node.mark_at(pointer)) {
            Some(mark) => diagnostic.at_position(mark.line, mark.column),
            None => diagnostic,
        }
    }
}

/// The part of the fresh values that the user's lack. Maps of which the schema knows all keys are compared key by key.
fn missing_values(theirs: &Value, fresh: &Value, schema: &Value) -> Value {
    let mut missing = Map::new();
    for (key, value) in fresh.as_object().into_iter().flatten() {
        let schema = &schema["properties"][key.as_str()];
        match theirs.get(key) {
            None => drop(missing.insert(key.clone(), value.clone())),
            Some(theirs_there) if theirs_there.is_object() && schema["properties"].is_object() => {
                let inner = missing_values(theirs_there, value, schema);
                if !is_empty(&inner) {
                    missing.insert(key.clone(), inner);
                }
            }
            Some(_) => {}
        }
    }
    missing.into()
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[test]
fn the_tag_and_the_digest_of_an_image_are_no_part_of_its_repository() {
    let check = |image: &str, expected: &str| assert_eq!(repository_of(image), expected);
    check("controller:latest", "controller");
    check("localhost:5000/a/b", "localhost:5000/a/b");
    check("localhost:5000/a/b:v1@sha256:00", "localhost:5000/a/b");
}
