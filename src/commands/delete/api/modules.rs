//! The modules around a type.

use crate::{
    model::ProjectPath,
    plan::{self, Edited, Plan, Tree},
};

/// Removes a fragment from the file of a module, and deletes the file if only the template is left. Returns whether it
/// deletes it.
pub fn prune(
    plan: &mut Plan,
    tree: &impl Tree,
    path: ProjectPath,
    fragment: String,
    template: Option<&str>,
) -> anyhow::Result<bool> {
    let Some(before) = tree.read(&path)? else { return Ok(true) };
    let fragments = vec![fragment];
    let rest = plan::removed(&path, &before, &fragments, &Edited::Stays(None)).ok();
    let is_empty =
        template.zip(rest).is_some_and(|(template, rest)| template.lines().eq(rest.text.lines()));
    match is_empty {
        true => plan.delete(path, vec![before.replace("\r\n", "\n"), before]),
        false => plan.remove(path, fragments, Edited::Stays(None)),
    }
    Ok(is_empty)
}
