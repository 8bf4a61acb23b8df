//! What a person can type. The folder reads as the command line.

mod binding;
mod bundle;
mod cargo;
mod compile;
mod completion;
mod crds;
mod create;
mod delete;
mod deploy;
mod derive;
pub mod generate;
mod habits;
mod init;
mod install;
mod license;
mod listing;
mod location;
mod man;
mod manifests;
mod proxies;
mod reach;
mod refusal;
mod removal;
mod rendered;
mod samples;
mod test;
mod tree_sources;
mod undeploy;
mod uninstall;
mod version;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory as _, Parser as _};

use crate::{
    disk::{Root, watch},
    hint::Hint as _,
    model::Project,
    plan::{Plan, Tree},
    terminal,
};

/// Build Kubernetes operators in Rust: scaffold them, generate CRDs, RBAC and OLM bundles, deploy and test them
#[derive(clap::Parser)]
#[command(name = "operator-rs", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Directory of the project [default: the nearest one with a PROJECT file]
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    settings: terminal::Settings,
}

/// Every command, by what it is given.
#[derive(clap::Subcommand)]
enum Command {
    #[command(flatten)]
    OnFiles(FileCommand),
    #[command(flatten)]
    OnCluster(ClusterCommand),
    #[command(flatten)]
    StandAlone(StandAloneCommand),
}

/// Commands that read a directory, and write files or print data.
#[derive(clap::Subcommand)]
enum FileCommand {
    Init(init::Args),
    #[command(subcommand)]
    Create(create::Command),
    #[command(subcommand)]
    Delete(delete::Command),
    Manifests(manifests::Args),
    Generate(generate::Args),
    #[command(subcommand)]
    Crds(crds::Command),
    Bundle(bundle::Args),
}

/// Commands that act on an API server and write no file of the project.
#[derive(clap::Subcommand)]
enum ClusterCommand {
    Install(install::Args),
    Uninstall(uninstall::Args),
    Deploy(deploy::Args),
    Undeploy(undeploy::Args),
    Test(test::Args),
}

/// Commands that need no project.
#[derive(clap::Subcommand)]
enum StandAloneCommand {
    Version(version::Args),
    Completion(completion::Args),
    Man(man::Args),
}

/// What a command that writes files does with its changes. Commands that write no files do not have these flags.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Output modes")]
pub struct Mode {
    /// List the changes and write nothing
    #[arg(long, conflicts_with_all = ["diff", "check"])]
    dry_run: bool,
    /// Show the changes as a diff and write nothing
    #[arg(long, conflicts_with = "check")]
    diff: bool,
    /// Fail if there are changes, and write nothing
    #[arg(long)]
    check: bool,
    /// Replace generated files even if they were edited by hand
    #[arg(long)]
    force: bool,
}

impl Mode {
    /// The flags that are given, by their names.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.dry_run, "--dry-run"),
            (self.diff, "--diff"),
            (self.check, "--check"),
            (self.force, "--force"),
        ];
        all.into_iter().filter(|it| it.0).map(|it| it.1)
    }

    /// Refuses flags about files where a command has none to write, as it lacks the flag that names them.
    fn require(&self, output: &str) -> anyhow::Result<()> {
        match self.given().next() {
            None => Ok(()),
            Some(flag) => Err(terminal::usage(
                clap::error::ErrorKind::MissingRequiredArgument,
                &format!(
                    "`{flag}` requires `{output}`: without it, the result is printed and no file is written"
                ),
            )),
        }
    }

    fn writes(&self) -> bool {
        !(self.dry_run || self.diff || self.check)
    }
}

/// The result of a command.
enum Outcome {
    /// Changes to the project.
    Plan(Plan),
    /// Data for stdout.
    Text(String),
    /// A result that is incomplete, and why.
    Partly(Box<Self>, anyhow::Error),
}

impl From<Plan> for Outcome {
    fn from(plan: Plan) -> Self {
        Self::Plan(plan)
    }
}

/// Parses, runs, reports.
pub fn run() -> ExitCode {
    if completion::answer(Cli::command) {
        return ExitCode::SUCCESS;
    }
    let (mut announced, mut failed) = (false, false);
    loop {
        let cli = match Cli::try_parse() {
            Ok(cli) => cli,
            Err(error) => {
                terminal::Settings::of(&terminal::arguments()).apply();
                return misuse(error);
            }
        };
        cli.settings.apply();
        let watches = cli.watches();
        if watches {
            watch::begin();
        }
        let code = match cli.run() {
            Ok(()) => {
                if failed {
                    terminal::advise("fixed\n");
                }
                failed = false;
                ExitCode::SUCCESS
            }
            Err(error) => {
                failed = true;
                terminal::report(&error)
            }
        };
        if watches && !announced {
            terminal::advise("watching for changes; stop with Ctrl-C\n");
            announced = true;
        }
        if !watches || terminal::is_lost() || !watch::wait() {
            return code;
        }
    }
}

/// `--dir`, in the help of no command that would refuse it.
fn hidden_dir() -> clap::Arg {
    clap::Arg::new("dir").long("dir").hide(true).value_parser(clap::value_parser!(PathBuf))
}

/// Reports a command line that clap refused, or prints the help that was asked for.
fn misuse(mut error: clap::Error) -> ExitCode {
    let mut program = Cli::command();
    program.build();
    let hints = habits::hints(&error, &program, &terminal::arguments());
    habits::keep_near_tips(&mut error);
    terminal::misuse(&error, &hints)
}

