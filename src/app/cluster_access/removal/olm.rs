//! Removals that OLM and the garbage collector complete.

use std::time::Duration;

use crate::app::cluster_access::cluster_args;
use cluster::{Action, Cluster, Id, Live, NamespaceContents, ProgressEvent, Verb, WaitState};
use diagnostics::Hint as _;
use model::Deadline;
use olm::lifecycle;

/// The time to wait for objects that OLM or the server removes by itself, before the removal continues.
pub const SETTLED: Duration = Duration::from_secs(30);

/// The number of times in a row that an object without a known remover must be found, before it counts as
/// another client's. Controllers remove some objects that have no owner.
const LOOKS: u32 = 4;

/// Waits until OLM has removed what it created on the cluster for these versions, and until `look` returns no other
/// reason to wait.
pub fn wait(
    cluster: &Cluster,
    csvs: &[Live],
    deadline: Deadline,
    look: impl Fn() -> anyhow::Result<Option<String>>,
) -> anyhow::Result<()> {
    let left = cluster.wait_until(deadline, &mut cluster_args::report, || {
        let reason = match created_for(cluster, csvs)? {
            Some(id) => Some(format!("OLM has not removed {id} yet")),
            None => look()?,
        };
        Ok(reason.map_or(WaitState::Done, WaitState::Not))
    })?;
    match left {
        None => Ok(()),
        Some(reason) => Err(anyhow::format_err!("timed out: {reason}"))
            .hint("check that OLM runs: `operator-rs olm status`; then run the command again"),
    }
}

/// Returns an object that OLM has created on the cluster for one of these versions.
fn created_for(cluster: &Cluster, csvs: &[Live]) -> anyhow::Result<Option<Id>> {
    if csvs.is_empty() {
        return Ok(None);
    }
    for (api_version, kind) in lifecycle::CLUSTER_SCOPED {
        for it in cluster.list(api_version, kind, "")? {
            let is_owner =
                |csv: &Live| lifecycle::is_owned_by(&it, &csv.id.name, &csv.id.namespace);
            if csvs.iter().any(is_owner) {
                return Ok(Some(Id::of(&it)));
            }
        }
    }
    Ok(None)
}

/// Removes a namespace if it has only `known` objects, or reports another one. What OLM created in it goes with its
/// owners, a little later.
pub fn delete_namespace(
    cluster: &Cluster,
    live: &Live,
    known: &[Id],
    deadline: Deadline,
) -> anyhow::Result<()> {
    let mut last = NamespaceContents::default();
    let mut stays = 0;
    cluster.wait_until(deadline.at_most(SETTLED), &mut cluster_args::report, || {
        last =
            cluster.list_namespace_contents(&live.id.name, known, &NamespaceContents::default())?;
        let has_stayed =
            last.others.iter().any(|other| !other.is_going) || !last.unknown.is_empty();
        stays = if has_stayed { stays + 1 } else { 0 };
        Ok(match last.others.first() {
            Some(it) if stays < LOOKS => WaitState::Not(format!("{} is in {}", it.id, live.id)),
            _ => WaitState::Done,
        })
    })?;
    last.others.sort_by_key(|other| other.is_going);
    let other = last.others.first().map(|other| format!("{} is in it", other.id));
    let unknown = last.unknown.iter().next();
    let why = other
        .or(unknown.map(|(what, why)| format!("its objects of {what} cannot be listed: {why}")));
    match why {
        Some(why) => cluster_args::report(ProgressEvent::Action(Action::with_note(
            Verb::Leave,
            &live.id,
            why,
        ))),
        None => cluster.delete(std::slice::from_ref(live), deadline, &mut cluster_args::report)?,
    }
    Ok(())
}
