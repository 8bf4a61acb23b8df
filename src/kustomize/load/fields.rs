//! The fields of a kustomization, one by one. A field that is not here is refused by its name.

use std::collections::BTreeMap;

use super::{
    super::{WAY_OUT, labels::Reach, selector::Selector},
    Generator, ImageEntry, Kustomization, Label, Options, Patch, Replica, Source, Text, problem,
    reader::Reader,
};
use crate::{
    model::ProjectPath,
    yaml::{Data, Entry, Mark, Node, Value},
};

impl Reader {
    pub fn kustomization(&mut self, entries: &[&Entry], folder: ProjectPath) -> Kustomization {
        let mut res = Kustomization {
            path: self.path.clone(),
            folder,
            component: false,
            resources: Vec::new(),
            components: Vec::new(),
            generators: Vec::new(),
            patches: Vec::new(),
            namespace: None,
            name_prefix: None,
            name_suffix: None,
            labels: Vec::new(),
            common_annotations: BTreeMap::new(),
            replicas: Vec::new(),
            images: Vec::new(),
            sorted: true,
        };
        let (mut bases, mut secrets) = (Vec::new(), Vec::new());
        let mut common = BTreeMap::new();
        let mut options = Options::default();
        let mut version = None;
        for Entry { key, mark, value } in entries.iter().copied() {
            match key.as_str() {
                "apiVersion" => version = self.string(value).map(|it| (it, value.mark)),
                "kind" => match self.string(value).as_deref() {
                    None | Some("" | "Kustomization") => {}
                    Some("Component") => res.component = true,
                    Some(_) => self.fault(value.mark, "this is neither `Kustomization` nor `Component`"),
                },
                "metadata" => self.metadata(value),
                "resources" => res.resources = self.texts(value),
                "bases" => bases = self.texts(value),
                "components" => res.components = self.texts(value),
                "namespace" => res.namespace = self.filled(value),
                "namePrefix" => res.name_prefix = self.filled(value),
                "nameSuffix" => res.name_suffix = self.filled(value),
                "commonLabels" => common = self.pairs(value),
                "commonAnnotations" => res.common_annotations = self.pairs(value),
                "labels" => res.labels = self.each(value, Self::label),
                "patches" => res.patches = self.each(value, Self::patch),
                "images" => res.images = self.each(value, Self::image),
                "replicas" => res.replicas = self.each(value, Self::replica),
                "configMapGenerator" => {
                    res.generators = self.each(value, |reader, it| reader.generator(it, false));
                }
                "secretGenerator" => secrets = self.each(value, |reader, it| reader.generator(it, true)),
                "generatorOptions" => options = self.options(value),
                "sortOptions" => res.sorted = self.sort_options(value),
                "patchesStrategicMerge" | "patchesJson6902" if !value.is_null() => self.problems.push(problem(
                    &self.path,
                    *mark,
                    format!("`{key}` is deprecated, and not rendered natively"),
                    Some("list the patches under `patches`, each with its `path` and, for JSON patches, its `target`"),
                )),
                "imageTags" if !value.is_null() => self.problems.push(problem(
                    &self.path,
                    *mark,
                    "`imageTags` is deprecated, and not rendered natively".to_owned(),
                    Some("call it `images`"),
                )),
                key => self.unsupported(key, *mark, value),
            }
        }
        let wanted = if res.component {
            "kustomize.config.k8s.io/v1alpha1"
        } else {
            "kustomize.config.k8s.io/v1beta1"
        };
        if let Some((_, mark)) = version.filter(|it| !it.0.is_empty() && it.0 != wanted) {
            self.fault(mark, &format!("this should be `{wanted}`"));
        }
        res.resources.extend(bases);
        // kustomize makes the Secrets first.
        secrets.append(&mut res.generators);
        res.generators = secrets;
        for it in &mut res.generators {
            it.options.inherit(&options);
        }
        if !common.is_empty() {
            res.labels.push(Label { pairs: common, reach: Reach::Selectors });
        }
        res
    }

