//! Parses a `kustomization.yaml`, and refuses unknown fields.

mod fields;
mod files;
mod items;
mod reader;

use std::collections::BTreeMap;

pub use self::fields::REPLACEMENTS;
use self::reader::Reader;
use super::{
    budget::Budget, config::Config, fields::Field, labels::Reach, order::Order, patches,
    replacements::Replacement, resources, selector::Selector,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use go_data::yaml::{self, Data, Dialect, Entry, Mark, Node};
use model::{Found, ProjectPath, Tree};

#[derive(Debug)]
pub struct Kustomization {
    pub path: ProjectPath,
    /// The file as it was read.
    pub text: String,
    pub folder: ProjectPath,
    pub component: bool,
    pub resources: Vec<Text>,
    pub components: Vec<Text>,
    pub generators: Vec<Generator>,
    /// Of all generators.
    pub generator_options: Options,
    /// Those of `patchesStrategicMerge` come first.
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
    /// How the objects are sorted; if absent, they keep their order.
    pub order: Option<Order>,
}

/// A string and its place.
#[derive(Debug)]
pub struct Text {
    pub text: String,
    pub mark: Mark,
}

#[derive(Debug)]
pub struct Patch {
    pub mark: Mark,
    pub source: Source,
    pub target: Option<Selector>,
    pub options: patches::Options,
}

#[derive(Debug)]
pub enum Source {
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
    /// A Secret's.
    pub kind: String,
    pub behavior: &'static str,
    pub literals: Vec<Text>,
    pub files: Vec<Text>,
    pub envs: Vec<Text>,
    pub options: Options,
}

#[derive(Debug, Default, Clone)]
pub struct Options {
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub plain_name: bool,
    pub immutable: bool,
}

impl Kustomization {
    /// An empty kustomization.
    fn new(path: ProjectPath, text: &str, folder: ProjectPath) -> Self {
        Self {
            path,
            text: text.to_owned(),
            folder,
            component: false,
            resources: Vec::new(),
            components: Vec::new(),
            generators: Vec::new(),
            generator_options: Options::default(),
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

    pub fn problem(&self, mark: Mark, message: &str) -> anyhow::Error {
        let problem = problem(&self.path, mark, message.to_owned(), None);
        problem.quote(&mut Lines::of(&self.text)).into_error()
    }

    /// An error at the place of what it comes from.
    pub fn located(&self, mark: Mark, error: &anyhow::Error) -> anyhow::Error {
        let Diagnostic { message, hints, .. } = error.into();
        let problem = problem(&self.path, mark, message, None);
        Diagnostic { hints, ..problem.quote(&mut Lines::of(&self.text)) }.into_error()
    }
}

fn problem(path: &ProjectPath, mark: Mark, message: String, hint: Option<&str>) -> Diagnostic {
    let mut res = Diagnostic::in_file(path.as_str(), message).at(mark.line, mark.column);
    res.hints.extend(hint.map(str::to_owned));
    res
}

/// Where a text comes from: a file, or a field of a kustomization.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    pub path: &'a ProjectPath,
    /// The text of the file at the path.
    pub text: &'a str,
    /// Where the field is.
    pub field: Option<Mark>,
}

impl Origin<'_> {
    pub fn problem(&self, mark: Mark, message: &str, hint: Option<&str>) -> anyhow::Error {
        let (mark, message) = match self.field {
            None => (mark, message.to_owned()),
            Some(field) => (field, format!("in line {} of this text: {message}", mark.line)),
        };
        let problem = problem(self.path, mark, message, hint);
        problem.quote(&mut Lines::of(self.text)).into_error()
    }

    /// The documents of the text.
    pub fn nodes(&self, text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
        yaml::nodes(text, dialect).map_err(|error| match error.downcast::<yaml::Fault>() {
            Ok(fault) if self.field.is_none() => {
                yaml::malformed(self.path.as_str(), text, &fault).into_error()
            }
            Ok(fault) => self.problem(fault.mark, &fault.message, fault.hint),
            Err(error) => error.context(format!("cannot read {}", self.path)),
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

/// Whether a folder has a kustomization, whatever is in it.
pub fn is_kustomization(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<bool> {
    for name in NAMES {
        if matches!(tree.look(&folder.join(name)?)?, Found::Text(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn load(
    tree: &impl Tree,
    folder: &ProjectPath,
    budget: &Budget,
) -> anyhow::Result<Kustomization> {
    let mut found = Vec::new();
    for name in NAMES {
        let path = folder.join(name)?;
        if let Some(text) = tree.read(&path)? {
            found.push((path, text));
        }
    }
    match found.len() {
        0 => Err(anyhow::format_err!("{folder} has no kustomization.yaml")),
        1 => {
            let (path, text) = found.remove(0);
            parse(tree, path, folder, &text, budget)
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

fn parse(
    tree: &impl Tree,
    path: ProjectPath,
    folder: &ProjectPath,
    text: &str,
    budget: &Budget,
) -> anyhow::Result<Kustomization> {
    let mut nodes = Origin { path: &path, text, field: None }.nodes(text, Dialect::Kubernetes)?;
    let top = Mark { line: 1, column: 1 };
    if nodes.len() > 1 {
        let message = "a kustomization must be one document, and this is a second one".to_owned();
        let problem = problem(&path, nodes[1].mark, message, None);
        return Err(problem.quote(&mut Lines::of(text)).into_error());
    }
    let node = nodes.pop().unwrap_or(Node {
        data: Data::Map(Vec::new()),
        mark: top,
        spelling: None,
        is_quoted: false,
    });
    let mut reader = Reader::new(path, text, budget);
    reader.check_characters(&node);
    let entries = reader.map(&node);
    let is_empty_former = |entry: &Entry| {
        let is_empty = matches!(&entry.value.data, Data::List(items) if items.is_empty());
        is_empty && FORMER_KEYS.contains(&entry.key.as_str())
    };
    let has_content = entries.iter().any(|it| {
        !matches!(it.key.as_str(), "apiVersion" | "kind")
            && !it.value.is_null()
            && it.value.as_str() != Some("")
            && !is_empty_former(it)
    });
    if !has_content && reader.problems.is_empty() {
        let message = "this kustomization is empty, and kustomize refuses empty ones";
        let hint = "list something under `resources`, or give it `metadata:` with a `name`";
        return Err(Diagnostic::in_file(reader.path.as_str(), message)
            .with_hint(hint)
            .into_error());
    }
    let (mut res, files) = reader.kustomization(&entries, folder.clone());
    reader.refuse()?;
    for it in &files.configurations {
        reading(tree, &mut res, it, Reader::configuration, budget)?;
    }
    for it in &files.replacements {
        if !reading(tree, &mut res, it, Reader::replacements, budget)? {
            return Err(res.problem(it.mark, &format!("`{}` has no replacements", it.text)))
                .hint("remove the line");
        }
    }
    Ok(res)
}

/// Files that continue a kustomization.
#[derive(Default)]
struct Files {
    configurations: Vec<Text>,
    replacements: Vec<Text>,
}

/// Reads one of them into the kustomization, if there is anything in it.
fn reading(
    tree: &impl Tree,
    of: &mut Kustomization,
    item: &Text,
    read: fn(&mut Reader, &Node, &mut Kustomization),
    budget: &Budget,
) -> anyhow::Result<bool> {
    let (path, text) = resources::text(tree, of, item)?;
    let origin = Origin { path: &path, text: &text, field: None };
    let nodes = origin.nodes(&text, Dialect::Kubernetes)?;
    let mut reader = Reader::new(path, &text, budget);
    match nodes.as_slice() {
        [] => {}
        [node] => {
            reader.check_characters(node);
            read(&mut reader, node, of);
        }
        [_, second, ..] => {
            reader.fault(second.mark, "this is a second document, which kustomize ignores")
        }
    }
    reader.refuse()?;
    Ok(!nodes.is_empty())
}

impl Options {
    pub fn inherit(&mut self, global: &Self) {
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
