//! The standard conditions, such as `Available`, `Progressing` and `Degraded`, set as
//! `meta.SetStatusCondition` does in Go.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use serde::Serialize;

/// Finds the condition with this type.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Returns true if there is a condition with this type and it is true.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == "True")
}

/// Returns a condition for kube's [`await_condition`](kube::runtime::wait::await_condition). It holds if the status of
/// an object, which can be of any kind, has the condition with this type and that condition is true.
///
/// ```no_run
/// # use k8s_openapi::api::apps::v1::Deployment;
/// use kube::runtime::wait::await_condition;
/// use operator_rs_runtime::conditions;
///
/// # async fn wait(api: kube::Api<Deployment>) -> Result<(), kube::runtime::wait::Error> {
/// await_condition(api, "a", conditions::status_is_true::<Deployment>("Available")).await?;
/// # Ok(())
/// # }
/// ```
pub fn status_is_true<K: Serialize>(type_: &str) -> impl kube::runtime::wait::Condition<K> {
    let type_ = type_.to_owned();
    move |object: Option<&K>| {
        let object = object.and_then(|object| serde_json::to_value(object).ok()).unwrap_or_default();
        let conditions = object["status"]["conditions"].as_array();
        conditions.into_iter().flatten().any(|condition| condition["type"] == *type_ && condition["status"] == "True")
    }
}

/// Returns true if a condition is true now and was not before. Use it to publish an event on the transition.
pub fn became_true(before: &[Condition], after: &[Condition], type_: &str) -> bool {
    is_true(after, type_) && !is_true(before, type_)
}

/// The status of a condition. `true` and `false` convert into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The state of the condition is not known, or not yet known.
    Unknown,
}

impl From<bool> for ConditionStatus {
    fn from(status: bool) -> Self {
        if status { Self::True } else { Self::False }
    }
}

/// Returns a condition whose transition is now. The reason is one word in UpperCamelCase; the message is cut after
/// 1 024 characters. [`set`] adds the condition to others.
pub fn new(type_: &str, status: impl Into<ConditionStatus>, reason: &str, message: &str) -> Condition {
    Condition {
        type_: type_.into(),
        status: format!("{:?}", status.into()),
        reason: reason.into(),
        // Kubernetes allows 32 768 bytes in a message.
        message: message.chars().take(1024).collect(),
        observed_generation: None,
        last_transition_time: Time(Timestamp::now()),
    }
}

/// Adds the condition of an object with this generation, or replaces the condition of the same type. The transition
/// time changes only if the status changes.
///
/// ```
/// use operator_rs_runtime::conditions::{self, ConditionStatus};
///
/// let mut conditions = vec![];
/// let starting = conditions::new("Ready", ConditionStatus::Unknown, "Starting", "no pod has reported yet");
/// conditions::set(&mut conditions, Some(1), starting);
/// conditions::set(&mut conditions, Some(1), conditions::new("Ready", true, "PodsReady", "3 of 3 pods are ready"));
/// assert!(conditions.len() == 1 && conditions::is_true(&conditions, "Ready"));
/// ```
pub fn set(conditions: &mut Vec<Condition>, generation: Option<i64>, condition: Condition) {
    let mut new = Condition { observed_generation: generation, ..condition };
    match conditions.iter_mut().find(|old| old.type_ == new.type_) {
        Some(old) => {
            if old.status == new.status {
                new.last_transition_time = old.last_transition_time.clone();
            }
            *old = new;
        }
        None => conditions.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_an_object_is_awaited_by_its_condition() {
        use kube::runtime::wait::Condition as _;
        let available = status_is_true::<serde_json::Value>("Available");
        let object = |status: &str| serde_json::json!({ "status": { "conditions": [{ "type": "Available", "status": status }] } });
        let holds = |object: serde_json::Value| available.matches_object(Some(&object));
        assert!(holds(object("True")));
        assert!(!holds(object("Unknown")) && !holds(serde_json::json!({})) && !available.matches_object(None));
    }

    #[test]
    fn the_transition_time_moves_only_with_the_status() {
        let mut all = vec![];
        set(&mut all, Some(1), new("Available", false, "A", "a"));
        all[0].last_transition_time = Time(Timestamp::UNIX_EPOCH);
        set(&mut all, Some(2), new("Available", false, "B", "b"));
        assert_eq!((all[0].reason.as_str(), all[0].last_transition_time.0), ("B", Timestamp::UNIX_EPOCH));
        set(&mut all, Some(3), new("Available", true, "C", "c"));
        assert!(all.len() == 1 && is_true(&all, "Available") && all[0].last_transition_time.0 > Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn a_condition_that_is_not_known_is_neither_true_nor_false() {
        let mut all = vec![];
        set(&mut all, Some(1), new("Available", true, "A", ""));
        let before = all.clone();
        all[0].last_transition_time = Time(Timestamp::UNIX_EPOCH);
        set(&mut all, Some(2), new("Available", ConditionStatus::Unknown, "Unreachable", "the node does not answer"));
        let text = serde_json::to_value(&all[0]).unwrap();
        assert_eq!((text["status"].as_str(), all[0].observed_generation), (Some("Unknown"), Some(2)));
        assert!(all[0].last_transition_time.0 > Timestamp::UNIX_EPOCH, "the status has changed");
        assert!(!is_true(&all, "Available") && became_true(&all, &before, "Available"));
        for (status, expected) in [(ConditionStatus::from(true), "True"), (false.into(), "False")] {
            assert_eq!(new("Available", status, "A", "").status, expected);
        }
    }
}
