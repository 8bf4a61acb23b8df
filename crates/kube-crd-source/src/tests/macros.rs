//! The project's own macros: what they hide, and what is told of what they make.

use super::{KIND, SPEC, TYPE};
use super::{check, files, problems, spec};

const NONE: [&str; 0] = [];

#[test]
fn what_a_macro_may_declare_is_refused() {
    let hidden = |beside: &str| {
        let column = beside.replace("$T", TYPE).rfind("make!(").unwrap() + 1;
        let expected = format!(
            "src/main.rs:5:4: `In` cannot be resolved with certainty: `make!` at src/main.rs:7:{column} may define it (`Kind` → `spec.a`)"
        );
        check("a: In,", beside, &expected);
    };
    // A macro that nobody knows may declare any name.
    hidden("make!();");
    hidden("macro_rules! make { ($n:ident) => { $T struct $n; } } make!(In);");
    hidden("macro_rules! make { () => { $T struct In; } } make!();");
    hidden("macro_rules! make { ($($n:tt)*) => { $($n)* } } make!(struct In;);");
    hidden("macro_rules! make { () => { use other::*; } } make!();");
    hidden("macro_rules! make { () => { other::any!(); } } make!();");
    hidden("macro_rules! make { () => { use other::In; } } make!();");
    hidden(
        "macro_rules! make { () => { struct In; } } #[cfg(unix)] macro_rules! make { () => {} } make!();",
    );
    hidden(
        "macro_rules! make { ($n:ident) => { inner!($n); } } macro_rules! inner { ($n:ident) => { struct $n; } } make!(In);",
    );
    // Not yet defined where it is called.
    hidden("mod a { make!(In); } macro_rules! make { ($n:ident) => { pub struct $n; } } use a::*;");
    hidden("mod m { macro_rules! make { ($n:ident) => { struct $n; } } } make!(In);");
    hidden("#[macro_use] extern crate other; use other::make; make!(In);");
    // One macro defines another.
    hidden(
        "macro_rules! outer { ($m:ident) => { macro_rules! $m { () => {} } } } outer!(make); make!();",
    );
}

#[test]
fn what_a_macro_cannot_declare_is_read() {
    let read = |code: &str| {
        assert_eq!(problems(&spec("a: In,", &format!("$T struct In {{}} {code}"))), NONE, "{code}");
    };
    read("macro_rules! make { ($n:ident) => { struct $n; } } make!(Other);");
    read("macro_rules! make { ($n:ident) => { impl Trait for $n { fn f() {} } } } make!(In);");
    read("macro_rules! make { ($n:ident) => { fn f() { other::call!($n); } } } make!(In);");
    read("#[macro_use] mod m { macro_rules! make { () => { struct Other; } } } make!();");
    read(
        "mod m { macro_rules! make { () => { struct Other; } } pub(crate) use make; } m::make!();",
    );
    read(
        "use other::*; macro_rules! make { ($n:ident) => { struct $n; }; ($n:ident, $($r:ident),+) => { make!($n); make!($($r),+); } } make!(Other, More);",
    );
    read("thread_local! { static OTHER: u8 = 1; }");
    read("use std::thread_local; thread_local! { static OTHER: u8 = 1; }");
}

#[test]
fn what_a_macro_may_implement_is_refused() {
    check(
        "#[serde(default)] a: In,",
        "$T struct In {} macro_rules! make { ($n:ident) => { impl Default for $n { fn default() -> Self { Self {} } } } } make!(In);",
        "src/main.rs:5:22: unsupported expression `In` in a default: `make!` in src/main.rs may define `default`, and macros are not expanded (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "struct In {} macro_rules! make { ($n:ident) => { impl schemars::JsonSchema for $n {} } } make!(In);",
        "src/main.rs:7:8: `In` does not derive `JsonSchema` (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "struct In {} impl schemars::JsonSchema for In { make!(); }",
        "src/main.rs:7:44: this `impl JsonSchema` calls a macro, which is not expanded (`Kind` → `spec.a`)",
    );
}

