//! Random CRDs, and random changes of them.

use serde_json::{Map, Value, json};

use crate::random::Random;

/// A CRD and what became of it, both of the same name.
pub fn pair(seed: u64, case: u64) -> (Value, Value) {
    let mut random = Random::of(seed, &format!("case {case}"));
    let mut old = crd(&mut random, case);
    let mut new = old.clone();
    for _ in 0..=random.below(4) {
        change_crd(&mut random, &mut new);
    }
    let several = |it: &Value| it["spec"]["versions"].as_array().is_some_and(|it| 1 < it.len());
    if several(&old) || several(&new) {
        // Between served versions crdify takes an empty list for a change, and nowhere else.
        without_empty(&mut old);
        without_empty(&mut new);
    }
    (old, new)
}

/// Takes out keywords whose list or map is empty.
fn without_empty(value: &mut Value) {
    const ANY_VALUE: &[&str] = &["default", "example", "additionalProperties", "not", "items"];
    match value {
        Value::Object(map) => {
            map.retain(|key, it| {
                let schema = ANY_VALUE.contains(&key.as_str()) || key == "externalDocs";
                schema || *it != json!([]) && (*it != json!({}) || !key.ends_with("roperties"))
            });
            let inner = map.iter_mut().filter(|it| !matches!(it.0.as_str(), "default" | "example"));
            inner.for_each(|it| without_empty(it.1));
        }
        Value::Array(items) => items.iter_mut().for_each(without_empty),
        _ => {}
    }
}

const VERSIONS: &[&str] = &["v1alpha1", "v1alpha2", "v1beta1", "v1", "v2", "v10", "next", "old"];

fn crd(random: &mut Random, case: u64) -> Value {
    let mut names: Vec<&str> = VERSIONS.to_vec();
    let mut versions = Vec::new();
    let schema = root(random);
    for _ in 0..=random.below(3) {
        let name = names.remove(random.below(names.len()));
        // Versions of a kind resemble each other.
        let mut own = if random.one_in(4) { root(random) } else { schema.clone() };
        if random.one_in(2) {
            change(random, &mut own);
        }
        versions.push(version(random, name, own));
    }
    let stored: Vec<&Value> = versions.iter().map(|it| &it["name"]).take(2).collect();
    let mut res = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("case{case}s.example.com")},
        "spec": {"group": "example.com", "scope": "Namespaced"},
        "status": {"storedVersions": stored},
    });
    if random.one_in(3) {
        let strategy = *random.pick(&["None", "Webhook"]);
        res["spec"]["conversion"] = json!({"strategy": strategy});
    }
    res["spec"]["versions"] = versions.into();
    res
}

fn version(random: &mut Random, name: &str, schema: Value) -> Value {
    json!({
        "name": name,
        "served": !random.one_in(4),
        "storage": false,
        "schema": {"openAPIV3Schema": schema},
    })
}

fn root(random: &mut Random) -> Value {
    json!({"type": "object", "properties": {"spec": schema(random, 3), "status": schema(random, 1)}})
}

fn change_crd(random: &mut Random, crd: &mut Value) {
    let Some(versions) = crd["spec"]["versions"].as_array_mut() else { return };
    let at = random.below(versions.len());
    match random.below(12) {
        0 if 1 < versions.len() => drop(versions.remove(at)),
        1 => versions[at]["served"] = random.one_in(2).into(),
        2 => {
            let used = |it: &&str| versions.iter().all(|version| version["name"] != **it);
            let free: Vec<&str> = VERSIONS.iter().copied().filter(used).collect();
            let schema = versions[at]["schema"]["openAPIV3Schema"].clone();
            let name = *random.pick(&free);
            let added = version(random, name, schema);
            versions.push(added);
        }
        3 => crd["spec"]["scope"] = json!(*random.pick(&["Namespaced", "Cluster"])),
        4 => crd["spec"]["conversion"] = json!({"strategy": *random.pick(&["None", "Webhook"])}),
        5 => {
            // The same change in every version.
            let shared = Random::new(random.next());
            for version in versions {
                change(&mut shared.clone(), &mut version["schema"]["openAPIV3Schema"]);
            }
        }
        _ => change(random, &mut versions[at]["schema"]["openAPIV3Schema"]),
    }
}

const NAMES: &[&str] = &["a", "b", "size", "items", "not", "with space", "x.y", "", "allOf"];

fn schema(random: &mut Random, depth: usize) -> Value {
    let mut res = Map::new();
    let kind =
        *random.pick(&["object", "object", "array", "string", "integer", "number", "boolean", ""]);
    if !kind.is_empty() {
        res.insert("type".into(), kind.into());
    }
    for _ in 0..random.below(4) {
        let (key, value) = keyword(random);
        res.insert(key.into(), value);
    }
    if 0 < depth {
        match kind {
            "object" => {
                let fields = fields(random, depth);
                res.insert("properties".into(), fields);
            }
            "array" => {
                let items = match random.one_in(8) {
                    true => json!([schema(random, depth - 1), schema(random, 0)]),
                    false => schema(random, depth - 1),
                };
                res.insert("items".into(), items);
            }
            _ => {}
        }
        if random.one_in(5) {
            let (key, value) = nested(random, depth);
            res.insert(key.into(), value);
        }
    }
    res.into()
}

