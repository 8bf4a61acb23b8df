//! Waits for OLM: before a removal until it carries out no InstallPlan, and after it until nothing more appears.
//!
//! OLM carries out an InstallPlan to its end, even if everything that it belongs to is deleted meanwhile, and it removes
//! its own objects some time after their owners. A removal is complete when two looks, some time apart, find nothing.

use std::time::Duration;

use super::{find::list_of, removals::Removals};
use crate::{
    app::olm_namespace::Place,
    app::{cluster_args, removal::olm::SETTLED},
};
use cluster::{Id, Live, State};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};
use model::Deadline;
use olm::lifecycle::{self, V1_ALPHA1};

/// The time between two looks.
const QUIET: Duration = Duration::from_secs(1);

const LATE: &str = "check that OLM runs: `operator-rs olm status`; it may create objects later, so run the command again then";

/// Waits until OLM carries out no InstallPlan of the package: it may create any of its objects at any moment.
pub fn until_idle(place: &Place, package: &str, deadline: Deadline) -> anyhow::Result<()> {
    let left = place.cluster.until(deadline, &mut cluster_args::report, || {
        let subscriptions = place.subscriptions(package)?;
        let uids: Vec<_> = subscriptions.iter().map(|it| &it["metadata"]["uid"]).collect();
        let plans = place.cluster.list(V1_ALPHA1, "InstallPlan", &place.namespace)?;
        let mut running = plans.iter().filter(|plan| {
            let mut owners = plan["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            lifecycle::is_running(plan) && owners.any(|it| uids.contains(&&it["uid"]))
        });
        Ok(running.next().map_or(State::Done, |plan| {
            let reason = lifecycle::reason(plan);
            let colon = if reason.is_empty() { "" } else { ": " };
            State::Not(format!("OLM is still executing {}{colon}{reason}", Id::of(plan)))
        }))
    })?;
    match left {
        None => Ok(()),
        Some(reason) => {
            Err(anyhow::format_err!("nothing was removed: timed out: {reason}")).hint(LATE)
        }
    }
}

/// The state of a removal by OLM's list of the operator's objects.
enum List {
    /// It does not exist.
    Gone,
    /// It is kept, as it has this object, which is kept.
    Kept(Live, Id),
    /// It has these objects, whose owners are removed: the garbage collector removes them, some time.
    Waits(Vec<Live>),
    /// It has this object of OLM's, which has no owner that is removed.
    Theirs(Live, Id),
    /// It has nothing that exists.
    Empty(Live),
}

impl Removals {
    /// Removes what OLM creates late, until there is nothing more. Returns OLM's list if it is kept, and why.
    pub fn settle(
        &self,
        place: &Place,
        package: &str,
        deadline: Deadline,
    ) -> anyhow::Result<Option<(Id, String)>> {
        // OLM removes its own objects; what it has forgotten is removed in its place.
        let settled = deadline.at_most(SETTLED);
        let mut is_quiet = false;
        let mut kept = None;
        let left = place.cluster.until(
            deadline.at_most(SETTLED * 2),
            &mut cluster_args::report,
            || {
                kept = None;
                let mut again = self.created_again(place)?;
                let going = self.going(place)?;
                let mut reason =
                    going.first().map(|it| format!("OLM has not removed {} yet", it.id));
                if settled.is_over() {
                    again.extend(going);
                }
                if let Some(it) = again.first() {
                    reason = Some(format!("OLM has just created {}", it.id));
                    place.cluster.delete(&again, deadline, &mut cluster_args::report)?;
                }
                if reason.is_none() {
                    let delete =
                        |it: &[Live]| place.cluster.delete(it, deadline, &mut cluster_args::report);
                    match self.list(place, package)? {
                        List::Gone => {}
                        List::Kept(list, it) => kept = Some((list.id, format!("{it} is in it"))),
                        List::Theirs(list, it) if settled.is_over() => {
                            kept = Some((list.id, format!("{it} is in it")));
                        }
                        List::Theirs(_, it) => reason = Some(format!("OLM still lists {it}")),
                        List::Waits(it) => {
                            reason = Some(format!("{} has not been removed yet", it[0].id));
                            if settled.is_over() {
                                delete(&it)?;
                            }
                        }
                        List::Empty(list) => {
                            reason = Some(format!("OLM has just created {}", list.id));
                            delete(&[list])?;
                        }
                    }
                }
                Ok(match reason {
                    Some(reason) => {
                        is_quiet = false;
                        State::Not(reason)
                    }
                    None if is_quiet => State::Done,
                    None => {
                        is_quiet = true;
                        place.cluster.pause(QUIET)?;
                        State::Not("checking that OLM creates nothing more".to_owned())
                    }
                })
            },
        )?;
        match left {
            None => Ok(kept),
            Some(reason) => Err(anyhow::format_err!("timed out: {reason}")).hint(LATE),
        }
    }

    /// Objects that an InstallPlan has created again, which OLM was still carrying out.
    fn created_again(&self, place: &Place) -> anyhow::Result<Vec<Live>> {
        let ids = |all: &[Live]| all.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        let mut res = place.cluster.find(&self.planned)?;
        let is_kept = |it: &Live| self.kept.iter().any(|(id, _)| *id == Id::of(&it.object));
        res.retain(|it| {
            lifecycle::is_left_behind(&it.object)
                && lifecycle::foreign(&it.object).is_none()
                && !is_kept(it)
        });
        let crds: Vec<Live> = self.crds.iter().map(|it| it.0.clone()).collect();
        let crds = place.cluster.find(&ids(&crds))?;
        res.extend(crds.into_iter().filter(|it| lifecycle::foreign(&it.object).is_none()));
        res.extend(place.cluster.find(&ids(&self.csvs))?);
        res.iter_mut().for_each(exact);
        Ok(res)
    }

    /// Objects that OLM removes after its ClusterServiceVersion or its OperatorGroup.
    fn going(&self, place: &Place) -> anyhow::Result<Vec<Live>> {
        let owners: Vec<&Id> = self.csvs.iter().chain(&self.group).map(|it| &it.id).collect();
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        let is_of =
            |it: &Value, owner: &Id| lifecycle::is_owned_by(it, &owner.name, &owner.namespace);
        let mut ids = Vec::new();
        for (api_version, kind) in lifecycle::CLUSTER_SCOPED {
            let all = place.cluster.list(api_version, kind, "")?;
            let own = all.iter().filter(|it| owners.iter().any(|owner| is_of(it, owner)));
            ids.extend(own.map(Id::of));
        }
        let versions = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", "")?;
        let copies = versions.iter().filter(|it| {
            let is_named = |owner: &Live| it["metadata"]["name"] == *owner.id.name;
            lifecycle::copied_from(it) == Some(&place.namespace) && self.csvs.iter().any(is_named)
        });
        ids.extend(copies.map(Id::of));
        place.cluster.find(&ids)
    }

    /// OLM's list of the operator's objects, which OLM keeps when it is empty, and creates again when it is not. It may
    /// name what no longer exists: OLM does not watch every kind that it lists, such as Services.
    fn list(&self, place: &Place, package: &str) -> anyhow::Result<List> {
        let Some(list) = list_of(place, package)? else { return Ok(List::Gone) };
        self.take_off_list(place, package)?;
        let listed = lifecycle::listed(&list.object);
        let (kept, listed): (Vec<Id>, Vec<Id>) =
            listed.iter().map(Id::of).partition(|it| self.is_left(it));
        let live = place.cluster.find(&listed)?;
        let (going, theirs): (Vec<Live>, Vec<Live>) =
            live.into_iter().partition(|it| self.goes(&it.object));
        Ok(if !going.is_empty() {
            List::Waits(going)
        } else if let Some(it) = theirs.iter().find(|it| lifecycle::foreign(&it.object).is_some()) {
            List::Kept(list, it.id.clone())
        } else if let Some(it) = theirs.into_iter().next() {
            List::Theirs(list, it.id)
        } else if let Some(it) = kept.into_iter().next() {
            List::Kept(list, it)
        } else {
            List::Empty(list)
        })
    }

    /// Whether the removed versions are the only owners of an object.
    fn goes(&self, object: &Value) -> bool {
        let owners = object["metadata"]["ownerReferences"].as_array();
        let is_removed =
            |owner: &Value| self.csvs.iter().any(|it| it.object["metadata"]["uid"] == owner["uid"]);
        owners.is_some_and(|it| !it.is_empty() && it.iter().all(is_removed))
    }

    /// Whether an object is a CRD that was not to be removed.
    fn is_left(&self, id: &Id) -> bool {
        let kept = self.kept.iter().map(|it| &it.0);
        id.is_crd() && !self.crds.iter().map(|it| &it.0.id).chain(kept).any(|it| it == id)
    }

    /// Takes OLM's label of this operator from what is kept: OLM sets it on what it finds, too.
    fn take_off_list(&self, place: &Place, package: &str) -> anyhow::Result<()> {
        let kept: Vec<Id> = self.kept.iter().map(|it| it.0.clone()).collect();
        for it in place.cluster.find(&kept)? {
            if lifecycle::is_labelled(&it.object, package, &place.namespace) {
                let label = lifecycle::list_label(package, &place.namespace);
                let without = json!({"metadata": {"labels": {label: null}}});
                // If others have changed it meanwhile, it is looked at again.
                place.cluster.merge(&it.object, without)?;
            }
        }
        Ok(())
    }
}

/// Names an object as it is: an InstallPlan does not say whether its kind is cluster-scoped.
pub fn exact(it: &mut Live) {
    it.id = Id { api_version: it.id.api_version.clone(), ..Id::of(&it.object) };
}
