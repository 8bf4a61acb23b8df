//! Labels, the selectors that find them again, and values that are not too long for them.

use std::collections::BTreeMap;

/// Labels by their keys.
pub type Labels = BTreeMap<String, String>;

/// The selector for objects with all of these labels: `a=b,c=d`.
pub fn selector(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

/// Returns a name as the value of a label. Names of more than 63 characters, which Kubernetes does not
/// allow in labels, are shortened; a hash keeps different names different.
///
/// ```
/// assert_eq!(runtime::labels::value("a-short-name"), "a-short-name");
/// assert_eq!(runtime::labels::value(&"long".repeat(60)).len(), 63);
/// ```
pub fn value(name: &str) -> String {
    if name.len() <= 63 {
        return name.to_owned();
    }
    let begin: String = name.chars().filter(char::is_ascii).take(46).collect();
    format!("{begin}-{}", crate::cache::hash(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_too_long_stay_different() {
        let (a, b) = (value(&format!("{}a", "x".repeat(252))), value(&format!("{}b", "x".repeat(252))));
        assert!(a != b && a.len() == 63 && b.len() == 63);
        assert_eq!(value(&"x".repeat(63)), "x".repeat(63));
        assert_eq!(value(&"x".repeat(64)).len(), 63);
    }
}
