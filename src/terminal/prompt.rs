//! Questions to a person at the terminal.

use std::{
    fmt,
    io::{self, IsTerminal as _},
    str::FromStr,
};

use super::{shown, usage};
use model::Deadline;

/// Whether there is a person to ask.
pub fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The value of the flag, or else the answer of a person at the terminal. The prompt accepts what the flag
/// accepts. Without a terminal, a missing flag is a usage error.
pub fn ask<T>(given: Option<T>, flag: &str, example: &str) -> anyhow::Result<T>
where
    T: Clone + fmt::Display + FromStr,
    T::Err: fmt::Display,
{
    if let Some(value) = given {
        return Ok(value);
    }
    if !has_person() {
        return Err(usage(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!(
                "`--{flag}` is required when stdin is not a terminal, e.g. `--{flag} {example}`"
            ),
        ));
    }
    let answer = dialoguer::Input::new()
        .with_prompt(format!("{flag} (e.g. {example})"))
        .validate_with(|text: &String| text.parse::<T>().map(drop).map_err(|it| it.to_string()))
        .interact_text();
    match answer {
        Ok(text) => text.parse().map_err(|it: T::Err| anyhow::format_err!("{it}")),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => {
            Err(anyhow::format_err!("interrupted; nothing was written"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a person agrees; nothing where the question is left without an answer.
pub fn confirm(question: &str) -> anyhow::Result<Option<bool>> {
    let prompt = dialoguer::Confirm::new().with_prompt(shown(question)).default(false);
    match Deadline::while_asking(|| prompt.interact()) {
        Ok(answer) => Ok(Some(answer)),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a person at the terminal agrees. Without a terminal, the flag is required.
pub fn agree(question: &str, flag: &str) -> anyhow::Result<bool> {
    if !has_person() {
        return Err(usage(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!("`--{flag}` is required when stdin is not a terminal"),
        ));
    }
    Ok(confirm(question)?.unwrap_or(false))
}
