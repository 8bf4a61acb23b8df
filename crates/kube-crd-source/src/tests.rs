mod attribute_effects;
mod attributes;
mod automod;
mod blocks;
mod bounds;
mod config;
mod constructs;
mod crates;
mod effects;
mod face;
mod files_read;
mod generics;
mod graphs;
mod kubernetes;
mod wrong;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::*;
use crate::builtin::kubernetes::Kubernetes;

mod hidden_files;
mod hostile;
mod inherent;
mod lock_check;
mod locked;
mod macros;
mod modules;
mod names;
mod packages;
mod traits;
mod unparsed;
mod validation;
mod values;
mod written;
mod written_impls;

/// The code in front of every case.
const HEAD: &str = "use kube::{CustomResource, KubeSchema}; use schemars::JsonSchema; use serde::{Deserialize, Serialize};\n";
const KIND: &str =
    "#[kube(group = \"example.com\", version = \"v1\", kind = \"Kind\")]\npub struct KindSpec";
const SPEC: &str = "#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]";
const TYPE: &str = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]";

fn files(code: &[(&str, &str)]) -> BTreeMap<SourcePath, String> {
    code.iter().map(|(path, text)| (SourcePath::fixed(path), (*text).to_owned())).collect()
}

/// The kinds that a project in a map declares.
fn read_map(files: &BTreeMap<SourcePath, String>) -> Reading {
    let mut files = files.clone();
    // What is locked is nothing that these tests are about, unless they say so.
    let locked = packages::lock_of(&files);
    files.entry(SourcePath::fixed("Cargo.lock")).or_insert(locked);
    crate::stack::with_room(|| read(&files, &Options::default()))
}

/// The CRDs that were read.
fn crds(reading: &Reading) -> Vec<&CustomResourceDefinition> {
    reading.kinds.iter().filter_map(|it| it.crd.as_ref().ok()).collect()
}

/// The schema of a CRD of one version.
fn schema_of(crd: &CustomResourceDefinition) -> serde_json::Value {
    let schema = crd.spec.versions[0].schema.as_ref();
    let schema = schema.and_then(|it| it.open_api_v3_schema.as_ref());
    schema.map(|it| serde_json::to_value(it).expect("a schema is plain data")).unwrap_or_default()
}

/// Everything that is wrong, whatever it is wrong with.
fn all_problems(reading: &Reading) -> Vec<Problem> {
    let own = reading.kinds.iter().filter_map(|it| it.crd.as_ref().err()).flatten();
    let mut res: Vec<Problem> =
        own.chain(&reading.problems).chain(&reading.unexplored).cloned().collect();
    res.sort();
    res.dedup();
    res
}

fn problems(files: &BTreeMap<SourcePath, String>) -> Vec<String> {
    let reading = read_map(files);
    let problems = all_problems(&reading);
    if problems.is_empty() {
        assert!(!crds(&reading).is_empty(), "nothing was read, and nothing said");
    }
    problems.iter().map(ToString::to_string).collect()
}

/// A spec with this body, and code beside it.
fn spec(body: &str, beside: &str) -> BTreeMap<SourcePath, String> {
    let beside = beside.replace("$T", TYPE);
    let text = format!("{HEAD}{SPEC}\n{KIND} {{\n{body}\n}}\n{beside}");
    files(&[("src/main.rs", &text)])
}

/// The one problem of a spec. The body starts on line 5.
#[track_caller]
fn check(body: &str, beside: &str, expected: &str) {
    assert_eq!(problems(&spec(body, beside)), [expected], "{body}\n{beside}");
}

#[test]
fn what_is_read_is_read_without_a_word() {
    let none: [&str; 0] = [];
    assert_eq!(problems(&spec("a: i32, b: Vec<Option<In>>", "$T struct In { x: String }")), none);
}

#[test]
fn types_that_cannot_be_read_are_refused_with_the_way_to_them() {
    check("a: T,", "", "src/main.rs:5:4: `T` is not found (`Kind` → `spec.a`)");
    check(
        "a: In,",
        "$T struct In { x: Vec<Unknown> }",
        "src/main.rs:7:80: `Unknown` is not found (`Kind` → `spec.a.x`)",
    );
    check(
        "a: other::Thing,",
        "",
        "src/main.rs:5:4: `other::Thing` is not found (`Kind` → `spec.a`)",
    );
    check(
        "a: serde_json::Thing,",
        "",
        "src/main.rs:5:4: `serde_json::Thing` is `serde_json::Thing`, whose schema is not known (`Kind` → `spec.a`)",
    );
    check(
        "a: k8s_openapi::ByteString,",
        "",
        "src/main.rs:5:4: `k8s_openapi::ByteString` is `k8s_openapi::ByteString`, whose schema is not known (`Kind` → `spec.a`)",
    );
    check(
        "a: <In as Has>::It,",
        "$T struct In;",
        "src/main.rs:5:4: `<In as Has>::It` is an associated type, which is not supported (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "struct In; impl JsonSchema for In {}",
        "src/main.rs:7:32: this `impl JsonSchema` lacks `schema_name` (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "struct In;",
        "src/main.rs:7:8: `In` does not derive `JsonSchema` (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "trait In {}",
        "src/main.rs:5:4: `In` is a trait, which has no schema (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "type In = Vec<In>;",
        "src/main.rs:7:11: `Vec<In>` is an alias that leads to itself (`Kind` → `spec.a`)",
    );
    check(
        "a: [i32; N],",
        "",
        "src/main.rs:5:4: `[i32;N]` has a length that is not a number or a constant (`Kind` → `spec.a`)",
    );
    check("a: fn(),", "", "src/main.rs:5:4: `fn()` is an unsupported type (`Kind` → `spec.a`)");
}

