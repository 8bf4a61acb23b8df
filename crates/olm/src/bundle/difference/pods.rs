//! Everything else that differs in a Deployment, and in particular what its pods may do that they could not do before.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Rule, State};
use crate::bundle::object;
use go_data::yaml::{Difference, Value, differences, json};

const POD: &str = "/spec/template/spec";
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// Compares two Deployments; the new one is at a JSON pointer of the CSV, and the old one is null if it is new.
pub fn compare(old: &Value, (at, new): (&str, &Value), state: &State, res: &mut Vec<Change>) {
    let subject = format!("Deployment/{}", object::name_of(new));
    let gained = gained(old, new);
    for (what, pointer) in &gained {
        let pointer = format!("{at}{POD}{pointer}");
        let change = state.change(Rule::PrivilegeAdded, &subject, &pointer, what.clone());
        res.push(change.with_remedy("check that the operator needs it"));
    }
    if old.is_null() {
        return;
    }
    for it in differences(old, new).iter().filter(|it| !is_compared(it)) {
        if gained.values().any(|pointer| is_reported(&it.path, pointer)) {
            continue;
        }
        let pointer = it.new.as_ref().or(it.old.as_ref()).map_or("", |it| it.pointer.as_str());
        res.push(state.change(Rule::PodChanged, &subject, &format!("{at}{pointer}"), text(it)));
    }
}

/// Whether a difference is in the field that grants a privilege: in that of the container, or that of its pod.
fn is_reported(path: &str, pointer: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let all = text.split(['/', '.', '[', ']']).filter(|it| !it.is_empty());
        all.map(str::to_owned).collect()
    };
    let (path, pointer) = (words(path), words(pointer));
    let key = match pointer.iter().position(|it| it == "securityContext") {
        Some(at) => pointer.get(at..at + 2),
        None => pointer.last().map(std::slice::from_ref),
    };
    key.is_some_and(|key| path.windows(key.len()).any(|it| it == key))
}

/// What differs, with both values.
pub fn text(it: &Difference<'_>) -> String {
    let path = &it.path;
    match (&it.old, &it.new) {
        (Some(old), Some(new)) => {
            format!("`{path}` changed from `{}` to `{}`", old.value, new.value)
        }
        (Some(_), None) => format!("`{path}` is removed"),
        (None, new) => {
            let value = new.as_ref().map_or(&Value::Null, |it| it.value);
            format!("`{path}` is added: `{value}`")
        }
    }
}

/// Whether a difference has a rule of its own.
fn is_compared(it: &Difference<'_>) -> bool {
    let path = &it.path;
    let has_image =
        [&it.old, &it.new].into_iter().flatten().all(|it| it.value.get("image").is_some());
    let Some(pod) = path.strip_prefix("spec.template.spec.") else {
        return path == "spec.selector" || path.starts_with("spec.selector.");
    };
    let (list, rest) = pod.split_once('[').unwrap_or((pod, ""));
    let rest = rest.split_once(']').map_or("", |it| it.1);
    let is_env = rest == ".env" || rest.starts_with(".env[");
    match list {
        "serviceAccountName" | "serviceAccount" => true,
        // One that is added or removed is told with its image.
        "containers" | "initContainers" => rest.is_empty() || rest == ".image" || is_env,
        "volumes" => rest == ".image.reference" || rest.is_empty() && has_image,
        _ => false,
    }
}

/// What the new pods may do that the old ones could not, each with its JSON pointer in the new pod.
fn gained(old: &Value, new: &Value) -> BTreeMap<String, String> {
    let pod = |it: &Value| it.pointer(POD).cloned().unwrap_or_else(|| json!({}));
    let (mut before, after) = (pod(old), pod(new));
    // A container that is new had no privileges that are not anybody's.
    for list in CONTAINERS {
        let names = |pod: &Value| -> BTreeSet<String> {
            let all = object::list(pod, &format!("/{list}")).iter();
            all.map(|it| object::name_of(it).to_owned()).collect()
        };
        let known = names(&before);
        let missing = names(&after).into_iter().filter(|it| !known.contains(it));
        let missing: Vec<Value> = missing.map(|it| json!({ "name": it })).collect();
        let Some(map) = before.as_object_mut() else { continue };
        match map.entry(list).or_insert_with(|| json!([])) {
            Value::Array(items) => items.extend(missing),
            other => *other = missing.into(),
        }
    }
    let known = privileges(&before);
    let mut res = privileges(&after);
    res.retain(|what, _| !known.contains_key(what));
    res
}

