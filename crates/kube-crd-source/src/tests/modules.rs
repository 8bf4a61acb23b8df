//! Which files modules are in, and what a `cfg` makes of them.

use super::super::names::Space;
use super::{KIND, SPEC, all_problems, files, names::look, problems, read_map, spec, types_of};

/// Reads these files; each of the paths must be an item, of the crate's root as of everything.
#[track_caller]
fn check(code: &[(&str, &str)], paths: &[(&str, &str)], told: &[&str]) {
    let mut problems = Vec::new();
    let world = types_of(&files(code), None, &mut problems);
    for (path, expected) in paths {
        assert_eq!(look(&world, "project", path, Space::Types), *expected, "{path}");
    }
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, told);
}

const T: &str = "pub struct T;";

#[test]
fn a_file_is_found_by_its_place_and_by_its_path() {
    let text = |it: &str| format!("pub struct T; {it}");
    check(
        &[
            (
                "src/main.rs",
                "mod a; mod b; #[path = \"other/c.rs\"] mod c; #[path = \"d\"] mod d { pub mod e; #[path = \"f.rs\"] pub mod g; pub mod h { pub mod i; } }",
            ),
            (
                "src/a.rs",
                &text(
                    "pub mod x; pub mod y { pub mod z; #[path = \"w.rs\"] pub mod v; } #[path = \"u.rs\"] pub mod u; #[path = \"p\"] pub mod q { pub mod r; }",
                ),
            ),
            ("src/a/x.rs", T),
            ("src/a/y/z.rs", T),
            ("src/a/y/w.rs", T),
            ("src/u.rs", T),
            ("src/p/r.rs", T),
            ("src/b/mod.rs", &text("pub mod x; #[path = \"../u.rs\"] pub mod u;")),
            ("src/b/x.rs", &text("pub mod y;")),
            ("src/b/x/y.rs", T),
            ("src/other/c.rs", &text("pub mod x;")),
            ("src/other/x.rs", T),
            ("src/d/e.rs", T),
            ("src/d/f.rs", T),
            ("src/d/h/i.rs", T),
        ],
        &[
            ("a::T", "project::a::T"),
            ("a::x::T", "project::a::x::T"),
            ("a::y::z::T", "project::a::y::z::T"),
            ("a::y::v::T", "project::a::y::v::T"),
            ("a::u::T", "project::a::u::T"),
            ("a::q::r::T", "project::a::q::r::T"),
            ("b::x::y::T", "project::b::x::y::T"),
            ("b::u::T", "project::b::u::T"),
            ("c::x::T", "project::c::x::T"),
            ("d::e::T", "project::d::e::T"),
            ("d::g::T", "project::d::g::T"),
            ("d::h::i::T", "project::d::h::i::T"),
        ],
        &[],
    );
}

#[test]
fn included_files_are_read_as_part_of_their_module() {
    check(
        &[
            (
                "src/main.rs",
                "include!(\"in/a.rs\");\nstd::include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/gen/b.in\"));\nmod m { include!(\"c.rs\"); }",
            ),
            (
                "src/in/a.rs",
                "pub struct A;\ninclude!(\"deep/d.rs\"); mod k; #[path = \"p/q.rs\"] mod q;",
            ),
            ("src/in/deep/d.rs", "pub mod inner { pub struct D; }"),
            ("src/in/k.rs", "pub struct T; pub mod l;"),
            ("src/in/k/l.rs", T),
            ("src/in/p/q.rs", T),
            ("gen/b.in", "pub struct B;"),
            ("src/c.rs", "pub struct C;"),
        ],
        &[
            ("A", "project::A"),
            ("B", "project::B"),
            ("inner::D", "project::inner::D"),
            ("k::T", "project::k::T"),
            ("k::l::T", "project::k::l::T"),
            ("q::T", "project::q::T"),
            ("m::C", "project::m::C"),
            ("String", "::std::string::String"),
        ],
        &[],
    );
}

#[test]
fn a_problem_in_an_included_file_is_placed_there() {
    let head =
        "use kube::CustomResource; use schemars::JsonSchema; use serde::{Deserialize, Serialize};";
    let kind = format!(
        "{head}\n{SPEC}\n{KIND} {{\n  a: Unknown,\n}}\nmod deeper {{ {head}\n\n{SPEC}\n{} {{ b: Unknown }} }}",
        KIND.replace("Kind", "Other")
    );
    let found = problems(&files(&[
        ("src/main.rs", "// One\n// Two\ninclude!(\"first.rs\");\n\ninclude!(\"kinds.rs\");"),
        ("src/first.rs", "\n\n\n\n\n\n\nfn first() {}\n\n\n"),
        ("src/kinds.rs", &kind),
    ]));
    assert_eq!(
        found,
        [
            "src/kinds.rs:5:6: `Unknown` is not found (`Kind` → `spec.a`)",
            "src/kinds.rs:11:27: `Unknown` is not found (`Other` → `spec.b`)",
        ]
    );
}

