//! Labels, and the selectors that find them again.

use std::collections::BTreeMap;

pub type Labels = BTreeMap<String, String>;

/// Selects what has all of these labels: `a=b,c=d`.
pub fn selector(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}
