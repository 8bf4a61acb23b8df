//! What a reading says of kinds and of the workspace as a whole.

use super::packages::{lock, manifest};
use super::*;

/// A kind of this name, with these fields.
fn kind(name: &str, fields: &str) -> String {
    let attribute =
        format!("#[kube(group = \"example.com\", version = \"v1\", kind = \"{name}\")]");
    format!("{SPEC}\n{attribute}\npub struct {name}Spec {{ {fields} }}\n")
}

/// A package with two kinds, one of which cannot be read.
fn package(locked: Option<&str>) -> BTreeMap<SourcePath, String> {
    let text = format!("{HEAD}{}{}", kind("Fine", "a: i32"), kind("Broken", "a: Gone"));
    let needs = "[dependencies]\nkube = \"*\"\nschemars = \"*\"\nserde = \"1\"\n";
    let mut res = files(&[("Cargo.toml", &manifest("a", needs)), ("src/lib.rs", &text)]);
    res.extend(locked.map(|it| (SourcePath::fixed("Cargo.lock"), it.to_owned())));
    res
}

/// The problems of each kind.
fn of_each(reading: &Reading) -> Vec<(&str, Vec<String>)> {
    let each = |it: &Problem| it.to_string();
    let own = |it: &Kind| it.crd.as_ref().err().into_iter().flatten().map(each).collect();
    reading.kinds.iter().map(|it| (it.name.as_str(), own(it))).collect()
}

#[test]
fn a_problem_of_the_whole_workspace_withholds_every_kind() {
    let broken = "src/lib.rs:7:28: `Gone` is not found (`Broken` → `spec.a`)".to_owned();
    let check = |locked: Option<String>, expected: &[&str]| {
        let reading = read(&package(locked.as_deref()), &Options::default());
        let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
        let problems: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems, expected);
        let of_broken = if expected.is_empty() { vec![broken.clone()] } else { expected.clone() };
        assert_eq!(of_each(&reading), [("Fine", expected), ("Broken", of_broken)]);
    };
    let kube = |version: &'static str| {
        let needs = ["kube-core", "kube-derive"];
        let kube = [
            ("kube", version, &needs[..]),
            ("kube-core", version, &[]),
            ("kube-derive", version, &[]),
        ];
        lock(&[&[(".a", "1.0.0", &["kube"][..])], &kube[..]].concat())
    };
    check(Some(kube("5.0.0")), &[]);
    check(
        None,
        &[
            "Cargo.toml:1:1: there is no Cargo.lock: it is unknown which versions of kube and schemars generate the CRDs",
        ],
    );
    check(
        Some(kube("1.1.0")),
        &[
            "Cargo.lock:26:1: `kube-core` 1.1.0 is locked, and versions before 2.0.0 are not supported",
        ],
    );
    let from = "name = \"kube-core\"\nversion = \"5.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let to =
        "name = \"kube-core\"\nversion = \"5.0.0\"\nsource = \"git+https://example.com/kube#1\"";
    let patched = kube("5.0.0").replace(from, to);
    assert!(patched.contains(to), "{patched}");
    check(
        Some(patched),
        &["Cargo.lock:27:1: `kube-core` is not the published crate, and its output is not known"],
    );
}

#[test]
fn if_a_file_of_cargo_does_not_parse_only_that_is_reported() {
    let check = |name: &str, line: &str, expected: &str| {
        let mut files = package(None);
        let text = files.entry(SourcePath::fixed(name)).or_default();
        *text = format!("{line}\n{text}");
        let reading = read(&files, &Options::default());
        let problems: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems, [expected]);
        let kinds = of_each(&reading);
        assert!(kinds.iter().all(|it| it.1 == [expected]), "{kinds:?}");
    };
    check(
        "Cargo.lock",
        "<<<<<<< ours",
        "Cargo.lock:1:1: the file has an unresolved merge conflict",
    );
    check(
        "Cargo.toml",
        "<<<<<<< ours",
        "Cargo.toml:1:1: the file has an unresolved merge conflict",
    );
}

