//! Finds the owners of an object's conditions in its `managedFields`. kube has no such function.

use super::{Observed, ownership};
use serde::Deserialize;
use serde_json::Value;

/// The condition that reports a failure.
pub(crate) const DEGRADED: &str = "Degraded";

/// The condition that names the annotation which pauses an object.
pub(crate) const PAUSED: &str = "Paused";

/// The conditions that the runtime reports.
pub(super) const RUNTIME_CONDITIONS: [&str; 2] = [DEGRADED, PAUSED];

/// The owners of an object's conditions, if this operator does not own all of them or cannot write each on its own.
pub(super) struct Conditions {
    /// The types of the conditions that the runtime has reported.
    pub reported: Vec<&'static str>,
    /// The list of conditions has one owner (`x-kubernetes-list-type: atomic`), so that they are written all together.
    pub are_atomic: bool,
    /// The types of the conditions that other clients have set.
    pub foreign: Vec<String>,
}

#[derive(Deserialize)]
struct PartialObject {
    status: Option<PartialStatus>,
}

#[derive(Deserialize)]
struct PartialStatus {
    conditions: Option<Vec<ConditionType>>,
}

#[derive(Deserialize)]
struct ConditionType {
    #[serde(rename = "type")]
    type_: String,
}

impl Conditions {
    /// Returns `None` if `field_manager` owns all conditions and can write each of them on its own.
    pub fn from_observed<K>(observed: &Observed<K>, field_manager: &str) -> Option<Self> {
        // Conditions that cannot be decoded are ignored.
        let object: Option<PartialObject> = serde_json::from_str(&observed.json).ok();
        let all = object.and_then(|object| object.status?.conditions).unwrap_or_default();
        if ownership::has_atomic_conditions(&observed.managed, None) {
            let is_ours = ownership::has_atomic_conditions(&observed.managed, Some(&failure_manager(field_manager)));
            let exists = |type_: &&str| all.iter().any(|condition| condition.type_ == **type_);
            let reported = RUNTIME_CONDITIONS.into_iter().filter(|type_| is_ours && exists(type_));
            return Some(Self { reported: reported.collect(), are_atomic: true, foreign: vec![] });
        }
        if all.is_empty() {
            return None;
        }
        let ours = ownership::applied_conditions(&observed.managed, field_manager);
        let reported = ownership::applied_conditions(&observed.managed, &failure_manager(field_manager));
        let is_foreign = |type_: &String| !ours.contains(type_) && !reported.contains(type_);
        let foreign: Vec<_> = all.into_iter().map(|condition| condition.type_).filter(is_foreign).collect();
        let is_reported = |type_: &&str| reported.iter().any(|reported| reported == type_);
        let reported: Vec<_> = RUNTIME_CONDITIONS.into_iter().filter(is_reported).collect();
        (!reported.is_empty() || !foreign.is_empty()).then_some(Self { reported, are_atomic: false, foreign })
    }

    /// Removes from both lists the conditions that the operator must not write: those that the runtime has reported and
    /// not yet cleared, and those that other clients have set, unless the operator changes them. `read` is the list of
    /// conditions as it was when the reconcile began.
    pub fn retain_writable(&self, desired: &mut Value, current: &mut Value, read: &Value) {
        let (all_desired, all_current) = (desired.clone(), current.clone());
        let is_foreign = |condition: &Value| self.foreign.iter().any(|type_| condition["type"] == *type_.as_str());
        let is_reported = |condition: &Value| self.reported.iter().any(|type_| condition["type"] == *type_);
        // The state that was read may be older than the current one.
        let is_repeated = |condition: &Value| {
            let is_in = |list: &Value| find_condition(list, &condition["type"]).as_ref() == Some(condition);
            is_in(&all_current) || is_in(read)
        };
        if let Some(list) = desired.as_array_mut() {
            list.retain(|condition| !(is_reported(condition) || is_foreign(condition) && is_repeated(condition)));
        }
        if let Some(list) = current.as_array_mut() {
            let is_unchanged = |condition: &Value| {
                find_condition(&all_desired, &condition["type"]).is_none_or(|desired| is_repeated(&desired))
            };
            list.retain(|condition| !(is_reported(condition) || is_foreign(condition) && is_unchanged(condition)));
        }
    }
}

/// Returns the field manager of the conditions that the runtime reports.
pub(super) fn failure_manager(field_manager: &str) -> String {
    format!("{field_manager}/failure")
}

/// Removes the conditions that the runtime has cleared since the reconcile began. They are in `read`, the list of
/// conditions at that time, and no longer in `current`. If the operator wrote them again, they would stay, because the
/// runtime clears only conditions that it has reported.
pub(super) fn exclude_cleared(desired: &mut Value, current: &Value, read: &Value) {
    if let Some(list) = desired.as_array_mut() {
        let is_of_runtime = |condition: &Value| RUNTIME_CONDITIONS.iter().any(|type_| condition["type"] == **type_);
        let is_cleared = |condition: &Value| {
            find_condition(read, &condition["type"]).as_ref() == Some(condition)
                && find_condition(current, &condition["type"]).is_none()
        };
        list.retain(|condition| !(is_of_runtime(condition) && is_cleared(condition)));
    }
}

/// Returns the condition with a type.
fn find_condition(list: &Value, type_: &Value) -> Option<Value> {
    list.as_array().into_iter().flatten().find(|condition| condition["type"] == *type_).cloned()
}
