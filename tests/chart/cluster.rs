//! A chart on a real API server: installed, upgraded with a changed CRD, and uninstalled while a custom resource stays.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::{
    control_plane::{self, ControlPlane},
    helm::Helm,
    support,
};

const CRD: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.g.example.com";
const SYSTEM: &str = "shop-operator-system";

#[tokio::test]
async fn a_release_is_installed_upgraded_and_uninstalled() {
    if !control_plane::is_there() {
        return;
    }
    let Some(helm) = Helm::tutorial("cluster") else { return };
    let plane = ControlPlane::start("chart", true).await;
    let (server, kubeconfig) = (&plane.server, plane.dir.join("kubeconfig"));
    let on = |words: &str| helm.on(&kubeconfig, words);
    let flags = format!("shop-operator chart --namespace {SYSTEM}");

    on(&format!("install {flags} --create-namespace"));
    let deployment =
        format!("/apis/apps/v1/namespaces/{SYSTEM}/deployments/shop-operator-controller-manager");
    assert!(server.get(&deployment).await.is_some());
    let established =
        |it: &serde_json::Value| it["status"]["conditions"].to_string().contains("Established");
    server.until(CRD, 30, "established", established).await;
    let memcacheds = "/apis/g.example.com/v1alpha1/namespaces/default/memcacheds";
    let memcached = json!({
        "apiVersion": "g.example.com/v1alpha1", "kind": "Memcached",
        "metadata": { "name": "kept" }, "spec": { "size": 1 },
    });
    server.until(memcacheds, 30, "served", |it| it["items"].is_array()).await;
    server.create(memcacheds, memcached).await;
    close_to_the_estimate(&plane, &helm).await;

    helm.edit("api/src/g/v1alpha1/memcached.rs", |text| {
        text.replacen("    /// Number of pods.", "    /// Number of all pods.", 1)
    });
    helm.edit("config/manager/manager.yaml", |text| text.replace("replicas: 1", "replicas: 2"));
    helm.edit("chart/values.yaml", |text| text.replace("replicas: 1", "replicas: null"));
    support::done(&helm.dir, "generate chart");
    on(&format!("upgrade {flags}"));
    let crd = server.get(CRD).await.unwrap().to_string();
    assert!(crd.contains("Number of all pods."), "{crd}");
    assert_eq!(server.get(&deployment).await.unwrap()["spec"]["replicas"], 2);
    let budget = format!(
        "/apis/policy/v1/namespaces/{SYSTEM}/poddisruptionbudgets/shop-operator-controller-manager"
    );
    assert!(server.get(&budget).await.is_some());

    // A second release in the namespace, which watches another one, and leaves the CRDs to the first.
    on(&format!(
        "install other chart --namespace {SYSTEM} --set crds.enabled=false --set metrics.enabled=false --set watchNamespaces={{default}}"
    ));
    let metrics =
        |release: &str| format!("/api/v1/namespaces/{SYSTEM}/services/{release}-metrics-service");
    assert!(server.get(&metrics("shop-operator")).await.is_some());
    assert!(server.get(&metrics("other-shop-operator")).await.is_none());
    let role = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/other-shop-operator-manager-role-watched";
    assert!(server.get(role).await.is_some());
    on(&format!("uninstall other --namespace {SYSTEM} --wait"));
    assert!(server.get(role).await.is_none());

    on(&format!("uninstall shop-operator --namespace {SYSTEM} --wait"));
    assert!(server.get(&deployment).await.is_none());
    assert!(server.get(&format!("{memcacheds}/kept")).await.is_some());
    let crd = server.get(CRD).await.unwrap();
    assert!(crd["metadata"]["deletionTimestamp"].is_null(), "{crd}");

    // The CRD that was kept belongs to a release of the same name.
    on(&format!("install {flags}"));
    assert!(server.get(&deployment).await.is_some());
}

/// The size of the Secret is what `generate chart` says, within a tenth.
async fn close_to_the_estimate(plane: &ControlPlane, helm: &Helm) {
    let path = format!("/api/v1/namespaces/{SYSTEM}/secrets/sh.helm.release.v1.shop-operator.v1");
    let secret = plane.server.get(&path).await.expect("Helm stores the release");
    let release = secret["data"]["release"].as_str().expect("it is there");
    let size = BASE64_STANDARD.decode(release).expect("it is base64").len() / 1024;
    let said = support::said(&support::operator_rs(&helm.dir, "generate chart --force"));
    let words = said.split("Helm stores a release in one Secret: about ").nth(1);
    let estimate = words.and_then(|it| it.split(' ').next()?.parse::<usize>().ok());
    let estimate = estimate.unwrap_or_else(|| panic!("{said}"));
    assert!(size.abs_diff(estimate) * 10 <= size, "{size} KiB, and {estimate} are estimated");
}
