//! The fields of a kustomization. A field that is not listed here is refused by name.

use std::collections::BTreeMap;

use super::{
    super::{
        WAY_OUT,
        kustomization::{Kustomization, Label, Reach},
        origin::diagnostic_at,
    },
    Files,
    reader::Reader,
};
use go_data::yaml::{Data, Entry, Mark, Node};
use model::ProjectPath;

impl Reader {
    pub(super) fn parse_kustomization_fields(
        &mut self,
        entries: &[&Entry],
        folder: ProjectPath,
    ) -> (Kustomization, Files) {
        let mut files = Files::default();
        let mut kustomization = Kustomization::new(self.path.clone(), &self.text, folder);
        let (mut bases, mut secrets) = (Vec::new(), Vec::new());
        let (mut legacy, mut image_tags) = (Vec::new(), Vec::new());
        let mut common = BTreeMap::new();
        let mut version = None;
        for Entry { key, mark, value } in entries.iter().copied() {
            match key.as_str() {
                "apiVersion" => {
                    version = self.parse_string(value).map(|version| (version, value.mark))
                }
                "kind" => match self.parse_string(value).as_deref() {
                    None | Some("" | "Kustomization") => {}
                    Some("Component") => kustomization.component = true,
                    Some(_) => self.report_problem(
                        value.mark,
                        "this is neither `Kustomization` nor `Component`",
                    ),
                },
                "metadata" => self.check_metadata(value),
                "resources" => kustomization.resources = self.parse_texts(value),
                "bases" => bases = self.parse_texts(value),
                "components" => kustomization.components = self.parse_texts(value),
                "namespace" => kustomization.namespace = self.parse_nonempty_string(value),
                "namePrefix" => kustomization.name_prefix = self.parse_nonempty_string(value),
                "nameSuffix" => kustomization.name_suffix = self.parse_nonempty_string(value),
                "commonLabels" => common = self.parse_pairs(value),
                "commonAnnotations" => kustomization.common_annotations = self.parse_pairs(value),
                "labels" => kustomization.labels = self.parse_items(value, Self::parse_label),
                "patches" => kustomization.patches = self.parse_items(value, Self::parse_patch),
                "images" => kustomization.images = self.parse_items(value, Self::parse_image),
                "replicas" => kustomization.replicas = self.parse_items(value, Self::parse_replica),
                "configMapGenerator" => {
                    kustomization.generators =
                        self.parse_items(value, |reader, item| reader.parse_generator(item, false));
                }
                "secretGenerator" => {
                    secrets =
                        self.parse_items(value, |reader, item| reader.parse_generator(item, true))
                }
                "generatorOptions" => {
                    kustomization.generator_options = self.parse_generator_options(value)
                }
                "sortOptions" => kustomization.order = self.parse_sort_options(value),
                "patchesStrategicMerge" => {
                    legacy = self.parse_items(value, Self::parse_legacy_patch)
                }
                "patchesJson6902" => {
                    kustomization.late_patches = self.parse_items(value, Self::parse_late_patch)
                }
                "imageTags" => image_tags = self.parse_items(value, Self::parse_image),
                "configurations" => files.configurations = self.parse_texts(value),
                "replacements" => {
                    self.parse_replacement_entries(value, &mut kustomization, &mut files);
                }
                key => self.report_unsupported(key, *mark, value),
            }
        }
        self.check_version(version, kustomization.component);
        kustomization.resources.extend(bases);
        kustomization.generators.append(&mut secrets);
        kustomization.images.append(&mut image_tags);
        legacy.append(&mut kustomization.patches);
        kustomization.patches = legacy;
        if !common.is_empty() {
            kustomization.labels.push(Label {
                pairs: common,
                reach: Reach::Selectors,
                fields: Vec::new(),
            });
        }
        (kustomization, files)
    }

    /// Parses replacements, each of which may be in a file of its own.
    fn parse_replacement_entries(
        &mut self,
        node: &Node,
        kustomization: &mut Kustomization,
        files: &mut Files,
    ) {
        for item in self.expect_items(node) {
            match item.get("path") {
                Some(path) => files.replacements.extend(self.parse_only_text(item, "path", path)),
                None => kustomization.replacements.extend(self.parse_replacement(item)),
            }
        }
    }

    fn check_version(&mut self, version: Option<(String, Mark)>, component: bool) {
        let expected = if component {
            "kustomize.config.k8s.io/v1alpha1"
        } else {
            "kustomize.config.k8s.io/v1beta1"
        };
        if let Some((_, mark)) =
            version.filter(|version| !version.0.is_empty() && version.0 != expected)
        {
            self.report_problem(mark, &format!("this should be `{expected}`"));
        }
    }

    fn report_unsupported(&mut self, key: &str, mark: Mark, value: &Node) {
        let Some((_, shape)) = UNSUPPORTED.iter().find(|(known, _)| *known == key) else {
            return self.report_unknown(key, mark, "a kustomization");
        };
        if is_empty(value) {
            // It has no effect, but its type has to be right.
            match shape {
                Shape::List => drop(self.expect_items(value)),
                Shape::Map => drop(self.expect_entries(value)),
            }
        } else {
            let message = format!("`{key}` is not supported");
            let hint = if key == "vars" { REPLACEMENTS } else { WAY_OUT };
            self.problems.push(diagnostic_at(&self.path, mark, message, Some(hint)));
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
