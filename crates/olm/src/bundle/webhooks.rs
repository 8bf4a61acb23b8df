//! `webhookdefinitions`: OLM creates the webhook configurations, their Service and their certificates from them. A
//! warning names settings that they cannot express.

use super::{Refusals, Warnings, collected::SortedObjects, object};
use go_data::yaml::{Map, Value, json};

/// Builds the webhook definitions, sorted by `generateName`.
pub fn webhook_definitions(
    collected: &SortedObjects,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<Value> {
    let mut definitions = Vec::new();
    for (type_, webhooks) in [
        ("ValidatingAdmissionWebhook", &collected.validating),
        ("MutatingAdmissionWebhook", &collected.mutating),
    ] {
        definitions.extend(webhooks.iter().filter_map(|webhook| {
            admission_definition(type_, webhook, collected, refusals, warnings)
        }));
    }
    for service in &collected.services {
        definitions.extend(conversion_definitions(service, collected, refusals, warnings));
    }
    for crd in &collected.crds {
        let service = conversion_service(crd);
        let is_here = collected.services.iter().any(|other| object::name(other) == service);
        if !service.is_empty() && !is_here {
            warnings.push(format!(
                "{}: its conversion webhook is left out of the CSV, because its Service `{service}` is missing",
                object::title(crd)
            ));
        }
    }
    definitions
        .sort_by(|a, b| object::text(a, "/generateName").cmp(object::text(b, "/generateName")));
    definitions
}

/// Builds the definition of one webhook of a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration.
fn admission_definition(
    type_: &str,
    webhook: &Value,
    collected: &SortedObjects,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Option<Value> {
    let name = object::text(webhook, "/name");
    for field in ["namespaceSelector", "matchConditions"] {
        let value =
            webhook.get(field).is_some_and(|value| *value != json!({}) && *value != json!([]));
        if value {
            let when = match field {
                "namespaceSelector" => "in every namespace of the OperatorGroup",
                _ => "for every request that its rules match",
            };
            warnings.push(format!(
                "the webhook `{name}`: its `{field}` is left out of the bundle, because a CSV has no such field: OLM calls the webhook {when}, \
                 and the webhook itself must decide"
            ));
        }
    }
    let Some(reference) = webhook.pointer("/clientConfig/service") else {
        refusals.push(
            format!("the webhook `{name}` has a URL, but OLM calls webhooks through a Service"),
            "set `clientConfig.service`",
        );
        return None;
    };
    let mut definition = Map::new();
    for field in [
        "rules",
        "failurePolicy",
        "matchPolicy",
        "objectSelector",
        "sideEffects",
        "timeoutSeconds",
        "admissionReviewVersions",
        "reinvocationPolicy",
    ] {
        if let Some(value) = webhook.get(field).filter(|value| !value.is_null()) {
            definition.insert(field.into(), value.clone());
        }
    }
    definition.entry("sideEffects").or_insert(json!("None"));
    if object::list(webhook, "/admissionReviewVersions").is_empty() {
        definition.insert("admissionReviewVersions".into(), json!(["v1beta1"]));
    }
    definition.insert("type".into(), json!(type_));
    definition.insert("generateName".into(), json!(name));
    add_service_fields(&mut definition, reference, collected, refusals, warnings);
    Some(definition.into())
}

/// Builds the definitions of the conversion webhooks of a Service. Those with the same path are merged, unless they
/// set a port.
fn conversion_definitions(
    service: &Value,
    collected: &SortedObjects,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<Value> {
    let mut groups: Vec<(&Value, Vec<&Value>)> = Vec::new();
    let mut crds = collected.crds.clone();
    crds.retain(|crd| conversion_service(crd) == object::name(service));
    crds.sort_by_key(|crd| object::name(crd));
    for crd in crds {
        let Some(reference) = crd.pointer("/spec/conversion/webhook/clientConfig/service") else {
            continue;
        };
        if reference.get("path").is_none() {
            refusals.push(
                format!("{}: its conversion webhook has no path", object::title(crd)),
                "set one, e.g. `/convert`",
            );
        }
        let same = |(other, _): &&mut (&Value, Vec<&Value>)| {
            reference.get("port").is_none()
                && other.get("port").is_none()
                && other.get("path") == reference.get("path")
        };
        match groups.iter_mut().find(same) {
            Some((_, group)) => group.push(crd),
            None => groups.push((reference, vec![crd])),
        }
    }
    let mut definitions = Vec::new();
    for (reference, group) in groups {
        let names: Vec<&str> = group.iter().map(|crd| object::name(crd)).collect();
        let plurals: String = names.iter().filter_map(|name| name.split('.').next()).collect();
        let versions = object::list(group[0], "/spec/conversion/webhook/conversionReviewVersions");
        let mut definition = Map::new();
        definition.insert("type".into(), json!("ConversionWebhook"));
        definition.insert("generateName".into(), json!(format!("c{plurals}.kb.io")));
        definition.insert("conversionCRDs".into(), json!(names));
        definition.insert("admissionReviewVersions".into(), versions.to_vec().into());
        definition.insert("sideEffects".into(), json!("None"));
        add_service_fields(&mut definition, reference, collected, refusals, warnings);
        definitions.push(definition.into());
    }
    definitions
}

fn conversion_service(crd: &Value) -> &str {
    object::text(crd, "/spec/conversion/webhook/clientConfig/service/name")
}

/// Returns the name of the Service that OLM creates for the webhooks of a Deployment.
pub fn service_of_olm(deployment: &str) -> String {
    format!("{}-service", deployment.replace('.', "-"))
}

/// Returns the Deployment of the ConversionWebhook in a CSV that converts a CRD.
pub fn converting_deployment<'a>(csv: &'a Value, crd: &str) -> Option<&'a str> {
    let webhooks = object::list(csv, "/spec/webhookdefinitions").iter();
    let mut webhooks =
        webhooks.filter(|webhook| object::text(webhook, "/type") == "ConversionWebhook");
    let webhook = webhooks
        .find(|webhook| object::texts(webhook, "/conversionCRDs").any(|name| name == crd))?;
    Some(object::text(webhook, "/deploymentName"))
}

/// A CRD whose conversion names the Service that OLM makes, not one of the operator's own: OLM v0 replaces the CRD some
/// seconds before it sets the conversion. Without one, objects would not be converted in that time, and each that is
/// written in another version than the stored one would lose fields; with one, such a request fails and is repeated.
pub fn with_service_of_olm(mut crd: Value, csv: &Value) -> Value {
    let name = object::name(&crd).to_owned();
    let service = crd.pointer_mut("/spec/conversion/webhook/clientConfig/service/name");
    if let (Some(service), Some(deployment)) = (service, converting_deployment(csv, &name)) {
        *service = service_of_olm(deployment).into();
    }
    crd
}

/// Adds the path, the Deployment and the ports of the Service.
fn add_service_fields(
    definition: &mut Map<String, Value>,
    reference: &Value,
    collected: &SortedObjects,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) {
    if let Some(path) = reference.get("path") {
        definition.insert("webhookPath".into(), path.clone());
    }
    let name = object::text(reference, "/name");
    let service = collected.services.iter().find(|service| object::name(service) == name);
    let number = reference.get("port").and_then(Value::as_i64).unwrap_or(443);
    let port = object::list(service.unwrap_or(&&Value::Null), "/spec/ports")
        .iter()
        .find(|port| port.get("port").and_then(Value::as_i64) == Some(number));
    match port {
        // OLM creates its Service from exactly these two.
        Some(port) => {
            definition.insert("containerPort".into(), json!(number));
            definition.insert("targetPort".into(), port["targetPort"].clone());
        }
        None => warnings.push(format!(
            "the Service `{name}` has no port {number}, which a webhook uses: OLM will use 443"
        )),
    }
    let deployment = service.and_then(|service| selected_deployment(service, collected));
    // Without a Service, operator-sdk guesses the Deployment by the Service's name.
    let deployment = deployment.unwrap_or(name.strip_suffix("-service").unwrap_or(name));
    if !collected.deployments.iter().any(|other| object::name(other) == deployment) {
        refusals.push(
            format!("the Service `{name}` serves a webhook, and selects the pods of no Deployment here"),
            "add the Service to config/manifests, with a `spec.selector` that matches the pods of a Deployment",
        );
    }
    definition.insert("deploymentName".into(), json!(deployment));
}

/// Returns the Deployment whose pods a Service selects.
fn selected_deployment<'a>(service: &Value, collected: &SortedObjects<'a>) -> Option<&'a str> {
    let selector = service.pointer("/spec/selector").and_then(Value::as_object)?;
    if selector.is_empty() || object::text(service, "/spec/type") == "ExternalName" {
        return None;
    }
    let selects = |deployment: &&Value| {
        let labels = deployment.pointer("/spec/template/metadata/labels");
        selector.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
    };
    collected.deployments.iter().copied().find(selects).map(object::name)
}
