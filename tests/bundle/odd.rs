//! Bundles that only look odd, and bundles that only look good.

use serde_json::{Value, json};

use super::{
    CSV,
    verdicts::{ANNOTATIONS, CRD, check_verdict, set},
};

#[test]
fn valid_bundles_that_look_odd_get_the_verdict_of_operator_sdk() {
    let csv = |name: &str, pointer: &str, value: Value| {
        check_verdict(name, |files| set(files, CSV, pointer, value));
    };
    let text = |name: &str, file: &str, change: fn(String) -> String| {
        check_verdict(name, |files| {
            let text = change(serde_yaml::to_string(&files[file]).expect("it is data"));
            files.insert(file.to_owned(), json!(text));
        });
    };
    text("odd-created", CSV, |it| {
        it.replace("  annotations:\n", "  annotations:\n    createdAt: 2023-11-14T22:13:20Z\n")
    });
    text("odd-certified", CSV, |it| {
        it.replace("  annotations:\n", "  annotations:\n    certified: no\n")
    });
    text("odd-alias", CSV, |it| format!("{it}x: &a b\ny: *a\n"));
    text("odd-key-twice", CSV, |it| format!("{it}kind: ClusterServiceVersion\n"));
    text("odd-integer-key", CSV, |it| format!("{it}1: a\n"));
    text("odd-second-document", CSV, |it| format!("{it}---\napiVersion: v1\nkind: Other\n"));
    csv(
        "odd-modes",
        "/spec/installModes",
        json!([{ "type": "OwnNamespace", "supported": true }, { "type": "OwnNamespace", "supported": false }]),
    );
    csv("odd-related", "/spec/relatedImages", json!([{ "name": "a", "image": "oci://a b" }]));
    check_verdict("odd-json", |files| {
        let text = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}} behind"#;
        files.insert("manifests/x.json".to_owned(), json!(text));
    });
    text("odd-dependency", ANNOTATIONS, |it| format!("{it}---\na: [\n"));
}

#[test]
fn invalid_bundles_that_look_valid_get_the_verdict_of_operator_sdk() {
    let csv = |name: &str, pointer: &str, value: Value| {
        check_verdict(name, |files| set(files, CSV, pointer, value));
    };
    csv("bad-api-version", "/apiVersion", json!(5));
    csv("bad-min-kube", "/spec/minKubeVersion", json!("1.16"));
    csv("bad-version", "/spec/version", json!(""));
    csv(
        "bad-hook-rules",
        "/spec/webhookdefinitions",
        json!([{ "type": "ValidatingAdmissionWebhook", "rules": [{ "operations": "CREATE" }] }]),
    );
    csv("bad-links", "/spec/links", json!([{ "name": "a", "url": 1.5, "url2": {} }, "a"]));
    let pod = "/spec/install/spec/deployments/0/spec/template/spec/containers/0";
    csv("bad-command", &format!("{pod}/command"), json!("/manager"));
    csv("bad-quantity", &format!("{pod}/resources"), json!({ "limits": { "cpu": "lots" } }));
    let crd = |name: &str, pointer: &str, value: Value| {
        check_verdict(name, |files| set(files, CRD, pointer, value));
    };
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    for (name, fault) in
        [("maximum", json!("5")), ("required", json!("spec")), ("enum", json!("a"))]
    {
        crd(&format!("bad-{name}"), &format!("{spec}/{name}"), fault);
    }
    let hook = |client: Value, versions: Value| json!({ "strategy": "Webhook", "webhook": { "clientConfig": client, "conversionReviewVersions": versions } });
    let service = |more: Value| {
        let mut res = json!({ "name": "a", "namespace": "b" });
        res.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        hook(json!({ "service": res }), json!(["v1"]))
    };
    crd("bad-url", "/spec/conversion", hook(json!({ "url": "http://a" }), json!(["v1"])));
    crd(
        "bad-reviews",
        "/spec/conversion",
        hook(json!({ "url": "https://a" }), json!(["v1", "v1"])),
    );
    crd("bad-prefix", "/metadata/generateName", json!("memcacheds"));
    crd("bad-path", "/spec/conversion", service(json!({ "path": "a" })));
    crd("bad-port", "/spec/conversion", service(json!({ "port": 0 })));
    let manifests = "/annotations/operators.operatorframework.io.bundle.manifests.v1";
    check_verdict("bad-folder", |files| set(files, ANNOTATIONS, manifests, json!("other/")));
    check_verdict("bad-first-document", |files| {
        let text = serde_yaml::to_string(&files[CSV]).expect("it is data");
        files.insert(CSV.to_owned(), json!(format!("# nothing\n---\n{text}")));
    });
    check_verdict("bad-comment", |files| {
        drop(files.insert("metadata/a.yaml".to_owned(), json!("# nothing\n")))
    });
    for (name, rule) in [("types", "properties.size()"), ("name", "other == 1"), ("syntax", "a ==")]
    {
        check_verdict(&format!("bad-cel-{name}"), |files| {
            let dependency =
                json!({ "type": "olm.constraint", "value": { "cel": { "rule": rule } } });
            let dependencies = json!({ "dependencies": [dependency] });
            files.insert("metadata/dependencies.yaml".to_owned(), dependencies);
        });
    }
}
