//! Defaults and constants that are refused, and what is said of them.

use super::*;

/// The one problem of `#[serde(default = "f")] a: <ty>` and code beside it.
#[track_caller]
fn default(ty: &str, beside: &str, place: &str, what: &str) {
    check(
        &format!("#[serde(default = \"f\")] a: {ty},"),
        beside,
        &format!("src/main.rs:{place}: {what} (`Kind` → `spec.a`)"),
    );
}

/// The same, of an expression that is refused by itself.
#[track_caller]
fn unsupported(ty: &str, beside: &str, place: &str, expr: &str, why: &str) {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    default(ty, beside, place, &format!("unsupported expression `{expr}` in a default{why}"));
}

#[test]
fn what_is_not_on_the_list_is_refused_at_its_place() {
    let one = |body: &str, expr: &str, why: &str| {
        unsupported("String", &format!("fn f() -> String {{ {body} }}"), "7:20", expr, why);
    };
    one("\"a\".to_uppercase()", "\"a\".to_uppercase()", "");
    one("std::env::var(\"A\").unwrap()", "std::env::var(\"A\")", "");
    one("[\"a\"].concat()", "[\"a\"]", "");
    one("\"a\".chars().rev().collect()", "\"a\".chars()", "");
    one("(|| \"a\".to_owned())()", "(||\"a\".to_owned())()", "");
    one("unsafe { g() }", "unsafe{g()}", "");
    one("\"a\".repeat(1 << 30)", "\"a\".repeat(1<<30)", "");
    one("std::mem::take(&mut String::new())", "std::mem::take(&mut String::new())", "");
    one(
        "env!(\"HOME\").to_string()",
        "env!(\"HOME\")",
        "this environment variable depends on the build",
    );
    one(
        "include_str!(\"a\").into()",
        "include_str!(\"a\")",
        "the included file `src/a` does not exist",
    );
    one("format!(\"{:>5}\", 1)", "format!(\"{:>5}\", 1)", "");
    one("format!(\"{:?}\", 1)", "format!(\"{:?}\", 1)", "");
    one("loop {}", "loop{}", "");
    one("usize::MAX.to_string()", "usize::MAX", "");
    let inside = "an item inside a function is not evaluated; move it to the module";
    one("use m::g; g()", "use m::g;", inside);
    one("const A: &str = \"a\"; A.to_owned()", "const A:&str=\"a\";", inside);
}

#[test]
fn a_type_with_a_deref_of_its_own_is_not_dereferenced() {
    let code = |beside: &str| {
        let body = "#[serde(default, skip_serializing_if = \"f\")] a: In,";
        let ty = "#[derive(PartialEq, Default)] $T struct In(i32);";
        problems(&spec(
            body,
            &format!("{ty} fn f(x: &In) -> bool {{\n*x == In::default() }} {beside}"),
        ))
    };
    assert_eq!(code(""), [""; 0]);
    let found = code(
        "impl std::ops::Deref for In { type Target = i32; fn deref(&self) -> &i32 { &self.0 } }",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("its type has a `Deref` of its own"), "{found:?}");
}

