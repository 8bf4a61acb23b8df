//! One of the two bundles.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::{Change, Place, Rule};
use crate::{
    bundle::{annotations, object, validate::Files},
    hint::Hint as _,
    kubernetes, model,
    yaml::{self, Data, Mark, Node, Value},
};

/// The annotations file, which says more of a bundle than its image's labels do.
const ANNOTATIONS: &str = "metadata/annotations.yaml";

pub struct State {
    /// Every YAML file, by its path inside the bundle.
    nodes: BTreeMap<String, Node>,
    csv_path: String,
    pub csv: Value,
    annotations: Value,
    pub dependencies: Vec<Value>,
    /// The other manifests.
    pub objects: Vec<(String, Value)>,
}

impl State {
    /// Reads the files of a bundle. `label` is how messages name the bundle.
    pub fn read(label: &str, files: &Files) -> anyhow::Result<Self> {
        let mut nodes = BTreeMap::new();
        let mut csvs = Vec::new();
        let mut objects = Vec::new();
        for (path, bytes) in files {
            let path = path.as_str();
            let is_data = [".yaml", ".yml", ".json"].iter().any(|it| path.ends_with(it));
            if !is_data || !(path.starts_with("manifests/") || path.starts_with("metadata/")) {
                continue;
            }
            let shown = format!("{label}/{path}");
            let text = std::str::from_utf8(bytes).with_context(|| format!("reading `{shown}`"))?;
            let mut documents = yaml::nodes(text, yaml::Dialect::Kubernetes)
                .map_err(model::locate(&shown, text))?;
            if documents.is_empty() {
                continue;
            }
            let node = documents.remove(0);
            if path.starts_with("manifests/") {
                let decoded = kubernetes::decode(&node.clone().into_value());
                if let Some(fault) = decoded.faults.first() {
                    return Err(anyhow::format_err!("`{shown}`: {fault}")).hint(format!(
                        "`operator-rs bundle validate {label}` lists every problem"
                    ));
                }
                match object::kind(&decoded.value) {
                    "ClusterServiceVersion" => csvs.push((path.to_owned(), decoded.value)),
                    _ => objects.push((path.to_owned(), decoded.value)),
                }
            }
            nodes.insert(path.to_owned(), node);
        }
        let Some((csv_path, csv)) = csvs.pop() else {
            return Err(anyhow::format_err!("`{label}` has no ClusterServiceVersion"))
                .hint("name the directory that contains the bundle's `manifests/`");
        };
        if let Some((other, _)) = csvs.first() {
            anyhow::bail!("`{label}` has two ClusterServiceVersions, {other} and {csv_path}");
        }
        let value = |path: &str| nodes.get(path).cloned().map(Node::into_value).unwrap_or_default();
        let annotations = value(ANNOTATIONS)["annotations"].take();
        let dependencies = value("metadata/dependencies.yaml");
        let dependencies = object::list(&dependencies, "/dependencies").to_vec();
        Ok(Self { nodes, csv_path, csv, annotations, dependencies, objects })
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
        self.annotations.get(key).and_then(Value::as_str).unwrap_or_default()
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
        let place = self.place(ANNOTATIONS, &format!("/annotations/{}", key.replace('/', "~1")));
        Change { place: Some(place), ..self.change(rule, key, "", what) }
    }

    /// The place of a part of a file, or of what comes nearest to it.
    pub fn place(&self, file: &str, pointer: &str) -> Place {
        let mut mark = Mark { line: 1, column: 1 };
        if let Some(node) = self.nodes.get(file) {
            mark = node.mark;
            descend(node, pointer, &mut mark);
        }
        Place { file: file.to_owned(), mark, is_old: false }
    }
}

fn descend(node: &Node, pointer: &str, mark: &mut Mark) {
    let Some(rest) = pointer.strip_prefix('/') else { return };
    let (step, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let step = step.replace("~1", "/").replace("~0", "~");
    match &node.data {
        Data::Map(entries) => {
            if let Some(entry) = entries.iter().find(|it| it.key == step) {
                *mark = entry.mark;
                descend(&entry.value, rest, mark);
            }
        }
        Data::List(items) => {
            if let Some(item) = step.parse::<usize>().ok().and_then(|it| items.get(it)) {
                *mark = item.mark;
                descend(item, rest, mark);
            }
        }
        Data::Scalar(_) => {}
    }
}

impl Change {
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// The same, of something that only the old bundle has.
    pub fn in_old(self) -> Self {
        Self { place: self.place.map(|it| Place { is_old: true, ..it }), ..self }
    }
}
