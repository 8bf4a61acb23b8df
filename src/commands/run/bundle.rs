//! `operator-rs run bundle`

use std::path::Path;

use super::{
    follow::{self, OngoingInstallation},
    installation::Installation,
    serving::Catalog,
    v1,
};
use crate::app::cluster_access::olm_namespace::{self, InstallNamespace, again_or_cleanup};
use crate::{
    app::cluster_access::cluster_args::{self, ClusterArgs, SendMode},
    terminal,
};
use cluster::{Action, ApplyOptions, Id, ProgressEvent, Verb};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Namespace;
use olm::lifecycle::{self, Files, GroupChoice, InstallMode, Release};

/// Install the operator of a bundle with OLM, and wait until it runs
///
/// The bundle's manifests are served to OLM by a pod on the cluster: no bundle image and no catalog image is needed. OLM
/// resolves dependencies from the catalogs that the cluster has. OLM v1 (`--target olmv1`) pulls everything from a registry: the
/// bundle must be an image there, and a catalog is pushed to the same repository.
#[derive(clap::Args)]
#[command(
    arg(crate::commands::dir_of_paths()),
    after_help = "\
Examples:
  operator-rs run bundle ./bundle
  operator-rs run bundle ./bundle --namespace memcached --install-mode OwnNamespace
  operator-rs run bundle quay.io/example/memcached-operator-bundle:v0.0.1
  operator-rs run bundle --target olmv1 quay.io/example/memcached-operator-bundle:v0.0.1"
)]
pub struct Args {
    /// Namespace of the operator, which is created if it does not exist [default: the one of the context]
    #[arg(short, long)]
    namespace: Option<Namespace>,
    /// Which namespaces the operator watches: AllNamespaces, OwnNamespace, SingleNamespace=NS or MultiNamespace=NS,NS
    /// [default: the first of these that the operator supports, or what the OperatorGroup of the namespace selects]
    #[arg(long, value_name = "MODE")]
    install_mode: Option<InstallMode>,
    #[command(flatten)]
    installation: Installation,
}

/// When the namespace is created.
pub const IF_MISSING: &str = "if it does not exist";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let namespace = self.namespace.as_ref();
        self.installation.require_use(self.install_mode.as_ref().map(|_| "--install-mode"))?;
        self.installation.run(dir, namespace, v1::Verb::Install, |files, release| {
            self.install_operator(files, release)
        })
    }

    fn install_operator(&self, files: &Files, release: &Release) -> anyhow::Result<()> {
        let sending = self.installation.cluster_args.sending();
        let place = connect_to_namespace(
            &self.installation.cluster_args,
            self.namespace.as_ref(),
            &release.package,
        )?;
        let namespace = &place.namespace;
        let Catalog { source, servers } =
            self.installation.serving.build_catalog(files, release, None, namespace)?;
        let name = lifecycle::subscription_name(release.name());
        let subscription =
            lifecycle::build_subscription(release, &name, namespace, release.name())?;
        if sending == SendMode::Nothing {
            let group = GroupChoice::choose(&[], release, self.install_mode.as_ref(), namespace)?;
            let all = collect_objects(None, servers, group, source, subscription);
            let namespace = Id::of(&lifecycle::build_namespace(namespace, &release.package)?);
            cluster_args::report(ProgressEvent::Action(Action::with_note(
                Verb::Create,
                &namespace,
                IF_MISSING,
            )));
            cluster_args::print_planned("apply", &all.iter().map(Id::of).collect::<Vec<_>>());
            return Ok(());
        }
        place.require_olm()?;
        place.require_possible(&release.csv)?;
        require_new(&place, release, &name)?;
        if place.subscriptions(&release.package)?.is_empty() {
            require_free(&place, release)?;
        }
        let group =
            GroupChoice::choose(&place.groups()?, release, self.install_mode.as_ref(), namespace)?;
        let running = OngoingInstallation {
            place: &place,
            package: &release.package,
            source: &Id::of(&source).name,
            subscription: &name,
            csv: release.name(),
            replaced: None,
        };
        let created = place.missing_namespace(&release.package)?;
        let all = collect_objects(created, servers, group, source.clone(), subscription);
        apply_in_order(&place, &release.package, &all, &self.installation.cluster_args)?;
        if sending == SendMode::All {
            running.wait_until_installed(self.installation.cluster_args.deadline())?;
            require_same(&place, release)?;
            follow::print_finished(None, release, namespace);
        }
        Ok(())
    }
}

/// The place of a package.
pub fn connect_to_namespace(
    cluster_args: &ClusterArgs,
    namespace: Option<&Namespace>,
    package: &str,
) -> anyhow::Result<InstallNamespace> {
    let mut cluster = cluster_args.connect_as(cluster::Owner::default())?;
    let namespace = namespace.map_or_else(|| cluster.namespace.clone(), ToString::to_string);
    cluster.set_owner(olm_namespace::owner(package, &namespace));
    Ok(InstallNamespace { cluster, namespace })
}

