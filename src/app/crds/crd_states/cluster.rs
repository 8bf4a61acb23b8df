//! CRDs that a cluster serves, with the versions that it has stored objects in.

use std::collections::BTreeSet;

use anyhow::Context as _;

use super::{ConvertedKinds, CrdState, Crds, StatePlaces};
use crate::app::cluster_access::cluster_args::{self, ClusterAddress};
use crd::compatibility::Crd;

impl CrdState {
    /// The CRDs of these names, as far as the cluster has them. Its other CRDs are not compared. `converted` are the
    /// kinds that the operator converts if the cluster asks it to.
    pub fn of_cluster(
        address: &ClusterAddress,
        names: &BTreeSet<String>,
        converted: &ConvertedKinds,
    ) -> anyhow::Result<Self> {
        let cluster = cluster_args::with_hint(address.connect())?;
        let label = format!("the cluster at {}", cluster.server);
        let mut crds = Crds::new();
        for name in names {
            let Some(object) = cluster_args::with_hint(cluster.read_crd(name))? else { continue };
            let crd = Crd::from_object(&object);
            let mut crd = crd.with_context(|| format!("cannot read `{name}` from {label}"))?;
            crd.is_converted_by_project = converted.contains_key(&crd.kind());
            crds.insert(name.clone(), crd);
        }
        Ok(Self {
            label,
            crds,
            places: StatePlaces::default(),
            unread: None,
            unread_places: Vec::new(),
        })
    }
}
