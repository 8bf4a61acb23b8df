//! What this repository runs in CI, how it is released, and that the parts of a release agree.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::collections::BTreeSet;

use support::workflow;

#[test]
fn workflows_pin_their_actions_and_every_job_ends() {
    let workflows = support::tree(&support::home().join(".github/workflows"));
    assert!(workflows.contains_key("ci.yml") && workflows.contains_key("release.yml"));
    for (path, text) in workflows {
        workflow::check(&path, &String::from_utf8(text).unwrap());
    }
}

#[test]
fn images_are_pinned_by_digest() {
    let dockerfile = ours("Dockerfile");
    let images: Vec<&str> = dockerfile.lines().filter_map(|it| it.strip_prefix("FROM ")).collect();
    assert_eq!(images.len(), 2);
    for image in images {
        let digest = image.split_once("@sha256:").map_or("", |it| it.1);
        let digest = digest.split(' ').next().unwrap_or_default();
        assert!(digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{image}");
    }
}

/// The build of the image has what Cargo.toml includes, and nothing else.
#[test]
fn the_image_is_built_from_the_sources() {
    for path in ["Cargo.toml", "Cargo.lock", "src", "crates", "templates"] {
        assert!(ours(".dockerignore").contains(&format!("\n!{path}\n")), "{path}");
    }
}

/// `cargo binstall`, install.sh and the release workflow name the same archives for the same platforms.
#[test]
fn archives_have_one_name_everywhere() {
    let release = workflow::yaml("release.yml", &ours(".github/workflows/release.yml"));
    let matrix = &release["jobs"]["build"]["strategy"]["matrix"]["include"];
    let built: BTreeSet<&str> =
        matrix.as_array().unwrap().iter().filter_map(|it| it["target"].as_str()).collect();
    let installer = ours("install.sh");
    let installed: BTreeSet<&str> = installer
        .lines()
        .filter_map(|it| it.split_once(") echo ")?.1.strip_suffix(" ;;"))
        .filter(|it| !it.contains(' '))
        .chain(["x86_64-pc-windows-msvc"])
        .collect();
    assert_eq!(built, installed);

    let manifest: toml::Table = ours("Cargo.toml").parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    // As the script for archives and install.sh build them, of a version and a target.
    assert!(ours(".github/release/archive").contains("name=operator-rs-v$2-$3"));
    assert!(
        ours(".github/release/archive")
            .contains("-czf \"$folder/$name.tar.gz\" -C \"$stage\" \"$name\"")
    );
    assert!(installer.contains("name=operator-rs-v$version-$platform"));
    assert!(installer.contains("\"$releases/v$version/$name.tar.gz\""));
    let url = "{ repo }/releases/download/v{ version }/{ name }-v{ version }-{ target }.tar.gz";
    assert_eq!(binstall["pkg-url"].as_str(), Some(url));
    assert_eq!(binstall["pkg-fmt"].as_str(), Some("tgz"));
    let program = "{ name }-v{ version }-{ target }/{ bin }{ binary-ext }";
    assert_eq!(binstall["bin-dir"].as_str(), Some(program));
}

#[test]
fn the_action_and_the_issue_forms_are_well_formed() {
    let action = workflow::yaml("action.yml", &ours("action.yml"));
    assert_eq!(action["runs"]["using"], "composite");
    let step = &action["runs"]["steps"][0];
    assert_eq!(step["run"], r#""$GITHUB_ACTION_PATH/.github/action""#);
    assert_eq!(step["working-directory"], "${{ inputs.working-directory }}");
    // Inputs reach the script as variables: what they hold is never read by a shell.
    let inputs: Vec<_> = action["inputs"].as_object().unwrap().keys().collect();
    assert_eq!(inputs, ["command", "version", "working-directory"]);
    assert_eq!(step["env"]["COMMAND"], "${{ inputs.command }}");
    assert_eq!(step["env"]["VERSION"], "${{ inputs.version }}");

    for form in ["bug", "inexact", "feature"] {
        let form = workflow::yaml(form, &ours(&format!(".github/ISSUE_TEMPLATE/{form}.yml")));
        assert!(form["name"].is_string() && form["description"].is_string(), "{form}");
        let fields = form["body"].as_array().expect("it has fields");
        let mut ids = BTreeSet::new();
        for field in fields.iter().filter(|it| it["type"] != "markdown") {
            assert!(ids.insert(field["id"].as_str().expect("it has an id")), "{field}");
            assert!(field["attributes"]["label"].is_string(), "{field}");
        }
    }
}

/// A file of this repository.
fn ours(path: &str) -> String {
    std::fs::read_to_string(support::home().join(path)).unwrap_or_else(|it| panic!("{path}: {it}"))
}
