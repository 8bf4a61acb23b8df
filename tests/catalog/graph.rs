//! Graphs of upgrades.

use std::fs;

use serde_json::{Value, json};

use super::{blobs, put, stream, support};

#[test]
fn graphs_for_mermaid_are_those_of_opm() {
    let mut deprecated = blobs();
    deprecated[6]["entries"] = json!([
        {"reference": {"schema": "olm.package"}, "message": "m"},
        {"reference": {"schema": "olm.channel", "name": "stable"}, "message": "m"},
        {"reference": {"schema": "olm.bundle", "name": "memcached.v1.0.0"}, "message": "m"},
        {"reference": {"schema": "olm.bundle", "name": "memcached.v1.2.0"}, "message": "m"},
    ]);
    let mut two = blobs();
    two.push(json!({"schema": "olm.package", "name": "other", "defaultChannel": "stable"}));
    two.push(json!({"schema": "olm.channel", "name": "stable", "package": "other", "entries": [{"name": "o.v1", "skipRange": "x"}]}));
    two.push(json!({"schema": "olm.bundle", "name": "o.v1", "package": "other", "image": "x", "properties": [{"type": "olm.package", "value": {"packageName": "other", "version": "1.0.0"}}]}));
    for (blobs, words) in [(blobs(), ""), (deprecated, ""), (two.clone(), ""), (two, "-p other")] {
        let dir = put("catalog-mermaid", stream(&blobs).as_bytes());
        let ours = support::done(&dir, &format!("catalog graph catalog -o mermaid {words}"));
        assert!(ours.starts_with("graph LR\n"), "{ours}");
        let Some(opm) = support::tool("opm") else { return };
        let mut command = support::command(opm, &dir);
        let output = command
            .args(["alpha", "render-graph", "catalog"])
            .args(words.split_whitespace())
            .output()
            .expect("it runs");
        assert_eq!(ours, String::from_utf8_lossy(&output.stdout), "{words}");
    }
}

fn text(entries: &Value) -> String {
    let mut blobs = blobs();
    blobs[2]["entries"] = entries.clone();
    blobs.remove(1);
    let dir = put("catalog-graph", stream(&blobs).as_bytes());
    let output = support::operator_rs(&dir, "catalog graph");
    let text = String::from_utf8(output.stdout).unwrap();
    let is_whole = text.ends_with("every entry can be upgraded to the head\n");
    assert_eq!(output.status.code(), Some(i32::from(!is_whole)), "{text}");
    text
}

fn last(entries: &Value) -> String {
    text(entries).lines().last().unwrap_or_default().trim().to_owned()
}

#[test]
fn a_graph_shows_the_head_and_what_cannot_reach_it() {
    let [one, two, three] = ["memcached.v1.0.0", "memcached.v1.1.0", "memcached.v1.2.0"];
    assert_eq!(
        text(&json!([
            {"name": one},
            {"name": three, "replaces": two, "skipRange": ">=1.0.0 <1.2.0"},
            {"name": two},
        ])),
        "memcached
  stable (default channel)
    ● memcached.v1.2.0  (head, skips the range >=1.0.0 <1.2.0)
    ├─● memcached.v1.0.0  (head)
    ● memcached.v1.1.0
    multiple channel heads found in graph: memcached.v1.0.0, memcached.v1.2.0
"
    );
    let all = "every entry can be upgraded to the head";
    assert_eq!(
        last(
            &json!([{"name": one}, {"name": two, "replaces": one}, {"name": three, "replaces": two}])
        ),
        all
    );
    assert_eq!(
        last(
            &json!([{"name": one}, {"name": three, "replaces": one, "skips": [two]}, {"name": two}])
        ),
        all
    );
    let drawn = text(&json!([
        {"name": three, "replaces": one, "skips": [two]},
        {"name": two, "replaces": one},
        {"name": one},
    ]));
    let rows: Vec<&str> = drawn.lines().skip(2).collect();
    assert_eq!(
        rows,
        [
            "    ● memcached.v1.2.0  (head)",
            "    ├─● memcached.v1.1.0  (skipped, replaces memcached.v1.0.0)",
            "    ● memcached.v1.0.0",
            "    every entry can be upgraded to the head",
        ]
    );
    assert_eq!(
        last(
            &json!([{"name": one, "replaces": one}, {"name": two}, {"name": three, "replaces": two}])
        ),
        "no upgrade leads to the head from memcached.v1.0.0"
    );
    assert_eq!(
        last(&json!([{"name": one, "replaces": two}, {"name": two, "replaces": one}])),
        "no channel head found in graph"
    );
    assert!(
        text(&json!([{"name": "memcached.v9.0.0"}]))
            .contains("● memcached.v9.0.0  (head, no bundle)")
    );
}

