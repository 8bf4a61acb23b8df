//! Labels, label selectors, and values that are short enough for labels.

use crate::hash::stable_hash;
use std::collections::BTreeMap;

/// Labels by their keys.
pub type Labels = BTreeMap<String, String>;

/// Returns the selector for objects with all of these labels: `a=b,c=d`.
pub fn label_selector(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

/// Converts a name to the value of a label. Names of more than 63 characters, which Kubernetes does not allow in
/// labels, are shortened, and a hash keeps different names different.
///
/// ```
/// assert_eq!(operator_rs_runtime::label_value("a-short-name"), "a-short-name");
/// assert_eq!(operator_rs_runtime::label_value(&"long".repeat(60)).len(), 63);
/// ```
pub fn label_value(name: &str) -> String {
    if name.len() <= 63 {
        return name.to_owned();
    }
    let begin: String = name.chars().filter(char::is_ascii).take(46).collect();
    format!("{begin}-{}", stable_hash(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_too_long_stay_different() {
        let (a, b) = (label_value(&format!("{}a", "x".repeat(252))), label_value(&format!("{}b", "x".repeat(252))));
        assert!(a != b && a.len() == 63 && b.len() == 63);
        assert_eq!(label_value(&"x".repeat(63)), "x".repeat(63));
        assert_eq!(label_value(&"x".repeat(64)).len(), 63);
    }
}
