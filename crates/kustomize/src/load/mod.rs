//! Parses a `kustomization.yaml`, and refuses unknown fields.

mod fields;
mod files;
mod items;
mod reader;

use std::collections::BTreeMap;

pub use self::fields::REPLACEMENTS;
use self::reader::Reader;
use super::{
    budget::Budget, config::Config, fields::Field, labels::Reach, order::Order,
    patches::PatchOptions, replacements::Replacement, resources, selector::Selector,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use go_data::yaml::{self, Data, Dialect, Entry, Mark, Node};
use model::{FileContent, ProjectPath, Tree};

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

impl Kustomization {
    /// Returns an empty kustomization.
    fn new(path: ProjectPath, text: &str, folder: ProjectPath) -> Self {
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

fn diagnostic_at(
    path: &ProjectPath,
    mark: Mark,
    message: String,
    hint: Option<&str>,
) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::in_file(path.as_str(), message).at_position(mark.line, mark.column);
    diagnostic.hints.extend(hint.map(str::to_owned));
    diagnostic
}

/// The origin of a text: a file, or a field of a kustomization.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    pub path: &'a ProjectPath,
    /// The text of the file at the path.
    pub text: &'a str,
    /// The position of the field.
    pub field: Option<Mark>,
}

impl Origin<'_> {
    pub fn error_at(&self, mark: Mark, message: &str, hint: Option<&str>) -> anyhow::Error {
        let (mark, message) = match self.field {
            None => (mark, message.to_owned()),
            Some(field) => (field, format!("in line {} of this text: {message}", mark.line)),
        };
        let diagnostic = diagnostic_at(self.path, mark, message, hint);
        diagnostic.quote(&mut Lines::new(self.text)).into_error()
    }

    /// Parses the documents of the text.
    pub fn parse_nodes(&self, text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
        yaml::parse_nodes(text, dialect).map_err(|error| {
            match error.downcast::<yaml::YamlError>() {
                Ok(fault) if self.field.is_none() => {
                    yaml::malformed_diagnostic(self.path.as_str(), text, &fault).into_error()
                }
                Ok(fault) => self.error_at(fault.mark, &fault.message, fault.hint),
                Err(error) => error.context(format!("cannot read {}", self.path)),
            }
        })
    }
}

impl std::fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.field {
            None => write!(f, "{}", self.path),
            Some(Mark { line, column }) => {
                write!(f, "{}:{line}:{column}: the inline patch", self.path)
            }
        }
    }
}

pub const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Returns true if a folder has a file with the name of a kustomization, also if it is not valid.
pub fn has_kustomization(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<bool> {
    for name in NAMES {
        if matches!(tree.read_content(&folder.join(name)?)?, FileContent::Text(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn load_kustomization(
    tree: &impl Tree,
    folder: &ProjectPath,
    budget: &Budget,
) -> anyhow::Result<Kustomization> {
    let mut found = Vec::new();
    for name in NAMES {
        let path = folder.join(name)?;
        if let Some(text) = tree.read_text(&path)? {
            found.push((path, text));
        }
    }
    match found.len() {
        0 => Err(anyhow::format_err!("{folder} has no kustomization.yaml")),
        1 => {
            let (path, text) = found.remove(0);
            parse_file(tree, path, folder, &text, budget)
        }
        _ => Err(anyhow::format_err!(
            "{folder} has more than one kustomization: {} and {}",
            found[0].0,
            found[1].0
        )),
    }
}

/// Keys whose items kustomize moves to another list before it looks whether a kustomization is empty.
const FORMER_KEYS: [&str; 3] = ["bases", "helmChartInflationGenerator", "imageTags"];

fn parse_file(
    tree: &impl Tree,
    path: ProjectPath,
    folder: &ProjectPath,
    text: &str,
    budget: &Budget,
) -> anyhow::Result<Kustomization> {
    let mut nodes =
        Origin { path: &path, text, field: None }.parse_nodes(text, Dialect::Kubernetes)?;
    let top = Mark { line: 1, column: 1 };
    if nodes.len() > 1 {
        let message = "a kustomization must be one document, and this is a second one".to_owned();
        let diagnostic = diagnostic_at(&path, nodes[1].mark, message, None);
        return Err(diagnostic.quote(&mut Lines::new(text)).into_error());
    }
    let node = nodes.pop().unwrap_or(Node {
        data: Data::Map(Vec::new()),
        mark: top,
        spelling: None,
        is_quoted: false,
    });
    let mut reader = Reader::new(path, text, budget);
    reader.check_characters(&node);
    let entries = reader.expect_entries(&node);
    let is_empty_former = |entry: &Entry| {
        let is_empty = matches!(&entry.value.data, Data::List(items) if items.is_empty());
        is_empty && FORMER_KEYS.contains(&entry.key.as_str())
    };
    let has_content = entries.iter().any(|entry| {
        !matches!(entry.key.as_str(), "apiVersion" | "kind")
            && !entry.value.is_null()
            && entry.value.as_str() != Some("")
            && !is_empty_former(entry)
    });
    if !has_content && reader.problems.is_empty() {
        let message = "this kustomization is empty, and kustomize refuses empty ones";
        let hint = "list something under `resources`, or give it `metadata:` with a `name`";
        return Err(Diagnostic::in_file(reader.path.as_str(), message)
            .with_hint(hint)
            .into_error());
    }
    let (mut kustomization, files) = reader.parse_kustomization_fields(&entries, folder.clone());
    reader.ensure_no_problems()?;
    for file in &files.configurations {
        read_continuation(tree, &mut kustomization, file, Reader::parse_configuration, budget)?;
    }
    for file in &files.replacements {
        if !read_continuation(tree, &mut kustomization, file, Reader::parse_replacements, budget)? {
            return Err(
                kustomization.error_at(file.mark, &format!("`{}` has no replacements", file.text))
            )
            .hint("remove the line");
        }
    }
    Ok(kustomization)
}

/// Files that continue a kustomization.
#[derive(Default)]
struct Files {
    configurations: Vec<Text>,
    replacements: Vec<Text>,
}

/// Reads such a file into the kustomization, and returns false if the file is empty.
fn read_continuation(
    tree: &impl Tree,
    kustomization: &mut Kustomization,
    item: &Text,
    read: fn(&mut Reader, &Node, &mut Kustomization),
    budget: &Budget,
) -> anyhow::Result<bool> {
    let (path, text) = resources::read_text(tree, kustomization, item)?;
    let origin = Origin { path: &path, text: &text, field: None };
    let nodes = origin.parse_nodes(&text, Dialect::Kubernetes)?;
    let mut reader = Reader::new(path, &text, budget);
    match nodes.as_slice() {
        [] => {}
        [node] => {
            reader.check_characters(node);
            read(&mut reader, node, kustomization);
        }
        [_, second, ..] => {
            reader.report_problem(second.mark, "this is a second document, which kustomize ignores")
        }
    }
    reader.ensure_no_problems()?;
    Ok(!nodes.is_empty())
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
