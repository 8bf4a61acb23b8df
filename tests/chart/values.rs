//! The effect of each value in values.yaml.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::{
    helm::{API, Helm, INIT, only},
    support,
};

const POD: &str = "/spec/template/spec";
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// Values by their paths, what is given, and the effect on a field of the Deployment.
fn of_deployment() -> Vec<(&'static str, Value, String, Value)> {
    let pod = |field: &str| format!("{POD}/{field}");
    let container = |field: &str| format!("{CONTAINER}/{field}");
    let template = |field: &str| format!("/spec/template/metadata/{field}");
    let constraint =
        json!([{ "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule" }]);
    let affinity = json!({ "nodeAffinity": { "a": 1 } });
    vec![
        ("replicas", json!(0), "/spec/replicas".to_owned(), json!(0)),
        ("image.repository", json!("a.b:5000/c"), container("image"), json!("a.b:5000/c:latest")),
        ("image.tag", json!("v2"), container("image"), json!("controller:v2")),
        ("image.pullPolicy", json!("Always"), container("imagePullPolicy"), json!("Always")),
        (
            "imagePullSecrets",
            json!([{ "name": "a" }]),
            pod("imagePullSecrets"),
            json!([{ "name": "a" }]),
        ),
        (
            "resources",
            json!({ "limits": { "cpu": 1 } }),
            container("resources/limits/cpu"),
            json!(1),
        ),
        ("podAnnotations", json!({ "a": "" }), template("annotations/a"), json!("")),
        ("podLabels", json!({ "a": "b" }), template("labels/a"), json!("b")),
        (
            "podSecurityContext",
            json!({ "fsGroup": 1_000_660_000 }),
            pod("securityContext"),
            json!({ "fsGroup": 1_000_660_000 }),
        ),
        (
            "securityContext",
            json!({ "runAsUser": 7 }),
            container("securityContext"),
            json!({ "runAsUser": 7 }),
        ),
        ("nodeSelector", json!({ "a": "b" }), pod("nodeSelector"), json!({ "a": "b" })),
        ("tolerations", json!([{ "key": "a" }]), pod("tolerations"), json!([{ "key": "a" }])),
        ("affinity", affinity.clone(), pod("affinity"), affinity),
        (
            "topologySpreadConstraints",
            constraint.clone(),
            pod("topologySpreadConstraints"),
            constraint,
        ),
        ("priorityClassName", json!("high"), pod("priorityClassName"), json!("high")),
        ("serviceAccount.name", json!("mine"), pod("serviceAccountName"), json!("mine")),
        ("serviceAccount.create", json!(false), pod("serviceAccountName"), json!("default")),
        (
            "nameOverride",
            json!("cart"),
            "/metadata/name".to_owned(),
            json!("shop-operator-cart-controller-manager"),
        ),
        (
            "fullnameOverride",
            json!("cart"),
            "/metadata/name".to_owned(),
            json!("cart-controller-manager"),
        ),
    ]
}

/// Those with a test of their own below.
const OTHERS: &[&str] = &[
    "args",
    "crds.enabled",
    "crds.keep",
    "env",
    "metrics.enabled",
    "networkPolicy.enabled",
    "serviceAccount.annotations",
    "serviceMonitor.enabled",
    "watchNamespaces",
];

#[test]
fn each_value_has_its_effect() {
    let Some(helm) = everything("effects") else { return };
    let rows = of_deployment();
    let mut tested: BTreeSet<String> = rows.iter().map(|it| it.0.to_owned()).collect();
    tested.extend(OTHERS.iter().map(|it| (*it).to_owned()));
    let text = fs::read_to_string(helm.dir.join("chart/values.yaml")).unwrap();
    let values: Value = serde_yaml::from_str(&text).unwrap();
    let mut all = BTreeSet::new();
    for (key, value) in values.as_object().unwrap() {
        match value.as_object().filter(|it| !it.is_empty() && key != "resources") {
            Some(map) => all.extend(map.keys().map(|it| format!("{key}.{it}"))),
            None => drop(all.insert(key.clone())),
        }
    }
    assert_eq!(tested, all);
    let before = helm.objects("");
    for (path, value, pointer, expected) in rows {
        let found = only(&before, "Deployment").pointer(&pointer);
        assert_ne!(found, Some(&expected), "{path} changes something");
        let objects = helm.objects_with(&given(path, value));
        assert_eq!(only(&objects, "Deployment").pointer(&pointer), Some(&expected), "{path}");
    }
}

#[test]
fn what_a_values_file_lacks_is_as_in_the_project() {
    let Some(helm) = everything("absent") else { return };
    let before = helm.objects("");
    fs::write(helm.dir.join("chart/values.yaml"), "").unwrap();
    support::done(&helm.dir, "generate chart");
    assert_eq!(helm.objects(""), before);
}

