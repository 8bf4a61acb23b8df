//! The roles of `+kubebuilder:rbac` comments: what binds them, and whether the operator has their rights once config/ is
//! rendered.

mod bindings;
mod held;
mod listed;
mod olm;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::listing;
use crate::manifests::{MANAGER_ROLE, ROLES};
use crate::plan;
use crate::project::{DEFAULT_CONFIG, MANIFESTS_COMMAND, Problem, Project, RbacMarker};
use go_data::yaml::{self, Value, pointer};
use model::{FileContent, ProjectPath, Tree};

pub use bindings::update;
pub use held::{NOT_HELD, unheld};
pub use olm::moved_by_olm;

/// The kustomization that everything is deployed from.
const DEPLOYED: &str = "config/default/kustomization.yaml";

/// The namespace that files of config/ name where config/default sets another one.
const PLACEHOLDER: &str = "system";

/// Returns the namespace that the scaffold deploys the manager to.
pub fn namespace(project: &Project) -> String {
    format!("{}-system", project.name)
}

/// Returns whether a project without any rule needs the file of roles all the same: rules that nothing grants any more must
/// not stay in it, and a kustomization cannot be rendered without a file that it lists.
pub fn calls_for_role(tree: &impl Tree) -> anyhow::Result<bool> {
    let path = ProjectPath::fixed(ROLES);
    if let FileContent::Text(text) = tree.read_content(&path)? {
        return Ok(plan::is_generated_by(&path, &text, MANIFESTS_COMMAND));
    }
    let list = tree.read_text(&ProjectPath::fixed("config/rbac/kustomization.yaml"))?;
    Ok(list.is_some_and(|text| listing::lists_file(&text, "role.yaml")))
}

/// A role that comments make.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkerRole {
    /// None for a ClusterRole.
    pub namespace: Option<String>,
    pub name: String,
}

impl MarkerRole {
    pub fn of(marker: &RbacMarker) -> Self {
        let name = marker.rule.role_name.as_deref().unwrap_or(MANAGER_ROLE);
        Self { namespace: marker.rule.namespace.clone(), name: name.to_owned() }
    }

    fn role_kind(&self) -> &'static str {
        if self.namespace.is_some() { "Role" } else { "ClusterRole" }
    }
}

/// The names of the operator's own namespace: config/default moves the objects of all of them into the first one.
pub struct OwnNamespace {
    /// The namespace that config/default sets, if it sets one.
    pub rendered: Option<String>,
    names: Vec<String>,
}

impl OwnNamespace {
    pub fn read(project: &Project, tree: &impl Tree) -> anyhow::Result<Self> {
        let text = tree.read_text(&ProjectPath::fixed(DEPLOYED))?.unwrap_or_default();
        // A file that is no YAML is refused where config/ is rendered.
        let documents = yaml::parse_documents(&text, yaml::Dialect::Kubernetes).unwrap_or_default();
        let rendered = documents.iter().map(|document| pointer::text(document, "/namespace"));
        let rendered = { rendered }.find(|name| !name.is_empty()).map(str::to_owned);
        let scaffolded = [namespace(project), PLACEHOLDER.to_owned()];
        let names = rendered.iter().cloned().chain(scaffolded).collect();
        Ok(Self { rendered, names })
    }

    pub fn includes(&self, namespace: &str) -> bool {
        self.names.iter().any(|name| name == namespace)
    }
}

/// Refuses comments whose Roles cannot be told apart in config/default, each at the later comment: they are in namespaces
/// that it makes one, or have names that it makes one.
pub fn rivals(
    project: &Project,
    tree: &impl Tree,
    markers: &[RbacMarker],
) -> anyhow::Result<Vec<Problem>> {
    let own = OwnNamespace::read(project, tree)?;
    let mut first: BTreeMap<String, MarkerRole> = BTreeMap::new();
    let mut problems = Vec::new();
    let mut told = BTreeSet::new();
    for marker in markers {
        let role = MarkerRole::of(marker);
        let Some(namespace) = &role.namespace else { continue };
        let elsewhere = Some(namespace).filter(|namespace| !own.includes(namespace));
        let rendered = bindings::unique_name(&role.name, elsewhere);
        let other = first.entry(rendered).or_insert_with(|| role.clone());
        if *other == role || !told.insert(role.clone()) {
            continue;
        }
        let other_namespace = other.namespace.as_deref().unwrap_or_default();
        let (message, hint) = if own.includes(namespace) && own.includes(other_namespace) {
            (
                format!(
                    "`{namespace}` and `{other_namespace}` are both names of the operator's own namespace here"
                ),
                format!("write `namespace={}` in all of these comments", own.names[0]),
            )
        } else {
            (
                format!(
                    "the Role `{}` of `{namespace}` and the Role `{}` of `{other_namespace}` have one name in config/default",
                    role.name, other.name
                ),
                "give one of them another `roleName`".to_owned(),
            )
        };
        problems.push(Problem::new(marker.place.clone(), message).with_hint(hint));
    }
    Ok(problems)
}

/// Returns the objects in the YAML files of a folder that `manifests` does not generate.
fn written_by_hand(tree: &impl Tree, folder: &'static str) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for path in tree.list_files(&ProjectPath::fixed(folder))? {
        let FileContent::Text(text) = tree.read_content(&path)? else { continue };
        if path.extension() == "yaml" && !plan::is_generated_by(&path, &text, MANIFESTS_COMMAND) {
            objects.extend(
                yaml::parse_documents(&text, yaml::Dialect::Kubernetes).unwrap_or_default(),
            );
        }
    }
    Ok(objects)
}

/// config/default.
fn deployed_folder() -> ProjectPath {
    ProjectPath::fixed(DEFAULT_CONFIG)
}
