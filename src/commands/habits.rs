//! What operator-sdk's and kubebuilder's users type out of habit, and what to type here instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

const WORDS: &[(&str, &str)] = &[
    (
        "bundle",
        "type `operator-rs bundle`: it brings the manifests up to date, builds the bundle and validates it",
    ),
    (
        "kustomize",
        "nothing is needed: the base in config/manifests/bases is yours from `init` on, and `operator-rs bundle` fills in the rest",
    ),
    (
        "packagemanifests",
        "the package manifests format is gone from OLM: type `operator-rs bundle`",
    ),
    (
        "edit",
        "nothing is needed: every project takes several groups, versions and kinds; its other choices are made at `init`",
    ),
    ("controller-gen", "type `operator-rs manifests`"),
    ("crd", "type `operator-rs manifests`"),
    ("rbac", "type `operator-rs manifests`"),
    ("object", "nothing is needed: Rust derives `Clone`"),
];

const FLAGS: &[(&str, &str)] = &[
    ("--repo", "nothing is needed: a Cargo package has no import path; `--project-name` names it"),
    (
        "--plugins",
        "nothing is needed: the layout is Rust's, and `create api --image` does what the deploy-image plugin does",
    ),
    ("--project-version", "nothing is needed: PROJECT is of version 3"),
    ("--fetch-deps", "nothing is needed: nothing is fetched; cargo does so at the first build"),
    ("--skip-go-version-check", "nothing is needed: there is no Go here"),
    ("--component-config", "nothing is needed: the manager reads flags and environment variables"),
    ("--multigroup", "nothing is needed: every project takes several groups"),
    (
        "--license-file",
        "write LICENSE yourself before or after `init --license none`: it stays as it is",
    ),
    ("--make", "nothing is needed: CRDs and RBAC are brought up to date by `create api` itself"),
    ("--ssa", "nothing is needed: scaffolded controllers use server-side apply"),
    ("--crd-version", "nothing is needed: CRDs are of apiextensions.k8s.io/v1"),
    ("--external-api-path", "controllers for types of other crates are not scaffolded yet"),
    (
        "--overwrite",
        "nothing is needed: what is generated is replaced at every run; `--force` does so where it was edited by hand",
    ),
    (
        "--manifests",
        "nothing is needed: `operator-rs bundle` always makes the whole bundle; `operator-rs manifests` writes CRDs and RBAC",
    ),
    ("--metadata", "nothing is needed: `operator-rs bundle` always makes the whole bundle"),
    (
        "--interactive",
        "nothing is needed: there are no questions; edit the base in config/manifests/bases",
    ),
    ("--kustomize-dir", "nothing is needed: the bundle is made from config/manifests"),
    ("--input-dir", "pipe the manifests: `kustomize build DIR | operator-rs bundle --input -`"),
    ("--deploy-dir", "pipe the manifests: `kustomize build DIR | operator-rs bundle --input -`"),
    ("--apis-dir", "nothing is needed: types are found from Cargo.toml"),
    ("--stdout", "type `operator-rs bundle --diff` to see what would be written"),
    ("--image-container-user", "type `--run-as-user`"),
    ("--check", "only commands that write files take it: `--help` lists what this one takes"),
    (
        "--diff",
        "only commands that write files take it; one that changes a cluster takes `--dry-run=server`",
    ),
    ("--dry-run", "only commands that write files or change a cluster take it"),
    (
        "--force",
        "it replaces generated files that were edited, in commands that write files; on a cluster it is `--force-conflicts`",
    ),
];

/// What to type instead of what clap did not know.
pub fn advice(error: &clap::Error) -> Option<&'static str> {
    let (kind, table) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, WORDS),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, FLAGS),
        _ => return None,
    };
    let Some(ContextValue::String(met)) = error.get(kind) else { return None };
    let met = met.split('=').next().unwrap_or(met);
    table.iter().find(|it| it.0 == met).map(|it| it.1)
}
