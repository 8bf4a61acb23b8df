//! What should not be handed over: the image of a new project, secrets, and a bundle that is not up to date.

use std::{fs, path::PathBuf};

use crate::support;

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("bundle/shipped/{name}"));
    support::done(&dir, "init --domain example.com --project-name p");
    support::done(&dir, "create api --group cache --kind Memcached");
    dir
}

fn run(dir: &std::path::Path, words: &str) -> String {
    support::said(&support::operator_rs(dir, words))
}

#[test]
fn the_image_of_a_new_project_is_reported_wherever_it_would_ship() {
    let dir = project("image");
    let warning = "warning: the manager's image is `controller:latest`, which is in no registry\n\
        hint: pass `--image`, or set the image in config/manager/kustomization.yaml\n";
    for words in [
        "bundle --dry-run",
        "deploy --dry-run",
        "generate installer",
        "generate installer --output-file i.yaml --dry-run",
    ] {
        let output = run(&dir, words);
        assert!(output.contains(warning), "{words}\n{output}");
        let output = run(&dir, &format!("{words} --image a.example/b:v1"));
        assert!(!output.contains("controller:latest"), "{words}\n{output}");
    }
}

#[test]
fn no_secret_is_put_into_a_bundle_silently() {
    let dir = project("secret");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {token: a}\n";
    let list = |folder: &str, add: bool| {
        let path = dir.join(folder).join("kustomization.yaml");
        let text = fs::read_to_string(&path).unwrap();
        let text = match add {
            true => text.replacen("resources:\n", "resources:\n- secret.yaml\n", 1),
            false => text.replace("- secret.yaml\n", ""),
        };
        fs::write(path, text).unwrap();
        fs::write(dir.join(folder).join("secret.yaml"), secret).unwrap();
    };
    list("config/samples", true);
    let output = run(&dir, "bundle --image a.example/b:v1");
    let place = "config/samples/secret.yaml:1:1";
    let message = "warning: the Secret `login` of a sample is left out of the bundle";
    assert!(output.contains(message) && output.contains(place), "{output}");
    let bundle = support::tree(&dir.join("bundle"));
    let has_login = |it: &Vec<u8>| String::from_utf8_lossy(it).contains("login");
    assert!(!bundle.is_empty() && !bundle.values().any(has_login), "{:?}", bundle.keys());

    list("config/samples", false);
    list("config/manager", true);
    let output = run(&dir, "bundle --image a.example/b:v1");
    let message =
        "warning: the bundle contains the Secret `p-login`, which everybody who pulls it can read";
    assert!(
        output.contains(message) && output.contains("config/manager/secret.yaml:1:1"),
        "{output}"
    );
}

#[test]
fn the_sample_of_a_kind_that_is_named_secret_is_no_secret() {
    let dir = project("vault");
    support::done(&dir, "create api --group vault --kind Secret");
    let output = run(&dir, "bundle --image a.example/b:v1");
    assert!(!output.contains("left out"), "{output}");
    let csv = dir.join("bundle/manifests/p.clusterserviceversion.yaml");
    assert!(fs::read_to_string(csv).unwrap().contains("secret-sample"));
}

#[test]
fn a_check_of_everything_includes_the_bundle_with_the_flags_that_it_was_generated_with() {
    let dir = project("stale");
    support::done(&dir, "generate --check");
    support::done(&dir, "bundle --image a.example/b:v1 --channels stable,fast");
    support::done(&dir, "generate --check");

    let path = dir.join("api/src/cache/v1alpha1/memcached.rs");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("/// ", "/// It is another text. ", 1)).unwrap();
    let output = run(&dir, "generate --check");
    assert!(
        output.contains("update  bundle/manifests/cache.example.com_memcacheds.yaml"),
        "{output}"
    );
    support::done(&dir, "generate");
    support::done(&dir, "generate --check");
    support::done(&dir, "bundle --image=a.example/b:v1 --channels=stable,fast --check");

    // A project that is not ready for a bundle can be worked on, and does not pass the check.
    fs::write(dir.join("config/manager/kustomization.yaml"), "resources: [missing.yaml]\n")
        .unwrap();
    let output = run(&dir, "generate");
    assert!(output.contains("warning: the bundle was not generated again"), "{output}");
    assert!(output.ends_with("[exit status: 0]"), "{output}");
    let output = run(&dir, "generate --check");
    assert!(output.contains("missing.yaml") && output.ends_with("[exit status: 1]"), "{output}");
    fs::remove_file(dir.join("config/manager/kustomization.yaml")).unwrap();

    // A bundle that is not here is not missed.
    fs::remove_dir_all(dir.join("bundle")).unwrap();
    support::done(&dir, "generate --check");
}

