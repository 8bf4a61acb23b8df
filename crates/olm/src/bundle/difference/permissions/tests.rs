//! Comparison of a bundle's permissions, and its messages.

use super::*;
use go_data::yaml::json;

fn rights(scope: Scope, role: &Value) -> Rights<'_> {
    let mut res = Rights::new();
    add_rights(role, scope, "", &mut MOST.clone(), &mut res).expect("few rights");
    res
}

/// What the new rules grant and the old ones do not.
fn check(old: Value, new: Value, expected: &[&str]) {
    let (old, new) = (json!({ "rules": old }), json!({ "rules": new }));
    let (old, new) = (rights(Scope::Everywhere, &old), rights(Scope::Everywhere, &new));
    let gained: Vec<String> = group_rights(&new, &old).into_iter().map(|it| it.1).collect();
    assert_eq!(gained, expected);
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
}

#[test]
fn it_does_not_matter_how_rules_are_grouped() {
    let one = json!([rule("", &["pods", "secrets"], &["get", "list"])]);
    let apart = json!([
        rule("", &["secrets"], &["list", "get"]),
        rule("", &["pods"], &["list"]),
        rule("", &["pods"], &["get"])
    ]);
    check(one.clone(), apart.clone(), &[]);
    check(apart, one, &[]);
}

#[test]
fn wildcards_cover_what_they_match() {
    let all = json!([rule("*", &["*"], &["*"])]);
    check(all.clone(), json!([rule("apps", &["deployments/scale"], &["get"])]), &[]);
    check(json!([]), all, &["`*` `*` of every group in the whole cluster"]);
    let scales = json!([rule("apps", &["*/scale"], &["get"])]);
    check(scales.clone(), json!([rule("apps", &["deployments/scale"], &["get"])]), &[]);
    check(
        scales,
        json!([rule("apps", &["deployments"], &["get"])]),
        &["`get` `deployments` of `apps` in the whole cluster"],
    );
    let verbs = json!([rule("", &["pods"], &["get", "list", "watch"])]);
    check(
        verbs,
        json!([rule("", &["pods"], &["*"])]),
        &["`*` `pods` of the core group in the whole cluster"],
    );
}

#[test]
fn a_rule_with_resource_names_grants_less() {
    let all = json!([rule("", &["secrets"], &["get"])]);
    let mut named = rule("", &["secrets"], &["get"]);
    named["resourceNames"] = json!(["a"]);
    check(all.clone(), json!([named.clone()]), &[]);
    check(json!([named]), all, &["`get` `secrets` of the core group in the whole cluster"]);
}

#[test]
fn urls_match_by_their_beginning() {
    let urls = |urls: Value| json!([{ "nonResourceURLs": urls, "verbs": ["get"] }]);
    check(urls(json!(["/metrics*"])), urls(json!(["/metrics/a"])), &[]);
    check(
        urls(json!(["/metrics"])),
        urls(json!(["/metrics", "/healthz"])),
        &["`get` `/healthz` in the whole cluster"],
    );
    let nested = urls(json!(["/a*", "/a/b*", "/a!*", "/c/*"]));
    check(nested.clone(), urls(json!(["/a", "/a/c", "/ab/*", "/c/*"])), &[]);
    check(nested, urls(json!(["/c", "/*"])), &["`get` `/*`, `/c` in the whole cluster"]);
}

#[test]
fn many_urls_are_compared_in_time() {
    let many = |to: &str| -> Vec<String> { (0..440).map(|it| format!("/{it}{to}")).collect() };
    let rules = json!([{ "nonResourceURLs": many("*"), "verbs": many("") }]);
    check(rules.clone(), rules, &[]);
}

#[test]
fn a_cluster_wide_rule_grants_more_than_a_namespaced_one() {
    let role = json!({ "rules": [rule("", &["pods"], &["get"])] });
    let (cluster, targets) = (rights(Scope::Everywhere, &role), rights(Scope::Targets, &role));
    assert!(group_rights(&targets, &cluster).is_empty());
    assert_eq!(group_rights(&cluster, &targets).len(), 1);
}

#[test]
fn rules_that_multiply_are_refused() {
    let many: Vec<String> = (0..1000).map(|it| it.to_string()).collect();
    let check = |rule: Value| {
        let role = json!({ "rules": [rule] });
        let found = add_rights(&role, Scope::Targets, "", &mut MOST.clone(), &mut Rights::new());
        assert!(found.is_err(), "{role}");
    };
    check(json!({ "apiGroups": many, "resources": many, "verbs": many }));
    check(json!({ "nonResourceURLs": many, "verbs": many }));
}
