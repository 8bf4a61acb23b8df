//! Projects, their charts, and Helm.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;

use crate::support;

/// A project with a chart, and Helm to render it.
pub struct Helm {
    pub dir: PathBuf,
    program: PathBuf,
}

impl Helm {
    /// None without Helm, which has been said.
    pub fn new(name: &str, commands: &[&str]) -> Option<Self> {
        let program = support::tool("helm")?;
        let dir = support::fresh(&format!("chart/{name}"));
        for it in commands {
            support::done(&dir, it);
        }
        Some(Self { dir, program })
    }

    /// The project of the tutorial with its chart.
    pub fn tutorial(name: &str) -> Option<Self> {
        let res = Self::new(name, &[INIT, API])?;
        support::done(&res.dir, "generate chart");
        Some(res)
    }

    pub fn run(&self, words: &str) -> Output {
        let mut command = support::command(&self.program, &self.dir);
        command.args(words.split_whitespace()).output().expect("Helm starts")
    }

    /// What operator-rs prints, with helm on PATH.
    pub fn check(&self, words: &str) -> String {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folder = self.program.parent().expect("it is in a folder").to_owned();
        let path =
            std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&folders)));
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(words.split_whitespace()).env("PATH", path.expect("they are folders"));
        let output = command.output().expect("the program starts");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("it is UTF-8")
    }

    /// As a cluster's administrator.
    pub fn on(&self, kubeconfig: &Path, words: &str) -> String {
        let mut command = support::command(&self.program, &self.dir);
        command.args(words.split_whitespace()).env("KUBECONFIG", kubeconfig);
        let output = command.output().expect("Helm starts");
        assert!(output.status.success(), "helm {words}\n{}", support::said(&output));
        String::from_utf8(output.stdout).expect("stdout is UTF-8")
    }

    /// The objects of a release that has the project's name, with these flags.
    pub fn objects(&self, flags: &str) -> Vec<Value> {
        self.release("shop-operator", "shop-operator-system", flags)
    }

    pub fn release(&self, name: &str, namespace: &str, flags: &str) -> Vec<Value> {
        let words = format!("template {name} chart --namespace {namespace} {flags}");
        let output = self.run(&words);
        assert!(output.status.success(), "helm {words}\n{}", support::said(&output));
        documents(&String::from_utf8(output.stdout).expect("stdout is UTF-8"))
    }

    /// The objects of a release with these values.
    pub fn objects_with(&self, values: &Value) -> Vec<Value> {
        fs::write(self.dir.join("given.yaml"), values.to_string()).expect("the folder is ours");
        self.objects("--values given.yaml")
    }

    /// What Helm says of a chart that it does not render.
    pub fn refused(&self, flags: &str) -> String {
        let output = self.run(&format!("template shop-operator chart {flags}"));
        assert!(!output.status.success(), "helm renders with {flags}");
        support::said(&output)
    }

    pub fn edit(&self, file: &str, edit: impl FnOnce(&str) -> String) {
        let path = self.dir.join(file);
        let before = fs::read_to_string(&path).expect("it is there");
        let after = edit(&before);
        assert_ne!(before, after, "{file} is changed");
        fs::write(path, after).expect("the folder is ours");
    }
}

pub const INIT: &str = "init --domain example.com --project-name shop-operator";
pub const API: &str = "create api --group g --kind Memcached --image memcached:1 --port 11211";

pub fn documents(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text);
    let read = |it| -> Value { serde::Deserialize::deserialize(it).expect("it is YAML") };
    documents.map(read).filter(|it| !it.is_null()).collect()
}

/// The only object of a kind.
pub fn only<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let mut found = objects.iter().filter(|it| it["kind"] == kind);
    let res = found.next().unwrap_or_else(|| panic!("there is a {kind}"));
    assert!(found.next().is_none(), "there is one {kind}");
    res
}
