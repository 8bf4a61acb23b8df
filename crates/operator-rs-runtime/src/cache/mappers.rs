//! Mappers, which return the primary objects that a watched object belongs to.

use super::{Observed, Watchable, lock, object_key, object_ref, owner::owner_type};
use crate::scope::ResourceScope;
use kube::{Resource, runtime::reflector::ObjectRef};
use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};
use tracing::warn;

/// The name of an object, as the function that is given to [`Controller::watches`](crate::Controller::watches) or
/// [`Controller::references`](crate::Controller::references) returns it.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::runtime::reflector::ObjectRef;
/// use operator_rs_runtime::ObjectName;
///
/// // In the namespace of the object that the function gets, or cluster-scoped:
/// let near = ObjectName::from("a".to_owned());
/// // In any namespace:
/// let far = ObjectName::from(ObjectRef::<ConfigMap>::new("a").within("elsewhere"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectName {
    /// The object with this name in the same namespace, or a cluster-scoped one.
    Near(String),
    /// The object with this name in this namespace, or a cluster-scoped one.
    At(Option<String>, String),
}

impl From<String> for ObjectName {
    fn from(name: String) -> Self {
        Self::Near(name)
    }
}

impl<K: Resource> From<ObjectRef<K>> for ObjectName
where
    K::DynamicType: std::hash::Hash + Eq,
{
    fn from(object: ObjectRef<K>) -> Self {
        Self::At(object.namespace, object.name)
    }
}

impl ObjectName {
    /// Returns the key of the `P` with this name. `namespace` is that of the object that names it.
    pub(super) fn into_key<P: Watchable>(self, namespace: Option<&str>) -> Arc<str> {
        let near = if P::Scope::NAMESPACED { namespace } else { None };
        match self {
            Self::Near(name) => object_key(near, &name).into(),
            Self::At(namespace, name) if P::Scope::NAMESPACED => {
                object_key(namespace.as_deref().or(near), &name).into()
            }
            Self::At(_, name) => object_key(None, &name).into(),
        }
    }
}

/// A function from an object to the keys of its parents.
pub(crate) type Mapper<C> = Box<dyn Fn(&Observed<C>) -> Vec<Arc<str>> + Send + Sync>;

/// Returns a mapper to the `P` that an object's owner references name as its controller. The mapper does not compare
/// the uid, so that it may return another `P` with the same name.
pub(crate) fn by_owner<P: Watchable, C: Watchable>() -> Mapper<C> {
    Box::new(|child| {
        let Some(owner) = child.controller_reference() else { return vec![] };
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        if *owner.kind != P::kind(&()) || *group != P::group(&()) {
            return vec![];
        }
        vec![ObjectName::Near(owner.name.clone()).into_key::<P>(child.metadata.namespace.as_deref())]
    })
}

/// Returns a mapper to the `P` that an object's annotations name as its owner.
pub(crate) fn by_annotation<P: Watchable, C: Watchable>() -> Mapper<C> {
    let type_ = owner_type(&P::kind(&()), &P::group(&()));
    Box::new(move |object| {
        let owner = object.annotated_owner.iter().filter(|owner| owner.type_ == type_);
        owner.map(|owner| Arc::from(&*owner.name)).collect()
    })
}

/// Returns the mapper that a function of the user defines. If the function panics, the panic is logged, and the mapper
/// returns no parents. Primaries outside of the namespace `within` are not reconciled, which is logged once for each.
pub(crate) fn by_mapper<P, C, I>(within: Option<&str>, mapper: impl Fn(&C) -> I + Send + Sync + 'static) -> Mapper<C>
where
    P: Watchable,
    C: Watchable,
    I: IntoIterator<Item: Into<ObjectName>>,
{
    let (within, logged) = (within.map(str::to_owned), Mutex::new(HashSet::new()));
    Box::new(move |object| {
        let decoded = match object.decode() {
            Ok(decoded) => decoded,
            Err(error) => {
                let reference = object_ref::<C>(&object.object_key());
                warn!(kind = %C::kind(&()), object = %reference, %error, "skipping an object that cannot be decoded");
                return vec![];
            }
        };
        let namespace = object.metadata.namespace.as_deref();
        let parents = || mapper(&decoded).into_iter().map(|parent| parent.into().into_key::<P>(namespace)).collect();
        let parents: Vec<Arc<str>> = catch_unwind(AssertUnwindSafe(parents)).unwrap_or_else(|panic| {
            let error = crate::panics::panic_message(&*panic);
            warn!(kind = %C::kind(&()), object = %object_ref::<C>(&object.object_key()), error, "the function of `watches` panicked");
            vec![]
        });
        for parent in parents.iter().filter(|parent| !is_within(within.as_deref(), parent)) {
            if lock(&logged).insert(parent.clone()) {
                warn!(
                    kind = %C::kind(&()), object = %object_ref::<C>(&object.object_key()),
                    "it belongs to {} `{parent}`, which this controller does not reconcile, because it watches the namespace `{}` only: let it watch all namespaces",
                    P::kind(&()), within.as_deref().unwrap_or_default()
                );
            }
        }
        parents
    })
}

/// Returns whether the object with a key is in a namespace, or is cluster-scoped. `None` stands for all namespaces.
pub(super) fn is_within(namespace: Option<&str>, key: &str) -> bool {
    let object_namespace = key.split_once('/').map_or("", |(namespace, _)| namespace);
    object_namespace.is_empty() || namespace.is_none_or(|namespace| namespace == object_namespace)
}
