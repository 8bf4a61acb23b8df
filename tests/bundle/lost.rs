//! What a bundle cannot express, and what the bundle replaces: each is a warning and a line of the explanation.

use serde_json::{Value, json};

use super::{
    CSV, bundle,
    explained::{OPERATOR, account, binding, entry, explained, places, role},
    object, objects,
};
use crate::support;

fn run(dir: &std::path::Path, words: &[&str]) -> std::process::Output {
    support::command(support::BINARY, dir).args(words).output().expect("the binary starts")
}

/// The notes of an object, where each is a warning as well.
fn warned(said: &str, entry: &Value) -> Vec<String> {
    let notes = entry["notes"].as_array().expect("a list").iter();
    let notes: Vec<String> = notes.filter_map(Value::as_str).map(str::to_owned).collect();
    for note in &notes {
        assert!(said.contains(note.strip_prefix("it ").unwrap_or(note)), "{note}: {said}");
    }
    notes
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
    let (explanation, files) = explained("lost-namespaces", &objects, &[]);
    let (_, output) = bundle("lost-namespaces-said", &objects, &[]);
    let said = support::said(&output);
    let dns = warned(&said, entry(&explanation, "RoleBinding", "dns"));
    assert_eq!(dns.len(), 1);
    assert!(dns[0].starts_with(
        "it gives rights in the namespace `kube-system`, which a CSV cannot name: OLM gives them"
    ));
    assert_eq!(
        entry(&explanation, "Role", "dns")["notes"],
        json!(["with RoleBinding kube-system/dns, its rules are no longer for `kube-system`"])
    );
    let reader = warned(&said, entry(&explanation, "RoleBinding", "auth-reader"));
    assert!(reader[0].ends_with(
        "in the namespace of the operator, which has this Role only if it is `kube-system`: give the operator a ClusterRole with the same rules"
    ));
    assert!(reader[1].starts_with("its namespace `kube-system` is left out of the bundle"));
    let dash = entry(&explanation, "ConfigMap", "dash");
    assert_eq!(
        warned(&said, dash),
        [
            "its namespace `openshift-config-managed` is left out of the bundle: OLM creates it in the namespace of the operator"
        ]
    );
    assert!(files[&places(dash)[0]]["metadata"].get("namespace").is_none());
    // Nothing is lost where all of the operator is, and where a namespace has no meaning.
    assert_eq!(entry(&explanation, "ConfigMap", "near")["notes"], json!([]));
    assert_eq!(entry(&explanation, "PriorityClass", "first")["notes"], json!([]));
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
        let (explanation, _) = explained(&format!("lost-{name}"), &objects, &[]);
        let (_, output) = bundle(&format!("lost-{name}-said"), &objects, &[]);
        let said = support::said(&output);
        let warnings: Vec<_> = said.lines().filter(|it| it.contains(" left out of the")).collect();
        assert_eq!(warnings.len(), 1, "{said}");
        let notes = entry(&explanation, kind, end)["notes"].as_array().expect("a list");
        let note =
            notes.iter().filter_map(Value::as_str).find(|it| it.contains(" left out of the"));
        assert!(warnings[0].ends_with(note.expect("a note")), "{said}");
        note.unwrap_or_default().to_owned()
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
    let (explanation, _) = explained("lost-creation", &objects, &[]);
    let (dir, output) = bundle("lost-creation-said", &objects, &[]);
    let said = support::said(&output);
    let notes = warned(&said, entry(&explanation, "ServiceAccount", OPERATOR));
    assert_eq!(
        notes,
        [
            "OLM creates the service accounts of the CSV's permissions only, and no Role or ClusterRole here gives it any"
        ]
    );
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
    let fields = |before: &str| {
        let mut objects = objects();
        object(&mut objects, "ClusterServiceVersion", "")["metadata"]["annotations"][builder] =
            json!(before);
        let (explanation, files) = explained("lost-builder", &objects, &[]);
        let field = explanation["fields"].as_array().expect("a list").iter();
        let name = format!("metadata.annotations.{builder}");
        let field = field.clone().find(|it| it["name"] == name).expect("a field").clone();
        assert_eq!(field["value"], files[CSV]["metadata"]["annotations"][builder]);
        let (_, output) = bundle("lost-builder-said", &objects, &[]);
        (field["from"].clone(), support::said(&output))
    };
    let (from, said) = fields("mine");
    assert_eq!(from, "generated; the CSV base has `mine`");
    assert!(said.contains(&format!("its annotation `{builder}: mine` is replaced by")), "{said}");
    let (from, said) = fields("operator-sdk-v1.42.3");
    assert_eq!(from, "generated; the CSV base has `operator-sdk-v1.42.3`");
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
        .args(["bundle", "--input", "objects.yaml", "--explain"])
        .output()
        .expect("the binary starts");
    let said = support::said(&output);
    assert!(said.contains(
        "warning: config/manifests/metadata/annotations.yaml: `operators.operatorframework.io.metrics.builder: me` is replaced by"
    ));
    assert!(said.contains("(generated; config/manifests/metadata/annotations.yaml has `me`)"));
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

/// The limit whose words begin so.
fn limit<'a>(explanation: &'a Value, what: &str) -> &'a Value {
    let mut limits = explanation["limits"].as_array().expect("a list").iter();
    limits.find(|it| it["what"].as_str().expect("words").starts_with(what)).expect("the limit")
}

