//! Bundles that OLM installs and upgrades, and what is left of them.

use std::{collections::BTreeMap, io::Read as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    bundle::Bundle,
    plane::{Served, shared},
    support,
};

#[test]
fn a_bundle_is_installed_and_upgraded_and_removed_without_a_trace() {
    let Some(plane) = shared() else { return };
    let first = Bundle::new(&plane.dir, "zwhole");
    let second = first.next();
    let served = Served::start(&Bundle::catalog(&[&first], json!([])));
    let before = plane.all("zwhole");
    assert!(before.is_empty(), "{before:?}");

    let run = format!(
        "run bundle {} -n zwhole --catalog-address {}",
        first.dir.display(),
        served.address
    );
    let done = plane.done(&run);
    let expected = "\
create     Namespace zwhole
create     OperatorGroup zwhole/operator-rs-group
create     CatalogSource zwhole/zwhole-operator-catalog
create     Subscription zwhole/zwhole-operator-v0-0-1-sub
`zwhole-operator.v0.0.1` is installed in namespace `zwhole`
";
    assert_eq!(done, expected);
    let image = |plane: &crate::plane::Plane| {
        let path = "/apis/apps/v1/namespaces/zwhole/deployments/zwhole-operator-controller-manager";
        let deployment = plane.get(path).unwrap();
        assert_eq!(deployment["status"]["availableReplicas"], 1);
        let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap();
        containers
            .iter()
            .find_map(|it| it["image"].as_str().filter(|it| it.contains("zwhole")))
            .unwrap()
            .to_owned()
    };
    assert_eq!(image(plane), "quay.io/example/zwhole-operator:v0.0.1");
    // Once more changes nothing.
    let again = plane.done(&run);
    assert_eq!(again, expected.replace("create   ", "unchanged"));
    let refused = plane.refused(&format!("run bundle {} -n zwhole", second.dir.display()));
    assert!(refused.contains("already has Subscription zwhole-operator-v0-0-1-sub to package `zwhole-operator` (installed: zwhole-operator.v0.0.1)"), "{refused}");

    let served = Served::start(&Bundle::catalog(&[&first, &second], json!([])));
    let upgrade = format!(
        "run bundle-upgrade {} -n zwhole --catalog-address {}",
        second.dir.display(),
        served.address
    );
    let done = plane.done(&upgrade);
    assert_eq!(
        done,
        "update     CatalogSource zwhole/zwhole-operator-catalog
unchanged  Subscription zwhole/zwhole-operator-v0-0-1-sub
`zwhole-operator.v0.0.1` in namespace `zwhole` is upgraded to `zwhole-operator.v0.0.2`
"
    );
    plane.until("the Deployment has the new image", || image(plane).ends_with(":v0.0.2"));
    let csvs =
        plane.get("/apis/operators.coreos.com/v1alpha1/namespaces/zwhole/clusterserviceversions");
    let names: Vec<Value> = csvs.unwrap()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["metadata"]["name"].clone())
        .collect();
    // OLM copies those of other namespaces.
    let names: Vec<Value> =
        names.into_iter().filter(|it| it.to_string().contains("zwhole")).collect();
    assert_eq!(names, ["zwhole-operator.v0.0.2"]);
    assert_eq!(
        plane.done(&upgrade),
        "`zwhole-operator.v0.0.2` is already installed in namespace `zwhole`\n"
    );

    let refused = plane.refused(&format!("run bundle-upgrade {} -n zwhole", first.dir.display()));
    let older = "`zwhole-operator.v0.0.1` has version 0.0.1, which is not later than 0.0.2 of the installed `zwhole-operator.v0.0.2`";
    assert!(refused.contains(older), "{refused}");

    let memcached = json!({"apiVersion": "zwhole.example.com/v1alpha1", "kind": "Memcached", "metadata": {"name": "a"}, "spec": {"size": 1}});
    plane.create("/apis/zwhole.example.com/v1alpha1/namespaces/default/memcacheds", &memcached);
    let listed = plane.operator_rs("cleanup zwhole-operator -n zwhole --dry-run=server");
    let warning = "removing CustomResourceDefinition memcacheds.zwhole.example.com also removes 1 object of kind Memcached in 1 namespace\n";
    assert_eq!(String::from_utf8_lossy(&listed.stderr), warning);
    // Nobody is there to answer.
    let unanswered = plane.operator_rs("cleanup zwhole-operator -n zwhole");
    assert_eq!(unanswered.status.code(), Some(2), "{}", support::said(&unanswered));
    let done = plane.done("cleanup zwhole-operator -n zwhole --yes");
    let expected = "\
delete     ClusterRole zwhole-operator-memcached-admin-role
delete     ClusterRole zwhole-operator-memcached-editor-role
delete     ClusterRole zwhole-operator-memcached-viewer-role
delete     ClusterRole zwhole-operator-metrics-reader
delete     Subscription zwhole/zwhole-operator-v0-0-1-sub
delete     CustomResourceDefinition memcacheds.zwhole.example.com
delete     ClusterServiceVersion zwhole/zwhole-operator.v0.0.2
delete     CatalogSource zwhole/zwhole-operator-catalog
delete     OperatorGroup zwhole/operator-rs-group
";
    let late = "\
delete     Operator zwhole-operator.zwhole (once it lists nothing)
delete     Namespace zwhole (if nothing else is in it)
";
    assert_eq!(String::from_utf8_lossy(&listed.stdout), format!("{expected}{late}"));
    let expected = format!(
        "{expected}delete     Operator zwhole-operator.zwhole\ndelete     Namespace zwhole\n"
    );
    // OLM may make a role of the group once more while the group is deleted: it is removed, too.
    let is_made_again =
        |it: &&str| it.starts_with("delete     ClusterRole olm.og.operator-rs-group.");
    let done: String = done.split_inclusive('\n').filter(|it| !is_made_again(it)).collect();
    assert_eq!(done, expected);
    assert_eq!(plane.all("zwhole"), before);
    let again = plane.operator_rs("cleanup zwhole-operator -n zwhole");
    assert_eq!(
        String::from_utf8_lossy(&again.stderr),
        "error: nothing to remove: package `zwhole-operator` is not installed in namespace `zwhole`\n"
    );
    assert!(!again.status.success() && again.stdout.is_empty());
}

