//! What a person can type. The folder reads as the command line.

mod bundle;
mod cargo;
mod compile;
mod completion;
mod create;
mod deploy;
mod derive;
mod generate;
mod habits;
mod init;
mod install;
mod manifests;
mod reach;
mod removal;
mod rendered;
mod test;
mod undeploy;
mod uninstall;
mod version;
mod workspace;

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser as _};

use crate::{
    disk::{Recovered, Root, watch},
    hint::Hint as _,
    model::Project,
    plan::{Plan, Tree},
    terminal,
};

/// operator-sdk for Rust: from an empty folder to an operator on kube-rs and its OLM bundle
#[derive(clap::Parser)]
#[command(name = "operator-rs", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The project's directory
    #[arg(long, global = true, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    mode: Mode,
}

#[derive(clap::Subcommand)]
enum Command {
    Init(init::Args),
    #[command(subcommand)]
    Create(create::Command),
    Manifests(manifests::Args),
    Generate(generate::Args),
    Bundle(bundle::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Deploy(deploy::Args),
    Undeploy(undeploy::Args),
    Test(test::Args),
    Version(version::Args),
    Completion(completion::Args),
}

/// What becomes of a plan.
#[derive(clap::Args)]
#[command(next_help_heading = "What becomes of the changes")]
struct Mode {
    /// List what would change and write nothing; `server` has the API server try it, where a command changes a cluster
    #[arg(
        long,
        global = true,
        conflicts_with_all = ["diff", "check"],
        num_args = 0..=1,
        require_equals = true,
        value_name = "WHERE",
        default_missing_value = "client",
        hide_possible_values = true
    )]
    dry_run: Option<DryRun>,
    /// Show what would change as a diff and write nothing
    #[arg(long, global = true, conflicts_with = "check")]
    diff: bool,
    /// Fail if anything would change, and write nothing
    #[arg(long, global = true)]
    check: bool,
    /// Replace generated files even where they were edited by hand
    #[arg(long, global = true)]
    force: bool,
}

/// Who tells what would change.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DryRun {
    Client,
    Server,
}

impl Mode {
    /// For a command that changes nothing in the project: there is nothing to list, show or check.
    fn refuse(&self, command: &str) -> anyhow::Result<()> {
        let given = [
            ("dry-run", self.dry_run.is_some()),
            ("diff", self.diff),
            ("check", self.check),
            ("force", self.force),
        ];
        match given.iter().find(|it| it.1) {
            None => Ok(()),
            Some((flag, _)) => Err(terminal::usage(
                clap::error::ErrorKind::ArgumentConflict,
                &format!(
                    "`{command}` changes nothing in the project, so `--{flag}` means nothing here"
                ),
            )),
        }
    }

    fn writes(&self) -> bool {
        !(self.dry_run.is_some() || self.diff || self.check)
    }
}

/// What a command comes to.
enum Outcome {
    /// Changes to the project.
    Plan(Plan),
    /// Data for stdout.
    Text(String),
    /// Changes to another folder than the project's.
    Elsewhere(Root, Plan),
    /// As much as could be done, and why the rest could not.
    Partly(Box<Self>, anyhow::Error),
}

impl From<Plan> for Outcome {
    fn from(plan: Plan) -> Self {
        Self::Plan(plan)
    }
}

/// Parses, runs, reports.
pub fn run() -> ExitCode {
    let mut told = false;
    loop {
        let cli = match Cli::try_parse() {
            Ok(cli) => cli,
            Err(error) => return terminal::misuse(&error, habits::advice(&error)),
        };
        let watches = cli.command.watches();
        if watches {
            watch::begin();
        }
        let code = match cli.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => terminal::report(&error),
        };
        if watches && !told {
            terminal::advise("watching what was read: Ctrl-C ends this\n");
            told = true;
        }
        if !watches || !watch::wait() {
            return code;
        }
    }
}

impl Command {
    /// Whether it is about a cluster, and reads the project only.
    fn is_of_cluster(&self) -> bool {
        matches!(
            self,
            Self::Install(_)
                | Self::Uninstall(_)
                | Self::Deploy(_)
                | Self::Undeploy(_)
                | Self::Test(_)
        )
    }

