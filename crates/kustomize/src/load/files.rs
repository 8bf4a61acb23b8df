//! Parts that can be in a kustomization or in separate files: replacements and configurations.

use super::{
    super::{
        config,
        fields::Gvk,
        kustomization::Kustomization,
        part::Part,
        replacements::{Replacement, ReplacementSource, SourceSelector, Target},
        selector::Selector,
    },
    reader::Reader,
};
use go_data::yaml::{Data, Entry, Node};

const NAME: &str = "metadata.name";

impl Reader {
    /// Parses a list of replacements, or one replacement.
    pub fn parse_replacements(&mut self, node: &Node, kustomization: &mut Kustomization) {
        let all = match &node.data {
            Data::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        for item in all {
            kustomization.replacements.extend(self.parse_replacement(item));
        }
    }

    pub fn parse_replacement(&mut self, node: &Node) -> Option<Replacement> {
        let (mut source, mut targets, mut sources) = (None, None, 0);
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "source" | "sourceValue" | "targets" if value.is_null() => {}
                "source" => {
                    source = Some(self.parse_source(value));
                    sources += 1;
                }
                "sourceValue" => {
                    source = self.parse_string(value).map(ReplacementSource::Value);
                    sources += 1;
                }
                "targets" => targets = Some(self.parse_items(value, Self::parse_target)),
                _ => self.report_unknown(key, *mark, "a replacement"),
            }
        }
        if targets.is_none() {
            self.report_problem(node.mark, "this replacement has no `targets`");
        }
        let targets = targets.unwrap_or_default();
        match source {
            Some(_) if sources > 1 => {
                self.report_problem(node.mark, "this has both a `source` and a `sourceValue`")
            }
            Some(source) => return Some(Replacement { mark: node.mark, source, targets }),
            None => self.report_problem(node.mark, "this replacement has no `source`"),
        }
        None
    }

    fn parse_source(&mut self, node: &Node) -> ReplacementSource {
        let (mut id, mut path, mut part) =
            (SourceSelector::default(), String::new(), Part::default());
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "group" | "version" | "kind" => self.parse_gvk_entry(key, value, &mut id.gvk),
                "name" => id.name = self.parse_string(value).unwrap_or_default(),
                "namespace" => id.namespace = self.parse_string(value).unwrap_or_default(),
                "fieldPath" => path = self.parse_string(value).unwrap_or_default(),
                "options" => part = self.parse_part(value),
                _ => self.report_unknown(key, *mark, "a replacement's source"),
            }
        }
        let path = if path.is_empty() { NAME.to_owned() } else { path };
        ReplacementSource::Field { id, path, part }
    }

    fn parse_target(&mut self, node: &Node) -> Target {
        let (mut select, mut reject, mut paths) = (None, Vec::new(), Vec::new());
        let mut part = Part::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "select" if value.is_null() => {}
                "select" => select = Some(self.parse_selector(value)),
                "reject" => reject = self.parse_items(value, Self::parse_selector),
                "fieldPaths" => {
                    paths = self.parse_texts(value).into_iter().map(|path| path.text).collect()
                }
                "options" => part = self.parse_part(value),
                _ => self.report_unknown(key, *mark, "a replacement's target"),
            }
        }
        if select.is_none() {
            self.report_problem(node.mark, "this target has no `select`");
        }
        if paths.is_empty() {
            paths.push(NAME.to_owned());
        }
        Target { select: select.unwrap_or_else(Selector::default), reject, paths, part }
    }

    fn parse_part(&mut self, node: &Node) -> Part {
        let mut part = Part::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "delimiter" => part.delimiter = self.parse_string(value).unwrap_or_default(),
                "index" => part.index = self.parse_number(value),
                "create" => part.create = self.parse_boolean(value),
                "encoding"
                    if self.parse_string(value).is_none_or(|encoding| encoding.is_empty()) => {}
                "encoding" => self.report_problem(*mark, "kustomize does nothing with `encoding`"),
                _ => self.report_unknown(key, *mark, "a replacement's options"),
            }
        }
        part
    }

    /// Parses the fields that transformations change besides kustomize's own.
    pub fn parse_configuration(&mut self, node: &Node, kustomization: &mut Kustomization) {
        for Entry { key, mark, value } in self.expect_entries(node) {
            if key == "nameReference" {
                self.expect_items(value)
                    .iter()
                    .for_each(|item| self.parse_reference(item, kustomization));
            } else if config::is_list(key) {
                for item in self.expect_items(value) {
                    let field = self.parse_field(item);
                    if let Err(error) = kustomization.config.add_field(key, field, &self.budget) {
                        self.report_problem(item.mark, &error.to_string());
                    }
                }
            } else if key == "varReference" {
                // Only `vars` use them, which are not supported.
                self.expect_items(value).iter().for_each(|item| drop(self.parse_field(item)));
            } else {
                self.report_unknown(key, *mark, "a configuration of transformers");
            }
        }
    }

    fn parse_reference(&mut self, node: &Node, kustomization: &mut Kustomization) {
        let (mut target, mut fields) = (Gvk::default(), Vec::new());
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "group" | "version" | "kind" => self.parse_gvk_entry(key, value, &mut target),
                "fieldSpecs" => fields = self.parse_items(value, Self::parse_field),
                _ => self.report_unknown(key, *mark, "a name reference"),
            }
        }
        for field in fields {
            if let Err(error) = kustomization.config.add_reference(&target, field, &self.budget) {
                self.report_problem(node.mark, &error.to_string());
            }
        }
    }
}
