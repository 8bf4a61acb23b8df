//! `operator-rs migrate`
//!
//! ```text
//! read all CRDs ─ problems? report all, write nothing
//!     └ objects would lose fields? list all, ask
//!     └ for each: rewrite the objects ─ all of them, and the CRD is as it was? ─ remove the other versions from its status
//! ```

use std::path::Path;

use super::{RunCommand, WorkingDirectory, reading};
use crate::{
    app::{
        cluster_access::cluster_args::{self, ClusterAddress, DryRunArgs, SendMode},
        deployment::{given, rendered},
        output::time_limit::TimeLimit,
    },
    disk::Root,
    project::Project,
    terminal,
};
use std::collections::BTreeMap;

use anyhow::Context as _;
use cluster::{
    Action, Cluster, Id, Interrupted, Migration, ProgressEvent, Refusal, Rewritten, Unreachable,
    Verb,
};
use crd::compatibility::{Crd, lost_fields, pruned_fields};
use diagnostics::{Hint as _, count};
use go_data::yaml::{Value, pointer};
use model::Namespace;

/// Rewrite stored objects in the storage version of their CRD
///
/// When the storage version of a CRD changes, objects stay stored as they are until they are next written, and the CRD
/// must keep the former version. This command has the API server write every object in the new one, without changing it,
/// and then removes the other versions from `status.storedVersions`, so that a release can drop them. It can be ended at
/// any time: the next run goes through all objects again, and only those that are left are written.
///
/// Without a conversion webhook, objects lose the fields that the storage version does not have. The command names them,
/// and rewrites nothing unless you agree.
#[derive(clap::Args)]
#[command(
    mut_arg("dry_run", DryRunArgs::after_reading),
    mut_arg("timeout", TimeLimit::long),
    after_help = "\
Examples:
  operator-rs migrate --dry-run           # read all objects in the new version, and count them
  operator-rs migrate --dry-run=server    # name objects that would lose fields or be refused
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
    /// Do not ask before rewriting objects that would lose fields
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    address: ClusterAddress,
    #[command(flatten)]
    trial: DryRunArgs,
}

/// A CRD whose objects are to be rewritten.
struct Task {
    migration: Migration,
    /// None if the server does not tell.
    objects: Option<usize>,
    /// The fields that objects would lose.
    losses: Vec<String>,
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        if self.names_crds() { WorkingDirectory::Exact } else { WorkingDirectory::OfProject }
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let names = if self.names_crds() {
            self.crds.iter().map(|name| (name.clone(), None)).collect()
        } else {
            crd_names(&reading(dir)?)?
        };
        terminal::require_no_warnings()?;
        let mut cluster = self.address.connect()?;
        cluster.finish_change_on_interrupt();
        match self.migrate_crds(&cluster, &names) {
            // The hint for interrupts names a flag that this command does not have.
            Err(error) if diagnostics::find_error::<Interrupted>(&error).is_some() => Err(error),
            found => cluster_args::with_hint(found),
        }
    }
}

impl Args {
    /// Returns whether CRDs are named, so that no project is needed.
    fn names_crds(&self) -> bool {
        !self.crds.is_empty()
    }

    fn migrate_crds(
        &self,
        cluster: &Cluster,
        names: &[(String, Option<String>)],
    ) -> anyhow::Result<()> {
        let (mut tasks, mut problems) = (Vec::new(), Vec::new());
        for (name, stored) in names {
            match self.prepare_task(cluster, name, stored.as_deref()) {
                Ok(task) => tasks.extend(task),
                Err(error) if error.is::<Unreachable>() => return Err(error),
                Err(error) => problems.push(crd_problem(name, &error)),
            }
        }
        if !problems.is_empty() {
            return Err(cluster::combine_refusals("nothing was changed", &problems));
        }
        self.confirm_losses(tasks.iter().flat_map(|task| &task.losses))?;
        for task in &tasks {
            let name = &task.migration.id.name;
            let again = format!(
                "run `operator-rs migrate {name}` again: only objects that are left are written"
            );
            let performed = self.perform_task(cluster, task);
            // If the cause has its own hint, another run would not help.
            let is_repeatable = |error: &anyhow::Error| {
                diagnostics::find_error::<Interrupted>(error).is_some()
                    || diagnostics::find_error::<Unreachable>(error).is_some()
                    || diagnostics::collect_hints(error).is_empty()
            };
            problems.extend(match performed {
                Err(error) if is_repeatable(&error) => Err(error).hint(again),
                performed => performed,
            }?);
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(cluster::combine_refusals("not everything can be migrated", &problems))
        }
    }

