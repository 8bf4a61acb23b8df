//! Catalogs of somebody who means harm.

use std::fs;

use super::{blobs, put, stream, support, verdict};

fn refused(text: &[u8], expected: &str) {
    let dir = put("catalog-hostile", text);
    let output = support::operator_rs(&dir, "catalog validate");
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(expected), "{said}");
}

#[test]
fn deeply_nested_or_growing_yaml_is_refused() {
    refused("[".repeat(100_000).as_bytes(), "nested in more than");
    refused(format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes(), "catalog/catalog.yaml:1:");
    let mut bomb =
        String::from("schema: olm.package\nname: a\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for at in 1..12 {
        let items = vec![format!("*a{}", at - 1); 9].join(", ");
        bomb += &format!("a{at}: &a{at} [{items}]\n");
    }
    refused(bomb.as_bytes(), "the aliases expand to too much data");
    refused(b"schema: olm.package\n\xff", "this is not UTF-8");
    refused(b"a: 1\n", "this blob has no `schema`");
}

#[test]
fn a_file_that_is_no_catalog_has_a_way_out() {
    let dir = put("catalog-readme", stream(&blobs()).as_bytes());
    fs::write(dir.join("catalog/README.md"), "# Title\n\nText: [\n").expect("it can be written");
    let said = support::said(&support::operator_rs(&dir, "catalog validate"));
    assert!(said.contains("all files of a catalog are read, with any name: move `README.md` elsewhere, or list it in `.indexignore`"), "{said}");
    fs::write(dir.join("catalog/.indexignore"), "*.md\n").expect("it can be written");
    assert_eq!(verdict(&dir), None);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    let dir = put("catalog-links", stream(&blobs()).as_bytes());
    let outside = support::fresh("catalog-links-outside");
    fs::write(outside.join("secret.yaml"), "schema: olm.package\nname: secret\n")
        .expect("it can be written");
    std::os::unix::fs::symlink(outside.join("secret.yaml"), dir.join("catalog/link.yaml"))
        .expect("it can be made");
    let output = support::operator_rs(&dir, "catalog render catalog");
    let said = support::said(&output);
    assert!(
        !output.status.success() && said.contains("is a symlink that leads out of the project"),
        "{said}"
    );
    fs::remove_file(dir.join("catalog/link.yaml")).expect("it is there");
    let catalog = support::done(&dir, "catalog render catalog");
    super::bundles::write(&dir.join("real"), "memcached", "memcached.v1.3.0", "1.3.0");
    for (from, to) in [("catalog", "link"), ("real", "bundle")] {
        std::os::unix::fs::symlink(from, dir.join(to)).expect("it can be made");
    }
    assert_eq!(support::done(&dir, "catalog render link"), catalog);
    let [one, other] =
        ["real", "bundle"].map(|it| support::done(&dir, &format!("catalog render {it}")));
    assert_eq!(one, other);
    let output = support::operator_rs(&dir, "bundle validate bundle");
    assert!(!support::said(&output).contains("is a directory"), "{}", support::said(&output));
    let output = support::operator_rs(&dir, "catalog add bundle --catalog link --channels stable");
    let said = support::said(&output);
    assert!(
        said.contains("error: `link` is a symlink\nhint: name the directory that it leads to"),
        "{said}"
    );
    std::os::unix::fs::symlink(&outside, dir.join("linked")).expect("it can be made");
    let output = support::operator_rs(&dir, "catalog render linked");
    let said = support::said(&output);
    assert!(said.contains("`linked` is a symlink that leads out of the project"), "{said}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret"), "{said}");
}

#[test]
fn a_name_with_control_characters_is_printed_in_quotes() {
    let mut blobs = blobs();
    blobs[2]["package"] = serde_json::json!("a\u{1b}[2J\n");
    let dir = put("catalog-control", stream(&blobs).as_bytes());
    let said = support::said(&support::operator_rs(&dir, "catalog validate"));
    assert!(said.contains(r#"unknown package "a\x1b[2J\n" for channel "stable""#), "{said}");
    assert!(!said.contains('\u{1b}'));
}

#[test]
fn a_value_of_another_type_is_refused() {
    let dir = support::fresh("catalog-types");
    super::bundles::write(&dir.join("b"), "memcached", "memcached.v1.0.0", "1.0.0");
    let path = dir.join("b/manifests/csv.yaml");
    let csv = fs::read_to_string(&path).expect("it is there");
    for (new, fault) in [
        (
            "{name: manager, env: [{name: PORT, value: 8080}], ",
            "env[0].value` is the number `8080`, and must be a string",
        ),
        (
            "{name: manager, ports: [{containerPort: '1'}], ",
            "containerPort` is the string `1`, and must be a whole number of 32 bits",
        ),
    ] {
        fs::write(&path, csv.replace("{name: manager, ", new)).expect("it can be written");
        let said = support::said(&support::operator_rs(&dir, "catalog render b"));
        assert!(said.contains("the deployment `manager`: ") && said.contains(fault), "{said}");
    }
    fs::write(&path, csv).expect("it can be written");
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.a.b}\nspec: {group: a.b, scope: Namespaced, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: true, additionalPrinterColumns: [{name: a, type: string, jsonPath: 5}]}]}\n";
    fs::write(dir.join("b/manifests/crd.yaml"), crd).expect("it can be written");
    let said = support::said(&support::operator_rs(&dir, "catalog render b"));
    assert!(said.contains("jsonPath` is the number `5`, and must be a string"), "{said}");
}

#[test]
fn an_entry_with_another_skip_range_is_not_passed_over() {
    let dir = put("catalog-range", stream(&blobs()).as_bytes());
    super::bundles::write(&dir.join("b"), "memcached", "memcached.v1.2.0", "1.2.0");
    let add = "catalog add b --channels stable --image quay.io/example/memcached-bundle:v1.2.0";
    let said = support::said(&support::operator_rs(&dir, &format!("{add} --skip-range <1.1.0")));
    assert!(
        said.contains("already has the entry `memcached.v1.2.0`, with other upgrades"),
        "{said}"
    );
}
