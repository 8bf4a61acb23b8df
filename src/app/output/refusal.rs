//! All unreadable parts of the source, as one error.

use std::collections::BTreeMap;

use crate::source::Reading;
use diagnostics::{Diagnostic, Diagnostics};

/// Returns how much of the source could not be read.
pub fn unread(reading: &Reading) -> String {
    match reading.count_unread() {
        // A problem of the whole workspace refuses every kind, whatever each of them is like.
        _ if !reading.problems.is_empty() => "the source cannot be read exactly".to_owned(),
        (0, _) if reading.unexplored.is_empty() && !reading.comments.is_empty() => {
            "markers or registrations of webhooks are invalid".to_owned()
        }
        (0, _) => "the source cannot be read exactly".to_owned(),
        (1, 1) => "the CRD cannot be read exactly".to_owned(),
        (refused, all) => format!("{refused} of {all} CRDs cannot be read exactly"),
    }
}

/// Returns problems as one error. One that several kinds have appears once, with the field path in each.
pub fn refusal(
    headline: &str,
    problems: impl IntoIterator<Item = impl Into<Diagnostic>>,
) -> anyhow::Error {
    let mut all: BTreeMap<_, Diagnostic> = BTreeMap::new();
    for it in problems {
        let mut it: Diagnostic = it.into();
        all.entry((it.file.clone(), it.position, it.message.clone(), it.hints.clone()))
            .and_modify(|other| other.field_paths.append(&mut it.field_paths))
            .or_insert(it);
    }
    Diagnostics { headline: headline.to_owned(), list: all.into_values().collect() }.into()
}

#[test]
fn a_problem_that_several_kinds_have_names_them_all() {
    use crate::project::{Place, Problem, SourcePath};
    let problem = |place: &str, field_path: &[&str]| Problem {
        field_path: field_path.iter().map(|field| (*field).to_owned()).collect(),
        ..Problem::new(Place::start(SourcePath::fixed(place)), "it is wrong").with_hint("fix it")
    };
    let all = [
        problem("a.rs", &["One", "spec.a"]),
        problem("a.rs", &["Two", "spec.b", "T"]),
        problem("b.rs", &["One"]),
    ];
    let error = refusal("2 of 2", all);
    assert_eq!(error.to_string(), "2 of 2:\n  a.rs:1:1: it is wrong\n  b.rs:1:1: it is wrong");
    let found: &Diagnostics = diagnostics::find_error(&error).expect("it is one");
    let fields: Vec<Vec<String>> =
        found.list.iter().map(|diagnostic| diagnostic.format_fields().collect()).collect();
    assert_eq!(fields, [vec!["One → spec.a", "Two → spec.b → T"], vec![]]);
}
