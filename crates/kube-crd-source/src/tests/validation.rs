//! What narrows the values of a field, where it is wrong: in the words of schemars' own derive.

use super::*;

#[track_caller]
fn attribute(attribute: &str, expected: &str) {
    let expected = format!("src/main.rs:5:{expected} (`Kind` → `spec`)");
    check(&format!("#[{attribute}] a: String,"), "", &expected);
}

#[test]
fn what_schemars_refuses_is_refused() {
    attribute("schemars(email, email)", "19: duplicate schemars attribute item `email`");
    attribute(
        "schemars(email, url)",
        "19: schemars attribute cannot contain both `url` and `email`",
    );
    attribute("schemars(email = 1)", "12: unexpected value of schemars email attribute item");
    attribute(
        "schemars(length(min = 1, equal = 2))",
        "28: schemars attribute cannot contain both `equal` and `min`",
    );
    attribute(
        "schemars(range = 1)",
        "12: expected schemars range attribute item to be of the form `range(...)`",
    );
    attribute(
        "schemars(regex(path = x))",
        "18: `path` is not supported in `schemars(regex(...))` attribute",
    );
    attribute(
        "validate(regex(pattern = x))",
        "18: `pattern` is not supported in `validate(regex(...))` attribute",
    );
    attribute(
        "schemars(pattern(\"a\"), regex(pattern = \"b\"))",
        "26: schemars attribute cannot contain both `regex` and `pattern`",
    );
    attribute("schemars(inner(nothing))", "18: unknown schemars attribute `nothing`");
    attribute("garde(email = 1)", "9: unexpected value of garde email attribute item");
    attribute(
        "schemars(contains(other = 1))",
        "21: unknown item in schemars `contains` attribute: `other`",
    );
}

#[test]
fn what_only_others_attributes_say_twice_is_left_as_it_is() {
    let body = "#[schemars(length(min = 1))] #[validate(length(min = 2), custom(function = \"f\"), nested)] #[garde(length(chars, max = 3), dive, pattern(\"x\"), contains(\"y\"))] a: String,";
    assert_eq!(problems(&spec(body, "")), [""; 0]);
}
