//! The owner of an object, by the field managers in its `managedFields`.
//!
//! A project has two field managers. The first applies objects that the project creates. The second applies objects that
//! already existed and belong to others, so that their fields can be given up and the objects are never deleted.
//!
//! A manager whose last field others have changed is dropped from the list. Both managers therefore also set the label of
//! `owner_label`, which no other client has a reason to change.

use std::collections::BTreeSet;

use super::{
    managers::{applied_entries, describe_managers, manager_of, responsible_managers},
    refusal::ApplyHints,
};
use go_data::yaml::{Value, json};
use model::Digest;

const CREATOR: &str = "operator-rs";
const ADOPTER: &str = "operator-rs-adopted";

/// The longest field manager that API servers accept.
const LONGEST: usize = 128;

/// The field managers with which a project applies objects.
#[derive(Clone, Debug)]
pub struct Owner {
    /// The field manager of objects that the project creates.
    pub(super) creator: String,
    /// The field manager of objects that existed before.
    pub(super) adopter: String,
    /// The key of its label; empty if nothing is labelled.
    pub(super) key: String,
    /// The namespace that the project's operator is deployed to; empty if none is.
    pub(super) namespace: String,
    /// The managers that work on behalf of the owner.
    agents: &'static [&'static str],
    pub(super) apply_hints: ApplyHints,
}

/// The way to remove an object when its project is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The project created it: delete it.
    Ours,
    /// It existed before and has fields of the project: give up these fields, and keep it.
    Adopted,
    /// Others created it: keep it. The reason names them.
    Theirs(String),
    /// It may not belong to the project alone, for this reason: ask the user.
    Unknown(String),
}

impl Removal {
    /// Returns whether the project created it.
    pub fn is_created(&self) -> bool {
        matches!(self, Self::Ours | Self::Unknown(_))
    }

    /// Returns whether a later request had the same result. The names of other managers do not matter.
    pub(super) fn is_still(&self, later: &Self) -> bool {
        self == later || matches!((self, later), (Self::Theirs(_), Self::Theirs(_)))
    }
}

/// An owner for servers from which nothing is ever removed.
impl Default for Owner {
    fn default() -> Self {
        Self {
            creator: CREATOR.to_owned(),
            adopter: ADOPTER.to_owned(),
            key: String::new(),
            namespace: String::new(),
            agents: &[],
            apply_hints: ApplyHints::default(),
        }
    }
}

impl Owner {
    /// The owner of a project's objects, by the name that is unique on a cluster: `<name>.<domain>`.
    pub fn for_project(project: &str) -> Self {
        let manager = |kind: &str| shorten_name(&format!("{kind}:{project}"), LONGEST);
        let (creator, adopter) = (manager(CREATOR), manager(ADOPTER));
        Self { creator, adopter, key: Self::label_key(project), ..Self::default() }
    }

    /// Sets the namespace that the operator is deployed to.
    pub fn deployed_to(self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self }
    }

    /// Adds field managers that work on the owner's behalf.
    pub fn with_agents(self, agents: &'static [&'static str]) -> Self {
        Self { agents, ..self }
    }

    /// Sets the hints for objects that are not from a project's config/.
    pub fn with_apply_hints(self, apply_hints: ApplyHints) -> Self {
        Self { apply_hints, ..self }
    }

    /// Returns how an object is to be removed.
    pub fn removal_of(&self, live: &Value) -> Removal {
        let managers: BTreeSet<&str> = applied_entries(live).map(manager_of).collect();
        let has = |name: &str| managers.contains(name);
        match (has(&self.creator), has(&self.adopter), self.other_project_among(&managers)) {
            (true, _, Some(project)) => Removal::Unknown(format!("{project} applies it too")),
            (true, _, None) => self.removal_of_created(live),
            (_, true, _) => Removal::Adopted,
            (_, _, Some(project)) => Removal::Theirs(format!("it belongs to {project}")),
            _ if self.is_labelled_as_created(live) => Removal::Unknown(format!(
                "only its label `{}` says that this project created it: {}",
                self.key,
                describe_managers(live)
            )),
            _ => Removal::Theirs(describe_managers(live)),
        }
    }

    /// Returns how an object that the project has created is to be removed: any other manager is a reason to ask.
    fn removal_of_created(&self, live: &Value) -> Removal {
        let own = [&*self.creator, &*self.adopter];
        let mut others = responsible_managers(live);
        others.retain(|manager| !own.contains(manager) && !self.agents.contains(manager));
        let others: Vec<String> = others.iter().map(|manager| format!("`{manager}`")).collect();
        match others[..] {
            [] => Removal::Ours,
            [_] => Removal::Unknown(format!("{} manages it too", others[0])),
            _ => Removal::Unknown(format!("{} manage it too", others.join(", "))),
        }
    }

    /// The other project that applies it, as messages name it.
    pub fn other_project(&self, live: &Value) -> Option<String> {
        self.other_project_among(&applied_entries(live).map(manager_of).collect())
    }

    fn other_project_among(&self, managers: &BTreeSet<&str>) -> Option<String> {
        let others = managers
            .iter()
            .filter(|manager| **manager != self.creator && **manager != self.adopter);
        others.into_iter().find_map(|manager| {
            let (kind, project) = manager.split_once(':')?;
            [CREATOR, ADOPTER]
                .contains(&kind)
                .then(|| format!("the operator-rs project `{project}`"))
        })
    }

    /// The field manager with which to apply over an existing object.
    pub fn manager_for(&self, live: Option<&Value>) -> &str {
        match live.map(|live| self.removal_of(live)) {
            None | Some(Removal::Ours | Removal::Unknown(_)) => &self.creator,
            Some(Removal::Adopted | Removal::Theirs(_)) => &self.adopter,
        }
    }

    /// Returns whether the object is adopted: the field manager of adoptions has applied fields to it.
    pub fn has_adopted(&self, live: &Value) -> bool {
        applied_entries(live).any(|entry| manager_of(entry) == self.adopter)
    }
}

