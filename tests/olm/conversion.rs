//! What OLM v0 does with the conversion of a CRD while it upgrades: it replaces the CRD first, and sets the conversion of the
//! new CSV afterwards. No operator runs, and there is no object to convert.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    bundle::Bundle,
    plane::{Plane, Served, shared},
};

/// The bundle of an operator that converts between two versions. The conversion in its CRD is of this Service.
fn converting(plane: &Plane, name: &str, service: Option<&str>) -> Bundle {
    let bundle = Bundle::new(&plane.dir, name);
    let crd = format!("manifests/{name}.example.com_memcacheds.yaml");
    let mut object: Value = serde_yaml::from_str(bundle.text(&crd)).unwrap();
    let mut version = object["spec"]["versions"][0].clone();
    (version["name"], version["storage"]) = (json!("v1"), json!(false));
    object["spec"]["versions"].as_array_mut().unwrap().push(version);
    if let Some(service) = service {
        let service = json!({ "name": service, "namespace": name, "path": "/convert" });
        object["spec"]["conversion"] = json!({
            "strategy": "Webhook",
            "webhook": { "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] },
        });
    }
    let csv = format!("manifests/{name}-operator.clusterserviceversion.yaml");
    let mut text: Value = serde_yaml::from_str(bundle.text(&csv)).unwrap();
    for mode in text["spec"]["installModes"].as_array_mut().unwrap() {
        mode["supported"] = json!(mode["type"] == "AllNamespaces");
    }
    text["spec"]["webhookdefinitions"] = json!([{
        "type": "ConversionWebhook",
        "generateName": "c.kb.io",
        "deploymentName": format!("{name}-operator-controller-manager"),
        "conversionCRDs": [format!("memcacheds.{name}.example.com")],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "containerPort": 443,
        "targetPort": 9443,
        "webhookPath": "/convert",
    }]);
    let text = serde_yaml::to_string(&text).unwrap();
    bundle.with(&crd, &object.to_string()).with(&csv, &text)
}

/// The conversions that the CRD has while OLM upgrades the operator: the Service of each, or that there is none.
fn seen_in_an_upgrade(plane: &Plane, name: &str, service: Option<&str>) -> BTreeSet<String> {
    let first = converting(plane, name, service);
    let second = first.next();
    let served = Served::start(&Bundle::catalog(&[&first], json!([])));
    let run = |command: &str, bundle: &Bundle, served: &Served| {
        let (dir, address) = (bundle.dir.display(), &served.address);
        plane.done(&format!("run {command} {dir} -n {name} --catalog-address {address}"));
    };
    run("bundle", &first, &served);
    let served = Served::start(&Bundle::catalog(&[&first, &second], json!([])));
    let crd = format!(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.{name}.example.com"
    );
    let is_done = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !is_done.load(Ordering::Relaxed) {
                let conversion = &plane.get(&crd).unwrap()["spec"]["conversion"];
                let service = &conversion["webhook"]["clientConfig"]["service"]["name"];
                seen.insert(service.as_str().unwrap_or("none").to_owned());
                thread::sleep(Duration::from_millis(20));
            }
            seen
        });
        run("bundle-upgrade", &second, &served);
        is_done.store(true, Ordering::Relaxed);
        watching.join().unwrap()
    });
    plane.done(&format!("cleanup {name}-operator -n {name} --yes"));
    seen
}

#[test]
fn objects_are_never_served_unconverted_while_olm_upgrades() {
    let Some(plane) = shared() else { return };
    // `operator-rs bundle` writes this Service.
    let made = "zconverts-operator-controller-manager-service";
    let seen = seen_in_an_upgrade(plane, "zconverts", Some(made));
    assert_eq!(seen, BTreeSet::from([made.to_owned()]));
    // `bundle validate` warns of this one.
    let seen = seen_in_an_upgrade(plane, "zunset", None);
    let made = "zunset-operator-controller-manager-service".to_owned();
    assert_eq!(seen, BTreeSet::from([made, "none".to_owned()]));
}
