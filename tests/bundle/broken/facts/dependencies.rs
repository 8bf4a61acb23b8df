//! Of dependencies: ranges of versions, and CEL.

use serde_json::{Value, json};

use super::super::breaks::DEPENDENCIES;
use super::Fact;

pub fn dependencies() -> Vec<Fact> {
    let of = |type_: &str, value: Value| json!([{ "type": type_, "value": value }]);
    let mut list = vec![
        json!([]),
        Value::Null,
        json!("a"),
        json!([{}]),
        json!([null]),
        json!([1]),
        json!({}),
        json!([{ "TYPE": "olm.label", "Value": { "LABEL": "a" } }]),
    ];
    for range in [
        "1.0.0",
        "^1.0.0",
        "1.0",
        ">=1.0.0 <2.0.0",
        "1.0.0||2.0.0",
        "1.0.0 || 2.0.0",
        "|| 1.0.0",
        "1.x",
        "1.2.x",
        "x",
        "> 1.0.0",
        "!1.0.0",
        ">1.x",
        "1.0.0-next",
        "~1.x",
        "1.0.0 a",
        "v1.0.0",
        "1.0.0,2.0.0",
        "<1.0.0-x.y",
        " 1.0.0 ",
    ] {
        list.push(of("olm.package", json!({ "packageName": "a", "version": range })));
    }
    for value in [
        json!({}),
        json!({ "packageName": 1, "version": "1.0.0" }),
        json!({ "PACKAGENAME": "a", "Version": "1.0.0" }),
        json!({ "packageName": "RAW:yes", "version": "1.0.0" }),
        Value::Null,
        json!([]),
        json!("a"),
    ] {
        list.push(of("olm.package", value));
    }
    for value in [
        json!({}),
        json!({ "group": "a", "kind": "b" }),
        json!({ "group": "a", "kind": "b", "version": "c", "d": 1 }),
    ] {
        list.push(of("olm.gvk", value));
    }
    for rule in [
        "",
        "true",
        "1",
        "properties.exists(p, p.type == 'a')",
        "properties.exists(p, q == 'a')",
        "properties.all(p, p.value)",
        "properties.exists(p,",
        "semver_compare('1', '2') > 0",
        "semver_compare('1') > 0",
        "'a' in properties",
        "properties.size() > 0",
        "properties.map(p, p.type).exists(t, t == 'a')",
        "properties[0].type == 'a'",
        "has(properties[0].a)",
        "properties.type == 'a'",
        "1 == 'a'",
        "foo()",
        "properties.exists(p, p.type.startsWith('a') && p.value.b.c == 1)",
        "true ? true : 1 > 0",
        "!true",
        "!1",
        "1 + 1.0 > 0",
        "'a' + 'b' == 'ab'",
        "[1, 2].exists(i, i > 1)",
        "{'a': 1}.a == 1",
        "int('1') == 1",
        "properties[0].value",
        "properties.filter(p, p.type == 'a').size() == 1",
    ] {
        list.push(of("olm.constraint", json!({ "failureMessage": "a", "cel": { "rule": rule } })));
    }
    for value in [
        json!({}),
        json!({ "cel": {} }),
        json!({ "cel": "a" }),
        json!({ "failureMessage": 1, "cel": { "rule": "true" } }),
        json!({ "all": { "constraints": [] } }),
        json!({ "cel": { "rule": 1 } }),
    ] {
        list.push(of("olm.constraint", value));
    }
    list.push(of("olm.other", json!({})));
    vec![(DEPENDENCIES, "/dependencies", list)]
}
