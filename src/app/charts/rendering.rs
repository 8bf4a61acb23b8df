//! The objects that helm has rendered, each with its template.

use super::{Chart, helm, template, workloads};
use crate::app::findings::SourceSpan;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};

pub struct Rendering {
    /// The name of the values in messages; none for the chart's own.
    pub values: Option<String>,
    /// The name of the release, if it is known.
    pub release: Option<String>,
    pub namespace: String,
    pub text: String,
    pub objects: Vec<RenderedObject>,
}

pub struct RenderedObject {
    pub value: Value,
    /// True if a template of the chart itself made it, and not one of a subchart.
    pub is_own: bool,
    /// Its template by the path in the chart, if it is known.
    pub template: Option<String>,
    /// Its line there; 0 if that is not known.
    pub line: usize,
}

impl RenderedObject {
    pub fn is(&self, kind: &str) -> bool {
        self.value["kind"] == kind
    }

    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// `Deployment my-operator`
    pub fn subject(&self) -> String {
        format!("{} {}", self.value["kind"].as_str().unwrap_or_default(), self.name())
    }

    /// Returns its place, or the line in its template that has this text, if only one has.
    pub fn place(&self, chart: &Chart, text: Option<&str>) -> Option<SourceSpan> {
        let path = self.template.as_ref()?;
        let template = chart.text(path).unwrap_or_default();
        let line = text.and_then(|text| template::line_with(template, self.line, text));
        let line = line.unwrap_or(self.line);
        Some(chart.place(path, line, usize::from(line > 0)))
    }

    /// Returns the place of a field, if its template has it literally.
    pub fn place_of(&self, chart: &Chart, pointer: &str) -> Option<SourceSpan> {
        let path = self.template.as_ref()?;
        let line = template::line_of_field(chart.text(path)?, self.line, &self.value, pointer)?;
        Some(chart.place(path, line, 1))
    }

    /// Returns whether only helm creates it, at some step of an installation, an upgrade or a test.
    pub fn is_hook(&self) -> bool {
        !self.value["metadata"]["annotations"]["helm.sh/hook"].is_null()
    }

    /// Returns whether it is on the cluster once a release is installed.
    pub fn is_installed(&self) -> bool {
        let has = |annotation: &str, all: &[&str]| {
            let text = self.value["metadata"]["annotations"][annotation].as_str();
            let mut words = text.unwrap_or_default().split(',').map(str::trim);
            words.any(|word| all.iter().any(|kind| kind.eq_ignore_ascii_case(word)))
        };
        !self.is_hook()
            || has("helm.sh/hook", &["pre-install", "post-install"])
                && !has("helm.sh/hook-delete-policy", &["hook-succeeded"])
    }
}

impl Rendering {
    pub fn own(&self) -> impl Iterator<Item = &RenderedObject> {
        self.objects.iter().filter(|object| object.is_own)
    }

    /// Returns what is added to a message about this rendering.
    pub fn with_values(&self) -> String {
        self.values.as_ref().map(|value| format!(" with `--values {value}`")).unwrap_or_default()
    }
}

/// Parses the output of `helm template`.
pub fn parse(chart: &Chart, values: Option<&str>, text: &str) -> anyhow::Result<Rendering> {
    build_rendering(chart, values, Some(helm::RELEASE), text)
}

impl Rendering {
    /// Parses what was rendered elsewhere.
    pub fn of_input(chart: &Chart, name: &str, text: &str) -> anyhow::Result<Self> {
        let mut rendering = build_rendering(chart, None, None, text)
            .map_err(|error| error.context(format!("cannot read {name}")))?;
        if rendering.objects.is_empty() {
            return Err(anyhow::format_err!("{name} has no objects"))
                .hint("`helm template` may have failed; with bash, `set -o pipefail` stops there");
        }
        let label = |object: &RenderedObject| {
            let label = object.value.pointer("/metadata/labels/app.kubernetes.io~1instance");
            label.and_then(Value::as_str).map(str::to_owned)
        };
        let release = rendering.own().find_map(label);
        rendering.release = release;
        if let Some(namespace) = rendering.namespace_of_subjects() {
            rendering.namespace = namespace;
        }
        Ok(rendering)
    }

