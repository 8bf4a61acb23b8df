//! Default values and constants that cannot be told.

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

#[test]
fn defaults_that_cannot_be_told_are_refused() {
    let on = |place: &str, what: &str| format!("src/main.rs:{place}: {what} (`Kind` → `spec.a`)");
    default("i32", "fn f() -> i32 { 1 + g() }", "7:21", "`g` is not found");
    default(
        "i32",
        "fn f() -> i64 { 1 }",
        "5:19",
        "`f` was read as a value of type `i64`, where there must be one of type `i32`",
    );
    default("i32", "", "5:19", "`f` is not found");
    check(
        "#[serde(default)] a: In,",
        "#[derive(JsonSchema, Serialize)] struct In;",
        &on("5:22", "`In` has a default of `In`, whose `Default` is not read"),
    );
    check(
        "#[serde(default)] a: std::net::IpAddr,",
        "",
        &on("5:22", "`std::net::IpAddr` has a default of `IpAddr`, which is not known"),
    );
    default("u8", "fn f() -> u8 { 256 }", "7:16", "`256` does not fit in `u8`");
    default(
        "String",
        "fn f() -> String { std::env::var(\"A\").unwrap() }",
        "7:20",
        "`std::env::var(\"A\")` calls what is not read",
    );
    default(
        "String",
        "fn f() -> String { env!(\"HOME\").to_string() }",
        "7:20",
        "`env!(\"HOME\")` takes what is outside of the code: it depends on how the project is built",
    );
    default(
        "String",
        "fn f() -> String { include_str!(\"gone.txt\").to_string() }",
        "7:20",
        "`include_str!(\"gone.txt\")` takes what is outside of the code: there is no src/gone.txt",
    );
}

#[test]
fn code_that_panics_or_never_ends_is_refused() {
    let panics = "panics when it runs, and so would `crd()`";
    default(
        "u8",
        "fn f() -> u8 { let a: u8 = 200; a + 100 }",
        "7:33",
        &format!("`a+100` {panics}: it overflows"),
    );
    default(
        "i32",
        "fn f() -> i32 { panic!() }",
        "7:17",
        &format!("`panic!()` {panics}: it says so"),
    );
    default(
        "u8",
        "fn f() -> u8 { \"300\".parse().unwrap() }",
        "7:16",
        &format!("`\"300\".parse().unwrap()` {panics}: there is nothing in it"),
    );
    let found = problems(&spec("#[serde(default = \"f\")] a: i32,", "fn f() -> i32 { loop {} }"));
    assert!(found[0].contains("takes too many steps to be read"), "{found:?}");
    let found = problems(&spec("#[serde(default = \"f\")] a: i32,", "fn f() -> i32 { f() }"));
    assert!(found[0].contains("goes too deep to be read"), "{found:?}");
    let found = problems(&spec(
        "#[serde(default = \"f\")] a: String,",
        "fn f() -> String { \"a\".repeat(1 << 30) }",
    ));
    assert!(found[0].contains("becomes too long to be read"), "{found:?}");
    let found = problems(&spec(
        "#[serde(default = \"f\")] a: u64,",
        "fn f() -> u64 { let mut a = 0; while a < 1 { a = a * 1; } a }",
    ));
    assert!(found[0].contains("takes too many steps to be read"), "{found:?}");
}

#[test]
fn what_may_be_another_than_it_seems_is_refused() {
    default(
        "String",
        "macro_rules! format { ($a:expr) => { \"other\".to_owned() } } fn f() -> String { std::format!(\"x\") + &format!(\"{}\", 1) }",
        "7:80",
        "`format!` is a macro of the project, which is not expanded",
    );
    default(
        "String",
        "trait Odd { fn to_uppercase(&self) -> String; } impl Odd for str { fn to_uppercase(&self) -> String { String::new() } } fn f() -> String { \"a\".to_uppercase() }",
        "7:140",
        "`\"a\".to_uppercase()` calls `to_uppercase`, which a trait of the project has too",
    );
    default(
        "In",
        "$T enum In { A } trait One { fn make(&self) -> In; } trait Two { fn make(self) -> In; } impl One for In { fn make(&self) -> In { In::A } } impl Two for In { fn make(self) -> In { In::A } } fn f() -> In { In::A.make() }",
        "7:262",
        "`In::A.make()` has more than one `make` to choose from",
    );
    default(
        "std::collections::HashSet<String>",
        "fn f() -> std::collections::HashSet<String> { std::collections::HashSet::from([\"a\".to_owned(), \"b\".to_owned()]) }",
        "5:28",
        "`std::collections::HashSet<String>` has a `HashSet` in it, which is written in no order",
    );
}

