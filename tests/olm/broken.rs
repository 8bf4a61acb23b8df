//! Operators that OLM cannot install: each is told with its reason.

use serde_json::{Value, json};

use crate::{
    bundle::Bundle,
    plane::{Plane, Served, shared},
};

/// Runs a bundle, which must fail with all of these texts; then removes it.
fn check(plane: &Plane, name: &str, bundle: &Bundle, properties: Value, expected: &[&str]) {
    let served = Served::start(&Bundle::catalog(&[bundle], properties));
    let run = format!(
        "run bundle {} -n {name} --timeout 20s --catalog-address {}",
        bundle.dir.display(),
        served.address
    );
    let refused = plane.refused(&run);
    for it in expected {
        assert!(refused.contains(it), "{name}: {it}\n{refused}");
    }
    plane.done(&format!("cleanup {name}-operator -n {name} --yes"));
    plane.nothing_is_left_of(name);
}

#[test]
fn a_dependency_that_no_catalog_has_is_reported() {
    let Some(plane) = shared() else { return };
    let dependency =
        "dependencies:\n- type: olm.package\n  value: {packageName: nowhere, version: '>=1.0.0'}\n";
    let bundle = Bundle::new(&plane.dir, "zneedy").with("metadata/dependencies.yaml", dependency);
    let property = json!([{"type": "olm.package.required", "value": {"packageName": "nowhere", "versionRange": ">=1.0.0"}}]);
    let expected = [
        "OLM cannot resolve Subscription zneedy-operator-v0-0-1-sub: constraints not satisfiable",
        "nowhere",
    ];
    check(plane, "zneedy", &bundle, property, &expected);
}

#[test]
fn a_permission_that_the_account_of_the_operator_group_lacks_is_reported() {
    let Some(plane) = shared() else { return };
    let bundle = Bundle::new(&plane.dir, "zweak");
    let named = |name: &str| json!({"metadata": {"name": name}});
    plane.create("/api/v1/namespaces", &named("zweak"));
    plane.create("/api/v1/namespaces/zweak/serviceaccounts", &named("nobody"));
    let group = json!({
        "apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "zweak-group"}, "spec": {"serviceAccountName": "nobody"},
    });
    plane.create("/apis/operators.coreos.com/v1/namespaces/zweak/operatorgroups", &group);
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    let run = format!(
        "run bundle {} -n zweak --timeout 20s --catalog-address {}",
        bundle.dir.display(),
        served.address
    );
    let refused = plane.refused(&run);
    assert!(refused.contains("system:serviceaccount:zweak:nobody"), "{refused}");
    let done = plane.done("cleanup zweak-operator -n zweak --yes");
    assert!(!done.contains("OperatorGroup") && !done.contains("Namespace"), "{done}");
}

