//! Files of modules that no `mod` at the place of an item shows: what they declare is unknown, and that is said.

use super::{HEAD, all_problems, files, read_map, spec};

/// Each declares a module in `src/x.rs`, or may, at the place of an item.
const LOADERS: &[&str] = &[
    "macro_rules! m { () => { mod x; } } m!();",
    "macro_rules! m { ($n:ident) => { pub mod $n; } } m!(x);",
    "macro_rules! m { ($($t:tt)*) => { $($t)* } } m!(mod x;);",
    "macro_rules! m { ($($i:item)*) => { $($i)* } } m!(mod x;);",
    "macro_rules! m { ($p:literal) => { #[path = $p] mod y; } } m!(\"x.rs\");",
    "macro_rules! m { ($k:tt $n:ident) => { $k $n; } } m!(mod x);",
    "macro_rules! m { ($n:ident) => { n!($n); } } macro_rules! n { ($n:ident) => { mod $n; } } m!(x);",
    "#[cfg_attr(unix, path = \"x.rs\")] mod sys;",
    "#[cfg_attr(not(foo), path = \"x.rs\")] mod sys;",
    "#[cfg_attr(unix, cfg_attr(all(), path = \"x.rs\"))] mod sys;",
    "#[cfg_attr(unix, path = \".\")] mod inside { mod x; }",
    "fn f() { let _ = vec![{ #[path = \"x.rs\"] mod y; 1 }]; }",
    "fn f() { println!(\"{}\", { #[path = \"x.rs\"] mod y; 1 }); }",
    "fn f() { #[cfg_attr(unix, path = \"x.rs\")] mod y; }",
    "macro_rules! m { ($p:literal) => { #[path = $p] mod y; } } fn f() { m!(\"x.rs\"); }",
    "macro_rules! m { () => { n!() } } macro_rules! n { () => { #[path = \"x.rs\"] mod y; } } fn f() { m!(); }",
    "macro_rules! m { () => { include!(\"x.rs\"); } } fn f() { m!(); }",
    "const C: u8 = { macro_rules! m { () => { #[path = \"x.rs\"] mod y; } } m!(); 1 };",
];

#[test]
fn kinds_in_files_that_are_not_found_are_noted() {
    for loader in LOADERS {
        let mut all = spec("a: i32,", loader);
        all.extend(files(&[("src/x.rs", "// A kind.\n"), ("src/sys.rs", "// A decoy.\n")]));
        let reading = read_map(&all);
        assert_eq!(all_problems(&reading), [], "{loader}");
        let notes: Vec<String> = reading.unread.iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.ends_with(" are left out")), "{loader}: {notes:?}");
        assert!(!reading.unread.is_empty() || !reading.unknown_macros.is_empty(), "{loader}");
    }
}

#[test]
fn a_macro_that_a_block_defines_is_noted_once() {
    let loader =
        "const C: u8 = { macro_rules! m { () => { #[path = \"x.rs\"] mod y; } } m!(); 1 };";
    let mut all = spec("a: i32,", loader);
    all.extend(files(&[("src/x.rs", "// A kind.\n")]));
    let notes: Vec<String> = read_map(&all).unread.iter().map(ToString::to_string).collect();
    let expected =
        "src/main.rs:7:17: a macro in a block is not expanded: kinds that it declares are left out";
    assert_eq!(notes, [expected]);
}

#[test]
fn what_such_a_file_may_implement_is_in_doubt() {
    for loader in LOADERS {
        let beside = format!(
            "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)] pub struct In {{ b: i32 }} fn d() -> In {{ In::default() }} {loader}"
        );
        let mut all = spec("#[serde(default = \"d\")] a: In,", &beside);
        let text = "impl crate::In { pub fn default() -> Self { Self { b: 9 } } }";
        all.extend(files(&[("src/x.rs", text), ("src/sys.rs", "// A decoy.\n")]));
        let problems = all_problems(&read_map(&all));
        let is_doubt = |problem: &crate::Problem| problem.message.contains("may define `default`");
        assert!(problems.iter().any(is_doubt), "{loader}: {problems:?}");
    }
}

/// Modules in braces have no files, so that nothing is in doubt.
#[test]
fn modules_in_braces_that_macros_write_are_no_files() {
    for beside in [
        "macro_rules! m { ($n:ident) => { mod $n { fn f() {} } } } m!(x);",
        "macro_rules! m { ($($i:item)*) => { $($i)* } } m!(mod x { fn f() {} });",
        "fn f() { let _ = vec![{ mod y { fn g() {} } 1 }]; }",
    ] {
        let reading = read_map(&spec("a: i32,", beside));
        assert_eq!(all_problems(&reading), [], "{beside}");
        assert_eq!(reading.unread, [], "{beside}");
        assert_eq!(reading.unknown_macros, [], "{beside}");
    }
}

/// The folder of a `#[path]` in a block is that of the modules in braces around it.
#[test]
fn a_path_in_a_block_is_seen_from_the_modules_around_it() {
    let beside = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)] pub struct In { b: i32 } fn d() -> In { In::default() } mod n { fn f() { #[path = \"x.rs\"] mod y; } }";
    let mut all = spec("#[serde(default = \"d\")] a: In,", beside);
    let text = "impl crate::In { pub fn default() -> Self { Self { b: 9 } } }";
    all.extend(files(&[("src/n/x.rs", text), ("src/x.rs", "// A decoy.\n")]));
    let problems = all_problems(&read_map(&all));
    assert!(problems.iter().any(|it| it.message.contains("may define `default`")), "{problems:?}");
}

#[test]
fn a_glob_whose_star_is_an_argument_may_import_any_name() {
    for call in [
        "macro_rules! g { ($($p:tt)*) => { use $($p)*; } } g!(super::al::*);",
        "macro_rules! g { ($a:ident, $b:tt) => { use super::$a::$b; } } g!(al, *);",
        "macro_rules! g { ($($p:tt)*) => { h!($($p)*); } } macro_rules! h { ($($p:tt)*) => { use $($p)*; } } g!(super::al::*);",
        "macro_rules! g { ($($p:tt)*) => { $($p)*; } } g!(use super::al::*);",
    ] {
        let text = format!(
            "pub mod al {{ pub type String = u32; }} mod k {{ {call} {HEAD}{}\n{} {{ a: String }} }}",
            super::SPEC,
            super::KIND
        );
        let problems = all_problems(&read_map(&files(&[("src/main.rs", &text)])));
        let is_doubt = |it: &crate::Problem| it.message.contains("`String` cannot be resolved");
        assert!(problems.iter().any(is_doubt), "{call}: {problems:?}");
    }
}

#[test]
fn a_derive_that_conditions_inside_of_one_another_hide_is_refused() {
    let beside = "#[cfg_attr(unix, cfg_attr(all(), derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug), kube(group = \"a.b\", version = \"v1\", kind = \"Nested\")))] pub struct NestedSpec { a: i32 }";
    let problems = all_problems(&read_map(&spec("a: i32,", beside)));
    let is_refusal = |it: &crate::Problem| {
        it.message.contains("whether `NestedSpec` is a custom resource depends on")
    };
    assert!(problems.iter().any(is_refusal), "{problems:?}");
}
