//! The only room that speaks and listens.
//!
//! What is for people is shown without the control characters that files and servers may have put into it. Data is
//! printed as it is.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
    sync::OnceLock,
};

use anyhow::Context as _;

use crate::hint::hints;

/// Why stdout took no more. What a command does goes on all the same: half of its work would be worse than a list
/// that is cut off.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Data goes to stdout, byte by byte.
pub fn data(text: &str) {
    if LOST.get().is_some() {
        return;
    }
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        let _ = LOST.set(error);
    }
}

/// What a command did, for people.
pub fn print(text: &str) {
    data(&shown(text));
}

/// A diff is text for people on a terminal; elsewhere, `patch` may read it.
pub fn diff(text: &str) {
    match io::stdout().is_terminal() {
        true => print(text),
        false => data(text),
    }
}

/// Whether nobody reads stdout any more, or nothing more fits.
pub fn is_lost() -> bool {
    LOST.get().is_some()
}

/// The exit status, which tells lost output too. A reader that went away, as `head` does, has read what it wanted.
pub fn end(code: ExitCode) -> ExitCode {
    match LOST.get() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            advise(&format!("error: stdout cannot be written: {error}\n"));
            advise("hint: only the output is incomplete; the command has done its work\n");
            ExitCode::FAILURE
        }
        _ => code,
    }
}

/// Advice goes to stderr, so that data stays data. Where that cannot be written, there is nobody to tell.
pub fn advise(text: &str) {
    let _ = io::stderr().lock().write_all(shown(text).as_bytes());
}

/// A text without what a terminal would obey: control characters, and those that turn the direction of writing.
fn shown(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return text.into();
    }
    let mut res = String::new();
    for c in text.chars() {
        if obeyed(c) {
            res.extend(c.escape_unicode());
        } else {
            res.push(c);
        }
    }
    res.into()
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

/// All variables of the environment that are text, by their names.
pub fn variables() -> BTreeMap<String, String> {
    let text = |it: OsString| it.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

/// The words of the command line after the program's name.
pub fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect()
}

/// The file that a program's name leads to.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return Some(path.to_owned()).filter(|it| it.is_file());
    }
    let folders = variable("PATH").ok()??;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&folders).map(|it| it.join(&file)).find(|it| it.is_file())
}

/// Whether there is a person to ask.
pub fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The names of the environment's variables that begin so.
pub fn variable_names(start: &str) -> Vec<OsString> {
    let names = std::env::vars_os().map(|it| it.0);
    names.filter(|it| it.as_encoded_bytes().starts_with(start.as_bytes())).collect()
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
    advise(&format!("warning: {text}\n"));
}

/// Tells what went wrong, why, and what to do about it. Exit 2 is for what was asked wrongly.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.chain().find_map(|it| it.downcast_ref::<clap::Error>()) {
        show(usage);
        return ExitCode::from(2);
    }
    advise(&format!("error: {error}\n"));
    for cause in error.chain().skip(1) {
        advise(&format!("  because: {cause}\n"));
    }
    for hint in hints(error) {
        advise(&format!("hint: {hint}\n"));
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
    if !has_person() {
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

/// Whether a person agrees; nothing where the question is left without an answer.
pub fn confirm(question: &str) -> anyhow::Result<Option<bool>> {
    match dialoguer::Confirm::new().with_prompt(shown(question)).default(false).interact() {
        Ok(answer) => Ok(Some(answer)),
        Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a person at the terminal agrees. Where there is nobody to ask, the flag is missing.
pub fn agree(question: &str, flag: &str) -> anyhow::Result<bool> {
    if !has_person() {
        return Err(usage(
            clap::error::ErrorKind::MissingRequiredArgument,
            &format!("there is nobody to ask: give `--{flag}` to go on all the same"),
        ));
    }
    Ok(confirm(question)?.unwrap_or(false))
}

/// An error in how the command was called: exit 2, as clap's own.
pub fn usage(kind: clap::error::ErrorKind, message: &str) -> anyhow::Error {
    clap::Error::raw(kind, format!("{message}\n")).into()
}

/// Reports a command line that clap refused, with hints in place of clap's own tips where there are some. Also prints
/// help.
pub fn misuse(error: &clap::Error, hints: &[String]) -> ExitCode {
    if hints.is_empty() {
        show(error);
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.render().to_string();
    advise(&format!("{}\n", text.lines().next().unwrap_or_default()));
    hints.iter().for_each(|it| advise(&format!("hint: {it}\n")));
    ExitCode::from(2)
}

/// clap's own words: help in colour; an error, which repeats what was typed, without.
fn show(error: &clap::Error) {
    if error.use_stderr() {
        advise(&error.render().to_string());
    } else if let Err(lost) = error.print() {
        let _ = LOST.set(lost);
    }
}

#[test]
fn nothing_that_is_shown_is_obeyed() {
    for (text, expected) in [
        ("a\tb\n", "a\tb\n"),
        ("Früchte → 🦀", "Früchte → 🦀"),
        ("\u{1b}[31m\r\u{7f}\u{9b}", "\\u{1b}[31m\\u{d}\\u{7f}\\u{9b}"),
        ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
    ] {
        assert_eq!(shown(text), expected);
    }
}
