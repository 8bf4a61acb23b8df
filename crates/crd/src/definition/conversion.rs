//! Checks how a CRD's versions are converted into each other.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{names, pointer, spec::Faults};
use go_data::{kubernetes::url::Url, yaml::Value};

const FIELD: &str = "spec.conversion";
const CLIENT: &str = "spec.conversion.webhookClientConfig";

pub fn check_conversion(crd: &Value, faults: &mut Faults) {
    let Some(conversion) = crd.pointer("/spec/conversion").filter(|value| !value.is_null()) else {
        return;
    };
    let client = conversion.pointer("/webhook/clientConfig").filter(|value| !value.is_null());
    let versions: Vec<&str> =
        pointer::texts(conversion, "/webhook/conversionReviewVersions").collect();
    let strategy = pointer::text(conversion, "/strategy");
    match strategy {
        "None" | "Webhook" => {}
        "" => faults.add_required(&format!("{FIELD}.strategy"), ""),
        other => faults.add_detail(
            &format!("{FIELD}.strategy"),
            &format!("Unsupported value: {other:?}: supported values: \"None\", \"Webhook\""),
        ),
    }
    if strategy == "Webhook" {
        match client {
            None => faults.add_required(CLIENT, "required when strategy is set to Webhook"),
            Some(client) => self::check_client_config(client, CLIENT, faults),
        }
        return check_review_versions(
            &versions,
            &format!("{FIELD}.conversionReviewVersions"),
            faults,
        );
    }
    for (field, is_there) in [
        (CLIENT, client.is_some()),
        ("spec.conversion.conversionReviewVersions", !versions.is_empty()),
    ] {
        if is_there {
            faults.add_detail(
                field,
                "Forbidden: should not be set when strategy is not set to Webhook",
            );
        }
    }
}

/// Checks how a webhook is called. Messages name the value `field`.
pub fn check_client_config(client: &Value, field: &str, faults: &mut Faults) {
    let bundle = pointer::text(client, "/caBundle");
    if !bundle.is_empty() && !has_certificate(bundle) {
        let detail = "unable to load root certificates: it has no certificate in PEM format, encoded as base64";
        faults.add_invalid(&format!("{field}.caBundle"), first_characters(bundle), detail);
    }
    let service = client.get("service").filter(|service| !service.is_null());
    match (client.get("url").and_then(Value::as_str), service) {
        (Some(url), None) => self::check_url(url, &format!("{field}.url"), faults),
        (None, Some(service)) => self::check_service(service, &format!("{field}.service"), faults),
        _ => faults.add_required(field, "exactly one of url or service is required"),
    }
}

fn first_characters(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |end| &text[..end.0])
}

/// Returns true if a part of the bundle looks like a certificate. The certificate's contents are not read.
fn has_certificate(bundle: &str) -> bool {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let decode = |base64: &[u8]| {
        let text: Vec<u8> =
            base64.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        BASE64_STANDARD.decode(text).ok()
    };
    let Some(bytes) = decode(bundle.as_bytes()) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    // A sequence of ASN.1.
    let is_sequence =
        |body: &str| decode(body.as_bytes()).is_some_and(|bytes| bytes.first() == Some(&0x30));
    text.split(BEGIN)
        .skip(1)
        .any(|block| block.split_once(END).is_some_and(|parts| is_sequence(parts.0)))
}

fn check_url(text: &str, field: &str, faults: &mut Faults) {
    let form = "; desired format: https://host[/path]";
    let Some(url) = Url::parse(text) else {
        return faults.add_required(field, &format!("url must be a valid URL{form}"));
    };
    for (is_wrong, detail) in [
        (url.scheme != "https", format!("'https' is the only allowed URL scheme{form}")),
        (url.host.is_empty(), format!("host must be specified{form}")),
        (url.user, "user information is not permitted in the URL".to_owned()),
        (url.fragment, "fragments are not permitted in the URL".to_owned()),
        (url.query, "query parameters are not permitted in the URL".to_owned()),
    ] {
        if is_wrong {
            faults.add_invalid(field, text, &detail);
        }
    }
}

fn check_service(service: &Value, field: &str, faults: &mut Faults) {
    for part in ["name", "namespace"] {
        if pointer::text(service, &format!("/{part}")).is_empty() {
            faults.add_required(&format!("{field}.{part}"), &format!("service {part} is required"));
        }
    }
    let port = service.get("port").and_then(Value::as_i64).unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        faults.add_invalid(&format!("{field}.port"), &port.to_string(), detail);
    }
    let path = pointer::text(service, "/path");
    let field = format!("{field}.path");
    let Some(steps) = path.strip_prefix('/') else {
        if !path.is_empty() {
            faults.add_invalid(&field, path, "must start with a '/'");
        }
        return;
    };
    if steps.is_empty() {
        return;
    }
    for (at, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            faults.add_invalid(&field, path, &format!("segment[{at}] may not be empty"));
            continue;
        }
        for fault in names::validate_subdomain(step) {
            faults.add_invalid(&field, path, &format!("segment[{at}]: {fault}"));
        }
    }
}

/// Checks the versions of reviews that a webhook takes.
pub fn check_review_versions(versions: &[&str], field: &str, faults: &mut Faults) {
    if versions.is_empty() {
        return faults.add_required(field, "");
    }
    for (at, version) in versions.iter().enumerate() {
        let field = format!("{field}[{at}]");
        if versions[..at].contains(version) {
            faults.add_invalid(&field, version, "duplicate version");
            continue;
        }
        faults.check_label(&field, version, "");
    }
    if !versions.iter().any(|version| matches!(*version, "v1" | "v1beta1")) {
        faults.add_detail(field, "must include at least one of v1, v1beta1");
    }
}
