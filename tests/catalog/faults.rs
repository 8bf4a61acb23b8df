//! Catalogs with one fault each: `opm` refuses them in the same words, and ours names the line.

use serde_json::{Value, json};

use super::{
    blobs,
    oracle::{self, Oracle},
    put, stream, support, verdict,
};

/// A catalog with one fault, and a part of what `opm` says of it.
type Fault = (&'static str, fn(&mut Vec<Value>), &'static str);

const PACKAGE: usize = 0;
const CANDIDATE: usize = 1;
const STABLE: usize = 2;
const FIRST: usize = 3;
const LAST: usize = 5;
const DEPRECATIONS: usize = 6;

const FAULTS: &[Fault] = &[
    (
        "package without a name",
        |it| it[PACKAGE]["name"] = json!(""),
        "config contains package with no name",
    ),
    ("package twice", |it| it.push(it[PACKAGE].clone()), "duplicate package \"memcached\""),
    (
        "name in capitals",
        |it| rename(it, "Memcached"),
        "invalid package name \"Memcached\": [a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
    ),
    (
        "name with dots",
        |it| rename(it, "mem.cached"),
        "invalid package name \"mem.cached\": [must not contain dots]",
    ),
    ("long name", |it| rename(it, &"m".repeat(64)), "must be no more than 63 characters"),
    (
        "channel of another package",
        |it| it[STABLE]["package"] = json!("other"),
        "unknown package \"other\" for channel \"stable\"",
    ),
    (
        "channel without a name",
        |it| it[CANDIDATE]["name"] = json!(""),
        "package \"memcached\" contains channel with no name",
    ),
    (
        "channel twice",
        |it| it[CANDIDATE]["name"] = json!("stable"),
        "package \"memcached\" has duplicate channel \"stable\"",
    ),
    (
        "entry twice",
        |it| it[STABLE]["entries"][0]["name"] = json!("memcached.v1.1.0"),
        "invalid package \"memcached\", channel \"stable\": duplicate entry \"memcached.v1.1.0\"",
    ),
    (
        "bundle without a package",
        |it| it[FIRST]["package"] = json!(""),
        "package name must be set for bundle \"memcached.v1.0.0\"",
    ),
    (
        "bundle of another package",
        |it| it[FIRST]["package"] = json!("other"),
        "unknown package \"other\" for bundle \"memcached.v1.0.0\"",
    ),
    (
        "bundle twice",
        |it| it.push(it[FIRST].clone()),
        "package \"memcached\" has duplicate bundle \"memcached.v1.0.0\"",
    ),
    (
        "property without a value",
        |it| drop(it[FIRST]["properties"][0].as_object_mut().expect("an object").remove("value")),
        "parse properties for bundle \"memcached.v1.0.0\": parse property[0] of type \"olm.gvk\": unexpected end of JSON input",
    ),
    (
        "property of another type",
        |it| it[FIRST]["properties"][0]["value"]["kind"] = json!(5),
        "json: cannot unmarshal number into Go struct field GVK.kind of type string",
    ),
    (
        "property that is a string",
        |it| it[FIRST]["properties"][0]["value"] = json!("v1"),
        "json: cannot unmarshal string into Go value of type property.GVK",
    ),
    (
        "no property of the package",
        |it| it[FIRST]["properties"] = json!([]),
        "package \"memcached\" bundle \"memcached.v1.0.0\" must have exactly 1 \"olm.package\" property, found 0",
    ),
    (
        "two properties of the package",
        |it| {
            let two = it[FIRST]["properties"][1].clone();
            it[FIRST]["properties"].as_array_mut().expect("a list").push(two);
        },
        "must have exactly 1 \"olm.package\" property, found 2",
    ),
    (
        "property of another package",
        |it| it[FIRST]["properties"][1]["value"]["packageName"] = json!("other"),
        "package \"memcached\" does not match \"olm.package\" property \"other\"",
    ),
    (
        "image in capitals",
        |it| it[FIRST]["image"] = json!("quay.io/Example/bundle"),
        "image: invalid image pull spec \"quay.io/Example/bundle\": invalid reference format: repository name must be lowercase",
    ),
    (
        "image with a space",
        |it| it[FIRST]["relatedImages"][0]["image"] = json!("quay.io/a b"),
        "relatedImages[0].image: invalid image pull spec \"quay.io/a b\": invalid reference format",
    ),
    (
        "image with a short digest",
        |it| it[FIRST]["image"] = json!(format!("quay.io/a@sha256:{}", "0".repeat(40))),
        "invalid checksum digest length",
    ),
    (
        "image with a digest of another kind",
        |it| it[FIRST]["image"] = json!(format!("quay.io/a@md5:{}", "0".repeat(32))),
        "unsupported digest algorithm",
    ),
    (
        "image that is an identifier",
        |it| it[FIRST]["image"] = json!("0a".repeat(32)),
        "cannot specify 64-byte hexadecimal strings",
    ),
    (
        "version of two numbers",
        |it| version(it, "1.0"),
        "version \"1.0\": No Major.Minor.Patch elements found",
    ),
    (
        "version with a zero",
        |it| version(it, "01.0.0"),
        "Major number must not contain leading zeroes \"01\"",
    ),
    (
        "version of a word",
        |it| version(it, "v1.0.0"),
        "Invalid character(s) found in major number \"v1\"",
    ),
    ("empty version", |it| version(it, ""), "Version string empty"),
    ("huge version", |it| version(it, "1.0.99999999999999999999"), "value out of range"),
    ("version with an empty build", |it| version(it, "1.0.0+"), "Build meta data is empty"),
    (
        "version with a bad build",
        |it| version(it, "1.0.0+a_b"),
        "Invalid character(s) found in build meta data \"a_b\"",
    ),
    ("version with an empty pre-release", |it| version(it, "1.0.0-"), "Prerelease is empty"),
    (
        "version with a bad pre-release",
        |it| version(it, "1.0.0-a_b"),
        "Invalid character(s) found in prerelease \"a_b\"",
    ),
    (
        "version with a zero in its pre-release",
        |it| version(it, "1.0.0-01"),
        "Numeric PreRelease version must not contain leading zeroes \"01\"",
    ),
    (
        "release of a word with a sign",
        |it| release(it, "a_b"),
        "release version \"a_b\": invalid release \"a_b\": segment 0: Invalid character(s) found in prerelease \"a_b\"",
    ),
    ("long release", |it| release(it, &"1".repeat(21)), "exceeds maximum length of 20 characters"),
    (
        "release that the name lacks",
        |it| release(it, "2"),
        "name \"memcached.v1.0.0\" does not match normalized name \"memcached-v1.0.0-2\"",
    ),
    (
        "release beside build metadata",
        |it| {
            version(it, "1.0.0+a");
            release(it, "2");
        },
        "cannot use build metadata in version with a release version",
    ),
    (
        "bundle in no channel",
        |it| {
            it[FIRST]["name"] = json!("memcached.v9.0.0");
            it[DEPRECATIONS]["entries"] = json!([]);
        },
        "package \"memcached\", bundle \"memcached.v9.0.0\" not found in any channel entries",
    ),
    (
        "entry without a bundle",
        |it| drop(it.remove(FIRST)),
        "no olm.bundle blobs found in package \"memcached\" for olm.channel entries [memcached.v1.0.0]",
    ),
    (
        "entry without a bundle in a channel that opm forgets",
        |it| {
            it[CANDIDATE]["entries"]
                .as_array_mut()
                .expect("a list")
                .push(json!({"name": "memcached.v0.1.0"}));
            it[CANDIDATE]["entries"][0]["replaces"] = json!("memcached.v0.1.0");
        },
        "must be exactly one property with type \"olm.package\"",
    ),
    (
        "no default channel",
        |it| it[PACKAGE]["defaultChannel"] = json!(""),
        "default channel must be set",
    ),
    (
        "default channel that is missing",
        |it| it[PACKAGE]["defaultChannel"] = json!("fast"),
        "channel must contain at least one bundle",
    ),
    (
        "package without channels",
        |it| it.push(json!({"schema": "olm.package", "name": "other"})),
        "package must contain at least one channel",
    ),
    (
        "same versions",
        |it| it[LAST]["properties"][1]["value"]["version"] = json!("1.1.0"),
        "duplicate versions found in bundles: [{1.1.0: [memcached.v1.1.0, memcached.v1.2.0]}]",
    ),
    (
        "two heads",
        |it| it[STABLE]["entries"][2] = json!({"name": "memcached.v1.2.0"}),
        "multiple channel heads found in graph: memcached.v1.1.0, memcached.v1.2.0",
    ),
    (
        "no head",
        |it| it[STABLE]["entries"][0]["replaces"] = json!("memcached.v1.2.0"),
        "no channel head found in graph",
    ),
    (
        "cycle below the head",
        |it| {
            it[STABLE]["entries"][0]["replaces"] = json!("memcached.v1.1.0");
            it[STABLE]["entries"][2]["skips"] = json!([]);
        },
        "detected cycle in replaces chain of upgrade graph: memcached.v1.0.0 -> memcached.v1.1.0 -> memcached.v1.0.0",
    ),
    (
        "stranded bundle",
        |it| {
            it[STABLE]["entries"][1] =
                json!({"name": "memcached.v1.1.0", "replaces": "memcached.v1.1.0"});
            it[STABLE]["entries"][2] =
                json!({"name": "memcached.v1.2.0", "replaces": "memcached.v1.0.0"});
        },
        "channel contains one or more stranded bundles: memcached.v1.1.0",
    ),
    ("entry without a name", |it| it[CANDIDATE]["entries"][0]["replaces"] = json!("x"), ""),
    (
        "empty skip",
        |it| it[STABLE]["entries"][2]["skips"] = json!(["memcached.v1.1.0", ""]),
        "skip[1] is empty",
    ),
    (
        "range of a word",
        |it| it[STABLE]["entries"][2]["skipRange"] = json!("abc"),
        "invalid skipRange \"abc\": Could not get version from string: \"abc\"",
    ),
    (
        "range with another operator",
        |it| it[STABLE]["entries"][2]["skipRange"] = json!("^1.0.0"),
        "Could not parse Range \"^1.0.0\": Could not parse comparator \"^\" in \"^1.0.0\"",
    ),
    (
        "range of half a version",
        |it| it[STABLE]["entries"][2]["skipRange"] = json!(">=1.0 <2.0.0"),
        "Could not parse version \"1.0\" in \">=1.0\": No Major.Minor.Patch elements found",
    ),
    (
        "range that ends in or",
        |it| it[STABLE]["entries"][2]["skipRange"] = json!("1.0.0 ||"),
        "Last element in range is '||'",
    ),
    (
        "range that begins with or",
        |it| it[STABLE]["entries"][2]["skipRange"] = json!("|| 1.0.0"),
        "First element in range is '||'",
    ),
    ("bundle without an image", |it| it[FIRST]["image"] = json!(""), "bundle image must be set"),
    (
        "manifest that is no base64",
        |it| {
            it[FIRST]["properties"][0] =
                json!({"type": "olm.bundle.object", "value": {"data": "a?"}})
        },
        "illegal base64 data at input byte 1",
    ),
    (
        "metadata of another type",
        |it| it[FIRST]["properties"][0] = json!({"type": "olm.csv.metadata", "value": []}),
        "json: cannot unmarshal array into Go value of type property.CSVMetadata",
    ),
    (
        "deprecation without a package",
        |it| it[DEPRECATIONS]["package"] = json!(""),
        "package name must be set for deprecation item 0",
    ),
    (
        "deprecation of another package",
        |it| it[DEPRECATIONS]["package"] = json!("other"),
        "cannot apply deprecations to an unknown package \"other\"",
    ),
    (
        "deprecations twice",
        |it| it.push(it[DEPRECATIONS].clone()),
        "expected a maximum of one deprecation per package: \"memcached\"",
    ),
    (
        "deprecation without a schema",
        |it| it[DEPRECATIONS]["entries"][0]["reference"]["schema"] = json!(""),
        "schema must be set for deprecation entry [0] for package \"memcached\"",
    ),
    (
        "deprecation twice",
        |it| {
            it[DEPRECATIONS]["entries"] =
                json!([it[DEPRECATIONS]["entries"][0], it[DEPRECATIONS]["entries"][0]])
        },
        "duplicate deprecation entry declcfg.PackageScopedReference{Schema:\"olm.bundle\", Name:\"memcached.v1.0.0\"} for package \"memcached\"",
    ),
    (
        "deprecation of a missing bundle",
        |it| it[DEPRECATIONS]["entries"][0]["reference"]["name"] = json!("x"),
        "cannot deprecate bundle \"x\" for package \"memcached\": bundle not found",
    ),
    (
        "deprecation of a missing channel",
        |it| {
            it[DEPRECATIONS]["entries"][0]["reference"] =
                json!({"schema": "olm.channel", "name": "x"})
        },
        "cannot deprecate channel \"x\" for package \"memcached\": channel not found",
    ),
    (
        "deprecation of a package by its name",
        |it| {
            it[DEPRECATIONS]["entries"][0]["reference"] =
                json!({"schema": "olm.package", "name": "memcached"})
        },
        "package name must be empty for deprecated package \"memcached\" (specified \"memcached\")",
    ),
    (
        "deprecation of another schema",
        |it| it[DEPRECATIONS]["entries"][0]["reference"]["schema"] = json!("olm.other"),
        "cannot deprecate object declcfg.PackageScopedReference{Schema:\"olm.other\", Name:\"memcached.v1.0.0\"} referenced by entry 0 for package \"memcached\": object schema unknown",
    ),
    (
        "deprecation without a message",
        |it| it[DEPRECATIONS]["entries"][0]["message"] = json!(""),
        "invalid deprecation: message must be set",
    ),
    ("blob without a schema", |it| it.push(json!({"name": "x"})), "is missing root schema field"),
    (
        "number for a name",
        |it| it[FIRST]["name"] = json!(5),
        "expected value for key \"name\" to be a string",
    ),
    (
        "key twice in two cases",
        |it| it[FIRST]["Name"] = json!("x"),
        "duplicate keys for key \"name\": [Name name]",
    ),
    (
        "number for a channel",
        |it| it[PACKAGE]["defaultChannel"] = json!(5),
        "parse package: json: cannot unmarshal number into Go struct field Package.defaultChannel of type string",
    ),
    (
        "entries that are a map",
        |it| it[STABLE]["entries"] = json!({}),
        "parse channel: json: cannot unmarshal object into Go struct field Channel.entries of type []declcfg.ChannelEntry",
    ),
    (
        "entry that is a string",
        |it| it[STABLE]["entries"][0] = json!("memcached.v1.0.0"),
        "parse channel: json: cannot unmarshal string into Go struct field Channel.entries of type declcfg.ChannelEntry",
    ),
    (
        "skips that are a string",
        |it| it[STABLE]["entries"][2]["skips"] = json!("memcached.v1.1.0"),
        "parse channel: json: cannot unmarshal string into Go struct field ChannelEntry.entries.skips of type []string",
    ),
    (
        "icon that is no base64",
        |it| it[PACKAGE]["icon"] = json!({"base64data": "%", "mediatype": "image/png"}),
        "parse package: illegal base64 data at input byte 0",
    ),
    (
        "document that is a list",
        |it| it.push(json!([1])),
        "json: cannot unmarshal array into Go value of type map[string]interface {}",
    ),
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
fn each_fault_is_refused_in_the_words_of_opm() {
    let mut oracle = Oracle::start();
    let mut wrong = Vec::new();
    for (name, edit, expected) in FAULTS {
        let mut blobs = blobs();
        edit(&mut blobs);
        let dir = put("catalog-fault", stream(&blobs).as_bytes());
        let ours = verdict(&dir);
        if expected.is_empty() != ours.is_none()
            || ours.as_ref().is_some_and(|it| !it.contains(expected))
        {
            wrong.push(format!("{name}: {ours:?}"));
        }
        let Some(oracle) = &mut oracle else { continue };
        let theirs = oracle.ask(&json!({"Validate": dir.join("catalog")})).err();
        // `opm` also prints the place in JSON that it has made of YAML, or a value as Go prints it.
        let first = |it: String| {
            let text = it.split(" at offset ").next().unwrap_or_default();
            text.trim_start_matches("error unmarshaling JSON: while decoding JSON: ").to_owned()
        };
        let [ours, theirs] = [ours, theirs].map(|it| oracle::lines(&first(it.unwrap_or_default())));
        let is_go_syntax = |it: &[String]| it.iter().any(|it| it.contains("%!t("));
        let is_whole_blob = |it: &[String]| it.iter().any(|it| it.contains("root schema"));
        if ours != theirs && !is_go_syntax(&theirs) && !is_whole_blob(&theirs) {
            wrong.push(format!("{name}:\n  ours   {ours:?}\n  theirs {theirs:?}"));
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
    assert_eq!(ours, "object '' is missing root schema field");
    if let Some(mut oracle) = Oracle::start() {
        let theirs = oracle.ask(&json!({"Validate": dir.join("catalog")}));
        assert_eq!(theirs.unwrap_err(), "object '' is missing root schema field");
    }
}
