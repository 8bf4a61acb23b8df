//! What operator-sdk makes of the same objects, and we.
//!
//! The differences, and why they are:
//!
//! * `createdAt`: theirs is the clock's at every run; ours is the base's or SOURCE_DATE_EPOCH's, else left out.
//! * builder and project layout: each tool says its own.
//! * owned CRDs: ours have display name, description and descriptors from the schema, where the base is silent.
//! * webhooks of one name: theirs change places where there are more than twelve, for Go's sort is not stable.
//! * an object that is given twice, all of it the same, is one file; theirs has a second one, `dup0_…`.
//! * display name, description, keywords, links and maintainers come from Cargo.toml, where the base is silent.
//!
//! What only ours refuses, and why, is in `random.rs`.

use serde_json::{Value, json};

use super::{
    CSV, documents, made, object, objects,
    oracle::{self, check},
};
use crate::support;

fn service(name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": name, "namespace": "memcached-operator-system" },
        "spec": { "ports": [{ "port": 443, "protocol": "TCP", "targetPort": 9443 }], "selector": labels },
    })
}

fn labels(objects: &mut [Value]) -> Value {
    object(objects, "Deployment", "manager")["spec"]["template"]["metadata"]["labels"].clone()
}

fn deployment(objects: &mut [Value]) -> &mut Value {
    object(objects, "Deployment", "manager")
}

#[test]
fn a_scaffolded_project_gives_the_same_bundle() {
    check("scaffolded", &objects());
}

#[test]
fn an_operator_of_one_namespace_has_namespaced_permissions() {
    let mut objects = objects();
    let role = object(&mut objects, "ClusterRole", "manager-role");
    role["kind"] = json!("Role");
    let binding = object(&mut objects, "ClusterRoleBinding", "manager-rolebinding");
    binding["kind"] = json!("RoleBinding");
    binding["roleRef"]["kind"] = json!("Role");
    check("namespaced", &objects);
}

#[test]
fn a_cluster_role_bound_in_a_namespace_is_a_namespaced_permission() {
    let mut objects = objects();
    let binding = object(&mut objects, "ClusterRoleBinding", "manager-rolebinding");
    binding["kind"] = json!("RoleBinding");
    check("cluster-role-in-namespace", &objects);
}

#[test]
fn service_accounts_and_roles_of_others_stay_manifests() {
    let mut objects = objects();
    objects.push(json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": { "name": "operand", "namespace": "memcached-operator-system" },
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": { "name": "operand", "namespace": "memcached-operator-system" },
        "rules": [{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }],
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": "operand", "namespace": "memcached-operator-system" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "operand" },
        "subjects": [{ "kind": "ServiceAccount", "name": "operand", "namespace": "memcached-operator-system" }],
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": { "name": "readers" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "memcached-operator-metrics-reader" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "monitoring" }],
    }));
    check("others", &objects);
}

#[test]
fn rules_of_further_service_accounts_are_in_the_csv() {
    let mut objects = objects();
    let account = |name: &str| json!({ "kind": "ServiceAccount", "name": name, "namespace": "a" });
    let binding = |kind: &str, name: &str, role: &str, subjects: Value| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": subjects,
        })
    };
    objects.push(
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "operand" } }),
    );
    // The API server refuses a Role with the URL that it allows.
    let pods = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }]);
    object(&mut objects, "ClusterRole", "metrics-reader")["rules"] = pods;
    let role = "memcached-operator-metrics-reader";
    objects.push(binding("RoleBinding", "one", role, json!([account("operand")])));
    objects.push(binding("ClusterRoleBinding", "two", role, json!([account("unmade")])));
    let both = json!([account("operand"), account("unmade")]);
    objects.push(binding("RoleBinding", "three", role, both));
    let words = [&oracle::CHANNELS[..], &["--extra-service-accounts", "operand,unmade"]].concat();
    let ours = made("extra", &objects, &words);
    let of = |field: &str| -> Vec<Value> {
        let list = ours[CSV]["spec"]["install"]["spec"][field].as_array().expect("a list");
        list.iter().map(|it| it["serviceAccountName"].clone()).collect()
    };
    assert_eq!(of("permissions"), ["memcached-operator-controller-manager", "operand", "unmade"]);
    assert_eq!(of("clusterPermissions"), ["memcached-operator-controller-manager", "unmade"]);
    assert!(!ours.contains_key("manifests/operand_v1_serviceaccount.yaml"));
    let text = super::stream(&objects);
    let Some((dir, output)) = oracle::run_with("extra", "memcached-operator", &text, &words) else {
        return;
    };
    assert!(output.status.success(), "{}", support::said(&output));
    let theirs = oracle::made_in(&dir);
    let ours = oracle::made_in(&support::folder("extra"));
    assert_eq!(oracle::difference(theirs, ours, &objects), None);
}

