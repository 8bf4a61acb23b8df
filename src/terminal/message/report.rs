//! The error that a command ends with: its causes, its hints and its exit status.

use std::{fmt::Write as _, iter, process::ExitCode};

use super::{
    super::{LOST, escape_controls, escape_message, progress, write_stderr},
    MessageFormat, fit_diagnostic, fit_hint, message_limit, print_diagnostic,
    print_remaining_count, remaining_message, render, render_for_people, settings, style,
    write_message,
};
use diagnostics::{Diagnostic, Report, Severity, Summary, find_error, with_portable_system_errors};

/// Prints an error, its causes and its hints. The exit status is 2 where the command was called wrongly.
pub fn report_error(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = find_error::<clap::Error>(error) {
        return report_usage_error(usage, &[]);
    }
    progress::clear_waiting();
    print_remaining_count();
    let format = settings::current().format;
    let mut report = Report::from(error);
    report.found = report.found.iter().map(fit_diagnostic).collect();
    if let Some(summary) = &mut report.summary {
        summary.hints = summary.hints.iter().map(|hint| fit_hint(hint)).collect();
        for message in iter::once(&mut summary.message).chain(&mut summary.causes) {
            *message = with_portable_system_errors(message).into_owned();
        }
    }
    write_message(&render_report(&report, format), format);
    ExitCode::FAILURE
}

fn render_report(report: &Report, format: MessageFormat) -> String {
    let Report { found, summary } = report;
    if format == MessageFormat::Human {
        return render_paragraphs(found, summary.as_ref());
    }
    let last = summary.iter().map(|diagnostic| Diagnostic {
        message: [&[diagnostic.message.clone()][..], &diagnostic.causes].concat().join(": "),
        hints: diagnostic.hints.clone(),
        ..Diagnostic::default()
    });
    let more = found.len().saturating_sub(message_limit());
    let more =
        (more > 0).then(|| render(Severity::Note, &remaining_message(more, "errors"), format));
    let shown = found
        .iter()
        .take(message_limit())
        .map(|diagnostic| render(Severity::Error, diagnostic, format));
    shown
        .chain(more)
        .chain(last.map(|diagnostic| render(Severity::Error, &diagnostic, format)))
        .collect()
}

/// Returns an error for people. Where no line of a file is known, its diagnostics are a list below the headline.
fn render_paragraphs(found: &[Diagnostic], summary: Option<&Summary>) -> String {
    let shown = &found[..found.len().min(message_limit())];
    let more = (shown.len() < found.len())
        .then(|| remaining_message(found.len() - shown.len(), "errors").message);
    let each = || {
        let all = shown.iter().map(|diagnostic| render_for_people(Severity::Error, diagnostic));
        all.chain(more.iter().map(|paragraph| format!("{paragraph}\n\n"))).collect::<String>()
    };
    let Some(Summary { message, causes, hints }) = summary else {
        return each().trim_end_matches('\n').to_owned() + "\n";
    };
    let mut hints: Vec<&String> = hints.iter().collect();
    let (mut res, mut list) = (String::new(), String::new());
    if found.iter().any(|diagnostic| diagnostic.position.is_some()) {
        res = each();
    } else if !found.is_empty() {
        let items = shown.iter().map(ToString::to_string).chain(more);
        list = items.map(|item| format!("\n  {item}")).collect();
        list.insert(0, ':');
        hints.extend(shown.iter().flat_map(|diagnostic| &diagnostic.hints));
    }
    // The list belongs to the message that it was found with, which is the last one.
    let end = if causes.is_empty() { &*list } else { "" };
    res += &style::label_message(Severity::Error, &format!("{message}{end}"));
    for (at, cause) in causes.iter().enumerate() {
        let end = if at + 1 == causes.len() { &*list } else { "" };
        let _ = writeln!(res, "  because: {}{}", escape_message(cause), escape_message(end));
    }
    let mut seen: Vec<&str> = Vec::new();
    for hint in hints {
        if !seen.contains(&hint.as_str()) {
            res += &style::label_hint(hint);
            seen.push(hint);
        }
    }
    res
}

