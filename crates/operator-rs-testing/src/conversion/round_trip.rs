//! Conversions to another version and back, by `From`.

use super::{
    difference::{Comparison, Difference},
    generate::ObjectGenerator,
    schema::{self, remove},
};
use kube::{Resource, core::crd::CustomResourceExt};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::marker::PhantomData;

/// Converts 10 000 random objects of each version to the other one and back.
///
/// # Panics
/// If an object is not the same after that. The message has the field, the smallest object that shows it, and the seed.
pub fn check<H, S>()
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    RoundTripCheck::<H, S>::default().run();
}

/// A [`check`] with settings.
#[derive(Debug)]
pub struct RoundTripCheck<H, S> {
    object_count: u64,
    first_seed: u64,
    samples: Vec<Value>,
    lost: Vec<String>,
    unordered: Vec<String>,
    versions: PhantomData<fn() -> (H, S)>,
}

impl<H, S> Default for RoundTripCheck<H, S> {
    fn default() -> Self {
        let (samples, lost, unordered) = (Vec::new(), Vec::new(), Vec::new());
        Self { object_count: 10_000, first_seed: 0, samples, lost, unordered, versions: PhantomData }
    }
}

impl<H, S> RoundTripCheck<H, S>
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    /// Sets the number of random objects of each version (default: 10 000).
    #[must_use]
    pub fn object_count(self, object_count: u64) -> Self {
        Self { object_count, ..self }
    }

    /// Sets the seed of the first object (default: 0). The message of a failure has the seed of its object.
    #[must_use]
    pub fn first_seed(self, first_seed: u64) -> Self {
        Self { first_seed, ..self }
    }

    /// Adds an object of one of the versions. Its values are used for fields whose values the schema does not tell,
    /// such as those with a special notation.
    #[must_use]
    pub fn sample(mut self, object: impl Serialize) -> Self {
        self.samples.push(serde_json::to_value(object).expect("a sample must be an object that serde writes as JSON"));
        self
    }

    /// Accepts that a conversion to the spoke and back loses this field of the hub, such as `spec.tls`: because it is
    /// meant to, or because an annotation keeps it.
    #[must_use]
    pub fn accept_loss_of(mut self, field: &str) -> Self {
        self.lost.push(field.to_owned());
        self
    }

    /// Accepts that a conversion to the other version and back changes the order of this list, such as `spec.targets`,
    /// in either version. Its items are compared all the same. It is not needed for a list that the schema declares as
    /// a map or a set, which has no order.
    #[must_use]
    pub fn accept_reordering_of(mut self, field: &str) -> Self {
        self.unordered.push(field.to_owned());
        self
    }

    /// Runs the check.
    ///
    /// # Panics
    /// As [`check`] does.
    pub fn run(self) {
        self.round_trips::<S, H>(&[]);
        self.round_trips::<H, S>(&self.lost);
    }

    fn round_trips<A, B>(&self, lost: &[String])
    where
        A: From<B> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
        B: From<A> + Resource<DynamicType = ()>,
    {
        let mut generator = ObjectGenerator::<A>::new(&self.samples);
        let schema = generator.schema.clone();
        let comparison = Comparison { schema: &schema, lost, unordered: &self.unordered };
        for seed in self.first_seed..self.first_seed + self.object_count {
            let mut object = generator.generate(seed);
            let Some(first) = difference_after::<A, B>(&object, &comparison) else { continue };
            let is_such =
                |found: Option<Difference>| found.is_some_and(|difference| difference.is_order == first.is_order);
            shrink(&mut object, |smaller| is_such(difference_after::<A, B>(smaller, &comparison)));
            let difference = difference_after::<A, B>(&object, &comparison).unwrap_or(first);
            panic!("{}", failure_message::<A, B>(&difference, seed, &object));
        }
    }
}

fn failure_message<A, B>(difference: &Difference, seed: u64, object: &Value) -> String
where
    A: Resource<DynamicType = ()>,
    B: Resource<DynamicType = ()>,
{
    let Difference { path, before, after, is_order } = difference;
    let (kind, a, b) = (A::kind(&()), A::version(&()), B::version(&()));
    if *is_order {
        return format!(
            "the order of `{path}` of {kind} in {a} is lost after a conversion to {b} and back (seed {seed}): {before} \
             becomes {after}. If the order means nothing, declare the list as a map or a set in the type, or accept this \
             with `accept_reordering_of(\"{path}\")`"
        );
    }
    let object = serde_json::to_string_pretty(object).unwrap_or_default();
    format!(
        "`{path}` of {kind} is {before} in {a}, and {after} after a conversion to {b} and back (seed {seed}): {object}"
    )
}

/// The first difference after a conversion and back. Nothing if the object cannot be read.
fn difference_after<A, B>(object: &Value, comparison: &Comparison<'_>) -> Option<Difference>
where
    A: From<B> + Serialize + DeserializeOwned,
    B: From<A>,
{
    let (one, same) = (A::deserialize(object).ok()?, A::deserialize(object).ok()?);
    let back = A::from(B::from(one));
    let (before, after) = (serde_json::to_value(same).ok()?, serde_json::to_value(back).ok()?);
    comparison.difference(&before, &after)
}

/// Removes all fields and items without which the object still fails.
pub fn shrink(object: &mut Value, fails: impl Fn(&Value) -> bool) {
    loop {
        let mut paths = Vec::new();
        schema::lines(object, &mut Vec::new(), &mut paths);
        paths.retain(|path| !path.is_empty() && !["apiVersion", "kind", "metadata"].contains(&path[0].as_str()));
        let smaller = paths.iter().find_map(|path| {
            let mut smaller = object.clone();
            remove(&mut smaller, path);
            fails(&smaller).then_some(smaller)
        });
        match smaller {
            Some(it) => *object = it,
            None => return,
        }
    }
}
