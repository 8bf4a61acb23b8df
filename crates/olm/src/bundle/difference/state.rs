//! One of the two bundles.

use std::collections::BTreeMap;

use super::{Change, Place, Rule};
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

pub struct State {
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

impl State {
    /// Reads the files of a bundle as `bundle validate` does. `label` is how messages name the bundle.
    pub fn read(label: &str, files: &Files) -> anyhow::Result<Self> {
        let loaded = Loaded::read(label, files)?;
        for (path, bytes) in files.iter().filter(|it| requirements::is_metadata(it.0)) {
            // Any other file may be here. One that is cut short must not look like that.
            if ["yaml", "yml", "json"].contains(&path.extension())
                && let Err(fault) = load::first(bytes)
            {
                return Err(Diagnostic::in_file(format!("{label}/{path}"), fault).into_error());
            }
        }
        let values = BTreeMap::new();
        let context = validate::optional::Context::without_images(&values);
        let mut refusals = validate::validate(files, &validate::Request::default(), &context);
        refusals.retain(|it| it.severity == Severity::Error);
        let is_undecodable =
            |it: &&validate::Finding| it.rule == validate::rules::Rule::Undecodable;
        let list: Vec<_> =
            refusals.iter().filter(is_undecodable).map(|it| it.diagnostic(label)).collect();
        if !list.is_empty() {
            let headline = format!("cannot read the bundle `{label}`");
            return Err(Diagnostics { headline, list }.into());
        }
        let mut objects = Vec::new();
        for it in loaded.others() {
            let decoded = kubernetes::decode(&it.object);
            if let Some(fault) = decoded.faults.first() {
                return Err(anyhow::format_err!("`{label}/{}`: {fault}", it.path))
                    .hint(format!("`operator-rs bundle validate {label}` lists every problem"));
            }
            objects.push((it.path.to_owned(), decoded.value));
        }
        let Loaded { annotated, annotations, folder, csv, .. } = loaded;
        let requirements = requirements::of_bundle((csv.path, &csv.object), files);
        let paths = objects.iter().map(|it| it.0.as_str());
        let paths = paths.chain([csv.path, annotated]);
        let paths = paths.chain(requirements.iter().map(|it| it.file.as_str()));
        let node = |it: &str| Some((it.to_owned(), validate::node(files, it)?));
        let nodes = paths.filter_map(node).collect();
        let (csv_path, csv) = (csv.path.to_owned(), csv.object);
        let annotated = annotated.to_owned();
        let in_folder = |it: &&ProjectPath| it.as_str().starts_with(&folder);
        let cut = files.iter().filter(|it| in_folder(&it.0) && load::has_more(it.1));
        let cut = cut.map(|it| it.0.to_string()).collect();
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

    /// Whether a file has a CRD.
    pub fn has_crd(&self, path: &str) -> bool {
        let is_crd = |it: &Value| object::kind(it) == "CustomResourceDefinition";
        self.objects.iter().any(|it| it.0 == path && is_crd(&it.1))
    }

    /// Returns whether a webhook of the CSV converts a CRD.
    pub fn converts(&self, crd: &str) -> bool {
        webhooks::converting_deployment(&self.csv, crd).is_some()
    }

    /// Returns whether the CSV has any conversion webhook.
    pub fn has_conversion(&self) -> bool {
        let mut webhooks = object::list(&self.csv, "/spec/webhookdefinitions").iter();
        webhooks.any(|webhook| webhook["type"] == "ConversionWebhook")
    }

    pub fn package(&self) -> &str {
        self.annotation(annotations::PACKAGE)
    }

    pub fn channels(&self) -> impl Iterator<Item = &str> {
        self.annotation(annotations::CHANNELS).split(',').map(str::trim).filter(|it| !it.is_empty())
    }

    pub fn default_channel(&self) -> &str {
        self.annotation(annotations::DEFAULT_CHANNEL)
    }

    fn annotation(&self, key: &str) -> &str {
        self.annotations.get(key).map_or("", String::as_str)
    }

    /// A change that the new bundle's CSV shows at a JSON pointer.
    pub fn change(&self, rule: Rule, subject: &str, at: &str, what: String) -> Change {
        Change {
            rule,
            subject: subject.to_owned(),
            what,
            remedy: String::new(),
            place: Some(self.place(&self.csv_path, at)),
        }
    }

    /// A change that an annotation shows.
    pub fn annotated(&self, rule: Rule, key: &str, what: String) -> Change {
        let place = self.place(&self.annotated, &format!("/annotations/{}", pointer::escaped(key)));
        Change { place: Some(place), ..self.change(rule, key, "", what) }
    }

    /// The place of a part of a file, or of what comes nearest to it.
    pub fn place(&self, file: &str, pointer: &str) -> Place {
        let mark = self.nodes.get(file).map(|it| it.mark_at(pointer));
        let mark = mark.unwrap_or(Mark { line: 1, column: 1 });
        Place { file: file.to_owned(), mark, is_old: false }
    }
}

impl Change {
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// Marks the place as one in the old bundle.
    pub fn in_old(self) -> Self {
        Self { place: self.place.map(|it| Place { is_old: true, ..it }), ..self }
    }
}
