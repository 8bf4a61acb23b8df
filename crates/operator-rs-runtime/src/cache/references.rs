//! An index of the primaries that refer to an object, so that a change of a Secret or a ConfigMap triggers a reconcile
//! of the primaries that use it. kube's mappers see only the object, and cannot look up the primaries that refer to it.

use super::{ObjectName, Watchable, lock, mappers::is_within};
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};

/// A function from a primary, and its namespace, to the keys of the objects that it refers to.
type Targets<K> = Box<dyn Fn(&K, Option<&str>) -> Vec<Arc<str>> + Send + Sync>;

/// The index, which the cache of the primaries keeps up to date.
pub(crate) struct References<K> {
    targets: Targets<K>,
    /// The namespace whose objects are watched, or `None` if all are.
    within: Option<String>,
    index: Mutex<Index>,
}

#[derive(Default)]
struct Index {
    by_target: HashMap<Arc<str>, Vec<Arc<str>>>,
    by_source: HashMap<Arc<str>, Vec<Arc<str>>>,
}

impl<K: Watchable> References<K> {
    /// Creates an index. `targets` returns the `C`s that a primary refers to: a `String` names one in the namespace of
    /// the primary, an `ObjectRef` one in any namespace.
    ///
    /// Objects outside of the namespace `within` are not watched. A reference to one of them is logged.
    pub fn new<C: Watchable, I>(within: Option<&str>, targets: impl Fn(&K) -> I + Send + Sync + 'static) -> Arc<Self>
    where
        I: IntoIterator<Item: Into<ObjectName>>,
    {
        let targets: Targets<K> = Box::new(move |primary, namespace| {
            let keys = || targets(primary).into_iter().map(|target| target.into().into_key::<C>(namespace)).collect();
            catch_unwind(AssertUnwindSafe(keys)).unwrap_or_else(|panic| {
                let error = crate::panics::panic_message(&*panic);
                let name = primary.meta().name.as_deref();
                tracing::warn!(kind = %K::kind(&()), name, error, "the function of `references` panicked");
                vec![]
            })
        });
        Arc::new(Self { targets, within: within.map(Into::into), index: Mutex::default() })
    }

    /// Returns the keys of the primaries that refer to an object.
    pub fn referrers_of(&self, key: &str) -> Vec<Arc<str>> {
        lock(&self.index).by_target.get(key).cloned().unwrap_or_default()
    }

    /// Updates the references of a primary that has changed, or that is gone if `primary` is `None`.
    pub fn update(&self, key: &str, primary: Option<&K>) {
        let new =
            primary.map(|primary| (self.targets)(primary, primary.meta().namespace.as_deref())).unwrap_or_default();
        let mut guard = lock(&self.index);
        let Index { by_target, by_source } = &mut *guard;
        let source: Arc<str> = key.into();
        let old = by_source.remove(key).unwrap_or_default();
        let is_unwatched = |target: &&Arc<str>| !is_within(self.within.as_deref(), target);
        for target in new.iter().filter(|target| !old.contains(target)).filter(is_unwatched) {
            let within = self.within.as_deref().unwrap_or_default();
            tracing::warn!(
                kind = %K::kind(&()), object = key,
                "it refers to `{target}`, which this controller does not see, because it watches the namespace `{within}` only: let it watch all namespaces"
            );
        }
        for target in old {
            if let Some(list) = by_target.get_mut(&target) {
                list.retain(|key| *key != source);
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
    use super::{
        super::{Observed, by_mapper},
        *,
    };
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    use kube::runtime::reflector::ObjectRef;

    fn config(name: &str, refers: &[&str]) -> ConfigMap {
        let labels: std::collections::BTreeMap<_, _> =
            refers.iter().map(|name| (name.to_string(), String::new())).collect();
        serde_json::from_value(serde_json::json!({ "metadata": { "name": name, "namespace": "n", "labels": labels } }))
            .unwrap()
    }

    #[test]
    fn what_is_referred_to_is_known_until_it_is_not() {
        let references = References::new::<Pod, _>(None, |config: &ConfigMap| {
            assert_ne!(config.metadata.name.as_deref(), Some("panics"));
            config.metadata.labels.clone().unwrap_or_default().into_keys()
        });
        references.update("n/a", Some(&config("a", &["x", "y"])));
        references.update("n/b", Some(&config("b", &["y"])));
        references.update("n/panics", Some(&config("panics", &["y"])));
        assert_eq!(references.referrers_of("n/y"), ["n/a".into(), "n/b".into()] as [Arc<str>; 2]);
        references.update("n/a", Some(&config("a", &["x"])));
        references.update("n/b", None);
        assert_eq!((references.referrers_of("n/x").len(), references.referrers_of("n/y").len()), (1, 0));
    }

    #[test]
    fn a_reference_to_what_is_not_watched_is_logged_once() {
        let far = |config: &ConfigMap| {
            let names = config.metadata.labels.clone().unwrap_or_default().into_keys();
            names.map(|name| ObjectRef::<Pod>::new(&name).within(if name == "near" { "n" } else { "far" }))
        };
        let lines = lines(|| {
            let references = References::new::<Pod, _>(Some("n"), far);
            for refers in [&["near", "y"][..], &["near", "y"], &["near"]] {
                references.update("n/a", Some(&config("a", refers)));
            }
            References::new::<Pod, _>(None, far).update("n/a", Some(&config("a", &["y"])));
        });
        let expected = "it refers to `far/y`, which this controller does not see, because it watches the namespace \
                        `n` only: let it watch all namespaces kind=ConfigMap object=\"n/a\"\n";
        assert!(lines.ends_with(expected) && lines.lines().count() == 1, "{lines}");
    }

    #[test]
    fn a_mapper_that_names_what_is_not_watched_is_logged_once() {
        let object = serde_json::to_string(&config("a", &["near", "far"])).unwrap();
        let object: Observed<ConfigMap> = serde_json::from_str(&object).unwrap();
        let all = |config: &ConfigMap| {
            let names = config.metadata.labels.clone().unwrap_or_default().into_keys();
            names.map(|name| ObjectRef::<Pod>::new("b").within(if name == "near" { "n" } else { "far" }))
        };
        let lines = lines(|| {
            let mapper = by_mapper::<Pod, _, _>(Some("n"), all);
            assert_eq!(mapper(&object), ["far/b".into(), "n/b".into()] as [Arc<str>; 2]);
            mapper(&object);
            by_mapper::<Pod, _, _>(None, all)(&object);
        });
        let expected = "it belongs to Pod `far/b`, which this controller does not reconcile, because it watches the \
                        namespace `n` only: let it watch all namespaces kind=ConfigMap object=";
        assert!(lines.contains(expected) && lines.lines().count() == 1, "{lines}");
    }

    /// Returns the messages that `run` logs.
    fn lines(run: impl FnOnce()) -> String {
        let (log, lines) = std::sync::mpsc::channel();
        let writer = move || Log(log.clone());
        let log = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).without_time().finish();
        tracing::subscriber::with_default(log, run);
        lines.try_iter().collect()
    }

    struct Log(std::sync::mpsc::Sender<String>);

    impl std::io::Write for Log {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(text).into_owned());
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