#[test]
fn existing_objects_are_reported_and_kept_and_contents_are_not_confused() {
    let Some(plane) = shared() else { return };
    let bundle = Bundle::new(&plane.dir, "zearlier");
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    let crd = "manifests/zearlier.example.com_memcacheds.yaml";
    let crd = std::fs::read_to_string(bundle.dir.join(crd)).unwrap();
    let crd: Value = serde_yaml::from_str(&crd).unwrap();
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    plane.create(crds, &crd);
    let service = json!({"metadata": {"name": "zearlier-operator-metrics-service"},
        "spec": {"ports": [{"port": 1}]}});
    plane.create("/api/v1/namespaces", &json!({"metadata": {"name": "zearlier"}}));
    plane.create("/api/v1/namespaces/zearlier/services", &service);
    let run = format!(
        "run bundle {} -n zearlier --catalog-address {}",
        bundle.dir.display(),
        served.address
    );
    let refused = plane.refused(&run);
    let name = "zearlier/zearlier-operator-metrics-service";
    assert!(
        refused.contains(&format!("Service {name} exists, and OLM did not create it")),
        "{refused}"
    );
    plane.delete("/api/v1/namespaces/zearlier/services/zearlier-operator-metrics-service");
    let output = plane.operator_rs(&run);
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    let kept = "CustomResourceDefinition memcacheds.zearlier.example.com";
    assert!(said.contains(&format!("{kept} existed before")), "{said}");
    let changed = bundle.replacing("-operator:v0.0.1", "-operator:rebuilt");
    for command in ["run bundle", "run bundle-upgrade"] {
        let words = format!(
            "{command} {} -n zearlier --catalog-address {}",
            changed.dir.display(),
            served.address
        );
        let refused = plane.refused(&words);
        assert!(refused.contains("but not with the content of this bundle: `spec."), "{refused}");
    }
    let elsewhere = plane.refused("cleanup zearlier-operator -n default");
    assert!(elsewhere.contains("pass `--namespace zearlier`"), "{elsewhere}");
    let done = plane.done("cleanup zearlier-operator -n zearlier --yes");
    assert!(done.contains(&format!("leave      {kept} (it is not OLM's alone")), "{done}");
    assert!(plane.get(&format!("{crds}/memcacheds.zearlier.example.com")).is_some());
    plane.delete(&format!("{crds}/memcacheds.zearlier.example.com"));
}

