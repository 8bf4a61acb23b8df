//! What names lead to, and when they lead nowhere for certain.

use super::super::names::{Miss, Named, Space};
use super::{files, types_of};
use crate::tree::Path;
use crate::types::Types;

/// What `path` is in a module: where it stands, or why it is not known.
pub fn look(world: &Types, module: &str, path: &str, space: Space) -> String {
    let module = world.modules.iter().position(|it| it.path == module).unwrap();
    let path = Path::from(&syn::parse_str::<syn::Path>(path).unwrap());
    let item = |id: usize| {
        let item = &world.items[id];
        format!("{}::{}", world.modules[item.module].path, item.name)
    };
    match world.resolve_path(module, &path, space) {
        Ok(Named::Item(id)) => item(id),
        Ok(Named::Module(id)) => format!("mod {}", world.modules[id].path),
        Ok(Named::Foreign(path)) => format!("::{path}"),
        Ok(Named::Member(id, name)) => format!("{}::{name}", item(id)),
        Err(Miss::Nothing) => "nothing".to_owned(),
        Err(Miss::Unreachable) => "lost".to_owned(),
        Err(Miss::Perhaps(why) | Miss::Doubt(why)) => why.to_string(),
    }
}

#[track_caller]
fn check(code: &str, paths: &[(&str, &str)]) {
    let mut problems = Vec::new();
    let world = types_of(&files(&[("src/main.rs", code)]), None, &mut problems);
    for (path, expected) in paths {
        let (module, path) = path.split_once(' ').unwrap_or(("project", path));
        assert_eq!(look(&world, module, path, Space::Types), *expected, "{path} in {code}");
    }
    assert_eq!(problems, []);
}

#[test]
fn imports_are_followed_wherever_they_lead() {
    check(
        "mod a { pub struct T; pub mod b { pub use super::T as U; } }
         mod c { pub use crate::a::{self, b::{self as bb, U as V}}; }
         use c::{a as d, bb, V};",
        &[
            ("V", "project::a::T"),
            ("d::T", "project::a::T"),
            ("bb::U", "project::a::T"),
            ("project::c V", "project::a::T"),
            ("project::a::b super::super::c::bb::U", "project::a::T"),
            ("crate::c::a::b", "mod project::a::b"),
            ("self::d", "mod project::a"),
            ("d::Gone", "nothing"),
        ],
    );
    // An import is solved by another one that stands after it, and by a glob that does.
    check(
        "use x::T; use y::*; mod z { pub mod x { pub struct T; } } mod y { pub use crate::z::x; }",
        &[("T", "project::z::x::T"), ("x", "mod project::z::x")],
    );
}

#[test]
fn what_is_written_goes_before_what_a_glob_brings_and_that_before_the_prelude() {
    check(
        "mod a { pub struct T; pub struct String; pub struct U; } use a::*; struct T;
         mod b { use super::*; struct Vec; }
         mod c { pub use crate::a::U as Option; } use c::Option;",
        &[
            ("T", "project::T"),
            ("String", "project::a::String"),
            ("Option", "project::a::U"),
            ("Vec", "::std::vec::Vec"),
            ("project::b T", "project::T"),
            ("project::b Vec", "project::b::Vec"),
            ("project::b String", "project::a::String"),
            ("project::c String", "::std::string::String"),
        ],
    );
    // An import that leads nowhere is not the prelude's.
    check(
        "mod a {} use a::String; mod b { use super::*; }",
        &[
            ("String", "lost"),
            ("project::b String", "what src/main.rs imports under this name is not found"),
        ],
    );
    // A function leaves its name to a type.
    check("mod a { pub fn Vec() {} } use a::Vec;", &[("Vec", "::std::vec::Vec")]);
    check("mod a { pub struct Vec {} } use a::*; fn Vec() {}", &[("Vec", "project::a::Vec")]);
}

