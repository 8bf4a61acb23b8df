//! Objects of Rust types on the cluster, the writes of a kind, and the messages about wrong arguments.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Secret},
};
use kube::{
    Api, CustomResource, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use operator_rs_testing::{Cluster, Fault, FaultRule, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The spec of a `Team`.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(group = "test.dev", version = "v1", kind = "Team", namespaced, status = "TeamStatus", derive = "PartialEq")]
struct TeamSpec {
    size: u32,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
struct TeamStatus {
    ready: u32,
}

fn team(size: u32) -> Team {
    let mut team = Team::new("a", TeamSpec { size });
    team.metadata.namespace = Some("default".into());
    team
}

fn namespaced<K: Resource + Default>(name: &str) -> K {
    let mut object = K::default();
    *object.meta_mut() =
        ObjectMeta { name: Some(name.into()), namespace: Some("default".into()), ..ObjectMeta::default() };
    object
}

#[test]
fn objects_are_written_and_read_by_their_types() {
    let cluster = Cluster::default()
        .with_crds(&[Team::crd()])
        .with_object(&team(1))
        .with_objects([namespaced::<ConfigMap>("b"), namespaced("a")]);
    assert_eq!(cluster.get::<Team>("default", "a").unwrap().spec, TeamSpec { size: 1 });
    let names: Vec<_> = cluster.list::<ConfigMap>().iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["a", "b"]);

    cluster.edit::<Team>("default", "a", |team| team.status = Some(TeamStatus { ready: 1 }));
    assert_eq!(cluster.get::<Team>("default", "a").unwrap().status, Some(TeamStatus { ready: 1 }));
    let changed = cluster.put(&team(2)).unwrap();
    assert_eq!((changed.spec.size, changed.metadata.generation), (2, Some(2)));
    cluster.delete::<Team>("default", "a");
    assert_eq!(cluster.get::<Team>("default", "a"), None);

    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("default".into());
    cluster.put(&namespace).unwrap();
    assert!(cluster.get::<Namespace>(None, "default").is_some());
    cluster.delete::<Namespace>(None, "default");
    assert!(cluster.list::<Namespace>().is_empty());
}

#[tokio::test]
async fn objects_belong_to_the_field_manager_that_applied_them() {
    let config = ConfigMap { immutable: Some(true), ..namespaced("a") };
    let cluster = Cluster::default().with_objects_applied_by("op", [config]);
    let managers = cluster.get::<ConfigMap>("default", "a").unwrap().metadata.managed_fields.unwrap();
    assert_eq!(managers[0].manager.as_deref(), Some("op"));
}

#[tokio::test]
async fn writes_are_found_by_their_kind() {
    let cluster = Cluster::default().with_fault(Fault::Refuse { code: 422 }.on_writes_of::<Secret>());
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    configs.create(&PostParams::default(), &namespaced("a")).await.unwrap();
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), "default");
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "stringData": { "x": "1" } });
    secrets.patch("s", &PatchParams::apply("op"), &Patch::Apply(secret)).await.unwrap_err();

    let writes = cluster.writes_of::<Secret>();
    let write = &writes[0];
    assert_eq!((writes.len(), write.summary.as_str(), write.request.name.as_str()), (1, "PATCH secrets", "s"));
    assert_eq!(write.body_as::<Secret>().unwrap().string_data.unwrap()["x"], "1");
    assert_eq!(cluster.writes_of::<Deployment>(), []);
    let second = cluster.writes().pop().unwrap();
    assert_eq!((second.request.write_number, second.is_for::<Secret>()), (Some(2), true));
}

fn panic_of(wrong: impl FnOnce(Cluster)) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wrong(Cluster::default()))).unwrap_err();
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap()
}

#[test]
fn wrong_arguments_are_named() {
    let wrong = panic_of(|cluster| drop(cluster.get::<Secret>(None, "a")));
    assert_eq!(wrong, "Secret is namespaced: pass the namespace of `a`, such as `\"default\"`");
    let wrong = panic_of(|cluster| drop(cluster.get::<Namespace>("default", "a")));
    assert_eq!(wrong, "Namespace is cluster-scoped: pass `None` in place of the namespace `default` of `a`");
    let wrong = panic_of(|cluster| drop(cluster.with_object(&Team::new("a", TeamSpec { size: 1 }))));
    assert_eq!(wrong, "the Team `a` has no `metadata.namespace`: set one, such as `default`");
    let wrong = panic_of(|cluster| cluster.edit::<Secret>("default", "a", |_| {}));
    assert_eq!(wrong, "secrets: there is no `a` in the namespace `default`");
    let plural =
        "write the plural, and the group if it is not the core group, as in `configmaps` and `deployments.apps`";
    for resource in ["deployments", "Deployment", "ConfigMap", "apps/deployments", ""] {
        let wrong = panic_of(|cluster| drop(cluster.list_json(resource)));
        assert_eq!(wrong, format!("`{resource}` is not a resource: {plural}"));
    }
    let wrong = panic_of(|cluster| drop(cluster.with_json("secrets", &[json!({ "type": "Opaque" })])));
    assert_eq!(wrong, "an object of secrets has no `metadata.name`: {\"type\":\"Opaque\"}");
    let wrong = panic_of(|cluster| drop(cluster.with_crds(&[json!({ "kind": "Team" })])));
    assert_eq!(wrong, "`with_crds` is given what is not a CustomResourceDefinition: it has no `spec.group`");
    let wrong = panic_of(|cluster| _ = cluster.count_writes("deployments.apps"));
    let form = "a method and a resource, as in `PATCH deployments.apps`";
    assert_eq!(wrong, format!("`deployments.apps` is not the summary of a write: {form}"));
}

