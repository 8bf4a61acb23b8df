//! `operator-rs run bundle --target olmv1` and `run bundle-upgrade --target olmv1`
//!
//! OLM v1 reads everything from a registry. The bundle is there; a catalog with this bundle alone is pushed to the same
//! repository.
//!
//! ```text
//! bundle's image ─ validate ─ catalog's image ─ push ─ ClusterCatalog, served ─ ClusterExtension, installed ─ Deployments, available
//! ```

mod catalog;
mod follow;

use std::path::Path;

use self::{catalog::BundleInRegistry, follow::OngoingInstallationV1};
use super::{
    bundle::{IF_MISSING, connect_to_namespace},
    follow as follow_up,
    upgrade::require_newer,
};
use crate::app::{
    cluster_access::{
        cluster_args::{self, ClusterArgs, SendMode},
        olm_namespace::{InstallNamespace, again_or_cleanup, cleanup},
    },
    images::{self, RegistryAccess},
};
use cluster::{Action, ApplyOptions, Id, ProgressEvent};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{Image, Namespace};
use olm::lifecycle::{
    self,
    v1::{self, API, EXTENSIONS},
};

/// Flags that are only for OLM v1.
#[derive(clap::Args)]
#[command(next_help_heading = "OLM v1")]
pub struct V1Flags {
    /// Name of the catalog's image [default: that of the bundle's image, with `-catalog` after its tag]
    #[arg(long, value_name = "IMAGE")]
    catalog_image: Option<Image>,
    /// Service account in the operator's namespace with which OLM installs the operator [default: a new one with the role
    /// `cluster-admin`, if OLM needs one]
    #[arg(long, value_name = "NAME")]
    installer: Option<String>,
}

impl V1Flags {
    /// The first flag that is given, by its name.
    pub fn first_given_flag(&self) -> Option<&'static str> {
        let image = self.catalog_image.as_ref().map(|_| "--catalog-image");
        image.or_else(|| self.installer.as_ref().map(|_| "--installer"))
    }
}

/// The operator to install, and the settings for it.
pub struct InstallRequest<'a> {
    pub bundle: &'a str,
    pub namespace: Option<&'a Namespace>,
    pub access: &'a RegistryAccess,
    pub cluster_args: &'a ClusterArgs,
    pub flags: &'a V1Flags,
    pub verb: Verb,
}

/// The action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Install,
    Upgrade,
}

impl InstallRequest<'_> {
    pub fn run(&self, dir: &Path) -> anyhow::Result<()> {
        let source = BundleInRegistry::read(dir, self.bundle, self.access)?;
        let to = match &self.flags.catalog_image {
            Some(image) => image.clone(),
            None => source.default_catalog()?,
        };
        images::named(&to)?;
        let package = &source.release.package;
        let place = connect_to_namespace(self.cluster_args, self.namespace, package)?;
        if self.cluster_args.sending() == SendMode::Nothing {
            let account = self.choose_account(&place, package, None, true)?;
            let all = collect_objects(&place, package, account, &to.to_string(), None)?;
            let namespace = Id::of(&lifecycle::build_namespace(&place.namespace, package)?);
            cluster_args::report(ProgressEvent::Action(Action::with_note(
                cluster::Verb::Create,
                &namespace,
                IF_MISSING,
            )));
            cluster_args::print_planned("apply", &all.iter().map(Id::of).collect::<Vec<_>>());
            return Ok(());
        }
        require_v1(&place)?;
        source.require_free(&to, self.access)?;
        let existing = self.find_existing(&place, &source)?;
        let status = |extension: &Value| {
            extension["status"]["install"]["bundle"]["name"].as_str().map(str::to_owned)
        };
        let installed = existing.as_ref().and_then(status);
        let replaced = installed.as_deref().filter(|name| *name != source.release.name());
        let catalog = source.build_catalog(replaced)?;
        let image = catalog::pinned_name(&to, catalog.digest().as_str());
        // A user who names an account need not have the right to read CRDs.
        let crd = match self.flags.installer {
            Some(_) => None,
            None => place.cluster.read_crd(EXTENSIONS)?,
        };
        let needs_account = crd.as_ref().is_none_or(v1::requires_account);
        let account = self.choose_account(&place, package, existing.as_ref(), needs_account)?;
        let namespace = place.missing_namespace(package)?;
        let all = collect_objects(&place, package, account, &image, namespace)?;
        require_ours(&place, &all)?;
        let sending = self.cluster_args.sending();
        if sending == SendMode::DryRun {
            return self.apply_objects(&place, &all, true, &mut cluster_args::report);
        }
        // The server's warnings come when the objects are written.
        self.apply_objects(&place, &all, true, &mut |_| {})?;
        images::push(&catalog, &to, self.access)?;
        let following = OngoingInstallationV1 {
            place: &place,
            release: &source.release,
            catalog: &image,
            bundle: source.image(),
            deadline: self.cluster_args.deadline(),
            replaced,
        };
        let (extension, first) = all.split_last().expect("the ClusterExtension is the last");
        self.apply_objects(&place, first, false, &mut cluster_args::report)?;
        following.wait_until_served()?;
        let extension = std::slice::from_ref(extension);
        self.apply_objects(&place, extension, false, &mut cluster_args::report)?;
        following.wait_until_installed()?;
        place.cluster.wait_until_available(
            &following.expected_deployments(),
            self.cluster_args.deadline(),
            &again_or_cleanup(package, &place.namespace),
            &mut cluster_args::report,
        )?;
        follow_up::print_finished(replaced, &source.release, &place.namespace);
        Ok(())
    }

    fn apply_objects(
        &self,
        place: &InstallNamespace,
        all: &[Value],
        dry_run: bool,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        let options =
            ApplyOptions { dry_run, force: false, deadline: self.cluster_args.deadline() };
        place.cluster.apply(all, options, report)
    }

    /// The name of the service account that OLM installs with, and its objects if it is ours.
    fn choose_account(
        &self,
        place: &InstallNamespace,
        package: &str,
        existing: Option<&Value>,
        is_needed: bool,
    ) -> anyhow::Result<Option<(String, Vec<Value>)>> {
        if let Some(name) = &self.flags.installer {
            if self.cluster_args.sending() != SendMode::Nothing {
                require_account(place, name)?;
            }
            return Ok(Some((name.clone(), Vec::new())));
        }
        if !is_needed {
            return Ok(None);
        }
        let (name, objects) = v1::installer_account(package, &place.namespace)?;
        let account =
            existing.and_then(|extension| extension["spec"]["serviceAccount"]["name"].as_str());
        if let Some(other) = account.filter(|other| *other != name) {
            return Ok(Some((other.to_owned(), Vec::new())));
        }
        Ok(Some((name, objects.into())))
    }

    /// The ClusterExtension of the package. Fails if it is not what the command expects.
    fn find_existing(
        &self,
        place: &InstallNamespace,
        source: &BundleInRegistry,
    ) -> anyhow::Result<Option<Value>> {
        let (package, name) = (&source.release.package, source.release.name());
        let mut found = place.extensions(package)?;
        let many = found.len();
        let Some(extension) = found.pop() else {
            return match self.verb {
                Verb::Install => Ok(None),
                Verb::Upgrade => Err(anyhow::format_err!(
                    "no ClusterExtension installs package `{package}`"
                ))
                .hint("install the operator first, with `operator-rs run bundle --target olmv1`"),
            };
        };
        let bundle = &extension["status"]["install"]["bundle"];
        let installed = bundle["name"].as_str();
        let id = Id::of(&extension);
        let namespace = extension["spec"]["namespace"].as_str().unwrap_or_default();
        let cleanup = cleanup(package, namespace);
        let is_ours = id.name == *package
            && namespace == place.namespace
            && many == 1
            && place
                .cluster
                .find_existing(std::slice::from_ref(&id))?
                .iter()
                .all(|live| live.removal.is_created());
        if !is_ours {
            return Err(anyhow::format_err!(
                "{id} already installs package `{package}` in namespace `{namespace}`"
            ))
            .hint(if namespace == place.namespace {
                format!("`operator-rs run bundle --target olmv1` did not create it: upgrade it as it was installed, or remove it first with `kubectl delete clusterextension {}`", id.name)
            } else {
                format!("OLM v1 installs a package once on a cluster: pass `--namespace {namespace}` if `operator-rs run bundle --target olmv1` created it, or remove it first with {cleanup}")
            });
        }
        match (self.verb, installed) {
            (Verb::Install, Some(installed)) if installed != name => Err(anyhow::format_err!(
                "{id} has already installed `{installed}`"
            ))
            .hint(format!("upgrade it with `operator-rs run bundle-upgrade --target olmv1`, or remove it first with {cleanup}")),
            (Verb::Upgrade, Some(installed)) if installed != name => {
                let version = bundle["version"].as_str().unwrap_or_default();
                require_newer(installed, version, &source.release, place, "run bundle --target olmv1")?;
                Ok(Some(extension))
            }
            _ => Ok(Some(extension)),
        }
    }
}

