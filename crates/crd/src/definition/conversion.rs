//! How a CRD's versions are converted into each other.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{names, of, spec::Faults};
use go_data::{kubernetes::url::Url, yaml::Value};

const FIELD: &str = "spec.conversion";
const CLIENT: &str = "spec.conversion.webhookClientConfig";

pub fn check(crd: &Value, faults: &mut Faults) {
    let Some(conversion) = crd.pointer("/spec/conversion").filter(|it| !it.is_null()) else {
        return;
    };
    let client = conversion.pointer("/webhook/clientConfig").filter(|it| !it.is_null());
    let versions: Vec<&str> = of::texts(conversion, "/webhook/conversionReviewVersions").collect();
    let strategy = of::text(conversion, "/strategy");
    match strategy {
        "None" | "Webhook" => {}
        "" => faults.required(&format!("{FIELD}.strategy"), ""),
        other => faults.list(
            &format!("{FIELD}.strategy"),
            &format!("Unsupported value: {other:?}: supported values: \"None\", \"Webhook\""),
        ),
    }
    if strategy == "Webhook" {
        match client {
            None => faults.required(CLIENT, "required when strategy is set to Webhook"),
            Some(client) => self::client(client, CLIENT, faults),
        }
        return review_versions(&versions, &format!("{FIELD}.conversionReviewVersions"), faults);
    }
    for (field, is_there) in [
        (CLIENT, client.is_some()),
        ("spec.conversion.conversionReviewVersions", !versions.is_empty()),
    ] {
        if is_there {
            faults.list(field, "Forbidden: should not be set when strategy is not set to Webhook");
        }
    }
}

/// How a webhook is called: `field` is the name of this in messages.
pub fn client(client: &Value, field: &str, faults: &mut Faults) {
    let bundle = of::text(client, "/caBundle");
    if !bundle.is_empty() && !has_certificate(bundle) {
        let detail = "unable to load root certificates: it has no certificate in PEM format, encoded as base64";
        faults.invalid(&format!("{field}.caBundle"), shortened(bundle), detail);
    }
    let service = client.get("service").filter(|it| !it.is_null());
    match (client.get("url").and_then(Value::as_str), service) {
        (Some(url), None) => self::url(url, &format!("{field}.url"), faults),
        (None, Some(service)) => self::service(service, &format!("{field}.service"), faults),
        _ => faults.required(field, "exactly one of url or service is required"),
    }
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |it| &text[..it.0])
}

/// Whether a part of a text looks like a certificate. What is in the certificate is not read.
fn has_certificate(bundle: &str) -> bool {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let decode = |it: &[u8]| {
        let text: Vec<u8> = it.iter().copied().filter(|it| !it.is_ascii_whitespace()).collect();
        BASE64_STANDARD.decode(text).ok()
    };
    let Some(bytes) = decode(bundle.as_bytes()) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    // A sequence of ASN.1.
    let is_sequence = |it: &str| decode(it.as_bytes()).is_some_and(|it| it.first() == Some(&0x30));
    text.split(BEGIN).skip(1).any(|it| it.split_once(END).is_some_and(|it| is_sequence(it.0)))
}

fn url(text: &str, field: &str, faults: &mut Faults) {
    let form = "; desired format: https://host[/path]";
    let Some(url) = Url::parse(text) else {
        return faults.required(field, &format!("url must be a valid URL{form}"));
    };
    for (is_wrong, detail) in [
        (url.scheme != "https", format!("'https' is the only allowed URL scheme{form}")),
        (url.host.is_empty(), format!("host must be specified{form}")),
        (url.user, "user information is not permitted in the URL".to_owned()),
        (url.fragment, "fragments are not permitted in the URL".to_owned()),
        (url.query, "query parameters are not permitted in the URL".to_owned()),
    ] {
        if is_wrong {
            faults.invalid(field, text, &detail);
        }
    }
}

fn service(service: &Value, field: &str, faults: &mut Faults) {
    for part in ["name", "namespace"] {
        if of::text(service, &format!("/{part}")).is_empty() {
            faults.required(&format!("{field}.{part}"), &format!("service {part} is required"));
        }
    }
    let port = service.get("port").and_then(Value::as_i64).unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        faults.invalid(&format!("{field}.port"), &port.to_string(), detail);
    }
    let path = of::text(service, "/path");
    let field = format!("{field}.path");
    let Some(steps) = path.strip_prefix('/') else {
        if !path.is_empty() {
            faults.invalid(&field, path, "must start with a '/'");
        }
        return;
    };
    if steps.is_empty() {
        return;
    }
    for (at, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            faults.invalid(&field, path, &format!("segment[{at}] may not be empty"));
            continue;
        }
        for fault in names::subdomain(step) {
            faults.invalid(&field, path, &format!("segment[{at}]: {fault}"));
        }
    }
}

/// The versions of reviews that a webhook takes.
pub fn review_versions(versions: &[&str], field: &str, faults: &mut Faults) {
    if versions.is_empty() {
        return faults.required(field, "");
    }
    for (at, version) in versions.iter().enumerate() {
        let field = format!("{field}[{at}]");
        if versions[..at].contains(version) {
            faults.invalid(&field, version, "duplicate version");
            continue;
        }
        faults.label(&field, version, "");
    }
    if !versions.iter().any(|it| matches!(*it, "v1" | "v1beta1")) {
        faults.list(field, "must include at least one of v1, v1beta1");
    }
}
