//! Traits that take over a method: rustc prefers one that takes `self` by value, or that needs fewer references.

use super::packages::lock;
use super::{HEAD, KIND, SPEC, all_problems, files, problems, read_map, spec};

const NONE: [&str; 0] = [];

/// Reads a kind whose default is what `f` returns, in a library, with a package `dep` that has this source.
fn read(code: &str, dep: &str) -> Vec<String> {
    let manifest = |name: &str, rest: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nserde_json = \"1\"\n{rest}"
        )
    };
    let body = "#[serde(default = \"f\")] a: String,";
    let text = spec(body, code).into_values().next().unwrap();
    let found = problems(&files(&[
        ("Cargo.toml", &manifest("a", "dep = { path = \"dep\" }\n")),
        ("src/lib.rs", &text),
        ("src/m.rs", dep),
        ("dep/Cargo.toml", &manifest("dep", "")),
        ("dep/src/lib.rs", dep),
    ]));
    found.into_iter().filter(|it| !it.contains("Cargo.lock")).collect()
}

const LOUD: &str = "pub trait Loud { fn to_string(self) -> String; fn len(&self) -> usize; } impl Loud for i32 { fn to_string(self) -> String { String::new() } fn len(&self) -> usize { 0 } } pub mod prelude { pub use super::Loud as _; }";
const CALL: &str = "fn f() -> String { 7_i32.to_string() }";

#[test]
fn a_method_of_a_trait_in_scope_is_not_taken_for_one_of_std() {
    for import in [
        "use dep::Loud;",
        "use dep::Loud as Other;",
        "use dep::Loud as _;",
        "use dep::*;",
        "use dep::prelude::*;",
        "pub mod m; use m::Loud;",
        "pub mod m; use m::*;",
        "pub mod m; mod n { pub use super::m::Loud as L; } use n::L;",
        "pub mod m; mod n { pub use super::m::Loud as L; } use n::*;",
        "pub mod m; use m::{Loud as _};",
    ] {
        let found = read(&format!("{import} {CALL}"), LOUD);
        assert_eq!(found.len(), 1, "{import}: {found:?}");
        assert!(found[0].contains("a trait in scope has a method `to_string`, too"), "{found:?}");
    }
}

#[test]
fn a_trait_that_is_not_in_scope_takes_over_nothing() {
    for import in
        ["", "pub mod m;", "pub mod m; mod n { use super::m::Loud; }", "use dep::prelude;"]
    {
        assert_eq!(read(&format!("{import} {CALL}"), LOUD), NONE, "{import}");
    }
}

#[test]
fn a_trait_that_takes_over_a_method_of_the_derive_is_refused() {
    let quiet = "pub trait Quiet { fn insert(&self, _: String, _: serde_json::Value) {} } impl Quiet for schemars::Schema {}";
    let code = |import: &str| format!("{import} fn f() -> String {{ String::new() }}");
    for import in ["pub mod m; use m::Quiet as _;", "use dep::Quiet;"] {
        assert_eq!(
            read(&code(import), quiet),
            [
                "src/lib.rs:4:12: the derive of `JsonSchema` for `KindSpec` may call the `insert` of a trait in scope (`Kind` → `spec`)"
            ],
            "{import}"
        );
    }
    assert_eq!(read(&code("pub mod m;"), quiet), NONE);
    let here = format!("pub mod m; use m::Quiet as _; {HEAD}{SPEC}\n{KIND} {{ a: i32 }}");
    let problems_here =
        all_problems(&read_map(&files(&[("src/lib.rs", &here), ("src/m.rs", quiet)])));
    assert_eq!(
        problems_here[0].hint.as_deref(),
        Some("move the type to a module that does not import the trait")
    );
    let text =
        format!("pub mod m; use m::Quiet as _; mod kinds {{ {HEAD}{SPEC}\n{KIND} {{ a: i32 }} }}");
    assert_eq!(problems(&files(&[("src/lib.rs", &text), ("src/m.rs", quiet)])), NONE);
}

