//! Every rule has a bundle that breaks it, and a good bundle breaks none: one that is listed and missing here fails, and
//! so does one here that is not listed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use serde_json::{Value, json};

use super::{CSV, made, objects};
use crate::{
    support,
    verdicts::{ANNOTATIONS, CRD, set, with_cert_annotation},
};

type Files = BTreeMap<String, Value>;

const DEPLOYMENT: &str = "/spec/install/spec/deployments/0";
const WEBHOOKS: &str = "/spec/webhookdefinitions";
const OWNED: &str = "/spec/customresourcedefinitions/owned/0";

/// The fixtures that set one field.
fn fields() -> Vec<(&'static str, &'static str, String, Value)> {
    let annotation =
        |it: &str| format!("/annotations/operators.operatorframework.io.bundle.{it}.v1");
    let csv = |it: &str| format!("/metadata/annotations/{it}");
    let in_deployment = |it: &str| format!("{DEPLOYMENT}{it}");
    let platform = |os: &str, architecture: &str| {
        json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": "kubernetes.io/os", "operator": "In", "values": [os] },
            { "key": "kubernetes.io/arch", "operator": "In", "values": [architecture] },
        ] }] } } })
    };
    let conversion = |crds: Value| json!([{ "type": "ConversionWebhook", "generateName": "c.kb.io", "deploymentName": "memcached-operator-controller-manager", "conversionCRDs": crds }]);
    let webhook = |name: &str, deployment: &str, group: &str, resource: &str| json!([{ "type": "ValidatingAdmissionWebhook", "generateName": name, "deploymentName": deployment, "rules": [{ "apiGroups": [group], "resources": [resource] }] }]);
    const ADMISSION: &str = "admissionregistration.k8s.io";
    const HERE: &str = "memcached-operator-controller-manager";
    let twice = |one: &str, other: &str| {
        let it =
            |type_: &str| json!({ "type": type_, "generateName": "a", "deploymentName": HERE });
        json!([it(one), it(other)])
    };
    let (validating, mutating) = ("ValidatingAdmissionWebhook", "MutatingAdmissionWebhook");
    vec![
        ("fmt-annotations-type", ANNOTATIONS, "/annotations".to_owned(), json!(["a"])),
        ("fmt-annotation-missing", ANNOTATIONS, annotation("channels"), Value::Null),
        ("fmt-mediatype", ANNOTATIONS, annotation("mediatype"), json!("helm+v1")),
        ("fmt-channels-empty", ANNOTATIONS, annotation("channels"), json!("")),
        ("fmt-manifests-path", ANNOTATIONS, annotation("manifests"), json!("../manifests")),
        ("fmt-unreadable", CSV, "/spec/keywords".to_owned(), json!("a")),
        ("bundle-crd-missing", CSV, format!("{OWNED}/version"), json!("v1")),
        ("bundle-crd-unowned", CSV, "/spec/customresourcedefinitions/owned".to_owned(), json!([])),
        (
            "relimg-empty",
            CSV,
            "/spec/relatedImages".to_owned(),
            json!([{ "name": "a", "image": "" }]),
        ),
        (
            "relimg-invalid",
            CSV,
            "/spec/relatedImages".to_owned(),
            json!([{ "name": "a", "image": "A B" }]),
        ),
        ("csv-name", CSV, "/metadata/name".to_owned(), json!("Memcached.v0.0.1")),
        ("csv-replaces", CSV, "/spec/replaces".to_owned(), json!("a_b")),
        ("csv-version-kind", CSV, "/apiVersion".to_owned(), Value::Null),
        ("csv-field", CSV, "/spec/displayName".to_owned(), Value::Null),
        ("csv-no-annotations", CSV, "/metadata/annotations".to_owned(), Value::Null),
        ("csv-no-examples", CSV, csv("alm-examples"), Value::Null),
        ("csv-both-examples", CSV, csv("olm.examples"), json!("[]")),
        ("csv-examples-json", CSV, csv("alm-examples"), json!("[{]")),
        ("csv-crd-name", CSV, format!("{OWNED}/name"), json!("memcacheds")),
        (
            "csv-example-api",
            CSV,
            csv("alm-examples"),
            json!("[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}]"),
        ),
        ("csv-api-example", CSV, csv("alm-examples"), json!("[]")),
        ("csv-installmodes", CSV, "/spec/installModes".to_owned(), json!([])),
        (
            "csv-installmodes-none",
            CSV,
            "/spec/installModes".to_owned(),
            json!([{ "type": "AllNamespaces", "supported": false }]),
        ),
        ("csv-minkube", CSV, "/spec/minKubeVersion".to_owned(), Value::Null),
        ("csv-minkube-bad", CSV, "/spec/minKubeVersion".to_owned(), json!("1.33")),
        ("csv-annotation-case", CSV, csv("olm.skiprange"), json!("<0.0.1")),
        ("csv-olm-properties", CSV, csv("olm.properties"), json!("[]")),
        ("crd-version", CRD, "/apiVersion".to_owned(), json!("apiextensions.k8s.io/v1alpha1")),
        ("olm-undecodable", CSV, "/spec/displayName".to_owned(), json!(1)),
        ("olm-unknown-field", CRD, "/spec/names/shortName".to_owned(), json!(["m"])),
        ("crd-invalid", CRD, "/spec/scope".to_owned(), json!("Universe")),
        ("olm-webhook-dup", CSV, WEBHOOKS.to_owned(), twice(validating, validating)),
        ("olmv0-webhook-dup", CSV, WEBHOOKS.to_owned(), twice(validating, mutating)),
        (
            "olmv0-webhook-label",
            CSV,
            WEBHOOKS.to_owned(),
            webhook(&"a".repeat(64), HERE, "", "pods"),
        ),
        ("olm-webhook-deployment", CSV, WEBHOOKS.to_owned(), webhook("a", "other", "", "pods")),
        ("olmv0-webhook-dots", CSV, WEBHOOKS.to_owned(), webhook("a", "a.b", "", "pods")),
        (
            "olmv0-webhook-service",
            CSV,
            WEBHOOKS.to_owned(),
            webhook("a", &"a".repeat(56), "", "pods"),
        ),
        ("olm-webhook-groups", CSV, WEBHOOKS.to_owned(), webhook("a", HERE, "*", "pods")),
        (
            "olmv0-webhook-group",
            CSV,
            WEBHOOKS.to_owned(),
            webhook("a", HERE, "operators.coreos.com", "*"),
        ),
        ("olm-webhook-admission", CSV, WEBHOOKS.to_owned(), webhook("a", HERE, ADMISSION, "*")),
        (
            "olmv1-webhook-group",
            CSV,
            WEBHOOKS.to_owned(),
            webhook("a", HERE, "olm.operatorframework.io", "*"),
        ),
        (
            "olmv1-webhook-admission",
            CSV,
            WEBHOOKS.to_owned(),
            webhook("a", HERE, ADMISSION, "mutatingwebhookconfigurations"),
        ),
        ("olmv1-webhook-name", CSV, WEBHOOKS.to_owned(), webhook("A", HERE, "", "pods")),
        (
            "olm-conversion-owned",
            CSV,
            WEBHOOKS.to_owned(),
            conversion(json!(["others.example.com"])),
        ),
        ("olmv0-conversion-none", CSV, WEBHOOKS.to_owned(), conversion(json!([]))),
        (
            "olmv1-conversion-dup",
            CSV,
            WEBHOOKS.to_owned(),
            conversion(json!(["memcacheds.cache.example.com", "memcacheds.cache.example.com"])),
        ),
        (
            "olmv0-installmode-dup",
            CSV,
            "/spec/installModes".to_owned(),
            json!([{ "type": "AllNamespaces", "supported": true }, { "type": "AllNamespaces", "supported": true }]),
        ),
        ("olm-owned-name", CSV, format!("{OWNED}/name"), json!("memcached.cache.example.com")),
        ("olm-selector", CSV, in_deployment("/spec/selector/matchLabels"), json!({ "a": "b" })),
        ("olm-crd-refused", CRD, "/spec/versions/0/schema".to_owned(), json!({})),
        (
            "olm-policy-rule",
            CSV,
            "/spec/install/spec/permissions/0/rules/0/verbs".to_owned(),
            json!([]),
        ),
        (
            "olm-limits",
            CSV,
            in_deployment("/spec/template/spec/containers/0/resources"),
            json!({ "requests": { "cpu": "1" }, "limits": { "cpu": "500m" } }),
        ),
        ("olmv0-strategy", CSV, "/spec/install/strategy".to_owned(), json!("helm")),
        ("olm-no-version", CSV, "/spec/version".to_owned(), json!(null)),
        ("olm-deployment-name", CSV, in_deployment("/name"), json!("A")),
        ("olm-package-empty", ANNOTATIONS, annotation("package"), json!("")),
        ("olm-annotations-size", CSV, csv("a"), json!("a".repeat(256 << 10))),
        (
            "olm-account-missing",
            CSV,
            in_deployment("/spec/template/spec/serviceAccountName"),
            json!("other"),
        ),
        (
            "olmv0-no-permissions",
            CSV,
            in_deployment("/spec/template/spec/serviceAccountName"),
            json!("default"),
        ),
        ("olmv0-relimg-missing", CSV, "/spec/relatedImages".to_owned(), json!([])),
        (
            "olmv0-replaces-self",
            CSV,
            "/spec/replaces".to_owned(),
            json!("memcached-operator.v0.0.1"),
        ),
        (
            "olmv0-replaces-newer",
            CSV,
            "/spec/replaces".to_owned(),
            json!("memcached-operator.v0.0.2"),
        ),
        ("olmv0-skiprange-bad", CSV, csv("olm.skipRange"), json!("^1.0.0")),
        ("olmv0-skiprange-self", CSV, csv("olm.skipRange"), json!(">=0.0.1 <0.1.0")),
        (
            "olmv1-apiservices",
            CSV,
            "/spec/apiservicedefinitions".to_owned(),
            json!({ "required": [{ "name": "a", "group": "a", "version": "v1", "kind": "A" }] }),
        ),
        (
            "olmv1-all-namespaces",
            CSV,
            "/spec/installModes".to_owned(),
            json!([{ "type": "OwnNamespace", "supported": true }]),
        ),
        (
            "olmv1-operator-conditions",
            CSV,
            "/spec/install/spec/permissions".to_owned(),
            json!([{ "serviceAccountName": "memcached-operator-controller-manager", "rules": [{ "apiGroups": ["operators.coreos.com"], "resources": ["operatorconditions/status"], "verbs": ["get"] }] }]),
        ),
        ("hub-provider", CSV, "/spec/provider".to_owned(), Value::Null),
        ("hub-maintainers", CSV, "/spec/maintainers".to_owned(), json!([{ "name": "a" }])),
        (
            "hub-maintainers-email",
            CSV,
            "/spec/maintainers".to_owned(),
            json!([{ "name": "a", "email": "a" }]),
        ),
        (
            "hub-email-unchecked",
            CSV,
            "/spec/maintainers".to_owned(),
            json!([{ "name": "a", "email": "\"a\" <a@example.com> (b)" }]),
        ),
        ("hub-links", CSV, "/spec/links".to_owned(), json!([{ "name": "a" }])),
        ("hub-links-url", CSV, "/spec/links".to_owned(), json!([{ "name": "a", "url": "a b" }])),
        ("hub-version", CSV, "/spec/version".to_owned(), Value::Null),
        ("hub-icon", CSV, "/spec/icon".to_owned(), Value::Null),
        ("hub-icon-one", CSV, "/spec/icon".to_owned(), json!([])),
        (
            "hub-icon-data",
            CSV,
            "/spec/icon".to_owned(),
            json!([{ "base64data": "", "mediatype": "" }]),
        ),
        (
            "hub-icon-type",
            CSV,
            "/spec/icon".to_owned(),
            json!([{ "base64data": "YQ==", "mediatype": "text/plain" }]),
        ),
        ("cap-level", CSV, csv("capabilities"), json!("Perfect")),
        ("cat-standard", CSV, csv("categories"), json!("Mine")),
        ("gp-no-deployment", CSV, "/spec/install/spec/deployments".to_owned(), Value::Null),
        (
            "gp-requests",
            CSV,
            in_deployment("/spec/template/spec/containers/0/resources"),
            Value::Null,
        ),
        ("gp-crd-desc", CSV, format!("{OWNED}/description"), Value::Null),
        (
            "gp-crd-rbac",
            CSV,
            "/spec/install/spec/permissions".to_owned(),
            json!([{ "serviceAccountName": "memcached-operator-controller-manager", "rules": [{ "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["create"] }] }]),
        ),
        ("gp-name-semver", CSV, "/metadata/name".to_owned(), json!("memcached-operator.v1")),
        ("gp-name", CSV, "/metadata/name".to_owned(), json!("memcached-operator-0.0.1")),
        ("api-minkube-bad", CSV, "/spec/minKubeVersion".to_owned(), json!("a")),
        (
            "ma-missing-label",
            CSV,
            "/metadata/labels".to_owned(),
            json!({ "operatorframework.io/os.linux": "supported" }),
        ),
        (
            "ma-label-unsupported",
            CSV,
            "/metadata/labels".to_owned(),
            json!({ "operatorframework.io/arch.s390x": "supported" }),
        ),
        (
            "ma-image-platform",
            CSV,
            "/spec/relatedImages".to_owned(),
            json!([{ "name": "a", "image": "one-platform" }]),
        ),
        ("ma-affinity-missing", CSV, in_deployment("/spec/template/spec/affinity"), Value::Null),
        (
            "ma-affinity-extra",
            CSV,
            in_deployment("/spec/template/spec/affinity"),
            platform("linux", "s390x"),
        ),
        (
            "ma-affinity-lacking",
            CSV,
            in_deployment("/spec/template/spec/affinity"),
            platform("linux", "amd64"),
        ),
        (
            "ma-inspect",
            CSV,
            "/spec/relatedImages".to_owned(),
            json!([{ "name": "a", "image": "unknown" }]),
        ),
    ]
}

type Change = fn(&mut Files);

fn depend(files: &mut Files, type_: &str, value: Value) {
    let list = json!({ "dependencies": [{ "type": type_, "value": value }] });
    files.insert("metadata/dependencies.yaml".to_owned(), list);
}

fn add(files: &mut Files, object: Value) {
    files.insert("manifests/a.yaml".to_owned(), object);
}

/// An API that Kubernetes 1.22 removed.
fn old(files: &mut Files) {
    add(
        files,
        json!({ "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PriorityClass", "metadata": { "name": "a" } }),
    );
}

/// The other fixtures.
const CHANGES: &[(&str, Change)] = &[
    ("fmt-manifests-dir", |files| files.retain(|it, _| !it.starts_with("manifests/"))),
    ("fmt-metadata-dir", |files| {
        let annotations = files.remove(ANNOTATIONS).expect("it is there");
        files.insert("annotations.yaml".to_owned(), annotations);
    }),
    ("fmt-no-annotations", |files| drop(files.remove(ANNOTATIONS))),
    ("fmt-empty-file", |files| {
        drop(files.insert("metadata/a.yaml".to_owned(), json!("# nothing\n")))
    }),
    ("fmt-more-documents", |files| {
        let config =
            |name| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        let text = format!("{}---\n{}", config("a"), config("b"));
        drop(files.insert("manifests/two.yaml".to_owned(), json!(text)))
    }),
    ("fmt-subdirectory", |files| {
        drop(files.insert("manifests/a/b.yaml".to_owned(), json!({ "a": 1 })))
    }),
    ("fmt-hidden-file", |files| {
        drop(files.insert("manifests/.a.yaml".to_owned(), json!({ "a": 1 })))
    }),
    ("dep-gvk", |files| {
        depend(files, "olm.gvk", json!({ "group": "a", "kind": "", "version": "v1" }))
    }),
    ("dep-label", |files| depend(files, "olm.label", json!({ "label": "" }))),
    ("dep-package", |files| {
        depend(files, "olm.package", json!({ "packageName": "a", "version": "^1.0.0" }))
    }),
    ("dep-cel", |files| depend(files, "olm.constraint", json!({ "cel": { "rule": "" } }))),
    ("dep-cel-types", |files| {
        depend(
            files,
            "olm.constraint",
            json!({ "cel": { "rule": "google.protobuf.Int32Value{} == 0" } }),
        )
    }),
    ("dep-type", |files| depend(files, "olm.other", json!({}))),
    ("olmv1-dependencies", |files| {
        depend(files, "olm.package", json!({ "packageName": "a", "version": "1.0.0" }))
    }),
    ("obj-unsupported", |files| {
        add(files, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "a" } }))
    }),
    ("obj-meta", |files| {
        add(
            files,
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": "b" } }),
        )
    }),
    ("bundle-no-csv", |files| drop(files.remove(CSV))),
    ("bundle-multiple-csvs", |files| add(files, files[CSV].clone())),
    ("bundle-crd-dup", |files| add(files, files[CRD].clone())),
    ("bundle-sa", |files| {
        add(
            files,
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "memcached-operator-controller-manager" } }),
        );
    }),
    ("bundle-size-max", |files| large(files, 1_500_000)),
    ("bundle-size-near", |files| large(files, 960_000)),
    ("olm-manifest-size", |files| {
        add(
            files,
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": "a".repeat(2_000_000) } }),
        );
    }),
    ("csv-conversion-modes", |files| {
        own_namespace(files, &json!(["memcacheds.cache.example.com"]))
    }),
    ("olm-conversion-modes", |files| own_namespace(files, &json!([]))),
    ("olmv0-conversion-unset", |files| {
        converted(files, None);
    }),
    ("olmv0-conversion-service", |files| {
        converted(files, Some("memcached-operator-webhook-service"));
    }),
    ("olm-conversion-undeclared", |files| {
        converted(files, Some("memcached-operator-webhook-service"));
        set(files, CSV, WEBHOOKS, json!([]));
    }),
    ("api-granted", |files| {
        let rules = "/spec/install/spec/clusterPermissions/0/rules/0";
        let rule = json!({ "apiGroups": ["batch"], "resources": ["cronjobs"], "verbs": ["get"] });
        set(files, CSV, rules, rule);
    }),
    ("crd-convert", |files| {
        set(files, CRD, "/apiVersion", json!("apiextensions.k8s.io/v1beta1"));
        set(files, CRD, "/spec/version", json!("v9"));
    }),
    ("olmv0-podmonitor", |files| {
        add(
            files,
            json!({ "apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": { "name": "a" } }),
        )
    }),
    ("olm-binding-namespace", |files| {
        add(
            files,
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": { "name": "a" },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
                "subjects": [{ "kind": "ServiceAccount", "name": "memcached-operator-controller-manager", "namespace": "a" }],
            }),
        );
    }),
    ("olmv1-deployment-dup", |files| {
        let one = files[CSV].pointer(DEPLOYMENT).cloned().expect("it is there");
        set(files, CSV, "/spec/install/spec/deployments", json!([one, one]));
    }),
    ("olmv0-cert-volume", |files| {
        set(
            files,
            CSV,
            &format!("{DEPLOYMENT}/spec/template/spec/volumes"),
            json!([{ "name": "cert", "secret": { "secretName": "webhook-server-cert" } }]),
        );
        set(
            files,
            CSV,
            &format!("{DEPLOYMENT}/spec/template/spec/containers/0/volumeMounts"),
            json!([{ "name": "cert", "mountPath": "/cert" }]),
        );
    }),
    ("olmv0-cert-annotation", |files| {
        with_cert_annotation(files);
    }),
    ("olmv1-crd-dup", |files| {
        let mut other = files[CRD].clone();
        other["spec"]["versions"][0]["name"] = json!("v2");
        add(files, other);
    }),
    ("api-removed", old),
    ("api-removed-later", |files| {
        add(
            files,
            json!({ "apiVersion": "flowcontrol.apiserver.k8s.io/v1beta3", "kind": "FlowSchema", "metadata": { "name": "a" } }),
        )
    }),
];

