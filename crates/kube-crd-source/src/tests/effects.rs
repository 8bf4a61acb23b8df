//! Attributes that leave nothing in the CRD, and fields that serde writes as `null`.

use super::{all_problems, read_map, spec};

/// The warnings of a spec that is read, without their places.
fn warnings(body: &str, beside: &str) -> Vec<String> {
    let reading = read_map(&spec(body, beside));
    assert_eq!(all_problems(&reading), []);
    let text = |it: &crate::Problem| format!("{it}; {}", it.hint.as_deref().unwrap_or_default());
    reading.warnings.iter().map(text).collect()
}

#[test]
fn an_attribute_without_effect_is_told_with_the_one_that_works() {
    let cases = [
        (
            "#[schemars(length(min = 1, max = 5))] a: std::collections::BTreeMap<String, String>,",
            "",
        ),
        ("#[schemars(length(max = 5))] a: i32,", ""),
        ("#[schemars(range(min = 1))] a: Option<String>,", ""),
        ("#[schemars(range(max = 3))] a: Vec<i32>,", ""),
        ("#[schemars(regex(pattern = \"^a\"))] a: Vec<String>,", ""),
        ("#[schemars(inner(length(min = 1)))] a: String,", ""),
        ("#[schemars(inner(length(min = 1)))] a: Vec<i32>,", ""),
        ("#[garde(length(equal = 3))] a: bool,", ""),
        ("#[schemars(length(min = 1))] a: Option<In>,", "$T enum In { A { b: i32 } }"),
        ("#[serde(default)] #[schemars(required)] a: Option<i32>,", ""),
        ("#[schemars(example = 3)] a: i32,", ""),
        ("#[serde(flatten)] #[validate(length(min = 1))] a: In,", "$T struct In { b: i32 }"),
    ];
    let found: Vec<_> = cases.iter().flat_map(|(body, beside)| warnings(body, beside)).collect();
    let expected = [
        "src/main.rs:5:12: `length` leaves nothing in the CRD: it limits strings and lists, and this is a map (`Kind` → `spec.a`); use `#[schemars(extend(\"minProperties\" = 1, \"maxProperties\" = 5))]`",
        "src/main.rs:5:12: `length` leaves nothing in the CRD: it limits strings and lists, and this is a number (`Kind` → `spec.a`); use `#[schemars(range(max = 5))]`",
        "src/main.rs:5:12: `range` leaves nothing in the CRD: it limits numbers, and this is a string (`Kind` → `spec.a`); use `#[schemars(length(…))]` or `#[schemars(regex(pattern = …))]`",
        "src/main.rs:5:12: `range` leaves nothing in the CRD: it limits numbers, and this is a list (`Kind` → `spec.a`); use `#[schemars(length(max = 3))]`",
        "src/main.rs:5:12: `regex` leaves nothing in the CRD: it limits strings, and this is a list (`Kind` → `spec.a`); use `#[schemars(inner(regex(pattern = \"^a\")))]`",
        "src/main.rs:5:12: `inner` leaves nothing in the CRD: it limits the items of lists, and this is a string (`Kind` → `spec.a`); remove it, or write a CEL rule with `#[x_kube(validation = …)]` and `#[derive(KubeSchema)]`",
        "src/main.rs:5:18: `length` leaves nothing in the CRD: it limits strings and lists, and this is a number (`Kind` → `spec.a`); use `#[schemars(range(min = 1))]`",
        "src/main.rs:5:9: `length` leaves nothing in the CRD: it limits strings and lists, and this is a bool (`Kind` → `spec.a`); remove it, or write a CEL rule with `#[x_kube(validation = …)]` and `#[derive(KubeSchema)]`",
        "src/main.rs:5:12: `length` leaves nothing in the CRD: it limits strings and lists, and this is of no single type (`Kind` → `spec.a`); remove it, or write a CEL rule with `#[x_kube(validation = …)]` and `#[derive(KubeSchema)]`",
        "src/main.rs:5:30: `required` does not make the field required: one with a default is optional (`Kind` → `spec.a`); remove `#[serde(default)]`, or remove `required`",
        "src/main.rs:5:12: `example` leaves nothing in the CRD: CRDs have the keyword `example`, and schemars writes `examples` (`Kind` → `spec.a`); use `#[schemars(extend(\"example\" = 3))]`",
        "src/main.rs:5:30: `length` leaves nothing in the CRD: the field is flattened (`Kind` → `spec`); put it on the fields of the flattened type",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_limit_that_repeats_the_schema_or_narrows_it_is_none_of_these() {
    for body in [
        "#[schemars(range(min = 0))] a: u32,",
        "#[schemars(length(min = 1))] a: Option<Vec<String>>,",
        "#[schemars(length(max = 9), regex(pattern = \"a\"))] a: String,",
        "#[schemars(inner(range(max = 9)))] a: Vec<i32>,",
        "#[schemars(inner(inner(length(max = 9))))] a: Vec<Vec<String>>,",
        "#[schemars(required)] a: Option<i32>,",
        "#[schemars(email)] a: String,",
        "#[schemars(extend(\"maxProperties\" = 5))] a: std::collections::BTreeMap<String, String>,",
    ] {
        assert_eq!(warnings(body, ""), [""; 0], "{body}");
    }
}

#[test]
fn fields_that_serde_writes_as_null_are_known() {
    let nulls = |body: &str, beside: &str| {
        let reading = read_map(&spec(body, beside));
        assert_eq!(all_problems(&reading), []);
        let names = reading.kinds[0].null_fields.iter().map(|path| path.join("."));
        names.collect::<Vec<_>>()
    };
    assert_eq!(nulls("a: Option<i32>, b: i32, c: Box<Option<i32>>,", ""), ["spec.a", "spec.c"]);
    assert_eq!(nulls("a: Vec<In>,", "$T struct In { b: Option<String> }"), ["spec.a.b"]);
    assert_eq!(nulls("#[schemars(with = \"String\")] a: Option<i32>,", ""), ["spec.a"]);
    let variants = |tag: &str| format!("{tag} $T enum In {{ A {{ b: Option<i32> }} }}");
    assert_eq!(nulls("a: In,", &variants("")), ["spec.a.A.b"]);
    assert_eq!(nulls("a: In,", &variants("#[serde(tag = \"t\")]")), ["spec.a.b"]);
    assert_eq!(nulls("a: In,", &variants("#[serde(untagged)]")), ["spec.a.b"]);
    assert_eq!(
        nulls("a: In,", &variants("#[serde(tag = \"t\", content = \"c\")]")),
        ["spec.a.c.b"]
    );
    for body in [
        "#[serde(skip_serializing_if = \"Option::is_none\")] a: Option<i32>,",
        "#[serde(skip_serializing)] a: Option<i32>,",
        "#[serde(serialize_with = \"f\")] a: Option<i32>,",
    ] {
        assert_eq!(nulls(body, ""), [""; 0], "{body}");
    }
    let by_hand = "#[derive(JsonSchema, Deserialize, Clone, Debug)] struct In { b: Option<String> } \
                   impl Serialize for In {}";
    assert_eq!(nulls("a: In,", by_hand), [""; 0]);
}

#[test]
fn the_type_that_reads_a_field_is_known_through_lists_and_newtypes() {
    let unreadable = |body: &str, beside: &str| {
        let reading = read_map(&spec(body, beside));
        assert_eq!(all_problems(&reading), []);
        let all = reading.kinds[0].unreadable.iter();
        let each = all.map(|(path, unread)| format!("{} {}", path.join("."), unread.type_path));
        each.collect::<Vec<_>>()
    };
    let duration = ["spec.a kube_core::Duration"];
    assert_eq!(unreadable("a: Option<kube::core::Duration>,", ""), duration);
    assert_eq!(unreadable("a: Vec<Vec<kube::core::Duration>>,", ""), duration);
    let map = "a: std::collections::BTreeMap<String, kube::core::Duration>,";
    assert_eq!(unreadable(map, ""), duration);
    assert_eq!(unreadable("a: In,", "$T struct In(kube::core::Duration);"), duration);
    let transparent = "$T #[serde(transparent)] struct In { b: kube::core::Duration }";
    assert_eq!(unreadable("a: In,", transparent), duration);
    let nested = "$T struct In { b: kube::core::Duration }";
    assert_eq!(unreadable("a: In,", nested), ["spec.a.b kube_core::Duration"]);
    assert_eq!(unreadable("a: serde_json::Value,", ""), [""; 0]);
    // A type that is not read needs no schema.
    let unread = "a: std::marker::PhantomData<In>,";
    assert_eq!(unreadable(unread, "struct In;"), [""; 0]);
    // A function reads the field, or another type may read it.
    let with = "#[serde(deserialize_with = \"read\")] a: kube::core::Duration,";
    assert_eq!(unreadable(with, ""), [""; 0]);
    let text = "$T #[serde(try_from = \"String\")] struct In { b: kube::core::Duration }";
    assert_eq!(unreadable("a: In,", text), [""; 0]);
    let either = "$T #[serde(untagged)] enum In { A { b: kube::core::Duration }, B { b: String } }";
    assert_eq!(unreadable("a: In,", either), [""; 0]);
}

#[test]
fn values_that_a_type_cannot_read_are_tried() {
    let reading = read_map(&spec("a: std::net::IpAddr, b: u32, c: std::num::NonZeroI64,", ""));
    assert_eq!(all_problems(&reading), []);
    let of_field = |name: &str| {
        let path = ["spec", name].map(str::to_owned);
        let values = &reading.kinds[0].unreadable[&path[..]].values;
        values.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of_field("a")[..2], ["\"soon\"", "\"1\""]);
    let numbers = |name: &str| of_field(name).into_iter().filter(|value| !value.contains('"'));
    let expected = ["-1", "-300", "-70000", "5000000000", "-5000000000"];
    assert_eq!(numbers("b").collect::<Vec<_>>(), expected);
    assert_eq!(numbers("c").collect::<Vec<_>>(), ["0"]);
}
