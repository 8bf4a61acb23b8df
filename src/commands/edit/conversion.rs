//! Checks which fields objects lose when a webhook converts them from their stored version to another one.

use super::Stored;
use crate::app::output::refusal::refusal;
use crate::manifests;
use crate::plan::WorkTree;
use crate::project::{ConversionRegistration, Converted, KindPath, Operator, kind_command};
use crd::compatibility::{Crd, lost_fields};
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::Tree as _;

/// Says whether an annotation keeps the fields that the other version does not have. Only conversions from the hub to
/// a spoke can.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lossless {
    Yes,
    Possible,
    Impossible,
}

pub struct StoredConversions<'a> {
    pub source: &'a Operator,
    pub of: &'a Stored,
    /// The conversion that PROJECT records.
    pub converted: Option<&'a Converted>,
}

impl StoredConversions<'_> {
    /// Refuses fields that the new version does not have, unless the conversion is lossless, or they are among `renamed`: its
    /// code writes those to other fields.
    pub fn require_kept(
        &self,
        tree: &WorkTree<'_>,
        crd: &Crd,
        to: &str,
        renamed: &[String],
    ) -> anyhow::Result<()> {
        let mut unused: Vec<&String> = renamed.iter().collect();
        let mut problems = Vec::new();
        if crd.converts() {
            self.require_converted(to)?;
            for (from, to, lossless) in self.conversion_steps(&self.of.version, to) {
                let mut lost = lost_fields(crd, from, to);
                unused.retain(|field| !lost.contains(*field));
                lost.retain(|field| !renamed.contains(field));
                if !lost.is_empty() && lossless != Lossless::Yes {
                    problems.push(self.lost_fields_problem(tree, (from, to), &lost, lossless)?);
                }
            }
        }
        if let [field, ..] = unused[..] {
            return Err(anyhow::format_err!(
                "`--renamed {field}` has no effect: no field of this name is lost"
            ))
            .hint("leave it out, or name a field that the command refuses without it");
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(refusal("objects would lose fields, and nothing was written", problems))
    }

    /// Refuses a version that the project does not convert, where API servers ask it about all versions.
    fn require_converted(&self, to: &str) -> anyhow::Result<()> {
        let Some(converted) = self.converted.filter(|converted| !converted.has_version(to)) else {
            return Ok(());
        };
        let flags = format!("--version {} --conversion --spoke {to}", converted.hub);
        let command = kind_command("create webhook", &self.of.group, &self.of.kind, &flags);
        Err(anyhow::format_err!(
            "PROJECT lists no conversion of {to}: objects that are stored in it could not be read"
        ))
        .hint(format!("run `{command}`"))
    }

    fn lost_fields_problem(
        &self,
        tree: &WorkTree<'_>,
        (from, to): (&str, &str),
        lost: &[String],
        lossless: Lossless,
    ) -> anyhow::Result<Diagnostic> {
        let names: Vec<String> = lost.iter().map(|field| format!("`{field}`")).collect();
        let message = format!(
            "{to} of {} does not have {} of {from}: the value is lost, unless the code of the conversion keeps it in another field",
            self.of.kind,
            names.join(", ")
        );
        let problem = match self.find_registration(from, to) {
            Some(registration) => {
                let (file, place) = (registration.place.path.as_str(), &registration.place);
                let text = tree.read_text(&file.parse()?)?.unwrap_or_default();
                let problem =
                    Diagnostic::in_file(file, message).at_position(place.line, place.column);
                problem.quote(&mut Lines::new(&text))
            }
            None => Diagnostic::from(message),
        };
        let keep = match lossless {
            Lossless::Possible => {
                "register it with `operator_rs_runtime::lossless_conversion_webhook`, which keeps it in an annotation"
            }
            Lossless::Yes | Lossless::Impossible => "add what is missing to the type",
        };
        let flags: Vec<String> = lost.iter().map(|field| format!("--renamed {field}")).collect();
        Ok(problem.with_hint(format!(
            "{keep}; if the code keeps the value in another field, confirm it: `{}`",
            flags.join(" ")
        )))
    }
}

impl<'a> StoredConversions<'a> {
    /// The versions that are converted to each other on the way from one version to another: they may be two spokes.
    fn conversion_steps<'n>(
        &'n self,
        from: &'n str,
        to: &'n str,
    ) -> Vec<(&'n str, &'n str, Lossless)> {
        match self.converted.map(|converted| converted.hub.as_str()) {
            Some(hub) if ![from, to].contains(&hub) => {
                // The fields that an annotation of the first spoke keeps are in the hub again, and may be more than
                // the spoke has.
                let kept = self.lossless_between(hub, from) == Lossless::Yes;
                vec![
                    (from, hub, Lossless::Impossible),
                    // The step before may have lost the fields that this one keeps.
                    (if kept { hub } else { from }, to, self.lossless_between(hub, to)),
                ]
            }
            _ => vec![(from, to, self.lossless_between(from, to))],
        }
    }

    fn lossless_between(&self, from: &str, to: &str) -> Lossless {
        if self.converted.is_none_or(|converted| converted.hub != from) {
            return Lossless::Impossible;
        }
        if self.find_registration(from, to).is_some_and(|registration| registration.lossless) {
            Lossless::Yes
        } else {
            Lossless::Possible
        }
    }

    fn find_registration(&self, one: &str, other: &str) -> Option<&'a ConversionRegistration> {
        let (one, other) = (self.type_path(one)?, self.type_path(other)?);
        self.source.conversions.iter().find(|registration| registration.is_between(one, other))
    }

    fn type_path(&self, version: &str) -> Option<&'a KindPath> {
        let mut all =
            manifests::versions(self.source).filter(|version| self.of.matches_version(version));
        Some(&all.find(|candidate| candidate.name() == version)?.declared.rust_path)
    }
}
