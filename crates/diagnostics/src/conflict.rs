//! The lines that git leaves in a file whose merge has conflicts.

use std::ops::RangeInclusive;

use crate::{Diagnostic, Lines};

/// The message about a file that has such lines; [`HINT`] says what to do.
pub const MESSAGE: &str = "the file has an unresolved merge conflict";
pub const HINT: &str = "resolve the merge conflict, and remove git's markers";

/// Finds the lines of the conflicts in a text, counted from 1: from the first line of the first one to the last line of
/// the last. Only all three markers at starts of lines, in git's order, are a conflict: one of them alone may be a
/// heading or a part of a string.
pub fn find_lines(text: &str) -> Option<RangeInclusive<usize>> {
    let mut lines = text.lines().enumerate();
    let (first, _) = lines.find(|(_, line)| is_marker(line, '<'))?;
    lines.find(|(_, line)| *line == "=======")?;
    let (last, _) = lines.filter(|(_, line)| is_marker(line, '>')).last()?;
    Some(first + 1..=last + 1)
}

/// Finds the line of the conflict in a text that does not parse, counted from 1: any marker that is nothing else is
/// enough.
pub fn find_in_malformed(text: &str) -> Option<usize> {
    let is_any = |line: &str| ['<', '>', '|'].into_iter().any(|sign| is_marker(line, sign));
    text.lines().position(is_any).map(|index| index + 1)
}

/// Returns the diagnostic for the conflict in a file, if it has one.
pub fn in_file(file: &str, text: &str) -> Option<Diagnostic> {
    find_lines(text).map(|lines| diagnostic_at(file, text, *lines.start()))
}

/// Returns the diagnostic for the conflict in a file that does not parse, if it has one.
pub fn in_malformed(file: &str, text: &str) -> Option<Diagnostic> {
    find_in_malformed(text).map(|line| diagnostic_at(file, text, line))
}

fn diagnostic_at(file: &str, text: &str, line: usize) -> Diagnostic {
    Diagnostic::in_file(file, MESSAGE)
        .with_hint(HINT)
        .at_position(line, 1)
        .quote(&mut Lines::new(text))
}

fn is_marker(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == 7 && (rest.is_empty() || rest.starts_with(' '))
}

#[test]
fn headings_and_rulers_are_no_conflicts() {
    let check = |text: &str, whole: Option<usize>, malformed: Option<usize>| {
        assert_eq!(find_lines(text).map(|lines| *lines.start()), whole, "{text}");
        assert_eq!(find_in_malformed(text), malformed, "{text}");
    };
    check("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n", Some(2), Some(2));
    check("<<<<<<< HEAD\r\nb\r\n||||||| base\r\n=======\r\n>>>>>>> x\r\n", Some(1), Some(1));
    check("Title\n=======\n", None, None);
    check("b\n=======\nc\n>>>>>>> main\n", None, Some(4));
    check(">>>>>>> a\n=======\n<<<<<<< b\n", None, Some(1));
    check("  <<<<<<< HEAD\n=======\n>>>>>>> main\n", None, Some(3));
    check("<<<<<<<< eight\n<<<<<<<HEAD\n", None, None);
}
