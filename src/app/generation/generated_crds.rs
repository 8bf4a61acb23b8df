//! The generated CRDs of a project: which of them are removed, and which stay because part of the source is not read.

use std::collections::BTreeSet;

use crate::app::crds::{crd_comparison::version_names, file_owner::stays_because};
use crate::{
    manifests::{self, Manifest},
    plan::{LeftFiles, Plan, WorkTree},
    project::{MANIFESTS_COMMAND, Project, Resource},
    source::Reading,
};
use go_data::yaml::{self, Dialect};
use model::ProjectPath;

/// Removes the CRDs whose kinds are gone from the source. If part of the source is not read, a CRD stays as it is if its
/// kind or one of its versions may be declared there, unless this command removes that kind or version from PROJECT.
pub fn own(
    plan: &mut Plan,
    tree: &WorkTree<'_>,
    project: &Project,
    reading: &Reading,
    manifests: &[Manifest],
) -> anyhow::Result<()> {
    let folder = ProjectPath::fixed("config/crd/bases");
    plan.remove_stale(folder.clone(), &["yaml"], MANIFESTS_COMMAND);
    let Some(reason) = reading.reason_for_more_kinds() else { return Ok(()) };
    let disk = tree.files_on_disk();
    let listed = listed_versions(project);
    // `init` can find the PROJECT of another tool.
    let before = disk.read_text(&Project::path())?.and_then(|text| Project::from_text(&text).ok());
    let removed = &before.as_ref().map(listed_versions).unwrap_or_default() - &listed;
    for manifest in manifests {
        let Some(text) = disk.read_text(&manifest.path)? else { continue };
        // A file that is not YAML is replaced.
        let before = yaml::parse_documents(&text, Dialect::Kubernetes).unwrap_or_default();
        let lost = &version_names(&before) - &version_names(&manifest.objects);
        let is_removed =
            |version: &String| removed.contains(&(manifest.path.clone(), version.clone()));
        if let Some(version) = lost.iter().find(|version| !is_removed(version)) {
            let why = format!("its version `{version}` may be declared at {reason}");
            plan.keep_file(manifest.path.clone(), &why);
        }
    }
    let is_listed = |path: &ProjectPath| listed.iter().any(|(crd, _)| crd == path);
    let except =
        removed.into_iter().map(|(path, _)| path).filter(|path| !is_listed(path)).collect();
    plan.leave_stale(&folder, LeftFiles { why: stays_because(&reason), except });
    Ok(())
}

/// Returns the versions that PROJECT lists, each with the file of its CRD.
fn listed_versions(project: &Project) -> BTreeSet<(ProjectPath, String)> {
    let kinds = project.resources.iter().filter(|resource| resource.api.is_some());
    let path = |kind: &Resource| manifests::crd_path(&kind.api_group(), &kind.plural().to_string());
    kinds.map(|kind| (path(kind), kind.version.to_string())).collect()
}
