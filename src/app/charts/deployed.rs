//! The rights that config/ of a project gives its operator beside those of markers, such as those for leader election and
//! for the authentication of metrics.

use super::{Rendering, rendering::RenderedObject, workloads};
use crate::{
    disk::Root,
    manifests::ROLES,
    project::{DEFAULT_CONFIG, Project, Rule},
};
use model::ProjectPath;

/// Returns the rules of the roles that config/default binds to the operator, without those that are generated from
/// markers. An operator in place has none. Neither has one whose config/ cannot be rendered: such rights are then
/// findings of their own.
pub fn rights(root: &Root) -> anyhow::Result<Vec<Rule>> {
    if Project::find_in(root)?.is_none_or(|project| project.is_adopted()) {
        return Ok(Vec::new());
    }
    let folder = ProjectPath::fixed(DEFAULT_CONFIG);
    let all = kustomize::build_with_origins(root, &folder, &[]).unwrap_or_default();
    let all = all.into_iter().filter(|object| object.origin.as_str() != ROLES);
    let object = |value| RenderedObject { value, is_own: true, template: None, line: 0 };
    let rendering = Rendering {
        values: None,
        release: None,
        namespace: "default".to_owned(),
        text: String::new(),
        objects: all.map(|it| object(it.value)).collect(),
    };
    let bound = workloads::bound_to_any(&rendering);
    Ok(bound.roles.into_iter().flat_map(|pair| pair.1).collect())
}
