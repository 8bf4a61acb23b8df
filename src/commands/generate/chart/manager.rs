//! The Deployment that the values are about, and its service account.

use super::{
    names::{ACCOUNT, FULLNAME, NAMESPACE},
    release,
    switches::Switch,
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Dialect, Map, Value, json, pointer};

/// The variable of the runtime with the namespaces to watch.
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
    pub fn take_from(objects: &mut Vec<Value>) -> anyhow::Result<Self> {
        let is_deployment = |object: &Value| object["kind"] == "Deployment";
        let name = format!("{FULLNAME}-controller-manager");
        let named = |object: &Value| is_deployment(object) && object["metadata"]["name"] == *name;
        let all: Vec<usize> =
            (0..objects.len()).filter(|index| is_deployment(&objects[*index])).collect();
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
        let container = find_container(&deployment)?;
        name_lease(&mut deployment["spec"]["template"]["spec"]["containers"][container]);
        let account_name =
            pointer::text(&deployment, "/spec/template/spec/serviceAccountName").to_owned();
        let is_account = |object: &Value| {
            object["kind"] == "ServiceAccount" && object["metadata"]["name"] == *account_name
        };
        let mut account = objects.iter().position(is_account).map(|index| objects.remove(index));
        if account.is_some() {
            let all = objects.iter_mut().chain([&mut deployment]).chain(&mut account);
            all.for_each(|object| rename_account(object, &account_name));
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

    pub fn watches_namespaces(&self) -> bool {
        pointer::list(self.container_value(), "/env")
            .iter()
            .any(|variable| variable["name"] == WATCH)
    }

    /// Returns the value of a flag of the operator, or of the variable of the same name.
    pub fn find_setting(&self, flag: &str) -> Option<String> {
        let args: Vec<&str> = pointer::texts(self.container_value(), "/args").collect();
        let given = args.iter().enumerate().find_map(|(at, argument)| {
            match argument.strip_prefix(flag)? {
                "" => args.get(at + 1).copied(),
                rest => rest.strip_prefix('='),
            }
        });
        let variable = flag.trim_start_matches('-').replace('-', "_").to_uppercase();
        let env = pointer::list(self.container_value(), "/env");
        let given =
            given.or_else(|| env.iter().find(|entry| entry["name"] == variable)?["value"].as_str());
        given.map(str::to_owned)
    }

    /// The ports of the manager that a Service leads to.
    pub fn ports_of_service(&self, service: &Value) -> Vec<u64> {
        if service["kind"] != "Service" || !release::selects_pods(service, &self.deployment) {
            return Vec::new();
        }
        let target = |port: &Value| match &port["targetPort"] {
            Value::Null => self.port_number(&port["port"]),
            target => self.port_number(target),
        };
        pointer::list(service, "/spec/ports").iter().filter_map(target).collect()
    }

    /// The number of a port of the manager, which may be given by its name.
    pub fn port_number(&self, port: &Value) -> Option<u64> {
        let own = pointer::list(self.container_value(), "/ports");
        let named =
            || own.iter().find(|named_port| named_port["name"] == *port)?["containerPort"].as_u64();
        port.as_u64().or_else(named)
    }

    /// The ports that probes ask.
    pub fn probed_ports(&self) -> impl Iterator<Item = u64> {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"];
        let probes = probes.into_iter().map(|probe| &self.container_value()[probe]);
        let ports = probes
            .flat_map(|probe| ["httpGet", "tcpSocket", "grpc"].map(|kind| &probe[kind]["port"]));
        ports.filter_map(|port| self.port_number(port))
    }

    /// The names of the volumes at a path.
    pub fn volumes_mounted_at(&self, path: &str) -> Vec<String> {
        let mounts = pointer::list(self.container_value(), "/volumeMounts").iter();
        let there = mounts.filter(|mount| {
            pointer::text(mount, "/mountPath").trim_end_matches('/') == path.trim_end_matches('/')
        });
        there.map(|mount| pointer::text(mount, "/name").to_owned()).collect()
    }

    /// The file that the templates read. `budget` is whether they add a PodDisruptionBudget.
    pub fn render_file(&self, budget: bool, switches: &[Switch]) -> Value {
        let switches: Map<String, Value> =
            switches.iter().map(|switch| (switch.name.to_owned(), switch.render_file())).collect();
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
fn find_container(deployment: &Value) -> anyhow::Result<usize> {
    let containers = pointer::list(deployment, "/spec/template/spec/containers");
    let annotations = &deployment["spec"]["template"]["metadata"]["annotations"];
    let default = annotations["kubectl.kubernetes.io/default-container"].as_str();
    let name = default.unwrap_or("manager");
    match containers.iter().position(|container| container["name"] == name) {
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
fn name_lease(container: &mut Value) {
    let Some(args) = container["args"].as_array_mut() else { return };
    let flag = |argument: &Value| {
        argument.as_str().and_then(|argument| argument.split('=').next().map(str::to_owned))
    };
    let has = |name: &str| args.iter().any(|argument| flag(argument).as_deref() == Some(name));
    if has("--leader-elect") && !has("--leader-election-id") {
        args.push(format!("--leader-election-id={FULLNAME}").into());
    }
}

fn rename_account(object: &mut Value, name: &str) {
    match object["kind"].as_str() {
        Some("ServiceAccount") => object["metadata"]["name"] = ACCOUNT.into(),
        Some("RoleBinding" | "ClusterRoleBinding") => {
            for subject in object["subjects"].as_array_mut().into_iter().flatten() {
                if is_account(subject, name) {
                    subject["name"] = ACCOUNT.into();
                }
            }
        }
        _ => {
            for key in ["serviceAccountName", "serviceAccount"] {
                let found = object.pointer_mut(&format!("/spec/template/spec/{key}"));
                if let Some(account) = found.filter(|account| **account == *name) {
                    *account = ACCOUNT.into();
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
