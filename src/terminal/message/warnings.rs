//! Warnings: each is printed once, those of one rule are counted, and `--deny-warnings` turns them into a failure.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use super::{MessageFormat, print_diagnostic, settings};
use diagnostics::{Diagnostic, Severity, count};

/// The warnings of this run of the command.
#[derive(Default)]
struct PrintedWarnings {
    warnings: usize,
    messages: BTreeSet<String>,
}

static PRINTED: Mutex<PrintedWarnings> =
    Mutex::new(PrintedWarnings { warnings: 0, messages: BTreeSet::new() });

/// Prints a warning, although the command continues.
pub fn warn(warning: impl Into<Diagnostic>) {
    warn_all([warning.into()]);
}

/// Prints warnings. One that was printed before or is accepted where it stands is left out. For people, many
/// warnings with one cause are one message with the places of the others, unless `--verbose` is given.
pub fn warn_all(warnings: impl IntoIterator<Item: Into<Diagnostic>>) {
    let settings = settings::current();
    let new = warnings
        .into_iter()
        .map(Into::into)
        .filter(|warning: &Diagnostic| !warning.is_accepted && is_new(warning));
    let folds = settings.format == MessageFormat::Human && !settings.is_verbose;
    for warning in if folds { merge_warnings(new) } else { new.collect() } {
        if !warning.is_note {
            warn_up_to_limit(&warning);
        } else if !settings.is_quiet {
            print_diagnostic(Severity::Note, &warning);
        }
    }
}

/// Fails if there were warnings and `--deny-warnings` is given. A command calls it before it changes anything.
pub fn require_no_warnings() -> anyhow::Result<()> {
    let warnings = lock_printed().warnings;
    if warnings == 0 || !settings::current().denies_warnings {
        return Ok(());
    }
    Err(Diagnostic::from(format!("{}, and `--deny-warnings` is given", count(warnings, "warning")))
        .with_hint("resolve each warning; one with a name and a line can be accepted there, by a comment such as `// operator-rs: allow(unknown-format)`")
        .into_error())
}

/// Prints how many warnings were not printed, and begins to count again.
pub fn print_remaining_count() {
    let printed = std::mem::take(&mut *lock_printed());
    let more = printed.warnings.saturating_sub(message_limit());
    if more > 0 {
        print_diagnostic(Severity::Note, &remaining_message(more, "warnings"));
    }
}

/// Returns the number of errors and of warnings that are printed: a file can contain any number of them.
pub(super) fn message_limit() -> usize {
    match settings::current().format {
        MessageFormat::Human | MessageFormat::Github => 200,
        MessageFormat::Short | MessageFormat::Json => 10_000,
    }
}

fn warn_up_to_limit(warning: &Diagnostic) {
    let is_within_limit = {
        let mut printed = lock_printed();
        printed.warnings += 1;
        printed.warnings <= message_limit()
    };
    if is_within_limit {
        print_diagnostic(Severity::Warning, warning);
    }
}

fn is_new(warning: &Diagnostic) -> bool {
    let mut printed = lock_printed();
    printed.messages.insert(format!("{warning} {:?}", warning.hints))
}

/// Returns the message in place of those that are not printed.
pub(super) fn remaining_message(more: usize, what: &str) -> Diagnostic {
    format!("and {more} more {what}").into()
}

fn lock_printed() -> std::sync::MutexGuard<'static, PrintedWarnings> {
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the first of many warnings with the same hints that are of one rule or have one message. A hint names the places
/// of the others.
fn merge_warnings(warnings: impl Iterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    const FEW: usize = 3;
    let mut groups: Vec<Vec<Diagnostic>> = Vec::new();
    let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
    for warning in warnings {
        let what = warning.code.unwrap_or(&warning.message);
        let cause = format!("{what}\n{:?}", warning.hints);
        let index = *by_cause.entry(cause).or_insert(groups.len());
        if index == groups.len() {
            groups.push(Vec::new());
        }
        groups[index].push(warning);
    }
    let folded = groups.into_iter().flat_map(|mut group| {
        if group.len() > FEW {
            let others = group.split_off(1);
            group[0].hints.push(others_hint(&others));
        }
        group
    });
    folded.collect()
}

fn others_hint(others: &[Diagnostic]) -> String {
    const LISTED: usize = 5;
    let mut listed = others.iter().take(LISTED).map(place_of).collect::<Vec<_>>().join(", ");
    if others.len() > LISTED {
        listed += ", …";
    }
    format!("`--verbose` prints {} like it: {listed}", count(others.len(), "more warning"))
}

fn place_of(warning: &Diagnostic) -> String {
    match (&warning.file, warning.position) {
        (Some(file), Some((line, column))) => format!("{file}:{line}:{column}"),
        (Some(file), None) => file.clone(),
        (None, _) => warning.message.clone(),
    }
}

#[test]
fn warnings_of_one_cause_are_one_message_with_their_places() {
    let at = |line, rule| {
        let warning =
            Diagnostic::in_file("a.rs", format!("`field{line}` is wrong")).at_position(line, 5);
        Diagnostic { code: rule, ..warning }
    };
    let equal = |file: &str| Diagnostic::in_file(file, "the same").with_hint("do it");
    let many = (1..9).map(|line| at(line, Some("a-rule")));
    let few = [at(9, None), at(10, Some("b-rule")), at(11, Some("b-rule"))];
    let equals = ["w", "x", "y", "z"].map(equal);
    let folded = merge_warnings(many.chain(few.clone()).chain(equals));
    let mut expected = vec![at(1, Some("a-rule")).with_hint(
        "`--verbose` prints 7 more warnings like it: a.rs:2:5, a.rs:3:5, a.rs:4:5, a.rs:5:5, a.rs:6:5, …",
    )];
    expected.extend(few);
    expected.push(equal("w").with_hint("`--verbose` prints 3 more warnings like it: x, y, z"));
    assert_eq!(folded, expected);
}
