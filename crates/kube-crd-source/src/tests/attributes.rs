//! Attributes of types and fields, and of kube: what is refused, and at which place.

use super::packages::{field, lock, manifest};
use super::{HEAD, SPEC, all_problems, check, crds, files, problems, read_map, schema_of, spec};
use crate::Problem;

/// The schema of a field `a: In` with a default, in a package that depends on serde_with.
fn with_serde_with(types: &str) -> Result<serde_json::Value, Vec<String>> {
    let text = spec("#[serde(default)] a: In,", types).into_values().next().unwrap();
    let dependencies =
        "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nserde_with = \"3\"\n";
    field(&files(&[
        ("Cargo.toml", &manifest("a", dependencies)),
        ("Cargo.lock", &lock(&[(".a", "1.0.0", &["serde_with"]), ("serde_with", "3.0.0", &[])])),
        ("src/main.rs", &text),
    ]))
}

#[test]
fn skip_serializing_none_leaves_options_out_of_defaults() {
    let none_of = |above: &str| {
        let derives =
            "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)] struct In";
        let fields = "{ a: Option<i32>, #[serialize_always] b: (Option<i32>), c: i32 }";
        let schema = with_serde_with(&format!("{above} {derives} {fields}"));
        schema.map(|schema| schema["default"].clone())
    };
    let left_out = Ok(serde_json::json!({ "b": null, "c": 0 }));
    assert_eq!(none_of("#[serde_with::skip_serializing_none]"), left_out);
    assert_eq!(none_of("use serde_with::skip_serializing_none as skip; #[skip]"), left_out);
    // The derives do not see what is added below them.
    let below = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]\n#[serde_with::skip_serializing_none] struct In { a: Option<i32> }";
    let refusal = "src/main.rs:8:1: `#[serde_with::skip_serializing_none]` may change its type (`Kind` → `spec.a`)";
    assert_eq!(with_serde_with(below), Err(vec![refusal.to_owned()]));
}

#[test]
fn attributes_that_may_change_a_type_are_refused() {
    check(
        "a: In,",
        "#[serde_with::serde_as]\n$T struct In;",
        "src/main.rs:7:1: `#[serde_with::serde_as]` may change its type (`Kind` → `spec.a`)",
    );
    check(
        "#[cfg(unix)] a: i32,",
        "",
        "src/main.rs:5:1: whether this exists depends on a `cfg` that only the compiler can evaluate",
    );
    let constants = "#[cfg(false)] a: Unknown, #[cfg(all(true, not(false)))] b: i32, #[cfg_attr(false, cfg(unix))] c: i32, #[cfg_attr(true, serde(default))] d: i32, #[cfg_attr(all(), cfg(any(false)))] e: Unknown,";
    let reading =
        read_map(&spec(constants, "#[cfg(false)] mod gone; #[cfg_attr(false, odd)] mod m {}"));
    assert_eq!(all_problems(&reading), []);
    let schema = schema_of(crds(&reading)[0]);
    let spec_schema = &schema["properties"]["spec"];
    let fields: Vec<&String> = spec_schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["b", "c", "d"]);
    assert_eq!(spec_schema["required"], serde_json::json!(["b", "c"]));
    check(
        "#[cfg_attr(unix, true)] a: i32,",
        "",
        "src/main.rs:5:1: an argument of `cfg_attr` is no attribute",
    );
    check(
        "#[cfg_attr(unix, serde(default))] a: i32,",
        "",
        "src/main.rs:5:18: whether `serde` applies here depends on a `cfg_attr` that only the compiler can evaluate",
    );
    let at = |what: &str| format!("src/main.rs:5:12: {what} (`Kind` → `spec`)");
    check("#[schemars(rangee(min = 1))] a: i32,", "", &at("unknown schemars attribute `rangee`"));
    check(
        "#[schemars(schema_with = \"f\")] a: i32,",
        "",
        "src/main.rs:5:26: `f` is not found (`Kind` → `spec.a`)",
    );
    check(
        "#[schemars(transform = f)] a: i32,",
        "",
        "src/main.rs:5:12: `transform` is not supported (`Kind` → `spec`)",
    );
    check(
        "#[schemars(length(min = 1), length(max = 2))] a: String,",
        "",
        "src/main.rs:5:29: duplicate schemars attribute item `length` (`Kind` → `spec`)",
    );
    check(
        "#[schemars(range(minimum = 1))] a: i32,",
        "",
        "src/main.rs:5:18: unknown item in schemars range attribute: `minimum` (`Kind` → `spec`)",
    );
    check(
        "#[schemars(range(min = f()))] a: i32,",
        "",
        "src/main.rs:5:24: `f` is not found (`Kind` → `spec`)",
    );
    check(
        "#[schemars(range(min = 3000000000))] a: i64,",
        "",
        "src/main.rs:5:24: unsupported expression `3000000000` in an attribute: it does not fit in `i32` (`Kind` → `spec`)",
    );
    check(
        "#[serde(renam = \"b\")] a: i32,",
        "",
        "src/main.rs:5:9: unknown serde field attribute `renam` (`Kind` → `spec`)",
    );
    check(
        "#[x_kube(validation = \"true\")] a: i32,",
        "",
        "src/main.rs:5:1: `x_kube` is read by `#[derive(KubeSchema)]` only (`Kind` → `spec`)",
    );
    check(
        "#[doc = include_str!(\"a\")] a: i32,",
        "",
        "src/main.rs:5:9: unsupported expression `include_str!(\"a\")` in an attribute: the included file `src/a` does not exist (`Kind` → `spec`)",
    );
    check(
        "#[schemars(extend(\"a\" = f(1)))] a: i32,",
        "",
        "src/main.rs:5:25: `f` is not found (`Kind` → `spec`)",
    );
    check(
        "#[schemars(example = \"word\")] a: String,",
        "",
        "src/main.rs:5:22: write `example = &\"word\"`: schemars refuses a bare word (`Kind` → `spec`)",
    );
}

