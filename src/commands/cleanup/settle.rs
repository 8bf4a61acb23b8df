//! Waits for OLM: before a removal until it carries out no InstallPlan, and after it until nothing more appears.
//!
//! OLM carries out an InstallPlan to its end, even if everything that it belongs to is deleted meanwhile, and it removes
//! its own objects some time after their owners. A removal is complete when two looks, some time apart, find nothing.

use std::time::Duration;

use super::{find::list_of, removals::Removals};
use crate::app::cluster_access::{
    cluster_args, olm_namespace::InstallNamespace, removal::olm::SETTLED,
};
use cluster::{Id, Live, WaitState};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};
use model::Deadline;
use olm::lifecycle::{self, V1_ALPHA1};

/// The time between two looks.
const QUIET: Duration = Duration::from_secs(1);

const LATE: &str = "check that OLM runs: `operator-rs olm status`; it may create objects later, so run the command again then";

/// Waits until OLM carries out no InstallPlan of the package: it may create any of its objects at any moment.
pub fn wait_until_idle(
    place: &InstallNamespace,
    package: &str,
    deadline: Deadline,
) -> anyhow::Result<()> {
    let left = place.cluster.wait_until(deadline, &mut cluster_args::report, || {
        let subscriptions = place.subscriptions(package)?;
        let uids: Vec<_> =
            subscriptions.iter().map(|subscription| &subscription["metadata"]["uid"]).collect();
        let plans = place.cluster.list(V1_ALPHA1, "InstallPlan", &place.namespace)?;
        let mut running = plans.iter().filter(|plan| {
            let mut owners = plan["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            lifecycle::is_running(plan) && owners.any(|owner| uids.contains(&&owner["uid"]))
        });
        Ok(running.next().map_or(WaitState::Done, |plan| {
            let reason = lifecycle::failure_reason(plan);
            let colon = if reason.is_empty() { "" } else { ": " };
            WaitState::Not(format!("OLM is still executing {}{colon}{reason}", Id::of(plan)))
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
enum ListState {
    /// It does not exist.
    Gone,
    /// It is kept, as it has this object, which is kept.
    Kept(Live, Id),
    /// It has these objects, whose owners are removed: the garbage collector removes them, some time.
    Waits(Vec<Live>),
    /// The list still has this object of OLM, which has no removed owner. OLM should delete it.
    Theirs(Live, Id),
    /// It has nothing that exists.
    Empty(Live),
}

impl Removals {
    /// Removes what OLM creates late, until there is nothing more. Returns OLM's list if it is kept, and why.
    pub fn remove_late_objects(
        &self,
        place: &InstallNamespace,
        package: &str,
        deadline: Deadline,
    ) -> anyhow::Result<Option<(Id, String)>> {
        // OLM removes its own objects; what it has forgotten is removed in its place.
        let settled = deadline.at_most(SETTLED);
        let mut is_quiet = false;
        let mut kept = None;
        let left = place.cluster.wait_until(
            deadline.at_most(SETTLED * 2),
            &mut cluster_args::report,
            || {
                kept = None;
                let mut again = self.created_again(place)?;
                let going = self.find_being_removed(place)?;
                let mut reason =
                    going.first().map(|live| format!("OLM has not removed {} yet", live.id));
                if settled.is_over() {
                    again.extend(going);
                }
                if let Some(live) = again.first() {
                    reason = Some(format!("OLM has just created {}", live.id));
                    place.cluster.delete(&again, deadline, &mut cluster_args::report)?;
                }
                if reason.is_none() {
                    let delete = |objects: &[Live]| {
                        place.cluster.delete(objects, deadline, &mut cluster_args::report)
                    };
                    match self.read_list_state(place, package)? {
                        ListState::Gone => {}
                        ListState::Kept(list, id) => {
                            kept = Some((list.id, format!("{id} is in it")))
                        }
                        ListState::Theirs(list, id) if settled.is_over() => {
                            kept = Some((list.id, format!("{id} is in it")));
                        }
                        ListState::Theirs(_, id) => reason = Some(format!("OLM still lists {id}")),
                        ListState::Waits(waiting) => {
                            reason = Some(format!("{} has not been removed yet", waiting[0].id));
                            if settled.is_over() {
                                delete(&waiting)?;
                            }
                        }
                        ListState::Empty(list) => {
                            reason = Some(format!("OLM has just created {}", list.id));
                            delete(&[list])?;
                        }
                    }
                }
                Ok(match reason {
                    Some(reason) => {
                        is_quiet = false;
                        WaitState::Not(reason)
                    }
                    None if is_quiet => WaitState::Done,
                    None => {
                        is_quiet = true;
                        place.cluster.pause(QUIET)?;
                        WaitState::Not("checking that OLM creates nothing more".to_owned())
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
    fn created_again(&self, place: &InstallNamespace) -> anyhow::Result<Vec<Live>> {
        let ids = |all: &[Live]| all.iter().map(|live| live.id.clone()).collect::<Vec<_>>();
        let mut created = place.cluster.find_existing(&self.planned)?;
        let is_kept = |live: &Live| self.kept.iter().any(|(id, _)| *id == Id::of(&live.object));
        created.retain(|live| {
            lifecycle::is_left_behind(&live.object)
                && lifecycle::foreign_reason(&live.object).is_none()
                && !is_kept(live)
        });
        let crds: Vec<Live> = self.crds.iter().map(|entry| entry.0.clone()).collect();
        let crds = place.cluster.find_existing(&ids(&crds))?;
        created.extend(
            crds.into_iter().filter(|live| lifecycle::foreign_reason(&live.object).is_none()),
        );
        created.extend(place.cluster.find_existing(&ids(&self.csvs))?);
        created.iter_mut().for_each(correct_id);
        Ok(created)
    }

    /// Objects that OLM removes after its ClusterServiceVersion or its OperatorGroup.
    fn find_being_removed(&self, place: &InstallNamespace) -> anyhow::Result<Vec<Live>> {
        let owners: Vec<&Id> = self.csvs.iter().chain(&self.group).map(|live| &live.id).collect();
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        let is_of = |object: &Value, owner: &Id| {
            lifecycle::is_owned_by(object, &owner.name, &owner.namespace)
        };
        let mut ids = Vec::new();
        for (api_version, kind) in lifecycle::CLUSTER_SCOPED {
            let all = place.cluster.list(api_version, kind, "")?;
            let own = all.iter().filter(|object| owners.iter().any(|owner| is_of(object, owner)));
            ids.extend(own.map(Id::of));
        }
        let versions = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", "")?;
        let copies = versions.iter().filter(|version| {
            let is_named = |owner: &Live| version["metadata"]["name"] == *owner.id.name;
            lifecycle::copied_from(version) == Some(&place.namespace)
                && self.csvs.iter().any(is_named)
        });
        ids.extend(copies.map(Id::of));
        place.cluster.find_existing(&ids)
    }

    /// OLM's list of the operator's objects, which OLM keeps when it is empty, and creates again when it is not. It may
    /// name what no longer exists: OLM does not watch every kind that it lists, such as Services.
    fn read_list_state(
        &self,
        place: &InstallNamespace,
        package: &str,
    ) -> anyhow::Result<ListState> {
        let Some(list) = list_of(place, package)? else { return Ok(ListState::Gone) };
        self.take_off_list(place, package)?;
        let listed = lifecycle::listed_objects(&list.object);
        let (kept, listed): (Vec<Id>, Vec<Id>) =
            listed.iter().map(Id::of).partition(|id| self.is_left(id));
        let live = place.cluster.find_existing(&listed)?;
        let (going, theirs): (Vec<Live>, Vec<Live>) =
            live.into_iter().partition(|live| self.is_owned_by_removed(&live.object));
        Ok(if !going.is_empty() {
            ListState::Waits(going)
        } else if let Some(live) =
            theirs.iter().find(|live| lifecycle::foreign_reason(&live.object).is_some())
        {
            ListState::Kept(list, live.id.clone())
        } else if let Some(live) = theirs.into_iter().next() {
            ListState::Theirs(list, live.id)
        } else if let Some(id) = kept.into_iter().next() {
            ListState::Kept(list, id)
        } else {
            ListState::Empty(list)
        })
    }

    /// Returns whether the removed versions are the only owners of an object.
    fn is_owned_by_removed(&self, object: &Value) -> bool {
        let owners = object["metadata"]["ownerReferences"].as_array();
        let is_removed = |owner: &Value| {
            self.csvs.iter().any(|csv| csv.object["metadata"]["uid"] == owner["uid"])
        };
        owners.is_some_and(|owners| !owners.is_empty() && owners.iter().all(is_removed))
    }

    /// Returns whether an object is a CRD that was not to be removed.
    fn is_left(&self, id: &Id) -> bool {
        let kept = self.kept.iter().map(|entry| &entry.0);
        id.is_crd()
            && !self.crds.iter().map(|entry| &entry.0.id).chain(kept).any(|other| other == id)
    }

    /// Removes OLM's label of this operator from objects that are kept: OLM also labels objects that it did not create.
    fn take_off_list(&self, place: &InstallNamespace, package: &str) -> anyhow::Result<()> {
        let kept: Vec<Id> = self.kept.iter().map(|entry| entry.0.clone()).collect();
        for live in place.cluster.find_existing(&kept)? {
            if lifecycle::is_labelled(&live.object, package, &place.namespace) {
                let label = lifecycle::list_label(package, &place.namespace);
                let without = json!({"metadata": {"labels": {label: null}}});
                // If others have changed it meanwhile, it is looked at again.
                place.cluster.merge(&live.object, without)?;
            }
        }
        Ok(())
    }
}

/// Names an object as it is: an InstallPlan does not say whether its kind is cluster-scoped.
pub fn correct_id(live: &mut Live) {
    live.id = Id { api_version: live.id.api_version.clone(), ..Id::of(&live.object) };
}
