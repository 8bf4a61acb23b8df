//! Where an operator stands: what is installed for it, the namespace that it looks at, and the account it runs under.

use std::{fs, path::PathBuf, sync::Arc};

use serde_json::{Value, json};

use crate::{control_plane::ControlPlane, project::Project, server::Server, support};

pub struct Ground {
    pub plane: Arc<ControlPlane>,
    pub server: Server,
    pub project: Arc<Project>,
    /// Everything of `config/default`.
    pub objects: Vec<Value>,
    /// Where this trial's Memcacheds are.
    pub namespace: String,
    /// The one namespace that the operator watches, if it is not to watch all.
    pub watched: Option<String>,
    /// What every name that the installer gives begins with.
    prefix: String,
}

impl Ground {
    /// All of a control plane, as a user's cluster would be.
    pub fn new(plane: Arc<ControlPlane>, project: Arc<Project>) -> Self {
        let server = plane.server.clone();
        let (objects, prefix) = (project.objects.clone(), project.name.to_owned());
        Self { plane, server, project, objects, namespace: "default".into(), watched: None, prefix }
    }

    /// A part of one: everything under other names, as another `namePrefix` would have it.
    pub fn part(plane: Arc<ControlPlane>, project: Arc<Project>, name: &str) -> Self {
        let mut res = Self::new(plane, project);
        let text = Value::from(res.objects).to_string();
        let text = text.replace(&format!("{}-", res.prefix), &format!("{name}-"));
        res.objects = serde_json::from_str(&text).expect("names are plain words");
        res.prefix = name.into();
        res.namespace = name.into();
        res.watched = Some(name.into());
        res
    }

    /// Puts everything in place but the Deployment, for which the trial's own process stands.
    pub async fn install(&self) {
        self.install_without("Deployment").await;
    }

    /// What `operator-rs` says in the project's folder, as an administrator of this cluster; it must succeed.
    pub async fn operator_rs(&self, words: &[&str]) -> String {
        let dir = self.project.manager.parent().expect("it is in the project's folder");
        let mut command = support::command(support::BINARY, dir);
        command.args(words).arg("--kubeconfig").arg(self.plane.dir.join("kubeconfig"));
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("it ends").expect("the binary starts");
        let said = support::said(&output);
        assert!(output.status.success(), "operator-rs {}\n{said}", words.join(" "));
        said
    }

    pub async fn install_without(&self, kind: &str) {
        for object in &self.objects {
            if object["kind"] != "Deployment" && object["kind"] != kind {
                let answer = self.server.apply(object).await;
                assert_eq!(answer.warnings, Vec::<String>::new(), "of {object:#}");
            }
        }
        let is_crd = |it: &&Value| it["kind"] == "CustomResourceDefinition" && it["kind"] != kind;
        for crd in self.objects.iter().filter(is_crd) {
            let path = crate::server::path(crd);
            self.server.until(&path, 20, "established", |it| is(it, "Established", "True")).await;
        }
        self.server.namespace(&self.namespace).await;
    }

    /// The one object of this kind.
    pub fn object(&self, kind: &str) -> &Value {
        self.objects.iter().find(|it| it["kind"] == kind).expect("the installer has one")
    }

    /// The operator's own namespace.
    pub fn system(&self) -> String {
        format!("{}-system", self.prefix)
    }

    pub fn account(&self) -> String {
        format!("{}-controller-manager", self.prefix)
    }

    /// What the API server calls it.
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.system(), self.account())
    }

    /// The name of a role or binding that the installer has as `memcached-operator-…`.
    pub fn named(&self, rest: &str) -> String {
        format!("{}-{rest}", self.prefix)
    }

    /// A token of the operator's account, as the kubelet would mount it.
    pub async fn token(&self) -> String {
        self.token_of(&self.system(), &self.account(), Value::Null).await
    }

    pub async fn token_of(&self, namespace: &str, account: &str, bound: Value) -> String {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let mut spec = json!({ "expirationSeconds": 3600 });
        if !bound.is_null() {
            spec["boundObjectRef"] = bound;
        }
        let kind = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec });
        let answer = self.server.create(&path, kind).await;
        answer.body["status"]["token"].as_str().expect("it holds a token").to_owned()
    }

    /// A kubeconfig of the operator's account, whose token is read from a file.
    pub fn kubeconfig(&self, name: &str, token: &str) -> (PathBuf, PathBuf) {
        let (server, authority) = self.plane.address();
        let dir = &self.plane.dir;
        let file = dir.join(format!("{}-{name}.token", self.prefix));
        let path = dir.join(format!("{}-{name}.kubeconfig", self.prefix));
        fs::write(&file, token).expect("the folder is ours");
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "it", "cluster": { "server": server, "certificate-authority": authority } }],
            "users": [{ "name": "it", "user": { "tokenFile": file } }],
            "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it", "namespace": self.system() } }],
            "current-context": "it",
        });
        fs::write(&path, config.to_string()).expect("the folder is ours");
        (path, file)
    }

    /// The calls that the API server has answered this account.
    pub fn calls(&self) -> Vec<Value> {
        let user = self.user();
        let mut calls = self.plane.audit();
        calls.retain(|it| it["user"]["username"] == user.as_str());
        calls
    }

    /// Where a Memcached of this trial is.
    pub fn at(&self, name: &str) -> String {
        format!("/apis/cache.example.com/v1alpha1/namespaces/{}/memcacheds/{name}", self.namespace)
    }

    pub fn deployment_at(&self, name: &str) -> String {
        format!("/apis/apps/v1/namespaces/{}/deployments/{name}", self.namespace)
    }

    pub async fn memcached(&self, name: &str, size: u32) {
        self.server.apply(&self.memcached_of(name, size)).await;
    }

    pub fn memcached_of(&self, name: &str, size: u32) -> Value {
        json!({
            "apiVersion": "cache.example.com/v1alpha1",
            "kind": "Memcached",
            "metadata": { "name": name, "namespace": self.namespace },
            "spec": { "size": size },
        })
    }

    /// Waits until its pods are ready, and it says so of what is asked for now.
    pub async fn until_available(&self, name: &str, seconds: u64) -> Value {
        let available = |it: &Value| {
            is(it, "Available", "True")
                && it["status"]["observedGeneration"] == it["metadata"]["generation"]
                && it["status"]["readyReplicas"] == it["spec"]["size"]
        };
        self.server.until(&self.at(name), seconds, "available", available).await
    }

    /// What events tell of this object: type and reason of each.
    pub async fn events(&self, name: &str) -> Vec<(String, String)> {
        let path = format!("/apis/events.k8s.io/v1/namespaces/{}/events", self.namespace);
        let mut events = self.server.list(&path).await;
        events
            .retain(|it| it["regarding"]["name"] == name && it["regarding"]["kind"] == "Memcached");
        let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        events.iter().map(|it| (word(&it["type"]), word(&it["reason"]))).collect()
    }
}

/// Whether an object has this condition with this status.
pub fn is(object: &Value, condition: &str, status: &str) -> bool {
    found(object, condition).is_some_and(|it| it["status"] == status)
}

pub fn found<'a>(object: &'a Value, condition: &str) -> Option<&'a Value> {
    let mut conditions = object["status"]["conditions"].as_array()?.iter();
    conditions.find(|it| it["type"] == condition)
}