#[test]
fn globs_bring_one_thing_by_many_ways_and_two_things_by_none() {
    check(
        "mod a { pub struct T; } mod b { pub use crate::a::*; } mod c { pub use crate::a::T; }
         use b::*; use c::*; use a::*;",
        &[("T", "project::a::T")],
    );
    let two =
        "mod a { pub struct T; pub struct U; } mod b { pub struct T; } pub use a::*; pub use b::*;";
    check(
        two,
        &[("T", "more than one `use …::*` in src/main.rs imports it"), ("U", "project::a::U")],
    );
    // Through another module it is as doubtful.
    check(
        &format!("mod o {{ {two} }} mod p {{ pub use super::o::*; }}"),
        &[
            ("p::T", "more than one `use …::*` in src/main.rs imports it"),
            ("p::U", "project::o::a::U"),
        ],
    );
}

#[test]
fn rings_of_globs_come_to_an_end() {
    check(
        "pub mod a { pub use super::b::*; pub struct A; } pub mod b { pub use super::c::*; pub struct B; }
         pub mod c { pub use super::a::*; pub use self::*; pub struct C; } pub use self::a::*;",
        &[
            ("A", "project::a::A"),
            ("B", "project::b::B"),
            ("C", "project::c::C"),
            ("b::A", "project::a::A"),
            ("project::c B", "project::b::B"),
            ("c::D", "nothing"),
            ("project::b String", "::std::string::String"),
        ],
    );
    check("use self::b as a; use self::a as b;", &[("a", "lost"), ("b", "lost")]);
    check("use crate::a::T; mod a { pub use super::T; }", &[("T", "lost")]);
}

#[test]
fn what_is_not_visible_is_not_brought() {
    check(
        "mod a { struct T; pub(super) struct U; pub mod b { pub(in crate::a) struct V; pub(crate) struct W; }
           use self::b::V; mod d { pub(in super::super) struct X; } pub use self::d::*; }
         use a::*; mod c { use crate::a::b::*; }",
        &[
            ("a::T", "lost"),
            ("T", "nothing"),
            ("U", "project::a::U"),
            ("project::c V", "nothing"),
            ("project::c W", "project::a::b::W"),
            ("project::a V", "project::a::b::V"),
            ("project::a::b super::V", "project::a::b::V"),
            ("X", "project::a::d::X"),
        ],
    );
    // A glob that is not public hands nothing on, save to what stands inside.
    check(
        "mod a { pub struct T; } mod b { use crate::a::*; mod c { use super::*; } } use b::*;",
        &[("T", "nothing"), ("project::b::c T", "project::a::T")],
    );
}

#[test]
fn what_is_written_decides_whatever_macros_stand_around_it() {
    // A private import of what the globs around it might import again.
    check(
        "mod b { use super::E; other::make! { pub struct F; } pub fn f(_: E) {} } pub use b::*; pub struct E;
         use kube::T; mod c { use super::b::*; use super::U; } pub use c::*; pub use kube::U;",
        &[
            ("E", "project::E"),
            ("T", "::kube::T"),
            ("project::b E", "project::E"),
            ("project::c U", "::kube::U"),
            ("F", "`make!` at src/main.rs:1:23 may define it"),
            ("b::F", "`make!` at src/main.rs:1:23 may define it"),
        ],
    );
    // In all spaces: no import of a struct leads to a function or a macro that only imports might make.
    check(
        "mod a { pub use super::E; } mod c { pub use super::E; } pub use a::*; pub use c::*; pub struct E {}
         mod d { pub use super::e::*; pub use super::e::r as s; } mod e { pub use super::d::*; pub mod r { pub struct T; } }",
        &[("E", "project::E"), ("a::E", "project::E"), ("d::s::T", "project::e::r::T"), ("e::s", "mod project::e::r")],
    );
}

