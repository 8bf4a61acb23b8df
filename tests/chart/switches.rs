//! `metrics.enabled` and `webhook.enabled`: what is switched off is gone as a whole, and nothing else changes.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use crate::{
    helm::{API, Helm, INIT, only},
    support,
};

const CONTAINER: &str = "/spec/template/spec/containers/0";

/// Objects by kind and name.
fn by_name(objects: &[Value]) -> BTreeMap<String, Value> {
    let name = |it: &Value| {
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let name = text(&it["metadata"]["name"]);
        format!("{} {}", text(&it["kind"]), name.trim_start_matches("shop-operator-"))
    };
    objects.iter().map(|it| (name(it), it.clone())).collect()
}

/// A project with webhooks and their certificates.
fn project(name: &str, certificates: &str) -> Option<Helm> {
    let webhook = format!(
        "create webhook --group g --kind Memcached --defaulting --programmatic-validation --certificates {certificates}"
    );
    Helm::new(name, &[INIT, API, &webhook])
}

/// A chart of one, with all that is optional.
fn chart(name: &str, certificates: &str) -> Option<Helm> {
    let helm = project(name, certificates)?;
    helm.edit("config/default/kustomization.yaml", |text| {
        let text = text.replace("# - ../prometheus", "- ../prometheus");
        let text = text.replace("# - ../network-policy", "- ../network-policy");
        let (before, after) = text.split_once("# - path: cert_metrics").unwrap();
        let patch = after.replacen(
            "#   target:\n#     kind: Deployment\n#     name: ",
            "  target:\n    kind: Deployment\n    name: ",
            1,
        );
        format!("{before}- path: cert_metrics{patch}")
    });
    support::done(&helm.dir, "generate chart");
    Some(helm)
}

/// Checks which objects a switch takes away, that the others but the Deployment stay as they are, that Helm finds nothing
/// wrong with the chart, and returns the container before and after.
fn off(helm: &Helm, switch: &str, gone: &[&str], texts: &[&str]) -> (Value, Value) {
    let flags = format!("--set {switch}=false");
    for flags in ["", &flags] {
        let lint = helm.run(&format!("lint --strict chart {flags}"));
        assert!(lint.status.success(), "{flags}: {}", support::said(&lint));
    }
    let (before, after) = (by_name(&helm.objects("")), by_name(&helm.objects(&flags)));
    let missing: Vec<&String> = before.keys().filter(|it| !after.contains_key(*it)).collect();
    assert_eq!(missing, gone);
    let deployment = "Deployment controller-manager";
    for (name, object) in after.iter().filter(|it| it.0 != deployment) {
        assert_eq!(before[name], *object, "{name}");
    }
    let said = after[deployment].to_string();
    for it in texts {
        assert!(before[deployment].to_string().contains(it), "{it} is there with {switch}");
        assert!(!said.contains(it), "{it} is there without {switch}: {said}");
    }
    let container = |it: &BTreeMap<String, Value>| it[deployment].pointer(CONTAINER).cloned();
    (container(&before).unwrap(), container(&after).unwrap())
}

/// The arguments without the last one, which has to be this.
fn argument(container: &Value, last: &str) -> Vec<Value> {
    let mut res = container["args"].as_array().unwrap().clone();
    assert_eq!(res.pop(), Some(json!(last)));
    res
}

#[test]
fn without_metrics_nothing_serves_and_nothing_reads_them() {
    let Some(helm) = chart("no-metrics", "self") else { return };
    let gone = [
        "ClusterRole metrics-auth-role",
        "ClusterRole metrics-reader",
        "ClusterRoleBinding metrics-auth-rolebinding",
        "Service metrics-service",
        "ServiceMonitor controller-manager-metrics-monitor",
    ];
    let texts = ["8443", "METRICS_SERVICE", "metrics-certs", "metrics-server-cert"];
    let (before, after) = off(&helm, "metrics.enabled", &gone, &texts);
    let mut args = before["args"].as_array().unwrap().clone();
    args.retain(|it| !it.as_str().unwrap().starts_with("--metrics-"));
    assert_eq!(argument(&after, "--metrics-bind-address=0"), args);
    assert!(after.to_string().contains("9443"), "the webhooks stay: {after}");
    let said = helm.refused("--set metrics.enabled=false --set args={--metrics-bind-address=:1}");
    let reason = "`args` sets --metrics-bind-address, and so does `metrics.enabled`";
    assert!(said.contains(reason), "{said}");
}

/// What goes with the webhooks, where cert-manager makes their certificate.
const WEBHOOKS: [&str; 7] = [
    "Certificate serving-cert",
    "Certificate webhook-ca",
    "Issuer ca-issuer",
    "Issuer selfsigned-issuer",
    "MutatingWebhookConfiguration mutating-webhook-configuration",
    "Service webhook-service",
    "ValidatingWebhookConfiguration validating-webhook-configuration",
];

