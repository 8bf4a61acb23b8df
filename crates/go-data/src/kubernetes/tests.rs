use super::{
    Decoded, Reader, UnknownField, decode, decode_with, quantity::canonical_form, stored_crd,
};
use crate::yaml::{Value, json};

fn deployment(spec: Value) -> Decoded {
    decode(&json!({ "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec }))
}

/// Decodes a container with these fields.
fn container(fields: Value) -> Decoded {
    let mut decoded = deployment(json!({ "template": { "spec": { "containers": [fields] } } }));
    decoded.value = decoded.value["spec"]["template"]["spec"]["containers"][0].take();
    decoded
}

fn texts(decoded: &Decoded) -> Vec<String> {
    decoded.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn zero_values_are_those_of_go() {
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "creationTimestamp": null },
        "spec": {
            "selector": null, "strategy": {},
            "template": { "metadata": { "creationTimestamp": null }, "spec": { "containers": null } },
        },
        "status": {},
    });
    assert_eq!(deployment(json!({})).value, expected);
    assert_eq!(deployment(Value::Null).value, expected);
    assert_eq!(container(json!({})).value, json!({ "name": "", "resources": {} }));
}

#[test]
fn api_servers_know_more_fields_than_operator_sdk() {
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "spec": { "template": { "spec": {
        "hostnameOverride": "a",
        "containers": [{ "name": "a", "restartPolicyRules": [{ "action": "Restart", "acton": "b" }] }],
    } } } });
    let found = |reader: Reader| {
        let unknown = decode_with(&job, reader).unknown;
        unknown
            .into_iter()
            .map(|field| field.path.replace("spec.template.spec.", ""))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(Reader::Server), ["containers[0].restartPolicyRules[0].acton"]);
    assert_eq!(found(Reader::Yaml), ["containers[0].restartPolicyRules", "hostnameOverride"]);
    let conditions = json!([{ "type": "Established", "status": "True", "observedGeneration": 1 }]);
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "status": { "observedGeneration": 1, "conditions": conditions },
    });
    assert_eq!(decode_with(&crd, Reader::Server).unknown, []);
}

#[test]
fn names_match_in_any_case_and_unknown_ones_are_named() {
    let decoded = container(json!({
        "Name": "a", "name": "b", "ImagePullPolicy": "Always", "imagePullPolicies": 1,
        "env": [{ "name": "A", "valu": "" }],
    }));
    let expected = json!({ "name": "b", "imagePullPolicy": "Always", "env": [{ "name": "A" }], "resources": {} });
    assert_eq!(decoded.value, expected);
    let path = "spec.template.spec.containers[0]";
    let unknown: Vec<String> = decoded.unknown.into_iter().map(|field| field.path).collect();
    assert_eq!(unknown, [format!("{path}.env[0].valu"), format!("{path}.imagePullPolicies")]);
    assert!(decoded.faults.is_empty());
}

#[test]
fn wrong_types_are_faults_with_their_path() {
    let fault = |fields: Value| {
        texts(&container(fields)).join("\n").replace("spec.template.spec.containers[0].", "")
    };
    for (fields, expected) in [
        (
            json!({ "ports": [{ "containerPort": "8081" }] }),
            "`ports[0].containerPort` is the string `8081`, and must be a whole number of 32 bits",
        ),
        (
            json!({ "command": "/manager" }),
            "`command` is the string `/manager`, and must be a list",
        ),
        (
            json!({ "securityContext": { "runAsNonRoot": "true" } }),
            "`securityContext.runAsNonRoot` is the string `true`, and must be true or false",
        ),
        (
            json!({ "resources": { "limits": { "cpu": "lots" } } }),
            "`resources.limits.cpu` is the string `lots`, and must be a quantity such as `500m` or `1Gi`",
        ),
        (json!({ "args": [["a"]] }), "`args[0]` is a list, and must be a string"),
        (json!({ "env": {} }), "`env` is a map, and must be a list"),
        (
            json!({ "resources": { "limits": [] } }),
            "`resources.limits` is a list, and must be a map",
        ),
        (json!({ "Env": [], "env": [] }), "`env` and `env` are one field, given twice"),
        (
            json!({ "livenessProbe": { "exec": { "command": [1] } } }),
            "`livenessProbe.exec.command[0]` is the number `1`, and must be a string",
        ),
    ] {
        assert_eq!(fault(fields), expected);
    }
}

