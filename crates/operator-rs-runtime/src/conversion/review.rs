//! Answers a `ConversionReview` of `apiextensions.k8s.io/v1`.
//!
//! A review can contain a list of thousands of objects, so only one object is parsed at a time.

use super::object::Source;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::{any::Any, sync::Arc, time::Instant};

/// A kind with several versions.
pub trait Convert: Any + Send + Sync {
    /// Adds the versions of another converter of the same kind.
    ///
    /// # Errors
    /// If the two have different hubs, or a version in common.
    fn join_versions(&self, other: &dyn Convert) -> Result<Arc<dyn Convert>, String>;
    fn group(&self) -> String;
    fn kind(&self) -> String;
    fn crd_name(&self) -> String;
    fn versions(&self) -> Vec<&str>;
    /// Converts an object from one of the versions to another one.
    fn convert(&self, from: &str, to: &str, source: &Source) -> Result<Value, String>;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConversionReview<'a> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    request: Option<ConversionRequest<'a>>,
}

#[derive(Deserialize)]
struct ConversionRequest<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    #[serde(borrow, default)]
    objects: Vec<&'a RawValue>,
}

/// Answers a review before the time when the API server stops waiting.
///
/// # Errors
/// If the body is not a review.
pub fn answer_review(hubs: &[Arc<dyn Convert>], body: &[u8], until: Instant) -> Result<Vec<u8>, String> {
    let review: ConversionReview =
        serde_json::from_slice(body).map_err(|why| format!("this is not a ConversionReview: {why}"))?;
    let request = review.request.filter(|_| review.kind == "ConversionReview");
    let request = request.ok_or_else(|| "this is not a ConversionReview with a request".to_owned())?;
    let mut answer = Vec::with_capacity(body.len());
    let to_json = |string: &str| Value::from(string).to_string();
    let (version, uid) = (to_json(&review.api_version), to_json(&request.uid));
    let head = format!(r#"{{"apiVersion":{version},"kind":"ConversionReview","response":{{"uid":{uid},"#);
    answer.extend(head.as_bytes());
    let converted = match review.api_version.as_str() {
        "apiextensions.k8s.io/v1" => convert_all(hubs, &request, until, &mut answer),
        other => Err(format!("reviews of `{other}` are not supported: list `v1` in `conversionReviewVersions`")),
    };
    if let Err(message) = converted {
        // Clients often see only that the storage is initializing, so the reason is logged.
        tracing::warn!("{message}");
        answer.truncate(head.len());
        let result = json!({ "status": "Failure", "message": message });
        answer.extend(format!(r#""result":{result},"convertedObjects":[]"#).as_bytes());
    }
    answer.extend(b"}}");
    Ok(answer)
}

fn convert_all(
    hubs: &[Arc<dyn Convert>],
    request: &ConversionRequest,
    until: Instant,
    answer: &mut Vec<u8>,
) -> Result<(), String> {
    answer.extend(br#""result":{"status":"Success"},"convertedObjects":["#);
    for (i, object) in request.objects.iter().enumerate() {
        if until <= Instant::now() {
            return Err(format!("time ran out after {i} of {} objects", request.objects.len()));
        }
        if i > 0 {
            answer.push(b',');
        }
        answer.extend(convert_object(hubs, object, &request.desired_api_version)?.as_bytes());
    }
    answer.push(b']');
    Ok(())
}

fn convert_object(hubs: &[Arc<dyn Convert>], object: &RawValue, desired: &str) -> Result<String, String> {
    let source = Source::parse(object)?;
    if source.api_version == desired {
        return Ok(object.get().to_owned());
    }
    let (Some((group, from)), Some((desired_group, to))) =
        (source.api_version.split_once('/'), desired.split_once('/'))
    else {
        return Err(format!("`{}` and `{desired}` are not versions of a group", source.api_version));
    };
    let explain =
        |why: &str| format!("cannot convert {} from {} to {desired}: {why}", source.display_name(), source.api_version);
    let hub = hubs.iter().find(|hub| group == desired_group && hub.group() == group && hub.kind() == source.kind);
    let Some(hub) = hub else {
        let known = hubs.iter().map(|hub| format!("{}.{} ({})", hub.kind(), hub.group(), hub.versions().join(", ")));
        return Err(explain(&format!("the known kinds are {}", known.collect::<Vec<_>>().join("; "))));
    };
    let converted = hub.convert(from, to, &source);
    let converted = converted.and_then(|converted| source.serialize_converted(desired, converted));
    converted.map_err(|why| match edit_hint(hub.as_ref(), &source, from) {
        Some(hint) => explain(&format!("{why}; {hint}")),
        None => explain(&why),
    })
}

/// Returns a command that corrects an object in the version in which it is stored: requests in this version do not
/// convert it.
///
/// Returns `None` if the object has no name, or the version is unknown.
fn edit_hint(hub: &dyn Convert, source: &Source, version: &str) -> Option<String> {
    let (namespace, name) = source.namespace_and_name();
    let (name, crd) = (name?, hub.crd_name());
    let (plural, group) = crd.split_once('.').filter(|_| hub.versions().contains(&version))?;
    let namespace = namespace.map(|namespace| format!(" -n {namespace}")).unwrap_or_default();
    Some(format!("if it is stored like this, correct it: `kubectl edit {plural}.{version}.{group} {name}{namespace}`"))
}
