//! Reads a document part by part. Each error becomes a problem with its place, and reading continues.

use std::collections::BTreeMap;

use super::{super::budget::Budget, Text, problem};
use diagnostics::{Diagnostic, Diagnostics, Lines};
use go_data::yaml::{self, Data, Entry, Mark, Node, Value};
use model::ProjectPath;

pub struct Reader {
    pub path: ProjectPath,
    /// The file as it was read.
    pub text: String,
    pub problems: Vec<Diagnostic>,
    pub budget: Budget,
}

impl Reader {
    pub fn new(path: ProjectPath, text: &str, budget: &Budget) -> Self {
        let (problems, budget) = (Vec::new(), budget.clone());
        Self { path, text: text.to_owned(), problems, budget }
    }

    pub fn each<R>(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> R) -> Vec<R> {
        self.list(node).iter().map(|it| read(self, it)).collect()
    }

    pub fn list<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        match &node.data {
            Data::List(items) => items,
            Data::Scalar(Value::Null) => &[],
            _ => {
                self.fault(
                    node.mark,
                    &format!("this is {}, where a list is expected", node.what()),
                );
                &[]
            }
        }
    }

    pub fn map<'n>(&mut self, node: &'n Node) -> Vec<&'n Entry> {
        match &node.data {
            Data::Map(entries) => entries.iter().collect(),
            Data::Scalar(Value::Null) => Vec::new(),
            _ => {
                self.fault(node.mark, &format!("this is {}, where a map is expected", node.what()));
                Vec::new()
            }
        }
    }

    pub fn texts(&mut self, node: &Node) -> Vec<Text> {
        let mut res = Vec::new();
        for it in self.list(node) {
            if it.is_null() {
                self.fault(it.mark, "there is nothing here, where a string is expected");
            }
            res.extend(self.text(it));
        }
        res
    }

    /// The text of an entry that has no other beside it.
    pub fn only(&mut self, node: &Node, key: &str, value: &Node) -> Option<Text> {
        if let Some(other) = self.map(node).into_iter().find(|it| it.key != key) {
            self.fault(other.mark, &format!("`{}` cannot be beside `{key}`", other.key));
        }
        self.text(value)
    }

    pub fn number(&mut self, node: &Node) -> i64 {
        match &node.data {
            Data::Scalar(Value::Number(it)) if it.is_i64() => it.as_i64().unwrap_or_default(),
            Data::Scalar(Value::Null) => 0,
            _ => {
                let message = format!("this is {}, where a whole number is expected", node.what());
                self.fault(node.mark, &message);
                0
            }
        }
    }

    pub fn text(&mut self, node: &Node) -> Option<Text> {
        self.string(node).map(|text| Text { text, mark: node.mark })
    }

    /// Labels or annotations that objects get.
    pub fn pairs(&mut self, node: &Node) -> BTreeMap<String, String> {
        if let Data::Map(entries) = &node.data {
            for it in entries {
                let fault = yaml::added_key_fault(&it.key);
                self.problems.extend(fault.map(|message| {
                    problem(&self.path, it.mark, message, Some("choose another key"))
                }));
            }
        }
        self.strings(node)
    }

    pub fn strings(&mut self, node: &Node) -> BTreeMap<String, String> {
        let entries = self.map(node);
        entries
            .into_iter()
            .map(|it| (it.key.clone(), self.string(&it.value).unwrap_or_default()))
            .collect()
    }

    pub fn filled(&mut self, node: &Node) -> Option<String> {
        self.string(node).filter(|it| !it.is_empty())
    }

    pub fn string(&mut self, node: &Node) -> Option<String> {
        if let Some(text) = node.as_str() {
            return Some(text.to_owned());
        }
        if !node.is_null() {
            let message = format!("this is {}, where a string is expected", node.what());
            self.problems.push(problem(&self.path, node.mark, message, Some("write it in quotes")));
        }
        None
    }

    pub fn boolean(&mut self, node: &Node) -> bool {
        match node.data {
            Data::Scalar(Value::Bool(it)) => it,
            Data::Scalar(Value::Null) => false,
            _ => {
                self.fault(
                    node.mark,
                    &format!("this is {}, where `true` or `false` is expected", node.what()),
                );
                false
            }
        }
    }

    pub fn unknown(&mut self, key: &str, mark: Mark, of: &str) {
        let message = format!("`{key}` is not a field of {of}");
        self.problems.push(problem(
            &self.path,
            mark,
            message,
            Some("remove it, or correct its spelling"),
        ));
    }

    pub fn fault(&mut self, mark: Mark, message: &str) {
        self.problems.push(problem(&self.path, mark, message.to_owned(), None));
    }

    /// Notes the strings that kustomize cannot pass on to its transformers.
    pub fn check_characters(&mut self, node: &Node) {
        let mut check = |text: &str, mark| {
            if let Some(message) = yaml::printing_fault(text) {
                self.problems.push(problem(&self.path, mark, message, Some("remove it")));
            }
        };
        match &node.data {
            Data::Scalar(it) => check(it.as_str().unwrap_or_default(), node.mark),
            Data::List(items) => items.iter().for_each(|it| self.check_characters(it)),
            Data::Map(entries) => {
                entries.iter().for_each(|it| check(&it.key, it.mark));
                entries.iter().for_each(|it| self.check_characters(&it.value));
            }
        }
    }

    /// Every problem of the file in one error.
    pub fn refuse(&mut self) -> anyhow::Result<()> {
        let problems = std::mem::take(&mut self.problems);
        let mut lines = Lines::of(&self.text);
        let list: Vec<Diagnostic> = problems.into_iter().map(|it| it.quote(&mut lines)).collect();
        match list.is_empty() {
            true => Ok(()),
            false => Err(Diagnostics { headline: String::new(), list }.into()),
        }
    }
}