/// A Role of the operator's, bound to it, and one of the same name that nobody has, in another namespace.
fn roles_of_one_name(others: &str) -> Vec<Value> {
    let mut objects = objects();
    let role = |namespace: &str, resource: &str| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": { "name": "reader", "namespace": namespace },
            "rules": [{ "apiGroups": [""], "resources": [resource], "verbs": ["get"] }],
        })
    };
    let own = "memcached-operator-system";
    objects.extend([role(others, "secrets"), role(own, "pods")]);
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": "reader", "namespace": own },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader" },
        "subjects": [{ "kind": "ServiceAccount", "name": "memcached-operator-controller-manager", "namespace": own }],
    }));
    objects
}

#[test]
fn a_role_is_found_in_the_namespace_of_its_binding() {
    check("roles-of-one-name", &roles_of_one_name("kube-system"));
}

#[test]
fn a_cluster_role_binding_does_not_grant_a_role() {
    let mut objects = roles_of_one_name("kube-system");
    let binding = object(&mut objects, "RoleBinding", "reader");
    binding["kind"] = json!("ClusterRoleBinding");
    binding["metadata"].as_object_mut().expect("it is a map").remove("namespace");
    object(&mut objects, "Role", "reader")["metadata"]["name"] = json!("other");
    check("cluster-role-binding", &objects);
}

#[test]
fn a_binding_without_subjects_is_left_out() {
    let mut objects = objects();
    let mut binding = object(&mut objects, "ClusterRoleBinding", "manager-rolebinding").clone();
    binding["metadata"]["name"] = json!("idle");
    binding.as_object_mut().expect("it is a map").remove("subjects");
    objects.push(binding);
    check("no-subjects", &objects);
    // operator-sdk finds the Role by its name alone.
    let mut binding = object(&mut objects, "RoleBinding", "election-rolebinding").clone();
    binding["metadata"] = json!({ "name": "idle", "namespace": "elsewhere" });
    binding["subjects"] = json!([]);
    objects.push(binding);
    check("no-subjects-elsewhere", &objects);
}

#[test]
fn a_role_of_the_cluster_itself_stays_a_binding() {
    let mut objects = objects();
    let account = json!([{
        "kind": "ServiceAccount", "name": "memcached-operator-controller-manager", "namespace": "memcached-operator-system",
    }]);
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": { "name": "delegator" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator" },
        "subjects": account,
    }));
    check("elsewhere", &objects);
}

#[test]
fn every_supported_kind_is_a_file_of_its_own() {
    let mut objects = objects();
    let metadata = json!({ "name": "it", "namespace": "memcached-operator-system" });
    for (version, kind, spec) in [
        ("v1", "ConfigMap", json!({})),
        ("v1", "Secret", json!({})),
        (
            "monitoring.coreos.com/v1",
            "ServiceMonitor",
            json!({ "endpoints": [{ "port": "https" }], "selector": {} }),
        ),
        ("monitoring.coreos.com/v1", "PrometheusRule", json!({ "groups": [{ "name": "a" }] })),
        (
            "networking.k8s.io/v1",
            "NetworkPolicy",
            json!({ "podSelector": {}, "policyTypes": ["Ingress"] }),
        ),
        (
            "policy/v1",
            "PodDisruptionBudget",
            json!({ "minAvailable": 1, "selector": { "matchLabels": { "a": "b" } } }),
        ),
        ("scheduling.k8s.io/v1", "PriorityClass", json!({})),
        (
            "console.openshift.io/v1",
            "ConsoleLink",
            json!({ "href": "https://example.com", "location": "HelpMenu", "text": "it" }),
        ),
        ("console.openshift.io/v1", "ConsoleCLIDownload", json!({ "displayName": "it" })),
        ("console.openshift.io/v1", "ConsoleQuickStart", json!({ "displayName": "it" })),
        ("console.openshift.io/v1", "ConsoleYAMLSample", json!({ "title": "it" })),
        ("console.openshift.io/v1", "ConsolePlugin", json!({ "displayName": "it" })),
        (
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            json!({ "targetRef": { "kind": "Deployment", "name": "it" } }),
        ),
    ] {
        let mut it = json!({ "apiVersion": version, "kind": kind, "metadata": metadata });
        match kind {
            "ConfigMap" => it["data"] = json!({ "a": "b" }),
            "Secret" => it["stringData"] = json!({ "a": "b" }),
            "PriorityClass" => it["value"] = json!(7),
            _ => it["spec"] = spec,
        }
        objects.push(it);
    }
    check("supported", &objects);
}

