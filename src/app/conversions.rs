//! The code that converts between the versions of a kind, from their types.

use crate::project::{DeclaredKind, Operator, Resource};
use crate::source::conversion::{Generated, Side, conversion};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree, Version};

/// The code that converts between the hub and a spoke.
pub fn written(
    tree: &impl Tree,
    operator: &Operator,
    hub: &Resource,
    spoke: Version,
) -> anyhow::Result<Generated> {
    let (_, hub_text) = text(tree, operator, hub, hub.version)?;
    let (_, spoke_text) = text(tree, operator, hub, spoke)?;
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
    let Some(found) = declared(operator, kind, version)? else {
        return Err(anyhow::format_err!(
            "no type in the source declares {version} {} of {}",
            kind.kind,
            kind.api_group()
        ))
        .hint("run `operator-rs manifests` to see why");
    };
    let path: ProjectPath = found.place.path.as_str().parse()?;
    let text = tree.read(&path)?.unwrap_or_default();
    Ok((path, text))
}

/// The type of a version, which must have the name of the kind; none if the source has none.
pub fn declared<'a>(
    operator: &'a Operator,
    kind: &Resource,
    version: Version,
) -> anyhow::Result<Option<&'a DeclaredKind>> {
    let (group, name) = (kind.api_group(), kind.kind.to_string());
    let is = |it: &&DeclaredKind| {
        it.group.as_deref() == Some(&*group)
            && it.kind.as_deref() == Some(&*name)
            && it.version == Some(version.to_string())
    };
    let found = operator.kinds.iter().find(is);
    match found.filter(|it| it.name != name) {
        Some(other) => {
            Err(anyhow::format_err!("{}: the Rust type of {name} is `{}`", other.place, other.name))
                .hint("give the type the name of the kind: remove `root` from `#[kube(…)]`")
        }
        None => Ok(found),
    }
}
