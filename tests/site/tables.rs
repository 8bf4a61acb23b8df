//! The parts of pages that repeat what is said elsewhere: each is compared with its origin, and `UPDATE=1` writes it.

use std::{collections::BTreeMap, env, fs};

use regex_lite::Regex;

use crate::{read, support};

/// Compares the part of a page between two comments with what it should be, or writes it with `UPDATE=1`.
fn check_list(page: &str, list: &str) {
    check_list_below(page, "", list);
}

/// The same with the first such part below a heading.
fn check_list_below(page: &str, heading: &str, list: &str) {
    let text = read(page);
    let above = text.find(heading).expect("the page has the heading");
    let (above, text) = text.split_at(above);
    let (before, rest) = text.split_once(" -->\n").expect("a comment stands above the list");
    let (_, after) = rest.split_once("<!-- end -->").expect("another one stands below it");
    let wanted = format!("{above}{before} -->\n\n{list}\n<!-- end -->{after}");
    if env::var_os("UPDATE").is_some() {
        fs::write(support::home().join(page), &wanted).unwrap();
    }
    assert_eq!(
        read(page),
        wanted,
        "`UPDATE=1 cargo test --features originals --test site` writes {page}"
    );
}

/// The flags of the manager, from the source of the runtime.
#[test]
fn the_list_of_flags_is_that_of_the_runtime() {
    let flag = Regex::new(r"/// (.+)\n    #\[arg\((long.*)\)\]\n    (?:pub\(crate\) )?([a-z_]+):")
        .unwrap();
    let default = Regex::new(r#"default_value(?:_t)? = "?([^",]*)"#).unwrap();
    let mut rows = String::new();
    for file in ["flags.rs", "webhooks/flags.rs"] {
        let text = read(&format!("crates/operator-rs-runtime/src/{file}"));
        let flags: Vec<_> = flag.captures_iter(&text).collect();
        assert_eq!(flags.len(), text.matches("#[arg(").count(), "{file}");
        for it in flags {
            let name = it[3].replace('_', "-");
            let value = default.captures(&it[2]).map(|it| it[1].to_owned()).unwrap_or_default();
            let value = if value.is_empty() { value } else { format!("`{value}`") };
            rows += &format!("| `--{name}` | {value} | {} |\n", &it[1]);
        }
    }
    check_list(
        "docs/reference/manager.md",
        &format!("| flag | default | meaning |\n|---|---|---|\n{rows}"),
    );
}

/// The arguments of markers, from the structs that the parser fills.
#[test]
fn the_tables_of_markers_are_those_of_the_parser() {
    let source = read("src/project/marker_arguments.rs");
    let argument = Regex::new(
        r#"((?:        /// .+\n)+)        pub \w+: [^=]+ = argument\("(\w+)"\)([^;]*);"#,
    )
    .unwrap();
    for (name, marker) in [
        ("Rule", "rbac"),
        ("WebhookArguments", "webhook"),
        ("ConfigurationArguments", "webhookconfiguration"),
    ] {
        let (_, fields) = source.split_once(&format!("pub struct {name} (")).expect("it is there");
        let (fields, _) = fields.split_once("\n    }\n").expect("it ends");
        let arguments: Vec<_> = argument.captures_iter(fields).collect();
        assert_eq!(arguments.len(), fields.matches(" pub ").count(), "{name}");
        let row = |argument: &regex_lite::Captures<'_>| {
            let is_required = argument[3].contains(".required()");
            let required = if is_required { "required: " } else { "" };
            let help: Vec<&str> =
                argument[1].lines().filter_map(|line| line.trim().strip_prefix("/// ")).collect();
            format!("| `{}` | {required}{} |\n", &argument[2], help.join(" "))
        };
        let rows: String = arguments.iter().map(row).collect();
        check_list_below(
            "docs/reference/markers.md",
            &format!("## `+kubebuilder:{marker}`"),
            &format!("| argument | value |\n|---|---|\n{rows}"),
        );
    }
}

