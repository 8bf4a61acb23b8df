//! Bundles: where they are read from, and what is wrong with one.

pub mod optional;
pub mod source;

use std::collections::BTreeMap;

use super::folder::{below, folders};
use diagnostics::{Diagnostic, Lines, Severity};
use model::{ProjectPath, Tree};
use olm::bundle::validate::{Files, Finding, Request, rules::Target, validate};
use optional::Optional;

/// A version of OLM.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Olm {
    /// OLM v0: Subscriptions and InstallPlans
    Olmv0,
    /// OLM v1: ClusterExtensions
    Olmv1,
}

impl From<Olm> for Target {
    fn from(olm: Olm) -> Self {
        match olm {
            Olm::Olmv0 => Self::Olmv0,
            Olm::Olmv1 => Self::Olmv1,
        }
    }
}

/// Errors and warnings of the default suites, of all that is in the bundle's folder.
pub fn findings(
    tree: &impl Tree,
    folder: &ProjectPath,
) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    let folders = &folders(tree, folder.as_str())?;
    requested(folder.as_str(), &files(tree, folder)?, Request { folders, ..Request::default() })
}

/// Errors and warnings of a bundle's files. `folder` is its name in messages.
pub fn found(folder: &str, files: &Files) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    found_for(folder, files, None)
}

/// Errors and warnings of a bundle's files for one version of OLM, or for all if it is `None`.
pub fn found_for(
    folder: &str,
    files: &Files,
    target: Option<Target>,
) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    requested(folder, files, Request { target, ..Request::default() })
}

fn requested(
    folder: &str,
    files: &Files,
    request: Request<'_>,
) -> anyhow::Result<(Vec<Diagnostic>, Vec<Diagnostic>)> {
    let found =
        Optional::default().with(None, None, |_, context| validate(files, &request, context))?;
    let of = |severity| diagnostics(folder, files, &found, severity);
    Ok((of(Severity::Error), of(Severity::Warning)))
}

/// The files of a bundle in a tree.
pub fn files(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Files> {
    let mut res = Files::new();
    for path in tree.list(folder)? {
        let inside = below(&path, folder)?;
        if let Some(bytes) = tree.bytes(&path)? {
            res.insert(inside, bytes);
        }
    }
    Ok(res)
}

/// Findings of this severity, with their lines.
pub fn diagnostics(
    folder: &str,
    files: &Files,
    findings: &[Finding],
    severity: Severity,
) -> Vec<Diagnostic> {
    let mut lines = BTreeMap::new();
    let quoted = |it: &Finding| {
        let of_file = lines.entry(it.file.clone()).or_insert_with(|| {
            let bytes = it.file.parse::<ProjectPath>().ok().and_then(|it| files.get(&it));
            Lines::of(bytes.and_then(|it| std::str::from_utf8(it).ok()).unwrap_or_default())
        });
        it.diagnostic(folder).quote(of_file)
    };
    findings.iter().filter(|it| it.severity == severity).map(quoted).collect()
}
