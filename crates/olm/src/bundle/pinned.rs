//! Replaces tags of images by digests, in all fields where operator-sdk's `--use-image-digests` replaces them.
//!
//! operator-sdk overwrites whole lists and maps with a text if an image is in one of their strings; here, only the
//! image in the string is replaced. It lists an image once for each place that uses it; here, `relatedImages` has each
//! image once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex_lite::Regex;

use super::{object, related_images};
use go_data::yaml::{Value, json};

/// An image's name without tag and digest, and its digest, by the name in the manifests.
pub type Digests = BTreeMap<String, (String, String)>;

/// Returns every image of a CSV that has no digest yet.
pub fn images_without_digest(csv: &Value) -> BTreeSet<String> {
    let mut images = BTreeSet::new();
    // The traversal can change values, so it works on a copy.
    let mut csv = csv.clone();
    for_each_image_field(&mut csv, &mut |image| {
        images.insert(image.clone());
    });
    for_each_annotation(&mut csv, &mut |text| {
        images.extend(find_images(text).map(|range| text[range].to_owned()))
    });
    images.retain(|image| !image.is_empty() && !image.contains('@'));
    images
}

/// Replaces the images, and lists all of them in `relatedImages`.
pub fn replace_images(csv: &mut Value, digests: &Digests) {
    for_each_image_field(csv, &mut |image| {
        if let Some(pinned) = image_with_digest(image, digests) {
            *image = pinned;
        }
    });
    for_each_annotation(csv, &mut |text| replace_in_text(text, digests));
    if let Some(spec) = csv.get_mut("spec") {
        for_each_text(spec, &mut |text| replace_in_text(text, digests));
    }
    add_related_images(csv);
}

/// Warns of images of volumes, which keep their tags, because operator-sdk does not replace them.
pub fn unpinned_volume_warnings(csv: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for deployment in object::list(csv, "/spec/install/spec/deployments") {
        for (name, image) in related_images::image_volumes(deployment) {
            if !image.contains('@') {
                warnings.push(format!(
                    "the volume `{name}` of the Deployment `{}` has the image `{image}`, which keeps its tag and is not in `relatedImages`: name \
                     it with its registry, and set a variable `RELATED_IMAGE_*` of a container to it",
                    object::name_of(deployment)
                ));
            }
        }
    }
    warnings
}

fn image_with_digest(image: &str, digests: &Digests) -> Option<String> {
    digests.get(image).map(|(name, digest)| format!("{name}@{digest}"))
}

fn replace_in_text(text: &mut String, digests: &Digests) {
    let ranges: Vec<_> = find_images(text).collect();
    for range in ranges.into_iter().rev() {
        if let Some(pinned) = image_with_digest(&text[range.clone()], digests) {
            text.replace_range(range, &pinned);
        }
    }
}

/// Visits the images of containers, of the variables `RELATED_IMAGE_*` and of `relatedImages`.
fn for_each_image_field(csv: &mut Value, act: &mut dyn FnMut(&mut String)) {
    let list = |value: &mut Value, at: &str| -> Vec<Value> {
        value.pointer_mut(at).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default()
    };
    let related = "/spec/relatedImages";
    let deployments = "/spec/install/spec/deployments";
    for (at, is_deployment) in [(related, false), (deployments, true)] {
        let mut items = list(csv, at);
        for item in &mut items {
            if !is_deployment {
                visit_text_field(item, "image", act);
                continue;
            }
            for containers in ["containers", "initContainers"] {
                let at = format!("/spec/template/spec/{containers}");
                let mut containers = list(item, &at);
                for container in &mut containers {
                    visit_text_field(container, "image", act);
                    let mut variables = list(container, "/env");
                    let is_related = |variable: &&mut Value| {
                        object::name_of(variable).starts_with("RELATED_IMAGE_")
                    };
                    variables
                        .iter_mut()
                        .filter(is_related)
                        .for_each(|variable| visit_text_field(variable, "value", act));
                    put_back(container, "/env", variables);
                }
                put_back(item, &at, containers);
            }
        }
        put_back(csv, at, items);
    }
}

