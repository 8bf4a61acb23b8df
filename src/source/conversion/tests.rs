use super::*;

const HEAD: &str =
    "#[kube(group = \"a.io\", version = \"v1\", kind = \"Shop\", status = \"ShopStatus\")]\n";

fn of(one: &str, other: &str) -> GeneratedConversion {
    let text = |it: &str| format!("{HEAD}{it}");
    let (one, other) = (text(one), text(other));
    let side = |module, text| VersionSource { module, text };
    generate_conversion("Shop", "a", &side("v1", &one), &side("v2", &other))
        .expect("both declare it")
}

fn body<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let (_, rest) = text
        .split_once(&format!("impl From<{head} {{\n"))
        .unwrap_or_else(|| panic!("{head}: {text}"));
    let body = rest.split("\n}\n").next().unwrap_or_default();
    body.lines().skip(1).map(str::trim).take_while(|it| *it != "}").collect()
}

const STATUS: &str = "pub struct ShopStatus { pub ready: bool }";

#[test]
fn equal_types_are_converted_field_by_field() {
    let spec = "pub struct ShopSpec { pub size: i32, pub doors: Vec<Door>, pub main: Option<Door>, pub by: BTreeMap<String, Option<Door>>, pub next: Box<Door>, pub mode: Mode, pub name: metav1::Time }
        pub struct Door { pub wide: bool }
        pub enum Mode { Fast, Slow(i32, Door), Fixed { at: Door, to: u8 } }
        pub struct ShopStatus { pub ready: bool }";
    let res = of(spec, spec);
    assert!(res.open.is_empty(), "{:?}", res.open);
    assert_eq!(
        body(&res.text, "v2::Shop> for v1::Shop"),
        [
            "let v2::Shop { metadata, spec, status } = it;",
            "Self { metadata, spec: spec.into(), status: status.map(Into::into) }",
        ]
    );
    let lines = body(&res.text, "v1::ShopSpec> for v2::ShopSpec").join(" ");
    assert_eq!(
        lines,
        "let v1::ShopSpec { size, doors, main, by, next, mode, name } = it; Self { size, \
         doors: doors.into_iter().map(Into::into).collect(), main: main.map(Into::into), \
         by: by.into_iter().map(|(key, it)| (key, it.map(Into::into))).collect(), next: Box::new((*next).into()), \
         mode: mode.into(), name,"
    );
    assert_eq!(
        body(&res.text, "v2::Mode> for v1::Mode"),
        [
            "match it {",
            "v2::Mode::Fast => Self::Fast,",
            "v2::Mode::Slow(field0, field1) => Self::Slow(field0, field1.into()),",
            "v2::Mode::Fixed { at, to } => Self::Fixed { at: at.into(), to },",
        ]
    );
    assert_eq!(res.text.matches("impl From<").count(), 10);
}

#[test]
fn what_differs_is_left_open_and_named() {
    let one = format!(
        "pub struct ShopSpec {{ pub size: i32, pub mode: Mode, pub port: u16 }} pub enum Mode {{ Fast, Gone }} {STATUS}"
    );
    let other = format!(
        "pub struct ShopSpec {{ pub replicas: Option<i32>, pub mode: Mode, pub port: String, pub to: Other }} pub enum Mode {{ Fast }} pub struct Other {{ pub a: u8 }} {STATUS}"
    );
    let res = of(&one, &other);
    assert_eq!(
        body(&res.text, "v1::ShopSpec> for v2::ShopSpec"),
        [
            "let v1::ShopSpec {",
            "size: _, // v2 has no such field",
            "mode,",
            "port: _, // v2 has another type",
            "} = it;",
            "Self {",
            "mode: mode.into(),",
            "replicas: None,                                    // v1 has no such field",
            "port: compile_error!(\"choose a value for `port`\"), // v1 has another type",
            "to: compile_error!(\"choose a value for `to`\"),     // v1 has no such field",
        ]
    );
    let mode = body(&res.text, "v1::Mode> for v2::Mode");
    assert_eq!(mode[2], "v1::Mode::Gone => compile_error!(\"v2 has no such variant\"),");
    assert_eq!(
        res.open,
        [
            "v2 `ShopSpec.replicas`: v1 has no such field",
            "v2 `ShopSpec.to`: v1 has no such field",
            &format!("v1 `ShopSpec.size`: v2 has no such field{UNWRITTEN}"),
            &format!("v1 `ShopSpec.port`: v2 has another type{UNWRITTEN}"),
            "v1 `ShopSpec.size`: v2 has no such field",
            &format!("v2 `ShopSpec.port`: v1 has another type{UNWRITTEN}"),
            &format!("v2 `ShopSpec.to`: v1 has no such field{UNWRITTEN}"),
            &format!("v1 `Mode::Gone`: v2 has no such variant{UNWRITTEN}"),
        ]
    );
}

