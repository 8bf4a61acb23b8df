//! What objects lose when a webhook converts them from the version that they are stored in to another one.

use super::Stored;
use crate::manifests;
use crate::plan::{Plan, WorkTree};
use crate::project::{ConversionRegistration, Converted, KindPath, Operator};
use crd::compatibility::{Crd, lost_fields};
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::Tree as _;

/// Refuses fields that the new version does not have, unless the conversion is lossless, or `--force` confirms that its code
/// writes them to other fields.
pub fn check(
    tree: &WorkTree<'_>,
    crd: &Crd,
    source: &Operator,
    converted: Option<&Converted>,
    (of, to): (&Stored, &str),
) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    if !crd.converts() {
        return Ok(plan);
    }
    let from = &*of.version;
    require_converted(crd, converted, to)?;
    let conversions = Conversions { source, of, converted };
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

/// Refuses a version that the project does not convert, where API servers ask it about all versions.
fn require_converted(crd: &Crd, converted: Option<&Converted>, to: &str) -> anyhow::Result<()> {
    if !crd.converts() || converted.is_none_or(|it| it.has(to)) {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "PROJECT lists no conversion of {to}: objects that are stored in it could not be read"
    ))
    .hint(format!("run `operator-rs create webhook --conversion --spoke {to}` with the group, the kind and the hub"))
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
    /// What PROJECT says.
    converted: Option<&'a Converted>,
}

impl<'a> Conversions<'a> {
    /// The versions that are converted to each other on the way from one version to another: they may be two spokes.
    fn steps<'n>(&'n self, from: &'n str, to: &'n str) -> Vec<(&'n str, &'n str, Lossless)> {
        match self.converted.map(|it| it.hub.as_str()) {
            Some(hub) if ![from, to].contains(&hub) => {
                // What an annotation of the one spoke keeps is in the hub again, and may be more than the spoke has.
                let kept = self.lossless(hub, from) == Lossless::Yes;
                vec![
                    (from, hub, Lossless::Impossible),
                    // What this step keeps, the one before may have lost.
                    (if kept { hub } else { from }, to, self.lossless(hub, to)),
                ]
            }
            _ => vec![(from, to, self.lossless(from, to))],
        }
    }

    fn lossless(&self, from: &str, to: &str) -> Lossless {
        if self.converted.is_none_or(|it| it.hub != from) {
            return Lossless::Impossible;
        }
        match self.between(from, to).is_some_and(|it| it.lossless) {
            true => Lossless::Yes,
            false => Lossless::Possible,
        }
    }

    fn between(&self, one: &str, other: &str) -> Option<&'a ConversionRegistration> {
        let (one, other) = (self.path(one)?, self.path(other)?);
        self.source.conversions.iter().find(|it| it.is_between(one, other))
    }

    fn path(&self, version: &str) -> Option<&'a KindPath> {
        let mut all = manifests::versions(self.source).filter(|it| self.of.has(it));
        Some(&all.find(|it| it.name() == version)?.declared.rust_path)
    }
}
