//! The lines that git leaves in a file whose merge has conflicts, as problems.

use std::ops::RangeInclusive;

use diagnostics::{Lines, conflict};

use super::{Place, Problem, SourcePath};

/// The conflicts in a text, or none: the problem at the first line, and all their lines.
pub fn find_conflict(path: &SourcePath, text: &str) -> Option<(Problem, RangeInclusive<usize>)> {
    let lines = conflict::find_lines(text)?;
    Some((conflict_problem(path, text, *lines.start()), lines))
}

/// The conflict in a text that does not parse.
pub fn find_conflict_in_malformed(path: &SourcePath, text: &str) -> Option<Problem> {
    Some(conflict_problem(path, text, conflict::find_in_malformed(text)?))
}

fn conflict_problem(path: &SourcePath, text: &str, line: usize) -> Problem {
    let place = Place { path: path.clone(), line, column: 1 };
    Problem::new(place, conflict::MESSAGE).with_hint(conflict::HINT).quote(&mut Lines::new(text))
}
