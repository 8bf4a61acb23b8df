//! Rewrites the objects of a CRD in its storage version, and removes the other versions from `status.storedVersions`.
//!
//! An empty server-side apply changes nothing in an object, but the API server encodes it again: it writes an object that
//! is stored in another version, and only such an object. A run that ended early is therefore simply repeated.

use std::collections::BTreeMap;

use kube::{
    api::{ListParams, Patch, PatchParams},
    core::Request as Requests,
};

use super::{
    Cluster, Id,
    crds::{crd_requests, resource_of_crd},
    discovery::Resource,
    list::take_items,
    object::{resource_version, string_items, uid},
    path::path_segment,
    refusal::{self, Refusal},
};
use anyhow::Context as _;
use go_data::yaml::{Value, json};

/// It never owns a field: an apply without fields leaves no trace of its manager.
const MANAGER: &str = "operator-rs:migrate";

/// More pages, of 500 objects each, than etcd can hold.
const PAGES: usize = 20_000;

/// A CRD as it was when the migration began.
pub struct Migration {
    pub id: Id,
    /// The storage version.
    pub version: String,
    /// Have the server validate all requests, and change nothing.
    pub dry_run: bool,
    /// Only read all objects in the storage version, as a migration has to.
    pub reads_only: bool,
    /// `status.storedVersions`.
    pub stored: Vec<String>,
    pub(super) resource: Resource,
    uid: String,
    generation: Value,
}

/// The objects that were rewritten or refused so far.
#[derive(Default)]
pub struct Rewritten {
    /// The objects that are stored in the storage version now.
    pub done: usize,
    /// Those of them that this run has written.
    pub written: usize,
    /// The objects that could not be written, by the reason.
    pub refused: BTreeMap<String, Vec<Id>>,
}

impl Migration {
    /// Fails if none of the versions is served: then no client can read or write the objects.
    pub fn from_crd(crd: &Value) -> anyhow::Result<Self> {
        let id = Id::of(crd);
        let storage = crd["spec"]["versions"].as_array().into_iter().flatten();
        let storage = storage
            .filter(|version| version["storage"] == true)
            .find_map(|version| version["name"].as_str());
        let storage = storage.with_context(|| format!("{id} has no storage version"))?;
        let resource = resource_of_crd(crd)?;
        Ok(Self {
            version: storage.to_owned(),
            dry_run: false,
            reads_only: false,
            stored: string_items(&crd["status"]["storedVersions"])
                .iter()
                .map(ToString::to_string)
                .collect(),
            resource: resource.with_context(|| format!("no version of {id} is served"))?,
            uid: uid(crd).to_owned(),
            generation: crd["metadata"]["generation"].clone(),
            id,
        })
    }

    /// Returns whether objects may be stored in another version.
    pub fn is_needed(&self) -> bool {
        self.stored.iter().any(|stored| *stored != self.version)
    }

    pub fn is_namespaced(&self) -> bool {
        self.resource.namespaced
    }
}

impl Cluster {
    /// Returns the number of objects, in one namespace or (empty) in all; none if the server does not report it.
    pub fn count_objects(
        &self,
        migration: &Migration,
        namespace: &str,
    ) -> anyhow::Result<Option<usize>> {
        let one = ListParams::default().limit(1);
        let mut response =
            self.send(&migration.resource.requests_in(namespace)?.list_metadata(&one)?)?;
        if !response.is_success() {
            return Err(list_error(migration, refusal::from_response(&response)));
        }
        let listed = take_items(&mut response.body, namespace)
            .map_err(|why| list_error(migration, why))?
            .len();
        let rest = &response.body["metadata"]["remainingItemCount"];
        let is_whole = response.body["metadata"]["continue"].as_str().is_none_or(str::is_empty);
        let rest = if is_whole { Some(0) } else { rest.as_u64() };
        Ok(rest.and_then(|count| usize::try_from(count).ok()).map(|count| count + listed))
    }

