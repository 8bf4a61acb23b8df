//! What stands in blocks or comes from a macro, and counts outside of them: it is refused, or right.

use serde_json::json;

use super::wrong::{refused, right};
use super::{KIND, SPEC, all_problems, crds, files, read_map, spec};

const TWO_DEFAULTS: &str = "$T struct W(i32); impl Default for W { fn default() -> W { W(2) } } fn f() -> W { W::default() }";

#[test]
fn an_impl_inside_of_a_block_is_not_passed_by() {
    let own = "impl W { pub fn default() -> W { W(1) } }";
    for block in [
        format!("const _: () = {{ {own} }};"),
        format!("fn hidden() {{ {own} }}"),
        format!("static Z: fn() -> i32 = {{ {own} g }}; fn g() -> i32 {{ 1 }}"),
        format!("struct Array([u8; {{ {own} 1 }}]);"),
        format!("fn hidden() {{ macro_rules! im {{ () => {{ {own} }} }} im!(); }}"),
        format!("mod m {{ use super::W as V; fn hidden() {{ {} }} }}", own.replace('W', "V")),
    ] {
        refused("W", &format!("{TWO_DEFAULTS} {block}"));
    }
    right("W", TWO_DEFAULTS, json!(2));
    refused(
        "W",
        "$T struct W(i32); impl W { const A: i32 = 1; } const _: () = { impl W { pub fn clone(&self) -> W { W(1) } } }; fn f() -> W { let w = W(3); w.clone() }",
    );
    refused(
        "String",
        "trait L { fn to_owned(self) -> String; } const _: () = { impl L for String { fn to_owned(self) -> String { \"loud\".into() } } }; fn f() -> String { let s = String::from(\"x\"); s.to_owned() }",
    );
    refused(
        "W",
        "#[derive(Clone, Debug, JsonSchema, Deserialize)] struct W { a: i32 } const _: () = { impl Serialize for W { fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(\"own\") } } }; fn f() -> W { W { a: 3 } }",
    );
}

#[test]
fn an_impl_that_a_macro_writes_by_another_name_is_not_passed_by() {
    refused(
        "W",
        "#[derive(Clone, Debug, JsonSchema, Deserialize)] struct W { a: i32 } type Al = W; macro_rules! ser { ($t:ident) => { impl serde::Serialize for $t { fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(\"own\") } } } } ser!(Al); fn f() -> W { W { a: 3 } }",
    );
    let to_string = "fn f() -> String { let s = String::from(\"x\"); s.to_string() }";
    for code in [
        "macro_rules! hid { () => { trait L { fn to_string(self) -> String; } impl L for String { fn to_string(self) -> String { \"loud\".into() } } } } hid!();",
        "macro_rules! hid { ($name:ident) => { trait L { fn $name(self) -> String; } impl L for String { fn $name(self) -> String { \"loud\".into() } } } } hid!(to_string);",
        "trait L { fn to_string(self) -> String; } macro_rules! im { ($t:ty) => { impl L for $t { fn to_string(self) -> String { \"loud\".into() } } } } im!(String);",
        "macro_rules! hid { () => { trait L { fn to_string(self) -> String; } impl L for String { fn to_string(self) -> String { \"loud\".into() } } } } fn hidden() { hid!(); }",
    ] {
        refused("String", &format!("{code} {to_string}"));
    }
}

#[test]
fn what_a_macro_gets_in_a_block_is_not_passed_by() {
    let own = "impl W { pub fn default() -> W { W(1) } }";
    for block in [
        format!("fn hidden() {{ other::any! {{ {own} }} }}"),
        format!("fn hidden() {{ let _ = vec![{{ {own} 1 }}]; }}"),
        format!("const _: &str = concat!({{ {own} \"\" }});"),
        format!("fn hidden() {{ #[other::any({own})] enum E {{}} }}"),
        format!("fn hidden() {{ #[derive(other::Any)] #[any({own})] enum E {{}} }}"),
        format!("fn hidden() {{ #[cfg_attr(all(), other::any({own}))] const A: u8 = 1; }}"),
        format!("fn hidden() {{ use other::any as serde; #[serde({own})] const A: u8 = 1; }}"),
        format!("trait T {{ #[other::any(fn f() {{ {own} }})] fn f() {{}} }}"),
        format!("macro_rules! im {{ () => {{ {own} }} }} fn hidden() {{ use im as vec; vec!(); }}"),
        format!(
            "mod m {{ macro_rules! im {{ () => {{ {own} }} }} pub(crate) use im as vec; }} use m::*; fn hidden() {{ vec!(); }}"
        ),
    ] {
        refused("W", &format!("{TWO_DEFAULTS} {block}"));
    }
}

