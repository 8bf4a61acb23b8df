//! api/src/crds.rs: the list of the types of `api/`, one entry for each kind.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::agreement::{VersionId, declared_id, declared_versions, listed_id};
use crate::{
    manifests,
    plan::Plan,
    project::{MANIFESTS_COMMAND, Operator, Problem, Project, Resource, kind_command},
    scaffold,
};
use diagnostics::Hint as _;
use model::ProjectPath;

/// The variables of `templates/derived`: the types of `api/`, one entry for each kind.
#[derive(Serialize)]
struct TypesContext {
    crds: Vec<ListedCrd>,
}

#[derive(Serialize)]
pub struct ListedCrd {
    types: Vec<String>,
    /// The version that is stored.
    storage: String,
}

/// The list of types: it is generated from the source, and declares no kinds.
pub const FILE: &str = "api/src/crds.rs";

/// Writes the list.
pub fn plan(crds: Vec<ListedCrd>) -> anyhow::Result<Plan> {
    let edit = |_: &ProjectPath| "PROJECT and the types themselves";
    scaffold::generate("derived", &TypesContext { crds }, MANIFESTS_COMMAND, edit)
}

/// Returns the command that adds a hand-written type to the project.
fn adopt_command(project: &Project, it: &manifests::Version<'_>) -> Option<String> {
    it.group().ends_with(&format!(".{}", project.domain)).then(|| {
        let command = version_command(project, "create", it.group(), it.name(), it.kind());
        format!("to add it, run `{command}`")
    })
}

/// Returns a command about one version of a kind.
fn version_command(
    project: &Project,
    verb: &str,
    group: &str,
    version: &str,
    kind: &str,
) -> String {
    let group = group.strip_suffix(&format!(".{}", project.domain)).unwrap_or(group);
    kind_command(&format!("{verb} api"), group, kind, &format!("--version {version}"))
}

/// Returns the Rust paths of every kind's versions, and which of them is stored; and the kinds that are not in PROJECT.
pub fn types(
    operator: &Operator,
    project: &Project,
) -> anyhow::Result<(Vec<ListedCrd>, Vec<Problem>)> {
    let mut unlisted = Vec::new();
    let mut ours: Vec<&Resource> =
        project.resources.iter().filter(|resource| resource.api.is_some()).collect();
    // From the lowest version to the highest, as the manifests merge them.
    ours.sort_by_key(|resource| resource.version);
    let listed: BTreeSet<VersionId> = ours.iter().map(|resource| listed_id(resource)).collect();
    for it in manifests::versions(operator) {
        if !listed.contains(&declared_id(&it)) {
            let (version, kind) = (it.name(), it.kind());
            let message =
                format!("{version} {kind} is not in PROJECT, so api/src/crds.rs leaves it out");
            let problem = Problem::new(it.place().clone(), message).with_rule("not-in-project");
            unlisted.push(Problem { hint: adopt_command(project, &it), ..problem });
        }
    }
    let storage = manifests::storage(operator);
    let declared = declared_versions(operator);
    let mut res: BTreeMap<(String, String), ListedCrd> = BTreeMap::new();
    for resource in ours {
        let (group, kind) = (resource.api_group(), resource.kind.to_string());
        let is_declared = declared.contains_key(&listed_id(resource));
        let stored = storage.get(&(&*group, &*kind)).copied().filter(|_| is_declared);
        let stored = stored.map(str::to_owned);
        let Some(stored) = stored else {
            return Err(anyhow::format_err!(
                "PROJECT has {} {kind} of {group}, and no type in the source declares it",
                resource.version
            ))
            .hint(format!(
                "restore the type; or run `{}` to remove what is left of it",
                version_command(project, "delete", &group, &resource.version.to_string(), &kind)
            ));
        };
        let path =
            resource.path.as_deref().and_then(|path| path.split_once("::")).map(|pair| pair.1);
        let module = path.map_or_else(
            || match &resource.group {
                Some(group) => format!("{}::{}", group.module_name(), resource.version),
                None => resource.version.to_string(),
            },
            str::to_owned,
        );
        let crd = res
            .entry((group, kind.clone()))
            .or_insert_with(|| ListedCrd { types: Vec::new(), storage: stored });
        crd.types.push(format!("{module}::{kind}"));
    }
    Ok((res.into_values().collect(), unlisted))
}