#[test]
fn a_field_that_the_other_version_lacks_is_what_serde_makes_of_one_that_is_missing() {
    let check = |of_struct: &str, field: &str, expected: &str| {
        let with = format!("{of_struct} pub struct ShopSpec {{ {field} }} {STATUS}");
        let res = of(&format!("pub struct ShopSpec {{}} {STATUS}"), &with);
        let lines = body(&res.text, "v1::ShopSpec> for v2::ShopSpec").join(" ");
        let found = lines.split_once("Self { ").expect("it has a field").1;
        assert_eq!(
            found.trim_end_matches([' ', '}']),
            format!("{expected}, // v1 has no such field")
        );
        assert_eq!(
            res.open.iter().any(|it| it.ends_with(UNWRITTEN)),
            expected.contains("compile_error!")
        );
    };
    let unknown = "it: compile_error!(\"choose a value for `it`\")";
    let at_least =
        "it: compile_error!(\"choose a value for `it`; where it is left out, it is `at_least()`\")";
    check("", "pub it: Option<u8>", "it: None");
    check("", "#[serde(default)] pub it: u8", "it: Default::default()");
    check("", "#[serde(rename = \"n\", default)] pub it: Own", "it: Default::default()");
    check("#[serde(rename_all = \"camelCase\", default)]", "pub it: u8", "it: Self::default().it");
    check("#[serde(default)]", "#[serde(default)] pub it: u8", "it: Default::default()");
    // Values that satisfy the schema nobody can read from here.
    check("", "#[serde(default = \"at_least\")] pub it: u8", at_least);
    check("", "#[serde(default = \"at_least\")] pub it: Option<u8>", at_least);
    check("#[serde(default = \"at_least\")]", "pub it: u8", &at_least.replace("()`", "().it`"));
    check("", "pub it: u8", unknown);
    check("", "pub it: Vec<String>", unknown);
    check("", "#[serde(with = \"x\")] pub it: Option<u8>", unknown);
    check("", "#[serde(flatten)] pub it: Option<Own>", unknown);
}

#[test]
fn a_status_that_only_one_version_has_is_named() {
    let without = HEAD.replace(", status = \"ShopStatus\"", "") + "pub struct ShopSpec {}";
    let with = format!("{HEAD}pub struct ShopSpec {{}} {STATUS}");
    let side = |module, text| VersionSource { module, text };
    let res = generate_conversion("Shop", "a", &side("v1", &without), &side("v2", &with))
        .expect("both declare it");
    assert!(res.text.contains("status: _, // v1 has none"), "{}", res.text);
    assert!(res.text.contains("status: None, // v1 has none"), "{}", res.text);
    assert_eq!(res.open, ["v2 `Shop.status`: v1 has none"]);
}

