//! Compares all other fields of a Deployment, and in particular the privileges of its pods.

use std::collections::{BTreeMap, BTreeSet};

use super::{BundleSide, Change, Rule};
use crate::bundle::object;
use go_data::yaml::{Difference, Value, diff_values, json};

const POD: &str = "/spec/template/spec";
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// Compares two Deployments; the new one is at a JSON pointer of the CSV, and the old one is null if it is new.
pub fn compare(
    old: &Value,
    (at, new): (&str, &Value),
    state: &BundleSide,
    changes: &mut Vec<Change>,
) {
    let subject = format!("Deployment/{}", object::name_of(new));
    let gained = gained_privileges(old, new);
    for (what, pointer) in &gained {
        let pointer = format!("{at}{POD}{pointer}");
        let change = state.change_at(Rule::PrivilegeAdded, &subject, &pointer, what.clone());
        changes.push(change.with_remedy("check that the operator needs it"));
    }
    if old.is_null() {
        return;
    }
    for difference in diff_values(old, new).iter().filter(|difference| !is_compared(difference)) {
        if gained.values().any(|pointer| is_reported(&difference.path, pointer)) {
            continue;
        }
        let pointer = difference
            .new
            .as_ref()
            .or(difference.old.as_ref())
            .map_or("", |part| part.pointer.as_str());
        changes.push(state.change_at(
            Rule::PodChanged,
            &subject,
            &format!("{at}{pointer}"),
            describe_difference(difference),
        ));
    }
}

/// Returns whether a difference is in the field that grants a privilege, of the container or of its pod.
fn is_reported(path: &str, pointer: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(['/', '.', '[', ']']).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let (path, pointer) = (words(path), words(pointer));
    let key = match pointer.iter().position(|word| word == "securityContext") {
        Some(at) => pointer.get(at..at + 2),
        None => pointer.last().map(std::slice::from_ref),
    };
    key.is_some_and(|key| path.windows(key.len()).any(|part| part == key))
}

/// Describes a difference, with both values.
pub fn describe_difference(difference: &Difference<'_>) -> String {
    let path = &difference.path;
    match (&difference.old, &difference.new) {
        (Some(old), Some(new)) => {
            format!("`{path}` changed from `{}` to `{}`", old.value, new.value)
        }
        (Some(_), None) => format!("`{path}` is removed"),
        (None, new) => {
            let value = new.as_ref().map_or(&Value::Null, |part| part.value);
            format!("`{path}` is added: `{value}`")
        }
    }
}

/// Returns whether a difference has a special rule.
fn is_compared(difference: &Difference<'_>) -> bool {
    let path = &difference.path;
    let has_image = [&difference.old, &difference.new]
        .into_iter()
        .flatten()
        .all(|part| part.value.get("image").is_some());
    let Some(pod) = path.strip_prefix("spec.template.spec.") else {
        return path == "spec.selector" || path.starts_with("spec.selector.");
    };
    let (list, rest) = pod.split_once('[').unwrap_or((pod, ""));
    let rest = rest.split_once(']').map_or("", |parts| parts.1);
    let is_env = rest == ".env" || rest.starts_with(".env[");
    match list {
        "serviceAccountName" | "serviceAccount" => true,
        // A container that is added or removed is reported with its image.
        "containers" | "initContainers" => rest.is_empty() || rest == ".image" || is_env,
        "volumes" => rest == ".image.reference" || rest.is_empty() && has_image,
        _ => false,
    }
}

