//! `operator-rs bundle diff`

mod report;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;

use crate::app::{
    crds::crd_states::{CrdFiles, CrdState, PolicyName},
    findings::{self, ReportFormat},
    images::{RegistryAccess, bundles::source},
    output::location,
};
use crd::compatibility::{self, Crd, judge};
use diagnostics::RuleInfo;
use model::display_path;
use olm::bundle::{
    difference::{self, BundleSide},
    validate::Files,
};
use report::UpgradeReport;

/// Find changes between two bundles that break an upgrade
///
/// It compares permissions, privileges, images, channels, install modes, webhooks, all other manifests and, by the rules
/// of `crds diff`, CRDs. The exit status is 1 if an upgrade from the old bundle to the new one would fail.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs bundle diff quay.io/example/memcached-operator-bundle:v0.0.1
  operator-rs bundle diff v0.0.1    # a tag of this repository
  operator-rs bundle diff ../v0.0.1/bundle bundle --allow installModeRemoved --output json")]
pub struct Args {
    /// Old bundle: a directory, an archive, an OCI layout, an image in a registry, or a git revision: `REV`, or `REV:DIR` with
    /// the bundle's directory from the top of the repository
    #[arg(value_name = "OLD")]
    old: String,
    /// New bundle [default: the directory `bundle` of the project]
    #[arg(value_name = "NEW")]
    new: Option<String>,
    /// Ignore changes of these rules, which may be rules of `crds diff`, separated by commas
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = PossibleValuesParser::new(findings::values(collect_rules())))]
    allow: Vec<String>,
    /// Tool whose defaults decide which changes of CRDs are breaking; outside of bundles, `crds diff` uses `crdify`
    #[arg(long, default_value = "olm")]
    policy: PolicyName,
    /// Output format
    #[arg(long, short, default_value = "text")]
    output: ReportFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

/// All rules, of those of CRDs without the one that the whole bundle has.
fn collect_rules() -> impl Iterator<Item = &'static RuleInfo> {
    let of_crds = compatibility::Rule::all().filter(|rule| *rule != compatibility::Rule::Invalid);
    difference::Rule::all()
        .map(difference::Rule::info)
        .chain(of_crds.map(compatibility::Rule::info))
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        // This directory may be inside the project.
        let project = if dir == Path::new(".") { location::nearest(dir)? } else { PathBuf::new() };
        let read =
            |text: &str| source::read_or_revision(dir, text, &dir.join(&project), &self.access);
        let (old_files, old_label) = read(&self.old)?;
        let (new_files, new_label) = match &self.new {
            Some(new) => read(new)?,
            None => {
                let bundle = display_path(&project.join(source::BUNDLE));
                source::read(dir, &bundle, &self.access)?
            }
        };
        self.access.require_use()?;
        let (old, new) =
            (BundleSide::read(&old_label, &old_files)?, BundleSide::read(&new_label, &new_files)?);
        let mut changes = difference::compare(&old, &new)?;
        changes.retain(|change| !self.allow.iter().any(|rule| rule == change.rule.id()));

        let old = self.read_crds(&old_label, &old, &old_files)?;
        let new = self.read_crds(&new_label, &new, &new_files)?;
        let mut policy = self.policy.policy();
        let of_crds = |rule: &String| rule.parse::<compatibility::Rule>().ok();
        policy.allowed.extend(self.allow.iter().filter_map(of_crds));
        policy.allowed.insert(compatibility::Rule::Invalid);
        let findings = judge(&old.crds, &new.crds, &policy);

        let report = UpgradeReport::new(&old, &new, changes, &findings);
        report.print(self.output);
        report.require_upgrade()
    }

    /// The CRDs of a bundle, with their places. OLM v1 sets the conversions of the CSV before it compares them.
    fn read_crds(
        &self,
        label: &str,
        state: &BundleSide,
        files: &Files,
    ) -> anyhow::Result<CrdState> {
        let mut files_of_crds = CrdFiles::default();
        for (path, bytes) in files.iter().filter(|file| state.has_crd(file.0.as_str())) {
            files_of_crds.add(
                &format!("{label}/{path}"),
                &String::from_utf8_lossy(bytes),
                false,
            )?;
        }
        let mut side = CrdState::of_files(label, files_of_crds);
        if matches!(self.policy, PolicyName::Olmv1) {
            let converted = |crd: &&mut Crd| state.converts_crd(&crd.name);
            side.crds.values_mut().filter(converted).for_each(Crd::set_conversion);
        }
        Ok(side)
    }
}
