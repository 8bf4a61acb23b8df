//! Checks the webhooks of a CSV. OLM v0 checks them while it installs, OLM v1 before.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{Manifest, load::Loaded, names},
    Faults, Rule, Target, located_deployments, of, supports_mode,
};
use crate::bundle::webhooks::{converting_deployment, service_of_olm};
use go_data::yaml::Value;

const AT: &str = "/spec/webhookdefinitions";
const CONVERSION: &str = "ConversionWebhook";

pub fn check(bundle: &Loaded, faults: &mut Faults) {
    let (path, csv) = (bundle.csv.path, &bundle.csv.object);
    let known: BTreeSet<&str> =
        located_deployments(csv).map(|entry| of::name_of(entry.1)).collect();
    let mut types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (at, webhook) in of::list(csv, AT).iter().enumerate() {
        let at = format!("{AT}/{at}");
        let [name, type_, deployment] =
            ["/generateName", "/type", "/deploymentName"].map(|pointer| of::text(webhook, pointer));
        let place = |field: &str| (path, format!("{at}/{field}"));
        let of_this_name = types.entry(name).or_default();
        if !of_this_name.insert(type_) {
            faults.push(
                Rule::WebhookTwice,
                place("generateName"),
                format!("duplicate webhook '{name}' of type '{type_}'"),
            );
        } else if of_this_name.len() > 1 {
            faults.push(
                Rule::WebhookTwiceV0,
                place("generateName"),
                format!("CSV contains repeated WebhookDescription name {name:?}"),
            );
        }
        for fault in names::validate_label_value(name) {
            faults.push(
                Rule::WebhookLabel,
                place("generateName"),
                format!("the name {name:?} of a webhook becomes a label: {fault}"),
            );
        }
        let wrong = names::validate_subdomain(name);
        if !wrong.is_empty() {
            let message =
                format!("webhook of type '{type_}' has invalid name '{name}': {}", wrong.join(","));
            faults.push(Rule::WebhookName, place("generateName"), message);
        }
        if !known.contains(deployment) {
            let message = format!(
                "webhook of type '{type_}' with name '{name}' references non-existent deployment '{deployment}'"
            );
            faults.push(Rule::WebhookDeployment, place("deploymentName"), message);
        }
        check_service_name(place("deploymentName"), deployment, faults);
        if type_ != CONVERSION {
            check_rules(path, &at, webhook, faults);
        }
    }
    check_conversions(bundle, faults);
    bundle.crds.iter().for_each(|crd| check_crd_conversion(crd, csv, faults));
}

/// Checks the conversion of a CRD. OLM v0 applies the CRDs of an upgrade as they are in the bundle, with the old CSV
/// still installed, and sets their conversion some seconds later, with the new one. OLM v1 sets it before it applies
/// them.
fn check_crd_conversion(crd: &Manifest<'_>, csv: &Value, faults: &mut Faults) {
    let Manifest { path, object: crd } = crd;
    let conversion = "/spec/conversion/webhook/clientConfig/service";
    let converts = of::text(crd, "/spec/conversion/strategy") == "Webhook";
    let [service, namespace] =
        ["name", "namespace"].map(|field| of::text(crd, &format!("{conversion}/{field}")));
    let is_for_v0 = faults.target != Some(Target::Olmv1);
    let Some(deployment) = converting_deployment(csv, of::name(crd)) else {
        if converts && !service.is_empty() {
            let message = format!(
                "the Service `{service}` in the namespace `{namespace}` converts the CRD, and no ConversionWebhook of the CSV does: OLM neither writes its certificate into the CRD nor the namespace in which it installs the operator"
            );
            faults.push(Rule::ConversionUndeclared, (*path, format!("{conversion}/name")), message);
        }
        return;
    };
    let made = service_of_olm(deployment);
    if !converts && is_for_v0 && of::list(crd, "/spec/versions").len() > 1 {
        let message = "OLM v0 replaces the CRD some seconds before it sets the conversion: in that time, objects are not converted, and each that is written in another version than the stored one loses fields";
        faults.push(Rule::ConversionUnset, (*path, "/spec/versions"), message);
    }
    if converts && is_for_v0 && !service.is_empty() && service != made {
        let message = format!(
            "OLM makes the Service `{made}`, and the conversion names `{service}`: OLM v0 sets its own some seconds after it has replaced the CRD, and until then, requests in another version than the stored one go to a Service that may not exist"
        );
        faults.push(Rule::ConversionService, (*path, format!("{conversion}/name")), message);
    }
}