/// Nothing reaches a simulated pod, so OLM cannot read the catalog; but what the pod would be given is right.
#[test]
fn a_catalog_on_the_cluster_has_the_bundle_and_is_replaced_and_removed() {
    let Some(plane) = shared() else { return };
    let name = "zserved";
    let bundle = Bundle::new(&plane.dir, name);
    let refused =
        plane.refused(&format!("run bundle {} -n {name} --timeout 8s", bundle.dir.display()));
    assert!(
        refused.contains("timed out: OLM's connection to the catalog at operator-rs-catalog-"),
        "{refused}"
    );
    assert!(
        refused.contains("`operator-rs cleanup zserved-operator --namespace zserved`"),
        "{refused}"
    );
    let maps = plane.get("/api/v1/namespaces/zserved/configmaps").unwrap();
    let maps: Vec<&Value> =
        maps["items"].as_array().unwrap().iter().filter(|it| it["immutable"] == true).collect();
    assert_eq!(maps.len(), 1);
    let folder = plane.dir.join("zserved-content");
    let text = maps[0]["data"]["catalog.json"].as_str().unwrap().to_owned();
    support::put(&BTreeMap::from([("catalog.json".to_owned(), text.into_bytes())]), &folder);
    let served = Served::start(&folder);
    let run = format!(
        "run bundle {} -n {name} --catalog-address {}",
        bundle.dir.display(),
        served.address
    );
    assert!(
        plane
            .done(&run)
            .ends_with("`zserved-operator.v0.0.1` is installed in namespace `zserved`\n")
    );
    let done = plane.done("cleanup zserved-operator -n zserved --yes");
    assert!(plane.all("zserved").is_empty(), "{:?}\n{done}", plane.all("zserved"));
}

#[test]
fn a_catalog_that_is_too_large_for_a_config_map_is_compressed() {
    let Some(plane) = shared() else { return };
    let mut state = 1u32;
    let noise: String = (0..1_150_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + (state >> 24) as u8 % 26)
        })
        .collect();
    let large = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: zlarge-noise}}\ndata: {{a: {noise}}}\n"
    );
    let bundle = Bundle::new(&plane.dir, "zlarge").with("manifests/noise.yaml", &large);
    plane.refused(&format!("run bundle {} -n zlarge --timeout 20s", bundle.dir.display()));
    let maps = plane.get("/api/v1/namespaces/zlarge/configmaps").unwrap();
    let mut pieces: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for it in maps["items"].as_array().unwrap() {
        for (key, value) in it["binaryData"].as_object().into_iter().flatten() {
            pieces.insert(key.clone(), BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap());
        }
    }
    assert!(!pieces.is_empty(), "{:?}", pieces.keys());
    let mut text = Vec::new();
    let bytes: Vec<u8> = pieces.into_values().flatten().collect();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
    let folder = plane.dir.join("zlarge-content");
    support::put(&BTreeMap::from([("catalog.json".to_owned(), text)]), &folder);
    drop(Served::start(&folder));
    plane.done("cleanup zlarge-operator -n zlarge --yes");
    assert!(plane.all("zlarge").is_empty(), "{:?}", plane.all("zlarge"));
}

