//! Checks that PROJECT has the plural and the scope of the project's kinds as the source declares them: the commands
//! that write files read them in PROJECT.

use crate::app::output::refusal::refusal;
use crate::manifests::{self, Version};
use crate::project::{Operator, Project, Resource};
use diagnostics::Diagnostic;
use model::Tree;
use std::collections::BTreeMap;

/// Refuses a PROJECT file that differs from the source. `tree` has PROJECT as it is on disk, where it has to be edited.
pub fn require(tree: &dyn Tree, operator: &Operator) -> anyhow::Result<()> {
    let text = tree.read_text(&Project::path())?;
    // `init` can find the one of another tool.
    let Some(project) = text.and_then(|text| Project::from_text(&text).ok()) else { return Ok(()) };
    match find_differences(&project, operator) {
        none if none.is_empty() => Ok(()),
        some => Err(refusal("PROJECT and the source differ, and nothing was written", some)),
    }
}

fn find_differences(project: &Project, operator: &Operator) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let declared = declared_versions(operator);
    for (at, resource) in project.resources.iter().enumerate() {
        let found = declared.get(&listed_id(resource));
        let (Some(api), Some(found)) = (&resource.api, found) else { continue };
        let name = format!("{} {}", resource.version, resource.kind);
        let place = format!("{}:{}", found.place().path, found.place().line);
        let (recorded, plural) = (resource.plural().to_string(), found.plural());
        if recorded != plural {
            let message = format!("the plural of {name} is `{plural}` at {place}");
            let hint = match &resource.plural {
                Some(_) => format!("write `plural: {plural}` here"),
                None => format!("add `plural: {plural}` to this entry"),
            };
            let problem = project.resource_problem(at, &["plural"], message);
            diagnostics
                .push(problem.with_hint(format!("{hint}, or `plural = \"{recorded}\"` there")));
        }
        let namespaced = found.crd.spec.scope == "Namespaced";
        if api.namespaced != namespaced {
            let (scope, hint) = if namespaced {
                ("namespaced", "write `namespaced: true` under `api`, or remove `namespaced` there")
            } else {
                ("cluster-scoped", "write `namespaced: false` here, or add `namespaced` there")
            };
            let message = format!("{name} is {scope} at {place}");
            diagnostics.push(
                project.resource_problem(at, &["api", "namespaced"], message).with_hint(hint),
            );
        }
    }
    diagnostics
}

/// The API group, the version and the kind of one version of a kind.
pub type VersionId = (String, String, String);

/// Returns the versions that the source declares, by their ids. Of two with one id, the first counts.
pub fn declared_versions(operator: &Operator) -> BTreeMap<VersionId, Version<'_>> {
    let mut versions = BTreeMap::new();
    for version in manifests::versions(operator) {
        versions.entry(declared_id(&version)).or_insert(version);
    }
    versions
}

pub fn declared_id(version: &Version<'_>) -> VersionId {
    (version.group().to_owned(), version.name().to_owned(), version.kind().to_owned())
}

/// Returns the id of the version that an entry of PROJECT lists.
pub fn listed_id(resource: &Resource) -> VersionId {
    (resource.api_group(), resource.version.to_string(), resource.kind.to_string())
}
