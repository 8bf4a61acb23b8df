//! The environment variables that cargo sets for the compiler, of which `env!` makes a text.

use std::collections::BTreeMap;

use toml::Value;

use super::packages::{PackageId, Packages};

/// Variables with the text of a key of `[package]`.
const KEYS: &[(&str, &str)] = &[
    ("CARGO_PKG_NAME", "name"),
    ("CARGO_PKG_DESCRIPTION", "description"),
    ("CARGO_PKG_HOMEPAGE", "homepage"),
    ("CARGO_PKG_LICENSE", "license"),
    ("CARGO_PKG_REPOSITORY", "repository"),
    ("CARGO_PKG_RUST_VERSION", "rust-version"),
];

impl Packages<'_> {
    /// The variables for the code of a package, as its Cargo.toml and that of its workspace have them.
    pub fn package_variables(&self, id: PackageId) -> BTreeMap<&'static str, String> {
        let mut variables = BTreeMap::new();
        for (variable, key) in KEYS {
            let text = self.package_text(id, key).unwrap_or(Some(String::new()));
            variables.extend(text.map(|text| (*variable, text)));
        }
        let version = self.package_text(id, "version").unwrap_or(Some("0.0.0".to_owned()));
        if let Some(version) =
            version.and_then(|version| version.trim().parse::<semver::Version>().ok())
        {
            variables.insert("CARGO_PKG_VERSION_MAJOR", version.major.to_string());
            variables.insert("CARGO_PKG_VERSION_MINOR", version.minor.to_string());
            variables.insert("CARGO_PKG_VERSION_PATCH", version.patch.to_string());
            variables.insert("CARGO_PKG_VERSION_PRE", version.pre.to_string());
            variables.insert("CARGO_PKG_VERSION", version.to_string());
        }
        variables
    }

    /// The text of a key of `[package]`: none if the key is not there, and nothing in it if it has no text.
    fn package_text(&self, id: PackageId, key: &str) -> Option<Option<String>> {
        let value = self.package_key(id, key)?;
        Some(value.as_ref().and_then(Value::as_str).map(str::to_owned))
    }
}
