use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{RUST_KEYWORDS, Refusal, module_name, text};

/// Refuses what is not an RFC 1123 label.
fn check_label(text: &str) -> Result<(), Refusal> {
    if text.len() > 63 {
        return Err(Refusal::new("must be at most 63 characters long"));
    }
    check_label_characters(text)
}

/// Refuses what cannot be a part of an RFC 1123 subdomain. Kubernetes does not limit the length of a part.
fn check_label_characters(text: &str) -> Result<(), Refusal> {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() {
        return Err(Refusal::new("must not be empty"));
    }
    if !text.chars().all(inside) || text.starts_with('-') || text.ends_with('-') {
        return Err(Refusal::new("must hold only lowercase letters, digits and inner `-`"));
    }
    Ok(())
}

/// Refuses what is not an RFC 1123 subdomain.
fn check_subdomain(text: &str) -> Result<(), Refusal> {
    if text.len() > 253 {
        return Err(Refusal::new("must be at most 253 characters long"));
    }
    let wrong = Refusal::new("must hold only lowercase letters, digits, and inner `-` and `.`");
    text.split('.').try_for_each(check_label_characters).map_err(|_| wrong)
}

/// Refuses a word that YAML readers do not take for a string unless it is quoted: YAML 1.1 has more such words.
pub(super) fn ensure_text_in_yaml(text: &str) -> Result<(), Refusal> {
    const WORDS: [&str; 9] = ["false", "n", "no", "null", "off", "on", "true", "y", "yes"];
    let is_number = text.parse::<f64>().is_ok() && text.starts_with(|c: char| c.is_ascii_digit())
        || [("0x", 16), ("0o", 8), ("0b", 2)].iter().any(|(prefix, radix)| {
            let digits = text.strip_prefix(prefix).filter(|digits| !digits.is_empty());
            digits.is_some_and(|digits| digits.chars().all(|digit| digit.is_digit(*radix)))
        });
    // Dates, and other words of digits only.
    let has_letters = text.contains(|c: char| c.is_ascii_alphabetic());
    if WORDS.contains(&&*text.to_ascii_lowercase()) || is_number || !has_letters {
        return Err(Refusal::new(
            "is read as a boolean, number or date by YAML: choose another name",
        ));
    }
    Ok(())
}

macro_rules! dns {
    ($(#[$doc:meta])* $name:ident, $parse:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);
        impl FromStr for $name {
            type Err = Refusal;
            fn from_str(text: &str) -> Result<Self, Refusal> {
                let parse: fn(&str) -> Result<(), Refusal> = $parse;
                parse(text).map(|()| Self(text.to_owned()))
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        text!($name);
    };
}

dns! {
    /// A namespace's name: a DNS label.
    Namespace, check_label
}

dns! {
    /// A project's name, e.g. `memcached-operator`: a DNS label, and a name that Cargo accepts for a package.
    ProjectName, |text| {
        if text.len() > 47 {
            return Err(Refusal::new(
                "must be at most 47 characters long, so that `<name>-metrics-service` fits in the 63 of a Service",
            ));
        }
        check_label(text)?;
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Refusal::new("must start with a letter, because it is also the name of a Cargo package"));
        }
        let taken = ["test", "core", "std", "alloc", "proc-macro", "build", "deps", "examples", "incremental"];
        if RUST_KEYWORDS.contains(&text) || taken.contains(&text) {
            return Err(Refusal::new("is a word that Cargo does not accept as a package name"));
        }
        let used = ["anyhow", "axum", "clap", "dlmalloc", "futures", "http", "http-body-util", "hyper", "hyper-util", "k8s-openapi",
            "kube", "operator-rs-runtime", "operator-rs-testing", "prometheus-client", "rcgen", "ring", "runtime", "rustls",
            "schemars", "serde", "serde-json", "serde-yaml", "thiserror", "tokio", "tokio-rustls", "tokio-util", "tower", "tracing", "tracing-subscriber"];
        if used.contains(&text) {
            return Err(Refusal::new("is the name of a crate that the project depends on"));
        }
        ensure_text_in_yaml(text)
    }
}
dns! {
    /// An OLM package's name, e.g. `memcached-operator`: a DNS label.
    PackageName, check_label
}
dns! {
    /// The name of a package of any author, as OLM installs it: an RFC 1123 subdomain.
    InstalledPackage, check_subdomain
}
dns! {
    /// The name of a service account, e.g. `memcached-operator-controller-manager`.
    AccountName, check_subdomain
}
dns! {
    /// The first part of an API group, e.g. `cache`.
    GroupName, |text| {
        if text.contains('.') && text.split('.').all(|part| check_label(part).is_ok()) {
            return Err(Refusal::new("must be a single word: the project's domain is added to it"));
        }
        check_label(text)?;
        // The word is also the name of a module of `api/`.
        let taken = ["crds", "kube", "serde", "schemars", "k8s-openapi", "serde-json", "std", "core", "alloc"];
        if taken.contains(&text) {
            return Err(Refusal::new("is the name of a crate or module that the project uses"));
        }
        Ok(())
    }
}
dns! {
    /// An API group without its domain, as in PROJECT: `cache`, or `rbac.authorization` for a group of another project.
    GroupPrefix, |text| {
        if text.len() > 253 {
            return Err(Refusal::new("must be at most 253 characters long"));
        }
        if text.contains('.') && text.split('.').all(|part| check_label(part).is_ok()) {
            return Ok(());
        }
        check_label(text)
    }
}
dns! {
    /// The domain of a project's API groups, e.g. `example.com`: an RFC 1123 subdomain.
    Domain, |text| {
        if text.len() > 253 {
            return Err(Refusal::new("must be at most 253 characters long"));
        }
        if text.contains('.') && text.split('.').any(str::is_empty) {
            return Err(Refusal::new("must have a letter or a digit before and after each dot"));
        }
        text.split('.').try_for_each(check_label)?;
        ensure_text_in_yaml(text)
    }
}
dns! {
    /// The API group of a CRD, e.g. `cache.example.com`: an RFC 1123 subdomain with a dot, as the API server requires.
    ApiGroup, |text| {
        if text.len() > 253 || text.contains('.') {
            check_subdomain(text)
        } else {
            Err(Refusal::new("must be a domain with at least one dot"))
        }
    }
}
dns! {
    /// A resource's plural, singular, short name or category, e.g. `memcacheds`: an RFC 1035 label.
    Plural, |text| {
        check_label(text)?;
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Refusal::new("must start with a letter"));
        }
        Ok(())
    }
}