    /// The task of a CRD; none if there is nothing to do. Fails if a right is missing that is needed at the end, and if there
    /// is nothing to do before the cluster has the CRD of the project, which stores another version.
    fn prepare_task(
        &self,
        cluster: &Cluster,
        name: &str,
        stored: Option<&str>,
    ) -> anyhow::Result<Option<Task>> {
        let crd = cluster.read_crd(name)?;
        let crd = crd.context("the cluster does not have the CRD")?;
        let mut migration = Migration::from_crd(&crd)?;
        migration.dry_run = self.trial.sending() != SendMode::All;
        migration.reads_only = self.trial.sending() == SendMode::Nothing;
        if !migration.is_needed() {
            if let Some(stored) = stored.filter(|version| *version != migration.version) {
                return Err(anyhow::format_err!(
                    "the CRD on the cluster stores objects in {}, and that of the project in {stored}",
                    migration.version
                ))
                .hint("deploy the operator with its CRDs first, then run the command again");
            }
            let why = format!("all objects are stored in {}", migration.version);
            report_action(Verb::Unchanged, &migration.id, &why);
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
        for namespace in self.selected_namespaces() {
            let more = cluster.count_objects(&migration, &namespace)?;
            objects = objects.zip(more).map(|(one, other)| one + other);
        }
        let losses = if objects == Some(0) {
            Vec::new()
        } else {
            self.find_losses(cluster, &Crd::from_object(&crd)?, &migration)?
        };
        Ok(Some(Task { migration, objects, losses }))
    }

    /// The fields that the storage version does not have, and the objects that have them. A webhook decides itself what it
    /// keeps.
    fn find_losses(
        &self,
        cluster: &Cluster,
        crd: &Crd,
        migration: &Migration,
    ) -> anyhow::Result<Vec<String>> {
        let (to, mut losses) = (&migration.version, Vec::new());
        for from in migration.stored.iter().filter(|version| *version != to && !crd.converts()) {
            let fields = lost_fields(crd, from, to);
            if fields.is_empty() {
                continue;
            }
            let mut losing = BTreeMap::<String, Vec<Id>>::new();
            for namespace in self.selected_namespaces() {
                let Some(objects) = cluster.list_objects_in_version(migration, from, &namespace)?
                else {
                    let fields: Vec<String> =
                        fields.iter().map(|field| format!("`{field}`")).collect();
                    losses.push(format!(
                        "objects of {} that are stored in {from} lose {}, which {to} does not have; which objects have it is unknown, as {from} is not served",
                        migration.id.name,
                        fields.join(", "),
                    ));
                    break;
                };
                for (id, object) in objects {
                    for field in pruned_fields(crd, &object, to) {
                        losing.entry(field).or_default().push(id.clone());
                    }
                }
            }
            losses.extend(losing.into_iter().map(|(field, ids)| {
                format!(
                    "{} would lose `{field}` of {from}, which {to} does not have",
                    format_ids(&ids)
                )
            }));
        }
        Ok(losses)
    }

    /// Lists the losses, and asks, unless nothing is to be written.
    fn confirm_losses<'a>(&self, losses: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
        let losses: Vec<_> =
            losses.inspect(|loss| terminal::print_required(&format!("{loss}\n"))).collect();
        let is_trial = self.trial.sending() != SendMode::All;
        if losses.is_empty() || is_trial || self.yes {
            return Ok(());
        }
        let is_agreed =
            terminal::confirm_or_flag("Rewrite the objects without these fields?", "yes")?;
        anyhow::ensure!(is_agreed, "nothing was changed");
        Ok(())
    }

