//! What helm rendered: the objects of the chart, each with the template that it is from.

use super::{Chart, helm, template, workloads};
use crate::app::findings::Place;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};

pub struct Rendering {
    /// How messages name the values; none for the chart's own.
    pub values: Option<String>,
    /// The name of the release, if it is known.
    pub release: Option<String>,
    pub namespace: String,
    pub text: String,
    pub objects: Vec<Object>,
}

pub struct Object {
    pub value: Value,
    /// Whether a template of the chart itself made it, and not one of a subchart.
    pub is_own: bool,
    /// Its template by the path in the chart, if it is known.
    pub template: Option<String>,
    /// Its line there; 0 if that is not known.
    pub line: usize,
}

impl Object {
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

    /// Its place, or the line in its template that has this text, if only one has.
    pub fn place(&self, chart: &Chart, text: Option<&str>) -> Option<Place> {
        let path = self.template.as_ref()?;
        let template = chart.text(path).unwrap_or_default();
        let line = text.and_then(|it| template::line_with(template, self.line, it));
        let line = line.unwrap_or(self.line);
        Some(chart.place(path, line, usize::from(0 < line)))
    }

    /// The place of a field, if its template has it literally.
    pub fn place_of(&self, chart: &Chart, pointer: &str) -> Option<Place> {
        let path = self.template.as_ref()?;
        let line = template::line_of_field(chart.text(path)?, self.line, &self.value, pointer)?;
        Some(chart.place(path, line, 1))
    }

    /// Whether only helm creates it, at some step of an installation, an upgrade or a test.
    pub fn is_hook(&self) -> bool {
        !self.value["metadata"]["annotations"]["helm.sh/hook"].is_null()
    }

    /// Whether it is on the cluster once a release is installed.
    pub fn is_installed(&self) -> bool {
        let has = |annotation: &str, all: &[&str]| {
            let text = self.value["metadata"]["annotations"][annotation].as_str();
            let mut words = text.unwrap_or_default().split(',').map(str::trim);
            words.any(|word| all.iter().any(|it| it.eq_ignore_ascii_case(word)))
        };
        !self.is_hook()
            || has("helm.sh/hook", &["pre-install", "post-install"])
                && !has("helm.sh/hook-delete-policy", &["hook-succeeded"])
    }
}

impl Rendering {
    pub fn own(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(|it| it.is_own)
    }

    /// What is added to a message about this rendering.
    pub fn with_values(&self) -> String {
        self.values.as_ref().map(|it| format!(" with `--values {it}`")).unwrap_or_default()
    }
}

/// Parses the output of `helm template`.
pub fn parse(chart: &Chart, values: Option<&str>, text: &str) -> anyhow::Result<Rendering> {
    rendering(chart, values, Some(helm::RELEASE), text)
}

impl Rendering {
    /// Parses what was rendered elsewhere.
    pub fn of_input(chart: &Chart, name: &str, text: &str) -> anyhow::Result<Self> {
        let mut res = rendering(chart, None, None, text)
            .map_err(|it| it.context(format!("cannot read {name}")))?;
        if res.objects.is_empty() {
            return Err(anyhow::format_err!("{name} has no objects"))
                .hint("`helm template` may have failed; with bash, `set -o pipefail` stops there");
        }
        let label = |it: &Object| {
            let label = it.value.pointer("/metadata/labels/app.kubernetes.io~1instance");
            label.and_then(Value::as_str).map(str::to_owned)
        };
        let release = res.own().find_map(label);
        res.release = release;
        if let Some(namespace) = res.namespace_of_subjects() {
            res.namespace = namespace;
        }
        Ok(res)
    }

    /// The namespace of the release, which objects need not name: that in which bindings expect its accounts.
    fn namespace_of_subjects(&self) -> Option<String> {
        let accounts = workloads::accounts(self);
        let bindings = self.own().filter(|it| it.is("ClusterRoleBinding") || it.is("RoleBinding"));
        let mut subjects = bindings.filter_map(|it| it.value["subjects"].as_array()).flatten();
        let is_account = |it: &&Value| {
            let name = it["name"].as_str().unwrap_or_default();
            it["kind"] == "ServiceAccount"
                && accounts.iter().any(|it| it.1 == name && it.0 == self.namespace)
        };
        Some(subjects.find(is_account)?["namespace"].as_str()?.to_owned())
    }
}

fn rendering(
    chart: &Chart,
    values: Option<&str>,
    release: Option<&str>,
    text: &str,
) -> anyhow::Result<Rendering> {
    let mut objects = Vec::new();
    let mut source: Option<String> = None;
    for (first, document) in documents(text) {
        let header = document.lines().take_while(|it| it.starts_with('#') || it.starts_with("---"));
        if let Some(path) = { header }.find_map(|it| it.strip_prefix("# Source: ")) {
            source = Some(path.trim().to_owned());
        }
        let nodes = yaml::nodes(document, yaml::Dialect::Kubernetes).map_err(|error| {
            let from =
                source.as_deref().map(|it| format!(", which is from {it}")).unwrap_or_default();
            error.context(format!("the document at line {first}{from}"))
        })?;
        for node in nodes {
            let value = node.into_value();
            let items = value["items"].as_array().filter(|_| value["kind"] == "List").cloned();
            objects.extend(
                { items.unwrap_or_else(|| vec![value]) }.into_iter().map(|it| (it, source.clone())),
            );
        }
    }
    let start = format!("{}/", chart.name);
    let objects = objects.into_iter().map(|(value, source)| {
        let inside = source.as_ref().and_then(|it| it.strip_prefix(&start));
        let template = inside.filter(|it| !it.starts_with("charts/")).map(str::to_owned);
        Object { is_own: source.is_none() || template.is_some(), value, template, line: 0 }
    });
    let mut res = Rendering {
        values: values.map(str::to_owned),
        release: release.map(str::to_owned),
        namespace: helm::NAMESPACE.to_owned(),
        text: text.to_owned(),
        objects: objects.collect(),
    };
    locate(chart, &mut res.objects);
    Ok(res)
}

/// The documents of a stream, each with its first line.
fn documents(text: &str) -> Vec<(usize, &str)> {
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
fn locate(chart: &Chart, objects: &mut [Object]) {
    let key = |it: &Object| {
        (it.template.clone(), it.value["kind"].as_str().unwrap_or_default().to_owned())
    };
    let keys: Vec<_> = objects.iter().map(key).collect();
    for at in 0..objects.len() {
        let (Some(path), kind) = &keys[at] else { continue };
        let Some(text) = chart.text(path) else { continue };
        let all = keys.iter().filter(|it| **it == keys[at]).count();
        let before = keys[..at].iter().filter(|it| **it == keys[at]).count();
        objects[at].line = template::line_of(text, kind, objects[at].name(), (before, all));
    }
}