#[test]
fn types_are_the_same_by_any_path() {
    let of = |head: &str, status: &str, field: &str| {
        let text = |version: &str| {
            let text = HEAD.replace("ShopStatus", status).replace("v1", version);
            let field = field.replace("VERSION", version);
            format!("{head}\n{text} pub struct ShopSpec {{ pub it: {field} }} pub struct Door {{}} {STATUS}")
                .replace("VERSION", version)
        };
        let (one, other) = (text("v1"), text("v2"));
        let side = |module, text| VersionSource { module, text };
        generate_conversion("Shop", "a", &side("v1", &one), &side("v2", &other))
            .expect("both declare it")
    };
    let into = "Self { metadata, spec: spec.into(), status: status.map(Into::into) }";
    let status = |head: &str, status: &str| {
        let res = of(head, status, "u8");
        (body(&res.text, "v1::Shop> for v2::Shop")[1].to_owned(), res.open)
    };
    for path in ["crate::a::VERSION::ShopStatus", "self::ShopStatus", "super::ShopStatus", "Named"]
    {
        let head = "use crate::a::VERSION::ShopStatus as Named;";
        assert_eq!(status(head, path), (into.to_owned(), Vec::new()), "{path}");
    }
    let same = "Self { metadata, spec: spec.into(), status }";
    for path in ["crate::shared::ShopStatus", "shared::ShopStatus", "Shared", "Shared<u8>"] {
        let head = "use crate::shared; use crate::shared::ShopStatus as Shared;";
        assert_eq!(status(head, path), (same.to_owned(), Vec::new()), "{path}");
    }
    for (head, path, named) in [
        ("", "crate::a::VERSION::other::ShopStatus", "crate::a::v1::other::ShopStatus"),
        ("", "super::Other", "super::Other"),
        ("mod other {}", "other::ShopStatus", "other::ShopStatus"),
    ] {
        let (value, open) = status(head, path);
        assert_eq!(value, into);
        let why = "is not declared in the file of its kind: write its conversion to v2";
        assert_eq!(open[1], format!("v1 `{named}` {why}{UNWRITTEN}"));
    }
    let field = |head: &str, field: &str| {
        let res = of(head, "ShopStatus", field);
        body(&res.text, "v1::ShopSpec> for v2::ShopSpec")[1].to_owned()
    };
    let all = "Self { it: it.map(Into::into) }";
    for path in ["crate::a::VERSION::Door", "self::Door", "super::Door", "D"] {
        let head = "use crate::a::VERSION::{self, Door as D};";
        assert_eq!(field(head, &format!("Option<{path}>")), all, "{path}");
    }
    assert_eq!(field("", "Option<other::Door>"), "Self { it }");
    let text = |it: &str| {
        format!("{HEAD} pub struct ShopSpec {{ pub it: {it} }} pub struct Door {{}} {STATUS}")
    };
    let (one, other) = (text("Door"), text("a::Door"));
    let side = |module, text| VersionSource { module, text };
    let res = generate_conversion("Shop", "a", &side("v1", &one), &side("v2", &other)).unwrap();
    assert_eq!(res.open.len(), 2, "{:?}", res.open);
}

#[test]
fn a_file_without_the_kind_is_refused() {
    let side = |text| VersionSource { module: "v1", text };
    let refused = |text| {
        generate_conversion("Shop", "a", &side(text), &side(text)).expect_err("it is refused")
    };
    assert_eq!(refused("struct A;"), "v1: no struct has `#[kube(…, kind = \"Shop\", …)]`");
    assert_eq!(refused("struct"), "v1: unexpected end of input, expected identifier");
}

#[test]
fn types_of_different_forms_are_left_to_the_user() {
    let one = format!("pub struct ShopSpec {{ pub mode: Mode }} pub enum Mode {{ Fast }} {STATUS}");
    let other = format!(
        "pub struct ShopSpec {{ pub mode: Mode }} pub struct Mode {{ pub a: u8 }} {STATUS}"
    );
    let res = of(&one, &other);
    assert_eq!(
        res.open,
        [
            format!("v2 `Mode`: its form differs in v1{UNWRITTEN}"),
            format!("v1 `Mode`: its form differs in v2{UNWRITTEN}"),
        ]
    );
    assert!(!res.text.contains("> for v1::Mode "), "{}", res.text);
}

