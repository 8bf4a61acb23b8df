use std::collections::BTreeMap;

use super::*;
use crate::cargo::{Options, Published};
use crate::text::SourcePath;
use crate::text::sources::Texts;

fn check(lock: &str, expected: &[&str]) {
    let found: Vec<String> = locked(lock, super::check).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

fn package(name: &str, version: &str) -> String {
    package_from("registry+https://github.com/rust-lang/crates.io-index", name, version)
}

fn package_from(source: &str, name: &str, version: &str) -> String {
    let checksum = Published::find(name, version).map(|published| published.checksum);
    package_with(source, name, version, checksum)
}

fn package_with(source: &str, name: &str, version: &str, checksum: Option<&str>) -> String {
    let checksum = checksum.map(|it| format!("checksum = \"{it}\"\n")).unwrap_or_default();
    format!(
        "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\n{checksum}\n"
    )
}

fn of(lock: &str) -> Behaviour {
    locked(lock, behaviour)
}

/// What is found of the packages of a lock file, with no Cargo.toml beside it.
fn locked<T>(lock: &str, find: fn(&Packages<'_>) -> T) -> T {
    let files = BTreeMap::from([(SourcePath::fixed("Cargo.lock"), lock.to_owned())]);
    let (texts, options) = (Texts::new(&files), Options::default());
    find(&Packages::new(&texts, &BTreeMap::new(), &options, &mut Vec::new()))
}

#[test]
fn what_is_built_in_is_the_newest_that_is_known() {
    let lock = include_str!("../../../../Cargo.lock");
    for (name, _, newest) in behaviour::known_versions() {
        let there = lock.contains(&format!("name = \"{name}\"\nversion = \"{newest}\"\n"));
        // kube-derive is not built in: what it does at compile time is written anew here.
        assert!(there || name == "kube-derive", "{name} {newest}");
    }
    assert_eq!(of(lock), Behaviour::NEWEST);
}

#[test]
fn known_versions_are_taken_and_others_are_refused_by_name() {
    check(&package("kube-core", "5.0.0"), &[]);
    check(&package("kube-core", "2.0.1"), &[]);
    check(
        &package("kube-core", "4.1.0"),
        &["Cargo.lock:3:1: `kube-core` 4.1.0 is locked, and its output is not known"],
    );
    check(
        &package("kube-core", "1.1.0"),
        &[
            "Cargo.lock:3:1: `kube-core` 1.1.0 is locked, and versions before 2.0.0 are not supported",
        ],
    );
    check(
        &package("schemars", "0.8.22"),
        &[
            "Cargo.lock:3:1: `schemars` 0.8.22 is locked, and versions before 1.0.0 are not supported",
        ],
    );
    check(&(package("schemars", "0.8.22") + &package("schemars", "1.2.3")), &[]);
    check(
        &(package("kube-core", "3.1.0") + &package("kube-core", "4.2.0")),
        &[
            "Cargo.lock:3:1: `kube-core` is locked in 2 versions, and it is ambiguous which one writes the CRDs",
        ],
    );
    check(
        "[[package]]\nname = \"kube-derive\"\nversion = \"5.0.0\"\n",
        &["Cargo.lock:3:1: `kube-derive` is not the published crate, and its output is not known"],
    );
}

#[test]
fn only_crates_of_the_usual_registry_count_as_published() {
    let packages = [
        ("k8s-openapi", "0.29.0"),
        ("kube", "5.0.0"),
        ("kube-core", "5.0.0"),
        ("kube-derive", "5.0.0"),
        ("schemars", "1.2.3"),
        ("schemars_derive", "1.2.3"),
        ("serde", "1.0.228"),
        ("serde_core", "1.0.228"),
        ("serde_derive", "1.0.228"),
        ("serde_derive_internals", "0.30.0"),
        ("serde_json", "1.0.150"),
    ];
    for (name, version) in packages {
        check(&package_from("sparse+https://index.crates.io/", name, version), &[]);
        for source in [
            "registry+https://evil.example/index",
            "sparse+https://evil.example/index.crates.io/",
            "registry+https://github.com/rust-lang/crates.io-index-2",
            "git+https://github.com/kube-rs/kube#1",
        ] {
            check(
                &package_from(source, name, version),
                &[&format!(
                    "Cargo.lock:3:1: `{name}` is not the published crate, and its output is not known"
                )],
            );
        }
        let by_path = format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        assert_eq!(locked(&by_path, super::check).len(), 1, "{name}");
    }
}

#[test]
fn a_hint_names_versions_of_the_package_that_a_project_depends_on() {
    let hint = |name: &str, version: &str| {
        let problems = locked(&package(name, version), super::check);
        problems.into_iter().find_map(|problem| problem.hint).unwrap_or_default()
    };
    assert_eq!(hint("serde_derive_internals", "0.28.0"), "depend on `schemars` 1.0.0 or newer");
    assert_eq!(
        hint("serde_derive_internals", "0.31.0"),
        "use a supported version, up to 1.2.3 (`cargo update -p schemars --precise VERSION`); a newer operator-rs may support 0.31.0"
    );
}

#[test]
fn each_package_is_looked_up_by_its_own_version() {
    let lock = package("kube-core", "3.0.1") + &package("kube-derive", "3.0.0");
    let found = of(&lock);
    assert_eq!(found.rewriting, rewriting::Rewriting::V3_0_1);
    assert_eq!(found.kube.version, "3.0.0");
    assert_eq!(found.schemars, Behaviour::NEWEST.schemars);
    assert_eq!(of(""), Behaviour::NEWEST);
}

#[test]
fn a_known_version_has_the_checksum_of_the_published_crate() {
    const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
    // Packages with types in our tables are looked at where a type of theirs is used.
    let all = Published::all().filter(|row| !crate::builtin::has_types_of(row.0));
    for (name, version, published) in all {
        let locked = |checksum| package_with(CRATES_IO, name, version, checksum);
        check(&locked(Some(published.checksum)), &[]);
        let other = published.checksum.replace(char::is_alphanumeric, "0");
        let message = format!(
            "Cargo.lock:3:1: the checksum of `{name}` {version} in Cargo.lock is not that of the published crate"
        );
        check(&locked(Some(&other)), &[&message]);
        let message = format!("Cargo.lock:3:1: Cargo.lock has no checksum of `{name}` {version}");
        check(&locked(None), &[&message]);
    }
    // Of other versions, nothing is known here.
    check(&package_with(CRATES_IO, "serde_json", "1.0.100", Some("0")), &[]);
}

#[test]
fn each_supported_version_has_its_digests() {
    for (name, oldest, newest) in behaviour::known_versions() {
        let rows: Vec<_> = Published::all().filter(|row| row.0 == name).collect();
        let ends = rows.first().zip(rows.last()).map(|(first, last)| (first.1, last.1));
        assert_eq!(ends, Some((oldest, newest)), "{name}");
        assert_eq!(rows.len(), behaviour::versions_of(name), "{name}");
        for (name, version, published) in rows {
            assert!(Behaviour::default().select_version(name, version), "{name} {version}");
            assert_eq!((published.checksum.len(), published.code.len()), (64, 64));
        }
    }
}
