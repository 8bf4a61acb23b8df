//! Images by digest instead of tag, in all places where operator-sdk's `--use-image-digests` replaces them.
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

/// Every image of a CSV that has no digest yet.
pub fn images(csv: &Value) -> BTreeSet<String> {
    let mut res = BTreeSet::new();
    // The same walk serves for changes, and needs a value of its own.
    let mut csv = csv.clone();
    fields(&mut csv, &mut |image| {
        res.insert(image.clone());
    });
    annotations(&mut csv, &mut |text| res.extend(found(text).map(|it| text[it].to_owned())));
    res.retain(|it| !it.is_empty() && !it.contains('@'));
    res
}

/// Replaces the images, and lists all of them in `relatedImages`.
pub fn pin(csv: &mut Value, digests: &Digests) {
    fields(csv, &mut |image| {
        if let Some(pinned) = pinned(image, digests) {
            *image = pinned;
        }
    });
    annotations(csv, &mut |text| replace(text, digests));
    if let Some(spec) = csv.get_mut("spec") {
        texts(spec, &mut |text| replace(text, digests));
    }
    relate(csv);
}

/// Says which images keep their tags, for operator-sdk replaces none of volumes.
pub fn unpinned(csv: &Value) -> Vec<String> {
    let mut res = Vec::new();
    for deployment in object::list(csv, "/spec/install/spec/deployments") {
        for (name, image) in related_images::volumes(deployment) {
            if !image.contains('@') {
                res.push(format!(
                    "the volume `{name}` of the Deployment `{}` has the image `{image}`, which keeps its tag and is not in `relatedImages`: name \
                     it with its registry, and set a variable `RELATED_IMAGE_*` of a container to it",
                    object::name_of(deployment)
                ));
            }
        }
    }
    res
}

fn pinned(image: &str, digests: &Digests) -> Option<String> {
    digests.get(image).map(|(name, digest)| format!("{name}@{digest}"))
}

fn replace(text: &mut String, digests: &Digests) {
    let all: Vec<_> = found(text).collect();
    for range in all.into_iter().rev() {
        if let Some(pinned) = pinned(&text[range.clone()], digests) {
            text.replace_range(range, &pinned);
        }
    }
}

/// The images of containers, of the variables `RELATED_IMAGE_*` and of `relatedImages`.
fn fields(csv: &mut Value, act: &mut dyn FnMut(&mut String)) {
    let list = |value: &mut Value, at: &str| -> Vec<Value> {
        value.pointer_mut(at).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default()
    };
    let related = "/spec/relatedImages";
    let deployments = "/spec/install/spec/deployments";
    for (at, is_deployment) in [(related, false), (deployments, true)] {
        let mut items = list(csv, at);
        for item in &mut items {
            if !is_deployment {
                text(item, "image", act);
                continue;
            }
            for containers in ["containers", "initContainers"] {
                let at = format!("/spec/template/spec/{containers}");
                let mut containers = list(item, &at);
                for container in &mut containers {
                    text(container, "image", act);
                    let mut variables = list(container, "/env");
                    let is_related =
                        |it: &&mut Value| object::name_of(it).starts_with("RELATED_IMAGE_");
                    variables.iter_mut().filter(is_related).for_each(|it| text(it, "value", act));
                    put_back(container, "/env", variables);
                }
                put_back(item, &at, containers);
            }
        }
        put_back(csv, at, items);
    }
}

fn put_back(value: &mut Value, at: &str, items: Vec<Value>) {
    if let Some(list) = value.pointer_mut(at).filter(|it| it.is_array()) {
        *list = items.into();
    }
}

fn text(value: &mut Value, field: &str, act: &mut dyn FnMut(&mut String)) {
    if let Some(Value::String(text)) = value.get_mut(field) {
        act(text);
    }
}

/// The values of every `metadata.annotations`.
fn annotations(value: &mut Value, act: &mut dyn FnMut(&mut String)) {
    if let Some(Value::Object(map)) = value.pointer_mut("/metadata/annotations") {
        for value in map.values_mut() {
            if let Value::String(text) = value {
                act(text);
            }
        }
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(|it| annotations(it, act)),
        Value::Array(list) => list.iter_mut().for_each(|it| annotations(it, act)),
        _ => {}
    }
}

/// Every string but those of `metadata`.
fn texts(value: &mut Value, act: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => act(text),
        Value::Array(list) => list.iter_mut().for_each(|it| texts(it, act)),
        Value::Object(map) => {
            map.iter_mut().filter(|it| it.0 != "metadata").for_each(|it| texts(it.1, act));
        }
        _ => {}
    }
}

/// Adds the images of containers and annotations that `relatedImages` lacks.
fn relate(csv: &mut Value) {
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
    annotations(csv, &mut |text| {
        for image in found(text).map(|it| &text[it]) {
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
        let has = |field, text: &str| related.iter().any(|it| object::text(it, field) == text);
        if !image.is_empty() && !has("/image", &image) {
            let name = if has("/name", &name) { longer } else { name };
            related.push(json!({ "name": name, "image": image }));
        }
    }
    if let Some(Value::Object(spec)) = csv.get_mut("spec").filter(|_| !related.is_empty()) {
        spec.insert("relatedImages".into(), related.into());
    }
}

/// Where images are in a text: names with a registry's domain, and with a tag or a digest.
fn found(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    static CANDIDATE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[a-zA-Z0-9/._@:-]+").expect("a regular expression"));
    static IMAGE: LazyLock<Regex> = LazyLock::new(|| {
        let word = "(?:[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]|[a-zA-Z0-9])";
        let registry = r"[a-zA-Z0-9][a-zA-Z0-9._-]*\.[a-zA-Z0-9._-]*[a-zA-Z0-9](?::[0-9]+)?";
        let tag = format!("(?::{word}|@sha256:[a-fA-F0-9]{{64}})");
        Regex::new(&format!("^{registry}/(?:{word}/)*{word}{tag}$")).expect("a regular expression")
    });
    let stripped = |it: regex_lite::Match| {
        let is_end = |c: char| !c.is_ascii_alphanumeric();
        let from = it.start() + it.as_str().len() - it.as_str().trim_start_matches(is_end).len();
        from..from + it.as_str().trim_matches(is_end).len()
    };
    let all: Vec<_> = CANDIDATE.find_iter(text).map(stripped).collect();
    all.into_iter().filter(|it| IMAGE.is_match(&text[it.clone()]))
}

#[test]
fn images_are_found_where_operator_sdk_finds_them() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(found(text).map(|it| &text[it]).collect::<Vec<_>>(), expected, "{text}");
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
    let found: Vec<String> = images(&csv).into_iter().collect();
    assert_eq!(found, ["nginx", "quay.io/a/b:v1", "quay.io/c/d:v2"]);
    let pinned = |name: &str| (name.to_owned(), "sha256:1".to_owned());
    let digests =
        [("nginx", "nginx"), ("quay.io/a/b:v1", "quay.io/a/b"), ("quay.io/c/d:v2", "quay.io/c/d")];
    pin(&mut csv, &digests.map(|(image, name)| (image.to_owned(), pinned(name))).into());
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
