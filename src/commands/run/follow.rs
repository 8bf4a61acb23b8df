//! Follows an installation: approves its InstallPlan, waits for its ClusterServiceVersion, and explains what keeps it.

use std::time::Duration;

use crate::app::cluster_access::olm_namespace::{InstallNamespace, cleanup};
use crate::{app::cluster_access::cluster_args, terminal};
use cluster::WaitState;
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};
use model::Deadline;
use olm::lifecycle::{self, Progress, Release, Seen, V1_ALPHA1};

/// An installation or an upgrade that OLM carries out.
pub struct OngoingInstallation<'a> {
    pub place: &'a InstallNamespace,
    pub package: &'a str,
    pub source: &'a str,
    pub subscription: &'a str,
    /// The ClusterServiceVersion that is to be installed.
    pub csv: &'a str,
    /// The installed one that it replaces, in an upgrade.
    pub replaced: Option<&'a str>,
}

/// The hint for most failures.
pub const FIX: &str = "fix the problem and run the command again";

/// The way out of an installation that has failed.
pub fn kept_hint(fix: &str, cleanup: &str) -> String {
    format!("the created objects were kept: {fix}, or remove them with {cleanup}")
}

/// The way out of an upgrade that OLM has begun and does not complete, which keeps the custom resources: OLM neither
/// returns to the old version nor upgrades to another one.
fn after_upgrade(old: &str, package: &str, namespace: &str) -> String {
    format!(
        "`{old}` stays installed until the upgrade is complete; to start again with another bundle and keep the CRDs and the custom resources, use `operator-rs cleanup {package} --namespace {namespace} --delete-all=false`, then `operator-rs run bundle --namespace {namespace}`"
    )
}

/// The failure of an installation, with what explains it.
pub fn installation_error(csv: &str, why: &str, lines: &[String]) -> anyhow::Error {
    let mut text = format!("`{csv}` was not installed: {why}");
    lines.iter().for_each(|line| text += &format!("\n  {line}"));
    anyhow::Error::msg(text)
}

/// Prints that a release is installed, in place of another if there was one.
pub fn print_finished(replaced: Option<&str>, release: &Release, namespace: &str) {
    let name = release.name();
    terminal::print(&match replaced {
        Some(old) => format!("`{old}` in namespace `{namespace}` is upgraded to `{name}`\n"),
        None => format!("`{name}` is installed in namespace `{namespace}`\n"),
    });
}

/// `Succeeded` may be followed by `Installing` once more, and a failure by another attempt.
const SETTLED: u32 = 4;

/// The time to wait for a Subscription that cannot be resolved: another catalog may still be connecting.
const PATIENCE: Duration = Duration::from_secs(30);

