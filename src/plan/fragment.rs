//! Generated lines in the user's files.

use crate::model::{Place, Problem, ProjectPath};

/// Lines that belong above `+operator-rs:scaffold:<marker>`.
#[derive(Debug)]
pub struct Fragment {
    pub marker: String,
    pub text: String,
}

impl Fragment {
    /// Inserts the fragment above its marker, with the indentation of the marker, unless the same lines are already there
    /// in this order. A missing or repeated marker is a problem.
    pub fn put(&self, path: &ProjectPath, text: &str) -> Result<String, Problem> {
        let marker = format!("+operator-rs:scaffold:{}", self.marker);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let is_marker = |it: &str| {
            let it = it.trim();
            let body = it.trim_start_matches(['/', '#']).trim();
            it.starts_with(['/', '#']) && body == marker
        };
        let found: Vec<usize> = (0..lines.len()).filter(|it| is_marker(lines[*it])).collect();
        let at = match found[..] {
            [at] => at,
            [] => return Err(self.missing(path, &marker, &lines)),
            [first, second, ..] => {
                let place = Place { path: path.clone().into(), line: second + 1, column: 1 };
                let message = format!("the marker `{marker}` is also in line {}", first + 1);
                let hint = format!(
                    "delete one of the two lines in {path}: new code is inserted above the other"
                );
                return Err(Problem::new(place, message)
                    .with_hint(hint)
                    .quote(&text.lines().collect::<Vec<_>>()));
            }
        };
        let line = lines[at];
        let indent = &line[..line.len() - line.trim_start().len()];
        let newline = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        // The lines of a fragment keep their relative indentation; the marker determines the rest.
        let own = self.text.lines().filter(|it| !it.trim().is_empty()).map(lead).min().unwrap_or(0);
        let put: Vec<String> = self
            .text
            .lines()
            .filter(|it| !it.trim().is_empty())
            .map(|it| format!("{indent}{}{newline}", it[own..].trim_end()))
            .collect();
        let there = |window: &[&str]| window.iter().zip(&put).all(|(a, b)| a.trim() == b.trim());
        if lines[..at].windows(put.len().max(1)).any(there) {
            return Ok(text.to_owned());
        }
        Ok(lines[..at].concat() + &put.concat() + &lines[at..].concat())
    }

    fn missing(&self, path: &ProjectPath, marker: &str, lines: &[&str]) -> Problem {
        let sign = if path.extension() == "rs" { "//" } else { "#" };
        let place = Place { path: path.clone().into(), line: lines.len().max(1), column: 1 };
        let hint = format!(
            "restore that line in {path} where new lines should be inserted, and run the command again"
        );
        Problem::new(place, format!("there is no line `{sign} {marker}`")).with_hint(hint)
    }
}

fn lead(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A text without the lines that equal this one, apart from surrounding blanks.
pub fn without(text: &str, line: &str) -> String {
    text.split_inclusive('\n').filter(|it| it.trim() != line.trim()).collect()
}

/// A user's file, with the missing lines of `text` appended.
pub fn lacking(before: &str, text: &str) -> String {
    let has = |line: &str| before.lines().any(|it| it.trim() == line.trim());
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let lacking: Vec<&str> =
        text.lines().filter(|it| before.is_empty() || !it.trim().is_empty() && !has(it)).collect();
    if lacking.is_empty() {
        return before.to_owned();
    }
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    let lines: String = lacking.iter().map(|it| format!("{it}{newline}")).collect();
    format!("{before}{gap}{lines}")
}