#[test]
fn names_that_something_unseen_may_define_are_refused() {
    check(
        "a: String,",
        "use other::prelude::*;",
        "src/main.rs:5:4: `String` cannot be resolved with certainty: `use other::prelude::*` is not found, and may import it (`Kind` → `spec.a`)",
    );
    check(
        "a: String,",
        "use kube::elsewhere::*;",
        "src/main.rs:5:4: `String` cannot be resolved with certainty: `use kube::elsewhere::*` may import another `String` (`Kind` → `spec.a`)",
    );
    check(
        "a: i32,",
        "make_types! { String }",
        "src/main.rs:5:4: `i32` cannot be resolved with certainty: `make_types!` at src/main.rs:7:1 may define it (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "mod one { #[derive(Clone)] pub struct In; } mod two { pub struct In; } use one::*; use two::*;",
        "src/main.rs:5:4: `In` cannot be resolved with certainty: more than one `use …::*` in src/main.rs imports it (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "#[cfg(unix)] $T struct In;",
        "src/main.rs:5:4: `In` cannot be resolved with certainty: whether src/main.rs defines it depends on a `cfg` (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "#[derive(other::JsonSchema)] struct In;",
        "src/main.rs:7:10: `other::JsonSchema` may not be `schemars::JsonSchema` (`Kind` → `spec.a`)",
    );
    check(
        "a: In,",
        "mod hidden { #[derive(Clone)] struct In; } use hidden::In;",
        "src/main.rs:5:4: `In` is not found (`Kind` → `spec.a`)",
    );
}

#[test]
fn schemas_over_which_kube_panics_are_told() {
    let tagged = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)] #[serde(tag = \"t\")] enum In { A { x: i32 }, B { y: i32 } }";
    let found = problems(&spec("a: In,", tagged));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0],
        "src/main.rs:4:12: kube panics on this schema: the property `t` has different schemas in subschemas, such as the variants of an enum"
    );
    let found = problems(&spec(
        "a: std::collections::BTreeMap<String, In>,",
        "$T struct In { x: serde_json::Value }",
    ));
    assert!(found[0].contains("kube panics on this schema: valid JSONSchemaProps"), "{found:?}");
}

#[test]
fn a_file_that_does_not_parse_is_told_and_the_rest_is_read() {
    let good = format!("mod bad; mod gone;\n{HEAD}{SPEC}\n{KIND} {{ a: i32 }}");
    let reading = read_map(&files(&[("src/main.rs", &good), ("src/bad.rs", "pub struct {\n")]));
    let problems: Vec<String> = reading.unexplored.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("src/bad.rs:1:12: cannot be parsed"), "{problems:?}");
    assert_eq!(problems[1], "src/main.rs:1:14: module `gone` has no file");
    assert_eq!((crds(&reading).len(), reading.problems), (1, vec![]));
}

#[test]
fn a_kind_is_named_by_the_path_of_its_definition() {
    let kind = |kind: &str| {
        format!(
            "{SPEC}\n#[kube(group = \"g\", version = \"v1\", kind = \"{kind}\")]\npub struct {kind}Spec {{}}\n"
        )
    };
    let text = format!(
        "{HEAD}pub mod open {{ {HEAD}{} }}\nmod shut {{ {HEAD}{}{} mod deep {{ {HEAD}{} }} }}\npub use shut::Shown;\n",
        kind("Open"),
        kind("Shown"),
        kind("Kept"),
        kind("Hidden"),
    );
    let reading = read_map(&files(&[("src/lib.rs", &text)]));
    let paths = reading.kinds.iter().map(|it| &it.rust_path);
    let found: Vec<String> = paths.map(|it| it.path.join("::")).collect();
    let expected = ["open::Open", "shut::Shown", "shut::Kept", "shut::deep::Hidden"];
    assert_eq!(found, expected);
}

#[test]
fn names_over_which_serde_panics_are_refused() {
    for (name, rule) in [("Ünit", "camelCase"), ("Ünit", "snake_case")] {
        let beside = format!("$T #[serde(rename_all = \"{rule}\")] enum In {{ {name}, Other }}");
        let found = problems(&spec("a: In,", &beside));
        match rule {
            "camelCase" => assert_eq!(
                found,
                [
                    "src/main.rs:7:101: serde's derive panics over a name in `In`: rename it by hand (`Kind` → `spec.a`)"
                ]
            ),
            _ => assert_eq!(found, [""; 0]),
        }
    }
}

/// The types of a project in a map.
fn types_of(
    files: &BTreeMap<SourcePath, String>,
    kubernetes: Option<Kubernetes>,
    problems: &mut Vec<Problem>,
) -> Types {
    let texts = Texts::new(files);
    let members = cargo::read_members(&texts, problems);
    let options = Options::default();
    let packages = Packages::new(&texts, &members, &options, problems);
    let world = load_world(&packages, &members, true, problems);
    let names = Names::new(world, kubernetes.unwrap_or_default());
    Types::new(names, versions::behaviour(&packages), versions::keeps_order(&packages))
}
