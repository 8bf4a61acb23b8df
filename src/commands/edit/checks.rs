//! Checks that objects keep their fields, and can still be read, when they are stored in another version.

use std::{collections::BTreeMap, path::Path};

use super::{Args, Stored};
use crate::{
    app::{
        cargo::feature_flags::FeatureFlags,
        crds::crd_states::{self, CrdState, StateName},
        output::{refusal::refusal, repository::Repository},
    },
    disk::Root,
    plan::Plan,
};
use crd::compatibility::{Crd, Finding, Policy, Rule, judge};
use diagnostics::{Diagnostic, Hint as _, Severity, with_hints};

/// Refuses a change by which stored objects would lose fields or become invalid. A webhook decides itself what it keeps.
pub fn require_no_loss(old: &Crd, new: &Crd, from: &str, to: &str) -> anyhow::Result<()> {
    if new.converts() {
        return Ok(());
    }
    let compare = |old: Crd, new: Crd| {
        let by_name = |crd: Crd| BTreeMap::from([(crd.name.clone(), crd)]);
        let mut findings = judge(&by_name(old), &by_name(new), &Policy::olm_v0());
        findings.retain(|finding| finding.severity == Severity::Error && !finding.removed);
        findings
    };
    let mut findings = compare(old.clone(), new.clone());
    findings.retain(|finding| finding.rule == Rule::StorageVersionFields);
    // An object that is stored in the one version must be valid in the other one, as if that were its next schema.
    let only = |version: &str| {
        let mut crd = new.clone();
        crd.versions.retain(|stored| stored.name == version);
        crd.versions.iter_mut().for_each(|stored| to.clone_into(&mut stored.name));
        crd
    };
    findings.extend(compare(only(from), only(to)));
    if findings.is_empty() {
        return Ok(());
    }
    let line = |finding: &Finding| {
        let field = finding.subject.field.as_deref().unwrap_or_default().trim_start_matches("^.");
        Diagnostic::from(format!("`{field}`: {}", finding.what))
    };
    let headline = format!(
        "objects that are stored in {from} would lose fields or be invalid in {to}, as no webhook converts between the versions"
    );
    Err(refusal(&headline, findings.iter().map(line))).hint(format!(
        "make every object of {from} valid in {to}: add what it lacks, or convert with a webhook"
    ))
}

impl Args {
    /// Refuses a version that the last release does not serve, unless `--force` is given.
    pub(super) fn check_release(
        &self,
        plan: &mut Plan,
        root: &Root,
        crd: &str,
        of: &Stored,
    ) -> anyhow::Result<()> {
        let new = &self.storage_version;
        let Some(release) = self.last_release(root.resolved_path())? else {
            plan.warn(
                Diagnostic::from("there is no git tag, so the last release is not known")
                    .with_hint(format!(
                        "make sure that it serves {new}, or name it: `--release REV`"
                    )),
            );
            return Ok(());
        };
        let Some(crd) = release.crds.get(crd) else {
            // A kind that could not be read may be this one. If all kinds were read, no cluster has objects of it yet.
            return release.unread.map_or(Ok(()), |unread| {
                with_hints(refusal(&unread.headline, unread.problems), unread.hints.into_iter())
            });
        };
        if !crd.version(new).is_some_and(|version| version.served) {
            let (kind, label) = (&of.kind, &release.label);
            let message = format!(
                "{label} does not serve {new} of {kind}: a cluster that goes back to it could not read its objects"
            );
            plan.add_refusal(Diagnostic::from(message).with_hint(format!(
                "release a version that serves {new} and still stores {}; `--force` overrides this",
                of.version
            )));
        }
        Ok(())
    }

    /// None if there is no release.
    fn last_release(&self, dir: &Path) -> anyhow::Result<Option<CrdState>> {
        let name = match &self.release {
            Some(name) => StateName::parse(name, dir)?,
            None if Repository::prefix_of(dir)?.is_none() => return Ok(None),
            None => match Repository::of(dir)?.last_tag()? {
                Some(tag) => StateName::Revision(tag),
                None => return Ok(None),
            },
        };
        if name == StateName::Cluster {
            return Err(anyhow::format_err!(
                "`--release` is a revision or CRD files, not a cluster"
            ));
        }
        let project = crd_states::ProjectState {
            dir: dir.to_owned(),
            manifest: None,
            packages: Vec::new(),
            features: FeatureFlags::default(),
            compile: self.compile,
        };
        name.read(&project).map(Some)
    }
}
