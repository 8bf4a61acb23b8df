//! What a bundle cannot express, and what the bundle replaces: each is a warning.

use serde_json::{Value, json};

use super::{CSV, bundle, object, objects};
use crate::support;

fn run(dir: &std::path::Path, words: &[&str]) -> std::process::Output {
    support::command(support::BINARY, dir).args(words).output().expect("the binary starts")
}

const OPERATOR: &str = "memcached-operator-controller-manager";

fn account(name: &str) -> Value {
    json!({ "kind": "ServiceAccount", "name": name, "namespace": "memcached-operator-system" })
}

fn binding(kind: &str, name: &str, role: &str, subjects: Value) -> Value {
    let (role_kind, role) = role.split_once(' ').expect("a kind and a name");
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role }, "subjects": subjects,
    })
}

fn role(name: &str, rules: Value) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": name }, "rules": rules,
    })
}

/// The warnings about a bundle that is written.
fn warnings(name: &str, objects: &[Value]) -> Vec<String> {
    let (_, output) = bundle(name, objects, &[]);
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    said.lines().filter_map(|it| it.strip_prefix("warning: ")).map(str::to_owned).collect()
}

#[test]
fn a_namespace_that_is_not_the_operators_is_lost_with_a_warning() {
    let mut objects = objects();
    let mut push = |mut object: Value, namespace: &str| {
        object["metadata"]["namespace"] = json!(namespace);
        objects.push(object);
    };
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"] }]);
    let ours = json!([account(OPERATOR)]);
    push(role("dns", rules), "kube-system");
    push(binding("RoleBinding", "dns", "Role dns", ours.clone()), "kube-system");
    let reader = "Role extension-apiserver-authentication-reader";
    push(binding("RoleBinding", "auth-reader", reader, ours), "kube-system");
    let map = |name: &str| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
    push(map("dash"), "openshift-config-managed");
    push(map("near"), "memcached-operator-system");
    push(
        json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "first" }, "value": 1,
        }),
        "ignored",
    );
    let found = warnings("lost-namespaces", &objects);
    let of = |name: &str| -> Vec<&str> {
        let some = found.iter().filter(|it| it.contains(&format!("/{name}` ")));
        some.map(|it| it.split_once("` ").expect("a title").1).collect()
    };
    let [dns] = of("dns")[..] else { panic!("{found:#?}") };
    assert!(dns.contains(
        "gives rights in the namespace `kube-system`, which a CSV cannot name: OLM gives them"
    ));
    let [one, other] = of("auth-reader")[..] else { panic!("{found:#?}") };
    assert!(one.ends_with(
        "in the namespace of the operator, which has this Role only if it is `kube-system`: give the operator a ClusterRole with the same rules"
    ));
    assert!(other.contains("its namespace `kube-system` is left out of the bundle"));
    let [dash] = of("dash")[..] else { panic!("{found:#?}") };
    assert!(dash.ends_with(
        "its namespace `openshift-config-managed` is left out of the bundle: OLM creates it in the namespace of the operator"
    ));
    // Nothing is lost where all of the operator is, and where a namespace has no meaning.
    assert_eq!([of("near"), of("first")], [Vec::<&str>::new(), Vec::new()]);
}

