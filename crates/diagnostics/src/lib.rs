//! Errors with hints and source locations.
//!
//! A [`Diagnostic`] is a message with what is known besides: the rule, the file, the line and column, its text, and what
//! to do. [`Diagnostics`] is everything that is wrong, as one error; [`Hint`] adds a hint to any error. [`Report`] takes
//! an error apart again, for a program that shows it. [`rules!`] declares rules, and [`RuleInfo`] describes one.
//! [`find_nearest`] suggests a spelling, [`Lines::is_accepted`] reads the comments that accept warnings, and
//! [`conflict`] finds what git leaves in a file. [`with_portable_system_errors`] words errors of the system alike on
//! every system. Nothing here prints or reads a file.

mod acceptance;
pub mod conflict;
mod diagnostic;
mod report;
mod rule;
mod severity;
mod spelling;
mod system_error;
mod utf8;

use std::{error::Error, fmt};

pub use diagnostic::{Diagnostic, Diagnostics, Lines};
pub use report::{Report, Summary, collect_hints};
pub use rule::RuleInfo;
pub use severity::Severity;
pub use spelling::{count, edit_distance, find_nearest, max_edit_distance};
pub use system_error::with_portable_system_errors;
pub use utf8::{utf8_or_position, utf8_text};

pub trait Hint<T> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T>;
}

impl<T> Hint<T> for anyhow::Result<T> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T> {
        self.map_err(|error| Hinted { error, hint: hint.into() }.into())
    }
}

/// Returns an error with several hints, which are shown in this order.
pub fn with_hints<T>(
    error: anyhow::Error,
    hints: impl DoubleEndedIterator<Item = String>,
) -> anyhow::Result<T> {
    Err(hints.rev().fold(error, |error, hint| Hinted { error, hint }.into()))
}

/// Finds the first error of a type along an error's chain.
pub fn find_error<T: Error + 'static>(error: &anyhow::Error) -> Option<&T> {
    error.chain().find_map(|cause| match cause.downcast_ref::<Hinted>() {
        Some(hinted) => find_error(&hinted.error),
        None => cause.downcast_ref(),
    })
}

#[derive(Debug)]
struct Hinted {
    error: anyhow::Error,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Hinted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

#[test]
fn hints_survive_context_and_each_other() {
    use anyhow::Context as _;
    let error = Err::<(), _>(anyhow::format_err!("root").context("low"))
        .hint("second")
        .hint("first")
        .context("high")
        .unwrap_err();
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    assert_eq!(chain, ["high", "low", "root"]);
    assert_eq!(collect_hints(&error), ["first", "second"]);
    let found = || Diagnostics { headline: "wrong".to_owned(), list: vec!["a".into()] };
    let error = Err::<(), _>(anyhow::Error::from(found())).hint("first").context("high");
    let error = error.unwrap_err();
    let summary = Summary {
        message: "high".to_owned(),
        causes: vec!["wrong".to_owned()],
        hints: vec!["first".to_owned()],
    };
    assert_eq!(Report::from(&error), Report { found: found().list, summary: Some(summary) });
    let several = ["a", "b"].map(str::to_owned).into_iter();
    let error = with_hints::<()>(anyhow::format_err!("root"), several).unwrap_err();
    assert_eq!(collect_hints(&error), ["a", "b"]);
}
