//! Flags and functions with which commands connect to a cluster and report what they do.

use std::path::PathBuf;

use super::credential_plugin;
use crate::app::{
    environment::{home, proxies::proxies},
    output::time_limit::TimeLimit,
};
use crate::project::Project;
use crate::terminal;
use cluster::{Cluster, Id, Interrupted, Owner, ProgressEvent, Target, Unreachable};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{Deadline, display_path};

/// Which cluster to use.
#[derive(clap::Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterAddress {
    /// Path of the kubeconfig [default: `$KUBECONFIG`, `~/.kube/config`, or the service account of the pod]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: the current context]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    #[command(flatten)]
    time: TimeLimit,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArgs {
    #[command(flatten)]
    address: ClusterAddress,
    #[command(flatten)]
    trial: DryRunArgs,
}

/// Whether the changes are only tried.
#[derive(clap::Args)]
#[command(next_help_heading = "Cluster")]
pub struct DryRunArgs {
    /// List the changes without contacting the cluster; with `server`, the API server validates them and changes nothing
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

/// Who checks the changes.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DryRun {
    Client,
    Server,
}

impl ClusterAddress {
    /// Connects to the cluster.
    pub fn connect(&self) -> anyhow::Result<Cluster> {
        self.connect_until(self.deadline())
    }

    /// Connects to the cluster until another deadline.
    pub fn connect_until(&self, deadline: Deadline) -> anyhow::Result<Cluster> {
        let (kubeconfig, context) = (self.kubeconfig.clone(), self.context.clone());
        let target = Target {
            kubeconfig,
            kubeconfig_in_home: terminal::home_folder()?.map(|home| home.join(".kube/config")),
            context,
            proxies: proxies()?,
            deadline,
            host: credential_plugin::host(),
        };
        let kubeconfigs = terminal::variable("KUBECONFIG")?;
        if target.kubeconfig.is_none() && kubeconfigs.is_none() {
            home::require_own_kubeconfig(&terminal::current_folder().unwrap_or_default())?;
        }
        Cluster::connect_with(&target, kubeconfigs.as_deref())
    }

    /// When the command ends.
    pub fn deadline(&self) -> Deadline {
        self.time.deadline
    }

    /// Returns whether a kubeconfig is named, or is in the home directory.
    pub fn has_kubeconfig(&self) -> anyhow::Result<bool> {
        let is_named = self.given().is_some() || terminal::variable("KUBECONFIG")?.is_some();
        Ok(is_named || home::kubeconfig().is_some())
    }

    /// Returns the first of the flags that is set, by its name.
    pub fn given(&self) -> Option<&'static str> {
        self.set_flags().first().map(|(flag, _)| *flag)
    }

    /// Returns the flags that are set, with their values, as words of a command line.
    pub fn words(&self) -> Vec<String> {
        self.set_flags().into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
    }

    fn set_flags(&self) -> Vec<(&'static str, String)> {
        let kubeconfig = self.kubeconfig.iter();
        let kubeconfig = kubeconfig.map(|path| ("--kubeconfig", display_path(path)));
        kubeconfig.chain(self.context.iter().map(|name| ("--context", name.clone()))).collect()
    }
}

impl ClusterArgs {
    /// Connects on behalf of a project.
    pub fn connect(&self, project: &Project) -> anyhow::Result<Cluster> {
        self.connect_as(owner(project))
    }

    /// Connects on behalf of a project that is deployed with these objects.
    pub fn connect_for(&self, project: &Project, objects: &[Value]) -> anyhow::Result<Cluster> {
        let mut cluster = self.connect(project)?;
        let namespaced = objects.iter().map(Id::of).filter(|object| !object.namespace.is_empty());
        let namespace = namespaced.min_by_key(|id| !id.is_workload()).map(|id| id.namespace);
        let namespace = namespace.unwrap_or_else(|| cluster.namespace.clone());
        cluster.set_owner(owner(project).deployed_to(&namespace));
        Ok(cluster)
    }

    /// Connects on behalf of another owner.
    pub fn connect_as(&self, owner: Owner) -> anyhow::Result<Cluster> {
        terminal::require_no_warnings()?;
        let mut cluster = self.address.connect()?;
        cluster.set_owner(owner);
        cluster.finish_change_on_interrupt();
        Ok(cluster)
    }

    pub fn sending(&self) -> SendMode {
        self.trial.sending()
    }

    /// Lists the objects of a command that sends nothing, and refuses flags about the cluster.
    pub fn list<'a>(
        &self,
        verb: &str,
        ids: impl IntoIterator<Item = &'a Id>,
    ) -> anyhow::Result<()> {
        if let Some(flag) = self.address.given() {
            return Err(terminal::usage_error(
                clap::error::ErrorKind::ArgumentConflict,
                &format!(
                    "`{flag}` has no effect with `--dry-run`, which asks no cluster: leave it out, or pass `--dry-run=server`"
                ),
            ));
        }
        print_planned(verb, ids);
        Ok(())
    }

    pub fn time(&self) -> TimeLimit {
        self.address.time
    }

    /// When the command ends.
    pub fn deadline(&self) -> Deadline {
        self.address.deadline()
    }
}

impl DryRunArgs {
    /// `--dry-run` of a command whose changes follow from what the cluster has.
    pub fn after_reading(flag: clap::Arg) -> clap::Arg {
        flag.help("Read from the cluster and list the changes; with `server`, the API server validates them and changes nothing")
    }

    pub fn sending(&self) -> SendMode {
        match self.dry_run {
            None => SendMode::All,
            Some(DryRun::Server) => SendMode::DryRun,
            Some(DryRun::Client) => SendMode::Nothing,
        }
    }
}

/// The objects that are sent to the cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendMode {
    /// All changes.
    All,
    /// Dry runs.
    DryRun,
    /// Nothing: the objects are listed.
    Nothing,
}

/// Returns the owner with which a project applies objects.
pub fn owner(project: &Project) -> Owner {
    Owner::for_project(&format!("{}.{}", project.name, project.domain))
}

/// Prints an event of a cluster.
pub fn report(event: ProgressEvent) {
    match event {
        ProgressEvent::Action(it) => terminal::print(&format!("{it}\n")),
        ProgressEvent::Waiting(it) => terminal::show_waiting(&format!("waiting    {it}")),
        ProgressEvent::Warning(it) => terminal::warn(it),
    }
}

/// Prints the objects that would be sent, one a line.
pub fn print_planned<'a>(verb: &str, ids: impl IntoIterator<Item = &'a Id>) {
    let lines = ids.into_iter().map(|id| format!("{verb:<9}  {id}\n"));
    terminal::print(&lines.collect::<String>());
}

/// Adds a hint if the server was not reached, or the user has interrupted the command.
pub fn with_hint<T>(found: anyhow::Result<T>) -> anyhow::Result<T> {
    match found {
        Err(error) if error.is::<Unreachable>() => {
            Err(error).hint("check that the cluster is running and that this is its kubeconfig")
        }
        Err(error) if diagnostics::find_error::<Interrupted>(&error).is_some() => Err(error).hint(
            "run the command again to complete it; `--dry-run=server` lists what is left to do",
        ),
        found => found,
    }
}
