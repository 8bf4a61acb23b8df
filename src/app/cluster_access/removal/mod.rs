//! The removals of `uninstall` and `undeploy`.
//!
//! ```text
//! find ─ determine owners ─ dry run ─ list what else is removed ─ ask ─ check again ─ delete, give up fields, leave
//! ```
//!
//! Only objects that the project created are deleted. Objects that are removed with them, or whose owner is unclear, are
//! listed, and the user is asked.

mod find;
pub mod olm;
mod order;

use std::collections::BTreeSet;

use self::find::FoundObjects;
pub use self::find::{warn_of_former, warn_of_unknown};
pub use self::order::RemovalOrder;
use super::cluster_args::{self, ClusterArgs, SendMode};
use crate::project::Project;
use crate::terminal;
use cluster::{
    Action, Cluster, CustomObject, Id, Live, NamespaceContents, ProgressEvent, Refusal, Removal,
    Verb,
};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;

/// A requested removal.
pub struct RemovalRequest<'a> {
    pub cluster: &'a Cluster,
    pub project: &'a Project,
    pub objects: &'a [Value],
    /// The only group of which it also removes what config/ no longer has; none means all groups.
    pub group: Option<&'static str>,
    pub sending: SendMode,
    /// True if everything was confirmed beforehand.
    pub yes: bool,
    pub cluster_args: &'a ClusterArgs,
}

/// A CRD that is removed, and the objects that are removed with it, as far as they are known.
struct RemovedCrd<'a> {
    live: &'a Live,
    held: Result<Vec<CustomObject>, Refusal>,
}

/// A namespace that is removed, and what else is in it.
struct RemovedNamespace<'a> {
    live: &'a Live,
    contents: NamespaceContents,
}

