//! The answers: rows about a longer command before those about a shorter one, and of one flag the special cases first.

use super::{PeerCommand, PeerFlag};

const BUNDLE: &str =
    "use `operator-rs bundle`: it updates the manifests, generates the bundle and validates it";
const NO_PACKAGES: &str = "OLM no longer reads package manifests; use `operator-rs bundle`";
const MANIFESTS: &str = "use `operator-rs manifests`";
const BASE: &str = "not needed: `init` writes the base in config/manifests/bases, and `operator-rs bundle` fills in the rest";
const NO_HELM: &str = "not available: operator-rs generates operators in Rust; for operators from Helm charts, use operator-sdk";
const NO_CHART: &str = "use `operator-rs generate chart`, which reads config/; `--output-dir DIR` names the chart's directory";
const NO_ANSIBLE: &str = "not available: operator-rs generates operators in Rust; for operators from Ansible roles, use operator-sdk";
const PIPE: &str =
    "pipe the manifests instead: `kustomize build DIR | operator-rs bundle --input -`";
const ONE_BUNDLE: &str = "not needed: `operator-rs bundle` always writes the whole bundle";
const LATER_API: &str = "add the API after `init`: `operator-rs create api`";

const UPDATE: &str = "use `operator-rs generate`: it updates a project to this version of operator-rs and keeps your files";
const UPDATED: &str = "not needed: `operator-rs generate` updates a project to this version of operator-rs and keeps your files";

pub const COMMANDS: &[PeerCommand] = &[
    moved("generate bundle", "bundle", BUNDLE),
    no("generate kustomize", BASE),
    moved("generate manifests", "manifests", MANIFESTS),
    moved("chart generate", "generate chart", "use `operator-rs generate chart`"),
    no("make", "run `make` without `operator-rs`: the project has a Makefile"),
    moved("generate packagemanifests", "bundle", NO_PACKAGES),
    no("run packagemanifests", NO_PACKAGES),
    no("run pm", NO_PACKAGES),
    no(
        "pkgman-to-bundle",
        "not available: OLM no longer reads package manifests; `operator-rs bundle` generates a bundle from a project",
    ),
    no("alpha config-3alpha-to-3", "not needed: PROJECT has version 3 in every project"),
    moved("alpha generate", "generate", UPDATE),
    no("alpha update", UPDATED),
    no("alpha", "there are no alpha commands; `operator-rs --help` lists all commands"),
    moved("new", "init", "use `operator-rs init`"),
    moved("add api", "create api", "use `operator-rs create api`"),
    no("build", "use `operator-rs image build` or `make docker-build`"),
    no("controller-gen", MANIFESTS),
    no("crd diff", "use `operator-rs crds diff`"),
    no("crd", MANIFESTS),
    no("rbac", MANIFESTS),
    no("object", "not needed: Rust derives `Clone`"),
];

const ARCHIVE: &str = "pass `--archive`: `--output` is the format of a report";
const NO_PODS: &str =
    "not needed: the built-in tests only read the bundle, and run without a cluster";

