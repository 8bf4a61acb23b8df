//! The items in a kustomization's fields: a patch, an image, a generator. Each lists its own fields.

use std::collections::BTreeMap;

use super::{
    super::{
        WAY_OUT,
        fields::{Field, Kind},
        labels::Reach,
        order::Order,
        patches,
        selector::{Selector, set_pattern},
    },
    Generator, ImageEntry, Label, Options, Patch, Replica, Source, Text, problem,
    reader::Reader,
};
use go_data::yaml::{Data, Entry, Node, Number, Value};

impl Reader {
    pub fn label(&mut self, node: &Node) -> Label {
        let (mut pairs, mut reach) = (BTreeMap::new(), Reach::Metadata);
        let mut fields = Vec::new();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "pairs" => pairs = self.pairs(value),
                "includeSelectors" if self.boolean(value) => reach = Reach::Selectors,
                "includeTemplates" if self.boolean(value) && reach == Reach::Metadata => {
                    reach = Reach::Templates;
                }
                "includeSelectors" | "includeTemplates" => {}
                "fields" => fields = self.each(value, Self::field),
                _ => self.unknown(key, *mark, "a label"),
            }
        }
        Label { pairs, reach, fields }
    }

    pub fn patch(&mut self, node: &Node) -> Patch {
        let (mut path, mut inline, mut target) = (None, None, None);
        let mut options = patches::Options::default();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "path" => path = self.text(value).filter(|it| !it.text.is_empty()),
                "patch" => inline = self.text(value).filter(|it| !it.text.trim().is_empty()),
                "target" if !value.is_null() => target = Some(self.selector(value)),
                "target" => {}
                "options" => options = self.patch_options(value),
                _ => self.unknown(key, *mark, "a patch"),
            }
        }
        let source = match (path, inline) {
            (Some(path), None) => Source::Path(path),
            (None, Some(inline)) => Source::Inline(inline),
            (path, _) => {
                let many = path.is_some();
                self.fault(
                    node.mark,
                    if many {
                        "this has both `path` and `patch`, and only one of them is allowed"
                    } else {
                        "this has neither `path` nor `patch`"
                    },
                );
                Source::Inline(Text { text: String::new(), mark: node.mark })
            }
        };
        Patch { mark: node.mark, source, target, options }
    }

    fn patch_options(&mut self, node: &Node) -> patches::Options {
        let mut res = patches::Options::default();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "allowNameChange" => res.new_name = self.boolean(value),
                "allowKindChange" => res.new_kind = self.boolean(value),
                _ => self.unknown(key, *mark, "the options of a patch"),
            }
        }
        res
    }

    /// A path, or the text of a patch itself.
    pub fn legacy_patch(&mut self, node: &Node) -> Patch {
        let text = self.text(node).unwrap_or(Text { text: String::new(), mark: node.mark });
        let source = match text.text.contains(['\n', '{']) {
            true => Source::Inline(text),
            false => Source::Path(text),
        };
        let options =
            patches::Options { list: patches::List::StrategicMerge, ..patches::Options::default() };
        Patch { mark: node.mark, source, target: None, options }
    }

    /// A JSON patch, which comes late.
    pub fn late_patch(&mut self, node: &Node) -> Patch {
        let mut patch = self.patch(node);
        patch.options.list = patches::List::Json6902;
        if patch.target.as_ref().is_none_or(|target| target.name.is_none()) {
            let message = "a patch of `patchesJson6902` needs a `target` with a `name`";
            self.fault(patch.mark, message);
        }
        patch
    }

    pub fn kind(&mut self, key: &str, value: &Node, of: &mut Kind) {
        let text = self.string(value).unwrap_or_default();
        match key {
            "group" => of.group = text,
            "version" => of.version = text,
            _ => of.kind = text,
        }
    }

    /// Which objects, and where in them.
    pub fn field(&mut self, node: &Node) -> Field {
        let (mut of, mut path, mut create) = (Kind::default(), String::new(), false);
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "group" | "version" | "kind" => self.kind(key, value, &mut of),
                "path" => path = self.string(value).unwrap_or_default(),
                "create" => create = self.boolean(value),
                _ => self.unknown(key, *mark, "a field specification"),
            }
        }
        Field::new(of, &path, create)
    }

    pub fn selector(&mut self, node: &Node) -> Selector {
        let mut res = Selector::default();
        for Entry { key, mark, value } in self.map(node) {
            let text = self.string(value).unwrap_or_default();
            let done = match key.as_str() {
                "group" => set_pattern(&mut res.group, &text, &self.budget),
                "version" => set_pattern(&mut res.version, &text, &self.budget),
                "kind" => set_pattern(&mut res.kind, &text, &self.budget),
                "name" => set_pattern(&mut res.name, &text, &self.budget),
                "namespace" => set_pattern(&mut res.namespace, &text, &self.budget),
                "labelSelector" => res.set_labels(&text),
                "annotationSelector" => res.set_annotations(&text),
                _ => {
                    self.unknown(key, *mark, "a patch's target");
                    Ok(())
                }
            };
            if let Err(error) = done {
                self.problems.push(problem(
                    &self.path,
                    value.mark,
                    format!("{error:#}"),
                    Some(WAY_OUT),
                ));
            }
        }
        res
    }

    pub fn image(&mut self, node: &Node) -> ImageEntry {
        let mut res = ImageEntry::default();
        for Entry { key, mark, value } in self.map(node) {
            let text = self.string(value).unwrap_or_default();
            match key.as_str() {
                "name" => res.name = text,
                "newName" => res.new_name = text,
                "newTag" => res.new_tag = text,
                "digest" => res.digest = text,
                "tagSuffix" => res.tag_suffix = text,
                _ => self.unknown(key, *mark, "an image"),
            }
        }
        res
    }

    pub fn replica(&mut self, node: &Node) -> Replica {
        let mut res = Replica { mark: node.mark, ..Replica::default() };
        for Entry { key, mark, value } in self.map(node) {
            match (key.as_str(), &value.data) {
                ("name", _) => res.name = self.string(value).unwrap_or_default(),
                ("count", Data::Scalar(Value::Number(it))) if whole(it).is_some() => {
                    res.count = whole(it).unwrap_or_default();
                }
                ("count", _) => self.fault(
                    value.mark,
                    &format!("this is {}, where a whole number is expected", value.what()),
                ),
                _ => self.unknown(key, *mark, "a replica"),
            }
        }
        res
    }

    pub fn generator(&mut self, node: &Node, secret: bool) -> Generator {
        let mut res =
            Generator { mark: node.mark, secret, behavior: "unspecified", ..Generator::default() };
        let mut env = Vec::new();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "name" => res.name = self.string(value).unwrap_or_default(),
                "namespace" => res.namespace = self.string(value).unwrap_or_default(),
                "type" if secret => res.kind = self.string(value).unwrap_or_default(),
                "literals" => res.literals = self.texts(value),
                "files" => res.files = self.texts(value),
                "envs" => res.envs = self.texts(value),
                "env" => env.extend(self.text(value)),
                "options" => res.options = self.options(value),
                "behavior" => match self.string(value).as_deref() {
                    None | Some("" | "unspecified") => {}
                    Some("create") => res.behavior = "create",
                    Some("merge") => res.behavior = "merge",
                    Some("replace") => res.behavior = "replace",
                    Some(_) => {
                        self.fault(value.mark, "this must be `create`, `merge` or `replace`")
                    }
                },
                _ => self.unknown(key, *mark, "a generator"),
            }
        }
        res.envs.extend(env);
        if res.name.is_empty() {
            self.fault(node.mark, "this has no `name`");
        }
        res
    }

    pub fn options(&mut self, node: &Node) -> Options {
        let mut res = Options::default();
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "labels" => res.labels = self.pairs(value),
                "annotations" => res.annotations = self.pairs(value),
                "disableNameSuffixHash" => res.plain_name = self.boolean(value),
                "immutable" => res.immutable = self.boolean(value),
                _ => self.unknown(key, *mark, "the options of generators"),
            }
        }
        res
    }

    pub fn sort_options(&mut self, node: &Node) -> Option<Order> {
        let (mut order, mut legacy) = (None, None);
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "order" => order = self.string(value),
                "legacySortOptions" if !value.is_null() => {
                    let mut res = Order { first: Vec::new(), last: Vec::new() };
                    for Entry { key, mark, value } in self.map(value) {
                        let kinds = self.texts(value).into_iter().map(|it| it.text).collect();
                        match key.as_str() {
                            "orderFirst" => res.first = kinds,
                            "orderLast" => res.last = kinds,
                            _ => self.unknown(key, *mark, "`legacySortOptions`"),
                        }
                    }
                    legacy = Some(res);
                }
                "legacySortOptions" => {}
                _ => self.unknown(key, *mark, "`sortOptions`"),
            }
        }
        match (order.as_deref(), &legacy) {
            (None, None) if node.is_null() => return Some(Order::default()),
            (Some("legacy"), _) => return Some(legacy.unwrap_or_default()),
            (Some("fifo"), None) => {}
            (Some("fifo"), Some(_)) => {
                self.fault(node.mark, "`legacySortOptions` needs `order: legacy`")
            }
            _ => self.fault(node.mark, "its `order` is neither `legacy` nor `fifo`"),
        }
        None
    }

    pub fn metadata(&mut self, node: &Node) {
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "name" | "namespace" => drop(self.string(value)),
                "labels" | "annotations" => drop(self.strings(value)),
                _ => self.unknown(key, *mark, "a kustomization's metadata"),
            }
        }
    }
}

/// A number without a fraction.
fn whole(number: &Number) -> Option<i64> {
    let text = number.to_string();
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}
