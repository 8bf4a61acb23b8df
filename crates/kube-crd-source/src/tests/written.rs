//! Schemas that are written by hand, and what in them is refused.

use super::*;

/// The one problem of a type whose schema has this body; it starts at 8:1.
#[track_caller]
fn body(body: &str, place: &str, expr: &str, why: &str) {
    let beside = format!(
        "#[derive(Serialize, Deserialize, Clone, Debug)] struct In; impl JsonSchema for In {{ fn schema_name() -> std::borrow::Cow<'static, str> {{ \"In\".into() }} fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n{body}\n}} }}"
    );
    if expr.is_empty() {
        assert_eq!(problems(&spec("a: In,", &beside)), [""; 0], "{body}");
        return;
    }
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let what = format!("unsupported expression `{expr}` in a hand-written schema{why}");
    check("a: In,", &beside, &format!("src/main.rs:8:{place}: {what} (`Kind` → `spec.a`)"));
}

#[test]
fn bodies_that_only_put_a_schema_together_are_read() {
    body("schemars::json_schema!({})", "", "", "");
    body("true.into()", "", "", "");
    body("serde_json::json!({ \"type\": \"string\" }).try_into().unwrap()", "", "", "");
    body("let it = serde_json::json!(true); it.try_into().expect(\"a schema\")", "", "", "");
    body("#[cfg(test)] let it = now(); #[cfg(test)] { now(); } true.into()", "", "", "");
}

#[test]
fn anything_else_in_a_body_is_refused_at_its_place() {
    body("let it = std::env::var(\"X\"); true.into()", "10", "std::env::var(\"X\")", "");
    let panics = "it panics, and so would `crd()`";
    let json = "schemars::json_schema!(3)";
    body(json, "1", json, &format!("{panics}: it is not a schema"));
    let none = "None.unwrap()";
    body(none, "1", none, &format!("{panics}: the value is `None`"));
    let clear = "generator.definitions_mut().clear()";
    body(&format!("{clear}; true.into()"), "1", clear, "");
    body("loop {}", "1", "loop{}", "");
    body("unsafe { x() }", "1", "unsafe{x()}", "");
    body("other! { x }", "1", "other!{x}", "this macro is not expanded");
    let remove = "let mut it = generator.subschema_for::<String>(); it.remove(\"x\"); it";
    body(remove, "51", "it.remove(\"x\")", "");
    let unsettled = "only the compiler can tell whether this `cfg` applies";
    body("#[cfg(unix)] let it = 1; true.into()", "1", "#[cfg(unix)]", unsettled);
    body("#[cfg(unix)] { return false.into(); } true.into()", "1", "#[cfg(unix)]", unsettled);
}

#[test]
fn names_that_are_not_there_are_refused_at_their_places() {
    for (code, place, name) in [
        ("schemars::json_schema!({ \"x\": now() })", 31, "now"),
        ("generator.subschema_for::<Gone>()", 27, "Gone"),
    ] {
        let beside = format!(
            "#[derive(Serialize, Deserialize, Clone, Debug)] struct In; impl JsonSchema for In {{ fn schema_name() -> std::borrow::Cow<'static, str> {{ \"In\".into() }} fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n{code}\n}} }}"
        );
        let expected = format!("src/main.rs:8:{place}: `{name}` is not found (`Kind` → `spec.a`)");
        check("a: In,", &beside, &expected);
    }
}

#[test]
fn a_body_that_calls_itself_comes_to_an_end() {
    let beside = "fn f(g: &mut schemars::SchemaGenerator) -> schemars::Schema { f(g) }";
    let found = problems(&spec("#[schemars(schema_with = \"f\")] a: i32,", beside));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("it is nested too deep"), "{found:?}");
}

#[test]
fn what_stands_for_a_type_is_said_once() {
    check(
        "#[schemars(with = \"i32\", schema_with = \"f\")] a: i32,",
        "",
        "src/main.rs:5:26: schemars attribute cannot contain both `schema_with` and `with` (`Kind` → `spec`)",
    );
}
