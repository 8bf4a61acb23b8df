//! The content of a `kustomization.yaml`.

use std::collections::BTreeMap;

use super::{
    config::Config, fields::Field, order::Order, origin::diagnostic_at, replacements::Replacement,
    selector::Selector,
};
use diagnostics::{Diagnostic, Lines};
use go_data::yaml::Mark;
use model::ProjectPath;

#[derive(Debug)]
pub struct Kustomization {
    pub path: ProjectPath,
    /// The text of its file.
    pub text: String,
    pub folder: ProjectPath,
    pub component: bool,
    pub resources: Vec<Text>,
    pub components: Vec<Text>,
    pub generators: Vec<Generator>,
    /// The options that all generators share.
    pub generator_options: GeneratorOptions,
    /// The patches of `patchesStrategicMerge` and `patches`, in this order.
    pub patches: Vec<Patch>,
    /// `patchesJson6902`, which come after names and labels.
    pub late_patches: Vec<Patch>,
    pub namespace: Option<String>,
    pub name_prefix: Option<String>,
    pub name_suffix: Option<String>,
    pub labels: Vec<Label>,
    pub common_annotations: BTreeMap<String, String>,
    pub replicas: Vec<Replica>,
    pub images: Vec<ImageEntry>,
    pub replacements: Vec<Replacement>,
    /// The additions of `configurations`.
    pub config: Config,
    /// The order of the rendered objects; without it, they keep their own.
    pub order: Option<Order>,
}

/// A string and its position in the file.
#[derive(Debug)]
pub struct Text {
    pub text: String,
    pub mark: Mark,
}

#[derive(Debug)]
pub struct Patch {
    pub mark: Mark,
    pub source: PatchSource,
    pub target: Option<Selector>,
    pub options: PatchOptions,
}

/// The options of a patch: the field that lists it, and the changes that it may make.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct PatchOptions {
    pub new_name: bool,
    pub new_kind: bool,
    pub field: PatchField,
}

/// The field that lists a patch. Only `patches` accepts an empty one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum PatchField {
    #[default]
    Patches,
    /// Treats metadata as a patch with a `target` does.
    StrategicMerge,
    Json6902,
}

#[derive(Debug)]
pub enum PatchSource {
    Path(Text),
    Inline(Text),
}

#[derive(Debug)]
pub struct Label {
    pub pairs: BTreeMap<String, String>,
    pub reach: Reach,
    pub fields: Vec<Field>,
}

/// The fields to which labels are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// `metadata.labels` only.
    Metadata,
    /// Also those of pods and other templates.
    Templates,
    /// Labels and selectors.
    Selectors,
}

#[derive(Debug, Default)]
pub struct Replica {
    pub mark: Mark,
    pub name: String,
    pub count: i64,
}

#[derive(Debug, Default)]
pub struct ImageEntry {
    pub name: String,
    pub new_name: String,
    pub new_tag: String,
    pub digest: String,
    pub tag_suffix: String,
}

#[derive(Debug, Default)]
pub struct Generator {
    pub mark: Mark,
    pub secret: bool,
    pub name: String,
    pub namespace: String,
    /// The type of a Secret.
    pub kind: String,
    pub behavior: &'static str,
    pub literals: Vec<Text>,
    pub files: Vec<Text>,
    pub envs: Vec<Text>,
    pub options: GeneratorOptions,
}

#[derive(Debug, Default, Clone)]
pub struct GeneratorOptions {
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub plain_name: bool,
    pub immutable: bool,
}

impl GeneratorOptions {
    pub fn inherit_from(&mut self, global: &Self) {
        for (own, all) in
            [(&mut self.labels, &global.labels), (&mut self.annotations, &global.annotations)]
        {
            for (key, value) in all {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        self.plain_name |= global.plain_name;
        self.immutable |= global.immutable;
    }
}

impl Kustomization {
    /// Returns an empty kustomization.
    pub fn new(path: ProjectPath, text: &str, folder: ProjectPath) -> Self {
        Self {
            path,
            text: text.to_owned(),
            folder,
            component: false,
            resources: Vec::new(),
            components: Vec::new(),
            generators: Vec::new(),
            generator_options: GeneratorOptions::default(),
            patches: Vec::new(),
            namespace: None,
            name_prefix: None,
            name_suffix: None,
            labels: Vec::new(),
            common_annotations: BTreeMap::new(),
            replicas: Vec::new(),
            images: Vec::new(),
            replacements: Vec::new(),
            late_patches: Vec::new(),
            config: Config::default(),
            order: Some(Order::default()),
        }
    }

    pub fn error_at(&self, mark: Mark, message: &str) -> anyhow::Error {
        let diagnostic = diagnostic_at(&self.path, mark, message.to_owned(), None);
        diagnostic.quote(&mut Lines::new(&self.text)).into_error()
    }

    /// Adds the position of the entry that an error comes from.
    pub fn locate_error(&self, mark: Mark, error: &anyhow::Error) -> anyhow::Error {
        let Diagnostic { message, hints, .. } = error.into();
        let diagnostic = diagnostic_at(&self.path, mark, message, None);
        Diagnostic { hints, ..diagnostic.quote(&mut Lines::new(&self.text)) }.into_error()
    }
}
