//! Schemas that are written by hand, and what in them is refused.

use super::*;

/// The one problem of a type whose schema has this body; it starts at 7:178.
#[track_caller]
fn body(body: &str, expected: &str) {
    let beside = format!(
        "#[derive(Serialize, Deserialize, Clone, Debug)] struct In; impl JsonSchema for In {{ fn schema_name() -> std::borrow::Cow<'static, str> {{ \"In\".into() }} fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n{body}\n}} }}"
    );
    match expected {
        "" => assert_eq!(problems(&spec("a: In,", &beside)), [""; 0], "{body}"),
        expected => {
            let expected = format!("src/main.rs:8:{expected} (`Kind` → `spec.a`)");
            check("a: In,", &beside, &expected);
        }
    }
}

#[test]
fn bodies_that_only_put_a_schema_together_are_read() {
    body("schemars::json_schema!({})", "");
    body("let mut it = generator.subschema_for::<String>(); it.remove(\"x\"); it", "");
    body("true.into()", "");
}

#[test]
fn anything_else_in_a_body_is_refused_at_its_place() {
    body(
        "schemars::json_schema!({ \"x\": now() })",
        "31: `now` is no function that is read, in a schema that is written by hand",
    );
    body(
        "let it = std::env::var(\"X\"); true.into()",
        "10: `std::env::var(\"X\")` calls `std::env::var`, which is not read, in a schema that is written by hand",
    );
    body(
        "schemars::json_schema!(3)",
        "1: `schemars::json_schema!(3)` is no schema, and panics when it runs, in a schema that is written by hand",
    );
    body(
        "None.unwrap()",
        "1: `None.unwrap()` panics when it runs, and so would `crd()`, in a schema that is written by hand",
    );
    body(
        "generator.definitions_mut().clear(); true.into()",
        "1: `generator.definitions_mut()` is a call that is not read, in a schema that is written by hand",
    );
    body("loop {}", "1: `loop{}` is code that is not read, in a schema that is written by hand");
    body("generator.subschema_for::<Gone>()", "27: `Gone` is not found");
    body(
        "unsafe { x() }",
        "1: `unsafe{x()}` is code that is not read, in a schema that is written by hand",
    );
    body(
        "other! { x }",
        "1: `other!{x}` calls a macro that is not read, in a schema that is written by hand",
    );
}

#[test]
fn a_body_that_calls_itself_comes_to_an_end() {
    let beside = "fn f(g: &mut schemars::SchemaGenerator) -> schemars::Schema { f(g) }";
    let found = problems(&spec("#[schemars(schema_with = \"f\")] a: i32,", beside));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("takes too many steps to be read"), "{found:?}");
}

#[test]
fn what_stands_for_a_type_is_said_once() {
    check(
        "#[schemars(with = \"i32\", schema_with = \"f\")] a: i32,",
        "",
        "src/main.rs:5:26: schemars attribute cannot contain both `schema_with` and `with` (`Kind` → `spec`)",
    );
}

#[test]
fn code_that_may_not_be_there_is_refused_where_it_is_met() {
    let on = "on a statement is not read, in a schema that is written by hand";
    body("#[cfg(unix)] let it = 1; true.into()", &format!("1: `#[cfg(unix)]` {on}"));
    body("#[cfg(unix)] { return false.into(); } true.into()", &format!("1: `#[cfg(unix)]` {on}"));
    body("#[cfg(test)] let it = now(); #[cfg(test)] { now(); } true.into()", "");
    body(
        "match true { #[cfg(unix)] true => true.into(), _ => false.into() }",
        "27: `true` is a pattern that is not read, in a schema that is written by hand",
    );
}