/// Returns the privileges that the new pods have and the old ones had not, each with its JSON pointer in the new pod.
fn gained_privileges(old: &Value, new: &Value) -> BTreeMap<String, String> {
    let pod = |deployment: &Value| deployment.pointer(POD).cloned().unwrap_or_else(|| json!({}));
    let (mut before, after) = (pod(old), pod(new));
    // A new container is compared with an empty one, which has the default privileges.
    for list in CONTAINERS {
        let names = |pod: &Value| -> BTreeSet<String> {
            let containers = object::list(pod, &format!("/{list}")).iter();
            containers.map(|container| object::name_of(container).to_owned()).collect()
        };
        let known = names(&before);
        let missing = names(&after).into_iter().filter(|name| !known.contains(name));
        let missing: Vec<Value> = missing.map(|name| json!({ "name": name })).collect();
        let Some(map) = before.as_object_mut() else { continue };
        match map.entry(list).or_insert_with(|| json!([])) {
            Value::Array(items) => items.extend(missing),
            other => *other = missing.into(),
        }
    }
    let known = pod_privileges(&before);
    let mut gained = pod_privileges(&after);
    gained.retain(|what, _| !known.contains_key(what));
    gained
}

/// Returns the privileges of a pod beyond those that the Pod Security Standard `restricted` allows.
fn pod_privileges(pod: &Value) -> BTreeMap<String, String> {
    let mut privileges = BTreeMap::new();
    for (key, what) in [("hostNetwork", "network"), ("hostPID", "processes"), ("hostIPC", "IPC")] {
        if pod.get(key) == Some(&Value::Bool(true)) {
            privileges.insert(format!("the pod shares the {what} of its node"), format!("/{key}"));
        }
    }
    for (at, volume) in object::list(pod, "/volumes").iter().enumerate() {
        let name = object::name_of(volume);
        if let Some(path) = volume.pointer("/hostPath/path") {
            let what = format!("the volume `{name}` is {path} of the node");
            privileges.insert(what, format!("/volumes/{at}/hostPath"));
        }
    }
    for (at, sysctl) in object::list(pod, "/securityContext/sysctls").iter().enumerate() {
        let what = format!("the pod sets the kernel parameter `{}`", object::name_of(sysctl));
        privileges.insert(what, format!("/securityContext/sysctls/{at}"));
    }
    for list in CONTAINERS {
        for (at, container) in object::list(pod, &format!("/{list}")).iter().enumerate() {
            let name = object::name_of(container);
            let found_privileges =
                container_privileges(container, pod.get("securityContext").unwrap_or(&Value::Null));
            privileges.extend(found_privileges.into_iter().map(|(what, pointer)| {
                (format!("the container `{name}` {what}"), format!("/{list}/{at}{pointer}"))
            }));
        }
    }
    privileges
}