/// Everything that is applied, in this order.
fn collect_objects(
    place: &InstallNamespace,
    package: &str,
    account: Option<(String, Vec<Value>)>,
    image: &str,
    namespace: Option<Value>,
) -> anyhow::Result<Vec<Value>> {
    let mut objects: Vec<Value> = namespace.into_iter().collect();
    let name = account.as_ref().map(|account| account.0.clone());
    objects.extend(account.into_iter().flat_map(|account| account.1));
    objects.push(v1::cluster_catalog(package, image)?);
    objects.push(v1::cluster_extension(package, &place.namespace, name.as_deref())?);
    Ok(objects)
}

/// Fails if one of these objects, except for the namespace, was not created by this command.
fn require_ours(place: &InstallNamespace, all: &[Value]) -> anyhow::Result<()> {
    let ids: Vec<Id> = all.iter().map(Id::of).filter(|id| id.kind != "Namespace").collect();
    let found = place.cluster.find_existing(&ids)?;
    match found.iter().find(|live| !live.removal.is_created()) {
        None => Ok(()),
        Some(live) => Err(anyhow::format_err!(
            "{} exists, and `operator-rs run bundle --target olmv1` did not create it for namespace `{}`",
            live.id,
            place.namespace
        ))
        .hint("remove it, or rename the package"),
    }
}

/// Fails if the server says that there is no such service account.
fn require_account(place: &InstallNamespace, name: &str) -> anyhow::Result<()> {
    // A user who may not read the account is trusted to name one that exists.
    match place.read("v1", "ServiceAccount", name) {
        Ok(None) => {
            Err(anyhow::format_err!("there is no ServiceAccount {}/{name}", place.namespace)).hint(
                "create it with the rights that the operator needs, or leave out `--installer`",
            )
        }
        _ => Ok(()),
    }
}

/// Fails if the server has no OLM v1.
fn require_v1(place: &InstallNamespace) -> anyhow::Result<()> {
    let cluster = &place.cluster;
    if cluster.serves(API, "ClusterExtension")? && cluster.serves(API, "ClusterCatalog")? {
        return Ok(());
    }
    Err(anyhow::format_err!("OLM v1 is not installed on {}", cluster.server)).hint(
        "install it with the script of a release on https://github.com/operator-framework/operator-controller/releases; without `--target olmv1`, OLM v0 is used, which `operator-rs olm install` installs",
    )
}
