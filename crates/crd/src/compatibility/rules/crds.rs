//! Rules about a CRD as a whole: its versions, and everything outside of their schemas.

use super::{Change, Rule};
use crate::compatibility::{
    Effect,
    crd::{Advice, Crd, Version},
};
use go_data::yaml::{Difference, diff_values};

pub fn check_crds(old: &Crd, new: &Crd) -> Vec<(Rule, Change)> {
    let mut changes = check_validity(old, new);
    changes.extend(stored_version_removal(old, new));
    changes.extend(storage_version_removal(old, new));
    changes.extend(version_removal(old, new));
    changes.extend(storage_version_change(old, new));
    changes.extend(served_version_removal(old, new));
    changes.extend(
        diff_values(&old.definition, &new.definition).iter().filter_map(outside_of_schemas),
    );
    changes
}

/// Reports what an API server refuses independently of the old CRD. It has accepted the faults that the old CRD has,
/// too.
fn check_validity(old: &Crd, new: &Crd) -> Vec<(Rule, Change)> {
    if old == new {
        return Vec::new();
    }
    let mut refusals = new.refusals();
    if !refusals.is_empty() {
        let known = old.refusals();
        refusals.retain(|refusal| !known.contains(refusal));
    }
    let mut doubts = new.doubts();
    if !doubts.is_empty() {
        let known = old.doubts();
        doubts.retain(|doubt| !known.contains(doubt));
    }
    let mut changes = self::report_refusals(refusals);
    changes.extend(self::report_doubts(doubts));
    changes
}

pub fn report_doubts(list: Vec<Advice>) -> Vec<(Rule, Change)> {
    report_invalid(list, Effect::Clients)
}

pub fn report_refusals(list: Vec<Advice>) -> Vec<(Rule, Change)> {
    report_invalid(list, Effect::Refused)
}

fn report_invalid(list: Vec<Advice>, effect: Effect) -> Vec<(Rule, Change)> {
    let change = |(what, remedy)| (Rule::Invalid, Change::new(what, remedy).with_effect(effect));
    list.into_iter().map(change).collect()
}

/// The changes of a field that count.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Changed,
    /// Changed or removed: it may be added.
    Lost,
    Never,
}

/// Every field outside of schemas, the more exact path first: when its change counts, by which rule, what the change
/// does, and the remedy. What is refused is what `ValidateCustomResourceDefinitionUpdate` of apiextensions-apiserver
/// 0.36 refuses of two CRDs that are valid by themselves, once the old one is established; what it refuses of the new
/// one alone is of the rule `invalid`. What is not listed is of the last row.
const FIELDS: &[(&str, When, Rule, Effect, &str)] = &[
    ("group", When::Changed, Rule::Immutable, Effect::Refused, KEEP),
    ("names.plural", When::Changed, Rule::Immutable, Effect::Refused, KEEP),
    ("names.kind", When::Changed, Rule::Immutable, Effect::Refused, KEEP),
    ("scope", When::Changed, Rule::Scope, Effect::Refused, KEEP),
    ("preserveUnknownFields", When::Lost, Rule::UnknownFields, Effect::Loses, PRUNED),
    ("preserveUnknownFields", When::Never, Rule::UnknownFields, Effect::Widens, ""),
    (
        "names",
        When::Lost,
        Rule::Names,
        Effect::Clients,
        "keep the names that people and scripts use",
    ),
    ("names", When::Never, Rule::Names, Effect::Widens, ""),
    ("conversion.strategy", When::Lost, Rule::Conversion, Effect::Clients, CONVERT),
    ("conversion", When::Never, Rule::Conversion, Effect::Widens, ""),
    ("versions.subresources.status", When::Changed, Rule::Subresources, Effect::Clients, STATUS),
    ("versions.subresources.scale", When::Lost, Rule::Subresources, Effect::Clients, SCALE),
    ("versions.subresources.scale", When::Never, Rule::Subresources, Effect::Widens, ""),
    ("versions.selectableFields", When::Lost, Rule::SelectableFields, Effect::Clients, SELECT),
    ("versions.selectableFields", When::Never, Rule::SelectableFields, Effect::Widens, ""),
    ("versions.additionalPrinterColumns", When::Never, Rule::Other, Effect::Widens, ""),
    ("versions.deprecated", When::Never, Rule::Other, Effect::Widens, ""),
    ("versions.deprecationWarning", When::Never, Rule::Other, Effect::Widens, ""),
    (
        "",
        When::Changed,
        Rule::Other,
        Effect::Clients,
        "check whether clients of the kind depend on it",
    ),
];