fn container_privileges(container: &Value, of_pod: &Value) -> Vec<(String, String)> {
    let nothing = Value::Null;
    let container_context = container.get("securityContext").unwrap_or(&nothing);
    // The pod's security context applies to each field that the container does not set.
    let either = |pointer: &str| {
        [container_context, of_pod]
            .into_iter()
            .find_map(|context| context.pointer(pointer))
            .unwrap_or(&nothing)
    };
    let is_root =
        *either("/runAsNonRoot") != true && matches!(either("/runAsUser").as_i64(), None | Some(0));
    let seccomp = either("/seccompProfile/type");
    let drops_all = object::texts(container_context, "/capabilities/drop")
        .any(|capability| capability == "ALL");
    let flags = [
        (container_context["privileged"] == true, "is privileged", "/privileged"),
        (
            container_context["allowPrivilegeEscalation"] != false,
            "may gain privileges",
            "/allowPrivilegeEscalation",
        ),
        (
            container_context["readOnlyRootFilesystem"] != true,
            "may write to its root file system",
            "/readOnlyRootFilesystem",
        ),
        (is_root, "may run as root", "/runAsNonRoot"),
        (either("/runAsUser") == 0, "runs as root", "/runAsUser"),
        (!drops_all, "keeps default capabilities", "/capabilities/drop"),
        (container_context["procMount"] == "Unmasked", "sees all of `/proc`", "/procMount"),
        (seccomp.is_null() || seccomp == "Unconfined", "has no seccomp profile", "/seccompProfile"),
        (
            *either("/windowsOptions/hostProcess") == true,
            "runs as a process of its node",
            "/windowsOptions",
        ),
    ];
    let flags = flags.into_iter().filter(|flag| flag.0);
    let mut privileges: Vec<_> = flags
        .map(|(_, what, pointer)| (what.to_owned(), format!("/securityContext{pointer}")))
        .collect();
    for (at, it) in object::texts(container_context, "/capabilities/add").enumerate() {
        let pointer = format!("/securityContext/capabilities/add/{at}");
        privileges.push((format!("has the capability `{it}`"), pointer));
    }
    for (at, port) in object::list(container, "/ports").iter().enumerate() {
        if let Some(port) = port.get("hostPort").and_then(Value::as_i64).filter(|port| *port != 0) {
            let pointer = format!("/ports/{at}/hostPort");
            privileges.push((format!("takes the port {port} of its node"), pointer));
        }
    }
    privileges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(pod: &Value) -> Value {
        json!({ "name": "a", "spec": { "template": { "spec": pod } } })
    }

    /// A pod that is restricted, as the scaffold has it.
    fn restricted() -> Value {
        let context = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
            "readOnlyRootFilesystem": true,
        });
        let pod = json!({ "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } });
        json!({ "securityContext": pod, "containers": [{ "name": "m", "securityContext": context }] })
    }

    #[test]
    fn each_privilege_that_is_gained_is_reported() {
        let check = |pointer: &str, value: Value, expected: &[&str]| {
            let old = restricted();
            let mut new = old.clone();
            let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
            new.pointer_mut(parent).expect("it is there")[key] = value;
            let found = gained_privileges(&deployment(&old), &deployment(&new));
            assert_eq!(found.keys().collect::<Vec<_>>(), expected, "{pointer}");
            assert_eq!(gained_privileges(&deployment(&new), &deployment(&old)), BTreeMap::new());
        };
        check("/hostNetwork", json!(true), &["the pod shares the network of its node"]);
        check("/hostPID", json!(true), &["the pod shares the processes of its node"]);
        check("/hostIPC", json!(true), &["the pod shares the IPC of its node"]);
        let volumes = json!([{ "name": "v", "hostPath": { "path": "/" } }, { "name": "e" }]);
        check("/volumes", volumes, &["the volume `v` is \"/\" of the node"]);
        let sysctls = json!([{ "name": "net.x", "value": "1" }]);
        check("/securityContext/sysctls", sysctls, &["the pod sets the kernel parameter `net.x`"]);
        check(
            "/securityContext/runAsNonRoot",
            json!(false),
            &["the container `m` may run as root"],
        );
        check("/securityContext/runAsUser", json!(0), &["the container `m` runs as root"]);
        check("/securityContext/runAsUser", json!(5), &[]);
        check(
            "/securityContext/seccompProfile",
            json!(null),
            &["the container `m` has no seccomp profile"],
        );
        let m = |rest: &str| format!("/containers/0{rest}");
        let context = |rest: &str| m(&format!("/securityContext/{rest}"));
        check(&context("privileged"), json!(true), &["the container `m` is privileged"]);
        check(
            &context("allowPrivilegeEscalation"),
            json!(true),
            &["the container `m` may gain privileges"],
        );
        check(
            &context("readOnlyRootFilesystem"),
            json!(false),
            &["the container `m` may write to its root file system"],
        );
        check(
            &context("capabilities/drop"),
            json!([]),
            &["the container `m` keeps default capabilities"],
        );
        check(
            &context("capabilities/add"),
            json!(["NET_ADMIN"]),
            &["the container `m` has the capability `NET_ADMIN`"],
        );
        check(&context("procMount"), json!("Unmasked"), &["the container `m` sees all of `/proc`"]);
        check(
            &context("windowsOptions"),
            json!({ "hostProcess": true }),
            &["the container `m` runs as a process of its node"],
        );
        check(
            &m("/ports"),
            json!([{ "hostPort": 80 }, { "containerPort": 81 }]),
            &["the container `m` takes the port 80 of its node"],
        );
        let more =
            json!([{ "name": "i", "securityContext": { "privileged": true } }, { "name": "j" }]);
        check("/initContainers", more, &["the container `i` is privileged"]);
    }
}
