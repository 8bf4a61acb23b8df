//! `olm install`, `olm status` and `olm uninstall`, from nothing to nothing.

use std::{fs, process::Stdio, thread, time::Duration};

use serde_json::json;

use crate::{bundle::Bundle, plane::Plane, support, v1};

#[test]
fn olm_is_installed_and_shown_and_uninstalled() {
    let Some(plane) = Plane::start("install") else { return };
    let refused = plane.refused("olm status");
    assert!(refused.contains("OLM is not installed on https://127.0.0.1:"), "{refused}");
    let bundle = Bundle::new(&plane.dir, "none");
    let refused = plane.refused(&format!("run bundle {}", bundle.dir.display()));
    assert!(
        refused.contains("OLM is not installed on ")
            && refused.contains("`operator-rs olm install`"),
        "{refused}"
    );
    if let Some(extensions) = v1::crds().and_then(|it| it.into_iter().nth(1)) {
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        plane.create(crds, &extensions);
        plane.until("its kind is served", || plane.get(v1::EXTENSIONS).is_some());
        let refused = plane.refused(&format!("run bundle {}", bundle.dir.display()));
        assert!(refused.contains("has OLM v1, and not OLM v0"), "{refused}");
        assert!(
            refused.contains(
                "use OLM v1 with `--target olmv1`, or install OLM v0 with `operator-rs olm install`"
            ),
            "{refused}"
        );
        plane.delete(&format!("{crds}/{}", extensions["metadata"]["name"].as_str().unwrap()));
        plane.until("it is gone", || plane.get(v1::EXTENSIONS).is_none());
    }
    let before = plane.all("");
    let check = |text: &str, expected: &str| {
        fs::write(plane.dir.join("odd.yaml"), text).unwrap();
        let refused = plane.refused("olm install --manifests odd.yaml");
        assert!(refused.contains(expected), "{expected}\n{refused}");
    };
    check("hello", "document 1 of `odd.yaml` is not a Kubernetes object");
    check(
        "kind: A\napiVersion: v1\nmetadata: {name: a, labels: 1}",
        "document 1 of `odd.yaml` is not",
    );
    check(
        "kind: A\napiVersion: v1\nmetadata: {name: a}",
        "`odd.yaml` are not OLM's manifests: OLM's CRDs are missing",
    );

    let manifests = plane.manifests();
    let install = format!(
        "olm install --timeout 60s --manifests {0}/crds.yaml {0}/olm.yaml",
        manifests.display()
    );
    // Killed in the middle, and run again.
    let mut child = plane.command(&install).stdout(Stdio::null()).spawn().unwrap();
    let crd =
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/installplans.operators.coreos.com";
    plane.until("a CRD exists", || plane.get(crd).is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    let child =
        plane.command(&install).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    plane.until("the catalog exists", || {
        plane
            .get("/apis/operators.coreos.com/v1alpha1/namespaces/olm/catalogsources")
            .is_some_and(|it| it["items"][0].is_object())
    });
    plane.start_olm();
    let output = child.wait_with_output().unwrap();
    let said = support::said(&output);
    // The pods of the package server answer nothing, so its ClusterServiceVersion stays as it is.
    assert!(said.contains("OLM 0.18.3 in namespace olm\n"), "{said}");
    assert!(said.contains("packageserver          olm        Deployment             2 of 2 replicas are available\n"), "{said}");
    let status = plane.refused("olm status");
    assert!(
        status.contains("OLM is not healthy:\n  ClusterServiceVersion olm/packageserver: "),
        "{status}"
    );

    let subscription = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": {"name": "mine"},
        "spec": {"name": "a", "source": "operatorhubio-catalog", "sourceNamespace": "olm"},
    });
    let path = "/apis/operators.coreos.com/v1alpha1/namespaces/operators/subscriptions";
    plane.create(path, &subscription);
    let refused = plane.refused("olm uninstall --yes");
    assert!(refused.contains("nothing was removed:\n  Subscription operators/mine\n"), "{refused}");
    plane.delete(&format!("{path}/mine"));

    // An uninstallation that was interrupted: a CRD of OLM's that waits for its objects, and then none.
    let catalog = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
        "metadata": {"name": "held", "finalizers": ["example.com/hold"], "labels": {"applied-by.rust.operator-rs.io/olm.operators.coreos.com": ""}},
        "spec": {"sourceType": "grpc", "address": "127.0.0.1:1"},
    });
    let path = "/apis/operators.coreos.com/v1alpha1/namespaces/olm/catalogsources";
    plane.create(path, &catalog);
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/catalogsources.operators.coreos.com";
    plane.delete(crd);
    plane.until("nothing can be created any more", || {
        let served = plane.get("/apis/operators.coreos.com/v1alpha1").unwrap();
        let mut kinds = served["resources"].as_array().unwrap().iter();
        kinds.any(|it| it["name"] == "catalogsources" && !it["verbs"].to_string().contains("patch"))
    });
    let output = plane.operator_rs("olm uninstall --dry-run=server");
    assert!(output.status.success(), "{}", support::said(&output));
    // No Pod of the package server runs here, and that is told.
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_about_packages =
        |it: &str| it.contains("packages.operators.coreos.com/v1 cannot be listed");
    assert!(told.lines().all(is_about_packages), "{told}");
    plane.merge(&format!("{path}/held"), &json!({"metadata": {"finalizers": null}}));
    plane.until("the CRD is gone", || plane.get(crd).is_none());
    let refused = plane.refused("olm status");
    assert!(
        refused.contains("CustomResourceDefinition catalogsources.operators.coreos.com: missing"),
        "{refused}"
    );

    let dry = plane.done("olm uninstall --dry-run=server");
    let done = plane.done("olm uninstall");
    assert_eq!(dry, done);
    thread::sleep(Duration::from_secs(1));
    let after = plane.all("");
    let left: Vec<&String> = after.difference(&before).collect();
    assert!(left.is_empty(), "{left:?}");
    let again = plane.operator_rs("olm uninstall");
    assert_eq!(String::from_utf8_lossy(&again.stderr), "nothing to remove: OLM is not installed\n");
    assert!(fs::read_to_string(plane.dir.join("olm.log")).is_ok());
}