fn fields(random: &mut Random, depth: usize) -> Value {
    let mut res = Map::new();
    for _ in 0..random.below(5) {
        res.insert((*random.pick(NAMES)).into(), schema(random, depth - 1));
    }
    // Two fields of one path are crdify's to choose between.
    if res.contains_key("x.y") {
        res.remove("x");
    }
    res.into()
}

/// A keyword that holds schemas.
fn nested(random: &mut Random, depth: usize) -> (&'static str, Value) {
    let inner = schema(random, depth - 1);
    match random.below(9) {
        0 => ("additionalProperties", inner),
        1 => ("additionalProperties", random.one_in(2).into()),
        2 => ("allOf", json!([inner, {"required": ["a", "b"]}])),
        3 => ("anyOf", json!([inner])),
        4 => ("oneOf", json!([{"type": "string"}, inner])),
        5 => ("not", inner),
        6 => ("patternProperties", json!({"^a.*$": inner})),
        7 => ("definitions", json!({"d": inner})),
        _ => ("dependencies", json!({"a": inner, "b": ["c"]})),
    }
}

/// A keyword with a value that it may hold, those among them that mean nothing.
fn keyword(random: &mut Random) -> (&'static str, Value) {
    let numbers = [json!(0), json!(1), json!(1.0), json!(2.5), json!(-3), json!(1e21), json!(100)];
    let counts = [json!(0), json!(1), json!(2), json!(10)];
    let texts = [json!(""), json!("one"), json!("two"), json!("yes"), json!("ünï"), json!("<a&b>")];
    let flags = [json!(true), json!(false)];
    let any = [
        json!(null),
        json!(0),
        json!(1.0),
        json!("1"),
        json!([]),
        json!({}),
        json!({"b": 1, "a": [1.0]}),
        json!(true),
        json!(""),
        json!("<&>"),
        json!(0.000_000_1),
    ];
    let lists =
        [json!([]), json!(["a"]), json!(["b", "a"]), json!(["a", "b"]), json!(["a", "b", "c"])];
    let enums = [
        json!([]),
        json!(["a"]),
        json!(["b", "a"]),
        json!([1, 1.0, "1"]),
        json!([null, ""]),
        json!(["a", "a"]),
    ];
    let rules = [
        json!([]),
        json!([{"rule": "self.a", "message": ""}]),
        json!([{"rule": "self.a"}]),
        json!([{"rule": "self.b", "reason": "FieldValueInvalid", "optionalOldSelf": false}]),
    ];
    let docs = [json!({}), json!({"url": "u"}), json!({"url": "u", "description": ""})];
    let all: &[(&'static str, &[Value])] = &[
        ("default", &any),
        ("example", &any),
        ("enum", &enums),
        ("description", &texts),
        ("title", &texts),
        ("format", &texts),
        ("pattern", &texts),
        ("id", &texts),
        ("$schema", &texts),
        ("$ref", &texts),
        ("maximum", &numbers),
        ("minimum", &numbers),
        ("multipleOf", &numbers),
        ("maxLength", &counts),
        ("minLength", &counts),
        ("maxItems", &counts),
        ("minItems", &counts),
        ("maxProperties", &counts),
        ("minProperties", &counts),
        ("nullable", &flags),
        ("uniqueItems", &flags),
        ("exclusiveMaximum", &flags),
        ("exclusiveMinimum", &flags),
        ("required", &lists),
        ("x-kubernetes-preserve-unknown-fields", &flags),
        ("x-kubernetes-embedded-resource", &flags),
        ("x-kubernetes-int-or-string", &flags),
        ("x-kubernetes-list-map-keys", &lists),
        ("x-kubernetes-list-type", &texts),
        ("x-kubernetes-map-type", &texts),
        ("x-kubernetes-validations", &rules),
        ("externalDocs", &docs),
        ("unknown", &any),
        ("type", &texts),
    ];
    let (key, values) = random.pick(all);
    (key, random.pick(values).clone())
}

/// Changes one schema somewhere in a schema.
fn change(random: &mut Random, schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    if !random.one_in(3) {
        // Further in, where there is something.
        let inner: Vec<String> =
            map.iter().filter(|it| is_nested(it.0, it.1)).map(|it| it.0.clone()).collect();
        if !inner.is_empty() {
            let key = random.pick(&inner).clone();
            return change_nested(random, &key, &mut map[&key]);
        }
    }
    let keys: Vec<String> = map.keys().cloned().collect();
    match random.below(3) {
        0 if !keys.is_empty() => drop(map.remove(random.pick(&keys))),
        _ => {
            let (key, value) = keyword(random);
            map.insert(key.into(), value);
        }
    }
}

fn is_nested(key: &str, value: &Value) -> bool {
    match key {
        "properties" | "patternProperties" | "definitions" => {
            value.as_object().is_some_and(|it| !it.is_empty())
        }
        "items" | "not" | "additionalProperties" => value.is_object(),
        "allOf" | "anyOf" | "oneOf" => true,
        _ => false,
    }
}

fn change_nested(random: &mut Random, key: &str, value: &mut Value) {
    match (key, value) {
        ("properties" | "patternProperties" | "definitions", Value::Object(fields)) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = random.pick(&names).clone();
            match random.below(6) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let added = schema(random, 1);
                    fields.insert(format!("{name}New"), added);
                }
                _ => change(random, &mut fields[&name]),
            }
        }
        (_, Value::Array(items)) if !items.is_empty() => {
            let at = random.below(items.len());
            change(random, &mut items[at]);
        }
        (_, value) => change(random, value),
    }
}