#[test]
fn code_that_a_condition_may_take_away_is_refused() {
    default(
        "i32",
        "fn f() -> i32 { let mut a = 1; #[cfg(unix)] { a += 1; } a }",
        "7:32",
        "`#[cfg(unix)]` on an expression is not read",
    );
    default(
        "i32",
        "fn f() -> i32 { let mut a = 1; #[cfg(unix)] a += 1; a }",
        "7:32",
        "`#[cfg(unix)]` on an expression is not read",
    );
    default(
        "i32",
        "fn f() -> i32 { In::A } struct In; impl In { #[cfg(unix)] const A: i32 = 1; #[cfg(not(unix))] const A: i32 = 2; }",
        "7:65",
        "`A` depends on a `cfg`",
    );
    default(
        "i32",
        "fn f() -> i32 { In::a() } struct In; impl In { #[cfg(unix)] fn a() -> i32 { 1 } }",
        "7:48",
        "`#[cfg(unix)]` stands on a function, which is not read",
    );
}

#[test]
fn a_trait_of_the_project_hides_a_method_only_where_it_may() {
    let none: [&str; 0] = [];
    let text = "trait Shout { fn to_uppercase(&self) -> String; } struct In; impl Shout for In { fn to_uppercase(&self) -> String { String::new() } } fn f() -> String { \"a\".to_uppercase() }";
    assert_eq!(problems(&spec("#[serde(default = \"f\")] a: String,", text)), none);
    for beside in ["impl<T> Shout for T", "impl Shout for &str", "use Shout as S; impl S for str"] {
        let text = format!(
            "trait Shout {{ fn to_uppercase(&self) -> String; }} {beside} {{ fn to_uppercase(&self) -> String {{ String::new() }} }} fn f() -> String {{ \"a\".to_uppercase() }}"
        );
        let found = problems(&spec("#[serde(default = \"f\")] a: String,", &text));
        assert!(found[0].contains("which a trait of the project has too"), "{found:?}");
    }
}

#[test]
fn whether_a_default_is_written_is_told_for_certain() {
    let hand = "#[derive(JsonSchema, Deserialize)] struct In { x: i32 } impl Default for In { fn default() -> Self { In { x: 1 } } } ";
    let default = "#[serde(default)] a: In,";
    let none: [&str; 0] = [];
    assert_eq!(problems(&spec(default, hand)), none);
    for beside in [
        "use In as Other; impl Serialize for Other { fn serialize<S>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(\"a\") } }",
        "impl<T> Serialize for T { fn serialize<S>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_str(\"a\") } }",
        "type Other = In; use serde::Serialize as Ser; impl Ser for Other { }",
    ] {
        let found = problems(&spec(default, &format!("{hand}{beside}")));
        assert!(found[0].contains("whether `In` is `Serialize` cannot be told"), "{found:?}");
    }
    let found = problems(&spec(default, &hand.replace("Deserialize)]", "Deserialize, Odd)]")));
    assert!(found[0].contains("whether `In` is `Serialize` cannot be told"), "{found:?}");
}

#[test]
fn imports_in_a_function_are_read_unless_they_may_mean_something_else() {
    let refused = |code: &str, place: &str, what: &str| {
        default("String", code, place, what);
    };
    let inside = "is an item inside a function, which is not read";
    refused(
        "mod m { pub fn g() -> String { String::new() } } fn f() -> String { use m::*; g() }",
        "7:69",
        &format!("`use m::*;` {inside}"),
    );
    refused(
        "mod m { pub fn g() -> u8 { 1 } } fn f() -> String { use m::g; let g = 1; format!(\"{g}\") }",
        "7:53",
        &format!("`use m::g;` {inside}"),
    );
    refused(
        "mod m { pub struct N; } fn f() -> String { use m::N; stringify!(N).to_string() }",
        "7:44",
        &format!("`use m::N;` {inside}"),
    );
    refused(
        "mod m { pub mod n { pub const A: &str = \"\"; } } fn f() -> String { use m::n; use n::A; A.into() }",
        "7:68",
        &format!("`use m::n;` {inside}"),
    );
    refused(
        "mod m { pub const N: u8 = 1; } const N: u8 = 2; fn f() -> String { use m::N; format!(\"{N}\") }",
        "7:68",
        &format!("`use m::N;` {inside}"),
    );
    refused("fn f() -> String { use gone::A; A.into() }", "7:33", "`gone::A` is not found");
}
