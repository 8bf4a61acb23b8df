//! Sets the owner of a desired object, and checks it before anything is written, as `SetControllerReference` of
//! controller-runtime does. An object without an owner reference would be neither watched nor deleted with its owner,
//! and the garbage collector deletes an object whose owner reference points to another namespace. kube sends any object
//! as it is.

use super::{PrimaryCache, Watchable, controller_reference, object_key};
use crate::{error::Error, scope::ResourceScope};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use std::sync::Arc;

/// The annotation with the namespace and the name of an owner, which operator-lib's `handler` package defines.
const OWNER_NAME: &str = "operator-sdk/primary-resource";

/// The annotation with the kind and the group of an owner, which the same package defines.
const OWNER_TYPE: &str = "operator-sdk/primary-resource-type";

/// The annotations of an object that name its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerAnnotations {
    /// Namespace and name of the owner, as one text.
    pub name: Box<str>,
    /// Kind and group of the owner.
    pub type_: Box<str>,
}

/// Returns the value of the annotation with the kind and the group of an owner.
pub(super) fn owner_type(kind: &str, group: &str) -> Box<str> {
    if group.is_empty() { kind.into() } else { format!("{kind}.{group}").into() }
}

/// The owner of an applied object.
pub(crate) struct Owner {
    reference: OwnerReference,
    namespace: Option<String>,
}

impl Owner {
    /// Reads the owner reference and the namespace from the owner itself.
    pub fn new(object: &impl Resource<DynamicType = ()>) -> Result<Self, Error> {
        let reference = object.controller_owner_ref(&()).ok_or(Error::MissingField("name or uid"))?;
        Ok(Self { reference, namespace: object.meta().namespace.clone() })
    }

    /// Sets the annotations of a desired object that name its owner, as `SetOwnerAnnotations` of operator-lib does.
    /// They take the place of an owner reference if the object is in another namespace, or is cluster-scoped. Fails if
    /// the object has a controller, or if it is outside of `watched`, the only namespace that is watched.
    pub fn annotate_dependent<C: Watchable>(
        &self,
        dependent: &mut ObjectMeta,
        watched: Option<&str>,
    ) -> Result<(), Error> {
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

    /// Returns the annotations that name this owner.
    pub fn to_annotations(&self) -> OwnerAnnotations {
        let OwnerReference { kind, name, .. } = &self.reference;
        OwnerAnnotations {
            name: object_key(self.namespace.as_deref(), name),
            type_: owner_type(kind, api_group(&self.reference)),
        }
    }

    pub fn uid(&self) -> &str {
        &self.reference.uid
    }

    /// Adds the owner reference to a desired object. Also sets the namespace if the object has none.
    fn add_owner_reference<C: Watchable>(&self, dependent: &mut ObjectMeta) -> Result<(), Error> {
        if C::Scope::NAMESPACED && dependent.namespace.is_none() {
            dependent.namespace.clone_from(&self.namespace);
        }
        if let Some(namespace) = &self.namespace {
            check_namespace::<C>(dependent, &self.reference, namespace)?;
        }
        let references = dependent.owner_references.get_or_insert_default();
        match references.iter_mut().find(|reference| reference.uid == self.reference.uid) {
            Some(reference) => reference.controller = Some(true),
            None => references.push(self.reference.clone()),
        }
        Ok(())
    }
}

/// A function that returns the namespace of the owner with a uid, if the cache has it. The first argument is the key of
/// the owner if it is in the namespace of its dependent, where it is looked up first.
type NamespaceLookup = Box<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

/// Sets the owners of desired objects. All owners have the same kind.
pub(crate) struct Owners {
    kind: String,
    group: String,
    is_namespaced: bool,
    find_namespace: NamespaceLookup,
}

impl Owners {
    pub fn new<P: Watchable>(primary: Arc<PrimaryCache<P>>) -> Self {
        let find_namespace = move |key: &str, uid: &str| {
            let has_uid = |owner: &Arc<P>| owner.meta().uid.as_deref() == Some(uid);
            let owner = primary.get(key).filter(has_uid);
            owner.or_else(|| primary.store.state().into_iter().find(has_uid))?.meta().namespace.clone()
        };
        Self { find_namespace: Box::new(find_namespace), ..Self::without_cache::<P>() }
    }

    /// Creates a value that only knows the kind of the owners, and cannot look up their namespaces.
    pub fn without_cache<P: Watchable>() -> Self {
        Self {
            kind: P::kind(&()).into(),
            group: P::group(&()).into(),
            is_namespaced: P::Scope::NAMESPACED,
            find_namespace: Box::new(|_, _| None),
        }
    }

    /// Makes `owner` the controller of a desired object. Fails if the object has another controller, or if an owner
    /// reference cannot point from the object to `owner`.
    pub fn set_controller<C: Watchable>(&self, dependent: &mut ObjectMeta, owner: &Owner) -> Result<(), Error> {
        let kind = &self.kind;
        if self.is_namespaced && !C::Scope::NAMESPACED {
            let why = format!("it is cluster-scoped, and {kind} is not: use `Controller::owns_by_annotation`");
            return Err(cannot_own::<C>(dependent, why));
        }
        owner.add_owner_reference::<C>(dependent)?;
        let reference = &owner.reference;
        let other = dependent.owner_references.iter().flatten().find(|other| {
            other.controller == Some(true)
                && (*other.kind != *self.kind || api_group(other) != self.group || other.uid != reference.uid)
        });
        if let Some(other) = other {
            return Err(other_controller_error::<C>(dependent, other));
        }
        match (self.find_namespace)(&object_key(dependent.namespace.as_deref(), &reference.name), &reference.uid) {
            Some(namespace) => check_namespace::<C>(dependent, reference, &namespace),
            None => Ok(()),
        }
    }
}

/// Fails if an object is in another namespace than its owner, because an owner reference cannot point there.
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
