//! Discovery by kube's client: the kinds of Kubernetes, and those of registered CRDs.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, CustomResource, CustomResourceExt,
    api::GroupVersionKind,
    discovery::{self, ApiGroup, Discovery, Scope, verbs},
};
use operator_rs_testing::Cluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The spec of a `Route`, which is served in two versions.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "gateway.networking.k8s.io", version = "v1", kind = "Route", namespaced, status = "RouteStatus")]
#[kube(shortname = "rt")]
struct RouteSpec {}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct RouteStatus {}

/// The spec of a cluster-scoped kind in another version of the group.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "gateway.networking.k8s.io", version = "v1beta1", kind = "GatewayClass")]
struct GatewayClassSpec {}

fn client() -> Client {
    Cluster::default().with_crds(&[GatewayClass::crd(), Route::crd()]).client()
}

/// What a group has in its preferred version, as text.
fn describe(group: &ApiGroup) -> Vec<String> {
    let resources = group.recommended_resources().into_iter().map(|(resource, capabilities)| {
        let scope = if capabilities.scope == Scope::Cluster { "cluster" } else { "namespaced" };
        let subresources: Vec<_> = capabilities.subresources.iter().map(|(sub, _)| sub.plural.as_str()).collect();
        assert!(capabilities.supports_operation(verbs::WATCH));
        format!("{} {} {} {scope} {subresources:?}", resource.api_version, resource.plural, resource.kind)
    });
    resources.collect()
}

#[tokio::test]
async fn discovery_finds_the_kinds_of_kubernetes_and_of_crds() {
    let discovered = Discovery::new(client()).run().await.unwrap();
    let aggregated = Discovery::new(client()).run_aggregated().await.unwrap();
    for discovery in [discovered, aggregated] {
        let routes = discovery.get("gateway.networking.k8s.io").unwrap();
        assert_eq!(routes.versions().collect::<Vec<_>>(), ["v1", "v1beta1"]);
        assert_eq!(describe(routes), ["gateway.networking.k8s.io/v1 routes Route namespaced [\"status\"]"]);
        let autoscaling = discovery.get("autoscaling").unwrap();
        assert_eq!(autoscaling.preferred_version_or_latest(), "v2");
        let core = describe(discovery.get("").unwrap());
        assert!(core.contains(&"v1 namespaces Namespace cluster [\"status\"]".to_owned()), "{core:?}");
        assert!(core.contains(&"v1 configmaps ConfigMap namespaced []".to_owned()), "{core:?}");
    }
}

#[tokio::test]
async fn a_kind_is_found_by_its_version() {
    let find = async |group: &str, version: &str, kind: &str| {
        discovery::pinned_kind(&client(), &GroupVersionKind::gvk(group, version, kind)).await
    };
    let (resource, capabilities) = find("apps", "v1", "Deployment").await.unwrap();
    assert_eq!((resource.plural.as_str(), capabilities.scope), ("deployments", Scope::Namespaced));
    let (resource, capabilities) = find("gateway.networking.k8s.io", "v1beta1", "GatewayClass").await.unwrap();
    assert_eq!((resource.plural.as_str(), capabilities.scope), ("gatewayclasses", Scope::Cluster));
    assert!(find("gateway.networking.k8s.io", "v1", "GatewayClass").await.is_err());
    assert!(find("route.openshift.io", "v1", "Route").await.is_err());
}

#[tokio::test]
async fn the_lists_of_discovery_are_those_of_a_real_server() {
    let client = client();
    assert_eq!(client.list_core_api_versions().await.unwrap().versions, ["v1"]);
    let groups = client.list_api_groups().await.unwrap().groups;
    let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
    assert!(names.contains(&"apps") && names.contains(&"gateway.networking.k8s.io") && !names.contains(&""));
    let routes = client.list_api_group_resources("gateway.networking.k8s.io/v1").await.unwrap().resources;
    let names: Vec<_> = routes.iter().map(|resource| resource.name.as_str()).collect();
    assert_eq!(names, ["routes", "routes/status"]);
    assert_eq!(routes[0].short_names.as_deref(), Some(&["rt".to_owned()][..]));
    assert!(client.list_core_api_resources("v1").await.unwrap().resources.iter().any(|it| it.kind == "Secret"));
    assert_eq!(client.apiserver_version().await.unwrap().major, "1");
    let error = client.list_api_group_resources("route.openshift.io/v1").await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 404));
}

#[tokio::test]
async fn a_crd_that_a_client_creates_is_discovered_until_it_is_deleted() {
    let client = Cluster::default().client();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let is_served = async || discovery::group(&client, "gateway.networking.k8s.io").await.is_ok();
    assert!(!is_served().await);
    crds.create(&kube::api::PostParams::default(), &Route::crd()).await.unwrap();
    assert!(is_served().await);
    crds.delete(&Route::crd().metadata.name.unwrap(), &kube::api::DeleteParams::default()).await.unwrap();
    assert!(!is_served().await);
}