/// Checks the name of the Service that OLM v0 creates: `<deployment>-service`.
fn check_service_name(place: (&str, String), deployment: &str, faults: &mut Faults) {
    const LONGEST: usize = 63 - "-service".len();
    if deployment.contains('.') {
        let message = format!(
            "the webhook's Service would be `{deployment}-service`, and a Service has no dots in its name"
        );
        faults.push(Rule::WebhookDots, place, message);
    } else if LONGEST < deployment.len() {
        let message = format!(
            "the webhook's Service would be `{deployment}-service`, which is longer than 63 characters"
        );
        faults.push(Rule::WebhookService, place, message);
    }
}

fn check_rules(path: &str, at: &str, webhook: &Value, faults: &mut Faults) {
    let name = of::text(webhook, "/generateName");
    let begin = format!(
        "webhook {name:?} contains forbidden rule: admission webhook rules cannot reference"
    );
    for (number, rule) in of::list(webhook, "/rules").iter().enumerate() {
        let place = |field: &str| (path, format!("{at}/rules/{number}/{field}"));
        for group in of::texts(rule, "/apiGroups") {
            let message = format!("{begin} API group {group:?}");
            match group {
                "*" => faults.push(Rule::WebhookAllGroups, place("apiGroups"), message),
                "operators.coreos.com" => {
                    faults.push(Rule::WebhookOlmGroup, place("apiGroups"), message)
                }
                "olm.operatorframework.io" => {
                    faults.push(Rule::WebhookV1Group, place("apiGroups"), message)
                }
                "admissionregistration.k8s.io" => {
                    for resource in of::texts(rule, "/resources") {
                        let message =
                            format!("{begin} resource {resource:?} for API group {group:?}");
                        if let Some(rule) = admission_rule(resource) {
                            faults.push(rule, place("resources"), message);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the rule that forbids webhooks for this resource. OLM v0 compares it with the names of the kinds.
fn admission_rule(resource: &str) -> Option<Rule> {
    const KINDS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    let lower = resource.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    match resource {
        "*" => Some(Rule::WebhookWebhooks),
        it if KINDS.contains(&it) => Some(Rule::WebhookWebhooks),
        _ if KINDS.iter().any(|kind| kind.to_lowercase() == singular) => {
            Some(Rule::WebhookV1Webhooks)
        }
        _ => None,
    }
}

fn check_conversions(bundle: &Loaded, faults: &mut Faults) {
    let (path, csv) = (bundle.csv.path, &bundle.csv.object);
    let owned: BTreeSet<&str> =
        of::list(csv, "/spec/customresourcedefinitions/owned").iter().map(of::name_of).collect();
    let only_all = supports_mode(csv, "AllNamespaces")
        && !["OwnNamespace", "SingleNamespace", "MultiNamespace"]
            .iter()
            .any(|mode| supports_mode(csv, mode));
    let mut webhooks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (at, webhook) in of::list(csv, AT).iter().enumerate() {
        if of::text(webhook, "/type") != CONVERSION {
            continue;
        }
        let name = of::text(webhook, "/generateName");
        let place = |field: &str| (path, format!("{AT}/{at}/{field}"));
        let crds: Vec<&str> = of::texts(webhook, "/conversionCRDs").collect();
        // With conversionCRDs, it is a rule of operator-sdk too.
        if !only_all && crds.is_empty() {
            let message = format!(
                "bundle contains conversion webhook {name:?}, and conversion webhooks are only supported for bundles that only support AllNamespaces install mode"
            );
            faults.push(Rule::ConversionModes, place("type"), message);
        }
        if crds.is_empty() {
            faults.push(
                Rule::ConversionNone,
                place("type"),
                "conversion webhook must have at least one CRD specified",
            );
        }
        for crd in crds {
            webhooks.entry(crd).or_default().push(name);
            if !owned.contains(crd) {
                let message = format!(
                    "conversion webhook '{name}' references custom resource definition '{crd}' not owned bundle"
                );
                faults.push(Rule::ConversionOwned, place("conversionCRDs"), message);
            }
        }
    }
    for (crd, mut names) in webhooks.into_iter().filter(|entry| entry.1.len() > 1) {
        names.sort_unstable();
        let message = format!(
            "conversion webhooks [{}] reference same custom resource definition '{crd}'",
            names.join(",")
        );
        faults.push(Rule::ConversionTwice, (path, AT), message);
    }
}
