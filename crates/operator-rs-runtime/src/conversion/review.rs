//! `ConversionReview` of `apiextensions.k8s.io/v1`: the text of a request in, the text of the answer out.
//!
//! A list of thousands of objects is one review, so that only one of them is parsed at a time.

use super::object::Source;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::{any::Any, sync::Arc, time::Instant};

/// A kind with several versions.
pub trait Convert: Any + Send + Sync {
    /// With the versions of another one of the same kind, or why they do not go together.
    fn joined(&self, other: &dyn Convert) -> Result<Arc<dyn Convert>, String>;
    fn group(&self) -> String;
    fn kind(&self) -> String;
    /// The name of its CRD.
    fn crd(&self) -> String;
    fn versions(&self) -> Vec<&str>;
    /// Converts an object from one of the versions to another one.
    fn convert(&self, from: &str, to: &str, source: &Source) -> Result<Value, String>;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    request: Option<Request<'a>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    #[serde(borrow, default)]
    objects: Vec<&'a RawValue>,
}

/// Answers a review, until the API server waits no longer. The error is the reason why this is no review at all.
pub fn answer(hubs: &[Arc<dyn Convert>], body: &[u8], until: Instant) -> Result<Vec<u8>, String> {
    let review: Review =
        serde_json::from_slice(body).map_err(|why| format!("this is not a ConversionReview: {why}"))?;
    let request = review.request.filter(|_| review.kind == "ConversionReview");
    let request = request.ok_or_else(|| "this is not a ConversionReview with a request".to_owned())?;
    let mut answer = Vec::with_capacity(body.len());
    let quoted = |it: &str| Value::from(it).to_string();
    let (version, uid) = (quoted(&review.api_version), quoted(&request.uid));
    let head = format!(r#"{{"apiVersion":{version},"kind":"ConversionReview","response":{{"uid":{uid},"#);
    answer.extend(head.as_bytes());
    let converted = match review.api_version.as_str() {
        "apiextensions.k8s.io/v1" => convert_all(hubs, &request, until, &mut answer),
        other => Err(format!("reviews of `{other}` are not supported: list `v1` in `conversionReviewVersions`")),
    };
    if let Err(message) = converted {
        // A client often sees only that the storage is initializing.
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
    request: &Request,
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
        answer.extend(convert(hubs, object, &request.desired_api_version)?.as_bytes());
    }
    answer.push(b']');
    Ok(())
}

fn convert(hubs: &[Arc<dyn Convert>], object: &RawValue, desired: &str) -> Result<String, String> {
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
        |why: &str| format!("cannot convert {} from {} to {desired}: {why}", source.name(), source.api_version);
    let hub = hubs.iter().find(|it| group == desired_group && it.group() == group && it.kind() == source.kind);
    let Some(hub) = hub else {
        let known = hubs.iter().map(|it| format!("{}.{} ({})", it.kind(), it.group(), it.versions().join(", ")));
        return Err(explain(&format!("the known kinds are {}", known.collect::<Vec<_>>().join("; "))));
    };
    let converted = hub.convert(from, to, &source).and_then(|it| source.write(desired, it));
    converted.map_err(|why| match way_out(hub.as_ref(), &source, from) {
        Some(way_out) => explain(&format!("{why}; {way_out}")),
        None => explain(&why),
    })
}

/// A command that corrects an object that is stored in a version of a kind: requests in this version do not convert it.
///
/// None if it has no name, or the version is unknown.
fn way_out(hub: &dyn Convert, source: &Source, version: &str) -> Option<String> {
    let (namespace, name) = source.names();
    let (name, crd) = (name?, hub.crd());
    let (plural, group) = crd.split_once('.').filter(|_| hub.versions().contains(&version))?;
    let namespace = namespace.map(|namespace| format!(" -n {namespace}")).unwrap_or_default();
    Some(format!("if it is stored like this, correct it: `kubectl edit {plural}.{version}.{group} {name}{namespace}`"))
}
