//! `.helmignore`: the files that a package of the chart does not have.

/// Patterns in the order of the file; a later one decides.
pub struct Ignored(Vec<Pattern>);

struct Pattern {
    text: String,
    is_negated: bool,
    is_of_folders: bool,
    /// True if the pattern matches a path from the top, and not a name at any depth.
    is_path: bool,
}

impl Ignored {
    pub fn parse(text: &str) -> Self {
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(Pattern::parse_pattern).collect())
    }

    /// Returns whether a file, or a folder that it is in, is left out.
    pub fn has(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|pair| pair.0).chain([path.len()]);
        { ends }.any(|end| self.matches_pattern(&path[..end], end < path.len()))
    }

    fn matches_pattern(&self, path: &str, is_folder: bool) -> bool {
        let last = self.0.iter().rev().find(|pattern| pattern.matches(path, is_folder));
        last.is_some_and(|last| !last.is_negated)
    }
}

impl Pattern {
    fn parse_pattern(line: &str) -> Self {
        let (is_negated, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let text = line.trim_end_matches('/');
        Self {
            text: text.trim_start_matches('/').to_owned(),
            is_negated,
            is_of_folders: line.ends_with('/'),
            is_path: text.contains('/'),
        }
    }

    fn matches(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        (is_folder || !self.is_of_folders)
            && matches_glob(self.text.as_bytes(), if self.is_path { path } else { name }.as_bytes())
    }
}

/// `*` is any text in a name, `?` any character.
fn matches_glob(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if matches_glob(rest, text) => true,
        (Some((b'*', _)), Some((c, tail))) => *c != b'/' && matches_glob(pattern, tail),
        (Some((b'?', rest)), Some((c, tail))) => *c != b'/' && matches_glob(rest, tail),
        (Some((a, rest)), Some((b, tail))) => a == b && matches_glob(rest, tail),
        _ => false,
    }
}

#[test]
fn files_are_left_out_as_helm_leaves_them_out() {
    let ignored = Ignored::parse("# note\n.git/\n*.tgz\n/ci/*.yaml\ntests/\n!keep.tgz\n");
    for path in [".git/config", "a/b.tgz", "ci/x.yaml", "tests/a/b.yaml", "a/tests/b"] {
        assert!(ignored.has(path), "{path}");
    }
    for path in ["keep.tgz", "ci/a/x.yaml", "other/ci/x.yaml", "tests", "templates/a.yaml"] {
        assert!(!ignored.has(path), "{path}");
    }
}
