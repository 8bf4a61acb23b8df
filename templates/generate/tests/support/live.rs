//! A real API server, which `operator-rs test` starts for these tests only.
//!
//! `operator-rs test` sets E2E_KUBECONFIG. The tests ignore KUBECONFIG, so that they never use your cluster.
#![allow(dead_code)] // not every test uses everything

use futures::future::try_join_all;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Namespace, Pod},
};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::{GroupVersionKind, TypeMeta},
    discovery::{ApiCapabilities, ApiResource, Scope, pinned_kind},
};
use operator_rs_runtime::{Component, Manager, WatchNamespaces, capture_log, explain, identity, serve_webhooks};
use serde_json::{Value, json};
use std::{
    env,
    error::Error,
    fs,
    io::{Write, stderr},
    net::TcpStream,
    path::Path,
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};
use tokio::{task::JoinHandle, time::sleep};

/// Time limit for each wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

pub struct Live {
    /// A client with all rights, for what users do.
    pub admin: Client,
    /// A client with the operator's account, whose permissions are in config/rbac.
    operator: Client,
    /// The namespace that the operator watches, or a new one for this test.
    pub namespace: String,
    scope: WatchNamespaces,
    /// Why the operator has ended.
    failure: Arc<OnceLock<String>>,
}

impl Live {
    /// Connects to the API server. Without one, it prints that the test is skipped and returns `None`.
    pub async fn connect(test: &str) -> Option<Self> {
        let Some(admin) = variable("E2E_KUBECONFIG") else {
            // Not with `eprintln!`, whose output cargo hides if the test passes.
            let _ = writeln!(stderr(), "{test}: skipped: it needs an API server, which `operator-rs test` starts");
            return None;
        };
        let operator = variable("E2E_OPERATOR_KUBECONFIG").unwrap_or_else(|| admin.clone());
        let (admin, operator) = (client(&admin, "e2e").await, client(&operator, &identity!().user_agent()).await);
        let own = variable("E2E_NAMESPACE");
        let scope = own.clone().unwrap_or_default().parse().unwrap();
        let namespace = match own {
            Some(it) => it,
            None => new_namespace(&admin).await,
        };
        Some(Self { admin, operator, namespace, scope, failure: Arc::default() })
    }

    /// Starts the controllers with the operator's account. If the test fails, cargo prints their log.
    pub fn start(&self, parts: Vec<Component>) -> Running {
        capture_log();
        let manager = Manager::new(identity!(), self.operator.clone());
        let parts = self.serve_webhooks(parts);
        let running: Vec<_> = parts.iter().flat_map(|it| it.controllers(&manager, &self.scope)).collect();
        let controllers = tokio::spawn(async { try_join_all(running).await.map(drop) });
        let failure = self.failure.clone();
        let task = tokio::spawn(async move {
            let result = controllers.await.map_err(Into::into).flatten();
            if let Err(error) = &result {
                let _ = failure.set(explain(&**error));
            }
            result
        });
        Running { manager, task }
    }

    /// Serves the webhooks, if the API server was told of any, and returns the other parts. The API server calls them at
    /// one address, so that those of the first test serve all tests of the program.
    fn serve_webhooks(&self, parts: Vec<Component>) -> Vec<Component> {
        static SERVED: OnceLock<()> = OnceLock::new();
        let (webhooks, controllers) = parts.into_iter().partition(|it| !it.is_controller());
        if variable("E2E_WEBHOOKS").is_some() && SERVED.set(()).is_ok() {
            let kubeconfig = variable("E2E_OPERATOR_KUBECONFIG").or_else(|| variable("E2E_KUBECONFIG")).unwrap();
            thread::spawn(move || {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                runtime.block_on(async {
                    let client = client(&kubeconfig, &identity!().user_agent()).await;
                    serve_webhooks(webhooks, &Manager::new(identity!(), client)).await.unwrap();
                });
            });
            let address = format!("127.0.0.1:{}", variable("WEBHOOK_PORT").unwrap());
            let limit = Instant::now() + LIMIT;
            while TcpStream::connect(&address).is_err() {
                assert!(Instant::now() < limit, "the webhooks are not served");
                thread::sleep(Duration::from_millis(20));
            }
        }
        controllers
    }

    /// Reports the workloads in the test's namespace as running until the test ends, because there are no nodes.
    pub fn run_pods(&self) {
        let (client, namespace) = (self.admin.clone(), self.namespace.clone());
        tokio::spawn(async move {
            loop {
                match variable("E2E_CONTROLLERS") {
                    Some(_) => ready_pods(&client, &namespace).await,
                    None => available_deployments(&client, &namespace).await,
                }
                sleep(Duration::from_millis(100)).await;
            }
        });
    }

    /// Creates an object, in the test's namespace if its kind is namespaced.
    pub async fn create(&self, object: &Value) -> DynamicObject {
        let mut object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        if self.is_namespaced(&object).await {
            object.metadata.namespace = Some(self.namespace.clone());
        }
        let api = self.api(&object).await;
        api.create(&PostParams::default(), &object).await.unwrap_or_else(|it| panic!("{}: {it}", name(&object)))
    }

