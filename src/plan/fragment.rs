//! Our lines in the user's files.

use crate::model::{Place, Problem, ProjectPath};

/// Lines that belong above `+operator-rs:scaffold:<marker>`.
#[derive(Debug)]
pub struct Fragment {
    pub marker: String,
    pub text: String,
}

impl Fragment {
    /// Puts the fragment above its marker, indented as the marker is, unless its lines stand there
    /// already, one after the other. A missing or doubled marker is a problem, and nothing is put.
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
                let message =
                    format!("the marker `{marker}` is here and also in line {}", first + 1);
                let hint = format!("leave one of the two lines of {path}: new code goes above it");
                return Err(Problem::new(place, message).with_hint(hint).quote(text));
            }
        };
        let line = lines[at];
        let indent = &line[..line.len() - line.trim_start().len()];
        let newline = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        // A fragment brings the indentation of its lines among each other; the marker gives the rest.
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
            "put that line back into {path}, where new lines should go, and run this again"
        );
        Problem::new(place, format!("there is no line `{sign} {marker}`")).with_hint(hint)
    }
}

fn lead(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A text without the lines that read like this one, apart from blanks around them.
pub fn without(text: &str, line: &str) -> String {
    text.split_inclusive('\n').filter(|it| it.trim() != line.trim()).collect()
}

/// A user's file with the lines of `text` that it lacks at its end.
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