/// Code that is plain to a reader, and that no public kind was found to need.
#[test]
fn what_no_public_kind_needs_is_refused_at_its_place() {
    for body in [
        "-LIMIT",
        "b'a'",
        "[1, 2]",
        "(1, 2)",
        "match 1{_=>2}",
        "return 1",
        "LIMIT.clone()",
        "\"5\".parse()",
        "loop{}",
    ] {
        let found = problems(&spec(
            "#[serde(default = \"f\")] a: u8,",
            &format!("fn f() -> u8 {{\n{body}\n}} const LIMIT: u8 = 5;"),
        ));
        let expected = "src/main.rs:8:1: unsupported expression `";
        assert!(found.len() == 1 && found[0].starts_with(expected), "{body}\n{found:?}");
    }
    for body in ["!1", "cfg!(unix)", "matches!(1, 1)"] {
        let code = format!("fn f() -> bool {{\n{body}\n}}");
        let found = problems(&spec("#[serde(default = \"f\")] a: bool,", &code));
        assert!(found[0].starts_with("src/main.rs:8:"), "{found:?}");
    }
    for (ty, body) in [
        ("char", "'c'"),
        ("i32", "1_i64.into()"),
        ("std::collections::HashMap<String, u8>", "std::collections::HashMap::from([])"),
        ("Tagged", "Tagged::One(1)"),
        (
            "k8s_openapi::api::core::v1::EnvVar",
            "k8s_openapi::api::core::v1::EnvVar { name: String::new(), value: None, value_from: None }",
        ),
    ] {
        let code = format!(
            "fn f() -> {ty} {{\n{body}\n}} $T #[serde(tag = \"t\", content = \"c\")] enum Tagged {{ One(u8) }}"
        );
        let found = problems(&spec(&format!("#[serde(default = \"f\")] a: {ty},"), &code));
        assert!(found.len() == 1 && found[0].starts_with("src/main.rs:"), "{body}\n{found:?}");
    }
}

#[test]
fn what_has_no_type_or_another_one_is_refused() {
    default("i32", "", "5:19", "`f` is not found");
    default("i32", "fn f() -> i32 { 1 + g() }", "7:21", "`g` is not found");
    default("i32", "fn f() -> i64 { 1 }", "5:25", "the default of `a` is not of type `i32`");
    unsupported("u8", "fn f() -> u8 { 256 }", "7:16", "256", "it does not fit in `u8`");
    check(
        "#[serde(default)] a: In,",
        "#[derive(JsonSchema, Serialize)] struct In;",
        "src/main.rs:5:22: unsupported expression `In` in a default: `In` has no `Default` that operator-rs can read (`Kind` → `spec.a`)",
    );
    check(
        "#[serde(default)] a: std::net::IpAddr,",
        "",
        "src/main.rs:5:22: unsupported expression `std::net::IpAddr` in a default: the default of `IpAddr` is not known (`Kind` → `spec.a`)",
    );
    default(
        "u8",
        "fn f() -> u8 { let x = 1; x.into() }",
        "7:24",
        "the type of `1` in a default is not known",
    );
}

#[test]
fn code_that_panics_or_never_ends_is_refused() {
    let panics = |ty: &str, body: &str, place: &str, expr: &str, why: &str| {
        let why = format!("it panics, and so would `crd()`: {why}");
        unsupported(ty, &format!("fn f() -> {ty} {{ {body} }}"), place, expr, &why);
    };
    let overflows = "it overflows, or divides by zero";
    panics("u8", "let a: u8 = 200; a + 100", "7:33", "a+100", overflows);
    panics("i32", "panic!()", "7:17", "panic!()", "the macro always panics");
    panics("u8", "None.unwrap()", "7:16", "None.unwrap()", "the value is `None`");
    let found = problems(&spec("#[serde(default = \"f\")] a: i32,", "fn f() -> i32 { f() }"));
    assert!(found[0].contains("it is nested too deep"), "{found:?}");
}

#[test]
fn what_may_be_another_than_it_seems_is_refused() {
    unsupported(
        "String",
        "macro_rules! format { ($a:expr) => { \"other\".to_owned() } } fn f() -> String { format!(\"{}\", 1) }",
        "7:80",
        "format!(\"{}\", 1)",
        "this macro is not expanded",
    );
    for beside in ["impl<T> Shout for T", "impl Shout for &str", "use Shout as S; impl S for str"] {
        let text = format!(
            "trait Shout {{ fn to_string(&self) -> String; }} {beside} {{ fn to_string(&self) -> String {{ String::new() }} }} fn f() -> String {{ \"a\".to_string() }}"
        );
        let found = problems(&spec("#[serde(default = \"f\")] a: String,", &text));
        assert!(found[0].contains("a trait in scope has a method `to_string`"), "{found:?}");
    }
    unsupported(
        "std::collections::HashSet<String>",
        "fn f() -> std::collections::HashSet<String> { std::collections::HashSet::from([\"a\".to_owned()]) }",
        "7:79",
        "[\"a\".to_owned()]",
        "",
    );
}