#[test]
fn each_served_version_is_owned() {
    let mut objects = objects();
    let crd = object(&mut objects, "CustomResourceDefinition", "");
    let versions = crd["spec"]["versions"].as_array_mut().expect("it has versions");
    let mut second = versions[0].clone();
    second["name"] = json!("v1beta1");
    second["storage"] = json!(false);
    let mut third = second.clone();
    third["name"] = json!("v1");
    third["served"] = json!(false);
    versions.extend([second, third]);
    let mut sample = object(&mut objects, "Memcached", "").clone();
    sample["apiVersion"] = json!("cache.example.com/v1beta1");
    sample["metadata"]["name"] = json!("other");
    sample["metadata"]["annotations"] = json!({ "note": "<sample> & more" });
    objects.push(sample);
    check("versions", &objects);
}

#[test]
fn what_the_base_says_of_owned_and_other_things_is_kept() {
    let mut objects = objects();
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    csv["metadata"]["namespace"] = json!("placeholder");
    csv["metadata"]["annotations"]["olm.skipRange"] = json!("<0.0.1");
    csv["metadata"]["annotations"]["containerImage"] =
        json!("quay.io/example/memcached-operator:v0.0.1");
    let spec = &mut csv["spec"];
    spec["customresourcedefinitions"] = json!({
        "owned": [{
            "name": "memcacheds.cache.example.com", "version": "v1alpha1", "kind": "Memcached",
            "displayName": "Memcached App", "description": "Servers",
            "resources": [{ "kind": "Deployment", "name": "", "version": "v1" }],
            "specDescriptors": [
                { "path": "size", "displayName": "How many", "x-descriptors": ["urn:alm:descriptor:com.tectonic.ui:number"] },
                { "path": "not.in.the.schema", "displayName": "Kept" },
            ],
        }],
        "required": [{ "name": "issuers.cert-manager.io", "version": "v1", "kind": "Issuer", "displayName": "Issuer" }],
    });
    spec["nativeAPIs"] = json!([{ "group": "apps", "version": "v1", "kind": "Deployment" }]);
    spec["replaces"] = json!("memcached-operator.v0.0.0");
    spec["skips"] = json!(["memcached-operator.v0.0.0-rc1"]);
    spec["labels"] = json!({ "a": "b" });
    spec["selector"] = json!({ "matchLabels": { "a": "b" } });
    spec["cleanup"] = json!({ "enabled": true });
    spec["install"] = json!({ "strategy": "deployment", "spec": { "deployments": null } });
    check("base", &objects);
    // A pointer in Go: it is there although it is empty.
    object(&mut objects, "ClusterServiceVersion", "v0.0.0")["spec"]["selector"] = json!({});
    check("base-selector", &objects);
}

#[test]
fn a_sample_of_a_kind_that_bundles_hold_is_a_file_too() {
    let mut objects = objects();
    let mut crd = object(&mut objects, "CustomResourceDefinition", "").clone();
    crd["metadata"]["name"] = json!("secrets.cache.example.com");
    crd["spec"]["names"] = json!({ "kind": "Secret", "listKind": "SecretList", "plural": "secrets", "singular": "secret" });
    let version = crd["spec"]["versions"][0]["name"].clone();
    let version = version.as_str().expect("a version has a name");
    objects.push(json!({
        "apiVersion": format!("cache.example.com/{version}"), "kind": "Secret", "metadata": { "name": "it" }, "spec": { "size": 1 },
    }));
    objects.push(crd);
    check("sample-of-a-secret", &objects);
}

#[test]
fn related_images_of_several_containers_keep_apart() {
    let mut objects = objects();
    let mut second = deployment(&mut objects).clone();
    let pod = &mut deployment(&mut objects)["spec"]["template"]["spec"];
    let containers = pod["containers"].as_array_mut().expect("it has containers");
    let mut init = containers[0].clone();
    init["name"] = json!("init");
    init["env"] = json!([
        { "name": "RELATED_IMAGE_MEMCACHED", "value": "memcached:1.6.39-alpine" },
        { "name": "RELATED_IMAGE_Side_CAR", "value": "quay.io/example/side:1" },
        { "name": "WATCH_NAMESPACE", "value": "here" },
    ]);
    pod["initContainers"] = json!([init]);
    second["metadata"]["name"] = json!("second");
    second["spec"]["template"]["spec"]["containers"][0]["env"] = json!([
        { "name": "RELATED_IMAGE_SIDE_CAR", "value": "quay.io/example/side:2" },
        { "name": "WATCH_NAMESPACE", "value": "here" },
    ]);
    objects.push(second);
    check("images", &objects);
}

