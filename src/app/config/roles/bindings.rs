//! The RoleBindings of Roles that comments with `namespace=` make.
//!
//! config/default sets one namespace for all objects, and controller-gen gives the Roles of all namespaces one name. A
//! component keeps each Role in its namespace: it gives the Role a unique name and binds it, and replacements, which
//! kustomize applies after it has set the namespace, set it back. A Role of the operator's own namespace needs a binding
//! alone.

use std::collections::BTreeSet;

use super::{DEPLOYED, MarkerRole, OwnNamespace, PLACEHOLDER, listed, written_by_hand};
use crate::plan::{LastCommit, Plan};
use crate::project::{MANIFESTS_COMMAND, Project, RbacMarker};
use go_data::kubernetes::rbac::GROUP;
use go_data::yaml::{self, Value, json, pointer};
use model::{ProjectPath, Tree};

/// The component, and how config/default lists it.
const COMPONENT: &str = "config/rbac/namespaced";
const COMPONENT_ITEM: &str = "../rbac/namespaced";
/// The replacements, and how config/default lists them.
const REPLACEMENTS: &str = "config/default/role_namespaces.yaml";
const REPLACEMENTS_ITEM: &str = "role_namespaces.yaml";

/// The namespace of a RoleBinding, which the replacements read.
const ANNOTATION: &str = "rust.operator-rs.io/role-namespace";

const EDIT: &str = "the +kubebuilder:rbac comments in src";

/// The account of the manager, as the files of config/ name it.
struct ManagerAccount {
    name: String,
    namespace: String,
}

/// A Role that needs a binding.
struct BoundRole {
    name: String,
    namespace: String,
    /// True if its namespace is not the operator's.
    is_elsewhere: bool,
}

impl BoundRole {
    /// Returns a name that no Role of another namespace has.
    fn unique_name(&self) -> String {
        unique_name(&self.name, Some(&self.namespace).filter(|_| self.is_elsewhere))
    }
}

/// Returns the name of a Role after the component has renamed it.
pub fn unique_name(name: &str, namespace: Option<&String>) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{name}-{namespace}"))
}

/// Plans the files that bind the Roles of comments, or their removal.
pub fn update(
    plan: &mut Plan,
    tree: &impl Tree,
    project: &Project,
    markers: &[RbacMarker],
) -> anyhow::Result<()> {
    let list = ProjectPath::fixed(DEPLOYED);
    let Some(text) = tree.read_text(&list)? else { return Ok(()) };
    if markers.iter().all(|marker| marker.rule.namespace.is_none()) {
        return plan_removal(plan, tree);
    }
    let own = OwnNamespace::read(project, tree)?;
    let by_hand = written_by_hand(tree, "config/rbac")?;
    let roles = unbound_roles(markers, &own, &by_hand);
    let account = manager_account(tree, &by_hand)?;
    let (Some(account), false) = (account, roles.is_empty()) else {
        return plan_removal(plan, tree);
    };
    let roles: Vec<BoundRole> = roles
        .into_iter()
        .map(|(name, namespace)| {
            let is_elsewhere = !own.includes(&namespace);
            BoundRole { name, namespace, is_elsewhere }
        })
        .collect();
    for (path, text) in render_files(project, &roles, &account)? {
        plan.generate(path, text, EDIT, MANIFESTS_COMMAND);
    }
    listed::add(plan, &list, &text, &default_fragments());
    Ok(())
}

