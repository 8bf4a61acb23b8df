//! The state in which a history has to end.

use super::{THINGS, history::History};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl History {
    /// Whether others have given a child that one desires to the other one: then nothing can be done.
    pub fn is_blocked(&self, thing: &Value) -> bool {
        let desired = thing["spec"]["configs"].as_object().into_iter().flatten();
        let controllers = desired.filter_map(|(child, _)| {
            let uid = &self.cluster.get_json("configmaps", "n", child)?["metadata"]["ownerReferences"][0]["uid"];
            uid.as_str().map(str::to_owned)
        });
        controllers.into_iter().any(|uid| thing["metadata"]["uid"] != *uid)
    }

    /// The first difference from the desired state.
    pub fn problem(&self) -> Option<String> {
        // A ConfigMap that has lost its label is not seen any more: it stays, although nobody desires it.
        let mut all = self.cluster.list_json("configmaps");
        all.retain(|it| it["metadata"]["labels"]["app"] == "thing");
        let things = self.cluster.list_json(THINGS);
        if let Some(problem) = things.iter().find_map(|it| self.problem_of(it, &all)) {
            return Some(problem);
        }
        let uids: Vec<_> = things.iter().map(|it| &it["metadata"]["uid"]).collect();
        if let Some(outside) = &self.world.outside {
            let all = outside.all.lock().unwrap();
            if !all.iter().eq(uids.iter().filter_map(|it| it.as_str()).collect::<BTreeSet<_>>()) {
                return Some(format!("{all:?} exist outside, and not {uids:?}"));
            }
        }
        let left = all.iter().find(|it| !uids.contains(&&it["metadata"]["ownerReferences"][0]["uid"]));
        // Others have removed the owner of those that have none.
        left.filter(|it| it["metadata"]["ownerReferences"].as_array().is_some_and(|it| !it.is_empty()))
            .map(|it| format!("{it} is left"))
    }

    /// The first difference of one Thing and its ConfigMaps, which are among `all`.
    fn problem_of(&self, thing: &Value, all: &[Value]) -> Option<String> {
        let name = thing["metadata"]["name"].as_str().unwrap();
        let conditions = &thing["status"]["conditions"];
        if !thing["metadata"]["deletionTimestamp"].is_null() {
            return Some(format!("{name} is still there, and says {conditions}"));
        }
        if self.is_blocked(thing) {
            if conditions[0]["reason"] == "NotOwned" {
                return None;
            }
            return Some(format!("{name} cannot have what it wants, and says {conditions}"));
        }
        let of_it = |it: &&Value| it["metadata"]["ownerReferences"][0]["uid"] == thing["metadata"]["uid"];
        let owned: BTreeMap<&str, &Value> =
            all.iter().filter(of_it).map(|it| (it["metadata"]["name"].as_str().unwrap(), &it["data"])).collect();
        let desired = thing["spec"]["configs"].as_object().cloned().unwrap_or_default();
        if !owned.keys().copied().eq(desired.keys().map(String::as_str)) {
            return Some(format!("{name} wants {:?}, and has {:?}", desired.keys(), owned.keys()));
        }
        for (child, data) in &desired {
            let mut found = owned[child.as_str()].as_object().cloned().unwrap_or_default();
            found.remove("theirs");
            // A key that others have set, and that is not desired, is theirs.
            found.retain(|key, _| key != "k0" || data.get("k0").is_some());
            if Some(&found) != data.as_object() {
                return Some(format!("{child} has {found:?} instead of {data}"));
            }
        }
        if let Some(problem) = self.unseen(thing, &owned) {
            return Some(problem);
        }
        if conditions.as_array().is_some_and(|it| !it.is_empty()) {
            return Some(format!("{name} says {conditions}"));
        }
        None
    }

    /// The difference between what the status says that the controller has seen, and the truth.
    fn unseen(&self, thing: &Value, owned: &BTreeMap<&str, &Value>) -> Option<String> {
        let name = thing["metadata"]["name"].as_str().unwrap();
        let secret = thing["spec"]["secret"].as_str().and_then(|it| self.cluster.get_json("secrets", "n", it));
        let data = |it: &Value| if it.as_object().is_some_and(|it| it.is_empty()) { Value::Null } else { it.clone() };
        let truth: BTreeMap<_, _> = owned.iter().map(|(name, it)| (*name, data(it))).collect();
        let labels = secret.map(|it| it["metadata"]["labels"].clone());
        let seen: Value =
            serde_json::from_str(thing["status"]["externalId"].as_str().unwrap_or("null")).unwrap_or_default();
        // With nothing to see, one that waits for its first reconcile would look as if it had been.
        if !seen.is_array() {
            return Some(format!("{name} has seen nothing yet"));
        }
        let seen_children: BTreeMap<_, _> =
            seen[0].as_object().into_iter().flatten().map(|(name, it)| (name.as_str(), data(it))).collect();
        if (&seen_children, &seen[1]) != (&truth, &labels.unwrap_or_default()) {
            return Some(format!("{name} has seen {seen}, and not {truth:?}"));
        }
        None
    }
}