#[test]
fn names_mean_what_the_file_imports() {
    let check = |one: &str, other: &str, field: &str| {
        let rest =
            format!("pub struct ShopSpec {{ pub it: {field} }} pub struct Door {{}} {STATUS}");
        let text = |uses: &str| format!("{uses}\n{HEAD}{rest}");
        let (one, other) = (text(one), text(other));
        let side = |module, text| VersionSource { module, text };
        let res = generate_conversion("Shop", "a", &side("v1", &one), &side("v2", &other));
        let res = res.expect("both declare it");
        let lines = body(&res.text, "v1::ShopSpec> for v2::ShopSpec").join(" ");
        lines.split_once("Self { ").map(|it| it.1.trim_end_matches([' ', '}']).to_owned())
    };
    let known = |one, other, field, value: &str| {
        assert_eq!(check(one, other, field), Some(value.to_owned()), "{field}");
    };
    known(
        "type All = Vec<Door>;",
        "type All = Vec<Door>;",
        "All",
        "it: it.into_iter().map(Into::into).collect()",
    );
    known(
        "type Name = String;",
        "",
        "Option<Name>",
        "it: compile_error!(\"choose a value for `it`\"), // v1 has another type",
    );
    known("type Name = String;", "type Name = String;", "Option<Name>", "it");
    known("use std::time as t;", "use std::time as t;", "t::Duration", "it");
    known("use a_crate::*;", "use a_crate::*;", "Part", "it");
    let todo = "it: compile_error!(\"choose a value for `it`\"), // v1 has another type";
    known("use std::time::Duration;", "use crate::Duration;", "Duration", todo);
    known("use super::parts::Part;", "use super::parts::Part;", "Part", todo);
    known("use super::parts::*;", "use super::parts::*;", "Part", todo);
    known("use a_crate::*;", "use b_crate::*;", "Part", todo);
    known("mod parts {}", "mod parts {}", "parts::Part", todo);
    known("mod parts {}", "mod parts {}", "BTreeMap<parts::Part, Door>", todo);
    known("declare! { Part }", "declare! { Part }", "Part", todo);
}

#[test]
fn types_that_no_conversion_can_be_written_for_are_named() {
    let check = |declared: &str, why: &str| {
        let text = format!("pub struct ShopSpec {{ pub it: It }} {declared} {STATUS}");
        let res = of(&text, &text);
        assert_eq!(
            res.open,
            [
                format!("v2 `It` {why}: write its conversion to v1{UNWRITTEN}"),
                format!("v1 `It` {why}: write its conversion to v2{UNWRITTEN}"),
            ]
        );
    };
    check("pub struct It<T>(pub T);", "has generic parameters");
    check("pub struct It { #[cfg(unix)] pub a: u8 }", "has parts with `#[cfg]`");
    check("pub enum It { #[cfg(unix)] A }", "has parts with `#[cfg]`");
    check("pub struct It { a: u8 }", "has a private field");
    check("pub struct It(pub(super) u8);", "has a private field");
    check("struct It { pub a: u8 }", "is private");
    let generic = of(
        &format!(
            "pub struct ShopSpec {{ pub it: It<u8> }} pub struct It<T> {{ pub it: T }} {STATUS}"
        ),
        &format!(
            "pub struct ShopSpec {{ pub it: It<u8> }} pub struct It<T> {{ pub it: T }} {STATUS}"
        ),
    );
    assert_eq!(generic.open.len(), 2, "{:?}", generic.open);
}

#[test]
fn the_code_is_as_rustfmt_and_the_compiler_want_it() {
    let text = |name: &str| {
        format!(
            "pub struct ShopSpec {{ pub {name}: Vec<Vec<Unit>>, pub no: No, pub odd: Odd }} pub struct Unit; pub enum No {{}} pub enum Odd {{ A {{}} }} {STATUS}"
        )
    };
    let res = of(&text("it"), &text("it")).text;
    for (head, line) in [("Unit", "let v1::Unit {} = it;"), ("No", "match it {}")] {
        assert_eq!(body(&res, &format!("v1::{head}> for v2::{head}"))[0], line);
    }
    assert!(res.contains("v1::Odd::A {} => Self::A {},"), "{res}");
    assert!(!res.contains("rustfmt::skip"), "{res}");
    let long = text(&"n".repeat(60));
    assert_eq!(of(&long, &long).text.matches("#[rustfmt::skip]").count(), 2);
    let allowed = |field: &str| {
        let text = format!("pub struct ShopSpec {{ {field} }}");
        let res = of(&text, &text).text;
        res.lines().find_map(|it| Some(it.strip_prefix("#![allow(")?.split_once(')')?.0.to_owned()))
    };
    assert_eq!(allowed("pub it: i32"), None);
    assert_eq!(allowed("#[deprecated] pub it: i32"), Some("deprecated".to_owned()));
    assert_eq!(allowed("pub foo: i32"), Some("clippy::disallowed_names".to_owned()));
    let mut sorted = ["v10", "v1beta1", "v2", "v1alpha10", "v1", "v1alpha2"];
    sorted.sort_by_key(|it| write::sort_key(it));
    assert_eq!(sorted, ["v1", "v1alpha2", "v1alpha10", "v1beta1", "v2", "v10"]);
}