    /// The objects as another version shows them, in one namespace or (empty) in all; none if it is not served.
    pub fn list_objects_in_version(
        &self,
        migration: &Migration,
        version: &str,
        namespace: &str,
    ) -> anyhow::Result<Option<Vec<(Id, Value)>>> {
        let api = &migration.resource.api;
        let api_version = format!("{}/{version}", api.group);
        let resource =
            Resource::new(&api_version, &api.kind, &api.plural, migration.is_namespaced())?;
        let list = |page: &ListParams| Ok(resource.requests_in(namespace)?.list(page)?);
        let items = self.list_pages(namespace, list)?.map_err(|why| list_error(migration, why))?;
        Ok(items.map(|items| items.into_iter().map(|item| (resource.id_of(&item), item)).collect()))
    }

    /// Rewrites all objects, in one namespace or (empty) in all. An object that cannot be rewritten is noted, and the rest
    /// goes on; what was done is in `rewritten` even if the connection is lost. `report` is called after each page.
    pub fn rewrite_objects(
        &self,
        migration: &Migration,
        namespace: &str,
        rewritten: &mut Rewritten,
        report: &mut dyn FnMut(&Rewritten),
    ) -> anyhow::Result<()> {
        let requests = migration.resource.requests_in(namespace)?;
        let mut page = ListParams::default().limit(500);
        for _ in 0..PAGES {
            let (items, next) = self.list_page(migration, namespace, &requests, &page)?;
            if migration.reads_only {
                rewritten.done += items.len();
            } else {
                items
                    .iter()
                    .try_for_each(|item| self.rewrite_object(migration, item, rewritten))?;
            }
            report(rewritten);
            match next {
                None => return Ok(()),
                Some(next) if page.continue_token.as_ref() == Some(&next) => {
                    anyhow::bail!(
                        "the server repeats the same page of {}",
                        migration.resource.qualified_name()
                    )
                }
                Some(next) => page.continue_token = Some(next),
            }
        }
        anyhow::bail!(
            "the server returns continue tokens for {} without end",
            migration.resource.qualified_name()
        )
    }

    /// A page of metadata, and the token of the next one.
    fn list_page(
        &self,
        migration: &Migration,
        namespace: &str,
        requests: &Requests,
        page: &ListParams,
    ) -> anyhow::Result<(Vec<Value>, Option<String>)> {
        let mut response = self.send(&requests.list_metadata(page)?)?;
        if response.code == 410
            && let Some(token) = response.body["metadata"]["continue"].as_str()
        {
            // The token has expired. With the new one, the list goes on from the same object; what has been created before
            // that object meanwhile is stored in the storage version.
            response = self.send(&requests.list_metadata(&page.clone().continue_token(token))?)?;
        }
        if !response.is_success() {
            return Err(list_error(migration, refusal::from_response(&response)));
        }
        let items =
            take_items(&mut response.body, namespace).map_err(|why| list_error(migration, why))?;
        let next = response.body["metadata"]["continue"].as_str().filter(|token| !token.is_empty());
        Ok((items, next.map(str::to_owned)))
    }

    fn rewrite_object(
        &self,
        migration: &Migration,
        item: &Value,
        rewritten: &mut Rewritten,
    ) -> anyhow::Result<()> {
        let id = migration.resource.id_of(item);
        let (requests, name) = migration.resource.requests_for(&id)?;
        // With both, the server refuses the request with 409 if the object was changed, deleted or created again
        // meanwhile. A client that has written it has stored it in the storage version.
        let metadata = json!({ "uid": uid(item), "resourceVersion": resource_version(item) });
        let api = &migration.resource.api;
        let empty =
            json!({ "apiVersion": api.api_version, "kind": api.kind, "metadata": metadata });
        let params = PatchParams { dry_run: migration.dry_run, ..PatchParams::apply(MANAGER) };
        let request = requests.patch(&name, &params, &Patch::Apply(empty))?;
        let response = self.send(&request)?;
        match response.code {
            404 | 409 => rewritten.done += 1,
            _ if response.is_success() => {
                rewritten.done += 1;
                rewritten.written +=
                    usize::from(resource_version(&response.body) != resource_version(item));
            }
            _ => rewritten
                .refused
                .entry(refusal::from_response(&response).message)
                .or_default()
                .push(id),
        }
        Ok(())
    }

