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

use crate::app::{
    location,
    outcome::{Outcome, OutputMode, reading, writing},
    time_limit,
};

use crate::{
    disk::{Root, watch},
    terminal,
};
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

/// Every command, by what it is given.
#[derive(clap::Subcommand)]
enum Command {
    #[command(flatten)]
    OnFiles(FileCommand),
    #[command(flatten)]
    OnCluster(ClusterCommand),
    #[command(flatten)]
    OnOlm(OlmCommand),
    #[command(flatten)]
    StandAlone(StandAloneCommand),
}

/// Commands that read a directory, and write files or print data.
#[derive(clap::Subcommand)]
enum FileCommand {
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
}

/// Commands that act on an API server and write no file of the project.
#[derive(clap::Subcommand)]
enum ClusterCommand {
    Install(install::Args),
    Uninstall(uninstall::Args),
    Deploy(deploy::Args),
    Undeploy(undeploy::Args),
    Migrate(migrate::Args),
    Test(envtest::Args),
    Status(status::Args),
}

/// Commands that act on a cluster with OLM and need no project.
#[derive(clap::Subcommand)]
enum OlmCommand {
    #[command(subcommand)]
    Olm(olm::OlmSubcommand),
    #[command(subcommand)]
    Run(run::RunSubcommand),
    Cleanup(cleanup::Args),
}

/// Commands that need no project.
#[derive(clap::Subcommand)]
enum StandAloneCommand {
    Version(version::Args),
    Completion(completion::Args),
    Man(man::Args),
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
        let watches = cli.watches_files();
        if watches {
            watch::start_recording();
        }
        let done = cli.run().and_then(|()| terminal::require_no_warnings());
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

impl Cli {
    /// Returns whether the command runs again whenever a file that it read changes.
    fn watches_files(&self) -> bool {
        match &self.command {
            Command::OnFiles(FileCommand::Manifests(args)) => args.watch,
            Command::OnFiles(FileCommand::Generate(args)) => args.watches_files(),
            _ => false,
        }
    }

    fn run(self) -> anyhow::Result<()> {
        let dir = self.dir.as_deref();
        match self.command {
            Command::OnFiles(command) => command.run(dir),
            Command::OnCluster(ClusterCommand::Migrate(args))
                if dir.is_none() && args.names_crds() =>
            {
                args.run(None)
            }
            Command::OnCluster(command) => command.run(&reading(&location::of_project(dir)?)?),
            Command::OnOlm(command) if dir.is_none() || command.reads_files() => {
                command.run(&location::exact(dir)?)
            }
            Command::StandAlone(_) | Command::OnOlm(_) if self.dir.is_some() => {
                Err(terminal::usage_error(
                    clap::error::ErrorKind::ArgumentConflict,
                    "this command does not use a project: leave out `--dir`",
                ))
            }
            Command::OnOlm(command) => command.run(Path::new(".")),
            Command::StandAlone(command) => command.run(),
        }
    }
}

impl FileCommand {
    fn run(self, dir: Option<&Path>) -> anyhow::Result<()> {
        let dir = &self.working_folder(dir)?;
        match self {
            Self::Init(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write_files(dir, tree, root))
            }
            Self::Adopt(args) => args.run(dir),
            Self::Create(command) => command.run(dir),
            Self::Delete(command) => command.run(dir),
            Self::Edit(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write_files(tree, root))
            }
            Self::Manifests(args) => args.run(dir),
            Self::Generate(args) => args.run(dir),
            Self::Crds(command) => command.run(dir),
            Self::Bundle(args) => args.run(dir),
            Self::Catalog(command) => command.run(dir),
            Self::Chart(command) => command.run(dir),
            Self::Image(command) => command.run(dir),
            Self::Scorecard(args) => args.run(dir),
        }
    }

    /// The folder to work in.
    fn working_folder(&self, dir: Option<&Path>) -> anyhow::Result<PathBuf> {
        match self {
            // `init` makes the folder.
            Self::Init(_) => Ok(dir.unwrap_or(Path::new(".")).to_owned()),
            // A catalog may be outside of any project.
            Self::Catalog(_) => location::exact(dir),
            // These search for Cargo.toml, as cargo does.
            Self::Crds(_) | Self::Adopt(_) | Self::Chart(_) => location::exact(dir),
            Self::Generate(args) if args.is_of_any_project() => location::exact(dir),
            Self::Bundle(args) if args.names_a_folder() => location::exact(dir),
            Self::Scorecard(args) if args.names_a_folder() => location::exact(dir),
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
            Self::Migrate(args) => args.run(Some(root)),
            Self::Test(args) => args.run(root),
            Self::Status(args) => args.run(root),
        }
    }
}

impl OlmCommand {
    /// Returns whether the command may be given paths of files.
    fn reads_files(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Olm(olm::OlmSubcommand::Install(_)))
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Olm(command) => command.run(dir),
            Self::Run(command) => command.run(dir),
            Self::Cleanup(args) => args.run(),
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
