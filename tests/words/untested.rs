//! The messages that no test shows are listed in `untested.txt`. A message that is new has a test; one that is tested now
//! leaves the list.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use crate::{
    messages::{all_messages, unit_tests},
    support,
};

const LIST: &str = "tests/words/untested.txt";

/// The list is compared by text alone, so that code can be moved without a change to it.
#[test]
fn a_message_is_in_a_test_or_in_the_list_of_those_that_are_not() {
    let tests = tests();
    let mut untested: BTreeMap<String, String> = BTreeMap::new();
    for message in all_messages().into_iter().filter(|it| !is_shown(&it.text, &tests)) {
        untested.entry(escaped(&message.text)).or_insert(message.file);
    }
    let list = fs::read_to_string(support::home().join(LIST)).expect("the list is there");
    let listed: BTreeSet<&str> = list
        .lines()
        .map(|it| it.split_once(": ").expect("a line has a file and a text").1)
        .collect();
    if env::var_os("UPDATE").is_some() {
        let kept = untested.iter().filter(|it| listed.contains(it.0.as_str()));
        let mut lines: Vec<_> = kept.map(|(text, file)| format!("{file}: {text}\n")).collect();
        lines.sort_unstable();
        fs::write(support::home().join(LIST), lines.concat()).expect("the list can be written");
    }
    let new = untested.iter().filter(|it| !listed.contains(it.0.as_str()));
    let new: Vec<_> = new.map(|(text, file)| format!("{file}: {text}")).collect();
    assert!(
        new.is_empty(),
        "no test shows these messages: show each on a page in docs/recorded or in a test; if it cannot be reached, \
         delete it; if no test can reach it, add its line to {LIST}\n{}",
        new.join("\n")
    );
    let tested: Vec<_> = listed.iter().filter(|it| !untested.contains_key(**it)).copied().collect();
    assert!(
        tested.is_empty() || env::var_os("UPDATE").is_some(),
        "these are in a test now, or are no messages any more: `UPDATE=1 cargo test --test words` removes them from \
         {LIST}\n{}",
        tested.join("\n")
    );
}

/// The pages that are played, and the strings of all tests.
fn tests() -> String {
    let root = support::home();
    let is_played = |it: &String| it.contains("```console");
    let pages = ["docs", "tests"].map(|it| texts(&root.join(it), ".md")).into_iter().flatten();
    let tests = texts(&root.join("tests"), ".rs");
    pages.filter(is_played).chain(tests).chain([unit_tests()]).collect()
}

/// Whether a text contains the longest part of a message between its placeholders.
fn is_shown(message: &str, text: &str) -> bool {
    let parts = message.split(['{', '\n']).map(|it| it.split_once('}').map_or(it, |it| it.1));
    let longest = parts.max_by_key(|it| it.len()).unwrap_or_default().trim();
    text.contains(longest)
}

/// A text on one line.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('\n', r"\n")
}

/// The files of a folder whose names end so, but for those of this test.
fn texts(folder: &Path, end: &str) -> Vec<String> {
    let files = support::tree(folder).into_iter();
    let files = files.filter(|it| it.0.ends_with(end) && !it.0.starts_with("words/"));
    files.map(|it| String::from_utf8_lossy(&it.1).into_owned()).collect()
}
