//! Charts and CRDs that a repository has beside the workspace. PROJECT names paths in its own directory only; other
//! commands take such paths as arguments.

use super::files::RepositoryFiles;
use crate::{app::output::repository::Repository, disk::Root, project::DeclaredKind, terminal};
use model::ProjectPath;

/// The command that takes the path of a chart, and that of a directory with CRDs.
pub const CHART_COMMAND: &str = "operator-rs chart check";
pub const CRDS_COMMAND: &str = "operator-rs generate crds --output-dir";
pub const MANIFESTS_COMMAND: &str = "operator-rs deploy --manifests";

/// Reads a path to record. The refusal of one that is outside names the command that takes it.
pub fn parse_project_path(path: &str, command: &str) -> Result<ProjectPath, String> {
    ProjectPath::from_system(path).map_err(|refusal| {
        let path = terminal::shell_word(path);
        format!("{refusal}; PROJECT names no other paths: pass it to the command that needs it, `{command} {path}`")
    })
}

/// Notes about charts and CRDs beside a workspace that has none itself.
pub fn collect_notes(
    workspace: &Root,
    kinds: &[DeclaredKind],
    inside: &RepositoryFiles,
) -> anyhow::Result<Vec<String>> {
    let prefix = Repository::prefix_of(workspace.resolved_path())?.unwrap_or_default();
    let Ok(prefix) = prefix.parse::<ProjectPath>() else { return Ok(Vec::new()) };
    let depth = prefix.as_str().split('/').count();
    let Some(top) = workspace.resolved_path().ancestors().nth(depth) else { return Ok(Vec::new()) };
    let files = RepositoryFiles::scan_repository(&Root::new(top)?, kinds)?;
    let note = |what: &str, has_own: bool, found: Vec<ProjectPath>, command: &str| {
        let mut beside = found.iter().filter(|path| **path != prefix && !path.is_in(&prefix));
        let path = beside.next().filter(|_| !has_own)?;
        let path = terminal::shell_word(&format!("{}{path}", "../".repeat(depth)));
        Some(format!("{what} outside of the workspace; pass them to commands: `{command} {path}`"))
    };
    let notes = [
        note("CRDs", !inside.crds.is_empty(), files.plain_crds(), CRDS_COMMAND),
        note("charts", !inside.charts.is_empty(), files.charts.clone(), CHART_COMMAND),
    ];
    Ok(notes.into_iter().flatten().collect())
}
