//! Conversions to another version and back, by `From`.

use super::{
    difference::{Comparison, Difference},
    generate::Generator,
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
    Check::<H, S>::default().run();
}

/// A [`check`] with settings.
#[derive(Debug)]
pub struct Check<H, S> {
    objects: u64,
    seed: u64,
    samples: Vec<Value>,
    lost: Vec<String>,
    unordered: Vec<String>,
    versions: PhantomData<fn() -> (H, S)>,
}

impl<H, S> Default for Check<H, S> {
    fn default() -> Self {
        let (samples, lost, unordered) = (Vec::new(), Vec::new(), Vec::new());
        Self { objects: 10_000, seed: 0, samples, lost, unordered, versions: PhantomData }
    }
}

impl<H, S> Check<H, S>
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    /// The number of objects of each version.
    #[must_use]
    pub fn objects(self, objects: u64) -> Self {
        Self { objects, ..self }
    }

    /// The seed of the first object. That of a failure is in its message.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// An object of one of the versions: its values are used where a schema does not tell them, such as for a pattern.
    #[must_use]
    pub fn sample(mut self, object: Value) -> Self {
        self.samples.push(object);
        self
    }

    /// Accepts that a conversion to the spoke and back loses this field of the hub, such as `spec.tls`: because it is
    /// meant to, or because an annotation keeps it.
    #[must_use]
    pub fn losing(mut self, field: &str) -> Self {
        self.lost.push(field.to_owned());
        self
    }

    /// Accepts that a conversion to the other version and back changes the order of this list, such as `spec.targets`, in
    /// either version. Its items are compared all the same. It is not needed for a list that the schema declares as a map
    /// or a set, which has no order.
    #[must_use]
    pub fn losing_order(mut self, field: &str) -> Self {
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
        let mut generator = Generator::<A>::new(&self.samples);
        let schema = generator.schema.clone();
        let comparison = Comparison { schema: &schema, lost, unordered: &self.unordered };
        for seed in self.seed..self.seed + self.objects {
            let mut object = generator.object(seed);
            let Some(first) = difference_after::<A, B>(&object, &comparison) else { continue };
            let is_such = |found: Option<Difference>| found.is_some_and(|it| it.is_order == first.is_order);
            shrink(&mut object, |smaller| is_such(difference_after::<A, B>(smaller, &comparison)));
            let difference = difference_after::<A, B>(&object, &comparison).unwrap_or(first);
            panic!("{}", message::<A, B>(&difference, seed, &object));
        }
    }
}

fn message<A, B>(difference: &Difference, seed: u64, object: &Value) -> String
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
             with `losing_order(\"{path}\")`"
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
        paths.retain(|it| !it.is_empty() && !["apiVersion", "kind", "metadata"].contains(&it[0].as_str()));
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