#[test]
fn a_module_that_a_macro_may_declare_goes_before_a_crate() {
    let unknown = "`make!` at src/main.rs:1:9 may define it";
    check(
        "mod a { other::make!(); } mod b { use super::a::*; } mod c { pub use super::b::*; use other::*; }
         mod d { use super::a::*; use kube::Api; use std::vec::Vec; } mod e { use kube::elsewhere::*; }
         mod f { own! { pub mod kube {} } } mod g { use super::f::*; } macro_rules! own { ($($t:tt)*) => { $($t)* } }",
        &[
            ("project::a kube::Api", unknown),
            ("project::b kube::Api", unknown),
            ("project::d kube::Api", unknown),
            // What is written decides: rustc refuses an import of what a macro may hide.
            ("project::d Api", "::kube::Api"),
            ("project::d Vec", "::std::vec::Vec"),
            ("project::d ::kube::Api", "::kube::Api"),
            // Another crate has a crate's own name for that crate.
            ("project::e kube::Api", "::kube::Api"),
            ("kube::Api", "::kube::Api"),
        ],
    );
}

#[test]
fn an_import_that_hides_what_it_leads_to_is_doubted_and_no_other() {
    // `a::T` is `b::T` unless `a` itself has one, which it has if `b::T` is there.
    check(
        "mod a { pub use super::b::*; } mod b { pub use super::a::T; other::make!(); } mod c { pub struct T; pub struct U; }
         use c::U; use a::T;",
        &[
            ("U", "project::c::U"),
            ("T", "`use a::T` at src/main.rs:2:27 depends on itself or on too many imports"),
        ],
    );
}

#[test]
fn enums_are_imported_like_modules() {
    check(
        "mod a { pub enum E { A, B(i32), #[cfg(test)] C, String } } use a::E::*; use a::E::A as Z;",
        &[
            ("A", "project::a::E::A"),
            ("B", "project::a::E::B"),
            ("C", "nothing"),
            ("Z", "project::a::E::A"),
            ("String", "project::a::E::String"),
        ],
    );
    check(
        "enum E { A } type F = E; type G = self::F; type H = H; type I = J; type J = I; type S = Vec<i32>;",
        &[
            ("G::A", "project::E::A"),
            ("H::A", "nothing"),
            ("I::A", "nothing"),
            ("S::new", "::std::vec::Vec::new"),
        ],
    );
}

#[test]
fn crates_are_known_by_the_names_they_are_given() {
    check(
        "extern crate serde as s; extern crate self as me; extern crate alloc;
         use ::kube::CustomResource as Cr; use kube; mod a { use crate::s::Serialize; use s::Deserialize; }
         mod serde_json {} mod b { pub struct T; pub use std::collections as c; }
         use core::option; use s::{self as t};",
        &[
            ("s", "::serde"),
            ("t", "::serde"),
            ("me::b::T", "project::b::T"),
            ("project::b me::b::T", "project::b::T"),
            ("project::a Serialize", "::serde::Serialize"),
            ("project::a Deserialize", "::serde::Deserialize"),
            ("kube::Api", "::kube::Api"),
            ("Cr", "nothing"),
            ("serde_json", "mod project::serde_json"),
            ("::serde_json", "::serde_json"),
            ("project::b serde_json::Value", "::serde_json::Value"),
            ("b::c::BTreeMap", "::std::collections::BTreeMap"),
            ("alloc::string::String", "::std::string::String"),
            ("option::Option", "::std::option::Option"),
        ],
    );
}

#[test]
fn a_derive_leaves_its_name_to_a_type() {
    let world = types_of(
        &files(&[(
            "src/main.rs",
            "use kube::CustomResource; mod a { pub struct CustomResource; } use a::*;",
        )]),
        None,
        &mut Vec::new(),
    );
    assert_eq!(
        look(&world, "project", "CustomResource", Space::Types),
        "project::a::CustomResource"
    );
    assert_eq!(look(&world, "project", "CustomResource", Space::Macros), "::kube::CustomResource");
}

#[test]
fn raw_names_are_the_names() {
    check(
        "mod r#type { pub struct r#Struct; pub struct r#Other; } use r#type::{Struct, r#Other as r#dyn};",
        &[
            ("Struct", "project::type::Struct"),
            ("r#Struct", "project::type::Struct"),
            ("r#dyn", "project::type::Other"),
        ],
    );
}