/// What `own` adds to an object is named in a warning, and what all objects have is not.
#[test]
fn parts_of_objects_that_become_parts_of_the_csv_are_lost_with_a_warning() {
    let lost = |name: &str, kind: &str, end: &str, change: &dyn Fn(&mut Value)| {
        let mut objects = objects();
        for it in objects.iter_mut().filter(|it| it["kind"] != "Configuration") {
            it["metadata"]["labels"]["team"] = json!("cache");
        }
        change(object(&mut objects, kind, end));
        let found = warnings(&format!("lost-{name}"), &objects);
        let mut lost = found.iter().filter(|it| it.contains(" left out of the"));
        let only = lost.next().filter(|_| lost.next().is_none());
        only.unwrap_or_else(|| panic!("{found:#?}")).split_once(": ").expect("a title").1.to_owned()
    };
    let account = lost("account", "ServiceAccount", OPERATOR, &|it| {
        it["imagePullSecrets"] = json!([{ "name": "a" }]);
        it["automountServiceAccountToken"] = json!(false);
        it["metadata"]["annotations"] = json!({ "eks.amazonaws.com/role-arn": "arn:a" });
    });
    let expected = "its `automountServiceAccountToken`, `imagePullSecrets`, annotation `eks.amazonaws.com/role-arn` are left out of the bundle: \
                    OLM creates the account with its name only; `imagePullSecrets` and `automountServiceAccountToken` can be set in the pods of \
                    the Deployment";
    assert_eq!(account, expected);
    let role = lost("role", "ClusterRole", "manager-role", &|it| {
        it["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-edit"] = json!("true");
    });
    let expected = "its label `rbac.authorization.k8s.io/aggregate-to-edit` is left out of the bundle: the CSV has only its rules; a copy of it that \
                    no binding gives to the operator stays a manifest, with its labels";
    assert_eq!(role, expected);
    let deployment = lost("deployment", "Deployment", "manager", &|it| {
        let all = json!({ "all": "a" });
        it["spec"]["template"]["metadata"]["annotations"] = all.clone();
        it["metadata"]["annotations"] = all;
        it["metadata"]["annotations"]["reloader.stakater.com/auto"] = json!("true");
    });
    let expected = "its annotation `reloader.stakater.com/auto` is left out of the bundle: a CSV has no annotations of Deployments, only of their \
                    pods";
    assert_eq!(deployment, expected);
}

#[test]
fn an_account_that_nobody_creates_is_reported() {
    let mut objects = objects();
    let is_binding = |it: &Value| it["kind"].as_str().is_some_and(|it| it.ends_with("RoleBinding"));
    objects.retain(|it| !is_binding(it));
    let view =
        binding("ClusterRoleBinding", "view", "ClusterRole view", json!([account(OPERATOR)]));
    objects.push(view);
    let (dir, output) = bundle("lost-creation", &objects, &[]);
    let said = support::said(&output);
    let reason = "is left out of the bundle: OLM creates the service accounts of the CSV's permissions only, and no Role or ClusterRole here gives it any";
    assert!(said.contains(&format!("`ServiceAccount/{OPERATOR}` (v1) {reason}")), "{said}");
    let expected = format!(
        "neither OLM nor the bundle creates the service account `{OPERATOR}` of the Deployment `{OPERATOR}`, and without it there are no pods"
    );
    assert!(said.contains(&expected), "{said}");
    let validated = support::said(&run(&dir, &["bundle", "validate"]));
    assert!(validated.contains(&expected), "{validated}");
}

#[test]
fn annotations_that_a_person_set_are_replaced_with_a_warning() {
    let builder = "operators.operatorframework.io/builder";
    let found = |before: &str| {
        let mut objects = objects();
        object(&mut objects, "ClusterServiceVersion", "")["metadata"]["annotations"][builder] =
            json!(before);
        warnings("lost-builder", &objects).join("\n")
    };
    let said = found("mine");
    assert!(said.contains(&format!("its annotation `{builder}: mine` is replaced by")), "{said}");
    let said = found("operator-sdk-v1.42.3");
    assert!(!said.contains("is replaced by"), "{said}");

    let dir = support::fresh("lost-metrics");
    super::project(&dir);
    std::fs::write(dir.join("objects.yaml"), super::stream(&objects())).expect("it is ours");
    std::fs::create_dir_all(dir.join("config/manifests/metadata")).expect("it is ours");
    std::fs::write(
        dir.join("config/manifests/metadata/annotations.yaml"),
        "annotations:\n  operators.operatorframework.io.metrics.builder: me\n",
    )
    .expect("it is ours");
    let output = support::command(support::BINARY, &dir)
        .args(["bundle", "--input", "objects.yaml"])
        .output()
        .expect("the binary starts");
    let said = support::said(&output);
    assert!(said.contains(
        "warning: config/manifests/metadata/annotations.yaml: `operators.operatorframework.io.metrics.builder: me` is replaced by"
    ));
}

fn letters(length: usize) -> String {
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(
            b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
                [(state >> 58) as usize],
        )
    };
    (0..length).map(|_| letter()).collect()
}