impl ProjectName {
    /// Returns the crate's name in Rust: `memcached_operator`.
    pub fn crate_name(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl ApiGroup {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AccountName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PackageName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl GroupPrefix {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts it to the name of one of the project's own groups.
    pub fn to_name(&self) -> Result<GroupName, Refusal> {
        self.0.parse()
    }

    /// Returns the name of the module that holds the group's versions.
    pub fn module_name(&self) -> String {
        module_name(&self.0.replace(['-', '.'], "_"))
    }
}

impl From<GroupName> for GroupPrefix {
    fn from(name: GroupName) -> Self {
        Self(name.0)
    }
}

impl PartialEq<GroupName> for GroupPrefix {
    fn eq(&self, name: &GroupName) -> bool {
        self.0 == name.0
    }
}

impl GroupName {
    /// Returns the name of the module that holds the group's versions.
    pub fn module_name(&self) -> String {
        module_name(&self.0.replace('-', "_"))
    }

    /// Returns the API group: `cache.example.com`.
    pub fn qualified_name(&self, domain: &Domain) -> String {
        format!("{self}.{domain}")
    }
}

#[test]
fn names_that_kubernetes_or_cargo_refuse_are_refused() {
    let long = "a".repeat(64);
    for text in [
        "",
        "My_Operator",
        "-a",
        "a-",
        "a.b",
        "0a",
        "fn",
        "test",
        "kube",
        "no",
        "null",
        long.as_str(),
    ] {
        assert!(text.parse::<ProjectName>().is_err(), "{text}");
    }
    for text in ["", "Cache", "cache.", "cache.example.com", "a_b", "kube"] {
        assert!(text.parse::<GroupName>().is_err(), "{text}");
    }
    for text in ["", "Cache", "cache.", "a..b", "a_b"] {
        assert!(text.parse::<GroupPrefix>().is_err(), "{text}");
    }
    let prefix: GroupPrefix = "rbac.authorization".parse().expect("two labels");
    assert!(prefix.to_name().is_err() && prefix.module_name() == "rbac_authorization");
    for text in [
        "Example.com",
        "-x.com",
        "",
        "a..b",
        "example.com.",
        "on",
        "1.5",
        "12",
        "0x1f",
        "1e3",
        "2026-01-01",
    ] {
        assert!(text.parse::<Domain>().is_err(), "{text}");
    }
    for text in ["0xolivanode.io", "0x1f.io", "0b12", "0o9", "0x"] {
        assert!(text.parse::<Domain>().is_ok(), "{text}");
    }
    let hint = |text: &str| text.parse::<Domain>().map_err(|refusal| refusal.to_string());
    for text in ["../../x", "a.b.", ".a", "a..b", "."] {
        let dots = "must have a letter or a digit before and after each dot";
        assert_eq!(hint(text), Err(dots.to_owned()), "{text}");
    }
    for text in ["", "cache", "../x", "a/b.c", "a..b", "a.b.", "A.b", "a b.c"] {
        assert!(text.parse::<ApiGroup>().is_err(), "{text}");
    }
    let long = format!("{}.io", "a".repeat(200));
    for text in ["0.io", "a-b.example.com", long.as_str()] {
        assert!(text.parse::<ApiGroup>().is_ok(), "{text}");
    }
    for text in ["", "../x", "a\\b", "a.b", "0a", "As"] {
        assert!(text.parse::<Plural>().is_err(), "{text}");
    }
    assert_eq!("type".parse::<GroupName>().expect("a label").module_name(), "type_");
}
