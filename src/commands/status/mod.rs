//! `operator-rs status`

mod deployed;
mod generated;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::{RunCommand, reading};
use diagnostics::Diagnostics;
use serde::Serialize;

use self::{
    deployed::Cluster,
    generated::{GenerationStatus, Part},
};
use crate::{
    app::cluster_access::cluster_args::ClusterAddress,
    manifests,
    project::{Operator, Project, Resource},
    terminal::{self, Look, Text, format_table},
};

/// Show kinds, generated files that are out of date, and the cluster
///
/// Nothing is written and nothing is compiled. A cluster is asked only if there is a kubeconfig, and one that does not
/// answer is no error. Each answer may take a fifth of the time limit: two seconds, unless `--timeout` is given.
#[derive(clap::Args)]
#[command(
    mut_arg("timeout", |flag| flag.default_value("10s")),
    after_help = "\
Examples:
  operator-rs status
  operator-rs status --context staging --output json"
)]
pub struct Args {
    /// Output format
    #[arg(long, short, default_value = "text")]
    output: StatusFormat,
    #[command(flatten)]
    address: ClusterAddress,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum StatusFormat {
    /// For people
    Text,
    /// The same, for programs
    Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusReport {
    name: String,
    domain: String,
    in_place: bool,
    kinds: Vec<KindVersion>,
    generated: Vec<Part>,
    cluster: Cluster,
}

/// One version of a kind.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KindVersion {
    kind: String,
    version: String,
    /// None if the source does not tell, or another project defines the kind.
    is_stored: Option<bool>,
    has_controller: bool,
    webhooks: Vec<&'static str>,
}

/// The state of something.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum PartState {
    Good,
    Bad,
    Missing,
    Unknown,
}

impl PartState {
    fn look(self) -> Look {
        match self {
            Self::Good => Look::Good,
            Self::Bad => Look::Bad,
            Self::Missing => Look::Aside,
            Self::Unknown => Look::Doubtful,
        }
    }
}

impl RunCommand for Args {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let root = &reading(dir)?;
        let project = Project::read_any_layout(root)?;
        let GenerationStatus { operator, parts, objects } =
            generated::inspect_project(root, &project)?;
        let report = StatusReport {
            name: project.name.to_string(),
            domain: project.domain.to_string(),
            in_place: project.is_adopted(),
            kinds: kind_versions(&project, &operator),
            generated: parts,
            cluster: deployed::inspect_cluster(&self.address, objects)?,
        };
        match self.output {
            StatusFormat::Text => terminal::print_styled(&report.render_text()),
            StatusFormat::Json => {
                terminal::write_data(&(serde_json::to_string_pretty(&report)? + "\n"))
            }
        }
        Ok(())
    }
}

fn kind_versions(project: &Project, operator: &Operator) -> Vec<KindVersion> {
    let storage = manifests::storage(operator);
    let policies: Vec<Resource> = project.inputs.with_policies().collect();
    let kind = |resource: &Resource| {
        let (group, name) = (resource.api_group(), resource.kind.to_string());
        let stored = storage.get(&(&*group, &*name)).filter(|_| resource.api.is_some());
        let has = resource.webhooks.clone().unwrap_or_default();
        let webhooks = [
            (has.defaulting, "defaulting"),
            (has.validation, "validation"),
            (has.conversion, "conversion"),
            (policies.iter().any(|policy| policy.is_same_version(resource)), "admission policy"),
        ];
        KindVersion {
            is_stored: stored.map(|stored| *stored == resource.version.to_string()),
            kind: if group.is_empty() { name } else { format!("{name}.{group}") },
            version: resource.version.to_string(),
            has_controller: resource.controller,
            webhooks: webhooks.into_iter().filter(|entry| entry.0).map(|entry| entry.1).collect(),
        }
    };
    let lone = policies
        .iter()
        .filter(|policy| !project.resources.iter().any(|r| r.is_same_version(policy)));
    project.resources.iter().chain(lone).map(kind).collect()
}

impl StatusReport {
    fn render_text(&self) -> Text {
        let mut text = Text::new(Look::Heading, format!("{} ({})\n", self.name, self.domain));
        text.add_part(Look::Plain, "\n");
        let kinds = self.kinds.iter().map(|row| {
            let stored = if row.is_stored == Some(true) { " (stored)" } else { "" };
            let controller = if row.has_controller { "controller" } else { "" };
            let version = format!("{}{stored}", row.version);
            [row.kind.clone(), version, controller.to_owned(), row.webhooks.join(", ")]
                .map(Text::from)
        });
        add_section(&mut text, "Kinds", kinds.collect());
        let parts = self.generated.iter().map(|part| {
            [
                part.what.into(),
                Text::from(&part.path),
                Text::new(part.state.look(), part.format_detail()),
            ]
        });
        add_section(&mut text, "Generated files", parts.collect());
        match &self.cluster {
            Cluster { server: Some(server), reason: None, objects } => {
                let objects = objects.iter().map(|object| {
                    [Text::from(&object.object), Text::new(object.state.look(), &object.detail)]
                });
                add_section(&mut text, &format!("Cluster {server}"), objects.collect());
            }
            cluster => {
                let reason = cluster.reason.clone().unwrap_or_default();
                add_section(&mut text, "Cluster", vec![[Text::new(Look::Aside, reason)]]);
            }
        }
        text
    }
}

fn add_section<const N: usize>(output: &mut Text, title: &str, rows: Vec<[Text; N]>) {
    output.add_part(Look::Heading, format!("{title}\n"));
    if rows.is_empty() {
        output.add_part(Look::Aside, "  none\n");
    }
    for row in format_table(&rows) {
        output.add_part(Look::Plain, "  ");
        *output += row;
    }
    if !title.starts_with("Cluster") {
        output.add_part(Look::Plain, "\n");
    }
}

/// An error in one line: the first thing that was found, or the error with its causes.
fn short_reason(error: &anyhow::Error) -> String {
    let found = diagnostics::find_error::<Diagnostics>(error)
        .and_then(|diagnostics| diagnostics.list.first());
    let text = found.map_or_else(|| format!("{error:#}"), ToString::to_string);
    text.lines().next().unwrap_or_default().to_owned()
}
