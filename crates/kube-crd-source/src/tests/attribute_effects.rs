//! Derives and attribute macros that are not known: each may write items beside its own.

use super::packages::{field, lock, manifest};
use super::{HEAD, KIND, SPEC, TYPE, files, problems, spec};

const NONE: [&str; 0] = [];

/// Reads a kind in a package that depends on an unpublished crate of macros, `mac`, and on `strum`.
fn read(body: &str, beside: &str) -> Vec<String> {
    read_with(body, beside, "registry+https://github.com/rust-lang/crates.io-index")
}

/// The same with this source of `strum` in Cargo.lock.
fn read_with(body: &str, beside: &str, source: &str) -> Vec<String> {
    let text = spec(body, beside).into_values().next().unwrap();
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nstrum = \"1\"\nsnafu = \"1\"\nmac = { path = \"mac\" }\n";
    let packages: [(&str, &str, &[&str]); 4] = [
        (".a", "0.1.0", &["strum", "snafu", "mac"]),
        (".mac", "0.0.0", &[]),
        ("snafu", "1.0.0", &[]),
        ("strum", "1.0.0", &[]),
    ];
    let is_usual = source.ends_with("crates.io-index");
    let registry = "strum.version = \"1\"\nstrum.registry = \"own\"";
    let manifest =
        if is_usual { manifest.to_owned() } else { manifest.replace("strum = \"1\"", registry) };
    let strum = |source: &str| format!("\"strum\"\nversion = \"1.0.0\"\nsource = \"{source}\"");
    let locked = lock(&packages)
        .replace(&strum("registry+https://github.com/rust-lang/crates.io-index"), &strum(source));
    problems(&files(&[
        ("Cargo.toml", &manifest),
        ("Cargo.lock", &locked),
        ("src/main.rs", &text),
        ("mac/Cargo.toml", "[package]\nname = \"mac\"\n[lib]\nproc-macro = true\n"),
        ("mac/src/lib.rs", ""),
    ]))
}

#[test]
fn what_an_unknown_derive_or_attribute_may_declare_is_refused() {
    let refused = |beside: &str, macro_: &str| {
        let found = read("a: String,", beside);
        let column = beside.find("mac").unwrap_or_default();
        assert_eq!(found.len(), 1, "{beside}: {found:?}");
        let start = "src/main.rs:5:4: `String` cannot be resolved with certainty: ";
        let expected = format!("{start}`{macro_}` at src/main.rs:7:");
        assert!(found[0].starts_with(&expected), "{beside} {column}: {found:?}");
    };
    refused("#[derive(mac::Shadow)] pub struct Other;", "#[derive(mac::Shadow)]");
    refused("use mac::Shadow; #[derive(Clone, Shadow)] enum Other {}", "#[derive(Shadow)]");
    refused("use mac::Shadow as Hash; #[derive(Hash)] enum Other {}", "#[derive(Hash)]");
    refused("use mac::*; #[derive(Shadow)] struct Other;", "#[derive(Shadow)]");
    refused("#[derive(mac::Display)] union Other { a: u8 }", "#[derive(mac::Display)]");
    refused("#[cfg_attr(unix, derive(mac::Shadow))] struct Other;", "#[derive(mac::Shadow)]");
    for item in [
        "struct Other;",
        "fn g() {}",
        "const C: u8 = 1;",
        "static S: u8 = 1;",
        "trait T {}",
        "type A = u8;",
        "use std::fmt;",
        "mod n {}",
        "impl KindSpec {}",
        "extern \"C\" {}",
        "extern crate std as other;",
        "macro_rules! m { () => {} }",
    ] {
        refused(&format!("#[mac::instrument] {item}"), "#[mac::instrument]");
    }
    refused(
        "mod n { #[derive(mac::Shadow)] pub struct Other; } use n::*;",
        "#[derive(mac::Shadow)]",
    );
}

#[test]
fn a_name_that_is_imported_or_defined_cannot_be_taken_over() {
    let shadow = "#[derive(mac::Shadow)] pub struct Other;";
    let read = |body: &str, code: &str| read(body, &format!("{shadow} {code}"));
    assert_eq!(read("a: String,", "use std::string::String;"), NONE);
    assert_eq!(read("a: i32, b: bool,", "use std::primitive::{bool, i32};"), NONE);
    assert_eq!(read("a: In,", &format!("{TYPE} struct In {{}}")), NONE);
    assert_eq!(read("a: ::std::string::String,", ""), NONE);
    assert_eq!(
        read(
            "a: n::In,",
            &format!(
                "mod n {{ use super::*; use std::string::String; use schemars::JsonSchema; use serde::{{Serialize, Deserialize}}; {TYPE} pub struct In {{ b: String }} }}"
            )
        ),
        NONE
    );
}

#[test]
fn known_macros_declare_nothing_that_a_type_is_named() {
    for code in [
        "#[derive(strum::Display, Clone)] #[strum(serialize_all = \"lowercase\")] enum Other {}",
        "use strum::*; use std::string::String; #[derive(EnumString)] enum Other {}",
        "use strum::EnumString; #[derive(EnumString)] enum Other {}",
        "mod n { use super::*; #[derive(Serialize)] pub struct Other; } use n::*;",
        "#[derive(Debug)] #[allow(dead_code)] #[rustfmt::skip] struct Other;",
    ] {
        assert_eq!(read("a: String,", code), NONE, "{code}");
    }
}

