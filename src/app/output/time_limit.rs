//! `--timeout`, the time limit of every command that talks to a server.

use anyhow::Error;

use diagnostics::{Hint as _, find_error};
use model::{Deadline, TimedOut};

/// Flattened into what connects to a server, so that no command can connect without it.
#[derive(Clone, Copy, clap::Args)]
pub struct TimeLimit {
    /// Time limit of the command and of everything that it waits for
    #[arg(
        id = "timeout",
        long = "timeout",
        value_name = "TIME",
        default_value = "5m",
        allow_hyphen_values = true
    )]
    pub deadline: Deadline,
}

impl TimeLimit {
    /// Returns the default of a command that may send thousands of requests, or large files.
    pub fn long(flag: clap::Arg) -> clap::Arg {
        flag.default_value("1h")
    }
}

/// Adds a hint if the command was still waiting at its deadline.
pub fn with_hint<T>(result: anyhow::Result<T>) -> anyhow::Result<T> {
    let is_late = |error: &Error| find_error::<TimedOut>(error).is_some();
    if result.as_ref().is_err_and(is_late) {
        return result.hint("wait longer with `--timeout`");
    }
    result
}