impl Cli {
    /// Whether the command runs again whenever a file that it read changes.
    fn watches(&self) -> bool {
        match &self.command {
            Command::OnFiles(FileCommand::Manifests(args)) => args.watch,
            Command::OnFiles(FileCommand::Generate(args)) => {
                args.of_any_project().is_some_and(|it| it.watch)
            }
            _ => false,
        }
    }

    fn run(self) -> anyhow::Result<()> {
        let dir = self.dir.as_deref();
        match self.command {
            Command::OnFiles(command) => command.run(dir),
            Command::OnCluster(command) => command.run(&reading(&location::of_project(dir)?)?),
            Command::StandAlone(_) if self.dir.is_some() => Err(terminal::usage(
                clap::error::ErrorKind::ArgumentConflict,
                "this command does not use a project: leave out `--dir`",
            )),
            Command::StandAlone(command) => command.run(),
        }
    }
}

impl FileCommand {
    fn run(self, dir: Option<&Path>) -> anyhow::Result<()> {
        let dir = &self.folder(dir)?;
        match self {
            Self::Init(args) => writing(dir, &args.mode.clone(), |it| args.plan(dir, it)),
            Self::Create(command) => command.run(dir),
            Self::Delete(command) => command.run(dir),
            Self::Manifests(args) => writing(dir, &args.mode.clone(), |it| args.plan(it)),
            Self::Generate(args) => args.run(dir),
            Self::Crds(command) => command.run(dir),
            Self::Bundle(args) => args.run(dir),
        }
    }

    /// The folder to work in.
    fn folder(&self, dir: Option<&Path>) -> anyhow::Result<PathBuf> {
        match self {
            // `init` makes the folder.
            Self::Init(_) => Ok(dir.unwrap_or(Path::new(".")).to_owned()),
            // These search for Cargo.toml, as cargo does.
            Self::Crds(_) => location::exact(dir),
            Self::Generate(args) if args.of_any_project().is_some() => location::exact(dir),
            Self::Bundle(args) if args.names_a_folder() => location::exact(dir),
            _ => location::of_project(dir),
        }
    }
}

impl ClusterCommand {
    fn run(self, root: &Root) -> anyhow::Result<()> {
        match self {
            Self::Install(args) => args.run(root),
            Self::Uninstall(args) => args.run(root),
            Self::Deploy(args) => args.run(root),
            Self::Undeploy(args) => args.run(root),
            Self::Test(args) => args.run(root),
        }
    }
}

impl StandAloneCommand {
    fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Version(args) => args.run(),
            Self::Completion(args) => args.run(),
            Self::Man(args) => args.run(Cli::command()),
        }
    }
}

/// Runs a command that writes into the project's folder.
fn writing<T: Into<Outcome>>(
    dir: &Path,
    mode: &Mode,
    outcome: impl FnOnce(&Root) -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    let root = Root::new(dir)?;
    location::annotate(&root);
    begin(&root, mode)?;
    outcome(&root)?.into().settle(&root, mode)
}

/// The project's folder, for a command that does not write there.
fn reading(dir: &Path) -> anyhow::Result<Root> {
    let root = Root::new(dir)?;
    location::annotate(&root);
    root.require_whole()?;
    Ok(root)
}

/// Locks a folder that is to be written into, and completes what an interrupted run has left there; in a mode that
/// writes nothing, refuses such a folder.
fn begin(root: &Root, mode: &Mode) -> anyhow::Result<()> {
    if !mode.writes() {
        return root.require_whole();
    }
    root.lock()?;
    let Some(recovered) = root.recover()? else { return Ok(()) };
    let list: String = recovered.completed.iter().map(|it| format!("\n  {it}")).collect();
    if !list.is_empty() {
        terminal::warn(format!("an earlier run was interrupted; completed its changes:{list}"));
    } else if recovered.edited.is_empty() {
        terminal::warn("an earlier run was interrupted after it had written all files");
    }
    recovered.require_no_edits()
}

impl Outcome {
    fn settle(self, root: &Root, mode: &Mode) -> anyhow::Result<()> {
        match self {
            Self::Plan(plan) => settle(&plan, root, mode),
            Self::Text(text) => {
                terminal::data(&text);
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
    let changes = match mode.writes() {
        true => plan.against(root, mode.force)?,
        false => plan.forecast(root, mode.force)?,
    };
    changes.warnings.iter().cloned().for_each(terminal::warn);
    match mode {
        Mode { diff: true, .. } => terminal::diff(&changes.diff()),
        Mode { check: true, .. } => changes.require_none()?,
        Mode { dry_run: true, .. } => {
            terminal::list(&changes.to_string(), || changes.folded());
        }
        _ => {
            root.write(&changes)?;
            terminal::list(&changes.to_string(), || changes.folded());
            if let Some(next) = &changes.next {
                terminal::advise(&format!("\n{next}\n"));
            }
        }
    }
    changes.require_no_conflicts("without this flag, nothing would be written")
}

/// Reads the PROJECT file, which every command but `init` starts from.
fn project(tree: &impl Tree) -> anyhow::Result<Project> {
    let Some(text) = tree.read(&Project::path())? else {
        let place = match tree.dir() {
            Some(dir) if dir != Path::new(".") => format!("in `{}`", dir.display()),
            _ => "here".to_owned(),
        };
        return Err(anyhow::format_err!("there is no PROJECT file {place}")).hint(
            "this command works in the directory of a project and below it; `operator-rs init` starts a project",
        );
    };
    Project::from_text(&text)
}
