//! Two releases of a chart in one namespace.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    helm::{API, Helm, INIT, only},
    support,
};

#[test]
fn two_releases_share_nothing() {
    for certificates in ["cert-manager", "self"] {
        let webhook = format!(
            "create webhook --group g --kind Memcached --defaulting --programmatic-validation --certificates {certificates}"
        );
        let name = format!("releases-{certificates}");
        let Some(helm) = Helm::new(&name, &[INIT, API, &webhook]) else { return };
        helm.edit("config/default/kustomization.yaml", |text| {
            text.replace("# - ../prometheus", "- ../prometheus")
                .replace("# - ../network-policy", "- ../network-policy")
        });
        if certificates == "cert-manager" {
            verify_metrics(&helm);
        }
        support::done(&helm.dir, "generate chart");
        let one = helm.release("one", "shops", "--set replicas=2");
        let other = helm.release("other", "shops", "--set replicas=2 --set crds.enabled=false");
        assert_eq!(&names(&one) & &names(&other), BTreeSet::new());
        let texts = |objects: &[Value]| objects.iter().map(ToString::to_string).collect::<String>();
        assert!(!texts(&other).contains("one-shop-operator"), "{certificates}");
        assert_eq!(&secrets(&one) & &secrets(&other), BTreeSet::new());
        let written =
            one.iter().filter(|it| ["Certificate", "Secret"].contains(&text(&it["kind"])));
        let written = written.map(|it| match text(&it["kind"]) {
            "Secret" => text(&it["metadata"]["name"]).to_owned(),
            _ => text(&it["spec"]["secretName"]).to_owned(),
        });
        assert_eq!(secrets(&one), written.collect(), "{certificates}");

        let pods =
            |it: &[Value]| only(it, "Deployment")["spec"]["template"]["metadata"]["labels"].clone();
        let services = |it: &[Value]| -> Vec<Value> {
            let found = it.iter().filter(|it| it["kind"] == "Service");
            found.map(|it| it["metadata"]["labels"].clone()).collect()
        };
        let (mut own, mut foreign) = (0, 0);
        for object in &one {
            let of = |it: &[Value]| match object["kind"] == "ServiceMonitor" {
                true => services(it),
                false => vec![pods(it)],
            };
            let Some(selector) = selector(object) else { continue };
            let selects = |labels: &Value| {
                selector.as_object().unwrap().iter().all(|(key, it)| labels[key] == *it)
            };
            own += of(&one).iter().filter(|it| selects(it)).count();
            foreign += of(&other).iter().filter(|it| selects(it)).count();
        }
        // Deployment, two Services, ServiceMonitor, NetworkPolicies and PodDisruptionBudget.
        assert!(6 <= own, "{own}");
        assert_eq!(foreign, 0);
        let lease = |it: &[Value]| {
            let args =
                only(it, "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"].clone();
            let args = args.as_array().unwrap().clone();
            args.into_iter().find(|it| it.as_str().unwrap().starts_with("--leader-election-id="))
        };
        assert_eq!(lease(&one).unwrap(), "--leader-election-id=one-shop-operator");
        assert_eq!(lease(&other).unwrap(), "--leader-election-id=other-shop-operator");
    }
}

/// A name that a Service cannot have is refused before anything is installed.
#[test]
fn a_name_that_is_too_long_is_refused() {
    let Some(helm) = Helm::tutorial("long") else { return };
    let said = helm.refused(&format!("--set fullnameOverride={}", "a".repeat(60)));
    assert!(
        said.contains("is longer than 63 characters: set a shorter `fullnameOverride`"),
        "{said}"
    );
}

fn names(objects: &[Value]) -> BTreeSet<String> {
    let name = |it: &Value| {
        format!("{} {} {}", it["kind"], it["metadata"]["namespace"], it["metadata"]["name"])
    };
    objects.iter().map(name).collect()
}

/// Has Prometheus verify the certificate of the webhooks.
fn verify_metrics(helm: &Helm) {
    helm.edit("config/prometheus/kustomization.yaml", |text| {
        let (start, patches) = text.split_once("# patches:").unwrap();
        format!("{start}patches:{}", patches.replace("\n# ", "\n"))
    });
    helm.edit("config/prometheus/monitor_tls_patch.yaml", |text| {
        text.replace("name: metrics-server-cert", "name: webhook-server-cert")
    });
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The names of all Secrets that objects mention.
fn secrets(objects: &[Value]) -> BTreeSet<String> {
    fn collect(value: &Value, res: &mut BTreeSet<String>) {
        let mut found = vec![&value["secretName"], &value["secret"]["name"]];
        if value["name"] == "WEBHOOK_SECRET" {
            found.push(&value["value"]);
        }
        res.extend(found.into_iter().filter_map(Value::as_str).map(str::to_owned));
        value.as_array().into_iter().flatten().for_each(|it| collect(it, res));
        value.as_object().into_iter().flatten().for_each(|it| collect(it.1, res));
    }
    let mut res = BTreeSet::new();
    let all = objects.iter().filter(|it| it["kind"] != "CustomResourceDefinition");
    all.for_each(|it| collect(it, &mut res));
    assert!(!res.is_empty());
    res
}

fn selector(object: &Value) -> Option<&Value> {
    let spec = &object["spec"];
    [&spec["selector"]["matchLabels"], &spec["podSelector"]["matchLabels"], &spec["selector"]]
        .into_iter()
        .find(|it| it.is_object())
}
