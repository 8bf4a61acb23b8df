//! Bundles: where they are read from, and what is wrong with one.

pub mod optional;
pub mod source;

use std::collections::BTreeMap;

use super::folder::{below, folders};
use diagnostics::{Diagnostic, Lines, Severity};
use model::{ProjectPath, Tree};
use olm::bundle::validate::{Files, Finding, Request, rules::Target, validate};
use optional::OptionalValidators;

/// A version of OLM.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OlmVersion {
    /// OLM v0: Subscriptions and InstallPlans
    Olmv0,
    /// OLM v1: ClusterExtensions
    Olmv1,
}

impl From<OlmVersion> for Target {
    fn from(olm: OlmVersion) -> Self {
        match olm {
            OlmVersion::Olmv0 => Self::Olmv0,
            OlmVersion::Olmv1 => Self::Olmv1,
        }
    }
}

/// Returns errors and warnings of the default suites, of all that is in the bundle's folder.
pub fn findings(
    tree: &impl Tree,
    folder: &ProjectPath,
) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    let folders = &folders(tree, folder.as_str())?;
    check_requested(
        folder.as_str(),
        &files(tree, folder)?,
        Request { folders, ..Request::default() },
    )
}

/// Returns errors and warnings of a bundle's files. `folder` is its name in messages.
pub fn found(folder: &str, files: &Files) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    found_for(folder, files, None)
}

/// Returns errors and warnings of a bundle's files for one version of OLM, or for all if it is `None`.
pub fn found_for(
    folder: &str,
    files: &Files,
    target: Option<Target>,
) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    check_requested(folder, files, Request { target, ..Request::default() })
}

fn check_requested(
    folder: &str,
    files: &Files,
    request: Request<'_>,
) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    let found = OptionalValidators::default()
        .with(None, None, |_, context| validate(files, &request, context))?;
    let of = |severity| diagnostics(folder, files, &found, severity);
    Ok((of(Severity::Error), of(Severity::Warning)))
}

/// Returns the files of a bundle in a tree.
pub fn files(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Files> {
    let mut res = Files::new();
    for path in tree.list_files(folder)? {
        let inside = below(&path, folder)?;
        if let Some(bytes) = tree.read_bytes(&path)? {
            res.insert(inside, bytes);
        }
    }
    Ok(res)
}

/// Returns findings of this severity, with their lines.
pub fn diagnostics(
    folder: &str,
    files: &Files,
    findings: &[Finding],
    severity: Severity,
) -> Vec<Diagnostic> {
    let mut lines = BTreeMap::new();
    let quoted = |finding: &Finding| {
        let of_file = lines.entry(finding.file.clone()).or_insert_with(|| {
            let bytes = finding.file.parse::<ProjectPath>().ok().and_then(|path| files.get(&path));
            Lines::new(bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default())
        });
        finding.to_diagnostic(folder).quote(of_file)
    };
    findings.iter().filter(|finding| finding.severity == severity).map(quoted).collect()
}
