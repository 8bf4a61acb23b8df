//! `init --from`: writes the files again that a project was created with.

use std::path::Path;

use clap::ValueEnum as _;

use super::{Extra, create};
use crate::{
    app::license,
    commands,
    disk::{self, Root},
    plan::{Plan, WorkTree},
    project::Project,
};
use diagnostics::Hint as _;
use model::Tree as _;

/// Writes the project that a PROJECT file describes, as `init` and `create` would write it now.
pub fn write(file: &Path, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
    let recorded = Project::from_text(&disk::text(file)?)?;
    let mut inputs = recorded.inputs.clone();
    inputs.resources.clear();
    if let Some(unknown) =
        inputs.license.as_deref().filter(|it| *it != "none" && !license::is_known(it))
    {
        return Err(anyhow::format_err!("PROJECT has the license `{unknown}`, which is not known"))
            .hint("write its SPDX identifier, or `none`");
    }
    for name in &inputs.with {
        if !Extra::value_variants().iter().any(|it| *it != Extra::All && it.is_called(name)) {
            anyhow::bail!("PROJECT has `{name}` in `with`, which `init --with` does not know");
        }
    }
    let (name, domain) = (recorded.name.clone(), recorded.domain.clone());
    create(&Project::new(name, domain, recorded.namespaced, &inputs), tree, root)?;
    commands::create::again(&recorded, tree)?;
    // The comments of PROJECT and what others keep in it stay.
    let written = tree.read(&Project::path())?.unwrap_or_default();
    let text = recorded.with_cli_version(env!("CARGO_PKG_VERSION"))?.text().to_owned();
    let mut plan = Plan::default();
    plan.edit(Project::path(), written, text);
    tree.apply(plan)
}
