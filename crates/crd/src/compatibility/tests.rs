//! Each rule, and what it lets pass.

use std::collections::BTreeMap;

use super::{Crd, Policy, Rule, judge};
use diagnostics::Severity;
use go_data::yaml::{Value, json};

fn crd(versions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "as.example.com"},
        "spec": {"scope": "Namespaced", "names": {"plural": "as", "kind": "A"}, "group": "example.com", "versions": versions},
    })
}

/// A version that is served, with one field.
fn version(name: &str, field: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"a": field}});
    json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
}

fn read(object: &Value) -> BTreeMap<String, Crd> {
    let crd = Crd::from_object(object).unwrap();
    BTreeMap::from([(crd.name.clone(), crd)])
}

/// Every finding as `rule version field`, with what changed.
fn findings(old: &Value, new: &Value, policy: &Policy) -> Vec<String> {
    let findings = judge(&read(old), &read(new), policy);
    let line = |it: &super::Finding| {
        let field = it.subject.field.clone().unwrap_or_default();
        format!("{} {} {field}: {}", it.rule, it.subject.version(), it.what)
    };
    // The CRDs here are as short as possible, and not all of them valid.
    findings.iter().filter(|it| it.rule != Rule::Invalid).map(line).collect()
}

/// Checks the findings for a change of the only field of `v1`.
fn check(old: Value, new: Value, expected: &[&str]) {
    let [old, new] = [old, new].map(|it| crd(json!([version("v1", it)])));
    let expected: Vec<String> =
        expected.iter().map(|it| it.replacen(' ', " v1 ^.a: ", 1)).collect();
    assert_eq!(findings(&old, &new, &Policy::crdify()), expected);
}

#[test]
fn a_bound_may_be_widened_and_not_narrowed() {
    for key in ["maximum", "maxItems", "maxLength", "maxProperties"] {
        check(
            json!({key: 5}),
            json!({key: 4}),
            &[&format!("{key} `{key}` was lowered from 5 to 4")],
        );
        check(json!({}), json!({key: 4}), &[&format!("{key} `{key}` 4 was added")]);
        check(json!({key: 5}), json!({key: 6}), &[]);
        check(json!({key: 5}), json!({}), &[]);
    }
    for key in ["minimum", "minItems", "minLength", "minProperties"] {
        check(
            json!({key: 5}),
            json!({key: 6}),
            &[&format!("{key} `{key}` was raised from 5 to 6")],
        );
        check(json!({}), json!({key: 0}), &[&format!("{key} `{key}` 0 was added")]);
        check(json!({key: 5}), json!({key: 4}), &[]);
        check(json!({key: 5}), json!({}), &[]);
    }
    check(
        json!({"minimum": 0.5}),
        json!({"minimum": 1}),
        &["minimum `minimum` was raised from 0.5 to 1"],
    );
    check(json!({"minimum": 1.0}), json!({"minimum": 1}), &[]);
}

#[test]
fn a_default_may_not_change() {
    check(json!({}), json!({"default": 1}), &["default default `1` was added"]);
    check(json!({"default": 1}), json!({}), &["default default `1` was removed"]);
    check(
        json!({"default": 1}),
        json!({"default": "1"}),
        &["default default changed from `1` to `\"1\"`"],
    );
    check(json!({"default": {"a": 1, "b": 2}}), json!({"default": {"b": 2, "a": 1.0}}), &[]);
}

#[test]
fn values_may_not_be_taken_away_nor_added() {
    check(
        json!({}),
        json!({"enum": ["a"]}),
        &["enum only `\"a\"` are allowed now; before, any value was"],
    );
    check(json!({"enum": ["a"]}), json!({}), &["enum the values `\"a\"` are no longer allowed"]);
    check(
        json!({"enum": ["a", "b"]}),
        json!({"enum": ["b", "c"]}),
        &["enum the values `\"a\"` are no longer allowed"],
    );
    check(
        json!({"enum": ["a"]}),
        json!({"enum": ["b", "a"]}),
        &["enum the values `\"b\"` are now allowed as well"],
    );
    check(json!({"enum": ["a", "b"]}), json!({"enum": ["b", "a", "a"]}), &[]);
}

