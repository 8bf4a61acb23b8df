//! The shell that supervises a program.

use std::process::Command;

use super::ProgramPath;

/// Returns a shell in a new process group, so that Ctrl-C reaches only this process; the pipe does the rest.
pub(super) fn supervising_shell(script: &str) -> anyhow::Result<Command> {
    let mut command = ProgramPath::require("sh")?.command();
    command.args(["-c", script, "sh"]);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}
