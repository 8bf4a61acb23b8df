//! `.dockerignore`: which files of the project docker would not give to a build.

use super::Source;
use diagnostics::{Diagnostic, Lines};

/// The patterns of a file, in its order: the last one that matches decides.
#[derive(Debug, Default)]
pub struct Dockerignore(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    parts: Vec<String>,
    includes: bool,
}

impl Dockerignore {
    /// Reads a file. A pattern that only docker can evaluate is refused.
    pub fn parse(source: &Source<'_>) -> anyhow::Result<Self> {
        let mut res = Vec::new();
        let text = source.text.strip_prefix('\u{feff}').unwrap_or(source.text);
        for (at, line) in text.lines().enumerate() {
            let pattern = line.trim();
            if line.starts_with('#') || pattern.is_empty() {
                continue;
            }
            let (includes, pattern) = match pattern.strip_prefix('!') {
                Some(rest) => (true, rest.trim()),
                None => (false, pattern),
            };
            // As Go cleans a path.
            let mut parts: Vec<String> = Vec::new();
            let mut is_odd = pattern.is_empty() || pattern.contains(['[', ']', '\\']);
            for part in pattern.split('/').filter(|it| !it.is_empty() && *it != ".") {
                is_odd |= part == ".." || part != "**" && part.contains("**");
                parts.push(part.to_owned());
            }
            // It matches what is in a directory, and not the directory.
            if parts.last().is_some_and(|it| it == "**") {
                parts.push("*".to_owned());
            }
            if is_odd {
                let path = source.path.as_str();
                let message = format!("the pattern `{}` is not supported", line.trim());
                return Err(Diagnostic::in_file(path, message)
                    .at(at + 1, 1)
                    .quote(&mut Lines::of(source.text))
                    .with_hint("write it with names, `*`, `?` and `**/`, or build the image with docker or podman")
                    .into_error());
            }
            res.push(Pattern { parts, includes });
        }
        Ok(Self(res))
    }

    /// Whether a file of the project is left out: it or a directory that it is in matches.
    pub fn has(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        let is_match = |it: &&Pattern| (1..=path.len()).any(|end| matches(&it.parts, &path[..end]));
        self.0.iter().rev().find(is_match).is_some_and(|it| !it.includes)
    }
}

fn matches(pattern: &[String], path: &[&str]) -> bool {
    wild(pattern, path, |it| it == "**", |part, name| glob(part, name))
}

/// One name: `*` is any text, and `?` any character.
fn glob(pattern: &str, name: &str) -> bool {
    let [pattern, name] = [pattern, name].map(|it| it.chars().collect::<Vec<_>>());
    wild(&pattern, &name, |it| *it == '*', |it, c| *it == '?' || it == c)
}

/// Whether items match a pattern whose stars stand for any number of them. Only the last star is tried again, so that the
/// time is at most the product of both lengths.
fn wild<P, T>(
    pattern: &[P],
    items: &[T],
    is_star: impl Fn(&P) -> bool,
    is_match: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut done) = (0, 0);
    let mut star = None;
    while let Some(item) = items.get(done) {
        match (pattern.get(at), &mut star) {
            (Some(it), _) if is_star(it) => {
                at += 1;
                star = Some((at, done));
            }
            (Some(it), _) if is_match(it, item) => {
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
    pattern[at..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ProjectPath;

    fn parse(text: &str) -> anyhow::Result<Dockerignore> {
        let path = &ProjectPath::fixed(".dockerignore");
        Dockerignore::parse(&Source { path, text })
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let check = |text: &str, left_out: &[&str], kept: &[&str]| {
            let ignored = parse(text).expect("it is supported");
            left_out.iter().for_each(|it| assert!(ignored.has(it), "{text}: {it}"));
            kept.iter().for_each(|it| assert!(!ignored.has(it), "{text}: {it}"));
        };
        check("", &[], &["a"]);
        check("a\n", &["a", "a/b"], &["b/a", "ab"]);
        check("/a/\n# b\n  \n ./c//d \n", &["a/x", "c/d"], &["b", "c"]);
        check("**\n!bundle/\ntarget/\n", &["a", "src/a", "target/x"], &["bundle/a/b", "bundle"]);
        check("!a\na\n", &["a"], &[]);
        check("a\n!a/b\n", &["a/c"], &["a/b", "a/b/c"]);
        check("**/*.md", &["a.md", "a/b/c.md", "a.md/x"], &["a.mdx"]);
        check("a/**/b", &["a/b", "a/x/y/b"], &["b", "a/bc"]);
        check("a/**", &["a/b", "a/b/c"], &["a", "b"]);
        check("*", &["a", "a/b"], &[]);
        check("*/b", &["a/b", "a/b/c"], &["b", "a/x/b"]);
        check("?.y*l", &["a.yaml", "ü.yl"], &["ab.yaml", ".yaml"]);
        check("\u{feff}a", &["a"], &[]);
        check("a/**/**", &["a/b", "a/b/c"], &["a"]);
        check("**/a/**/b", &["a/b", "x/a/a/y/b", "a/b/c"], &["a/c", "b"]);
        check("*a*?b", &["aab", "xaxbab"], &["ab", "axbc"]);
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let name = "a".repeat(200);
        let path = vec!["a"; 200].join("/");
        let parts = "**/a/".repeat(60);
        let ignored = parse(&format!("**/{}b\n{parts}b\n", "*a".repeat(60))).expect("supported");
        assert!(!ignored.has(&name) && !ignored.has(&path));
    }

    #[test]
    fn what_only_docker_evaluates_is_refused() {
        for text in ["[a]", "a\\*", "!", "a/../b", "**b", "a**"] {
            let error = parse(&format!("x\n{text}\n")).expect_err(text).to_string();
            assert!(error.contains(".dockerignore:2:1"), "{error}");
            assert!(error.contains(&format!("the pattern `{text}` is not supported")), "{error}");
        }
    }
}
