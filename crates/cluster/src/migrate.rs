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
    crds::{crds, resource},
    discovery::Resource,
    list::items,
    object::{texts, uid, version},
    path::segment,
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

/// What was done to the objects so far.
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
    /// Fails if none of the versions is served: then nobody can read or write the objects.
    pub fn of(crd: &Value) -> anyhow::Result<Self> {
        let id = Id::of(crd);
        let storage = crd["spec"]["versions"].as_array().into_iter().flatten();
        let storage = storage.filter(|it| it["storage"] == true).find_map(|it| it["name"].as_str());
        let storage = storage.with_context(|| format!("{id} has no storage version"))?;
        let resource = resource(crd)?;
        Ok(Self {
            version: storage.to_owned(),
            dry_run: false,
            reads_only: false,
            stored: texts(&crd["status"]["storedVersions"])
                .iter()
                .map(ToString::to_string)
                .collect(),
            resource: resource.with_context(|| format!("no version of {id} is served"))?,
            uid: uid(crd).to_owned(),
            generation: crd["metadata"]["generation"].clone(),
            id,
        })
    }

    /// Whether objects may be stored in another version.
    pub fn is_needed(&self) -> bool {
        self.stored.iter().any(|it| *it != self.version)
    }

    pub fn is_namespaced(&self) -> bool {
        self.resource.namespaced
    }
}

impl Cluster {
    /// The number of objects, in one namespace or (empty) in all; none if the server does not tell.
    pub fn count(&self, it: &Migration, namespace: &str) -> anyhow::Result<Option<usize>> {
        let one = ListParams::default().limit(1);
        let mut answer = self.send(&it.resource.all(namespace)?.list_metadata(&one)?)?;
        if !answer.is_success() {
            return Err(unlisted(it, refusal::of(&answer)));
        }
        let listed = items(&mut answer.body, namespace).map_err(|why| unlisted(it, why))?.len();
        let rest = &answer.body["metadata"]["remainingItemCount"];
        let is_whole = answer.body["metadata"]["continue"].as_str().is_none_or(str::is_empty);
        let rest = if is_whole { Some(0) } else { rest.as_u64() };
        Ok(rest.and_then(|it| usize::try_from(it).ok()).map(|it| it + listed))
    }

    /// The objects as another version shows them, in one namespace or (empty) in all; none if it is not served.
    pub fn objects_in(
        &self,
        it: &Migration,
        version: &str,
        namespace: &str,
    ) -> anyhow::Result<Option<Vec<(Id, Value)>>> {
        let api = &it.resource.api;
        let api_version = format!("{}/{version}", api.group);
        let resource = Resource::new(&api_version, &api.kind, &api.plural, it.is_namespaced())?;
        let list = |page: &ListParams| Ok(resource.all(namespace)?.list(page)?);
        let items = self.pages(namespace, list)?.map_err(|why| unlisted(it, why))?;
        Ok(items.map(|it| it.into_iter().map(|it| (resource.id(&it), it)).collect()))
    }

    /// Rewrites all objects, in one namespace or (empty) in all. An object that cannot be rewritten is noted, and the rest
    /// goes on; what was done is in `res` even if the connection is lost. `report` is called after each page.
    pub fn rewrite(
        &self,
        it: &Migration,
        namespace: &str,
        res: &mut Rewritten,
        report: &mut dyn FnMut(&Rewritten),
    ) -> anyhow::Result<()> {
        let requests = it.resource.all(namespace)?;
        let mut page = ListParams::default().limit(500);
        for _ in 0..PAGES {
            let (items, next) = self.page(it, namespace, &requests, &page)?;
            if it.reads_only {
                res.done += items.len();
            } else {
                items.iter().try_for_each(|item| self.rewrite_one(it, item, res))?;
            }
            report(res);
            match next {
                None => return Ok(()),
                Some(next) if page.continue_token.as_ref() == Some(&next) => {
                    anyhow::bail!("the server repeats the same page of {}", it.resource.name())
                }
                Some(next) => page.continue_token = Some(next),
            }
        }
        anyhow::bail!("the server's list of {} has no end", it.resource.name())
    }

    /// A page of metadata, and the token of the next one.
    fn page(
        &self,
        it: &Migration,
        namespace: &str,
        requests: &Requests,
        page: &ListParams,
    ) -> anyhow::Result<(Vec<Value>, Option<String>)> {
        let mut answer = self.send(&requests.list_metadata(page)?)?;
        if answer.code == 410
            && let Some(token) = answer.body["metadata"]["continue"].as_str()
        {
            // The token has expired. With the new one, the list goes on from the same object; what has been created before
            // that object meanwhile is stored in the storage version.
            answer = self.send(&requests.list_metadata(&page.clone().continue_token(token))?)?;
        }
        if !answer.is_success() {
            return Err(unlisted(it, refusal::of(&answer)));
        }
        let items = items(&mut answer.body, namespace).map_err(|why| unlisted(it, why))?;
        let next = answer.body["metadata"]["continue"].as_str().filter(|it| !it.is_empty());
        Ok((items, next.map(str::to_owned)))
    }

