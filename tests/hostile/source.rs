//! The program on source that nobody would write: an error with its place, no panic, and an end.

use std::{fs, path::Path};

use crate::support;

const MANIFEST: &str = "[package]\nname = \"hostile\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";
const HEAD: &str =
    "use kube::CustomResource; use schemars::JsonSchema; use serde::{Deserialize, Serialize};\n";
const KIND: &str = "#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]\n#[kube(group = \"example.com\", version = \"v1\", kind = \"Kind\")]\n";

/// A package with these files below `src`; `main.rs` begins with what every kind needs.
fn package(name: &str, code: &[(&str, &str)]) -> std::path::PathBuf {
    let dir = support::fresh(name);
    fs::create_dir(dir.join("src")).unwrap();
    fs::write(dir.join("Cargo.toml"), MANIFEST).unwrap();
    fs::copy(support::home().join("tests/schemas/Cargo.lock"), dir.join("Cargo.lock")).unwrap();
    for (path, text) in code {
        let head = if *path == "main.rs" { HEAD } else { "" };
        fs::write(dir.join("src").join(path), format!("{head}{text}")).unwrap();
    }
    dir
}

/// Nothing is printed, and this is told.
#[track_caller]
fn refused(dir: &Path, expected: &str) {
    let command = ["generate", "crds", "--message-format", "short"];
    let output = support::command(support::BINARY, dir).args(command).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).replace(": error: ", ": ");
    let start: String = told.chars().take(2_000).collect();
    assert_eq!(output.status.code(), Some(1), "{start}");
    assert!(told.contains(expected), "{start}");
    assert!(!told.contains("panic"), "{start}");
    assert_eq!(output.stdout, b"");
}

