//! `operator-rs crds diff`

mod file_hint;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::report::ComparisonReport;
use crate::{
    app::{
        cargo::feature_flags::FeatureFlags,
        cluster_access::cluster_args::ClusterAddress,
        compile,
        crds::crd_states::{CrdState, PolicyName, ProjectState, StateName, UnreadParts},
        findings::{self, ReportFormat},
        output::refusal::refusal,
    },
    terminal,
};
use crd::compatibility::{Crd, Finding, Policy, Rule, judge};
use diagnostics::{Diagnostic, Hint as _, with_hints};
use model::display_path;

/// Find breaking changes between two states of the CRDs
///
/// A state is a git revision (its Rust source is read, nothing is checked out or built), `REV:PATH` (CRD files that
/// are committed there), a CRD file or a directory of them, or `cluster`. Changes are judged as crdify and OLM judge them;
/// what the API server refuses is always breaking, and so is a CRD none of whose served versions is still served. Kinds
/// that cannot be read are named, and the exit status is then 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs crds diff    # compare the working tree with the last commit
  operator-rs crds diff v0.1.0 --policy olm
  operator-rs crds diff cluster --to config/crd/bases")]
pub struct Args {
    /// Old state: a git revision, `REV:PATH`, a file, a directory or `cluster`
    #[arg(value_name = "REV", default_value = "HEAD")]
    from: String,
    /// New state, as `--to`
    #[arg(value_name = "NEW", conflicts_with = "to")]
    new: Option<String>,
    /// New state: a git revision, `REV:PATH`, a file, a directory or `cluster` [default: the working tree]
    #[arg(long, value_name = "REV")]
    to: Option<String>,
    /// Ignore findings of these rules, separated by commas
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = rule_parser())]
    allow: Vec<Rule>,
    /// Ignore the findings at this field, which is named as they are: `backups.example.com v1 ^.spec.keep` (can be repeated)
    #[arg(long, value_name = "CRD VERSION FIELD")]
    allow_at: Vec<String>,
    /// Tool whose defaults decide what is breaking; for the CRDs of bundles, `bundle diff` uses `olm`
    #[arg(long, default_value = "crdify")]
    policy: PolicyName,
    /// Output format
    #[arg(long, short, default_value = "text")]
    output: ReportFormat,
    /// Path of Cargo.toml [default: in the current directory or the nearest one above it]
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Compare only the kinds of this package (can be repeated) [default: every member of the workspace]
    #[arg(long, short, value_name = "PACKAGE")]
    package: Vec<String>,
    #[command(flatten)]
    features: FeatureFlags,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    address: ClusterAddress,
}

fn rule_parser() -> impl clap::builder::TypedValueParser<Value = Rule> {
    let all = findings::values(Rule::all().map(Rule::info));
    PossibleValuesParser::new(all).try_map(|rule| rule.parse::<Rule>())
}

impl Args {
    pub fn run(mut self, dir: &Path) -> anyhow::Result<()> {
        self.to = self.to.or_else(|| self.new.take());
        let (from, to) = (StateName::parse(&self.from, dir)?, self.to_name(dir)?);
        self.require_use(&[&from, &to])?;
        let project = ProjectState {
            dir: dir.to_owned(),
            manifest: self.manifest_path.clone(),
            packages: self.package.clone(),
            features: self.features.clone(),
            compile: self.compile,
        };
        let (mut old, mut new) = read_sides(&from, &to, &project, &self.address)?;
        old.doubt_missing(&new);
        new.doubt_missing(&old);
        let mut unread = [old.unread.take(), new.unread.take()];
        self.add_file_hint([&from, &to], &mut unread);
        if old.crds.is_empty() && new.crds.is_empty() {
            ensure_complete(unread, &[])?;
            return Err(anyhow::format_err!("neither {} nor {} has a CRD", old.label, new.label))
                .hint("kinds are structs with `#[derive(CustomResource)]`; select their package with `--manifest-path` or `-p`");
        }
        // A CRD that is missing in a state that could not be read completely may be there.
        let mut left_out = Vec::new();
        let mut leave_out = |side: &mut CrdState,
                             own: &Option<UnreadParts>,
                             other: &CrdState,
                             unread: &Option<UnreadParts>| {
            // A CRD that is only in a file may belong to another project.
            let is_of_source =
                |name: &String| own.as_ref().is_none_or(|own| !own.committed.contains(name));
            let is_known = |name: &String| {
                unread.is_none() && is_of_source(name) || other.crds.contains_key(name)
            };
            left_out.extend(side.crds.keys().filter(|name| !is_known(name)).cloned());
            side.crds.retain(|name, _| is_known(name));
        };
        let of_kinds = [crd_names_by_kind(&old), crd_names_by_kind(&new)];
        leave_out(&mut old, &unread[0], &new, &unread[1]);
        leave_out(&mut new, &unread[1], &old, &unread[0]);
        for kind in unread.iter().flatten().flat_map(|unread| &unread.kinds) {
            // One that a file stands for is compared.
            let crd = of_kinds.iter().find_map(|crds| crds.get(kind)).unwrap_or(kind);
            let is_compared = old.crds.contains_key(crd) && new.crds.contains_key(crd);
            if !is_compared && !left_out.contains(crd) {
                left_out.push(crd.clone());
            }
        }
        left_out.sort();
        let unread = unread.map(|side| side.filter(|side| !is_replaced(side, &left_out)));
        let is_complete = unread.iter().all(Option::is_none);
        let findings = self.without_allowed(judge(&old.crds, &new.crds, &self.effective_policy()));
        let report = ComparisonReport::new((&old, &new), findings, is_complete, &left_out);
        report.print(self.output);
        ensure_complete(unread, &left_out)?;
        report.require_compatible()
    }