/// A CRD of two versions that a webhook of the CSV converts, and the Service that its own conversion names.
fn converted(files: &mut Files, service: Option<&str>) {
    let webhook = json!([{ "type": "ConversionWebhook", "generateName": "c.kb.io", "deploymentName": "memcached-operator-controller-manager", "conversionCRDs": ["memcacheds.cache.example.com"], "admissionReviewVersions": ["v1"], "sideEffects": "None" }]);
    set(files, CSV, WEBHOOKS, webhook);
    let version = files[CRD]["spec"]["versions"][0].clone();
    let mut other = version.clone();
    (other["name"], other["storage"]) = (json!("v9"), json!(false));
    set(files, CRD, "/spec/versions", json!([version, other]));
    if let Some(name) = service {
        let service = json!({ "name": name, "namespace": "a", "path": "/convert" });
        let webhook =
            json!({ "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] });
        set(files, CRD, "/spec/conversion", json!({ "strategy": "Webhook", "webhook": webhook }));
    }
}

/// An object that does not compress.
fn large(files: &mut Files, length: usize) {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(
            b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
                [(state >> 58) as usize],
        )
    };
    let text: String = (0..length).map(|_| next()).collect();
    add(
        files,
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": text } }),
    );
}

fn own_namespace(files: &mut Files, crds: &Value) {
    set(files, CSV, "/spec/installModes", json!([{ "type": "OwnNamespace", "supported": true }]));
    let webhook = json!([{ "type": "ConversionWebhook", "generateName": "c.kb.io", "deploymentName": "memcached-operator-controller-manager", "conversionCRDs": crds }]);
    set(files, CSV, WEBHOOKS, webhook);
}

/// Rules about something beside the bundle, and the arguments and variables with which they are broken.
const ASKED: &[(&str, &str, &str)] = &[
    ("hub-deprecated", "--select-optional name=operatorhub", ""),
    ("cat-file", "--select all", "nowhere.json"),
    ("api-not-yet", "--kube-version 1.7", ""),
    ("api-version-bad", "--select-optional name=operatorhubv2 --optional-values k8s-version=a", ""),
];

/// Rules that a directory cannot break: `formats.rs` has an image that does.
const OF_IMAGES: &[&str] = &["fmt-label-mismatch"];

fn check(
    id: &str,
    words: &str,
    categories: &str,
    change: impl FnOnce(&mut Files),
) -> BTreeSet<String> {
    let mut files = good();
    change(&mut files);
    let dir = support::fresh(&format!("rule-{id}"));
    let text = |(path, it): (String, Value)| {
        let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        (format!("bundle/{path}"), text.into_bytes())
    };
    support::put(&files.into_iter().map(text).collect(), &dir);
    let mut command = support::command(support::BINARY, &dir);
    command.args(["bundle", "validate", "--output", "json"]).args(words.split(' '));
    if words == "--select all" {
        command.args(["--optional-values", "container-tools=docker"]);
    }
    command.env("PATH", docker(&dir));
    if !categories.is_empty() {
        command.env("OPERATOR_BUNDLE_CATEGORIES", categories);
    }
    let output = command.output().expect("the binary starts");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{id}: {}", support::said(&output)));
    let findings = report["findings"].as_array().expect("findings are a list");
    let mut res = BTreeSet::new();
    for it in findings {
        let has_field = it["field"] != "";
        assert_eq!(has_field, it["line"].is_u64(), "{id}: {it:#}");
        res.insert(it["rule"].as_str().expect("an id").to_owned());
    }
    res
}

/// A `docker` that knows two images: one of two platforms, one of one.
fn docker(dir: &Path) -> String {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).expect("the folder is ours");
    let script = "#!/bin/sh\ncase \"$*\" in *unknown*) exit 1 ;; pull*) exit 0 ;; esac\n\
        p() { echo \"{\\\"platform\\\": {\\\"os\\\": \\\"linux\\\", \\\"architecture\\\": \\\"$1\\\"}}\"; }\n\
        case \"$*\" in *one-platform*) echo \"{\\\"manifests\\\": [$(p amd64)]}\" ;; *) echo \"{\\\"manifests\\\": [$(p amd64), $(p arm64)]}\" ;; esac\n";
    fs::write(bin.join("docker"), script).expect("the folder is ours");
    fs::set_permissions(bin.join("docker"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    format!("{}:/usr/bin:/bin", bin.display())
}

/// A bundle that no rule is broken by.
fn good() -> Files {
    static GOOD: std::sync::OnceLock<Files> = std::sync::OnceLock::new();
    let made = || {
        let mut files = made("rules-good", &objects(), &["--channels", "stable"]);
        let icon = json!([{ "base64data": "YQ==", "mediatype": "image/png" }]);
        set(&mut files, CSV, "/spec/icon", icon);
        let labels = json!({ "operatorframework.io/arch.amd64": "supported", "operatorframework.io/arch.arm64": "supported", "operatorframework.io/os.linux": "supported" });
        set(&mut files, CSV, "/metadata/labels", labels);
        let affinity = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": "kubernetes.io/os", "operator": "In", "values": ["linux"] },
            { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"] },
        ] }] } } });
        set(&mut files, CSV, &format!("{DEPLOYMENT}/spec/template/spec/affinity"), affinity);
        files
    };
    GOOD.get_or_init(made).clone()
}

