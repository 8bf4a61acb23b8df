//! The API server as an administrator sees it: JSON over its paths, with the codes and the warnings that it answers.

use std::{path::Path, time::Duration};

use http::Request;
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

#[derive(Clone)]
pub struct Server(Client);

#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub warnings: Vec<String>,
    pub body: Value,
}

pub const APPLY: &str = "application/apply-patch+yaml";
pub const MERGE: &str = "application/merge-patch+json";
pub const JSON: &str = "application/json";

impl Server {
    pub async fn connect(kubeconfig: &Path) -> Self {
        let config = Kubeconfig::read_from(kubeconfig).expect("`up` has written it");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
        let mut config = config.expect("it names a cluster and a user");
        config.default_retry = false;
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static("trial")));
        Self(Client::try_from(config).expect("there is a certificate to trust"))
    }

    /// An error is one of the connection.
    pub async fn ask(
        &self,
        method: &str,
        path: &str,
        content: &str,
        body: Value,
    ) -> kube::Result<Answer> {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        let answer = self.0.send(request.body(Body::from(bytes)).expect("paths are plain")).await?;
        let code = answer.status().as_u16();
        let warnings = answer.headers().get_all("warning").iter();
        let warnings = warnings.filter_map(|it| it.to_str().ok().map(str::to_owned)).collect();
        let bytes = answer.into_body().collect_bytes().await?;
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Ok(Answer { code, warnings, body })
    }

    /// Asks, and must be answered kindly.
    async fn done(&self, method: &str, path: &str, content: &str, body: Value) -> Answer {
        let answer = self.ask(method, path, content, body).await.expect("the API server answers");
        assert!(answer.code < 300, "{method} {path}: {answer:?}");
        answer
    }

    pub async fn is_ready(&self) -> bool {
        self.ask("GET", "/readyz", JSON, Value::Null).await.is_ok_and(|it| it.code == 200)
    }

    /// The object, if it is there.
    pub async fn get(&self, path: &str) -> Option<Value> {
        let mut answer = self.ask("GET", path, JSON, Value::Null).await.ok()?;
        if let Some(Value::Object(it)) = answer.body.get_mut("metadata") {
            it.remove("managedFields"); // long, and nobody's business here
        }
        (answer.code == 200).then_some(answer.body)
    }

    /// The objects of a list.
    pub async fn list(&self, path: &str) -> Vec<Value> {
        let mut list = self.done("GET", path, JSON, Value::Null).await.body;
        serde_json::from_value(list["items"].take()).expect("it is a list")
    }

    pub async fn apply(&self, object: &Value) -> Answer {
        let path = format!("{}?fieldManager=trial&force=true", path(object));
        self.done("PATCH", &path, APPLY, object.clone()).await
    }

    pub async fn create(&self, path: &str, object: Value) -> Answer {
        self.done("POST", path, JSON, object).await
    }

    /// Writes an object as somebody's editor would, who tries again when it has been changed meanwhile.
    pub async fn edit(&self, path: &str, edit: impl Fn(&mut Value)) {
        for _ in 0..20 {
            let mut object = self.get(path).await.expect("it is there");
            edit(&mut object);
            let answer = self.ask("PUT", path, JSON, object).await.expect("the API server answers");
            match answer.code {
                200 => return,
                409 => sleep(Duration::from_millis(50)).await,
                _ => panic!("PUT {path}: {answer:?}"),
            }
        }
        panic!("{path} changes all the time");
    }

    pub async fn merge(&self, path: &str, patch: Value) -> Answer {
        self.done("PATCH", path, MERGE, patch).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        let how = json!({ "propagationPolicy": "Background" });
        self.done("DELETE", path, JSON, how).await
    }

    /// Waits until the object at this path, or `null` where there is none, is as it should be.
    pub async fn until(
        &self,
        path: &str,
        seconds: u64,
        what: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Value {
        let limit = Instant::now() + Duration::from_secs(seconds);
        loop {
            let found = self.get(path).await.unwrap_or_default();
            if is(&found) {
                return found;
            }
            assert!(Instant::now() < limit, "not {what} after {seconds} s: {path}\n{found:#}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn until_gone(&self, path: &str, seconds: u64) {
        self.until(path, seconds, "gone", Value::is_null).await;
    }

    /// A namespace that pods may run in.
    pub async fn namespace(&self, name: &str) {
        self.apply(
            &json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }),
        )
        .await;
        self.usable(name).await;
    }

    /// Without its default account no pod is admitted.
    pub async fn usable(&self, namespace: &str) {
        let account = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default");
        self.until(&account, 20, "there", |it| !it.is_null()).await;
    }
}

/// Where an object is; of its kind's plural, only the plain ones are known.
pub fn path(object: &Value) -> String {
    let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (word(&object["apiVersion"]), word(&object["kind"]).to_lowercase());
    let root = if version.contains('/') { "apis" } else { "api" };
    let within = match word(&object["metadata"]["namespace"]) {
        it if it.is_empty() => it,
        it => format!("namespaces/{it}/"),
    };
    format!("/{root}/{version}/{within}{kind}s/{}", word(&object["metadata"]["name"]))
}
