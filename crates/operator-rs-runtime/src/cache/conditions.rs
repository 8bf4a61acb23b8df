//! The owners of the conditions of an object, from its `managedFields`: kube does not look at them.

use super::{Observed, ownership};
use serde::Deserialize;
use serde_json::Value;

/// The condition that reports a failure.
pub(crate) const DEGRADED: &str = "Degraded";

/// The condition that names the annotation which pauses an object.
pub(crate) const PAUSED: &str = "Paused";

/// The conditions that the runtime reports.
pub(super) const RUNTIME_CONDITIONS: [&str; 2] = [DEGRADED, PAUSED];

/// Conditions of one object that are not all this operator's, or can be written only all together.
pub(super) struct Conditions {
    /// The types of those that the runtime has reported.
    pub reported: Vec<&'static str>,
    /// Whether they can be written only all together.
    pub are_atomic: bool,
    /// The types of those that others have set.
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
    /// Nothing where all conditions are of `manager`, which can write each of them.
    pub fn from_observed<K>(observed: &Observed<K>, field_manager: &str) -> Option<Self> {
        // Conditions of another form do not matter here.
        let object: Option<PartialObject> = serde_json::from_str(&observed.json).ok();
        let all = object.and_then(|it| it.status?.conditions).unwrap_or_default();
        if ownership::has_atomic_conditions(&observed.managed, None) {
            let is_ours = ownership::has_atomic_conditions(&observed.managed, Some(&failure_manager(field_manager)));
            let reported = RUNTIME_CONDITIONS.into_iter().filter(|ours| is_ours && all.iter().any(|it| it.type_ == *ours));
            return Some(Self { reported: reported.collect(), are_atomic: true, foreign: vec![] });
        }
        if all.is_empty() {
            return None;
        }
        let ours = ownership::applied_conditions(&observed.managed, field_manager);
        let reported = ownership::applied_conditions(&observed.managed, &failure_manager(field_manager));
        let foreign = all.into_iter().map(|it| it.type_).filter(|it| !ours.contains(it) && !reported.contains(it));
        let foreign = foreign.collect();
        let reported: Vec<_> = RUNTIME_CONDITIONS.into_iter().filter(|ours| reported.iter().any(|it| it == ours)).collect();
        let res = Self { reported, are_atomic: false, foreign };
        (!res.reported.is_empty() || !res.foreign.is_empty()).then_some(res)
    }

    /// Leaves out of both lists what is not to be written: what the runtime has reported, until it is
    /// over; and what others have set, unless it is to be changed. `read` is what was there when the
    /// reconcile began.
    pub fn retain_writable(&self, desired: &mut Value, found: &mut Value, read: &Value) {
        let before = desired.clone();
        let is_foreign = |it: &Value| self.foreign.iter().any(|type_| it["type"] == *type_.as_str());
        let is_reported = |it: &Value| self.reported.iter().any(|type_| it["type"] == *type_);
        let copy = found.clone();
        // The state that was read may be older than the current one.
        let is_repeated = |it: &Value| [&copy, read].iter().any(|list| find_condition(list, &it["type"]).as_ref() == Some(it));
        if let Some(list) = desired.as_array_mut() {
            list.retain(|it| !(is_reported(it) || is_foreign(it) && is_repeated(it)));
        }
        if let Some(list) = found.as_array_mut() {
            let is_unchanged = |it: &Value| find_condition(&before, &it["type"]).is_none_or(|it| is_repeated(&it));
            list.retain(|it| !(is_reported(it) || is_foreign(it) && is_unchanged(it)));
        }
    }
}

/// The field manager of the conditions that the runtime reports.
pub(super) fn failure_manager(field_manager: &str) -> String {
    format!("{field_manager}/failure")
}

/// Leaves out what the runtime had reported when the reconcile began, as `read` has it, and has taken back since: nobody
/// would take it back again.
pub(super) fn exclude_cleared(desired: &mut Value, found: &Value, read: &Value) {
    if let Some(list) = desired.as_array_mut() {
        let is_gone = |it: &Value| find_condition(read, &it["type"]).as_ref() == Some(it) && find_condition(found, &it["type"]).is_none();
        list.retain(|it| !(RUNTIME_CONDITIONS.iter().any(|ours| it["type"] == **ours) && is_gone(it)));
    }
}

/// The condition of a type.
fn find_condition(list: &Value, type_: &Value) -> Option<Value> {
    list.as_array().into_iter().flatten().find(|it| it["type"] == *type_).cloned()
}
