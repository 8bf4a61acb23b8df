//! Tests that an API server accepts and keeps the values that a type can write.
//!
//! A schema comes from the type, and what is written comes from serde: they can disagree. [`check`] makes random values
//! of the type, writes them with serde, and treats the result as an API server does by the schema in the CRD: it
//! removes unknown fields and nulls, fills in defaults and validates. Patterns, formats and rules (CEL) are not
//! checked. Numbers that the type has and its CRD does not are not tried: `NaN` and infinity, which serde writes as
//! `null`, and integers beyond those of `i64`, which API servers refuse. An `f64` or a `u64` that can have such a value
//! has to be checked before it is written.
//!
//! ```
//! #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
//! #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
//! pub struct MemcachedSpec {
//!     pub replicas: u32,
//!     pub zone: Option<String>,
//! }
//!
//! operator_rs_testing::serialization::check::<Memcached>();
//! ```

use crate::{
    conversion::{Comparison, Difference, ObjectGenerator, Random, lines, shrink, value_mut},
    structural::{FieldFault, FieldPath, Findings, Step, Texts, complete, remove_unknown, validate},
};
use kube::{Resource, core::crd::CustomResourceExt};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::marker::PhantomData;

#[cfg(test)]
mod tests;

const NOT_CHECKED: Texts = Texts { matches: |_, _| None, has_format: |_, _| None };

/// Checks 500 random values.
///
/// # Panics
/// Panics if an API server refuses or changes the output of serde. The message has the field, the smallest object that
/// shows it, and the seed.
pub fn check<K>()
where
    K: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    SerializationCheck::<K>::default().run();
}

/// A [`check`] with settings.
#[derive(Debug)]
pub struct SerializationCheck<K> {
    object_count: u64,
    first_seed: u64,
    samples: Vec<Value>,
    kind: PhantomData<fn() -> K>,
}

impl<K> Default for SerializationCheck<K> {
    fn default() -> Self {
        Self { object_count: 500, first_seed: 0, samples: Vec::new(), kind: PhantomData }
    }
}

impl<K> SerializationCheck<K>
where
    K: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    /// Sets the number of random objects (default: 500).
    #[must_use]
    pub fn object_count(self, object_count: u64) -> Self {
        Self { object_count, ..self }
    }

    /// Sets the seed of the first object (default: 0). The message of a failure has the seed of its object.
    #[must_use]
    pub fn first_seed(self, first_seed: u64) -> Self {
        Self { first_seed, ..self }
    }

    /// Adds an object of the kind. Its values are used for fields whose values the schema does not tell, such as those
    /// with a special notation.
    #[must_use]
    pub fn sample(mut self, object: impl Serialize) -> Self {
        self.samples.push(serde_json::to_value(object).expect("a sample must be an object that serde writes as JSON"));
        self
    }

    /// Runs the check.
    ///
    /// # Panics
    /// As [`check`] does.
    pub fn run(self) {
        let mut generator = ObjectGenerator::<K>::new(&self.samples);
        let (mut valid, mut refusal) = (0_u64, None);
        for seed in self.first_seed..self.first_seed + self.object_count {
            let mut object = generator.generate(seed);
            // The generator does not know all limits of a schema.
            match refusal_of_input(&generator.schema, &object) {
                None => valid += 1,
                refused => refusal = refused,
            }
            let finding = |object: &Value| finding::<K>(&generator.schema, object);
            if finding(&object).is_none() {
                set_one_to_null(&mut object, seed);
            }
            if finding(&object).is_none() {
                continue;
            }
            shrink(&mut object, |smaller| finding(smaller).is_some());
            let (Some(finding), Ok(written)) = (finding(&object), written_by_serde::<K>(&object)) else { continue };
            let text = serde_json::to_string_pretty(&written).unwrap_or_default();
            panic!("{} {}: {finding} (seed {seed}): {text}", K::kind(&()), K::version(&()));
        }
        if let Some((place, why)) = generator.unreadable {
            panic!("{}: the type reads no value that the schema allows for `{place}`: {why}", K::crd_name());
        }
        if let Some(refusal) = refusal.filter(|_| valid == 0) {
            panic!("{}: none of the random values is valid ({refusal}), give a sample", K::crd_name());
        }
    }
}

/// Returns what serde writes for an object after it has read it.
fn written_by_serde<K: Serialize + DeserializeOwned>(object: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(K::deserialize(object)?)
}

/// Returns what an API server does wrong with what serde writes for an object, if the object itself is valid.
fn finding<K: Serialize + DeserializeOwned>(schema: &Value, object: &Value) -> Option<String> {
    if refusal_of_input(schema, object).is_some() {
        return None;
    }
    let written = written_by_serde::<K>(object).ok()?;
    let mut stored = written.clone();
    if let Some(path) = remove_unknown(&mut stored, schema).first() {
        return Some(format!(
            "serde writes `{path}`, which API servers remove, and refuse under strict validation: the schema does not \
             declare it"
        ));
    }
    complete(&mut stored, schema);
    if let Some(refusal) = first_refusal(schema, &stored) {
        return Some(format!("API servers refuse what serde writes: {refusal}"));
    }
    let back = match written_by_serde::<K>(&stored) {
        Ok(back) => back,
        Err(why) => return Some(format!("the object cannot be read back from the API server: {why}")),
    };
    let comparison = Comparison { schema, lost: &[], unordered: &[] };
    let Difference { path, before, after, .. } = comparison.difference(&written, &back)?;
    Some(format!("`{path}` is written as {before}, and is {after} when it is read back from the API server"))
}

/// The first reason to refuse an object that the generator has made, other than its nulls: the type writes these, too.
fn refusal_of_input(schema: &Value, object: &Value) -> Option<String> {
    let mut without_nulls = object.clone();
    remove_all_nulls(&mut without_nulls);
    complete(&mut without_nulls, schema);
    let mut faults = faults(schema, &without_nulls).into_iter();
    let fault = faults.find(|fault| value_at(object, &fault.path) != Some(&Value::Null))?;
    Some(format!("`{}` {}", fault.path, fault.message))
}

/// Sets one value of an object to null: a required field may be an `Option`. The type does not read it if it is none.
fn set_one_to_null(object: &mut Value, seed: u64) {
    let mut paths = Vec::new();
    lines(object, &mut Vec::new(), &mut paths);
    paths.retain(|path| path.len() > 1 && path[0] != "metadata");
    if let Some(value) = Random::new(seed).pick_item(&paths).and_then(|path| value_mut(object, path)) {
        *value = Value::Null;
    }
}

fn remove_all_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_all_nulls);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(remove_all_nulls);
        }
        _ => {}
    }
}

/// The first reason of an API server to refuse an object, and for a `null` the attribute that leaves it out.
fn first_refusal(schema: &Value, object: &Value) -> Option<String> {
    let FieldFault { path, message, .. } = faults(schema, object).into_iter().next()?;
    let hint = match (path.steps().last(), value_at(object, &path)) {
        (Some(Step::Key(_)), Some(Value::Null)) => {
            ", and is null (`#[serde(skip_serializing_if = \"Option::is_none\")]` leaves it out)"
        }
        _ => "",
    };
    Some(format!("`{path}` {message}{hint}"))
}

fn faults(schema: &Value, object: &Value) -> Vec<FieldFault> {
    let mut findings = Findings::default();
    validate(schema, object, &FieldPath::default(), NOT_CHECKED, &mut findings);
    findings.faults
}

fn value_at<'a>(object: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.steps().iter().try_fold(object, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Item(index) => value.get(index),
    })
}
