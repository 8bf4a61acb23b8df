//! Bad input: each has its line and its way out, and none grows or overflows.

use crate::yaml::{self, Dialect};

const DIALECTS: [Dialect; 3] = [Dialect::Kubernetes, Dialect::Strict, Dialect::Kustomize];

fn check(text: &str, expected: &str) {
    for dialect in DIALECTS {
        let error = yaml::parse_documents(text, dialect).expect_err("it is refused").to_string();
        assert_eq!(error, expected, "{dialect:?}");
    }
}

#[test]
fn aliases_that_grow_without_bound() {
    let mut text = "a0: &x0 [l, o, l]\n".to_owned();
    for at in 1..40 {
        let before = format!("*x{}", at - 1);
        text += &format!("a{at}: &x{at} [{before}, {before}, {before}, {before}, {before}]\n");
    }
    let place = |dialect| yaml::parse_documents(&text, dialect).expect_err("it grows").to_string();
    let start = "the aliases expand to too much data at line ";
    for dialect in DIALECTS {
        let error = place(dialect);
        assert!(
            error.starts_with(start) && error.ends_with("(replace the aliases with their values)"),
            "{error}"
        );
    }
    // A long text is worth its length.
    let long = "x".repeat(1 << 20);
    let aliases = "*x, ".repeat(100);
    let text = format!("a: &x {long}\nb: [{aliases}]\n");
    assert!(
        yaml::parse_documents(&text, Dialect::Kustomize)
            .expect_err("it grows")
            .to_string()
            .starts_with(start)
    );
}

#[test]
fn an_alias_of_what_it_is_in() {
    check("a: &x\n  b: [*x]\n", "`*x` refers to a value that contains it at line 2 column 7");
}

#[test]
fn a_chain_of_merge_keys_is_limited_like_nested_maps() {
    let mut text = "a0: &x0 {k: 0}\n".to_owned();
    for at in 1..5000 {
        text += &format!("a{at}: &x{at}\n  <<: *x{}\n", at - 1);
    }
    for dialect in DIALECTS {
        let error = yaml::parse_documents(&text, dialect).expect_err("it is deep").to_string();
        assert!(error.contains("nested") || error.contains("aliases"), "{error}");
    }
}

#[test]
fn ten_megabytes() {
    let line = "    a line of a text that is long enough, and a bit more\n".repeat(20);
    let entry = format!("- name: some name\n  value: \"a text\"\n  text: |\n{line}");
    let count = (10 << 20) / entry.len();
    let text = format!("items:\n{}", entry.repeat(count));
    let documents = yaml::parse_documents(&text, Dialect::Kubernetes).expect("it is read");
    assert_eq!(documents[0]["items"].as_array().map(Vec::len), Some(count));
}

#[test]
fn a_thousand_levels() {
    let nested = "this is nested in more than 200 lists and maps at line ";
    let block: String = (0..1000).map(|it| format!("{}a:\n", " ".repeat(it))).collect();
    for text in ["[".repeat(1000), "{a: ".repeat(1000), "- ".repeat(1000), block] {
        for dialect in DIALECTS {
            let error = yaml::parse_documents(&text, dialect).expect_err("it is deep").to_string();
            assert!(error.starts_with(nested), "{error}");
        }
    }
    // Of what aliases stand for, too.
    let mut text = "a0: &x0 1\n".to_owned();
    for at in 1..1000 {
        text += &format!("a{at}: &x{at} [*x{}]\n", at - 1);
    }
    for dialect in DIALECTS {
        let error = yaml::parse_documents(&text, dialect).expect_err("it is deep").to_string();
        assert!(error.starts_with(nested) || error.starts_with("the aliases"), "{error}");
    }
}

#[test]
fn keys_that_are_maps() {
    let hint = "and JSON has string keys only at line 1 column";
    check("{{a: b}: c}\n", &format!("this key is a map, {hint} 2 (write a string)"));
    check("? [a]\n: c\n", &format!("this key is a list, {hint} 3 (write a string)"));
}

#[test]
fn control_characters_are_refused() {
    let hint = "(remove it, or write it as an escape in double quotes)";
    check(
        "a: b\nc: d\0\n",
        &format!("the character U+0000 is not allowed in YAML at line 2 column 5 {hint}"),
    );
    check(
        "a: \"\u{1b}\"\n",
        &format!("the character U+001B is not allowed in YAML at line 1 column 5 {hint}"),
    );
    check(
        "a: 1\n---\nb:\n\u{feff}c: 1\n",
        &format!("the character U+FEFF is not allowed here at line 4 column 1 {hint}"),
    );
}

#[test]
fn what_the_parser_panics_at_is_refused_before() {
    let tag = "the YAML parser cannot continue from here at line 1 column 1 \
               (if a comma follows a tag, write a space between them)";
    check("a: [!x, y]\n", tag);
    // No tag is here.
    let text = "a: ^(ftp)://[=?~_|!:,.;]*\nb: 'x !:, y'\nc: |\n  !:,\n";
    for dialect in DIALECTS {
        let read = yaml::from_text(text, dialect).expect("it is read");
        let expected = yaml::json!({ "a": "^(ftp)://[=?~_|!:,.;]*", "b": "x !:, y", "c": "!:,\n" });
        assert_eq!(read, expected);
    }
    for text in [
        "\"\\",
        "a: \"\\",
        "a: |\n  b\\",
        "a: >",
        "a: |+",
        "a: |",
        "!",
        "&",
        "*",
        "%",
        "a: !",
        "? ",
    ] {
        for dialect in DIALECTS {
            // Whatever it is, there is an answer.
            let _ = yaml::parse_documents(text, dialect);
        }
    }
    let open = yaml::parse_documents("a: |\n  b!, c\\", Dialect::Kustomize).expect("a text");
    assert_eq!(open[0]["a"], "b!, c\\");
}
