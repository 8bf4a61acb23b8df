//! In a project whose manager watches only its own namespace: rules of a ClusterRole that nothing binds.

use crate::plan::Plan;
use crate::project::{Project, Rule};
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree};

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
    let namespace = namespace.unwrap_or_else(|| format!("{}-system", project.name));
    let message = "no ClusterRoleBinding gives the ClusterRole `manager-role` to the manager, which watches one namespace";
    plan.warn(Diagnostic::in_file("config/rbac/role.yaml", message).with_hint(format!(
        "add `namespace={namespace}` to the `+kubebuilder:rbac` markers that have none, or bind the ClusterRole in config/rbac"
    )));
    Ok(())
}

fn binds_manager_role(object: &Value) -> bool {
    object["kind"] == "ClusterRoleBinding" && object["roleRef"]["name"] == "manager-role"
}
