//! The standard conditions: `Available`, `Progressing` and `Degraded`.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};

/// A status that the runtime can mark as degraded when a reconcile fails.
pub trait Status: Clone + Default + PartialEq + serde::Serialize + Send + Sync + 'static {
    fn conditions(&self) -> &[Condition];
    fn conditions_mut(&mut self) -> &mut Vec<Condition>;
}

pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| c.type_ == type_)
}

pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|c| c.status == "True")
}

/// Whether a condition has just become true: the moment for an event.
pub fn became_true(before: Option<&impl Status>, after: &impl Status, type_: &str) -> bool {
    is_true(after.conditions(), type_) && !before.is_some_and(|it| is_true(it.conditions(), type_))
}

/// Sets a condition as `meta.SetStatusCondition` does in Go: the transition time moves only when
/// the status does.
pub fn set(
    conditions: &mut Vec<Condition>,
    generation: Option<i64>,
    type_: &str,
    status: bool,
    (reason, message): (&str, &str),
) {
    let status = if status { "True" } else { "False" };
    let old = conditions.iter().position(|c| c.type_ == type_);
    let last_transition_time = match old {
        Some(i) if conditions[i].status == status => conditions[i].last_transition_time.clone(),
        _ => Time(Timestamp::now()),
    };
    let new = Condition {
        type_: type_.into(),
        status: status.into(),
        reason: reason.into(),
        message: message.chars().take(1024).collect(),
        observed_generation: generation,
        last_transition_time,
    };
    match old {
        Some(i) => conditions[i] = new,
        None => conditions.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_time_moves_only_with_the_status() {
        let mut all = vec![];
        set(&mut all, Some(1), "Available", false, ("A", "a"));
        all[0].last_transition_time = Time(Timestamp::UNIX_EPOCH);
        set(&mut all, Some(2), "Available", false, ("B", "b"));
        assert_eq!((all[0].reason.as_str(), all[0].last_transition_time.0), ("B", Timestamp::UNIX_EPOCH));
        set(&mut all, Some(3), "Available", true, ("C", "c"));
        assert!(all.len() == 1 && is_true(&all, "Available") && all[0].last_transition_time.0 > Timestamp::UNIX_EPOCH);
    }
}
