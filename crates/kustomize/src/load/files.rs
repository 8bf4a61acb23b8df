//! Parts that can be in a kustomization or in separate files: replacements and configurations.

use super::{
    super::{
        config,
        fields::Kind,
        part::Part,
        replacements::{Name, Replacement, Source, Target},
        selector::Selector,
    },
    Kustomization,
    reader::Reader,
};
use go_data::yaml::{Data, Entry, Node};

const NAME: &str = "metadata.name";

impl Reader {
    /// A list of replacements, or one.
    pub fn replacements(&mut self, node: &Node, of: &mut Kustomization) {
        let all = match &node.data {
            Data::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        for it in all {
            of.replacements.extend(self.replacement(it));
        }
    }

    pub fn replacement(&mut self, node: &Node) -> Option<Replacement> {
        let (mut source, mut targets, mut sources) = (None, None, 0);
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "source" | "sourceValue" | "targets" if value.is_null() => {}
                "source" => {
                    source = Some(self.source(value));
                    sources += 1;
                }
                "sourceValue" => {
                    source = self.string(value).map(Source::Value);
                    sources += 1;
                }
                "targets" => targets = Some(self.each(value, Self::target)),
                _ => self.unknown(key, *mark, "a replacement"),
            }
        }
        if targets.is_none() {
            self.fault(node.mark, "this replacement has no `targets`");
        }
        let targets = targets.unwrap_or_default();
        match source {
            Some(_) if sources > 1 => {
                self.fault(node.mark, "this has both a `source` and a `sourceValue`")
            }
            Some(source) => return Some(Replacement { mark: node.mark, source, targets }),
            None => self.fault(node.mark, "this replacement has no `source`"),
        }
        None
    }

    fn source(&mut self, node: &Node) -> Source {
        let (mut id, mut path, mut part) = (Name::default(), String::new(), Part::default());
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "group" | "version" | "kind" => self.kind(key, value, &mut id.of),
                "name" => id.name = self.string(value).unwrap_or_default(),
                "namespace" => id.namespace = self.string(value).unwrap_or_default(),
                "fieldPath" => path = self.string(value).unwrap_or_default(),
                "options" => part = self.part(value),
                _ => self.unknown(key, *mark, "a replacement's source"),
            }
        }
        let path = if path.is_empty() { NAME.to_owned() } else { path };
        Source::Field { id, path, part }
    }

    fn target(&mut self, node: &Node) -> Target {
        let (mut select, mut reject, mut paths) = (None, Vec::new(), Vec::new());
        let mut part = Part::default();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "select" if value.is_null() => {}
                "select" => select = Some(self.selector(value)),
                "reject" => reject = self.each(value, Self::selector),
                "fieldPaths" => paths = self.texts(value).into_iter().map(|it| it.text).collect(),
                "options" => part = self.part(value),
                _ => self.unknown(key, *mark, "a replacement's target"),
            }
        }
        if select.is_none() {
            self.fault(node.mark, "this target has no `select`");
        }
        if paths.is_empty() {
            paths.push(NAME.to_owned());
        }
        Target { select: select.unwrap_or_else(Selector::default), reject, paths, part }
    }

    fn part(&mut self, node: &Node) -> Part {
        let mut res = Part::default();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "delimiter" => res.delimiter = self.string(value).unwrap_or_default(),
                "index" => res.index = self.number(value),
                "create" => res.create = self.boolean(value),
                "encoding" if self.string(value).is_none_or(|it| it.is_empty()) => {}
                "encoding" => self.fault(*mark, "kustomize does nothing with `encoding`"),
                _ => self.unknown(key, *mark, "a replacement's options"),
            }
        }
        res
    }

    /// Fields that transformations work on besides kustomize's own.
    pub fn configuration(&mut self, node: &Node, of: &mut Kustomization) {
        for Entry { key, mark, value } in self.map(node) {
            if key == "nameReference" {
                self.list(value).iter().for_each(|it| self.reference(it, of));
            } else if config::is_list(key) {
                for it in self.list(value) {
                    let field = self.field(it);
                    if let Err(error) = of.config.add(key, field, &self.budget) {
                        self.fault(it.mark, &error.to_string());
                    }
                }
            } else if key == "varReference" {
                // Only `vars` use them, which are not supported.
                self.list(value).iter().for_each(|it| drop(self.field(it)));
            } else {
                self.unknown(key, *mark, "a configuration of transformers");
            }
        }
    }

    fn reference(&mut self, node: &Node, of: &mut Kustomization) {
        let (mut target, mut fields) = (Kind::default(), Vec::new());
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "group" | "version" | "kind" => self.kind(key, value, &mut target),
                "fieldSpecs" => fields = self.each(value, Self::field),
                _ => self.unknown(key, *mark, "a name reference"),
            }
        }
        for field in fields {
            if let Err(error) = of.config.add_reference(&target, field, &self.budget) {
                self.fault(node.mark, &error.to_string());
            }
        }
    }
}
