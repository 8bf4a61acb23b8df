//! Edits of a project's objects: what people add, and what slips.

use serde_json::{Value, json};

use super::random_numbers::Random;

/// Mostly the operator's own.
fn namespace(random: &mut Random) -> &'static str {
    let others = ["kube-system", "", "other"];
    if random.one_in(15) { one(random, others) } else { "memcached-operator-system" }
}

const ACCOUNTS: &[&str] = &[
    "memcached-operator-controller-manager",
    "memcached-operator-controller-manager",
    "default",
    "operand",
    "second",
];
const ROLES: &[&str] = &[
    "memcached-operator-manager-role",
    "memcached-operator-leader-election-role",
    "reader",
    "writer",
    "system:auth-delegator",
];

/// The edits of a case.
pub fn of(seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    (0..1 + random.below(4)).map(|_| random.next() >> 16).collect()
}

pub fn apply(edit: u64, objects: &mut Vec<Value>) {
    let random = &mut Random::of(edit, "edit");
    match random.below(19) {
        0 => add(objects, role(random)),
        1 | 2 => add(objects, binding(random)),
        3 => {
            add(objects, role(random));
            add(objects, binding(random));
        }
        4 => deployment(random, objects),
        5 => add(
            objects,
            json!({
                "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(random, ACCOUNTS), "automountServiceAccountToken": false,
            }),
        ),
        6 => add(objects, service(random)),
        7 | 8 => webhooks(random, objects),
        9 => conversion(random, objects),
        10 | 11 => csv(random, objects),
        12 => container(random, objects),
        13 => add(objects, settings(random)),
        14 => (0..2).for_each(|_| add(objects, settings(random))),
        15 => images(random, objects),
        _ => slip(random, objects),
    }
}

/// Adds an object, as kustomize does: none is there twice.
fn add(objects: &mut Vec<Value>, object: Value) {
    let id = |it: &Value| json!([it["kind"], it["metadata"]["name"], it["metadata"]["namespace"]]);
    if !objects.iter().any(|it| id(it) == id(&object)) {
        objects.push(object);
    }
}

/// One of these.
fn one<T: Clone, const N: usize>(random: &mut Random, of: [T; N]) -> T {
    random.pick(&of).clone()
}

fn metadata(random: &mut Random, names: &[&str]) -> Value {
    let mut res = json!({ "name": random.pick(names) });
    match namespace(random) {
        "" => {}
        namespace => res["namespace"] = json!(namespace),
    }
    if random.one_in(4) {
        res["labels"] =
            one(random, [json!({ "a": "b" }), json!({ "a": null, "b": 1 }), json!({ "c": true })]);
    }
    res
}

fn role(random: &mut Random) -> Value {
    let kind = *random.pick(&["Role", "ClusterRole"]);
    let resource = *random.pick(&["pods", "secrets", "configmaps"]);
    let mut metadata = metadata(random, ROLES);
    if kind == "ClusterRole" {
        metadata.as_object_mut().expect("a map").remove("namespace");
    }
    let rules = one(
        random,
        [
            json!([{ "apiGroups": [""], "resources": [resource], "verbs": ["get", "list"] }]),
            json!([{ "apiGroups": [null], "resources": [resource], "verbs": ["*"] }, { "nonResourceURLs": ["/metrics"], "verbs": ["get"] }]),
            json!([]),
            json!(null),
        ],
    );
    json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules })
}

fn binding(random: &mut Random) -> Value {
    let kind = *random.pick(&["RoleBinding", "ClusterRoleBinding", "RoleBinding"]);
    let mut metadata = metadata(random, &["one", "two", "three", "four", "five", "six"]);
    if kind == "ClusterRoleBinding" {
        metadata.as_object_mut().expect("a map").remove("namespace");
    }
    let mut subjects = Vec::new();
    for _ in 0..*random.pick(&[1, 1, 1, 2, 0, 3]) {
        subjects.push(match random.below(6) {
            0 => json!({ "kind": "Group", "name": "monitoring", "apiGroup": "rbac.authorization.k8s.io" }),
            1 => json!({ "kind": "User", "name": random.pick(ACCOUNTS) }),
            _ => json!({ "kind": "ServiceAccount", "name": random.pick(ACCOUNTS), "namespace": namespace(random) }),
        });
    }
    let group = match random.below(15) {
        0 => "example.com",
        1 => "",
        _ => "rbac.authorization.k8s.io",
    };
    let role = json!({ "apiGroup": group, "kind": random.pick(&["Role", "ClusterRole", "ClusterRole"]), "name": random.pick(ROLES) });
    let mut res = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "roleRef": role });
    if !random.one_in(8) {
        res["subjects"] = subjects.into();
    }
    res
}

