//! `.indexignore`: which files are no part of a catalog, as go-git matches the patterns of a `.gitignore`.

use std::collections::BTreeMap;

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
    /// The texts of the files, by their paths.
    pub fn new(files: &BTreeMap<ProjectPath, String>) -> Self {
        let mut res = Self::default();
        for (path, text) in files {
            let domain: Vec<String> = path.as_str().split('/').map(str::to_owned).collect();
            let domain = &domain[..domain.len() - 1];
            let lines =
                text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
            res.0.extend(lines.map(|it| Pattern::new(it, domain)));
        }
        res
    }

    /// Whether a file is left out.
    pub fn has(&self, path: &ProjectPath) -> bool {
        let path: Vec<&str> = path.as_str().split('/').collect();
        let last = self.0.iter().rev().find(|it| it.matches(&path));
        path.last() == Some(&FILE) || last.is_some_and(|it| !it.includes)
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
            match glob(pattern, name) {
                None => return false,
                Some(false) => {}
                Some(true) => return !self.only_folders || at + 1 < path.len(),
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
                        match glob(it, first) {
                            None => return false,
                            Some(true) => {
                                is_match = true;
                                break;
                            }
                            Some(false) if rest.is_empty() => is_match = false,
                            Some(false) => {}
                        }
                    }
                }
                it => {
                    let [first, rest @ ..] = path else { return false };
                    if glob(it, first) != Some(true) {
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

/// A shell pattern as Go's `filepath.Match` reads it; `None` if it is malformed where it is compared.
fn glob(pattern: &str, name: &str) -> Option<bool> {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    match_from(&pattern, &name)
}

fn match_from(pattern: &[char], name: &[char]) -> Option<bool> {
    // The place to go on from when the last `*` takes one more character.
    let mut retry: Option<(usize, usize)> = None;
    let (mut at, mut in_name) = (0, 0);
    loop {
        if at < pattern.len() && pattern[at] == '*' {
            at += 1;
            retry = Some((at, in_name));
            continue;
        }
        let step = match pattern.get(at) {
            None if in_name == name.len() => return Some(true),
            None => None,
            Some(_) => one(&pattern[at..], name.get(in_name).copied())?,
        };
        match (step, &mut retry) {
            (Some(length), _) => {
                at += length;
                in_name += 1;
            }
            (None, Some((after, from))) if *from < name.len() => {
                *from += 1;
                (at, in_name) = (*after, *from);
            }
            (None, _) => return Some(false),
        }
    }
}

/// Compares one character; the length of its pattern if it fits. `None` outside is a malformed pattern.
#[expect(clippy::option_option, reason = "a malformed pattern, no match, or a match")]
fn one(pattern: &[char], c: Option<char>) -> Option<Option<usize>> {
    match pattern[0] {
        '?' => Some(c.map(|_| 1)),
        '\\' => {
            let escaped = *pattern.get(1)?;
            Some((c == Some(escaped)).then_some(2))
        }
        '[' => {
            let (mut at, mut fits) = (1, false);
            let negated = pattern.get(at) == Some(&'^');
            at += usize::from(negated);
            let start = at;
            loop {
                if pattern.get(at) == Some(&']') && at > start {
                    let is_match = c.is_some() && fits != negated;
                    return Some(is_match.then_some(at + 1));
                }
                let (low, length) = letter(&pattern[at.min(pattern.len())..])?;
                at += length;
                let mut high = low;
                if pattern.get(at) == Some(&'-') {
                    let (to, length) = letter(&pattern[at + 1..])?;
                    (high, at) = (to, at + 1 + length);
                }
                fits |= c.is_some_and(|it| low <= it && it <= high);
            }
        }
        it => Some((c == Some(it)).then_some(1)),
    }
}

/// A character of a class, maybe escaped.
fn letter(pattern: &[char]) -> Option<(char, usize)> {
    match pattern {
        [] | ['-' | ']', ..] | ['\\'] => None,
        ['\\', it, ..] => Some((*it, 2)),
        [it, ..] => Some((*it, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ignored_as_git_ignores_them() {
        let files = [
            (
                ".indexignore",
                "# a comment\n\na\n/ignore\n/really/**/file1\n*.md\n!keep.md\ndir/\n[x-z]?\n",
            ),
            ("dir1/.indexignore", "b\n/ignore\n!a\n"),
        ];
        let files = files.map(|it| (ProjectPath::fixed(it.0), it.1.to_owned()));
        let ignore = Ignore::new(&files.into_iter().collect());
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
            assert!(ignore.has(&ProjectPath::fixed(path)), "{path}");
        }
        for path in
            ["b", "c", "dir1/a", "dir1/c", "x/ignore", "really/file2", "keep.md", "dir", "y", "w1"]
        {
            assert!(!ignore.has(&ProjectPath::fixed(path)), "{path}");
        }
    }

    #[test]
    fn patterns_are_those_of_go() {
        for (pattern, name, expected) in [
            ("a*c", "abbc", Some(true)),
            ("a*b*c", "abxbxc", Some(true)),
            ("*", "", Some(true)),
            ("a\\*", "a*", Some(true)),
            ("[^a]", "a", Some(false)),
            ("[a", "a", None),
            ("a?", "a", Some(false)),
            ("a*?", "a", Some(false)),
        ] {
            assert_eq!(glob(pattern, name), expected, "{pattern} {name}");
        }
    }
}
