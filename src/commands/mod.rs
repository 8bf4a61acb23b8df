//! The command line. The folder has one file or directory for each command, by its name.

mod adopt;
mod borrowed_flags;
mod bundle;
mod catalog;
mod chart;
mod cleanup;
mod completion;
mod crds;
mod create;
mod delete;
mod deploy;
mod edit;
mod envtest;
pub mod generate;
mod image;
mod init;
mod install;
mod man;
mod manifests;
mod migrate;
mod olm;
mod overview;
mod peer_commands;
mod repeated_options;
mod run;
mod scorecard;
mod status;
mod undeploy;
mod uninstall;
mod version;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::app::output::{
    location,
    outcome::{Outcome, OutputMode, reading, writing},
    time_limit,
};

use crate::{disk::watch, terminal};
use cluster::Interrupted;

/// Build Kubernetes operators in Rust: scaffold them, generate CRDs, RBAC and OLM bundles, deploy and test them
#[derive(clap::Parser)]
#[command(
    name = "operator-rs",
    bin_name = "operator-rs",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  operator-rs init --domain example.com
  operator-rs create api --help    # what a command takes, with examples"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Directory of the project [default: the nearest one with a PROJECT file; with `init`, the current one]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Common options")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    settings: terminal::Settings,
}

/// Every command, in the order of man pages and completions; `overview` groups them for the help.
#[derive(clap::Subcommand)]
enum Command {
    Init(init::Args),
    Adopt(adopt::Args),
    #[command(subcommand)]
    Create(create::CreateSubcommand),
    #[command(subcommand)]
    Delete(delete::DeleteSubcommand),
    Edit(edit::Args),
    Manifests(manifests::Args),
    Generate(generate::Args),
    #[command(subcommand)]
    Crds(crds::CrdsSubcommand),
    Bundle(Box<bundle::Args>),
    #[command(subcommand)]
    Catalog(catalog::CatalogSubcommand),
    #[command(subcommand)]
    Chart(Box<chart::ChartSubcommand>),
    #[command(subcommand)]
    Image(Box<image::ImageSubcommand>),
    Scorecard(scorecard::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Deploy(deploy::Args),
    Undeploy(undeploy::Args),
    Migrate(migrate::Args),
    Test(envtest::Args),
    Status(status::Args),
    #[command(subcommand)]
    Olm(olm::OlmSubcommand),
    #[command(subcommand)]
    Run(run::RunSubcommand),
    Cleanup(cleanup::Args),
    Version(version::Args),
    Completion(completion::Args),
    Man(man::Args),
}

/// A parsed command.
trait RunCommand: Sized + 'static {
    /// Returns the directory that the command works in.
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::OfProject
    }

    /// Returns whether the command runs again whenever a file that it read changes.
    fn watches_files(&self) -> bool {
        false
    }

    /// Runs it in this directory.
    fn run(self, dir: &Path) -> anyhow::Result<()>;
}

/// The directory that a command works in, and what `--dir` means to it.
enum WorkingDirectory {
    /// The one that `--dir` names; else the nearest one with a PROJECT file.
    OfProject,
    /// The one that `--dir` names; else the current one.
    Exact,
    /// Like `Exact`, and the command creates the directory.
    Created,
    /// The current one: the command uses neither a project nor files, and refuses `--dir`.
    Unused,
}

impl WorkingDirectory {
    fn resolve(&self, dir: Option<&Path>) -> anyhow::Result<PathBuf> {
        match self {
            Self::OfProject => location::of_project(dir),
            Self::Exact => location::exact(dir),
            Self::Created => Ok(dir.unwrap_or(Path::new(".")).to_owned()),
            Self::Unused if dir.is_some() => Err(terminal::usage_error(
                clap::error::ErrorKind::ArgumentConflict,
                "this command does not use a project: leave out `--dir`",
            )),
            Self::Unused => Ok(PathBuf::from(".")),
        }
    }
}

/// Runs a command in a directory.
type Runner = Box<dyn FnOnce(&Path) -> anyhow::Result<()>>;

/// Any parsed command.
struct AnyCommand {
    working_directory: WorkingDirectory,
    watches_files: bool,
    run: Runner,
}

impl<T: RunCommand> From<T> for AnyCommand {
    fn from(command: T) -> Self {
        Self {
            working_directory: command.working_directory(),
            watches_files: command.watches_files(),
            run: Box::new(|dir| command.run(dir)),
        }
    }
}

impl From<Command> for AnyCommand {
    fn from(command: Command) -> Self {
        match command {
            Command::Init(args) => args.into(),
            Command::Adopt(args) => args.into(),
            Command::Create(args) => args.into(),
            Command::Delete(args) => args.into(),
            Command::Edit(args) => args.into(),
            Command::Manifests(args) => args.into(),
            Command::Generate(args) => args.into(),
            Command::Crds(args) => args.into(),
            Command::Bundle(args) => (*args).into(),
            Command::Catalog(args) => args.into(),
            Command::Chart(args) => (*args).into(),
            Command::Image(args) => (*args).into(),
            Command::Scorecard(args) => args.into(),
            Command::Install(args) => args.into(),
            Command::Uninstall(args) => args.into(),
            Command::Deploy(args) => args.into(),
            Command::Undeploy(args) => args.into(),
            Command::Migrate(args) => args.into(),
            Command::Test(args) => args.into(),
            Command::Status(args) => args.into(),
            Command::Olm(args) => args.into(),
            Command::Run(args) => args.into(),
            Command::Cleanup(args) => args.into(),
            Command::Version(args) => args.into(),
            Command::Completion(args) => args.into(),
            Command::Man(args) => args.into(),
        }
    }
}