#[test]
fn every_rule_is_broken_by_its_bundle_and_kept_by_a_good_one() {
    assert_eq!(check("good", "--select all", "", |_| {}), BTreeSet::new());
    let mut tried = BTreeSet::new();
    let mut failures = Vec::new();
    let mut expect = |id: &str, found: BTreeSet<String>| {
        if !found.contains(id) {
            failures.push(format!("{id}: found {found:?}"));
        }
        tried.insert(id.to_owned());
    };
    for (id, file, pointer, value) in fields() {
        expect(id, check(id, "--select all", "", |files| set(files, file, &pointer, value)));
    }
    for (id, change) in CHANGES {
        expect(id, check(id, "--select all", "", change));
    }
    for (id, words, categories) in ASKED {
        let change = |files: &mut Files| match *id {
            "api-not-yet" => {}
            "cat-file" => set(files, CSV, "/metadata/annotations/categories", json!("Database")),
            _ => old(files),
        };
        expect(id, check(id, words, categories, change));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    tried.extend(OF_IMAGES.iter().map(ToString::to_string));
    let listed = support::done(support::home(), "bundle validate --list");
    let listed: BTreeSet<String> = listed
        .lines()
        .filter_map(|it| it.strip_prefix("  ")?.split(' ').next().map(str::to_owned))
        .collect();
    let untried: Vec<&String> = listed.difference(&tried).collect();
    assert!(untried.is_empty(), "no bundle here breaks {untried:?}: add one to a table above");
    let unlisted: Vec<&String> = tried.difference(&listed).collect();
    assert!(unlisted.is_empty(), "`bundle validate --list` has no {unlisted:?}");
}

/// What both versions of OLM refuse is an error, what one refuses is an error for that one, and else a warning.
#[test]
fn the_target_decides_about_rules_of_one_version() {
    made("rules-target", &objects(), &[]);
    let dir = support::folder("rules-target");
    let path = dir.join("bundle").join(CSV);
    let text = fs::read_to_string(&path).expect("it is there");
    let severity = |words: &str, rule: &str| {
        let output = support::operator_rs(&dir, &format!("bundle validate -o json {words}"));
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let found =
            report["findings"].as_array().expect("a list").iter().find(|it| it["rule"] == rule);
        found.map(|it| it["severity"].as_str().unwrap_or_default().to_owned())
    };
    let check = |rule: &str, expected: [Option<&str>; 3]| {
        for (words, expected) in ["", "--target olmv0", "--target olmv1"].iter().zip(expected) {
            assert_eq!(severity(words, rule).as_deref(), expected, "{rule} {words}");
        }
    };
    let (error, warning) = (Some("error"), Some("warning"));
    let modes = text.replace("  - supported: true\n    type: AllNamespaces", "  - supported: false\n    type: AllNamespaces\n  - supported: true\n    type: OwnNamespace");
    assert_ne!(modes, text);
    fs::write(&path, modes).expect("it is ours");
    check("olmv1-all-namespaces", [warning, None, error]);
    fs::write(&path, text.replace("kind: ClusterServiceVersion", "kind: ClusterServiceVersion\n#"))
        .expect("it is ours");
    let monitor = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata:\n  name: a\n";
    fs::write(dir.join("bundle/manifests/monitor.yaml"), monitor).expect("it is ours");
    check("olmv0-podmonitor", [warning, error, None]);
    fs::write(
        &path,
        text.replace("name: memcacheds.cache.example.com", "name: memcached.cache.example.com"),
    )
    .expect("it is ours");
    check("olm-owned-name", [error, error, error]);
}

/// operator-sdk's own validators do not know these APIs: they are reported where its options are not used.
#[test]
fn apis_that_later_versions_removed_are_reported() {
    let dir = support::fresh("rules-later");
    let mut files = good();
    let resources = json!([{ "kind": "FlowSchema", "name": "", "version": "flowcontrol.apiserver.k8s.io/v1beta3" }]);
    set(&mut files, CSV, &format!("{OWNED}/resources"), resources);
    set(&mut files, CSV, "/spec/minKubeVersion", json!("1.20.0"));
    let files =
        files.into_iter().map(|(path, it)| (format!("bundle/{path}"), it.to_string().into_bytes()));
    support::put(&files.collect(), &dir);
    let found = |words: &str| {
        let output = support::operator_rs(&dir, &format!("bundle validate -o json {words}"));
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let findings = report["findings"].as_array().expect("a list");
        let found = findings.iter().find(|it| it["rule"] == "api-removed-later")?;
        let message =
            "Kubernetes 1.32 removed `FlowSchema` of `flowcontrol.apiserver.k8s.io/v1beta3`";
        assert_eq!(found["message"], message);
        found["severity"].as_str().map(str::to_owned)
    };
    assert_eq!(found(""), None);
    assert_eq!(found("--kube-version 1.32").as_deref(), Some("error"));
    assert_eq!(found("--kube-version 1.31").as_deref(), Some("warning"));
    assert_eq!(found("--select deprecated-apis").as_deref(), Some("warning"));
    let sdk = "--select-optional name=alpha-deprecated-apis --optional-values k8s-version=1.32";
    assert_eq!(found(sdk), None);
}

#[test]
fn apis_of_other_versions_of_kubernetes_are_reported_with_their_version() {
    let found = |name: &str, object: Value, version: &str| {
        let dir = support::fresh(&format!("rules-{name}"));
        let mut files = good();
        add(&mut files, object);
        let files = files
            .into_iter()
            .map(|(path, it)| (format!("bundle/{path}"), it.to_string().into_bytes()));
        support::put(&files.collect(), &dir);
        let words = format!("bundle validate -o json --kube-version {version}");
        let output = support::operator_rs(&dir, &words);
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let findings = report["findings"].as_array().expect("a list");
        let messages = findings.iter().filter(|it| it["severity"] == "error");
        messages.map(|it| it["message"].to_string()).collect::<Vec<_>>()
    };
    let policy = json!({ "apiVersion": "extensions/v1beta1", "kind": "NetworkPolicy", "metadata": { "name": "a" }, "spec": { "podSelector": {} } });
    let message = "\"Kubernetes 1.16 removed `NetworkPolicy` of `extensions/v1beta1`\"";
    assert_eq!(found("policy", policy, "1.33"), [message]);
    let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "a" }, "spec": { "minAvailable": 1 } });
    let message = "\"Kubernetes 1.20 does not serve `PodDisruptionBudget` of `policy/v1`, which is new in 1.21\"";
    assert_eq!(found("budget", budget.clone(), "1.20"), [message]);
    assert_eq!(found("budget", budget, "1.21"), [""; 0]);
}