const KEEP: &str =
    "keep it, or define a new kind with another plural: the API server refuses the change";
const PRUNED: &str =
    "describe every field in the schemas first: the API server drops fields that are not in them";
const CONVERT: &str = "keep the strategy as long as the CRD has several versions that differ";
const STATUS: &str = "keep it: writes to `/status` depend on it, and so does whether other writes may change the status";
const SCALE: &str = "keep it: `kubectl scale` and autoscalers use it";
const SELECT: &str = "keep the field: requests that select by it are refused";

fn outside_of_schemas(it: &Difference<'_>) -> Option<(Rule, Change)> {
    let path = without_names(&it.path);
    // Versions that are added or removed have rules of their own.
    if path == "versions" {
        return None;
    }
    let counts = |when: When| match when {
        When::Changed | When::Never => true,
        When::Lost => it.old.is_some(),
    };
    let is_at = |at: &str| {
        path.strip_prefix(at)
            .is_some_and(|rest| at.is_empty() || rest.is_empty() || rest.starts_with('.'))
    };
    let (_, when, rule, effect, remedy) =
        FIELDS.iter().find(|row| is_at(row.0) && counts(row.1))?;
    let shown =
        |part: &Option<go_data::yaml::Part<'_>>| part.as_ref().map(|part| part.value.to_string());
    let path = &it.path;
    let what = match (shown(&it.old), shown(&it.new)) {
        (Some(old), Some(new)) => format!("`{path}` changed from `{old}` to `{new}`"),
        (Some(_), None) => format!("`{path}` was removed"),
        (None, new) => format!("`{path}` was added: `{}`", new.unwrap_or_default()),
    };
    (*when != When::Never).then(|| (*rule, Change::new(what, *remedy).with_effect(*effect)))
}

/// `versions[v1].subresources` without the name in brackets.
fn without_names(path: &str) -> String {
    let mut depth = 0_u32;
    let outside = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    path.chars().filter(outside).collect()
}

fn stored_version_removal(old: &Crd, new: &Crd) -> Option<(Rule, Change)> {
    let removed = old.stored.iter().filter(|name| new.version(name).is_none());
    let list = quoted_names(removed.map(String::as_str));
    (!list.is_empty()).then(|| {
        let change = Change::new(
            format!("objects may be stored in {list}, which was removed"),
            migration_remedy(&list),
        );
        (Rule::StoredVersionRemoval, change.with_effect(Effect::Refused))
    })
}

/// Once the CRD was installed, the API server lists its storage version in `status.storedVersions`.
fn storage_version_removal(old: &Crd, new: &Crd) -> Option<(Rule, Change)> {
    let is_removed = |version: &&Version| {
        version.storage
            && new.version(&version.name).is_none()
            && !old.stored.contains(&version.name)
    };
    let it = old.versions.iter().find(is_removed)?;
    let name = format!("`{}`", it.name);
    let change =
        Change::new(format!("the storage version {name} was removed"), migration_remedy(&name));
    Some((Rule::StorageVersionRemoval, change.with_effect(Effect::Refused)))
}

fn migration_remedy(list: &str) -> String {
    format!(
        "keep {list} with `served = false`, migrate the stored objects, and take {list} out of `status.storedVersions` first: until then, the API server and OLM refuse the CRD; `operator-rs migrate` does both"
    )
}

