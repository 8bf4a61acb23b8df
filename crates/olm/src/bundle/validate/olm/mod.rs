//! The rules that a bundle can break although it passes every validator: those that OLM v0 applies while it installs,
//! those of the converter and the resolver of OLM v1, and those of the API server.
//!
//! A bundle that both versions refuse has an error. If only one version refuses it, this is a warning, unless the
//! bundle is for that version.

mod accounts;
mod deployments;
mod metadata;
mod objects;
mod server;
mod upgrades;
mod webhooks;

use super::{
    Files, Findings, Rule,
    finding::FieldLocation,
    load::Loaded,
    of,
    rules::{Origin, Target},
};
use go_data::yaml::Value;

pub fn check(bundle: &Loaded, files: &Files, target: Option<Target>, findings: &mut Findings) {
    let mut faults = Faults { target, findings };
    deployments::check(bundle, &mut faults);
    accounts::check(bundle, &mut faults);
    metadata::check(bundle, files, &mut faults);
    objects::check(bundle, files, &mut faults);
    server::check(bundle, &mut faults);
    upgrades::check(bundle, &mut faults);
    webhooks::check(bundle, &mut faults);
}

/// Findings with the severity that they have for the target.
struct Faults<'a> {
    target: Option<Target>,
    findings: &'a mut Findings,
}

impl Faults<'_> {
    fn push<'a>(
        &mut self,
        rule: Rule,
        at: impl Into<FieldLocation<'a>>,
        message: impl Into<String>,
    ) {
        let Some(severity) = rule.severity_for(self.target) else { return };
        let mut message = message.into();
        if self.target.is_none() && matches!(rule.origin(), Origin::OlmV0 | Origin::OlmV1) {
            message = format!("{} refuses this bundle: {message}", rule.origin().name());
        }
        self.findings.push(severity, rule, at.into(), message);
    }
}

const DEPLOYMENTS: &str = "/spec/install/spec/deployments";

fn located_deployments(csv: &Value) -> impl Iterator<Item = (String, &Value)> {
    let list = of::list(csv, DEPLOYMENTS).iter().enumerate();
    list.map(|(at, deployment)| (format!("{DEPLOYMENTS}/{at}"), deployment))
}

/// Returns whether the CSV supports this install mode.
fn supports_mode(csv: &Value, mode: &str) -> bool {
    let is = |entry: &Value| {
        of::text(entry, "/type") == mode && entry.get("supported") == Some(&Value::Bool(true))
    };
    of::list(csv, "/spec/installModes").iter().any(is)
}
