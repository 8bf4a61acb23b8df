//! The configuration of an image: its labels, command and environment.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Layer, Stored};
use model::Platform;

/// The command and environment of an image, and its labels. Empty fields are left to the base image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    pub labels: BTreeMap<String, String>,
    pub entrypoint: Vec<String>,
    /// `KEY=value`
    pub environment: Vec<String>,
    pub user: String,
    pub working_dir: String,
}

/// The origin of an image, for its history.
pub struct Origin<'a> {
    /// A time in RFC 3339.
    pub created: &'a str,
    /// The command that builds it.
    pub created_by: &'a str,
}

impl Config {
    /// The configuration's JSON: that of the base image, with this one's changes.
    pub fn to_json(
        &self,
        platform: &Platform,
        base: Option<&Stored>,
        layers: &[Layer],
        origin: &Origin<'_>,
    ) -> Value {
        let mut config = base.map(|base| base.json.clone()).unwrap_or_default();
        config.insert("created".to_owned(), json!(origin.created));
        config.insert("architecture".to_owned(), json!(platform.architecture));
        config.insert("os".to_owned(), json!(platform.os));
        if let Some(variant) = &platform.variant {
            config.insert("variant".to_owned(), json!(variant));
        }
        self.apply_to(object_entry(&mut config, "config"));
        let rootfs = object_entry(&mut config, "rootfs");
        rootfs.insert("type".to_owned(), json!("layers"));
        let diff_ids = layers.iter().map(|layer| json!(layer.diff_id));
        array_entry(rootfs, "diff_ids").extend(diff_ids);
        let step = json!({ "created": origin.created, "created_by": origin.created_by });
        array_entry(&mut config, "history").extend(layers.iter().map(|_| step.clone()));
        Value::Object(config)
    }

    fn apply_to(&self, config: &mut Map<String, Value>) {
        if !self.labels.is_empty() {
            let labels = object_entry(config, "Labels");
            labels.extend(self.labels.iter().map(|(key, value)| (key.clone(), json!(value))));
        }
        if !self.entrypoint.is_empty() {
            config.insert("Entrypoint".to_owned(), json!(self.entrypoint));
            // These would be arguments of the base image's own program.
            config.remove("Cmd");
        }
        let name = |variable: &str| variable.split('=').next().unwrap_or_default().to_owned();
        for variable in &self.environment {
            let all = array_entry(config, "Env");
            all.retain(|entry| entry.as_str().is_none_or(|entry| name(entry) != name(variable)));
            all.push(json!(variable));
        }
        if !self.user.is_empty() {
            config.insert("User".to_owned(), json!(self.user));
        }
        if !self.working_dir.is_empty() {
            config.insert("WorkingDir".to_owned(), json!(self.working_dir));
        }
    }
}

fn object_entry<'a>(of: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let value = of.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it is an object by now")
}

fn array_entry<'a>(of: &'a mut Map<String, Value>, key: &str) -> &'a mut Vec<Value> {
    let value = of.entry(key).or_insert(Value::Null);
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    value.as_array_mut().expect("it is an array by now")
}
