//! All objects that an owner has created, of every kind and in every namespace.

use std::collections::BTreeSet;

use super::{Cluster, Id, Live, Removal, discovery::Resource};

impl Cluster {
    /// The objects that the owner has created, or that have this label: some programs remove the list of field managers from
    /// objects that they change. Kinds that cannot be listed, as those of an API service that is not
    /// available, are skipped: what is applied has kinds that can.
    pub fn created(&self, label: &str) -> anyhow::Result<Vec<Live>> {
        let mut ids = Vec::new();
        let mut kinds = BTreeSet::new();
        for api_version in self.api_versions()? {
            let Ok(resources) = self.resources(&api_version) else { continue };
            let can = |it: &Resource, verb: &str| it.verbs.iter().any(|other| other == verb);
            // A kind whose CRD is being deleted can no longer be patched.
            let matters =
                |it: &Resource| can(it, "list") && (can(it, "patch") || can(it, "delete"));
            for resource in resources.into_iter().filter(matters) {
                let group = Id::group_of(&api_version).to_owned();
                // Its objects are the same in all versions.
                if !kinds.insert((group, resource.api.plural.clone())) {
                    continue;
                }
                let Ok(Some(items)) = self.list_metadata(&resource, "")? else { continue };
                let ours = items.iter().filter(|it| {
                    self.owner.judge_other(it) == Removal::Ours
                        || it["metadata"]["labels"].get(label).is_some()
                });
                ids.extend(ours.map(|it| Id {
                    api_version: api_version.clone(),
                    kind: resource.api.kind.clone(),
                    ..Id::of(it)
                }));
            }
        }
        self.find(&ids)
    }
}
