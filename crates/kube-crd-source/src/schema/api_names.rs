//! The names that an API server accepts in a CRD.
//!
//! From `ValidateCustomResourceDefinition` of Kubernetes' apiextensions-apiserver.

const LABEL: &str = "must hold only lowercase letters, digits and inner `-`";

/// The API group of a CRD, e.g. `cache.example.com`: an RFC 1123 subdomain with a dot.
pub fn check_group(text: &str) -> Result<(), &'static str> {
    if text.len() > 253 {
        return Err("must be at most 253 characters long");
    }
    if !text.contains('.') {
        return Err("must be a domain with at least one dot");
    }
    let is_part = |it: &str| !it.is_empty() && it.chars().all(is_inside) && has_inner_dashes(it);
    if text.split('.').all(is_part) {
        Ok(())
    } else {
        Err("must hold only lowercase letters, digits, and inner `-` and `.`")
    }
}

/// A version, plural, singular, short name or category, e.g. `memcacheds`: an RFC 1035 label.
pub fn check_label(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("must not be empty");
    }
    if text.len() > 63 {
        return Err("must be at most 63 characters long");
    }
    if !text.chars().all(is_inside) || !has_inner_dashes(text) {
        return Err(LABEL);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        Err("must start with a letter")
    } else {
        Ok(())
    }
}

/// A kind, e.g. `Memcached`: in lower case it is an RFC 1035 label.
pub fn check_kind(text: &str) -> Result<(), &'static str> {
    check_label(&text.to_lowercase()).map_err(|message| match message {
        LABEL => "must contain only letters, digits and inner `-`",
        other => other,
    })
}

fn is_inside(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

fn has_inner_dashes(text: &str) -> bool {
    !text.starts_with('-') && !text.ends_with('-')
}
