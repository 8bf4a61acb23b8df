//! A `kustomization.yaml`, and what in it is not known.

use std::collections::BTreeMap;

use super::{WAY_OUT, labels::Reach, refuse, selector::Selector};
use crate::{
    hint::{Hint as _, hinted},
    model::{Place, Problem, ProjectPath},
    plan::{Found, Tree},
    yaml::{self, Data, Entry, Mark, Node, Value},
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
    let place = Place { path: path.clone(), line: mark.line, column: mark.column };
    Problem { place, message, hint: hint.map(str::to_owned) }
}

/// What a text is not, with its place in the file.
pub fn nodes(path: &ProjectPath, text: &str) -> anyhow::Result<Vec<Node>> {
    yaml::nodes(text).map_err(|error| match error.downcast::<yaml::Fault>() {
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
    let mut nodes = nodes(&path, text)?;
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

struct Reader {
    path: ProjectPath,
    problems: Vec<Problem>,
}

impl Reader {
    fn kustomization(&mut self, entries: &[&Entry], folder: ProjectPath) -> Kustomization {
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

    fn each<R>(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> R) -> Vec<R> {
        self.list(node).iter().map(|it| read(self, it)).collect()
    }

    fn list<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        match &node.data {
            Data::List(items) => items,
            Data::Scalar(Value::Null) => &[],
            _ => {
                self.fault(
                    node.mark,
                    &format!("this is {}, where a list is expected", node.what()),
                );
                &[]
            }
        }
    }

    fn map<'n>(&mut self, node: &'n Node) -> Vec<&'n Entry> {
        match &node.data {
            Data::Map(entries) => entries.iter().collect(),
            Data::Scalar(Value::Null) => Vec::new(),
            _ => {
                self.fault(node.mark, &format!("this is {}, where a map is expected", node.what()));
                Vec::new()
            }
        }
    }

    fn texts(&mut self, node: &Node) -> Vec<Text> {
        self.list(node).iter().filter_map(|it| self.text(it)).collect()
    }

    fn text(&mut self, node: &Node) -> Option<Text> {
        self.string(node).map(|text| Text { text, mark: node.mark })
    }

    fn pairs(&mut self, node: &Node) -> BTreeMap<String, String> {
        let entries = self.map(node);
        entries
            .into_iter()
            .map(|it| (it.key.clone(), self.string(&it.value).unwrap_or_default()))
            .collect()
    }

    fn filled(&mut self, node: &Node) -> Option<String> {
        self.string(node).filter(|it| !it.is_empty())
    }

    fn string(&mut self, node: &Node) -> Option<String> {
        if let Some(text) = node.as_str() {
            return Some(text.to_owned());
        }
        if !node.is_null() {
            let message = format!("this is {}, where a string is expected", node.what());
            self.problems.push(problem(&self.path, node.mark, message, Some("write it in quotes")));
        }
        None
    }

    fn boolean(&mut self, node: &Node) -> bool {
        match node.data {
            Data::Scalar(Value::Bool(it)) => it,
            Data::Scalar(Value::Null) => false,
            _ => {
                self.fault(
                    node.mark,
                    &format!("this is {}, where `true` or `false` is expected", node.what()),
                );
                false
            }
        }
    }

    fn unknown(&mut self, key: &str, mark: Mark, of: &str) {
        let message = format!("`{key}` is not a field of {of}");
        self.problems.push(problem(
            &self.path,
            mark,
            message,
            Some("take it out, or correct its spelling"),
        ));
    }

    fn native(&mut self, key: &str, mark: Mark) {
        let message = format!("this `{key}` is not rendered natively");
        self.problems.push(problem(&self.path, mark, message, Some(WAY_OUT)));
    }

    fn fault(&mut self, mark: Mark, message: &str) {
        self.problems.push(problem(&self.path, mark, message.to_owned(), None));
    }
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
