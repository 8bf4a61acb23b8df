//! Regular expressions of kustomizations: for identities of objects, items of lists and names of images. Most of them
//! are plain text, for which no expression is compiled. Compiling and matching take work from the budget.

use regex_lite::{Regex, RegexBuilder};

use super::budget::Budget;

/// Limits of a compiled expression in bytes, each twice the one before. The last one is far above that of names.
const LIMITS: std::ops::RangeInclusive<u32> = 10..=20;

/// The optional tag and digest after the name of an image.
const TAIL: &str = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";

/// The part of a text that has to match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    Whole,
    Anywhere,
    /// All of it but the tag and the digest of an image.
    ImageName,
}

#[derive(Debug)]
pub enum Pattern {
    /// A text in which each point matches any character.
    Plain(Scope, String),
    Regex {
        regex: Regex,
        /// The smallest of the limits that it fits into.
        size: usize,
    },
}

impl Pattern {
    /// Compiles an expression; one that is too large is an error.
    pub fn compile(text: &str, scope: Scope, budget: &Budget) -> anyhow::Result<Self> {
        let is_plain =
            |c: char| !r"\+*?()|[]{}^$".contains(c) && (c != '.' || scope != Scope::Anywhere);
        if text.chars().all(is_plain) {
            return Ok(Self::Plain(scope, text.to_owned()));
        }
        let expression = build_expression(text, scope);
        let mut result = Err(anyhow::format_err!("it is too large"));
        for size in LIMITS.map(|bits| 1 << bits) {
            budget.count_compilation(size)?;
            match RegexBuilder::new(&expression).size_limit(size).build() {
                Ok(regex) => return Ok(Self::Regex { regex, size }),
                Err(error) => result = Err(error.into()),
            }
        }
        result.map_err(|error| {
            error.context(format!("cannot compile the regular expression `{text}`"))
        })
    }

    pub fn is_match(&self, text: &str, budget: &Budget) -> anyhow::Result<bool> {
        match self {
            Self::Plain(scope, plain) => {
                budget.count_comparison(plain.len().min(text.len()))?;
                Ok(is_plain_match(plain, *scope, text))
            }
            Self::Regex { regex, size } => {
                budget.count_search(*size, text.len())?;
                Ok(regex.is_match(text))
            }
        }
    }

    /// Takes the memory of a pattern that is kept.
    pub fn into_kept(self, budget: &Budget) -> anyhow::Result<Self> {
        if let Self::Regex { size, .. } = self {
            budget.take_pattern(size)?;
        }
        Ok(self)
    }

    /// Returns the only text that matches, if there is only one.
    pub fn literal_text(&self) -> Option<&str> {
        match self {
            Self::Plain(Scope::Whole, text) if !text.contains('.') => Some(text),
            _ => None,
        }
    }
}

fn build_expression(text: &str, scope: Scope) -> String {
    match scope {
        Scope::Whole => format!("^(?:{text})$"),
        Scope::Anywhere => text.to_owned(),
        Scope::ImageName => format!("^{text}{TAIL}"),
    }
}

fn is_plain_match(plain: &str, scope: Scope, text: &str) -> bool {
    match scope {
        Scope::Whole => strip_plain_prefix(plain, text) == Some(""),
        Scope::Anywhere => text.contains(plain),
        Scope::ImageName => strip_plain_prefix(plain, text).is_some_and(is_tail),
    }
}

/// Returns the rest of a text that starts with a plain pattern.
fn strip_plain_prefix<'t>(plain: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in plain.chars() {
        let character = rest.next()?;
        if character != wanted && (wanted != '.' || character == '\n') {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Returns true if a text is an optional tag and an optional digest.
fn is_tail(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.{}-".contains(c);
    let rest = ["", "@sha256"].iter().fold(text, |rest, start| {
        let part = rest.strip_prefix(start).and_then(|rest| rest.strip_prefix(':'));
        part.map_or(rest, |part| part.trim_start_matches(is_allowed))
    });
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(text: &str, scope: Scope) -> anyhow::Result<Pattern> {
        Pattern::compile(text, scope, &Budget::default())
    }

    #[test]
    fn a_pattern_that_grows_when_it_is_compiled_is_refused() {
        assert!(compile("(?:a|b)[a-z0-9.-]{1,253}", Scope::Whole).is_ok());
        let error = compile("(x{1,500}){1,50}", Scope::Anywhere).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot compile the regular expression `(x{1,500}){1,50}`: compiled regex exceeded size limit"
        );
    }

    #[test]
    fn plain_text_matches_as_the_expression_does() {
        let texts = [
            "",
            "a",
            "ab",
            "a.b",
            "axb",
            "a\nb",
            "a.bc",
            "xa.b",
            "äöb",
            ":a",
            "a:",
            "a:b",
            "a:b:c",
            "a@sha256:",
            "a@sha256:0f",
            "a@sha512:0f",
            "a:b@sha256:0f",
            "a:b@sha256:0f@sha256:0f",
            "a@sha256:0f:b",
            "a:{b}",
            "a:b/c",
            "a:5000/b",
            "a@b",
            "a:b\n",
        ];
        for scope in [Scope::Whole, Scope::Anywhere, Scope::ImageName] {
            for text in texts.iter().filter(|text| !text.contains(['{', '}'])) {
                let regex = Regex::new(&build_expression(text, scope)).unwrap();
                let pattern = compile(text, scope).unwrap();
                for other in texts {
                    let is_match = pattern.is_match(other, &Budget::default()).unwrap();
                    assert_eq!(is_match, regex.is_match(other), "{text:?} {scope:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn matching_takes_work_as_pattern_and_text_are_long() {
        let work = |pattern: &str, text: &str| {
            let budget = Budget::default();
            let pattern = compile(pattern, Scope::Whole).unwrap();
            pattern.is_match(text, &budget).unwrap();
            budget.used_work()
        };
        let text = "x".repeat(1000);
        let (small, large) = (work("x?", &text), work("(x?){1,1000}", &text));
        assert!(large > 100 * small, "{small} {large}");
        let (short, long) = (work("x?y", "x"), work("x?y", &text));
        assert!(long > 100 * short, "{short} {long}");
    }
}
