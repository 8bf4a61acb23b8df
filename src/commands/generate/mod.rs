//! `operator-rs generate`

mod catalog;
pub mod chart;
mod crds;
mod docs;
mod installer;
mod kind_files;
mod schemas;

use std::path::Path;

use super::{OutputMode, RunCommand, WorkingDirectory, bundle, reading, writing};
use crate::app::{
    compile,
    generation::derive::{self, GenerateOptions, RbacMarkers},
    scaffolding::support::{PUBLISHED, SupportCode},
};
use crate::plan::{Plan, WorkTree};
use crate::project::Project;
use crate::source::Reading;
use diagnostics::Diagnostic;

/// Update all generated files, or write CRDs, a chart, docs, …
///
/// Without a subcommand, it updates support code, CRDs, RBAC and, if it is there, the bundle.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  operator-rs generate
  operator-rs generate --check    # in CI: fail if a generated file is out of date
  operator-rs generate crds --output-dir deploy/crds    # in any repository"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<GenerateSubcommand>,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    mode: OutputMode,
}

#[derive(clap::Subcommand)]
enum GenerateSubcommand {
    Crds(crds::Args),
    Installer(installer::Args),
    Catalog(catalog::Args),
    Chart(chart::Args),
    Docs(docs::Args),
    Schemas(schemas::Args),
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        if self.is_of_any_project() { WorkingDirectory::Exact } else { WorkingDirectory::OfProject }
    }

    fn watches_files(&self) -> bool {
        matches!(&self.command, Some(GenerateSubcommand::Crds(args)) if args.watch)
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self.command {
            Some(GenerateSubcommand::Crds(args)) => args.run(dir),
            Some(GenerateSubcommand::Docs(args)) => args.run(dir),
            Some(GenerateSubcommand::Schemas(args)) => args.run(dir),
            Some(GenerateSubcommand::Installer(args)) if args.prints_to_stdout()? => {
                let root = reading(dir)?;
                let mut tree = WorkTree::new(&root, false);
                args.write_files(&mut tree, &root)?.settle(&tree, &root, &self.mode)
            }
            Some(GenerateSubcommand::Installer(args)) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write_files(tree, root))
            }
            Some(GenerateSubcommand::Catalog(args)) => {
                writing(dir, &args.mode.clone(), |tree, _| args.write_files(dir, tree))
            }
            Some(GenerateSubcommand::Chart(args)) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write_files(tree, root))
            }
            None => writing(dir, &self.mode, |tree, _| {
                generate_everything(tree, self.compile, &self.mode)
            }),
        }
    }
}

impl Args {
    /// Returns whether the command works in any cargo project, with or without a PROJECT file.
    fn is_of_any_project(&self) -> bool {
        matches!(
            &self.command,
            Some(
                GenerateSubcommand::Crds(_)
                    | GenerateSubcommand::Docs(_)
                    | GenerateSubcommand::Schemas(_)
            )
        )
    }
}

/// Writes the support code and the version of the tool, and reads the source.
pub fn read_source(tree: &mut WorkTree<'_>, project: &Project) -> anyhow::Result<Reading> {
    let mut plan = Plan::default();
    let current = project.with_cli_version(env!("CARGO_PKG_VERSION"))?;
    plan.edit_file(Project::path(), project.text().to_owned(), current.text().to_owned());
    derive::read_with_support(tree, plan, &SupportCode::new(project, PUBLISHED)?)
}

/// Writes all that is generated from the source that was read, except for the bundle. `all` compiles every kind.
pub fn without_bundle(
    tree: &mut WorkTree<'_>,
    project: &Project,
    compile: compile::CompileFlags,
    all: bool,
    reading: Reading,
) -> anyhow::Result<RbacMarkers> {
    let options =
        GenerateOptions { flags: Some(compile), all, samples: true, ..GenerateOptions::default() };
    derive::source_that_was_read(tree, project, &options, reading)
}

fn generate_everything(
    tree: &mut WorkTree<'_>,
    compile: compile::CompileFlags,
    mode: &OutputMode,
) -> anyhow::Result<()> {
    let project = Project::read(tree)?;
    let all = compile.compile && mode.check;
    let reading = read_source(tree, &project)?;
    let markers = without_bundle(tree, &project, compile, all, reading)?;
    let without_bundle = tree.clone();
    match bundle::renew(tree, &project, &markers) {
        Err(error) if !mode.check => {
            // A project need not be ready for a bundle at every moment.
            *tree = without_bundle;
            tree.warn(Diagnostic::from(&error.context("the bundle was not generated again")));
            Ok(())
        }
        renewed => renewed.map(drop),
    }
}