#[test]
fn every_kind_has_its_own_problems() {
    let text = format!(
        "{HEAD}{}{}{TYPE} struct In {{ x: Gone }} struct Bare;",
        kind("One", "a: In, b: Bare"),
        kind("Two", "c: In, d: Vec<Bare>")
    );
    let problems = |kind: &str, a: &str, b: &str| {
        vec![
            format!("src/main.rs:8:76: `Gone` is not found (`{kind}` → `spec.{a}.x`)"),
            format!(
                "src/main.rs:8:90: `Bare` does not derive `JsonSchema` (`{kind}` → `spec.{b}`)"
            ),
        ]
    };
    let reading = read_map(&files(&[("src/main.rs", &text)]));
    assert_eq!(
        of_each(&reading),
        [("One", problems("One", "a", "b")), ("Two", problems("Two", "c", "d"))]
    );
}

#[test]
fn a_kind_says_what_of_its_attribute_can_be_read() {
    let said = |attribute: &str| {
        let text = format!("{HEAD}{SPEC}\n{attribute}\npub struct ASpec {{}}");
        let reading = read_map(&files(&[("src/lib.rs", &text)]));
        let it = &reading.kinds[0];
        let text = |it: &Option<String>| it.clone().unwrap_or("-".to_owned());
        let (group, version, kind) = (text(&it.group), text(&it.version), text(&it.kind));
        let (name, certain, storage) = (&it.name, it.is_certain, it.storage);
        format!("{group} {version} {kind} {name} {certain} {storage:?} {}", it.crd.is_ok())
    };
    let whole = "group = \"e.com\", version = \"v1\", kind = \"A\"";
    assert_eq!(said(&format!("#[kube({whole})]")), "e.com v1 A A true Unsaid true");
    assert_eq!(
        said(&format!("#[kube({whole}, storage = false, root = \"R\")]")),
        "e.com v1 A R true No true"
    );
    assert_eq!(said(&format!("#[kube({whole}, other)]")), "e.com v1 A A true Unsaid false");
    assert_eq!(said("#[kube(version = \"v1\")]"), "- v1 - ASpec false Unsaid false");
    assert_eq!(
        said(&format!("#[cfg_attr(not(feature = \"x\"), kube({whole}, storage))]")),
        "e.com v1 A A false Yes true"
    );
}

#[test]
fn a_feature_that_another_member_turns_on_is_named_where_it_changes_a_crd() {
    let warnings = |field: &str, features: &str| {
        let code = format!("{HEAD}{}", kind("One", field));
        let api = "[features]\nwide = []\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";
        let tool = format!("[dependencies]\napi = {{ path = \"../api\"{features} }}\n");
        let project = files(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"api\", \"tool\"]\nresolver = \"3\"\n"),
            ("api/Cargo.toml", &manifest("api", api)),
            ("api/src/lib.rs", &code),
            ("tool/Cargo.toml", &manifest("tool", &tool)),
            ("tool/src/main.rs", "fn main() {}"),
            ("Cargo.lock", &lock(&[(".api", "1.0.0", &[]), (".tool", "1.0.0", &["api"])])),
        ]);
        let reading = read(&project, &Options::default());
        assert_eq!((all_problems(&reading), reading.kinds.len()), (vec![], 1));
        reading.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let wide = ", features = [\"wide\"]";
    let depends = "#[cfg(feature = \"wide\")] a: i32";
    assert_eq!(
        warnings(depends, wide),
        [
            "api/src/lib.rs:4:12: the CRD of `One` depends on the feature `wide` of `api`, which only `tool` turns on"
        ]
    );
    assert_eq!(warnings("a: i32", wide), [""; 0]);
    assert_eq!(warnings(depends, ""), [""; 0]);
}

#[test]
fn a_struct_under_a_condition_that_is_no_kind_is_left_alone() {
    let beside = "#[cfg_attr(feature = \"x\", derive(Debug))] struct Config { #[cfg(debug_assertions)] t: bool }";
    let text = format!("{HEAD}{}{beside}", kind("One", "a: i32"));
    let reading = read_map(&files(&[("src/main.rs", &text)]));
    assert_eq!(of_each(&reading), [("One", vec![])]);
}
