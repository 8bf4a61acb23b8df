//! The words that users read: help texts and messages have no phrase of the stop list, and name no flag that does not exist.

#![allow(clippy::print_stdout, reason = "a test says where the file is that it has written")]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod messages;
#[path = "../support/mod.rs"]
mod support;

use std::{collections::BTreeSet, fs, path::Path};

use messages::all_messages;

/// Phrases that a native technical writer would not use, each with a better one. A phrase is matched as whole words.
const STOP_LIST: &[(&str, &str)] = &[
    ("what becomes of", "name the result"),
    ("what comes of", "name the result"),
    ("told", "reported, or a sentence with a subject"),
    ("all the same", "nevertheless, or nothing"),
    ("nobody to ask", "when stdin is not a terminal"),
    ("the time is over", "timed out"),
    ("nothing more to tell", "there is no verbose output"),
    ("nothing is needed", "not needed"),
    ("what it may do", "RBAC"),
    ("what others cannot", "name it"),
    ("where one ends", "at a boundary if possible"),
    ("as it pleases", "unspecified"),
    ("as the compiler pleases", "unspecified"),
    ("is called as", "has the same name as"),
    ("move away what is yours", "move or delete it"),
    ("a bundle is of one", "a bundle needs at least one API"),
    ("does not tell of", "does not contain"),
    ("with commas between", "separated by commas"),
    ("from there on", "from this version"),
    ("goes along", "is included"),
    ("comes off", "is removed"),
    ("what stands where", "name it"),
    ("stands beside", "is next to"),
    ("is of no use", "is not needed"),
    ("has no sense", "makes no sense"),
    ("brought up to date", "updated"),
    ("mended", "fixed"),
];

/// It also writes all texts into a file for people who read them in one go.
#[test]
fn no_text_has_a_phrase_of_the_stop_list() {
    let messages = all_messages().into_iter().map(|it| (it.place(), it.text));
    let texts: Vec<_> = help().into_iter().chain(messages).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages.txt");
    let lines: String = texts.iter().map(|(place, text)| format!("== {place}\n{text}\n")).collect();
    fs::write(&path, lines).expect("target/tmp can be written");
    println!("all texts: {}", path.display());
    let mut faults = Vec::new();
    for (place, text) in texts {
        for (phrase, better) in STOP_LIST {
            if has_phrase(&text, phrase) {
                faults.push(format!("{place}: `{phrase}` ({better}): {text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Words in messages that begin like a flag and are in no help text: of other programs, hidden, or no flags.
const FLAGS_OF_OTHERS: &[&str] = &[
    "-----BEGIN",
    "--global-pull-secret",
    "--pull-cas-dir",
    "--repo",
    "-C",
    "-addext",
    "-service",
];

#[test]
fn every_flag_in_a_message_is_one_of_a_command() {
    let helps: String = help().into_iter().map(|it| it.1).collect();
    let known: BTreeSet<&str> = helps.split([' ', ',', '\n', '=', '[', ']', '`', '|']).collect();
    let mut faults = Vec::new();
    for message in all_messages() {
        let (place, text) = (message.place(), &message.text);
        for code in text.split('`').skip(1).step_by(2).filter(|it| it.starts_with('-')) {
            let flag = code.split([' ', '=', '…', '.']).next().unwrap_or_default();
            let is_flag = flag.trim_start_matches('-').starts_with(char::is_alphabetic);
            if is_flag && !known.contains(flag) && !FLAGS_OF_OTHERS.contains(&flag) {
                faults.push(format!("{place}: `{flag}`: {text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Whether `a` or `an` is right depends on how the name is spoken.
#[test]
fn no_template_has_an_article_before_a_name() {
    fn check(folder: &Path, faults: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("templates can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                check(&path, faults);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let before = text.match_indices("{{").map(|it| text[..it.0].to_lowercase());
            let is_article = |it: &str| it.ends_with(" a ") || it.ends_with(" an ");
            faults.extend(
                before
                    .filter(|it| is_article(it))
                    .map(|it| format!("{}:{}", path.display(), 1 + it.matches('\n').count())),
            );
        }
    }
    let mut faults = Vec::new();
    check(Path::new("templates/create"), &mut faults);
    check(Path::new("templates/init"), &mut faults);
    assert_eq!(faults, [""; 0]);
}

#[test]
fn phrases_are_matched_as_whole_words() {
    assert!(has_phrase("you were Told so", "told"));
    assert!(has_phrase("where one ends; 0 leaves", "where one ends"));
    assert!(!has_phrase("untold riches", "told"));
    assert!(!has_phrase("where one endsoever", "where one ends"));
}

/// Every help text by its command, the shorter command first.
fn help() -> Vec<(String, String)> {
    let mut res = Vec::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let text = support::done(support::home(), &format!("{path} --help"));
        let names = support::commands_in(&text).into_iter().rev();
        paths.extend(names.map(|it| format!("{path} {it}").trim().to_owned()));
        res.push((format!("operator-rs {path} --help"), text));
    }
    assert!(15 < res.len(), "only {} help texts were found", res.len());
    res
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    text.match_indices(phrase).any(|(at, _)| {
        let outside = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric());
        outside(text[..at].chars().next_back()) && outside(text[at + phrase.len()..].chars().next())
    })
}
