//! k8s-openapi as its source says it is: a small crate in the form that its generator gives it.

use std::rc::Rc;

use super::*;

const CRATE: &[(&str, &str)] = &[
    ("mod.rs", "\npub mod api;\n\nmod list;\npub use self::list::List;\n"),
    ("api/mod.rs", "pub mod v1;\n"),
    (
        "api/v1/mod.rs",
        "\nmod a;\npub use self::a::A;\n\nmod b;\npub use self::b::B;\n\nmod c;\npub use self::c::C;\n\nmod d;\npub use self::d::D;\n\nmod gone;\npub use self::gone::Gone;\n",
    ),
    ("api/v1/a.rs", A),
    ("api/v1/b.rs", B),
    ("api/v1/c.rs", "pub struct C;\n"),
    ("api/v1/d.rs", D),
    ("list.rs", "pub struct List<T> {\n}\n"),
];

const A: &str = r#"#[derive(Clone, Debug, Default, PartialEq)]
pub struct A {
    pub all: std::vec::Vec<std::string::String>,

    pub b: Option<crate::api::v1::B>,

    pub type_: std::string::String,
}

#[cfg(feature = "schemars")]
impl crate::schemars::JsonSchema for A {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "io.k8s.api.v1.A".into()
    }

    fn json_schema(__gen: &mut crate::schemars::SchemaGenerator) -> crate::schemars::Schema {
        crate::schemars::json_schema!({
            "type": "object",
            "properties": {
                "b": ({
                    let mut schema_obj = __gen.subschema_for::<crate::api::v1::B>();
                    schema_obj.ensure_object().insert("description".into(), "A \"b\".".into());
                    schema_obj
                }),
            },
            "required": [
                "type",
            ],
        })
    }
}
"#;

const B: &str = r#"#[derive(Clone, Debug, PartialEq)]
pub struct B(pub std::string::String);

#[cfg(feature = "schemars")]
impl crate::schemars::JsonSchema for B {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "io.k8s.api.v1.B".into()
    }

    fn json_schema(__gen: &mut crate::schemars::SchemaGenerator) -> crate::schemars::Schema {
        crate::schemars::json_schema!({
            "description": "Its own.",
            "type": "string",
        })
    }
}
"#;

const D: &str = r#"pub struct D;

#[cfg(feature = "schemars")]
impl crate::schemars::JsonSchema for D {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "io.k8s.api.v1.D".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(__gen: &mut crate::schemars::SchemaGenerator) -> crate::schemars::Schema {
        crate::schemars::json_schema!({
            "type": "string",
        })
    }
}
"#;

/// The problems of a spec and its schema.
fn read_with(body: &str, beside: &str) -> (Vec<String>, serde_json::Value) {
    let mut problems = Vec::new();
    let kubernetes = Kubernetes::from_source(
        "v1_99",
        Rc::new(|path| {
            let path = path.strip_prefix("src/v1_99/")?;
            CRATE.iter().find(|(it, _)| *it == path).map(|(_, text)| (*text).to_owned())
        }),
    );
    let types = types_of(&spec(body, beside), Some(kubernetes), &mut problems);
    let mut schema = serde_json::Value::Null;
    for (_, crd) in
        schema::read_kinds(&Rc::new(types), None, schema::DeclaredKinds::default()).kinds
    {
        match crd {
            Ok(crd) => schema = schema_of(&crd),
            Err(more) => problems.extend(more),
        }
    }
    (
        problems.iter().map(ToString::to_string).collect(),
        schema.pointer("/properties/spec/properties").cloned().unwrap_or_default(),
    )
}

#[test]
fn a_type_is_what_its_source_says() {
    let a = serde_json::json!({
        "type": "object",
        "properties": { "b": { "type": "string", "description": "A \"b\"." } },
        "required": ["type"],
    });
    let body = "a: k8s_openapi::api::v1::A,";
    assert_eq!(read_with(body, ""), (Vec::new(), serde_json::json!({ "a": a })));
    let glob = read_with("a: A,", "use k8s_openapi::api::v1::*;");
    assert_eq!(glob, (Vec::new(), serde_json::json!({ "a": a })));
}

