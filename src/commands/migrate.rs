//! `operator-rs migrate`
//!
//! ```text
//! read all CRDs ─ problems? report all, write nothing
//!     └ for each: rewrite the objects ─ all of them, and the CRD is as it was? ─ remove the other versions from its status
//! ```

use crate::{
    app::{
        cluster_args::{self, Address, Sending, Trial},
        given::Given,
        rendered,
    },
    disk::Root,
    project::Project,
    terminal,
};
use anyhow::Context as _;
use cluster::{
    Action, Cluster, Event, Id, Interrupted, Migration, Refusal, Rewritten, Unreachable, Verb,
};
use diagnostics::{Hint as _, count};
use model::Namespace;

/// Rewrite stored objects in the storage version of their CRD
///
/// When the storage version of a CRD changes, objects stay stored as they are until they are next written, and the CRD
/// must keep the former version. This command has the API server write every object in the new one, without changing it,
/// and then removes the other versions from `status.storedVersions`, so that a release can drop them. It can be ended at
/// any time: the next run goes through all objects again, and only those that are left are written.
#[derive(clap::Args)]
#[command(
    mut_arg("dry_run", Trial::after_reading),
    after_help = "\
Examples:
  operator-rs migrate --dry-run           # count the objects
  operator-rs migrate --dry-run=server    # name the objects that the API server refuses to write
  operator-rs migrate
  operator-rs migrate memcacheds.cache.example.com    # outside of a project, too"
)]
pub struct Args {
    /// Name of a CRD (can be repeated) [default: all CRDs of the project]
    #[arg(value_name = "CRD")]
    crds: Vec<String>,
    /// Rewrite the objects of one namespace only, and leave `status.storedVersions` as it is (can be repeated)
    #[arg(long, short)]
    namespace: Vec<Namespace>,
    #[command(flatten)]
    address: Address,
    #[command(flatten)]
    trial: Trial,
}

/// A CRD whose objects are to be rewritten.
struct Task {
    migration: Migration,
    /// None if the server does not tell.
    objects: Option<usize>,
}

impl Args {
    /// Whether no project is needed.
    pub fn names_crds(&self) -> bool {
        !self.crds.is_empty()
    }

    pub fn run(self, root: Option<&Root>) -> anyhow::Result<()> {
        let names = match root.filter(|_| !self.names_crds()) {
            None => self.crds.clone(),
            Some(root) => names(root)?,
        };
        let mut cluster = self.address.connect()?;
        cluster.complete_changes();
        match self.migrate(&cluster, &names) {
            // The hint for interrupts names a flag that this command does not have.
            Err(error) if diagnostics::find::<Interrupted>(&error).is_some() => Err(error),
            found => cluster_args::with_hint(found),
        }
    }

    fn migrate(&self, cluster: &Cluster, names: &[String]) -> anyhow::Result<()> {
        let (mut tasks, mut problems) = (Vec::new(), Vec::new());
        for name in names {
            match self.prepare(cluster, name) {
                Ok(task) => tasks.extend(task),
                Err(error) if error.is::<Unreachable>() => return Err(error),
                Err(error) => problems.push(problem(name, &error)),
            }
        }
        if !problems.is_empty() {
            return Err(cluster::refuse("nothing was changed", &problems));
        }
        for task in &tasks {
            let name = &task.migration.id.name;
            let again = format!(
                "run `operator-rs migrate {name}` again: only objects that are left are written"
            );
            problems.extend(self.perform(cluster, task).hint(again)?);
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(cluster::refuse("not everything can be migrated", &problems)),
        }
    }

    /// The task of a CRD; none if there is nothing to do. Fails if a right is missing that is needed at the end.
    fn prepare(&self, cluster: &Cluster, name: &str) -> anyhow::Result<Option<Task>> {
        let crd = cluster.crd(name)?;
        let crd = crd.context("the cluster does not have the CRD")?;
        let mut migration = Migration::of(&crd)?;
        migration.dry_run = self.trial.sending() != Sending::All;
        if !migration.is_needed() {
            let why = format!("all objects are stored in {}", migration.version);
            report(Verb::Unchanged, &migration.id, &why);
            return Ok(None);
        }
        if !self.namespace.is_empty() && !migration.is_namespaced() {
            return Err(anyhow::format_err!("the objects of {name} are in no namespace"))
                .hint("leave out `--namespace`");
        }
        if self.namespace.is_empty() && !cluster.prune_stored_versions(&migration, true)? {
            return Err(anyhow::format_err!("the CRD was changed")).hint("run the command again");
        }
        let mut objects = Some(0);
        for namespace in self.namespaces() {
            let more = cluster.count(&migration, &namespace)?;
            objects = objects.zip(more).map(|(one, other)| one + other);
        }
        Ok(Some(Task { migration, objects }))
    }

