//! The numbers of lines before and after a change.

/// For each line of a text, its number before a change, counted from 1: none for new lines.
pub fn lines_before(before: &str, after: &str) -> Vec<Option<usize>> {
    let diff = similar::TextDiff::from_lines(before, after);
    let lines = diff.iter_all_changes().filter(|change| change.new_index().is_some());
    lines.map(|line| line.old_index().map(|index| index + 1)).collect()
}