/// A name of at most this length: the end of a longer one is replaced with a hash.
pub(super) fn shorten_name(name: &str, longest: usize) -> String {
    if name.len() <= longest {
        return name.to_owned();
    }
    let digest = Digest::from_content(name.as_bytes());
    let hash = &digest.hex()[..12];
    let end = longest - hash.len() - 1;
    format!("{}-{hash}", name.chars().take(end).collect::<String>())
}

/// An apply configuration without fields, for this very object: it gives up all fields of a manager.
pub fn empty_apply_of(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut configuration = json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "metadata": {"name": metadata["name"], "uid": metadata["uid"]},
    });
    if !metadata["namespace"].is_null() {
        configuration["metadata"]["namespace"] = metadata["namespace"].clone();
    }
    configuration
}

#[cfg(test)]
pub(super) fn live(managers: &[(&str, &str)]) -> Value {
    let entries = managers.iter().map(|(manager, operation)| {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": {"f:a": {"f:b": {}}}})
    });
    json!({"metadata": {"managedFields": entries.collect::<Vec<_>>()}})
}

#[test]
fn what_a_project_creates_belongs_to_it_alone() {
    let a = Owner::for_project("a.example.com");
    let check = |managers: &[(&str, &str)], expected: Removal, as_whom: &str| {
        let live = live(managers);
        assert_eq!((a.removal_of(&live), a.manager_for(Some(&live))), (expected, as_whom));
    };
    let (creator, adopter) = ("operator-rs:a.example.com", "operator-rs-adopted:a.example.com");
    let (b, b_adopter) = ("operator-rs:b.org", "operator-rs-adopted:b.org");
    let theirs = |who: &str| Removal::Theirs(who.to_owned());
    let b_project = "it belongs to the operator-rs project `b.org`";
    check(&[(creator, "Apply")], Removal::Ours, creator);
    check(&[(creator, "Update")], theirs(&format!("it is managed by `{creator}`")), adopter);
    let asks = |why: &str| Removal::Unknown(why.to_owned());
    let shared = asks("`argocd` manages it too");
    check(&[(creator, "Apply"), ("argocd", "Update")], shared.clone(), creator);
    check(&[(creator, "Apply"), ("argocd", "Apply")], shared, creator);
    let both = [(creator, "Apply"), ("argocd", "Apply"), ("x", "Update")];
    check(&both, asks("`argocd`, `x` manage it too"), creator);
    check(&[(adopter, "Apply"), ("argocd", "Apply")], Removal::Adopted, adopter);
    check(
        &[("argocd", "Apply"), ("x", "Update")],
        theirs("it is managed by `argocd`, `x`"),
        adopter,
    );
    check(&[], theirs("this project did not create it"), adopter);
    check(&[(b, "Apply")], theirs(b_project), adopter);
    check(&[(b, "Apply"), (adopter, "Apply")], Removal::Adopted, adopter);
    let unknown = Removal::Unknown("the operator-rs project `b.org` applies it too".to_owned());
    check(&[(b_adopter, "Apply"), (creator, "Apply")], unknown, creator);
    assert_eq!(a.manager_for(None), creator);
}

#[test]
fn a_label_without_a_field_manager_requires_confirmation() {
    let a = Owner::for_project("a.example.com");
    let mut object = live(&[("kubectl-replace", "Update")]);
    object["metadata"]["labels"] = json!({&a.key: "x"});
    let why = "only its label `applied-by.rust.operator-rs.io/a.example.com` says that this project created it: it is managed by `kubectl-replace`";
    assert_eq!(a.removal_of(&object), Removal::Unknown(why.to_owned()));
    assert_eq!(a.manager_for(Some(&object)), a.creator);
    let b = Owner::for_project("b.example.com");
    assert!(matches!(b.removal_of(&object), Removal::Theirs(_)));
    assert!(matches!(Owner::default().removal_of(&object), Removal::Theirs(_)));
}

#[test]
fn a_field_manager_is_short_enough_and_unique() {
    let domain = |end: &str| format!("a.{}.{end}", vec!["b"; 70].join("."));
    let (one, other) = (Owner::for_project(&domain("one")), Owner::for_project(&domain("two")));
    assert_eq!((one.creator.len(), one.adopter.len()), (LONGEST, LONGEST));
    assert_ne!(one.creator, other.creator);
    assert_ne!(one.adopter, other.adopter);
}