fn put_back(value: &mut Value, at: &str, items: Vec<Value>) {
    if let Some(list) = value.pointer_mut(at).filter(|value| value.is_array()) {
        *list = items.into();
    }
}

fn visit_text_field(value: &mut Value, field: &str, act: &mut dyn FnMut(&mut String)) {
    if let Some(Value::String(text)) = value.get_mut(field) {
        act(text);
    }
}

/// Visits the values of every `metadata.annotations`.
fn for_each_annotation(value: &mut Value, act: &mut dyn FnMut(&mut String)) {
    if let Some(Value::Object(map)) = value.pointer_mut("/metadata/annotations") {
        for value in map.values_mut() {
            if let Value::String(text) = value {
                act(text);
            }
        }
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(|value| for_each_annotation(value, act)),
        Value::Array(list) => list.iter_mut().for_each(|value| for_each_annotation(value, act)),
        _ => {}
    }
}

/// Visits every string except those of `metadata`.
fn for_each_text(value: &mut Value, act: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => act(text),
        Value::Array(list) => list.iter_mut().for_each(|value| for_each_text(value, act)),
        Value::Object(map) => {
            map.iter_mut()
                .filter(|entry| entry.0 != "metadata")
                .for_each(|entry| for_each_text(entry.1, act));
        }
        _ => {}
    }
}

/// Adds the images of containers and annotations that `relatedImages` lacks.
fn add_related_images(csv: &mut Value) {
    let mut found_in = Vec::new();
    for deployment in object::list(csv, "/spec/install/spec/deployments") {
        for at in ["/spec/template/spec/containers", "/spec/template/spec/initContainers"] {
            for container in object::list(deployment, at) {
                let name = object::name_of(container).to_owned();
                let longer = format!("{}-{name}", object::name_of(deployment));
                found_in.push((name, longer, object::text(container, "/image").to_owned()));
            }
        }
    }
    for_each_annotation(csv, &mut |text| {
        for image in find_images(text).map(|range| &text[range]) {
            let (name, tag) =
                image.split_once('@').or_else(|| image.rsplit_once(':')).unwrap_or((image, ""));
            let repository = name.rsplit('/').next().unwrap_or(name);
            let tag = tag.trim_start_matches("sha256:");
            let name = format!("{repository}-{tag}-annotation");
            found_in.push((name.clone(), name, image.to_owned()));
        }
    });
    let mut related = object::list(csv, "/spec/relatedImages").to_vec();
    for (name, longer, image) in found_in {
        let has =
            |field, text: &str| related.iter().any(|entry| object::text(entry, field) == text);
        if !image.is_empty() && !has("/image", &image) {
            let name = if has("/name", &name) { longer } else { name };
            related.push(json!({ "name": name, "image": image }));
        }
    }
    if let Some(Value::Object(spec)) = csv.get_mut("spec").filter(|_| !related.is_empty()) {
        spec.insert("relatedImages".into(), related.into());
    }
}

/// Finds the images in a text: names with the domain of a registry, and with a tag or a digest.
fn find_images(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    static CANDIDATE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[a-zA-Z0-9/._@:-]+").expect("a regular expression"));
    static IMAGE: LazyLock<Regex> = LazyLock::new(|| {
        let word = "(?:[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]|[a-zA-Z0-9])";
        let registry = r"[a-zA-Z0-9][a-zA-Z0-9._-]*\.[a-zA-Z0-9._-]*[a-zA-Z0-9](?::[0-9]+)?";
        let tag = format!("(?::{word}|@sha256:[a-fA-F0-9]{{64}})");
        Regex::new(&format!("^{registry}/(?:{word}/)*{word}{tag}$")).expect("a regular expression")
    });
    let stripped = |found: regex_lite::Match| {
        let is_end = |c: char| !c.is_ascii_alphanumeric();
        let from =
            found.start() + found.as_str().len() - found.as_str().trim_start_matches(is_end).len();
        from..from + found.as_str().trim_matches(is_end).len()
    };
    let candidates: Vec<_> = CANDIDATE.find_iter(text).map(stripped).collect();
    candidates.into_iter().filter(|range| IMAGE.is_match(&text[range.clone()]))
}

