//! Of the CSV: names, versions, annotations, install modes, APIs.

use serde_json::{Value, json};

use super::super::breaks::CSV;
use super::{Fact, texts};

const VERSIONS: &[&str] = &[
    "",
    " ",
    "1.16",
    "1.16.0",
    "v1.20.0",
    "1.22.0",
    "1.25.0",
    "1.26.1",
    "01.2.3",
    "1.2.3-rc.1",
    "1.2.3+b",
    "1.0-rc1",
    "a",
    "1.2.3.4",
    "0.0.0",
    "v1",
    "1.-1.0",
    "1.02.3",
];

pub fn csv() -> Vec<Fact> {
    let examples = r#"[{"apiVersion":"cache.example.com/v1alpha1","kind":"Memcached"}]"#;
    vec![
        (CSV, "/spec/minKubeVersion", texts(VERSIONS)),
        (CSV, "/spec/version", texts(VERSIONS)),
        (CSV, "/spec/version", vec![json!(1), json!(1.5), json!({}), json!("RAW:1.0")]),
        (CSV, "/spec/replaces", texts(&["", "a.v1.0.0", "A", "a_b", "a.v1.0.0+1"])),
        (CSV, "/spec/skips", vec![json!("a"), json!(["a", "B_"]), json!([1])]),
        (
            CSV,
            "/metadata/name",
            texts(&[
                "a",
                "a.v1.0.0",
                "a.v1",
                "a.vb.v1.0.0",
                "a.1.0.0",
                "A.v1.0.0",
                "a.v01.0.0",
                "a.v1.0.0-x",
                "a..b",
                "",
            ]),
        ),
        (
            CSV,
            "/metadata/annotations/createdAt",
            vec![json!("RAW:2023-11-14T22:13:20Z"), json!("2023-11-14"), json!("RAW:2023-11-14")],
        ),
        (
            CSV,
            "/metadata/annotations/certified",
            vec![json!("RAW:no"), json!(false), json!("false")],
        ),
        (
            CSV,
            "/metadata/annotations/alm-examples",
            texts(&[
                "",
                "[]",
                "null",
                "{}",
                "[{}]",
                "[{\"kind\":\"A\"}]",
                "[{]",
                examples,
                &format!("{examples}{examples}"),
                "[null]",
                "[1]",
                "\"a\"",
                " [] ",
                "[{\"apiVersion\":1,\"kind\":\"A\"}]",
                "[{\"apiVersion\":\"a/b/c\",\"kind\":\"A\"}]",
                "[{\"apiVersion\":\"cache.example.com/v1alpha1\",\"kind\":\"Memcached\",\"kind\":\"B\"}]",
                "[{\"KIND\":\"A\"}]",
            ]),
        ),
        (CSV, "/metadata/annotations/olm.examples", texts(&["[]", "a"])),
        (CSV, "/metadata/annotations/olm.skiprange", texts(&["<1.0.0"])),
        (
            CSV,
            "/metadata/annotations/olm.properties",
            texts(&["[]", "[{\"type\":\"olm.maxOpenShiftVersion\",\"value\":\"4.8\"}]"]),
        ),
        (CSV, "/metadata/annotations/olm.OperatorGroup", texts(&["a"])),
        (
            CSV,
            "/metadata/annotations/capabilities",
            texts(&["Basic Install", "Auto Pilot", "basic install", ""]),
        ),
        (
            CSV,
            "/metadata/annotations/categories",
            texts(&["Database", "Database, Security", "Database,", "Databases", ""]),
        ),
        (
            CSV,
            "/spec/installModes",
            vec![
                json!([]),
                Value::Null,
                json!([{ "type": "AllNamespaces", "supported": true }]),
                json!([{ "type": "AllNamespaces", "supported": false }]),
                json!([{ "type": "AllNamespaces", "supported": true }, { "type": "AllNamespaces", "supported": false }]),
                json!([{ "type": "Other", "supported": true }]),
                json!([{ "supported": true }]),
            ],
        ),
        (
            CSV,
            "/spec/webhookdefinitions",
            vec![
                json!([{ "type": "ConversionWebhook", "generateName": "a", "sideEffects": "None", "admissionReviewVersions": ["v1"], "conversionCRDs": ["memcacheds.cache.example.com"] }]),
                json!([{ "type": "ValidatingAdmissionWebhook", "generateName": "a", "rules": [{ "operations": "CREATE" }] }]),
                json!([{ "type": "Other", "containerPort": "80" }]),
                json!([{ "containerPort": 80, "targetPort": 9443, "webhookPath": "/a" }]),
                json!([{ "timeoutSeconds": 10.5 }]),
                json!([{ "rules": [{ "operations": ["CREATE"], "apiGroups": ["a"], "apiVersions": [1] }] }]),
                json!([{ "objectSelector": { "matchLabels": { "a": 1 } } }]),
            ],
        ),
        (
            CSV,
            "/spec/apiservicedefinitions",
            vec![
                json!({}),
                json!({ "owned": [{ "group": "a", "version": "v1", "kind": "A", "name": "a" }] }),
                json!([]),
            ],
        ),
        (
            CSV,
            "/spec/customresourcedefinitions",
            vec![
                json!({}),
                json!([]),
                json!({ "required": [{ "name": "a.b", "version": "v1", "kind": "A" }] }),
                json!({ "owned": [{ "name": "a", "version": "v1", "kind": "A" }] }),
            ],
        ),
        (
            CSV,
            "/spec/customresourcedefinitions/owned/0/resources",
            vec![
                json!([{ "kind": "Event", "version": "v1" }]),
                json!([{ "kind": "CronJob", "version": "batch/v1beta1" }]),
                json!(["a"]),
            ],
        ),
        (CSV, "/apiVersion", texts(&["", "operators.coreos.com/v1", "v1", "a"])),
        (
            CSV,
            "/spec/install",
            vec![
                json!({}),
                Value::Null,
                json!({ "strategy": "deployment" }),
                json!({ "spec": {} }),
                json!({ "spec": { "permissions": [] } }),
                json!({ "strategy": "", "spec": { "deployments": [] } }),
            ],
        ),
        (
            CSV,
            "/spec/install/spec/deployments",
            vec![json!([]), Value::Null, json!([{}]), json!([{ "name": "a" }])],
        ),
        (CSV, "/spec", vec![json!({}), Value::Null]),
        (CSV, "/metadata", vec![json!({}), Value::Null, json!({ "labels": {} }), json!([])]),
        (CSV, "/spec/displayName", texts(&["", " "])),
    ]
}
