//! Questions to a person at the terminal.

use std::{
    fmt,
    io::{self, IsTerminal as _},
    str::FromStr,
};

use super::{escape_controls, usage_error};
use model::Deadline;

/// Returns whether a user can answer questions at the terminal.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Returns the value of the flag, or else the answer of a person at the terminal. The prompt accepts what the flag
/// accepts. Without a terminal, a missing flag is a usage error.
pub fn ask_for_value<T>(given: Option<T>, flag: &str, example: &str) -> anyhow::Result<T>
where
    T: Clone + fmt::Display + FromStr,
    T::Err: fmt::Display,
{
    if let Some(value) = given {
        return Ok(value);
    }
    if !is_interactive() {
        return Err(usage_error(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!(
                "`--{flag}` is required when stdin is not a terminal, e.g. `--{flag} {example}`"
            ),
        ));
    }
    let answer = dialoguer::Input::new()
        .with_prompt(format!("{flag} (e.g. {example})"))
        .validate_with(|text: &String| {
            text.parse::<T>().map(drop).map_err(|error| error.to_string())
        })
        .interact_text();
    match answer {
        Ok(text) => text.parse().map_err(|error: T::Err| anyhow::format_err!("{error}")),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => {
            Err(anyhow::format_err!("interrupted; nothing was written"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks the user to confirm. Returns `None` if the question is left unanswered.
pub fn confirm(question: &str) -> anyhow::Result<Option<bool>> {
    let prompt = dialoguer::Confirm::new().with_prompt(escape_controls(question)).default(false);
    match Deadline::while_asking(|| prompt.interact()) {
        Ok(answer) => Ok(Some(answer)),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Asks the user to confirm. Without a terminal, the flag is required.
pub fn confirm_or_flag(question: &str, flag: &str) -> anyhow::Result<bool> {
    if !is_interactive() {
        return Err(usage_error(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!("`--{flag}` is required when stdin is not a terminal"),
        ));
    }
    Ok(confirm(question)?.unwrap_or(false))
}