#[test]
fn digests_and_more_replicas() {
    let Some(helm) = Helm::tutorial("digests") else { return };
    let digest = format!("sha256:{:064}", 1);
    let objects = helm.objects_with(&json!({ "image": { "tag": digest }, "replicas": 2 }));
    let deployment = only(&objects, "Deployment");
    let image = deployment.pointer(&format!("{CONTAINER}/image")).unwrap();
    assert_eq!(*image, format!("controller@{digest}"));
    let budget = only(&objects, "PodDisruptionBudget");
    assert_eq!(budget["spec"]["selector"], deployment["spec"]["selector"]);
    assert_eq!(budget["spec"]["maxUnavailable"], 1);
    assert!(!helm.objects("").iter().any(|it| it["kind"] == "PodDisruptionBudget"));
}

#[test]
fn arguments_and_variables_replace_those_of_the_same_name() {
    let Some(helm) = Helm::tutorial("arguments") else { return };
    let objects = helm.objects_with(&json!({
        "args": ["--leader-elect=false", "--log-level=debug"],
        "env": [{ "name": "POD_NAME", "value": "a" }, { "name": "B", "value": "{{ c }}" }],
    }));
    let container = only(&objects, "Deployment").pointer(CONTAINER).unwrap();
    let args = [
        "--health-probe-bind-address=:8081",
        "--metrics-bind-address=:8443",
        "--leader-election-id=shop-operator",
        "--leader-elect=false",
        "--log-level=debug",
    ];
    assert_eq!(container["args"], json!(args));
    let env = container["env"].as_array().unwrap();
    let named = |name: &str| env.iter().filter(|it| it["name"] == name).collect::<Vec<_>>();
    assert_eq!(named("POD_NAME"), [&json!({ "name": "POD_NAME", "value": "a" })]);
    assert_eq!(named("B"), [&json!({ "name": "B", "value": "{{ c }}" })]);
    assert_eq!(named("POD_NAMESPACE").len(), 1);
    let before = helm.objects("");
    let before = only(&before, "Deployment").pointer(&format!("{CONTAINER}/env")).unwrap();
    let names = |env: &[Value]| env.iter().map(|it| it["name"].clone()).collect::<Vec<_>>();
    // Kubernetes expands `$(NAME)` only of variables before.
    assert_eq!(names(env)[..env.len() - 1], names(before.as_array().unwrap()));
    helm.edit("config/manager/manager.yaml", |text| {
        text.replace("- --leader-elect\n", "- --leader-elect\n        - serve\n")
    });
    support::done(&helm.dir, "generate chart");
    let said = helm.refused("--set args={--leader-elect=false}");
    assert!(said.contains("`args` replaces --leader-elect, and config/ gives a word"), "{said}");
}

#[test]
fn labels_of_pods_keep_what_selects_them() {
    let Some(helm) = Helm::tutorial("labels") else { return };
    let before = helm.objects("");
    let labels =
        json!({ "podLabels": { "control-plane": "a", "app.kubernetes.io/instance": "b" } });
    let label = "/spec/template/metadata/labels";
    assert_eq!(
        only(&helm.objects_with(&labels), "Deployment").pointer(label),
        only(&before, "Deployment").pointer(label)
    );
}

#[test]
fn a_service_account_of_somebody_else_is_bound() {
    let Some(helm) = Helm::tutorial("accounts") else { return };
    let account = json!({ "annotations": { "a": "b" } });
    let objects = helm.objects_with(&json!({ "serviceAccount": account }));
    assert_eq!(only(&objects, "ServiceAccount")["metadata"]["annotations"]["a"], "b");
    let objects =
        helm.objects_with(&json!({ "serviceAccount": { "create": false, "name": "123" } }));
    assert!(objects.iter().all(|it| it["kind"] != "ServiceAccount"));
    let bindings = objects.iter().filter(|it| it["subjects"].is_array());
    let names: Vec<&Value> = bindings.map(|it| &it["subjects"][0]["name"]).collect();
    assert_eq!(names, ["123"; 3]);
}

#[test]
fn switches() {
    let Some(helm) = everything("switches") else { return };
    let count = |flags: &str, kind: &str| {
        helm.objects(flags).iter().filter(|it| it["kind"] == kind).count()
    };
    for (switch, kind) in [
        ("crds.enabled", "CustomResourceDefinition"),
        ("networkPolicy.enabled", "NetworkPolicy"),
        ("serviceMonitor.enabled", "ServiceMonitor"),
    ] {
        assert_eq!(count("", kind), 1, "{kind}");
        assert_eq!(count(&format!("--set {switch}=false"), kind), 0, "{kind}");
    }
    let objects = helm.objects("--set crds.keep=false");
    let crd = only(&objects, "CustomResourceDefinition");
    assert!(crd["metadata"]["annotations"].is_null(), "{crd}");
}

