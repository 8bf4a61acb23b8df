//! Reads the kinds of an operator from its Rust source, with `kube-crd-source`, and its permissions from the comments.

mod comments;
pub mod conversion;
pub mod kinds;
mod library;
mod marker;
mod named;
mod rbac;
mod registration;
mod replacements;
mod resources;
mod scanner;
mod spelling;
mod uses;
mod webhook;

use std::{collections::BTreeSet, rc::Rc};

pub use kinds::BuiltInKind;
pub use kube_crd_source::{
    ConfigFile, Lock, Locked, Options, Published, ReadFile, ReadTexts, Sources, features_of_kinds,
    package_names,
};
pub use library::{all_includes_webhooks, names_webhooks};
pub use named::parse_kind_path;
pub use registration::FILE as REGISTRATIONS;
pub use uses::KindUses;

use crate::project::{
    Crate, DeclaredKind, KindPath, MarkerArguments as _, Operator, Place, Problem, Project,
    RbacMarker, Rule, SourcePath, WebhookArguments, below,
};
use diagnostics::Lines;
use marker::Marker;

/// The kinds and rules of a workspace, and the problems of reading them.
#[derive(Debug, Default)]
pub struct Reading {
    pub operator: Operator,
    /// Problems of the whole workspace: no kind is read then.
    pub problems: Vec<Problem>,
    /// Places that may declare more kinds.
    pub unexplored: Vec<Problem>,
    /// Included files that are not read, and may declare more kinds.
    pub unread: Vec<Problem>,
    /// The places of unknown macros, which may declare more kinds.
    pub unknown_macros: Vec<Place>,
    /// Malformed markers.
    pub comments: Vec<Problem>,
    /// Kinds that the user gave by path.
    pub named: Vec<KindPath>,
    /// Hints for kinds that cannot be read.
    pub hint: Option<String>,
    /// The names of the workspace's members.
    pub members: Vec<String>,
    /// The crates that were read for kinds.
    pub crates: Vec<Crate>,
    /// Requested features that no package has.
    pub unknown_features: Vec<String>,
    /// Requested modules that do not exist.
    pub unknown_modules: Vec<String>,
    /// The text of the files, so that problems that are found later can quote it.
    pub texts: ReadTexts,
}

/// The way to find the kinds of an included file that is not read.
const UNREAD_HINT: &str = "if it declares kinds, `operator-rs generate crds --compile` finds them";