#[test]
fn images_are_found_where_operator_sdk_finds_them() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(find_images(text).map(|it| &text[it]).collect::<Vec<_>>(), expected, "{text}");
    };
    check("quay.io/a/b:v1", &["quay.io/a/b:v1"]);
    check(
        "see (quay.io/a/b:v1), or \"docker.io:5000/b:1.0-rc_1.\"",
        &["quay.io/a/b:v1", "docker.io:5000/b:1.0-rc_1"],
    );
    check("--image=quay.io/a:v1", &["quay.io/a:v1"]);
    check("quay.io/a/b, memcached:1.6, https://example.com/a:1, 1/2:3", &[]);
    let digest = "0".repeat(64);
    check(&format!("quay.io/a@sha256:{digest}"), &[&format!("quay.io/a@sha256:{digest}")]);
    check("quay.io/ä:v1 \u{1f980} quay.io/a:v1", &["quay.io/a:v1"]);
}

#[test]
fn only_the_image_in_a_string_is_replaced() {
    let pod = json!({
        "containers": [{
            "name": "a", "image": "nginx", "args": ["nginx", "--image=quay.io/a/b:v1"],
            "env": [{ "name": "RELATED_IMAGE_B", "value": "quay.io/a/b:v1" }, { "name": "C", "value": "nginx" }],
        }],
    });
    let mut csv = json!({
        "metadata": { "name": "nginx", "annotations": { "containerImage": "quay.io/c/d:v2" } },
        "spec": {
            "description": "runs quay.io/a/b:v1",
            "install": { "spec": { "deployments": [{ "name": "d", "spec": { "template": { "spec": pod } } }] } },
            "relatedImages": [{ "name": "b", "image": "quay.io/a/b:v1" }, { "name": "a", "image": "x@sha256:0" }],
        },
    });
    let found: Vec<String> = images_without_digest(&csv).into_iter().collect();
    assert_eq!(found, ["nginx", "quay.io/a/b:v1", "quay.io/c/d:v2"]);
    let pinned = |name: &str| (name.to_owned(), "sha256:1".to_owned());
    let digests =
        [("nginx", "nginx"), ("quay.io/a/b:v1", "quay.io/a/b"), ("quay.io/c/d:v2", "quay.io/c/d")];
    replace_images(&mut csv, &digests.map(|(image, name)| (image.to_owned(), pinned(name))).into());
    let pod = json!({
        "containers": [{
            "name": "a", "image": "nginx@sha256:1", "args": ["nginx", "--image=quay.io/a/b@sha256:1"],
            "env": [{ "name": "RELATED_IMAGE_B", "value": "quay.io/a/b@sha256:1" }, { "name": "C", "value": "nginx" }],
        }],
    });
    let expected = json!({
        "metadata": { "name": "nginx", "annotations": { "containerImage": "quay.io/c/d@sha256:1" } },
        "spec": {
            "description": "runs quay.io/a/b@sha256:1",
            "install": { "spec": { "deployments": [{ "name": "d", "spec": { "template": { "spec": pod } } }] } },
            // The digest is too short to be found in an annotation.
            "relatedImages": [
                { "name": "b", "image": "quay.io/a/b@sha256:1" }, { "name": "a", "image": "x@sha256:0" },
                { "name": "d-a", "image": "nginx@sha256:1" },
            ],
        },
    });
    assert_eq!(csv, expected);
}
