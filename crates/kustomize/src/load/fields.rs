//! The fields of a kustomization. A field that is not listed here is refused by name.

use std::collections::BTreeMap;

use super::{
    super::{WAY_OUT, labels::Reach},
    Files, Kustomization, Label, problem,
    reader::Reader,
};
use go_data::yaml::{Data, Entry, Mark, Node};
use model::ProjectPath;

impl Reader {
    pub(super) fn kustomization(
        &mut self,
        entries: &[&Entry],
        folder: ProjectPath,
    ) -> (Kustomization, Files) {
        let mut files = Files::default();
        let mut res = Kustomization::new(self.path.clone(), &self.text, folder);
        let (mut bases, mut secrets) = (Vec::new(), Vec::new());
        let (mut legacy, mut image_tags) = (Vec::new(), Vec::new());
        let mut common = BTreeMap::new();
        let mut version = None;
        for Entry { key, mark, value } in entries.iter().copied() {
            match key.as_str() {
                "apiVersion" => version = self.string(value).map(|it| (it, value.mark)),
                "kind" => match self.string(value).as_deref() {
                    None | Some("" | "Kustomization") => {}
                    Some("Component") => res.component = true,
                    Some(_) => {
                        self.fault(value.mark, "this is neither `Kustomization` nor `Component`")
                    }
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
                "secretGenerator" => {
                    secrets = self.each(value, |reader, it| reader.generator(it, true))
                }
                "generatorOptions" => res.generator_options = self.options(value),
                "sortOptions" => res.order = self.sort_options(value),
                "patchesStrategicMerge" => legacy = self.each(value, Self::legacy_patch),
                "patchesJson6902" => res.late_patches = self.each(value, Self::late_patch),
                "imageTags" => image_tags = self.each(value, Self::image),
                "configurations" => files.configurations = self.texts(value),
                "replacements" => {
                    for it in self.list(value) {
                        match it.get("path") {
                            Some(path) => files.replacements.extend(self.only(it, "path", path)),
                            None => res.replacements.extend(self.replacement(it)),
                        }
                    }
                }
                key => self.unsupported(key, *mark, value),
            }
        }
        let expected = if res.component {
            "kustomize.config.k8s.io/v1alpha1"
        } else {
            "kustomize.config.k8s.io/v1beta1"
        };
        if let Some((_, mark)) = version.filter(|it| !it.0.is_empty() && it.0 != expected) {
            self.fault(mark, &format!("this should be `{expected}`"));
        }
        res.resources.extend(bases);
        res.generators.append(&mut secrets);
        res.images.append(&mut image_tags);
        legacy.append(&mut res.patches);
        res.patches = legacy;
        if !common.is_empty() {
            res.labels.push(Label { pairs: common, reach: Reach::Selectors, fields: Vec::new() });
        }
        (res, files)
    }

    fn unsupported(&mut self, key: &str, mark: Mark, value: &Node) {
        let Some((_, shape)) = UNSUPPORTED.iter().find(|(known, _)| *known == key) else {
            return self.unknown(key, mark, "a kustomization");
        };
        if is_empty(value) {
            // It has no effect, but its type has to be right.
            match shape {
                Shape::List => drop(self.list(value)),
                Shape::Map => drop(self.map(value)),
            }
        } else {
            let message = format!("`{key}` is not supported");
            let hint = if key == "vars" { REPLACEMENTS } else { WAY_OUT };
            self.problems.push(problem(&self.path, mark, message, Some(hint)));
        }
    }
}

enum Shape {
    List,
    Map,
}

/// The fields of kustomize that are refused unless they are empty, and their types.
const UNSUPPORTED: &[(&str, Shape)] = &[
    ("openapi", Shape::Map),
    ("crds", Shape::List),
    ("helmGlobals", Shape::Map),
    ("helmCharts", Shape::List),
    ("helmChartInflationGenerator", Shape::List),
    ("generators", Shape::List),
    ("transformers", Shape::List),
    ("validators", Shape::List),
    ("buildMetadata", Shape::List),
    ("vars", Shape::List),
];

/// The hint for variables, which are deprecated in kustomize.
pub const REPLACEMENTS: &str = "use `replacements`: `kustomize edit fix --vars` converts them; or render it with kustomize itself: `kustomize build DIR`";

fn is_empty(node: &Node) -> bool {
    match &node.data {
        Data::List(items) => items.is_empty(),
        Data::Map(entries) => entries.is_empty(),
        Data::Scalar(_) => node.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::budget_tests::work, *};

    #[test]
    fn an_empty_value_of_a_field_without_support_has_its_type() {
        for (key, shape) in UNSUPPORTED {
            let (right, wrong) = match shape {
                Shape::List => ("[]", "{}"),
                Shape::Map => ("{}", "[]"),
            };
            work(1, &format!("{key}: {right}\n")).unwrap();
            work(1, &format!("{key}: null\n")).unwrap();
            let error = work(1, &format!("{key}: {wrong}\n")).unwrap_err();
            assert!(error.contains("a/kustomization.yaml:2:"), "{key}: {error}");
            let error = work(1, &format!("{key}: a\n")).unwrap_err();
            assert!(error.contains(&format!("`{key}` is not supported")), "{error}");
        }
    }
}