    /// Waits until `is` returns true for an object; `what` describes that in the message. The test fails at once if the
    /// operator has ended.
    pub async fn wait(&self, object: &DynamicObject, what: &str, is: impl Fn(&DynamicObject) -> bool) -> DynamicObject {
        let (api, limit) = (self.api(object).await, Instant::now() + LIMIT);
        loop {
            let found = api.get(&object.name_any()).await.unwrap_or_else(|it| panic!("{}: {it}", name(object)));
            if is(&found) {
                return found;
            }
            self.check(limit, || format!("{}: not {what}{}", name(object), status(&found)));
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Deletes an object and waits until it is gone.
    pub async fn delete(&self, object: &DynamicObject) {
        let (api, limit) = (self.api(object).await, Instant::now() + LIMIT);
        api.delete(&object.name_any(), &DeleteParams::default()).await.unwrap();
        while let Some(found) = api.get_opt(&object.name_any()).await.unwrap() {
            let finalizers = || format!("{}: still there, with finalizers {:?}", name(object), found.finalizers());
            self.check(limit, finalizers);
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Fails the test if the time is over or the operator has ended.
    fn check(&self, limit: Instant, state: impl Fn() -> String) {
        if let Some(failure) = self.failure.get() {
            panic!("the operator has ended: {failure}\n{}", state());
        }
        assert!(Instant::now() < limit, "{}", state());
    }

    /// The API of the kind and namespace of an object.
    pub async fn api(&self, like: &DynamicObject) -> Api<DynamicObject> {
        let (resource, _) = self.discover(like).await;
        match like.namespace() {
            Some(namespace) => Api::namespaced_with(self.admin.clone(), &namespace, &resource),
            None => Api::all_with(self.admin.clone(), &resource),
        }
    }

    async fn is_namespaced(&self, object: &DynamicObject) -> bool {
        self.discover(object).await.1.scope == Scope::Namespaced
    }

    /// The kind of an object at the API server.
    async fn discover(&self, object: &DynamicObject) -> (ApiResource, ApiCapabilities) {
        let kind = kind(object);
        pinned_kind(&self.admin, &kind).await.unwrap_or_else(|error| {
            panic!(
                "the API server does not serve {} of {}/{}: is its CRD in config/crd, with this version, and without \
                 `served = false`? ({error})",
                kind.kind, kind.group, kind.version
            )
        })
    }
}

/// Controllers that run.
pub struct Running {
    manager: Manager,
    task: JoinHandle<Result<(), Box<dyn Error + Send + Sync>>>,
}

impl Running {
    /// Stops the controllers. If one has failed, the test fails.
    pub async fn stop(self) {
        self.manager.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

/// The objects in config/samples of the kinds that PROJECT has a controller for.
pub fn samples() -> Vec<Value> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project: Value = serde_saphyr::from_str(&fs::read_to_string(top.join("PROJECT")).unwrap()).unwrap();
    let reconciled = |it: &Value| {
        let known = project["resources"].as_array().into_iter().flatten();
        let group = |of: &Value| format!("{}.{}", text(&of["group"]), text(&of["domain"]));
        let version = |of: &Value| format!("{}/{}", group(of).trim_matches('.'), text(&of["version"]));
        let same = |of: &Value| of["kind"] == it["kind"] && it["apiVersion"] == version(of);
        known.filter(|of| of["controller"] == true).any(same)
    };
    let mut paths: Vec<_> = fs::read_dir(top.join("config/samples")).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "yaml"));
    paths.sort();
    let objects = paths.iter().map(|it| serde_saphyr::from_str(&fs::read_to_string(it).unwrap()).unwrap());
    let found: Vec<_> = objects.filter(reconciled).collect();
    if found.is_empty() {
        let _ = writeln!(stderr(), "config/samples has no object of a kind with a controller in PROJECT");
    }
    found
}

async fn client(kubeconfig: &str, agent: &str) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.headers.push(("user-agent".parse().unwrap(), agent.parse().unwrap()));
    config.default_retry = false; // like the operator's client
    Client::try_from(config).unwrap()
}

async fn new_namespace(client: &Client) -> String {
    let new = serde_json::from_value(json!({ "metadata": { "generateName": "e2e-" } })).unwrap();
    let api: Api<Namespace> = Api::all(client.clone());
    api.create(&PostParams::default(), &new).await.unwrap().name_any()
}

/// Reports pods as ready, like kubelets do; kube-controller-manager updates their owners.
async fn ready_pods(client: &Client, namespace: &str) {
    let api: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let ready = json!({ "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] } });
    for pod in api.list(&ListParams::default()).await.into_iter().flatten() {
        if pod.status.as_ref().and_then(|it| it.phase.as_deref()) == Some("Pending") {
            // The pod may be gone.
            let _ = api.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(&ready)).await;
        }
    }
}

/// Reports Deployments as available, like kube-controller-manager does.
async fn available_deployments(client: &Client, namespace: &str) {
    let api: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    for deployment in api.list(&ListParams::default()).await.into_iter().flatten() {
        let generation = deployment.metadata.generation;
        let replicas = deployment.spec.as_ref().and_then(|it| it.replicas);
        let seen = deployment.status.as_ref().and_then(|it| it.observed_generation);
        let status = json!({ "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas });
        if seen != generation {
            let patch = Patch::Merge(json!({ "status": status }));
            let _ = api.patch_status(&deployment.name_any(), &PatchParams::default(), &patch).await;
        }
    }
}

fn kind(object: &DynamicObject) -> GroupVersionKind {
    let types: &TypeMeta = object.types.as_ref().expect("an object has a kind");
    GroupVersionKind::try_from(types).unwrap()
}

fn name(object: &DynamicObject) -> String {
    format!("{} {}", kind(object).kind, object.name_any())
}

/// The conditions of an object, one on each line, or its status.
fn status(object: &DynamicObject) -> String {
    let status = &object.data["status"];
    let line = |it: &Value| {
        let [kind, is, reason, message] = ["type", "status", "reason", "message"].map(|key| text(&it[key]));
        format!("\n  {kind}={is} {reason}: {message}")
    };
    match status["conditions"].as_array() {
        Some(conditions) => conditions.iter().map(line).collect(),
        None if status.is_null() => "\n  (no status)".to_owned(),
        None => format!("\n  status: {status:#}"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|it| !it.is_empty())
}
