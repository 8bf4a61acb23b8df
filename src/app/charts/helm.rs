//! `helm template`, run on a chart. Helm sends no request for it: schemas of values, which may name others by a URL, are
//! left out.

use std::path::Path;

use super::{Chart, Rendering, Rule, rendering};
use crate::{
    app::findings::{Finding, Place},
    disk,
    process::{self, Reply},
    terminal,
};
use anyhow::Context as _;
use diagnostics::Hint as _;

/// The release that a chart is rendered for, and its namespace.
pub const RELEASE: &str = "chart-check-release";
pub const NAMESPACE: &str = "chart-check-namespace";

/// More than the manifests of any chart that helm can install.
const MOST: u64 = 64 << 20;

const SECONDS: u64 = 60;

/// Renders a chart with a file of values, or with its own. A chart that does not render is a finding.
pub fn render(
    chart: &Chart,
    dir: &Path,
    path: &Path,
    values: Option<&Path>,
) -> anyhow::Result<Result<Rendering, Finding>> {
    let Some(program) = terminal::program("helm") else {
        return Err(anyhow::format_err!("there is no `helm` on PATH, which renders the chart"))
            .hint("install helm, or render the chart elsewhere and pass the result with `--input FILE`, or with `--input -` from stdin");
    };
    let folder = disk::real(&dir.join(path))?;
    let folder = folder.to_str().context("the path of the chart is not UTF-8")?;
    let mut arguments =
        vec!["template", RELEASE, folder, "--namespace", NAMESPACE, "--skip-schema-validation"];
    let values = values.map(|it| disk::real(&dir.join(it)).map(|real| (it, real))).transpose()?;
    let shown = values.as_ref().map(|it| it.0.display().to_string());
    if let Some((_, real)) = &values {
        arguments
            .extend(["--values", real.to_str().context("the path of the values is not UTF-8")?]);
    }
    match process::answer(&program, &arguments, "", MOST, SECONDS)? {
        Reply::Printed(text) => {
            anyhow::ensure!((text.len() as u64) < MOST, "helm has printed more than 64 MiB");
            rendering::parse(chart, shown.as_deref(), &text).map(Ok)
        }
        Reply::Failed { message, .. } => {
            Ok(Err(refusal(chart, folder, shown.as_deref(), &message)))
        }
    }
}

/// Helm's message, with its place in the chart.
fn refusal(chart: &Chart, folder: &str, values: Option<&str>, message: &str) -> Finding {
    let lines = message.lines().skip_while(|it| !it.starts_with("Error:"));
    let lines = lines.filter(|it| !it.starts_with("Use --debug flag") && !it.trim().is_empty());
    let mut text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        text = message.trim().to_owned();
    }
    let text = text.trim_start_matches("Error: ").replace(&format!("{folder}/"), "");
    let what = match values {
        None => format!("helm does not render the chart: {text}"),
        Some(values) => format!("helm does not render the chart with `--values {values}`: {text}"),
    };
    let place = place(chart, values, &text);
    let mut res = Rule::DoesNotRender.finding(&chart.name, what, Some(place));
    if text.contains("unknown flag: --skip-schema-validation") {
        res.remedy = "install helm 3.16 or later".to_owned();
    }
    res
}

fn place(chart: &Chart, values: Option<&str>, text: &str) -> Place {
    let whole = chart.place("Chart.yaml", 0, 0);
    let number = |it: &str| {
        it.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    };
    let start = format!("{}/templates/", chart.name);
    if let Some((_, rest)) = text.split_once(&start) {
        let end = rest.find(|c: char| ":) \"".contains(c)).unwrap_or(rest.len());
        let mut numbers = rest[end..].split(':').skip(1).map(number);
        let line = numbers.next().unwrap_or(0);
        let column = numbers.next().filter(|_| 0 < line).unwrap_or(0);
        return chart.place(&format!("templates/{}", &rest[..end]), line, column);
    }
    let line = text.split_once("yaml: line ").map_or(0, |it| number(it.1));
    if text.contains("values.yaml") && values.is_none_or(|it| !text.contains(it)) {
        return chart.place("values.yaml", line, usize::from(0 < line));
    }
    match values {
        Some(values) if text.contains(values) => Place::new(values, line, usize::from(0 < line)),
        _ => whole,
    }
}