/// Parses, runs, reports.
pub fn run() -> ExitCode {
    if completion::print_candidates(Cli::command) {
        return ExitCode::SUCCESS;
    }
    let (mut announced, mut failed) = (false, false);
    loop {
        let parsed =
            repeated_options::parse_command_line(overview::with_command_groups(Cli::command()));
        let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => cli,
            Err(error) => {
                terminal::Settings::from_arguments(&terminal::command_arguments()).make_current();
                return report_misuse(error);
            }
        };
        cli.settings.make_current();
        terminal::fit_hints(borrowed_flags::qualify_flags);
        let AnyCommand { working_directory, watches_files: watches, run } = cli.command.into();
        if watches {
            watch::start_recording();
        }
        let done = working_directory.resolve(cli.dir.as_deref()).and_then(|dir| run(&dir));
        let done = done.and_then(|()| terminal::require_no_warnings());
        let code = match time_limit::with_hint(done) {
            Ok(()) => {
                if failed {
                    terminal::print_advice("fixed\n");
                }
                failed = false;
                terminal::print_remaining_count();
                ExitCode::SUCCESS
            }
            Err(error) => {
                failed = true;
                match (
                    terminal::report_error(&error),
                    diagnostics::find_error::<Interrupted>(&error).is_some(),
                ) {
                    // Shells report this status for a program that SIGINT has ended.
                    (_, true) => ExitCode::from(130),
                    (code, _) => code,
                }
            }
        };
        if watches && !announced {
            terminal::print_advice("watching for changes; stop with Ctrl-C\n");
            announced = true;
        }
        if !watches || terminal::stdout_is_lost() || !watch::wait_for_change() {
            return code;
        }
    }
}

/// `--dir`, in the help of no command that would refuse it.
fn hidden_dir() -> clap::Arg {
    clap::Arg::new("dir").long("dir").hide(true).value_parser(clap::value_parser!(PathBuf))
}

/// `--dir` of a command that needs no project and is given paths.
fn dir_of_paths() -> clap::Arg {
    hidden_dir()
        .hide(false)
        .value_name("DIR")
        .help("Directory that paths are relative to [default: the current one]")
        .help_heading("Common options")
}

/// Reports a command line that clap refused, or prints the requested help.
fn report_misuse(mut error: clap::Error) -> ExitCode {
    let mut program = Cli::command();
    program.build();
    let hints = peer_commands::find_hints(&error, &program, &terminal::command_arguments());
    peer_commands::keep_near_tips(&mut error);
    terminal::report_usage_error(&error, &hints)
}

#[test]
fn a_negative_number_is_a_value_and_no_flag() {
    use std::any::TypeId;
    fn check(command: &clap::Command) {
        let numbers = [TypeId::of::<u16>(), TypeId::of::<i64>(), TypeId::of::<usize>()];
        for argument in command.get_arguments() {
            let is_number = numbers.iter().any(|of| argument.get_value_parser().type_id() == *of);
            let accepts =
                argument.is_allow_negative_numbers_set() || argument.is_allow_hyphen_values_set();
            assert!(!is_number || accepts, "{} --{}", command.get_name(), argument.get_id());
        }
        command.get_subcommands().for_each(check);
    }
    check(&Cli::command());
}

#[test]
fn each_dry_run_of_a_cluster_command_says_whether_it_asks_the_cluster() {
    fn check(command: &clap::Command, path: &str, readers: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        for argument in command.get_arguments().filter(|argument| argument.get_id() == "dry_run") {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            if help
                == "Read from the cluster and list the changes; with `server`, the API server validates them and changes nothing"
            {
                readers.push(path.clone());
            } else if argument.get_help_heading() == Some("Cluster") {
                assert!(help.contains("without contacting the cluster"), "{path}: {help}");
            }
        }
        command.get_subcommands().for_each(|command| check(command, &path, readers));
    }
    let mut readers = Vec::new();
    check(&Cli::command(), "", &mut readers);
    let expected = ["migrate", "olm uninstall", "run bundle-upgrade", "cleanup"];
    assert_eq!(readers, expected.map(|command| format!(" operator-rs {command}")));
}

#[test]
fn former_names_of_flags_are_accepted() {
    use clap::Parser as _;
    for line in [
        "bundle --channel alpha,beta --bundle-dir other",
        "catalog add bundle --catalog other --channel stable",
        "catalog build --catalog other",
        "catalog push quay.io/example/catalog:v1 --catalog other",
        "catalog render bundle --migrate",
        "generate catalog --catalog other --channel stable",
        "run bundle --v1 quay.io/example/bundle:v1",
        "run bundle-upgrade --v1 quay.io/example/bundle:v1",
        "bundle validate --select-optional name=multiarch --optional-values k8s-version=1.30",
        "bundle validate --list-optional",
        "crds diff --allow default,enum --allow type",
    ] {
        let words = ["operator-rs"].into_iter().chain(line.split(' '));
        assert!(Cli::try_parse_from(words).is_ok(), "{line}");
    }
}

#[test]
fn each_command_has_an_example() {
    fn check(command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Examples:\n"), "{}", command.get_name());
        command.get_subcommands().filter(|command| !command.is_hide_set()).for_each(check);
    }
    check(&Cli::command());
}
