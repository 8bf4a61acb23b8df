//! The rules of the manager, by whether they are about objects in namespaces: a release that watches some namespaces has
//! Roles there, and a ClusterRole for the rest.

use super::names::{ACCOUNT, object_title};
use diagnostics::Diagnostic;
use go_data::yaml::{Value, json, pointer};

/// The role that `manifests` generates, as config/default names it.
const MANAGER: &str = "-manager-role";

/// Groups of Kubernetes all of whose kinds are in namespaces, and their exceptions.
const NAMESPACED: &[(&str, &[&str])] = &[
    ("", &["componentstatuses", "namespaces", "nodes", "persistentvolumes"]),
    ("apps", &[]),
    ("autoscaling", &[]),
    ("batch", &[]),
    ("coordination.k8s.io", &[]),
    ("discovery.k8s.io", &[]),
    ("events.k8s.io", &[]),
    ("networking.k8s.io", &["ingressclasses", "ipaddresses", "servicecidrs"]),
    ("policy", &["podsecuritypolicies"]),
    ("rbac.authorization.k8s.io", &["clusterrolebindings", "clusterroles"]),
];

/// Groups of Kubernetes all of whose kinds are outside of namespaces, and their exceptions.
const CLUSTER: &[(&str, &[&str])] = &[
    ("admissionregistration.k8s.io", &[]),
    ("apiextensions.k8s.io", &[]),
    ("apiregistration.k8s.io", &[]),
    ("authentication.k8s.io", &[]),
    ("authorization.k8s.io", &["localsubjectaccessreviews"]),
    ("certificates.k8s.io", &[]),
    ("flowcontrol.apiserver.k8s.io", &[]),
    ("node.k8s.io", &[]),
    ("scheduling.k8s.io", &[]),
    ("storage.k8s.io", &["csistoragecapacities"]),
];

/// A role of the manager with its binding.
pub struct Role {
    role: Value,
    binding: Value,
    cluster: Vec<Value>,
    namespaced: Vec<Value>,
}

impl Role {
    pub fn name(&self) -> &str {
        pointer::text(&self.role, "/metadata/name")
    }

    /// The file that the templates read.
    pub fn render_file(&self) -> Value {
        json!({
            "binding": self.binding,
            "clusterRules": self.cluster,
            "namespacedRules": self.namespaced,
            "role": self.role,
        })
    }
}

/// Takes the roles out of the objects that depend on the watched namespaces. Warns of rules that could be about either.
pub fn take_roles(objects: &mut Vec<Value>, crds: &[Value]) -> (Vec<Role>, Vec<Diagnostic>) {
    let (mut roles, mut warnings) = (Vec::new(), Vec::new());
    let all = objects.clone();
    for binding in all.iter().filter(|object| binds_manager(object)) {
        let kind = pointer::text(binding, "/roleRef/kind");
        let name = pointer::text(binding, "/roleRef/name");
        let is_role =
            |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        let Some(role) = objects.iter().find(is_role).cloned() else { continue };
        // Beside a ClusterRole of this name, the Role is for the namespace of the operator alone.
        let is_beside =
            |object: &Value| object["kind"] == "ClusterRole" && object["metadata"]["name"] == name;
        let stays = !name.ends_with(MANAGER) || all.iter().any(is_beside);
        if !role["aggregationRule"].is_null() || (kind == "Role" && stays) {
            continue;
        }
        let (mut cluster, mut namespaced) = (Vec::new(), Vec::new());
        for rule in pointer::list(&role, "/rules") {
            match kind {
                "Role" => namespaced.push(rule.clone()),
                _ => {
                    split_rule(rule, crds, &mut cluster, &mut namespaced, &mut |group, resource| {
                        let message = format!(
                            "{} grants `{resource}.{group}`, and it is unknown whether that resource is namespaced: with `watchNamespaces`, the rule still applies to the whole cluster",
                            object_title(&role)
                        );
                        warnings.push(Diagnostic::from(message));
                    })
                }
            }
        }
        if !namespaced.is_empty() {
            objects.retain(|object| *object != role && object != binding);
            roles.push(Role { role, binding: binding.clone(), cluster, namespaced });
        }
    }
    (roles, warnings)
}

