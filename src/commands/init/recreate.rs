//! `init --from`: recreates the files of a project.

use std::path::Path;

use clap::ValueEnum as _;

use super::{Extra, create_project};
use crate::{
    app::scaffolding::license,
    commands,
    disk::{self, Bounds, Root},
    plan::{Plan, WorkTree},
    project::Project,
};
use diagnostics::Hint as _;
use model::Tree as _;

/// Writes the project that a PROJECT file describes, as `init` and `create` would write it now.
pub fn recreate_project(file: &Path, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
    let recorded = Project::from_text(&disk::read_named_text(file, Bounds::of_manifests(None))?)?;
    let mut inputs = recorded.inputs.clone();
    inputs.resources.clear();
    if let Some(unknown) = inputs
        .license
        .as_deref()
        .filter(|license| *license != "none" && !license::is_known(license))
    {
        return Err(anyhow::format_err!("unknown license `{unknown}` in PROJECT"))
            .hint("write its SPDX identifier, or `none`");
    }
    // Its name becomes part of Cargo.toml.
    if let Some(unknown) =
        inputs.license_file.as_ref().filter(|file| !license::is_file(file.as_str()))
    {
        return Err(anyhow::format_err!("unknown license file `{unknown}` in PROJECT"))
            .hint("write a name that `init` recognizes, such as `LICENSE`");
    }
    for name in &inputs.with {
        if !Extra::value_variants()
            .iter()
            .any(|extra| *extra != Extra::All && extra.is_called(name))
        {
            anyhow::bail!("unknown value `{name}` of `with` in PROJECT");
        }
    }
    let (name, domain) = (recorded.name.clone(), recorded.domain.clone());
    create_project(&Project::new(name, domain, recorded.namespaced, &inputs), tree, root)?;
    commands::create::recreate_resources(&recorded, tree)?;
    // The comments of PROJECT and what others keep in it stay.
    let written = tree.read_text(&Project::path())?.unwrap_or_default();
    let text = recorded.with_cli_version(env!("CARGO_PKG_VERSION"))?.text().to_owned();
    let mut plan = Plan::default();
    plan.edit_file(Project::path(), written, text);
    tree.apply(plan)
}