/// What a pod may do beyond what the Pod Security Standard `restricted` allows.
fn privileges(pod: &Value) -> BTreeMap<String, String> {
    let mut res = BTreeMap::new();
    for (key, what) in [("hostNetwork", "network"), ("hostPID", "processes"), ("hostIPC", "IPC")] {
        if pod.get(key) == Some(&Value::Bool(true)) {
            res.insert(format!("the pod shares the {what} of its node"), format!("/{key}"));
        }
    }
    for (at, volume) in object::list(pod, "/volumes").iter().enumerate() {
        let name = object::name_of(volume);
        if let Some(path) = volume.pointer("/hostPath/path") {
            let what = format!("the volume `{name}` is {path} of the node");
            res.insert(what, format!("/volumes/{at}/hostPath"));
        }
    }
    for (at, it) in object::list(pod, "/securityContext/sysctls").iter().enumerate() {
        let what = format!("the pod sets the kernel parameter `{}`", object::name_of(it));
        res.insert(what, format!("/securityContext/sysctls/{at}"));
    }
    for list in CONTAINERS {
        for (at, it) in object::list(pod, &format!("/{list}")).iter().enumerate() {
            let name = object::name_of(it);
            let found = of_container(it, pod.get("securityContext").unwrap_or(&Value::Null));
            res.extend(found.into_iter().map(|(what, pointer)| {
                (format!("the container `{name}` {what}"), format!("/{list}/{at}{pointer}"))
            }));
        }
    }
    res
}

fn of_container(container: &Value, of_pod: &Value) -> Vec<(String, String)> {
    let nothing = Value::Null;
    let own = container.get("securityContext").unwrap_or(&nothing);
    // What a container leaves open, its pod decides.
    let either = |pointer: &str| {
        [own, of_pod].into_iter().find_map(|it| it.pointer(pointer)).unwrap_or(&nothing)
    };
    let is_root =
        *either("/runAsNonRoot") != true && matches!(either("/runAsUser").as_i64(), None | Some(0));
    let seccomp = either("/seccompProfile/type");
    let drops_all = object::texts(own, "/capabilities/drop").any(|it| it == "ALL");
    let flags = [
        (own["privileged"] == true, "is privileged", "/privileged"),
        (
            own["allowPrivilegeEscalation"] != false,
            "may gain privileges",
            "/allowPrivilegeEscalation",
        ),
        (
            own["readOnlyRootFilesystem"] != true,
            "may write to its root file system",
            "/readOnlyRootFilesystem",
        ),
        (is_root, "may run as root", "/runAsNonRoot"),
        (either("/runAsUser") == 0, "runs as root", "/runAsUser"),
        (!drops_all, "keeps default capabilities", "/capabilities/drop"),
        (own["procMount"] == "Unmasked", "sees all of `/proc`", "/procMount"),
        (seccomp.is_null() || seccomp == "Unconfined", "has no seccomp profile", "/seccompProfile"),
        (
            *either("/windowsOptions/hostProcess") == true,
            "runs as a process of its node",
            "/windowsOptions",
        ),
    ];
    let flags = flags.into_iter().filter(|it| it.0);
    let mut res: Vec<_> = flags
        .map(|(_, what, pointer)| (what.to_owned(), format!("/securityContext{pointer}")))
        .collect();
    for (at, it) in object::texts(own, "/capabilities/add").enumerate() {
        let pointer = format!("/securityContext/capabilities/add/{at}");
        res.push((format!("has the capability `{it}`"), pointer));
    }
    for (at, port) in object::list(container, "/ports").iter().enumerate() {
        if let Some(port) = port.get("hostPort").and_then(Value::as_i64).filter(|it| *it != 0) {
            let pointer = format!("/ports/{at}/hostPort");
            res.push((format!("takes the port {port} of its node"), pointer));
        }
    }
    res
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
            let found = gained(&deployment(&old), &deployment(&new));
            assert_eq!(found.keys().collect::<Vec<_>>(), expected, "{pointer}");
            assert_eq!(gained(&deployment(&new), &deployment(&old)), BTreeMap::new());
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
