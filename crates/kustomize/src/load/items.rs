//! The items in a kustomization's fields: a patch, an image, a generator. Each lists its own fields.

use std::collections::BTreeMap;

use super::{
    super::{
        WAY_OUT,
        fields::{Field, Gvk},
        kustomization::{
            Generator, GeneratorOptions, ImageEntry, Label, Patch, PatchField, PatchOptions,
            PatchSource, Reach, Replica, Text,
        },
        order::Order,
        origin::diagnostic_at,
        selector::{Selector, set_pattern},
    },
    reader::Reader,
};
use go_data::yaml::{Data, Entry, Node, Number, Value};

impl Reader {
    pub fn parse_label(&mut self, node: &Node) -> Label {
        let (mut pairs, mut reach) = (BTreeMap::new(), Reach::Metadata);
        let mut fields = Vec::new();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "pairs" => pairs = self.parse_pairs(value),
                "includeSelectors" if self.parse_boolean(value) => reach = Reach::Selectors,
                "includeTemplates" if self.parse_boolean(value) && reach == Reach::Metadata => {
                    reach = Reach::Templates;
                }
                "includeSelectors" | "includeTemplates" => {}
                "fields" => fields = self.parse_items(value, Self::parse_field),
                _ => self.report_unknown(key, *mark, "a label"),
            }
        }
        Label { pairs, reach, fields }
    }

    pub fn parse_patch(&mut self, node: &Node) -> Patch {
        let (mut path, mut inline, mut target) = (None, None, None);
        let mut options = PatchOptions::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "path" => path = self.parse_text(value).filter(|path| !path.text.is_empty()),
                "patch" => {
                    inline = self.parse_text(value).filter(|patch| !patch.text.trim().is_empty())
                }
                "target" if !value.is_null() => target = Some(self.parse_selector(value)),
                "target" => {}
                "options" => options = self.parse_patch_options(value),
                _ => self.report_unknown(key, *mark, "a patch"),
            }
        }
        let source = match (path, inline) {
            (Some(path), None) => PatchSource::Path(path),
            (None, Some(inline)) => PatchSource::Inline(inline),
            (path, _) => {
                let many = path.is_some();
                self.report_problem(
                    node.mark,
                    if many {
                        "this has both `path` and `patch`, and only one of them is allowed"
                    } else {
                        "this has neither `path` nor `patch`"
                    },
                );
                PatchSource::Inline(Text { text: String::new(), mark: node.mark })
            }
        };
        Patch { mark: node.mark, source, target, options }
    }

    fn parse_patch_options(&mut self, node: &Node) -> PatchOptions {
        let mut options = PatchOptions::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "allowNameChange" => options.new_name = self.parse_boolean(value),
                "allowKindChange" => options.new_kind = self.parse_boolean(value),
                _ => self.report_unknown(key, *mark, "the options of a patch"),
            }
        }
        options
    }

    /// Parses an entry that is a path or the text of a patch itself.
    pub fn parse_legacy_patch(&mut self, node: &Node) -> Patch {
        let text = self.parse_text(node).unwrap_or(Text { text: String::new(), mark: node.mark });
        let source = if text.text.contains(['\n', '{']) {
            PatchSource::Inline(text)
        } else {
            PatchSource::Path(text)
        };
        let options = PatchOptions { field: PatchField::StrategicMerge, ..PatchOptions::default() };
        Patch { mark: node.mark, source, target: None, options }
    }

    /// Parses a JSON patch, which is applied late.
    pub fn parse_late_patch(&mut self, node: &Node) -> Patch {
        let mut patch = self.parse_patch(node);
        patch.options.field = PatchField::Json6902;
        if patch.target.as_ref().is_none_or(|target| target.name.is_none()) {
            let message = "a patch of `patchesJson6902` needs a `target` with a `name`";
            self.report_problem(patch.mark, message);
        }
        patch
    }

    pub fn parse_gvk_entry(&mut self, key: &str, value: &Node, gvk: &mut Gvk) {
        let text = self.parse_string(value).unwrap_or_default();
        match key {
            "group" => gvk.group = text,
            "version" => gvk.version = text,
            _ => gvk.kind = text,
        }
    }

    /// Parses the specification of a field: the kinds of objects that have it, and its path in them.
    pub fn parse_field(&mut self, node: &Node) -> Field {
        let (mut gvk, mut path, mut create) = (Gvk::default(), String::new(), false);
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "group" | "version" | "kind" => self.parse_gvk_entry(key, value, &mut gvk),
                "path" => path = self.parse_string(value).unwrap_or_default(),
                "create" => create = self.parse_boolean(value),
                _ => self.report_unknown(key, *mark, "a field specification"),
            }
        }
        Field::new(gvk, &path, create)
    }

    pub fn parse_selector(&mut self, node: &Node) -> Selector {
        let mut selector = Selector::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            let text = self.parse_string(value).unwrap_or_default();
            let done = match key.as_str() {
                "group" => set_pattern(&mut selector.group, &text, &self.budget),
                "version" => set_pattern(&mut selector.version, &text, &self.budget),
                "kind" => set_pattern(&mut selector.kind, &text, &self.budget),
                "name" => set_pattern(&mut selector.name, &text, &self.budget),
                "namespace" => set_pattern(&mut selector.namespace, &text, &self.budget),
                "labelSelector" => selector.set_labels(&text),
                "annotationSelector" => selector.set_annotations(&text),
                _ => {
                    self.report_unknown(key, *mark, "a patch's target");
                    Ok(())
                }
            };
            if let Err(error) = done {
                self.problems.push(diagnostic_at(
                    &self.path,
                    value.mark,
                    format!("{error:#}"),
                    Some(WAY_OUT),
                ));
            }
        }
        selector
    }

    pub fn parse_image(&mut self, node: &Node) -> ImageEntry {
        let mut image = ImageEntry::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            let text = self.parse_string(value).unwrap_or_default();
            match key.as_str() {
                "name" => image.name = text,
                "newName" => image.new_name = text,
                "newTag" => image.new_tag = text,
                "digest" => image.digest = text,
                "tagSuffix" => image.tag_suffix = text,
                _ => self.report_unknown(key, *mark, "an image"),
            }
        }
        image
    }

    pub fn parse_replica(&mut self, node: &Node) -> Replica {
        let mut replica = Replica { mark: node.mark, ..Replica::default() };
        for Entry { key, mark, value } in self.expect_entries(node) {
            match (key.as_str(), &value.data) {
                ("name", _) => replica.name = self.parse_string(value).unwrap_or_default(),
                ("count", Data::Scalar(Value::Number(number)))
                    if whole_number(number).is_some() =>
                {
                    replica.count = whole_number(number).unwrap_or_default();
                }
                ("count", _) => self.report_problem(
                    value.mark,
                    &format!("this is {}, where a whole number is expected", value.type_name()),
                ),
                _ => self.report_unknown(key, *mark, "a replica"),
            }
        }
        replica
    }

    pub fn parse_generator(&mut self, node: &Node, secret: bool) -> Generator {
        let mut generator =
            Generator { mark: node.mark, secret, behavior: "unspecified", ..Generator::default() };
        let mut env = Vec::new();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "name" => generator.name = self.parse_string(value).unwrap_or_default(),
                "namespace" => generator.namespace = self.parse_string(value).unwrap_or_default(),
                "type" if secret => generator.kind = self.parse_string(value).unwrap_or_default(),
                "literals" => generator.literals = self.parse_texts(value),
                "files" => generator.files = self.parse_texts(value),
                "envs" => generator.envs = self.parse_texts(value),
                "env" => env.extend(self.parse_text(value)),
                "options" => generator.options = self.parse_generator_options(value),
                "behavior" => match self.parse_string(value).as_deref() {
                    None | Some("" | "unspecified") => {}
                    Some("create") => generator.behavior = "create",
                    Some("merge") => generator.behavior = "merge",
                    Some("replace") => generator.behavior = "replace",
                    Some(_) => self
                        .report_problem(value.mark, "this must be `create`, `merge` or `replace`"),
                },
                _ => self.report_unknown(key, *mark, "a generator"),
            }
        }
        generator.envs.extend(env);
        if generator.name.is_empty() {
            self.report_problem(node.mark, "this has no `name`");
        }
        generator
    }

    pub fn parse_generator_options(&mut self, node: &Node) -> GeneratorOptions {
        let mut options = GeneratorOptions::default();
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "labels" => options.labels = self.parse_pairs(value),
                "annotations" => options.annotations = self.parse_pairs(value),
                "disableNameSuffixHash" => options.plain_name = self.parse_boolean(value),
                "immutable" => options.immutable = self.parse_boolean(value),
                _ => self.report_unknown(key, *mark, "the options of generators"),
            }
        }
        options
    }

    pub fn parse_sort_options(&mut self, node: &Node) -> Option<Order> {
        let (mut order, mut legacy) = (None, None);
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "order" => order = self.parse_string(value),
                "legacySortOptions" if !value.is_null() => {
                    let mut kind_order = Order { first: Vec::new(), last: Vec::new() };
                    for Entry { key, mark, value } in self.expect_entries(value) {
                        let kinds =
                            self.parse_texts(value).into_iter().map(|kind| kind.text).collect();
                        match key.as_str() {
                            "orderFirst" => kind_order.first = kinds,
                            "orderLast" => kind_order.last = kinds,
                            _ => self.report_unknown(key, *mark, "`legacySortOptions`"),
                        }
                    }
                    legacy = Some(kind_order);
                }
                "legacySortOptions" => {}
                _ => self.report_unknown(key, *mark, "`sortOptions`"),
            }
        }
        match (order.as_deref(), &legacy) {
            (None, None) if node.is_null() => return Some(Order::default()),
            (Some("legacy"), _) => return Some(legacy.unwrap_or_default()),
            (Some("fifo"), None) => {}
            (Some("fifo"), Some(_)) => {
                self.report_problem(node.mark, "`legacySortOptions` needs `order: legacy`")
            }
            _ => self.report_problem(node.mark, "its `order` is neither `legacy` nor `fifo`"),
        }
        None
    }

    pub fn check_metadata(&mut self, node: &Node) {
        for Entry { key, mark, value } in self.expect_entries(node) {
            match key.as_str() {
                "name" | "namespace" => drop(self.parse_string(value)),
                "labels" | "annotations" => drop(self.parse_strings(value)),
                _ => self.report_unknown(key, *mark, "a kustomization's metadata"),
            }
        }
    }
}

/// Returns a number that has no fraction.
fn whole_number(number: &Number) -> Option<i64> {
    let text = number.to_string();
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}
