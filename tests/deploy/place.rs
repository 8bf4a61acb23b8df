//! A project of its own for each trial, on a control plane that all share: its names are found nowhere
//! else, so no trial meets another's objects.

use std::{
    path::{Path, PathBuf},
    process::Output,
    sync::OnceLock,
};

use serde_json::{Value, json};

use crate::{
    control_plane::{self, ControlPlane},
    server::Server,
    support,
};

pub struct Place {
    pub name: String,
    pub dir: PathBuf,
    pub server: Server,
    pub kubeconfig: PathBuf,
}

/// It ends with this process, which holds its stdin.
static SHARED: OnceLock<PathBuf> = OnceLock::new();

/// That of the control plane that all share; none where its programs are missing.
pub async fn kubeconfig() -> Option<PathBuf> {
    if !control_plane::is_there() {
        return None;
    }
    let start = || {
        let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
        let plane = runtime.block_on(ControlPlane::start("deploy", true));
        let kubeconfig = plane.dir.join("kubeconfig");
        std::mem::forget(plane);
        kubeconfig
    };
    let shared = tokio::task::spawn_blocking(move || SHARED.get_or_init(start).clone());
    Some(shared.await.expect("the control plane starts"))
}

impl Place {
    /// None where the programs of a control plane are missing, which has been said.
    pub async fn new(name: &str) -> Option<Self> {
        let kubeconfig = kubeconfig().await?;
        let server = Server::connect(&kubeconfig).await;
        let dir = support::fresh(&format!("deploy/{name}"));
        support::done(&dir, &format!("init --domain {name}.org --project-name {name}"));
        support::done(
            &dir,
            "create api --group g --kind Memcached --image memcached:1 --port 11211",
        );
        Some(Self { name: name.to_owned(), dir, server, kubeconfig })
    }

    /// The administrator's kubeconfig, but with another token.
    pub fn kubeconfig_with(&self, name: &str, token: &Value) -> PathBuf {
        let text = std::fs::read_to_string(&self.kubeconfig).expect("`up` has written it");
        let mut config: Value = serde_yaml::from_str(&text).expect("it is YAML");
        config["users"][0]["user"] = json!({"token": token});
        let path = self.dir.join(format!("{name}.kubeconfig"));
        std::fs::write(&path, config.to_string()).expect("the folder is ours");
        path
    }

    /// Runs `operator-rs` as an administrator.
    pub async fn run(&self, words: &str) -> Output {
        self.run_with(&self.kubeconfig.clone(), words).await
    }

    pub async fn run_with(&self, kubeconfig: &Path, words: &str) -> Output {
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(words.split_whitespace()).env("KUBECONFIG", kubeconfig);
        let output = tokio::task::spawn_blocking(move || command.output());
        output.await.expect("it runs").expect("the binary starts")
    }

    /// Must be done; what it prints.
    pub async fn done(&self, words: &str) -> String {
        let output = self.run(words).await;
        assert!(output.status.success(), "operator-rs {words}\n{}", support::said(&output));
        String::from_utf8(output.stdout).expect("stdout is UTF-8")
    }

    /// Must not be done, and for this reason; all that is said.
    pub async fn refused(&self, words: &str, code: i32, reason: &str) -> String {
        let output = self.run(words).await;
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(code), "operator-rs {words}\n{said}");
        assert!(said.contains(reason), "operator-rs {words}\n{said}\n\nthis is missing: {reason}");
        said
    }

    /// As whom the project applies what it makes.
    pub fn manager(&self) -> String {
        format!("operator-rs:{0}.{0}.org", self.name)
    }
    pub fn system(&self) -> String {
        format!("{}-system", self.name)
    }
    pub fn crd(&self) -> String {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        format!("{path}/memcacheds.g.{}.org", self.name)
    }
    pub fn namespace(&self) -> String {
        format!("/api/v1/namespaces/{}", self.system())
    }
    pub fn deployment(&self, namespace: &str) -> String {
        format!("/apis/apps/v1/namespaces/{namespace}/deployments/{}-controller-manager", self.name)
    }
    pub fn role(&self) -> String {
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
        format!("{path}/{}-manager-role", self.name)
    }
    pub fn memcached(&self, namespace: &str, name: &str) -> String {
        format!("/apis/g.{}.org/v1alpha1/namespaces/{namespace}/memcacheds/{name}", self.name)
    }

    /// Makes one, with these finalizers.
    pub async fn make_memcached(&self, namespace: &str, name: &str, finalizers: &[&str]) {
        let path = self.memcached(namespace, name);
        let object = json!({
            "apiVersion": format!("g.{}.org/v1alpha1", self.name),
            "kind": "Memcached",
            "metadata": {"name": name, "finalizers": finalizers},
            "spec": {"size": 1},
        });
        self.server.create(path.rsplit_once('/').expect("it is a path").0, object).await;
    }

    /// Applies an object as another program would.
    pub async fn apply_as(&self, manager: &str, object: &Value) {
        let path = format!("{}?fieldManager={manager}", crate::server::path(object));
        let answer = self.server.ask("PATCH", &path, crate::server::APPLY, object.clone()).await;
        let answer = answer.expect("the API server answers");
        assert!(answer.code < 300, "{path}: {answer:?}");
    }

    /// What `deploy` or `install` would apply.
    pub async fn rendered(&self, words: &str) -> Vec<Value> {
        let text = self.done(&format!("generate installer {words}")).await;
        let documents = serde_yaml::Deserializer::from_str(&text);
        documents.map(|it| serde::Deserialize::deserialize(it).expect("it is YAML")).collect()
    }

    /// Who has applied an object.
    pub async fn managers(&self, path: &str) -> Vec<String> {
        let answer = self.server.ask("GET", path, crate::server::JSON, Value::Null).await;
        let answer = answer.expect("the API server answers");
        let entries = answer.body["metadata"]["managedFields"].as_array().cloned();
        let applied = entries.into_iter().flatten().filter(|it| it["operation"] == "Apply");
        let mut res: Vec<String> =
            applied.filter_map(|it| it["manager"].as_str().map(str::to_owned)).collect();
        res.sort();
        res
    }

    /// The versions of all that `deploy` makes, so far as it is there.
    pub async fn versions(&self) -> Vec<(String, String)> {
        let mut res = Vec::new();
        for path in [
            self.crd(),
            self.namespace(),
            self.role(),
            self.deployment(&self.system()),
            format!("{}/serviceaccounts/{}-controller-manager", self.namespace(), self.name),
        ] {
            if let Some(it) = self.server.get(&path).await {
                let fields =
                    it["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
                let manager = self.manager();
                let ours: Vec<Value> =
                    fields.into_iter().filter(|it| it["manager"] == *manager).collect();
                // A Deployment's own version also counts what its controller says of it.
                res.push((path, format!("{} {}", it["metadata"]["generation"], Value::from(ours))));
            }
        }
        res
    }
}
