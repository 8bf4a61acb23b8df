//! What a terminal shows in colour and in tables, and that a file, a pipe and a reader without colours get the same
//! text as ever.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use rexpect::{reader::Options, session::spawn_with_options};

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const CYAN: &str = "\u{1b}[36m";
const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const END: &str = "\u{1b}[0m";

/// Everything that a terminal gets.
fn screen(dir: &Path, words: &str, variables: &[(&str, &str)]) -> String {
    let mut command = support::command(support::BINARY, dir);
    command.stdin(std::process::Stdio::inherit()).args(words.split_whitespace());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let options = Options::new().timeout_ms(Some(20_000));
    let mut terminal = spawn_with_options(command, options).expect("there are pseudo-terminals");
    // The library reads each byte as a character.
    let bytes = terminal.exp_eof().expect("it ends").chars().map(|it| it as u8).collect();
    String::from_utf8(bytes).expect("it is text").replace("\r\n", "\n")
}

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("screen/{name}"));
    support::done(&dir, "init --domain example.com --project-name p");
    support::done(&dir, "create api --group cache --kind Memcached");
    dir
}

/// The same without colours, where none are wanted and where none can be shown.
#[track_caller]
fn without_colours(dir: &Path, words: &str, coloured: &str) {
    let mut plain = coloured.to_owned();
    for it in [RED, GREEN, YELLOW, CYAN, BOLD, DIM, END] {
        plain = plain.replace(it, "");
    }
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert_eq!(screen(dir, words, &[variable]), plain, "{variable:?}");
    }
}

/// What a pipe gets, whatever the variables ask for.
#[track_caller]
fn piped(dir: &Path, words: &str) -> String {
    let run = |force: bool| {
        let mut command = support::command(support::BINARY, dir);
        command.args(words.split_whitespace());
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let plain = run(false);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    assert_eq!(run(true), plain);
    plain
}

#[test]
fn a_diff_has_the_colours_of_git() {
    let dir = project("diff");
    let path = dir.join("config/crd/bases/cache.example.com_memcacheds.yaml");
    let text = fs::read_to_string(&path).unwrap();
    // A line that is removed begins as the header of a file does.
    let edited = text.replace("    kind: Memcached\n", "-- a/x\n    kind: \u{1b}[2J\n");
    fs::write(&path, edited).unwrap();
    let words = "manifests --diff --force";
    let shown = screen(&dir, words, &[]);
    for line in [
        format!("{BOLD}--- a/config/crd/bases/cache.example.com_memcacheds.yaml{END}\n"),
        format!("{BOLD}+++ b/config/crd/bases/cache.example.com_memcacheds.yaml{END}\n"),
        format!("{RED}--- a/x{END}\n"),
        format!("{RED}-    kind: \\u{{1b}}[2J{END}\n"),
        format!("{GREEN}+    kind: Memcached{END}\n"),
        format!("{CYAN}@@ "),
    ] {
        assert!(shown.contains(&line), "{line:?} is missing:\n{shown}");
    }
    without_colours(&dir, words, &shown);
    // The control character is data for `patch`.
    let mut command = support::command(support::BINARY, &dir);
    command.args(words.split(' ')).env("CLICOLOR_FORCE", "1");
    let piped = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(piped.contains("-    kind: \u{1b}[2J\n") && !piped.contains(END), "{piped:?}");
}

#[test]
fn breaking_changes_are_a_table_for_each_crd() {
    let dir = support::fresh("screen/findings");
    let field = |name: &str, of: &str| format!("{name}: {{type: object, {of}}}");
    let crd = |plural: &str, of: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: {plural}.example.com}}\nspec:\n  group: example.com\n  scope: Namespaced\n  \
             names: {{plural: {plural}, singular: {plural}x, kind: {plural}K, listKind: {plural}KList}}\n  \
             versions:\n  - name: v1\n    served: true\n    storage: true\n    \
             schema: {{openAPIV3Schema: {{type: object, properties: {{{}}}}}}}\n",
            field("spec", of)
        )
    };
    let size = |it: &str| format!("properties: {{size: {{type: integer, maximum: {it}}}}}");
    let two = |one: &str, other: &str| format!("{}---\n{}", crd("a", one), crd("b", other));
    fs::write(dir.join("old.yaml"), two(&size("5"), &size("7"))).unwrap();
    fs::write(dir.join("new.yaml"), two(&size("3"), "required: [name]")).unwrap();
    let words = "crds diff ./old.yaml --to ./new.yaml";
    let shown = screen(&dir, words, &[]);
    let expected = format!(
        "{BOLD}a.example.com{END}
{RED}  error[maximum]{END}  v1 ^.spec.size  5 → 3
{DIM}    ./new.yaml:12:93{END}
{CYAN}    hint{END}: keep `maximum` at 5

{BOLD}b.example.com{END}
"
    );
    assert!(shown.starts_with(&expected), "{shown}");
    assert_eq!(shown.matches("breaking change").count(), 1, "{shown}");
    let plain = piped(&dir, words);
    assert!(
        plain.starts_with("./new.yaml:12:93: error[maximum]: `maximum` was lowered"),
        "{plain}"
    );
}

