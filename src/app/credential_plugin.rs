//! Runs the credential plugins of kubeconfigs.

use anyhow::Context as _;

use crate::{
    process::{self, Input, ProgramPath, Question, Reply},
    terminal,
};
use cluster::{Plugin, Plugins};
use diagnostics::Hint as _;
use model::{Deadline, display_path};

/// No credentials are longer.
const LONGEST: u64 = 1 << 20;

/// Settings of this program for running credential plugins.
pub fn plugins() -> Plugins {
    Plugins { run, has_terminal: terminal::has_person() }
}

/// Returns what a plugin prints. No error shows it: it may be a secret.
fn run(plugin: &Plugin, deadline: Deadline) -> anyhow::Result<String> {
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
