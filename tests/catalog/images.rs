//! Images of catalogs and bundles in a real registry, read by `opm` and by ours.

use std::fs;

use serde_json::Value;

use super::{
    blobs, put,
    registry::{Demands, Registry},
    sorted, stream, support, values,
};

#[test]
fn a_pushed_catalog_is_what_opm_renders_and_so_are_templates_of_pushed_bundles() {
    let dir = put("catalog-images", stream(&blobs()).as_bytes());
    fs::write(dir.join("catalog/README.md"), "not: [yaml\n").expect("it can be written");
    fs::write(dir.join("catalog/.indexignore"), "README.md\n").expect("it can be written");
    let example = support::home().join("examples/memcached-operator");
    support::put(&support::tree(&example.join("bundle")), &dir.join("bundle"));
    fs::copy(example.join("bundle.Dockerfile"), dir.join("bundle.Dockerfile"))
        .expect("it is there");
    let Some(registry) = Registry::start(&dir, &Demands::default()) else { return };
    let image = format!("{}/example/catalog:v1", registry.address);
    support::done(&dir, &format!("catalog push {image}"));
    let bundle = format!("{}/example/memcached-bundle:v0.0.1", registry.address);
    support::done(&dir, &format!("bundle push {bundle}"));
    support::done(&dir, "catalog build --archive first.tar");
    support::done(&dir, "catalog build --archive second.tar");
    let archive = |name: &str| fs::read(dir.join(name)).expect("it is written");
    assert!(archive("first.tar") == archive("second.tar"), "two builds differ");

    let template = format!("schema: olm.semver\nstable:\n  bundles:\n  - image: {bundle}\n");
    fs::write(dir.join("template.yaml"), template).expect("it can be written");
    let of_folder = sorted(values(&support::done(&dir, "catalog render catalog")));
    assert_eq!(sorted(values(&support::done(&dir, &format!("catalog render {image}")))), of_folder);
    assert_eq!(sorted(values(&support::done(&dir, "catalog render first.tar"))), of_folder);
    support::done(&dir, &format!("catalog validate {image}"));
    // An image that was pulled from another registry than the catalog's clients will use.
    let elsewhere = "--image quay.io/prod/memcached-bundle:v{{.Version}}";
    let rendered = support::done(&dir, &format!("catalog render {bundle} {elsewhere}"));
    support::done(&dir, &format!("catalog add {bundle} --catalog other {elsewhere}"));
    let added = fs::read_to_string(dir.join("other/memcached-operator.v0.0.1.yaml"));
    for text in [rendered, added.expect("it is written")] {
        assert!(text.contains("quay.io/prod/memcached-bundle:v0.0.1"), "{text}");
        assert!(!text.contains(&registry.address), "{text}");
    }
    let Some(opm) = support::tool("opm") else { return };
    let policy = dir.join("home/.config/containers");
    fs::create_dir_all(&policy).expect("it can be made");
    let anything = r#"{"default": [{"type": "insecureAcceptAnything"}]}"#;
    fs::write(policy.join("policy.json"), anything).expect("it can be written");
    let theirs = |words: &[&str]| {
        let mut command = support::command(&opm, &dir);
        command.args(words).env("HOME", dir.join("home")).env_remove("XDG_RUNTIME_DIR");
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", support::said(&output));
        sorted(values(&String::from_utf8_lossy(&output.stdout)))
    };
    assert_eq!(theirs(&["render", &image, "--use-http"]), of_folder);
    let ours = sorted(values(&support::done(&dir, &format!("catalog render {bundle}"))));
    assert_eq!(theirs(&["render", &bundle, "--use-http"]), ours);
    let flag = "--alpha-image-ref-template=quay.io/a/b:v1";
    assert_eq!(theirs(&["render", &bundle, "--use-http", flag]), ours);
    let found = support::done(&dir, &format!("catalog render {bundle} {flag}"));
    assert_eq!(sorted(values(&found)), ours);
    for migration in ["none", "bundle-object-to-csv-metadata"] {
        let words = format!("catalog render-template template.yaml --migrate-level {migration}");
        let ours = sorted(values(&support::done(&dir, &words)));
        let level = format!("--migrate-level={migration}");
        let words = ["alpha", "render-template", "template.yaml", "--use-http", "-o=json", &level];
        assert_eq!(theirs(&words), ours);
    }
}

/// An archive of the catalog whose label for its directory says this.
fn labelled(dir: &std::path::Path, label: &str) {
    support::done(dir, "catalog build --format docker --platform linux/amd64 --archive plain.tar");
    let plain = fs::File::open(dir.join("plain.tar")).expect("it is written");
    let file = fs::File::create(dir.join("labelled.tar")).expect("it can be written");
    let mut labelled = tar::Builder::new(file);
    for entry in tar::Archive::new(plain).entries().expect("a tar file") {
        let mut entry = entry.expect("a tar file");
        let mut path = entry.path().expect("a path").display().to_string();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).expect("a tar file");
        if path.ends_with(".json") {
            let mut json: Value = serde_json::from_slice(&bytes).expect("JSON");
            if path == "manifest.json" {
                json[0]["Config"] = Value::from("config");
            } else {
                path = "config".to_owned();
                json["config"]["Labels"][LABEL] = Value::from(label);
            }
            bytes = json.to_string().into_bytes();
        }
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        labelled.append_data(&mut header, path, &*bytes).expect("it can be written");
    }
    labelled.finish().expect("it can be written");
}

const LABEL: &str = "operators.operatorframework.io.index.configs.v1";

#[test]
fn a_catalog_is_where_the_label_of_its_image_says() {
    let dir = put("catalog-label", stream(&blobs()).as_bytes());
    let expected = sorted(values(&support::done(&dir, "catalog render catalog")));
    for label in ["/configs", "configs/", "/", "", "/./configs//", "/other/../configs"] {
        labelled(&dir, label);
        let found = sorted(values(&support::done(&dir, "catalog render labelled.tar")));
        assert_eq!(found, expected, "{label}");
        support::done(&dir, "catalog validate labelled.tar");
    }
    for (label, expected) in [
        ("/gone", "`labelled.tar` has no directory `/gone`, which its label"),
        ("/configs/catalog.yaml", "has no directory `/configs/catalog.yaml`"),
        ("../../etc", "leads out of the image: `../../etc`"),
        ("/../configs/", "leads out of the image: `/../configs/`"),
    ] {
        labelled(&dir, label);
        for command in ["render", "validate"] {
            let output = support::operator_rs(&dir, &format!("catalog {command} labelled.tar"));
            let said = support::said(&output);
            assert_eq!(output.status.code(), Some(1), "{label}: {said}");
            assert!(said.contains(expected), "{label}: {said}");
        }
    }
}