#[test]
fn a_trait_that_is_not_read_may_take_over_a_method() {
    let refused = |code: &str, expected: &str| {
        let found = read(&format!("{code} {CALL}"), "");
        assert_eq!(found.len(), 1, "{code}: {found:?}");
        assert!(found[0].contains(expected), "{code}: {found:?}");
    };
    let end = " may bring a trait with a method `to_string` into scope";
    refused(
        "use std::string::String; #[derive(gone::Loud)] struct Other;",
        &format!("`#[derive(gone::Loud)]` at src/lib.rs:7:35{end}"),
    );
    refused(
        "use std::string::String; mod n { #[gone::loud] fn g() {} } use n::*;",
        &format!("`#[gone::loud]` at src/lib.rs:7:36{end}"),
    );
    refused(
        "use std::string::String; mod n { gone::loud!(); } use n::Loud;",
        &format!("`n::Loud`, imported at src/lib.rs:7:58,{end}"),
    );
}

#[test]
fn a_trait_of_a_crate_from_git_may_take_over_a_method() {
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nanyhow = \"1\"\ngloud = { git = \"https://example.com/gloud\" }\n";
    let read_beside = |body: &str, code: &str, beside: &[(&str, &str)]| {
        let text = spec(body, code).into_values().next().unwrap();
        let packages: [(&str, &str, &[&str]); 3] = [
            (".a", "0.1.0", &["anyhow", "gloud"]),
            ("anyhow", "1.0.0", &[]),
            ("gloud", "1.0.0", &[]),
        ];
        let usual = "name = \"gloud\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"";
        let git =
            "name = \"gloud\"\nversion = \"1.0.0\"\nsource = \"git+https://example.com/gloud#1\"";
        let locked = lock(&packages).replace(usual, git);
        let project = [("Cargo.toml", manifest), ("Cargo.lock", &locked), ("src/main.rs", &text)];
        let mut project = files(&project);
        project.extend(files(beside));
        all_problems(&read_map(&project))
    };
    let read_with = |body: &str, code: &str| read_beside(body, code, &[]);
    let hint = &read_with("a: i32,", "use gloud::Quiet;")[0].hint;
    let expected =
        "run `cargo fetch` or `cargo vendor`, or move the type to a module without the import";
    assert_eq!(hint.as_deref(), Some(expected));
    let read_with = |body: &str, code: &str| -> Vec<String> {
        read_with(body, code).iter().map(ToString::to_string).collect()
    };
    let read =
        |code: &str| read_with("#[serde(default = \"f\")] a: String,", &format!("{code} {CALL}"));
    for import in ["use gloud::Loud;", "use gloud::{Loud as _};", "use gloud::*;"] {
        let found = read(import);
        assert!(found.iter().any(|it| it.contains("gloud::")), "{import}: {found:?}");
    }
    for (import, expected) in [
        ("use gloud::Quiet;", "`gloud::Quiet`, imported at src/main.rs:7:12,"),
        ("use gloud::Quiet as _;", "`gloud::Quiet`, imported at src/main.rs:7:1,"),
        ("use std::primitive::i32; use gloud::*;", "`use gloud::*` in src/main.rs"),
        (
            "mod p { pub use gloud::*; } use p::Quiet as _;",
            "`p::Quiet`, imported at src/main.rs:7:29,",
        ),
    ] {
        let found = read_with("a: i32,", import);
        assert_eq!(
            found,
            [format!(
                "src/main.rs:4:12: {expected} may bring a trait into scope whose methods the derive of `JsonSchema` for `KindSpec` calls (`Kind` → `spec`)"
            )],
            "{import}"
        );
    }
    assert_eq!(read_with("a: i32,", "mod n { use gloud::Quiet; }"), NONE);
    // Its source shows what it has.
    let read_source = |lib: &str, source: &str| {
        let manifest = format!("[package]\nname = \"gloud\"\nedition = \"2021\"\n{lib}");
        let source = [
            ("cargo/gloud-1.0.0/Cargo.toml", &*manifest),
            ("cargo/gloud-1.0.0/src/lib.rs", source),
        ];
        read_beside("a: i32,", "use gloud::Quiet;", &source).len()
    };
    assert_eq!(read_source("", "pub trait Quiet { fn insert_all(&self) {} }"), 0);
    assert_eq!(
        read_source("", "pub trait Quiet { fn insert(&self) {} } impl<T> Quiet for T {}"),
        1
    );
    assert_eq!(read_source("[lib]\nproc-macro = true\n", ""), 0);
    assert_eq!(read_with("a: i32,", "use anyhow::Context as _;"), NONE);
    assert_eq!(read("use anyhow::Context as _;"), NONE);
    assert_eq!(read("mod n { use gloud::Loud; }"), NONE);
}
