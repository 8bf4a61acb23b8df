//! Fields that change hands.
//!
//! What earlier versions applied, which had the same two field managers for all projects, becomes the project's: else
//! fields that config/ no longer has would be held by the old manager for ever. And what somebody else has made while we
//! were about to is not the project's.

use kube::api::{GetParams, Patch, PatchParams};

use super::{
    Cluster, Id, Owner, Removal,
    discovery::Resource,
    object::version,
    owner::{ADOPTED, MADE, applied, is_applied, manager},
    refusal,
};
use crate::yaml::{Value, json};

impl Owner {
    /// As whom earlier versions applied what is the project's now, so that it is tried as them before it is taken over.
    pub fn earlier(&self, live: &Value) -> Option<&'static str> {
        let has = |name: &str| applied(live).any(|it| manager(it) == name);
        let is_theirs = matches!(self.judge(live), Removal::Theirs(_));
        if is_theirs || has(&self.made) || has(&self.adopted) {
            return None;
        }
        [MADE, ADOPTED].into_iter().find(|it| has(it))
    }

    /// The `managedFields` in which what earlier versions applied is the project's; none where they are so already.
    pub fn taken_over(&self, live: &Value) -> Option<Value> {
        let earlier = |it: &Value| {
            is_applied(it)
                && [MADE, ADOPTED].contains(&manager(it))
                && ![&*self.made, &*self.adopted].contains(&manager(it))
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
        Some(Value::Array(res))
    }
}

impl Owner {
    /// The `managedFields` in which what the project has made is only adopted; none where nobody else has a part in it.
    pub fn let_go(&self, live: &Value) -> Option<Value> {
        let mut entries = live["metadata"]["managedFields"].as_array()?.clone();
        let is_ours = |it: &Value| is_applied(it) && manager(it) == self.made;
        if !entries.iter().any(|it| it["subresource"].is_null() && !is_ours(it)) {
            return None;
        }
        let ours = entries.iter_mut().find(|it| is_ours(it))?;
        ours["manager"] = self.adopted.as_str().into();
        Some(Value::Array(entries))
    }
}

impl Cluster {
    /// Writes other `managedFields` to an object, as long as there are some to write.
    pub(super) fn rewrite_fields(
        &self,
        resource: &Resource,
        id: &Id,
        mut live: Value,
        fields: impl Fn(&Value) -> Option<Value>,
    ) -> anyhow::Result<()> {
        let (requests, name) = resource.one(id)?;
        for _ in 0..20 {
            let Some(fields) = fields(&live) else { return Ok(()) };
            // With the version, the server refuses this where somebody else has written in between.
            let patch = Patch::Merge(json!({
                "metadata": {"managedFields": fields, "resourceVersion": version(&live)},
            }));
            let request = requests.patch(&name, &PatchParams::default(), &patch)?;
            let answer = self.send(&request)?;
            match answer.code {
                409 => live = self.send(&requests.get(&name, &GetParams::default())?)?.body,
                _ if answer.is_success() => return Ok(()),
                _ => {
                    let what = format!("whose {id} is cannot be written down");
                    return Err(refusal::of(&answer).into_error(&what));
                }
            }
        }
        anyhow::bail!("{id} changes too fast to write down whose it is")
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
    let taken = a.taken_over(&live(&[(MADE, "Apply"), ("x", "Update")])).unwrap();
    assert_eq!(taken, live(&[("x", "Update"), (&a.made, "Apply")])["metadata"]["managedFields"]);
    let mut both = live(&[(&a.made, "Apply"), (ADOPTED, "Apply")]);
    both["metadata"]["managedFields"][1]["fieldsV1"] = json!({"f:a": {"f:c": {}}, "f:d": {}});
    let taken = a.taken_over(&both).unwrap();
    let fields = json!({"f:a": {"f:b": {}, "f:c": {}}, "f:d": {}});
    assert_eq!((taken.as_array().unwrap().len(), &taken[0]["fieldsV1"]), (1, &fields));
    assert_eq!(a.taken_over(&live(&[(&a.made, "Apply")])), None);
    assert_eq!(a.taken_over(&live(&[(MADE, "Apply"), ("operator-rs:b.org", "Apply")])), None);
}

#[test]
fn what_somebody_else_has_made_at_the_same_time_is_let_go() {
    use super::owner::live;
    let a = Owner::of("a.example.com");
    let after = a.let_go(&live(&[("argocd", "Update"), (&a.made, "Apply")])).unwrap();
    let expected = live(&[("argocd", "Update"), (&a.adopted, "Apply")]);
    assert_eq!(after, expected["metadata"]["managedFields"]);
    // Another run of the same project.
    assert_eq!(a.let_go(&live(&[(&a.made, "Apply")])), None);
    assert_eq!(a.let_go(&live(&[("argocd", "Update")])), None);
}