    /// Does a task. Returns what prevents its end.
    fn perform(&self, cluster: &Cluster, task: &Task) -> anyhow::Result<Vec<(String, Refusal)>> {
        let Task { migration, objects } = task;
        let what = |objects: Option<usize>, note: &str| {
            let objects =
                objects.map_or_else(|| "all objects".to_owned(), |it| count(it, "object"));
            let (name, version) = (&migration.id.name, &migration.version);
            terminal::print(&format!("rewrite    {objects} of {name} in {version}{note}\n"));
        };
        if self.trial.sending() == Sending::Nothing {
            what(*objects, "");
        } else {
            let rewritten = self.rewrite(cluster, task)?;
            if !rewritten.refused.is_empty() {
                return Ok(rewritten.refused.into_iter().map(refused).collect());
            }
            let before = rewritten.done - rewritten.written;
            let is_known = before != 0 && !migration.dry_run;
            let note = is_known.then(|| format!(" ({before} were already)"));
            what(Some(rewritten.done), &note.unwrap_or_default());
        }
        if !self.namespace.is_empty() {
            report(
                Verb::Leave,
                &migration.id,
                "other namespaces may have objects in former versions",
            );
            return Ok(Vec::new());
        }
        if !migration.dry_run && !cluster.prune_stored_versions(migration, false)? {
            let hint = "run the command again: objects may be stored in another version now";
            let why = Refusal::new("the CRD was changed during the migration", Some(hint));
            return Ok(vec![(migration.id.name.clone(), why)]);
        }
        let note = format!("status.storedVersions: {}", migration.version);
        report(Verb::Update, &migration.id, &note);
        Ok(Vec::new())
    }

    fn rewrite(&self, cluster: &Cluster, task: &Task) -> anyhow::Result<Rewritten> {
        let name = &task.migration.id.name;
        let mut res = Rewritten::default();
        for namespace in self.namespaces() {
            let progress = &mut |it: &Rewritten| {
                let all = task.objects.map_or(String::new(), |it| format!(" of {it}"));
                terminal::waiting(&format!("rewriting  {}{all} objects of {name}", it.done));
            };
            let ended = cluster.rewrite(&task.migration, &namespace, &mut res, progress);
            ended.with_context(|| {
                let done = count(res.done, "object");
                format!("the migration of {name} ended early, with {done} done")
            })?;
        }
        Ok(res)
    }

    /// The namespaces to go through; an empty name is all of them.
    fn namespaces(&self) -> Vec<String> {
        match self.namespace.is_empty() {
            true => vec![String::new()],
            false => self.namespace.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The CRDs of the project.
fn names(root: &Root) -> anyhow::Result<Vec<String>> {
    let mut project = Project::of_any_layout(root)?;
    // Names are in the source as well: helm need not render a chart for them.
    project.inputs.chart = None;
    let crds = rendered::crds_to_remove(root, &project, &Given::default())?;
    Ok(crds.iter().map(|it| Id::of(it).name).collect())
}

fn report(verb: Verb, id: &Id, note: &str) {
    cluster_args::report(Event::Action(Action::because(verb, id, note)));
}

/// An error about a CRD, to be reported with those about others.
fn problem(name: &str, error: &anyhow::Error) -> (String, Refusal) {
    let hint = diagnostics::hints(error).into_iter().next();
    (name.to_owned(), Refusal::new(format!("{error:#}"), hint))
}

/// Objects that were refused for the same reason. A few of them are named.
fn refused((why, ids): (String, Vec<Id>)) -> (String, Refusal) {
    const MOST: usize = 10;
    let named = ids.iter().take(MOST).map(Id::to_string).collect::<Vec<_>>().join(", ");
    let more = ids.len().saturating_sub(MOST);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (named + &more, Refusal::new(why, None))
}
