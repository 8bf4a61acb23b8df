//! The objects of a project on a cluster. They are only read, with short time limits.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{PartState, generated::DesiredObjects, short_reason};
use crate::app::{charts::crds::is_held, cluster_access::cluster_args::ClusterAddress};
use cluster::{Id, Unreachable};
use diagnostics::find_error;
use go_data::yaml::Value;
use model::{Deadline, TimedOut};
use olm::lifecycle::V1_ALPHA1;

/// The part of the time limit that each answer may take.
const PART: u32 = 5;

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Why nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub objects: Vec<ObjectStatus>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    pub object: String,
    pub state: PartState,
    pub detail: String,
}

pub fn inspect_cluster(
    address: &ClusterAddress,
    objects: DesiredObjects,
) -> anyhow::Result<Cluster> {
    let unknown = |reason: String| Cluster { reason: Some(reason), ..Cluster::default() };
    if !address.has_kubeconfig()? {
        return Ok(unknown("not checked: there is no kubeconfig".to_owned()));
    }
    let DesiredObjects { all, has_source } = objects;
    let all = match all {
        Ok(all) => all,
        Err(error) => return Ok(unknown(format!("not checked: {}", short_reason(&error)))),
    };
    // The time that it took to look at the project is not the cluster's.
    let limit = address.deadline().limit();
    let mut cluster = match address.connect_until(Deadline::after(limit)) {
        Ok(cluster) => cluster,
        Err(error) => return Ok(unknown(format!("not checked: {}", short_reason(&error)))),
    };
    cluster.limit_each_answer(limit / PART);
    let mut look = Inspection { cluster: &cluster, objects: Vec::new() };
    Ok(match look.inspect_objects(&all, has_source) {
        Ok(()) => {
            Cluster { server: Some(cluster.server.clone()), reason: None, objects: look.objects }
        }
        Err(error) => unknown(short_reason(&error)),
    })
}

struct Inspection<'a> {
    cluster: &'a cluster::Cluster,
    objects: Vec<ObjectStatus>,
}

impl Inspection<'_> {
    /// Fails where no further request would be answered.
    fn inspect_objects(&mut self, all: &[Value], has_source: bool) -> anyhow::Result<()> {
        let crds: Vec<&Value> = all.iter().filter(|object| Id::of(object).is_crd()).collect();
        for declared in &crds {
            let id = Id::of(declared);
            let found = self.cluster.read_crd(&id.name);
            self.add_object(&id, found, |live| match (has_source, is_held(live, declared)) {
                (false, _) => (PartState::Unknown, "installed, and not compared".to_owned()),
                (true, true) => (PartState::Good, "as the source declares it".to_owned()),
                (true, false) => (PartState::Bad, "differs from the source".to_owned()),
            })?;
        }
        let mut workloads: BTreeSet<Id> = all
            .iter()
            .map(Id::of)
            .filter(Id::is_workload)
            .map(|id| self.with_namespace(id))
            .collect();
        let names: BTreeSet<String> = crds.iter().map(|crd| Id::of(crd).name).collect();
        for csv in self.find_csvs(&names)? {
            let id = Id::of(&csv);
            let deployments = csv["spec"]["install"]["spec"]["deployments"].as_array();
            let by_olm = deployments
                .into_iter()
                .flatten()
                .filter_map(|deployment| deployment["name"].as_str());
            let by_olm: Vec<Id> = by_olm
                .map(|name| Id {
                    api_version: "apps/v1".to_owned(),
                    kind: "Deployment".to_owned(),
                    namespace: id.namespace.clone(),
                    name: name.to_owned(),
                })
                .collect();
            // OLM makes it under the same name in another namespace.
            workloads.retain(|id| by_olm.iter().all(|by_olm| by_olm.name != id.name));
            workloads.extend(by_olm);
            self.add_object(&id, Ok(Some(csv)), |csv| {
                let phase = csv["status"]["phase"].as_str().unwrap_or("not processed by OLM yet");
                let state = if phase == "Succeeded" { PartState::Good } else { PartState::Bad };
                (state, phase.to_owned())
            })?;
        }
        for id in workloads {
            let found = self.cluster.read(&id);
            self.add_object(&id, found, |live| {
                let lag = cluster::Cluster::unavailability_reason(live);
                let state = if lag.is_none() { PartState::Good } else { PartState::Bad };
                (state, format!("{}: {}", format_images(live), lag.as_deref().unwrap_or("ready")))
            })?;
        }
        Ok(())
    }

    /// Sets the namespace of the kubeconfig in an id that has none.
    fn with_namespace(&self, id: Id) -> Id {
        if id.namespace.is_empty() {
            Id { namespace: self.cluster.namespace.clone(), ..id }
        } else {
            id
        }
    }

    /// The ClusterServiceVersions that own one of these CRDs, without OLM's copies.
    fn find_csvs(&mut self, crds: &BTreeSet<String>) -> anyhow::Result<Vec<Value>> {
        let owns = |csv: &Value| {
            let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array();
            let mut owned = owned.into_iter().flatten().filter_map(|crd| crd["name"].as_str());
            csv["metadata"]["labels"]["olm.copiedFrom"].is_null()
                && owned.any(|name| crds.contains(name))
        };
        match self.cluster.list(V1_ALPHA1, "ClusterServiceVersion", "") {
            Ok(all) => Ok(all.into_iter().filter(owns).collect()),
            Err(error) => {
                let object = "ClusterServiceVersions".to_owned();
                self.add_unknown(object, error)?;
                Ok(Vec::new())
            }
        }
    }

    fn add_object(
        &mut self,
        id: &Id,
        found: anyhow::Result<Option<Value>>,
        judge: impl FnOnce(&Value) -> (PartState, String),
    ) -> anyhow::Result<()> {
        let (state, detail) = match found {
            Ok(Some(live)) => judge(&live),
            Ok(None) => (PartState::Missing, "not installed".to_owned()),
            Err(error) => return self.add_unknown(id.to_string(), error),
        };
        self.objects.push(ObjectStatus { object: id.to_string(), state, detail });
        Ok(())
    }

    fn add_unknown(&mut self, object: String, error: anyhow::Error) -> anyhow::Result<()> {
        let is_final = find_error::<Unreachable>(&error).is_some()
            || find_error::<cluster::Interrupted>(&error).is_some()
            || find_error::<TimedOut>(&error).is_some();
        if is_final {
            return Err(error);
        }
        let detail = format!("unknown: {}", short_reason(&error));
        self.objects.push(ObjectStatus { object, state: PartState::Unknown, detail });
        Ok(())
    }
}

/// The images of a workload's containers.
fn format_images(workload: &Value) -> String {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array();
    let images =
        containers.into_iter().flatten().filter_map(|container| container["image"].as_str());
    images.collect::<Vec<_>>().join(", ")
}
