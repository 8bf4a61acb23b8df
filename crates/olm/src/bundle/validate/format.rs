//! Folders and annotations: what operator-registry calls the bundle's format.

use std::collections::BTreeMap;

use super::{
    super::annotations::{CHANNELS, DEFAULT_CHANNEL, MANIFESTS, MEDIA_TYPE, METADATA, PACKAGE},
    Files, Findings, Rule, dependencies, load, requirements,
};
use go_data::yaml::{Value, pointer::escape_key};

type AnnotationMap = BTreeMap<String, String>;

/// Finds the annotations with the location of the manifests: those of metadata/annotations.yaml, or else of the first
/// file that has some. Returns them with the path of that file.
pub fn find_annotations<'a>(
    files: &'a Files,
    findings: &mut Findings,
) -> Option<(&'a str, AnnotationMap)> {
    let read = |bytes: &[u8]| {
        let file = load::parse_file(bytes)?;
        annotations_of(&file).map(Option::unwrap_or_default)
    };
    let usual = files.iter().find(|entry| entry.0.as_str() == "metadata/annotations.yaml");
    match usual.map(|(path, bytes)| (path, read(bytes))) {
        Some((path, Ok(found))) if !found.is_empty() => return Some((path.as_str(), found)),
        Some((path, Err(fault))) => {
            findings.error(Rule::AnnotationsType, (path.as_str(), "/annotations"), fault);
            return None;
        }
        _ => {}
    }
    let found = files
        .iter()
        .filter_map(|(path, bytes)| Some((path.as_str(), read(bytes).ok()?)))
        .find(|entry| !entry.1.is_empty());
    if found.is_none() {
        findings.error(
            Rule::NoAnnotations,
            "metadata",
            "metadata not found: annotations.yaml with `annotations` must be there",
        );
    }
    found
}

/// Checks folders and annotations. If the manifests could not be read, the media type is not checked.
pub fn check(files: &Files, is_loaded: bool, findings: &mut Findings) {
    let has = |folder: &str| files.keys().any(|path| path.as_str().starts_with(folder));
    let (has_manifests, has_metadata) = (has("manifests/"), has("metadata/"));
    if !has_manifests {
        findings.error(Rule::ManifestsDir, "", "Unable to locate manifests directory");
    }
    if !has_metadata {
        findings.error(Rule::MetadataDir, "", "Unable to locate metadata directory");
    }
    if !has_manifests || !has_metadata {
        return;
    }
    let mut annotations = None;
    let mut has_dependencies = false;
    for (path, bytes) in files {
        if !requirements::is_metadata(path) {
            continue;
        }
        let Ok(Some(file)) = load::first_value(bytes) else { continue };
        if annotations.is_none()
            && let Ok(Some(found)) = annotations_of(&file)
        {
            annotations = Some((path.as_str(), found));
            continue;
        }
        if has_dependencies {
            continue;
        }
        if file.is_null() {
            findings.error(
                Rule::EmptyFile,
                path.as_str(),
                "a file of metadata/ without content makes operator-sdk crash: remove it",
            );
        }
        has_dependencies = dependencies::check(path.as_str(), &file, findings);
    }
    match annotations {
        None => findings.error(Rule::NoAnnotations, "metadata", "Could not find annotations file"),
        Some((path, found)) => {
            let media_type = is_loaded.then(|| media_type(files));
            check_annotations(path, &found, media_type, findings);
        }
    }
}

/// Decodes annotations like Go, if there are any.
fn annotations_of(file: &Value) -> Result<Option<AnnotationMap>, String> {
    let text = |key: &str, value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Array(_) | Value::Object(_) => Err(format!("`annotations.{key}` is not a string")),
    };
    match go_field(file, "annotations") {
        Err(()) => Err("`annotations` must be a map".to_owned()),
        Ok(None) => Ok(None),
        Ok(Some(Value::Object(found))) => found
            .iter()
            .map(|(key, value)| Ok((key.clone(), text(key, value)?)))
            .collect::<Result<_, _>>()
            .map(Some),
        Ok(Some(_)) => Err("`annotations` is not a map of strings".to_owned()),
    }
}

/// Returns a field, whose name Go matches in any case; `None` if it is null or missing. Fails if the value has no
/// fields.
pub fn go_field<'a>(value: &'a Value, name: &str) -> Result<Option<&'a Value>, ()> {
    match value {
        Value::Null => Ok(None),
        Value::Object(map) => {
            let is = |entry: &(&String, &Value)| {
                entry.0.eq_ignore_ascii_case(name) && !entry.1.is_null()
            };
            Ok(map.iter().rfind(is).map(|entry| entry.1))
        }
        _ => Err(()),
    }
}

/// Compares the labels of a bundle's image, which catalogs read, with its annotations, which OLM reads.
pub fn check_labels(annotations: &AnnotationMap, labels: &AnnotationMap, findings: &mut Findings) {
    let is_about_bundles = |key: &str| key.starts_with("operators.operatorframework.io.bundle.");
    for (key, value) in annotations.iter().filter(|entry| is_about_bundles(entry.0)) {
        let message = match labels.get(key) {
            Some(label) if label == value => continue,
            Some(label) => format!(
                "the image has the label {key:?} with the value {label:?}, and the annotation is {value:?}"
            ),
            None => format!("the image has no label {key:?}, and the annotation is {value:?}"),
        };
        let place = ("metadata/annotations.yaml", format!("/annotations/{}", escape_key(key)));
        findings.warning(Rule::LabelMismatch, place, message);
    }
}

/// Returns the media type of the manifests.
pub fn media_type(files: &Files) -> &'static str {
    let is_csv = |(path, bytes): (&_, &Vec<u8>)| {
        let path: &model::ProjectPath = path;
        path.parent().is_some_and(|folder| folder.as_str() == "manifests")
            && load::first_value(bytes).is_ok_and(|object| {
                object.is_some_and(|object| super::of::kind(&object) == "ClusterServiceVersion")
            })
    };
    if files.iter().any(is_csv) { "registry+v1" } else { "plain" }
}

fn check_annotations(
    path: &str,
    annotations: &AnnotationMap,
    media_type: Option<&str>,
    findings: &mut Findings,
) {
    let value = |key: &str| annotations.get(key).map(String::as_str).unwrap_or_default();
    for key in [MEDIA_TYPE, MANIFESTS, METADATA, PACKAGE, CHANNELS] {
        if !annotations.contains_key(key) {
            findings.error(
                Rule::AnnotationMissing,
                (path, "/annotations"),
                format!("Missing annotation {key:?}"),
            );
        }
    }
    if let Some(media_type) = media_type.filter(|media_type| *media_type != value(MEDIA_TYPE)) {
        let actual = value(MEDIA_TYPE);
        findings.error(
            Rule::MediaType,
            (path, format!("/annotations/{MEDIA_TYPE}")),
            format!("Expecting annotation {MEDIA_TYPE:?} to have value {media_type:?} instead of {actual:?}"),
        );
    }
    for key in [CHANNELS, DEFAULT_CHANNEL] {
        let is_needed = key == CHANNELS || annotations.contains_key(key);
        if is_needed && value(key).is_empty() {
            findings.error(
                Rule::ChannelsEmpty,
                (path, format!("/annotations/{}", escape_key(key))),
                format!("Expecting annotation {key:?} to have non-empty value"),
            );
        }
    }
}