#[test]
fn webhooks_become_definitions() {
    let mut objects = objects();
    let labels = labels(&mut objects);
    objects.push(service("memcached-operator-webhook-service", &labels));
    let webhook = |name: &str, path: &str| {
        json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "clientConfig": { "service": { "name": "memcached-operator-webhook-service", "namespace": "memcached-operator-system", "path": path } },
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "objectSelector": { "matchLabels": { "a": "b" } },
            "rules": [{ "apiGroups": ["cache.example.com"], "apiVersions": ["v1alpha1"], "operations": ["CREATE"], "resources": ["memcacheds"] }],
            "sideEffects": "NoneOnDryRun",
            "timeoutSeconds": 5,
        })
    };
    let mut bare = webhook("a.kb.io", "/a");
    for it in ["matchPolicy", "objectSelector", "sideEffects", "timeoutSeconds", "failurePolicy"] {
        bare.as_object_mut().expect("it is a map").remove(it);
    }
    let mut mutating = webhook("m.kb.io", "/m");
    mutating["reinvocationPolicy"] = json!("IfNeeded");
    mutating["clientConfig"]["service"]["port"] = json!(443);
    objects.push(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "validating" }, "webhooks": [webhook("v.kb.io", "/v"), bare],
    }));
    objects.push(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": { "name": "mutating" }, "webhooks": [mutating],
    }));
    check("webhooks", &objects);
}

#[test]
fn conversion_webhooks_of_one_path_are_one_definition() {
    let mut objects = objects();
    let labels = labels(&mut objects);
    objects.push(service("memcached-operator-webhook-service", &labels));
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    for it in csv["spec"]["installModes"].as_array_mut().expect("it has install modes") {
        it["supported"] = json!(it["type"] == "AllNamespaces");
    }
    let crd = object(&mut objects, "CustomResourceDefinition", "");
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": { "service": { "name": "memcached-operator-webhook-service", "namespace": "memcached-operator-system", "path": "/convert" } },
            "conversionReviewVersions": ["v1"],
        },
    });
    let mut other = crd.clone();
    other["metadata"]["name"] = json!("caches.cache.example.com");
    other["spec"]["names"] = json!({ "kind": "Cache", "listKind": "CacheList", "plural": "caches", "singular": "cache" });
    let mut third = other.clone();
    third["metadata"]["name"] = json!("ports.cache.example.com");
    third["spec"]["names"] =
        json!({ "kind": "Port", "listKind": "PortList", "plural": "ports", "singular": "port" });
    third["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] = json!(443);
    objects.extend([other, third]);
    check("conversion", &objects);
}

#[test]
fn an_image_of_two_names_has_none() {
    let mut objects = objects();
    let env = &mut deployment(&mut objects)["spec"]["template"]["spec"]["containers"][0]["env"];
    *env = json!([
        { "name": "RELATED_IMAGE_A", "value": "memcached:1" },
        { "name": "RELATED_IMAGE_B", "value": "memcached:1" },
        { "name": "RELATED_IMAGE_B", "value": "memcached:2" },
        { "name": "RELATED_IMAGE_C", "value": "memcached:3" },
    ]);
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    csv["spec"]["relatedImages"] = json!([{ "name": "base", "image": "memcached:3" }]);
    check("two-names", &objects);
}

/// operator-sdk 1.42.3 panics at this one.
#[test]
fn a_role_that_is_bound_twice_counts_twice() {
    let mut objects = objects();
    let mut again = object(&mut objects, "RoleBinding", "leader-election-rolebinding").clone();
    again["metadata"]["name"] = json!("again");
    objects.push(again);
    let ours = made("bound-twice", &objects, &[]);
    let permissions = &ours[CSV]["spec"]["install"]["spec"]["permissions"][0]["rules"];
    assert_eq!(permissions.as_array().map(Vec::len), Some(4));
}

#[test]
fn a_second_run_changes_nothing() {
    let (dir, _) = super::bundle("again", &objects(), &[]);
    let before = support::tree(&dir);
    let output = support::operator_rs(&dir, "bundle --input objects.yaml --check");
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
    assert!(documents("").is_empty());
}
