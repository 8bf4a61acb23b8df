//! Checks that the operator holds the rights of its RBAC comments once config/default is deployed.

use std::collections::BTreeMap;

use super::{DEPLOYED, MarkerRole, OwnNamespace, deployed_folder};
use crate::manifests::ROLES;
use crate::project::{Problem, Project, RbacMarker};
use diagnostics::Report;
use go_data::kubernetes::rbac::{self, Account};
use go_data::yaml::{Value, pointer};
use kustomize::Rendered;
use model::{ProjectPath, Tree};

/// The name of the warnings of this module.
pub const NOT_HELD: &str = "right-not-held";

/// The namespace of objects that name none.
const DEFAULT: &str = "default";

/// Returns the roles of comments that the account of no Deployment has where the comments ask for it, each at its first
/// comment.
pub fn unheld(
    tree: &impl Tree,
    project: &Project,
    markers: &[RbacMarker],
) -> anyhow::Result<Vec<Problem>> {
    let mut roles: BTreeMap<MarkerRole, &RbacMarker> = BTreeMap::new();
    for marker in markers {
        roles.entry(MarkerRole::of(marker)).or_insert(marker);
    }
    if roles.is_empty() || tree.read_text(&ProjectPath::fixed(DEPLOYED))?.is_none() {
        return Ok(Vec::new());
    }
    let rendered = match kustomize::build_with_origins(tree, &deployed_folder(), &[]) {
        Ok(rendered) => rendered,
        Err(error) => return Ok(render_failure(&roles, &error)),
    };
    let own = OwnNamespace::read(project, tree)?;
    let deployed = DeployedObjects::new(&rendered);
    if deployed.accounts.is_empty() {
        return Ok(Vec::new());
    }
    let fault = |(role, marker): (&MarkerRole, &&RbacMarker)| {
        let (message, hint) = deployed.missing_role(role, &own, project)?;
        Some(Problem::new(marker.place.clone(), message).with_hint(hint).with_rule(NOT_HELD))
    };
    Ok(roles.iter().filter_map(fault).collect())
}

/// Warns that config/default cannot be rendered, which `deploy` refuses. Roles in namespaces and with names of their own
/// may be the cause.
fn render_failure(
    roles: &BTreeMap<MarkerRole, &RbacMarker>,
    error: &anyhow::Error,
) -> Vec<Problem> {
    let in_namespace = roles.iter().find(|(role, _)| role.namespace.is_some());
    let named = || roles.iter().find(|(_, marker)| marker.rule.role_name.is_some());
    let first = in_namespace.or_else(named);
    let Report { found, .. } = error.into();
    let cause = found.first().map_or_else(|| format!("{error:#}"), ToString::to_string);
    let problem = |(_, marker): (&MarkerRole, &&RbacMarker)| {
        let message = format!("it is unknown whether the operator gets this right: {cause}");
        let hint = if marker.rule.namespace.is_some() {
            "mend config/default; if config/rbac binds this Role, remove that binding: `operator-rs manifests` then writes one that keeps its namespace"
        } else {
            "give the role a name that no other role of config/ has: `roleName`"
        };
        Problem::new(marker.place.clone(), message).with_hint(hint).with_rule(NOT_HELD)
    };
    first.map(problem).into_iter().collect()
}

struct DeployedObjects<'a> {
    rendered: &'a [Rendered],
    objects: Vec<&'a Value>,
    /// The accounts of the Deployments.
    accounts: Vec<Account<'a>>,
}

impl<'a> DeployedObjects<'a> {
    fn new(rendered: &'a [Rendered]) -> Self {
        let objects: Vec<&Value> = rendered.iter().map(|object| &object.value).collect();
        let account = |deployment: &&'a Value| {
            let name = match pointer::text(deployment, "/spec/template/spec/serviceAccountName") {
                "" => "default",
                name => name,
            };
            let namespace = rbac::namespace_of(deployment, DEFAULT);
            Account { namespace, name, default_namespace: DEFAULT }
        };
        let deployments = objects.iter().filter(|object| object["kind"] == "Deployment");
        let accounts = deployments.map(account).collect();
        Self { rendered, objects, accounts }
    }

    /// Returns why no account has a role, and what to do.
    fn missing_role(
        &self,
        role: &MarkerRole,
        own: &OwnNamespace,
        project: &Project,
    ) -> Option<(String, String)> {
        let title = match &role.namespace {
            Some(namespace) => format!("the Role `{}` of the namespace `{namespace}`", role.name),
            None => format!("the ClusterRole `{}`", role.name),
        };
        let Some(object) = self.find_role(role) else {
            let message = format!("{title} is not part of config/default");
            let hint = "list `role.yaml` in config/rbac/kustomization.yaml, and `../rbac` in config/default/kustomization.yaml";
            return Some((message, hint.to_owned()));
        };
        let actual = rbac::namespace_of(object, DEFAULT);
        if let Some(wanted) = &role.namespace {
            let wanted = own.rendered.as_ref().filter(|_| own.includes(wanted)).unwrap_or(wanted);
            if wanted != actual {
                let message = format!("config/default moves {title} into `{actual}`");
                let hint = "remove what else binds this Role: `operator-rs manifests` then writes a binding that keeps its namespace";
                return Some((message, hint.to_owned()));
            }
        }
        let bindings: Vec<&Value> =
            self.objects.iter().copied().filter(|value| self.refers_to(value, object)).collect();
        let gives = |binding: &&&Value| {
            let is_everywhere = binding["kind"] == "ClusterRoleBinding";
            (is_everywhere || role.namespace.is_some())
                && self.accounts.iter().any(|account| rbac::binds_account(binding, *account))
        };
        let is_given = bindings.iter().any(|binding| gives(&binding));
        // A role with another name may be for another account.
        let is_for_others = role.name != crate::manifests::MANAGER_ROLE && !bindings.is_empty();
        (!is_given && !is_for_others).then(|| without_binding(role, &title, project))
    }

    fn find_role(&self, role: &MarkerRole) -> Option<&'a Value> {
        let is_made_from = |object: &&Rendered| {
            let namespace = role.namespace.as_deref().unwrap_or(&object.original_namespace);
            object.origin.as_str() == ROLES
                && object.original_name == role.name
                && object.original_namespace == namespace
                && object.value["kind"] == role.role_kind()
        };
        self.rendered.iter().find(is_made_from).map(|object| &object.value)
    }

    fn refers_to(&self, binding: &Value, role: &Value) -> bool {
        rbac::is_binding(binding)
            && rbac::role_of(&self.objects, binding, DEFAULT)
                .is_some_and(|found| std::ptr::eq(found, role))
    }
}

fn without_binding(role: &MarkerRole, title: &str, project: &Project) -> (String, String) {
    let namespace = super::namespace(project);
    match (&role.namespace, project.namespaced) {
        (Some(namespace), _) => (
            format!("no RoleBinding in `{namespace}` gives {title} to the operator"),
            "bind it in config/rbac".to_owned(),
        ),
        (None, true) => (
            format!(
                "no ClusterRoleBinding gives {title} to the operator, which watches one namespace"
            ),
            format!(
                "add `namespace={namespace}` to the `+kubebuilder:rbac` markers that have none, or bind the ClusterRole in config/rbac"
            ),
        ),
        (None, false) => (
            format!("no ClusterRoleBinding gives {title} to the operator"),
            "bind it in config/rbac".to_owned(),
        ),
    }
}
