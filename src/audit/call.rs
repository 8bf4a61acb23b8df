//! The calls of one account in an audit log, and the permissions that each of them needs.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Access,
    escalation::{self, Grant},
};
use go_data::yaml::{self, Value};

/// Part of the message of the admission plugin OwnerReferencesPermissionEnforcement.
const BLOCKS: &str = "cannot set blockOwnerDeletion";

/// One request that was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub access: Access,
    /// The HTTP status.
    pub code: u64,
    /// The message of a refusal.
    pub message: String,
    /// The authorizer refused it.
    pub forbidden: bool,
    /// Group and kind of the owners whose deletion the written object blocks.
    pub blocks: Vec<(String, String)>,
    /// The rights that it hands on.
    pub grant: Option<Grant>,
}

/// The calls of a user, one for each request, in the order of the log. The last line may be incomplete, if the server was
/// killed, and is then ignored.
pub fn calls(log: &str, user: &str) -> Vec<Call> {
    let mut res: Vec<Call> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for event in log.lines().filter_map(|it| yaml::from_json(it).ok()) {
        if event["user"]["username"] != user || event["stage"] == "RequestReceived" {
            continue;
        }
        let call = call(&event);
        // A watch is logged when it begins and when it ends.
        let id = text(&event["auditID"]);
        match places.get(&id) {
            Some(place) => res[*place] = call,
            None => {
                places.insert(id, res.len());
                res.push(call);
            }
        }
    }
    res
}

/// The users of a log.
pub fn users(log: &str) -> BTreeSet<String> {
    let events = log.lines().filter_map(|it| yaml::from_json(it).ok());
    events.map(|it| text(&it["user"]["username"])).collect()
}

impl Call {
    /// Returns whether it was refused because a permission is missing. Quotas, policies and webhooks also answer 403,
    /// and no rule of a role would change that; what admission checks is recognized by its message.
    pub fn is_refused(&self) -> bool {
        let is_explained = denied(&self.message).is_some() || self.message.contains(BLOCKS);
        self.code == 403 && (self.forbidden || is_explained || self.is_escalation())
    }

    /// Returns whether it was refused because the account does not hold the rights that it hands on.
    pub fn is_escalation(&self) -> bool {
        escalation::is_refusal(&self.message)
    }

    /// The permissions that an account needs for this call.
    pub fn needs(&self, plural: impl Fn(&str, &str) -> Option<String>) -> Vec<Access> {
        let mut res = vec![self.access.clone()];
        // A server-side apply that creates an object is logged as one patch, and needs two permissions.
        if self.access.verb == "patch" && self.code == 201 {
            res.push(Access { verb: "create".to_owned(), ..self.access.clone() });
        }
        // The admission plugin OwnerReferencesPermissionEnforcement requires this.
        for (group, kind) in &self.blocks {
            if let Some(plural) = plural(group, kind) {
                res.push(Access {
                    verb: "update".to_owned(),
                    group: group.clone(),
                    resource: format!("{plural}/finalizers"),
                    namespace: self.access.namespace.clone(),
                    ..Access::default()
                });
            }
        }
        res
    }

    /// The refused request as the server's message names it, which may differ from the call.
    pub fn refused(&self, plural: impl Fn(&str, &str) -> Option<String>) -> Vec<Access> {
        if self.message.contains(BLOCKS) {
            let mut needs = self.needs(plural);
            needs.retain(|it| it.resource.ends_with("/finalizers"));
            if !needs.is_empty() {
                return needs;
            }
        }
        let missing = escalation::missing(&self.message, &self.access.namespace);
        if !missing.is_empty() {
            return missing;
        }
        let mut res = self.access.clone();
        if let Some(denied) = denied(&self.message) {
            (res.verb, res.resource, res.group) = denied;
        }
        vec![res]
    }
}

/// Verb, resource and group of `User "…" cannot VERB resource "RESOURCE" in API group "GROUP" …`.
fn denied(message: &str) -> Option<(String, String, String)> {
    let rest = message.split_once(" cannot ")?.1;
    let (verb, rest) = rest.split_once(" resource \"")?;
    let (resource, rest) = rest.split_once("\" in API group \"")?;
    let group = rest.split_once('"')?.0;
    Some((verb.to_owned(), resource.to_owned(), group.to_owned()))
}

fn call(event: &Value) -> Call {
    let of = &event["objectRef"];
    let resource = match (text(&of["resource"]), text(&of["subresource"])) {
        (resource, sub) if sub.is_empty() => resource,
        (resource, sub) => format!("{resource}/{sub}"),
    };
    let url = match resource.as_str() {
        "" => text(&event["requestURI"]).split('?').next().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    let owners = event["requestObject"]["metadata"]["ownerReferences"].as_array();
    let blocks = owners.into_iter().flatten().filter(|it| it["blockOwnerDeletion"] == true);
    let blocks = blocks.map(|it| {
        let version = text(&it["apiVersion"]);
        let group = version.split_once('/').map_or("", |(group, _)| group);
        (group.to_owned(), text(&it["kind"]))
    });
    let access = Access {
        verb: text(&event["verb"]),
        group: text(&of["apiGroup"]),
        resource,
        url,
        name: text(&of["name"]),
        namespace: text(&of["namespace"]),
    };
    Call {
        grant: Grant::of(&access, &event["requestObject"]),
        access,
        code: event["responseStatus"]["code"].as_u64().unwrap_or_default(),
        message: text(&event["responseStatus"]["message"]),
        forbidden: event["annotations"]["authorization.k8s.io/decision"] == "forbid",
        blocks: blocks.collect(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