#[cfg(test)]
thread_local! {
    /// The number of times that this thread has read the source of a workspace.
    pub static READINGS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn read_kinds(from: &dyn Sources, options: &Options) -> kube_crd_source::Reading {
    #[cfg(test)]
    READINGS.set(READINGS.get() + 1);
    kube_crd_source::read(from, options)
}

/// Reads the kinds of a cargo workspace, each with its CRD or why it cannot be read.
pub fn read_workspace(from: &dyn Sources, options: &Options) -> Reading {
    with_conversions(read_kinds(from, options), from)
}

/// Reads the kinds of a cargo workspace, and the rules and webhooks in the comments of all its members.
pub fn read_workspace_with_rules(from: &dyn Sources, options: &Options) -> Reading {
    let found = read_kinds(from, options);
    let mut folders: Vec<String> =
        found.folders.iter().map(|folder| below(folder, "src")).collect();
    if folders.is_empty() {
        folders.push(String::new());
    }
    // Modules may be outside of `src`.
    let modules = found.files.clone();
    let mut reading = with_conversions(found, from);
    let (files, unread) = kube_crd_source::rust_files(from, &folders, &modules, &mut reading.texts);
    reading.comments.extend(unread);
    read_markers(files, &mut reading);
    reading
}

/// Adds to a reading the conversions that PROJECT lists. A PROJECT file that cannot be read, or that is of another
/// tool, lists none here: the commands that need it refuse it.
fn with_conversions(found: kube_crd_source::Reading, from: &dyn Sources) -> Reading {
    let mut reading = Reading::from(found);
    let text = from.text(&SourcePath::fixed(Project::path().as_str())).ok().flatten();
    let project = text.and_then(|text| Project::from_text(&text).ok());
    reading.operator.converted =
        project.map(|project| project.converted_versions()).unwrap_or_default();
    reading
}

/// Reads the markers in the comments of files: rules and webhooks.
fn read_markers(files: Vec<(SourcePath, Rc<str>)>, into: &mut Reading) {
    let resources = &resources::Resources::new(&into.operator.kinds);
    // An operator that has no place for registrations serves its webhooks in another way.
    let registers = files.iter().any(|pair| pair.0.as_str() == registration::FILE);
    for (path, text) in files {
        let mut lines = Lines::new(&text);
        if registers {
            let found = registration::read_registrations(&path, &text);
            into.operator.registrations.extend(found.admission);
            into.operator.conversions.extend(found.conversions);
            into.comments
                .extend(found.problems.into_iter().map(|problem| problem.quote(&mut lines)));
        }
        for comment in comments::parse_comments(&text) {
            let count = into.operator.webhooks.len();
            match read_marker(&path, &comment, &mut lines, &mut into.operator) {
                Ok(rule) => {
                    let new = into.operator.webhooks[count..].iter();
                    let doubts = new.flat_map(|webhook| {
                        webhook::doubts(webhook, resources, &into.operator.kinds)
                    });
                    let doubts: Vec<_> = doubts.map(|doubt| doubt.quote(&mut lines)).collect();
                    into.operator.warnings.extend(doubts);
                    let warnings = spelling::misspelt(
                        &path,
                        &comment,
                        rule.as_ref().map(|rule| &rule.rule),
                        resources,
                    );
                    let warnings = warnings.into_iter().map(|warning| warning.quote(&mut lines));
                    into.operator.warnings.extend(warnings);
                    into.operator.rules.extend(rule);
                }
                Err(problem) => into.comments.push(problem.quote(&mut lines)),
            }
        }
    }
}

/// Reads the marker of a comment. Returns the rule, if it has one.
fn read_marker(
    path: &SourcePath,
    comment: &comments::Comment<'_>,
    lines: &mut Lines<'_>,
    into: &mut Operator,
) -> Result<Option<RbacMarker>, Problem> {
    let Some(marker) = Marker::find(path, comment)? else { return Ok(None) };
    let mut rule = None;
    match marker.name {
        Rule::NAME => rule = Some(rbac::parse_rule(&marker)?),
        WebhookArguments::NAME => into.webhooks.push(webhook::webhook(&marker)?),
        _ => into.webhook_configurations.push(webhook::configuration(&marker)?),
    }
    let warnings = marker.warnings.take().into_iter();
    into.warnings.extend(warnings.map(|warning| warning.quote(lines)));
    Ok(rule)
}

impl From<kube_crd_source::Reading> for Reading {
    fn from(it: kube_crd_source::Reading) -> Self {
        Self {
            operator: Operator { kinds: it.kinds, warnings: it.warnings, ..Operator::default() },
            problems: it.problems,
            unexplored: it.unexplored,
            unread: it.unread.into_iter().map(|problem| problem.with_hint(UNREAD_HINT)).collect(),
            unknown_macros: it.unknown_macros,
            members: it.members,
            crates: it.crates,
            unknown_features: it.unknown_features,
            unknown_modules: it.unknown_modules,
            texts: it.texts,
            ..Self::default()
        }
    }
}

impl Reading {
    /// Everything that could not be read, by place. If there is a problem of the whole workspace, places that may declare
    /// more kinds may be a consequence of it.
    pub fn all_problems(&self) -> Vec<Problem> {
        let own = self.operator.kinds.iter().filter_map(|kind| kind.crd.as_ref().err()).flatten();
        let unexplored = self.unexplored.iter().filter(|_| self.problems.is_empty());
        let more = self.problems.iter().chain(unexplored).chain(&self.comments);
        let mut problems: Vec<Problem> = own.chain(more).cloned().collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Returns problems that were found in the kinds afterwards, each with its line of the source that was read.
    pub fn quote_source(&self, from: &dyn Sources, mut problems: Vec<Problem>) -> Vec<Problem> {
        self.texts.quote(from, &mut problems);
        problems
    }

    /// Returns the kinds that were read in all of their versions, with a note on each included file that is not read.
    pub fn whole_kinds(&self) -> Operator {
        let refused: Vec<_> = self.operator.kinds.iter().filter(|kind| kind.crd.is_err()).collect();
        let is_whole =
            |kind: &DeclaredKind| !refused.iter().any(|other| other.may_be_version_of(kind));
        let mut operator = self.operator.clone();
        operator.kinds.retain(is_whole);
        operator.warnings.extend(self.unread.iter().cloned());
        operator
    }

    /// Returns the names of the kinds that [`whole_kinds`](Self::whole_kinds) leaves out only because a refused one, whose group or
    /// kind is not known, may be a version of them.
    pub fn possibly_incomplete(&self) -> BTreeSet<&str> {
        let (read, refused): (Vec<_>, Vec<_>) =
            self.operator.kinds.iter().partition(|kind| kind.crd.is_ok());
        let is_known = |other: &&DeclaredKind| other.group.is_some() && other.kind.is_some();
        let (known, unknown): (Vec<_>, Vec<_>) = refused.into_iter().partition(is_known);
        let may_lack = |kind: &&DeclaredKind| {
            !known.iter().any(|other| other.may_be_version_of(kind))
                && unknown.iter().any(|other| other.may_be_version_of(kind))
        };
        read.into_iter().filter(may_lack).filter_map(|kind| kind.kind.as_deref()).collect()
    }

    /// Returns why a kind that is not in the reading may be declared all the same.
    pub fn reason_for_more_kinds(&self) -> Option<String> {
        let file = self.unread.first().map(|unread| &unread.place);
        let place = file.or(self.unknown_macros.first())?;
        Some(format!("{place}, which is not read"))
    }

    /// Returns how many kinds could not be read in all of their versions, and how many there are.
    pub fn count_unread(&self) -> (usize, usize) {
        let name = |declared: &DeclaredKind| {
            let kind = declared.kind.clone();
            (declared.group.clone(), kind.is_none().then(|| declared.name.clone()), kind)
        };
        let kinds = || self.operator.kinds.iter();
        let refused: BTreeSet<_> = kinds().filter(|kind| kind.crd.is_err()).map(name).collect();
        let all: BTreeSet<_> = kinds().map(name).collect();
        (refused.len(), all.len())
    }
}
