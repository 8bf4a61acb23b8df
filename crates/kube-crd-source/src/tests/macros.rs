//! The project's own macros: what they hide, and what is told of what they make.

use super::{KIND, SPEC};
use super::{check, files, problems, spec};

const NONE: [&str; 0] = [];

#[test]
fn what_a_macro_makes_is_told_with_its_definition_and_its_call() {
    check(
        "a: In,",
        "macro_rules! make {\n($name:ident) => { $T\nstruct $name { x: Unknown } } }\nmake!(In);",
        "src/main.rs:9:19: `Unknown` is not found, in what `make!` at src/main.rs:10:1 makes (`Kind` → `spec.a.x`)",
    );
    check(
        "a: In,",
        "macro_rules! make {\n($name:ident, $t:ty) => { $T struct $name { x: Option<$t> } } }\nmake!(In, Unknown);",
        "src/main.rs:9:11: `Unknown` is not found, in what `make!` at src/main.rs:9:1 makes (`Kind` → `spec.a.x`)",
    );
    check(
        "a: In,",
        "macro_rules! make { ($name:ident) => {\nstruct $name { x: i32 } } }\nmake!(In);",
        "src/main.rs:9:7: `In` does not derive `JsonSchema`, in what `make!` at src/main.rs:9:1 makes (`Kind` → `spec.a`)",
    );
}

#[test]
fn a_definition_in_another_file_keeps_its_place() {
    let text = "#[macro_use] mod macros;\n".to_owned()
        + spec("a: In,", "make!(In);").values().next().unwrap();
    let macros = format!(
        "macro_rules! make {{ ($name:ident) => {{ {}\nstruct $name {{ x: Unknown }} }} }}",
        super::TYPE
    );
    let files = files(&[("src/main.rs", &text), ("src/macros.rs", &macros)]);
    assert_eq!(
        problems(&files),
        [
            "src/macros.rs:2:19: `Unknown` is not found, in what `make!` at src/main.rs:8:1 makes (`Kind` → `spec.a.x`)"
        ]
    );
}

#[test]
fn calls_that_cannot_be_opened_hide_what_they_may_define() {
    let hidden = |beside: &str, why: &str| {
        let expected = format!(
            "src/main.rs:5:4: `In` cannot be resolved with certainty: `make!` in src/main.rs may define it{why} (`Kind` → `spec.a`)"
        );
        check("a: In,", beside, &expected);
    };
    hidden("make!(In);", "");
    // Not yet defined where it is called.
    hidden(
        "mod a { make!(In); } macro_rules! make { ($n:ident) => { $T pub struct $n; } } use a::*;",
        "",
    );
    hidden(
        "macro_rules! make { ($n:ty) => { $T struct $n; } } make!(In, 1);",
        ", which cannot be read: no arm of it matches",
    );
    hidden(
        "#[cfg(unix)] macro_rules! make { ($n:ident) => { $T struct $n; } } make!(In);",
        ", which cannot be read: its definition depends on a `cfg` that the source does not settle",
    );
    hidden(
        "macro_rules! make { ($n:ident) => { $T struct $n; } } #[cfg(unix)] make!(In);",
        ", which cannot be read: it is called by a `cfg` that the source does not settle",
    );
    hidden(
        "macro_rules! make { ($n:ident) => { make!($n); } } make!(In);",
        ", which cannot be read: macros in macros have no end",
    );
    hidden(
        "macro_rules! make { ($($n:tt)*) => { make!($($n)* $($n)*); } } make!(In);",
        ", which cannot be read: macros make more tokens than are read",
    );
    hidden(
        "macro_rules! make { ($n:ident) => { $T struct $n } } make!(In);",
        ", which cannot be read: unexpected end of input, expected one of: `where`, parentheses, curly braces, `;`",
    );
}

#[test]
fn a_macro_is_seen_below_its_definition_and_inside_only() {
    let define = "macro_rules! make { ($n:ident) => { $T pub struct $n; } }";
    for beside in [
        format!("{define} mod a {{ use super::*; make!(In); }} use a::In;"),
        format!("#[macro_use] mod m {{ {define} }} make!(In);"),
        format!("mod m {{ {define} pub(crate) use make; }} m::make!(In);"),
        format!("mod m {{ {define} pub(crate) use make; }} use m::*; make!(In);"),
        format!("mod a {{ use super::*; crate::make!(In); }} #[macro_export] {define} use a::In;"),
    ] {
        assert_eq!(problems(&spec("a: In,", &beside)), NONE, "{beside}");
    }
    check(
        "a: In,",
        &format!("mod m {{ {define} }} make!(In);"),
        "src/main.rs:5:4: `In` cannot be resolved with certainty: `make!` in src/main.rs may define it (`Kind` → `spec.a`)",
    );
}

#[test]
fn another_crates_macros_and_its_own_crate_are_found() {
    let lib = format!(
        "pub mod types {{ use schemars::JsonSchema; use serde::{{Deserialize, Serialize}}; {}\npub struct Theirs {{ x: Missing }} }}\n\
         #[macro_export] macro_rules! make {{ ($n:ident) => {{ {} pub struct $n {{ t: $crate::types::Theirs }} }} }}",
        super::TYPE,
        super::TYPE
    );
    let manifest = |name: &str, rest: &str| {
        format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n{rest}"
        )
    };
    for (before, call) in [
        ("", "lib::make!(In);"),
        ("use lib::make;", "make!(In);"),
        ("#[macro_use] extern crate lib;", "make!(In);"),
    ] {
        let text = format!("{before}{}", spec("a: In,", call).values().next().unwrap());
        let found = problems(&files(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"lib\"]\n"),
            ("a/Cargo.toml", &manifest("a", "lib = { path = \"../lib\" }\n")),
            ("a/src/main.rs", &text),
            ("lib/Cargo.toml", &manifest("lib", "")),
            ("lib/src/lib.rs", &lib),
        ]));
        let found: Vec<_> = found.iter().filter(|it| !it.contains("Cargo.lock")).collect();
        assert_eq!(
            found,
            ["lib/src/lib.rs:2:24: `Missing` is not found (`Kind` → `spec.a.t.x`)"],
            "{call}"
        );
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
        vec![format!(
            "src/main.rs:7:1: `#[{name}]` may change the type that it stands on (`Kind` → `spec.a`)"
        )]
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
        "src/main.rs:5:4: `v1::In` cannot be resolved with certainty: `#[versioned]` in src/main.rs may define it (`Kind` → `spec.a`)",
    );
    check(
        "#[serde(default)] a: In,",
        "$T struct In; #[other::changed] impl Default for In { fn default() -> Self { In } }",
        "src/main.rs:5:22: `In` has a default of `In`, whose `Default` is not read (`Kind` → `spec.a`)",
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
        at("6", "`JsonSchema_repr` needs `#[repr(…)]` with a type of numbers")
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
            "src/main.rs:5:4: `i32` cannot be resolved with certainty: `make!` in src/main.rs may define it (`Kind` → `spec.a`)",
            "src/main.rs:7:1: `make!` may declare kinds here, and is not expanded",
        ]
    );
    assert_eq!(told("thread_local! { static A: u8 = 1; } #[cfg(test)] #[odd] mod x {}"), NONE);
}
