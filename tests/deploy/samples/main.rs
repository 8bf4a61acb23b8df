//! Samples as the API server judges them: the same verdict is ours. A table with one fault each, and random ones.
//!
//! `SAMPLES` says how many random ones, `SAMPLES_SEED` where to begin.

use std::{collections::BTreeSet, env, fs};

use serde_json::{Map, Value, json};

use crate::{place::Place, server, support, trials};

/// What is put into the `spec` of a valid sample; of `null`, the field is left out.
fn table() -> Vec<Value> {
    let rows = include_str!("table.jsonl").lines().filter(|it| !it.starts_with("//"));
    rows.map(|it| serde_json::from_str(it).unwrap_or_else(|error| panic!("{it}: {error}")))
        .collect()
}

fn sample(changes: &Value) -> Value {
    let mut res = json!({
        "apiVersion": "samples.org/v1",
        "kind": "Thing",
        "metadata": { "name": "a" },
        "spec": { "count": 2, "name": "ab" },
    });
    for (key, value) in changes.as_object().expect("a row is a map") {
        let (place, key) = match key.strip_prefix('/') {
            Some(key) => (&mut res, key),
            None => (&mut res["spec"], key.as_str()),
        };
        match value {
            Value::String(it) if it == "-" => {
                drop(place.as_object_mut().expect("a map").remove(key))
            }
            it => place[key] = it.clone(),
        }
    }
    res
}

trials! {
    async fn samples_are_judged_as_the_api_server_judges_them(it: "samples") {
        let crd: Value = serde_json::from_str(include_str!("crd.json")).expect("it is JSON");
        it.server.apply(&crd).await;
        let established = |it: &Value| it["status"]["conditions"].to_string().contains("\"Established\"");
        it.server.until(&server::path(&crd), 20, "established", established).await;

        let number = |name: &str, default| {
            env::var(name).ok().and_then(|it| it.parse::<u64>().ok()).unwrap_or(default)
        };
        let (first, count) = (number("SAMPLES_SEED", 1), number("SAMPLES", 150));
        let mut samples: Vec<Value> = table().iter().map(sample).collect();
        samples.extend((first..first + count).map(random));
        let ours = refused(&it, &crd, &samples);

        let path = "/apis/samples.org/v1/namespaces/default/things?dryRun=All&fieldValidation=Strict";
        let (mut wrong, mut valid) = (Vec::new(), 0);
        for (at, sample) in samples.iter().enumerate() {
            let request = it.server.ask("POST", path, server::JSON, sample.clone());
            let answer = request.await.expect("the API server answers");
            let is_valid = answer.code < 300;
            valid += usize::from(is_valid);
            if is_valid == ours.contains(&at) {
                wrong.push(format!("{sample}\n  server: {} {}", answer.code, answer.body["message"]));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), samples.len(), wrong.join("\n"));
        assert!(20 < valid && valid + 40 < samples.len(), "{valid} of {} are valid", samples.len());
    }
}

/// What JSON Schema cannot express, as the server says it.
const INEXPRESSIBLE: &[&str] = &[
    "Duplicate value", // keys of lists
    "must be of type hostname",
    "must be of type ipv4",
    "must be of type ipv6",
    "must be of type cidr",
    "must be of type byte",
    "must be of type uri",
    "must be of type email",
    "must be of type uuid",
    "must be of type k8s-short-name",
    "should be a non-negative integer", // the replicas of the scale
    "should be less than or equal to 2147483647",
    "MultipleOf declared", // a bound that Go rounds
    "with format float",
    "spec.template.metadata", // the object in an object
    "spec.template.apiVersion: Invalid value",
    "spec.template.kind: Invalid value",
    "spec.max in body must be of type integer", // 1e30
];

/// What the server takes and a schema refuses: `null` for nothing, a status that it drops, a number that it rounds, and a
/// list in place of a text with a format.
fn is_lenient(sample: &Value) -> bool {
    let spec = &sample["spec"];
    let lists = [
        "when", "day", "id", "host", "ip", "ip6", "net", "data", "link", "mail", "short", "strange",
    ];
    sample.to_string().contains("null")
        || sample.get("status").is_some()
        || spec["level"] == 1.5
        || lists.iter().any(|it| spec[it].is_array())
}