/// It is read without a word.
#[track_caller]
fn read(dir: &Path) {
    let output =
        support::command(support::BINARY, dir).args(["generate", "crds"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("kind: CustomResourceDefinition"));
}

#[test]
fn a_file_that_is_cut_off_is_refused() {
    let dir = package("cut-off", &[("main.rs", &format!("{KIND}pub struct KindSpec {{ a: Str"))]);
    refused(&dir, "src/main.rs:4:21: cannot be parsed");
    let dir = package("cut-text", &[("main.rs", &format!("{KIND}pub struct KindSpec {{ a: \"…"))]);
    refused(
        &dir,
        "src/main.rs:4:26: cannot be parsed: it is cut off, or this is not a token of Rust",
    );
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let dir = package("no-text", &[("main.rs", "mod a;\n")]);
    fs::write(dir.join("src/a.rs"), b"pub struct A; // \xff\n").unwrap();
    refused(
        &dir,
        "src/a.rs:1:1: src/a.rs cannot be read: line 1, byte 18 is not UTF-8: save the file in UTF-8",
    );
}

#[test]
fn what_is_nested_without_an_end_is_refused() {
    let many = 200_000;
    for (name, before, one, after) in [
        ("deep-brackets", "const A: B = ", "(", ""),
        ("deep-modules", "", "mod a { ", ""),
        ("deep-types", "type A = ", "&", "u8;"),
        ("deep-generics", "type A = ", "Option<", "u8"),
        ("deep-sums", "const A: u8 = 1", " + 1", ";"),
    ] {
        let end = match one.trim() {
            "(" => ")".repeat(many) + ";",
            "mod a {" => "}".repeat(many),
            "Option<" => ">".repeat(many) + ";",
            _ => String::new(),
        };
        let text = format!("{before}{}{after}{end}", one.repeat(many));
        refused(&package(name, &[("main.rs", &text)]), "nested too deep");
    }
    // What schemas are made of is walked as well.
    let text = format!(
        "{KIND}pub struct KindSpec {{ #[schemars(extend(\"a\" = {}{}))] a: String }}",
        "[".repeat(many),
        "]".repeat(many)
    );
    refused(&package("deep-value", &[("main.rs", &text)]), "nested too deep");
}

/// All are counted, and one is shown: looking up the place of each took minutes.
#[test]
fn many_requirements_that_are_not_locked_are_refused() {
    let kind = format!("{KIND}pub struct KindSpec {{ a: i32 }}");
    let dir = package("many-requirements", &[("main.rs", &kind)]);
    let more: String = (0..5_000).map(|number| format!("d{number} = \"1\"\n")).collect();
    let manifest = MANIFEST.replace("[dependencies]\n", &format!("[dependencies]\n{more}"));
    fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    refused(&dir, "and 4999 more requirements are not met");
}

#[test]
fn cyclic_modules_and_types_are_refused() {
    let kind = format!("{KIND}pub struct KindSpec {{ a: T }}\n");
    let dir = package(
        "cyclic-modules",
        &[("main.rs", &format!("mod a;\n{kind}")), ("a.rs", "#[path = \"a.rs\"] mod b;")],
    );
    refused(&dir, "src/a.rs:1:22: module `b` would be in a file that contains it");
    let dir =
        package("cyclic-aliases", &[("main.rs", &format!("type T = U; type U = T;\n{kind}"))]);
    refused(&dir, "is an alias that leads to itself");
    let dir = package(
        "cyclic-imports",
        &[("main.rs", &format!("use self::U as T; use self::T as U;\n{kind}"))],
    );
    refused(&dir, "src/main.rs:5:26: `T` is not found");
    let dir = package("cyclic-include", &[("main.rs", &format!("include!(\"main.rs\");\n{kind}"))]);
    refused(&dir, "src/main.rs:2:1: `src/main.rs` includes itself");
}

#[cfg(unix)]
#[test]
fn links_that_lead_to_themselves_are_refused_where_they_are_needed() {
    use std::os::unix::fs::symlink;
    let kind = format!("{KIND}pub struct KindSpec {{ a: String }}\n");
    let dir = package("link-folder", &[("main.rs", &kind)]);
    symlink(".", dir.join("src/again")).unwrap();
    symlink("..", dir.join("src/up")).unwrap();
    symlink("none.rs", dir.join("src/none.rs")).unwrap();
    read(&dir);
    // Links that lead to one another have no end.
    let project = support::fresh("link-project");
    support::done(&project, "init --domain example.com --project-name links");
    for (link, to) in [("x/a", "../y"), ("x/b", "../y"), ("y/a", "../x"), ("y/b", "../x")] {
        let link = project.join("src").join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(to, link).unwrap();
    }
    let output = support::operator_rs(&project, "manifests");
    let told = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("it contains more than 5000 directories, or one that leads back to it"),
        "{told}"
    );
    let dir = package("link-file", &[("main.rs", &format!("mod a;\n{kind}"))]);
    symlink("a.rs", dir.join("src/a.rs")).unwrap();
    refused(&dir, "src/a.rs:1:1: src/a.rs cannot be read: `src/a.rs` is a broken symlink");
    // Through a link that leads back, modules would have no end.
    let dir = package("link-module", &[("main.rs", &format!("mod a;\n{kind}"))]);
    fs::create_dir(dir.join("src/a")).unwrap();
    fs::write(dir.join("src/a/mod.rs"), "pub mod a;").unwrap();
    symlink(".", dir.join("src/a/a")).unwrap();
    refused(&dir, "is a broken symlink");
}

#[test]
fn ten_megabytes_are_read() {
    let text = format!(
        "const A: &str = \"{}\";\n{KIND}pub struct KindSpec {{ a: String }}\n",
        "0123456789".repeat(1_000_000)
    );
    read(&package("large-text", &[("main.rs", &text)]));
    let line = "pub const A: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9];\n";
    let text = format!("{KIND}pub struct KindSpec {{ a: String }}\n{}", line.repeat(5_000));
    read(&package("large-code", &[("main.rs", &text)]));
}
