//! Whom a child belongs to, decided before anything is written, as by Go's `SetControllerReference`: a child
//! without its owner reference is neither watched nor deleted with its owner, and one in another namespace
//! is deleted by the garbage collector. kube sends whatever it is given.

use super::{Primary, Watched, controller, key};
use crate::{error::Error, scope::Scope};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use std::sync::Arc;

/// The object that owns what is applied.
pub(crate) struct Owner {
    reference: OwnerReference,
    namespace: Option<String>,
}

impl Owner {
    pub fn of(parent: &impl Resource<DynamicType = ()>) -> Result<Self, Error> {
        let reference = parent.controller_owner_ref(&()).ok_or(Error::Missing("name or uid"))?;
        Ok(Self { reference, namespace: parent.meta().namespace.clone() })
    }

    pub fn uid(&self) -> &str {
        &self.reference.uid
    }

    /// Sets the owner reference and, where the desired object names none, the namespace.
    fn set<C: Watched>(&self, child: &mut ObjectMeta) -> Result<(), Error> {
        if C::Scope::NAMESPACED && child.namespace.is_none() {
            child.namespace.clone_from(&self.namespace);
        }
        if let Some(namespace) = &self.namespace {
            near::<C>(child, &self.reference, namespace)?;
        }
        let all = child.owner_references.get_or_insert_default();
        match all.iter_mut().find(|it| it.uid == self.reference.uid) {
            Some(it) => it.controller = Some(true),
            None => all.push(self.reference.clone()),
        }
        Ok(())
    }
}

/// The namespace of the owner with a uid, if that is known. Its key, if it is where its child is, comes first.
type NamespaceOf = Box<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

/// The kind that owns the objects of a cache.
pub(crate) struct Owners {
    kind: String,
    group: String,
    is_namespaced: bool,
    namespace_of: NamespaceOf,
}

impl Owners {
    pub fn new<P: Watched>(primary: Arc<Primary<P>>) -> Self {
        let namespace_of = move |near: &str, uid: &str| {
            let is_it = |it: &Arc<P>| it.meta().uid.as_deref() == Some(uid);
            let found = primary.get(near).filter(is_it);
            found.or_else(|| primary.store.state().into_iter().find(is_it))?.meta().namespace.clone()
        };
        Self {
            kind: P::kind(&()).into(),
            group: P::group(&()).into(),
            is_namespaced: P::Scope::NAMESPACED,
            namespace_of: Box::new(namespace_of),
        }
    }

    /// Makes `owner` the owner of a desired object, or verifies the one that it names.
    pub fn own<C: Watched>(&self, child: &mut ObjectMeta, owner: Option<&Owner>) -> Result<(), Error> {
        let kind = &self.kind;
        if self.is_namespaced && !C::Scope::NAMESPACED {
            let why = format!(
                "it is cluster-scoped, and {kind} is not: use `Controller::watches` and delete it in a finalizer"
            );
            return Err(refusal::<C>(child, why));
        }
        if let Some(owner) = owner {
            owner.set::<C>(child)?;
        }
        let Some(reference) = controller(child) else {
            let why = format!(
                "it names no controller: apply it in a reconcile of its {kind}, which is its owner then, or set `controller_owner_ref`"
            );
            return Err(refusal::<C>(child, why));
        };
        let other = child.owner_references.iter().flatten().find(|it| {
            it.controller == Some(true)
                && (*it.kind != *self.kind || group(it) != self.group || it.uid != reference.uid)
        });
        if let Some(it) = other {
            let why = format!("it names {} `{}` as its controller: leave that owner reference out", it.kind, it.name);
            return Err(refusal::<C>(child, why));
        }
        match (self.namespace_of)(&key(child.namespace.as_deref(), &reference.name), &reference.uid) {
            Some(namespace) => near::<C>(child, reference, &namespace),
            None => Ok(()),
        }
    }
}

/// An owner reference cannot point to another namespace.
fn near<C: Watched>(child: &ObjectMeta, owner: &OwnerReference, namespace: &str) -> Result<(), Error> {
    if !C::Scope::NAMESPACED || child.namespace.as_deref() == Some(namespace) {
        return Ok(());
    }
    let why = format!(
        "its namespace is `{}`, and that of its {} `{}` is `{namespace}`: leave the namespace out, or use \
         `Controller::watches` and delete it in a finalizer",
        child.namespace.as_deref().unwrap_or_default(),
        owner.kind,
        owner.name
    );
    Err(refusal::<C>(child, why))
}

fn group(reference: &OwnerReference) -> &str {
    reference.api_version.split_once('/').map_or("", |(group, _)| group)
}

fn refusal<C: Watched>(child: &ObjectMeta, why: String) -> Error {
    Error::CannotOwn { kind: C::kind(&()).into(), name: child.name.clone().unwrap_or_default(), why }
}