/// Returns an error in how the command was called: exit 2, as clap's own.
pub fn usage_error(kind: clap::error::ErrorKind, message: &str) -> anyhow::Error {
    clap::Error::raw(kind, format!("{message}\n")).into()
}

/// Reports a command line that clap refused, with hints in place of clap's own tips where there are some. Also prints
/// help.
pub fn report_usage_error(error: &clap::Error, hints: &[String]) -> ExitCode {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if !error.use_stderr() {
        if let Err(lost) = error.print() {
            let _ = LOST.set(lost);
        }
        return code;
    }
    let text = error.render().to_string();
    let format = settings::current().format;
    // clap repeats what was typed, so its text is printed without its colours.
    match hints {
        [] if format == MessageFormat::Human => write_stderr(&escape_controls(&text)),
        hints => print_diagnostic(Severity::Error, &usage_diagnostic(&text, hints)),
    }
    code
}

/// clap's text as a diagnostic: its first line with these hints, or all of its message with its own tips.
fn usage_diagnostic(text: &str, hints: &[String]) -> Diagnostic {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut lines = text.lines();
    let mut res = Diagnostic::from(lines.next().unwrap_or_default());
    if !hints.is_empty() {
        return Diagnostic { hints: hints.to_vec(), ..res };
    }
    for line in
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
    {
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
    fn of_many_errors_the_first_are_printed_and_the_others_counted() {
        let of = |it: usize, line: bool| {
            let it = Diagnostic::in_file("a", format!("e{it}.")).with_hint(format!("h{it}."));
            if line { it.at_position(1, 1) } else { it }
        };
        for line in [false, true] {
            let found: Vec<Diagnostic> = (0..20_000).map(|index| of(index, line)).collect();
            let summary = Summary {
                message: "it is wrong".to_owned(),
                causes: Vec::new(),
                hints: Vec::new(),
            };
            let text = render_paragraphs(&found, Some(&summary));
            assert!(text.contains("e199.") && !text.contains("e200.") && !text.contains("h200."));
            assert!(text.contains("and 19800 more errors"), "{text}");
        }
    }

    /// Whatever an error is made of: with and without a headline, places, contexts, and hints at each step.
    #[test]
    fn every_hint_is_printed_in_every_format() {
        use anyhow::Context as _;

        use diagnostics::{Diagnostics, Hint as _};
        let bases: [fn() -> anyhow::Error; 7] = [
            || anyhow::format_err!("base"),
            || anyhow::format_err!("root").context("base"),
            || Diagnostic::in_file("a.rs", "base").at_position(1, 2).into_error(),
            || Diagnostic::in_file("a.rs", "base").with_hint("of base").into_error(),
            || Diagnostic::from("base").with_hint("of base").into_error(),
            || Diagnostics { headline: "base".to_owned(), list: Vec::new() }.into(),
            || {
                let of =
                    |text: &str| Diagnostic::in_file(text, "wrong").with_hint(format!("of {text}"));
                let list = vec![of("a.rs").at_position(1, 2), of("b.rs")];
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
                    .filter(|pair| steps & pair.1 != 0)
                    .map(|pair| pair.0)
                    .collect();
                if let Some(it) = find_error::<Diagnostics>(&error) {
                    expected.extend(
                        it.list.iter().flat_map(|diagnostic| &diagnostic.hints).map(String::as_str),
                    );
                }
                for format in <MessageFormat as clap::ValueEnum>::value_variants() {
                    let shown = render_report(&(&error).into(), *format);
                    for hint in &expected {
                        assert!(shown.contains(hint), "{format:?} has no hint `{hint}`:\n{shown}");
                    }
                    let warned = render(Severity::Warning, &(&error).into(), *format);
                    assert!(
                        expected.iter().all(|warning| warned.contains(warning)),
                        "{format:?}\n{warned}"
                    );
                }
            }
        }
    }
}
