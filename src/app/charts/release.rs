//! Renders the objects that Helm would install of a chart, with the chart's own values.

use std::path::Path;

use super::{Chart, helm};
use crate::app::config::namespaces;
use crate::disk::{self, Root};
use anyhow::Context as _;
use cluster::Id;
use diagnostics::Hint as _;
use go_data::yaml::{Value, pointer};
use model::{Deadline, Namespace};

/// The namespace that a chart is rendered for if none is given. What has it in its text depends on the namespace.
const UNKNOWN_NAMESPACE: &str = "unknown-namespace-of-the-release";

const RENDERED: &str =
    "render the chart elsewhere: `helm template … | operator-rs deploy --manifests -`";
const FILES: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A chart that is rendered for a release with the chart's name.
pub struct ChartRelease<'a> {
    root: &'a Root,
    path: &'a Path,
    namespace: Option<&'a Namespace>,
}

impl<'a> ChartRelease<'a> {
    /// Returns `None` if the path is no chart, or a kustomization that is in one.
    pub fn of(root: &'a Root, path: &'a Path, namespace: Option<&'a Namespace>) -> Option<Self> {
        let has = |name: &str| path.join(name).is_file();
        let is_chart = has("Chart.yaml") && !FILES.iter().any(|file| has(file));
        is_chart.then_some(Self { root, path, namespace })
    }

    /// Returns the output of `helm template`.
    pub fn render(&self, deadline: Option<Deadline>) -> anyhow::Result<String> {
        let real = disk::resolve_folder(self.path)?;
        let shown = real.strip_prefix(self.root.resolved_path()).unwrap_or(&real);
        // Helm follows every symlink. One that leads out of the project is refused here.
        let chart = Chart::read(self.root.resolved_path(), shown)?;
        let folder = real.to_str().context("the path of the chart is not UTF-8")?;
        let namespace = self.namespace.map_or(UNKNOWN_NAMESPACE.to_owned(), ToString::to_string);
        let program = helm::program().hint(format!("install helm, or {RENDERED}"))?;
        let release = helm::HelmRelease { name: &chart.name, namespace: &namespace, folder };
        let deadline = helm::deadline(deadline);
        let rendered = helm::template(&program, &release, &["--include-crds"], deadline)?;
        rendered.map_err(|message| {
            let hint = match helm::too_old(&message) {
                Some(it) => it.to_owned(),
                None if message.contains("missing in charts/ directory") => {
                    format!("fetch what it depends on: `helm dependency build {}`", chart.folder)
                }
                None => format!("if it needs values, {RENDERED}"),
            };
            let error =
                anyhow::format_err!("helm cannot render the chart `{}`: {message}", chart.folder);
            Err::<(), _>(error).hint(hint).expect_err("it is an error")
        })
    }

    /// Puts the objects that name no namespace into that of the release, as Helm does.
    pub fn place(&self, objects: &mut [Value]) {
        let Some(namespace) = self.namespace else { return };
        namespaces::place(objects, &namespace.to_string());
    }
}

/// Refuses objects of a chart that depend on the namespace of its release, if none was given.
pub fn require_namespace(objects: &[Value], hint: &'static str) -> anyhow::Result<()> {
    match objects.iter().find(|object| object.to_string().contains(UNKNOWN_NAMESPACE)) {
        None => Ok(()),
        Some(it) => Err(anyhow::format_err!(
            "{} `{}` of the chart depends on the namespace of the release, and none is given",
            pointer::text(it, "/kind"),
            Id::of(it).name
        ))
        .hint(hint),
    }
}
