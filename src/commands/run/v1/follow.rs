//! Follows an installation by OLM v1, and explains what keeps it.

use std::time::Duration;

use crate::{
    app::cluster_args,
    app::olm_namespace::{Place, cleanup},
    commands::run::follow::{FIX, failure, stays},
};
use cluster::{Id, State};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};
use model::Deadline;
use olm::lifecycle::{
    self, Release,
    v1::{self, API, Progress},
};

/// An installation or an upgrade that OLM v1 carries out.
pub struct Following<'a> {
    pub place: &'a Place,
    pub release: &'a Release,
    /// The images of the catalog and of the bundle, with their digests.
    pub catalog: &'a str,
    pub bundle: &'a str,
    pub deadline: Deadline,
    /// The installed version that it replaces, in an upgrade.
    pub replaced: Option<&'a str>,
}

/// How long to wait after a failure that OLM retries.
const PATIENCE: Duration = Duration::from_secs(30);

impl Following<'_> {
    /// Waits until catalogd serves the catalog.
    pub fn served(&self) -> anyhow::Result<()> {
        self.wait(|| {
            let catalog =
                self.read("ClusterCatalog", &lifecycle::catalog_name(&self.release.package)?)?;
            Ok(v1::serving(&catalog, self.catalog))
        })
    }

    /// Waits until operator-controller has applied the bundle.
    pub fn installed(&self) -> anyhow::Result<()> {
        self.wait(|| {
            let extension = self.read("ClusterExtension", &self.release.package)?;
            Ok(v1::installed(&extension, self.release.name(), self.bundle))
        })
    }

    /// The operator's Deployments, by their names.
    pub fn deployments(&self) -> Vec<Value> {
        let names = lifecycle::deployments(&self.release.csv).into_iter();
        let metadata = |name| json!({"name": name, "namespace": self.place.namespace});
        names
            .map(|it| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(it)}))
            .collect()
    }

    fn wait(&self, mut look: impl FnMut() -> anyhow::Result<Progress>) -> anyhow::Result<()> {
        let (mut reason, mut retries) = (String::new(), None);
        let left = self.place.cluster.until(self.deadline, &mut cluster_args::report, || {
            let progress = look()?;
            let retries = retries.get_or_insert_with(|| Retries::new(&progress));
            let is_final = retries.is_final(&progress, PATIENCE);
            reason = match progress {
                Progress::Done => return Ok(State::Done),
                Progress::Blocked(why) => return self.give_up(&why),
                Progress::Retrying(why) if is_final => return self.give_up(&why),
                Progress::Not(why) | Progress::Retrying(why) => why,
            };
            Ok(State::Not(reason.clone()))
        })?;
        match left {
            None => Ok(()),
            Some(_) => self.give_up(&format!("timed out: {reason}")),
        }
    }

    /// An object; an empty one if it does not exist.
    fn read(&self, kind: &str, name: &str) -> anyhow::Result<Value> {
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
            lines.extend(v1::conditions(&self.read(kind, name)?));
        }
        // The reason is shown already.
        lines.retain(|it| !it.split_once("): ").is_some_and(|it| why.contains(it.1)));
        let fix = pulling(why).unwrap_or(FIX);
        Err(failure(self.release.name(), why, &lines)).hint(match self.replaced {
            Some(old) => format!("`{old}` stays installed: {fix}"),
            None => stays(fix, &cleanup(package, &self.place.namespace)),
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
    fn new(first: &Progress) -> Self {
        let before = match first {
            Progress::Retrying(why) => Some(why.clone()),
            _ => None,
        };
        Self { before, end: None }
    }

    fn is_final(&mut self, now: &Progress, limit: Duration) -> bool {
        match now {
            Progress::Retrying(why) if self.before.as_ref() != Some(why) => {
                self.before = None;
                self.end.get_or_insert_with(|| Deadline::after(limit)).is_over()
            }
            Progress::Retrying(_) => false,
            _ => {
                *self = Self { before: None, end: None };
                false
            }
        }
    }
}

#[test]
fn a_failure_of_before_is_not_the_result_of_this_command() {
    let retrying = |why: &str| Progress::Retrying(why.to_owned());
    let check = |looks: &[&Progress], expected: bool| {
        let mut retries = Retries::new(looks[0]);
        let last = looks.iter().fold(false, |_, it| retries.is_final(it, Duration::ZERO));
        assert_eq!(last, expected, "{looks:?}");
    };
    let (old, new, not) = (retrying("old"), retrying("new"), Progress::Not("not".to_owned()));
    check(&[&old, &old], false);
    check(&[&old, &new], true);
    check(&[&not, &old], true);
    // OLM has tried again since, and has met the same once more.
    check(&[&old, &not, &old], true);
    check(&[&old, &new, &not], false);
}

/// How the cluster gets to pull an image that this machine has pushed.
fn pulling(why: &str) -> Option<&'static str> {
    let has = |it: &str| why.contains(it);
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
    assert_eq!(pulling("Get x: http: server gave HTTP response to HTTPS client"), Some(https));
    let authority = "give catalogd and operator-controller the certificate of the registry's authority, in the directory of their flag `--pull-cas-dir`";
    assert_eq!(pulling("tls: x509: certificate signed by unknown authority"), Some(authority));
    let secret = "make the repository public, or name a pull secret with the flag `--global-pull-secret` of catalogd and operator-controller";
    assert_eq!(pulling("unauthorized: authentication required"), Some(secret));
    assert_eq!(pulling("manifest unknown"), None);
}
