//! The lines that git leaves in a file whose merge has conflicts.

use super::{Place, Problem, SourcePath};

const HINT: &str = "resolve the merge conflict, and remove git's markers";

/// The conflicts of a text.
pub struct Conflict {
    /// At the first one's first line.
    pub problem: Problem,
    /// The last one's last line.
    end: usize,
}

impl Conflict {
    /// Whether a place in the same file is in or between the conflicts.
    pub fn contains(&self, place: &Place) -> bool {
        (self.problem.place.line..=self.end).contains(&place.line)
    }
}

/// The conflicts in a text, or none. Only all three markers at starts of lines, in git's order, are a conflict: one of
/// them alone may be a heading or a part of a string.
pub fn conflict(path: &SourcePath, text: &str) -> Option<Conflict> {
    let mut lines = text.lines().enumerate();
    let (first, _) = lines.find(|it| is_marker(it.1, '<'))?;
    lines.find(|it| it.1 == "=======")?;
    let (last, _) = lines.filter(|it| is_marker(it.1, '>')).last()?;
    Some(Conflict { problem: problem(path, text, first), end: last + 1 })
}

/// The conflict in a text that does not parse: any marker that is nothing else is enough.
pub fn conflict_in_malformed(path: &SourcePath, text: &str) -> Option<Problem> {
    let is_any = |it: &str| ['<', '>', '|'].into_iter().any(|sign| is_marker(it, sign));
    let first = text.lines().position(is_any)?;
    Some(problem(path, text, first))
}

fn is_marker(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == 7 && (rest.is_empty() || rest.starts_with(' '))
}

fn problem(path: &SourcePath, text: &str, line: usize) -> Problem {
    let place = Place { path: path.clone(), line: line + 1, column: 1 };
    Problem::new(place, "the file has an unresolved merge conflict")
        .with_hint(HINT)
        .quote(&text.lines().collect::<Vec<_>>())
}

#[test]
fn conflicts_are_told_from_headings_and_rulers() {
    let check = |text: &str, whole: Option<usize>, malformed: Option<usize>| {
        let path = SourcePath::fixed("a.yaml");
        let line = |it: Option<Problem>| it.map(|it| it.place.line);
        assert_eq!(line(conflict(&path, text).map(|it| it.problem)), whole, "{text}");
        assert_eq!(line(conflict_in_malformed(&path, text)), malformed, "{text}");
    };
    check("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n", Some(2), Some(2));
    check("<<<<<<< HEAD\r\nb\r\n||||||| base\r\n=======\r\n>>>>>>> x\r\n", Some(1), Some(1));
    check("Title\n=======\n", None, None);
    check("b\n=======\nc\n>>>>>>> main\n", None, Some(4));
    check(">>>>>>> a\n=======\n<<<<<<< b\n", None, Some(1));
    check("  <<<<<<< HEAD\n=======\n>>>>>>> main\n", None, Some(3));
    check("<<<<<<<< eight\n<<<<<<<HEAD\n", None, None);
}
