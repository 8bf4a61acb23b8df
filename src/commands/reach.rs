//! How the commands that act on a cluster reach it, and tell what they do there.

use std::path::PathBuf;

use super::proxies::proxies;
use crate::{
    cluster::{Cluster, Id, Limit, Owner, Target, Told, Unreachable},
    hint::Hint as _,
    model::{Project, Timeout},
    terminal,
};

/// Which cluster is meant.
#[derive(clap::Args)]
pub struct Address {
    /// The kubeconfig [default: `$KUBECONFIG`, `~/.kube/config`, or a pod's own account]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Which cluster, and for how long")]
pub struct Reach {
    #[command(flatten)]
    address: Address,
    /// How long to wait until it is done
    #[arg(long, value_name = "TIME", default_value = "5m")]
    timeout: Timeout,
    /// List what would be sent and change nothing; with `server`, the API server tries it
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        value_name = "WHERE",
        default_missing_value = "client",
        hide_possible_values = true
    )]
    dry_run: Option<DryRun>,
}

/// Who tells what would change.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DryRun {
    Client,
    Server,
}

impl Address {
    /// Connects to the cluster.
    pub fn connect(&self) -> anyhow::Result<Cluster> {
        let (kubeconfig, context) = (self.kubeconfig.clone(), self.context.clone());
        let target = Target { kubeconfig, context, proxies: proxies()? };
        let kubeconfigs = terminal::variable("KUBECONFIG")?;
        Cluster::connect_with(&target, kubeconfigs.as_deref())
    }

    /// The first flag that is given, by its name.
    pub fn given(&self) -> Option<&'static str> {
        let kubeconfig = self.kubeconfig.as_ref().map(|_| "--kubeconfig");
        kubeconfig.or_else(|| self.context.as_ref().map(|_| "--context"))
    }
}

impl Reach {
    /// Connects on behalf of a project.
    pub fn connect(&self, project: &Project) -> anyhow::Result<Cluster> {
        let mut cluster = self.address.connect()?;
        cluster.act_for(owner(project));
        Ok(cluster)
    }

    pub fn sending(&self) -> Sending {
        match self.dry_run {
            None => Sending::All,
            Some(DryRun::Server) => Sending::DryRun,
            Some(DryRun::Client) => Sending::Nothing,
        }
    }

    /// When to wait no longer, from now.
    pub fn limit(&self) -> Limit {
        Limit::after(self.timeout.duration())
    }
}

/// What becomes of the cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// It is changed.
    All,
    /// It is asked what it would do.
    DryRun,
    /// It is not asked at all: what would be sent is listed.
    Nothing,
}

/// As whom a project applies objects.
pub fn owner(project: &Project) -> Owner {
    Owner::of(&format!("{}.{}", project.name, project.domain))
}

/// Tells what happens on a cluster, while it happens.
pub fn tell(told: Told) {
    match told {
        Told::Became(it) => terminal::print(&format!("{it}\n")),
        Told::Waiting(it) => terminal::waiting(&format!("waiting    {it}")),
        Told::Warning(it) => terminal::warn(it),
    }
}

/// Lists what would be sent.
pub fn list<'a>(verb: &str, ids: impl IntoIterator<Item = &'a Id>) {
    let lines = ids.into_iter().map(|it| format!("{verb:<9}  {it}\n"));
    terminal::print(&lines.collect::<String>());
}

/// With the way out where the server was not reached.
pub fn reached<T>(found: anyhow::Result<T>) -> anyhow::Result<T> {
    match found {
        Err(error) if error.is::<Unreachable>() => {
            Err(error).hint("is the cluster running, and is this its kubeconfig?")
        }
        found => found,
    }
}
