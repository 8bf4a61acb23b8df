//! Catalogs with one fault each: `opm` refuses them, too, and ours names the line.

use serde_json::{Value, json};

use super::{blobs, oracle::Oracle, put, stream, support, verdict};

/// A catalog with one fault.
type Fault = (&'static str, fn(&mut Vec<Value>));

const PACKAGE: usize = 0;
const CANDIDATE: usize = 1;
const STABLE: usize = 2;
const FIRST: usize = 3;
const LAST: usize = 5;
const DEPRECATIONS: usize = 6;

const FAULTS: &[Fault] = &[
    ("package without a name", |it| it[PACKAGE]["name"] = json!("")),
    ("package twice", |it| it.push(it[PACKAGE].clone())),
    ("name in capitals", |it| rename(it, "Memcached")),
    ("name with dots", |it| rename(it, "mem.cached")),
    ("long name", |it| rename(it, &"m".repeat(64))),
    ("channel of another package", |it| it[STABLE]["package"] = json!("other")),
    ("channel without a name", |it| it[CANDIDATE]["name"] = json!("")),
    ("channel twice", |it| it[CANDIDATE]["name"] = json!("stable")),
    ("entry twice", |it| it[STABLE]["entries"][0]["name"] = json!("memcached.v1.1.0")),
    ("bundle without a package", |it| it[FIRST]["package"] = json!("")),
    ("bundle of another package", |it| it[FIRST]["package"] = json!("other")),
    ("bundle twice", |it| it.push(it[FIRST].clone())),
    ("property without a value", |it| {
        drop(it[FIRST]["properties"][0].as_object_mut().expect("an object").remove("value"))
    }),
    ("property of another type", |it| it[FIRST]["properties"][0]["value"]["kind"] = json!(5)),
    ("property that is a string", |it| it[FIRST]["properties"][0]["value"] = json!("v1")),
    ("no property of the package", |it| it[FIRST]["properties"] = json!([])),
    ("two properties of the package", |it| {
        let two = it[FIRST]["properties"][1].clone();
        it[FIRST]["properties"].as_array_mut().expect("a list").push(two);
    }),
    ("property of another package", |it| {
        it[FIRST]["properties"][1]["value"]["packageName"] = json!("other")
    }),
    ("image in capitals", |it| it[FIRST]["image"] = json!("quay.io/Example/bundle")),
    ("image with a space", |it| it[FIRST]["relatedImages"][0]["image"] = json!("quay.io/a b")),
    ("image with a short digest", |it| {
        it[FIRST]["image"] = json!(format!("quay.io/a@sha256:{}", "0".repeat(40)))
    }),
    ("image with a digest of another kind", |it| {
        it[FIRST]["image"] = json!(format!("quay.io/a@md5:{}", "0".repeat(32)))
    }),
    ("image that is an identifier", |it| it[FIRST]["image"] = json!("0a".repeat(32))),
    ("version of two numbers", |it| version(it, "1.0")),
    ("version with a zero", |it| version(it, "01.0.0")),
    ("version of a word", |it| version(it, "v1.0.0")),
    ("empty version", |it| version(it, "")),
    ("huge version", |it| version(it, "1.0.99999999999999999999")),
    ("version with an empty build", |it| version(it, "1.0.0+")),
    ("version with a bad build", |it| version(it, "1.0.0+a_b")),
    ("version with an empty pre-release", |it| version(it, "1.0.0-")),
    ("version with a bad pre-release", |it| version(it, "1.0.0-a_b")),
    ("version with a zero in its pre-release", |it| version(it, "1.0.0-01")),
    ("release of a word with a sign", |it| release(it, "a_b")),
    ("long release", |it| release(it, &"1".repeat(21))),
    ("release that the name lacks", |it| release(it, "2")),
    ("release beside build metadata", |it| {
        version(it, "1.0.0+a");
        release(it, "2");
    }),
    ("bundle in no channel", |it| {
        it[FIRST]["name"] = json!("memcached.v9.0.0");
        it[DEPRECATIONS]["entries"] = json!([]);
    }),
    ("entry without a bundle", |it| drop(it.remove(FIRST))),
    ("entry without a bundle in a channel that opm forgets", |it| {
        it[CANDIDATE]["entries"]
            .as_array_mut()
            .expect("a list")
            .push(json!({"name": "memcached.v0.1.0"}));
        it[CANDIDATE]["entries"][0]["replaces"] = json!("memcached.v0.1.0");
    }),
    ("no default channel", |it| it[PACKAGE]["defaultChannel"] = json!("")),
    ("default channel that is missing", |it| it[PACKAGE]["defaultChannel"] = json!("fast")),
    ("package without channels", |it| it.push(json!({"schema": "olm.package", "name": "other"}))),
    ("same versions", |it| it[LAST]["properties"][1]["value"]["version"] = json!("1.1.0")),
    ("two heads", |it| it[STABLE]["entries"][2] = json!({"name": "memcached.v1.2.0"})),
    ("no head", |it| it[STABLE]["entries"][0]["replaces"] = json!("memcached.v1.2.0")),
    ("cycle below the head", |it| {
        it[STABLE]["entries"][0]["replaces"] = json!("memcached.v1.1.0");
        it[STABLE]["entries"][2]["skips"] = json!([]);
    }),
    ("stranded bundle", |it| {
        it[STABLE]["entries"][1] =
            json!({"name": "memcached.v1.1.0", "replaces": "memcached.v1.1.0"});
        it[STABLE]["entries"][2] =
            json!({"name": "memcached.v1.2.0", "replaces": "memcached.v1.0.0"});
    }),
    ("empty skip", |it| it[STABLE]["entries"][2]["skips"] = json!(["memcached.v1.1.0", ""])),
    ("range of a word", |it| it[STABLE]["entries"][2]["skipRange"] = json!("abc")),
    ("range with another operator", |it| it[STABLE]["entries"][2]["skipRange"] = json!("^1.0.0")),
    ("range of half a version", |it| it[STABLE]["entries"][2]["skipRange"] = json!(">=1.0 <2.0.0")),
    ("range that ends in or", |it| it[STABLE]["entries"][2]["skipRange"] = json!("1.0.0 ||")),
    ("range that begins with or", |it| it[STABLE]["entries"][2]["skipRange"] = json!("|| 1.0.0")),
    ("bundle without an image", |it| it[FIRST]["image"] = json!("")),
    ("manifest that is no base64", |it| {
        it[FIRST]["properties"][0] = json!({"type": "olm.bundle.object", "value": {"data": "a?"}})
    }),
    ("metadata of another type", |it| {
        it[FIRST]["properties"][0] = json!({"type": "olm.csv.metadata", "value": []})
    }),
    ("deprecation without a package", |it| it[DEPRECATIONS]["package"] = json!("")),
    ("deprecation of another package", |it| it[DEPRECATIONS]["package"] = json!("other")),
    ("deprecations twice", |it| it.push(it[DEPRECATIONS].clone())),
    ("deprecation without a schema", |it| {
        it[DEPRECATIONS]["entries"][0]["reference"]["schema"] = json!("")
    }),
    ("deprecation twice", |it| {
        it[DEPRECATIONS]["entries"] =
            json!([it[DEPRECATIONS]["entries"][0], it[DEPRECATIONS]["entries"][0]])
    }),
    ("deprecation of a missing bundle", |it| {
        it[DEPRECATIONS]["entries"][0]["reference"]["name"] = json!("x")
    }),
    ("deprecation of a missing channel", |it| {
        it[DEPRECATIONS]["entries"][0]["reference"] = json!({"schema": "olm.channel", "name": "x"})
    }),
    ("deprecation of a package by its name", |it| {
        it[DEPRECATIONS]["entries"][0]["reference"] =
            json!({"schema": "olm.package", "name": "memcached"})
    }),
    ("deprecation of another schema", |it| {
        it[DEPRECATIONS]["entries"][0]["reference"]["schema"] = json!("olm.other")
    }),
    ("deprecation without a message", |it| it[DEPRECATIONS]["entries"][0]["message"] = json!("")),
    ("blob without a schema", |it| it.push(json!({"name": "x"}))),
    ("number for a name", |it| it[FIRST]["name"] = json!(5)),
    ("key twice in two cases", |it| it[FIRST]["Name"] = json!("x")),
    ("number for a channel", |it| it[PACKAGE]["defaultChannel"] = json!(5)),
    ("entries that are a map", |it| it[STABLE]["entries"] = json!({})),
    ("entry that is a string", |it| it[STABLE]["entries"][0] = json!("memcached.v1.0.0")),
    ("skips that are a string", |it| it[STABLE]["entries"][2]["skips"] = json!("memcached.v1.1.0")),
    ("icon that is no base64", |it| {
        it[PACKAGE]["icon"] = json!({"base64data": "%", "mediatype": "image/png"})
    }),
    ("document that is a list", |it| it.push(json!([1]))),
];

fn rename(blobs: &mut [Value], name: &str) {
    blobs[PACKAGE]["name"] = json!(name);
    for blob in &mut blobs[CANDIDATE..] {
        blob["package"] = json!(name);
    }
    for bundle in &mut blobs[FIRST..=LAST] {
        bundle["properties"][1]["value"]["packageName"] = json!(name);
    }
}

fn version(blobs: &mut [Value], version: &str) {
    blobs[FIRST]["properties"][1]["value"]["version"] = json!(version);
}

fn release(blobs: &mut [Value], release: &str) {
    blobs[FIRST]["properties"][1]["value"]["release"] = json!(release);
}

#[test]
fn a_catalog_without_a_fault_is_valid() {
    let dir = put("catalog-valid", stream(&blobs()).as_bytes());
    assert_eq!(verdict(&dir), None);
    assert_eq!(support::done(&dir, "catalog validate"), "catalog is valid\n");
}

#[test]
fn each_fault_is_refused_as_opm_refuses_it() {
    let mut oracle = Oracle::start();
    let mut wrong = Vec::new();
    for (name, edit) in FAULTS {
        let mut blobs = blobs();
        edit(&mut blobs);
        let dir = put("catalog-fault", stream(&blobs).as_bytes());
        if verdict(&dir).is_none() {
            wrong.push(format!("{name}: valid for us"));
        }
        let Some(oracle) = &mut oracle else { continue };
        if oracle.ask(&json!({"Validate": dir.join("catalog")})).is_ok() {
            wrong.push(format!("{name}: valid for opm"));
        }
    }
    assert!(FAULTS.len() >= 40);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FAULTS.len(), wrong.join("\n"));
}

#[test]
fn a_fault_has_its_file_and_line_and_all_are_reported_at_once() {
    let text = "schema: olm.package\nname: a\ndefaultChannel: stable\n---\nschema: olm.channel\nname: stable\npackage: b\n---\n# a comment\nschema: olm.bundle\nname: a.v1\npackage: a\nimage: x\n";
    let dir = put("catalog-lines", text.as_bytes());
    let said =
        support::said(&support::operator_rs(&dir, "--message-format short catalog validate"));
    for line in [
        "catalog/catalog.yaml:5:1: error: unknown package \"b\" for channel \"stable\"",
        "catalog/catalog.yaml:10:1: error: package \"a\" bundle \"a.v1\" must have exactly 1 \"olm.package\" property, found 0",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
}

#[test]
fn a_comment_is_no_document_of_its_own() {
    let dir = put("catalog-comment", format!("# a comment\n{}", stream(&blobs())).as_bytes());
    let ours = verdict(&dir).expect("it is refused");
    assert_eq!(ours, "this document has no blob");
    if let Some(mut oracle) = Oracle::start() {
        let theirs = oracle.ask(&json!({"Validate": dir.join("catalog")}));
        assert_eq!(theirs.unwrap_err(), "object '' is missing root schema field");
    }
}
