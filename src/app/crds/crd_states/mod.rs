//! States of CRDs that are compared: the CRDs of each, and where they are declared.

mod cluster;
mod committed;
mod files;
mod marks;
mod project;
mod revision;

use crate::app::{findings::SourceSpan, output::repository::Repository};
use std::{collections::BTreeMap, fmt, path::Path};

pub use files::CrdFiles;
use marks::VersionMarks;
pub use project::{ProjectState, UnreadParts};

use crate::app::findings;
use crate::project::{Converted, Problem};
use crd::compatibility::{Crd, Finding, Policy, Subject};
use diagnostics::Hint as _;
use model::display_path;

/// A state as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateName {
    WorkingTree,
    /// The Rust source at a revision.
    Revision(String),
    /// CRD files that are committed at a revision.
    Committed {
        revision: String,
        path: String,
    },
    /// A CRD file, or a folder of them.
    Files(String),
    Cluster,
}

impl StateName {
    /// Tells them apart; `cluster` is always the cluster.
    pub fn parse(text: &str, dir: &Path) -> anyhow::Result<Self> {
        // The name of a revision has no `\`.
        let text = &*display_path(text);
        if text == "cluster" {
            return Ok(Self::Cluster);
        }
        if text.starts_with('-') || text.is_empty() {
            return Err(anyhow::format_err!("`{text}` is neither a revision nor a file")).hint(
                "name a commit, a tag or a branch; write a file name that begins with `-` as `./-…`",
            );
        }
        if dir.join(text).exists() {
            let is_path = text.starts_with(['.', '/']);
            // A folder outside of repositories has no revisions.
            let repository = if is_path { None } else { Repository::prefix_of(dir)? };
            if repository.is_some() && Repository::of(dir)?.has(text)? {
                return Err(anyhow::format_err!("`{text}` is both a file and a revision"))
                    .hint(format!("write `./{text}` for the file or `{text}~0` for the revision"));
            }
            return Ok(Self::Files(text.to_owned()));
        }
        Ok(match text.split_once(':') {
            Some((revision, path)) if !revision.is_empty() => Self::Committed {
                revision: revision.to_owned(),
                path: path.trim_matches('/').to_owned(),
            },
            _ => Self::Revision(text.to_owned()),
        })
    }

    /// Returns whether it is read from Rust source.
    pub fn is_source(&self) -> bool {
        matches!(self, Self::WorkingTree | Self::Revision(_))
    }

    /// Reads any state but a cluster's.
    pub fn read(&self, project: &ProjectState) -> anyhow::Result<CrdState> {
        let label = self.to_string();
        let mut side = match self {
            Self::WorkingTree => project.working_tree(&label)?,
            Self::Revision(revision) => return project.at(revision),
            Self::Committed { revision, path } => return project.committed(revision, path, label),
            Self::Files(path) => {
                let (crds, places) = files::on_disk(&project.dir, path)?;
                CrdState { label, crds, places, unread: None, unread_places: Vec::new() }
            }
            Self::Cluster => anyhow::bail!("cannot compare a cluster with a cluster"),
        };
        side.add_conversions(&project.converted()?);
        Ok(side)
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorkingTree => f.write_str("the working tree"),
            Self::Revision(revision) => f.write_str(revision),
            Self::Committed { revision, path } => write!(f, "{revision}:{path}"),
            Self::Files(path) => f.write_str(path),
            Self::Cluster => f.write_str("the cluster"),
        }
    }
}

/// The kinds whose versions a project converts, by group and name.
pub type ConvertedKinds = BTreeMap<(String, String), Converted>;

/// A state that was read.
pub struct CrdState {
    /// The name of the state in messages.
    pub label: String,
    pub crds: BTreeMap<String, Crd>,
    places: StatePlaces,
    /// The parts that could not be read.
    pub unread: Option<UnreadParts>,
    /// Included files that are not read, and may declare more kinds.
    pub unread_places: Vec<Problem>,
}

type Crds = BTreeMap<String, Crd>;

/// The locations at which a state declares its CRDs.
#[derive(Default)]
pub struct StatePlaces {
    /// The revision that they are of; none of files on disk.
    revision: Option<String>,
    /// By CRD and version, in Rust source.
    versions: BTreeMap<(String, String), VersionSpans>,
    /// By CRD, in a file of CRDs.
    documents: BTreeMap<String, (String, VersionMarks)>,
}

/// The locations at which Rust source declares one version of a kind, and its fields.
pub struct VersionSpans {
    of_kind: SourceSpan,
    /// Its fields, by the names that lead to each.
    fields: BTreeMap<Vec<String>, SourceSpan>,
}

