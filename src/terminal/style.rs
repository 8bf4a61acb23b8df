//! Diagnostics as rustc and cargo show them.
//!
//! Drawn by `annotate-snippets`, which rustc and cargo use themselves: its look is the one that Rust's users know, it
//! renders plain values, and it is in the lock file already. `miette` looks different, and wants errors to
//! implement its trait, so that every layer would name it.

use std::{io, ops::Range};

use annotate_snippets::{
    AnnotationKind, Group, Level as Label, Origin, Renderer, Snippet,
    renderer::{DEFAULT_ERROR_STYLE, DEFAULT_HELP_STYLE, DEFAULT_WARNING_STYLE, Style},
};

use super::{escape_controls, escape_message, is_terminal_control, text::has_colour};
use diagnostics::{Diagnostic, Severity};

/// Longer lines are not quoted, in bytes.
const LONGEST: usize = 10_000;

/// Returns a diagnostic with its place; the source line too where it is known.
pub fn render_located(level: Severity, it: &Diagnostic, file: &str) -> String {
    let renderer = if has_colour(&io::stderr()) { Renderer::styled() } else { Renderer::plain() };
    draw_snippet(&renderer, level, it, file)
}

fn draw_snippet(renderer: &Renderer, level: Severity, it: &Diagnostic, file: &str) -> String {
    let label = match level {
        Severity::Error => Label::ERROR,
        Severity::Warning => Label::WARNING,
        Severity::Note => Label::NOTE,
    };
    let title = label.primary_title(escape_message(&it.message));
    let mut group = Group::with_title(match it.code {
        Some(code) => title.id(code),
        None => title,
    });
    let file = escape_message(file);
    group = match (
        it.position,
        it.source_line.as_ref().filter(|source_line| source_line.len() < LONGEST),
    ) {
        (Some((line, column)), Some(source)) => {
            let source: String = source
                .chars()
                .map(|c| if is_terminal_control(c) { '\u{fffd}' } else { c })
                .collect();
            // The text keeps its length, so that the caret stays below its word.
            let source = source.replace("##[", "##\u{fffd}");
            let annotation = AnnotationKind::Primary.span(word_range(&source, column));
            let snippet = Snippet::source(source).path(file).line_start(line);
            group.element(snippet.annotation(annotation))
        }
        (Some((line, column)), None) => {
            group.element(Origin::path(file).line(line).char_column(column))
        }
        (None, _) => group.element(Origin::path(file)),
    };
    let notes =
        it.format_fields().map(|field| Label::NOTE.message(escape_message(&field).into_owned()));
    let hints = it.hints.iter().map(|hint| Label::HELP.message(escape_message(hint)));
    let group = group.elements(notes).elements(hints);
    renderer.render(&[group]) + "\n\n"
}

/// Returns the bytes of the word or path (`std::env::var`) at a column, or of the character there.
fn word_range(line: &str, column: usize) -> Range<usize> {
    let at = line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |pair| pair.0);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut end = at;
    loop {
        let rest = &line[end..];
        end += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        match line[end..].strip_prefix("::") {
            Some(rest) if at < end && rest.starts_with(is_word) => end += 2,
            _ => break,
        }
    }
    if at == end {
        end += line[at..].chars().next().map_or(0, char::len_utf8);
    }
    at..end
}

/// Returns a text behind its label.
pub fn label_message(level: Severity, text: &str) -> String {
    let (style, label) = match level {
        Severity::Error => (DEFAULT_ERROR_STYLE, "error"),
        Severity::Warning => (DEFAULT_WARNING_STYLE, "warning"),
        Severity::Note => return format!("{}\n", escape_controls(text)),
    };
    format!("{}: {}\n", paint_label(style, label), escape_message(text))
}

/// Returns a hint behind its label.
pub fn label_hint(text: &str) -> String {
    format!("{}: {}\n", paint_label(DEFAULT_HELP_STYLE, "hint"), escape_message(text))
}

fn paint_label(style: Style, label: &str) -> String {
    if has_colour(&io::stderr()) { format!("{style}{label}{style:#}") } else { label.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(it: &Diagnostic, expected: &str) {
        let shown = draw_snippet(&Renderer::plain(), Severity::Error, it, "a.rs");
        assert_eq!(shown.trim_end(), expected.trim(), "\n{shown}");
    }

    fn at(column: usize, source: &str) -> Diagnostic {
        let it = Diagnostic::in_file("a.rs", "it is wrong").at_position(7, column);
        Diagnostic { source_line: Some(source.into()), ..it }
    }

    #[test]
    fn the_caret_is_below_the_word_whatever_is_before_it() {
        let expected = "
error: it is wrong
 --> a.rs:7:5
  |
7 |     size: Many,
  |     ^^^^
  |
  = note: Memcached → spec.size
  = help: write a number
  = help: or nothing";
        let mut it = at(5, "    size: Many,").with_hint("write a number").with_hint("or nothing");
        it.field_paths = vec![vec!["Memcached".to_owned(), "spec.size".to_owned()]];
        check(&it, expected);
        let below = |column: usize, source: &str, carets: &str| {
            let source = at(column, source);
            let shown = draw_snippet(&Renderer::plain(), Severity::Error, &source, "a.rs");
            let line = shown.lines().nth(4).unwrap_or_default();
            assert_eq!(line.trim_start_matches("  |"), carets, "\n{shown}");
        };
        below(2, "\tx::y: z", "     ^^^^");
        below(3, "日本z", "     ^");
        below(1, "日本z", " ^^^^^");
        below(2, "a\u{1b}[31m", "  ^");
        below(3, "ab", "   ^");
        below(9, "ab", "   ^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret_and_a_very_long_one_is_not_quoted() {
        let long = format!("{}here{}", " a".repeat(400), " b".repeat(400));
        let shown = draw_snippet(&Renderer::plain(), Severity::Error, &at(801, &long), "a.rs");
        assert!(shown.lines().all(|line| line.len() < 160), "{shown}");
        assert!(shown.contains("here") && shown.contains("^^^^"), "{shown}");
        check(&at(3, &"x".repeat(LONGEST)), "error: it is wrong\n--> a.rs:7:3");
    }

    #[test]
    fn nothing_that_a_file_holds_is_obeyed() {
        let mut it = at(1, "a\u{1b}[31m\u{202e}\u{9b}").with_hint("\u{1b}h");
        it.message = "\u{1b}m".to_owned();
        it.field_paths = vec![vec!["\u{1b}a".to_owned(), "b".to_owned()]];
        let shown = draw_snippet(&Renderer::plain(), Severity::Error, &it, "\u{1b}.rs");
        assert!(!shown.contains(super::is_terminal_control), "{shown:?}");
    }
}