#[test]
fn texts_and_flags_may_not_change() {
    check(
        json!({"type": "string"}),
        json!({"type": "integer"}),
        &["type type changed from `string` to `integer`"],
    );
    check(json!({}), json!({"pattern": "^a$"}), &["pattern pattern `^a$` was added"]);
    check(json!({"pattern": "^a$"}), json!({}), &["pattern pattern `^a$` was removed"]);
    check(
        json!({"description": "A."}),
        json!({"description": "B."}),
        &["description description changed from `A.` to `B.`"],
    );
    check(json!({}), json!({"nullable": true}), &["nullable the field may be null now"]);
    check(json!({"nullable": true}), json!({}), &["nullable the field may no longer be null"]);
}

#[test]
fn no_field_becomes_required() {
    check(json!({}), json!({"required": ["b", "a"]}), &["required `a`, `b` became required"]);
    check(json!({"required": ["a", "b"]}), json!({"required": ["b"]}), &[]);
    check(json!({"required": ["a", "b"]}), json!({"required": ["b", "a"]}), &[]);
}

#[test]
fn unhandled_changes_are_reported() {
    check(
        json!({"format": "int32"}),
        json!({"format": "int64"}),
        &["unhandled `format` changed from `\"int32\"` to `\"int64\"`"],
    );
    check(
        json!({"x-kubernetes-list-type": "set"}),
        json!({"uniqueItems": true}),
        &[
            "unhandled `uniqueItems` changed from nothing to `true`, `x-kubernetes-list-type` changed from `\"set\"` to nothing",
        ],
    );
    // The order of a list matters where no rule reads it.
    let of = |list: Value| json!({"additionalProperties": {"required": list}});
    let old = crd(json!([version("v1", of(json!(["a", "b"])))]));
    let new = crd(json!([version("v1", of(json!(["b", "a"])))]));
    assert_eq!(findings(&old, &new, &Policy::crdify()).len(), 1);
}

#[test]
fn the_changes_inside_of_a_removed_field_follow_its_removal() {
    let old = crd(json!([version("v1", json!({"type": "string", "default": "x"}))]));
    let mut new = old.clone();
    new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = json!({});
    let all = judge(&read(&old), &read(&new), &Policy::crdify());
    let rules: Vec<(&str, bool)> =
        all.iter().map(|it| (it.rule.id(), it.follows_removal())).collect();
    assert_eq!(rules, [("existingFieldRemoval", false), ("default", true), ("type", true)]);
    assert!(all.iter().all(|it| it.removed));
    // Who allows the removal allows what follows from it.
    let allowed = [Rule::ExistingFieldRemoval].into();
    assert_eq!(findings(&old, &new, &Policy { allowed, ..Policy::crdify() }), Vec::<String>::new());
}

#[test]
fn a_crd_keeps_its_scope_and_its_versions() {
    let old = crd(json!([version("v1alpha1", json!({})), version("v1", json!({}))]));
    let mut new = crd(json!([version("v1", json!({}))]));
    new["spec"]["scope"] = "Cluster".into();
    let storage = "storageVersionRemoval  : the storage version `v1alpha1` was removed";
    let served = "servedVersionRemoval  : `v1alpha1` is no longer served";
    let scope = "scope  : `scope` changed from `\"Namespaced\"` to `\"Cluster\"`";
    assert_eq!(findings(&old, &new, &Policy::crdify()), [storage, served, scope]);
    let mut old = old;
    old["status"] = json!({"storedVersions": ["v1alpha1", "v1"]});
    let stored = "storedVersionRemoval  : objects may be stored in `v1alpha1`, which was removed";
    assert_eq!(findings(&old, &new, &Policy::crdify()), [stored, served, scope]);
    let removed = judge(&read(&old), &BTreeMap::new(), &Policy::crdify());
    assert_eq!((removed[0].rule, removed[0].severity), (Rule::CrdRemoval, Severity::Error));
    // Two versions are stored: that is all that a new CRD can break.
    let added = judge(&BTreeMap::new(), &read(&old), &Policy::crdify());
    assert!(added.iter().all(|it| it.rule == Rule::Invalid), "{added:?}");
}