#[test]
fn code_that_a_condition_may_take_away_is_refused() {
    let unsettled = "only the compiler can tell whether this `cfg` applies";
    for (code, place) in [
        ("fn f() -> i32 { #[cfg(unix)] { return 1; } 2 }", "7:17"),
        ("fn f() -> i32 { #[cfg(unix)] let a = 1; 2 }", "7:17"),
        ("fn f() -> i32 { In::A } struct In; impl In { #[cfg(unix)] const A: i32 = 1; }", "7:46"),
        (
            "fn f() -> i32 { In::a() } struct In; impl In { #[cfg(unix)] fn a() -> i32 { 1 } }",
            "7:48",
        ),
    ] {
        unsupported("i32", code, place, "#[cfg(unix)]", unsettled);
    }
}

#[test]
fn whether_a_default_is_written_is_certain_or_refused() {
    let hand = "#[derive(JsonSchema, Deserialize)] struct In { x: i32 } impl Default for In { fn default() -> Self { In { x: 1 } } } ";
    let default = "#[serde(default)] a: In,";
    assert_eq!(problems(&spec(default, hand)), [""; 0]);
    for beside in [
        "use In as Other; impl Serialize for Other { fn serialize<S>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(\"a\") } }",
        "impl<T> Serialize for T { fn serialize<S>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(\"a\") } }",
        "type Other = In; use serde::Serialize as Ser; impl Ser for Other { }",
    ] {
        let found = problems(&spec(default, &format!("{hand}{beside}")));
        assert!(found.len() == 1 && found[0].contains("Serialize"), "{beside} {found:?}");
    }
    let found = problems(&spec(default, &hand.replace("Deserialize)]", "Deserialize, Odd)]")));
    assert!(found[0].contains("`#[derive(Odd)]` in src/main.rs may define `default`"), "{found:?}");
    let sized =
        "#[derive(JsonSchema, Serialize, Deserialize)] struct In<const N: usize> { x: i32 }";
    let found = problems(&spec("#[serde(default)] a: Vec<In<3>>,", sized));
    assert!(found[0].contains("has a `const` parameter, which is not supported"), "{found:?}");
}

#[test]
fn a_shift_by_more_than_the_bits_of_a_type_panics() {
    let why = "it panics, and so would `crd()`: it shifts by more than the bits of its type";
    unsupported("i32", "fn f() -> i32 { 1 << 32 }", "7:17", "1<<32", why);
    unsupported("i32", "fn f() -> i32 { 1 >> -1 }", "7:17", "1>>-1", why);
}

#[test]
fn what_depends_on_the_bits_of_a_platform_is_refused() {
    let no = |expr: &str, shown: &str| {
        unsupported("usize", &format!("fn f() -> usize {{ {expr} }}"), "7:19", shown, "");
    };
    no("usize::MAX", "usize::MAX");
    no("5_000_000_000_i64 as usize", "5_000_000_000_i64 as usize");
    no("1_usize << 3", "1_usize<<3");
}

#[test]
fn a_conversion_that_std_does_not_have_is_refused() {
    let no = |ty: &str| format!("this conversion to `{ty}` is not supported");
    for (to, from) in
        [("i32", "1_i64"), ("u64", "1_i32"), ("u8", "1_i8"), ("usize", "1_u32"), ("i8", "1_u8")]
    {
        let expr = format!("{to}::from({from})");
        unsupported(
            to,
            &format!("fn f() -> {to} {{ {expr} }}"),
            &format!("7:{}", 14 + to.len()),
            &expr,
            &no(to),
        );
    }
}