#[test]
fn an_interrupted_run_is_continued_or_removed() {
    let Some(plane) = shared() else { return };
    let bundle = Bundle::new(&plane.dir, "zkilled");
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    let run = format!(
        "run bundle {} -n zkilled --catalog-address {}",
        bundle.dir.display(),
        served.address
    );
    let path = "/apis/operators.coreos.com/v1alpha1/namespaces/zkilled/subscriptions/zkilled-operator-v0-0-1-sub";
    let interrupt = || {
        let mut child = plane.command(&run).spawn().unwrap();
        plane.until("the Subscription exists", || plane.get(path).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    };
    interrupt();
    assert!(
        plane
            .done(&run)
            .ends_with("`zkilled-operator.v0.0.1` is installed in namespace `zkilled`\n")
    );
    plane.done("cleanup zkilled-operator -n zkilled --yes");
    assert!(plane.all("zkilled").is_empty(), "{:?}", plane.all("zkilled"));
    interrupt();
    plane.done("cleanup zkilled-operator -n zkilled --yes");
    plane.nothing_is_left_of("zkilled");
}

#[test]
fn what_olm_creates_again_during_a_cleanup_is_removed_too() {
    let Some(plane) = shared() else { return };
    let bundle = Bundle::new(&plane.dir, "zagain");
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    plane.done(&format!(
        "run bundle {} -n zagain --catalog-address {}",
        bundle.dir.display(),
        served.address
    ));
    let role = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let versions = "/apis/operators.coreos.com/v1alpha1/namespaces/zagain/clusterserviceversions";
    let subscriptions = "/apis/operators.coreos.com/v1alpha1/namespaces/zagain/subscriptions";
    let again = [(role, "zagain-operator-metrics-reader"), (versions, "zagain-operator.v0.0.1")];
    let mut objects = again.map(|(path, name)| plane.get(&format!("{path}/{name}")).unwrap());
    for it in &mut objects {
        it["metadata"].as_object_mut().unwrap().remove("uid");
        it["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    }
    std::thread::scope(|scope| {
        // As an InstallPlan does that was being carried out when its Subscription was removed.
        scope.spawn(|| {
            plane.until("the version is gone", || {
                plane.get(&format!("{versions}/{}", again[1].1)).is_none()
            });
            assert_eq!(plane.get(subscriptions).unwrap()["items"], json!([]));
            for ((path, _), object) in again.iter().zip(&objects) {
                plane.create(&format!("{path}?fieldManager=catalog"), object);
            }
        });
        let done = plane.done("cleanup zagain-operator -n zagain --yes");
        for (_, name) in again {
            assert_eq!(done.matches(&format!("{name}\n")).count(), 2, "{done}");
        }
    });
    plane.nothing_is_left_of("zagain");
}

#[test]
fn crds_and_their_objects_are_kept_where_that_is_asked_for() {
    let Some(plane) = shared() else { return };
    let bundle = Bundle::new(&plane.dir, "zkeep");
    let served = Served::start(&Bundle::catalog(&[&bundle], json!([])));
    plane.done(&format!(
        "run bundle {} -n zkeep --catalog-address {}",
        bundle.dir.display(),
        served.address
    ));
    let name = "memcacheds.zkeep.example.com";
    let crd = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    let uid = |path: &str| plane.get(path).map(|it| it["metadata"]["uid"].clone());
    let before = uid(&crd);
    let done = plane.done("cleanup zkeep-operator -n zkeep --delete-all=false");
    let kept = format!(
        "leave      Operator zkeep-operator.zkeep (CustomResourceDefinition {name} is in it)\n"
    );
    assert!(done.contains(&kept), "{done}");
    assert!(before.is_some() && uid(&crd) == before);
    assert!(
        uid("/apis/operators.coreos.com/v1/namespaces/zkeep/operatorgroups/operator-rs-group")
            .is_some()
    );
    // What is left is found by name only.
    plane.done("cleanup zkeep-operator -n zkeep");
    plane.delete(&crd);
    plane.delete("/apis/operators.coreos.com/v1/operators/zkeep-operator.zkeep");
    plane.nothing_is_left_of("zkeep");
}