/// `UPDATE=1` writes the picture.
#[test]
fn the_picture_in_the_documentation_is_what_the_command_draws() {
    let bundle = |version: &str| json!({"schema": "olm.bundle", "name": format!("memcached-operator.v{version}"), "package": "memcached-operator", "image": "x", "properties": [{"type": "olm.package", "value": {"packageName": "memcached-operator", "version": version}}]});
    let catalog = [
        json!({"schema": "olm.package", "name": "memcached-operator", "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "name": "stable", "package": "memcached-operator", "entries": [
            {"name": "memcached-operator.v0.0.1"},
            {"name": "memcached-operator.v0.0.2", "replaces": "memcached-operator.v0.0.1"},
            {"name": "memcached-operator.v0.1.0", "replaces": "memcached-operator.v0.0.1", "skips": ["memcached-operator.v0.0.2"]},
        ]}),
        bundle("0.0.1"),
        bundle("0.0.2"),
        bundle("0.1.0"),
    ];
    let dir = put("catalog-picture", stream(&catalog).as_bytes());
    let drawn = support::done(&dir, "catalog graph --output svg");
    let path = "docs/how-to/catalog-graph.svg";
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, &drawn).expect("the picture can be written");
    }
    assert_eq!(fs::read_to_string(path).unwrap_or_default(), drawn);
}

#[test]
fn names_cannot_add_to_a_drawing() {
    let name = "a\"]\n  click x call evil()\u{1b}[31m";
    let mut blobs = blobs();
    blobs[2]["entries"][0]["name"] = json!(name);
    let dir = put("catalog-injection", stream(&blobs).as_bytes());
    let output = support::operator_rs(&dir, "catalog graph -o mermaid");
    let said = support::said(&output);
    assert!(
        !output.status.success()
            && said.contains("mermaid would read a part of it as its own syntax"),
        "{said}"
    );
    let output = support::operator_rs(&dir, "catalog graph");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""a\"]\n  click x call evil()\x1b[31m""#), "{text}");
    assert!(!text.contains('\u{1b}'));
    let output = support::operator_rs(&dir, "catalog graph -o svg");
    assert_eq!(output.status.code(), Some(1));
    let svg = String::from_utf8(output.stdout).unwrap();
    assert!(svg.ends_with("</svg>\n") && !svg.contains('\u{1b}'), "{svg}");
    blobs[2]["entries"][0]["name"] = json!("a&b</text><script>");
    let dir = put("catalog-injection", stream(&blobs).as_bytes());
    let output = support::operator_rs(&dir, "catalog graph -o svg");
    let svg = String::from_utf8(output.stdout).unwrap();
    assert!(
        svg.contains("a&amp;b&lt;/text&gt;&lt;script&gt;") && !svg.contains("<script"),
        "{svg}"
    );
    blobs[2]["entries"] =
        json!([{"name": "lost", "replaces": "lost"}, {"name": "memcached.v1.1.0"}]);
    let dir = put("catalog-injection", stream(&blobs).as_bytes());
    let output = support::operator_rs(&dir, "catalog graph -o svg");
    let svg = String::from_utf8(output.stdout).unwrap();
    assert!(svg.contains(">✗ lost"), "{svg}");
    let missing = support::said(&support::operator_rs(&dir, "catalog graph -p x"));
    assert!(missing.contains("catalog has no package `x`"), "{missing}");
}