    /// Does a task. Returns what prevents its end.
    fn perform_task(
        &self,
        cluster: &Cluster,
        task: &Task,
    ) -> anyhow::Result<Vec<(String, Refusal)>> {
        let Task { migration, .. } = task;
        let what = |objects: usize, note: &str| {
            let objects = count(objects, "object");
            let (name, version) = (&migration.id.name, &migration.version);
            terminal::print(&format!("rewrite    {objects} of {name} in {version}{note}\n"));
        };
        let rewritten = self.rewrite_objects(cluster, task)?;
        if !rewritten.refused.is_empty() {
            return Ok(rewritten.refused.into_iter().map(refused_objects).collect());
        }
        let before = rewritten.done - rewritten.written;
        let is_known = before != 0 && !migration.dry_run;
        let note = is_known.then(|| format!(" ({before} of them were stored in it before)"));
        what(rewritten.done, &note.unwrap_or_default());
        if !self.namespace.is_empty() {
            report_action(
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
        report_action(Verb::Update, &migration.id, &note);
        Ok(Vec::new())
    }

    fn rewrite_objects(&self, cluster: &Cluster, task: &Task) -> anyhow::Result<Rewritten> {
        let name = &task.migration.id.name;
        let mut total = Rewritten::default();
        for namespace in self.selected_namespaces() {
            let progress = &mut |rewritten: &Rewritten| {
                let all = task.objects.map_or(String::new(), |count| format!(" of {count}"));
                terminal::show_waiting(&format!(
                    "rewriting  {}{all} objects of {name}",
                    rewritten.done
                ));
            };
            let ended = cluster.rewrite_objects(&task.migration, &namespace, &mut total, progress);
            ended.with_context(|| {
                let done = count(total.done, "object");
                format!("the migration of {name} ended early, with {done} done")
            })?;
        }
        Ok(total)
    }

    /// The namespaces to go through; an empty name is all of them.
    fn selected_namespaces(&self) -> Vec<String> {
        if self.namespace.is_empty() {
            vec![String::new()]
        } else {
            self.namespace.iter().map(ToString::to_string).collect()
        }
    }
}

/// The CRDs of the project.
/// The CRDs of a project, each with the version that it stores objects in.
fn crd_names(root: &Root) -> anyhow::Result<Vec<(String, Option<String>)>> {
    let mut project = Project::read_any_layout(root)?;
    // Names are in the source as well: helm need not render a chart for them.
    project.inputs.chart = None;
    let crds = rendered::crds_to_remove(root, &project, given::ManifestsRequest::default())?;
    let stored = |crd: &Value| {
        let versions = pointer::list(crd, "/spec/versions");
        let stored = versions.iter().find(|version| version["storage"] == true)?;
        Some(pointer::text(stored, "/name").to_owned())
    };
    Ok(crds.iter().map(|crd| (Id::of(crd).name, stored(crd))).collect())
}

fn report_action(verb: Verb, id: &Id, note: &str) {
    cluster_args::report(ProgressEvent::Action(Action::with_note(verb, id, note)));
}

/// An error about a CRD, to be reported with those about others.
fn crd_problem(name: &str, error: &anyhow::Error) -> (String, Refusal) {
    let hint = diagnostics::collect_hints(error).into_iter().next();
    (name.to_owned(), Refusal::new(format!("{error:#}"), hint))
}

/// Objects that were refused for the same reason. A few of them are named.
fn refused_objects((why, ids): (String, Vec<Id>)) -> (String, Refusal) {
    (format_ids(&ids), Refusal::new(why, None))
}

/// The first objects by name, and the number of the others.
fn format_ids(ids: &[Id]) -> String {
    const MOST: usize = 10;
    let named = ids.iter().take(MOST).map(Id::to_string).collect::<Vec<_>>().join(", ");
    let more = ids.len().saturating_sub(MOST);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    named + &more
}