#[test]
fn kube_attributes_are_read_with_care() {
    let kube = |attrs: &str| {
        let text = format!("{HEAD}{SPEC}\n#[kube({attrs})]\npub struct KindSpec {{}}");
        problems(&files(&[("src/main.rs", &text)])).join("\n")
    };
    let all = "group = \"e.com\", version = \"v1\", kind = \"Kind\"";
    assert_eq!(kube(all), "");
    assert_eq!(
        kube("group = \"e.com\", kind = \"Kind\""),
        "src/main.rs:4:12: `#[kube(version = …)]` is missing"
    );
    assert_eq!(
        kube(&format!("{all}, grup = \"a\"")),
        "src/main.rs:3:56: unknown kube attribute `grup`"
    );
    assert_eq!(kube(&format!("{all}, kind = \"B\"")), "src/main.rs:3:56: `kind` is repeated");
    assert_eq!(
        kube(&format!("{all}, plural = PLURAL")),
        "src/main.rs:3:65: `plural` needs a string in quotes"
    );
    assert_eq!(
        kube(&format!("{all}, attr = \"serde_as\"")),
        "src/main.rs:3:63: `serde_as` may change the schema, and is not supported"
    );
    assert_eq!(
        kube(&format!("{all}, attr = \"cfg_attr(any, doc = \\\"x\\\")\"")),
        "src/main.rs:3:63: `cfg_attr(any, doc = \"x\")` may change the schema, and is not supported"
    );
    assert_eq!(
        kube(&format!("{all}, attr = \"serde(default)\"")),
        "src/main.rs:3:63: kube does not accept `serde` in `attr`"
    );
    assert_eq!(
        kube(&format!("{all}, attr = \"x_kube(validation = Rule::new(\\\"true\\\"))\"")),
        "src/main.rs:3:63: kube reads `x_kube` in `attr` only beside `validation` or `cel`"
    );
    assert_eq!(
        kube(&format!("{all}, schema = \"manual\"")),
        "src/main.rs:4:12: `Kind` has no schema of its own"
    );
    assert_eq!(
        kube(&format!("{all}, status = \"Gone\"")),
        "src/main.rs:3:65: `Gone` is not found (`Kind` → `status`)"
    );
    assert_eq!(
        kube("group = \"e.com\", version = \"1\", kind = \"Kind\""),
        "src/main.rs:3:25: version `1` must start with a letter"
    );
    assert_eq!(
        kube(&format!("{all}, printcolumn(name = \"a\", json_path = \".a\")")),
        "src/main.rs:3:56: `printcolumn` needs `name`, `type_` and `json_path`"
    );
    assert_eq!(
        kube(&format!("{all}, validation = f()")),
        "src/main.rs:3:69: `f()` is not a rule that can be read; write `Rule::new(\"…\").message(\"…\")`"
    );
}

