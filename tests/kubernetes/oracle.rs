//! Every type as k8s-openapi itself has it: as it is linked here, or as a crate that is made for the purpose prints it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::builtin::kubernetes::linked;
use crate::{Said, support};

/// Stands for the reader's own table, which is filled with the same list of types.
pub type Table = BTreeMap<&'static str, Builtin>;

pub struct Builtin(fn() -> Said);

impl Builtin {
    pub fn of<T: JsonSchema>(_: usize) -> Self {
        Self(|| Said {
            name: T::schema_name().into(),
            id: T::schema_id().into(),
            inlined: inlined::<T>(),
            referred: referred::<T>(),
        })
    }

    /// The crate itself is asked for defaults, too: what it says is not read.
    #[allow(clippy::extra_unused_type_parameters, reason = "the table says it for every type")]
    pub fn with_default<T>(self) -> Self {
        self
    }

    /// What is asked of serde elsewhere.
    #[allow(clippy::extra_unused_type_parameters, reason = "the table says it for every type")]
    pub fn with_fields<T>(self) -> Self {
        self
    }
}

/// As kube generates it.
pub fn inlined<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
    generator.into_generator().into_root_schema_for::<T>().to_value()
}

/// Every type that it leads to under its name.
pub fn referred<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

pub fn linked() -> BTreeMap<String, Said> {
    let mut table = Table::new();
    linked::add_types(&mut table);
    table.iter().map(|(path, it)| ((*path).to_owned(), (it.0)())).collect()
}

/// As a crate prints it that depends on this version of k8s-openapi.
pub fn built(version: &str, feature: &str, source: &Path) -> BTreeMap<String, Said> {
    let dir = support::fresh("kubernetes");
    std::fs::create_dir(dir.join("src")).expect("target/tmp can be written");
    let manifest = format!(
        r#"[package]
name = "kubernetes"
version = "0.0.0"
edition = "2024"
[dependencies]
k8s-openapi = {{ version = "={version}", features = ["{feature}", "schemars"] }}
schemars = "1"
serde = "1"
serde_json = "1"
[profile.dev]
debug = false
[workspace]
"#
    );
    std::fs::write(dir.join("Cargo.toml"), manifest).expect("target/tmp can be written");
    let mut main = PROGRAM.to_owned();
    for path in types(&source.join("src").join(feature)) {
        writeln!(main, "    say!({path});").expect("a text can be written to");
    }
    main.push_str("    println!(\"{}\", serde_json::Value::Object(all));\n}\n");
    std::fs::write(dir.join("src/main.rs"), main).expect("target/tmp can be written");
    let output = support::untold(&mut support::command("cargo", &dir))
        .args(["run", "--quiet"])
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_TARGET_DIR", dir.with_file_name("kubernetes-target"))
        .env("CARGO_BUILD_BUILD_DIR", support::build_dir())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", support::said(&output));
    let all: BTreeMap<String, [Value; 4]> =
        serde_json::from_slice(&output.stdout).expect("it prints what is expected");
    let said = |[name, id, inlined, referred]: [Value; 4]| Said { name, id, inlined, referred };
    all.into_iter().map(|(path, it)| (path, said(it))).collect()
}

/// Every type with a schema, found by looking into every file: the reader finds them by their modules.
fn types(folder: &Path) -> Vec<String> {
    let mut res = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.expect("the crate can be read");
        if entry.file_name() == "mod.rs" || !entry.file_type().is_file() {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).expect("the crate can be read");
        let head = "\nimpl crate::schemars::JsonSchema for ";
        let Some(name) = text.split(head).nth(1).and_then(|it| it.split(" {").next()) else {
            continue;
        };
        let module = entry.path().parent().and_then(|it| it.strip_prefix(folder).ok());
        let module = module.expect("it is below").to_string_lossy().replace('/', "::");
        res.push(format!("k8s_openapi::{module}::{name}"));
    }
    res
}

const PROGRAM: &str = r#"use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

fn said<T: JsonSchema>() -> Value {
    let inlined = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
    Value::Array(vec![
        T::schema_name().into(),
        T::schema_id().into(),
        inlined.into_generator().into_root_schema_for::<T>().to_value(),
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value(),
    ])
}

fn main() {
    let mut all = serde_json::Map::new();
    macro_rules! say {
        ($path:path) => {
            all.insert(stringify!($path).replace(' ', ""), said::<$path>());
        };
    }
"#;