#[test]
fn env_is_what_cargo_sets_for_the_package_unless_something_else_may_set_it() {
    let code = |expression: &str| {
        format!(
            "{HEAD}{SPEC}\n{KIND} {{ #[serde(default = \"f\")] a: String }}\nfn f() -> String {{ {expression} }}"
        )
    };
    let found = |expression: &str, beside: &[(&str, &str)]| {
        let dependencies = "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";
        let manifest = "[package]\nname = \"a-b\"\nversion.workspace = true\nedition = \"2024\"\ndescription = \"an a\"\n[workspace.package]\nversion = \"1.0.0\"\n";
        let mut project = files(&[
            ("Cargo.toml", &format!("{manifest}{dependencies}")),
            ("src/lib.rs", &code(expression)),
        ]);
        project.extend(files(beside));
        packages::field(&project).map(|field| field["default"].clone())
    };
    let version = "env!(\"CARGO_PKG_VERSION\").to_owned()";
    for (expression, expected) in [
        (version, "1.0.0"),
        ("format!(\"{}:{}\", env!(\"CARGO_PKG_NAME\"), env!(\"CARGO_CRATE_NAME\"))", "a-b:a_b"),
        ("env!(\"CARGO_PKG_DESCRIPTION\", \"none\").to_owned()", "an a"),
        ("env!(\"CARGO_PKG_HOMEPAGE\").into()", ""),
    ] {
        assert_eq!(found(expression, &[]), Ok(expected.into()), "{expression}");
    }
    let script = "fn main() { println!(\"cargo:rustc-env=CARGO_PKG_VERSION=2.0.0\"); }";
    let overridden = "[target.x86_64-unknown-linux-gnu.b]\nrustc-env = { A = \"1\" }\n";
    for beside in [("build.rs", script), (".cargo/config.toml", overridden)] {
        let problems = found(version, &[beside]).expect_err("another value may be set");
        let why = "the build script may set environment variables";
        assert!(problems[0].contains(why), "{problems:?}");
    }
    let config = (
        "[env]\nCARGO_PKG_VERSION = \"2.0.0\"\n",
        ".cargo/config.toml:2:1: `env.CARGO_PKG_VERSION`",
    );
    let problems = found(version, &[(".cargo/config.toml", config.0)]).expect_err("it is another");
    assert!(problems[0].starts_with(config.1), "{problems:?}");
}

#[test]
fn a_default_that_a_function_writes_is_left_out_or_refused() {
    let beside = "fn f<S: serde::Serializer>(it: &Option<i32>, to: S) -> Result<S::Ok, S::Error> { it.serialize(to) }";
    check(
        "#[serde(default, serialize_with = \"f\")] a: Option<i32>,",
        beside,
        "src/main.rs:5:35: the default of `a` is written by `f`, which is not evaluated (`Kind` → `spec.a`)",
    );
    let left_out = "#[serde(default, skip_serializing_if = \"Option::is_none\", serialize_with = \"f\")] a: Option<i32>,";
    assert_eq!(problems(&spec(left_out, beside)), [""; 0]);
}

#[test]
fn numbers_whose_value_depends_on_the_platform_or_is_none_are_refused() {
    unsupported(
        "f64",
        "fn f() -> f64 { 1.0 / 0.0 }",
        "7:17",
        "1.0/0.0",
        "its value is not a finite number",
    );
    unsupported("usize", "fn f() -> usize { 1e12 as usize }", "7:19", "1e12 as usize", "");
    unsupported("u128", "fn f() -> u128 { 1e12 as u128 }", "7:18", "1e12 as u128", "");
    unsupported(
        "i8",
        "fn f() -> i8 { -LOW } const LOW: i8 = -128;",
        "7:16",
        "-LOW",
        "it panics, and so would `crd()`: it overflows",
    );
    let mode = "enum Mode { Fast, Slow(u8) } fn f() -> u8 { Mode::Fast as u8 }";
    unsupported("u8", mode, "7:45", "Mode::Fast as u8", "");
}

#[test]
fn a_cfg_that_only_the_compiler_decides_is_refused_in_an_expression() {
    unsupported(
        "u8",
        "fn f() -> u8 { if cfg!(debug_assertions) { 1 } else { 2 } }",
        "7:19",
        "cfg!(debug_assertions)",
        "only the compiler can tell whether this `cfg` applies",
    );
}