#[test]
fn a_file_in_a_block_is_not_passed_by() {
    let own = "impl W { pub fn default() -> W { W(1) } }";
    let kind = format!("{SPEC}\n{}{{ b: i32 }}", KIND.replace("Kind", "Other"));
    for (block, text) in [
        ("fn hidden() -> u8 { include!(\"in.rs\") }", "{ $ 1 }"),
        ("const _: u8 = ::std::include!(concat!(\"in\", \".rs\"));", "{ $ 1 }"),
        ("fn hidden() { println!(\"{}\", include!(\"in.rs\")); }", "{ $ 1 }"),
        ("fn hidden() { #[path = \"in.rs\"] mod m; }", "use super::*; $"),
        ("fn hidden() { mod m { #[path = \"../in.rs\"] mod n; } }", "use super::super::*; $"),
    ] {
        let read = |planted: &str| {
            let beside = format!("{TWO_DEFAULTS} {block}");
            let mut project = spec("#[serde(default = \"f\")] a: W,", &beside);
            project.extend(files(&[("src/in.rs", &text.replace('$', planted))]));
            read_map(&project)
        };
        assert_eq!(crds(&read(own)).len(), 0, "{block}");
        assert_eq!((crds(&read("")).len(), all_problems(&read("")).len()), (1, 0), "{block}");
        let problems = format!("{:?}", read(&kind).unexplored);
        assert!(problems.contains("inside of a block"), "{block}: {problems}");
    }
    let message = "cannot read `src/gone.rs`, which a function body includes";
    for large in [false, true] {
        let mut project = spec("a: i32,", "fn hidden() -> u8 { include!(\"gone.rs\") }");
        if large {
            project.extend(files(&[("src/gone.rs", &"1;".repeat(1_000_001))]));
        }
        assert_eq!(read_map(&project).unexplored[0].message, message);
    }
}

#[test]
fn a_file_that_a_file_in_a_block_names_is_not_passed_by() {
    let own = "impl W { pub fn default() -> W { W(1) } }";
    let kind = format!("{SPEC}\n{}{{ b: i32 }}", KIND.replace("Kind", "Other"));
    for (block, text, is_read) in [
        ("fn hidden() -> u8 { include!(\"deep/in.rs\") }", "include!(\"deeper/out.rs\")", true),
        (
            "fn hidden() -> u8 { include!(\"deep/in.rs\") }",
            "{ mod m { include!(\"deeper/out.rs\"); } 1 }",
            true,
        ),
        (
            "fn hidden() -> u8 { include!(\"deep/in.rs\") }",
            "{ use std::include as x; x!(\"deeper/out.rs\") }",
            false,
        ),
        (
            "fn hidden() { #[path = \"deep/in.rs\"] mod m; }",
            "#[path = \"deeper/out.rs\"] mod n;",
            false,
        ),
        ("fn hidden() -> u8 { use std::include as x; x!(\"deep/deeper/out.rs\") }", "", false),
        ("mod m { use std::include as x; x!(\"deep/deeper/out.rs\"); }", "", false),
        (
            "mod n { pub use std::include as x; } mod m { n::x!(\"deep/deeper/out.rs\"); }",
            "",
            false,
        ),
        (
            "mod n { pub use std::include; } mod m { n::include!(\"deep/deeper/out.rs\"); }",
            "",
            false,
        ),
        (
            "mod n { pub use std::include as x; } use n::*; fn hidden() { x!(\"deep/deeper/out.rs\") }",
            "",
            false,
        ),
        (
            "macro_rules! of { ($t:tt) => { include!($t); } } mod m { of!(\"deep/deeper/out.rs\"); }",
            "",
            false,
        ),
        (
            "macro_rules! of { ($t:tt) => { include!($t); } } fn hidden() { of!(\"deep/deeper/out.rs\"); }",
            "",
            false,
        ),
    ] {
        let read = |planted: &str| {
            let beside = format!("{TWO_DEFAULTS} {block}");
            let mut project = spec("#[serde(default = \"f\")] a: W,", &beside);
            let planted = format!("use super::*; {planted}");
            project
                .extend(files(&[("src/deep/in.rs", text), ("src/deep/deeper/out.rs", &planted)]));
            read_map(&project)
        };
        assert_eq!(crds(&read(own)).len(), 0, "{block} {text}");
        assert_eq!(crds(&read("")).len(), usize::from(is_read), "{block} {text}");
        let reading = read(&kind);
        let problems = format!("{:?}", reading.unexplored);
        let is_named = problems.contains("inside of a block")
            || !reading.unread.is_empty()
            || !reading.unknown_macros.is_empty();
        assert!(is_named, "{block} {text}: {problems}");
        if text.contains("mod n;") {
            let message = "a module in `src/deep/in.rs` has a file of its own, which is not read: kinds in it are left out";
            assert_eq!(reading.unread[0].message, message);
        }
    }
}