#[test]
fn the_watched_namespaces_are_those_with_the_rules() {
    let Some(helm) = Helm::new("watch", &[INIT, API]) else { return };
    helm.edit("src/controller/memcached.rs", |text| {
        let marker = "// +kubebuilder:rbac:groups=\"\",resources=nodes;secrets,verbs=get\n";
        let elsewhere =
            "// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get,namespace=other\n";
        format!("{marker}{elsewhere}{text}")
    });
    support::done(&helm.dir, "generate chart");
    let whole = helm.objects("");
    let objects = helm.objects_with(&json!({ "watchNamespaces": ["a", "123"] }));
    let env = only(&objects, "Deployment").pointer(&format!("{CONTAINER}/env")).unwrap();
    let watch = json!({ "name": "WATCH_NAMESPACE", "value": "a,123" });
    assert!(env.as_array().unwrap().contains(&watch), "{env}");
    let find = |objects: &[Value], kind: &str, namespace: Value| -> Value {
        let name = if kind.ends_with("Binding") { "manager-rolebinding" } else { "manager-role" };
        let suffix = if kind.starts_with("Cluster") { "" } else { "-watched" };
        let found = objects.iter().find(|it| {
            it["kind"] == kind
                && it["metadata"]["name"] == format!("shop-operator-{name}{suffix}")
                && it["metadata"]["namespace"] == namespace
        });
        found.unwrap_or(&Value::Null).clone()
    };
    let nodes = json!([{ "apiGroups": [""], "resources": ["nodes"], "verbs": ["get"] }]);
    assert_eq!(find(&objects, "ClusterRole", Value::Null)["rules"], nodes);
    let rules = find(&whole, "ClusterRole", Value::Null)["rules"].clone();
    let rights = |rules: &Value| {
        let mut res = BTreeSet::new();
        for rule in rules.as_array().unwrap() {
            for resource in rule["resources"].as_array().unwrap() {
                res.insert(format!("{} {resource} {}", rule["apiGroups"][0], rule["verbs"]));
            }
        }
        res
    };
    for namespace in ["a", "123"] {
        let role = find(&objects, "Role", namespace.into());
        let mut all = rights(&role["rules"]);
        all.extend(rights(&nodes));
        assert_eq!(all, rights(&rules));
        let binding = find(&objects, "RoleBinding", namespace.into());
        assert_eq!(binding["roleRef"]["kind"], "Role");
        assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
        assert_eq!(binding["subjects"][0]["namespace"], "shop-operator-system");
    }
    let own = json!({ "watchNamespaces": ["shop-operator-system", "other"] });
    let mut seen = BTreeSet::new();
    for it in &helm.objects_with(&own) {
        let name = [&it["kind"], &it["metadata"]["namespace"], &it["metadata"]["name"]];
        assert!(seen.insert(format!("{name:?}")), "twice: {name:?}");
    }
    fs::write(
        helm.dir.join("both.yaml"),
        json!({
            "watchNamespaces": ["a"], "env": [{ "name": "WATCH_NAMESPACE", "value": "b" }],
        })
        .to_string(),
    )
    .unwrap();
    assert!(helm.refused("--values both.yaml").contains("`env` sets WATCH_NAMESPACE"));
}

/// What users give is checked before it is rendered.
#[test]
fn the_schema_refuses_other_values() {
    let Some(helm) = Helm::tutorial("schema") else { return };
    for (flags, reason) in [
        ("--set replica=3", "'replica' not allowed"),
        ("--set image.name=a", "'name' not allowed"),
        ("--set replicas=many", "/replicas"),
        ("--set fullnameOverride=A_B", "/fullnameOverride"),
        ("--set watchNamespaces=a", "/watchNamespaces"),
        ("--set networkPolicy.enabled=false", "'networkPolicy' not allowed"),
        ("--set metrics.enabled=no", "/metrics/enabled"),
        ("--set metrics.port=1", "'port' not allowed"),
        ("--set webhook.enabled=false", "'webhook' not allowed"),
    ] {
        let said = helm.refused(flags);
        assert!(said.contains(reason), "{flags}: {said}");
    }
    helm.edit("chart/values.yaml", |text| format!("{text}\nours:\n  a: 1\n"));
    fs::write(helm.dir.join("chart/templates/ours.yaml"), "# {{ .Values.ours.a }}\n").unwrap();
    support::done(&helm.dir, "generate chart");
    assert!(!helm.objects("--set ours.a=2").is_empty());
}

fn everything(name: &str) -> Option<Helm> {
    let helm = Helm::new(name, &[INIT, API])?;
    helm.edit("config/default/kustomization.yaml", |text| {
        text.replace("# - ../prometheus", "- ../prometheus")
            .replace("# - ../network-policy", "- ../network-policy")
    });
    support::done(&helm.dir, "generate chart");
    Some(helm)
}

fn given(path: &str, value: Value) -> Value {
    match path.split_once('.') {
        Some((outer, inner)) => json!({ outer: { inner: value } }),
        None => json!({ path: value }),
    }
}
