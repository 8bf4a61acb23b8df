//! Random objects of a kind, from the schema in its CRD.

use super::{
    pattern,
    random::Random,
    schema::{self, place},
};
use kube::{Resource, core::crd::CustomResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, marker::PhantomData};

/// Strings that a type may read where it does not read any word.
const SPECIAL: [&str; 8] = ["1s", "5m0s", "1.2.3", "1Gi", "10.0.0.1", "http://a.example/", "7", "a"];

const WORDS: [&str; 8] = ["a", "b-1", "example", "größe", "a.example.com", "A B", "true", "0"];

/// Generates random objects of a version that its type can read. They may violate rules in CEL.
#[derive(Debug)]
pub struct ObjectGenerator<K> {
    pub(crate) schema: Value,
    samples: Vec<Value>,
    /// Places whose schema does not tell what the type reads: the number of values that it did not read.
    tried: BTreeMap<Vec<String>, usize>,
    /// The first place of a number or a bool that the type does not read, and why.
    pub(crate) unreadable: Option<(String, String)>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Resource<DynamicType = ()> + CustomResourceExt + DeserializeOwned> ObjectGenerator<K> {
    /// Reads the schema of the type. Values of the samples, which are objects of any versions or of none, are used
    /// where the schema does not tell what the type reads.
    pub fn new(samples: &[Value]) -> Self {
        let version = K::api_version(&());
        let samples = samples
            .iter()
            .filter(|sample| sample["apiVersion"].is_null() || sample["apiVersion"] == version.as_ref())
            .cloned()
            .collect();
        Self {
            schema: schema::schema_of_version::<K>(&K::version(&())),
            samples,
            tried: BTreeMap::new(),
            unreadable: None,
            kind: PhantomData,
        }
    }

    /// Returns the random object of a seed.
    ///
    /// # Panics
    /// If a required field has a notation that the schema does not describe, or a pattern that Go cannot read either,
    /// and no sample has it.
    pub fn generate(&mut self, seed: u64) -> Value {
        loop {
            let object = self.make(seed);
            let Err(why) = K::deserialize(&object) else { return object };
            let text = serde_json::to_string_pretty(&object).unwrap_or_default();
            let line = serde_json::from_str::<K>(&text).map_or_else(|error| error.line(), |_| 0);
            let mut lines = Vec::new();
            schema::lines(&object, &mut Vec::new(), &mut lines);
            let path = line.checked_sub(1).and_then(|index| lines.into_iter().nth(index)).unwrap_or_default();
            let place = place(&self.schema, &path);
            let tried = self.tried.entry(place.clone()).or_default();
            *tried += 1;
            let is_hopeless = self.candidate_values(&place).len() < self.tried[&place];
            let schema_type = &schema_at(&self.schema, &place)["type"];
            if is_hopeless && ["boolean", "integer", "number"].iter().any(|scalar| schema_type == scalar) {
                self.unreadable.get_or_insert_with(|| (schema::display_path(&place), why.to_string()));
            }
            if is_hopeless && (!schema::is_optional(&self.schema, &place) || self.tried[&place] > 100) {
                self.give_up(&place, &why.to_string());
            }
        }
    }

    fn give_up(&self, place: &[String], why: &str) -> ! {
        let (kind, place) = (K::crd_name(), schema::display_path(place));
        panic!("{kind}: no value for `{place}` can be made from the schema ({why}), give a sample that has one");
    }

    fn make(&self, seed: u64) -> Value {
        let mut maker = Maker { generator: self, random: Random::new(seed), place: Vec::new(), hopeless: None };
        let mut object = maker.make(&self.schema).unwrap_or_else(|| json!({}));
        if let Some(place) = maker.hopeless {
            self.give_up(&place, schema_at(&self.schema, &place)["pattern"].as_str().unwrap_or_default());
        }
        object["apiVersion"] = json!(K::api_version(&()));
        object["kind"] = json!(K::kind(&()));
        object["metadata"] = json!({ "name": "a", "namespace": "default" });
        object
    }

    /// The values to try at a place.
    fn candidate_values(&self, place: &[String]) -> Vec<Value> {
        let mut values: Vec<_> =
            self.samples.iter().filter_map(|sample| schema::sample_at(sample, place)).cloned().collect();
        let node = schema_at(&self.schema, place);
        match node["pattern"].as_str() {
            Some(pattern) if values.is_empty() => values.extend(pattern::matching_texts(pattern).map(Value::from)),
            None if node["type"] == "string" => values.extend(SPECIAL.map(Value::from)),
            _ => {}
        }
        values
    }
}

fn schema_at<'a>(schema: &'a Value, place: &[String]) -> &'a Value {
    place.iter().fold(schema, |it, name| match name.as_str() {
        _ if it["type"] == "array" => &it["items"],
        "*" => &it["additionalProperties"],
        name => &it["properties"][name],
    })
}

