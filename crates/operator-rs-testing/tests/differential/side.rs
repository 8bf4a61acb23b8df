//! One of the two servers: sends it requests, and rewrites what it answers so that both can be compared.

use std::collections::HashMap;

use http_body_util::BodyExt as _;
use kube::{Client, client::Body};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::random::{JSON, Step};

/// A server. Its runtime only runs while a request is answered.
pub struct Side {
    pub runtime: Runtime,
    pub client: Client,
}

/// A sequence of requests to one server, in a namespace of its own.
pub struct Session<'a> {
    side: &'a Side,
    namespace: String,
    /// The uid, the last version and the first version of an object by its path.
    seen: HashMap<String, [String; 3]>,
    /// The numbers of uids and versions, in the order in which they were answered.
    numbers: HashMap<String, usize>,
    watches: Vec<(String, Body)>,
}

/// An answer, rewritten.
pub type Answer = (u16, Value);

impl<'a> Session<'a> {
    pub fn start(side: &'a Side, namespace: &str) -> Self {
        let (seen, numbers) = (HashMap::new(), HashMap::new());
        let mut this = Self { side, namespace: namespace.into(), seen, numbers, watches: Vec::new() };
        let body = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
        let (code, answer) = this.send("POST", "/api/v1/namespaces", JSON, &body);
        assert_eq!(code, 201, "{answer}");
        this
    }

    /// Sends a request, and follows the pages of a list.
    pub fn ask(&mut self, step: &Step) -> Answer {
        let mut body = step.body.clone();
        let mut refers = false;
        walk(&mut body, &mut |_, it| {
            if let Some(text) = it.as_str() {
                refers |= text.starts_with('@');
                *it = self.resolve(text).into();
            }
        });
        let path = step.path.replace("NS", &self.namespace);
        let (code, mut answer) = self.send(step.method, &path, step.content, &body);
        while let Some(token) = answer["metadata"]["continue"].as_str().filter(|it| !it.is_empty()).map(str::to_owned) {
            let (code, mut next) = self.send("GET", &format!("{path}&continue={token}"), JSON, &Value::Null);
            assert_eq!(code, 200, "{next}");
            answer["metadata"]["continue"] = next["metadata"]["continue"].take();
            let mut more: Vec<Value> = serde_json::from_value(next["items"].take()).expect("it is a list");
            answer["items"].as_array_mut().expect("it is a list").append(&mut more);
        }
        (code, self.rewrite(answer))
    }

    /// Opens a watch, from what there is now.
    pub fn watch(&mut self, all: &str, query: &str) {
        let all = all.replace("NS", &self.namespace);
        let (_, list) = self.send("GET", &format!("{all}?limit=500"), JSON, &Value::Null);
        let version = list["metadata"]["resourceVersion"].as_str().expect("lists have versions").to_owned();
        let path = format!("{all}?watch=true&resourceVersion={version}&{query}");
        let response = loop {
            let request = http::Request::get(&path).body(Body::empty()).expect("paths are plain");
            let response = self.side.runtime.block_on(self.side.client.send(request)).expect("it answers");
            match response.status().as_u16() {
                200 => break response,
                // The cache of a new resource is not ready at once.
                429 => std::thread::sleep(std::time::Duration::from_millis(100)),
                code => panic!("{path}: {code}"),
            }
        };
        self.watches.push((path, response.into_body()));
    }

