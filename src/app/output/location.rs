//! The directory of the project that a command works in.

use std::path::{Path, PathBuf};

use super::repository::Repository;
use crate::project::Project;
use crate::{
    disk::{self, Ancestor, Root},
    terminal,
};
use diagnostics::{Diagnostic, Hint as _};
use model::display_path;

/// Returns the directory that `--dir` names; else the current directory or the nearest one above it that has a PROJECT
/// file.
pub fn of_project(dir: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(dir) = dir {
        return require_directory(dir);
    }
    let here = Path::new(".");
    let folder = nearest(here)?;
    if folder != here {
        terminal::print_advice(&format!(
            "note: the project is in `{0}`, and paths are relative to that directory\n",
            display_path(&folder)
        ));
    }
    Ok(folder)
}

/// This directory or the nearest one above it that has a PROJECT file; else this one.
pub fn nearest(here: &Path) -> anyhow::Result<PathBuf> {
    let name = Project::path();
    if disk::has_file(here, name.as_str()) {
        return Ok(here.to_owned());
    }
    match disk::find_up(here, name.as_str())? {
        None => Ok(here.to_owned()),
        Some(Ancestor { folder, same_owner: true }) => Ok(folder),
        // Anybody may have put a PROJECT file into a shared directory such as /tmp.
        Some(Ancestor { folder, same_owner: false }) => Err(anyhow::format_err!(
            "`{}` belongs to another user and was not read",
            display_path(&folder.join(name))
        ))
        .hint(format!("if you trust this project, pass `--dir {}`", display_path(&folder))),
    }
}

/// Returns the directory that `--dir` names; the current one by default.
pub fn exact(dir: Option<&Path>) -> anyhow::Result<PathBuf> {
    dir.map_or_else(|| Ok(PathBuf::from(".")), require_directory)
}

/// Names files in annotations from the top of the repository, as GitHub reads them. They are in `root` otherwise.
pub fn annotate(root: &Root) {
    if terminal::prints_annotations() {
        // A folder that is in no repository is its top.
        let below = Repository::prefix_of(root.resolved_path()).unwrap_or_else(|error| {
            terminal::warn(Diagnostic::from(&error));
            None
        });
        terminal::set_annotation_root(&below.unwrap_or_default());
    }
}

fn require_directory(dir: &Path) -> anyhow::Result<PathBuf> {
    if dir.exists() {
        Ok(dir.to_owned())
    } else {
        Err(anyhow::format_err!("there is no directory `{}`", display_path(&dir)))
            .hint("`--dir` names the directory of a project")
    }
}
