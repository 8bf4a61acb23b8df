//! Webhooks that run on this machine instead of behind a Service.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use go_data::yaml::{Value, json};

/// Has an API server on this machine call the webhooks of these objects (webhook configurations, and CRDs with a
/// conversion) on a port of 127.0.0.1, with a certificate that `authority`, as PEM, vouches for. Returns whether there are
/// any. Those with a URL stay as they are.
pub fn call_locally(objects: &mut [Value], port: u16, authority: &str) -> bool {
    let mut any = false;
    for object in objects {
        let mut clients: Vec<&mut Value> = Vec::new();
        if object["kind"] == "CustomResourceDefinition" {
            clients.extend(object.pointer_mut("/spec/conversion/webhook/clientConfig"));
        } else if object["kind"].as_str().is_some_and(|kind| kind.ends_with("WebhookConfiguration"))
        {
            let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
            let webhooks = webhooks.into_iter().flatten();
            clients.extend(webhooks.filter_map(|webhook| webhook.get_mut("clientConfig")));
        }
        for client in clients {
            let Some(service) = client.get("service") else { continue };
            let path = service["path"].as_str().unwrap_or("/").to_owned();
            *client = json!({
                "url": format!("https://127.0.0.1:{port}{path}"),
                "caBundle": STANDARD.encode(authority),
            });
            any = true;
        }
    }
    any
}

#[test]
fn services_become_urls() {
    let mut objects = [
        json!({ "kind": "ValidatingWebhookConfiguration", "webhooks": [
            { "clientConfig": { "service": { "path": "/a" }, "caBundle": "x" } },
            { "clientConfig": { "url": "https://b" } },
        ] }),
        json!({ "kind": "CustomResourceDefinition", "spec": { "conversion": { "strategy": "Webhook", "webhook": {
            "clientConfig": { "service": { "path": "/convert" } } } } } }),
        json!({ "kind": "CustomResourceDefinition", "spec": { "conversion": { "strategy": "None" } } }),
        json!({ "kind": "Service", "spec": {} }),
    ];
    assert!(!call_locally(&mut objects[2..], 1, "a"));
    assert!(call_locally(&mut objects, 9, "a"));
    let client =
        |path: &str| json!({ "url": format!("https://127.0.0.1:9{path}"), "caBundle": "YQ==" });
    assert_eq!(objects[0]["webhooks"][0]["clientConfig"], client("/a"));
    assert_eq!(objects[0]["webhooks"][1]["clientConfig"], json!({ "url": "https://b" }));
    assert_eq!(
        objects[1].pointer("/spec/conversion/webhook/clientConfig"),
        Some(&client("/convert"))
    );
}