/// `generate` uses the recorded flags, so a flag of the last release must not pass as a setting of the next one.
#[test]
fn flags_of_an_earlier_release_are_reported_when_the_bundle_is_renewed() {
    let dir = project("released");
    let set_version = |from: &str, to: &str| {
        let path = dir.join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap();
        let new =
            text.replacen(&format!("version = \"{from}\""), &format!("version = \"{to}\""), 1);
        assert_ne!(text, new);
        fs::write(path, new).unwrap();
    };
    let csv = dir.join("bundle/manifests/p.clusterserviceversion.yaml");

    // A version that Cargo.toml has, too, is not recorded: the next bundle has the next version.
    support::done(&dir, "bundle --version 0.0.1 --image a.example/b:v0.0.1");
    let dockerfile = fs::read_to_string(dir.join("bundle.Dockerfile")).unwrap();
    assert!(dockerfile.contains("# Generated with --image=a.example/b:v0.0.1\n"), "{dockerfile}");

    // The image was given for another version, and no file names one.
    set_version("0.0.1", "0.0.2");
    let warning = "warning: the bundle of 0.0.2 has the image `a.example/b:v0.0.1`, which `--image` gave for 0.0.1\n\
        --> bundle.Dockerfile:2:1\n = help: run `operator-rs bundle --image IMAGE`, or set the image in config/manager/kustomization.yaml and run `operator-rs bundle`\n";
    for command in ["generate --check", "generate"] {
        let output = run(&dir, command);
        assert!(output.contains(warning), "{command}: {output}");
    }
    assert!(fs::read_to_string(&csv).unwrap().contains("\n  version: 0.0.2\n"));
    support::done(&dir, "bundle --image a.example/b:v0.0.2");
    let output = run(&dir, "generate --check");
    assert!(!output.contains("warning"), "{output}");

    // A file names another image.
    let images = "images:\n- name: controller\n  newName: a.example/b\n  newTag: v0.0.3\n";
    let path = dir.join("config/manager/kustomization.yaml");
    fs::write(&path, fs::read_to_string(&path).unwrap() + images).unwrap();
    let warning = "warning: the bundle has the image `a.example/b:v0.0.2`, which `--image` gave, and not `a.example/b:v0.0.3`, which config/ names\n\
        --> bundle.Dockerfile:2:1\n = help: run `operator-rs bundle` for the one in config/, or `operator-rs bundle --image IMAGE`\n";
    let output = run(&dir, "generate");
    assert!(output.contains(warning), "{output}");
    let output = run(&dir, "generate --check --deny-warnings");
    assert!(output.ends_with("[exit status: 1]"), "{output}");
    for command in ["bundle", "generate --check"] {
        let output = run(&dir, command);
        assert!(!output.contains("warning"), "{command}: {output}");
    }

    // Cargo.toml has a later version than the flag.
    support::done(&dir, "bundle --version 0.0.4");
    let output = run(&dir, "generate --check");
    assert!(!output.contains("warning"), "{output}");
    set_version("0.0.2", "0.0.5");
    let warning = "warning: the bundle has the version 0.0.4, which `--version` gave, and Cargo.toml has 0.0.5\n\
        --> bundle.Dockerfile:2:1\n = help: run `operator-rs bundle` for the one in Cargo.toml, or `operator-rs bundle --version VERSION`\n";
    let output = run(&dir, "generate");
    assert!(output.contains(warning), "{output}");
}
