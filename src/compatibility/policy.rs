//! Which rules count, and how strictly.

use std::collections::BTreeSet;

use super::{Finding, Rule};

/// How strictly changes are judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Rules whose findings do not count.
    pub allowed: BTreeSet<Rule>,
    /// Whether an additional value in an enum is compatible.
    pub enum_values_may_be_added: bool,
    /// Whether served versions may differ if a webhook converts between them.
    pub trusts_conversion: bool,
}

impl Policy {
    /// crdify's defaults: every rule in its strictest form.
    pub fn crdify() -> Self {
        Self::default()
    }

    /// What OLM v1 refuses to upgrade: its operator-controller runs crdify with these settings.
    pub fn olm() -> Self {
        Self {
            allowed: BTreeSet::from([Rule::Description]),
            enum_values_may_be_added: true,
            trusts_conversion: true,
        }
    }

    /// Whether a finding counts. If the removal of a field is allowed, so is what follows from it.
    pub(super) fn enforces(&self, finding: &Finding) -> bool {
        let removal = finding.removed && self.allowed.contains(&Rule::ExistingFieldRemoval);
        !removal && !self.allowed.contains(&finding.rule)
    }
}
