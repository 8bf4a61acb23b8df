//! The files that a kustomization names, in its own directory.

use super::kustomization::{Kustomization, Text};
use diagnostics::{Hint as _, utf8_text};
use model::{ProjectPath, Tree};

/// The hint for a path that leads to nothing.
pub const MISSING: &str = "restore it, or remove this entry";

/// Reads the text of a file that a kustomization names.
pub fn read_text(
    tree: &impl Tree,
    kustomization: &Kustomization,
    item: &Text,
) -> anyhow::Result<(ProjectPath, String)> {
    let (path, bytes) = read_bytes(tree, kustomization, item)?;
    match utf8_text(&bytes) {
        Ok(text) => Ok((path, text.to_owned())),
        Err(problem) => {
            Err(kustomization.error_at(item.mark, &format!("{path} cannot be read: {problem}")))
        }
    }
}

/// Reads the bytes of a file that a kustomization names.
pub fn read_bytes(
    tree: &impl Tree,
    kustomization: &Kustomization,
    item: &Text,
) -> anyhow::Result<(ProjectPath, Vec<u8>)> {
    let path = join_path(kustomization, item)?;
    if !path.is_in(&kustomization.folder) {
        return Err(kustomization
            .error_at(item.mark, &format!("{path} is outside of {}", kustomization.folder)))
        .hint("kustomize reads files only from the kustomization's own directory");
    }
    match tree.read_bytes(&path)? {
        Some(bytes) => Ok((path, bytes)),
        None => {
            Err(kustomization.error_at(item.mark, &format!("there is no {path}"))).hint(MISSING)
        }
    }
}

/// Resolves a path of a kustomization from its directory.
pub fn join_path(kustomization: &Kustomization, item: &Text) -> anyhow::Result<ProjectPath> {
    if item.text.starts_with('/') {
        return Err(kustomization.error_at(item.mark, &format!("`{}` is not relative", item.text)));
    }
    kustomization
        .folder
        .join(&item.text)
        .map_err(|error| kustomization.error_at(item.mark, &error.to_string()))
}