    fn unsupported(&mut self, key: &str, mark: Mark, value: &Node) {
        const KNOWN: &[&str] = &[
            "openapi",
            "replacements",
            "vars",
            "crds",
            "helmGlobals",
            "helmCharts",
            "helmChartInflationGenerator",
            "configurations",
            "generators",
            "transformers",
            "validators",
            "buildMetadata",
            "patchesStrategicMerge",
            "patchesJson6902",
            "imageTags",
        ];
        if !KNOWN.contains(&key) {
            let message = format!("`{key}` is not a field of a kustomization");
            self.problems.push(problem(
                &self.path,
                mark,
                message,
                Some("take it out, or correct its spelling"),
            ));
        } else if !value.is_null() {
            let message = format!("`{key}` is not rendered natively");
            self.problems.push(problem(&self.path, mark, message, Some(WAY_OUT)));
        }
    }

    fn label(&mut self, node: &Node) -> Label {
        let (mut pairs, mut reach) = (BTreeMap::new(), Reach::Metadata);
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "pairs" => pairs = self.pairs(value),
                "includeSelectors" if self.boolean(value) => reach = Reach::Selectors,
                "includeTemplates" if self.boolean(value) && reach == Reach::Metadata => {
                    reach = Reach::Templates;
                }
                "includeSelectors" | "includeTemplates" => {}
                "fields" => self.native(key, *mark),
                _ => self.unknown(key, *mark, "a label"),
            }
        }
        Label { pairs, reach }
    }

    fn patch(&mut self, node: &Node) -> Patch {
        let (mut path, mut inline, mut target) = (None, None, None);
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "path" => path = self.text(value).filter(|it| !it.text.is_empty()),
                "patch" => inline = self.text(value).filter(|it| !it.text.trim().is_empty()),
                "target" if !value.is_null() => target = Some(self.selector(value)),
                "target" => {}
                "options" if value.is_null() => {}
                "options" => self.native(key, *mark),
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
                        "this has both `path` and `patch`, where it wants one of them"
                    } else {
                        "this has neither `path` nor `patch`"
                    },
                );
                Source::Inline(Text { text: String::new(), mark: node.mark })
            }
        };
        Patch { mark: node.mark, source, target }
    }

    fn selector(&mut self, node: &Node) -> Selector {
        let mut res = Selector::default();
        for Entry { key, mark, value } in self.map(node) {
            let text = self.string(value).unwrap_or_default();
            let done = match key.as_str() {
                "group" => res.group.set(&text),
                "version" => res.version.set(&text),
                "kind" => res.kind.set(&text),
                "name" => res.name.set(&text),
                "namespace" => res.namespace.set(&text),
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
                    error.to_string(),
                    Some(WAY_OUT),
                ));
            }
        }
        res
    }

    fn image(&mut self, node: &Node) -> ImageEntry {
        let mut res = ImageEntry {
            name: String::new(),
            new_name: String::new(),
            new_tag: String::new(),
            digest: String::new(),
            tag_suffix: String::new(),
        };
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

    fn replica(&mut self, node: &Node) -> Replica {
        let mut res = Replica { mark: node.mark, name: String::new(), count: 0 };
        for Entry { key, mark, value } in self.map(node) {
            match (key.as_str(), &value.data) {
                ("name", _) => res.name = self.string(value).unwrap_or_default(),
                ("count", Data::Scalar(Value::Number(it))) if it.is_i64() => {
                    res.count = it.as_i64().unwrap_or_default();
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

    fn generator(&mut self, node: &Node, secret: bool) -> Generator {
        let mut res = Generator {
            mark: node.mark,
            secret,
            name: String::new(),
            namespace: String::new(),
            kind: String::new(),
            literals: Vec::new(),
            files: Vec::new(),
            envs: Vec::new(),
            options: Options::default(),
        };
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
                    None | Some("" | "create") => {}
                    Some(_) => self.native(key, *mark),
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

    fn options(&mut self, node: &Node) -> Options {
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

    fn sort_options(&mut self, node: &Node) -> bool {
        let mut sorted = true;
        for Entry { key, mark, value } in self.map(node) {
            match (key.as_str(), self.string(value).as_deref()) {
                ("order", Some("legacy")) => {}
                ("order", Some("fifo")) => sorted = false,
                ("order", _) => self.fault(value.mark, "this is neither `legacy` nor `fifo`"),
                _ => self.native(key, *mark),
            }
        }
        sorted
    }

    fn metadata(&mut self, node: &Node) {
        for Entry { key, mark, value } in self.map(node) {
            match key.as_str() {
                "name" | "namespace" => drop(self.string(value)),
                "labels" | "annotations" => drop(self.pairs(value)),
                _ => self.unknown(key, *mark, "a kustomization's metadata"),
            }
        }
    }
}
