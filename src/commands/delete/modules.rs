//! The modules around a type.

use super::commit::Commit;
use crate::plan::{self, Plan};
use model::{ProjectPath, Tree};

/// Removes a fragment from the file of a module, and deletes the file if only the template is left. Returns whether it
/// deletes it.
pub fn prune_module(
    plan: &mut Plan,
    tree: &impl Tree,
    path: ProjectPath,
    fragment: String,
    template: Option<&str>,
    commit: &mut Commit,
) -> anyhow::Result<bool> {
    let Some(before) = tree.read_text(&path)? else { return Ok(true) };
    let fragments = vec![fragment];
    let commit = commit.of_entries(&path, &before, &fragments, plan);
    let rest = plan::remove_fragments(&path, &before, &fragments, &commit).ok();
    let is_rest = |template: &str| {
        rest.as_ref().is_some_and(|removal| template.lines().eq(removal.text.lines()))
    };
    let is_empty = template.is_some_and(is_rest);
    let is_edited = rest.as_ref().is_some_and(|removal| !removal.edited.is_empty());
    if !is_empty {
        plan.remove_entries(path, fragments, commit);
    } else if is_edited {
        plan.delete_file(path, Vec::new());
    } else {
        plan.delete_file(path, vec![before.replace("\r\n", "\n"), before]);
    }
    Ok(is_empty)
}