    /// The events of all watches until the object with this name was added.
    pub fn events(&mut self, last: &str) -> Vec<(String, Vec<Value>)> {
        let mut out = Vec::new();
        for (path, mut body) in std::mem::take(&mut self.watches) {
            let (mut text, mut events) = (Vec::new(), Vec::new());
            'read: loop {
                let frame = self.side.runtime.block_on(body.frame()).expect("the watch goes on").expect("it is read");
                text.extend_from_slice(&frame.into_data().unwrap_or_default());
                while let Some(end) = text.iter().position(|it| *it == b'\n') {
                    let line: Vec<u8> = text.drain(..=end).collect();
                    let event: Value = serde_json::from_slice(&line).expect("an event is JSON");
                    if event["object"]["metadata"]["name"] == last {
                        break 'read;
                    }
                    events.push(self.rewrite(event));
                }
            }
            let path = path.split_once('&').map_or(path.as_str(), |(it, _)| it);
            out.push((path.replace(&self.namespace, "NS"), events));
        }
        out
    }

    fn resolve(&self, text: &str) -> String {
        let text = text.replace("NS", &self.namespace);
        let (at, path) = text.split_once('/').unwrap_or((&text, ""));
        let seen = self.seen.get(&format!("/{path}"));
        let absent = |at: &str| if at == "@uid" { "00000000-0000-0000-0000-000000000bad" } else { "1" }.to_owned();
        match ["@uid", "@rv", "@old"].iter().position(|it| *it == at) {
            Some(n) => seen.map_or_else(|| absent(at), |it| it[n].clone()),
            None => text,
        }
    }

    fn send(&mut self, method: &str, path: &str, content: &str, body: &Value) -> Answer {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", content).header("user-agent", "agent/1.0 (test)");
        let request = request.body(Body::from(bytes)).expect("paths are plain");
        let (code, bytes) = self.side.runtime.block_on(async {
            let response = self.side.client.send(request).await.expect("the server answers");
            (response.status().as_u16(), response.into_body().collect_bytes().await.expect("it is read"))
        });
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let answer = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        if code < 300 && !path.contains("dryRun=All") {
            self.see(method, path, &answer);
        }
        (code, answer)
    }

    fn see(&mut self, method: &str, path: &str, answer: &Value) {
        let word = |it: &str| answer["metadata"][it].as_str().map(str::to_owned);
        let (Some(uid), Some(version), Some(name)) = (word("uid"), word("resourceVersion"), word("name")) else {
            return;
        };
        let path = path.split('?').next().unwrap_or_default();
        let path =
            if method == "POST" { format!("{path}/{name}") } else { path.trim_end_matches("/status").to_owned() };
        let first = self.seen.get(&path).map_or(version.clone(), |it| it[2].clone());
        self.seen.insert(path, [uid, version, first]);
    }

    pub fn rewrite(&mut self, mut answer: Value) -> Value {
        if answer["items"].is_array() {
            answer["metadata"].as_object_mut().expect("lists have metadata").remove("resourceVersion");
        }
        walk(&mut answer, &mut |name, it| {
            if let (Some(list), "managedFields") = (it.as_array_mut(), name) {
                list.sort_by_key(|it| format!("{} {} {}", it["operation"], it["manager"], it["subresource"]));
            }
            let Some(text) = it.as_str() else { return };
            let text = text.replace(&self.namespace, "NS");
            let next = self.numbers.len();
            let is_id = ["uid", "resourceVersion"].contains(&name);
            *it = match () {
                () if is_id => format!("#{}", self.numbers.entry(text).or_insert(next)).into(),
                () if ["time", "creationTimestamp", "deletionTimestamp"].contains(&name) => "TIME".into(),
                () if name == "name" && text.contains("-gen-") => "GENERATED".into(),
                () => text.into(),
            };
        });
        if answer["kind"] == "Status" {
            // Sentences are for people.
            let mut details = answer["details"].take();
            if let Some(causes) = details["causes"].as_array_mut() {
                causes.iter_mut().for_each(|it| drop(it.as_object_mut().map(|it| it.remove("message"))));
                causes.sort_by_key(Value::to_string);
                causes.dedup();
            }
            answer = json!({ "reason": answer["reason"], "status": answer["status"], "details": details, "message": answer["message"] });
        }
        answer
    }
}

/// Calls `f` with every value below, and the name of its field.
fn walk(value: &mut Value, f: &mut impl FnMut(&str, &mut Value)) {
    fn go(name: &str, value: &mut Value, f: &mut impl FnMut(&str, &mut Value)) {
        f(name, value);
        match value {
            Value::Object(object) => object.iter_mut().for_each(|(name, it)| go(name, it, f)),
            Value::Array(list) => list.iter_mut().for_each(|it| go("", it, f)),
            _ => {}
        }
    }
    go("", value, f);
}

/// The paths at which two values differ, with both values.
pub fn differences(path: &str, memory: &Value, real: &Value, out: &mut Vec<String>) {
    match (memory, real) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for name in names {
                let at = |it: &Map<String, Value>| it.get(name).cloned();
                match (at(a), at(b)) {
                    (Some(a), Some(b)) => differences(&format!("{path}.{name}"), &a, &b, out),
                    (a, b) => {
                        let show = |it: Option<Value>| it.map_or("absent".into(), |it| it.to_string());
                        out.push(format!("{path}.{name}: in memory {}, really {}", show(a), show(b)));
                    }
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{i}]"), a, b, out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: in memory {a}, really {b}")),
    }
}
