//! Errors, warnings and notes, each in the format that `--message-format` names.

use std::{
    fmt::Write as _,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::json;

use super::{
    LOST, progress,
    settings::{self, MessageFormat},
    shown, shown_message, style, write, write_as_is,
};
use crate::hint::{Diagnostic, Report, Severity, Summary, find};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Prints something that the user should know, although the command continues.
pub fn warn(it: impl Into<Diagnostic>) {
    if WARNINGS.fetch_add(1, Ordering::Relaxed) < most() {
        emit(Level::Warning, &it.into());
    }
}

/// How many warnings there were.
static WARNINGS: AtomicUsize = AtomicUsize::new(0);

/// How many errors and how many warnings are printed: what comes from a file has no end.
fn most() -> usize {
    match settings::get().format {
        MessageFormat::Human | MessageFormat::Github => 200,
        MessageFormat::Short | MessageFormat::Json => 10_000,
    }
}

/// Says how many warnings were not printed, and begins to count again.
pub fn tell_rest() {
    let more = WARNINGS.swap(0, Ordering::Relaxed).saturating_sub(most());
    if 0 < more {
        emit(Level::Note, &rest(more, "warnings"));
    }
}

fn rest(more: usize, what: &str) -> Diagnostic {
    format!("and {more} more {what}").into()
}

/// Prints what a person should know before a question.
pub fn note(it: impl Into<Diagnostic>) {
    emit(Level::Note, &it.into());
}

/// Prints a finding of a report that stdout has for people, where programs read the messages.
pub fn finding(severity: Severity, it: &Diagnostic) {
    let level = match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Note,
    };
    if settings::get().format != MessageFormat::Human {
        emit(level, it);
    }
}

/// Prints one diagnostic.
pub fn emit(level: Level, it: &Diagnostic) {
    let format = settings::get().format;
    put(&render(level, it, format), format);
}

fn put(text: &str, format: MessageFormat) {
    match format {
        MessageFormat::Human | MessageFormat::Short => write(text),
        MessageFormat::Json | MessageFormat::Github => write_as_is(text),
    }
}

fn render(level: Level, it: &Diagnostic, format: MessageFormat) -> String {
    match format {
        MessageFormat::Human => human(level, it),
        MessageFormat::Short => short(level, it),
        MessageFormat::Json => json_lines(level, it),
        MessageFormat::Github => annotation(level, it),
    }
}

fn human(level: Level, it: &Diagnostic) -> String {
    match &it.file {
        Some(file) => style::located(level, it, file),
        None => {
            let hints = it.hints.iter().map(|it| style::hint(it));
            style::labelled(level, &it.message) + &hints.collect::<String>()
        }
    }
}

fn short(level: Level, it: &Diagnostic) -> String {
    let place = match (&it.file, it.position) {
        (Some(file), Some((line, column))) => format!("{file}:{line}:{column}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    let line = |it: &str| it.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let code = it.code.map(|it| format!("[{it}]")).unwrap_or_default();
    let mut message = line(&it.message);
    for hint in &it.hints {
        let _ = write!(message, "; hint: {}", line(hint));
    }
    format!("{}{}{code}: {}\n", shown_message(&place), level.name(), shown(&message))
}

/// One object for each field path.
fn json_lines(level: Level, it: &Diagnostic) -> String {
    let none = Vec::new();
    let paths =
        if it.field_paths.is_empty() { vec![&none] } else { it.field_paths.iter().collect() };
    let line = |path: &Vec<String>| {
        let mut object = json!({
            "level": level.name(),
            "message": it.message,
            "file": it.file,
            "line": it.position.map(|it| it.0),
            "column": it.position.map(|it| it.1),
            "field_path": path,
            "hints": it.hints,
        });
        if let Some(code) = it.code {
            object["rule"] = code.into();
        }
        // Only a string can have this; it remains the same string.
        format!("{object}\n").replace("##[", "##\\u005b")
    };
    paths.into_iter().map(line).collect()
}

fn annotation(level: Level, it: &Diagnostic) -> String {
    let mut properties = Vec::new();
    properties.extend(it.file.as_ref().map(|it| ("file", settings::below(it))));
    if let Some((line, column)) = it.position {
        properties.extend([("line", line.to_string()), ("col", column.to_string())]);
    }
    properties.extend(it.code.map(|it| ("title", it.to_owned())));
    let mut message = it.message.clone();
    for field in it.fields() {
        let _ = write!(message, "\n{field}");
    }
    for hint in &it.hints {
        let _ = write!(message, "\nhint: {hint}");
    }
    let name = if level == Level::Note { "notice" } else { level.name() };
    github(name, &properties, &message)
}

/// A workflow command of GitHub Actions: an annotation in a pull request.
pub fn github(name: &str, properties: &[(&str, String)], message: &str) -> String {
    // The runner reads `%`, line breaks and, in properties, separators back from their codes.
    let data = |it: &str| it.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |it: &(&str, String)| {
        format!("{}={}", it.0, data(&it.1).replace(':', "%3A").replace(',', "%2C"))
    };
    let properties: Vec<String> = properties.iter().map(property).collect();
    let blank = if properties.is_empty() { "" } else { " " };
    let text = format!("{}::{}\n", shown(&properties.join(",")), shown(&data(message)));
    format!("::{name}{blank}{}", text.replace("##[", "##\\u{5b}"))
}

/// Prints an error, its causes and its hints. The exit status is 2 where the command was called wrongly.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = find::<clap::Error>(error) {
        return misuse(usage, &[]);
    }
    progress::clear();
    tell_rest();
    let format = settings::get().format;
    put(&explain(&error.into(), format), format);
    ExitCode::FAILURE
}

