//! CRDs on a server: whether it serves them, and what they hold.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::GetParams;

use super::{
    Cluster, Id, Told,
    discovery::Resource,
    object::{condition, count, is_going, texts, uid},
    path::segment,
    refusal::{self, Refusal},
    wait::{Limit, State},
};
use crate::yaml::Value;

/// An object without what is in it.
#[derive(Clone, Debug)]
pub struct Held {
    pub id: Id,
    pub uid: String,
    pub finalizers: Vec<String>,
    pub going: bool,
}

impl Cluster {
    /// A CRD by its name; none where the server has none of that name.
    pub fn crd(&self, name: &str) -> anyhow::Result<Option<Value>> {
        let (kind, plural) = ("CustomResourceDefinition", "customresourcedefinitions");
        let crds = Resource::new("apiextensions.k8s.io/v1", kind, plural, false)?.all("")?;
        let answer = self.send(&crds.get(&segment(name)?, &GetParams::default())?)?;
        let named = |it: &Value| it["metadata"]["name"] == *name;
        match answer.code {
            200 if named(&answer.body) => Ok(Some(answer.body)),
            200 => anyhow::bail!("the server answers with something else than the CRD `{name}`"),
            404 => Ok(None),
            _ => Err(refusal::of(&answer).into_error(&format!("the CRD `{name}` cannot be read"))),
        }
    }

    /// Waits until the server serves these CRDs. One whose names are taken is told at once.
    pub(super) fn established(
        &self,
        crds: &[(&Id, &Resource)],
        limit: Limit,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<()> {
        let left = self.until(limit, tell, || {
            let mut waiting = Vec::new();
            for (id, resource) in crds {
                let unread = |it: Refusal| it.into_error(&format!("{id} cannot be looked at"));
                let crd = self.one(resource, id)?.map_err(unread)?;
                match served(&crd.unwrap_or_default()) {
                    Served::Yes => {}
                    Served::NotYet => waiting.push(id.name.as_str()),
                    Served::Never(message) => {
                        let refusal = Refusal::new(message, Some(
                            "another CRD of that group has the name: delete that one, or call this kind otherwise",
                        ));
                        return Err(refusal.into_error(&format!("{id} will not be served")));
                    }
                }
            }
            Ok(match waiting[..] {
                [] => State::Done,
                [one] => State::Not(format!("{one}: it is not established yet")),
                _ => State::Not(format!("{}: they are not established yet", waiting.join(", "))),
            })
        })?;
        match left {
            None => Ok(()),
            Some(reason) => Err(anyhow::format_err!("the time is over: {reason}")),
        }
    }

    /// The objects that a CRD holds, in all namespaces, or why that is not known.
    pub fn held(&self, crd: &Value) -> anyhow::Result<Result<Vec<Held>, Refusal>> {
        let unknown = |why: &str| Ok(Err(Refusal::new(why, None)));
        let Some(resource) = resource(crd)? else {
            return unknown("none of its versions is served");
        };
        let items = match self.list_metadata(&resource, "")? {
            Ok(Some(items)) => items,
            // What was never served holds nothing.
            Ok(None) if !matches!(served(crd), Served::Yes) => Vec::new(),
            Ok(None) => return unknown("the server does not find their list"),
            Err(refusal) => return Ok(Err(refusal)),
        };
        let held = items.iter().map(|it| Held {
            id: Id {
                api_version: resource.api.api_version.clone(),
                kind: resource.api.kind.clone(),
                ..Id::of(it)
            },
            uid: uid(it).to_owned(),
            finalizers: texts(&it["metadata"]["finalizers"])
                .into_iter()
                .map(str::to_owned)
                .collect(),
            going: is_going(it),
        });
        Ok(Ok(held.collect()))
    }
}

/// `2 objects of kind A in 1 namespace`: how many objects there are of what.
pub fn told(held: &[Held]) -> String {
    let mut kinds: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for it in held {
        let (many, namespaces) = kinds.entry(&it.id.kind).or_default();
        *many += 1;
        if !it.id.namespace.is_empty() {
            namespaces.insert(&it.id.namespace);
        }
    }
    let lines = kinds.iter().map(|(kind, (many, namespaces))| {
        let objects = count(*many, "object");
        match namespaces.len() {
            0 => format!("{objects} of kind {kind}"),
            it => format!("{objects} of kind {kind} in {}", count(it, "namespace")),
        }
    });
    lines.collect::<Vec<_>>().join(", ")
}

enum Served {
    Yes,
    NotYet,
    Never(String),
}

fn served(crd: &Value) -> Served {
    match (condition(crd, "NamesAccepted"), condition(crd, "Established")) {
        (Some(("False", message)), _) => Served::Never(message.to_owned()),
        (_, Some(("True", _))) => Served::Yes,
        _ => Served::NotYet,
    }
}

/// Where a CRD's objects are: in any version that is served.
fn resource(crd: &Value) -> anyhow::Result<Option<Resource>> {
    let spec = &crd["spec"];
    let mut versions = spec["versions"].as_array().into_iter().flatten();
    let version = versions.find(|it| it["served"] == true).and_then(|it| it["name"].as_str());
    let names = [&spec["group"], &spec["names"]["kind"], &spec["names"]["plural"]];
    let (Some(version), [Some(group), Some(kind), Some(plural)]) =
        (version, names.map(Value::as_str))
    else {
        return Ok(None);
    };
    let api_version = format!("{group}/{version}");
    Resource::new(&api_version, kind, plural, spec["scope"] == "Namespaced").map(Some)
}

#[test]
fn what_would_go_is_counted_by_kind() {
    let held = |kind: &str, namespace: &str| Held {
        id: Id {
            api_version: "a/v1".into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: "a".into(),
        },
        uid: String::new(),
        finalizers: Vec::new(),
        going: false,
    };
    let all = [held("A", "x"), held("A", "y"), held("A", "y"), held("B", ""), held("C", "x")];
    assert_eq!(
        told(&all),
        "3 objects of kind A in 2 namespaces, 1 object of kind B, 1 object of kind C in 1 namespace"
    );
}

#[test]
fn a_crd_is_served_when_it_is_established_and_its_names_are_its_own() {
    use crate::yaml::json;
    let crd = |conditions: Value| json!({"status": {"conditions": conditions}});
    let is = |crd: &Value| match served(crd) {
        Served::Yes => "yes".to_owned(),
        Served::NotYet => "not yet".to_owned(),
        Served::Never(message) => message,
    };
    assert_eq!(is(&crd(json!([]))), "not yet");
    assert_eq!(is(&crd(json!([{"type": "Established", "status": "True"}]))), "yes");
    let taken = json!([
        {"type": "NamesAccepted", "status": "False", "message": "\"as\" is already in use"},
        {"type": "Established", "status": "False"},
    ]);
    assert_eq!(is(&crd(taken)), "\"as\" is already in use");
}