#[test]
fn what_is_not_included_may_define_anything() {
    let why = |column: usize, why: &str| {
        format!("`include!` at src/main.rs:1:{column} may define it: {why}")
    };
    let one = |code: &str, expected: &str, told: &[&str]| {
        check(
            &[
                ("src/main.rs", code),
                ("src/bad.rs", "struct {"),
                ("src/ring.rs", "include!(\"ring.rs\");"),
                ("src/inner.rs", "#![allow(x)] struct A;"),
            ],
            &[("T", expected)],
            told,
        );
    };
    let generated = "the included file is written by a build, which is not run";
    one("include!(concat!(env!(\"OUT_DIR\"), \"/b.rs\"));", &why(1, generated), &[]);
    one("include!(name!());", &why(1, "the path of the included file is not a string"), &[]);
    let condition = "whether the file is included depends on a `cfg`";
    one("#[cfg(unix)] include!(\"bad.rs\");", &why(14, condition), &[]);
    one("#[cfg(false)] include!(\"bad.rs\");", "nothing", &[]);
    let gone = "the included file `src/gone.rs` does not exist";
    one("include!(\"gone.rs\");", &why(1, gone), &[&format!("src/main.rs:1:1: {gone}")]);
    let bad =
        "`src/bad.rs`, line 1, cannot be parsed: it is cut off, or this is not a token of Rust";
    one("include!(\"bad.rs\");", &why(1, bad), &[&format!("src/main.rs:1:1: {bad}")]);
    let none = "`` is not a path below the project";
    one(
        "include!(env!(\"CARGO_MANIFEST_DIR\"));",
        &why(1, none),
        &[&format!("src/main.rs:1:1: {none}")],
    );
    let inner = "`src/inner.rs` has an inner attribute, which an included file cannot have";
    one("include!(\"inner.rs\");", &why(1, inner), &[&format!("src/main.rs:1:1: {inner}")]);
    let ring = "`src/ring.rs` includes itself";
    check(
        &[("src/main.rs", "include!(\"ring.rs\");"), ("src/ring.rs", "include!(\"ring.rs\");")],
        &[("T", &format!("`include!` at src/ring.rs:1:1 may define it: {ring}"))],
        &[&format!("src/ring.rs:1:1: {ring}")],
    );
}

#[test]
fn files_that_include_others_many_times_are_refused() {
    let line = "include!(\"a.rs\");";
    let files = files(&[("src/main.rs", &line.repeat(200)), ("src/a.rs", "")]);
    let found = all_problems(&read_map(&files));
    assert_eq!(found.len(), 100);
    assert_eq!(found[0].message, "src/main.rs includes more than 100 files");
    assert_eq!(found[0].hint.as_deref(), Some("declare modules with `mod` in place of `include!`"));
}

#[test]
fn what_a_module_without_a_file_may_define_is_doubted() {
    check(
        &[
            (
                "src/main.rs",
                "mod a; #[cfg(unix)] mod b; #[cfg_attr(unix, path = \"d.rs\")] mod c; mod d; #[path = \"main.rs\"] mod e; use a::*; mod f; mod g;",
            ),
            ("src/d.rs", "#![cfg(test)] pub struct T;"),
            ("src/f.rs", "#![cfg(unix)] pub struct T;"),
            ("src/g.rs", T),
            ("src/g/mod.rs", T),
        ],
        &[
            ("a::T", "module `a` has no file, and may define it"),
            ("String", "module `a` has no file, and may define it"),
            ("b::T", "whether src/main.rs defines it depends on a `cfg`"),
            ("c::T", "where module `c` is depends on a `cfg_attr`, and may define it"),
            ("d::T", "nothing"),
            (
                "e::T",
                "module `e` would be in a file that contains it: `src/main.rs`, and may define it",
            ),
            ("f::T", "whether src/f.rs defines it depends on a `cfg`"),
            ("g::T", "module `g` has two files: `src/g.rs` and `src/g/mod.rs`, and may define it"),
        ],
        &[
            "src/main.rs:1:5: module `a` has no file",
            "src/main.rs:1:99: module `e` would be in a file that contains it: `src/main.rs`",
            "src/main.rs:1:123: module `g` has two files: `src/g.rs` and `src/g/mod.rs`",
        ],
    );
}

#[test]
fn what_is_defined_twice_is_one_thing_once_its_cfg_is_settled() {
    check(
        &[(
            "src/main.rs",
            "#[cfg(test)] mod a { pub struct T; } #[cfg(not(test))] mod a { pub struct U; } #[cfg(any(test, doc))] use a::U as V; #[cfg(not(any(test, doc)))] use a::U as V; #[cfg_attr(not(test), cfg(test))] struct W;",
        )],
        &[("a::U", "project::a::U"), ("a::T", "nothing"), ("V", "project::a::U"), ("W", "nothing")],
        &[],
    );
}

#[test]
fn a_struct_that_is_no_kind_withholds_none() {
    let beside = "#[cfg_attr(feature = \"x\", derive(Debug))] struct Config { #[cfg(debug_assertions)] t: bool }";
    assert_eq!(problems(&spec("a: i32,", beside)), Vec::<String>::new());
    let beside = "#[cfg_attr(debug_assertions, kube(a))] #[derive(Debug)] struct Config;";
    assert_eq!(
        problems(&spec("a: i32,", beside)),
        [
            "src/main.rs:7:64: `Config` has `#[kube(…)]`, but none of its derives is known to be kube's `CustomResource`"
        ]
    );
}