    /// Refuses flags about a cluster or source where neither is compared.
    fn require_use(&self, states: &[&StateName]) -> anyhow::Result<()> {
        let conflict = |message: String| {
            Err(terminal::usage_error(clap::error::ErrorKind::ArgumentConflict, &message))
        };
        if let Some(flag) = self.address.given().filter(|_| !states.contains(&&StateName::Cluster))
        {
            return conflict(format!(
                "`{flag}` requires a cluster to compare: pass `cluster` or `--to cluster`"
            ));
        }
        let reads_source = states.iter().any(|state| state.is_source());
        match self.source_flags().first().filter(|_| !reads_source) {
            Some((flag, _)) => conflict(format!(
                "`{flag}` applies to Rust source, but no Rust source is compared: name a revision, or leave out `--to`"
            )),
            None => Ok(()),
        }
    }

    /// The flags about Rust source that are given, with their values.
    fn source_flags(&self) -> Vec<(&'static str, Option<String>)> {
        let path = self.manifest_path.iter().map(display_path);
        let mut flags: Vec<_> = path.map(|path| ("--manifest-path", Some(path))).collect();
        flags.extend(self.package.iter().map(|package| ("--package", Some(package.clone()))));
        flags.extend(self.features.given());
        let switches =
            [(self.compile.compile, "--compile"), (self.compile.no_compile, "--no-compile")];
        flags
            .extend(switches.into_iter().filter(|(given, _)| *given).map(|(_, flag)| (flag, None)));
        flags
    }

    fn to_name(&self, dir: &Path) -> anyhow::Result<StateName> {
        match &self.to {
            Some(to) => StateName::parse(to, dir),
            None => Ok(StateName::WorkingTree),
        }
    }

    /// The findings without those at the fields of `--allow-at`, each of which has to have one.
    fn without_allowed(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        for given in &self.allow_at {
            let at = given.split_whitespace().collect::<Vec<_>>().join(" ");
            let all = findings.len();
            findings.retain(|finding| finding.subject.to_string() != at);
            if findings.len() == all {
                let warning = Diagnostic::from(format!("there is no finding at `{at}`"));
                terminal::warn(warning.with_hint("remove this `--allow-at`, or correct it"));
            }
        }
        findings
    }

    fn effective_policy(&self) -> Policy {
        let mut policy = self.policy.policy();
        policy.allowed.extend(&self.allow);
        policy
    }
}

/// The names of the CRDs of a state, by their `Kind.group`.
fn crd_names_by_kind(side: &CrdState) -> BTreeMap<String, String> {
    let kind = |crd: &Crd| {
        let (group, kind) = crd.kind();
        format!("{kind}.{group}")
    };
    side.crds.iter().map(|(name, crd)| (kind(crd), name.clone())).collect()
}

/// Returns whether committed files had all CRDs that could not be read from the source, and warns that they were used.
fn is_replaced(unread: &UnreadParts, left_out: &[String]) -> bool {
    let is_replaced = left_out.is_empty() && !unread.committed.is_empty();
    if is_replaced {
        let names: Vec<&str> = unread.committed.iter().map(String::as_str).collect();
        terminal::warn(format!(
            "{}; read from committed files instead: {}",
            unread.headline,
            names.join(", ")
        ));
    }
    is_replaced
}

/// Fails where a state could not be read completely.
fn ensure_complete(unread: [Option<UnreadParts>; 2], left_out: &[String]) -> anyhow::Result<()> {
    let (mut headlines, mut problems, mut hints) = (Vec::new(), Vec::new(), Vec::new());
    for side in unread.into_iter().flatten() {
        headlines.push(side.headline);
        problems.extend(side.problems);
        hints.extend(side.hints);
    }
    if headlines.is_empty() {
        return Ok(());
    }
    if !left_out.is_empty() {
        headlines.push(format!("not compared: {}", left_out.join(", ")));
    }
    with_hints(refusal(&headlines.join("; "), problems), hints.into_iter())
}

/// Reads both states. Of a cluster, only the CRDs that the other one has are read.
fn read_sides(
    from: &StateName,
    to: &StateName,
    project: &ProjectState,
    address: &ClusterAddress,
) -> anyhow::Result<(CrdState, CrdState)> {
    if from == to {
        return Err(terminal::usage_error(
            clap::error::ErrorKind::ArgumentConflict,
            &format!("old and new state are both {from}"),
        ));
    }
    let names = |side: &CrdState| side.crds.keys().cloned().collect::<BTreeSet<_>>();
    Ok(match (from, to) {
        (StateName::Cluster, to) => {
            let new = to.read(project)?;
            (CrdState::of_cluster(address, &names(&new), &project.converted()?)?, new)
        }
        (from, StateName::Cluster) => {
            let old = from.read(project)?;
            let new = CrdState::of_cluster(address, &names(&old), &project.converted()?)?;
            (old, new)
        }
        (from, to) => (from.read(project)?, to.read(project)?),
    })
}