#[test]
fn a_version_that_leaves_or_is_no_longer_stored_is_told_with_migrate() {
    let state = |versions: &[(&str, bool, bool)], stored: &[&str]| {
        let version = |(name, served, storage): &(&str, bool, bool)| {
            let mut res = version(name, json!({"type": "string"}));
            (res["served"], res["storage"]) = ((*served).into(), (*storage).into());
            res
        };
        let mut res = crd(versions.iter().map(version).collect());
        res["status"] = json!({ "storedVersions": stored });
        res
    };
    let check = |old: Value, new: &[(&str, bool, bool)], expected: &[&str]| {
        for policy in [Policy::crdify(), Policy::olm_v0(), Policy::olm_v1(), Policy::olm()] {
            let found = judge(&read(&old), &read(&state(new, &[])), &policy);
            let found: Vec<String> = found
                .iter()
                .map(|it| format!("{} {}: {}", it.severity.name(), it.rule, it.what))
                .collect();
            assert_eq!(found, expected);
        }
    };
    let unserved = [("v1", true, true), ("v1alpha1", false, false)];
    let both = [("v1", true, true), ("v1alpha1", true, false)];
    let new = [("v1", true, true)];
    let removed = "warning versionRemoval: `v1alpha1` was removed, and a cluster may still have objects stored in it";
    check(state(&unserved, &[]), &new, &[removed]);
    let served = "warning servedVersionRemoval: `v1alpha1` is no longer served";
    check(state(&both, &[]), &new, &[removed, served]);
    check(state(&both, &[]), &unserved, &[served]);
    // A cluster tells what it has stored.
    check(state(&unserved, &["v1"]), &new, &[]);
    let stored =
        "error storedVersionRemoval: objects may be stored in `v1alpha1`, which was removed";
    check(state(&unserved, &["v1alpha1", "v1"]), &new, &[stored]);
    let before = [("v1", true, false), ("v1alpha1", true, true)];
    let changed = "note storageVersionChange: `v1` is stored now, in place of `v1alpha1`";
    check(state(&before, &[]), &both, &[changed]);
    check(
        state(&[("v1alpha1", true, true)], &[]),
        &both,
        &[
            "warning storageVersionChange: `v1` is stored now, and the old CRD does not have it: a cluster cannot go back to the old CRD",
        ],
    );
    check(
        state(&before, &[]),
        &new,
        &["error storageVersionRemoval: the storage version `v1alpha1` was removed", served],
    );
}

#[test]
fn versions_that_are_served_side_by_side_agree_as_far_as_they_did() {
    let both =
        |one: Value, other: Value| crd(json!([version("v1", other), version("v1beta1", one)]));
    let old = both(json!({"minimum": 1}), json!({"minimum": 1}));
    let new = both(json!({"minimum": 1}), json!({"minimum": 2}));
    let found = findings(&old, &new, &Policy::crdify());
    assert_eq!(
        found,
        [
            "minimum v1 ^.a: `minimum` was raised from 1 to 2",
            "minimum v1beta1 -> v1 ^.a: `minimum` was raised from 1 to 2",
        ]
    );
    // What was so before is not told again.
    assert_eq!(findings(&new, &new, &Policy::crdify()), Vec::<String>::new());
    // A webhook that converts between them is trusted by OLM only.
    let mut converted = new;
    converted["spec"]["conversion"] = json!({"strategy": "Webhook"});
    assert_eq!(findings(&old, &converted, &Policy::crdify()), found);
    assert_eq!(findings(&old, &converted, &Policy::olm_v1()), found[..1]);
}

#[test]
fn olm_lets_descriptions_change_and_enumerations_grow() {
    let [old, new] = [("A.", json!(["a"])), ("B.", json!(["a", "b"]))].map(|(text, list)| {
        crd(json!([version("v1", json!({"description": text, "enum": list}))]))
    });
    assert_eq!(findings(&old, &new, &Policy::crdify()).len(), 2);
    assert_eq!(findings(&old, &new, &Policy::olm_v1()), Vec::<String>::new());
    assert_eq!(findings(&new, &old, &Policy::olm_v1()).len(), 1);
}

