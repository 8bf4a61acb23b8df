//! Rules about a CRD as a whole.

use super::{Change, Rule};
use crate::compatibility::crd::{Crd, Version};

pub fn of_crds(old: &Crd, new: &Crd) -> Vec<(Rule, Change)> {
    let mut res = Vec::new();
    res.extend(scope(old, new).map(|it| (Rule::Scope, it)));
    res.extend(stored_version_removal(old, new).map(|it| (Rule::StoredVersionRemoval, it)));
    res.extend(served_version_removal(old, new).map(|it| (Rule::ServedVersionRemoval, it)));
    res
}

fn scope(old: &Crd, new: &Crd) -> Option<Change> {
    (old.scope != new.scope).then(|| {
        Change::new(
            format!("scope changed from {} to {}", old.scope, new.scope),
            format!("keep the scope {}, or give the kind another name", old.scope),
        )
    })
}

fn stored_version_removal(old: &Crd, new: &Crd) -> Option<Change> {
    let removed = old.stored.iter().filter(|it| new.version(it).is_none());
    let list = names(removed.map(String::as_str));
    (!list.is_empty()).then(|| {
        Change::new(
            format!("objects may be stored in {list}, which was removed"),
            format!(
                "keep {list} with `served = false`, migrate the stored objects, and take {list} out of `status.storedVersions` first"
            ),
        )
    })
}

/// Clients of a version get `404 Not Found` once it is not served.
fn served_version_removal(old: &Crd, new: &Crd) -> Option<Change> {
    let served = |crd: &Crd, name: &str| crd.version(name).is_some_and(|it| it.served);
    let gone: Vec<&Version> =
        (old.versions.iter()).filter(|it| it.served && !served(new, &it.name)).collect();
    let list = names(gone.iter().map(|it| it.name.as_str()));
    (!list.is_empty()).then(|| {
        let stored = gone.iter().any(|it| it.storage && new.version(&it.name).is_none());
        let migrate = match stored {
            true => "; objects were stored in it: the API server refuses the CRD until they are migrated",
            false => "",
        };
        Change::new(
            format!("{list} is no longer served{migrate}"),
            format!("keep serving {list} until no client requests it"),
        )
    })
}

/// Removing a CRD deletes all of its objects.
pub fn crd_removal(old: &Crd) -> Change {
    let list = names(old.versions.iter().map(|it| it.name.as_str()));
    Change::new(
        format!("the CRD was removed, with {list}"),
        "keep the kind: deleting a CRD deletes all objects of its kind",
    )
}

/// A field that is only in the old version.
pub fn removed() -> Change {
    Change::new(
        "the field was removed",
        "keep the field, mark it as deprecated in its description, and remove it in a new version of the kind",
    )
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
