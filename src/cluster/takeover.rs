//! Fields that change their manager.
//!
//! Earlier versions had the same two field managers for all projects. What they applied is transferred to the project,
//! since the old manager would otherwise keep fields that config/ no longer has. An object that another program created at
//! the same moment does not become the project's.

use kube::api::{GetParams, Patch, PatchParams};

use super::{
    Cluster, Id, Owner, Removal,
    discovery::Resource,
    managers::{applied, is_applied, manager},
    object::version,
    owner::{ADOPTER, CREATOR},
    refusal,
};
use crate::yaml::{Value, json};

impl Owner {
    /// The manager with which earlier versions applied the object, used for the dry run before it is taken over.
    pub fn earlier(&self, live: &Value) -> Option<&'static str> {
        let has = |name: &str| applied(live).any(|it| manager(it) == name);
        let is_theirs = matches!(self.judge(live), Removal::Theirs(_));
        if is_theirs || has(&self.creator) || has(&self.adopter) {
            return None;
        }
        [CREATOR, ADOPTER].into_iter().find(|it| has(it))
    }

    /// The metadata with the `managedFields` after a takeover from earlier versions; none if there is nothing to take over.
    pub fn taken_over(&self, live: &Value) -> Option<Value> {
        let earlier = |it: &Value| {
            is_applied(it)
                && [CREATOR, ADOPTER].contains(&manager(it))
                && ![&*self.creator, &*self.adopter].contains(&manager(it))
        };
        let entries = live["metadata"]["managedFields"].as_array()?;
        if matches!(self.judge(live), Removal::Theirs(_)) || !entries.iter().any(earlier) {
            return None;
        }
        let name = self.manager(Some(live));
        let (old, mut res): (Vec<_>, Vec<_>) = entries.iter().cloned().partition(earlier);
        for mut entry in old {
            let same = |it: &&mut Value| {
                is_applied(it) && it["manager"] == *name && it["apiVersion"] == entry["apiVersion"]
            };
            match res.iter_mut().find(same) {
                Some(ours) => unite(&mut ours["fieldsV1"], entry["fieldsV1"].take()),
                None => {
                    entry["manager"] = name.into();
                    res.push(entry);
                }
            }
        }
        Some(json!({"managedFields": res}))
    }
}

impl Owner {
    /// The metadata with which the project has only adopted the object; none if nobody else has set fields.
    pub fn let_go(&self, live: &Value) -> Option<Value> {
        let mut entries = live["metadata"]["managedFields"].as_array()?.clone();
        let is_ours = |it: &Value| is_applied(it) && manager(it) == self.creator;
        if !entries.iter().any(|it| it["subresource"].is_null() && !is_ours(it)) {
            return None;
        }
        let ours = entries.iter_mut().find(|it| is_ours(it))?;
        ours["manager"] = self.adopter.as_str().into();
        Some(json!({"managedFields": entries, "labels": {&self.key: null}}))
    }
}

impl Cluster {
    /// Rewrites metadata of an object until `change` returns nothing more to write.
    pub(super) fn rewrite_fields(
        &self,
        resource: &Resource,
        id: &Id,
        mut live: Value,
        change: impl Fn(&Value) -> Option<Value>,
    ) -> anyhow::Result<()> {
        let (requests, name) = resource.one(id)?;
        for _ in 0..20 {
            let Some(mut metadata) = change(&live) else { return Ok(()) };
            // With the resource version, the server refuses the patch if somebody else has written in between.
            metadata["resourceVersion"] = version(&live).into();
            let patch = Patch::Merge(json!({"metadata": metadata}));
            let request = requests.patch(&name, &PatchParams::default(), &patch)?;
            let answer = self.send(&request)?;
            match answer.code {
                409 => live = self.send(&requests.get(&name, &GetParams::default())?)?.body,
                _ if answer.is_success() => return Ok(()),
                _ => {
                    let what = format!("the owner of {id} cannot be recorded");
                    return Err(refusal::of(&answer).into_error(&what));
                }
            }
        }
        anyhow::bail!("{id} changes too often to record its owner")
    }
}

/// Adds the fields of a set to another: both are trees.
fn unite(to: &mut Value, from: Value) {
    if let (Value::Object(to), Value::Object(from)) = (to, from) {
        for (key, value) in from {
            unite(to.entry(key).or_insert_with(|| json!({})), value);
        }
    }
}

#[test]
fn what_earlier_versions_applied_is_taken_over_field_by_field() {
    use super::owner::live;
    let a = Owner::of("a.example.com");
    let taken = a.taken_over(&live(&[(CREATOR, "Apply"), ("x", "Update")])).unwrap();
    assert_eq!(taken, live(&[("x", "Update"), (&a.creator, "Apply")])["metadata"]);
    let mut both = live(&[(&a.creator, "Apply"), (ADOPTER, "Apply")]);
    both["metadata"]["managedFields"][1]["fieldsV1"] = json!({"f:a": {"f:c": {}}, "f:d": {}});
    let taken = a.taken_over(&both).unwrap()["managedFields"].take();
    let fields = json!({"f:a": {"f:b": {}, "f:c": {}}, "f:d": {}});
    assert_eq!((taken.as_array().unwrap().len(), &taken[0]["fieldsV1"]), (1, &fields));
    assert_eq!(a.taken_over(&live(&[(&a.creator, "Apply")])), None);
    assert_eq!(a.taken_over(&live(&[(CREATOR, "Apply"), ("operator-rs:b.org", "Apply")])), None);
}

#[test]
fn what_another_program_creates_at_the_same_time_is_only_adopted() {
    use super::owner::live;
    let a = Owner::of("a.example.com");
    let after = a.let_go(&live(&[("argocd", "Update"), (&a.creator, "Apply")])).unwrap();
    let expected = live(&[("argocd", "Update"), (&a.adopter, "Apply")]);
    assert_eq!(after["managedFields"], expected["metadata"]["managedFields"]);
    assert_eq!(after["labels"], json!({&a.key: null}));
    // Another run of the same project.
    assert_eq!(a.let_go(&live(&[(&a.creator, "Apply")])), None);
    assert_eq!(a.let_go(&live(&[("argocd", "Update")])), None);
}
