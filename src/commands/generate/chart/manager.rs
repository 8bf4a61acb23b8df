//! The Deployment that the values are about, and its service account.

use super::{
    names::{ACCOUNT, FULLNAME, NAMESPACE},
    release,
    switches::Switch,
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Dialect, Map, Value, json, pointer};

/// What the runtime reads: the namespaces to watch.
const WATCH: &str = "WATCH_NAMESPACE";

pub struct Manager {
    pub deployment: Value,
    /// The position of its container.
    pub container: usize,
    /// The service account, if it is among the objects.
    pub account: Option<Value>,
    /// The name of that.
    account_name: String,
}

impl Manager {
    /// Takes them out of the objects, and puts a placeholder wherever the service account is named.
    pub fn take(objects: &mut Vec<Value>) -> anyhow::Result<Self> {
        let is_deployment = |it: &Value| it["kind"] == "Deployment";
        let name = format!("{FULLNAME}-controller-manager");
        let named = |it: &Value| is_deployment(it) && it["metadata"]["name"] == *name;
        let all: Vec<usize> =
            (0..objects.len()).filter(|it| is_deployment(&objects[*it])).collect();
        let at = match (objects.iter().position(named), all.as_slice()) {
            (Some(at), _) => at,
            (None, [at]) => *at,
            (None, _) => {
                return Err(anyhow::format_err!(
                    "config/default has {} Deployments, and none of them is `controller-manager`",
                    all.len()
                ))
                .hint("name the Deployment of the manager `controller-manager`");
            }
        };
        let mut deployment = objects.remove(at);
        let container = container(&deployment)?;
        lease(&mut deployment["spec"]["template"]["spec"]["containers"][container]);
        let account_name =
            pointer::text(&deployment, "/spec/template/spec/serviceAccountName").to_owned();
        let is_account =
            |it: &Value| it["kind"] == "ServiceAccount" && it["metadata"]["name"] == *account_name;
        let mut account = objects.iter().position(is_account).map(|it| objects.remove(it));
        if account.is_some() {
            let all = objects.iter_mut().chain([&mut deployment]).chain(&mut account);
            all.for_each(|it| rename_account(it, &account_name));
        }
        Ok(Self { deployment, container, account, account_name })
    }

    fn container_value(&self) -> &Value {
        &self.deployment["spec"]["template"]["spec"]["containers"][self.container]
    }

    pub fn image(&self) -> &str {
        pointer::text(self.container_value(), "/image")
    }

    pub fn resources(&self) -> &Value {
        &self.container_value()["resources"]
    }

    pub fn replicas(&self) -> u64 {
        self.deployment["spec"]["replicas"].as_u64().unwrap_or(1)
    }

    pub fn watches(&self) -> bool {
        pointer::list(self.container_value(), "/env").iter().any(|it| it["name"] == WATCH)
    }

    /// What the operator is told by a flag, or by the variable of the same name.
    pub fn setting(&self, flag: &str) -> Option<String> {
        let args: Vec<&str> = pointer::texts(self.container_value(), "/args").collect();
        let given = args.iter().enumerate().find_map(|(at, it)| match it.strip_prefix(flag)? {
            "" => args.get(at + 1).copied(),
            rest => rest.strip_prefix('='),
        });
        let variable = flag.trim_start_matches('-').replace('-', "_").to_uppercase();
        let env = pointer::list(self.container_value(), "/env");
        let given =
            given.or_else(|| env.iter().find(|it| it["name"] == variable)?["value"].as_str());
        given.map(str::to_owned)
    }

    /// The ports of the manager that a Service leads to.
    pub fn ports(&self, service: &Value) -> Vec<u64> {
        if service["kind"] != "Service" || !release::selects_pods(service, &self.deployment) {
            return Vec::new();
        }
        let target = |port: &Value| match &port["targetPort"] {
            Value::Null => self.number(&port["port"]),
            target => self.number(target),
        };
        pointer::list(service, "/spec/ports").iter().filter_map(target).collect()
    }