/// A small object of any kind, under few names, in all namespaces.
fn settings(random: &mut Random) -> Value {
    let kind = *random.pick(&["ConfigMap", "ConfigMap", "Secret", "ServiceAccount", "Service"]);
    let namespace = *random.pick(&["memcached-operator-system", "kube-system", "other"]);
    let mut res = json!({
        "apiVersion": "v1", "kind": kind, "metadata": { "name": random.pick(&["settings", "extra"]), "namespace": namespace },
    });
    match kind {
        "ConfigMap" => res["data"] = json!({ "a": random.pick(&["1", "1", "2"]) }),
        "Service" => res["spec"] = json!({ "ports": [{ "port": 80 }] }),
        _ => {}
    }
    res
}

/// In variables, and in the base.
fn images(random: &mut Random, objects: &mut [Value]) {
    let images = ["a:1", "a:2", "memcached:1.6.39-alpine"];
    let container = find(objects, "Deployment")
        .and_then(|it| it.pointer_mut("/spec/template/spec/containers/0"))
        .filter(|it| it.is_object());
    if let Some(container) = container {
        let variable = |random: &mut Random| {
            let name = format!("RELATED_IMAGE_{}", random.pick(&["A", "B", "side_CAR"]));
            json!({ "name": name, "value": random.pick(&images) })
        };
        container["env"] = (0..random.below(4)).map(|_| variable(random)).collect();
    }
    if random.one_in(3)
        && let Some(csv) = find(objects, "ClusterServiceVersion")
    {
        let image = json!({ "name": random.pick(&["a", "extra"]), "image": random.pick(&images) });
        csv["spec"]["relatedImages"] = json!([image]);
    }
}

fn find<'a>(objects: &'a mut [Value], kind: &str) -> Option<&'a mut Value> {
    objects.iter_mut().find(|it| it["kind"] == kind && it["spec"].is_object())
}

fn deployment(random: &mut Random, objects: &mut Vec<Value>) {
    let Some(deployment) = find(objects, "Deployment") else { return };
    let mut other = deployment.clone();
    other["metadata"] = metadata(random, &["second", "third"]);
    let Some(pod) = other.pointer_mut("/spec/template/spec").filter(|it| it.is_object()) else {
        return;
    };
    match random.below(3) {
        0 => drop(pod.as_object_mut().map(|it| it.remove("serviceAccountName"))),
        _ => pod["serviceAccountName"] = json!(random.pick(ACCOUNTS)),
    }
    if random.one_in(2) {
        other["spec"]["template"]["metadata"] = json!({ "labels": { "app": "second" } });
    }
    add(objects, other);
}

fn service(random: &mut Random) -> Value {
    let ports = one(
        random,
        [
            json!([{ "port": 443, "targetPort": 9443 }]),
            json!([{ "port": 443 }]),
            json!([{ "port": 443, "targetPort": "webhook", "name": "https" }, { "port": 8443.0 }]),
            json!([{ "port": 80, "targetPort": 8080 }]),
            json!(null),
        ],
    );
    let selector = match random.below(60) {
        0 => json!({ "app": "second" }),
        1 => json!({}),
        _ => json!({ "control-plane": "controller-manager" }),
    };
    let name = one(random, ["webhook-service", "webhook-service", "plain"]);
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": namespace(random) },
        "spec": { "ports": ports, "selector": selector },
    })
}

