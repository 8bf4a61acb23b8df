//! The rules that apply, and the severity of each finding.

use std::collections::BTreeSet;

use super::{Finding, Rule};
use diagnostics::Severity;

/// The strictness of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Rules whose findings do not count.
    pub allowed: BTreeSet<Rule>,
    /// True if an additional value in an enum is compatible.
    pub enum_values_may_be_added: bool,
    /// True if served versions may differ when a webhook converts between them.
    pub trusts_conversion: bool,
    /// The program that has to accept the new CRDs.
    pub judge: Judge,
}

/// The program that decides if a change is breaking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judge {
    /// crdify, as itself or in OLM v1: every finding of its rules is breaking.
    #[default]
    Crdify,
    /// OLM v0, which refuses a CRD if the API server refuses it or if an existing object no longer fits its schema.
    OlmV0,
    /// Either version of OLM: a change that only OLM v1 refuses is a warning.
    Olm,
}

/// The effect of a change on users of the CRD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// The API server refuses the new CRD.
    Refused,
    /// Objects or fields that are stored get lost, or no client that there is can request them.
    Loses,
    /// The schema no longer allows values that were valid.
    #[default]
    Narrows,
    /// Stored objects stay as they are; some requests that were valid are refused.
    Requests,
    /// Something that clients use changes or is gone; it is a warning to everyone.
    Clients,
    /// Everything that was valid stays valid.
    Widens,
    /// Nothing breaks, and something is to be done after the change.
    Afterwards,
}

impl Policy {
    /// crdify's defaults: every rule in its strictest form.
    pub fn crdify() -> Self {
        Self::default()
    }

    /// Returns the policy of OLM v1: its operator-controller runs crdify with these settings.
    pub fn olm_v1() -> Self {
        Self {
            allowed: BTreeSet::from([Rule::Description]),
            enum_values_may_be_added: true,
            trusts_conversion: true,
            judge: Judge::Crdify,
        }
    }

    /// Returns the policy of OLM v0.
    pub fn olm_v0() -> Self {
        Self { judge: Judge::OlmV0, ..Self::olm_v1() }
    }

    /// Returns the policy of both versions of OLM: a change is breaking if both refuse it, and a warning if only OLM v1
    /// does.
    pub fn olm() -> Self {
        Self { judge: Judge::Olm, ..Self::olm_v1() }
    }

    /// Returns the severity of a change; `converts` is true if a webhook converts between the versions of the new CRD.
    pub(super) fn severity_of(&self, effect: Effect, converts: bool) -> Severity {
        use Severity::{Error, Note, Warning};
        match (effect, self.judge) {
            (Effect::Refused | Effect::Loses, _) => Error,
            (Effect::Clients, _) => Warning,
            (Effect::Afterwards, _) => Note,
            (_, Judge::Crdify) => Error,
            // OLM v0 trusts the webhook to convert objects that do not fit.
            (Effect::Narrows, _) if !converts => Error,
            (Effect::Widens, Judge::OlmV0) => Note,
            (Effect::Narrows | Effect::Requests | Effect::Widens, _) => Warning,
        }
    }

    /// Returns true if a finding counts. If the removal of a field is allowed, so are the changes that follow from it.
    pub(super) fn counts_finding(&self, finding: &Finding) -> bool {
        let removal = finding.removed && self.allowed.contains(&Rule::ExistingFieldRemoval);
        !removal && !self.allowed.contains(&finding.rule)
    }
}