#[test]
fn numbers_and_booleans_become_texts_where_go_has_a_text() {
    let decoded = container(json!({
        "image": 1.0, "args": [1, 0.1, true, 1e6, 123456.0, 0.00001, null],
        "livenessProbe": { "initialDelaySeconds": 5.0, "httpGet": { "port": 8080 } },
    }));
    assert_eq!(texts(&decoded), [""; 0]);
    assert_eq!(decoded.value["image"], "1");
    assert_eq!(decoded.value["args"], json!(["1", "0.1", "true", "1e+06", "123456", "1e-05", ""]));
    assert_eq!(
        decoded.value["livenessProbe"],
        json!({ "initialDelaySeconds": 5, "httpGet": { "port": 8080 } })
    );
}

#[test]
fn schemas_hold_what_go_holds() {
    let decoded = decode(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": { "versions": [{ "schema": { "openAPIV3Schema": {
            "properties": { "a": { "items": true, "default": 1.0, "additionalProperties": false, "required": "b" } },
        } } }] },
    }));
    let schema = &decoded.value["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let expected = json!({ "items": null, "default": 1, "additionalProperties": false });
    assert_eq!(schema["properties"]["a"], expected);
    let path = "spec.versions[0].schema.openAPIV3Schema.properties.a.required";
    assert_eq!(texts(&decoded), [format!("`{path}` is the string `b`, and must be a list")]);
}

#[test]
fn versions_and_bytes_and_times_are_read() {
    let csv = |version: Value| {
        let decoded = decode(&json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": { "deletionTimestamp": "2023-11-14T23:13:20+01:00" }, "spec": { "version": version },
        }));
        assert_eq!(decoded.value["metadata"]["deletionTimestamp"], "2023-11-14T22:13:20Z");
        (
            decoded.value["spec"]["version"].as_str().unwrap_or_default().to_owned(),
            decoded.faults.len(),
        )
    };
    for (version, expected) in [
        (json!("v01.2"), ("1.2.0", 0)),
        (json!("1.2.3-a.1+b"), ("1.2.3-a.1+b", 0)),
        (json!(""), ("0.0.0", 1)),
        (json!("1-a"), ("0.0.0", 1)),
        (json!(1.0), ("0.0.0", 1)),
        (Value::Null, ("0.0.0", 1)),
    ] {
        assert_eq!(csv(version), (expected.0.to_owned(), expected.1));
    }
}

/// The right sides are those of k8s.io/apimachinery 0.33.9.
#[test]
fn quantities_are_written_as_kubernetes_writes_them() {
    for line in include_str!("quantities.txt").lines() {
        let (text, expected) = line.split_once('\t').unwrap_or((line, ""));
        assert_eq!(canonical_form(text).unwrap_or_default(), expected, "{text}");
    }
}

/// A real API server judges the same objects, in `tests/deploy`.
#[test]
fn objects_are_read_as_an_api_server_reads_them() {
    let table: Value =
        serde_json::from_str(include_str!("../../../../tests/deploy/decoded.json")).unwrap();
    for (kind, base) in table["objects"].as_object().unwrap() {
        let decoded = decode_with(&base["object"], Reader::Server);
        assert!(decoded.faults.is_empty() && decoded.unknown.is_empty(), "{kind}: {decoded:?}");
    }
    for case in table["cases"].as_array().unwrap() {
        let at = |index: usize| case[index].as_str().unwrap_or_default();
        let mut object = table["objects"][at(0)]["object"].clone();
        let (parent, key) = at(1).rsplit_once('/').unwrap();
        match object.pointer_mut(parent).unwrap() {
            Value::Array(items) => items.insert(key.parse().unwrap(), case[2].clone()),
            parent => parent[key] = case[2].clone(),
        }
        let decoded = decode_with(&object, Reader::Server);
        let field = if case[4].is_null() { at(1) } else { at(4) };
        let faults: Vec<&str> = decoded.faults.iter().map(|fault| fault.pointer.as_str()).collect();
        let unknown: Vec<String> = decoded.unknown.iter().map(UnknownField::pointer).collect();
        let expected = match at(3) {
            "good" => (vec![], vec![]),
            "wrong" => (vec![field], vec![]),
            _ => (vec![], vec![field.to_owned()]),
        };
        assert_eq!((faults, unknown), expected, "{case}");
    }
}

/// `v1beta1` is another type, and what is no kind of Kubernetes has metadata all the same.
#[test]
fn of_other_kinds_only_the_metadata_is_read() {
    let check = |api_version: &str, metadata: Value, expected: [usize; 2]| {
        let object = json!({ "apiVersion": api_version, "kind": "PodDisruptionBudget", "metadata": metadata, "spec": 1 });
        let decoded = decode_with(&object, Reader::Server);
        assert_eq!([decoded.faults.len(), decoded.unknown.len()], expected, "{object}");
    };
    check("policy/v1", json!({}), [1, 0]);
    check("policy/v1beta1", json!({}), [0, 0]);
    check("example.com/v1", json!({ "name": 1, "Labels": {} }), [1, 1]);
    check("example.com/v1", json!([]), [1, 0]);
}

