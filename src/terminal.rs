//! The only room that speaks and listens.

#![expect(clippy::print_stderr, reason = "it is what this room is for")]

use std::{
    fmt,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    str::FromStr,
};

use anyhow::Context as _;

use crate::hint::hints;

/// Data goes to stdout. A reader that went away is no fault of ours.
pub fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// Advice goes to stderr, so that data stays data.
pub fn advise(text: &str) {
    eprint!("{text}");
}

/// All that is piped in.
pub fn listen() -> anyhow::Result<String> {
    io::read_to_string(io::stdin()).context("reading stdin")
}

/// A variable of the environment; none where it is not set, or empty.
#[expect(clippy::disallowed_methods, reason = "this is the room that looks at the environment")]
pub fn variable(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text).filter(|it| !it.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading the variable {name}")),
    }
}

/// This machine's kind, as Go names it: `linux-amd64`.
pub fn platform() -> String {
    use std::env::consts::{ARCH, OS};
    let os = if OS == "macos" { "darwin" } else { OS };
    let arch = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    };
    format!("{os}-{arch}")
}

/// Something the user should know, although the command went on.
pub fn warn(text: &str) {
    eprintln!("warning: {text}");
}

/// Tells what went wrong, why, and what to do about it. Exit 2 is for what was asked wrongly.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.chain().find_map(|it| it.downcast_ref::<clap::Error>()) {
        let _ = usage.print();
        return ExitCode::from(2);
    }
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
    for hint in hints(error) {
        eprintln!("hint: {hint}");
    }
    ExitCode::FAILURE
}

/// What the flag said; else what a person at the terminal answers. The prompt accepts what the flag
/// accepts. Where there is nobody to ask, a missing flag is a usage error.
pub fn ask<T>(given: Option<T>, flag: &str, example: &str) -> anyhow::Result<T>
where
    T: Clone + fmt::Display + FromStr,
    T::Err: fmt::Display,
{
    if let Some(value) = given {
        return Ok(value);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(usage(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!(
                "`--{flag}` is missing, and there is nobody to ask: give it, e.g. `--{flag} {example}`"
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

/// Whether a person at the terminal agrees. Where there is nobody to ask, the flag is missing.
pub fn agree(question: &str, flag: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(usage(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!("there is nobody to ask: give `--{flag}` to go on all the same"),
        ));
    }
    match dialoguer::Confirm::new().with_prompt(question).default(false).interact() {
        Ok(answer) => Ok(answer),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// An error in how the command was called: exit 2, as clap's own.
pub fn usage(kind: clap::error::ErrorKind, message: &str) -> anyhow::Error {
    clap::Error::raw(kind, format!("{message}\n")).into()
}

/// Tells how a command was misused, and what to type instead where that is known. Help is no misuse.
pub fn misuse(error: &clap::Error, advice: Option<&str>) -> ExitCode {
    let Some(advice) = advice else {
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    };
    // clap's own tips guess from spelling; this one knows.
    let text = error.render().to_string();
    eprintln!("{}", text.lines().next().unwrap_or_default());
    eprintln!("hint: {advice}");
    ExitCode::from(2)
}