#[test]
fn names_that_no_api_server_takes_are_refused_at_their_places() {
    let all = "group = \"e.com\", version = \"v1\", kind = \"Kind\"";
    let label = "must hold only lowercase letters, digits and inner `-`";
    for (item, expected) in [
        (
            "group = \"../x\"",
            "3:8: group `../x` must hold only lowercase letters, digits, and inner `-` and `.`"
                .to_owned(),
        ),
        (
            "group = \"cache\"",
            "3:8: group `cache` must be a domain with at least one dot".to_owned(),
        ),
        ("group = \"\"", "3:8: group `` must be a domain with at least one dot".to_owned()),
        (
            "kind = \"../K\"",
            "3:8: kind `../K` must contain only letters, digits and inner `-`".to_owned(),
        ),
        ("plural = \"a\\\\b\"", format!("3:8: plural `a\\b` {label}")),
        ("plural = \"../x\"", format!("3:8: plural `../x` {label}")),
        ("singular = \"a b\"", format!("3:8: singular `a b` {label}")),
        ("shortname = \"A\"", format!("3:8: shortname `A` {label}")),
        ("category = \"1\"", "3:8: category `1` must start with a letter".to_owned()),
        ("root = \"a b\"", "3:15: `root` must be an identifier".to_owned()),
    ] {
        let said = all.split(", ").filter(|it| it.split(' ').next() != item.split(' ').next());
        let said = [item].into_iter().chain(said).collect::<Vec<_>>().join(", ");
        let text = format!("{HEAD}{SPEC}\n#[kube({said})]\npub struct KindSpec {{}}");
        let found = problems(&files(&[("src/main.rs", &text)]));
        assert_eq!(found, [format!("src/main.rs:{expected}")], "{item}");
    }
}

#[test]
fn keys_that_crds_do_not_have_are_told() {
    let warnings = |body: &str, beside: &str| {
        let reading = read_map(&spec(body, beside));
        assert_eq!(all_problems(&reading), []);
        let told = |it: &Problem| format!("{it}; {}", it.hint.as_deref().unwrap_or_default());
        reading.warnings.iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings(
            "#[schemars(extend(\"x-kubernetes-list-typ\" = \"set\", \"minlength\" = 1))]\n a: Vec<String>, b: In",
            "$T struct In { #[schemars(extend(\"x-kubernetes-validations\" = [{\"rule\": \"true\", \"mesage\": \"no\"}]))] x: Vec<Deep> } \
             $T #[schemars(extend(\"x-kubernetes-nothing-like-it\" = true))] struct Deep { y: i32 }",
        ),
        [
            "src/main.rs:6:2: the key `minlength` is left out: schemas of CRDs do not have it (`Kind` → `spec.a`); did you mean `minLength`?",
            "src/main.rs:6:2: the key `x-kubernetes-list-typ` is left out: schemas of CRDs do not have it (`Kind` → `spec.a`); did you mean `x-kubernetes-list-type`?",
            "src/main.rs:8:158: the key `mesage` is left out: schemas of CRDs do not have it (`Kind` → `spec.b.x`); did you mean `message`?",
            "src/main.rs:8:158: the key `x-kubernetes-nothing-like-it` is left out: schemas of CRDs do not have it (`Kind` → `spec.b.x`); remove it, or correct its name",
        ]
    );
    // A hand-written schema is read as it is built.
    let by_hand = "struct In; impl JsonSchema for In { fn schema_name() -> std::borrow::Cow<'static, str> { \"In\".into() } \
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema { \
        schemars::json_schema!({ \"type\": \"object\", \"x-kubernetes-preserve-unknown-field\": true }) } }";
    assert_eq!(
        warnings("a: In", by_hand),
        [
            "src/main.rs:5:1: the key `x-kubernetes-preserve-unknown-field` is left out: schemas of CRDs do not have it (`Kind` → `spec.a`); did you mean `x-kubernetes-preserve-unknown-fields`?"
        ]
    );
    // Other keys are the business of other tools, and fields and values may have any name.
    assert_eq!(
        warnings(
            "#[schemars(extend(\"x-order\" = 1, \"examples\" = [1], \"deprecated\" = true, \"default\" = {\"minlength\": 1}))]\n a: serde_json::Value, minlength: i32",
            "",
        ),
        [""; 0]
    );
}
