//! An API server in memory: it lists what it was given, keeps every write, and never has news.
#![allow(dead_code)] // each test uses a part of it

use http::{Method, Request, Response, StatusCode};
use kube::{Client, Resource, client::Body};
use operator::runtime::Env;
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::time::sleep;

#[derive(Clone, Default)]
pub struct Cluster {
    objects: BTreeMap<String, Vec<Value>>,
    refused: Vec<String>,
    writes: Arc<Mutex<Vec<Write>>>,
}

#[derive(Clone, Debug)]
pub struct Write {
    /// For example `PATCH deployments.apps`, `PATCH deployments.apps/status`, `POST pods`.
    pub what: String,
    pub path: String,
    pub body: Value,
}

impl Cluster {
    /// With these objects of a resource, such as `deployments.apps` or `pods`.
    pub fn with(mut self, resource: &str, objects: &[impl Serialize]) -> Self {
        let objects = objects.iter().map(|it| serde_json::to_value(it).unwrap());
        self.objects.entry(resource.into()).or_default().extend(objects);
        self
    }

    /// Refuses to write these, as invalid.
    pub fn refusing(mut self, resource: &str) -> Self {
        self.refused.push(resource.into());
        self
    }

    pub fn writes(&self) -> Vec<Write> {
        self.writes.lock().unwrap().clone()
    }

    /// How often something was written.
    pub fn count(&self, what: &str) -> usize {
        self.writes().iter().filter(|it| it.what == what).count()
    }

    pub fn env(&self) -> Env {
        Env::new(self.client())
    }

    /// Runs a controller until it has reconciled so often, and a little longer; returns what it wrote.
    pub async fn run<F, Fut>(&self, reconciles: u64, controller: F) -> Vec<String>
    where
        F: FnOnce(Env) -> Fut,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let env = self.env();
        let task = tokio::spawn(controller(env.clone()));
        let limit = Instant::now() + Duration::from_secs(30);
        while reconciled(&env) < reconciles && Instant::now() < limit && !task.is_finished() {
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_millis(300)).await;
        env.stop.cancel();
        task.await.unwrap().unwrap();
        assert!(reconciles <= reconciled(&env), "only reconciled {} times", reconciled(&env));
        self.writes().into_iter().map(|it| it.what).collect()
    }

    fn client(&self) -> Client {
        let this = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let this = this.clone();
            async move {
                let (parts, body) = request.into_parts();
                if parts.uri.query().is_some_and(|q| q.contains("watch=true")) {
                    std::future::pending::<()>().await; // nothing ever changes here
                }
                let body = body.collect_bytes().await.unwrap_or_default();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let (code, answer) = this.answer(&parts.method, parts.uri.path(), body);
                let answer = Body::from(serde_json::to_vec(&answer).unwrap());
                Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap())
            }
        });
        Client::new(service, "default")
    }

    fn answer(&self, method: &Method, path: &str, mut body: Value) -> (StatusCode, Value) {
        let (resource, name, sub) = target(path);
        if method == Method::GET {
            let items = self.objects.get(&resource).cloned().unwrap_or_default();
            let meta = json!({ "resourceVersion": "50" });
            return (StatusCode::OK, json!({ "apiVersion": "v1", "kind": "List", "metadata": meta, "items": items }));
        }
        let what = format!("{method} {resource}{}{}", if sub.is_empty() { "" } else { "/" }, sub);
        self.writes.lock().unwrap().push(Write { what, path: path.into(), body: body.clone() });
        if self.refused.contains(&resource) {
            let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "refused", "reason": "Invalid", "code": 422 });
            return (StatusCode::UNPROCESSABLE_ENTITY, status);
        }
        let known = self.objects.get(&resource).into_iter().flatten().find(|it| it["metadata"]["name"] == name);
        if let ("status", Some(known)) = (sub, known) {
            let mut after = known.clone();
            after["status"] = body["status"].take();
            body = after;
        }
        body["metadata"]["resourceVersion"] = json!("60");
        (StatusCode::OK, body)
    }
}

/// The resource of a kind, as `kubectl` writes it: `deployments.apps`.
pub fn resource<K: Resource<DynamicType = ()>>() -> String {
    format!("{}.{}", K::plural(&()), K::group(&()))
}

/// Resource, name and subresource of a path such as `/apis/apps/v1/namespaces/default/deployments/a/status`.
fn target(path: &str) -> (String, &str, &str) {
    let mut parts = path.trim_start_matches('/').split('/');
    let group = if parts.next() == Some("apis") { parts.next() } else { None };
    let mut parts = parts.skip(1).peekable(); // the version
    if parts.peek() == Some(&"namespaces") {
        parts.nth(1);
    }
    let mut next = || parts.next().unwrap_or_default();
    let (plural, name, sub) = (next(), next(), next());
    (group.map_or(plural.to_owned(), |group| format!("{plural}.{group}")), name, sub)
}

fn reconciled(env: &Env) -> u64 {
    let text = env.metrics.encode();
    let lines = text.lines().filter(|it| it.starts_with("controller_runtime_reconcile_total{"));
    lines.filter_map(|it| it.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}
