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

use self::find::Found;
pub use self::find::{warn_of_former, warn_of_unknown};
pub use self::order::Parts;
use super::cluster_args::{self, ClusterArgs, Sending};
use crate::project::Project;
use crate::terminal;
use cluster::{Action, Cluster, Event, Held, Id, Live, NamespaceContents, Refusal, Removal, Verb};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;

/// A requested removal.
pub struct Removing<'a> {
    pub cluster: &'a Cluster,
    pub project: &'a Project,
    pub objects: &'a [Value],
    /// The only group of which it also removes what config/ no longer has; none means all groups.
    pub group: Option<&'static str>,
    pub sending: Sending,
    /// Whether everything was confirmed beforehand.
    pub yes: bool,
    pub cluster_args: &'a ClusterArgs,
}

/// A CRD that is removed, and the objects that are removed with it, as far as they are known.
struct Crd<'a> {
    live: &'a Live,
    held: Result<Vec<Held>, Refusal>,
}

/// A namespace that is removed, and what else is in it.
struct Namespace<'a> {
    live: &'a Live,
    contents: NamespaceContents,
}

impl Removing<'_> {
    pub fn run(&self) -> anyhow::Result<()> {
        let mut found = self.find()?;
        if found.is_empty() {
            terminal::advise("nothing to remove\n");
            return Ok(());
        }
        let going = found.parts();
        attempt(self.cluster, &found.going, &found.adopted)?;

        let crds = self.crds(&going)?;
        let known = self.known(&going, &crds);
        let (shared, namespaces): (Vec<_>, Vec<_>) =
            self.namespaces(&going, &known)?.into_iter().partition(|it| it.shared().is_some());
        let goes = |it: &&(Id, Live)| !shared.iter().any(|shared| shared.live.id == it.0);
        let mut losses: Vec<String> =
            going.in_order().filter(goes).filter_map(|it| found.unclear(&it.1)).collect();
        losses.extend(crds.iter().filter_map(Crd::loss));
        losses.extend(namespaces.iter().flat_map(Namespace::losses));
        if self.sending == Sending::All {
            confirm(&losses, &[], self.yes)?;
            let deadline = self.cluster_args.deadline();
            crds.iter().try_for_each(|it| self.check_crd_again(it))?;
            self.delete([&going.crds, &going.running, &going.rest], deadline)?;
            let problems = self.cluster.give_back(&found.adopted, false)?;
            if !problems.is_empty() {
                return Err(cluster::refuse("the rest was removed", &problems));
            }
            namespaces.iter().try_for_each(|it| self.check_namespace_again(it, &known))?;
            let namespaces = namespaces.iter().map(|it| (it.live.id.clone(), it.live.clone()));
            self.delete([&namespaces.collect()], deadline)?;
        } else {
            list(&losses);
            let deletes = going.in_order().filter(goes);
            let deletes = deletes.map(|it| Action::new(Verb::Delete, &it.0));
            deletes.for_each(|it| cluster_args::report(Event::Action(it)));
        }
        // Objects of others in a removed namespace were listed with it.
        let is_lost = |it: &Id| namespaces.iter().any(|gone| gone.live.id.name == it.namespace);
        found.adopted.retain(|it| !is_lost(&it.id));
        found.kept.retain(|it| !is_lost(&it.0));
        report_what_stays(&found, &shared);
        Ok(())
    }

    fn delete<const N: usize>(
        &self,
        parts: [&Vec<(Id, Live)>; N],
        deadline: Deadline,
    ) -> anyhow::Result<()> {
        for part in parts {
            let part: Vec<Live> = part.iter().map(|it| it.1.clone()).collect();
            self.cluster.delete(&part, deadline, &mut cluster_args::report)?;
        }
        Ok(())
    }

    fn crds<'a>(&self, going: &'a Parts<Live>) -> anyhow::Result<Vec<Crd<'a>>> {
        let crds = going.crds.iter();
        crds.map(|(_, live)| Ok(Crd { live, held: self.cluster.held(&live.object)? })).collect()
    }

    /// Always removed: the project's own objects, the objects of its CRDs, and the operator's lease.
    fn known(&self, going: &Parts<Live>, crds: &[Crd<'_>]) -> Vec<Id> {
        let mut res: Vec<Id> = going.in_order().map(|it| it.0.clone()).collect();
        let held = crds.iter().filter_map(|it| it.held.as_ref().ok()).flatten();
        res.extend(held.map(|it| it.id.clone()));
        // The operator creates its lease while it is the leader.
        res.extend(going.namespaces.iter().map(|it| Id {
            api_version: "coordination.k8s.io/v1".to_owned(),
            kind: "Lease".to_owned(),
            namespace: it.0.name.clone(),
            name: self.project.name.to_string(),
        }));
        res
    }

    fn namespaces<'a>(
        &self,
        going: &'a Parts<Live>,
        known: &[Id],
    ) -> anyhow::Result<Vec<Namespace<'a>>> {
        let look = |(id, live): &'a (Id, Live)| {
            let contents =
                self.cluster.others_in(&id.name, known, &NamespaceContents::default())?;
            Ok(Namespace { live, contents })
        };
        going.namespaces.iter().map(look).collect()
    }

    /// Objects of a CRD that have been created since the user was asked.
    fn check_crd_again(&self, crd: &Crd<'_>) -> anyhow::Result<()> {
        // The user agreed although they are not known.
        let Ok(before) = &crd.held else { return Ok(()) };
        let before: BTreeSet<&str> = before.iter().map(|it| it.uid.as_str()).collect();
        let mut held = self.cluster.held(&crd.live.object)?;
        if let Ok(held) = &mut held {
            held.retain(|it| !before.contains(it.uid.as_str()));
        }
        let new = Crd { live: crd.live, held };
        self.agree_to(new.loss().into_iter().collect(), "nothing was removed")
    }

    fn check_namespace_again(&self, it: &Namespace<'_>, known: &[Id]) -> anyhow::Result<()> {
        let id = &it.live.id;
        let contents = self.cluster.others_in(&id.name, known, &it.contents)?;
        let new = Namespace { live: it.live, contents };
        if let Some(why) = new.shared() {
            anyhow::bail!("the rest was removed, but {id} stays: {why}");
        }
        self.agree_to(new.losses(), &format!("the rest was removed, but {id} stays"))
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

fn report_what_stays(found: &Found, shared: &[Namespace<'_>]) {
    let leave = |id: &Id, why: &str| {
        cluster_args::report(Event::Action(Action::because(Verb::Leave, id, why)));
    };
    found.adopted.iter().for_each(|it| leave(&it.id, "it already existed"));
    found.kept.iter().for_each(|(id, why)| leave(id, why));
    shared.iter().for_each(|it| leave(&it.live.id, &it.shared().unwrap_or_default()));
    found.advice().into_iter().for_each(|it| terminal::advise(&it));
    if found.kept.iter().any(|(_, why)| why.contains("`kubectl")) {
        terminal::advise(
            "delete what `kubectl` has applied with `operator-rs generate installer | kubectl delete -f -`\n",
        );
    }
}

/// Why an object is removed although it may not belong to the project alone.
pub fn unclear(live: &Live) -> Option<String> {
    match &live.removal {
        Removal::Unknown(why) => Some(format!("{} is removed, although {why}", live.id)),
        _ => None,
    }
}

impl Crd<'_> {
    fn loss(&self) -> Option<String> {
        loss(&self.live.id, &self.held)
    }
}

/// What is removed with a CRD.
pub fn loss(crd: &Id, held: &Result<Vec<Held>, Refusal>) -> Option<String> {
    match held {
        Ok(held) if held.is_empty() => None,
        Ok(held) => Some(format!("removing {crd} also removes {}", cluster::held_summary(held))),
        Err(why) => Some(format!(
            "removing {crd} also removes every object of its kind, and these cannot be listed: {}",
            why.message
        )),
    }
}

impl Namespace<'_> {
    /// The objects of another project in it: the namespace then stays.
    fn shared(&self) -> Option<String> {
        let mut others = self.contents.others.iter().filter(|it| it.other_project.is_some());
        let first = others.next()?;
        let project = first.other_project.as_deref()?;
        let more = match others.count() {
            0 => String::new(),
            many => format!(" and {many} more"),
        };
        Some(format!("{project} has {}{more} in it", first.id))
    }

    fn losses(&self) -> Vec<String> {
        let id = &self.live.id;
        let others = self.contents.others.iter().map(|it| {
            let why = match &it.removal {
                Removal::Ours => ", which config/ no longer has".to_owned(),
                Removal::Unknown(why) => format!(", although {why}"),
                Removal::Adopted | Removal::Theirs(_) => {
                    ", which `deploy` did not create".to_owned()
                }
            };
            format!("removing {id} also removes {}{why}", it.id)
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
    problems.extend(cluster.give_back(adopted, true)?);
    match problems[..] {
        [] => Ok(()),
        _ => Err(cluster::refuse("nothing was removed", &problems)),
    }
}

pub fn list(losses: &[String]) {
    losses.iter().for_each(|it| terminal::require(&format!("{it}\n")));
}

/// Lists the losses. Continues if there are none, if the flag allows them, or if the user agrees, who is told before what
/// is kept.
pub fn confirm(losses: &[String], kept: &[(Id, String)], yes: bool) -> anyhow::Result<()> {
    list(losses);
    if losses.is_empty() || yes {
        return Ok(());
    }
    kept.iter().for_each(|(id, why)| terminal::require(&format!("{id} is kept: {why}\n")));
    anyhow::ensure!(terminal::agree("Remove all of these?", "yes")?, "nothing was removed");
    Ok(())
}
