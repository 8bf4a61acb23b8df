//! Which files modules are in, and what a `cfg` makes of them.

use super::super::names::Space;
use super::{files, names::look, problems, spec, types_of};

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
fn what_is_included_is_not_read_and_may_define_anything() {
    let why = "`include!` at src/main.rs:1:1 may define it: included files are not read";
    check(
        &[
            (
                "src/main.rs",
                "include!(\"a.rs\"); include!(concat!(env!(\"OUT_DIR\"), \"/b.rs\")); struct U;",
            ),
            ("src/a.rs", "pub struct T;"),
        ],
        &[("T", why), ("U", "project::U")],
        &[],
    );
    check(
        &[
            ("src/main.rs", "include!(\"a.rs\");"),
            ("src/a.rs", "#[derive(kube::CustomResource)] struct KindSpec;"),
        ],
        &[("T", why)],
        &["src/main.rs:1:1: `a.rs` may declare kinds, and is not read"],
    );
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