    /// Returns the namespace of the release, which objects need not name: that in which bindings expect its accounts.
    fn namespace_of_subjects(&self) -> Option<String> {
        let accounts = workloads::accounts(self);
        let bindings =
            self.own().filter(|object| object.is("ClusterRoleBinding") || object.is("RoleBinding"));
        let mut subjects =
            bindings.filter_map(|binding| binding.value["subjects"].as_array()).flatten();
        let is_account = |object: &&Value| {
            let name = object["name"].as_str().unwrap_or_default();
            object["kind"] == "ServiceAccount"
                && accounts.iter().any(|pair| pair.1 == name && pair.0 == self.namespace)
        };
        Some(subjects.find(is_account)?["namespace"].as_str()?.to_owned())
    }
}

fn build_rendering(
    chart: &Chart,
    values: Option<&str>,
    release: Option<&str>,
    text: &str,
) -> anyhow::Result<Rendering> {
    let mut objects = Vec::new();
    let mut source: Option<String> = None;
    for (first, document) in split_documents(text) {
        let header =
            document.lines().take_while(|line| line.starts_with('#') || line.starts_with("---"));
        if let Some(path) = { header }.find_map(|line| line.strip_prefix("# Source: ")) {
            source = Some(path.trim().to_owned());
        }
        let nodes = yaml::parse_nodes(document, yaml::Dialect::Kubernetes).map_err(|error| {
            let from = source
                .as_deref()
                .map(|source| format!(", which is from {source}"))
                .unwrap_or_default();
            error.context(format!("the document at line {first}{from}"))
        })?;
        for node in nodes {
            let value = node.into_value();
            let items = value["items"].as_array().filter(|_| value["kind"] == "List").cloned();
            objects.extend(
                { items.unwrap_or_else(|| vec![value]) }
                    .into_iter()
                    .map(|item| (item, source.clone())),
            );
        }
    }
    let start = format!("{}/", chart.name);
    let objects = objects.into_iter().map(|(value, source)| {
        let inside = source.as_ref().and_then(|source| source.strip_prefix(&start));
        let template = inside.filter(|inside| !inside.starts_with("charts/")).map(str::to_owned);
        RenderedObject { is_own: source.is_none() || template.is_some(), value, template, line: 0 }
    });
    let mut rendering = Rendering {
        values: values.map(str::to_owned),
        release: release.map(str::to_owned),
        namespace: helm::NAMESPACE.to_owned(),
        text: text.to_owned(),
        objects: objects.collect(),
    };
    locate_objects(chart, &mut rendering.objects);
    Ok(rendering)
}

/// Returns the documents of a stream, each with its first line.
fn split_documents(text: &str) -> Vec<(usize, &str)> {
    let (mut res, mut start, mut first, mut at) = (Vec::new(), 0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" && start < at {
            res.push((first, &text[start..at]));
            (start, first) = (at, index + 1);
        }
        at += line.len();
    }
    res.push((first, &text[start..]));
    res
}

/// Finds the line of each object in its template.
fn locate_objects(chart: &Chart, objects: &mut [RenderedObject]) {
    let key = |object: &RenderedObject| {
        (object.template.clone(), object.value["kind"].as_str().unwrap_or_default().to_owned())
    };
    let keys: Vec<_> = objects.iter().map(key).collect();
    for at in 0..objects.len() {
        let (Some(path), kind) = &keys[at] else { continue };
        let Some(text) = chart.text(path) else { continue };
        let all = keys.iter().filter(|key| **key == keys[at]).count();
        let before = keys[..at].iter().filter(|key| **key == keys[at]).count();
        objects[at].line = template::line_of(text, kind, objects[at].name(), (before, all));
    }
}
