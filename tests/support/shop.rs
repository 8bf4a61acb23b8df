//! A small operator of another layout, with one kind.

use std::{fs, path::Path};

pub const CARGO: &str = "[package]\nname = \"shop-operator\"\nversion = \"1.2.0\"\nedition = \"2024\"\n\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";

/// A program with the kind `Shop`.
pub const SOURCE: &str = r#"use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn main() {}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
pub struct ShopSpec {
    pub size: i32,
}
"#;

/// Writes the package with this program.
pub fn put(dir: &Path, source: &str) {
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::copy(super::home().join("tests/schemas/Cargo.lock"), dir.join("Cargo.lock")).unwrap();
    fs::write(dir.join("Cargo.toml"), CARGO).unwrap();
    fs::write(dir.join("src/main.rs"), source).unwrap();
}