    /// Leaves only the storage version in `status.storedVersions`. False if the CRD has been changed since the migration
    /// began: then objects may have been stored in another version again.
    pub fn prune_stored_versions(
        &self,
        migration: &Migration,
        dry_run: bool,
    ) -> anyhow::Result<bool> {
        let params = PatchParams { dry_run, ..PatchParams::default() };
        let name = path_segment(&migration.id.name)?;
        // Only with the resource version of a CRD that was compared, so that the server refuses the patch if another client
        // has written in between; that may have been a condition of its status.
        for _ in 0..20 {
            let Some(crd) = self.read_crd(&migration.id.name)? else { return Ok(false) };
            let is_same = uid(&crd) == migration.uid
                && crd["metadata"]["generation"] == migration.generation
                && string_items(&crd["status"]["storedVersions"]) == migration.stored;
            if !is_same {
                return Ok(false);
            }
            let patch = Patch::Merge(json!({
                "metadata": { "resourceVersion": resource_version(&crd) },
                "status": { "storedVersions": [migration.version] },
            }));
            let request = crd_requests()?.patch_subresource("status", &name, &params, &patch)?;
            let response = self.send(&request)?;
            match response.code {
                409 => {}
                _ if response.is_success() => return Ok(true),
                _ => {
                    let what =
                        format!("`status.storedVersions` of {} cannot be changed", migration.id);
                    return Err(refusal::from_response(&response).into_error(&what));
                }
            }
        }
        anyhow::bail!("{} changes too often to update its status", migration.id)
    }
}

fn list_error(migration: &Migration, mut why: Refusal) -> anyhow::Error {
    let signs = ["conversion webhook", "storage is (re)initializing"];
    let other = migration.stored.iter().find(|version| **version != migration.version);
    if let Some(other) = other.filter(|_| signs.iter().any(|sign| why.message.contains(sign))) {
        let (plural, group) = (&migration.resource.api.plural, &migration.resource.api.group);
        why.hint = Some(format!(
            "if this lasts, an object cannot be converted to {}; the log of the operator names it: correct it in the version that it is stored in, e.g. `kubectl edit {plural}.{other}.{group} NAME -n NAMESPACE`",
            migration.version
        ));
    }
    why.into_error(&format!(
        "the objects of {} cannot be listed",
        migration.resource.qualified_name()
    ))
}

#[test]
fn a_list_that_fails_in_a_conversion_has_the_way_out() {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.b.c"},
        "spec": {"group": "b.c", "scope": "Namespaced", "names": {"kind": "A", "plural": "as"},
            "versions": [{"name": "v1", "served": true, "storage": true}]},
        "status": {"storedVersions": ["v1alpha1", "v1"]},
    });
    let migration = Migration::from_crd(&crd).expect("a migration");
    let hints = |message: &str| {
        let error = list_error(&migration, Refusal::new(message, None));
        diagnostics::collect_hints(&error).join("")
    };
    let edit = "if this lasts, an object cannot be converted to v1; the log of the operator names it: correct it in the version that it is stored in, e.g. `kubectl edit as.v1alpha1.b.c NAME -n NAMESPACE`";
    assert_eq!(hints("storage is (re)initializing"), edit);
    assert_eq!(hints("conversion webhook for b.c/v1alpha1, Kind=A failed: no"), edit);
    assert_eq!(hints("User \"jane\" cannot list resource"), "");
}
