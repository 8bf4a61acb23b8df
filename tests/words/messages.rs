//! The messages in the source: strings that are prose.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::support;

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

/// A message in the source.
pub struct Message {
    /// The file, from the root of the repository.
    pub file: String,
    pub line: usize,
    pub text: String,
}

impl Message {
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// Every message, in the order of the source.
pub fn all_messages() -> Vec<Message> {
    let mut res = Vec::new();
    for folder in FOLDERS {
        for (path, tokens) in sources(folder) {
            let in_tests = is_in_tests(&path);
            literals(tokens, in_tests, &mut |line, text, is_test| {
                if !is_test && is_prose(text) {
                    let file = format!("{folder}/{path}");
                    res.push(Message { file, line, text: text.to_owned() });
                }
            });
        }
    }
    assert!(500 < res.len(), "only {} messages were found", res.len());
    res
}

/// Whether a file below a folder of source has tests alone.
fn is_in_tests(path: &str) -> bool {
    path.ends_with("tests.rs") || path.split('/').any(|part| part == "tests")
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
