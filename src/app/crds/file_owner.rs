//! The workspace that a generated file was written for. Several projects may write into one directory: each replaces and
//! removes only files that are provably its own.

use crate::app::cargo::{Workspace, tree_sources::TreeSources};
use crate::{disk::Root, plan, source};
use model::ProjectPath;

/// The owner of a generated file.
#[derive(Debug, PartialEq)]
pub enum FileOwner {
    Ours,
    /// A package that the workspace does not have: one of another project, or one that was renamed.
    Another(String),
    /// The first line names no package.
    Unknown,
}

/// Names the owners of a workspace's generated files in one directory, as their first lines do.
pub struct FileOwners {
    /// The names that are the workspace's own.
    names: Vec<String>,
    /// True if the directory is in the workspace, where no other project is expected to write.
    is_inside: bool,
    /// Why a kind that was not read may be declared all the same.
    reason_for_more_kinds: Option<String>,
}

impl FileOwners {
    pub fn of_workspace(workspace: &Workspace, output: &Root) -> Self {
        let names = source::package_names(&TreeSources::new(&workspace.root));
        let mut names: Vec<String> = names.iter().map(|name| in_comment(name)).collect();
        names.sort();
        let is_inside = output.resolved_path().starts_with(workspace.root.resolved_path());
        Self { names, is_inside, reason_for_more_kinds: None }
    }

    /// Keeps the files of kinds that are not known to be gone, with the reason.
    pub fn with_more_kinds(self, reason: Option<String>) -> Self {
        Self { reason_for_more_kinds: reason, ..self }
    }

    /// Returns whether every kind that is declared is known.
    pub fn knows_all_kinds(&self) -> bool {
        self.reason_for_more_kinds.is_none()
    }

    /// Files that are generated from `input`, which is no source code, by a command that runs in `dir`.
    pub fn of_input(input: &str, dir: &Root, output: &Root) -> Self {
        let names = vec![in_comment(input)];
        let is_inside = output.resolved_path().starts_with(dir.resolved_path());
        Self { names, is_inside, reason_for_more_kinds: None }
    }

    pub fn owner(&self, path: &ProjectPath, text: &str) -> FileOwner {
        match plan::package_of(path, text) {
            None => FileOwner::Unknown,
            Some(name) if self.names.contains(&name) => FileOwner::Ours,
            Some(name) => FileOwner::Another(name),
        }
    }

    /// Returns the name to write into the first line: the one that is already there if it is ours, so that another
    /// package of the workspace does not change it.
    pub fn name(&self, path: &ProjectPath, before: Option<&str>) -> Option<String> {
        let before = before.and_then(|text| plan::package_of(path, text));
        before.filter(|name| self.names.contains(name)).or_else(|| self.names.first().cloned())
    }

    /// Returns whether an unedited file of another package may be replaced by one for the same kind: in the workspace
    /// itself, the package was renamed.
    pub fn may_replace(&self, owner: &FileOwner) -> bool {
        !matches!(owner, FileOwner::Another(_)) || self.is_inside
    }

    /// Returns the package of another project that a file was generated for, if that is certain.
    pub fn other_owner(&self, path: &ProjectPath, text: Option<&str>) -> Option<String> {
        match self.owner(path, text?) {
            FileOwner::Another(name) if !self.is_inside => Some(name),
            _ => None,
        }
    }

    /// Why a file that is no longer generated is not deleted; an empty text if no message is needed. None if it is
    /// provably ours: two projects may have packages of one name, so that outside of the workspace, the group has to be
    /// one that is still declared.
    pub fn reason_to_stay(&self, owner: &FileOwner, is_group_declared: bool) -> Option<String> {
        match owner {
            FileOwner::Ours if let Some(reason) = &self.reason_for_more_kinds => {
                Some(stays_because(reason))
            }
            FileOwner::Ours if self.is_inside || is_group_declared => None,
            FileOwner::Ours => Some(
                "no longer generated here, and may be of another project, as nothing here has its group".to_owned(),
            ),
            FileOwner::Unknown => Some("no longer generated, and names no package".to_owned()),
            FileOwner::Another(name) if self.is_inside => Some(format!(
                "generated for the package `{name}`, which is not in this workspace"
            )),
            FileOwner::Another(_) => Some(String::new()),
        }
    }
}

/// Returns why a file stays whose kind is not read: `reason` is that of [`Reading::reason_for_more_kinds`].
///
/// [`Reading::reason_for_more_kinds`]: crate::source::Reading::reason_for_more_kinds
pub fn stays_because(reason: &str) -> String {
    format!("its kind may be declared at {reason}")
}

/// Returns a name without what could end a comment, or the name itself, in a first line.
fn in_comment(name: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./".contains(char);
    name.chars().map(|char| if is_plain(char) { char } else { '_' }).collect()
}
