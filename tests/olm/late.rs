//! Cleanups while OLM is late: a process that does not run does nothing, and continues later where it was.

use std::{process::Stdio, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    bundle::Bundle,
    plane::{Plane, Served},
    support,
};

const CLEANUP: &str = "cleanup zlate-operator -n zlate --yes";
const OLM: &str = "/apis/operators.coreos.com";

#[test]
fn a_cleanup_is_complete_however_late_olm_acts() {
    let Some(plane) = Plane::with_olm("late", None) else { return };
    let bundle = Bundle::new(&plane.dir, "zlate");
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    let run = format!(
        "run bundle {} -n zlate --catalog-address {}",
        bundle.dir.display(),
        served.address
    );

    // Stopped while it carries out the InstallPlan: its objects come later.
    let mut child =
        plane.command(&run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    plane.until("an InstallPlan is carried out", || {
        let plans = plane.get(&format!("{OLM}/v1alpha1/namespaces/zlate/installplans"));
        plans.is_some_and(|it| it["items"][0]["status"]["phase"] == "Installing")
    });
    plane.signal("-STOP", "catalog");
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = plane.refused(&format!("{CLEANUP} --timeout 2s"));
    let reason =
        "error: nothing was removed: timed out: OLM is still executing InstallPlan zlate/install-";
    assert!(refused.contains(reason) && refused.contains("`operator-rs olm status`"), "{refused}");
    let mut cleanup = plane.command(CLEANUP);
    let cleanup = cleanup.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    plane.signal("-CONT", "catalog");
    let output = cleanup.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", support::said(&output));
    let left = plane.all("zlate");
    assert!(left.is_empty(), "{left:?}\n{}", support::said(&output));

    // Stopped when it is to remove what it created for a version.
    plane.done(&run);
    plane.signal("-STOP", "olm");
    let refused = plane.refused(&format!("{CLEANUP} --timeout 3s"));
    let version = "ClusterServiceVersion zlate/zlate-operator.v0.0.1";
    assert!(refused.contains(&format!("error: timed out: {version}")), "{refused}");
    plane.signal("-CONT", "olm");
    plane.done(CLEANUP);
    let left = plane.all("zlate");
    assert!(left.is_empty(), "{left:?}");

    // What a finalizer holds, and what others have put on OLM's list.
    plane.done(&run);
    let csv =
        format!("{OLM}/v1alpha1/namespaces/zlate/clusterserviceversions/zlate-operator.v0.0.1");
    let owner = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "name": "zlate-operator.v0.0.1", "uid": plane.get(&csv).unwrap()["metadata"]["uid"]});
    let label = json!({"operators.coreos.com/zlate-operator.zlate": "", "olm.managed": "true"});
    // OLM lists Services, and does not see that one is gone.
    let held = json!({"metadata": {"name": "held", "labels": label,
        "ownerReferences": [owner], "finalizers": ["example.com/hold"]}, "spec": {"ports": [{"port": 1}]}});
    let services = "/api/v1/namespaces/zlate/services";
    plane.create(services, &held);
    let mut cleanup = plane.command(CLEANUP);
    let cleanup = cleanup.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    plane.until("the version is gone", || plane.get(&csv).is_none());
    thread::sleep(Duration::from_secs(3));
    plane.merge(&format!("{services}/held"), &json!({"metadata": {"finalizers": null}}));
    let output = cleanup.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", support::said(&output));
    let left = plane.all("zlate");
    assert!(left.is_empty(), "{left:?}\n{}", support::said(&output));

    plane.done(&run);
    let maps = "/api/v1/namespaces/default/configmaps";
    plane.create(maps, &json!({"metadata": {"name": "theirs", "labels": label}}));
    let done = plane.done(CLEANUP);
    let left = "leave      Operator zlate-operator.zlate (ConfigMap default/theirs is in it)";
    assert!(done.contains(left), "{done}");
    plane.delete(&format!("{maps}/theirs"));
    plane.done(CLEANUP);

    // OLM's list alone, and what OLM has forgotten.
    plane.create(&format!("{OLM}/v1/operators"), &list());
    let role = json!({"metadata": {"name": "zlate-forgotten", "labels": {
        "olm.managed": "true", "olm.owner": "zlate-operator.v0.0.1", "olm.owner.namespace": "zlate",
        "olm.owner.kind": "ClusterServiceVersion", "operators.coreos.com/zlate-operator.zlate": "",
    }}});
    plane.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", &role);
    let done = plane.done(CLEANUP);
    assert!(done.starts_with("delete     ClusterRole zlate-forgotten\n"), "{done}");
    let left = plane.all("zlate");
    assert!(left.is_empty(), "{left:?}");
    let refused = plane.refused(CLEANUP);
    assert!(refused.contains("nothing to remove"), "{refused}");
}

fn list() -> Value {
    json!({"apiVersion": "operators.coreos.com/v1", "kind": "Operator", "metadata": {"name": "zlate-operator.zlate"}})
}