#[test]
fn every_rule_is_in_the_list_under_its_own_name() {
    let mut names: Vec<&str> = Rule::all().map(Rule::id).collect();
    for rule in Rule::all() {
        assert_eq!(rule.id().parse::<Rule>(), Ok(rule));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rule::all().count());
}

#[test]
fn what_is_no_crd_is_refused() {
    let refused = |object: Value, expected: &str| {
        assert_eq!(format!("{:#}", Crd::from_object(&object).unwrap_err()), expected);
    };
    refused(json!({"kind": "ConfigMap"}), "this is not a CustomResourceDefinition");
    let with = |key: &str, value: Value| {
        let mut crd = crd(json!([version("v1", json!({}))]));
        crd[key] = value;
        crd
    };
    refused(
        with("apiVersion", json!("apiextensions.k8s.io/v1beta1")),
        "`apiVersion: apiextensions.k8s.io/v1beta1` is not `apiextensions.k8s.io/v1`",
    );
    refused(with("metadata", json!({})), "`metadata.name` is missing");
    refused(with("spec", json!({"scope": "Cluster"})), "`as.example.com` has no `spec.versions`");
    refused(
        crd(json!([version("v1", json!({"type": 1}))])),
        "in the CRD `as.example.com`: the schema of `v1` is malformed: in `properties`: in `a`: in `type`: `1` is not a string",
    );
}

#[test]
fn what_the_api_server_never_changes_stays() {
    let old = crd(json!([version("v1", json!({}))]));
    let check = |edit: &dyn Fn(&mut Value), expected: &[&str]| {
        let mut new = old.clone();
        edit(&mut new);
        for policy in [Policy::crdify(), Policy::olm_v0(), Policy::olm()] {
            let found = judge(&read(&old), &read(&new), &policy);
            let found: Vec<String> = found
                .iter()
                .filter(|it| it.rule != Rule::Invalid)
                .map(|it| format!("{} {}: {}", it.severity.name(), it.rule, it.what))
                .collect();
            assert_eq!(found, expected);
        }
    };
    check(
        &|it| it["spec"]["names"]["kind"] = json!("B"),
        &[
            "error immutable: `names.kind` changed from `\"A\"` to `\"B\"`",
            "warning names: `names.listKind` changed from `\"AList\"` to `\"BList\"`",
            "warning names: `names.singular` changed from `\"a\"` to `\"b\"`",
        ],
    );
    check(
        &|it| it["spec"]["group"] = json!("a.example.com"),
        &["error immutable: `group` changed from `\"example.com\"` to `\"a.example.com\"`"],
    );
    check(
        &|it| it["spec"]["versions"][0]["name"] = json!("v2"),
        &[
            "error storageVersionRemoval: the storage version `v1` was removed",
            "error allServedVersionsRemoval: `v1` is no longer served, and no other version was served before",
        ],
    );
    check(
        &|it| it["spec"]["versions"][0]["served"] = json!(false),
        &[
            "error allServedVersionsRemoval: `v1` is no longer served, and no other version was served before",
        ],
    );
    check(&|it| it["spec"]["conversion"] = json!({"strategy": "None"}), &[]);
    check(&|it| it["spec"]["names"]["listKind"] = json!("AList"), &[]);
}