#[test]
fn a_schema_in_a_block_is_not_to_be_derived() {
    let own = "impl schemars::JsonSchema for W { fn schema_name() -> std::borrow::Cow<'static, str> { \"W\".into() } fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema { schemars::json_schema!(true) } }";
    let hint = |block: &str| {
        let beside = format!("#[derive(Serialize, Deserialize, Clone, Debug)] struct W; {block}");
        let text = spec("a: W,", &beside).into_values().next().unwrap();
        problems(&text)
    };
    let refused = "src/lib.rs:7:56: `W` does not derive `JsonSchema` (`Kind` → `spec.a`)";
    assert_eq!(
        hint(""),
        [format!("{refused}; add `JsonSchema` (or kube's `KubeSchema`) to its derives")]
    );
    let expected = "what is in a block at src/lib.rs:7:73 may have its `impl JsonSchema`: write it in a module, without a macro";
    assert_eq!(hint(&format!("fn hidden() {{ {own} }}")), [format!("{refused}; {expected}")]);
}

#[test]
fn an_impl_for_a_type_in_parentheses_is_of_that_type() {
    let code = format!("{TWO_DEFAULTS} impl (W) {{ pub fn default() -> W {{ W(1) }} }}");
    right("W", &code, json!(1));
}

#[test]
fn a_kind_inside_of_a_block_is_named() {
    for block in ["fn hidden() { $ }", "const _: () = { $ };", "fn hidden() { mod m { $ } }"] {
        let kind = format!("{SPEC}\n{}{{ b: i32 }}", KIND.replace("Kind", "Other"));
        let reading = read_map(&spec("a: i32,", &block.replace('$', &kind)));
        let problems: Vec<String> =
            all_problems(&reading).iter().map(ToString::to_string).collect();
        assert!(
            problems.iter().any(|it| it.contains("inside of a block")),
            "{block}: {problems:?}"
        );
    }
}

#[test]
fn an_impl_for_what_a_macro_expands_to_is_not_passed_by() {
    let own =
        "macro_rules! ty { ($t:ty) => { $t } } impl ty! { W } { pub fn default() -> W { W(1) } }";
    refused("W", &format!("{TWO_DEFAULTS} {own}"));
    let default = "$T struct W(i32); macro_rules! ty { ($t:ty) => { $t } } impl Default for ty!(W) { fn default() -> W { W(2) } } fn f() -> W { W::default() }";
    refused("W", default);
    let text = format!(
        "{}{SPEC}\n{KIND} {{ #[serde(default)] a: W }} {}",
        super::HEAD,
        default.replace("$T", "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]")
    );
    let message = "src/lib.rs:4:178: a macro writes the type of this `impl`, and is not expanded (`Kind` → `spec.a`); write the type itself";
    assert_eq!(problems(&text), [message]);
}

#[test]
fn calls_in_the_arguments_of_others_count_once() {
    let calls = format!("{}{}", "m!{".repeat(1500), "}".repeat(1500));
    let code = format!("macro_rules! m {{ ($($t:tt)*) => {{}} }} fn g() {{ {calls} }}");
    right("W", &format!("{TWO_DEFAULTS} {code}"), json!(2));
    let inner = "macro_rules! im { () => { impl W { pub fn default() -> W { W(1) } } } }";
    let code = format!("{inner} macro_rules! m {{ ($($t:tt)*) => {{ $($t)* }} }}");
    refused("W", &format!("{TWO_DEFAULTS} {code} fn g() {{ m! {{ m! {{ im!(); }} }} }}"));
}

#[test]
fn names_that_kubes_derive_uses_are_those_of_the_prelude() {
    let refusal = |code: &str| {
        let text = format!("{}{SPEC}\n{KIND} {{ a: i32 }} {code}", super::HEAD);
        problems(&text)
    };
    for (code, name) in [
        ("macro_rules! vec { ($($t:tt)*) => { std::vec![] } }", "vec!"),
        ("fn Some<T>(x: T) -> Option<T> { None }", "Some"),
        ("enum E { None } use E::None;", "None"),
    ] {
        let message = format!("kube's derive uses `{name}`, which the project defines itself");
        let message = format!("src/lib.rs:4:12: {message}; give it another name");
        assert_eq!(refusal(code), [message], "{code}");
    }
    assert_eq!(refusal("use std::option::Option::Some; use std::vec;"), [""; 0]);
}

#[test]
fn a_condition_may_end_in_a_comma() {
    let text = format!(
        "{}{SPEC}\n{KIND} {{ a: i32 }} #[cfg(test,)] mod a {{}} #[cfg(all(not(test),),)] mod b {{}}",
        super::HEAD
    );
    assert_eq!(problems(&text), [""; 0]);
}

fn problems(text: &str) -> Vec<String> {
    let found = all_problems(&read_map(&files(&[("src/lib.rs", text)])));
    let hint = |problem: &crate::Problem| problem.hint.clone().unwrap_or_default();
    found.iter().map(|problem| format!("{problem}; {}", hint(problem))).collect()
}
