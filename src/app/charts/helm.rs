//! `helm template`, run on a chart. Helm sends no request for it: schemas of values, which may name others by a URL, are
//! left out.

use std::{path::Path, time::Duration};

use super::{Chart, Rendering, Rule, rendering};
use crate::{
    app::findings::{Finding, SourceSpan},
    disk,
    process::{self, Input, ProgramPath, Question, Reply},
};
use anyhow::Context as _;
use diagnostics::Hint as _;
use model::{Deadline, display_path};

/// The release that a chart is rendered for, and its namespace.
pub const RELEASE: &str = "chart-check-release";
pub const NAMESPACE: &str = "chart-check-namespace";

/// More than the manifests of any chart that helm can install.
const MOST: u64 = 64 << 20;

/// Returns the deadline of a command that renders a chart: its own if it has one.
pub fn deadline(of_command: Option<Deadline>) -> Deadline {
    of_command.unwrap_or_else(|| Deadline::after(Duration::from_secs(60)))
}

/// A chart, and the release that it is rendered for.
pub struct HelmRelease<'a> {
    pub name: &'a str,
    pub namespace: &'a str,
    pub folder: &'a str,
}

/// Renders a chart with a file of values, or with its own. A chart that does not render is a finding.
pub fn render(
    chart: &Chart,
    dir: &Path,
    path: &Path,
    values: Option<&Path>,
    deadline: Deadline,
) -> anyhow::Result<Result<Rendering, Finding>> {
    let folder = disk::resolve_folder(&dir.join(path))?;
    let folder = folder.to_str().context("the path of the chart is not UTF-8")?;
    let mut flags = Vec::new();
    let values = values
        .map(|value| disk::resolve_folder(&dir.join(value)).map(|real| (value, real)))
        .transpose()?;
    let shown = values.as_ref().map(|pair| display_path(&pair.0));
    if let Some((_, real)) = &values {
        flags.extend(["--values", real.to_str().context("the path of the values is not UTF-8")?]);
    }
    let helm = program().hint("install helm, or render the chart elsewhere and pass the result with `--input FILE`, or with `--input -` from stdin")?;
    let release = HelmRelease { name: RELEASE, namespace: NAMESPACE, folder };
    match template(&helm, &release, &flags, deadline)? {
        Ok(text) => rendering::parse(chart, shown.as_deref(), &text).map(Ok),
        Err(message) => Ok(Err(render_failure(chart, shown.as_deref(), &message))),
    }
}

/// Returns the helm on PATH.
pub fn program() -> anyhow::Result<ProgramPath> {
    ProgramPath::find("helm").context("`helm` is not on PATH: it is needed to render the chart")
}

/// Returns the output of `helm template`, or its message if it fails.
pub fn template(
    program: &ProgramPath,
    release: &HelmRelease<'_>,
    flags: &[&str],
    deadline: Deadline,
) -> anyhow::Result<Result<String, String>> {
    let HelmRelease { name, namespace, folder } = *release;
    let mut arguments =
        vec!["template", name, folder, "--namespace", namespace, "--skip-schema-validation"];
    arguments.extend(flags);
    let question = Question {
        program,
        arguments: &arguments,
        variables: &[],
        input: Input::Text(""),
        limit: MOST,
        deadline,
    };
    match process::answer(&question)? {
        Reply::Printed(text) => {
            anyhow::ensure!((text.len() as u64) < MOST, "helm has printed more than 64 MiB");
            Ok(Ok(text))
        }
        Reply::Failed { message, .. } => Ok(Err(one_line_message(folder, &message))),
    }
}

/// Helm's message in one line, with paths in the chart.
fn one_line_message(folder: &str, message: &str) -> String {
    let lines = message.lines().skip_while(|line| !line.starts_with("Error:"));
    let lines =
        lines.filter(|line| !line.starts_with("Use --debug flag") && !line.trim().is_empty());
    let mut text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        text = message.trim().to_owned();
    }
    text.trim_start_matches("Error: ").replace(&format!("{folder}/"), "")
}

/// Returns the way out if this helm is too old for us.
pub fn too_old(text: &str) -> Option<&'static str> {
    text.contains("unknown flag: --skip-schema-validation").then_some("install helm 3.16 or later")
}

/// Helm's message, with its place in the chart.
fn render_failure(chart: &Chart, values: Option<&str>, text: &str) -> Finding {
    let what = match values {
        None => format!("helm cannot render the chart: {text}"),
        Some(values) => format!("helm cannot render the chart with `--values {values}`: {text}"),
    };
    let place = failure_place(chart, values, text);
    let mut finding = Rule::DoesNotRender.to_finding(&chart.name, what, Some(place));
    if let Some(remedy) = too_old(text) {
        finding.remedy = remedy.to_owned();
    }
    finding
}

fn failure_place(chart: &Chart, values: Option<&str>, text: &str) -> SourceSpan {
    let whole = chart.place("Chart.yaml", 0, 0);
    let number = |text: &str| {
        text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    };
    let start = format!("{}/templates/", chart.name);
    if let Some((_, rest)) = text.split_once(&start) {
        let end = rest.find(|c: char| ":) \"".contains(c)).unwrap_or(rest.len());
        let mut numbers = rest[end..].split(':').skip(1).map(number);
        let line = numbers.next().unwrap_or(0);
        let column = numbers.next().filter(|_| line > 0).unwrap_or(0);
        return chart.place(&format!("templates/{}", &rest[..end]), line, column);
    }
    let line = text.split_once("yaml: line ").map_or(0, |pair| number(pair.1));
    if text.contains("values.yaml") && values.is_none_or(|value| !text.contains(value)) {
        return chart.place("values.yaml", line, usize::from(line > 0));
    }
    match values {
        Some(values) if text.contains(values) => {
            SourceSpan::new(values, line, usize::from(line > 0))
        }
        _ => whole,
    }
}
