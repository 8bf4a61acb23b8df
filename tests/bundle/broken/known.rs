//! Verdicts that differ for a reason.

/// A difference, and why it stays.
const KNOWN: &[(&str, &str)] = &[
    ("to some readers of YAML", "readers of YAML do not agree on it"),
    ("not every reader follows", "readers of YAML do not agree on it"),
    ("is here twice", "readers of YAML do not agree on it"),
];

/// Warnings that operator-sdk does not give.
const OURS: &[&str] = &[
    // Newer releases of operator-framework/api refuse these images.
    "relatedImages[",
    // What is not checked here is said.
    "its types were not checked",
    "was not checked",
];

pub fn is_known(difference: &str) -> bool {
    KNOWN.iter().any(|(it, _)| difference.contains(it))
}

pub fn is_our_warning(message: &str) -> bool {
    OURS.iter().any(|it| message.contains(it))
}
