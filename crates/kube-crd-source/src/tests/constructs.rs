//! Each construct that the evaluator accepts has a case, and each case a construct. `tests/differential` of the
//! tool compiles the same cases with the real kube and compares what is printed.

#![allow(clippy::disallowed_methods, reason = "a test reads the cases from where they stand")]

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::packages::lock;
use super::*;
use crate::values::construct::{Construct, record};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/differential/constructs");

const MANIFEST: &str = "[package]\nname = \"case\"\nversion = \"0.0.1\"\nedition = \"2024\"\n[features]\ndefault = [\"on\"]\non = []\noff = []\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nserde_json = \"1\"\nk8s-openapi = \"0.29\"\nurl = \"2\"\n";

/// `UnitVariant` as the name of its file: `unit_variant`.
fn file_name(construct: Construct) -> String {
    use heck::ToSnakeCase as _;
    format!("{construct:?}").to_snake_case()
}

fn cases() -> BTreeMap<String, String> {
    let read = |it: std::fs::DirEntry| {
        let name = it.path().file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(it.path()).unwrap())
    };
    std::fs::read_dir(CASES).unwrap().map(|it| read(it.unwrap())).collect()
}

/// What a case is refused for, and what was accepted in it.
fn read_case(text: &str) -> (Vec<String>, BTreeSet<Construct>) {
    let files = files(&[("Cargo.toml", MANIFEST), ("src/main.rs", text)]);
    crate::stack::with_room(move || {
        let mut problems = Vec::new();
        let types = Rc::new(types_of(&files, None, &mut problems));
        record::take();
        let kinds = schema::read_kinds(&types, None, schema::DeclaredKinds::default()).kinds;
        assert_eq!(kinds.len(), 1, "a case has one kind");
        problems.extend(kinds.into_iter().filter_map(|(_, crd)| crd.err()).flatten());
        (problems.iter().map(ToString::to_string).collect(), record::take())
    })
}

/// The same of a case that includes a file, which is read once a value needs it.
fn read_case_with_files(text: &str) -> (Vec<String>, BTreeSet<Construct>) {
    let files = files(&[
        ("Cargo.toml", &MANIFEST.replace("k8s-openapi = \"0.29\"\n", "")),
        ("Cargo.lock", &lock(&[(".case", "0.0.1", &["url"]), ("url", "2.0.0", &[])])),
        ("build.rs", "fn main() {}"),
        ("src/main.rs", text),
    ]);
    crate::stack::with_room(move || {
        record::take();
        let reading = read(&files, &Options::default());
        let problems = all_problems(&reading);
        (problems.iter().map(ToString::to_string).collect(), record::take())
    })
}

#[test]
fn each_construct_has_a_case_in_which_it_is_accepted() {
    let mut cases = cases();
    let mut wrong = Vec::new();
    for construct in Construct::ALL {
        let name = file_name(*construct);
        let Some(text) = cases.remove(&name) else {
            wrong.push(format!("`{construct:?}` has no case `{name}.rs`"));
            continue;
        };
        let (problems, accepted) = match construct {
            Construct::IncludeStr => read_case_with_files(&text),
            _ => read_case(&text),
        };
        if !problems.is_empty() {
            wrong.push(format!("`{name}.rs` is refused: {problems:?}"));
        } else if !accepted.contains(construct) {
            wrong.push(format!("`{name}.rs` does not use `{construct:?}`"));
        }
    }
    wrong.extend(cases.keys().map(|it| format!("`{it}.rs` is the case of no construct")));
    assert_eq!(wrong, [""; 0]);
}