#[test]
fn what_is_empty_is_dropped_where_its_type_says_so() {
    let crd = |names: Value, column: Value, schema: Value| {
        json!({
            "metadata": { "name": "caches.example.com" },
            "spec": { "names": names, "versions": [
                { "additionalPrinterColumns": column, "schema": { "openAPIV3Schema": schema } },
            ] },
        })
    };
    let full = crd(
        json!({ "kind": "Cache", "categories": [], "shortNames": ["c"] }),
        json!([]),
        json!({
            "required": [],
            "properties": {
                "required": { "default": { "required": [] }, "nullable": false, "items": { "enum": [] } },
                "status": { "additionalProperties": false, "x-kubernetes-preserve-unknown-fields": false },
            },
        }),
    );
    let mut expected = crd(
        json!({ "kind": "Cache", "listKind": "CacheList", "singular": "cache", "shortNames": ["c"] }),
        json!(null),
        json!({
            "properties": {
                "required": { "default": { "required": [] }, "items": {} },
                "status": { "additionalProperties": false, "x-kubernetes-preserve-unknown-fields": false },
            },
        }),
    );
    expected["spec"]["conversion"] = json!({ "strategy": "None" });
    if let Value::Object(version) = &mut expected["spec"]["versions"][0] {
        version.remove("additionalPrinterColumns");
    }
    assert_eq!(stored_crd(full), expected);
}

/// API servers hold `minimum` as a float of 64 bits, `maxLength` as a whole number, and `default` as JSON.
#[test]
fn numbers_are_equal_as_api_servers_hold_them() {
    let held = |schema: &Value| {
        let versions = json!([{ "schema": { "openAPIV3Schema": schema } }]);
        let mut crd = stored_crd(json!({ "spec": { "names": {}, "versions": versions } }));
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take()
    };
    let check = |one: Value, other: Value, is_equal: bool| {
        assert_eq!(held(&one) == held(&other), is_equal, "{one} {other}");
    };
    check(json!({ "minimum": 1 }), json!({ "minimum": 1.0 }), true);
    check(json!({ "minimum": 1 }), json!({ "minimum": 1.5 }), false);
    check(json!({ "maximum": i64::MAX }), json!({ "maximum": 9223372036854775807.0 }), true);
    check(json!({ "maximum": u64::MAX }), json!({ "maximum": 18446744073709551615.0 }), true);
    check(json!({ "items": { "minimum": -0.0 } }), json!({ "items": { "minimum": 0 } }), true);
    check(json!({ "maxLength": 5 }), json!({ "maxLength": 5.0 }), true);
    check(json!({ "default": { "a": [1] } }), json!({ "default": { "a": [1.0] } }), true);
    check(json!({ "default": i64::MAX }), json!({ "default": i64::MAX - 1 }), false);
    check(json!({ "enum": [1, 2] }), json!({ "enum": [1.0, 2.0] }), true);
    check(json!({ "enum": ["1"] }), json!({ "enum": [1] }), false);
}

#[test]
fn a_server_fills_in_what_a_crd_does_not_say() {
    let crd = |spec: Value| json!({ "kind": "CustomResourceDefinition", "spec": spec });
    let whole = json!({ "kind": "Cache", "listKind": "CacheList", "singular": "cache" });
    let none = json!({ "strategy": "None" });
    let expected = crd(json!({ "names": whole, "conversion": none }));
    assert_eq!(stored_crd(crd(json!({ "names": { "kind": "Cache" } }))), expected);
    let names = json!({ "kind": "Cache", "listKind": "", "singular": "" });
    assert_eq!(stored_crd(crd(json!({ "names": names, "conversion": null }))), expected);
    let webhook = json!({ "strategy": "Webhook", "webhook": { "conversionReviewVersions": ["v1"],
        "clientConfig": { "service": { "name": "a", "namespace": "b" } } } });
    let held = stored_crd(crd(json!({ "names": whole, "conversion": webhook })));
    assert_eq!(held["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"], 443);
    let other = crd(json!({ "names": { "kind": "Cache", "listKind": "Caches" } }));
    assert_eq!(stored_crd(other)["spec"]["names"]["listKind"], "Caches");
}
