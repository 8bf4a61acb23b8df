//! What `opm render` gives for bundles and catalogs.

use std::{env, fs, path::Path};

use super::{blobs, put, stream, support, values};

fn opm(dir: &Path, words: &[&str]) -> Option<Result<String, String>> {
    let output = support::command(support::tool("opm")?, dir)
        .arg("render")
        .args(words)
        .output()
        .expect("it runs");
    let text = |it: Vec<u8>| String::from_utf8(it).expect("it is a text");
    Some(if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) })
}

/// Both render this directory as the same blobs, or both refuse it.
fn check(dir: &Path, words: &str) -> Result<(), String> {
    let ours = support::operator_rs(
        dir,
        &format!(
            "catalog render . {}",
            words.replace("IMAGE", "--image quay.io/example/bundle:v1")
        ),
    );
    let mut arguments: Vec<&str> = words.split_whitespace().filter(|it| *it != "IMAGE").collect();
    if words.contains("IMAGE") {
        arguments.extend(["--alpha-image-ref-template", "quay.io/example/bundle:v1"]);
    }
    arguments.push(".");
    let Some(theirs) = opm(dir, &arguments) else { return Ok(()) };
    let ours_text = String::from_utf8_lossy(&ours.stdout).into_owned();
    match (ours.status.success(), theirs) {
        (true, Ok(theirs)) if values(&ours_text) == values(&theirs) => Ok(()),
        (true, Ok(theirs)) => Err(format!("{}: different\n{ours_text}\n{theirs}", dir.display())),
        (false, Err(_)) => Ok(()),
        (true, Err(theirs)) => Err(format!("{}: only opm refuses: {theirs}", dir.display())),
        (false, Ok(_)) => {
            Err(format!("{}: only we refuse: {}", dir.display(), support::said(&ours)))
        }
    }
}

const EACH: &[&str] =
    &["", "IMAGE", "IMAGE --migrate-level bundle-object-to-csv-metadata", "--migrate"];

#[test]
fn the_tutorials_bundle_is_rendered_as_opm_renders_them() {
    let dir = support::home().join("examples/memcached-operator/bundle");
    for words in EACH {
        check(&dir, words).unwrap_or_else(|it| panic!("{it}"));
    }
}

/// `BUNDLES_DIR=…` names a directory with bundles of others somewhere below it.
#[test]
fn bundles_of_others_are_rendered_as_opm_renders_them() {
    let Some(dir) = env::var_os("BUNDLES_DIR") else { return };
    let mut open = vec![std::path::PathBuf::from(dir)];
    let (mut count, mut stricter, mut wrong) = (0, 0, Vec::new());
    while let Some(dir) = open.pop() {
        if dir.join("manifests").is_dir() && dir.join("metadata").is_dir() {
            count += 1;
            for words in ["IMAGE", "IMAGE --migrate"] {
                match check(&dir, words) {
                    Ok(()) => {}
                    // What `opm` leaves out in silence.
                    Err(it) if it.contains("`opm` silently skips such a file") => stricter += 1,
                    Err(it) => wrong.push(it.chars().take(600).collect::<String>()),
                }
            }
            continue;
        }
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten().map(|it| it.path());
        open.extend(entries.filter(|it| it.is_dir()));
    }
    eprintln!("{count} bundles; {stricter} renderings refused that opm makes without a file");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Files of a bundle beside the usual ones, and what both make of them.
#[test]
fn odd_bundles_are_rendered_as_opm_renders_them() {
    let csv = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: a.v1.0.0\n  annotations:\n    olm.properties: '[{\"type\":\"olm.maxOpenShiftVersion\",\"value\":\"4.14\"}]'\nspec:\n  version: 1.0.0\n  release: 2\n  customresourcedefinitions:\n    required: [{name: bs.example.com, version: v1, kind: B}]\n  apiservicedefinitions:\n    owned: [{name: cs, group: g, version: v1, kind: C}]\n    required: [{name: ds, group: g, version: v2, kind: D}]\n  relatedImages: [{name: x, image: b}, {name: y, image: a}, {name: x, image: quay.io/example/bundle:v1}]\n  install:\n    strategy: deployment\n    spec:\n      deployments:\n      - spec: {template: {spec: {containers: [{image: z}, {image: a}], initContainers: [{image: q}]}}}\n";
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: es.example.com}\nspec:\n  group: example.com\n  names: {kind: E, plural: es}\n  scope: Namespaced\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, maximum: 1.5}}}\n  - {name: v0, served: false, storage: false}\n";
    let annotations = "annotations:\n  operators.operatorframework.io.bundle.package.v1: a\n";
    let base = [
        ("manifests/csv.yaml", csv),
        ("manifests/crd.yaml", crd),
        ("metadata/annotations.yaml", annotations),
    ];
    let cases: &[&[(&str, &str)]] = &[
        &[(
            "metadata/annotations.yaml",
            "annotations: {operators.operatorframework.io.bundle.package.v1: 5, operators.operatorframework.io.bundle.channels.v1: 4.11}\n",
        )],
        &[("metadata/properties.yaml", "properties: [{type: 5, value: x}]\n")],
        &[],
        &[(
            "metadata/dependencies.yaml",
            "dependencies:\n- {type: olm.package, value: {packageName: p, version: '>1.0.0'}}\n- {type: olm.gvk, value: {group: g, kind: K, version: v1}}\n- {type: olm.constraint, value: {failureMessage: m, cel: {rule: 'true'}}}\n- {type: olm.label, value: {label: l}}\n",
        )],
        &[(
            "metadata/properties.yaml",
            "properties:\n- {type: olm.package, value: {packageName: other, version: 9.9.9}}\n- {type: olm.gvk, value: {group: g, kind: K, version: v1}}\n- {type: x, value: [1, 1.5, 1e30, '<&>']}\n- {type: x, value: [1, 1.5, 1e30, '<&>']}\n",
        )],
        &[(
            "manifests/cm.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, creationTimestamp: null}\ndata: {a: \"<&>\\u2028é\\x01\", b: '1'}\nx: [1.0, 1e21, 1e-7, 18446744073709551615, 9223372036854775807, 0.1]\n",
        )],
        &[(
            "manifests/json.json",
            "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"j\"}, \"x\": 1.50}\n",
        )],
        &[(
            "manifests/two.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t}\n---\nkind: Other\n",
        )],
        &[("manifests/.hidden", "not yaml: [")],
        &[("manifests/empty.yaml", "# nothing\n")],
        &[("metadata/other.txt", "a: [b\n")],
        &[("metadata/annotations.yaml", "annotations: {}\n")],
        &[(
            "metadata/annotations.yaml",
            "annotations: {operators.operatorframework.io.bundle.channels.v1: x}\n",
        )],
        &[("manifests/csv.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")],
        &[(
            "manifests/crd.yaml",
            "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: es.example.com}\nspec: {group: example.com, version: v3, names: {kind: E, plural: es}}\n",
        )],
        &[(
            "manifests/crd.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {versions: 5}\n",
        )],
    ];
    for case in cases {
        let dir = support::fresh("catalog-odd-bundle");
        for (path, text) in base.iter().chain(*case) {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        }
        for words in ["", "IMAGE"] {
            check(&dir, words).unwrap_or_else(|it| panic!("{case:?}: {it}"));
        }
    }
}

