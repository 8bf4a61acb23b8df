//! `--use-image-digests` beside operator-sdk's, with a registry on this machine; then without any.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use super::{CSV, bundle, object, objects, oracle, registry::Registry};
use crate::support;

/// Pushes a bundle of one label as an image: any image will do.
fn push(dir: &Path, image: &str) {
    let output = support::operator_rs(dir, &format!("bundle push {image}"));
    assert!(output.status.success(), "{}", support::said(&output));
}

/// Objects that name both images in every place where operator-sdk looks.
fn with_images(manager: &str, operand: &str) -> Vec<Value> {
    let mut objects = objects();
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    csv["metadata"]["annotations"]["containerImage"] = json!(manager);
    csv["metadata"]["annotations"]["note"] = json!(format!("runs {operand}, and not a:1"));
    let deployment = object(&mut objects, "Deployment", "manager");
    let pod = &mut deployment["spec"]["template"]["spec"];
    pod["containers"][0]["image"] = json!(manager);
    pod["containers"][0]["env"] = json!([
        { "name": "RELATED_IMAGE_MY_OPERAND", "value": operand },
        { "name": "OTHER", "value": operand },
    ]);
    pod["initContainers"] = json!([{ "name": "init", "image": operand }]);
    let sample = object(&mut objects, "Memcached", "");
    sample["metadata"]["annotations"] = json!({ "image": operand });
    objects
}

/// The images of `relatedImages`, taken out of the CSV.
fn related(made: &mut oracle::Made) -> BTreeSet<String> {
    let spec = made.0.get_mut(CSV).expect("it is there")["spec"].as_object_mut().expect("a map");
    let list = spec.remove("relatedImages").unwrap_or_default();
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().map(|it| it["image"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn images_have_the_digests_of_operator_sdk() {
    let store = support::fresh("digests-registry");
    let Some(registry) = Registry::start(&store, &super::registry::Demands::default()) else {
        return;
    };
    let address = registry.address.replace("localhost", "127.0.0.1");
    let (manager, operand) = (format!("{address}/example/it:v1"), format!("{address}/operand:1.6"));
    let (source, output) = bundle("digests-source", &objects(), &[]);
    assert!(output.status.success(), "{}", support::said(&output));
    push(&source, &manager);
    let again = support::operator_rs(&source, "bundle --input objects.yaml --channels fast");
    assert!(again.status.success(), "{}", support::said(&again));
    push(&source, &operand);

    let objects = with_images(&manager, &operand);
    let words = [&oracle::CHANNELS[..], &["--use-image-digests"]].concat();
    let (dir, output) = bundle("digests", &objects, &words);
    assert!(output.status.success(), "{}", support::said(&output));
    let mut ours = oracle::made_in(&dir);
    let csv = ours.0[CSV].to_string();
    assert!(!csv.contains(":v1\"") && !csv.contains("operand:1.6"), "{csv}");
    let images = related(&mut ours);
    assert_eq!(images.len(), 2, "{images:?}");
    let text = super::stream(&objects);
    if let Some((their_dir, output)) =
        oracle::run_with("digests", "memcached-operator", &text, &words)
    {
        assert!(output.status.success(), "{}", support::said(&output));
        let mut theirs = oracle::made_in(&their_dir);
        assert_eq!(related(&mut theirs), images);
        // In an ordinary variable, operator-sdk replaces the image as we do.
        assert_eq!(oracle::difference(theirs, ours, &objects), None);
    }

    // The lock file is enough, whether or not there is a registry.
    let run = |words: &str| {
        let words = format!("bundle --input objects.yaml --use-image-digests {words}");
        let output = support::command(support::BINARY, &dir)
            .args(words.split(' ').filter(|it| !it.is_empty()))
            .args(oracle::CHANNELS)
            .output()
            .expect("the binary starts");
        (output.status.code(), support::said(&output))
    };
    assert_eq!(run("--check").0, Some(0));
    // The tag of the operator moves: told, and locked again.
    let again = support::operator_rs(&source, "bundle --input objects.yaml --channels slow");
    assert!(again.status.success(), "{}", support::said(&again));
    push(&source, &manager);
    assert_eq!(run("--check --offline").0, Some(0));
    let (code, said) = run("--check");
    assert!(code == Some(1) && said.contains(&format!("`{manager}` is now sha256:")), "{said}");
    assert_eq!(run("").0, Some(0));
    drop(registry);
    let before = support::tree(&dir);
    assert_eq!(run("--offline").0, Some(0));
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
    let (code, said) = run("");
    assert!(code == Some(1) && said.contains("cannot resolve the digest of"), "{said}");
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
}

#[test]
fn without_its_digest_an_image_is_refused() {
    let objects = with_images("quay.io/example/it:v1", "memcached:1.6");
    let refused = |name: &str, lock: Option<&str>, words: &[&str], code: i32, expected: &str| {
        let dir = support::fresh(name);
        super::project(&dir);
        fs::write(dir.join("objects.yaml"), super::stream(&objects)).expect("it is ours");
        if let Some(lock) = lock {
            fs::create_dir_all(dir.join("config/manifests")).expect("it is ours");
            fs::write(dir.join("config/manifests/image-digests.yaml"), lock).expect("it is ours");
        }
        let output = support::command(support::BINARY, &dir)
            .args(["bundle", "--input", "objects.yaml"])
            .args(words)
            .output()
            .expect("the binary starts");
        let said = support::said(&output);
        assert!(output.status.code() == Some(code) && said.contains(expected), "{name}: {said}");
        assert!(!dir.join("bundle").exists(), "{name}");
    };
    let offline = ["--use-image-digests", "--offline"];
    refused(
        "digest-missing",
        None,
        &offline,
        1,
        "config/manifests/image-digests.yaml has no digest of `memcached:1.6`",
    );
    refused("lock-list", Some("- a\n"), &offline, 1, "expected a map");
    refused(
        "lock-short",
        Some("a: sha256:0\n"),
        &offline,
        1,
        "`sha256:0` must be `sha256:` and 64",
    );
    refused("lock-yaml", Some("a: [\n"), &offline, 1, "config/manifests/image-digests.yaml:");
    refused("flag-alone", None, &["--offline"], 2, "--use-image-digests");
    refused(
        "registry-flag-alone",
        None,
        &["--plain-http"],
        2,
        "`--plain-http` requires `--use-image-digests`: without it, no registry is contacted",
    );
}