struct Maker<'a, K> {
    generator: &'a ObjectGenerator<K>,
    random: Random,
    place: Vec<String>,
    /// A required field of which nothing is known.
    hopeless: Option<Vec<String>>,
}

impl<K: Resource<DynamicType = ()> + CustomResourceExt + DeserializeOwned> Maker<'_, K> {
    fn generate_field(&mut self, name: &str, schema: &Value) -> Option<Value> {
        self.place.push(name.to_owned());
        let value = self.make(schema);
        self.place.pop();
        value
    }

    /// A value; nothing if the schema does not tell what it can be, and no sample does.
    fn make(&mut self, schema: &Value) -> Option<Value> {
        let tried = self.generator.tried.get(&self.place).copied();
        let has_pattern = schema["pattern"].is_string() && schema["enum"].is_null();
        if let Some(tried) = tried.or(has_pattern.then_some(1)) {
            let values = self.generator.candidate_values(&self.place);
            let rest = values.get(tried - 1..).unwrap_or_default();
            return if tried == 1 && has_pattern {
                self.random.pick_item(rest).cloned()
            } else {
                rest.first().cloned()
            };
        }
        // Elsewhere, a value that is absent stands for it.
        let is_element = self.place.last().is_some_and(|name| name == "0" || name == "*");
        if is_element && schema["nullable"] == true && self.random.number_below(4) == 0 {
            return Some(Value::Null);
        }
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<_> = values.iter().filter(|value| !value.is_null()).collect();
            return self.random.pick_item(&values).map(|value| (*value).clone());
        }
        if schema["x-kubernetes-int-or-string"] == true {
            let number = self.random.number_below(100);
            let texts = [json!("1Gi"), json!("250m"), json!("20"), json!(number), json!(number)];
            return self.random.pick_item(&texts).cloned();
        }
        Some(match schema["type"].as_str() {
            Some("boolean") => json!(self.random.number_below(2) == 1),
            Some("integer") => self.random_integer(schema),
            Some("number") => {
                let whole = self.random_integer(schema).as_f64().unwrap_or_default();
                json!((whole + 0.5).min(schema["maximum"].as_f64().unwrap_or(f64::MAX)))
            }
            Some("string") => json!(self.random_string(schema)),
            Some("array") => self.random_list(schema),
            _ => self.random_fields(schema)?,
        })
    }

    fn random_integer(&mut self, schema: &Value) -> Value {
        let bound = |name: &str| schema[name].as_f64().map(|bound| bound as i64);
        let (smallest, largest) = match schema["format"].as_str() {
            Some("int32" | "uint32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (-(1 << 53), 1 << 53),
        };
        let exclusive = |name: &str| i64::from(schema[name] == true);
        let smallest = bound("minimum").map_or(smallest, |bound| bound + exclusive("exclusiveMinimum"));
        let largest = bound("maximum").map_or(largest, |bound| bound - exclusive("exclusiveMaximum")).max(smallest);
        let near = 0_i64.clamp(smallest, largest);
        let some = near.saturating_add(i64::try_from(self.random.number_below(100)).unwrap_or_default());
        let step = schema["multipleOf"].as_f64().map_or(1, |step| step as i64).max(1);
        let value = match self.random.number_below(8) {
            0 => smallest,
            1 => largest,
            2 => near,
            _ => some.min(largest),
        };
        json!(value - value % step)
    }

    fn random_string(&mut self, schema: &Value) -> String {
        let n = self.random.number_below(60);
        match schema["format"].as_str().unwrap_or_default() {
            "date-time" => format!("2024-05-06T07:08:{n:02}Z"),
            "date" => format!("2024-05-{:02}", n % 28 + 1),
            "time" => format!("07:08:{n:02}"),
            "duration" => format!("PT{n}S"),
            "byte" => ["", "MQ==", "MTIz"][n % 3].to_owned(),
            "ip" | "ipv4" => format!("10.0.0.{n}"),
            "ipv6" => format!("2001:db8::{n}"),
            "cidr" => format!("10.{n}.0.0/16"),
            "uri" | "url" | "uri-reference" => format!("https://a.example/{n}"),
            "uuid" => format!("00000000-0000-4000-8000-0000000000{n:02}"),
            "email" => format!("a{n}@a.example"),
            _ => {
                let length = |name: &str| schema[name].as_u64().and_then(|length| usize::try_from(length).ok());
                let word = format!("{}{n}", WORDS[self.random.number_below(WORDS.len())]);
                let word = if n == 0 { String::new() } else { word };
                let missing = length("minLength").unwrap_or(0).saturating_sub(word.chars().count());
                let word = word + &"x".repeat(missing);
                word.chars().take(length("maxLength").unwrap_or(usize::MAX)).collect()
            }
        }
    }

    fn random_list(&mut self, schema: &Value) -> Value {
        let length = |name: &str| schema[name].as_u64().and_then(|length| usize::try_from(length).ok());
        let least = length("minItems").unwrap_or(0);
        let most = length("maxItems").unwrap_or(least + 3);
        let count = least + self.random.number_below(most.min(least + 3) - least + 1);
        let keys = schema["x-kubernetes-list-map-keys"].as_array();
        let is_set = schema["x-kubernetes-list-type"] == "set";
        let mut list: Vec<Value> = Vec::new();
        for _ in 0..count {
            let Some(item) = self.generate_field("0", &schema["items"]) else { break };
            let same = |it: &Value| match keys {
                Some(keys) => keys.iter().filter_map(Value::as_str).all(|key| it[key] == item[key]),
                None => is_set && *it == item,
            };
            if !list.iter().any(same) {
                list.push(item);
            }
        }
        json!(list)
    }

    /// An object; nothing if a required field cannot be made.
    fn random_fields(&mut self, schema: &Value) -> Option<Value> {
        let mut object = Map::new();
        let (mut required, mut excluded, mut tags) = (vec![schema], Vec::new(), Vec::new());
        let groups = ["oneOf", "anyOf"].into_iter().filter_map(|keyword| schema[keyword].as_array());
        for branches in groups {
            let chosen = self.random.number_below(branches.len());
            for (i, branch) in branches.iter().enumerate() {
                let names = branch["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                excluded.extend(names.filter(|name| i != chosen && !schema::is_required(&branches[chosen], name)));
            }
            let branch = &branches[chosen];
            excluded.extend(branch["not"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str));
            tags.extend(
                branch["properties"].as_object().into_iter().flatten().filter(|field| field.1["enum"].is_array()),
            );
            required.push(branch);
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.iter().any(|schema| schema::is_required(schema, name));
            let is_left_out = self.random.number_below(3) == 0 || excluded.contains(&name.as_str());
            if is_left_out && !is_required {
                continue;
            }
            let field = tags.iter().find(|tag| tag.0 == name).map_or(field, |tag| tag.1);
            match self.generate_field(name, field) {
                Some(value) => _ = object.insert(name.clone(), value),
                None if is_required => {
                    let place = self.place.iter().chain([name]).cloned().collect();
                    self.hopeless.get_or_insert(place);
                    return None;
                }
                None => {}
            }
        }
        let values = &schema["additionalProperties"];
        if values.is_object() || *values == true {
            // `true` is a schema without keywords: it allows any value.
            let any = json!({ "x-kubernetes-preserve-unknown-fields": true });
            let values = if values.is_object() { values } else { &any };
            for _ in 0..self.random.number_below(3) {
                let name = WORDS[self.random.number_below(5)];
                if let Some(value) = self.generate_field("*", values) {
                    object.insert(name.to_owned(), value);
                }
            }
        } else if schema["x-kubernetes-preserve-unknown-fields"] == true && schema["properties"].is_null() {
            let values = [json!({}), json!({ "a": 1 }), json!({ "b": [true, { "c": "d" }] })];
            return self.random.pick_item(&values).cloned();
        }
        Some(Value::Object(object))
    }
}
