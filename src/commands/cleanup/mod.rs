//! `operator-rs cleanup`
//!
//! ```text
//! objects that OLM would leave behind ─ Subscription ─ CRDs with their objects ─ ClusterServiceVersion ─ catalog and its server ─ OperatorGroup ─ namespace
//! ```
//!
//! The operator runs until its custom resources are gone, so that it can handle their finalizers. With OLM v1, a
//! ClusterExtension is in place of the Subscription and the ClusterServiceVersion.

mod find;
mod removals;
mod settle;
mod v1;

use std::path::Path;

use std::collections::BTreeSet;

use super::{RunCommand, WorkingDirectory};
use crate::app::cluster_access::{
    cluster_args::{self, ClusterArgs, DryRunArgs, SendMode},
    olm_namespace::{self, InstallNamespace},
    removal,
};
use cluster::{Action, Id, ProgressEvent, Verb};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{InstalledPackage, Namespace};
use olm::lifecycle::{self, V1_ALPHA1};

/// Remove an operator that OLM installed, its CRDs and resources
///
/// What `operator-rs run bundle` created is removed. Catalogs and OperatorGroups of others are kept, as are CRDs that
/// another installed operator owns too, and what existed before OLM installed the operator.
#[derive(clap::Args)]
#[command(
    arg(super::hidden_dir()),
    mut_arg("dry_run", DryRunArgs::after_reading),
    after_help = "\
Examples:
  operator-rs cleanup memcached-operator
  operator-rs cleanup memcached-operator --delete-all=false    # keep everything but the operator"
)]
pub struct Args {
    /// Name of the package
    #[arg(value_name = "PACKAGE")]
    package: InstalledPackage,
    /// Namespace of the operator [default: the one of the context]
    #[arg(short, long)]
    namespace: Option<Namespace>,
    /// Enable all other `--delete-…` flags
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true")]
    delete_all: bool,
    /// Delete the CRDs of the operator and all custom resources
    #[arg(long)]
    delete_crds: bool,
    /// Delete the OperatorGroup that `run bundle` created, if no other operator uses it
    #[arg(long)]
    delete_operator_groups: bool,
    /// Delete custom resources without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Unused
    }

    fn run(self, _dir: &Path) -> anyhow::Result<()> {
        cluster_args::with_hint(self.remove_operator())
    }
}

impl Args {
    fn remove_operator(&self) -> anyhow::Result<()> {
        let package = self.package.to_string();
        let mut cluster = self.cluster_args.connect_as(cluster::Owner::default())?;
        let namespace =
            self.namespace.as_ref().map_or_else(|| cluster.namespace.clone(), ToString::to_string);
        cluster.set_owner(olm_namespace::owner(&package, &namespace));
        let place = InstallNamespace { cluster, namespace };
        let found = match v1::find(&place, &package)? {
            Some(found) if !found.is_empty() => {
                if !self.delete_all && !self.delete_crds {
                    v1::require_all(&found)?;
                }
                found
            }
            of_v1 => {
                if self.cluster_args.sending() == SendMode::All {
                    settle::wait_until_idle(&place, &package, self.cluster_args.deadline())?;
                }
                let mut found = self.find_removals(&place, &package)?;
                found.kept.extend(of_v1.into_iter().flat_map(|removals| removals.kept));
                found
            }
        };
        if found.is_empty() {
            return found
                .refuse_if_operator_is_kept()
                .and_then(|()| explain_nothing_found(&place, &package));
        }
        if self.cluster_args.sending() != SendMode::Nothing {
            removal::attempt(&place.cluster, &found.collect_all(), &[])?;
        }
        let losses = found.collect_losses();
        if self.cluster_args.sending() != SendMode::All {
            removal::list(&losses);
            found.collect_all().iter().for_each(|live| report_action(Verb::Delete, &live.id, ""));
            if let Some(list) = found.late_list(&place, &package)? {
                report_action(Verb::Delete, &list.id, "once it lists nothing");
            }
            let namespace = found.namespace.iter();
            namespace
                .for_each(|live| report_action(Verb::Delete, &live.id, "if nothing else is in it"));
        } else {
            removal::confirm(&losses, &found.kept, self.yes)?;
            found.delete_all(&place, &package, self.cluster_args.deadline())?;
        }
        found.kept.iter().for_each(|(id, why)| report_action(Verb::Leave, id, why));
        Ok(())
    }
}

fn explain_nothing_found(place: &InstallNamespace, package: &str) -> anyhow::Result<()> {
    let missing = anyhow::format_err!(
        "nothing to remove: package `{package}` is not installed in namespace `{}`",
        place.namespace
    );
    // A user who may not list them in all namespaces gets the error without the hint.
    let all = place.cluster.list(V1_ALPHA1, "Subscription", "").unwrap_or_default();
    let there = all
        .iter()
        .filter(|subscription| subscription["spec"]["name"] == *package)
        .map(|subscription| Id::of(subscription).namespace);
    let there = there.chain(v1::installed_namespaces(place, package));
    let there: BTreeSet<String> =
        there.map(|namespace| format!("`--namespace {namespace}`")).collect();
    if there.is_empty() {
        Err(missing)
    } else {
        Err(missing).hint(format!(
            "it is installed elsewhere: pass {}",
            there.into_iter().collect::<Vec<_>>().join(" or ")
        ))
    }
}

/// Returns whether OLM has copied a ClusterServiceVersion here from another namespace.
fn is_copy(csv: &Value) -> bool {
    lifecycle::copied_from(csv).is_some()
}

fn report_action(verb: Verb, id: &Id, why: &str) {
    cluster_args::report(ProgressEvent::Action(Action::with_note(verb, id, why)));
}