#[test]
fn defaults_of_a_source_that_is_not_linked_are_refused() {
    let refused = |body: &str, beside: &str, expected: &str| {
        let (problems, _) = read_with(body, beside);
        assert_eq!(problems, [format!("src/main.rs:{expected} (`Kind` → `spec.a`)")]);
    };
    let a = "k8s_openapi::api::v1::A";
    refused(
        &format!("#[serde(default)] a: {a},"),
        "",
        &format!(
            "5:22: unsupported expression `{a}` in a default: the default of `A` is not known"
        ),
    );
    refused(
        &format!("#[serde(default = \"f\")] a: {a},"),
        &format!("fn f() -> {a} {{ {a} {{ b: None, type_: String::new() }} }}"),
        &format!("7:37: unsupported expression `{a}{{b:None, type_:String::new()}}` in a default"),
    );
}

#[test]
fn a_type_that_its_source_does_not_say_is_refused() {
    let check = |ty: &str, expected: &str| {
        let (problems, _) = read_with(&format!("a: k8s_openapi::{ty},"), "");
        let expected =
            format!("src/main.rs:5:4: `k8s_openapi::{ty}` {expected} (`Kind` → `spec.a`)");
        assert_eq!(problems, [expected]);
    };
    check(
        "api::v1::X",
        "is `k8s_openapi::api::v1::X`, which k8s-openapi does not have at this version and feature",
    );
    check(
        "api::v2::X",
        "is `k8s_openapi::api::v2::X`, which k8s-openapi does not have at this version and feature",
    );
    check("api::v1::C", "is `k8s_openapi::api::v1::C`, which has no schema");
    check("ByteString", "is `k8s_openapi::ByteString`, which has no schema");
    check("List<i32>", "is `k8s_openapi::List`, which has no schema");
    check("api::v1::A<i32>", "takes no type arguments");
    check(
        "api::v1::Gone",
        "is `k8s_openapi::api::v1::Gone`, but k8s-openapi's src/v1_99/api/v1/gone.rs cannot be read: the file is missing, or differs from the published one",
    );
    check(
        "api::v1::D",
        "is `k8s_openapi::api::v1::D`, but k8s-openapi's src/v1_99/api/v1/d.rs cannot be read: `fn inline_schema() -> bool {` is not expected there",
    );
}

#[test]
fn a_version_that_only_sources_elsewhere_may_choose_is_not_said_to_be_missing() {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: Option<k8s_openapi::api::core::v1::Pod> }}");
    let found = |features: &str, beside: &[(&str, &str)]| {
        let dependencies = format!(
            "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nk8s-openapi = {{ version = \"0.29\", features = [{features}] }}\n"
        );
        let manifest = packages::manifest("a", &dependencies);
        let lock = packages::lock(&[(".a", "1.0.0", &[])]);
        let mut project =
            files(&[("Cargo.toml", &manifest), ("Cargo.lock", &lock), ("src/lib.rs", &spec)]);
        project.extend(files(beside));
        problems(&project)
    };
    let absent = "the source of `k8s-openapi` 0.29.0, which may choose the version of Kubernetes, is not on this machine";
    let check = |features: &str, beside: &[(&str, &str)], message: &str| {
        let problems = found(features, beside);
        assert!(problems.iter().any(|it| it.contains(message)), "{features}: {problems:?}");
    };
    check("\"latest\"", &[], absent);
    let manifest = "[package]\nname = \"k8s-openapi\"\nversion = \"0.29.0\"\n[features]\nlatest = [\"v1_34\"]\nv1_34 = []\n";
    let here = [("cargo/k8s-openapi-0.29.0/Cargo.toml", manifest)];
    check("", &here, "no feature of `k8s-openapi` 0.29.0 chooses a version of Kubernetes");
    check("\"latest\"", &here, "src/v1_34/mod.rs cannot be read");
    let hint = "restore the crate: with `cargo vendor` if it is vendored, or by removing its directory below `registry/src` of cargo's folder and `cargo fetch`";
    assert_eq!(crate::builtin::kubernetes::RESTORE, hint);
}