pub const FLAGS: &[PeerFlag] = &[
    // Here, `-v` is `--verbose`.
    flag("generate bundle", "-v", "pass `--version`"),
    flag("edit", "--plugins=helm", NO_CHART),
    flag("", "--plugins=helm", NO_HELM),
    flag("", "--plugins=ansible", NO_ANSIBLE),
    flag("", "--plugins=deploy-image", "not needed: use `operator-rs create api --image IMAGE`"),
    flag(
        "",
        "--plugins=grafana",
        "not available yet; generated operators serve Prometheus metrics, and config/prometheus has a ServiceMonitor",
    ),
    flag(
        "",
        "--plugins=autoupdate",
        "not available yet; `operator-rs generate` updates a project to this version of operator-rs",
    ),
    flag(
        "",
        "--plugins",
        "not needed: there is one layout; `create api --image IMAGE` replaces the deploy-image plugin",
    ),
    flag("", "--project-version", "not needed: PROJECT has version 3"),
    flag(
        "init",
        "--minimal",
        "not needed: `init` creates what building, running and testing need; `--with` adds other files",
    ),
    flag("init", "--fetch-deps", "not needed: cargo fetches dependencies when it first builds"),
    flag("init", "--skip-go-version-check", "not needed: the project does not use Go"),
    flag(
        "init",
        "--component-config",
        "not needed: the manager reads flags and environment variables",
    ),
    flag("init", "--multigroup", "not needed: every project accepts several API groups"),
    flag("init", "--license-file", "pass `--license none` and add your own LICENSE file"),
    flag("init", "--group", LATER_API),
    flag("init", "--version", LATER_API),
    flag("init", "--kind", LATER_API),
    flag("init", "--helm-chart", NO_HELM),
    flag("init", "--helm-chart-repo", NO_HELM),
    flag("init", "--helm-chart-version", NO_HELM),
    flag("init", "--generate-role", NO_ANSIBLE),
    flag("init", "--generate-playbook", NO_ANSIBLE),
    flag("create webhook", "--make", "not needed: `create webhook` updates the manifests itself"),
    flag("create webhook", "--legacy", "not needed: webhooks are in src/webhook"),
    flag(
        "create webhook",
        "--external-api-module",
        "add the crate with `cargo add`, then pass `--external-api-path`",
    ),
    flag("create api", "--make", "not needed: `create api` updates CRDs and RBAC itself"),
    flag("create api", "--manifests", "not needed: `create api` updates CRDs and RBAC itself"),
    flag("create api", "--ssa", "not needed: generated controllers use server-side apply"),
    flag("create api", "--crd-version", "not needed: CRDs have version v1 of apiextensions.k8s.io"),
    flag(
        "create api",
        "--external-api-module",
        "add the crate with `cargo add`, then pass `--external-api-path`",
    ),
    flag(
        "create api",
        "--controller-name",
        "not available yet: a controller is named for its kind",
    ),
    flag("create api", "--image-container-user", "pass `--run-as-user`"),
    flag("create api", "--helm-chart", NO_HELM),
    flag("create api", "--helm-chart-repo", NO_HELM),
    flag("create api", "--helm-chart-version", NO_HELM),
    flag("create api", "--generate-role", NO_ANSIBLE),
    flag("create api", "--generate-playbook", NO_ANSIBLE),
    flag("edit", "--multigroup", "not needed: every project accepts several API groups"),
    flag("edit", "--manifests", NO_CHART),
    flag("edit", "--output-dir", NO_CHART),
    flag("edit", "--namespaced", "use `operator-rs init --namespaced` in a new project"),
    flag("edit", "--license", "edit LICENSE and `license` in Cargo.toml"),
    flag("edit", "--license-file", "edit LICENSE and `license` in Cargo.toml"),
    flag("edit", "--owner", "edit LICENSE and `authors` in Cargo.toml"),
    flag(
        "generate kustomize",
        "--interactive",
        "not needed: there are no prompts; edit the base in config/manifests/bases",
    ),
    flag("generate", "--skip-go-version-check", "not needed: the project does not use Go"),
    flag("generate", "--input-dir", "pass `--dir`"),
    flag("generate", "--output-dir", "not needed: the project is updated in place"),
    flag(
        "bundle",
        "--overwrite",
        "not needed: every run replaces generated files; `--force` also replaces those that were edited",
    ),
    flag("bundle", "--manifests", ONE_BUNDLE),
    flag("bundle", "--metadata", ONE_BUNDLE),
    flag(
        "bundle",
        "--interactive",
        "not needed: there are no prompts; edit the base in config/manifests/bases",
    ),
    flag("bundle", "--kustomize-dir", "not needed: the bundle is generated from config/manifests"),
    flag("bundle", "--input-dir", PIPE),
    flag("bundle", "--deploy-dir", PIPE),
    flag("bundle", "--crds-dir", PIPE),
    flag("bundle", "--apis-dir", "not needed: Cargo.toml says where the types are"),
    flag("bundle", "--stdout", "use `operator-rs bundle --diff` to see what would be written"),
    flag("bundle build", "--output", ARCHIVE),
    flag("catalog build", "--output", ARCHIVE),
    flag("image build", "--output", ARCHIVE),
    flag("bundle", "--from-version", "set `spec.replaces` in config/manifests/bases"),
    flag("bundle", "--update-objects", ONE_BUNDLE),
    flag(
        "bundle validate",
        "--image-builder",
        "not needed: `bundle validate` pulls the bundle's image itself",
    ),
    flag("bundle validate", "-b", "not needed: `bundle validate` pulls the bundle's image itself"),
    flag(
        "bundle validate",
        "--alpha-select-external",
        "not available yet; run the external validator on the bundle's directory",
    ),
    flag(
        "run",
        "--ca-secret-name",
        "not needed: the catalog has the manifests of the bundle, and no pod pulls the bundle's image",
    ),
    flag("run", "--skip-tls-verify", "pass `--tls-skip-verify`"),
    flag("run", "--skip-tls", "pass `--tls-skip-verify`"),
    flag("run", "--use-http", "pass `--plain-http`"),
    flag(
        "run bundle",
        "--mode",
        "not needed: the catalog has one version, and `run bundle-upgrade` replaces it",
    ),
    flag("olm status", "--version", "not needed: the version is read from the cluster"),
    flag(
        "olm uninstall",
        "--version",
        "not needed: what `olm install` created is found on the cluster",
    ),
    flag(
        "olm uninstall",
        "--olm-namespace",
        "not needed: what `olm install` created is found on the cluster",
    ),
    flag("cleanup", "--service-account", "not needed: `cleanup` starts no pod"),
    flag("scorecard", "--kubeconfig", NO_PODS),
    flag("scorecard", "-n", NO_PODS),
    flag("scorecard", "--namespace", NO_PODS),
    flag("scorecard", "--pod-security", NO_PODS),
    flag("scorecard", "-s", NO_PODS),
    flag("scorecard", "--service-account", NO_PODS),
    flag("scorecard", "-x", NO_PODS),
    flag("scorecard", "--skip-cleanup", NO_PODS),
    flag("scorecard", "-w", NO_PODS),
    flag("scorecard", "--wait-time", NO_PODS),
    flag("scorecard", "-b", NO_PODS),
    flag("scorecard", "--storage-image", NO_PODS),
    flag("scorecard", "-u", NO_PODS),
    flag("scorecard", "--untar-image", NO_PODS),
    flag("scorecard", "-t", NO_PODS),
    flag("scorecard", "--test-output", NO_PODS),
    flag("", "--check", "only commands that change files of the project have `--check`"),
    flag(
        "",
        "--diff",
        "only commands that change files of the project have `--diff`; those that change a cluster accept `--dry-run=server`",
    ),
    flag(
        "",
        "--dry-run",
        "only commands that change files of the project or a cluster have `--dry-run`",
    ),
    flag(
        "",
        "--force",
        "only commands that change files of the project have `--force`; `install` and `deploy` accept `--force-conflicts`",
    ),
];

const fn no(typed: &'static str, hint: &'static str) -> PeerCommand {
    PeerCommand { typed, here: None, hint }
}

const fn moved(typed: &'static str, here: &'static str, hint: &'static str) -> PeerCommand {
    PeerCommand { typed, here: Some(here), hint }
}

const fn flag(command: &'static str, flag: &'static str, hint: &'static str) -> PeerFlag {
    PeerFlag { command, flag, hint }
}
