//! A workspace that only the reader of kinds needs to understand.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support;

/// A workspace with one package, beside others in a directory.
pub struct Project(pub PathBuf);

impl Project {
    pub fn new(top: &Path, folder: &str, package: &str, kinds: &[(&str, &str)]) -> Self {
        let project = Self(top.join(folder));
        fs::create_dir_all(project.0.join("src")).expect("the directory is ours");
        project.name(package);
        project.declare(kinds);
        project
    }

    pub fn name(&self, package: &str) {
        let manifest = format!(
            "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n\
             kube = {{ version = \"5\", features = [\"derive\"] }}\nschemars = \"1\"\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n"
        );
        self.write("Cargo.toml", &manifest);
        self.write("Cargo.lock", &support::lock_for(package));
    }

    /// Declares kinds by their groups and names.
    pub fn declare(&self, kinds: &[(&str, &str)]) {
        let mut text = "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n".to_owned();
        for (group, kind) in kinds {
            text += &format!(
                "#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]\n\
                 #[kube(group = \"{group}\", version = \"v1\", kind = \"{kind}\", namespaced)]\n\
                 pub struct {kind}Spec {{ pub name: String }}\n"
            );
        }
        self.write("src/lib.rs", &text);
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.0.join(path), text).expect("the directory is ours");
    }

    /// The status, and all output.
    pub fn run(&self, words: &str) -> (bool, String) {
        let output = support::operator_rs(&self.0, words);
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).expect("the output is text"))
    }

    #[track_caller]
    pub fn done(&self, words: &str) -> String {
        let (succeeded, output) = self.run(words);
        assert!(succeeded, "{words}: {output}");
        output
    }

    #[track_caller]
    pub fn refused(&self, words: &str, expected: &str) {
        let (succeeded, output) = self.run(words);
        assert!(!succeeded && output.contains(expected), "{words}: {output}");
    }
}