fn webhooks(random: &mut Random, objects: &mut Vec<Value>) {
    if !random.one_in(60) {
        let mut service = service(random);
        service["metadata"]["name"] = json!("webhook-service");
        add(objects, service);
    }
    let kind = *random.pick(&["Validating", "Mutating"]);
    let mut list = Vec::new();
    for _ in 0..*random.pick(&[1, 1, 2, 3, 0]) {
        let mut webhook = json!({
            "name": random.pick(&["a.kb.io", "b.kb.io", "c.kb.io"]),
            "admissionReviewVersions": one(random, [json!(["v1"]), json!(["v1", "v1beta1"]), json!([]), json!(null)]),
            "clientConfig": { "service": { "name": "webhook-service", "namespace": "memcached-operator-system", "path": random.pick(&["/a", "/b", "/c"]) } },
            "rules": [{ "apiGroups": ["cache.example.com"], "apiVersions": ["v1alpha1"], "operations": ["CREATE"], "resources": ["memcacheds"] }],
            "sideEffects": one(random, [json!("None"), json!("NoneOnDryRun"), json!(null)]),
        });
        for (field, values) in [
            ("failurePolicy", &[json!("Fail"), json!("Ignore"), json!(null)][..]),
            ("matchPolicy", &[json!("Equivalent"), json!("Exact")]),
            ("timeoutSeconds", &[json!(5), json!(10.0), json!("5")]),
            (
                "objectSelector",
                &[
                    json!({}),
                    json!({ "matchLabels": { "a": "b" } }),
                    json!({ "matchExpressions": [{ "key": "a", "operator": "Exists" }] }),
                ],
            ),
            ("namespaceSelector", &[json!({}), json!(null)]),
            ("reinvocationPolicy", &[json!("IfNeeded")]),
        ] {
            if random.one_in(4) {
                webhook[field] = random.pick(values).clone();
            }
        }
        if random.one_in(4) {
            webhook["clientConfig"]["service"]["port"] =
                one(random, [json!(443), json!(8443), json!(9443)]).clone();
        }
        list.push(webhook);
    }
    add(
        objects,
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"),
            "metadata": { "name": kind.to_lowercase() }, "webhooks": list,
        }),
    );
}

fn conversion(random: &mut Random, objects: &mut Vec<Value>) {
    let mut ours = service(random);
    ours["metadata"]["name"] = json!("webhook-service");
    add(objects, ours);
    let Some(crd) = find(objects, "CustomResourceDefinition") else { return };
    let mut service = json!({ "name": "webhook-service", "namespace": "memcached-operator-system", "path": "/convert" });
    if random.one_in(3) {
        service["port"] = json!(443);
    }
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": { "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] },
    });
    if let Some(csv) = find(objects, "ClusterServiceVersion") {
        csv["spec"]["installModes"] = json!([{ "type": "AllNamespaces", "supported": true }]);
    }
}

fn csv(random: &mut Random, objects: &mut [Value]) {
    let Some(csv) = find(objects, "ClusterServiceVersion") else { return };
    let owned = json!([{
        "name": "memcacheds.cache.example.com", "version": "v1alpha1", "kind": "Memcached", "displayName": "M", "description": null,
        "resources": [{ "kind": "Deployment", "version": "v1" }], "specDescriptors": [{ "path": "size", "x-descriptors": [], "value": 1 }],
    }]);
    let (field, value) = one(
        random,
        [
            ("displayname", json!("Another")),
            ("Description", json!("Another")),
            ("version", json!("v1.2")),
            ("version", json!("one")),
            ("maturity", json!(1.0)),
            ("minKubeVersion", json!("1.33.0")),
            ("keywords", json!([null, 1, "a"])),
            ("keywords", json!("a")),
            ("maintainers", json!([{ "name": "A", "email": "a@example.com", "phone": 1 }, null])),
            ("provider", json!({ "Name": "A", "foo": "b" })),
            ("icon", json!([{ "base64data": "aGk=", "mediatype": "image/png" }])),
            ("links", json!([{}])),
            ("installModes", json!(null)),
            ("cleanup", json!({ "enabled": true })),
            ("cleanup", json!({ "enabled": false })),
            ("cleanup", json!(true)),
            ("labels", json!({ "a": 1 })),
            ("annotations", json!({ "a": true })),
            ("selector", json!({ "matchLabels": { "a": null } })),
            ("replaces", json!("memcached-operator.v0.0.0")),
            ("skips", json!([])),
            ("skips", json!(["memcached-operator.v0.0.0"])),
            ("nativeAPIs", json!([{ "group": "apps", "version": "v1", "kind": "Deployment" }])),
            ("release", json!("1")),
            (
                "customresourcedefinitions",
                json!({ "owned": owned, "required": [{ "name": "a.example.com", "version": "v1", "kind": "A" }] }),
            ),
            ("customresourcedefinitions", json!({ "owned": null, "required": [] })),
            (
                "apiservicedefinitions",
                json!({ "required": [{ "group": "a.b", "version": "v1", "kind": "A", "name": "as" }] }),
            ),
            ("apiservicedefinitions", json!({})),
            ("install", json!({ "strategy": "deployment", "spec": { "deployments": null } })),
            (
                "install",
                json!({ "spec": { "permissions": [{ "serviceAccountName": "a", "rules": [] }] } }),
            ),
            (
                "webhookdefinitions",
                json!([{ "type": "ValidatingAdmissionWebhook", "generateName": "a", "sideEffects": "None", "admissionReviewVersions": ["v1"] }]),
            ),
        ],
    );
    csv["spec"][field] = value;
}