/// Returns the entries of config/default: the key of the list, and a kustomization with the entry alone.
fn default_fragments() -> [(&'static str, Value); 2] {
    [("components", json!(COMPONENT_ITEM)), ("replacements", json!({ "path": REPLACEMENTS_ITEM }))]
}

fn plan_removal(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let has_files = !tree.list_names(COMPONENT)?.is_empty();
    if !has_files && tree.read_text(&ProjectPath::fixed(REPLACEMENTS))?.is_none() {
        return Ok(());
    }
    let hint = "restore the comments, or pass `--force` to delete the file";
    for path in [COMPONENT, REPLACEMENTS] {
        plan.remove_generated(ProjectPath::fixed(path), MANIFESTS_COMMAND, hint);
    }
    for (key, entry) in default_fragments() {
        let fragment = yaml::to_text(&json!({ key: [entry] }));
        plan.remove_entries(ProjectPath::fixed(DEPLOYED), vec![fragment], LastCommit::NotRead);
    }
    Ok(())
}

/// Returns the Roles that no RoleBinding in config/rbac gives to an account.
fn unbound_roles(
    markers: &[RbacMarker],
    own: &OwnNamespace,
    by_hand: &[Value],
) -> BTreeSet<(String, String)> {
    let roles: BTreeSet<MarkerRole> = markers.iter().map(MarkerRole::of).collect();
    let roles = roles.into_iter().filter_map(|role| Some((role.name, role.namespace?)));
    let is_bound = |(name, namespace): &(String, String)| {
        let binds = |object: &Value| {
            let written = pointer::text(object, "/metadata/namespace");
            let is_there = written == namespace
                || own.includes(namespace) && (written.is_empty() || own.includes(written));
            object["kind"] == "RoleBinding"
                && object["roleRef"]["kind"] == "Role"
                && object["roleRef"]["name"] == **name
                && is_there
        };
        by_hand.iter().any(binds)
    };
    roles.filter(|role| !is_bound(role)).collect()
}

/// Returns the account of the Deployment in config/manager, if config/rbac has it.
fn manager_account(tree: &impl Tree, by_hand: &[Value]) -> anyhow::Result<Option<ManagerAccount>> {
    let managers = written_by_hand(tree, "config/manager")?;
    let pods = "/spec/template/spec/serviceAccountName";
    let names = managers.iter().filter(|object| object["kind"] == "Deployment");
    let Some(name) = { names }.find_map(|name| name.pointer(pods)?.as_str()) else {
        return Ok(None);
    };
    let is_account =
        |object: &&Value| object["kind"] == "ServiceAccount" && object["metadata"]["name"] == *name;
    let Some(account) = by_hand.iter().find(is_account) else { return Ok(None) };
    let namespace = match pointer::text(account, "/metadata/namespace") {
        "" => PLACEHOLDER,
        namespace => namespace,
    };
    Ok(Some(ManagerAccount { name: name.to_owned(), namespace: namespace.to_owned() }))
}

/// Returns the files with their texts.
fn render_files(
    project: &Project,
    roles: &[BoundRole],
    account: &ManagerAccount,
) -> anyhow::Result<Vec<(ProjectPath, String)>> {
    let component = ProjectPath::fixed(COMPONENT);
    let bindings = roles.iter().map(|role| role_binding(project, role, account));
    let bindings: String =
        bindings.map(|binding| format!("---\n{}", yaml::to_text(&binding))).collect();
    let elsewhere = || roles.iter().filter(|role| role.is_elsewhere);
    let mut kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": ["role_bindings.yaml"],
    });
    let mut replacements: Vec<Value> = Vec::new();
    if elsewhere().next().is_some() {
        kustomization["patches"] = elsewhere().map(rename_patch).collect();
        replacements = elsewhere().map(|role| namespace_replacement(&role.unique_name())).collect();
        replacements.extend(["namespace", "name"].map(|field| subject_replacement(account, field)));
    }
    Ok(vec![
        (component.join("kustomization.yaml")?, yaml::to_text(&kustomization)),
        (component.join("role_bindings.yaml")?, bindings),
        (ProjectPath::fixed(REPLACEMENTS), yaml::to_text(&Value::Array(replacements))),
    ])
}

fn role_binding(project: &Project, role: &BoundRole, account: &ManagerAccount) -> Value {
    let name = role.unique_name();
    let mut binding = json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": "RoleBinding",
        "metadata": {
            "labels": {
                "app.kubernetes.io/managed-by": "kustomize",
                "app.kubernetes.io/name": project.name.to_string(),
            },
            "name": name,
            "namespace": role.namespace,
        },
        "roleRef": { "apiGroup": GROUP, "kind": "Role", "name": name },
        "subjects": [{
            "kind": "ServiceAccount",
            "name": account.name,
            "namespace": account.namespace,
        }],
    });
    if role.is_elsewhere {
        binding["metadata"]["annotations"] = json!({ ANNOTATION: role.namespace });
    }
    binding
}

/// Returns the patch that gives a Role its unique name.
fn rename_patch(role: &BoundRole) -> Value {
    let patch = json!([{ "op": "replace", "path": "/metadata/name", "value": role.unique_name() }]);
    json!({
        "options": { "allowNameChange": true },
        "patch": yaml::to_text(&patch),
        "target": {
            "group": GROUP,
            "kind": "Role",
            "name": as_pattern(&role.name),
            "namespace": role.namespace,
        },
    })
}

/// Returns a target's name is a regular expression.
fn as_pattern(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_:".contains(letter);
    let escaped =
        |letter: char| if is_plain(letter) { letter.to_string() } else { format!("\\{letter}") };
    name.chars().map(escaped).collect()
}

/// Copies a field of the account to the subjects of all bindings: kustomize does not always follow references into
/// another namespace.
fn subject_replacement(account: &ManagerAccount, field: &str) -> Value {
    json!({
        "source": {
            "fieldPath": format!("metadata.{field}"),
            "kind": "ServiceAccount",
            "name": account.name,
        },
        "targets": [{
            "fieldPaths": [format!("subjects.0.{field}")],
            "select": { "annotationSelector": ANNOTATION, "group": GROUP, "kind": "RoleBinding" },
        }],
    })
}

/// Sets the namespace of a Role and its binding.
fn namespace_replacement(name: &str) -> Value {
    let target = |kind: &str| {
        json!({
            "fieldPaths": ["metadata.namespace"],
            "select": { "group": GROUP, "kind": kind, "name": name },
        })
    };
    json!({
        "source": {
            "fieldPath": format!("metadata.annotations.[{ANNOTATION}]"),
            "kind": "RoleBinding",
            "name": name,
        },
        "targets": [target("Role"), target("RoleBinding")],
    })
}