#[test]
fn a_function_that_an_unknown_derive_may_write_is_not_evaluated() {
    let inner = "#[derive(JsonSchema, Serialize, Deserialize, Default, Clone, Debug, mac::Inherent)] struct In { size: i32 }";
    let found = read(
        "#[serde(default = \"f\")] a: In,",
        &format!("use std::primitive::i32; fn f() -> In {{ In::default() }} {inner}"),
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`#[derive(mac::Inherent)]` in src/main.rs may define"), "{found:?}");
}

#[test]
fn a_known_derive_may_implement_a_trait() {
    let found = read(
        "#[serde(default)] a: In,",
        "#[derive(JsonSchema, Deserialize, strum::EnumMessage)] struct In { x: i32 } impl Default for In { fn default() -> Self { In { x: 1 } } }",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("operator-rs cannot tell whether `In` implements `Serialize`"));
}

#[test]
fn a_known_crate_from_elsewhere_than_crates_io_is_unknown() {
    let other = "#[derive(strum::Display)] enum Other {}";
    for source in ["registry+https://example.com/index", "sparse+https://example.com/"] {
        let found = read_with("a: String,", other, source);
        assert!(found.iter().any(|it| it.contains("`#[derive(strum::Display)]`")), "{found:?}");
    }
}

#[test]
fn an_item_in_a_syntax_that_is_not_understood_may_declare_anything() {
    let found = read(
        "a: In,",
        &format!("mod n {{ use super::*; {TYPE} pub struct In {{}} }} use n::*; use {{::mac::*}};"),
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("may define it: operator-rs does not understand this syntax"),
        "{found:?}"
    );
    let found = read(
        "#[serde(default = \"f\")] a: i32,",
        "mod n { pub fn f() -> i32 { 1 } } use n::*; unsafe extern \"C\" { safe fn f() -> i32; }",
    );
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn an_attribute_in_an_impl_may_add_a_function_to_it() {
    let inner = |attribute: &str| {
        format!(
            "{TYPE} #[derive(Default)] struct In {{ x: i32 }} impl In {{ {attribute} fn other() {{}} }} fn f() -> In {{ In::default() }}"
        )
    };
    let body = "#[serde(default = \"f\")] a: In,";
    assert_eq!(read(body, &inner("#[inline]")), NONE);
    let found = read(body, &inner("#[mac::twice]"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`#[mac::twice]` in src/main.rs may define"), "{found:?}");
}

#[test]
fn a_derive_of_a_package_that_is_not_on_this_machine_is_told_apart_from_another() {
    let refusal = |code: &str| {
        let own = manifest(
            "operator",
            "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\ntypes = \"1\"\n",
        );
        let locked = lock(&[(".operator", "1.0.0", &["types"]), ("types", "1.2.0", &[])]);
        field(&files(&[("Cargo.toml", &own), ("Cargo.lock", &locked), ("src/lib.rs", code)]))
    };
    let absent = "belongs to `types` 1.2.0, whose source is not on this machine";
    let head = HEAD.replace("use kube::{CustomResource, KubeSchema}", "use types::CustomResource");
    assert_eq!(
        refusal(&format!("{head}{SPEC}\n{KIND} {{ a: i32 }}")),
        Err(vec![format!("src/lib.rs:2:10: `CustomResource` {absent}")])
    );
    let other = TYPE.replace("JsonSchema", "types::JsonSchema");
    assert_eq!(
        refusal(&format!("{HEAD}{SPEC}\n{KIND} {{ a: In }}\n{other} struct In {{}}")),
        Err(vec![format!("src/lib.rs:5:10: `types::JsonSchema` {absent} (`Kind` → `spec.a`)")])
    );
}

#[test]
fn a_known_derive_may_declare_what_its_attributes_name() {
    for beside in [
        "#[derive(strum::EnumDiscriminants)] #[strum_discriminants(name(String))] enum Other { A }",
        "#[derive(strum::EnumDiscriminants)] #[cfg_attr(unix, strum_discriminants(name(String)))] enum Other { A }",
        "use strum::*; #[derive(EnumDiscriminants)] #[strum_discriminants(name(String))] enum Other { A }",
        "#[derive(snafu::Snafu)] #[snafu(context(suffix(false)))] enum Other { String { a: u8 } }",
        "#[derive(snafu::Snafu)] enum Other { #[snafu(context(suffix(ing)))] Str { a: u8 } }",
    ] {
        let found = read("a: String,", beside);
        let expected = "src/main.rs:5:4: `String` cannot be resolved with certainty: `#[derive(";
        assert!(found.iter().any(|it| it.starts_with(expected)), "{beside}: {found:?}");
    }
    for beside in [
        "#[derive(strum::Display)] #[strum(serialize_all = \"lowercase\")] enum Other { #[strum(to_string = \"String\")] String, Other(String) }",
        "#[derive(snafu::Snafu)] #[snafu(visibility(pub))] enum Other { #[snafu(display(\"a {s}\"))] String { s: String } }",
    ] {
        assert_eq!(read("a: String,", beside), NONE, "{beside}");
    }
    let kind = "#[derive(strum::EnumDiscriminants)] #[strum_discriminants(derive(kube::CustomResource), kube(group = \"a\", version = \"v1\", kind = \"B\"))] enum Other { A }";
    assert_ne!(read("a: String,", kind), NONE);
}

#[test]
fn the_names_of_many_variants_with_a_suffix_are_collected_once_each() {
    let variants: String = (0..64)
        .map(|n| format!("#[snafu(context(suffix(Error{n})))] V{n} {{ a: u8 }}, "))
        .collect();
    let others = format!("#[derive(snafu::Snafu)] enum Other {{ {variants} }}");
    assert_eq!(read("a: String,", &others), NONE);
    let found = read("a: V1Error1,", &others);
    assert!(found[0].contains("`#[derive(snafu::Snafu)]`"), "{found:?}");
}
