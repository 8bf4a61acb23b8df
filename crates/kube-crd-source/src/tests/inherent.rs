//! Functions and constants that a type has by itself, and those of traits that rustc means in their place. The values are
//! those that kube printed of the compiled code.

use serde_json::{Value as Json, json};

use super::wrong::field;
use super::*;

/// The default of the field `a` with these attributes and this type, beside a `Foo` with code.
fn default(body: &str, code: &str) -> Result<Json, String> {
    let foo = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)] struct Foo { x: i32 }";
    field(body, &format!("{foo} {code}")).map(|it| it.get("default").cloned().unwrap_or_default())
}

const INHERENT: &str = "impl Foo { fn default() -> Foo { Foo { x: 5 } } }";

#[test]
fn a_type_in_a_box_has_the_default_of_the_trait() {
    for ty in ["Box<Foo>", "std::sync::Arc<Foo>", "std::rc::Rc<Foo>", "Box<Box<Foo>>", "Short"] {
        let body = format!("#[serde(default)] a: {ty},");
        let code = format!("{INHERENT} type Short = Box<Foo>;");
        assert_eq!(default(&body, &code), Ok(json!({ "x": 0 })), "{ty}");
    }
    assert_eq!(default("#[serde(default)] a: Foo,", INHERENT), Ok(json!({ "x": 5 })));
}

#[test]
fn generic_code_means_the_trait() {
    let code = format!(
        "{INHERENT} fn d<T: Default>() -> T {{ <T>::default() }} fn f() -> Foo {{ d::<Foo>() }}"
    );
    assert_eq!(default("#[serde(default = \"f\")] a: Foo,", &code), Ok(json!({ "x": 0 })));
    let wrapper = "$T struct W<T: Default + Serialize> { #[serde(default)] t: T }";
    let schema = field(
        "a: W<Foo>,",
        &format!("{INHERENT} {wrapper} #[derive(Default)] $T struct Foo {{ x: i32 }}"),
    );
    let found = schema.map(|it| it["properties"]["t"]["default"].clone());
    assert_eq!(found, Ok(json!({ "x": 0 })));
}

#[test]
fn generic_code_that_only_the_compiler_resolves_is_refused() {
    let why = "only the compiler can tell which `v` this generic code means";
    let code = "struct G<T>(T); trait V { fn v() -> i32; } impl<T> V for G<T> { fn v() -> i32 { 1 } } impl G<u8> { fn v() -> i32 { 2 } } fn q<T>() -> i32 { G::<T>::v() } fn f() -> i32 { q::<u8>() }";
    let found = default("#[serde(default = \"f\")] a: i32,", code).unwrap_err();
    assert!(found.contains(why), "{found}");
    let by_alias = code.replace("impl G<u8> {", "type A = G<u8>; impl A {");
    let found = default("#[serde(default = \"f\")] a: i32,", &by_alias).unwrap_err();
    assert!(found.contains(why), "{found}");
    let own = "struct G<T>(T); impl<T> G<T> { fn v() -> i32 { 2 } fn w() -> i32 { Self::v() } } fn f() -> i32 { G::<u8>::w() }";
    assert_eq!(default("#[serde(default = \"f\")] a: i32,", own), Ok(json!(2)));
}

#[test]
fn an_impl_with_bounds_is_refused() {
    let code = "struct G<T>(T); trait M {} impl<T> G<T> where T: M { fn v() -> i32 { 2 } } trait V { fn v() -> i32; } impl<T> V for G<T> { fn v() -> i32 { 1 } } fn f() -> i32 { G::<u8>::v() }";
    let found = default("#[serde(default = \"f\")] a: i32,", code).unwrap_err();
    assert!(found.contains("the bounds of the `impl` with `v` are not evaluated"), "{found}");
}