impl VersionSpans {
    /// Returns the place of the field that a path of crdify's (`^.spec.ports.items.name`) is about, or of what comes
    /// nearest around it.
    fn locate_field(&self, path: Option<&str>) -> &SourceSpan {
        let (mut names, mut found) = (Vec::<String>::new(), &self.of_kind);
        let mut rest = path.unwrap_or_default().trim_start_matches("^");
        while let Some(tail) = rest.strip_prefix('.') {
            // If `a` and `a.b` are both names, a path means the longer one.
            let ends = tail.match_indices('.').map(|pair| pair.0).chain([tail.len()]);
            let ends: Vec<usize> = ends.collect();
            let next = ends.iter().rev().find_map(|end| {
                let path = [&names[..], &[tail[..*end].to_owned()]].concat();
                self.fields.get(&path).map(|place| (path, place, &tail[*end..]))
            });
            match next {
                Some(it) => (names, found, rest) = it,
                // `items` and the like.
                None => rest = tail.find('.').map_or("", |dot| &tail[dot..]),
            }
        }
        found
    }
}

impl CrdState {
    /// Returns the CRDs of some files.
    pub fn of_files(label: &str, files: CrdFiles) -> Self {
        let (crds, places) = files.into_side();
        Self { label: label.to_owned(), crds, places, unread: None, unread_places: Vec::new() }
    }

    /// Takes up the conversions of a project: its source and the CRDs in config/crd/bases do not have them, and what
    /// deploys the CRDs sets them.
    fn add_conversions(&mut self, converted: &ConvertedKinds) {
        for crd in self.crds.values_mut().filter(|crd| crd.versions.len() > 1) {
            if converted.contains_key(&crd.kind()) {
                crd.is_converted_by_project = true;
                crd.set_conversion();
            }
        }
    }

    /// Takes a state for incomplete if the other one has CRDs that may be in the files which are not read.
    pub fn doubt_missing(&mut self, other: &Self) {
        let is_missing = |name: &String| !self.crds.contains_key(name);
        if self.unread.is_some()
            || self.unread_places.is_empty()
            || !other.crds.keys().any(is_missing)
        {
            return;
        }
        self.unread = Some(UnreadParts {
            headline: format!("the source cannot be read completely at {}", self.label),
            problems: self.unread_places.clone(),
            ..UnreadParts::default()
        });
    }

    /// Returns where this state declares what a finding is about: the field where that is known, else the kind.
    pub fn locate(&self, subject: &Subject) -> Option<SourceSpan> {
        let place = self.places.locate_subject(subject)?;
        Some(SourceSpan { revision: self.places.revision.clone(), ..place })
    }
}

impl StatePlaces {
    fn locate_subject(&self, subject: &Subject) -> Option<SourceSpan> {
        let Subject { crd, versions, field } = subject;
        let version = versions.last().map(String::as_str);
        if let Some((path, marks)) = self.documents.get(crd) {
            let mark = marks.find(version, field.as_deref());
            return Some(SourceSpan::new(path, mark.line, mark.column));
        }
        let of_crd = || self.versions.iter().find(|pair| pair.0.0 == *crd).map(|pair| pair.1);
        let exact =
            version.and_then(|version| self.versions.get(&(crd.clone(), version.to_owned())));
        exact.or_else(of_crd).map(|marks| marks.locate_field(field.as_deref()).clone())
    }
}

/// Returns a finding with its places: what was removed is shown at the kind that had it.
pub fn located(it: &Finding, old: &CrdState, new: &CrdState) -> findings::Finding {
    let (before, after) = (old.locate(&it.subject), new.locate(&it.subject));
    let removed = it.removed || !new.crds.contains_key(&it.subject.crd);
    findings::Finding {
        rule: it.rule.id(),
        severity: it.severity,
        subject: it.subject.to_string(),
        object: it.subject.crd.clone(),
        what: it.what.clone(),
        values: it.values.clone(),
        remedy: it.remedy.clone(),
        place: after.or_else(|| before.clone()),
        before: before.filter(|_| removed),
        fingerprint: ("change/v1", format!("{} {}", it.rule, it.subject)),
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum PolicyName {
    /// Every rule of crdify 0.6, with its defaults, and `allServedVersionsRemoval`
    Crdify,
    /// What OLM v0 or v1 refuses to upgrade; what only v1 refuses is a warning
    Olm,
    /// What OLM v0 refuses: CRDs that the API server refuses, or that existing objects may not fit
    Olmv0,
    /// What OLM v1 refuses: every rule of crdify, but descriptions may change and enumerations may grow
    Olmv1,
}

impl PolicyName {
    pub fn policy(self) -> Policy {
        match self {
            Self::Crdify => Policy::crdify(),
            Self::Olm => Policy::olm(),
            Self::Olmv0 => Policy::olm_v0(),
            Self::Olmv1 => Policy::olm_v1(),
        }
    }
}
