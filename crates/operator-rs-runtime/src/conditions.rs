//! The standard conditions, such as `Available`, `Progressing` and `Degraded`, set as
//! `meta.SetStatusCondition` does in Go.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};

/// The condition with this type, if there is one.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|it| it.type_ == type_)
}

/// Whether there is a condition with this type, and it is true.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|it| it.status == "True")
}

/// Whether a condition has just become true. Publish an event then.
pub fn became_true(before: &[Condition], after: &[Condition], type_: &str) -> bool {
    is_true(after, type_) && !is_true(before, type_)
}

/// Sets the condition with this type, with its reason (one word in UpperCamelCase) and its message. The
/// transition time changes only if the status changes.
pub fn set(
    conditions: &mut Vec<Condition>,
    generation: Option<i64>,
    type_: &str,
    status: bool,
    (reason, message): (&str, &str),
) {
    let status = if status { "True" } else { "False" };
    let old = conditions.iter().position(|it| it.type_ == type_);
    let last_transition_time = match old {
        Some(at) if conditions[at].status == status => conditions[at].last_transition_time.clone(),
        _ => Time(Timestamp::now()),
    };
    let new = Condition {
        type_: type_.into(),
        status: status.into(),
        reason: reason.into(),
        // Kubernetes allows 32 768 bytes; what is longer than this is no message.
        message: message.chars().take(1024).collect(),
        observed_generation: generation,
        last_transition_time,
    };
    match old {
        Some(at) => conditions[at] = new,
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