fn explain(report: &Report, format: MessageFormat) -> String {
    let Report { found, summary } = report;
    if format == MessageFormat::Human {
        return paragraphs(found, summary.as_ref());
    }
    let last = summary.iter().map(|it| Diagnostic {
        message: [&[it.message.clone()][..], &it.causes].concat().join(": "),
        hints: it.hints.clone(),
        ..Diagnostic::default()
    });
    let more = found.len().saturating_sub(most());
    let more = (0 < more).then(|| render(Level::Note, &rest(more, "errors"), format));
    let shown = found.iter().take(most()).map(|it| render(Level::Error, it, format));
    shown.chain(more).chain(last.map(|it| render(Level::Error, &it, format))).collect()
}

/// An error for people. Where no line of a file is known, its diagnostics are a list below the headline.
fn paragraphs(found: &[Diagnostic], summary: Option<&Summary>) -> String {
    let shown = &found[..found.len().min(most())];
    let more =
        (shown.len() < found.len()).then(|| rest(found.len() - shown.len(), "errors").message);
    let each = || {
        let all = shown.iter().map(|it| human(Level::Error, it));
        all.chain(more.iter().map(|it| format!("{it}\n\n"))).collect::<String>()
    };
    let Some(Summary { message, causes, hints }) = summary else {
        return each().trim_end_matches('\n').to_owned() + "\n";
    };
    let mut hints: Vec<&String> = hints.iter().collect();
    let (mut res, mut list) = (String::new(), String::new());
    if found.iter().any(|it| it.position.is_some()) {
        res = each();
    } else if !found.is_empty() {
        let items = shown.iter().map(ToString::to_string).chain(more);
        list = items.map(|it| format!("\n  {it}")).collect();
        list.insert(0, ':');
        hints.extend(shown.iter().flat_map(|it| &it.hints));
    }
    // The list belongs to the message that it was found with, which is the last one.
    let end = if causes.is_empty() { &*list } else { "" };
    res += &style::labelled(Level::Error, &format!("{message}{end}"));
    for (at, cause) in causes.iter().enumerate() {
        let end = if at + 1 == causes.len() { &*list } else { "" };
        let _ = writeln!(res, "  because: {}{}", shown_message(cause), shown_message(end));
    }
    let mut seen: Vec<&str> = Vec::new();
    for hint in hints {
        if !seen.contains(&hint.as_str()) {
            res += &style::hint(hint);
            seen.push(hint);
        }
    }
    res
}

/// An error in how the command was called: exit 2, as clap's own.
pub fn usage(kind: clap::error::ErrorKind, message: &str) -> anyhow::Error {
    clap::Error::raw(kind, format!("{message}\n")).into()
}

/// Reports a command line that clap refused, with hints in place of clap's own tips where there are some. Also prints
/// help.
pub fn misuse(error: &clap::Error, hints: &[String]) -> ExitCode {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if !error.use_stderr() {
        if let Err(lost) = error.print() {
            let _ = LOST.set(lost);
        }
        return code;
    }
    let text = error.render().to_string();
    let format = settings::get().format;
    // clap repeats what was typed, so its text is printed without its colours.
    match hints {
        [] if format == MessageFormat::Human => write(&shown(&text)),
        hints => emit(Level::Error, &of_usage(&text, hints)),
    }
    code
}

