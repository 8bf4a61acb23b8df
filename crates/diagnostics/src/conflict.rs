//! The lines that git leaves in a file whose merge has conflicts.

use std::ops::RangeInclusive;

use crate::{Diagnostic, Lines};

/// What is wrong with a file that has such lines, and the way out.
pub const MESSAGE: &str = "the file has an unresolved merge conflict";
pub const HINT: &str = "resolve the merge conflict, and remove git's markers";

/// The lines of the conflicts in a text, counted from 1: from the first line of the first one to the last line of the
/// last. Only all three markers at starts of lines, in git's order, are a conflict: one of them alone may be a heading
/// or a part of a string.
pub fn find(text: &str) -> Option<RangeInclusive<usize>> {
    let mut lines = text.lines().enumerate();
    let (first, _) = lines.find(|it| is_marker(it.1, '<'))?;
    lines.find(|it| it.1 == "=======")?;
    let (last, _) = lines.filter(|it| is_marker(it.1, '>')).last()?;
    Some(first + 1..=last + 1)
}

/// The line of the conflict in a text that does not parse, counted from 1: any marker that is nothing else is enough.
pub fn find_in_malformed(text: &str) -> Option<usize> {
    let is_any = |it: &str| ['<', '>', '|'].into_iter().any(|sign| is_marker(it, sign));
    text.lines().position(is_any).map(|it| it + 1)
}

/// The conflict in a file, if it has one.
pub fn in_file(file: &str, text: &str) -> Option<Diagnostic> {
    find(text).map(|it| at(file, text, *it.start()))
}

/// The conflict in a file that does not parse.
pub fn in_malformed(file: &str, text: &str) -> Option<Diagnostic> {
    find_in_malformed(text).map(|it| at(file, text, it))
}

fn at(file: &str, text: &str, line: usize) -> Diagnostic {
    Diagnostic::in_file(file, MESSAGE).with_hint(HINT).at(line, 1).quote(&mut Lines::of(text))
}

fn is_marker(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == 7 && (rest.is_empty() || rest.starts_with(' '))
}

#[test]
fn headings_and_rulers_are_no_conflicts() {
    let check = |text: &str, whole: Option<usize>, malformed: Option<usize>| {
        assert_eq!(find(text).map(|it| *it.start()), whole, "{text}");
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
