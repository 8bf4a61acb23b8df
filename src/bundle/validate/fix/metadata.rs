//! Corrections in metadata/, and of files without content.

use super::{
    super::{
        super::annotations::{CHANNELS, DEFAULT_CHANNEL, MANIFESTS, MEDIA_TYPE, METADATA},
        format,
    },
    Case, Edit, Finding, Fix, Step, What,
};
use go_data::yaml::Value;
use model::ProjectPath;

/// The only media type of a bundle with a ClusterServiceVersion.
const REGISTRY: &str = "registry+v1";

/// Annotations that have one value in every bundle that can be loaded without them.
pub fn missing(case: &Case, finding: &Finding) -> Option<Fix> {
    let known = [(MEDIA_TYPE, REGISTRY), (MANIFESTS, "manifests/"), (METADATA, "metadata/")];
    let is_missing = |key: &str| finding.message == format!("Missing annotation {key:?}");
    let (key, value) = known.into_iter().find(|it| is_missing(it.0))?;
    if key == MEDIA_TYPE {
        require_registry(case)?;
    }
    insert(case, &finding.file, key, value)
}

pub fn media_type(case: &Case, finding: &Finding) -> Option<Fix> {
    require_registry(case)?;
    let pointer = format!("/annotations/{MEDIA_TYPE}");
    match case.written(&finding.file)?.pointer(&pointer) {
        Some(_) => case.set(&finding.file, &pointer, REGISTRY),
        None => insert(case, &finding.file, MEDIA_TYPE, REGISTRY),
    }
}

fn require_registry(case: &Case) -> Option<()> {
    (case.bundle.is_some() && format::media_type(case.files) == REGISTRY).then_some(())
}

fn insert(case: &Case, file: &str, key: &str, value: &str) -> Option<Fix> {
    let edit = Edit::Insert(key.to_owned(), value.into());
    let steps = vec![case.edit(file, "/annotations", edit)?];
    Some(Fix { change: format!("added `{key}: {value}`"), steps })
}

/// The only channel is the default channel.
pub fn default_channel(case: &Case, finding: &Finding) -> Option<Fix> {
    let pointer = format!("/annotations/{DEFAULT_CHANNEL}");
    let written = case.written(&finding.file)?;
    let channel = written.pointer(&format!("/annotations/{CHANNELS}")).and_then(Value::as_str)?;
    let is_one = !channel.trim().is_empty() && !channel.contains(',');
    if finding.field != pointer || !is_one {
        return None;
    }
    case.set(&finding.file, &pointer, channel.trim())
}

/// A file without content, where a file is not wanted at all.
pub fn empty_file(case: &Case, finding: &Finding) -> Option<Fix> {
    let bytes = case.files.get(&finding.file.parse::<ProjectPath>().ok()?)?;
    bytes.trim_ascii().is_empty().then(|| Fix {
        change: "deleted the empty file".to_owned(),
        steps: vec![Step { file: finding.file.clone(), what: What::Delete }],
    })
}
