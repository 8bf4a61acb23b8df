//! The targets of a scaffolded Makefile: every target of operator-sdk's and kubebuilder's Makefiles is there, and does
//! what it is named for or says what to use in its place. `make help` lists what a person needs.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// All targets of the Makefiles that operator-sdk 1.42 and kubebuilder 4.11 scaffold for Go.
const TARGETS: &str = "all help manifests generate fmt vet test setup-test-e2e test-e2e cleanup-test-e2e lint lint-fix \
    lint-config build run docker-build docker-push docker-buildx build-installer install uninstall deploy undeploy \
    kustomize controller-gen setup-envtest envtest golangci-lint operator-sdk bundle bundle-build bundle-push opm \
    catalog-build catalog-push";

#[test]
fn every_target_of_the_peers_is_there() {
    let dir = project("peers");
    for target in TARGETS.split_whitespace() {
        let (success, output) = make(&dir, &format!("--dry-run {target}"));
        assert!(success, "make {target}\n{output}");
    }
    let (success, output) = make(&dir, "--dry-run no-such-target");
    assert!(!success, "{output}");
}

#[test]
fn a_target_that_has_nothing_to_do_says_why() {
    let dir = project("nothing");
    for target in
        ["kustomize", "controller-gen", "setup-envtest", "setup-test-e2e", "opm", "lint-config"]
    {
        let (success, output) = make(&dir, target);
        assert!(success && output.starts_with(&format!("{target}: nothing to do: ")), "{output}");
        assert_eq!(output.lines().count(), 2, "{output}");
    }
}

#[test]
fn images_are_built_and_pushed_under_their_names() {
    let dir = project("images");
    let words = "--silent docker-build docker-push docker-buildx bundle-build bundle-push catalog-build catalog-push IMG=a/b:1";
    let (success, output) = make_with(&dir, &format!("{words} CONTAINER_TOOL=echo"), "echo");
    assert!(success, "{output}");
    let commands: Vec<_> = output.lines().collect();
    assert_eq!(
        commands[..8],
        [
            "build -t a/b:1 .",
            "push a/b:1",
            "buildx build --builder peers-builder --platform linux/amd64,linux/arm64 --push -t a/b:1 .",
            "build -f bundle.Dockerfile -t example.com/peers-bundle:v0.0.1 .",
            "push example.com/peers-bundle:v0.0.1",
            "generate catalog --image example.com/peers-bundle:v0.0.1",
            "build -f - -t example.com/peers-catalog:v0.0.1 catalog",
            "push example.com/peers-catalog:v0.0.1",
        ]
    );
    // Without a container tool, operator-rs does it.
    let (success, output) = make_with(&dir, words, "echo");
    assert!(success, "{output}");
    let commands: Vec<_> = output.lines().collect();
    assert_eq!(
        commands[..8],
        [
            "image build --tag a/b:1",
            "image push a/b:1",
            "image push a/b:1 --platform linux/amd64,linux/arm64",
            "bundle build --tag example.com/peers-bundle:v0.0.1",
            "bundle push example.com/peers-bundle:v0.0.1",
            "generate catalog --image example.com/peers-bundle:v0.0.1",
            "catalog build --tag example.com/peers-catalog:v0.0.1",
            "catalog push example.com/peers-catalog:v0.0.1",
        ]
    );
}

#[test]
fn variables_of_the_peers_become_flags_of_the_bundle() {
    let dir = project("variables");
    let words = "--silent bundle VERSION=1.0.0 IMG=a/b:1";
    let bundle = "bundle --version 1.0.0 --image a/b:1";
    for (variables, flags) in [
        ("USE_IMAGE_DIGESTS=false", ""),
        ("CHANNELS=a,b DEFAULT_CHANNEL=a", " --channels a,b --default-channel a"),
        ("USE_IMAGE_DIGESTS=true", " --use-image-digests"),
    ] {
        let (success, output) = make_with(&dir, &format!("{words} {variables}"), "echo");
        let first = output.lines().next().map(str::trim_end);
        assert_eq!((success, first), (true, Some(format!("{bundle}{flags}").as_str())), "{output}");
    }
}

/// The image that config/manager names counts until the Makefile names one.
#[test]
fn no_target_overrides_the_image_of_config_with_a_placeholder() {
    let dir = project("placeholder");
    let targets = "--silent bundle build-installer deploy";
    for (image, flag) in [("", ""), (" IMG=a/b:1", " --image a/b:1")] {
        let (success, output) = make_with(&dir, &format!("{targets}{image}"), "echo");
        assert!(success, "{output}");
        let lines: Vec<_> = output.lines().map(str::trim_end).collect();
        for command in [
            format!("bundle --version 0.0.1{flag}"),
            format!("generate installer{flag} --output-file dist/install.yaml"),
            format!("deploy{flag}"),
        ] {
            assert!(lines.contains(&command.as_str()), "{command}: {output}");
        }
    }
}

/// No registry is asked for a package that nobody may have published: the Makefile names where it comes from.
#[test]
fn operator_rs_is_installed_only_from_the_place_that_the_makefile_names() {
    let dir = project("tool");
    for words in
        ["operator-rs", "operator-rs OPERATOR_RS_URL=a", "operator-rs OPERATOR_RS_COMMIT=b"]
    {
        let (success, output) = make(&dir, words);
        assert!(!success && output.starts_with("error: set OPERATOR_RS_URL and "), "{output}");
    }
    let (success, output) =
        make(&dir, "--dry-run --silent operator-rs OPERATOR_RS_URL=a OPERATOR_RS_COMMIT=b");
    let command = "cargo install --git 'a' --rev 'b' --locked operator-rs";
    assert!(success && output.lines().any(|it| it == command), "{output}");
}

/// Its Makefile is the user's: a project of an earlier version keeps building with docker.
#[test]
fn a_makefile_of_an_earlier_version_keeps_its_container_tool() {
    let dir = project("earlier");
    let path = dir.join("Makefile");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\nCONTAINER_TOOL ?=\n"), "{text}");
    fs::write(&path, text.replace("CONTAINER_TOOL ?=", "CONTAINER_TOOL ?= docker")).unwrap();
    let (success, output) = make(&dir, "--dry-run docker-build docker-push IMG=a/b:1");
    assert!(
        success && output.starts_with("docker build -t a/b:1 .\ndocker push a/b:1\n"),
        "{output}"
    );
}

#[test]
fn help_lists_targets_with_whole_words() {
    let (success, output) = make(&project("help"), "help");
    assert!(success, "{output}");
    let lines: Vec<_> = output.lines().filter(|it| it.starts_with("  \u{1b}[36m")).collect();
    assert!(lines.len() > 20, "{output}");
    for line in lines {
        let text = line.split("\u{1b}[0m ").nth(1).unwrap_or_default().trim_start();
        assert!(text.starts_with(char::is_uppercase) && !text.ends_with('.'), "{line}");
    }
}

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("makefile/{name}"));
    support::done(&dir, "init --project-name peers --domain example.com");
    dir
}

fn make(dir: &Path, words: &str) -> (bool, String) {
    make_with(dir, words, support::BINARY)
}

fn make_with(dir: &Path, words: &str, operator_rs: &str) -> (bool, String) {
    let tool = format!("OPERATOR_RS={operator_rs}");
    let output = support::command("make", dir).args(words.split(' ')).arg(tool).output();
    let output = output.expect("there is make");
    (output.status.success(), support::said(&output))
}