#[test]
fn what_is_private_elsewhere_is_not_meant() {
    let private = |vis: &str| {
        format!(
            "mod p {{ impl super::Foo {{ {vis} fn default() -> super::Foo {{ super::Foo {{ x: 9 }} }} }} }}"
        )
    };
    let body = "#[serde(default)] a: Foo,";
    assert_eq!(default(body, &private("")), Ok(json!({ "x": 0 })));
    for vis in ["pub", "pub(crate)", "pub(super)", "pub(in crate)"] {
        assert_eq!(default(body, &private(vis)), Ok(json!({ "x": 9 })), "{vis}");
    }
    let constant = "mod p { impl super::Foo { const C: i32 = 9; } } trait K { const C: i32; } impl K for Foo { const C: i32 = 7; } fn f() -> i32 { Foo::C }";
    assert!(default("#[serde(default = \"f\")] a: i32,", constant).is_err());
}

#[test]
fn operands_of_a_cast_have_their_own_types() {
    let value = |ty: &str, expr: &str| {
        let code = format!("fn f() -> {ty} {{ {expr} }}");
        default(&format!("#[serde(default = \"f\")] a: {ty},"), &code)
    };
    assert_eq!(value("i64", "(1 << 31) as i64"), Ok(json!(-2_147_483_648_i64)));
    assert_eq!(value("u64", "(1 << 31) as u64"), Ok(json!(18_446_744_071_562_067_968_u64)));
    assert_eq!(value("u32", "(1 << 31 >> 31) as u32"), Ok(json!(4_294_967_295_u32)));
    assert_eq!(value("i8", "(1 << 7 >> 3) as i8"), Ok(json!(16)));
    assert_eq!(value("u8", "(200 + 100) as u8"), Ok(json!(44)));
    assert_eq!(value("u32", "(3 - 5) as u32"), Ok(json!(4_294_967_294_u32)));
}

#[test]
fn a_name_that_kube_schema_declares_is_refused() {
    for (ty, name) in
        [("Vec<Validated>", "Validated"), ("Option<Box<KSpecValidated>>", "KSpecValidated")]
    {
        let code = format!(
            "#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)] #[kube(group = \"a.b\", version = \"v1\", kind = \"K\")] pub struct KSpec {{ b: {ty} }} $T struct {name} {{ z: i32 }}"
        );
        let found = problems(&spec("a: i32,", &code));
        let what = format!(
            "`{name}` is a struct that `KubeSchema` declares; give the type of the field another name"
        );
        assert!(found.iter().any(|it| it.contains(&what)), "{found:?}");
    }
}

#[test]
fn a_crd_that_is_written_by_hand_is_noted() {
    for import in ["use kube::CustomResourceExt;", "use kube::CustomResourceExt as Ext;", ""] {
        let path = match import.split_whitespace().last() {
            Some("Ext;") => "Ext",
            Some(_) => "CustomResourceExt",
            None => "kube::core::CustomResourceExt",
        };
        let code = format!("{import} struct Bar; impl {path} for Bar {{}}");
        let reading = read_map(&spec("a: i32,", &code));
        let notes: Vec<String> = reading.unread.iter().map(ToString::to_string).collect();
        let what = "the `CustomResourceExt` of `Bar` is written by hand: its CRD is left out";
        assert!(notes.len() == 1 && notes[0].ends_with(what), "{import}: {notes:?}");
    }
}

#[test]
fn an_impl_for_some_arguments_is_not_evaluated() {
    let code = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)] struct A<T> { t: T } impl Default for A<i32> { fn default() -> Self { A { t: 1 } } } impl<T> Default for A<Vec<T>> { fn default() -> Self { A { t: Vec::new() } } }";
    let found = all_problems(&read_map(&spec("#[serde(default)] a: A<i32>,", code)));
    assert_eq!(found[0].message, "whether this `impl` applies is not evaluated");
    assert_eq!(found[0].hint.as_deref(), Some("write an `impl` for each type with its arguments"));
}

#[test]
fn a_default_of_a_type_with_kube_schema_is_refused() {
    for (attribute, what) in [
        ("default", "`KubeSchema` does not compile with `#[serde(default)]` on the type"),
        ("default = \"mk\"", "`#[serde(default = …)]` on a type with `KubeSchema` is not read"),
    ] {
        let code = format!(
            "#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)] #[serde({attribute})] struct In {{ b: i32 }} fn mk() -> In {{ In {{ b: 1 }} }}"
        );
        let found = field("a: In,", &code).unwrap_err();
        assert!(found.contains(what), "{found}");
    }
}