    /// The number of a port of the manager, which may be given by its name.
    pub fn number(&self, port: &Value) -> Option<u64> {
        let own = pointer::list(self.container_value(), "/ports");
        let named = || own.iter().find(|it| it["name"] == *port)?["containerPort"].as_u64();
        port.as_u64().or_else(named)
    }

    /// The ports that probes ask.
    pub fn probed(&self) -> impl Iterator<Item = u64> {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"];
        let probes = probes.into_iter().map(|it| &self.container_value()[it]);
        let ports =
            probes.flat_map(|it| ["httpGet", "tcpSocket", "grpc"].map(|kind| &it[kind]["port"]));
        ports.filter_map(|it| self.number(it))
    }

    /// The names of the volumes at a path.
    pub fn mounted(&self, path: &str) -> Vec<String> {
        let mounts = pointer::list(self.container_value(), "/volumeMounts").iter();
        let there = mounts.filter(|it| {
            pointer::text(it, "/mountPath").trim_end_matches('/') == path.trim_end_matches('/')
        });
        there.map(|it| pointer::text(it, "/name").to_owned()).collect()
    }

    /// The file that the templates read. `budget` is whether they add a PodDisruptionBudget.
    pub fn file(&self, budget: bool, switches: &[Switch]) -> Value {
        let switches: Map<String, Value> =
            switches.iter().map(|it| (it.name.to_owned(), it.file())).collect();
        json!({
            "container": self.container,
            "deployment": self.deployment,
            "disruptionBudget": budget,
            "serviceAccount": self.account_name,
            "switches": switches,
        })
    }

    /// The image in the text of such a file.
    pub fn image_in(file: &str) -> Option<String> {
        let file = yaml::from_text(file, Dialect::Kubernetes).ok()?;
        let container = usize::try_from(file["container"].as_u64()?).ok()?;
        let containers = &file["deployment"]["spec"]["template"]["spec"]["containers"];
        containers[container]["image"].as_str().map(str::to_owned)
    }
}

/// The position of the manager's container: the default one, or the only one.
fn container(deployment: &Value) -> anyhow::Result<usize> {
    let containers = pointer::list(deployment, "/spec/template/spec/containers");
    let annotations = &deployment["spec"]["template"]["metadata"]["annotations"];
    let default = annotations["kubectl.kubernetes.io/default-container"].as_str();
    let name = default.unwrap_or("manager");
    match containers.iter().position(|it| it["name"] == name) {
        Some(at) => Ok(at),
        None if containers.len() == 1 => Ok(0),
        None => Err(anyhow::format_err!(
            "the Deployment of the manager has {} containers, and none of them is `{name}`",
            containers.len()
        ))
        .hint("name the one of the manager in the annotation `kubectl.kubernetes.io/default-container`"),
    }
}

/// The Lease has the operator's name, which two releases share.
fn lease(container: &mut Value) {
    let Some(args) = container["args"].as_array_mut() else { return };
    let flag = |it: &Value| it.as_str().and_then(|it| it.split('=').next().map(str::to_owned));
    let has = |name: &str| args.iter().any(|it| flag(it).as_deref() == Some(name));
    if has("--leader-elect") && !has("--leader-election-id") {
        args.push(format!("--leader-election-id={FULLNAME}").into());
    }
}

fn rename_account(object: &mut Value, name: &str) {
    match object["kind"].as_str() {
        Some("ServiceAccount") => object["metadata"]["name"] = ACCOUNT.into(),
        Some("RoleBinding" | "ClusterRoleBinding") => {
            for it in object["subjects"].as_array_mut().into_iter().flatten() {
                if is_account(it, name) {
                    it["name"] = ACCOUNT.into();
                }
            }
        }
        _ => {
            for key in ["serviceAccountName", "serviceAccount"] {
                let found = object.pointer_mut(&format!("/spec/template/spec/{key}"));
                if let Some(it) = found.filter(|it| **it == *name) {
                    *it = ACCOUNT.into();
                }
            }
        }
    }
}

fn is_account(subject: &Value, name: &str) -> bool {
    subject["kind"] == "ServiceAccount"
        && subject["name"] == name
        && subject["namespace"] == NAMESPACE
}
