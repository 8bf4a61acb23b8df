//! What objects lose when a webhook converts them from the version that they are stored in to another one.

use super::Stored;
use crate::manifests;
use crate::plan::{Plan, WorkTree};
use crate::project::{ConversionRegistration, KindPath, Operator, is_path_of};
use crd::compatibility::{Crd, lost_fields};
use diagnostics::{Diagnostic, Lines};
use model::Tree as _;

/// Refuses fields that the new version does not have, unless the conversion is lossless, or `--force` confirms that its code
/// writes them to other fields.
pub fn check(
    tree: &WorkTree<'_>,
    crd: &Crd,
    source: &Operator,
    (of, to): (&Stored, &str),
) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    if !crd.converts() {
        return Ok(plan);
    }
    let from = &*of.version;
    let conversions = Conversions { source, of };
    for (from, to, lossless) in conversions.steps(from, to) {
        let lost = lost_fields(crd, from, to);
        if lost.is_empty() || lossless == Lossless::Yes {
            continue;
        }
        let names: Vec<String> = lost.iter().map(|it| format!("`{it}`")).collect();
        let kind = &of.kind;
        let message = format!(
            "{to} of {kind} does not have {} of {from}: the value is lost, unless the code of the conversion keeps it in another field",
            names.join(", ")
        );
        let problem = match conversions.between(from, to) {
            Some(it) => {
                let (file, place) = (it.place.path.as_str(), &it.place);
                let text = tree.read(&file.parse()?)?.unwrap_or_default();
                let problem = Diagnostic::in_file(file, message).at(place.line, place.column);
                problem.quote(&mut Lines::of(&text))
            }
            None => Diagnostic::from(message),
        };
        let keep = match lossless {
            Lossless::Possible => {
                "register it with `runtime::converting_lossless`, which keeps it in an annotation"
            }
            Lossless::Yes | Lossless::Impossible => "add what is missing to the type",
        };
        plan.refuse(problem.with_hint(format!(
            "{keep}; if the code keeps all values in other fields, `--force` confirms that"
        )));
    }
    Ok(plan)
}

/// Whether an annotation keeps what is not in the other version. Only from the hub to a spoke is that possible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lossless {
    Yes,
    Possible,
    Impossible,
}

struct Conversions<'a> {
    source: &'a Operator,
    of: &'a Stored,
}

impl<'a> Conversions<'a> {
    /// The versions that are converted to each other on the way from one version to another: they may be two spokes.
    fn steps<'n>(&'n self, from: &'n str, to: &'n str) -> Vec<(&'n str, &'n str, Lossless)> {
        let hub = self.versions().find(|it| self.hub_of(it, from) && self.hub_of(it, to));
        match hub {
            Some(hub) => vec![
                (from, hub, Lossless::Impossible),
                // What this step keeps, the one before may have lost.
                (from, to, self.lossless(hub, to)),
            ],
            None => vec![(from, to, self.lossless(from, to))],
        }
    }

    fn lossless(&self, from: &str, to: &str) -> Lossless {
        let Some(found) = self.between(from, to) else { return Lossless::Impossible };
        match self.hub_of(from, to) {
            true if found.lossless => Lossless::Yes,
            true => Lossless::Possible,
            false => Lossless::Impossible,
        }
    }

    fn between(&self, one: &str, other: &str) -> Option<&'a ConversionRegistration> {
        let (one, other) = (self.path(one)?, self.path(other)?);
        self.source.conversions.iter().find(|it| it.is_between(one, other))
    }

    /// Whether a conversion has these as its hub and its spoke.
    fn hub_of(&self, hub: &str, spoke: &str) -> bool {
        let (Some(hub), Some(spoke)) = (self.path(hub), self.path(spoke)) else { return false };
        let is =
            |it: &ConversionRegistration| is_path_of(&it.hub, hub) && is_path_of(&it.spoke, spoke);
        hub != spoke && self.source.conversions.iter().any(is)
    }

    fn versions(&self) -> impl Iterator<Item = &'a str> {
        manifests::versions(self.source).filter(|it| self.of.has(it)).map(|it| it.name())
    }

    fn path(&self, version: &str) -> Option<&'a KindPath> {
        let mut all = manifests::versions(self.source).filter(|it| self.of.has(it));
        Some(&all.find(|it| it.name() == version)?.declared.rust_path)
    }
}
