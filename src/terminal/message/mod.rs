//! Errors, warnings and notes, each in the format that `--message-format` names.

mod report;
mod warnings;

use std::{fmt::Write as _, sync::OnceLock};

use serde_json::json;

use super::{
    escape_controls, escape_message,
    settings::{self, MessageFormat},
    style, write_stderr, write_stderr_unescaped,
};
use diagnostics::{Diagnostic, Severity, with_portable_system_errors};
pub use report::{report_error, report_usage_error, usage_error};
use warnings::{message_limit, remaining_message};
pub use warnings::{print_remaining_count, require_no_warnings, warn, warn_all};

/// Prints what a person should know before a question.
pub fn print_note(it: impl Into<Diagnostic>) {
    print_diagnostic(Severity::Note, &it.into());
}

/// Prints a finding of a report that stdout has for people, where programs read the messages.
pub fn print_finding(severity: Severity, it: &Diagnostic) {
    if settings::current().format != MessageFormat::Human {
        print_diagnostic(severity, it);
    }
}

/// Prints one diagnostic.
pub fn print_diagnostic(level: Severity, it: &Diagnostic) {
    let format = settings::current().format;
    write_message(&render(level, &fit_diagnostic(it), format), format);
}

static FIT: OnceLock<fn(&str) -> String> = OnceLock::new();

/// Has every hint pass through `fit` before it is printed.
pub fn fit_hints(fit: fn(&str) -> String) {
    let _ = FIT.set(fit);
}

/// Returns the diagnostic as it is printed: with hints that fit the command line, and errors of the system in our
/// words.
fn fit_diagnostic(it: &Diagnostic) -> Diagnostic {
    Diagnostic {
        message: with_portable_system_errors(&it.message).into_owned(),
        hints: it.hints.iter().map(|hint| fit_hint(hint)).collect(),
        ..it.clone()
    }
}

fn fit_hint(hint: &str) -> String {
    FIT.get().map_or_else(|| hint.to_owned(), |fit| fit(hint))
}

fn write_message(text: &str, format: MessageFormat) {
    match format {
        MessageFormat::Human | MessageFormat::Short => write_stderr(text),
        MessageFormat::Json | MessageFormat::Github => write_stderr_unescaped(text),
    }
}

fn render(level: Severity, it: &Diagnostic, format: MessageFormat) -> String {
    match format {
        MessageFormat::Human => render_for_people(level, it),
        MessageFormat::Short => render_short(level, it),
        MessageFormat::Json => render_json_lines(level, it),
        MessageFormat::Github => render_annotation(level, it),
    }
}

fn render_for_people(level: Severity, it: &Diagnostic) -> String {
    match &it.file {
        Some(file) => style::render_located(level, it, file),
        None => {
            let hints = it.hints.iter().map(|hint| style::label_hint(hint));
            style::label_message(level, &it.message) + &hints.collect::<String>()
        }
    }
}

fn render_short(level: Severity, it: &Diagnostic) -> String {
    let place = match (&it.file, it.position) {
        (Some(file), Some((line, column))) => format!("{file}:{line}:{column}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    let line = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let code = it.code.map(|code| format!("[{code}]")).unwrap_or_default();
    let mut message = line(&it.message);
    for hint in &it.hints {
        let _ = write!(message, "; hint: {}", line(hint));
    }
    format!("{}{}{code}: {}\n", escape_message(&place), level.name(), escape_controls(&message))
}

/// One object for each field path.
fn render_json_lines(level: Severity, it: &Diagnostic) -> String {
    let none = Vec::new();
    let paths =
        if it.field_paths.is_empty() { vec![&none] } else { it.field_paths.iter().collect() };
    let line = |path: &Vec<String>| {
        let mut object = json!({
            "level": level.name(),
            "message": it.message,
            "file": it.file,
            "line": it.position.map(|pair| pair.0),
            "column": it.position.map(|pair| pair.1),
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

fn render_annotation(level: Severity, it: &Diagnostic) -> String {
    let mut properties = Vec::new();
    properties.extend(it.file.as_ref().map(|file| ("file", settings::annotated_path(file))));
    if let Some((line, column)) = it.position {
        properties.extend([("line", line.to_string()), ("col", column.to_string())]);
    }
    properties.extend(it.code.map(|code| ("title", code.to_owned())));
    let mut message = it.message.clone();
    for field in it.format_fields() {
        let _ = write!(message, "\n{field}");
    }
    for hint in &it.hints {
        let _ = write!(message, "\nhint: {hint}");
    }
    render_workflow_command(level, &properties, &message)
}

/// Returns a workflow command of GitHub Actions: an annotation in a pull request.
pub fn render_workflow_command(
    level: Severity,
    properties: &[(&str, String)],
    message: &str,
) -> String {
    let name = if level == Severity::Note { "notice" } else { level.name() };
    // The runner reads `%`, line breaks and, in properties, separators back from their codes.
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |pair: &(&str, String)| {
        format!("{}={}", pair.0, data(&pair.1).replace(':', "%3A").replace(',', "%2C"))
    };
    let properties: Vec<String> = properties.iter().map(property).collect();
    let blank = if properties.is_empty() { "" } else { " " };
    let text = format!(
        "{}::{}\n",
        escape_controls(&properties.join(",")),
        escape_controls(&data(message))
    );
    format!("::{name}{blank}{}", text.replace("##[", "##\\u{5b}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_an_annotation_or_begins_another() {
        let properties = [("file", "a,b: c\n".to_owned()), ("line", "1".to_owned())];
        assert_eq!(
            render_workflow_command(Severity::Error, &properties, "100%\r\n::error::x"),
            "::error file=a%2Cb%3A c%0A,line=1::100%25%0D%0A::error::x\n"
        );
        assert_eq!(
            render_workflow_command(Severity::Error, &[], "##[group]"),
            "::error::##\\u{5b}group]\n"
        );
        assert_eq!(render_workflow_command(Severity::Note, &[], "a"), "::notice::a\n");
    }

    #[test]
    fn a_message_is_one_line_in_every_format_but_the_human_one() {
        let mut it =
            Diagnostic::in_file("a.rs", "first\n  second").at_position(2, 3).with_hint("third");
        it.field_paths = vec![vec!["A".to_owned(), "x".to_owned()], vec!["B".to_owned()]];
        let check = |format, expected| assert_eq!(render(Severity::Error, &it, format), expected);
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
        let text = render(Severity::Error, &Diagnostic::from("a ##[error]b"), MessageFormat::Json);
        assert!(!text.contains("##["), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["message"], "a ##[error]b");
    }
}
