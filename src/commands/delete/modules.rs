//! The modules around a type.

use super::commit::Commit;
use crate::plan::{self, Plan};
use model::{ProjectPath, Tree};

/// Removes a fragment from the file of a module, and deletes the file if only the template is left. Returns whether it
/// deletes it.
pub fn prune(
    plan: &mut Plan,
    tree: &impl Tree,
    path: ProjectPath,
    fragment: String,
    template: Option<&str>,
    commit: &mut Commit,
) -> anyhow::Result<bool> {
    let Some(before) = tree.read(&path)? else { return Ok(true) };
    let fragments = vec![fragment];
    let commit = commit.of_entries(&path, &before, &fragments, plan);
    let rest = plan::removed(&path, &before, &fragments, &commit).ok();
    let is_rest =
        |template: &str| rest.as_ref().is_some_and(|it| template.lines().eq(it.text.lines()));
    let is_empty = template.is_some_and(is_rest);
    let is_edited = rest.as_ref().is_some_and(|it| !it.edited.is_empty());
    match is_empty {
        true if is_edited => plan.delete(path, Vec::new()),
        true => plan.delete(path, vec![before.replace("\r\n", "\n"), before]),
        false => plan.remove(path, fragments, commit),
    }
    Ok(is_empty)
}