impl RemovalRequest<'_> {
    pub fn run(&self) -> anyhow::Result<()> {
        let mut found = self.find()?;
        if found.is_empty() {
            terminal::print_advice("nothing to remove\n");
            return Ok(());
        }
        let going = found.parts();
        attempt(self.cluster, &found.going, &found.adopted)?;

        let crds = self.removed_crds(&going)?;
        let known = self.expected_removals(&going, &crds);
        let (shared, namespaces): (Vec<_>, Vec<_>) = self
            .removed_namespaces(&going, &known)?
            .into_iter()
            .partition(|namespace| namespace.objects_of_others().is_some());
        let goes = |pair: &&(Id, Live)| !shared.iter().any(|shared| shared.live.id == pair.0);
        let mut losses: Vec<String> =
            going.in_order().filter(goes).filter_map(|pair| found.unclear(&pair.1)).collect();
        losses.extend(crds.iter().filter_map(RemovedCrd::describe_loss));
        losses.extend(namespaces.iter().flat_map(RemovedNamespace::describe_losses));
        if self.sending == SendMode::All {
            confirm(&losses, &[], self.yes)?;
            let deadline = self.cluster_args.deadline();
            crds.iter().try_for_each(|crd| self.check_crd_again(crd))?;
            self.delete_parts([&going.crds, &going.running, &going.rest], deadline)?;
            let problems = self.cluster.relinquish_fields(&found.adopted, false)?;
            if !problems.is_empty() {
                return Err(cluster::combine_refusals("the rest was removed", &problems));
            }
            namespaces
                .iter()
                .try_for_each(|namespace| self.check_namespace_again(namespace, &known))?;
            let namespaces = namespaces
                .iter()
                .map(|namespace| (namespace.live.id.clone(), namespace.live.clone()));
            self.delete_parts([&namespaces.collect()], deadline)?;
        } else {
            list(&losses);
            let deletes = going.in_order().filter(goes);
            let deletes = deletes.map(|pair| Action::new(Verb::Delete, &pair.0));
            deletes.for_each(|delete| cluster_args::report(ProgressEvent::Action(delete)));
        }
        // Objects of others in a removed namespace were listed with it.
        let is_lost = |id: &Id| namespaces.iter().any(|gone| gone.live.id.name == id.namespace);
        found.adopted.retain(|live| !is_lost(&live.id));
        found.kept.retain(|pair| !is_lost(&pair.0));
        report_what_stays(&found, &shared);
        Ok(())
    }

    fn delete_parts<const N: usize>(
        &self,
        parts: [&Vec<(Id, Live)>; N],
        deadline: Deadline,
    ) -> anyhow::Result<()> {
        for part in parts {
            let part: Vec<Live> = part.iter().map(|pair| pair.1.clone()).collect();
            self.cluster.delete(&part, deadline, &mut cluster_args::report)?;
        }
        Ok(())
    }

    fn removed_crds<'a>(
        &self,
        going: &'a RemovalOrder<Live>,
    ) -> anyhow::Result<Vec<RemovedCrd<'a>>> {
        let crds = going.crds.iter();
        crds.map(|(_, live)| {
            Ok(RemovedCrd { live, held: self.cluster.list_custom_objects(&live.object)? })
        })
        .collect()
    }

    /// Always removed: the project's own objects, the objects of its CRDs, and the operator's lease.
    fn expected_removals(&self, going: &RemovalOrder<Live>, crds: &[RemovedCrd<'_>]) -> Vec<Id> {
        let mut ids: Vec<Id> = going.in_order().map(|pair| pair.0.clone()).collect();
        let held = crds.iter().filter_map(|crd| crd.held.as_ref().ok()).flatten();
        ids.extend(held.map(|held| held.id.clone()));
        // The operator creates its lease while it is the leader.
        ids.extend(going.namespaces.iter().map(|pair| Id {
            api_version: "coordination.k8s.io/v1".to_owned(),
            kind: "Lease".to_owned(),
            namespace: pair.0.name.clone(),
            name: self.project.name.to_string(),
        }));
        ids
    }

    fn removed_namespaces<'a>(
        &self,
        going: &'a RemovalOrder<Live>,
        known: &[Id],
    ) -> anyhow::Result<Vec<RemovedNamespace<'a>>> {
        let look = |(id, live): &'a (Id, Live)| {
            let contents = self.cluster.list_namespace_contents(
                &id.name,
                known,
                &NamespaceContents::default(),
            )?;
            Ok(RemovedNamespace { live, contents })
        };
        going.namespaces.iter().map(look).collect()
    }

    /// Objects of a CRD that have been created since the user was asked.
    fn check_crd_again(&self, crd: &RemovedCrd<'_>) -> anyhow::Result<()> {
        // The user agreed although they are not known.
        let Ok(before) = &crd.held else { return Ok(()) };
        let before: BTreeSet<&str> = before.iter().map(|object| object.uid.as_str()).collect();
        let mut held = self.cluster.list_custom_objects(&crd.live.object)?;
        if let Ok(held) = &mut held {
            held.retain(|object| !before.contains(object.uid.as_str()));
        }
        let new = RemovedCrd { live: crd.live, held };
        self.agree_to(new.describe_loss().into_iter().collect(), "nothing was removed")
    }

    fn check_namespace_again(&self, it: &RemovedNamespace<'_>, known: &[Id]) -> anyhow::Result<()> {
        let id = &it.live.id;
        let contents = self.cluster.list_namespace_contents(&id.name, known, &it.contents)?;
        let new = RemovedNamespace { live: it.live, contents };
        if let Some(why) = new.objects_of_others() {
            anyhow::bail!("everything else was removed, but {id} was kept: {why}");
        }
        self.agree_to(
            new.describe_losses(),
            &format!("everything else was removed, but {id} was kept"),
        )
    }

    /// Removes new objects only if everything was confirmed beforehand.
    fn agree_to(&self, new: Vec<String>, otherwise: &str) -> anyhow::Result<()> {
        if new.is_empty() || self.yes {
            list(&new);
            return Ok(());
        }
        Err(anyhow::format_err!("{otherwise}: new objects have appeared: {}", new.join("; ")))
            .hint("run the command again to confirm their removal as well")
    }
}

