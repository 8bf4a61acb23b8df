//! Conversions of objects that miss fields, by the service of the webhook.

use super::{
    generate::ObjectGenerator,
    schema::{self, children, remove},
};
use http::{Request, Response};
use hyper::body::Bytes;
use kube::{Resource, core::crd::CustomResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use tower::{Service, ServiceExt};

/// Random objects of each version, and fields that are left out of each: all, unless there are more.
const OBJECTS: usize = 20;
const FIELDS: usize = 20;

/// Sends partial objects of both versions to `/convert` of a service: without metadata, without a spec, and without
/// each single field, as the API server does for the field managers of a server-side apply.
///
/// `samples` are objects of the versions. Their values are used for fields whose values the schema does not tell.
///
/// # Panics
/// If one is refused, or if the result has a value that the result for the whole object does not have, where a required
/// field was left out.
pub async fn check_partial_objects<A, B, T>(service: T, samples: &[Value])
where
    A: Resource<DynamicType = ()> + CustomResourceExt + DeserializeOwned,
    B: Resource<DynamicType = ()> + CustomResourceExt + DeserializeOwned,
    T: Service<Request<Bytes>, Response = Response<Bytes>> + Clone,
    T::Error: Debug,
{
    check_from::<A, B, T>(&service, samples).await;
    check_from::<B, A, T>(&service, samples).await;
}

async fn check_from<A, B, T>(service: &T, samples: &[Value])
where
    A: Resource<DynamicType = ()> + CustomResourceExt + DeserializeOwned,
    B: Resource<DynamicType = ()>,
    T: Service<Request<Bytes>, Response = Response<Bytes>> + Clone,
    T::Error: Debug,
{
    let mut generator = ObjectGenerator::<A>::new(samples);
    for seed in 0..OBJECTS {
        let object = generator.generate(seed as u64);
        let mut paths = Vec::new();
        schema::lines(&object, &mut Vec::new(), &mut paths);
        paths.sort();
        paths.dedup();
        let is_type = |path: &[String]| matches!(path, [name] if name == "apiVersion" || name == "kind");
        let is_item = |path: &[String]| path.last().is_none_or(|name| name.parse::<usize>().is_ok());
        paths.retain(|path| !is_type(path) && !is_item(path));
        let step = paths.len().div_ceil(FIELDS).max(1);
        let paths: Vec<_> = paths.into_iter().skip(seed % step).step_by(step).collect();
        let parts: Vec<_> = paths.iter().map(|path| without_field(&object, path)).collect();
        let all: Vec<_> = std::iter::once(&object).chain(&parts).collect();
        let converted = convert_objects(service, &B::api_version(&()), &all).await;
        let Some((whole, parts)) = converted.split_first() else { continue };
        for (path, part) in paths.iter().zip(parts) {
            let place = schema::place(&generator.schema, path);
            let left_out = schema::display_path(path);
            assert!(part["metadata"].is_object(), "without `{left_out}`, the result has no metadata: {part}");
            if schema::is_optional(&generator.schema, &place) || part["metadata"] != whole["metadata"] {
                continue; // the conversion may do something else without it
            }
            if let Some(made_up) = invented_value(part, whole, &mut Vec::new()) {
                panic!(
                    "without `{left_out}`, the result has `{made_up}`, which the object does not set: {part}, from {object}"
                );
            }
        }
    }
}

fn without_field(object: &Value, path: &[String]) -> Value {
    let mut part = object.clone();
    remove(&mut part, path);
    part
}

/// The first value of a part that the whole does not have.
fn invented_value(part: &Value, whole: &Value, path: &mut Vec<String>) -> Option<String> {
    if !matches!((part, whole), (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_))) {
        return (part != whole).then(|| schema::display_path(path));
    }
    children(part).find_map(|(name, value)| {
        let other = whole.get(&name).or_else(|| whole.get(name.parse::<usize>().ok()?));
        path.push(name);
        let found = invented_value(value, other.unwrap_or(&Value::Null), path);
        path.pop();
        found
    })
}

/// The objects in another version.
async fn convert_objects<T>(service: &T, version: &str, objects: &[&Value]) -> Vec<Value>
where
    T: Service<Request<Bytes>, Response = Response<Bytes>> + Clone,
    T::Error: Debug,
{
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "request": { "uid": "1", "desiredAPIVersion": version, "objects": objects },
    });
    let request = Request::post("/convert").header("content-type", "application/json");
    let request = request.body(Bytes::from(review.to_string())).unwrap_or_else(|why| panic!("{why}"));
    let answer = service.clone().oneshot(request).await.unwrap_or_else(|why| panic!("/convert fails: {why:?}"));
    let body: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    let result = &body["response"]["result"];
    assert!(
        result["status"] == "Success",
        "/convert answers with {}: {}",
        answer.status(),
        match &body["response"] {
            Value::Null => &body,
            _ => result,
        }
    );
    body["response"]["convertedObjects"].as_array().cloned().unwrap_or_default()
}