#[test]
fn a_size_that_only_gos_compressor_can_judge_is_a_warning() {
    let mut objects = objects();
    objects.push(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "big" }, "data": { "x": letters(1_030_000) },
    }));
    let (dir, output) = bundle("lost-size", &objects, &[]);
    assert!(output.status.success());
    let validated = run(&dir, &["bundle", "validate"]);
    for output in [output, validated] {
        let said = support::said(&output);
        assert!(said.contains("It may be too large: these are"), "{said}");
        assert!(said.contains("`operator-sdk bundle validate` has the exact verdict"), "{said}");
    }
}

#[test]
fn what_the_base_says_of_other_crds_is_lost_with_a_warning() {
    let mut objects = objects();
    object(&mut objects, "ClusterServiceVersion", "")["spec"]["customresourcedefinitions"] = json!({ "owned": [
        {
            "name": "memcacheds.cache.example.com", "version": "v1alpha1", "kind": "Memcached",
        },
        { "name": "memcacheds.cache.example.com", "version": "v2", "kind": "Memcached", "displayName": "Kept" },
    ] });
    let said = warnings("lost-owned", &objects).join("\n");
    assert!(said.contains(
        "describes v2 of `memcacheds.cache.example.com`, which no CRD here serves: it is left out"
    ));
}

#[test]
fn the_image_of_a_volume_keeps_its_tag_with_a_warning() {
    let mut objects = objects();
    let reference = "quay.io/vol/v:1";
    let pod = "/spec/template/spec";
    let manager = object(&mut objects, "Deployment", "manager").pointer_mut(pod).expect("a pod");
    manager["volumes"] = json!([{ "name": "v", "image": { "reference": reference } }]);
    let images: Vec<String> = {
        let containers = manager["containers"].as_array().expect("a list").iter();
        containers.map(|it| it["image"].as_str().expect("an image").to_owned()).collect()
    };
    let run = |objects: &[Value]| {
        let (dir, first) = bundle("lost-volume", objects, &[]);
        assert!(first.status.success());
        let digest = "0".repeat(64);
        let mut all = images.clone();
        all.extend(["memcached:1.6.39-alpine", reference].map(str::to_owned));
        let lock: String = all.iter().map(|it| format!("{it}: sha256:{digest}\n")).collect();
        std::fs::create_dir_all(dir.join("config/manifests")).expect("it is ours");
        std::fs::write(dir.join("config/manifests/image-digests.yaml"), lock).expect("it is ours");
        let words = ["bundle", "--input", "objects.yaml", "--use-image-digests", "--offline"];
        let pinned = run(&dir, &words);
        let csv = std::fs::read_to_string(dir.join("bundle").join(CSV)).expect("it is written");
        (support::said(&pinned), csv)
    };
    let (pinned, csv) = run(&objects);
    assert!(pinned.contains("has the image `quay.io/vol/v:1`, which keeps its tag"), "{pinned}");
    assert!(csv.contains("reference: quay.io/vol/v:1\n"));
    // The way out.
    let pod = object(&mut objects, "Deployment", "manager").pointer_mut(pod).expect("a pod");
    let env = pod["containers"][0]["env"].as_array_mut().expect("it has variables");
    env.push(json!({ "name": "RELATED_IMAGE_V", "value": reference }));
    let (pinned, csv) = run(&objects);
    assert!(!pinned.contains("keeps its tag"), "{pinned}");
    assert!(csv.contains("reference: quay.io/vol/v@sha256:0000"), "{csv}");
}

#[test]
fn each_object_that_is_left_out_has_its_reason() {
    let mut objects = objects();
    let certificate = json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": { "name": "metrics" },
        "spec": { "dnsNames": ["memcached-operator-metrics-service.a.svc"] },
    });
    objects.push(certificate);
    objects.push(json!({ "apiVersion": "v1", "kind": "List", "items": [] }));
    objects.push(json!(["a"]));
    let (_, output) = bundle("lost-reasons", &objects, &[]);
    let said = support::said(&output);
    for expected in [
        "OLM creates the certificates of webhooks only: have the operator create it",
        "a List is not unpacked: give each of its items as a separate document",
        "is left out of the bundle: not a Kubernetes object: `apiVersion` or `kind` is missing",
        "the document at objects.yaml:",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}