    fn rewrite_one(&self, it: &Migration, item: &Value, res: &mut Rewritten) -> anyhow::Result<()> {
        let id = it.resource.id(item);
        let (requests, name) = it.resource.one(&id)?;
        // With both, the server refuses the request with 409 if the object was changed, deleted or created again
        // meanwhile. Whoever has written it has stored it in the storage version.
        let metadata = json!({ "uid": uid(item), "resourceVersion": version(item) });
        let api = &it.resource.api;
        let empty =
            json!({ "apiVersion": api.api_version, "kind": api.kind, "metadata": metadata });
        let params = PatchParams { dry_run: it.dry_run, ..PatchParams::apply(MANAGER) };
        let request = requests.patch(&name, &params, &Patch::Apply(empty))?;
        let answer = self.send(&request)?;
        match answer.code {
            404 | 409 => res.done += 1,
            _ if answer.is_success() => {
                res.done += 1;
                res.written += usize::from(version(&answer.body) != version(item));
            }
            _ => res.refused.entry(refusal::of(&answer).message).or_default().push(id),
        }
        Ok(())
    }

    /// Leaves only the storage version in `status.storedVersions`. False if the CRD has been changed since the migration
    /// began: then objects may have been stored in another version again.
    pub fn prune_stored_versions(&self, it: &Migration, dry_run: bool) -> anyhow::Result<bool> {
        let params = PatchParams { dry_run, ..PatchParams::default() };
        let name = segment(&it.id.name)?;
        // Only with the resource version of a CRD that was compared, so that the server refuses the patch if somebody has
        // written in between; that may have been a condition of its status.
        for _ in 0..20 {
            let Some(crd) = self.crd(&it.id.name)? else { return Ok(false) };
            let is_same = uid(&crd) == it.uid
                && crd["metadata"]["generation"] == it.generation
                && texts(&crd["status"]["storedVersions"]) == it.stored;
            if !is_same {
                return Ok(false);
            }
            let patch = Patch::Merge(json!({
                "metadata": { "resourceVersion": version(&crd) },
                "status": { "storedVersions": [it.version] },
            }));
            let request = crds()?.patch_subresource("status", &name, &params, &patch)?;
            let answer = self.send(&request)?;
            match answer.code {
                409 => {}
                _ if answer.is_success() => return Ok(true),
                _ => {
                    let what = format!("`status.storedVersions` of {} cannot be changed", it.id);
                    return Err(refusal::of(&answer).into_error(&what));
                }
            }
        }
        anyhow::bail!("{} changes too often to update its status", it.id)
    }
}

fn unlisted(it: &Migration, mut why: Refusal) -> anyhow::Error {
    let signs = ["conversion webhook", "storage is (re)initializing"];
    let other = it.stored.iter().find(|version| **version != it.version);
    if let Some(other) = other.filter(|_| signs.iter().any(|sign| why.message.contains(sign))) {
        let (plural, group) = (&it.resource.api.plural, &it.resource.api.group);
        why.hint = Some(format!(
            "if this lasts, an object cannot be converted to {}; the log of the operator names it: correct it in the version that it is stored in, e.g. `kubectl edit {plural}.{other}.{group} NAME -n NAMESPACE`",
            it.version
        ));
    }
    why.into_error(&format!("the objects of {} cannot be listed", it.resource.name()))
}

#[test]
fn a_list_that_fails_in_a_conversion_has_the_way_out() {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.b.c"},
        "spec": {"group": "b.c", "scope": "Namespaced", "names": {"kind": "A", "plural": "as"},
            "versions": [{"name": "v1", "served": true, "storage": true}]},
        "status": {"storedVersions": ["v1alpha1", "v1"]},
    });
    let migration = Migration::of(&crd).expect("a migration");
    let hints = |message: &str| {
        let error = unlisted(&migration, Refusal::new(message, None));
        diagnostics::hints(&error).join("")
    };
    let edit = "if this lasts, an object cannot be converted to v1; the log of the operator names it: correct it in the version that it is stored in, e.g. `kubectl edit as.v1alpha1.b.c NAME -n NAMESPACE`";
    assert_eq!(hints("storage is (re)initializing"), edit);
    assert_eq!(hints("conversion webhook for b.c/v1alpha1, Kind=A failed: no"), edit);
    assert_eq!(hints("User \"jane\" cannot list resource"), "");
}
