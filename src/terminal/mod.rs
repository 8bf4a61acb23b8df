//! The only layer that reads and writes stdin, stdout and stderr.
//!
//! Text for people is printed without the control characters that files and servers may have put into it. Data is
//! printed as it is. Everything on stderr has the format of `--message-format`.

mod environment;
mod message;
mod progress;
mod prompt;
mod secret;
mod settings;
mod shell;
mod style;
mod text;

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::OnceLock,
};

pub use environment::{
    cargo_variables, command_arguments, command_line, current_folder, go_platform, home_folder,
    variable, variable_names, variables,
};
pub use message::{
    fit_hints, print_finding, print_note, print_remaining_count, render_workflow_command,
    report_error, report_usage_error, require_no_warnings, usage_error, warn, warn_all,
};
pub use progress::{Step, show_waiting};
pub use prompt::{ask_for_value, confirm, confirm_or_flag, is_interactive};
pub use settings::{Settings, is_verbose, prints_annotations, set_annotation_root};
pub use shell::shell_word;
pub use text::{Look, Text, format_table};

use diagnostics::{Diagnostic, Severity};

/// Why stdout cannot be written any more. The command itself continues: half of its work would be worse than a list
/// that is cut off.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints data, byte by byte.
pub fn write_data(text: &str) {
    if LOST.get().is_some() {
        return;
    }
    progress::clear_waiting();
    progress::without_bar(|| {
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            let _ = LOST.set(error);
        }
    });
}

/// Prints a result, for people.
pub fn print(text: &str) {
    write_data(&escape_workflow_commands(&escape_controls(text)));
}

/// Prints a result whose parts have a look, for people.
pub fn print_styled(text: &Text) {
    write_data(&text.render(text::stdout_has_colour()));
}

/// Returns whether a person reads stdout on a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints what a command did, unless `--quiet` is given: `whole` with `--verbose`, else `listed`. On a terminal, `folded` is
/// the short form of the list.
pub fn print_changes(
    whole: &str,
    listed: impl FnOnce() -> String,
    folded: impl FnOnce() -> Option<String>,
) {
    let settings = settings::current();
    if settings.is_quiet {
        return;
    }
    if settings.is_verbose {
        return print(whole);
    }
    let short = if stdout_is_terminal() { folded() } else { None };
    print(&short.unwrap_or_else(listed));
}

/// Prints data that people cannot read; on a terminal, a text in its place.
pub fn write_binary_or(data: &str, text: impl FnOnce() -> String) {
    if stdout_is_terminal() { print(&text()) } else { self::write_data(data) }
}

/// Prints the diffs of files. They are text for people on a terminal and in the log of a workflow; elsewhere, `patch` may
/// read them.
pub fn print_diffs(files: impl Iterator<Item = String>) {
    for file in files {
        if stdout_is_terminal() || prints_annotations() {
            print_styled(&coloured_diff(&file))
        } else {
            write_data(&file)
        }
    }
}

/// Returns the diff of one file. A line that was removed or added may look like a header, so headers are known by their
/// place.
fn coloured_diff(file: &str) -> Text {
    const HEADERS: usize = 2;
    let look = |(at, line): (usize, &str)| match line.chars().next() {
        _ if at < HEADERS => Look::Heading,
        Some('@') => Look::Note,
        Some('-') => Look::Bad,
        Some('+') => Look::Good,
        _ => Look::Plain,
    };
    file.split_inclusive('\n').enumerate().map(|pair| Text::new(look(pair), pair.1)).collect()
}

/// Returns whether stdout is closed or full.
pub fn stdout_is_lost() -> bool {
    LOST.get().is_some()
}

/// Returns the exit status of a command, which is 1 where output was lost. A reader that closed the pipe, as `head`
/// does, has read what it needs.
pub fn final_exit_code(code: ExitCode) -> ExitCode {
    progress::clear_waiting();
    print_remaining_count();
    match LOST.get() {
        Some(error) if !is_closed_pipe(error) => {
            let message = format!("stdout cannot be written: {error}");
            let hint = "only the output is incomplete; the command has finished its work";
            message::print_diagnostic(Severity::Error, &Diagnostic::from(message).with_hint(hint));
            ExitCode::FAILURE
        }
        _ => code,
    }
}