/// Files and source do not tell in which versions a cluster has stored objects: each one that it ever stored stays in
/// `status.storedVersions` until they are migrated, also if it is no longer served.
fn version_removal(old: &Crd, new: &Crd) -> Option<(Rule, Change)> {
    let is_removed = |version: &&Version| {
        !version.storage && old.stored.is_empty() && new.version(&version.name).is_none()
    };
    let list =
        quoted_names(old.versions.iter().filter(is_removed).map(|version| version.name.as_str()));
    (!list.is_empty()).then(|| {
        let what = format!("{list} was removed, and a cluster may still have objects stored in it");
        let remedy = format!(
            "run `operator-rs migrate` on every cluster before it gets the new CRD: as long as `status.storedVersions` has {list}, the API server and OLM refuse the CRD"
        );
        (Rule::VersionRemoval, Change::new(what, remedy).with_effect(Effect::Clients))
    })
}

/// Objects that are stored already stay as they are, and `status.storedVersions` then lists both versions.
fn storage_version_change(old: &Crd, new: &Crd) -> Option<(Rule, Change)> {
    let storage = |crd: &Crd| {
        crd.versions.iter().find(|version| version.storage).map(|version| version.name.clone())
    };
    let (before, after) = (storage(old)?, storage(new)?);
    if before == after || new.version(&before).is_none() {
        return None;
    }
    let (before, is_new) = (format!("`{before}`"), old.version(&after).is_none());
    let after = format!("`{after}`");
    let change = if is_new {
        let what = format!(
            "{after} is stored now, and the old CRD does not have it: a cluster cannot go back to the old CRD"
        );
        let remedy = format!("add {after} in one release, and store it in the next one");
        Change::new(what, remedy).with_effect(Effect::Clients)
    } else {
        let what = format!("{after} is stored now, in place of {before}");
        let remedy = format!(
            "run `operator-rs migrate` on every cluster that has the new CRD: before that, {before} cannot be removed"
        );
        Change::new(what, remedy).with_effect(Effect::Afterwards)
    };
    Some((Rule::StorageVersionChange, change))
}

/// Clients of a version get `404 Not Found` once it is not served; where none is left that was, every client does.
fn served_version_removal(old: &Crd, new: &Crd) -> Option<(Rule, Change)> {
    let served = |crd: &Crd, name: &str| crd.version(name).is_some_and(|version| version.served);
    let gone = old.versions.iter().filter(|version| version.served && !served(new, &version.name));
    let list = quoted_names(gone.map(|version| version.name.as_str()));
    let (rule, effect, what) =
        if old.versions.iter().any(|version| version.served && served(new, &version.name)) {
            (Rule::ServedVersionRemoval, Effect::Clients, "no longer served")
        } else {
            (
                Rule::AllServedVersionsRemoval,
                Effect::Loses,
                "no longer served, and no other version was served before",
            )
        };
    (!list.is_empty()).then(|| {
        let remedy = format!("keep serving {list} until no client requests it");
        (rule, Change::new(format!("{list} is {what}"), remedy).with_effect(effect))
    })
}

/// Removing a CRD deletes all of its objects.
pub fn crd_removal(old: &Crd) -> (Rule, Change) {
    let list = quoted_names(old.versions.iter().map(|version| version.name.as_str()));
    let change = Change::new(
        format!("the CRD was removed, with {list}"),
        "keep the kind: deleting a CRD deletes all objects of its kind",
    );
    (Rule::CrdRemoval, change.with_effect(Effect::Loses))
}

/// A field that is only in the old version.
pub fn removed_field() -> Change {
    let remedy = "keep the field, mark it as deprecated in its description, and remove it in a new version of the kind";
    Change::new("the field was removed", remedy).with_effect(Effect::Loses)
}

fn quoted_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
