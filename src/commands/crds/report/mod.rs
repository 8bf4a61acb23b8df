//! What is shown of the findings: one file a format.

mod github;
mod json;
mod sarif;
mod text;

use super::side::{Place, Side};
use crate::{app::findings, terminal};
use crd::compatibility::Finding;
use diagnostics::{Diagnostic, Severity};

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// Every finding, for programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

/// What was compared, and what came out.
pub struct Report {
    old: String,
    new: String,
    /// How many CRDs each state has.
    sizes: (usize, usize),
    findings: Vec<Located>,
    /// Whether both states could be read completely.
    is_complete: bool,
}

/// A finding with its places.
struct Located {
    finding: Finding,
    /// Where it is declared: in the new state, or in the old one what that alone has.
    place: Option<Place>,
    /// Where to show it in the new state: what was removed is shown at the kind that had it.
    anchor: Option<Place>,
}

impl Located {
    fn diagnostic(&self) -> Diagnostic {
        let Finding { rule, subject, what, remedy, .. } = &self.finding;
        let place = self.anchor.as_ref().or(self.place.as_ref());
        findings::diagnostic(
            rule.name(),
            &format!("{subject}: {what}"),
            remedy,
            place.map(|it| (it.path.as_str(), it.line, it.column)),
        )
    }
}

impl Report {
    pub fn new(old: &Side, new: &Side, findings: Vec<Finding>, is_complete: bool) -> Self {
        let locate = |finding: Finding| {
            let (before, after) = (old.locate(&finding.subject), new.locate(&finding.subject));
            let removed = finding.removed || !new.crds.contains_key(&finding.subject.crd);
            let place = if removed { before.clone() } else { after.clone() };
            Located { place: place.or(before), anchor: after, finding }
        };
        Self {
            old: old.label.clone(),
            new: new.label.clone(),
            sizes: (old.crds.len(), new.crds.len()),
            findings: findings.into_iter().map(locate).collect(),
            is_complete,
        }
    }

    /// How many findings are of this severity; what only follows from a removed field is not counted again.
    pub fn count(&self, severity: Severity) -> usize {
        let counts =
            |it: &&Located| it.finding.severity == severity && !it.finding.follows_removal();
        self.findings.iter().filter(counts).count()
    }

    pub fn print(&self, format: Format) {
        match format {
            Format::Text => {
                let shown = self.findings.iter().filter(|it| !it.finding.follows_removal());
                shown.for_each(|it| terminal::finding(it.finding.severity, &it.diagnostic()));
                terminal::print(&text::render(self));
            }
            Format::Json => terminal::data(&format!("{:#}\n", json::render(self))),
            Format::Sarif => terminal::data(&format!("{:#}\n", sarif::render(self))),
            Format::Github => terminal::data(&github::render(self)),
        }
    }
}
