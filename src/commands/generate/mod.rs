//! `operator-rs generate`

mod catalog;
mod crds;
mod installer;

use std::path::Path;

use super::{Mode, bundle, reading, writing};
use crate::app::{
    compile,
    derive::{self, GenerateOptions},
    support::{PUBLISHED, Support},
};
use crate::project::Project;
use crate::{disk::Root, plan::Plan};
use diagnostics::Diagnostic;

/// Regenerate support code, CRDs, RBAC and an existing bundle
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    compile: compile::Flags,
    #[command(flatten)]
    mode: Mode,
}

#[derive(clap::Subcommand)]
enum What {
    Crds(crds::Args),
    Installer(installer::Args),
    Catalog(catalog::Args),
}

impl Args {
    /// The commands for any cargo project, with or without a PROJECT file.
    pub fn of_any_project(&self) -> Option<&crds::Args> {
        match &self.what {
            Some(What::Crds(args)) => Some(args),
            _ => None,
        }
    }

    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self.what {
            Some(What::Crds(args)) => args.run(dir),
            Some(What::Installer(args)) if args.prints()? => {
                let root = reading(dir)?;
                args.outcome(&root)?.settle(&root, &self.mode)
            }
            Some(What::Installer(args)) => writing(dir, &args.mode.clone(), |it| args.outcome(it)),
            Some(What::Catalog(args)) => writing(dir, &args.mode.clone(), |it| args.plan(dir, it)),
            None => writing(dir, &self.mode, |root| everything(root, self.compile, &self.mode)),
        }
    }
}

fn everything(root: &Root, compile: compile::Flags, mode: &Mode) -> anyhow::Result<Plan> {
    let project = Project::read(root)?;
    let mut plan = Plan::default();
    let current = project.with_cli_version(env!("CARGO_PKG_VERSION"))?;
    plan.edit(Project::path(), project.text().to_owned(), current.text().to_owned());
    let all = compile.compile && mode.check;
    let options =
        GenerateOptions { flags: Some(compile), all, samples: true, ..GenerateOptions::default() };
    let support = Support::new(&project, PUBLISHED)?;
    derive::everything(&mut plan, root, &project, &support, &options)?;
    let mut with_bundle = plan.clone();
    match bundle::renew(&mut with_bundle, root, &project) {
        Err(error) if !mode.check => {
            // A project need not be ready for a bundle at every moment.
            plan.warn(Diagnostic::from(&error.context("the bundle was not generated again")));
            Ok(plan)
        }
        renewed => renewed.map(|()| with_bundle),
    }
}
