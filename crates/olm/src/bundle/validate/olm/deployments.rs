//! The Deployments of a CSV.

use std::collections::BTreeSet;

use super::{
    super::{load::Loaded, names},
    Faults, Rule, located_deployments, of,
};
use go_data::yaml::{Map, Value};

pub fn check(bundle: &Loaded, faults: &mut Faults) {
    let (path, csv) = (bundle.csv.path, &bundle.csv.object);
    let mut seen = BTreeSet::new();
    for (at, deployment) in located_deployments(csv) {
        let name = of::name_of(deployment);
        if !seen.insert(name) {
            faults.push(
                Rule::DeploymentTwice,
                (path, format!("{at}/name")),
                format!(
                    "cluster service version contains duplicate strategy deployment spec '{name}'"
                ),
            );
        }
        let wrong = names::validate_subdomain(name);
        if !wrong.is_empty() {
            faults.push(
                Rule::DeploymentName,
                (path, format!("{at}/name")),
                format!(
                    "invalid cluster service version strategy deployment name '{name}': {}",
                    wrong.join(", ")
                ),
            );
        }
        check_selector(path, &at, deployment, faults);
        check_volumes(bundle, &at, deployment, faults);
        check_related_images(bundle, &at, deployment, faults);
    }
}

/// Reports a selector that does not match the pods of its Deployment: the API server refuses it.
fn check_selector(path: &str, at: &str, deployment: &Value, faults: &mut Faults) {
    let map = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_object);
    let name = of::name_of(deployment);
    let place = |field: &str| (path, format!("{at}/spec/selector{field}"));
    let labels = map("/spec/selector/matchLabels");
    let expressions = of::list(deployment, "/spec/selector/matchExpressions");
    if labels.is_none_or(Map::is_empty) && expressions.is_empty() {
        let message =
            format!("the Deployment `{name}` has no selector, and the API server requires one");
        return faults.push(Rule::Selector, place(""), message);
    }
    let pods = map("/spec/template/metadata/labels");
    for (key, value) in labels.into_iter().flatten() {
        if pods.and_then(|labels| labels.get(key)) != Some(value) {
            let value = value.as_str().unwrap_or_default();
            faults.push(
                Rule::Selector,
                place("/matchLabels"),
                format!("the selector of the Deployment `{name}` has the label `{key}: {value}`, and its pods do not: the API server refuses it"),
            );
        }
    }
}

/// The paths at which OLM mounts its certificates into the containers of Deployments with webhooks or API services.
/// OLM replaces other mounts at these paths, and pods do not wait for a volume that no container mounts.
const MOUNTS: [&str; 2] =
    ["/tmp/k8s-webhook-server/serving-certs", "/apiserver.local.config/certificates"];
/// The Secrets that cert-manager makes for projects of kubebuilder.
const SECRETS: [&str; 2] = ["webhook-server-cert", "metrics-server-cert"];

/// Reports Secrets that cert-manager creates in a deployment without OLM: pods wait for them.
fn check_volumes(bundle: &Loaded, at: &str, deployment: &Value, faults: &mut Faults) {
    let name = of::name_of(deployment);
    for (place, volume) in of::list(deployment, "/spec/template/spec/volumes").iter().enumerate() {
        let secret = of::text(volume, "/secret/secretName");
        let is_optional = volume.pointer("/secret/optional") == Some(&Value::Bool(true));
        let is_left = SECRETS.contains(&secret) && !is_optional && !has_secret(bundle, secret);
        if is_left && is_mounted(bundle, deployment, of::name_of(volume)) {
            faults.push(
                Rule::CertManagerVolume,
                (bundle.csv.path, format!("{at}/spec/template/spec/volumes/{place}")),
                format!("the Deployment `{name}` mounts the Secret `{secret}`, which cert-manager makes elsewhere: with OLM its pods wait for it"),
            );
        }
    }
}

/// Returns whether the bundle has the Secret, or requests it from OpenShift.
fn has_secret(bundle: &Loaded, name: &str) -> bool {
    const ASKS: &str = "service.beta.openshift.io/serving-cert-secret-name";
    bundle.objects.iter().map(|manifest| &manifest.object).any(|object| {
        let asks =
            object.pointer("/metadata/annotations").and_then(|annotations| annotations.get(ASKS));
        of::kind(object) == "Secret" && of::name(object) == name
            || asks.is_some_and(|secret| secret == name)
    })
}

/// Returns whether a container still mounts the volume after OLM has mounted its certificates.
fn is_mounted(bundle: &Loaded, deployment: &Value, volume: &str) -> bool {
    let csv = &bundle.csv.object;
    let names = ["/spec/webhookdefinitions", "/spec/apiservicedefinitions/owned"];
    let is_for = |webhook: &Value| of::text(webhook, "/deploymentName") == of::name_of(deployment);
    let has_own = names.iter().any(|list| of::list(csv, list).iter().any(is_for));
    if has_own && matches!(volume, "webhook-cert" | "apiservice-cert") {
        return false;
    }
    of::list(deployment, "/spec/template/spec/containers")
        .iter()
        .flat_map(|container| of::list(container, "/volumeMounts"))
        .filter(|mount| of::name_of(mount) == volume)
        .any(|mount| {
            !has_own || !MOUNTS.contains(&of::text(mount, "/mountPath").trim_end_matches('/'))
        })
}

/// Reports images that the operator starts and that `relatedImages` does not list.
fn check_related_images(bundle: &Loaded, at: &str, deployment: &Value, faults: &mut Faults) {
    let related: BTreeSet<&str> = of::list(&bundle.csv.object, "/spec/relatedImages")
        .iter()
        .map(|image| of::text(image, "/image"))
        .collect();
    for list in ["containers", "initContainers"] {
        let list = format!("/spec/template/spec/{list}");
        for (place, container) in of::list(deployment, &list).iter().enumerate() {
            for (number, variable) in of::list(container, "/env").iter().enumerate() {
                let (name, image) = (of::name_of(variable), of::text(variable, "/value"));
                if name.starts_with("RELATED_IMAGE_")
                    && !image.is_empty()
                    && !related.contains(image)
                {
                    faults.push(
                        Rule::RelatedImageMissing,
                        (bundle.csv.path, format!("{at}{list}/{place}/env/{number}")),
                        format!("`{name}` has the image `{image}`, which `spec.relatedImages` does not list"),
                    );
                }
            }
        }
    }
}