#[test]
fn without_webhooks_there_is_no_certificate_of_cert_manager() {
    let Some(helm) = chart("no-webhook", "cert-manager") else { return };
    let texts = ["9443", "webhook-certs", "webhook-server-cert"];
    let (before, after) = off(&helm, "webhook.enabled", &WEBHOOKS, &texts);
    assert_eq!(argument(&after, "--enable-webhooks=false"), *before["args"].as_array().unwrap());
    assert!(after.to_string().contains("8443"), "the metrics stay: {after}");
}

/// The metrics have the certificate of the webhooks, by a variable or by an argument: each does without the other.
#[test]
fn a_certificate_for_both_goes_with_the_webhooks() {
    let Some(helm) = project("shared", "cert-manager") else { return };
    for texts in [&["METRICS_CERT_PATH"][..], &["METRICS_CERT_PATH", "--metrics-cert-path"]] {
        support::done(&helm.dir, "generate chart");
        let gone = [
            "ClusterRole metrics-auth-role",
            "ClusterRole metrics-reader",
            "ClusterRoleBinding metrics-auth-rolebinding",
            "Service metrics-service",
        ];
        let (before, after) = off(&helm, "metrics.enabled", &gone, texts);
        assert_eq!(after["volumeMounts"], before["volumeMounts"]);
        let (_, after) =
            off(&helm, "webhook.enabled", &WEBHOOKS, &[texts, &["serving-certs"]].concat());
        assert!(after.to_string().contains("8443"), "the metrics stay: {after}");
        helm.edit("config/manager/manager.yaml", |text| {
            let flag = "--metrics-cert-path=/tmp/k8s-webhook-server/serving-certs";
            text.replace(
                "        - --leader-elect\n",
                &format!("        - {flag}\n        - --leader-elect\n"),
            )
        });
    }
}

/// cert-manager makes both certificates, with one issuer, and the pods themselves are monitored.
#[test]
fn a_certificate_goes_with_what_it_is_for() {
    let Some(helm) = chart("certificates", "cert-manager") else { return };
    helm.edit("config/certmanager/certificate.yaml", |text| {
        let other = text.split_once("---\n").unwrap().1.replace("serving-cert", "metrics-certs");
        let other = other.replace("webhook-server-cert", "metrics-server-cert");
        let (start, _) = other.split_once("  dnsNames:\n").unwrap();
        let (_, end) = other.split_once("  issuerRef:\n").unwrap();
        format!("{text}---\n{start}  dnsNames: [metrics.example.com]\n  issuerRef:\n{end}")
    });
    helm.edit("config/certmanager/kustomization.yaml", |text| {
        format!("{text}configurations:\n- names.yaml\n")
    });
    let names = "nameReference:\n- kind: Issuer\n  group: cert-manager.io\n  fieldSpecs:\n  - kind: Certificate\n    path: spec/issuerRef/name\n";
    fs::write(helm.dir.join("config/certmanager/names.yaml"), names).unwrap();
    helm.edit("config/prometheus/monitor.yaml", |text| {
        let pods = text.replace("kind: ServiceMonitor", "kind: PodMonitor");
        let pods = pods.replace("  endpoints:", "  podMetricsEndpoints:");
        let other =
            pods.replace("metrics-monitor", "probes").replace("port: https", "port: health");
        format!("{text}---\n{pods}---\n{other}")
    });
    support::done(&helm.dir, "generate chart");
    let missing = |switch: &str| -> Vec<String> {
        let after = by_name(&helm.objects(&format!("--set {switch}.enabled=false")));
        let before = by_name(&helm.objects(""));
        { before }.into_keys().filter(|it| !after.contains_key(it)).collect()
    };
    let metrics = missing("metrics");
    for it in ["Certificate metrics-certs", "PodMonitor controller-manager-metrics-monitor"] {
        assert!(metrics.iter().any(|name| name == it), "{it}: {metrics:?}");
    }
    let others = [
        "Certificate serving-cert",
        "Certificate webhook-ca",
        "Issuer",
        "PodMonitor controller-manager-probes",
    ];
    for it in others {
        assert!(!metrics.iter().any(|name| name.starts_with(it)), "{it}: {metrics:?}");
    }
    let webhook = missing("webhook");
    assert!(webhook.iter().any(|it| it == "Certificate serving-cert"), "{webhook:?}");
    for it in ["Certificate metrics-certs", "Certificate webhook-ca", "Issuer"] {
        assert!(!webhook.iter().any(|name| name.starts_with(it)), "{it}: {webhook:?}");
    }
}

#[test]
fn without_webhooks_the_operator_makes_no_certificate() {
    let Some(helm) = chart("no-webhook-self", "self") else { return };
    let gone = [
        "ClusterRole webhook-certificates-role",
        "ClusterRoleBinding webhook-certificates-rolebinding",
        "MutatingWebhookConfiguration mutating-webhook-configuration",
        "Role webhook-certificates-role",
        "RoleBinding webhook-certificates-rolebinding",
        "Secret webhook-server-cert",
        "Service webhook-service",
        "ValidatingWebhookConfiguration validating-webhook-configuration",
    ];
    let texts = ["9443", "WEBHOOK", "METRICS_SERVICE", "webhook-server-cert"];
    let (before, after) = off(&helm, "webhook.enabled", &gone, &texts);
    assert_eq!(argument(&after, "--enable-webhooks=false"), *before["args"].as_array().unwrap());
    let both = helm.objects("--set metrics.enabled=false --set webhook.enabled=false");
    let container = only(&both, "Deployment").pointer(CONTAINER).unwrap();
    let ports = container["ports"].as_array().unwrap();
    assert_eq!(ports.iter().map(|it| &it["containerPort"]).collect::<Vec<_>>(), [8081]);
    assert!(both.iter().all(|it| it["kind"] != "Service"));
}

