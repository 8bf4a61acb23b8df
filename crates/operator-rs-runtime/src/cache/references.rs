//! Which primaries refer to which objects, so that a change of a Secret or a ConfigMap reaches those
//! that use it. kube's mappers see the object only, not who refers to it.

use super::{Parent, Watched, lock};
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};

/// From a primary to the keys of what it refers to.
type Targets<K> = Box<dyn Fn(&K, Option<&str>) -> Vec<Arc<str>> + Send + Sync>;

/// The index, kept up to date by the cache of the primaries.
pub(crate) struct References<K> {
    targets: Targets<K>,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    by_target: HashMap<Arc<str>, Vec<Arc<str>>>,
    by_source: HashMap<Arc<str>, Vec<Arc<str>>>,
}

impl<K: Watched> References<K> {
    /// `targets` names the `C`s that a primary refers to: by name in its own namespace, or by
    /// `ObjectRef` anywhere.
    pub fn new<C: Watched, I>(targets: impl Fn(&K) -> I + Send + Sync + 'static) -> Arc<Self>
    where
        I: IntoIterator<Item: Into<Parent>>,
    {
        let targets: Targets<K> = Box::new(move |primary, namespace| {
            let keys = || targets(primary).into_iter().map(|it| it.into().key::<C>(namespace)).collect();
            catch_unwind(AssertUnwindSafe(keys)).unwrap_or_else(|panic| {
                let error = crate::worker::panic_message(&*panic);
                let name = primary.meta().name.as_deref();
                tracing::warn!(kind = %K::kind(&()), name, error, "the function of `refers_to` panicked");
                vec![]
            })
        });
        Arc::new(Self { targets, index: Mutex::default() })
    }

    /// The keys of the primaries that refer to an object.
    pub fn to(&self, key: &str) -> Vec<Arc<str>> {
        lock(&self.index).by_target.get(key).cloned().unwrap_or_default()
    }

    /// A primary has changed, or is gone.
    pub fn update(&self, key: &str, primary: Option<&K>) {
        let new = primary.map(|it| (self.targets)(it, it.meta().namespace.as_deref())).unwrap_or_default();
        let mut guard = lock(&self.index);
        let Index { by_target, by_source } = &mut *guard;
        let source: Arc<str> = key.into();
        for target in by_source.remove(key).unwrap_or_default() {
            if let Some(list) = by_target.get_mut(&target) {
                list.retain(|it| *it != source);
                if list.is_empty() {
                    by_target.remove(&target);
                }
            }
        }
        for target in &new {
            let list = by_target.entry(target.clone()).or_default();
            if !list.contains(&source) {
                list.push(source.clone());
            }
        }
        if !new.is_empty() {
            by_source.insert(source, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};

    fn config(name: &str, refers: &[&str]) -> ConfigMap {
        let labels: std::collections::BTreeMap<_, _> =
            refers.iter().map(|it| (it.to_string(), String::new())).collect();
        serde_json::from_value(serde_json::json!({ "metadata": { "name": name, "namespace": "n", "labels": labels } }))
            .unwrap()
    }

    #[test]
    fn what_is_referred_to_is_known_until_it_is_not() {
        let references = References::new::<Pod, _>(|it: &ConfigMap| {
            assert_ne!(it.metadata.name.as_deref(), Some("panics"));
            it.metadata.labels.clone().unwrap_or_default().into_keys()
        });
        references.update("n/a", Some(&config("a", &["x", "y"])));
        references.update("n/b", Some(&config("b", &["y"])));
        references.update("n/panics", Some(&config("panics", &["y"])));
        assert_eq!(references.to("n/y"), ["n/a".into(), "n/b".into()] as [Arc<str>; 2]);
        references.update("n/a", Some(&config("a", &["x"])));
        references.update("n/b", None);
        assert_eq!((references.to("n/x").len(), references.to("n/y").len()), (1, 0));
    }
}
