//! The words that users read: all help texts and messages are written into one file, which can be read from top to
//! bottom, and none of them has a phrase of the stop list.

#![allow(clippy::print_stdout, reason = "the test says where its list is, and how long it is")]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

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

/// How many messages no session page shows, and how many no test shows either. Only ever lower these.
const ON_NO_PAGE: usize = 2370;
const IN_NO_TEST: usize = 1617;

#[test]
fn no_text_has_a_phrase_of_the_stop_list() {
    let mut faults = Vec::new();
    for (place, text) in help().into_iter().chain(all_messages()) {
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
    for (place, text) in all_messages() {
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

#[test]
fn phrases_are_matched_as_whole_words() {
    assert!(has_phrase("you were Told so", "told"));
    assert!(has_phrase("where one ends; 0 leaves", "where one ends"));
    assert!(!has_phrase("untold riches", "told"));
    assert!(!has_phrase("where one endsoever", "where one ends"));
}

#[test]
fn messages_are_shown_by_pages_and_tests() {
    let root = support::home();
    let pages = ["tests/sessions", "tests/olm"].map(|it| texts(&root.join(it), ".md")).join("\n");
    let tests = texts(&root.join("tests"), ".rs") + &unit_tests();
    let mut file = String::new();
    for (place, text) in help() {
        file += &format!("==== {place}\n{text}\n");
    }
    let (mut on_no_page, mut in_no_test) = (0, 0);
    let mut last = String::new();
    for (place, text) in all_messages() {
        let source = place.rsplit_once(':').map_or(place.as_str(), |it| it.0);
        if source != last {
            file += &format!("\n==== {source}\n");
            last = source.to_owned();
        }
        let on_page = is_shown(&text, &pages);
        let in_test = on_page || is_shown(&text, &tests);
        on_no_page += usize::from(!on_page);
        in_no_test += usize::from(!in_test);
        let mark = match (on_page, in_test) {
            (true, _) => "  ",
            (false, true) => "p ",
            (false, false) => "pt",
        };
        file += &format!("{mark} {}\n", text.replace('\n', "\n   "));
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages.txt");
    fs::write(&path, file).expect("target/tmp can be written");
    println!("all texts: {} (p: on no page, t: in no test)", path.display());
    println!("{on_no_page} messages are on no page, {in_no_test} in no test");
    assert!(on_no_page <= ON_NO_PAGE, "{on_no_page} messages are on no page: add one to a page");
    assert!(in_no_test <= IN_NO_TEST, "{in_no_test} messages are in no test: test the new one");
}

/// Every help text by its command, the shorter command first.
fn help() -> Vec<(String, String)> {
    let mut res = Vec::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let text = support::done(support::home(), &format!("{path} --help"));
        if let Some((_, list)) = text.split_once("Commands:\n") {
            let names = list.lines().take_while(|it| !it.is_empty());
            let names = names.filter_map(|it| it.strip_prefix("  ")?.split(' ').next());
            let names = names.filter(|it| !it.is_empty() && *it != "help");
            let below: Vec<_> = names.map(|it| format!("{path} {it}").trim().to_owned()).collect();
            paths.extend(below.into_iter().rev());
        }
        res.push((format!("operator-rs {path} --help"), text));
    }
    assert!(15 < res.len(), "only {} help texts were found", res.len());
    res
}

/// The source of the program and of the crates that it is made of.
const FOLDERS: &[&str] = &[
    "src",
    "crates/cluster/src",
    "crates/crd/src",
    "crates/diagnostics/src",
    "crates/go-data/src",
    "crates/kube-crd-source/src",
    "crates/kustomize/src",
    "crates/model/src",
    "crates/oci/src",
    "crates/olm/src",
];

/// Every message in the source by its place, in the order of the source.
fn all_messages() -> Vec<(String, String)> {
    let mut res = Vec::new();
    for folder in FOLDERS {
        for (path, tokens) in sources(folder) {
            let in_tests = path.ends_with("tests.rs") || path.contains("/tests/");
            literals(tokens, in_tests, &mut |line, text, is_test| {
                if !is_test && is_prose(text) {
                    res.push((format!("{folder}/{path}:{line}"), text.to_owned()));
                }
            });
        }
    }
    assert!(500 < res.len(), "only {} messages were found", res.len());
    res
}

/// What tests beside the source say.
fn unit_tests() -> String {
    let mut res = String::new();
    for folder in FOLDERS {
        for (path, tokens) in sources(folder) {
            let in_tests = path.ends_with("tests.rs") || path.contains("/tests/");
            literals(tokens, in_tests, &mut |_, text, is_test| {
                if is_test {
                    res += text;
                    res.push('\n');
                }
            });
        }
    }
    res
}

fn sources(folder: &str) -> BTreeMap<String, TokenStream> {
    let files = support::tree(&support::home().join(folder)).into_iter();
    let files = files.filter(|it| it.0.ends_with(".rs"));
    files
        .map(|(path, bytes)| {
            let text = String::from_utf8(bytes).expect("source is UTF-8");
            let tokens = text.parse().unwrap_or_else(|it| panic!("{folder}/{path}: {it}"));
            (path, tokens)
        })
        .collect()
}

/// Every string of the code with its line, and whether a test has it; none of attributes and of `expect`.
fn literals(tokens: TokenStream, is_test: bool, found: &mut impl FnMut(usize, &str, bool)) {
    let mut next_is_test = is_test;
    let mut after_expect = false;
    let mut after_sign = false;
    for token in tokens {
        let sign = matches!(&token, TokenTree::Punct(it) if "#!".contains(it.as_char()));
        match token {
            TokenTree::Group(group) if after_sign && group.delimiter() == Delimiter::Bracket => {
                let words = group.stream().to_string();
                next_is_test |= matches!(words.as_str(), "test" | "cfg (test)" | "cfg(test)");
            }
            TokenTree::Group(group) => {
                if !after_expect {
                    literals(group.stream(), next_is_test, found);
                }
                if group.delimiter() == Delimiter::Brace {
                    next_is_test = is_test;
                }
            }
            TokenTree::Literal(it) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&it.to_string()) {
                    found(it.span().start().line, &text.value(), next_is_test);
                }
            }
            TokenTree::Ident(it) => {
                after_expect = it == "expect";
                after_sign = false;
                continue;
            }
            TokenTree::Punct(it) if it.as_char() == ';' => next_is_test = is_test,
            TokenTree::Punct(_) => {}
        }
        after_expect = false;
        after_sign = sign;
    }
}

/// Whether a string is for people: three words in a row, or two and a placeholder.
fn is_prose(text: &str) -> bool {
    let word = |it: &str| {
        let it = it.trim_matches([',', '.', ':', ';', '\'']);
        1 < it.len() && it.chars().all(|it| it.is_ascii_lowercase() || it == '\'')
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let count = words.iter().filter(|it| word(it)).count();
    2 < count || 1 < count && text.contains(['{', '`'])
}

/// Whether a text contains the longest part of a message between its placeholders.
fn is_shown(message: &str, text: &str) -> bool {
    let parts = message.split(['{', '\n']).map(|it| it.split_once('}').map_or(it, |it| it.1));
    let longest = parts.max_by_key(|it| it.len()).unwrap_or_default().trim();
    text.contains(longest)
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    text.match_indices(phrase).any(|(at, _)| {
        let outside = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric());
        outside(text[..at].chars().next_back()) && outside(text[at + phrase.len()..].chars().next())
    })
}

fn texts(folder: &Path, end: &str) -> String {
    let files = support::tree(folder).into_iter().filter(|it| it.0.ends_with(end));
    let own = |it: &(String, Vec<u8>)| it.0 == "words.rs";
    let texts = files.filter(|it| !own(it)).map(|it| String::from_utf8_lossy(&it.1).into_owned());
    texts.collect::<Vec<_>>().join("\n")
}
