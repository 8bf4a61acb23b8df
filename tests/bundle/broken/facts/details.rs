//! Of the CSV: what OperatorHub shows, permissions and containers.

use serde_json::{Value, json};

use super::super::breaks::CSV;
use super::{Fact, texts};

pub fn details() -> Vec<Fact> {
    let container = |it: Value| json!([it]);
    vec![
        (
            CSV,
            "/spec/provider",
            vec![
                json!({}),
                json!({ "name": "" }),
                json!({ "name": " " }),
                json!({ "NAME": "a" }),
                Value::Null,
                json!("a"),
            ],
        ),
        (
            CSV,
            "/spec/links",
            vec![
                json!([]),
                json!([{}]),
                json!([{ "name": "a" }]),
                json!([{ "name": 1, "url": "https://a.b" }]),
            ],
        ),
        (
            CSV,
            "/spec/links/0/url",
            texts(&[
                "a",
                "/a",
                "a.b/c",
                "http:a",
                "https://a b",
                "https://a/%zz",
                "mailto:a@b.c",
                "https://[::1]/",
                "https://a:b/",
                "https://a:80:80/",
                "http://a/?%",
                "*",
                ":a",
                "https://",
                "ftp://a@b:1/c#d",
                "https://user:p w@a/",
                "a:b",
                "1a:b",
                "https://é.com/ü",
                "https://[::1",
                "https://a/\u{7f}",
            ]),
        ),
        (
            CSV,
            "/spec/maintainers",
            vec![
                json!([]),
                json!([{}]),
                json!([{ "name": "a" }]),
                json!([{ "email": "a@b.c" }]),
                json!([{ "name": "a", "email": "a@b.c", "phone": 1 }]),
            ],
        ),
        (
            CSV,
            "/spec/maintainers/0/email",
            texts(&[
                "a",
                "a@b",
                "a@b.",
                ".a@b",
                "a b@c",
                "A <a@b.c>",
                "<a@b.c>",
                "A a@b.c",
                "a@b.c, d@e.f",
                "a@@b",
                "a..b@c",
                "é@b.c",
                "a@b c",
                "a@b.c ",
                " a@b.c",
                "A. B. <a@b>",
                "a at b",
                "A <a@b",
                "https://a.b/@c",
            ]),
        ),
        (
            CSV,
            "/spec/icon",
            vec![
                json!([]),
                Value::Null,
                json!([{}]),
                json!([{ "base64data": "a" }]),
                json!([{ "base64data": "a", "mediatype": "image/png" }]),
                json!([{ "base64data": "a", "mediatype": "image/bmp" }]),
                json!([{ "base64data": "a", "mediatype": "image/png" }, {}]),
            ],
        ),
        (
            CSV,
            "/spec/relatedImages",
            vec![
                json!([]),
                json!([{ "name": "a", "image": "a" }]),
                json!([{ "name": "a", "image": "" }]),
                json!([{ "image": "A b" }]),
                json!(["a"]),
            ],
        ),
        (
            CSV,
            "/spec/install/spec/clusterPermissions/0/rules",
            vec![
                json!([]),
                json!([{ "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["create"] }]),
                json!([{ "apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"] }]),
                json!([{ "apiGroups": ["policy", "batch"], "resources": ["poddisruptionbudgets", "cronjobs"], "verbs": ["*"] }]),
                json!([{ "apiGroups": "a" }]),
                json!([{ "verbs": "get" }]),
                json!([{ "verbs": ["get"], "nonResourceURLs": ["/a"] }]),
            ],
        ),
        (
            CSV,
            "/spec/install/spec/deployments/0/spec/template/spec/containers",
            vec![
                json!([]),
                container(json!({ "name": "a", "image": "b" })),
                container(json!({ "name": "a", "resources": { "requests": {} } })),
                container(json!({ "name": "a", "resources": { "requests": { "cpu": "lots" } } })),
                container(json!({ "resources": { "limits": { "cpu": 1, "memory": "1Gi" } } })),
                container(json!({ "ports": [{ "containerPort": "8081" }] })),
                container(json!({ "command": "/manager" })),
                container(json!({ "livenessProbe": { "initialDelaySeconds": "15" } })),
                container(json!({ "securityContext": { "runAsNonRoot": "true" } })),
                container(json!({ "env": [{ "name": "A", "value": 1 }] })),
                container(json!({ "env": [{ "name": "A", "value": "RAW:no" }] })),
                container(json!({ "livenessProbe": { "httpGet": { "port": 1.5 } } })),
                container(json!({ "args": [1, true] })),
            ],
        ),
        (
            CSV,
            "/spec/install/spec/deployments/0/spec/replicas",
            vec![json!(1.0), json!(1.5), json!("1"), json!(4_294_967_296_u64), json!(-1)],
        ),
        (
            CSV,
            "/spec/install/spec/deployments/0/spec/template/spec/serviceAccountName",
            texts(&["default", "x", ""]),
        ),
    ]
}
