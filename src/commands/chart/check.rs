//! `operator-rs chart check`

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::report::ChartReport;
use crate::{
    app::{
        cargo::feature_flags::FeatureFlags,
        charts::{self, Chart, ChartSource, Rendering, Rule, SourceSelection},
        compile,
        findings::{self, Finding, ReportFormat},
        output::time_limit::TimeLimit,
    },
    commands::reading,
    disk::{self, Bounds},
    project::Project,
};
use diagnostics::Hint as _;
use model::{ProjectPath, display_path};

/// Check that a Helm chart agrees with the Rust source
///
/// Compares the CRDs of the chart with the kinds of the source, the rights of the operator's ServiceAccount with what it
/// needs, and the versions; and finds selectors that two releases share, and releases that are too large. The rights that
/// the operator needs are those of `+kubebuilder:rbac` markers, or those that `--observed` lists. `helm` on PATH renders the
/// chart, with its own values and with each file of values. What subcharts contain is not checked.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs chart check charts/my-operator
  operator-rs chart check charts/my-operator --values ci/production.yaml --output github
  helm template my-operator charts/my-operator | operator-rs chart check charts/my-operator --input -
  operator-rs test --audit-rbac > observed.txt; operator-rs chart check charts/my-operator --observed observed.txt")]
pub struct Args {
    /// Directory of the chart [default: the one that PROJECT names, else `chart` if `generate chart` has written it]
    #[arg(value_name = "CHART")]
    chart: Option<PathBuf>,
    /// Also render the chart with this file of values (can be repeated)
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    values: Vec<PathBuf>,
    /// Output of `helm template`, which is then not run: a file, or `-` for stdin
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    input: Option<PathBuf>,
    /// Rights that the operator needs, in place of the markers: the output of `operator-rs test --audit-rbac`, or the audit
    /// log of an API server as JSON lines
    #[arg(long, value_name = "FILE")]
    observed: Option<PathBuf>,
    /// Ignore findings of these rules, separated by commas
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = rule_parser())]
    allow: Vec<Rule>,
    /// Output format
    #[arg(long, short, default_value = "text")]
    output: ReportFormat,
    /// Path of Cargo.toml [default: in the current directory or the nearest one above it]
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Read only this package (can be repeated) [default: every member of the workspace]
    #[arg(long, short, value_name = "PACKAGE")]
    package: Vec<String>,
    #[command(flatten)]
    features: FeatureFlags,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    time: TimeLimit,
}

fn rule_parser() -> impl clap::builder::TypedValueParser<Value = Rule> {
    let all = findings::values(Rule::all().map(Rule::info));
    PossibleValuesParser::new(all).try_map(|rule| rule.parse::<Rule>())
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let path = self.find_chart(dir)?;
        let chart = Chart::read(dir, &path)?;
        let (renderings, mut findings) = self.render_chart(&chart, dir, &path)?;
        let selection = SourceSelection {
            manifest: self.manifest_path.as_deref(),
            packages: &self.package,
            features: &self.features,
            compile: self.compile,
        };
        let mut source = ChartSource::read(dir, &selection)?;
        let observed = self.observed.as_ref().map(|path| {
            let text = disk::read_named_text(&dir.join(path), self.read_bounds())?;
            anyhow::Ok((display_path(&path), text))
        });
        let observed = observed.transpose()?;
        let observed = observed.as_ref().map(|file| (file.0.as_str(), file.1.as_str()));
        let known = charts::known_rights(&source, observed)?;
        findings.extend(charts::crds::check(&chart, &renderings, &source));
        findings.extend(charts::crds::unserved(&source));
        findings.extend(charts::versions::check(&chart, &renderings, &source));
        for rendering in &renderings {
            findings.extend(charts::rights::check(&chart, rendering, known.as_ref()));
            findings.extend(charts::versions::check_images(&chart, rendering, &source));
            findings.extend(charts::selectors::check(&chart, rendering));
            findings.extend(charts::references::check(&chart, rendering));
        }
        findings.extend(charts::size::check(&chart, &renderings));
        let findings = findings.into_iter().map(|finding| charts::with_remedy(&chart, finding));
        let mut findings: Vec<_> = findings.collect();
        findings.retain(|finding| self.allow.iter().all(|rule| rule.id() != finding.rule));
        let unread = source.unread.take();
        let report = ChartReport::new(
            &chart,
            findings,
            source.crds.len(),
            renderings.len(),
            unread.is_none(),
        );
        report.print(self.output);
        match unread {
            Some(error) => Err(error),
            None => report.require_agreement(),
        }
    }

    fn read_bounds(&self) -> Bounds {
        Bounds::of_manifests(Some(self.time.deadline))
    }

    /// The chart that was given, else the one that PROJECT names, else the one that `generate chart` has written.
    fn find_chart(&self, dir: &Path) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.chart {
            return Ok(path.clone());
        }
        let root = reading(dir)?;
        if let Some(recorded) = Project::find_in(&root)?.and_then(|project| project.inputs.chart) {
            return Ok(recorded.as_str().into());
        }
        let generated = ProjectPath::fixed(charts::GENERATED_FOLDER);
        if charts::is_generated(&root, &generated)? {
            return Ok(generated.as_str().into());
        }
        Err(anyhow::format_err!(
            "no chart is given, PROJECT names none, and `{generated}` has none of `generate chart`"
        ))
        .hint("give its directory: `operator-rs chart check DIR`")
    }

    /// The chart as it is rendered with its own values and with each file of values, and why it is not.
    fn render_chart(
        &self,
        chart: &Chart,
        dir: &Path,
        path: &Path,
    ) -> anyhow::Result<(Vec<Rendering>, Vec<Finding>)> {
        if let Some(input) = &self.input {
            let (name, text) = disk::read_input(dir, input, self.read_bounds())?;
            return Ok((vec![Rendering::of_input(chart, &name, &text)?], Vec::new()));
        }
        let (mut renderings, mut findings) = (Vec::new(), Vec::new());
        for values in
            std::iter::once(None).chain(self.values.iter().map(|path| Some(path.as_path())))
        {
            match charts::render(chart, dir, path, values, self.time.deadline)? {
                Ok(rendering) => renderings.push(rendering),
                Err(finding) => findings.push(finding),
            }
        }
        Ok((renderings, findings))
    }
}
