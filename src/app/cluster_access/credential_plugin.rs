//! Reads kubeconfigs and the files that they name, and runs their credential plugins.

use std::path::Path;

use anyhow::Context as _;

use crate::{
    disk::{self, Bounds},
    process::{self, Input, ProgramPath, Question, Reply},
    terminal,
};
use cluster::{Host, Plugin};
use diagnostics::Hint as _;
use model::{Deadline, display_path};

/// The size of the largest kubeconfig that is read, in bytes. One with a thousand clusters has some MiB.
const LARGEST: u64 = 64 << 20;

/// No credentials are longer.
const LONGEST: u64 = 1 << 20;

/// Returns the functions that read the files of kubeconfigs and run their plugins.
pub fn host() -> Host {
    Host { run: run_plugin, read: read_file, has_terminal: terminal::is_interactive() }
}

fn read_file(
    description: &str,
    path: &Path,
    deadline: Deadline,
) -> anyhow::Result<Option<Vec<u8>>> {
    disk::read_named(description, path, Bounds { bytes: LARGEST, deadline: Some(deadline) })
}

/// Returns what a plugin prints. No error shows it: it may be a secret.
fn run_plugin(plugin: &Plugin, deadline: Deadline) -> anyhow::Result<String> {
    let program = ProgramPath::find(&plugin.command);
    let program = program
        .context("the user's credential plugin does not start: there is no such program")
        .hint("install the program of the kubeconfig's `exec`, or add it to PATH")?;
    let arguments: Vec<&str> = plugin.arguments.iter().map(String::as_str).collect();
    let question = Question {
        program: &program,
        arguments: &arguments,
        variables: &plugin.variables,
        input: if plugin.is_interactive { Input::Terminal } else { Input::Text("") },
        limit: LONGEST,
        deadline,
    };
    let name = display_path(&program.as_path().file_name().unwrap_or_default());
    match process::answer(&question) {
        Ok(Reply::Printed(output)) => Ok(output),
        Ok(Reply::Failed { status, .. }) => {
            anyhow::bail!("the user's credential plugin failed: {status}")
        }
        Err(error) => match error.downcast::<model::TimedOut>() {
            Ok(late) => Err(late.for_another(format!("the credential plugin `{name}`")).into()),
            Err(error) => Err(error.context("the user's credential plugin does not start")),
        },
    }
}
