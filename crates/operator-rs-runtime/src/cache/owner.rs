//! The owner of an applied object, checked before anything is written, as Go's `SetControllerReference` does: without
//! an owner reference, an object would be neither watched nor deleted with its owner, and the garbage collector deletes
//! an object whose owner reference points to another namespace. kube sends any object as it is.

use super::{PrimaryCache, Watchable, controller_reference, object_key};
use crate::{error::Error, scope::ResourceScope};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use std::sync::Arc;

/// The annotation with the namespace and the name of an owner, by operator-lib's `handler` package.
const OWNER_NAME: &str = "operator-sdk/primary-resource";

/// The annotation with the kind and the group of an owner, by the same package.
const OWNER_TYPE: &str = "operator-sdk/primary-resource-type";

/// The annotations of an object that name its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerAnnotations {
    /// Namespace and name of the owner, as one text.
    pub name: Box<str>,
    /// Kind and group of the owner.
    pub type_: Box<str>,
}

/// The value of the annotation with the kind and the group of an owner.
pub(super) fn owner_type(kind: &str, group: &str) -> Box<str> {
    if group.is_empty() { kind.into() } else { format!("{kind}.{group}").into() }
}

/// The object that owns what is applied.
pub(crate) struct Owner {
    reference: OwnerReference,
    namespace: Option<String>,
}

impl Owner {
    /// The owner reference and the namespace of `object`.
    pub fn new(object: &impl Resource<DynamicType = ()>) -> Result<Self, Error> {
        let reference = object.controller_owner_ref(&()).ok_or(Error::MissingField("name or uid"))?;
        Ok(Self { reference, namespace: object.meta().namespace.clone() })
    }

    /// Names the owner in the annotations of a desired object that is in another namespace, or in none, as
    /// `SetOwnerAnnotations` of operator-lib does. Verifies that the object names no controller.
    pub fn annotate_dependent<C: Watchable>(&self, dependent: &mut ObjectMeta, watched: Option<&str>) -> Result<(), Error> {
        if let Some(other) = controller_reference(dependent) {
            return Err(other_controller_error::<C>(dependent, other));
        }
        if C::Scope::NAMESPACED
            && let (Some(watched), Some(namespace)) = (watched, dependent.namespace.as_deref())
            && watched != namespace
        {
            let why = format!(
                "its namespace is `{namespace}`, and this controller watches the namespace `{watched}` only: let it \
                 watch all namespaces"
            );
            return Err(cannot_own::<C>(dependent, why));
        }
        let OwnerAnnotations { name, type_ } = self.to_annotations();
        let annotations = dependent.annotations.get_or_insert_default();
        annotations.insert(OWNER_NAME.into(), name.into());
        annotations.insert(OWNER_TYPE.into(), type_.into());
        Ok(())
    }

    /// The annotations that name this owner.
    pub fn to_annotations(&self) -> OwnerAnnotations {
        let OwnerReference { kind, name, .. } = &self.reference;
        OwnerAnnotations { name: object_key(self.namespace.as_deref(), name), type_: owner_type(kind, api_group(&self.reference)) }
    }

    pub fn uid(&self) -> &str {
        &self.reference.uid
    }

    /// Sets the owner reference and, where the desired object names none, the namespace.
    fn add_owner_reference<C: Watchable>(&self, dependent: &mut ObjectMeta) -> Result<(), Error> {
        if C::Scope::NAMESPACED && dependent.namespace.is_none() {
            dependent.namespace.clone_from(&self.namespace);
        }
        if let Some(namespace) = &self.namespace {
            check_namespace::<C>(dependent, &self.reference, namespace)?;
        }
        let all = dependent.owner_references.get_or_insert_default();
        match all.iter_mut().find(|it| it.uid == self.reference.uid) {
            Some(it) => it.controller = Some(true),
            None => all.push(self.reference.clone()),
        }
        Ok(())
    }
}

/// The namespace of the owner with a uid, if that is known. Its key, if it is where its dependent is, comes first.
type NamespaceLookup = Box<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

/// The kind that owns the objects of a cache.
pub(crate) struct Owners {
    kind: String,
    group: String,
    is_namespaced: bool,
    find_namespace: NamespaceLookup,
}

impl Owners {
    pub fn new<P: Watchable>(primary: Arc<PrimaryCache<P>>) -> Self {
        let find_namespace = move |near: &str, uid: &str| {
            let is_it = |it: &Arc<P>| it.meta().uid.as_deref() == Some(uid);
            let found = primary.get(near).filter(is_it);
            found.or_else(|| primary.store.state().into_iter().find(is_it))?.meta().namespace.clone()
        };
        Self { find_namespace: Box::new(find_namespace), ..Self::without_cache::<P>() }
    }

    /// Owners of which nothing is known but their kind.
    pub fn without_cache<P: Watchable>() -> Self {
        Self {
            kind: P::kind(&()).into(),
            group: P::group(&()).into(),
            is_namespaced: P::Scope::NAMESPACED,
            find_namespace: Box::new(|_, _| None),
        }
    }

    /// Makes `owner` the owner of a desired object, and verifies that it names no other.
    pub fn set_controller<C: Watchable>(&self, dependent: &mut ObjectMeta, owner: &Owner) -> Result<(), Error> {
        let kind = &self.kind;
        if self.is_namespaced && !C::Scope::NAMESPACED {
            let why = format!("it is cluster-scoped, and {kind} is not: use `Controller::owns_by_annotation`");
            return Err(cannot_own::<C>(dependent, why));
        }
        owner.add_owner_reference::<C>(dependent)?;
        let reference = &owner.reference;
        let other = dependent.owner_references.iter().flatten().find(|it| {
            it.controller == Some(true)
                && (*it.kind != *self.kind || api_group(it) != self.group || it.uid != reference.uid)
        });
        if let Some(it) = other {
            return Err(other_controller_error::<C>(dependent, it));
        }
        match (self.find_namespace)(&object_key(dependent.namespace.as_deref(), &reference.name), &reference.uid) {
            Some(namespace) => check_namespace::<C>(dependent, reference, &namespace),
            None => Ok(()),
        }
    }
}

/// An owner reference cannot point to another namespace.
fn check_namespace<C: Watchable>(dependent: &ObjectMeta, owner: &OwnerReference, namespace: &str) -> Result<(), Error> {
    if !C::Scope::NAMESPACED || dependent.namespace.as_deref() == Some(namespace) {
        return Ok(());
    }
    let why = format!(
        "its namespace is `{}`, and that of its {} `{}` is `{namespace}`: leave the namespace out, or use \
         `Controller::owns_by_annotation`",
        dependent.namespace.as_deref().unwrap_or_default(),
        owner.kind,
        owner.name
    );
    Err(cannot_own::<C>(dependent, why))
}

fn other_controller_error<C: Watchable>(dependent: &ObjectMeta, other: &OwnerReference) -> Error {
    let OwnerReference { kind, name, .. } = other;
    cannot_own::<C>(dependent, format!("it names {kind} `{name}` as its controller: leave that owner reference out"))
}

fn api_group(reference: &OwnerReference) -> &str {
    reference.api_version.split_once('/').map_or("", |(group, _)| group)
}

fn cannot_own<C: Watchable>(dependent: &ObjectMeta, why: String) -> Error {
    Error::CannotOwn { kind: C::kind(&()).into(), name: dependent.name.clone().unwrap_or_default(), why }
}