/// Windows has another error, too, for a pipe that its reader has closed (`ERROR_PIPE_NOT_CONNECTED`).
fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || cfg!(windows) && error.raw_os_error() == Some(233)
}

/// Prints a note for people to stderr, unless `--quiet` is given.
pub fn print_advice(text: &str) {
    if !settings::current().is_quiet {
        print_required(text);
    }
}

/// Prints a text that has to be read before a question, with `--quiet` too.
pub fn print_required(text: &str) {
    match settings::current().format {
        settings::MessageFormat::Json => {
            message::print_diagnostic(Severity::Note, &text.trim().into())
        }
        _ => write_stderr(&escape_controls(text)),
    }
}

/// Writes to stderr.
fn write_stderr(text: &str) {
    write_stderr_unescaped(&escape_workflow_commands(text));
}

/// Writes to stderr what may be a command for the runner of a workflow. Errors are ignored: stderr itself is closed or
/// full.
fn write_stderr_unescaped(text: &str) {
    progress::without_bar(|| {
        let _ = io::stderr().lock().write_all(secret::hide_passwords(text).as_bytes());
    });
}

/// Returns whether a terminal would act on a character instead of showing it: control characters, and those that change
/// the direction of writing.
fn is_terminal_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text with the characters escaped that a terminal would act on ([`is_terminal_control`]).
fn escape_controls(text: &str) -> Cow<'_, str> {
    escape_lines(text, |_| false)
}

/// A message with every line feed escaped too, but for those of our own lists, whose lines are indented: a text in the
/// message may come from a file, and must not look like another message.
fn escape_message(text: &str) -> Cow<'_, str> {
    escape_lines(text, |rest| !rest.starts_with(' '))
}

/// Returns a text in which the runner of a GitHub workflow finds no command: it reads `::` at the start of a line, and
/// `##[` anywhere in it.
fn escape_workflow_commands(text: &str) -> Cow<'_, str> {
    let is_command = |line: &str| line.trim_start().starts_with("::");
    if !text.contains("##[") && !text.lines().any(is_command) {
        return text.into();
    }
    let mut output = String::new();
    for line in text.split_inclusive('\n') {
        let line = line.replace("##[", "##\\u{5b}");
        output += &if is_command(&line) { line.replacen(':', "\\u{3a}", 1) } else { line };
    }
    output.into()
}

fn escape_lines(text: &str, is_line_obeyed: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let is_obeyed = |(at, c): (usize, char)| {
        is_terminal_control(c) || c == '\n' && is_line_obeyed(&text[at + 1..])
    };
    if !text.char_indices().any(is_obeyed) {
        return text.into();
    }
    let mut output = String::new();
    for (at, c) in text.char_indices() {
        if is_obeyed((at, c)) {
            output.extend(c.escape_unicode());
        } else {
            output.push(c);
        }
    }
    output.into()
}

#[test]
fn nothing_that_is_shown_is_obeyed() {
    for (text, expected) in [
        ("a\tb\n", "a\tb\n"),
        ("Früchte → 🦀", "Früchte → 🦀"),
        ("\u{1b}[31m\r\u{7f}\u{9b}", "\\u{1b}[31m\\u{d}\\u{7f}\\u{9b}"),
        ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
    ] {
        assert_eq!(escape_controls(text), expected);
    }
}

#[test]
fn no_text_of_a_file_begins_a_line() {
    let check = |text: &str, free: &str, message: &str| {
        assert_eq!((&*escape_controls(text), &*escape_message(text)), (free, message));
    };
    check("list:\n  a\n  b", "list:\n  a\n  b", "list:\n  a\n  b");
    check("`a\nerror: b`", "`a\nerror: b`", "`a\\u{a}error: b`");
    check("a\n", "a\n", "a\\u{a}");
}

#[test]
fn the_runner_of_a_workflow_finds_no_command() {
    let check = |text: &str, expected: &str| assert_eq!(escape_workflow_commands(text), expected);
    check("a ::error::b\n", "a ::error::b\n");
    check("::error::a\n \t::error::b", "\\u{3a}:error::a\n \t\\u{3a}:error::b");
    check("a ###[error]b ##[c", "a ###\\u{5b}error]b ##\\u{5b}c");
    check("a\n\u{a0}::b", "a\n\u{a0}\\u{3a}:b");
}
