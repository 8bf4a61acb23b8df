//! The versions of a kind whose CRD has `conversion.strategy: Webhook`: objects are stored in one of them, and a
//! service converts them to the others.

use super::{
    converter::Converter,
    crd::{CRDS, served_version},
    object::Object,
    refusal::Refusal,
    request::Request,
    store::Store,
};
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::{sync::Arc, sync::mpsc, time::Duration};

/// The time for an answer, as the real server has it.
const LIMIT: Duration = Duration::from_secs(30);

/// The versions of one resource.
pub struct Versions {
    converter: Converter,
    kind: String,
    group: String,
    path: String,
    /// The version in which objects are stored.
    pub stored: String,
    crd: Value,
}

impl Versions {
    /// Nothing if objects are the same in all versions.
    pub fn of(store: &Store, resource: &str) -> Option<Self> {
        let crd = store.get(CRDS, &(String::new(), resource.to_owned()))?.value();
        let conversion = &crd["spec"]["conversion"];
        if conversion["strategy"] != "Webhook" {
            return None;
        }
        let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let group = word(&crd["spec"]["group"]);
        let stored = crd["spec"]["versions"].as_array()?.iter().find(|version| version["storage"] == true)?;
        Some(Self {
            converter: store.converter.clone(),
            kind: word(&crd["spec"]["names"]["kind"]),
            path: conversion["webhook"]["clientConfig"]["service"]["path"].as_str().unwrap_or("/").to_owned(),
            stored: format!("{group}/{}", word(&stored["name"])),
            group,
            crd,
        })
    }

    /// Returns true if the CRD has this version.
    pub fn includes(&self, api_version: &str) -> bool {
        let versions = self.crd["spec"]["versions"].as_array();
        versions
            .into_iter()
            .flatten()
            .any(|version| api_version == format!("{}/{}", self.group, version["name"].as_str().unwrap_or_default()))
    }

    /// The schema of a version.
    pub fn schema(&self, api_version: &str) -> Value {
        served_version(&self.crd, api_version)
            .map(|version| version["schema"]["openAPIV3Schema"].clone())
            .unwrap_or_default()
    }

    /// An object of a version, without its type, in another one.
    pub fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, Refusal> {
        Ok(self.convert_all(vec![object.clone()], from, to)?.remove(0))
    }

    /// Objects of a version, without their types, in another one. They are one review.
    pub fn convert_all(&self, mut objects: Vec<Value>, from: &str, to: &str) -> Result<Vec<Value>, Refusal> {
        if from == to || objects.is_empty() {
            return Ok(objects);
        }
        let fail = |why: String| {
            let message = format!("conversion webhook for {from}, Kind={} failed: {why}", self.kind);
            Refusal::new(500, "", message)
        };
        for object in &mut objects {
            object["apiVersion"] = from.into();
            object["kind"] = self.kind.clone().into();
        }
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": { "uid": "00000000-0000-4000-8000-000000000000", "desiredAPIVersion": to, "objects": objects },
        });
        let answer = self.ask_service(&review).map_err(fail)?;
        let response = &answer["response"];
        if response["uid"] != review["request"]["uid"] || answer["kind"] != "ConversionReview" {
            return Err(fail(format!("this is no answer to the review: {answer}")));
        }
        if response["result"]["status"] != "Success" {
            return Err(fail(response["result"]["message"].as_str().unwrap_or("without a message").to_owned()));
        }
        let converted = response["convertedObjects"].as_array().cloned().unwrap_or_default();
        if converted.len() != objects.len() {
            let (all, some) = (objects.len(), converted.len());
            return Err(fail(format!("webhook returned {some} objects, expected {all}")));
        }
        converted.into_iter().zip(&objects).map(|(it, before)| restore_metadata(it, before, to).map_err(fail)).collect()
    }

    /// Asks the service on another thread, since the server is locked: the service must not send requests to it.
    fn ask_service(&self, review: &Value) -> Result<Value, String> {
        let Converter(Some(service)) = &self.converter else {
            return Err("the test has no service for it: see `Cluster::with_webhooks`".to_owned());
        };
        let request = http::Request::post(format!("{}?timeout=30s", self.path));
        let request = request.header("content-type", "application/json").body(Bytes::from(review.to_string()));
        let request = request.map_err(|why| why.to_string())?;
        let (service, runtime) = (service.clone(), tokio::runtime::Handle::try_current().ok());
        let (send, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let _context = runtime.as_ref().map(tokio::runtime::Handle::enter);
            let _ = send.send(futures::executor::block_on(service(request)));
        });
        let answer =
            answers.recv_timeout(LIMIT).map_err(|_| "the service panicked, or takes too long".to_owned())??;
        let text = String::from_utf8_lossy(answer.body()).into_owned();
        if !answer.status().is_success() {
            return Err(format!("{}: {text}", answer.status()));
        }
        serde_json::from_str(&text).map_err(|why| why.to_string())
    }
}

/// The converted object without its type. Only labels and annotations of its metadata count.
fn restore_metadata(mut object: Value, before: &Value, version: &str) -> Result<Value, String> {
    if object["apiVersion"] != version || object["kind"] != before["kind"] {
        return Err(format!("the converted object is {} of {}", object["kind"], object["apiVersion"]));
    }
    if !object["metadata"].is_object() {
        return Err("missing metadata in converted object".to_owned());
    }
    for name in ["name", "namespace", "uid"] {
        if object["metadata"][name] != before["metadata"][name] {
            return Err(format!("the converted object has another {name}"));
        }
    }
    let mut metadata = before["metadata"].clone();
    if let Some(metadata) = metadata.as_object_mut() {
        for name in ["labels", "annotations"] {
            metadata.remove(name);
            let value = object["metadata"][name].take();
            if !value.is_null() {
                metadata.insert(name.to_owned(), value);
            }
        }
    }
    object["metadata"] = metadata;
    if let Some(object) = object.as_object_mut() {
        object.remove("apiVersion");
        object.remove("kind");
    }
    Ok(object)
}

/// An object as the version of a request has it.
pub fn read_version(store: &Store, request: &Request, object: &Object) -> Result<Value, Refusal> {
    match Versions::of(store, &request.resource) {
        Some(versions) => versions.convert(&object.value(), &versions.stored, &request.api_version),
        None => Ok(object.value()),
    }
}

/// The same, as an object.
pub fn read_object(store: &Store, request: &Request, object: &Arc<Object>) -> Result<Arc<Object>, Refusal> {
    match Versions::of(store, &request.resource) {
        Some(_) => Ok(Arc::new(Object::new(read_version(store, request, object)?, object.version))),
        None => Ok(object.clone()),
    }
}

/// Objects as the version of a request has them.
pub fn read_all(store: &Store, request: &Request, objects: Vec<Arc<Object>>) -> Result<Vec<Arc<Object>>, Refusal> {
    let Some(versions) = Versions::of(store, &request.resource) else { return Ok(objects) };
    let values = objects.iter().map(|object| object.value()).collect();
    let values = versions.convert_all(values, &versions.stored, &request.api_version)?;
    Ok(values.into_iter().zip(objects).map(|(value, it)| Arc::new(Object::new(value, it.version))).collect())
}
