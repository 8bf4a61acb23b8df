//! An `impl` that nothing in the code shows: macros of the project and generated files write it for any type of their
//! crate.

use super::packages::lock;
use super::{files, problems, spec};

const NONE: [&str; 0] = [];

const MACROS: &str = "#[proc_macro] pub fn make(_: T) -> T { todo!() } #[proc_macro_attribute] pub fn attr(_: T, _: T) -> T { todo!() } #[proc_macro_derive(Made, attributes(made))] pub fn derive(_: T) -> T { todo!() } pub fn other() {}";

/// Reads a kind with a default of type `W`, which has no function `default` but the trait's.
fn read(beside: &str) -> Vec<String> {
    read_by("W::default()", beside)
}

/// The same with another value in place of `W::default()`.
fn read_by(value: &str, beside: &str) -> Vec<String> {
    read_all(value, beside, MACROS, &[])
}

fn read_all(value: &str, beside: &str, macros: &str, more: &[(&str, &str)]) -> Vec<String> {
    let code = "$T #[derive(Default)] struct W { x: i32 } fn f() -> W";
    let code = format!("{code} {{ {value} }} {beside}");
    let text = spec("#[serde(default = \"f\")] a: W,", &code).into_values().next().unwrap();
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nmac = { path = \"mac\" }\n";
    let locked = lock(&[(".a", "0.1.0", &["mac"]), (".mac", "0.0.0", &[])]);
    let mut all = files(&[
        ("Cargo.toml", manifest),
        ("Cargo.lock", &locked),
        ("src/main.rs", &text),
        ("mac/Cargo.toml", "[package]\nname = \"mac\"\n[lib]\nproc-macro = true\n"),
        ("mac/src/lib.rs", macros),
    ]);
    all.extend(files(more));
    problems(&all)
}

#[track_caller]
fn doubted(beside: &str, what: &str) {
    let found = read(beside);
    let why = format!("in a default: {what}");
    assert!(found.len() == 1 && found[0].contains(&why), "{beside}: {found:?}");
}

#[test]
fn a_macro_of_the_project_may_write_an_impl_from_nothing() {
    let call = "`make!` in src/main.rs may define `default`, and macros are not expanded";
    let block = "what is in a block at src/main.rs:7:";
    doubted("mod m { mac::make!(); }", call);
    doubted("mod m { use mac::make; make!(); }", call);
    doubted("mod m { use mac::*; make!(); }", call);
    doubted("mod m { use mac::make as format; format!(); }", "`format!` in");
    doubted("#[macro_use] extern crate mac; mod m { make!(); }", call);
    doubted("macro_rules! by { () => { mac::make!(); } } mod m { by!(); }", "`by!` in");
    doubted("macro_rules! by { () => { fn g() { mac::make!(); } } } mod m { by!(); }", "`by!` in");
    for body in [
        "mac::make!();",
        "let _ = mac::make!();",
        "println!(\"{}\", mac::make!());",
        "use mac::make; make!();",
        "use mac::make as vec; vec!();",
        "struct S; impl S { fn g() { mac::make!() } }",
    ] {
        doubted(&format!("fn g() {{ {body} }}"), block);
    }
    doubted("static S: u8 = mac::make!();", block);
    doubted("mod m { #[mac::attr] fn g() {} }", "`#[mac::attr]` in");
    doubted("mod m { #[derive(mac::Made)] struct S; }", "`#[derive(mac::Made)]` in");
    doubted("fn g() { #[mac::attr] fn h() {} }", block);
    doubted("fn g() { #[derive(mac::Made)] struct S; }", block);
    assert_eq!(read("mod m { fn g() { println!(\"{}\", vec![1]); mac::other(); } }"), NONE);
    assert_eq!(read("mod m { thread_local! { static A: u8 = 1; } }"), NONE);
    let written = "macro_rules! made { ($n:ident) => { #[proc_macro] pub fn $n(_: T) -> T { todo!() } } } made!(make);";
    assert_eq!(read_all("W::default()", "fn g() { mac::make!(); }", written, &[]).len(), 1);
}

#[test]
fn what_is_not_read_cannot_write_what_is_there_or_an_impl_of_another_crate() {
    let call = "fn g() { mac::make!(); }";
    // rustc refuses a second function of the name.
    let own = "impl W { fn default() -> W { W { x: 3 } } }";
    assert_eq!(read(&format!("{own} {call}")), NONE);
    assert_eq!(read_by("<W as Default>::default()", call), NONE);
    // Another crate of the package.
    let library = ("src/lib.rs", "pub fn g() { mac::make!(); }");
    assert_eq!(read_all("W::default()", "", MACROS, &[library]), NONE);
}

#[test]
fn a_generated_file_may_have_an_impl_for_any_type_of_its_crate() {
    let included = "include!(concat!(env!(\"OUT_DIR\"), \"/b.rs\"));";
    doubted(
        &format!("mod m {{ {included} }}"),
        "`include!` at src/main.rs:7:137 may define `default`: the included file is written by a build, which is not run",
    );
    doubted(&format!("fn g() {{ {included} }}"), "`include!` at src/main.rs:7:");
}
