//! The manager's role and what gives it to the manager: a role that nothing binds, and a role without rules.

use super::{derive::MANIFESTS, webhooks};
use crate::manifests::ROLES;
use crate::plan::{self, Plan};
use crate::project::{Project, Rule};
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value};
use model::{Found, ProjectPath, Tree};

/// Warns of markers without a namespace: they become a ClusterRole, which the scaffold of such a project does not bind.
pub fn warn(
    plan: &mut Plan,
    tree: &impl Tree,
    project: &Project,
    rules: &[Rule],
) -> anyhow::Result<()> {
    let is_unbound = |it: &Rule| it.namespace.is_none() && it.role_name.is_none();
    if !project.namespaced || !rules.iter().any(is_unbound) {
        return Ok(());
    }
    for path in tree.list(&ProjectPath::fixed("config/rbac"))? {
        // A file that is no YAML is refused where config/ is rendered.
        let text = tree.read(&path)?.unwrap_or_default();
        let documents = yaml::documents(&text, yaml::Dialect::Kubernetes).unwrap_or_default();
        if documents.iter().any(binds_manager_role) {
            return Ok(());
        }
    }
    let namespace = rules.iter().find_map(|it| it.namespace.clone());
    let namespace = namespace.unwrap_or_else(|| self::namespace(project));
    let message = "no ClusterRoleBinding gives the ClusterRole `manager-role` to the manager, which watches one namespace";
    plan.warn(Diagnostic::in_file(ROLES, message).with_hint(format!(
        "add `namespace={namespace}` to the `+kubebuilder:rbac` markers that have none, or bind the ClusterRole in config/rbac"
    )));
    Ok(())
}

/// The namespace that the scaffold deploys the manager to.
pub fn namespace(project: &Project) -> String {
    format!("{}-system", project.name)
}

/// Whether a project without any rule needs the file of roles all the same: rules that nothing grants any more must
/// not stay in it, and a kustomization cannot be rendered without a file that it lists.
pub fn calls_for_role(tree: &impl Tree) -> anyhow::Result<bool> {
    let path = ProjectPath::fixed(ROLES);
    if let Found::Text(text) = tree.look(&path)? {
        return Ok(plan::is_generated_by(&path, &text, MANIFESTS));
    }
    let list = tree.read(&ProjectPath::fixed("config/rbac/kustomization.yaml"))?;
    Ok(list.is_some_and(|it| webhooks::lists(&it, "role.yaml")))
}

fn binds_manager_role(object: &Value) -> bool {
    object["kind"] == "ClusterRoleBinding" && object["roleRef"]["name"] == "manager-role"
}