#[test]
fn wrong_faults_are_named() {
    let wrong = panic_of(|cluster| cluster.inject(Fault::Refuse { code: 204 }));
    assert_eq!(wrong, "`Refuse { code: 204 }`: 204 is not an HTTP error, use a code from 400 to 599");
    let wrong = panic_of(|cluster| cluster.inject(Fault::HoldEvents.on_writes()));
    assert_eq!(wrong, "`HoldEvents` hits watches, not requests: inject it without `on_…` or `when`");
    let wrong = panic_of(|cluster| cluster.inject(Fault::LoseResponse.on_write(0)));
    assert_eq!(wrong, "`on_write(0)`: writes are counted from 1, use `on_write(1)` for the first one");
}

#[tokio::test]
async fn faults_are_removed() {
    let cluster = Cluster::default().with_fault(Fault::Refuse { code: 500 });
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    assert!(configs.get_opt("a").await.is_err());
    cluster.remove_faults();
    assert!(configs.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_replaced_response_hides_a_write_that_was_carried_out() {
    let cluster = Cluster::default().with_fault(Fault::ReplaceResponse { code: 504 }.on_write(1));
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    let error = configs.create(&PostParams::default(), &namespaced("a")).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 504));
    assert!(cluster.get::<ConfigMap>("default", "a").is_some());
}

#[tokio::test]
async fn the_first_write_of_each_sort_is_hit_once() {
    let cluster = Cluster::default().with_fault(Fault::Refuse { code: 409 }.on_first_write_of_each_sort());
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), "default");
    for is_created in [false, true] {
        assert_eq!(configs.create(&PostParams::default(), &namespaced("a")).await.is_ok(), is_created);
        assert_eq!(secrets.create(&PostParams::default(), &namespaced("a")).await.is_ok(), is_created);
    }
}

#[tokio::test]
async fn a_rule_decides_about_each_write() {
    let rule = FaultRule::for_writes(|request| match request.name.as_str() {
        "a" => Some(Fault::RefuseWith(Refusal::new(422, "Invalid", "not this one"))),
        _ => None,
    });
    let cluster = Cluster::default().with_fault(rule);
    let configs: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    configs.create(&PostParams::default(), &namespaced("b")).await.unwrap();
    let error = configs.delete("a", &DeleteParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.message == "not this one"));
    assert!(configs.delete("b", &DeleteParams::default()).await.is_ok());
}

#[tokio::test]
#[should_panic(expected = "a `FaultRule` decided `HoldEvents`, which hits watches: pass it to `inject`")]
async fn a_rule_that_decides_a_fault_of_watches_is_named() {
    let cluster = Cluster::default().with_fault(FaultRule::for_requests(|_| Some(Fault::HoldEvents)));
    let _ = Api::<ConfigMap>::all(cluster.client()).get_opt("a").await;
}

#[tokio::test]
async fn the_string_data_of_a_secret_becomes_its_data() {
    let password = |cluster: &Cluster| {
        let secret = cluster.get_json("secrets", "default", "a").unwrap();
        assert!(secret["stringData"].is_null(), "{secret}");
        secret["data"]["password"].clone()
    };
    let secret = |text: &str| {
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a", "namespace": "default" },
            "stringData": { "password": text } })
    };
    let cluster = Cluster::default().with_json("secrets", &[secret("one")]);
    assert_eq!(password(&cluster), "b25l");
    cluster.put_json("secrets", secret("two")).unwrap();
    assert_eq!(password(&cluster), "dHdv");
    let api: Api<Secret> = Api::default_namespaced(cluster.client());
    let apply = PatchParams::apply("a").force();
    let applied = api.patch("a", &apply, &Patch::Apply(secret("three"))).await.unwrap();
    assert_eq!(password(&cluster), "dGhyZWU=");
    let again = api.patch("a", &apply, &Patch::Apply(secret("three"))).await.unwrap();
    assert_eq!(again.resource_version(), applied.resource_version());
    api.patch("a", &PatchParams::default(), &Patch::Merge(secret("four"))).await.unwrap();
    assert_eq!(password(&cluster), "Zm91cg==");
}
