//! `operator-rs completion`, and the candidates that its scripts ask for at each Tab.
//!
//! A script runs the program again with `VARIABLE` set to the shell's name. That run only reads PROJECT, and prints
//! nothing but candidates: no warning, no error.

use std::{collections::BTreeSet, ffi::OsString, path::Path};

use super::{RunCommand, WorkingDirectory};
use clap::ValueEnum as _;
use clap_complete::{
    ArgValueCandidates, CompletionCandidate,
    env::{Bash, EnvCompleter, Fish, Powershell, Zsh},
};

use crate::project::{Project, Resource};
use crate::{
    disk::{self, Root},
    terminal,
};

const PROGRAM: &str = "operator-rs";
const VARIABLE: &str = "OPERATOR_RS_COMPLETE";

/// Print a completion script
///
/// The script completes commands and flags, and the groups, kinds and versions of the current project.
#[derive(clap::Args)]
#[command(
    arg(super::hidden_dir()),
    after_help = "\
Examples:
  source <(operator-rs completion bash)        # in ~/.bashrc
  source <(operator-rs completion zsh)         # in ~/.zshrc, after compinit
  operator-rs completion fish | source         # in ~/.config/fish/config.fish"
)]
pub struct Args {
    /// Shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl Shell {
    fn env_completer(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Zsh => &Zsh,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
        }
    }
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Unused
    }

    fn run(self, _dir: &Path) -> anyhow::Result<()> {
        let mut script = Vec::new();
        self.shell.env_completer().write_registration(
            VARIABLE,
            PROGRAM,
            PROGRAM,
            PROGRAM,
            &mut script,
        )?;
        terminal::write_data(&String::from_utf8(script)?);
        Ok(())
    }
}

/// Prints candidates if a completion script asks for them; says whether it did.
pub fn print_candidates(program: impl FnOnce() -> clap::Command) -> bool {
    let Ok(Some(shell)) = terminal::variable(VARIABLE) else { return false };
    let Ok(shell) = Shell::from_str(&shell, false) else { return false };
    // Scripts call `operator-rs -- operator-rs …`. With the variable alone, every command would do nothing.
    let arguments = terminal::command_arguments();
    if arguments.first().is_none_or(|word| word != "--") {
        return false;
    }
    let typed: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let resources = read_resources(&typed).unwrap_or_default();
    let mut program = with_candidates(program(), &resources, &typed);
    let words: Vec<OsString> = typed.iter().skip(1).map(OsString::from).collect();
    let mut candidates = Vec::new();
    let folder = terminal::current_folder();
    if shell
        .env_completer()
        .write_complete(&mut program, words, folder.as_deref(), &mut candidates)
        .is_ok()
    {
        terminal::write_data(&String::from_utf8_lossy(&candidates));
    }
    true
}

/// The resources of the project that the command line is about.
fn read_resources(typed: &[&str]) -> anyhow::Result<Vec<Resource>> {
    let here = Path::new(flag_value(typed, "--dir").unwrap_or("."));
    let project_file = Project::path();
    let root = match disk::find_up(here, project_file.as_str())? {
        Some(ancestor) if !disk::has_file(here, project_file.as_str()) && ancestor.same_owner => {
            Root::new(&ancestor.folder)?
        }
        _ => Root::new(here)?,
    };
    Ok(Project::read_any_layout(&root)?.resources)
}

/// The value that a command line already gives to a flag.
fn flag_value<'a>(typed: &[&'a str], flag: &str) -> Option<&'a str> {
    let mut rest = typed.iter();
    while let Some(word) = rest.next() {
        match word.strip_prefix(flag) {
            Some("") => return rest.next().copied(),
            Some(value) if value.starts_with('=') => return Some(&value[1..]),
            _ => {}
        }
    }
    None
}

/// Adds the groups, kinds and versions of a project to the commands about its APIs: of the group and kind that are
/// already given, where the project has these.
fn with_candidates(
    program: clap::Command,
    resources: &[Resource],
    typed: &[&str],
) -> clap::Command {
    let given = |flag: &str| {
        let value = flag_value(typed, &format!("--{flag}"))?;
        resources
            .iter()
            .filter_map(|resource| field_of(resource, flag))
            .find(|candidate| candidate == value)
    };
    let (group, kind) = (given("group"), given("kind"));
    let candidates = |flag: &str| {
        let same = |resource: &&Resource, of: &str, value: &Option<String>| {
            value.is_none() || field_of(resource, of) == *value
        };
        let all =
            resources.iter().filter(|resource| flag == "group" || same(resource, "group", &group));
        let all = all.filter(|resource| flag != "version" || same(resource, "kind", &kind));
        let all: BTreeSet<String> = all.filter_map(|resource| field_of(resource, flag)).collect();
        ArgValueCandidates::new(move || all.iter().map(CompletionCandidate::new).collect())
    };
    let in_api = |arg: clap::Arg| match arg.get_id().as_str() {
        flag @ ("group" | "kind" | "version") => {
            let candidates = candidates(flag);
            arg.add(candidates)
        }
        _ => arg,
    };
    program.mut_subcommands(|command| match command.get_name() {
        "create" | "delete" => command.mut_subcommands(|command| command.mut_args(in_api)),
        _ => command,
    })
}

/// Returns the value of a resource for `--group`, `--kind` or `--version`.
fn field_of(resource: &Resource, flag: &str) -> Option<String> {
    match flag {
        "group" => resource.group.as_ref().map(ToString::to_string),
        "kind" => Some(resource.kind.to_string()),
        _ => Some(resource.version.to_string()),
    }
}
