//! Follows an installation by OLM v1, and explains what keeps it.

use std::time::Duration;

use crate::{
    app::cluster_access::{
        cluster_args,
        olm_namespace::{InstallNamespace, cleanup},
    },
    commands::run::follow::{FIX, installation_error, kept_hint},
};
use cluster::{Id, WaitState};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};
use model::Deadline;
use olm::lifecycle::{
    self, Release,
    v1::{self, API, V1Progress},
};

/// An installation or an upgrade that OLM v1 carries out.
pub struct OngoingInstallationV1<'a> {
    pub place: &'a InstallNamespace,
    pub release: &'a Release,
    /// The images of the catalog and of the bundle, with their digests.
    pub catalog: &'a str,
    pub bundle: &'a str,
    pub deadline: Deadline,
    /// The installed version that it replaces, in an upgrade.
    pub replaced: Option<&'a str>,
}

/// The time to wait after a failure that OLM retries.
const PATIENCE: Duration = Duration::from_secs(30);

impl OngoingInstallationV1<'_> {
    /// Waits until catalogd serves the catalog.
    pub fn wait_until_served(&self) -> anyhow::Result<()> {
        self.wait_until_done(|| {
            let catalog = self
                .read_object("ClusterCatalog", &lifecycle::catalog_name(&self.release.package)?)?;
            Ok(v1::serving_progress(&catalog, self.catalog))
        })
    }

    /// Waits until operator-controller has applied the bundle.
    pub fn wait_until_installed(&self) -> anyhow::Result<()> {
        self.wait_until_done(|| {
            let extension = self.read_object("ClusterExtension", &self.release.package)?;
            Ok(v1::installed_progress(&extension, self.release.name(), self.bundle))
        })
    }

    /// The operator's Deployments, by their names.
    pub fn expected_deployments(&self) -> Vec<Value> {
        let names = lifecycle::deployment_names(&self.release.csv).into_iter();
        let metadata = |name| json!({"name": name, "namespace": self.place.namespace});
        names
            .map(|name| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(name)}))
            .collect()
    }

    fn wait_until_done(
        &self,
        mut look: impl FnMut() -> anyhow::Result<V1Progress>,
    ) -> anyhow::Result<()> {
        let (mut reason, mut retries) = (String::new(), None);
        let left =
            self.place.cluster.wait_until(self.deadline, &mut cluster_args::report, || {
                let progress = look()?;
                let retries = retries.get_or_insert_with(|| Retries::new(&progress));
                let is_final = retries.is_final(&progress, PATIENCE);
                reason = match progress {
                    V1Progress::Done => return Ok(WaitState::Done),
                    V1Progress::Blocked(why) => return self.give_up(&why),
                    V1Progress::Retrying(why) if is_final => return self.give_up(&why),
                    V1Progress::Not(why) | V1Progress::Retrying(why) => why,
                };
                Ok(WaitState::Not(reason.clone()))
            })?;
        match left {
            None => Ok(()),
            Some(_) => self.give_up(&format!("timed out: {reason}")),
        }
    }

    /// An object; an empty one if it does not exist.
    fn read_object(&self, kind: &str, name: &str) -> anyhow::Result<Value> {
        let namespace = String::new();
        let (api_version, kind, name) = (API.to_owned(), kind.to_owned(), name.to_owned());
        let id = Id { api_version, kind, namespace, name };
        let empty = || json!({"kind": id.kind, "metadata": {"name": id.name}});
        Ok(self.place.cluster.read(&id)?.unwrap_or_else(empty))
    }

    fn give_up<T>(&self, why: &str) -> anyhow::Result<T> {
        let mut lines = Vec::new();
        let package = &self.release.package;
        for (kind, name) in
            [("ClusterCatalog", &lifecycle::catalog_name(package)?), ("ClusterExtension", package)]
        {
            lines.extend(v1::unsettled_conditions(&self.read_object(kind, name)?));
        }
        // The reason is shown already.
        lines.retain(|line| !line.split_once("): ").is_some_and(|parts| why.contains(parts.1)));
        let fix = pull_hint(why).unwrap_or(FIX);
        Err(installation_error(self.release.name(), why, &lines)).hint(match self.replaced {
            Some(old) => format!("`{old}` stays installed: {fix}"),
            None => kept_hint(fix, &cleanup(package, &self.place.namespace)),
        })
    }
}

/// When a failure that OLM retries is the result of this command.
struct Retries {
    /// The failure at the first look: OLM may have met it long ago, and the next attempt may be as far away.
    before: Option<String>,
    /// When a later failure has been there for long enough.
    end: Option<Deadline>,
}

impl Retries {
    fn new(first: &V1Progress) -> Self {
        let before = match first {
            V1Progress::Retrying(why) => Some(why.clone()),
            _ => None,
        };
        Self { before, end: None }
    }

    fn is_final(&mut self, now: &V1Progress, limit: Duration) -> bool {
        match now {
            V1Progress::Retrying(why) if self.before.as_ref() != Some(why) => {
                self.before = None;
                self.end.get_or_insert_with(|| Deadline::after(limit)).is_over()
            }
            V1Progress::Retrying(_) => false,
            _ => {
                *self = Self { before: None, end: None };
                false
            }
        }
    }
}

#[test]
fn a_failure_of_before_is_not_the_result_of_this_command() {
    let retrying = |why: &str| V1Progress::Retrying(why.to_owned());
    let check = |looks: &[&V1Progress], expected: bool| {
        let mut retries = Retries::new(looks[0]);
        let last =
            looks.iter().fold(false, |_, progress| retries.is_final(progress, Duration::ZERO));
        assert_eq!(last, expected, "{looks:?}");
    };
    let (old, new, not) = (retrying("old"), retrying("new"), V1Progress::Not("not".to_owned()));
    check(&[&old, &old], false);
    check(&[&old, &new], true);
    check(&[&not, &old], true);
    // OLM has tried again since, and has met the same once more.
    check(&[&old, &not, &old], true);
    check(&[&old, &new, &not], false);
}

/// Returns a hint for a cluster that cannot pull an image that this machine has pushed.
fn pull_hint(why: &str) -> Option<&'static str> {
    let has = |part: &str| why.contains(part);
    if has("HTTP response to HTTPS client") {
        return Some(
            "catalogd and operator-controller pull over HTTPS: set `insecure = true` for the registry in their `registries.conf`, or use a registry with TLS",
        );
    }
    if has("x509: ") {
        return Some(
            "give catalogd and operator-controller the certificate of the registry's authority, in the directory of their flag `--pull-cas-dir`",
        );
    }
    let denied = ["unauthorized", "authentication required", "denied"];
    denied.into_iter().any(has).then_some(
        "make the repository public, or name a pull secret with the flag `--global-pull-secret` of catalogd and operator-controller",
    )
}

#[test]
fn a_failure_to_pull_has_its_own_way_out() {
    let https = "catalogd and operator-controller pull over HTTPS: set `insecure = true` for the registry in their `registries.conf`, or use a registry with TLS";
    assert_eq!(pull_hint("Get x: http: server gave HTTP response to HTTPS client"), Some(https));
    let authority = "give catalogd and operator-controller the certificate of the registry's authority, in the directory of their flag `--pull-cas-dir`";
    assert_eq!(pull_hint("tls: x509: certificate signed by unknown authority"), Some(authority));
    let secret = "make the repository public, or name a pull secret with the flag `--global-pull-secret` of catalogd and operator-controller";
    assert_eq!(pull_hint("unauthorized: authentication required"), Some(secret));
    assert_eq!(pull_hint("manifest unknown"), None);
}