trials! {
    async fn schemas_judge_samples_as_the_api_server_does(it: "schemas") {
        let mut crd: Value = serde_json::from_str(include_str!("crd.json")).expect("it is JSON");
        without_rules(&mut crd);
        crd["metadata"]["name"] = json!("plains.samples.org");
        crd["spec"]["names"] = json!({ "kind": "Plain", "plural": "plains" });
        it.server.apply(&crd).await;
        let established = |it: &Value| it["status"]["conditions"].to_string().contains("\"Established\"");
        it.server.until(&server::path(&crd), 20, "established", established).await;
        fs::write(it.dir.join("crd.yaml"), crd.to_string()).expect("the folder is ours");
        support::done(&it.dir, "generate schemas --crds crd.yaml --output-dir schemas");
        let schema = fs::read(it.dir.join("schemas/samples.org/plain_v1.json")).expect("it is written");
        let schema: Value = serde_json::from_slice(&schema).expect("it is JSON");
        let schema = jsonschema::options().should_validate_formats(true).build(&schema).expect("it is a schema");

        let path = "/apis/samples.org/v1/namespaces/default/plains?dryRun=All&fieldValidation=Strict";
        let (mut wrong, mut agreed) = (Vec::new(), [0, 0]);
        for mut sample in table().iter().map(sample).chain((1..500).map(random)) {
            sample["kind"] = json!("Plain");
            if sample["metadata"] != json!({ "name": "a" }) {
                continue;
            }
            let answer = it.server.ask("POST", path, server::JSON, sample.clone()).await.expect("the API server answers");
            let (ours, theirs) = (schema.is_valid(&sample), answer.code < 300);
            let message = answer.body["message"].as_str().unwrap_or_default();
            if ours == theirs {
                agreed[usize::from(theirs)] += 1;
            } else if !(theirs && is_lenient(&sample) || ours && INEXPRESSIBLE.iter().any(|it| message.contains(it))) {
                let why: Vec<_> = schema.iter_errors(&sample).map(|it| it.to_string()).collect();
                wrong.push(format!("{sample}\n  server: {} {message}\n  schema: {}", answer.code, why.join("; ")));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(agreed.iter().all(|it| 100 < *it) && 600 < agreed.iter().sum::<i32>(), "{agreed:?}");
    }
}

fn without_rules(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("x-kubernetes-validations");
            map.values_mut().for_each(without_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(without_rules),
        _ => {}
    }
}

/// The samples that `bundle` refuses, by their place: each is a line of its input.
fn refused(place: &Place, crd: &Value, samples: &[Value]) -> BTreeSet<usize> {
    let documents = std::iter::once(crd).chain(samples);
    let text: String = documents.map(|it| format!("---\n{it}\n")).collect();
    fs::write(place.dir.join("objects.yaml"), text).expect("the folder is ours");
    let mut command = support::command(support::BINARY, &place.dir);
    let output = command
        .args(["bundle", "--input", "objects.yaml", "--message-format", "short"])
        .output()
        .expect("it starts");
    let answer = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{answer}");
    let lines = answer.lines().filter_map(|it| it.trim_start().strip_prefix("objects.yaml:"));
    let places = lines.filter_map(|it| it.split(':').next()?.parse::<usize>().ok());
    let res: BTreeSet<usize> = places.filter(|it| 2 < *it).map(|it| it / 2 - 2).collect();
    assert!(!res.is_empty(), "{answer}");
    res
}

/// A sample with a few changes of which each may be a fault.
fn random(seed: u64) -> Value {
    let mut random = Random(seed);
    let rows = table();
    let mut res = sample(&json!({}));
    for _ in 0..=random.below(3) {
        // Some fields of other rows, and values where they may not belong.
        let row = &rows[random.below(rows.len())];
        for (key, value) in row.as_object().expect("a row is a map") {
            let value = if random.below(4) == 0 { random.value(&rows) } else { value.clone() };
            let key = key.trim_start_matches('/');
            if value != "-"
                && !matches!(key, "metadata" | "apiVersion" | "kind" | "status" | "spec")
            {
                res["spec"][key] = value;
            }
        }
    }
    mangle(&mut res["spec"], &mut random);
    res
}

/// Leaves something out, puts it in twice, or changes its type, somewhere.
fn mangle(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(random.below(map.len())).expect("it is there").clone();
            match random.below(8) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert(format!("{key}s"), json!(1))),
                2 => drop(map.insert(key, Value::Null)),
                _ => mangle(&mut map[&key], random),
            }
        }
        Value::Array(items) if !items.is_empty() => match random.below(3) {
            0 => items.push(items[0].clone()),
            1 => mangle(&mut items[0], random),
            _ => {}
        },
        other => match random.below(6) {
            0 => *other = json!(3),
            1 => *other = json!("b"),
            2 => *other = json!(2.5),
            3 => *other = Value::Object(Map::new()),
            _ => {}
        },
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % count as u64).expect("it is small")
    }

    fn value(&mut self, rows: &[Value]) -> Value {
        let row = rows[self.below(rows.len())].as_object().expect("a row is a map");
        row.values().next().cloned().unwrap_or_default()
    }
}
