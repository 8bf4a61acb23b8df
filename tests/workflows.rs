//! What a scaffolded project runs in CI and builds its image from: pinned, and with an end.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use serde_json::Value;

#[test]
fn workflows_pin_their_actions_and_every_job_ends() {
    let files = project("workflows");
    let workflows: Vec<_> =
        files.iter().filter(|it| it.0.starts_with(".github/workflows/")).collect();
    assert_eq!(workflows.len(), 3);
    for (path, text) in workflows {
        let workflow: Value =
            serde_yaml::from_str(text).unwrap_or_else(|it| panic!("{path}: {it}"));
        assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}), "{path}");
        for (name, job) in workflow["jobs"].as_object().expect("it has jobs") {
            assert!(job["timeout-minutes"].is_u64(), "{path}: {name}");
            for step in job["steps"].as_array().expect("it has steps") {
                let Some(action) = step["uses"].as_str() else { continue };
                let commit = action.split_once('@').map_or("", |it| it.1);
                let is_pinned = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
                assert!(is_pinned, "{path}: {action}");
                assert!(
                    text.contains(&format!("{action} # v")),
                    "{path}: {action} without version"
                );
            }
        }
    }
    assert!(files[".github/workflows/test-e2e.yml"].contains("operator-rs manifests --check"));
}

#[test]
fn images_are_pinned_by_digest() {
    let files = project("images");
    let images: Vec<&str> =
        files["Dockerfile"].lines().filter_map(|it| it.strip_prefix("FROM ")).collect();
    assert_eq!(images.len(), 2);
    for image in images {
        let digest = image.split_once("@sha256:").map_or("", |it| it.1);
        let digest = digest.split(' ').next().unwrap_or_default();
        assert!(digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{image}");
    }
}

#[test]
fn the_settings_for_bots_are_well_formed() {
    let files = project("bots");
    let dependabot: Value = serde_yaml::from_str(&files[".github/dependabot.yml"]).unwrap();
    let updates = dependabot["updates"].as_array().expect("it has updates");
    let ecosystems: Vec<_> = updates.iter().map(|it| it["package-ecosystem"].as_str()).collect();
    assert_eq!(ecosystems, [Some("cargo"), Some("github-actions"), Some("docker")]);
    let deny: toml::Table = files["deny.toml"].parse().unwrap();
    let sections: Vec<_> = deny.keys().map(String::as_str).collect();
    assert_eq!(sections, ["advisories", "bans", "graph", "licenses", "sources"]);
}

fn project(name: &str) -> std::collections::BTreeMap<String, String> {
    let dir = support::fresh(&format!("workflows/{name}"));
    support::done(&dir, "init --project-name memcached-operator --domain example.com");
    let files = support::tree(&dir);
    files
        .into_iter()
        .filter_map(|(path, bytes)| Some((path, String::from_utf8(bytes).ok()?)))
        .collect()
}