    /// Whether it is done again whenever what it read has changed.
    fn watches(&self) -> bool {
        match self {
            Self::Manifests(args) => args.watch,
            Self::Generate(args) => args.of_any_project().is_some_and(|it| it.watch),
            _ => false,
        }
    }
}

impl Cli {
    fn run(self) -> anyhow::Result<()> {
        // These two are of no project.
        match self.command {
            Command::Version(args) => return args.run(),
            Command::Completion(args) => return args.run(&mut Self::command()),
            _ => {}
        }
        let root = Root::new(&self.dir)?;
        // What only reads is of any project, and leaves no lock in it.
        if let Command::Generate(args) = &self.command
            && let Some(args) = args.of_any_project()
        {
            return args.outcome(&self.dir, &self.mode)?.settle(&root, &self.mode);
        }
        let of_cluster = self.command.is_of_cluster();
        if self.mode.dry_run == Some(DryRun::Server) && !of_cluster {
            return Err(terminal::usage(
                clap::error::ErrorKind::InvalidValue,
                "`--dry-run=server` is for commands that change a cluster; this one writes files: `--dry-run`",
            ));
        }
        if self.mode.writes() && !of_cluster {
            root.lock()?;
        }
        match root.recover()? {
            Recovered::Nothing => {}
            Recovered::Undone => {
                terminal::warn(
                    "an earlier run was interrupted before it wrote; what it had begun is removed",
                );
            }
            Recovered::Completed => {
                terminal::warn(
                    "an earlier run was interrupted while it wrote; what it had begun is completed",
                );
            }
        }
        let outcome = match self.command {
            Command::Init(args) => args.plan(&root)?.into(),
            Command::Create(create::Command::Api(args)) => args.plan(&root)?.into(),
            Command::Manifests(args) => args.plan(&root, &self.mode)?.into(),
            Command::Generate(args) => args.outcome(&root)?,
            Command::Bundle(args) => args.outcome(&root)?,
            Command::Install(args) => return args.run(&root, &self.mode),
            Command::Uninstall(args) => return args.run(&root, &self.mode),
            Command::Deploy(args) => return args.run(&root, &self.mode),
            Command::Undeploy(args) => return args.run(&root, &self.mode),
            Command::Test(args) => {
                self.mode.refuse("test")?;
                return args.run(&root);
            }
            Command::Version(_) | Command::Completion(_) => return Ok(()),
        };
        outcome.settle(&root, &self.mode)
    }
}

impl Outcome {
    fn settle(self, root: &Root, mode: &Mode) -> anyhow::Result<()> {
        match self {
            Self::Plan(plan) => settle(&plan, root, mode),
            Self::Elsewhere(root, plan) => settle(&plan, &root, mode),
            Self::Text(text) => {
                terminal::print(&text);
                Ok(())
            }
            Self::Partly(done, error) => {
                done.settle(root, mode)?;
                Err(error)
            }
        }
    }
}

/// The one way from a plan to the disk.
fn settle(plan: &Plan, root: &Root, mode: &Mode) -> anyhow::Result<()> {
    let changes = plan.against(root, mode.force)?;
    for warning in &changes.warnings {
        terminal::warn(warning);
    }
    match mode {
        Mode { diff: true, .. } => terminal::print(&changes.diff()),
        Mode { check: true, .. } => changes.require_none()?,
        Mode { dry_run: Some(_), .. } => terminal::print(&changes.to_string()),
        _ => {
            root.write(&changes)?;
            terminal::print(&changes.to_string());
            if let Some(next) = &changes.next {
                terminal::advise(&format!("\n{next}\n"));
            }
        }
    }
    Ok(())
}

/// Reads the PROJECT file, which every command but `init` starts from.
fn project(tree: &impl Tree) -> anyhow::Result<Project> {
    let Some(text) = tree.read(&Project::path())? else {
        return Err(anyhow::format_err!(
            "this is not an operator-rs project: there is no PROJECT file"
        ))
        .hint("run `operator-rs init` here first, or point `--dir` at a project");
    };
    Project::from_text(&text)
}
