//! What could not be read, as one error.

use std::collections::BTreeMap;

use crate::{model::Problem, source::Reading};

/// How much of the source could not be read.
pub fn unread(reading: &Reading) -> String {
    match reading.unread() {
        // That all are refused says nothing of any of them.
        _ if !reading.problems.is_empty() => "the source cannot be read exactly".to_owned(),
        (0, _) => "the source cannot be read exactly".to_owned(),
        (1, 1) => "the CRD cannot be read exactly".to_owned(),
        (refused, all) => format!("{refused} of {all} CRDs cannot be read exactly"),
    }
}

/// Problems below what they come to. One that several kinds have is written once, with the field path in each.
pub fn refusal(what: &str, problems: &[Problem]) -> anyhow::Error {
    let mut all: BTreeMap<_, Vec<&Problem>> = BTreeMap::new();
    for it in problems {
        all.entry((&it.place, &it.message, &it.hint)).or_default().push(it);
    }
    let list: String = all.into_values().map(|it| format!("\n{}", describe(&it))).collect();
    anyhow::format_err!("{what}:{list}")
}

/// One problem of several kinds.
fn describe(of_kinds: &[&Problem]) -> String {
    let Some((first, others)) = of_kinds.split_first() else { return String::new() };
    let field_paths = others.iter().map(|it| it.field_path.join(" → "));
    let more: String = field_paths.map(|it| format!("\n    {it}")).collect();
    let text = Problem { hint: None, ..(*first).clone() }.describe("  ");
    let hint = first.hint.as_ref().map(|it| format!("\n    hint: {it}"));
    format!("{text}{more}{}", hint.unwrap_or_default())
}

#[test]
fn a_problem_that_several_kinds_have_names_them_all() {
    use crate::model::{Place, SourcePath};
    let problem = |place: &str, field_path: &[&str]| Problem {
        field_path: field_path.iter().map(|it| (*it).to_owned()).collect(),
        ..Problem::new(Place::start(SourcePath::fixed(place)), "it is wrong").with_hint("mend it")
    };
    let all = [
        problem("a.rs", &["One", "spec.a"]),
        problem("a.rs", &["Two", "spec.b", "T"]),
        problem("b.rs", &["One"]),
    ];
    assert_eq!(
        refusal("2 of 2", &all).to_string(),
        "2 of 2:\n  a.rs:1:1: it is wrong\n    One → spec.a\n    Two → spec.b → T\n    hint: mend it\n  b.rs:1:1: it is wrong\n    hint: mend it"
    );
}