/// operator-registry leaves these out without a word.
#[test]
fn what_opm_would_leave_out_is_refused() {
    let check = |path: &str, text: &str, expected: &str| {
        let dir = support::fresh("catalog-left-out");
        super::bundles::write(&dir, "memcached", "memcached.v1.0.0", "1.0.0");
        fs::create_dir_all(dir.join(path).parent().expect("it has one")).expect("it can be made");
        fs::write(dir.join(path), text).expect("it can be written");
        let output = support::operator_rs(&dir, "catalog render .");
        let said = support::said(&output);
        assert!(!output.status.success() && said.contains(expected), "{path}: {said}");
    };
    check("manifests/a.yaml", "a: [", "`opm` silently skips such a file");
    check("manifests/a.yaml", "a: 1\n", "not a Kubernetes object: `kind` is missing");
    check("manifests/a/b.yaml", "kind: X\n", "bundle manifests dir contains directory: a");
    check(
        "manifests/z.yaml",
        "kind: ClusterServiceVersion\n",
        "the bundle has another ClusterServiceVersion",
    );
    check(
        "metadata/annotations.yaml",
        "annotations: {operators.operatorframework.io.bundle.package.v1: [5]}\n",
        "is a list, not a string",
    );
}

#[test]
fn catalogs_are_rendered_as_opm_renders_them() {
    let mut blobs = blobs();
    // Bundles are put in order.
    let object =
        serde_json::json!({"type": "olm.bundle.object", "value": {"data": "eyJraW5kIjoieCJ9"}});
    blobs[4]["properties"].as_array_mut().expect("a list").insert(0, object.clone());
    blobs[4]["properties"].as_array_mut().expect("a list").insert(2, object);
    blobs[4]["relatedImages"] = serde_json::json!([
        {"name": "c", "image": "quay.io/a/b:v2"}, {"name": "b", "image": "quay.io/a/b:v1"},
        {"name": "a", "image": "quay.io/a/b:v2"}, {"name": "", "image": ""},
    ]);
    blobs.push(serde_json::json!({"schema": "a", "z": [1, 1.5, 1e300, 9_007_199_254_740_993_i64, "<&>"], "a": null}));
    blobs.push(serde_json::json!({"schema": "olm.package", "name": "other", "defaultChannel": "", "properties": [{"type": "x", "value": null}, {"type": "y"}]}));
    blobs.push(serde_json::json!({"schema": "olm.channel", "name": "x", "package": "other"}));
    let dir = put("catalog-render", stream(&blobs).as_bytes());
    fs::write(
        dir.join("catalog/more.json"),
        "{\"schema\": \"b\", \"package\": \"p\"}\n{\"schema\": \"a\", \"package\": \"p\"}",
    )
    .expect("it can be written");
    fs::write(dir.join("catalog/README.md"), "# no: [yaml\n").expect("it can be written");
    fs::write(dir.join("catalog/.indexignore"), "*.md\n").expect("it can be written");
    check(&dir.join("catalog"), "").unwrap_or_else(|it| panic!("{it}"));
    check(&dir.join("catalog"), "--migrate").unwrap_or_else(|it| panic!("{it}"));
    // What we print is what we read.
    let text = support::done(&dir, "catalog render catalog -o yaml");
    let again = put("catalog-rendered", text.as_bytes());
    assert_eq!(support::done(&again, "catalog render catalog -o yaml"), text);
}

#[test]
fn fields_that_opm_drops_are_named() {
    let mut blobs = blobs();
    blobs[2]["entries"][0]["skip"] = serde_json::json!("x");
    let dir = put("catalog-dropped", stream(&blobs).as_bytes());
    let said = support::said(&support::operator_rs(&dir, "catalog validate"));
    assert!(
        said.contains("`entries.skip` is left out: blobs of this schema have no such field"),
        "{said}"
    );
}
