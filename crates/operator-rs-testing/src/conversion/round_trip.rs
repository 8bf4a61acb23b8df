//! Conversions to another version and back, by `From`.

use super::{
    generate::Generator,
    schema::{self, children, remove},
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
    versions: PhantomData<fn() -> (H, S)>,
}

impl<H, S> Default for Check<H, S> {
    fn default() -> Self {
        Self { objects: 10_000, seed: 0, samples: Vec::new(), lost: Vec::new(), versions: PhantomData }
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
        for seed in self.seed..self.seed + self.objects {
            let mut object = generator.object(seed);
            if difference_after::<A, B>(&object, lost).is_none() {
                continue;
            }
            shrink(&mut object, |it| difference_after::<A, B>(it, lost).is_some());
            let Some((path, before, after)) = difference_after::<A, B>(&object, lost) else { continue };
            let (a, b) = (A::version(&()), B::version(&()));
            panic!(
                "`{path}` of {} is {before} in {a}, and {after} after a conversion to {b} and back (seed {seed}): {}",
                A::kind(&()),
                serde_json::to_string_pretty(&object).unwrap_or_default()
            );
        }
    }
}

/// The first field that differs after a conversion and back, before and after. Nothing if the object cannot be read.
fn difference_after<A, B>(object: &Value, lost: &[String]) -> Option<(String, String, String)>
where
    A: From<B> + Serialize + DeserializeOwned,
    B: From<A>,
{
    let (one, same) = (A::deserialize(object).ok()?, A::deserialize(object).ok()?);
    let back = A::from(B::from(one));
    let (before, after) = (serde_json::to_value(same).ok()?, serde_json::to_value(back).ok()?);
    difference(&before, &after, &mut Vec::new(), lost)
}

/// The first field that differs, before and after. Fields in `lost` and the metadata may.
pub fn difference(a: &Value, b: &Value, path: &mut Vec<String>, lost: &[String]) -> Option<(String, String, String)> {
    let is_left_out = || lost.contains(&schema::display(path)) || path.first().is_some_and(|it| it == "metadata");
    if a == b || is_left_out() {
        return None;
    }
    let same_sort = (a.is_object() && b.is_object()) || (a.is_array() && b.is_array());
    if !same_sort || (a.is_array() && children(a).count() != children(b).count()) {
        return Some((schema::display(path), a.to_string(), b.to_string()));
    }
    let absent = Value::Null;
    let of_a = children(a).map(|(name, it)| (name.clone(), it, child(b, &name).unwrap_or(&absent)));
    let of_b = children(b).filter(|(name, _)| child(a, name).is_none()).map(|(name, it)| (name, &absent, it));
    of_a.chain(of_b).find_map(|(name, a, b)| {
        path.push(name);
        let found = difference(a, b, path, lost);
        path.pop();
        found
    })
}

fn child<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).or_else(|| value.get(name.parse::<usize>().ok()?))
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