#[test]
fn every_difference_outside_of_the_schemas_is_reported_or_known_to_be_harmless() {
    let rich = |edit: &dyn Fn(&mut Value)| {
        let mut res = crd(json!([version("v1", json!({}))]));
        res["spec"]["names"]["shortNames"] = json!(["a", "b"]);
        let version = &mut res["spec"]["versions"][0];
        let scale = json!({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"});
        version["subresources"] = json!({"status": {}, "scale": scale});
        version["selectableFields"] = json!([{"jsonPath": ".spec.a"}]);
        version["additionalPrinterColumns"] = json!([{"name": "A"}]);
        edit(&mut res);
        res
    };
    let check = |edit: &dyn Fn(&mut Value), expected: &[&str], back: &[&str]| {
        let (old, new) = (rich(&|_| ()), rich(edit));
        assert_eq!(findings(&old, &new, &Policy::olm()), expected);
        assert_eq!(findings(&new, &old, &Policy::olm()), back);
    };
    let version = |it: &str| format!("/spec/versions/0/{it}");
    let set = |at: String, value: Value| {
        move |it: &mut Value| *it.pointer_mut(&at).expect("it is there") = value.clone()
    };
    check(
        &set("/spec/names/shortNames".to_owned(), json!(["b"])),
        &["names  : `names.shortNames[a]` was removed"],
        &[],
    );
    check(
        &set(version("subresources"), json!({"status": {}})),
        &["subresources  : `versions[v1].subresources.scale` was removed"],
        &[],
    );
    check(
        &set(version("subresources/status"), Value::Null),
        &["subresources  : `versions[v1].subresources.status` was removed"],
        &["subresources  : `versions[v1].subresources.status` was added: `{}`"],
    );
    let path = |from: &str, to: &str| {
        format!(
            "subresources  : `versions[v1].subresources.scale.specReplicasPath` changed from `\"{from}\"` to `\"{to}\"`"
        )
    };
    check(
        &set(version("subresources/scale/specReplicasPath"), json!(".spec.b")),
        &[&path(".spec.a", ".spec.b")],
        &[&path(".spec.b", ".spec.a")],
    );
    check(
        &set(version("selectableFields"), json!([])),
        &["selectableFields  : `versions[v1].selectableFields` was removed"],
        &[],
    );
    check(&set(version("additionalPrinterColumns"), json!([])), &[], &[]);
    check(
        &|it| it["spec"]["future"] = json!(1),
        &["other  : `future` was added: `1`"],
        &["other  : `future` was removed"],
    );
}

#[test]
fn olm_v0_refuses_what_existing_objects_may_not_fit() {
    let check = |old: Value, new: Value, expected: [&str; 3]| {
        let [old, new] = [old, new].map(|it| crd(json!([version("v1", it)])));
        let found = [Policy::olm_v1(), Policy::olm(), Policy::olm_v0()].map(|policy| {
            let found = judge(&read(&old), &read(&new), &policy);
            found.first().map_or("nothing", |it| it.severity.name())
        });
        assert_eq!(found, expected, "{old} {new}");
    };
    let (widens, narrows) = (["error", "warning", "note"], ["error"; 3]);
    let rule = json!({"x-kubernetes-validations": [{"rule": "self"}]});
    check(rule.clone(), json!({}), widens);
    check(json!({}), rule, ["error", "warning", "warning"]);
    check(json!({"pattern": "a"}), json!({}), widens);
    check(json!({}), json!({"pattern": "a"}), narrows);
    check(json!({}), json!({"nullable": true}), widens);
    check(json!({"nullable": true}), json!({}), narrows);
    check(json!({}), json!({"default": 1}), widens);
    check(json!({"type": "integer"}), json!({"type": "number"}), widens);
    check(json!({"type": "number"}), json!({"type": "integer"}), narrows);
    check(json!({"enum": ["a"]}), json!({}), widens);
    check(json!({"enum": ["a"]}), json!({"enum": ["b"]}), narrows);
    check(json!({"properties": {"b": {}}}), json!({}), narrows);
    check(json!({"description": "A."}), json!({}), ["nothing"; 3]);
}

#[test]
fn a_crd_that_the_api_server_refuses_is_reported_by_what_is_new_in_it() {
    let old = crd(json!([version("v1", json!({"type": "string", "default": 1}))]));
    let check = |field: Value, expected: &[&str]| {
        let new = crd(json!([version("v1", field)]));
        let found = judge(&read(&old), &read(&new), &Policy::olm_v0());
        let found = found.iter().filter(|it| it.rule == Rule::Invalid);
        assert_eq!(found.map(|it| it.what.as_str()).collect::<Vec<_>>(), expected);
    };
    check(json!({"type": "string", "default": 1, "maxLength": 2}), &[]);
    check(
        json!({"type": "integer", "default": "a"}),
        &[
            "the version `v1`: `a` has a default that must be of type integer, and is of type string",
        ],
    );
}
