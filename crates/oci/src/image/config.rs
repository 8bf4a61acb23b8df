//! The configuration of an image: its labels, and how it runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Layer, Stored};
use model::Platform;

/// How an image runs, and its labels. What is empty is left to the base image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    pub labels: BTreeMap<String, String>,
    pub entrypoint: Vec<String>,
    /// `KEY=value`
    pub environment: Vec<String>,
    pub user: String,
    pub working_dir: String,
}

/// Where an image comes from.
pub struct Origin<'a> {
    /// A time in RFC 3339.
    pub created: &'a str,
    /// The command that builds it.
    pub created_by: &'a str,
}

impl Config {
    /// The configuration's JSON: that of the base image, with this one's changes.
    pub fn json(
        &self,
        platform: &Platform,
        base: Option<&Stored>,
        layers: &[Layer],
        origin: &Origin<'_>,
    ) -> Value {
        let mut res = base.map(|it| it.json.clone()).unwrap_or_default();
        res.insert("created".to_owned(), json!(origin.created));
        res.insert("architecture".to_owned(), json!(platform.architecture));
        res.insert("os".to_owned(), json!(platform.os));
        if let Some(variant) = &platform.variant {
            res.insert("variant".to_owned(), json!(variant));
        }
        self.change(object(&mut res, "config"));
        let rootfs = object(&mut res, "rootfs");
        rootfs.insert("type".to_owned(), json!("layers"));
        let diff_ids = layers.iter().map(|it| json!(it.diff_id));
        array(rootfs, "diff_ids").extend(diff_ids);
        let step = json!({ "created": origin.created, "created_by": origin.created_by });
        array(&mut res, "history").extend(layers.iter().map(|_| step.clone()));
        Value::Object(res)
    }

    fn change(&self, config: &mut Map<String, Value>) {
        if !self.labels.is_empty() {
            let labels = object(config, "Labels");
            labels.extend(self.labels.iter().map(|(key, it)| (key.clone(), json!(it))));
        }
        if !self.entrypoint.is_empty() {
            config.insert("Entrypoint".to_owned(), json!(self.entrypoint));
            // These would be arguments of the base image's own program.
            config.remove("Cmd");
        }
        let name = |it: &str| it.split('=').next().unwrap_or_default().to_owned();
        for variable in &self.environment {
            let all = array(config, "Env");
            all.retain(|it| it.as_str().is_none_or(|it| name(it) != name(variable)));
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

fn object<'a>(of: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let value = of.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it is an object by now")
}

fn array<'a>(of: &'a mut Map<String, Value>, key: &str) -> &'a mut Vec<Value> {
    let value = of.entry(key).or_insert(Value::Null);
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    value.as_array_mut().expect("it is an array by now")
}