/// The expressions that the reader evaluates, from the reader's own list.
#[test]
fn the_list_of_constructs_is_that_of_the_reader() {
    let list = read("crates/kube-crd-source/src/values/construct.rs");
    let construct = Regex::new(r#"(?m)^    [A-Z][A-Za-z]+: (".*"),$"#).unwrap();
    let constructs: Vec<String> = construct
        .captures_iter(&list)
        .map(|it| serde_json::from_str(&it[1]).expect("JSON has the same escapes"))
        .collect();
    assert!(constructs.len() > 50, "{}", constructs.len());
    let items: String = constructs.iter().map(|it| format!("- {it}\n")).collect();
    check_list("docs/reference/rust.md", &items);
}

/// Commands and flags that are accepted here, and do something else than there.
const OTHER_PURPOSES: &[(&str, &str)] = &[
    ("bundle", "without a word, it generates and validates the bundle"),
    ("edit", "it changes the version in which a kind is stored: `edit --storage-version`"),
    (
        "generate",
        "without a word, it brings all generated files up to date; with one, it writes one artifact, such as `generate chart`",
    ),
    (
        "init --repo",
        "accepted, with a warning, and without effect: a Cargo package has no import path",
    ),
    (
        "scorecard",
        "it runs the tests that are built into operator-sdk's, and no images of your own",
    ),
];

/// Every command and flag of operator-sdk and kubebuilder with what this tool answers. `tests/peer_commands.rs` checks
/// that each is accepted or has a hint.
#[test]
fn the_table_of_peer_commands_has_the_answers_of_the_tool() {
    let dir = support::fresh("site-peer-commands");
    let mut answers: BTreeMap<String, String> = BTreeMap::new();
    for line in read("tests/peers.txt").lines().filter(|it| !it.starts_with('#')) {
        let Some((words, flags)) = line.split_once(':') else { continue };
        let command = words.split_once(' ').map_or("", |it| it.1);
        for flag in [""].into_iter().chain(flags.split_whitespace()) {
            // A short flag stands before the long one: `-o,--output=text`.
            let flag = flag.find(",--").map_or(flag, |it| &flag[it + 1..]);
            let output = support::operator_rs(&dir, &format!("{command} {flag} --help"));
            let text = support::said(&output);
            let hints = text.lines().filter_map(|it| it.strip_prefix("hint: "));
            let hints: Vec<String> = hints.map(|it| it.replace('|', "\\|")).collect();
            let name = flag.split('=').next().unwrap_or(flag);
            // Of `--plugins`, the value matters.
            let shown =
                flag.strip_suffix("=go/v4").or(flag.strip_prefix("--plugins").and(Some(flag)));
            let typed = format!("{command} {}", shown.unwrap_or(name)).trim().to_owned();
            let about = format!("`{name}`: ");
            let answer = match output.status.success() {
                true if typed.is_empty() || !flag.is_empty() => continue,
                true => "the same".to_owned(),
                // What is answered about the command has a row of its own.
                false if !flag.is_empty() && hints.len() > 1 => {
                    hints[1].strip_prefix(&about).unwrap_or(&hints[1]).to_owned()
                }
                false => hints.join("; "),
            };
            let is_known = |it: &str| !flag.is_empty() && answers.get(it) == Some(&answer);
            if !is_known(command) && !is_known(shown.unwrap_or(name)) {
                answers.insert(typed, answer);
            }
        }
    }
    for (typed, answer) in OTHER_PURPOSES {
        answers.insert((*typed).to_owned(), (*answer).to_owned());
    }
    let rows = answers.iter().map(|(typed, answer)| format!("| `{typed}` | {answer} |\n"));
    let rows: String = rows.collect();
    assert!(rows.lines().count() > 60, "{rows}");
    check_list("docs/from/all-commands.md", &format!("| typed | here |\n|---|---|\n{rows}"));
}

/// The rules of `crds diff`, from their list in the source.
#[test]
fn the_list_of_rules_is_that_of_crds_diff() {
    let list = read("crates/crd/src/compatibility/rules/mod.rs");
    let rule =
        Regex::new(r#"(?m)^    [A-Z][A-Za-z]+ "([A-Za-z]+)" (?:Error|Warning) "(.+)"$"#).unwrap();
    let rows = rule.captures_iter(&list).map(|it| format!("| `{}` | {} |\n", &it[1], &it[2]));
    let rows: String = rows.collect();
    assert!(rows.lines().count() > 30, "{rows}");
    check_list("docs/how-to/crds-diff.md", &format!("| rule | finds |\n|---|---|\n{rows}"));
}

/// Pages that repeat a file which is shipped elsewhere, too.
#[test]
fn copies_are_those_of_the_originals() {
    for (page, original) in [("operations", "OPERATIONS.md"), ("recipes", "RECIPES.md")] {
        let text = read(&format!("crates/operator-rs-runtime/{original}"));
        let (_, text) = text.split_once("\n\n").expect("text follows the title");
        check_list(&format!("docs/how-to/{page}.md"), text);
    }
    let main = read("src/main.rs");
    let comment = main.split("\n\n").next().expect("a split has a first part");
    let text = comment.lines().map(|it| it.trim_start_matches("//!").trim_start_matches(' '));
    let list: Vec<_> = text.skip_while(|it| *it != "```text").take(7).collect();
    assert_eq!(list.last(), Some(&"```"), "{list:?}");
    check_list("docs/inside/architecture.md", &(list.join("\n") + "\n"));
}
