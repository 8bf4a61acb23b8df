//! Verdicts that differ for a reason.

/// A difference, and why it stays.
const KNOWN: &[(&str, &str)] = &[(
    "a warning of theirs alone: warning Warning: Value memcached-operator.v0.0.1: this bundle is using APIs which were deprecated and removed in v1.25",
    "its validator of removed APIs reads the CSV a second time, stops at the first number or flag where a text belongs, and then does not \
     see the resources of owned CRDs",
)];

pub fn is_known(difference: &str) -> bool {
    KNOWN.iter().any(|(it, _)| difference.contains(it))
}