impl OngoingInstallation<'_> {
    pub fn wait_until_installed(&self, deadline: Deadline) -> anyhow::Result<()> {
        let (mut done, mut failed, mut stuck) = (0, 0, None);
        // The first two lines of a reason are shown while the command waits: the second has what is missing.
        let mut reason = String::new();
        let left = self.place.cluster.wait_until(deadline, &mut cluster_args::report, || {
            let seen = self.read_state()?;
            let progress = lifecycle::install_progress(&seen, self.csv);
            done = if progress == Progress::Done { done + 1 } else { 0 };
            failed = if matches!(progress, Progress::Never(_)) { failed + 1 } else { 0 };
            if !matches!(progress, Progress::Stuck(_)) {
                stuck = None;
            }
            reason = match progress {
                Progress::Done if done == SETTLED => return Ok(WaitState::Done),
                Progress::Done => {
                    format!(
                        "ClusterServiceVersion {} succeeded; checking that it stays so",
                        self.csv
                    )
                }
                Progress::Approve => self.approve_plan(seen.plan.as_ref())?,
                Progress::Not(why) => why,
                Progress::Stuck(why) => {
                    let end = *stuck.get_or_insert_with(|| Deadline::after(PATIENCE));
                    if end.is_over() {
                        return self.give_up(&why);
                    }
                    why
                }
                Progress::Never(why) if failed == SETTLED => return self.give_up(&why),
                Progress::Never(why) => why,
            };
            Ok(WaitState::Not(reason.lines().take(2).map(str::trim).collect::<Vec<_>>().join(": ")))
        })?;
        match left {
            None => Ok(()),
            Some(_) => self.give_up(&format!("timed out: {reason}")),
        }
    }

    fn read_state(&self) -> anyhow::Result<Seen> {
        let place = self.place;
        let subscription = place.read(V1_ALPHA1, "Subscription", self.subscription)?;
        let plan = subscription
            .as_ref()
            .map(|subscription| &subscription["status"]["installPlanRef"]["name"]);
        let plan = match plan.and_then(Value::as_str) {
            Some(name) => place.read(V1_ALPHA1, "InstallPlan", name)?,
            None => None,
        };
        let source = place.read(V1_ALPHA1, "CatalogSource", self.source)?;
        Ok(Seen { source, subscription, plan, csv: place.csv(self.csv)? })
    }

    /// Approves an InstallPlan, unless that would also approve the upgrade of another Subscription.
    fn approve_plan(&self, plan: Option<&Value>) -> anyhow::Result<String> {
        let Some(plan) = plan else { return Ok(String::new()) };
        let name = plan["metadata"]["name"].as_str().unwrap_or_default();
        let others = self.place.cluster.list(V1_ALPHA1, "Subscription", &self.place.namespace)?;
        let other = others.iter().find(|other| {
            other["metadata"]["name"] != *self.subscription
                && other["spec"]["installPlanApproval"] == "Manual"
                && other["status"]["installPlanRef"]["name"] == *name
        });
        if let Some(other) = other {
            let other = other["metadata"]["name"].as_str().unwrap_or_default();
            return Err(anyhow::format_err!(
                "InstallPlan {name} was not approved: it would also update Subscription {other}, whose updates need approval"
            ))
            .hint(format!(
                "approve both with `kubectl patch installplan {name} --namespace {} --type merge --patch '{{\"spec\":{{\"approved\":true}}}}'`, and run the command again",
                self.place.namespace
            ));
        }
        let approved = self.place.cluster.merge(plan, json!({"spec": {"approved": true}}))?;
        Ok(if approved {
            format!("InstallPlan {name} is approved")
        } else {
            format!("InstallPlan {name} waits for approval")
        })
    }

    fn give_up<T>(&self, why: &str) -> anyhow::Result<T> {
        let error = installation_error(self.csv, why, &self.explain_deployments()?);
        let cleanup = cleanup(self.package, &self.place.namespace);
        // OLM does not read the catalog again for an InstallPlan that it has.
        let is_planned = self.read_state()?.plan_of(self.csv).is_some();
        Err(error).hint(match (is_planned, self.replaced) {
            (true, Some(old)) => after_upgrade(old, self.package, &self.place.namespace),
            (false, Some(old)) => format!("`{old}` stays installed: {FIX}"),
            (true, None) => format!(
                "the created objects were kept, with the current manifests: after a change of the bundle, remove them with {cleanup} before you run the command again"
            ),
            (false, None) => kept_hint(FIX, &cleanup),
        })
    }

    /// The state of the operator's Deployments, and of that of the catalog.
    fn explain_deployments(&self) -> anyhow::Result<Vec<String>> {
        let mut lines = Vec::new();
        if let Some(csv) = self.place.csv(self.csv)? {
            // OLM creates them only when all requirements are met.
            if csv["status"]["phase"] == "Installing"
                || csv["status"]["reason"] == "InstallCheckFailed"
            {
                for name in lifecycle::deployment_names(&csv) {
                    lines.extend(self.place.cluster.explain_unavailability(&self.place.id(
                        "apps/v1",
                        "Deployment",
                        &name,
                    ))?);
                }
            }
        } else {
            for server in self.place.servers(self.source)? {
                let id = cluster::Id::of(&server);
                if id.is_workload() {
                    lines.extend(self.place.cluster.explain_unavailability(&id)?);
                }
            }
        }
        Ok(lines)
    }
}
