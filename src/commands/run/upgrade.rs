//! `operator-rs run bundle-upgrade`

use std::path::Path;

use super::{
    bundle::{apply_in_order, connect_to_namespace, require_same},
    follow::{self, OngoingInstallation},
    installation::Installation,
    serving::Catalog,
    v1,
};
use crate::app::cluster_access::olm_namespace::{InstallNamespace, cleanup};
use crate::{
    app::cluster_access::cluster_args::{self, DryRunArgs, SendMode},
    terminal,
};
use cluster::Id;
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{Deadline, Namespace};
use olm::lifecycle::{self, Files, Release, V1_ALPHA1};

/// Upgrade an operator that `run bundle` has installed to the version of another bundle
///
/// The new version replaces the installed one; `replaces` and `skips` in the bundle are ignored.
#[derive(clap::Args)]
#[command(
    arg(crate::commands::dir_of_paths()),
    mut_arg("dry_run", DryRunArgs::after_reading),
    after_help = "\
Examples:
  operator-rs run bundle-upgrade ./bundle
  operator-rs run bundle-upgrade --target olmv1 quay.io/example/memcached-operator-bundle:v0.0.2"
)]
pub struct Args {
    /// Namespace of the operator [default: the one of the context]
    #[arg(short, long)]
    namespace: Option<Namespace>,
    #[command(flatten)]
    installation: Installation,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let namespace = self.namespace.as_ref();
        self.installation.require_use(None)?;
        self.installation.run(dir, namespace, v1::Verb::Upgrade, |files, release| {
            self.upgrade_operator(files, release)
        })
    }

    fn upgrade_operator(&self, files: &Files, release: &Release) -> anyhow::Result<()> {
        let sending = self.installation.cluster_args.sending();
        let place = connect_to_namespace(
            &self.installation.cluster_args,
            self.namespace.as_ref(),
            &release.package,
        )?;
        place.require_olm()?;
        let namespace = &place.namespace;
        let subscription = find_subscription(&place, release)?;
        let name = &Id::of(&subscription).name;
        let installed = subscription["status"]["installedCSV"].as_str().unwrap_or_default();
        if installed == release.name() {
            require_same(&place, release)?;
            terminal::print(&format!(
                "`{installed}` is already installed in namespace `{namespace}`\n"
            ));
            return Ok(());
        }
        if installed.is_empty() {
            return Err(anyhow::format_err!("Subscription {namespace}/{name} has not installed anything yet"))
                .hint(format!("wait until it has, or start again: `operator-rs cleanup {} --namespace {namespace}`", release.package));
        }
        require_ours(&place, release, &subscription)?;
        place.require_possible(&release.csv)?;
        if let Some(csv) = place.csv(installed)? {
            let version = csv["spec"]["version"].as_str().unwrap_or_default();
            require_newer(installed, version, release, &place, "run bundle")?;
        }
        let Catalog { source, servers } =
            self.installation.serving.build_catalog(files, release, Some(installed), namespace)?;
        let starting = subscription["spec"]["startingCSV"].as_str().unwrap_or_default();
        let catalog = Id::of(&source).name;
        let mut all = servers.clone();
        all.extend([source, lifecycle::build_subscription(release, name, namespace, starting)?]);
        if sending == SendMode::Nothing {
            cluster_args::print_planned("apply", &all.iter().map(Id::of).collect::<Vec<_>>());
            return Ok(());
        }
        apply_in_order(&place, &release.package, &all, &self.installation.cluster_args)?;
        if sending == SendMode::DryRun {
            return Ok(());
        }
        let following = OngoingInstallation {
            place: &place,
            package: &release.package,
            source: &catalog,
            subscription: name,
            csv: release.name(),
            replaced: Some(installed),
        };
        following.wait_until_installed(self.installation.cluster_args.deadline())?;
        require_same(&place, release)?;
        remove_old_servers(&place, &catalog, &servers, self.installation.cluster_args.deadline())?;
        follow::print_finished(Some(installed), release, namespace);
        Ok(())
    }
}

/// The one Subscription of the package.
fn find_subscription(place: &InstallNamespace, release: &Release) -> anyhow::Result<Value> {
    let (package, namespace) = (&release.package, &place.namespace);
    let mut all = place.subscriptions(package)?;
    match all.len() {
        1 => Ok(all.remove(0)),
        0 => Err(anyhow::format_err!("namespace `{namespace}` has no Subscription to package `{package}`"))
            .hint("install the operator first, with `operator-rs run bundle`; `--namespace` names the namespace that it is in"),
        _ => Err(anyhow::format_err!("namespace `{namespace}` has {} Subscriptions to package `{package}`", all.len()))
            .hint("OLM allows one: delete the others"),
    }
}

/// Fails if the version is not a later one: OLM upgrades to no other.
/// `install` is the command that installs.
pub fn require_newer(
    installed: &str,
    version: &str,
    release: &Release,
    place: &InstallNamespace,
    install: &str,
) -> anyhow::Result<()> {
    let parsed = |version: &str| version.parse::<semver::Version>().ok();
    let new = release.csv["spec"]["version"].as_str().and_then(parsed);
    let (Some(old), Some(new)) = (parsed(version), new) else {
        return Ok(());
    };
    if new > old {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "`{}` has version {new}, which is not later than {old} of the installed `{installed}`",
        release.name()
    ))
    .hint(format!(
        "raise the version, or remove `{installed}` first with {} and install with `operator-rs {install} --namespace {}`",
        cleanup(&release.package, &place.namespace),
        place.namespace
    ))
}

/// Fails if the operator is installed from a catalog that `run bundle` did not create.
fn require_ours(
    place: &InstallNamespace,
    release: &Release,
    subscription: &Value,
) -> anyhow::Result<()> {
    let spec = &subscription["spec"];
    let catalog = spec["source"].as_str().unwrap_or_default();
    let is_ours = spec["sourceNamespace"] == *place.namespace && {
        let id = place.id(V1_ALPHA1, "CatalogSource", catalog);
        place.cluster.find_existing(&[id])?.iter().all(|live| live.removal.is_created())
    };
    if is_ours && catalog == lifecycle::catalog_name(&release.package)? {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "package `{}` is installed from CatalogSource {}/{catalog}, which `operator-rs run bundle` did not create",
        release.package,
        spec["sourceNamespace"].as_str().unwrap_or_default()
    ))
    .hint("add the bundle to that catalog, or install the operator with `operator-rs run bundle` instead")
}

/// Deletes what served the catalog before.
fn remove_old_servers(
    place: &InstallNamespace,
    catalog: &str,
    current: &[Value],
    deadline: Deadline,
) -> anyhow::Result<()> {
    let current: Vec<Id> = current.iter().map(Id::of).collect();
    let old: Vec<Id> = place.servers(catalog)?.iter().map(Id::of).collect();
    let old: Vec<Id> = old.into_iter().filter(|id| !current.contains(id)).collect();
    let mut old = place.cluster.find_existing(&old)?;
    old.retain(|live| live.removal.is_created());
    place.cluster.delete(&old, deadline, &mut cluster_args::report)
}
