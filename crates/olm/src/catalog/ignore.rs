//! `.indexignore`: files that are not part of a catalog, with patterns that match as in go-git's `.gitignore`. A
//! pattern with a class of characters or an escape is refused.

use std::collections::BTreeMap;

use diagnostics::Diagnostic;
use model::ProjectPath;

pub const FILE: &str = ".indexignore";

/// The patterns of all such files; later ones come first.
#[derive(Debug, Default)]
pub struct Ignore(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    /// The folder of its file.
    domain: Vec<String>,
    parts: Vec<String>,
    includes: bool,
    only_folders: bool,
}

impl Ignore {
    /// Reads the texts of the files, by their paths in the catalog, which messages name so.
    pub fn parse(catalog: &str, files: &BTreeMap<ProjectPath, String>) -> anyhow::Result<Self> {
        let mut ignore = Self::default();
        for (path, text) in files {
            let domain: Vec<String> = path.as_str().split('/').map(str::to_owned).collect();
            let domain = &domain[..domain.len() - 1];
            for (line, text) in (1..).zip(text.lines().map(str::trim)) {
                if text.contains(['[', '\\']) && !text.starts_with('#') {
                    let message = format!("the pattern `{text}` is not supported");
                    return Err(Diagnostic::in_file(format!("{catalog}/{path}"), message)
                        .at_position(line, 1)
                        .with_hint("write it with names, `*`, `?` and `**/`")
                        .into_error());
                }
                if !text.is_empty() && !text.starts_with('#') {
                    ignore.0.push(Pattern::new(text, domain));
                }
            }
        }
        Ok(ignore)
    }

    /// Returns whether a file is not part of the catalog.
    pub fn excludes(&self, path: &ProjectPath) -> bool {
        let path: Vec<&str> = path.as_str().split('/').collect();
        let last = self.0.iter().rev().find(|pattern| pattern.matches(&path));
        path.last() == Some(&FILE) || last.is_some_and(|pattern| !pattern.includes)
    }
}

impl Pattern {
    fn new(text: &str, domain: &[String]) -> Self {
        let (includes, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (only_folders, text) = match text.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let parts = text.split('/').map(str::to_owned).collect();
        Self { domain: domain.to_vec(), parts, includes, only_folders }
    }

    fn matches(&self, path: &[&str]) -> bool {
        let is_below =
            self.domain.len() < path.len() && self.domain.iter().zip(path).all(|(a, b)| a == b);
        let Some(path) = path.get(self.domain.len()..).filter(|_| is_below) else { return false };
        match self.parts.as_slice() {
            [name] => self.matches_name(name, path),
            _ => self.matches_parts(path),
        }
    }

    fn matches_name(&self, pattern: &str, path: &[&str]) -> bool {
        for (at, name) in path.iter().enumerate() {
            if matches_glob(pattern, name) {
                return !self.only_folders || at + 1 < path.len();
            }
        }
        false
    }

    fn matches_parts(&self, path: &[&str]) -> bool {
        let (mut path, mut is_match, mut skips) = (path, false, false);
        for (at, pattern) in self.parts.iter().enumerate() {
            match pattern.as_str() {
                "" => skips = false,
                "**" if at + 1 == self.parts.len() => break,
                "**" => skips = true,
                it if it.contains("**") => return false,
                it if skips => {
                    skips = false;
                    if path.is_empty() {
                        return false;
                    }
                    while let [first, rest @ ..] = path {
                        path = rest;
                        if matches_glob(it, first) {
                            is_match = true;
                            break;
                        }
                        is_match &= !rest.is_empty();
                    }
                }
                it => {
                    let [first, rest @ ..] = path else { return false };
                    if !matches_glob(it, first) {
                        return false;
                    }
                    is_match = true;
                    path = rest;
                }
            }
        }
        is_match && !(self.only_folders && path.is_empty())
    }
}

/// Returns whether a pattern with `*` for any text and `?` for any character matches this name. Only the last `*` is
/// tried again, so that the time is at most the product of both lengths.
fn matches_glob(pattern: &str, name: &str) -> bool {
    let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<_>>());
    let (mut at, mut done, mut star) = (0, 0, None);
    while let Some(c) = name.get(done) {
        match (pattern.get(at), &mut star) {
            (Some('*'), _) => {
                at += 1;
                star = Some((at, done));
            }
            (Some(expected), _) if *expected == '?' || expected == c => {
                at += 1;
                done += 1;
            }
            (_, Some((after, start))) => {
                *start += 1;
                (at, done) = (*after, *start);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ignored_as_git_ignores_them() {
        let files = [
            (
                ".indexignore",
                "# a comment\n\na\n/ignore\n/really/**/file1\n*.md\n!keep.md\ndir/\ny?\n",
            ),
            ("dir1/.indexignore", "b\n/ignore\n!a\n"),
        ];
        let files = files.map(|it| (ProjectPath::fixed(it.0), it.1.to_owned()));
        let ignore =
            Ignore::parse("catalog", &files.into_iter().collect()).expect("they are supported");
        for path in [
            "a",
            "a/b",
            "x/a",
            "ignore/c",
            "dir1/b",
            "dir1/ignore/b",
            "really/file1",
            "really/long/path/to/file1",
            "x.md",
            "dir/x",
            "q/dir/x",
            "y1",
            "dir1/.indexignore",
        ] {
            assert!(ignore.excludes(&ProjectPath::fixed(path)), "{path}");
        }
        for path in
            ["b", "c", "dir1/a", "dir1/c", "x/ignore", "really/file2", "keep.md", "dir", "y", "w1"]
        {
            assert!(!ignore.excludes(&ProjectPath::fixed(path)), "{path}");
        }
    }

    #[test]
    fn patterns_are_those_of_go() {
        for (pattern, name, expected) in [
            ("a*c", "abbc", true),
            ("a*b*c", "abxbxc", true),
            ("*", "", true),
            ("a?", "a", false),
            ("a*?", "a", false),
        ] {
            assert_eq!(matches_glob(pattern, name), expected, "{pattern} {name}");
        }
        for pattern in ["[a]", "a\\*"] {
            let files = [(ProjectPath::fixed(FILE), format!("a\n{pattern}\n"))];
            let error = Ignore::parse("catalog", &files.into()).expect_err(pattern).to_string();
            assert_eq!(
                error,
                format!("catalog/{FILE}:2:1: the pattern `{pattern}` is not supported")
            );
        }
    }
}