/// clap's text as a diagnostic: its first line with these hints, or all of its message with its own tips.
fn of_usage(text: &str, hints: &[String]) -> Diagnostic {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut lines = text.lines();
    let mut res = Diagnostic::from(lines.next().unwrap_or_default());
    if !hints.is_empty() {
        return Diagnostic { hints: hints.to_vec(), ..res };
    }
    for line in lines.take_while(|it| !it.starts_with("Usage:") && !it.starts_with("For more")) {
        match line.trim().strip_prefix("tip: ") {
            Some(tip) => res.hints.push(tip.to_owned()),
            None if line.trim().is_empty() => {}
            None => res.message += &format!("\n{line}"),
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_an_annotation_or_begins_another() {
        let properties = [("file", "a,b: c\n".to_owned()), ("line", "1".to_owned())];
        assert_eq!(
            github("error", &properties, "100%\r\n::error::x"),
            "::error file=a%2Cb%3A c%0A,line=1::100%25%0D%0A::error::x\n"
        );
        assert_eq!(github("error", &[], "##[group]"), "::error::##\\u{5b}group]\n");
        assert_eq!(github("notice", &[], "a"), "::notice::a\n");
    }

    #[test]
    fn a_message_is_one_line_in_every_format_but_the_human_one() {
        let mut it = Diagnostic::in_file("a.rs", "first\n  second").at(2, 3).with_hint("third");
        it.field_paths = vec![vec!["A".to_owned(), "x".to_owned()], vec!["B".to_owned()]];
        let check = |format, expected| assert_eq!(render(Level::Error, &it, format), expected);
        check(MessageFormat::Short, "a.rs:2:3: error: first second; hint: third\n");
        check(
            MessageFormat::Github,
            "::error file=a.rs,line=2,col=3::first%0A  second%0AA → x%0Ahint: third\n",
        );
        check(
            MessageFormat::Json,
            "{\"column\":3,\"field_path\":[\"A\",\"x\"],\"file\":\"a.rs\",\"hints\":[\"third\"],\"level\":\"error\",\"line\":2,\"message\":\"first\\n  second\"}\n\
             {\"column\":3,\"field_path\":[\"B\"],\"file\":\"a.rs\",\"hints\":[\"third\"],\"level\":\"error\",\"line\":2,\"message\":\"first\\n  second\"}\n",
        );
    }
    #[test]
    fn a_text_with_a_command_of_a_workflow_stays_the_same_in_json() {
        let text = render(Level::Error, &Diagnostic::from("a ##[error]b"), MessageFormat::Json);
        assert!(!text.contains("##["), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["message"], "a ##[error]b");
    }

    #[test]
    fn of_many_errors_the_first_are_printed_and_the_others_counted() {
        let of = |it: usize, line: bool| {
            let it = Diagnostic::in_file("a", format!("e{it}.")).with_hint(format!("h{it}."));
            if line { it.at(1, 1) } else { it }
        };
        for line in [false, true] {
            let found: Vec<Diagnostic> = (0..20_000).map(|it| of(it, line)).collect();
            let summary = Summary {
                message: "it is wrong".to_owned(),
                causes: Vec::new(),
                hints: Vec::new(),
            };
            let text = paragraphs(&found, Some(&summary));
            assert!(text.contains("e199.") && !text.contains("e200.") && !text.contains("h200."));
            assert!(text.contains("and 19800 more errors"), "{text}");
        }
    }

    /// Whatever an error is made of: with and without a headline, places, contexts, and hints at each step.
    #[test]
    fn every_hint_is_printed_in_every_format() {
        use anyhow::Context as _;

        use crate::hint::{Diagnostics, Hint as _};
        let bases: [fn() -> anyhow::Error; 7] = [
            || anyhow::format_err!("base"),
            || anyhow::format_err!("root").context("base"),
            || Diagnostic::in_file("a.rs", "base").at(1, 2).into_error(),
            || Diagnostic::in_file("a.rs", "base").with_hint("of base").into_error(),
            || Diagnostic::from("base").with_hint("of base").into_error(),
            || Diagnostics { headline: "base".to_owned(), list: Vec::new() }.into(),
            || {
                let of = |it: &str| Diagnostic::in_file(it, "wrong").with_hint(format!("of {it}"));
                let list = vec![of("a.rs").at(1, 2), of("b.rs")];
                Diagnostics { headline: "base".to_owned(), list }.into()
            },
        ];
        for base in bases {
            for steps in 0..8_u8 {
                let mut result = Err::<(), _>(base());
                for (bit, text) in [(1, "inner"), (2, "context"), (4, "outer")] {
                    result = match bit {
                        _ if steps & bit == 0 => result,
                        2 => result.context(text),
                        _ => result.hint(text),
                    };
                }
                let error = result.unwrap_err();
                let mut expected: Vec<&str> = ["inner", "outer"]
                    .into_iter()
                    .zip([1, 4])
                    .filter(|it| steps & it.1 != 0)
                    .map(|it| it.0)
                    .collect();
                if let Some(it) = find::<Diagnostics>(&error) {
                    expected.extend(it.list.iter().flat_map(|it| &it.hints).map(String::as_str));
                }
                for format in <MessageFormat as clap::ValueEnum>::value_variants() {
                    let shown = explain(&(&error).into(), *format);
                    for hint in &expected {
                        assert!(shown.contains(hint), "{format:?} has no hint `{hint}`:\n{shown}");
                    }
                    let warned = render(Level::Warning, &(&error).into(), *format);
                    assert!(expected.iter().all(|it| warned.contains(it)), "{format:?}\n{warned}");
                }
            }
        }
    }
}
