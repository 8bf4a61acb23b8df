//! What the source of k8s-openapi is read to say, against the crate itself: every type, with its name, its id, its
//! schema (inlined as kube has it, and by reference).
//!
//! Without arguments, against the types that are linked in operator-rs. By hand at any version and feature:
//! `cargo test --features originals --test kubernetes -- 0.28.0 v1_35` builds the crate and asks it.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stdout, reason = "it says what it compared")]
#![allow(dead_code, unused_imports, reason = "a part of the source is taken into this test")]

mod oracle;
mod read;
#[path = "../support/mod.rs"]
mod support;

/// Stands for the module of that name: the reader of k8s-openapi needs nothing else of it.
#[path = "."]
pub mod builtin {
    #[path = "../../crates/kube-crd-source/src/builtin/kubernetes/mod.rs"]
    pub mod kubernetes;

    pub use crate::oracle::{Builtin, Table};
}
pub mod text {
    pub mod sources {
        pub type ReadFile = std::rc::Rc<dyn Fn(&str) -> Option<String>>;
    }
}
#[path = "../../src/source/kinds.rs"]
mod kinds;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use builtin::kubernetes::Source;
use serde_json::Value;
use text::sources::ReadFile;

/// What there is to say of one type.
#[derive(Debug, PartialEq)]
struct Said {
    name: Value,
    id: Value,
    inlined: Value,
    referred: Value,
}

fn main() {
    let mut words = std::env::args().skip(1);
    let version = words.next().filter(|it| it.split('.').count() == 3);
    let (version, feature, expected) = match (version, words.next()) {
        (Some(version), Some(feature)) => {
            let expected = oracle::built(&version, &feature, &folder(&version));
            (version, feature, expected)
        }
        _ => ("0.29.0".to_owned(), "v1_33".to_owned(), oracle::linked()),
    };
    let source = Source::new(&feature, reader(folder(&version)));
    let started = std::time::Instant::now();
    let found = read::all(Rc::new(source));
    let took = started.elapsed();
    let mut different = 0;
    for path in expected.keys().chain(found.keys()).collect::<std::collections::BTreeSet<_>>() {
        let (expected, found) = (expected.get(path), found.get(path));
        if expected != found {
            different += 1;
            println!("{path}: {}", difference(expected, found));
        }
    }
    println!(
        "k8s-openapi {version} {feature}: {} types, {different} different, {took:?}",
        found.len()
    );
    assert!(500 < found.len(), "types are missing");
    if feature == "v1_33" {
        every_listable_kind_is_in_the_list(&folder(&version).join("src").join(&feature));
    }
    assert_eq!(different, 0);
}

/// `create api` offers every kind that a list of the crate can hold, but for one that cannot be watched.
fn every_listable_kind_is_in_the_list(folder: &std::path::Path) {
    let mut listable = std::collections::BTreeSet::new();
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.expect("the crate can be read");
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let Some((_, rest)) = text.split_once("impl crate::ListableResource for ") else {
            continue;
        };
        let module = entry.path().parent().and_then(|it| it.strip_prefix(folder).ok());
        let module = module.expect("it is below").to_string_lossy().replace('/', "::");
        let name = rest.split(' ').next().unwrap_or_default();
        listable.insert(format!("k8s_openapi::{module}::{name}"));
    }
    assert!(listable.remove("k8s_openapi::api::core::v1::ComponentStatus"));
    let listed: std::collections::BTreeSet<String> =
        kinds::built_in_kinds().iter().map(|it| format!("{}::{}", it.module, it.kind)).collect();
    assert_eq!(listed, listable);
}

fn difference(expected: Option<&Said>, found: Option<&Said>) -> String {
    let (Some(expected), Some(found)) = (expected, found) else {
        let whose = if found.is_some() { "source" } else { "crate" };
        return format!("only the {whose} has it");
    };
    let pairs = [
        ("name", &expected.name, &found.name),
        ("id", &expected.id, &found.id),
        ("inlined", &expected.inlined, &found.inlined),
        ("referred", &expected.referred, &found.referred),
    ];
    let (what, expected, found) =
        pairs.into_iter().find(|(_, one, other)| one != other).expect("they differ");
    format!("{what}\n  the crate: {expected}\n  its source: {found}")
}

/// Where cargo keeps the source of k8s-openapi.
fn folder(version: &str) -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.expect("cargo has a home").join("registry/src");
    let found = std::fs::read_dir(&sources).expect("cargo has sources").find_map(|it| {
        let folder = it.ok()?.path().join(format!("k8s-openapi-{version}"));
        folder.is_dir().then_some(folder)
    });
    found.unwrap_or_else(|| panic!("no k8s-openapi {version} in {}", sources.display()))
}

fn reader(folder: PathBuf) -> ReadFile {
    Rc::new(move |path| std::fs::read_to_string(folder.join(path)).ok())
}
