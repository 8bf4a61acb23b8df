//! CRDs on a server: whether they are served, and which objects they have.

use std::collections::{BTreeMap, BTreeSet};

use kube::{api::GetParams, core::Request};

use super::{
    Cluster, Event, Id,
    discovery::Resource,
    object::{condition, is_going, texts, uid},
    path::segment,
    refusal::{self, Refusal},
    wait::State,
};
use diagnostics::{Hint as _, count};
use go_data::yaml::Value;
use model::Deadline;

/// The metadata of an object.
#[derive(Clone, Debug)]
pub struct Held {
    pub id: Id,
    pub uid: String,
    pub finalizers: Vec<String>,
    pub going: bool,
}

impl Cluster {
    /// A CRD by its name; none if it does not exist.
    pub fn crd(&self, name: &str) -> anyhow::Result<Option<Value>> {
        let answer = self.send(&crds()?.get(&segment(name)?, &GetParams::default())?)?;
        let named = |it: &Value| it["metadata"]["name"] == *name;
        match answer.code {
            200 if named(&answer.body) => Ok(Some(answer.body)),
            200 => anyhow::bail!("the server returned something other than the CRD `{name}`"),
            404 => Ok(None),
            _ => Err(refusal::of(&answer).into_error(&format!("the CRD `{name}` cannot be read"))),
        }
    }

    /// Waits until the server serves these CRDs. One whose names are taken is an error at once.
    pub(super) fn established(
        &self,
        crds: &[(&Id, &Resource)],
        deadline: Deadline,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        let left = self.until(deadline, report, || {
            let mut waiting = Vec::new();
            for (id, resource) in crds {
                let unread = |it: Refusal| it.into_error(&format!("{id} cannot be read"));
                let crd = self.one(resource, id)?.map_err(unread)?;
                match served(&crd.unwrap_or_default()) {
                    Served::Yes => {}
                    Served::NotYet => waiting.push(id.name.as_str()),
                    Served::Never(message) => {
                        let refusal = Refusal::new(message, Some(
                            "another CRD of that group uses the name: delete that CRD, or rename this kind",
                        ));
                        return Err(refusal.into_error(&format!("{id} will not be served")));
                    }
                }
            }
            Ok(match waiting[..] {
                [] => State::Done,
                [one] => State::Not(format!("{one} is not established yet")),
                _ => State::Not(format!("{} are not established yet", waiting.join(", "))),
            })
        })?;
        match left {
            None => Ok(()),
            Some(reason) => {
                Err(anyhow::format_err!("timed out: {reason}")).hint("wait longer with `--timeout`")
            }
        }
    }

    /// The objects of a CRD in all namespaces, or why they are not known.
    pub fn held(&self, crd: &Value) -> anyhow::Result<Result<Vec<Held>, Refusal>> {
        let unknown = |why: &str| Ok(Err(Refusal::new(why, None)));
        let Some(resource) = resource(crd)? else {
            return unknown("none of its versions is served");
        };
        let items = match self.list_metadata(&resource, "", "")? {
            Ok(Some(items)) => items,
            // A CRD that was never served has no objects.
            Ok(None) if !matches!(served(crd), Served::Yes) => Vec::new(),
            Ok(None) => return unknown("the server does not find the list of them"),
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

/// The number of objects of each kind: `2 objects of kind A in 1 namespace`.
pub fn summary(held: &[Held]) -> String {
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

/// Requests for CRDs.
pub(super) fn crds() -> anyhow::Result<Request> {
    let (kind, plural) = ("CustomResourceDefinition", "customresourcedefinitions");
    Resource::new("apiextensions.k8s.io/v1", kind, plural, false)?.all("")
}

/// The resource of a CRD's objects: in the version that is stored, or else in another one that is served.
pub(super) fn resource(crd: &Value) -> anyhow::Result<Option<Resource>> {
    let spec = &crd["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|it| it["served"] == true);
    let version = served.min_by_key(|it| it["storage"] != true).and_then(|it| it["name"].as_str());
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
fn objects_are_counted_by_kind() {
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
        summary(&all),
        "3 objects of kind A in 2 namespaces, 1 object of kind B, 1 object of kind C in 1 namespace"
    );
}

#[test]
fn a_crd_is_served_when_it_is_established_and_its_names_are_its_own() {
    use go_data::yaml::json;
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
