//! `operator-rs status`

mod deployed;
mod generated;
#[cfg(test)]
mod tests;

use diagnostics::Diagnostics;
use serde::Serialize;

use self::{
    deployed::Cluster,
    generated::{Generated, Part},
};
use crate::{
    app::cluster_args::Address,
    disk::Root,
    manifests,
    project::{Operator, Project, Resource},
    terminal::{self, Look, Text, table},
};

/// Show kinds, generated files that are out of date, and the cluster
///
/// Nothing is written and nothing is compiled. A cluster is asked only if there is a kubeconfig, and one that does not
/// answer is no error. Each answer may take a fifth of the time limit: two seconds, unless `--timeout` is given.
#[derive(clap::Args)]
#[command(
    mut_arg("timeout", |it| it.default_value("10s")),
    after_help = "\
Examples:
  operator-rs status
  operator-rs status --context staging --output json"
)]
pub struct Args {
    /// Output format
    #[arg(long, short, default_value = "text")]
    output: Output,
    #[command(flatten)]
    address: Address,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Output {
    /// For people
    Text,
    /// The same, for programs
    Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    name: String,
    domain: String,
    in_place: bool,
    kinds: Vec<Kind>,
    generated: Vec<Part>,
    cluster: Cluster,
}

/// One version of a kind.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    kind: String,
    version: String,
    /// None if the source does not tell, or the kind is somebody else's.
    is_stored: Option<bool>,
    has_controller: bool,
    webhooks: Vec<&'static str>,
}

/// The state of something.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Good,
    Bad,
    Missing,
    Unknown,
}

impl State {
    fn look(self) -> Look {
        match self {
            Self::Good => Look::Good,
            Self::Bad => Look::Bad,
            Self::Missing => Look::Aside,
            Self::Unknown => Look::Doubtful,
        }
    }
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let project = Project::of_any_layout(root)?;
        let Generated { operator, parts, objects } = generated::of(root, &project)?;
        let report = Report {
            name: project.name.to_string(),
            domain: project.domain.to_string(),
            in_place: project.in_place(),
            kinds: kinds(&project, &operator),
            generated: parts,
            cluster: deployed::of(&self.address, objects)?,
        };
        match self.output {
            Output::Text => terminal::show(&report.text()),
            Output::Json => terminal::data(&(serde_json::to_string_pretty(&report)? + "\n")),
        }
        Ok(())
    }
}

fn kinds(project: &Project, operator: &Operator) -> Vec<Kind> {
    let storage = manifests::storage(operator);
    let policies: Vec<Resource> = project.inputs.with_policies().collect();
    let kind = |it: &Resource| {
        let (group, name) = (it.api_group(), it.kind.to_string());
        let stored = storage.get(&(&*group, &*name)).filter(|_| it.api.is_some());
        let has = it.webhooks.clone().unwrap_or_default();
        let webhooks = [
            (has.defaulting, "defaulting"),
            (has.validation, "validation"),
            (has.conversion, "conversion"),
            (policies.iter().any(|policy| policy.is_same_version(it)), "admission policy"),
        ];
        Kind {
            is_stored: stored.map(|stored| *stored == it.version.to_string()),
            kind: if group.is_empty() { name } else { format!("{name}.{group}") },
            version: it.version.to_string(),
            has_controller: it.controller,
            webhooks: webhooks.into_iter().filter(|it| it.0).map(|it| it.1).collect(),
        }
    };
    let lone =
        policies.iter().filter(|it| !project.resources.iter().any(|r| r.is_same_version(it)));
    project.resources.iter().chain(lone).map(kind).collect()
}

impl Report {
    fn text(&self) -> Text {
        let mut res = Text::new(Look::Heading, format!("{} ({})\n", self.name, self.domain));
        res.add(Look::Plain, "\n");
        let kinds = self.kinds.iter().map(|it| {
            let stored = if it.is_stored == Some(true) { " (stored)" } else { "" };
            let controller = if it.has_controller { "controller" } else { "" };
            let version = format!("{}{stored}", it.version);
            [it.kind.clone(), version, controller.to_owned(), it.webhooks.join(", ")]
                .map(Text::from)
        });
        section(&mut res, "Kinds", kinds.collect());
        let parts = self.generated.iter().map(|it| {
            [it.what.into(), Text::from(&it.path), Text::new(it.state.look(), it.detail())]
        });
        section(&mut res, "Generated files", parts.collect());
        match &self.cluster {
            Cluster { server: Some(server), reason: None, objects } => {
                let objects = objects
                    .iter()
                    .map(|it| [Text::from(&it.object), Text::new(it.state.look(), &it.detail)]);
                section(&mut res, &format!("Cluster {server}"), objects.collect());
            }
            it => {
                let reason = it.reason.clone().unwrap_or_default();
                section(&mut res, "Cluster", vec![[Text::new(Look::Aside, reason)]]);
            }
        }
        res
    }
}

fn section<const N: usize>(res: &mut Text, title: &str, rows: Vec<[Text; N]>) {
    res.add(Look::Heading, format!("{title}\n"));
    if rows.is_empty() {
        res.add(Look::Aside, "  none\n");
    }
    for row in table(&rows) {
        res.add(Look::Plain, "  ");
        *res += row;
    }
    if !title.starts_with("Cluster") {
        res.add(Look::Plain, "\n");
    }
}

/// An error in one line: the first thing that was found, or the error with its causes.
fn reason(error: &anyhow::Error) -> String {
    let found = diagnostics::find::<Diagnostics>(error).and_then(|it| it.list.first());
    let text = found.map_or_else(|| format!("{error:#}"), ToString::to_string);
    text.lines().next().unwrap_or_default().to_owned()
}
