//! Custom resources, as the server sees them with their CRD and without it.

use kube::{
    Api, CustomResource, CustomResourceExt, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_rs_testing::{Cluster, resource_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The spec of a `Team`.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "test.dev", version = "v1", kind = "Team", namespaced, status = "TeamStatus")]
struct TeamSpec {
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    members: Vec<Member>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Member {
    name: String,
    role: String,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct TeamStatus {
    size: u32,
}

/// As `Team`, without a status.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "test.dev", version = "v1", kind = "Plain", namespaced)]
struct PlainSpec {}

async fn apply(cluster: &Cluster, manager: &str, members: &[&str]) {
    let members: Vec<_> = members.iter().map(|it| json!({ "name": it, "role": "member" })).collect();
    let team = json!({ "apiVersion": "test.dev/v1", "kind": "Team", "metadata": { "name": "a" }, "spec": { "members": members } });
    let api: Api<Team> = Api::default_namespaced(cluster.client());
    let applied = api.patch("a", &PatchParams::apply(manager).force(), &Patch::Apply(team)).await.unwrap();
    assert_eq!(applied.name_any(), "a");
}

async fn members_of_two_managers(cluster: Cluster) -> Vec<String> {
    apply(&cluster, "one", &["x"]).await;
    apply(&cluster, "two", &["y"]).await;
    let team: Team = cluster.get("default", "a").unwrap();
    team.spec.members.into_iter().map(|it| it.name).collect()
}

#[tokio::test]
async fn lists_are_merged_as_the_crd_declares_them() {
    assert_eq!(members_of_two_managers(Cluster::default()).await, ["y"]);
    assert_eq!(members_of_two_managers(Cluster::default().with_crds(&[Team::crd()])).await, ["x", "y"]);
}

async fn status_error<K>(cluster: &Cluster, kind: &str, status: Value) -> String
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let object = json!({ "apiVersion": "test.dev/v1", "kind": kind, "status": status });
    let api: Api<K> = Api::default_namespaced(cluster.client());
    let patched = api.patch_status("a", &PatchParams::apply("one").force(), &Patch::Apply(object)).await;
    patched.unwrap_err().to_string()
}

#[tokio::test]
async fn the_status_is_what_the_crd_declares() {
    let cluster = Cluster::default().with_crds(&[Team::crd()]).with_crds(&[Plain::crd()]);
    apply(&cluster, "one", &["x"]).await;
    let why = status_error::<Team>(&cluster, "Team", json!({ "conditions": [{ "type": "A" }] })).await;
    assert!(why.contains(".status.conditions: field not declared in schema"), "{why}");
    let cluster =
        cluster.with_json(&resource_name::<Plain>(), &[json!({ "metadata": { "name": "a", "namespace": "default" } })]);
    let why = status_error::<Plain>(&cluster, "Plain", json!({})).await;
    assert!(why.contains("404") || why.contains("could not find"), "{why}");
}

/// As if they had been created: an edit of a label is no change of the spec.
#[tokio::test]
async fn objects_of_a_test_have_the_defaults_of_their_crd() {
    let mut crd = serde_json::to_value(Team::crd()).unwrap();
    let schema = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    schema["properties"]["size"] = json!({ "type": "integer", "default": 3 });
    let team = json!({
        "apiVersion": "test.dev/v1", "kind": "Team", "spec": { "members": [], "lost": 1 },
        "metadata": { "name": "a", "namespace": "default", "generation": 1 },
    });
    let cluster = Cluster::default().with_crds(&[crd]).with_json(&resource_name::<Team>(), &[team]);
    cluster.edit_json(&resource_name::<Team>(), "default", "a", |it| it["metadata"]["labels"] = json!({ "a": "b" }));
    let edited = cluster.get_json(&resource_name::<Team>(), "default", "a").unwrap();
    assert_eq!(edited["spec"], json!({ "members": [], "size": 3 }));
    assert_eq!(edited["metadata"]["generation"], 1);
}

#[tokio::test]
async fn conditions_have_the_fields_that_the_crd_requires() {
    let crd = |required: Value| {
        let conditions = json!({ "type": "array", "items": { "type": "object", "required": required,
            "properties": { "type": { "type": "string" }, "status": { "type": "string" } } } });
        let status = json!({ "type": "object", "properties": { "conditions": conditions } });
        let version = json!({ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
            "schema": { "openAPIV3Schema": { "type": "object", "properties": { "status": status } } } });
        json!({ "metadata": { "name": "tasks.test.dev" }, "spec": { "group": "test.dev", "scope": "Namespaced",
            "names": { "plural": "tasks", "kind": "Task" }, "versions": [version] } })
    };
    let code = async |required: Value| {
        let task = json!({ "metadata": { "name": "a", "namespace": "default" } });
        let cluster = Cluster::default().with_crds(&[crd(required)]).with_json("tasks.test.dev", &[task]);
        let gvk = kube::core::GroupVersionKind::gvk("test.dev", "v1", "Task");
        let resource = kube::api::ApiResource { plural: "tasks".into(), ..kube::api::ApiResource::from_gvk(&gvk) };
        let api: Api<kube::api::DynamicObject> = Api::namespaced_with(cluster.client(), "default", &resource);
        let status = json!({ "status": { "conditions": [{ "type": "Ready", "status": "True" }] } });
        match api.patch_status("a", &PatchParams::default(), &Patch::Merge(&status)).await {
            Ok(_) => 200,
            Err(kube::Error::Api(refusal)) => refusal.code,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(code(json!(["type", "status"])).await, 200);
    assert_eq!(code(json!(["type", "status", "lastTransitionTime"])).await, 422);
}
