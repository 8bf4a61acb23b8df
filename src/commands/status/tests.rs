//! How much work `status` does, which is that of `generate` and more.

use super::generated::{GenerationStatus, inspect_project};
use crate::{
    disk::ScratchDir,
    project::{COMPARED, Project},
    source::READINGS,
};

const MANIFEST: &str = include_str!("../../../tests/schemas/Cargo.toml");
const LOCK: &str = include_str!("../../../tests/schemas/Cargo.lock");

/// The state of a project with this many kinds, all of which are declared.
#[track_caller]
fn state(project: &str, kinds: usize) -> GenerationStatus {
    const KIND: &str = "\
        #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]\n\
        #[kube(group = \"g.example.com\", version = \"v1\", kind = \"KindN\")]\npub struct KindNSpec {}\n";
    const ENTRY: &str = "- api:\n    crdVersion: v1\n    namespaced: false\n  controller: true\n  domain: example.com\n  group: g\n  kind: KindN\n  version: v1\n";
    let start = "cliVersion: 0.1.0\ndomain: example.com\nprojectName: operator\nversion: \"3\"\n";
    let numbered = |text: &str| -> String {
        (0..kinds).map(|number| text.replace("KindN", &format!("Kind{number}"))).collect()
    };
    let files = [
        ("PROJECT", format!("{start}layout:\n- {project}\nresources:\n{}", numbered(ENTRY))),
        ("Cargo.toml", MANIFEST.to_owned()),
        ("Cargo.lock", LOCK.to_owned()),
        ("src/lib.rs", numbered(KIND)),
    ];
    let files = files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
    let directory = ScratchDir { files, ..ScratchDir::default() };
    let generated = directory.with_new(|root| {
        let project = Project::read_any_layout(root).expect("PROJECT is valid");
        inspect_project(root, &project).expect("the project can be read")
    });
    let generated = generated.expect("it is written");
    assert_eq!(generated.operator.kinds.len(), kinds);
    generated
}

#[test]
fn the_source_is_read_once() {
    for layout in ["rust.operator-rs.io/v1", "rust.operator-rs.io/in-place/v1"] {
        READINGS.set(0);
        state(layout, 1);
        assert_eq!(READINGS.get(), 1, "{layout}");
    }
}

#[test]
fn comparisons_of_kinds_grow_in_proportion_to_the_kinds() {
    let comparisons = |kinds| {
        COMPARED.set(0);
        let parts = state("rust.operator-rs.io/v1", kinds).parts;
        let crds = parts.iter().find(|part| part.what == "CRDs");
        // All kinds were generated.
        assert_eq!(crds.map(|part| part.reasons.len()), Some(kinds));
        COMPARED.get()
    };
    let (few, many) = (comparisons(10), comparisons(40));
    assert!(many <= 4 * few, "{many} comparisons of 40 kinds, {few} of 10");
}
