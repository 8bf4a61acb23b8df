//! Values that a validator has an opinion of, by the place where it looks.

use serde_json::{Value, json};

use super::breaks::{ANNOTATIONS, CRD, CSV, DEPENDENCIES, MAP};

type Fact = (&'static str, &'static str, Vec<Value>);

pub fn facts() -> Vec<Fact> {
    [csv(), details(), crd(), metadata(), dependencies()].concat()
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|it| json!(it)).collect()
}

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

fn csv() -> Vec<Fact> {
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

fn details() -> Vec<Fact> {
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

fn crd() -> Vec<Fact> {
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

fn metadata() -> Vec<Fact> {
    let key = |it: &str| match it {
        "mediatype" => "/annotations/operators.operatorframework.io.bundle.mediatype.v1",
        "manifests" => "/annotations/operators.operatorframework.io.bundle.manifests.v1",
        "metadata" => "/annotations/operators.operatorframework.io.bundle.metadata.v1",
        "channels" => "/annotations/operators.operatorframework.io.bundle.channels.v1",
        _ => "/annotations/operators.operatorframework.io.bundle.channel.default.v1",
    };
    vec![
        (ANNOTATIONS, key("mediatype"), texts(&["registry+v1", "plain", "helm", "", "registry"])),
        (
            ANNOTATIONS,
            key("manifests"),
            texts(&[
                "manifests",
                "./manifests",
                "manifests//",
                "other/",
                "",
                ".",
                "metadata/",
                "../manifests",
                "a/../manifests/",
                "/manifests",
            ]),
        ),
        (ANNOTATIONS, key("metadata"), texts(&["other/", ""])),
        (
            ANNOTATIONS,
            key("channels"),
            vec![json!(""), json!("a,b"), json!(1), json!(["a"]), Value::Null, json!("RAW:yes")],
        ),
        (ANNOTATIONS, key("default"), vec![json!(""), json!("a"), Value::Null, json!("RAW:1.0")]),
        (
            ANNOTATIONS,
            "/annotations",
            vec![json!({}), Value::Null, json!([]), json!("a"), json!({ "a": "b" })],
        ),
        (ANNOTATIONS, "/Annotations", vec![json!({ "a": "b" })]),
        (
            ANNOTATIONS,
            "/annotations/a",
            vec![json!({}), json!([]), json!(1), json!("RAW:no"), json!("RAW:2023-11-14")],
        ),
        (ANNOTATIONS, "/dependencies", vec![json!([{ "type": "a" }])]),
        (
            MAP,
            "/kind",
            texts(&[
                "PodMonitor",
                "Deployment",
                "",
                "NetworkPolicy",
                "ServiceAccount",
                "Secret",
                "Role",
                "PriorityClass",
                "PodDisruptionBudget",
            ]),
        ),
        (
            MAP,
            "/apiVersion",
            texts(&[
                "policy/v1beta1",
                "",
                "rbac.authorization.k8s.io/v1beta1",
                "scheduling.k8s.io/v1beta1",
                "a/b/c",
            ]),
        ),
        (MAP, "/metadata/name", texts(&["", "A B", "memcached-operator-controller-manager"])),
        (MAP, "/metadata/namespace", texts(&["a", ""])),
        (MAP, "/metadata/generateName", texts(&["a"])),
        (MAP, "/metadata/generation", vec![json!(-1), json!(1), json!("a")]),
        (
            MAP,
            "/metadata/labels",
            vec![
                json!({ "a b": "c" }),
                json!({ "a": "c d" }),
                json!({ "a b": 1 }),
                json!({ "a": null }),
                json!([]),
                json!({ "a b": null }),
            ],
        ),
        (
            MAP,
            "/metadata/annotations",
            vec![json!({ "a/b/c": "d" }), json!({ "A": "d" }), json!({ "a b": 1 })],
        ),
        (
            MAP,
            "/metadata/finalizers",
            vec![
                json!(["a"]),
                json!(["a b"]),
                json!(["a b", 1]),
                json!(["orphan", "foregroundDeletion"]),
            ],
        ),
        (
            MAP,
            "/metadata/ownerReferences",
            vec![
                json!([{}]),
                json!([{ "apiVersion": "v1", "kind": "A", "name": "a", "uid": "a" }]),
                json!([{ "apiVersion": "v1", "kind": "Event", "name": "a", "uid": "a" }]),
                json!(["a"]),
            ],
        ),
        (MAP, "/metadata/managedFields", vec![json!([{ "operation": "Apply" }]), json!([{}])]),
    ]
}

fn dependencies() -> Vec<Fact> {
    let of = |type_: &str, value: Value| json!([{ "type": type_, "value": value }]);
    let mut list = vec![
        json!([]),
        Value::Null,
        json!("a"),
        json!([{}]),
        json!([null]),
        json!([1]),
        json!({}),
        json!([{ "TYPE": "olm.label", "Value": { "LABEL": "a" } }]),
    ];
    for range in [
        "1.0.0",
        "^1.0.0",
        "1.0",
        ">=1.0.0 <2.0.0",
        "1.0.0||2.0.0",
        "1.0.0 || 2.0.0",
        "|| 1.0.0",
        "1.x",
        "1.2.x",
        "x",
        "> 1.0.0",
        "!1.0.0",
        ">1.x",
        "1.0.0-next",
        "~1.x",
        "1.0.0 a",
        "v1.0.0",
        "1.0.0,2.0.0",
        "<1.0.0-x.y",
        " 1.0.0 ",
    ] {
        list.push(of("olm.package", json!({ "packageName": "a", "version": range })));
    }
    for value in [
        json!({}),
        json!({ "packageName": 1, "version": "1.0.0" }),
        json!({ "PACKAGENAME": "a", "Version": "1.0.0" }),
        json!({ "packageName": "RAW:yes", "version": "1.0.0" }),
        Value::Null,
        json!([]),
        json!("a"),
    ] {
        list.push(of("olm.package", value));
    }
    for value in [
        json!({}),
        json!({ "group": "a", "kind": "b" }),
        json!({ "group": "a", "kind": "b", "version": "c", "d": 1 }),
    ] {
        list.push(of("olm.gvk", value));
    }
    for rule in [
        "",
        "true",
        "1",
        "properties.exists(p, p.type == 'a')",
        "properties.exists(p, q == 'a')",
        "properties.all(p, p.value)",
        "properties.exists(p,",
        "semver_compare('1', '2') > 0",
        "semver_compare('1') > 0",
        "'a' in properties",
        "properties.size() > 0",
        "properties.map(p, p.type).exists(t, t == 'a')",
        "properties[0].type == 'a'",
        "has(properties[0].a)",
        "properties.type == 'a'",
        "1 == 'a'",
        "foo()",
        "properties.exists(p, p.type.startsWith('a') && p.value.b.c == 1)",
        "true ? true : 1 > 0",
        "!true",
        "!1",
        "1 + 1.0 > 0",
        "'a' + 'b' == 'ab'",
        "[1, 2].exists(i, i > 1)",
        "{'a': 1}.a == 1",
        "int('1') == 1",
        "properties[0].value",
        "properties.filter(p, p.type == 'a').size() == 1",
    ] {
        list.push(of("olm.constraint", json!({ "failureMessage": "a", "cel": { "rule": rule } })));
    }
    for value in [
        json!({}),
        json!({ "cel": {} }),
        json!({ "cel": "a" }),
        json!({ "failureMessage": 1, "cel": { "rule": "true" } }),
        json!({ "all": { "constraints": [] } }),
        json!({ "cel": { "rule": 1 } }),
    ] {
        list.push(of("olm.constraint", value));
    }
    list.push(of("olm.other", json!({})));
    vec![(DEPENDENCIES, "/dependencies", list)]
}
