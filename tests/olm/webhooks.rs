//! An operator with webhooks and a second version, installed by OLM: the API server calls it by the Service that OLM
//! creates, with the certificate that OLM makes.

use serde_json::json;

use crate::{
    bundle::Bundle,
    installed::{self, Installed},
    plane::{Plane, Served},
    project::Project,
    server::Server,
    support,
};

#[tokio::test]
async fn webhooks_and_conversion_are_called_as_olm_has_installed_them() {
    let Some(address) = installed::address() else { return };
    let started = tokio::task::spawn_blocking(move || {
        let plane = Plane::with_olm("webhooks", Some(&address))?;
        let project = Project::webhooks();
        let dir = project.manager.parent().expect("it is in the project's folder").to_owned();
        support::done(&dir, "bundle --image example.com/webhook-operator:v0.0.1");
        let bundle = Bundle::read(&dir.join("bundle"), "webhook");
        let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
        let done = plane.done(&format!(
            "run bundle {} -n webhooks --catalog-address {}",
            bundle.dir.display(),
            served.address
        ));
        let expected = "`webhook-operator.v0.0.1` is installed in namespace `webhooks`\n";
        assert!(done.ends_with(expected), "{done}");
        Some((plane, project, served))
    });
    let Some((plane, project, _served)) = started.await.expect("OLM installs it") else { return };

    let kubeconfig = plane.dir.join("kubeconfig");
    let server = Server::connect(&kubeconfig).await;
    let deployment =
        "/apis/apps/v1/namespaces/webhooks/deployments/webhook-operator-controller-manager";
    let installed = Installed::start(&server, &kubeconfig, &project.manager, deployment).await;
    installed::webhooks_are_called(&server, &installed).await;

    // Phases flap: it is not pending again because of what was called.
    let csv = "/apis/operators.coreos.com/v1alpha1/namespaces/webhooks/clusterserviceversions/webhook-operator.v0.0.1";
    server.until(csv, 30, "installed", |it| it["status"]["phase"] == "Succeeded").await;
    assert!(!installed.log().contains(" ERROR "), "{}", installed.log());
    let lease = "/apis/coordination.k8s.io/v1/namespaces/webhooks/leases/webhook-operator";
    server.until(lease, 30, "held", |it| it["spec"]["holderIdentity"].is_string()).await;
    let removed = tokio::task::spawn_blocking(move || {
        plane.done("cleanup webhook-operator -n webhooks --yes");
        plane.nothing_is_left_of("memcacheds.cache.example.com");
        plane.nothing_is_left_of("webhook-operator");
    });
    removed.await.expect("nothing is left");
}
