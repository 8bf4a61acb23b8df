//! `metadata/annotations.yaml`, whose entries are also labels of the bundle image.

use std::collections::BTreeMap;

use super::{Input, Refusals, Warnings, csv::is_of_tool};
use go_data::yaml::{self, Map, Value};

pub const MEDIA_TYPE: &str = "operators.operatorframework.io.bundle.mediatype.v1";
pub const MANIFESTS: &str = "operators.operatorframework.io.bundle.manifests.v1";
pub const METADATA: &str = "operators.operatorframework.io.bundle.metadata.v1";
pub const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";
pub const CHANNELS: &str = "operators.operatorframework.io.bundle.channels.v1";
pub const DEFAULT_CHANNEL: &str = "operators.operatorframework.io.bundle.channel.default.v1";
pub const TEST_MEDIA_TYPE: &str = "operators.operatorframework.io.test.mediatype.v1";
pub const TEST_CONFIG: &str = "operators.operatorframework.io.test.config.v1";

/// The user's file in `config/manifests/metadata`.
const FILE: &str = "config/manifests/metadata/annotations.yaml";

/// Key and value, in the order they are written.
pub struct Annotations {
    pub core: Vec<(String, String)>,
    pub tests: Vec<(String, String)>,
}

impl Annotations {
    pub fn new(
        input: &Input,
        scorecard: bool,
        refusals: &mut Refusals,
        warnings: &mut Warnings,
    ) -> Self {
        let mut user_annotations = own_annotations(input, refusals);
        let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut core = vec![
            entry(MEDIA_TYPE, "registry+v1"),
            entry(MANIFESTS, "manifests/"),
            entry(METADATA, "metadata/"),
            entry(PACKAGE, input.package.as_str()),
        ];
        core.extend(channel_annotations(input, &mut user_annotations, refusals));
        let mut tests = Vec::new();
        if scorecard {
            tests.push(entry(TEST_MEDIA_TYPE, "scorecard+v1"));
            tests.push(entry(TEST_CONFIG, "tests/scorecard/"));
        }
        for (name, value) in core.iter().chain(&tests) {
            if user_annotations.remove(name).is_some_and(|annotation| annotation != *value) {
                refusals.push(
                    format!("{FILE}: `{name}` is `{value}` in this bundle"),
                    format!("remove the line from {FILE}"),
                );
            }
        }
        core.extend(with_metrics(user_annotations, input, warnings));
        Self { core, tests }
    }

    pub fn to_yaml(&self) -> String {
        let mut yaml = "annotations:\n  # Core bundle annotations.\n".to_owned();
        self.core.iter().for_each(|annotation| yaml.push_str(&annotation_line(annotation)));
        if !self.tests.is_empty() {
            yaml.push_str("\n  # Annotations for testing.\n");
            self.tests.iter().for_each(|annotation| yaml.push_str(&annotation_line(annotation)));
        }
        yaml
    }
}

/// Returns the channels and the default channel: those of the flags, or else the user's.
fn channel_annotations(
    input: &Input,
    user_annotations: &mut BTreeMap<String, String>,
    refusals: &mut Refusals,
) -> Vec<(String, String)> {
    let mut flag_or_own = |flag: String, key: &str| {
        let user_value = user_annotations.remove(key).unwrap_or_default();
        let value = if flag.is_empty() { user_value } else { flag };
        (!value.is_empty()).then_some(value)
    };
    let list: Vec<String> = input.channels.iter().map(ToString::to_string).collect();
    let channels = flag_or_own(list.join(","), CHANNELS);
    let channels = channels.unwrap_or_else(|| "alpha".to_owned());
    let default = input.default_channel.map(ToString::to_string).unwrap_or_default();
    let default = flag_or_own(default, DEFAULT_CHANNEL);
    if let Some(default) = &default
        && !channels.split(',').any(|channel| channel == default)
    {
        refusals.push(
            format!("the default channel `{default}` is not one of the channels `{channels}`"),
            format!("pass `--channels {channels},{default}`, or another `--default-channel`"),
        );
    }
    let default = default.map(|channel| (DEFAULT_CHANNEL.to_owned(), channel));
    [Some((CHANNELS.to_owned(), channels)), default].into_iter().flatten().collect()
}

/// Adds the annotations for metrics to the user's other annotations, sorted by name.
fn with_metrics(
    user_annotations: BTreeMap<String, String>,
    input: &Input,
    warnings: &mut Warnings,
) -> BTreeMap<String, String> {
    let mut annotations = user_annotations;
    for (name, value) in [
        ("operators.operatorframework.io.metrics.builder", input.builder),
        ("operators.operatorframework.io.metrics.mediatype.v1", "metrics+v1"),
        ("operators.operatorframework.io.metrics.project_layout", input.layout),
    ] {
        let before = annotations.insert(name.to_owned(), value.to_owned());
        if let Some(before) = before.filter(|before| before != value && !is_of_tool(before)) {
            warnings.push(format!("{FILE}: `{name}: {before}` is replaced by `{value}`"));
        }
    }
    annotations
}

/// Formats one entry, quoted where YAML requires it.
fn annotation_line((key, value): &(String, String)) -> String {
    let entry: Map<String, Value> =
        [(key.clone(), Value::from(value.as_str()))].into_iter().collect();
    format!("  {}", yaml::to_text(&entry.into()))
}

/// Reads the additional annotations of the user.
fn own_annotations(input: &Input, refusals: &mut Refusals) -> BTreeMap<String, String> {
    let Some(text) = input.metadata.get("annotations.yaml") else { return BTreeMap::new() };
    let shape = "its only key is `annotations`, a map of keys to single-line strings";
    let file: Value = match yaml::from_text(text, yaml::Dialect::Kubernetes) {
        Ok(file) => file,
        Err(error) => {
            refusals.push(format!("{FILE}: {error}"), shape);
            return BTreeMap::new();
        }
    };
    let only =
        file.as_object().is_some_and(|mapping| mapping.keys().all(|key| key == "annotations"));
    let Some(annotations) = file.get("annotations").and_then(Value::as_object).filter(|_| only)
    else {
        refusals.push(format!("{FILE} is not a valid annotations file"), shape);
        return BTreeMap::new();
    };
    let mut user_annotations = BTreeMap::new();
    for (key, value) in annotations {
        let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
        match value.as_str() {
            Some(value)
                if !value.contains(['\n', '\r']) && !key.is_empty() && key.chars().all(is_key) =>
            {
                user_annotations.insert(key.clone(), value.to_owned());
            }
            Some(_) => refusals.push(format!("{FILE}: `{key}` is not a valid image label"), shape),
            None => refusals
                .push(format!("{FILE}: the value of `{key}` is not a string"), "put it in quotes"),
        }
    }
    user_annotations
}
