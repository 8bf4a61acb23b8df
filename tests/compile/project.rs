//! A package with kinds, and the tool in it.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

use crate::support;

pub const HEAD: &str = "use kube::CustomResource;\nuse schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};\n\
                        use serde::{Deserialize, Serialize};\n";

pub const PLAIN: &str = "pub size: i32,";
pub const OUTSIDE: &str = "#[schemars(schema_with = \"outside\")]\n    pub size: String,";

/// A schema that depends on something outside of the source.
pub const FUNCTION: &str = "fn outside(_: &mut SchemaGenerator) -> Schema {
    let longest = std::env::var(\"NOBODY_SETS_THIS\").map_or(7, |it| it.len());
    json_schema!({ \"type\": \"string\", \"maxLength\": longest })
}
";

const MANIFEST: &str = "[package]\nname = \"asked\"\nversion = \"0.1.0\"\nedition = \"2024\"\n
[dependencies]
k8s-openapi = { version = \"0.29\", features = [\"v1_33\", \"schemars\"] }
kube = { version = \"5\", default-features = false, features = [\"derive\"] }
schemars = \"1\"
serde = { version = \"1\", features = [\"derive\"] }
serde_json = \"1\"
";

/// A kind with one field.
pub fn kind(name: &str, field: &str) -> String {
    format!(
        "#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = \"example.com\", version = \"v1\", kind = \"{name}\")]
pub struct {name}Spec {{
    {field}
}}
"
    )
}

/// A library whose one kind cannot be read from the source.
pub fn unreadable() -> Project {
    Project::new(&[("src/lib.rs", &[HEAD, &kind("Asked", OUTSIDE), FUNCTION].concat())])
}

/// A package in a folder of its own, with a folder of state that is nobody else's.
pub struct Project {
    pub folder: tempfile::TempDir,
    pub state: tempfile::TempDir,
}

impl Project {
    /// A package with these files, and the lock of the schemas' fixture.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let lock = support::home().join("tests/schemas/Cargo.lock");
        let lock = fs::read_to_string(lock).unwrap();
        let lock = lock.replace(
            "name = \"schemas\"\nversion = \"0.0.1\"",
            "name = \"asked\"\nversion = \"0.1.0\"",
        );
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let project = Self { folder, state };
        project.put("Cargo.toml", MANIFEST);
        project.put("Cargo.lock", &lock);
        files.iter().for_each(|(path, text)| project.put(path, text));
        project
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn edit(&self, path: &str, old: &str, new: &str) {
        let text = self.text(path);
        assert!(text.contains(old), "{path} has no {old}");
        self.put(path, &text.replacen(old, new, 1));
    }

    /// `generate crds`, with the target folder that all of these share.
    pub fn command(&self, flags: &[&str]) -> Command {
        let mut command = self.tool(&["generate", "crds", "-o", "json"]);
        command.args(flags);
        command
    }

    /// The tool in the project.
    pub fn tool(&self, words: &[&str]) -> Command {
        let mut command = support::command(support::BINARY, self.folder.path());
        command.args(words);
        command.env("XDG_STATE_HOME", self.state.path());
        support::building(&mut command);
        command
    }

    /// What it prints, and what it says; none printed where it fails.
    pub fn crds(&self, flags: &[&str]) -> (Option<Vec<Value>>, String) {
        output(&mut self.command(flags))
    }

    /// A program in the place of cargo.
    #[cfg(unix)]
    pub fn cargo(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.state.path().join("cargo");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

/// What a command prints, and what it says; none printed where it fails.
pub fn output(command: &mut Command) -> (Option<Vec<Value>>, String) {
    let _alone = support::alone_in_target();
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let printed = output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap());
    (printed, text)
}

pub fn size(crd: &Value) -> &Value {
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    &schema["properties"]["spec"]["properties"]["size"]
}

/// The names of what is printed, each with its versions and whether they are stored.
pub fn versions(printed: &[Value]) -> Vec<String> {
    let one = |crd: &Value| {
        let versions = crd["spec"]["versions"].as_array().unwrap().iter();
        let versions = versions.map(|it| {
            let stored = if it["storage"] == true { "*" } else { "" };
            format!(" {}{stored}", it["name"].as_str().unwrap())
        });
        format!(
            "{}{}",
            crd["spec"]["names"]["kind"].as_str().unwrap(),
            versions.collect::<String>()
        )
    };
    printed.iter().map(one).collect()
}