fn container(random: &mut Random, objects: &mut [Value]) {
    let container = find(objects, "Deployment")
        .and_then(|it| it.pointer_mut("/spec/template/spec/containers/0"));
    let Some(container) = container.filter(|it| it.is_object()) else { return };
    let quantity = one(
        random,
        [
            json!("1000m"),
            json!("1024Mi"),
            json!(0.5),
            json!(2),
            json!("1e3"),
            json!("0.1Gi"),
            json!("1.50"),
            json!("lots"),
            json!(null),
            json!(true),
        ],
    );
    let (field, value) = one(
        random,
        [
            ("resources", json!({ "limits": { "cpu": quantity, "memory": quantity } })),
            ("resources", json!({ "Requests": { "cpu": quantity }, "claims": [{ "name": "a" }] })),
            ("resources", json!(null)),
            (
                "ports",
                json!([{ "containerPort": 8443.0 }, { "containerPort": 1, "protocol": null }]),
            ),
            ("ports", json!([{ "containerPort": "8081" }])),
            ("command", json!("/manager")),
            ("args", json!(["--a", 1, 1.5, true, null, 1e7])),
            (
                "env",
                json!([{ "name": "WATCH_NAMESPACE", "value": "a" }, { "name": "A", "value": 1 }, { "Name": "B", "valueFrom": { "secretKeyRef": { "name": "a", "key": 1 } } }]),
            ),
            (
                "env",
                json!([{ "name": "RELATED_IMAGE_A", "value": "a:1" }, { "name": "RELATED_IMAGE_A", "value": "a:2" }]),
            ),
            ("securityContext", json!({ "runAsNonRoot": "true" })),
            (
                "securityContext",
                json!({ "runasnonroot": true, "capabilities": { "drop": [null] } }),
            ),
            ("livenessProbe", json!({ "httpGet": { "port": "http", "path": 1 } })),
            (
                "readinessProbe",
                json!({ "tcpSocket": { "port": 80.0 }, "periodSeconds": 2147483648u32 }),
            ),
            ("readinessProbe", json!({ "grpc": {}, "exec": { "command": ["a"] } })),
            ("imagePullPolicy", json!(null)),
            ("ImagePullPolicy", json!("Always")),
            ("startupProbes", json!({})),
            ("volumeMounts", json!([{ "name": "a" }, null])),
            ("lifecycle", json!({ "preStop": { "sleep": { "seconds": 1 }, "exec": {} } })),
        ],
    );
    container[field] = value;
}

/// Anywhere: another type, another case, a field more or less.
fn slip(random: &mut Random, objects: &mut Vec<Value>) {
    let at = random.below(objects.len());
    if random.one_in(40) {
        objects.remove(at);
        return;
    }
    // What an object is stays: of another kind, it is left out by operator-sdk, and refused by us.
    let parts = ["metadata", "spec", "rules", "subjects", "roleRef", "stages", "webhooks"];
    let Some(mut value) = objects[at].get_mut(*random.pick(&parts)) else { return };
    for _ in 0..random.below(9) {
        let below = match value {
            Value::Object(map) => map.len(),
            Value::Array(list) => list.len(),
            _ => 0,
        };
        if below == 0 {
            break;
        }
        let at = random.below(below);
        value = match value {
            Value::Object(map) => map.values_mut().nth(at).expect("it is below the length"),
            Value::Array(list) => &mut list[at],
            _ => return,
        };
    }
    let odd = [
        json!(null),
        json!(""),
        json!("text"),
        json!("1"),
        json!(0),
        json!(1),
        json!(1.5),
        json!(2.0),
        json!(1e7),
        json!(-1),
        json!(true),
        json!([]),
        json!({}),
        json!(["a"]),
        json!([null]),
        json!({ "a": "b" }),
        json!(2147483648u32),
        json!("2020-01-01T00:00:00Z"),
        json!("10m"),
    ];
    match value {
        Value::Object(map) if random.one_in(2) => {
            let Some(key) = map.keys().nth(random.below(map.len())).cloned() else { return };
            match random.below(4) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert("unknown".to_owned(), random.pick(&odd).clone())),
                _ => {
                    let item = map.remove(&key).unwrap_or_default();
                    let key =
                        if random.one_in(2) { key.to_uppercase() } else { key.to_lowercase() };
                    map.insert(key, item);
                }
            }
        }
        Value::Array(list) if random.one_in(2) => list.push(random.pick(&odd).clone()),
        _ => *value = random.pick(&odd).clone(),
    }
}