/// Returns whether an object binds a role to the manager's service account only.
fn binds_manager(object: &Value) -> bool {
    let subjects = pointer::list(object, "/subjects");
    let is_binding =
        ["ClusterRoleBinding", "RoleBinding"].contains(&pointer::text(object, "/kind"));
    is_binding && !subjects.is_empty() && subjects.iter().all(|subject| subject["name"] == ACCOUNT)
}

/// Divides a rule by the scope of its resources.
fn split_rule(
    rule: &Value,
    crds: &[Value],
    cluster: &mut Vec<Value>,
    namespaced: &mut Vec<Value>,
    unknown: &mut impl FnMut(&str, &str),
) {
    let resources = pointer::list(rule, "/resources");
    if resources.is_empty() || pointer::list(rule, "/apiGroups").is_empty() {
        return cluster.push(rule.clone());
    }
    for group in pointer::texts(rule, "/apiGroups") {
        let mut parts: [Vec<Value>; 2] = Default::default();
        for resource in resources.iter().filter_map(Value::as_str) {
            let scope = is_namespaced(group, resource, crds);
            if scope.is_none() {
                unknown(group, resource);
            }
            parts[usize::from(scope == Some(true))].push(resource.into());
        }
        let [outside, inside] = parts;
        for (list, resources) in [(&mut *cluster, outside), (&mut *namespaced, inside)] {
            if !resources.is_empty() {
                let mut part = rule.clone();
                part["apiGroups"] = json!([group]);
                part["resources"] = resources.into();
                list.push(part);
            }
        }
    }
}

/// Returns whether a resource is namespaced, if that is known.
fn is_namespaced(group: &str, resource: &str, crds: &[Value]) -> Option<bool> {
    let plural = resource.split('/').next().unwrap_or_default();
    let of = |groups: &[(&str, &[&str])]| {
        groups.iter().find(|entry| entry.0 == group).map(|entry| entry.1.contains(&plural))
    };
    if plural == "*" {
        return None;
    }
    let declares =
        |crd: &&Value| crd["spec"]["group"] == group && crd["spec"]["names"]["plural"] == plural;
    match crds.iter().find(declares) {
        Some(crd) => Some(crd["spec"]["scope"] == "Namespaced"),
        None => of(NAMESPACED).map(|is_exception| !is_exception).or_else(|| of(CLUSTER)),
    }
}

#[test]
fn a_rule_is_divided_by_the_scope_of_its_resources() {
    let crd =
        json!({ "spec": { "group": "a.b", "names": { "plural": "cs" }, "scope": "Cluster" } });
    let check = |group: &str, resource: &str, expected: Option<bool>| {
        assert_eq!(
            is_namespaced(group, resource, std::slice::from_ref(&crd)),
            expected,
            "{resource}.{group}"
        );
    };
    check("", "pods/log", Some(true));
    check("", "nodes", Some(false));
    check("storage.k8s.io", "csistoragecapacities", Some(true));
    check("storage.k8s.io", "storageclasses", Some(false));
    check("a.b", "cs/status", Some(false));
    check("a.b", "ds", None);
    check("apps", "*", None);

    let rule =
        json!({ "apiGroups": ["", "a.b"], "resources": ["nodes", "pods"], "verbs": ["get"] });
    let (mut cluster, mut namespaced, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    split_rule(&rule, &[crd], &mut cluster, &mut namespaced, &mut |group, resource| {
        unknown.push(format!("{resource}.{group}"));
    });
    let rule = |group: &str, resources: Value| json!({ "apiGroups": [group], "resources": resources, "verbs": ["get"] });
    assert_eq!(cluster, [rule("", json!(["nodes"])), rule("a.b", json!(["nodes", "pods"]))]);
    assert_eq!(namespaced, [rule("", json!(["pods"]))]);
    assert_eq!(unknown, ["nodes.a.b", "pods.a.b"]);
}
