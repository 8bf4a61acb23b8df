//! One of the two bundles.

use std::collections::BTreeMap;

use super::{Change, ChangeLocation, Rule};
use crate::bundle::{
    annotations, object,
    validate::{
        self, Files,
        load::{self, Loaded},
        requirements::{self, Requirement},
    },
    webhooks,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _, Severity};
use go_data::{
    kubernetes,
    yaml::{Mark, Node, Value, pointer},
};
use model::ProjectPath;

pub struct BundleSide {
    /// The files that are read, by their paths inside the bundle.
    nodes: BTreeMap<String, Node>,
    pub csv_path: String,
    pub csv: Value,
    /// The file with the annotations.
    annotated: String,
    annotations: BTreeMap<String, String>,
    pub requirements: Vec<Requirement>,
    /// The other manifests.
    pub objects: Vec<(String, Value)>,
    /// The manifests with several documents, of which OLM reads the first.
    pub cut: Vec<String>,
    /// Why API servers or OLM refuse the bundle.
    pub refusals: Vec<validate::Finding>,
}

impl BundleSide {
    /// Reads the files of a bundle as `bundle validate` does. `label` is how messages name the bundle.
    pub fn read(label: &str, files: &Files) -> anyhow::Result<Self> {
        let loaded = Loaded::read(label, files)?;
        for (path, bytes) in files.iter().filter(|entry| requirements::is_metadata(entry.0)) {
            // The folder may have files of any kind, but a truncated YAML or JSON file must not pass as one of them.
            if ["yaml", "yml", "json"].contains(&path.extension())
                && let Err(fault) = load::first_value(bytes)
            {
                return Err(Diagnostic::in_file(format!("{label}/{path}"), fault).into_error());
            }
        }
        let values = BTreeMap::new();
        let context = validate::optional::Context::without_images(&values);
        let mut refusals = validate::validate(files, &validate::Request::default(), &context);
        refusals.retain(|finding| finding.severity == Severity::Error);
        let is_undecodable =
            |finding: &&validate::Finding| finding.rule == validate::rules::Rule::Undecodable;
        let list: Vec<_> = refusals
            .iter()
            .filter(is_undecodable)
            .map(|finding| finding.to_diagnostic(label))
            .collect();
        if !list.is_empty() {
            let headline = format!("cannot read the bundle `{label}`");
            return Err(Diagnostics { headline, list }.into());
        }
        let mut objects = Vec::new();
        for manifest in loaded.other_manifests() {
            let decoded = kubernetes::decode(&manifest.object);
            if let Some(fault) = decoded.faults.first() {
                return Err(anyhow::format_err!("`{label}/{}`: {fault}", manifest.path))
                    .hint(format!("`operator-rs bundle validate {label}` lists every problem"));
            }
            objects.push((manifest.path.to_owned(), decoded.value));
        }
        let Loaded { annotated, annotations, folder, csv, .. } = loaded;
        let requirements = requirements::of_bundle((csv.path, &csv.object), files);
        let paths = objects.iter().map(|entry| entry.0.as_str());
        let paths = paths.chain([csv.path, annotated]);
        let paths = paths.chain(requirements.iter().map(|requirement| requirement.file.as_str()));
        let node =
            |path: &str| Some((path.to_owned(), validate::parse_first_document(files, path)?));
        let nodes = paths.filter_map(node).collect();
        let (csv_path, csv) = (csv.path.to_owned(), csv.object);
        let annotated = annotated.to_owned();
        let in_folder = |path: &&ProjectPath| path.as_str().starts_with(&folder);
        let cut = files.iter().filter(|entry| in_folder(&entry.0) && load::has_more(entry.1));
        let cut = cut.map(|entry| entry.0.to_string()).collect();
        Ok(Self {
            nodes,
            csv_path,
            csv,
            annotated,
            annotations,
            requirements,
            objects,
            cut,
            refusals,
        })
    }

    /// Returns whether a file has a CRD.
    pub fn has_crd(&self, path: &str) -> bool {
        let is_crd = |object: &Value| object::kind(object) == "CustomResourceDefinition";
        self.objects.iter().any(|entry| entry.0 == path && is_crd(&entry.1))
    }

    /// Returns whether a webhook of the CSV converts a CRD.
    pub fn converts_crd(&self, crd: &str) -> bool {
        webhooks::converting_deployment(&self.csv, crd).is_some()
    }

    /// Returns whether the CSV has any conversion webhook.
    pub fn has_conversion(&self) -> bool {
        let mut webhooks = object::list(&self.csv, "/spec/webhookdefinitions").iter();
        webhooks.any(|webhook| webhook["type"] == "ConversionWebhook")
    }

    pub fn package_name(&self) -> &str {
        self.annotation(annotations::PACKAGE)
    }

    pub fn channels(&self) -> impl Iterator<Item = &str> {
        self.annotation(annotations::CHANNELS)
            .split(',')
            .map(str::trim)
            .filter(|channel| !channel.is_empty())
    }

    pub fn default_channel(&self) -> &str {
        self.annotation(annotations::DEFAULT_CHANNEL)
    }

    fn annotation(&self, key: &str) -> &str {
        self.annotations.get(key).map_or("", String::as_str)
    }

    /// Builds a change at a JSON pointer of the CSV.
    pub fn change_at(&self, rule: Rule, subject: &str, at: &str, what: String) -> Change {
        Change {
            rule,
            subject: subject.to_owned(),
            what,
            remedy: String::new(),
            place: Some(self.location(&self.csv_path, at)),
        }
    }

    /// Builds a change of an annotation.
    pub fn annotation_change(&self, rule: Rule, key: &str, what: String) -> Change {
        let place =
            self.location(&self.annotated, &format!("/annotations/{}", pointer::escape_key(key)));
        Change { place: Some(place), ..self.change_at(rule, key, "", what) }
    }

    /// Returns the location of a JSON pointer in a file, or of its nearest parent.
    pub fn location(&self, file: &str, pointer: &str) -> ChangeLocation {
        let mark = self.nodes.get(file).map(|node| node.mark_at(pointer));
        let mark = mark.unwrap_or(Mark { line: 1, column: 1 });
        ChangeLocation { file: file.to_owned(), mark, is_old: false }
    }
}

impl Change {
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// Marks the location as one in the old bundle.
    pub fn in_old(self) -> Self {
        Self {
            place: self.place.map(|location| ChangeLocation { is_old: true, ..location }),
            ..self
        }
    }
}