#[test]
fn a_size_that_only_gos_compressor_can_judge_is_a_warning() {
    let mut objects = objects();
    objects.push(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "big" }, "data": { "x": letters(1_030_000) },
    }));
    let (explanation, _) = explained("lost-size", &objects, &[]);
    let (dir, output) = bundle("lost-size-said", &objects, &[]);
    assert!(output.status.success());
    let validated = run(&dir, &["bundle", "validate"]);
    for output in [output, validated] {
        let said = support::said(&output);
        assert!(said.contains("It may be too large: these are"), "{said}");
        assert!(said.contains("`operator-sdk bundle validate` has the exact verdict"), "{said}");
    }
    let data = limit(&explanation, "API servers: the data of one ConfigMap or Secret");
    assert_eq!(
        *data,
        json!({
            "what": data["what"], "file": "manifests/big_v1_configmap.yaml", "size": 1_030_000, "most": 1 << 20,
        })
    );
}

#[test]
fn limits_count_what_api_servers_and_kubectl_count() {
    let mut objects = objects();
    objects.push(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "it" },
        "data": { "a": "YWJjZA==", "b": "YWJj" }, "stringData": { "b": "ä" },
    }));
    let (explanation, files) = explained("lost-limits", &objects, &[]);
    assert_eq!(limit(&explanation, "API servers: the data")["size"], 4 + 2);
    let applied = limit(&explanation, "`kubectl apply`");
    let crd = &files[applied["file"].as_str().expect("a file")];
    assert!(crd["metadata"].get("annotations").is_none());
    // What kubectl adds: the annotation's name, and the object with an empty map of annotations.
    let mut written = crd.clone();
    written["metadata"]["annotations"] = json!({});
    let expected =
        "kubectl.kubernetes.io/last-applied-configuration".len() + written.to_string().len() + 1;
    assert_eq!(applied["size"], expected);
}

#[test]
fn files_that_are_not_generated_are_listed() {
    let (dir, output) = bundle("lost-own", &objects(), &[]);
    assert!(output.status.success());
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n";
    std::fs::write(dir.join("bundle/manifests/mine.yaml"), own).expect("it is ours");
    let explain = |format: &str| run(&dir, &["bundle", "--input", "objects.yaml", format]);
    let explanation = explain("--explain=json").stdout;
    let explanation: Value = serde_json::from_slice(&explanation).expect("JSON");
    assert_eq!(explanation["notGenerated"], json!(["manifests/mine.yaml"]));
    let said = support::said(&explain("--explain"));
    let heading =
        "Files in the folder of the bundle that are not generated:\n  manifests/mine.yaml\n";
    assert!(said.contains(heading), "{said}");
}

#[test]
fn what_the_base_says_of_its_crds_is_explained() {
    let mut objects = objects();
    object(&mut objects, "ClusterServiceVersion", "")["spec"]["customresourcedefinitions"] = json!({ "owned": [
        {
            "name": "memcacheds.cache.example.com", "version": "v1alpha1", "kind": "Memcached",
            "specDescriptors": [{ "path": "size", "displayName": "Pods" }, { "path": "own", "displayName": "Own" }],
            "actionDescriptors": [{ "path": "act", "displayName": "A" }],
        },
        { "name": "memcacheds.cache.example.com", "version": "v2", "kind": "Memcached", "displayName": "Kept" },
    ] });
    let (explanation, _) = explained("lost-owned", &objects, &[]);
    let of = |field: &str| {
        let mut list = explanation["descriptors"].as_array().expect("a list").iter();
        list.find(|it| it["field"] == field).expect("descriptors")
    };
    assert_eq!(of("specDescriptors")["fromBase"], json!(["size", "own"]));
    assert_eq!(of("specDescriptors")["completedFromSchema"], json!(["size"]));
    assert_eq!(of("actionDescriptors")["fromBase"], json!(["act"]));
    let (_, output) = bundle("lost-owned-said", &objects, &["--explain"]);
    let said = support::said(&output);
    assert!(said.contains("      from the CSV base: own\n      from the CSV base, completed from the schema: size\n"), "{said}");
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
        let (dir, first) = bundle("lost-volume", objects, &["--explain"]);
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
        (support::said(&first), support::said(&pinned), csv)
    };
    let (first, pinned, csv) = run(&objects);
    assert!(first.contains(
        "  quay.io/vol/v:1\n      used by volume `v` of the Deployment `memcached-operator-controller-manager`\n      not in `relatedImages`, and"
    ), "{first}");
    assert!(pinned.contains("has the image `quay.io/vol/v:1`, which keeps its tag"), "{pinned}");
    assert!(csv.contains("reference: quay.io/vol/v:1\n"));
    // The way out.
    let pod = object(&mut objects, "Deployment", "manager").pointer_mut(pod).expect("a pod");
    let env = pod["containers"][0]["env"].as_array_mut().expect("it has variables");
    env.push(json!({ "name": "RELATED_IMAGE_V", "value": reference }));
    let (_, pinned, csv) = run(&objects);
    assert!(!pinned.contains("keeps its tag"), "{pinned}");
    assert!(csv.contains("reference: quay.io/vol/v@sha256:0000"), "{csv}");
}

#[test]
fn what_is_left_out_has_its_own_reason() {
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
