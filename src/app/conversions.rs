//! The code that converts between the versions of a kind, from their types.

use super::derive;
use crate::project::{DeclaredKind, Operator, Resource};
use crate::source::conversion::{Generated, Side, conversion};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree, Version};

/// The code that converts between the hub and a spoke.
pub fn written(tree: &impl Tree, hub: &Resource, spoke: Version) -> anyhow::Result<Generated> {
    let operator = derive::operator(tree);
    let (_, hub_text) = text(tree, &operator, hub, hub.version)?;
    let (_, spoke_text) = text(tree, &operator, hub, spoke)?;
    between(hub, &hub_text, spoke, &spoke_text)
}

/// The code that converts between the texts of two versions.
pub fn between(
    hub: &Resource,
    hub_text: &str,
    spoke: Version,
    spoke_text: &str,
) -> anyhow::Result<Generated> {
    let group = hub.group.as_ref().map(|it| it.module()).unwrap_or_default();
    let (first, second) = (hub.version.to_string(), spoke.to_string());
    let first = Side { module: &first, text: hub_text };
    let second = Side { module: &second, text: spoke_text };
    conversion(&hub.kind.to_string(), &group, &first, &second).map_err(anyhow::Error::msg)
}

/// The file that declares a version of a kind, and its text.
pub fn text(
    tree: &impl Tree,
    operator: &Operator,
    kind: &Resource,
    version: Version,
) -> anyhow::Result<(ProjectPath, String)> {
    let (group, name) = (kind.api_group(), kind.kind.to_string());
    let is = |it: &&DeclaredKind| {
        it.group.as_deref() == Some(&*group)
            && it.kind.as_deref() == Some(&*name)
            && it.version == Some(version.to_string())
    };
    let Some(found) = operator.kinds.iter().find(is) else {
        return Err(anyhow::format_err!(
            "no type in the source declares {version} {name} of {group}"
        ))
        .hint("run `operator-rs manifests` to see why");
    };
    let path: ProjectPath = found.place.path.as_str().parse()?;
    let text = tree.read(&path)?.unwrap_or_default();
    Ok((path, text))
}