#[test]
fn another_crates_macros_are_found() {
    let lib = "#[macro_export] macro_rules! make { ($n:ident) => { struct $n; } }";
    let manifest = |name: &str, rest: &str| {
        format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n{rest}"
        )
    };
    for (before, call) in [
        ("", "lib::make!(Other);"),
        ("use lib::make;", "make!(Other);"),
        ("#[macro_use] extern crate lib;", "make!(Other);"),
    ] {
        let code = format!("{call} $T struct In {{}}");
        let text = format!("{before}{}", spec("a: In,", &code).values().next().unwrap());
        let found = problems(&files(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"lib\"]\n"),
            ("a/Cargo.toml", &manifest("a", "lib = { path = \"../lib\" }\n")),
            ("a/src/main.rs", &text),
            ("lib/Cargo.toml", &manifest("lib", "")),
            ("lib/src/lib.rs", lib),
        ]));
        let found: Vec<_> = found.iter().filter(|it| !it.contains("Cargo.lock")).collect();
        assert_eq!(found, Vec::<&String>::new(), "{call}");
    }
}

#[test]
fn attributes_of_derives_are_told_from_attribute_macros() {
    let read = |beside: &str| problems(&spec("a: In,", beside));
    // No import has its name, so it can only be the derive's.
    assert_eq!(read("use other::Theirs;\n$T #[derive(Theirs)] #[theirs(a)] struct In {}"), NONE);
    assert_eq!(read("#[derive(strum::Display)] #[strum(a)] $T struct In {}"), NONE);
    let text =
        spec("a: In,", "#[typeshare::typeshare] $T struct In {}").into_values().next().unwrap();
    let manifest = "[package]\nname = \"a\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\ntypeshare = \"1\"\n";
    let found = problems(&files(&[("Cargo.toml", manifest), ("src/main.rs", &text)]));
    assert!(found.iter().all(|it| it.contains("Cargo.lock")), "{found:?}");
    let refused = |name: &str| {
        vec![format!("src/main.rs:7:1: `#[{name}]` may change its type (`Kind` → `spec.a`)")]
    };
    assert_eq!(read("#[theirs] $T struct In {}"), refused("theirs"));
    assert_eq!(
        read("#[other::theirs] $T #[derive(A)] struct In {} use other::A;"),
        refused("other::theirs")
    );
    assert_eq!(
        read("#[theirs] $T #[derive(A)] struct In {} use other::{A, theirs};"),
        refused("theirs")
    );
    assert_eq!(read("#[theirs] $T #[derive(A)] struct In {} use other::*;"), refused("theirs"));
    assert_eq!(
        read("#[theirs] $T #[derive(A)] struct In {} #[macro_use] extern crate other;"),
        refused("theirs")
    );
}

#[test]
fn what_stands_under_an_attribute_macro_is_not_taken_as_it_is() {
    check(
        "a: v1::In,",
        "#[versioned(version(name = \"v1\"))] pub mod versioned { $T pub struct In; }",
        "src/main.rs:5:4: `v1::In` cannot be resolved with certainty: `#[versioned]` at src/main.rs:7:3 may define it (`Kind` → `spec.a`)",
    );
    check(
        "#[serde(default)] a: In,",
        "$T struct In; #[other::changed] impl Default for In { fn default() -> Self { In } }",
        "src/main.rs:5:22: unsupported expression `In` in a default: `#[other::changed]` in src/main.rs may define `default`, and macros are not expanded (`Kind` → `spec.a`)",
    );
}

#[test]
fn enums_of_numbers_are_read_or_refused() {
    let with = |code: &str| {
        problems(&spec(
            "a: In,",
            &format!("use schemars::JsonSchema_repr; #[derive(JsonSchema_repr)]\n{code}"),
        ))
    };
    let at = |place: &str, what: &str| {
        vec![format!("src/main.rs:8:{place}: {what} (`Kind` → `spec.a`)")]
    };
    assert_eq!(with("#[repr(u8)] enum In { A = 255 }"), NONE);
    assert_eq!(
        with("#[repr(u8)] enum In { A = 255, B }"),
        at("32", "has a number that does not fit in `u8`")
    );
    assert_eq!(
        with("enum In { A }"),
        at("6", "`JsonSchema_repr` needs `#[repr(…)]` with an integer type")
    );
    assert_eq!(
        with("#[repr(u8)] enum In { A(i32) }"),
        at("23", "`JsonSchema_repr` is for variants without fields")
    );
    assert_eq!(with("#[repr(u8)] struct In;"), at("20", "`JsonSchema_repr` is for enums"));
}