fn report_what_stays(found: &FoundObjects, shared: &[RemovedNamespace<'_>]) {
    let leave = |id: &Id, why: &str| {
        cluster_args::report(ProgressEvent::Action(Action::with_note(Verb::Leave, id, why)));
    };
    found.adopted.iter().for_each(|live| leave(&live.id, "it already existed"));
    found.kept.iter().for_each(|(id, why)| leave(id, why));
    shared.iter().for_each(|namespace| {
        leave(&namespace.live.id, &namespace.objects_of_others().unwrap_or_default())
    });
    found.advice().into_iter().for_each(|text| terminal::print_advice(&text));
    if found.kept.iter().any(|(_, why)| why.contains("`kubectl")) {
        terminal::print_advice(
            "delete what `kubectl` has applied with `operator-rs generate installer | kubectl delete -f -`\n",
        );
    }
}

/// Returns why an object is removed although it may not belong to the project alone.
pub fn unclear(live: &Live) -> Option<String> {
    match &live.removal {
        Removal::Unknown(why) => Some(format!("{} is removed, although {why}", live.id)),
        _ => None,
    }
}

impl RemovedCrd<'_> {
    fn describe_loss(&self) -> Option<String> {
        loss(&self.live.id, &self.held)
    }
}

/// Describes the objects that are removed with a CRD.
pub fn loss(crd: &Id, held: &Result<Vec<CustomObject>, Refusal>) -> Option<String> {
    match held {
        Ok(held) if held.is_empty() => None,
        Ok(held) => {
            Some(format!("removing {crd} also removes {}", cluster::format_object_counts(held)))
        }
        Err(why) => Some(format!(
            "removing {crd} also removes every object of its kind, and these cannot be listed: {}",
            why.message
        )),
    }
}

impl RemovedNamespace<'_> {
    /// Returns the objects of another project in it: the namespace then stays.
    fn objects_of_others(&self) -> Option<String> {
        let mut others = self.contents.others.iter().filter(|other| other.other_project.is_some());
        let first = others.next()?;
        let project = first.other_project.as_deref()?;
        let more = match others.count() {
            0 => String::new(),
            many => format!(" and {many} more"),
        };
        Some(format!("{project} has {}{more} in it", first.id))
    }

    fn describe_losses(&self) -> Vec<String> {
        let id = &self.live.id;
        let others = self.contents.others.iter().map(|other| {
            let why = match &other.removal {
                Removal::Ours => ", which config/ no longer has".to_owned(),
                Removal::Unknown(why) => format!(", although {why}"),
                Removal::Adopted | Removal::Theirs(_) => {
                    ", which `deploy` did not create".to_owned()
                }
            };
            format!("removing {id} also removes {}{why}", other.id)
        });
        let unknown = self.contents.unknown.iter();
        let unknown = unknown.map(|(what, why)| {
            format!(
                "removing {id} also removes its objects of {what}, which cannot be listed: {why}"
            )
        });
        others.chain(unknown).collect()
    }
}

/// Makes a dry run of a removal, and of giving up the fields of what existed before.
pub fn attempt(cluster: &Cluster, going: &[Live], adopted: &[Live]) -> anyhow::Result<()> {
    let mut problems = cluster.try_delete(going)?;
    problems.extend(cluster.relinquish_fields(adopted, true)?);
    match problems[..] {
        [] => Ok(()),
        _ => Err(cluster::combine_refusals("nothing was removed", &problems)),
    }
}

pub fn list(losses: &[String]) {
    losses.iter().for_each(|loss| terminal::print_required(&format!("{loss}\n")));
}

/// Lists the losses. Continues if there are none, if the flag allows them, or if the user agrees. The objects that are
/// kept are listed before the question.
pub fn confirm(losses: &[String], kept: &[(Id, String)], yes: bool) -> anyhow::Result<()> {
    list(losses);
    if losses.is_empty() || yes {
        return Ok(());
    }
    kept.iter().for_each(|(id, why)| terminal::print_required(&format!("{id} is kept: {why}\n")));
    anyhow::ensure!(
        terminal::confirm_or_flag("Remove all of these?", "yes")?,
        "nothing was removed"
    );
    Ok(())
}
