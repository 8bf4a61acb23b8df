//! Of a CRD: its conversion, names, versions and schemas.

use serde_json::{Value, json};

use super::super::breaks::CRD;
use super::{Fact, texts};

pub fn crd() -> Vec<Fact> {
    let hook = |client: Value| json!({ "strategy": "Webhook", "webhook": { "conversionReviewVersions": ["v1"], "clientConfig": client } });
    let service = |extra: Value| {
        let mut service = json!({ "name": "a", "namespace": "b" });
        service.as_object_mut().expect("a map").extend(extra.as_object().expect("a map").clone());
        hook(json!({ "service": service }))
    };
    let reviews = |list: Value| json!({ "strategy": "Webhook", "webhook": { "conversionReviewVersions": list, "clientConfig": { "url": "https://a" } } });
    let mut conversions = vec![
        json!({}),
        json!({ "strategy": "None" }),
        json!({ "strategy": "None", "webhook": {} }),
        json!({ "strategy": "None", "webhook": { "clientConfig": {} } }),
        json!({ "strategy": "Other" }),
    ];
    for url in [
        "https://a",
        "http://a",
        "https://a/b?c",
        "https://a#b",
        "https://a@b",
        "https://",
        "a",
        "https://a:b",
        "https://a/%zz",
    ] {
        conversions.push(hook(json!({ "url": url })));
    }
    for extra in [
        json!({}),
        json!({ "path": "/" }),
        json!({ "path": "//" }),
        json!({ "path": "a" }),
        json!({ "path": "/a/b/" }),
        json!({ "path": "/A" }),
        json!({ "path": "" }),
        json!({ "port": 0 }),
        json!({ "port": 65536 }),
        json!({ "name": "" }),
        json!({ "port": "1" }),
    ] {
        conversions.push(service(extra));
    }
    for list in [
        json!([]),
        json!(["v1", "v1"]),
        json!(["v2"]),
        json!(["V1", "v1"]),
        json!("v1"),
        json!(["v1beta1", "x"]),
    ] {
        conversions.push(reviews(list));
    }
    conversions.push(hook(json!({ "url": "https://a", "caBundle": "a" })));
    conversions.push(hook(json!({ "url": "https://a", "caBundle": "!" })));
    let schema = "/spec/versions/0/schema/openAPIV3Schema";
    let version = json!({ "name": "v1", "served": true, "storage": false, "schema": { "openAPIV3Schema": { "type": "object" } } });
    vec![
        (CRD, "/spec/conversion", conversions),
        (CRD, "/spec/group", texts(&["", "a", "A.b", "a.k8s.io", "k8s.io", "cache.example.com"])),
        (
            CRD,
            "/metadata/annotations/api-approved.kubernetes.io",
            texts(&["", "unapproved", "https://a/b", "a"]),
        ),
        (CRD, "/spec/names/plural", texts(&["", "A", "memcached"])),
        (
            CRD,
            "/spec/names/shortNames",
            vec![json!(["a", "a"]), json!(["A"]), json!("a"), json!([1])],
        ),
        (CRD, "/spec/scope", texts(&["", "Cluster", "namespaced"])),
        (CRD, "/spec/preserveUnknownFields", vec![json!(true), json!(false), json!("true")]),
        (CRD, "/spec/versions", vec![json!([]), json!([version]), json!([{}])]),
        (
            CRD,
            "/spec/versions/0/deprecationWarning",
            vec![json!("a"), json!(""), json!("a\u{200b}b"), json!(1)],
        ),
        (CRD, "/spec/versions/0/deprecated", vec![json!(true)]),
        (
            CRD,
            "/spec/versions/0/selectableFields",
            vec![
                json!([{ "jsonPath": ".spec.size" }]),
                json!([{ "jsonPath": ".spec" }]),
                json!([{ "jsonPath": "spec" }]),
                json!([{ "jsonPath": ".spec." }]),
                json!([{ "jsonPath": ".metadata.name" }]),
                json!([{}]),
            ],
        ),
        (
            CRD,
            schema,
            vec![
                json!({}),
                Value::Null,
                json!({ "type": "string" }),
                json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
                json!([]),
            ],
        ),
        (
            CRD,
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec",
            vec![
                json!({ "maximum": "5" }),
                json!({ "required": "spec" }),
                json!({ "enum": "a" }),
                json!({ "type": ["a"] }),
                json!({ "maxLength": 1.5 }),
                json!({ "maxLength": -1 }),
                json!({ "minimum": 1e300 }),
                json!({ "type": "object", "properties": [] }),
                json!({ "items": [] }),
                json!({ "items": [{ "type": "a" }] }),
                json!({ "items": 1 }),
                json!({ "additionalProperties": true }),
                json!({ "additionalProperties": 1 }),
                json!({ "default": { "a": 1 } }),
                json!({ "nullable": "true" }),
                json!({ "x-kubernetes-validations": [{ "rule": 1 }] }),
                json!({ "x-kubernetes-validations": [{ "rule": "self.a" }] }),
                json!({ "pattern": "(" }),
                json!({ "x-other": 1 }),
                json!({ "dependencies": { "a": ["b"] } }),
                json!({ "dependencies": { "a": 1 } }),
                json!({ "allOf": {} }),
                json!({ "format": 1 }),
                json!({ "description": 1 }),
                json!({ "uniqueItems": 1 }),
                json!({ "x-kubernetes-int-or-string": "a" }),
            ],
        ),
        (
            CRD,
            "/apiVersion",
            texts(&["apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v2", "v1", ""]),
        ),
        (
            CRD,
            "/metadata/generateName",
            texts(&["a", "memcacheds.cache.example.com", "memcacheds.cache.example.com-", "-", ""]),
        ),
        (CRD, "/metadata/name", texts(&["a", "memcacheds.cache.example.com", "A.b"])),
        (
            CRD,
            "/spec/versions/0/additionalPrinterColumns/0/priority",
            vec![json!("1"), json!(1.0), json!(5_000_000_000_u64)],
        ),
        (
            CRD,
            "/status",
            vec![
                json!({ "storedVersions": [] }),
                json!({ "acceptedNames": { "kind": "_" } }),
                json!("a"),
            ],
        ),
    ]
}