#[test]
fn kinds_that_an_unknown_macro_may_make_are_not_left_out_in_silence() {
    let told = |code: &str| problems(&spec("a: i32,", code));
    let kind = format!("{SPEC}\n{KIND} {{ a: i32 }}");
    assert_eq!(
        told(&format!("#[versioned(version(name = \"v1\"))] pub mod versioned {{ {kind} }}")),
        ["src/main.rs:7:1: `#[versioned]` may declare kinds here, and is not expanded"]
    );
    assert_eq!(
        told(&format!("elsewhere::make! {{ {kind} }}")),
        [
            "src/main.rs:5:4: `i32` cannot be resolved with certainty: `make!` at src/main.rs:7:1 may define it (`Kind` → `spec.a`)",
            "src/main.rs:7:1: `make!` may declare kinds here, and is not expanded",
        ]
    );
    let of_macro = format!("macro_rules! make {{ () => {{ {kind} }} }} make!();");
    assert_eq!(
        told(&of_macro),
        ["src/main.rs:9:36: `make!` may declare kinds here, and is not expanded"]
    );
    assert_eq!(told("thread_local! { static A: u8 = 1; } #[cfg(test)] #[odd] mod x {}"), NONE);
}

/// The lines of the macros that may declare kinds, of code that begins in line 7.
fn unknown(code: &str) -> Vec<usize> {
    let manifest = "[package]\nname = \"a\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nthiserror = \"2\"\nclap = \"4\"\ntokio = \"1\"\nodd = \"1\"\nmine = { path = \"mine\" }\n";
    let mut files = spec("a: i32,", code);
    files.extend(super::files(&[
        ("Cargo.toml", manifest),
        ("mine/Cargo.toml", "[package]\nname = \"mine\"\n[lib]\nproc-macro = true\n"),
        ("mine/src/lib.rs", ""),
    ]));
    let reading = super::read_map(&files);
    reading.unknown_macros.iter().map(|place| place.line).collect()
}

#[test]
fn macros_that_may_declare_kinds_without_showing_it_are_listed() {
    let none: [usize; 0] = [];
    assert_eq!(unknown("#[derive(Clone, Debug, PartialEq)] struct A; fn main() {}"), none);
    assert_eq!(unknown("#[derive(thiserror::Error, Debug)] #[error(\"x\")] enum A {}"), none);
    assert_eq!(unknown("use clap::Parser;\n#[derive(Parser)] #[command(about)] struct A;"), none);
    assert_eq!(
        unknown("#[tokio::main] async fn main() {}\n#[cfg(test)] #[odd::test] fn f() {}"),
        none
    );
    assert_eq!(unknown("macro_rules! make { () => { struct A; } } make!();"), none);
    assert_eq!(unknown("tokio::task_local! { static A: u8; }"), none);
    assert_eq!(unknown("odd::make!();"), [7]);
    assert_eq!(unknown("use odd::make;\nmake! { struct A; }"), [8]);
    assert_eq!(unknown("#[derive(Clone, odd::Kinds)] struct A;"), [7]);
    assert_eq!(unknown("use odd::Hash;\n#[derive(Hash)] struct A;"), [8]);
    assert_eq!(unknown("use odd::Error as Other;\n#[derive(Other)] struct A;"), [8]);
    assert_eq!(unknown("#[odd::versions]\nstruct A;"), [7]);
    assert_eq!(unknown("use odd::versions;\n#[versions] fn f() {}"), [8]);
    assert_eq!(unknown("#[odd::versions] mod m {}"), [7]);
    assert_eq!(unknown("#[cfg_attr(unix, derive(odd::Kinds))]\nstruct A;"), [7]);
    assert_eq!(unknown("#[cfg_attr(false, derive(odd::Kinds))]\nstruct A;"), none);
    assert_eq!(unknown("use odd::*;\n#[derive(Parser)] struct A;"), [8]);
    // A crate from a path is none that is published under this name.
    assert_eq!(unknown("#[derive(mine::Serialize)] struct A;"), [7]);
}
