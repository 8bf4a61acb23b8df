//! The objects of a release with the name and the namespace of the project, and with no values given, are those of
//! `generate installer`, but for a closed list of additions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    helm::{API, Helm, INIT, documents},
    support,
};

#[test]
fn the_tutorial() {
    check("tutorial", &[INIT, API], |_| ());
}

#[test]
fn one_namespace() {
    check("namespaced", &[&format!("{INIT} --namespaced"), API], |_| ());
}

#[test]
fn webhooks_with_certificates_of_cert_manager() {
    let webhook =
        "create webhook --group g --kind Memcached --defaulting --programmatic-validation";
    let version = "create api --group g --kind Memcached --version v1 --from v1alpha1";
    check("cert-manager", &[INIT, API, webhook, version], |_| ());
}

#[test]
fn webhooks_with_certificates_of_the_operator() {
    let webhook = "create webhook --group g --kind Memcached --defaulting --programmatic-validation --certificates self";
    let version = "create api --group g --kind Memcached --version v1 --from v1alpha1";
    check("self", &[INIT, API, webhook, version], |_| ());
}

#[test]
fn monitoring_network_policies_and_an_image_with_a_digest() {
    check("everything", &[INIT, API], |it| {
        it.edit("config/default/kustomization.yaml", |text| {
            text.replace("# - ../prometheus", "- ../prometheus")
                .replace("# - ../network-policy", "- ../network-policy")
        });
        it.edit("config/manager/kustomization.yaml", |text| {
            let digest = format!("newName: localhost:5000/a/b\n  digest: sha256:{:064}", 7);
            text.replace("newName: controller\n  newTag: latest", &digest)
        });
    });
}

/// Whatever a project has in its texts is data: Go templates, separators of documents, YAML.
#[test]
fn texts_that_look_like_templates() {
    check("texts", &[INIT, API], |it| {
        it.edit("api/src/g/v1alpha1/memcached.rs", |text| {
            let strange = "/// {{ .Values.nothing }} {{/* `{{ \"a\" }}` --- <b> & \"c\": 'd' # e\n    /// {{- end }}\n";
            text.replacen("    /// Number of pods.\n", &format!("    {strange}"), 1)
        });
        it.edit("config/manager/manager.yaml", |text| {
            let account = "        securityContext:\n          runAsUser: 1000660000\n";
            text.replacen("        securityContext:\n", account, 1)
        });
    });
}

fn check(name: &str, commands: &[&str], edit: impl FnOnce(&Helm)) {
    let Some(helm) = Helm::new(name, commands) else { return };
    edit(&helm);
    let installer = documents(&support::done(&helm.dir, "generate installer"));
    support::done(&helm.dir, "generate chart");
    assert_eq!(support::done(&helm.dir, "generate chart --check"), "");
    let lint = helm.run("lint --strict chart");
    assert!(lint.status.success(), "{}", support::said(&lint));
    let chart = "chart (1 CRD of the source, 1 rendering): no finding\n";
    // Not every project here has an image with a version.
    assert_eq!(helm.check("chart check chart --allow floating-tag"), chart);
    let rendered = helm.objects("");
    let (expected, found) = (by_name(installer, true), by_name(rendered, false));
    let names = |it: &BTreeMap<String, Value>| it.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    for (name, expected) in expected {
        assert_eq!(found[&name], expected, "{name}");
    }
}

/// Objects by kind and name, with the additions of the chart taken out, or put into what has none.
fn by_name(objects: Vec<Value>, is_installer: bool) -> BTreeMap<String, Value> {
    let secrets: Vec<String> = objects
        .iter()
        .filter(|it| it["kind"] == "Certificate")
        .map(|it| it["spec"]["secretName"].as_str().expect("it has one").to_owned())
        .collect();
    let objects = objects.into_iter().filter(|it| it["kind"] != "Namespace");
    let named = objects.map(|mut it| {
        let labels = &it["metadata"]["labels"];
        if !is_installer {
            assert_eq!(labels["app.kubernetes.io/instance"], "shop-operator", "{it}");
            assert_eq!(labels["app.kubernetes.io/managed-by"], "Helm", "{it}");
            assert_eq!(labels["app.kubernetes.io/name"], "shop-operator", "{it}");
            assert_eq!(labels["app.kubernetes.io/version"], "0.0.1", "{it}");
            assert_eq!(labels["helm.sh/chart"], "shop-operator-0.0.1", "{it}");
            if it["kind"] == "CustomResourceDefinition" {
                let keep = &it["metadata"]["annotations"]["helm.sh/resource-policy"];
                assert_eq!(*keep, "keep", "{it}");
            }
        }
        without_additions(&mut it, is_installer, &secrets);
        (format!("{} {}", it["kind"], it["metadata"]["name"]), it)
    });
    named.collect()
}

fn without_additions(value: &mut Value, is_installer: bool, secrets: &[String]) {
    match value {
        Value::Array(list) => {
            list.retain(|it| *it != "--leader-election-id=shop-operator");
            list.iter_mut().for_each(|it| without_additions(it, is_installer, secrets));
        }
        Value::Object(map) => {
            for key in [
                "app.kubernetes.io/instance",
                "app.kubernetes.io/managed-by",
                "app.kubernetes.io/name",
                "app.kubernetes.io/version",
                "helm.sh/chart",
                "helm.sh/resource-policy",
            ] {
                map.remove(key);
            }
            if let Some(name) = map.get_mut("secretName").filter(|_| is_installer)
                && secrets.iter().any(|it| *name == **it)
            {
                *name = format!("shop-operator-{}", name.as_str().expect("it is a text")).into();
            }
            map.values_mut().for_each(|it| without_additions(it, is_installer, secrets));
            map.retain(|key, it| {
                !(["annotations", "labels"].contains(&key.as_str()) && *it == json!({}))
            });
        }
        _ => {}
    }
}
