//! Parses a document part by part. Each error becomes a diagnostic with its position, and parsing continues.

use std::collections::BTreeMap;

use super::super::{budget::Budget, kustomization::Text, origin::diagnostic_at};
use diagnostics::{Diagnostic, Diagnostics, Lines};
use go_data::yaml::{self, Data, Entry, Mark, Node, Value};
use model::ProjectPath;

pub struct Reader {
    pub path: ProjectPath,
    /// The text of the file.
    pub text: String,
    pub problems: Vec<Diagnostic>,
    pub budget: Budget,
}

impl Reader {
    pub fn new(path: ProjectPath, text: &str, budget: &Budget) -> Self {
        let (problems, budget) = (Vec::new(), budget.clone());
        Self { path, text: text.to_owned(), problems, budget }
    }

    pub fn parse_items<R>(
        &mut self,
        node: &Node,
        mut read: impl FnMut(&mut Self, &Node) -> R,
    ) -> Vec<R> {
        self.expect_items(node).iter().map(|item| read(self, item)).collect()
    }

    pub fn expect_items<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        match &node.data {
            Data::List(items) => items,
            Data::Scalar(Value::Null) => &[],
            _ => {
                self.report_problem(
                    node.mark,
                    &format!("this is {}, where a list is expected", node.type_name()),
                );
                &[]
            }
        }
    }

    pub fn expect_entries<'n>(&mut self, node: &'n Node) -> Vec<&'n Entry> {
        match &node.data {
            Data::Map(entries) => entries.iter().collect(),
            Data::Scalar(Value::Null) => Vec::new(),
            _ => {
                self.report_problem(
                    node.mark,
                    &format!("this is {}, where a map is expected", node.type_name()),
                );
                Vec::new()
            }
        }
    }

    pub fn parse_texts(&mut self, node: &Node) -> Vec<Text> {
        let mut texts = Vec::new();
        for item in self.expect_items(node) {
            if item.is_null() {
                self.report_problem(item.mark, "there is nothing here, where a string is expected");
            }
            texts.extend(self.parse_text(item));
        }
        texts
    }

    /// Parses the text of an entry, and reports any other entry of its map.
    pub fn parse_only_text(&mut self, node: &Node, key: &str, value: &Node) -> Option<Text> {
        if let Some(other) = self.expect_entries(node).into_iter().find(|entry| entry.key != key) {
            self.report_problem(other.mark, &format!("`{}` cannot be beside `{key}`", other.key));
        }
        self.parse_text(value)
    }

    pub fn parse_number(&mut self, node: &Node) -> i64 {
        match &node.data {
            Data::Scalar(Value::Number(number)) if number.is_i64() => {
                number.as_i64().unwrap_or_default()
            }
            Data::Scalar(Value::Null) => 0,
            _ => {
                let message =
                    format!("this is {}, where a whole number is expected", node.type_name());
                self.report_problem(node.mark, &message);
                0
            }
        }
    }

    pub fn parse_text(&mut self, node: &Node) -> Option<Text> {
        self.parse_string(node).map(|text| Text { text, mark: node.mark })
    }

    /// Parses labels or annotations that are added to objects.
    pub fn parse_pairs(&mut self, node: &Node) -> BTreeMap<String, String> {
        if let Data::Map(entries) = &node.data {
            for entry in entries {
                let fault = yaml::find_added_key_error(&entry.key);
                self.problems.extend(fault.map(|message| {
                    diagnostic_at(&self.path, entry.mark, message, Some("choose another key"))
                }));
            }
        }
        self.parse_strings(node)
    }

    pub fn parse_strings(&mut self, node: &Node) -> BTreeMap<String, String> {
        let entries = self.expect_entries(node);
        entries
            .into_iter()
            .map(|entry| (entry.key.clone(), self.parse_string(&entry.value).unwrap_or_default()))
            .collect()
    }

    pub fn parse_nonempty_string(&mut self, node: &Node) -> Option<String> {
        self.parse_string(node).filter(|text| !text.is_empty())
    }

    pub fn parse_string(&mut self, node: &Node) -> Option<String> {
        if let Some(text) = node.as_str() {
            return Some(text.to_owned());
        }
        if !node.is_null() {
            let message = format!("this is {}, where a string is expected", node.type_name());
            self.problems.push(diagnostic_at(
                &self.path,
                node.mark,
                message,
                Some("write it in quotes"),
            ));
        }
        None
    }

    pub fn parse_boolean(&mut self, node: &Node) -> bool {
        match node.data {
            Data::Scalar(Value::Bool(value)) => value,
            Data::Scalar(Value::Null) => false,
            _ => {
                self.report_problem(
                    node.mark,
                    &format!("this is {}, where `true` or `false` is expected", node.type_name()),
                );
                false
            }
        }
    }

    pub fn report_unknown(&mut self, key: &str, mark: Mark, owner: &str) {
        let message = format!("`{key}` is not a field of {owner}");
        self.problems.push(diagnostic_at(
            &self.path,
            mark,
            message,
            Some("remove it, or correct its spelling"),
        ));
    }

    pub fn report_problem(&mut self, mark: Mark, message: &str) {
        self.problems.push(diagnostic_at(&self.path, mark, message.to_owned(), None));
    }

    /// Reports the strings that kustomize cannot pass on to its transformers.
    pub fn check_characters(&mut self, node: &Node) {
        let mut check = |text: &str, mark| {
            if let Some(message) = yaml::find_printing_error(text) {
                self.problems.push(diagnostic_at(&self.path, mark, message, Some("remove it")));
            }
        };
        match &node.data {
            Data::Scalar(value) => check(value.as_str().unwrap_or_default(), node.mark),
            Data::List(items) => items.iter().for_each(|item| self.check_characters(item)),
            Data::Map(entries) => {
                entries.iter().for_each(|entry| check(&entry.key, entry.mark));
                entries.iter().for_each(|entry| self.check_characters(&entry.value));
            }
        }
    }

    /// Returns all diagnostics of the file as one error.
    pub fn ensure_no_problems(&mut self) -> anyhow::Result<()> {
        let problems = std::mem::take(&mut self.problems);
        let mut lines = Lines::new(&self.text);
        let list: Vec<Diagnostic> =
            problems.into_iter().map(|problem| problem.quote(&mut lines)).collect();
        if list.is_empty() {
            Ok(())
        } else {
            Err(Diagnostics { headline: String::new(), list }.into())
        }
    }
}
