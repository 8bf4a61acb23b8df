//! CRDs on a server: whether they are served, and which objects they have.

use std::collections::{BTreeMap, BTreeSet};

use kube::{api::GetParams, core::Request};

use super::{
    Cluster, Id, ProgressEvent,
    discovery::Resource,
    object::{find_condition, is_being_deleted, string_items, uid},
    path::path_segment,
    refusal::{self, Refusal},
    wait::WaitState,
};
use diagnostics::{Hint as _, count};
use go_data::yaml::Value;
use model::Deadline;

/// The metadata of an object.
#[derive(Clone, Debug)]
pub struct CustomObject {
    pub id: Id,
    pub uid: String,
    pub finalizers: Vec<String>,
    pub going: bool,
}

impl Cluster {
    /// A CRD by its name; none if it does not exist.
    pub fn read_crd(&self, name: &str) -> anyhow::Result<Option<Value>> {
        let response =
            self.send(&crd_requests()?.get(&path_segment(name)?, &GetParams::default())?)?;
        let named = |crd: &Value| crd["metadata"]["name"] == *name;
        match response.code {
            200 if named(&response.body) => Ok(Some(response.body)),
            200 => anyhow::bail!("the server returned something other than the CRD `{name}`"),
            404 => Ok(None),
            _ => Err(refusal::from_response(&response)
                .into_error(&format!("the CRD `{name}` cannot be read"))),
        }
    }

    /// Waits until the server serves these CRDs. One whose names are taken is an error at once.
    pub(super) fn wait_until_established(
        &self,
        crds: &[(&Id, &Resource)],
        deadline: Deadline,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        let left = self.wait_until(deadline, report, || {
            let mut waiting = Vec::new();
            for (id, resource) in crds {
                let read_error = |refusal: Refusal| refusal.into_error(&format!("{id} cannot be read"));
                let crd = self.read_object(resource, id)?.map_err(read_error)?;
                match serving_state(&crd.unwrap_or_default()) {
                    ServingState::Yes => {}
                    ServingState::NotYet => waiting.push(id.name.as_str()),
                    ServingState::Never(message) => {
                        let refusal = Refusal::new(message, Some(
                            "another CRD of that group uses the name: delete that CRD, or rename this kind",
                        ));
                        return Err(refusal.into_error(&format!("{id} will not be served")));
                    }
                }
            }
            Ok(match waiting[..] {
                [] => WaitState::Done,
                [one] => WaitState::Not(format!("{one} is not established yet")),
                _ => WaitState::Not(format!("{} are not established yet", waiting.join(", "))),
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
    pub fn list_custom_objects(
        &self,
        crd: &Value,
    ) -> anyhow::Result<Result<Vec<CustomObject>, Refusal>> {
        let unknown = |why: &str| Ok(Err(Refusal::new(why, None)));
        let Some(resource) = resource_of_crd(crd)? else {
            return unknown("none of its versions is served");
        };
        let items = match self.list_metadata(&resource, "", "")? {
            Ok(Some(items)) => items,
            // A CRD that was never served has no objects.
            Ok(None) if !matches!(serving_state(crd), ServingState::Yes) => Vec::new(),
            Ok(None) => return unknown("the server does not find the list of them"),
            Err(refusal) => return Ok(Err(refusal)),
        };
        let held = items.iter().map(|item| CustomObject {
            id: Id {
                api_version: resource.api.api_version.clone(),
                kind: resource.api.kind.clone(),
                ..Id::of(item)
            },
            uid: uid(item).to_owned(),
            finalizers: string_items(&item["metadata"]["finalizers"])
                .into_iter()
                .map(str::to_owned)
                .collect(),
            going: is_being_deleted(item),
        });
        Ok(Ok(held.collect()))
    }
}

/// The number of objects of each kind: `2 objects of kind A in 1 namespace`.
pub fn format_object_counts(held: &[CustomObject]) -> String {
    let mut kinds: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for object in held {
        let (many, namespaces) = kinds.entry(&object.id.kind).or_default();
        *many += 1;
        if !object.id.namespace.is_empty() {
            namespaces.insert(&object.id.namespace);
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

enum ServingState {
    Yes,
    NotYet,
    Never(String),
}

fn serving_state(crd: &Value) -> ServingState {
    match (find_condition(crd, "NamesAccepted"), find_condition(crd, "Established")) {
        (Some(("False", message)), _) => ServingState::Never(message.to_owned()),
        (_, Some(("True", _))) => ServingState::Yes,
        _ => ServingState::NotYet,
    }
}

/// Requests for CRDs.
pub(super) fn crd_requests() -> anyhow::Result<Request> {
    let (kind, plural) = ("CustomResourceDefinition", "customresourcedefinitions");
    Resource::new("apiextensions.k8s.io/v1", kind, plural, false)?.requests_in("")
}

/// The resource of a CRD's objects: in the version that is stored, or else in another one that is served.
pub(super) fn resource_of_crd(crd: &Value) -> anyhow::Result<Option<Resource>> {
    let spec = &crd["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    let version = served
        .min_by_key(|version| version["storage"] != true)
        .and_then(|version| version["name"].as_str());
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
    let held = |kind: &str, namespace: &str| CustomObject {
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
        format_object_counts(&all),
        "3 objects of kind A in 2 namespaces, 1 object of kind B, 1 object of kind C in 1 namespace"
    );
}

#[test]
fn a_crd_is_served_when_it_is_established_and_its_names_are_its_own() {
    use go_data::yaml::json;
    let crd = |conditions: Value| json!({"status": {"conditions": conditions}});
    let is = |crd: &Value| match serving_state(crd) {
        ServingState::Yes => "yes".to_owned(),
        ServingState::NotYet => "not yet".to_owned(),
        ServingState::Never(message) => message,
    };
    assert_eq!(is(&crd(json!([]))), "not yet");
    assert_eq!(is(&crd(json!([{"type": "Established", "status": "True"}]))), "yes");
    let taken = json!([
        {"type": "NamesAccepted", "status": "False", "message": "\"as\" is already in use"},
        {"type": "Established", "status": "False"},
    ]);
    assert_eq!(is(&crd(taken)), "\"as\" is already in use");
}