#[test]
fn the_scorecard_is_a_table() {
    let dir = project("scorecard");
    support::done(&dir, "bundle --image quay.io/example/p:v0.0.1");
    let words = "scorecard bundle --selector suite=olm";
    let shown = screen(&dir, words, &[]);
    let line = format!("olm-bundle-validation-test     {GREEN}pass{END}\n");
    assert!(shown.contains(&line) && shown.contains(&format!("{CYAN}  hint{END}: ")), "{shown}");
    assert_eq!(shown.lines().count(), 6, "{shown}");
    without_colours(&dir, words, &shown);
    assert!(piped(&dir, words).starts_with(&"-".repeat(80)));
}

#[test]
fn a_status_shows_at_a_glance_what_is_out_of_date() {
    let dir = project("status");
    let role = dir.join("config/rbac/role.yaml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, text.replacen("- create", "- patch", 1)).unwrap();
    let shown = screen(&dir, "status", &[("HOME", "/nonexistent"), ("KUBECONFIG", "")]);
    let roles = "out of date: config/rbac/role.yaml (needs `--force`)";
    for line in [
        format!(
            "{BOLD}Generated files{END}\n  CRDs          config/crd      {GREEN}current{END}\n"
        ),
        format!("  roles         config/rbac     {RED}{roles}{END}\n"),
        format!("{DIM}none: `operator-rs bundle` generates it{END}\n"),
    ] {
        assert!(shown.contains(&line), "{line:?} is missing:\n{shown}");
    }
}

#[test]
fn the_head_of_a_channel_and_what_cannot_reach_it_have_colours() {
    let dir = support::fresh("screen/graph");
    fs::create_dir(dir.join("catalog")).unwrap();
    let bundle = |version: &str| {
        format!(
            "---\nschema: olm.bundle\nname: a.v{version}\npackage: a\nimage: x\nproperties:\n\
             - {{type: olm.package, value: {{packageName: a, version: {version}}}}}\n"
        )
    };
    let catalog = format!(
        "schema: olm.package\nname: a\ndefaultChannel: stable\n---\n\
         schema: olm.channel\nname: stable\npackage: a\nentries:\n\
         - {{name: a.v1.0.0, replaces: a.v1.0.0}}\n- {{name: a.v1.1.0}}\n- {{name: a.v1.2.0, replaces: a.v1.1.0}}\n{}{}{}",
        bundle("1.0.0"),
        bundle("1.1.0"),
        bundle("1.2.0")
    );
    fs::write(dir.join("catalog/a.yaml"), catalog).unwrap();
    let words = "catalog graph";
    let shown = screen(&dir, words, &[]);
    let expected = format!(
        "{BOLD}a{END}
{BOLD}  stable (default channel){END}
{GREEN}    ● a.v1.2.0  (head){END}
    ● a.v1.1.0
{RED}    ✗ a.v1.0.0  (replaces a.v1.0.0){END}
{RED}    no upgrade leads to the head from a.v1.0.0{END}
"
    );
    assert!(shown.starts_with(&expected), "{shown}");
    piped(&dir, words);
}