/// Applies everything after a dry run of everything. OLM gets a catalog only when it is served, as OLM waits ever longer
/// between two attempts to connect.
pub fn apply_in_order(
    place: &InstallNamespace,
    package: &str,
    all: &[Value],
    cluster_args: &ClusterArgs,
) -> anyhow::Result<()> {
    let dry_run = cluster_args.sending() == SendMode::DryRun;
    let options =
        |dry_run| ApplyOptions { dry_run, force: false, deadline: cluster_args.deadline() };
    if dry_run {
        return place.cluster.apply(all, options(true), &mut cluster_args::report);
    }
    // The server's warnings come when the objects are written.
    place.cluster.apply(all, options(true), &mut |_| {})?;
    let is_first = |object: &&Value| Id::of(object).group() != "operators.coreos.com";
    let first: Vec<Value> = all.iter().filter(is_first).cloned().collect();
    let rest: Vec<Value> = all.iter().filter(|object| !is_first(object)).cloned().collect();
    place.cluster.apply(&first, options(false), &mut cluster_args::report)?;
    place.cluster.wait_until_available(
        &first,
        cluster_args.deadline(),
        &again_or_cleanup(package, &place.namespace),
        &mut cluster_args::report,
    )?;
    place.cluster.apply(&rest, options(false), &mut cluster_args::report)
}

/// Everything that is applied, in this order.
fn collect_objects(
    namespace: Option<Value>,
    servers: Vec<Value>,
    group: GroupChoice,
    source: Value,
    subscription: Value,
) -> Vec<Value> {
    let mut objects: Vec<Value> = namespace.into_iter().chain(servers).collect();
    if let GroupChoice::New(group) = group {
        objects.push(group);
    }
    objects.extend([source, subscription]);
    objects
}

/// Fails if objects of the operator's namespace exist that OLM would take over; warns of others.
fn require_free(place: &InstallNamespace, release: &Release) -> anyhow::Result<()> {
    let named = release.manifests.iter().map(|manifest| {
        let id = Id::of(manifest);
        place.id(&id.api_version, &id.kind, &id.name)
    });
    let deployments = lifecycle::deployment_names(&release.csv);
    let deployments = deployments.iter().map(|name| place.id("apps/v1", "Deployment", name));
    let accounts = lifecycle::service_accounts(&release.csv);
    let accounts = accounts.iter().map(|name| place.id("v1", "ServiceAccount", name));
    let ids: Vec<Id> = named.chain(deployments).chain(accounts).collect();
    let mut taken = Vec::new();
    // A user who may not read an object can still install: OLM has the rights, not the user.
    let found =
        ids.iter().filter_map(|id| place.cluster.find_existing(std::slice::from_ref(id)).ok());
    for live in found.flatten() {
        let id = Id::of(&live.object);
        if lifecycle::has_owner_of_olm(&live.object)
            || lifecycle::foreign_reason(&live.object).is_none()
        {
            continue;
        }
        if id.namespace.is_empty() {
            terminal::warn(format!(
                "{id} existed before, and OLM did not create it: OLM may change it, and `operator-rs cleanup` keeps it"
            ));
        } else {
            taken.push(id.to_string());
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    let verb = if taken.len() == 1 { "exists" } else { "exist" };
    Err(anyhow::format_err!("{} {verb}, and OLM did not create it", taken.join(", ")))
        .hint("OLM would take it over, and remove it with the operator: remove what runs the operator now, e.g. with `operator-rs undeploy`, or pass another `--namespace`")
}

/// Fails if this version is installed with another content.
pub fn require_same(place: &InstallNamespace, release: &Release) -> anyhow::Result<()> {
    let csv = place.csv(release.name())?.filter(|csv| lifecycle::copied_from(csv).is_none());
    let Some(path) = csv.and_then(|csv| lifecycle::csv_difference(&csv, &release.csv)) else {
        return Ok(());
    };
    Err(anyhow::format_err!(
        "`{}` is installed in namespace `{}`, but not with the content of this bundle: `{path}` differs",
        release.name(),
        place.namespace
    ))
    .hint(format!(
        "OLM does not install a version twice: raise the version and use `operator-rs run bundle-upgrade`, or remove it first with `operator-rs cleanup {} --namespace {}`",
        release.package, place.namespace
    ))
}

/// Fails if the package is already installed, except for what an earlier run of this command has begun.
fn require_new(place: &InstallNamespace, release: &Release, name: &str) -> anyhow::Result<()> {
    let (package, namespace) = (&release.package, &place.namespace);
    let cleanup =
        format!("remove it first with `operator-rs cleanup {package} --namespace {namespace}`");
    if let Some(subscription) = place.subscriptions(package)?.first() {
        let is_same = subscription["metadata"]["name"] == *name
            && subscription["spec"]["startingCSV"] == *release.name()
            && lifecycle::is_server_of(subscription, &lifecycle::catalog_name(package)?);
        let installed = subscription["status"]["installedCSV"].as_str().unwrap_or("nothing yet");
        if !is_same || (installed != "nothing yet" && installed != release.name()) {
            return Err(anyhow::format_err!(
                "namespace `{namespace}` already has Subscription {} to package `{package}` (installed: {installed})",
                subscription["metadata"]["name"].as_str().unwrap_or_default()
            ))
            .hint(format!("upgrade it with `operator-rs run bundle-upgrade`, or {cleanup}"));
        }
        return require_same(place, release);
    }
    match place.csv(release.name())? {
        None => Ok(()),
        Some(csv) => match lifecycle::copied_from(&csv) {
            Some(from) => Err(anyhow::format_err!(
                "`{}` is already installed in namespace `{from}`, for all namespaces",
                release.name()
            ))
            .hint(format!(
                "remove it first with `operator-rs cleanup {package} --namespace {from}`"
            )),
            None => Err(anyhow::format_err!(
                "ClusterServiceVersion {namespace}/{} exists, and no Subscription for it",
                release.name()
            ))
            .hint(cleanup),
        },
    }
}