/// Objects of a CRD whose conversion nobody serves are lost to API servers.
#[test]
fn webhooks_that_convert_stay() {
    for certificates in ["cert-manager", "self"] {
        let webhook = format!(
            "create webhook --group g --kind Memcached --defaulting --certificates {certificates}"
        );
        let version = "create api --group g --kind Memcached --version v1 --from v1alpha1";
        let name = format!("converts-{certificates}");
        let Some(helm) = Helm::new(&name, &[INIT, API, &webhook, version]) else { return };
        support::done(&helm.dir, "generate chart");
        let said = helm.refused("--set webhook.enabled=false");
        let reason = "`webhook.enabled` cannot be false: API servers call the operator to convert `memcacheds.g.example.com`";
        assert!(said.contains(reason), "{said}");
        let values = fs::read_to_string(helm.dir.join("chart/values.yaml")).unwrap();
        assert!(values.contains("  # Cannot be false: API servers call the operator"), "{values}");
    }
}

/// What is kept would refer to what is gone.
#[test]
fn what_others_need_stays() {
    let Some(helm) = chart("needed", "self") else { return };
    let refused = |switch: &str, reason: &str| {
        support::done(&helm.dir, "generate chart");
        let said = helm.refused(&format!("--set {switch}.enabled=false"));
        assert!(said.contains(&format!("`{switch}.enabled` cannot be false: {reason}")), "{said}");
    };
    // The metrics have the certificate of the webhooks, and Prometheus verifies it.
    let monitor = fs::read_to_string(helm.dir.join("config/prometheus/monitor.yaml")).unwrap();
    helm.edit("config/prometheus/monitor.yaml", |text| {
        let verified = "ca: {secret: {key: ca.crt, name: webhook-server-cert}}";
        text.replace("insecureSkipVerify: true", verified)
    });
    refused(
        "webhook",
        "ServiceMonitor `controller-manager-metrics-monitor` refers to `webhook-server-cert`",
    );
    helm.edit("config/prometheus/monitor.yaml", |_| monitor);

    helm.edit("config/manager/manager.yaml", |text| {
        text.replacen(
            "path: /readyz\n            port: health",
            "path: /readyz\n            port: 8443",
            1,
        )
    });
    refused("metrics", "a probe of the Deployment asks port 8443");
}

/// A configuration of theirs with a webhook of somebody else cannot be taken away, nor kept.
#[test]
fn a_configuration_that_calls_others_as_well_stays() {
    let Some(helm) = chart("others", "self") else { return };
    let other = "config/webhook/other.yaml";
    fs::write(
        helm.dir.join(other),
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: both
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: webhook-service, namespace: system, path: /a}}
- name: b.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: 'https://example.com'}
",
    )
    .unwrap();
    helm.edit("config/webhook/kustomization.yaml", |text| {
        text.replace("- service.yaml", "- service.yaml\n- other.yaml")
    });
    support::done(&helm.dir, "generate chart");
    let said = helm.refused("--set webhook.enabled=false");
    let reason = "`webhook.enabled` cannot be false: ValidatingWebhookConfiguration `both` calls other servers as well";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn a_service_with_other_ports_keeps_the_metrics() {
    let Some(helm) = Helm::new("other-ports", &[INIT, API]) else { return };
    helm.edit("config/default/metrics_service.yaml", |text| {
        text.replace(
            "  ports:\n",
            "  ports:\n  - name: health\n    port: 81\n    targetPort: health\n",
        )
    });
    support::done(&helm.dir, "generate chart");
    let said = helm.refused("--set metrics.enabled=false");
    let reason =
        "`metrics.enabled` cannot be false: Service `metrics-service` has other ports as well";
    assert!(said.contains(reason), "{said}");
}

/// Users of the chart read what is off.
#[test]
fn notes_say_what_is_off() {
    let Some(helm) = chart("notes", "self") else { return };
    let notes = |flags: &str| {
        let words = format!("install shop-operator chart --dry-run=client {flags}");
        let output = helm.run(&words);
        assert!(output.status.success(), "{}", support::said(&output));
        support::said(&output).split("NOTES:").nth(1).unwrap().to_owned()
    };
    let (metrics, webhooks) = ("It serves no metrics", "It serves no webhooks");
    let on = notes("");
    assert!(!on.contains(metrics) && !on.contains(webhooks), "{on}");
    let off = notes("--set metrics.enabled=false --set webhook.enabled=false");
    assert!(off.contains(metrics) && off.contains(webhooks), "{off}");
}
