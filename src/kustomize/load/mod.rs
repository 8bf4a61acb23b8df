//! A `kustomization.yaml`, and what in it is not known.

mod fields;
mod items;
mod reader;

use std::collections::BTreeMap;

use self::reader::Reader;
use super::{labels::Reach, refuse, selector::Selector};
use crate::{
    hint::{Hint as _, hinted},
    model::{Place, Problem, ProjectPath},
    plan::{Found, Tree},
    yaml::{self, Data, Dialect, Mark, Node},
};

#[derive(Debug)]
pub struct Kustomization {
    pub path: ProjectPath,
    pub folder: ProjectPath,
    pub component: bool,
    pub resources: Vec<Text>,
    pub components: Vec<Text>,
    pub generators: Vec<Generator>,
    pub patches: Vec<Patch>,
    pub namespace: Option<String>,
    pub name_prefix: Option<String>,
    pub name_suffix: Option<String>,
    pub labels: Vec<Label>,
    pub common_annotations: BTreeMap<String, String>,
    pub replicas: Vec<Replica>,
    pub images: Vec<ImageEntry>,
    /// Whether the objects are put in order; else they stay as they were met.
    pub sorted: bool,
}

/// A string and where it stands.
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
}

#[derive(Debug)]
pub struct Replica {
    pub mark: Mark,
    pub name: String,
    pub count: i64,
}

#[derive(Debug)]
pub struct ImageEntry {
    pub name: String,
    pub new_name: String,
    pub new_tag: String,
    pub digest: String,
    pub tag_suffix: String,
}

#[derive(Debug)]
pub struct Generator {
    pub mark: Mark,
    pub secret: bool,
    pub name: String,
    pub namespace: String,
    /// A Secret's.
    pub kind: String,
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
    pub fn problem(&self, mark: Mark, message: &str) -> anyhow::Error {
        anyhow::format_err!("{}", problem(&self.path, mark, message.to_owned(), None))
    }
}

fn problem(path: &ProjectPath, mark: Mark, message: String, hint: Option<&str>) -> Problem {
    let place = Place { path: path.clone().into(), line: mark.line, column: mark.column };
    let problem = Problem::new(place, message);
    match hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

/// What a text is not, with its place in the file.
pub fn nodes(path: &ProjectPath, text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
    yaml::nodes(text, dialect).map_err(|error| match error.downcast::<yaml::Fault>() {
        Ok(fault) => {
            let hint = fault.hint.map(str::to_owned);
            let problem = problem(path, fault.mark, fault.message, None);
            match hinted::<()>(anyhow::format_err!("{problem}"), hint.into_iter()) {
                Err(error) => error,
                Ok(()) => anyhow::format_err!("{problem}"),
            }
        }
        Err(error) => error.context(format!("reading {path}")),
    })
}

const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a folder has a kustomization, whatever is in it.
pub fn is_kustomization(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<bool> {
    for name in NAMES {
        if matches!(tree.look(&folder.join(name)?)?, Found::Text(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn load(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Kustomization> {
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
            parse(path, folder, &text)
        }
        _ => Err(anyhow::format_err!(
            "{folder} has more than one kustomization: {} and {}",
            found[0].0,
            found[1].0
        )),
    }
}

fn parse(path: ProjectPath, folder: &ProjectPath, text: &str) -> anyhow::Result<Kustomization> {
    let mut nodes = nodes(&path, text, Dialect::Kubernetes)?;
    let top = Mark { line: 1, column: 1 };
    if nodes.len() > 1 {
        let message = "a kustomization is one document, and here is a second".to_owned();
        return Err(anyhow::format_err!("{}", problem(&path, nodes[1].mark, message, None)));
    }
    let node = nodes.pop().unwrap_or(Node { data: Data::Map(Vec::new()), mark: top });
    let mut reader = Reader { path, problems: Vec::new() };
    let entries = reader.map(&node);
    let said = entries.iter().any(|it| {
        !matches!(it.key.as_str(), "apiVersion" | "kind")
            && !it.value.is_null()
            && it.value.as_str() != Some("")
    });
    if !said && reader.problems.is_empty() {
        return Err(anyhow::format_err!(
            "{}: this kustomization is empty, and kustomize refuses one that is",
            reader.path
        ))
        .hint("list something under `resources`, or give it `metadata:` with a `name`");
    }
    let res = reader.kustomization(&entries, folder.clone());
    refuse(reader.problems)?;
    Ok(res)
}

impl Options {
    fn inherit(&mut self, global: &Self) {
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
