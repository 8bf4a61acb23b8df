//! How the commands that act on a cluster reach it, and tell what they do there.

use std::path::PathBuf;

use clap::error::ErrorKind;

use super::{DryRun, Mode};
use crate::{
    cluster::{Cluster, Id, Limit, Owner, Target, Told, Unreachable},
    hint::Hint as _,
    model::{Project, Timeout},
    terminal,
};

#[derive(clap::Args)]
#[command(next_help_heading = "Which cluster, and for how long")]
pub struct Reach {
    /// The kubeconfig [default: `$KUBECONFIG`, `~/.kube/config`, or a pod's own account]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// How long to wait until it is done
    #[arg(long, value_name = "TIME", default_value = "5m")]
    timeout: Timeout,
}

impl Reach {
    /// Connects on behalf of a project.
    pub fn connect(&self, project: &Project) -> anyhow::Result<Cluster> {
        let target = Target { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() };
        let cluster = Cluster::connect_with(&target, terminal::variable("KUBECONFIG")?.as_deref())?;
        Ok(cluster.acting_for(Owner::of(&format!("{}.{}", project.name, project.domain))))
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

impl Sending {
    /// What the global flags mean here.
    pub fn of(mode: &Mode) -> anyhow::Result<Self> {
        let wrong = [
            (mode.diff, "--diff", "`--dry-run=server` tells what would change on the cluster"),
            (mode.check, "--check", "`--dry-run=server` tells what would change on the cluster"),
            (
                mode.force,
                "--force",
                "`--force` is about files; on a cluster it is `--force-conflicts`",
            ),
        ];
        if let Some((_, flag, way_out)) = wrong.into_iter().find(|it| it.0) {
            return Err(terminal::usage(
                ErrorKind::ArgumentConflict,
                &format!("`{flag}` is of no use to a command that changes a cluster: {way_out}"),
            ));
        }
        Ok(match mode.dry_run {
            None => Self::All,
            Some(DryRun::Server) => Self::DryRun,
            Some(DryRun::Client) => Self::Nothing,
        })
    }
}

/// Tells what happens on a cluster, while it happens.
pub fn tell(told: Told) {
    match told {
        Told::Became(it) => terminal::print(&format!("{it}\n")),
        Told::Waiting(it) => terminal::advise(&format!("waiting    {it}\n")),
        Told::Warning(it) => terminal::warn(&it),
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