#[test]
fn what_is_not_seen_is_doubted_where_nothing_else_is_found() {
    let doubt = "`use other::*` is not found, and may import it";
    check(
        "mod a { pub use other::*; pub struct T; } mod b { pub use super::a::*; } mod c { pub struct U; }
         use b::*; use c::*;",
        &[
            ("T", "project::a::T"),
            ("U", "project::c::U"),
            ("X", doubt),
            ("String", doubt),
            ("b::String", doubt),
            ("kube::Api", doubt),
            ("project::c String", "::std::string::String"),
        ],
    );
    check(
        "mod a { make!(T); } use a::*; mod b { pub struct T; } mod c { pub use crate::{a::*, b::*}; }
         mod d { make!(T); use crate::b::*; }",
        &[
            ("T", "`make!` at src/main.rs:1:9 may define it"),
            ("project::c T", "project::b::T"),
            ("project::d T", "`make!` at src/main.rs:2:18 may define it"),
        ],
    );
    check(
        "mod a { pub struct T; } #[cfg(unix)] use a::*; #[cfg(test)] struct T;
         mod b { #[cfg(unix)] pub use super::a::T; } mod c { pub use super::b::*; }",
        &[
            ("T", "whether src/main.rs imports it depends on a `cfg`"),
            ("b::T", "whether src/main.rs defines it depends on a `cfg`"),
            ("c::T", "whether src/main.rs defines it depends on a `cfg`"),
        ],
    );
}

#[test]
fn what_a_file_that_does_not_parse_may_define_is_doubted() {
    let code = files(&[
        (
            "src/main.rs",
            "mod bad; mod a { use super::bad::*; use super::bad::Vec; } use bad::String;",
        ),
        ("src/bad.rs", "struct {"),
    ]);
    let world = types_of(&code, None, &mut Vec::new());
    let doubt = "src/bad.rs cannot be parsed, and may define it";
    for (module, path) in [
        ("project", "String"),
        ("project::a", "Vec"),
        ("project::a", "String"),
        ("project", "bad::T"),
    ] {
        assert_eq!(look(&world, module, path, Space::Types), doubt, "{path} in {module}");
    }
}

#[test]
fn globs_of_well_known_crates_hide_what_they_have_and_nothing_else() {
    check(
        "use kube::prelude::*; use k8s_openapi::api::core::v1::*; use std::io::prelude::*; use std::{sync::*, time::*};
         mod a { use std::fmt::*; use serde::*; use schemars::*; } mod b { use kube::*; use kube::api::*; }
         mod c { use serde_json::Value::*; } mod d { pub use std::collections::*; } use d::*;",
        &[
            ("String", "::std::string::String"),
            ("Result", "::std::result::Result"),
            ("Pod", "::k8s_openapi::api::core::v1::Pod"),
            ("Duration", "::std::time::Duration"),
            ("Arc", "::std::sync::Arc"),
            ("HashMap", "::std::collections::HashMap"),
            ("Unknown", "nothing"),
            ("project::a Result", "::std::fmt::Result"),
            ("project::a Option", "::std::option::Option"),
            ("project::a Serialize", "::serde::Serialize"),
            ("project::b Result", "`use kube::*` may import another `Result`"),
            ("project::b Vec", "::std::vec::Vec"),
            ("project::b ObjectMeta", "::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta"),
            ("project::c String", "`use serde_json::Value::*` may import another `String`"),
        ],
    );
    check(
        "use kube::core::ObjectMeta as A; use kube::core::metadata::ListMeta as B; use std::collections::hash_map::*;
         use core::{time, num::*}; use ::alloc::borrow::Cow;",
        &[
            ("A", "::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta"),
            ("B", "::k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta"),
            ("HashMap", "::std::collections::HashMap"),
            ("time::Duration", "::std::time::Duration"),
            ("NonZeroU8", "::std::num::NonZeroU8"),
            ("Cow", "::std::borrow::Cow"),
        ],
    );
}