#[test]
fn a_crd_that_another_operator_owns_is_reported_and_stays() {
    let Some(plane) = shared() else { return };
    let owner = Bundle::new(&plane.dir, "zowner");
    let served = Served::start(&Bundle::catalog(&[&owner], json!([])));
    plane.done(&format!(
        "run bundle {} -n zowner --catalog-address {}",
        owner.dir.display(),
        served.address
    ));
    // The same CRDs in another package.
    let other = Bundle::new(&plane.dir, "zowner2");
    let crd =
        std::fs::read_to_string(owner.dir.join("manifests/zowner.example.com_memcacheds.yaml"))
            .unwrap();
    let other = other.with("manifests/zowner2.example.com_memcacheds.yaml", &crd);
    let other = other.replacing("zowner2.example.com", "zowner.example.com");
    let served = Served::start(&Bundle::catalog(&[&other], json!([])));
    let run = format!(
        "run bundle {} -n zowner2 --timeout 40s --catalog-address {}",
        other.dir.display(),
        served.address
    );
    // Of the first operator only this has the second one's name: OLM records in it what was installed with it.
    let crd = "customresourcedefinitions /memcacheds.zowner.example.com".to_owned();
    let cleanup = "cleanup zowner2-operator -n zowner2 --yes";
    // Interrupted as soon as it has failed, when OLM is still carrying out the InstallPlan.
    let mut child = plane.command(&run).spawn().unwrap();
    plane.until("the version is Failed", || {
        let path = "/apis/operators.coreos.com/v1alpha1/namespaces/zowner2/clusterserviceversions/zowner2-operator.v0.0.1";
        plane.get(path).is_some_and(|it| it["status"]["phase"] == "Failed")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let done = plane.done(cleanup);
    assert_eq!(plane.all("zowner2"), [crd.clone()].into(), "{done}");
    let refused = plane.refused(&run);
    let reason = "is Failed (InterOperatorGroupOwnerConflict): intersecting operatorgroups provide the same apis";
    assert!(refused.contains(reason), "{refused}");
    let done = plane.done(cleanup);
    assert!(!done.contains("delete     CustomResourceDefinition"), "{done}");
    assert_eq!(plane.all("zowner2"), [crd].into(), "{done}");
    let done = plane.done("cleanup zowner-operator -n zowner --yes");
    assert!(
        done.contains("delete     CustomResourceDefinition memcacheds.zowner.example.com"),
        "{done}"
    );
    plane.nothing_is_left_of("zowner");
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_created() {
    let Some(plane) = shared() else { return };
    let modes = (
        "- supported: true\n    type: MultiNamespace",
        "- supported: false\n    type: MultiNamespace",
    );
    let bundle = Bundle::new(&plane.dir, "zearly").replacing(modes.0, modes.1);
    let dir = bundle.dir.display().to_string();
    let check = |words: &str, expected: &str| {
        let refused = plane.refused(words);
        assert!(refused.contains(expected), "{words}: {expected}\n{refused}");
        assert!(plane.all("zearly-").is_empty(), "{:?}", plane.all("zearly-"));
    };
    check(
        &format!("run bundle {dir} -n zearly --install-mode MultiNamespace=a,b"),
        "operator `zearly-operator.v0.0.1` does not support install mode MultiNamespace",
    );
    check(
        &format!("run bundle-upgrade {dir} -n zearly"),
        "namespace `zearly` has no Subscription to package `zearly-operator`",
    );
    let group = |name: &str, spec: Value| json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": name}, "spec": spec});
    let groups = "/apis/operators.coreos.com/v1/namespaces/zearly/operatorgroups";
    plane.create("/api/v1/namespaces", &json!({"metadata": {"name": "zearly"}}));
    plane.create(groups, &group("own", json!({"targetNamespaces": ["zearly"]})));
    check(
        &format!("run bundle {dir} -n zearly --install-mode AllNamespaces"),
        "existing OperatorGroup `own` is not compatible with install mode AllNamespaces",
    );
    plane.create(groups, &group("all", json!({})));
    check(&format!("run bundle {dir} -n zearly"), "namespace `zearly` has 2 OperatorGroups");
    let broken = Bundle::new(&plane.dir, "zearly").replacing("version: 0.0.1\n", "version: one\n");
    check(&format!("run bundle {} -n zearly", broken.dir.display()), "the bundle is not valid");
    check("run bundle nowhere -n zearly", "nowhere");
    let old = Bundle::new(&plane.dir, "zearly").replacing("minKubeVersion: ", "minKubeVersion: 9");
    let apis =
        "  nativeAPIs:\n  - {group: example.com, version: v1, kind: Gone}\n  version: 0.0.1\n";
    let old = old.replacing("  version: 0.0.1\n", apis);
    let run = format!("run bundle {} -n zearly", old.dir.display());
    check(
        &run,
        "OLM would not install `zearly-operator.v0.0.1` on this server:\n  `minKubeVersion` is 9",
    );
    check(&run, "\n  `nativeAPIs` has Gone of example.com/v1, which the server does not serve");
}

#[test]
fn a_failed_upgrade_is_reported_with_olms_reason_and_a_way_out_that_loses_nothing() {
    let Some(plane) = shared() else { return };
    let first = Bundle::new(&plane.dir, "zupgrade");
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: zupgrade}\nvalue: 2000000000\n";
    let second = first.next().with("manifests/class.yaml", class);
    let served = Served::start(&Bundle::catalog(&[&first], json!([])));
    let run = |command: &str, bundle: &Bundle, served: &Served| {
        format!(
            "run {command} {} -n zupgrade --catalog-address {}",
            bundle.dir.display(),
            served.address
        )
    };
    plane.done(&run("bundle", &first, &served));
    let memcacheds = "/apis/zupgrade.example.com/v1alpha1/namespaces/default/memcacheds";
    plane.create(memcacheds, &json!({
        "apiVersion": "zupgrade.example.com/v1alpha1", "kind": "Memcached", "metadata": {"name": "a"}, "spec": {"size": 1},
    }));
    let both = Served::start(&Bundle::catalog(&[&first, &second], json!([])));
    let refused = plane.refused(&run("bundle-upgrade", &second, &both));
    let reason = "PriorityClass.scheduling.k8s.io \"zupgrade\" is invalid: value: Forbidden: maximum allowed value";
    assert!(
        refused
            .contains("error: `zupgrade-operator.v0.0.2` was not installed: InstallPlan install-"),
        "{refused}"
    );
    assert!(refused.contains(reason) && !refused.contains("timed out"), "{refused}");
    let way_out = "cleanup zupgrade-operator --namespace zupgrade --delete-all=false";
    assert!(refused.contains(&format!("`operator-rs {way_out}`")), "{refused}");
    plane.done(way_out);
    let served = Served::start(&Bundle::catalog(&[&first], json!([])));
    plane.done(&run("bundle", &first, &served));
    assert!(plane.get(&format!("{memcacheds}/a")).is_some());
    // What the user has in the namespace is told at once, and keeps it.
    plane.create("/api/v1/namespaces/zupgrade/configmaps", &json!({"metadata": {"name": "mine"}}));
    let kept = "leave      Namespace zupgrade (ConfigMap zupgrade/mine is in it)\n";
    for _ in 0..2 {
        let output = plane.operator_rs("cleanup zupgrade-operator -n zupgrade --yes");
        let said = crate::support::said(&output);
        assert!(output.status.success() && said.contains(kept), "{said}");
        assert!(!said.contains("waiting    ConfigMap zupgrade/mine"), "{said}");
    }
    plane.delete("/api/v1/namespaces/zupgrade/configmaps/mine");
    plane.done("cleanup zupgrade-operator -n zupgrade --yes");
    plane.nothing_is_left_of("zupgrade");
}
