//! What a cluster has of a project. It is only read, and in a hurry.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{State, generated::Objects, reason};
use crate::app::{charts::crds::is_held, cluster_args::Address};
use cluster::{Id, Unreachable};
use diagnostics::find;
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
    pub objects: Vec<Object>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    pub object: String,
    pub state: State,
    pub detail: String,
}

pub fn of(address: &Address, objects: Objects) -> anyhow::Result<Cluster> {
    let unknown = |reason: String| Cluster { reason: Some(reason), ..Cluster::default() };
    if !address.has_kubeconfig()? {
        return Ok(unknown("not checked: there is no kubeconfig".to_owned()));
    }
    let Objects { all, has_source } = objects;
    let all = match all {
        Ok(all) => all,
        Err(error) => return Ok(unknown(format!("not checked: {}", reason(&error)))),
    };
    // The time that it took to look at the project is not the cluster's.
    let limit = address.deadline().limit();
    let mut cluster = match address.connect_until(Deadline::after(limit)) {
        Ok(cluster) => cluster,
        Err(error) => return Ok(unknown(format!("not checked: {}", reason(&error)))),
    };
    cluster.limit_each_answer(limit / PART);
    let mut look = Look { cluster: &cluster, objects: Vec::new() };
    Ok(match look.at(&all, has_source) {
        Ok(()) => {
            Cluster { server: Some(cluster.server.clone()), reason: None, objects: look.objects }
        }
        Err(error) => unknown(reason(&error)),
    })
}

struct Look<'a> {
    cluster: &'a cluster::Cluster,
    objects: Vec<Object>,
}

impl Look<'_> {
    /// Fails where no further request would be answered.
    fn at(&mut self, all: &[Value], has_source: bool) -> anyhow::Result<()> {
        let crds: Vec<&Value> = all.iter().filter(|it| Id::of(it).is_crd()).collect();
        for declared in &crds {
            let id = Id::of(declared);
            let found = self.cluster.crd(&id.name);
            self.add(&id, found, |live| match (has_source, is_held(live, declared)) {
                (false, _) => (State::Unknown, "installed, and not compared".to_owned()),
                (true, true) => (State::Good, "as the source declares it".to_owned()),
                (true, false) => (State::Bad, "differs from the source".to_owned()),
            })?;
        }
        let mut workloads: BTreeSet<Id> =
            all.iter().map(Id::of).filter(Id::is_workload).map(|it| self.placed(it)).collect();
        let names: BTreeSet<String> = crds.iter().map(|it| Id::of(it).name).collect();
        for csv in self.csvs(&names)? {
            let id = Id::of(&csv);
            let deployments = csv["spec"]["install"]["spec"]["deployments"].as_array();
            let by_olm = deployments.into_iter().flatten().filter_map(|it| it["name"].as_str());
            let by_olm: Vec<Id> = by_olm
                .map(|name| Id {
                    api_version: "apps/v1".to_owned(),
                    kind: "Deployment".to_owned(),
                    namespace: id.namespace.clone(),
                    name: name.to_owned(),
                })
                .collect();
            // OLM makes it under the same name in another namespace.
            workloads.retain(|it| by_olm.iter().all(|by_olm| by_olm.name != it.name));
            workloads.extend(by_olm);
            self.add(&id, Ok(Some(csv)), |csv| {
                let phase = csv["status"]["phase"].as_str().unwrap_or("not processed by OLM yet");
                let state = if phase == "Succeeded" { State::Good } else { State::Bad };
                (state, phase.to_owned())
            })?;
        }
        for id in workloads {
            let found = self.cluster.read(&id);
            self.add(&id, found, |live| {
                let lag = cluster::Cluster::lag(live);
                let state = if lag.is_none() { State::Good } else { State::Bad };
                (state, format!("{}: {}", images(live), lag.as_deref().unwrap_or("ready")))
            })?;
        }
        Ok(())
    }

    /// The namespace of manifests that have none is that of the kubeconfig.
    fn placed(&self, id: Id) -> Id {
        match id.namespace.is_empty() {
            true => Id { namespace: self.cluster.namespace.clone(), ..id },
            false => id,
        }
    }

    /// The ClusterServiceVersions that own one of these CRDs, without OLM's copies.
    fn csvs(&mut self, crds: &BTreeSet<String>) -> anyhow::Result<Vec<Value>> {
        let owns = |csv: &Value| {
            let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array();
            let mut owned = owned.into_iter().flatten().filter_map(|it| it["name"].as_str());
            csv["metadata"]["labels"]["olm.copiedFrom"].is_null()
                && owned.any(|it| crds.contains(it))
        };
        match self.cluster.list(V1_ALPHA1, "ClusterServiceVersion", "") {
            Ok(all) => Ok(all.into_iter().filter(owns).collect()),
            Err(error) => {
                let object = "ClusterServiceVersions".to_owned();
                self.unknown(object, error)?;
                Ok(Vec::new())
            }
        }
    }

    fn add(
        &mut self,
        id: &Id,
        found: anyhow::Result<Option<Value>>,
        judge: impl FnOnce(&Value) -> (State, String),
    ) -> anyhow::Result<()> {
        let (state, detail) = match found {
            Ok(Some(live)) => judge(&live),
            Ok(None) => (State::Missing, "not installed".to_owned()),
            Err(error) => return self.unknown(id.to_string(), error),
        };
        self.objects.push(Object { object: id.to_string(), state, detail });
        Ok(())
    }

    fn unknown(&mut self, object: String, error: anyhow::Error) -> anyhow::Result<()> {
        let is_final = find::<Unreachable>(&error).is_some()
            || find::<cluster::Interrupted>(&error).is_some()
            || find::<TimedOut>(&error).is_some();
        if is_final {
            return Err(error);
        }
        let detail = format!("unknown: {}", reason(&error));
        self.objects.push(Object { object, state: State::Unknown, detail });
        Ok(())
    }
}

/// The images of a workload's containers.
fn images(workload: &Value) -> String {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array();
    let images = containers.into_iter().flatten().filter_map(|it| it["image"].as_str());
    images.collect::<Vec<_>>().join(", ")
}
