//! What no bundle can be made of: told by name, and nothing is written.

use serde_json::{Value, json};

use super::{bundle, made, object, objects, oracle};
use crate::support;

/// The command fails with this, and leaves no bundle behind.
fn check(name: &str, objects: &[Value], words: &[&str], expected: &str) {
    let (dir, output) = bundle(name, objects, words);
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{name}: {said}");
    assert!(said.contains(expected), "{name}: {expected}\n{said}");
    assert!(!dir.join("bundle").exists() && !dir.join("bundle.Dockerfile").exists(), "{name}");
}

#[test]
fn a_bundle_needs_a_deployment_and_one_base() {
    let without = |kind: &str| -> Vec<Value> {
        objects().into_iter().filter(|it| it["kind"] != kind).collect()
    };
    check("no-deployment", &without("Deployment"), &[], "found no Deployment (apps/v1)");
    check(
        "no-base",
        &without("ClusterServiceVersion"),
        &[],
        "found no base of the ClusterServiceVersion",
    );
    let mut twice = objects();
    let mut second = object(&mut twice, "ClusterServiceVersion", "").clone();
    second["metadata"]["name"] = json!("memcached-operator.v9.0.0");
    twice.push(second);
    check("two-bases", &twice, &[], "there are both `ClusterServiceVersion/");
    let mut other = objects();
    object(&mut other, "ClusterServiceVersion", "")["metadata"]["name"] = json!("other.v0.0.0");
    check(
        "other-base",
        &other,
        &[],
        "`ClusterServiceVersion/other.v0.0.0` (operators.coreos.com/v1alpha1) belongs to another package",
    );
}

#[test]
fn a_base_that_no_bundle_can_hold_is_refused() {
    let mut objects = objects();
    let mut number = 1u64;
    let text: String = std::iter::repeat_with(|| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{number:016x}")
    })
    .take(2_000_000 / 16)
    .collect();
    object(&mut objects, "ClusterServiceVersion", "")["spec"]["description"] = json!(text);
    check("two-megabytes", &objects, &[], "maximum bundle compressed size");
}

#[test]
fn what_go_cannot_read_is_refused_with_its_path() {
    let container = "`Deployment/memcached-operator-controller-manager` (apps/v1): `spec.template.spec.containers[0]";
    for (field, value, expected) in [
        ("command", json!("/manager"), "command` is the string `/manager`, and must be a list"),
        (
            "ports",
            json!([{ "containerPort": "8081" }]),
            "ports[0].containerPort` is the string `8081`",
        ),
        (
            "livenessProbe",
            json!({ "initialDelaySeconds": "15" }),
            "livenessProbe.initialDelaySeconds` is",
        ),
        (
            "securityContext",
            json!({ "runAsNonRoot": "true" }),
            "securityContext.runAsNonRoot` is the",
        ),
        (
            "resources",
            json!({ "limits": { "cpu": "lots" } }),
            "resources.limits.cpu` is the string `lots`",
        ),
    ] {
        let mut objects = objects();
        let deployment = object(&mut objects, "Deployment", "manager");
        deployment["spec"]["template"]["spec"]["containers"][0][field] = value;
        oracle::refuses("unreadable", &objects);
        check("unreadable", &objects, &[], &format!("{container}.{expected}"));
    }
    let mut objects = objects();
    object(&mut objects, "ClusterRole", "manager-role")["rules"][0]["verbs"] = json!("get");
    check(
        "verbs",
        &objects,
        &[],
        "(rbac.authorization.k8s.io/v1): `rules[0].verbs` is the string `get`",
    );
}

#[test]
fn a_webhook_that_is_called_by_a_url_is_refused() {
    let mut objects = objects();
    objects.push(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": { "name": "it" },
        "webhooks": [{ "name": "v.kb.io", "clientConfig": { "url": "https://example.com" } }],
    }));
    check("url", &objects, &[], "the webhook `v.kb.io` has a URL");
}

#[test]
fn a_related_image_from_elsewhere_is_refused() {
    let mut objects = objects();
    let manager = object(&mut objects, "Deployment", "manager");
    manager["spec"]["template"]["spec"]["containers"][0]["env"] = json!([{ "name": "RELATED_IMAGE_A", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }]);
    check("value-from", &objects, &[], "`RELATED_IMAGE_A` has `valueFrom`");
}

#[test]
fn an_aggregated_role_is_refused() {
    let mut objects = objects();
    let role = object(&mut objects, "ClusterRole", "manager-role");
    role["aggregationRule"] = json!({ "clusterRoleSelectors": [] });
    check("aggregated", &objects, &[], "is aggregated from other roles");
}

#[test]
fn rights_that_operator_sdk_gives_to_the_wrong_one_are_refused() {
    let mut objects = objects();
    let mut role = object(&mut objects, "Role", "leader-election-role").clone();
    role["metadata"]["namespace"] = json!("kube-system");
    role["rules"] = json!([{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["*"] }]);
    objects.push(role);
    check("wrong-role", &objects, &[], "operator-sdk takes the rules of that one");
    let mut objects = self::objects();
    let mut again = object(&mut objects, "ClusterRoleBinding", "manager-rolebinding").clone();
    again["metadata"]["name"] = json!("again");
    again["roleRef"]["apiGroup"] = json!("example.com");
    objects.push(again);
    check("wrong-group", &objects, &[], "its `roleRef` is unknown to Kubernetes");
}

#[test]
fn two_objects_that_would_be_one_are_refused() {
    let mut objects = objects();
    for namespace in ["a", "b"] {
        objects.push(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "it", "namespace": namespace },
            "data": { "a": namespace },
        }));
    }
    check("one", &objects, &[], "`ConfigMap/it` (v1) occurs twice");
    // operator-sdk writes a second file that is equal to the first.
    let last = objects.len() - 1;
    objects[last]["data"]["a"] = json!("a");
    check("one-content", &objects, &[], "`ConfigMap/it` (v1) occurs twice");
}

/// operator-sdk leaves the role out.
#[test]
fn a_role_that_others_need_is_refused() {
    let others =
        json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "monitoring" });
    let account = json!({ "kind": "ServiceAccount", "name": "other", "namespace": "a" });
    for (name, subject) in [("group", others.clone()), ("account", account)] {
        let mut objects = self::objects();
        let binding = object(&mut objects, "ClusterRoleBinding", "metrics-auth-rolebinding");
        binding["subjects"].as_array_mut().expect("it has subjects").push(subject);
        let expected = "gives `ClusterRole/memcached-operator-metrics-auth-role` (rbac.authorization.k8s.io/v1) to others";
        check(&format!("shared-{name}"), &objects, &[], expected);
        if let Some((theirs, _)) = oracle::theirs(&format!("shared-{name}"), &objects) {
            let has = |end: &str| {
                theirs.keys().any(|it| it.contains("metrics-auth-role") && it.ends_with(end))
            };
            assert!(has("clusterrolebinding.yaml") && !has("clusterrole.yaml"), "{theirs:?}");
        }
    }
    let mut objects = self::objects();
    let mut second = object(&mut objects, "RoleBinding", "leader-election-rolebinding").clone();
    second["metadata"]["name"] = json!("second");
    second["subjects"] = json!([others]);
    objects.push(second);
    check("shared-role", &objects, &[], "`RoleBinding/second`");
}

/// operator-sdk drops it.
#[test]
fn a_related_image_that_only_the_base_has_is_refused() {
    let mut objects = objects();
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    let image = json!({ "name": "side-car", "image": "quay.io/example/base:1" });
    csv["spec"]["relatedImages"] = json!([image]);
    check("base-image", &objects, &[], "leaves the related image `side-car` out of the bundle");
    check("base-image", &objects, &[], "set the variable `RELATED_IMAGE_SIDE_CAR` to the image");
    if let Some((theirs, _)) = oracle::theirs("base-image", &objects) {
        assert!(!theirs[super::CSV]["spec"]["relatedImages"].to_string().contains("base:1"));
    }
}

#[test]
fn errors_of_the_validators_fail_the_command() {
    let mut objects = objects();
    object(&mut objects, "ClusterServiceVersion", "")["spec"]["minKubeVersion"] = json!("1.33");
    check("invalid", &objects, &[], "csv.Spec.MinKubeVersion has an invalid value: 1.33");
    check(
        "invalid-version",
        &self::objects(),
        &["--version", "0.0.1+build.7"],
        "metadata.name \"memcached-operator.v0.0.1+build.7\" is invalid",
    );
}

#[test]
fn a_file_beside_ours_is_checked_with_them_and_a_stale_one_goes() {
    let mut with = objects();
    with.push(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "it" } }));
    let (dir, output) = bundle("beside", &with, &[]);
    assert!(output.status.success(), "{}", support::said(&output));
    assert!(dir.join("bundle/manifests/it_v1_configmap.yaml").exists());
    std::fs::write(dir.join("objects.yaml"), super::stream(&objects())).expect("it is ours");
    let mine = dir.join("bundle/manifests/mine.yaml");
    std::fs::write(&mine, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: it\n")
        .expect("it is ours");
    let output = support::operator_rs(&dir, "bundle --input objects.yaml");
    let said = support::said(&output);
    assert!(
        said.contains(
            "v1, Kind=Pod: unsupported media type registry+v1 for bundle object\n --> bundle/manifests/mine.yaml:2:1"
        ),
        "{said}"
    );
    std::fs::write(&mine, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: it\n")
        .expect("it is ours");
    let output = support::operator_rs(&dir, "bundle --input objects.yaml");
    let said = support::said(&output);
    assert!(
        output.status.success() && said.contains("leave   bundle/manifests/mine.yaml"),
        "{said}"
    );
    assert!(!dir.join("bundle/manifests/it_v1_configmap.yaml").exists());
}

#[test]
fn a_bundle_of_no_api_is_refused() {
    let dir = support::fresh("no-api");
    super::project(&dir);
    let text = std::fs::read_to_string(dir.join("PROJECT")).expect("it is there");
    let start = text.find("resources:").expect("it has resources");
    std::fs::write(dir.join("PROJECT"), format!("{}version: \"3\"\n", &text[..start]))
        .expect("it is ours");
    let output = support::operator_rs(&dir, "bundle");
    let said = support::said(&output);
    assert!(
        !output.status.success()
            && said.contains("the project has no API, and a bundle needs at least one"),
        "{said}"
    );
    let output = support::operator_rs(&dir, "bundle --input - --image quay.io/example/it:v1");
    assert_eq!(output.status.code(), Some(2), "{}", support::said(&output));
}

#[test]
fn a_default_channel_is_one_of_the_channels() {
    check(
        "default",
        &objects(),
        &["--channels", "a,b", "--default-channel", "c"],
        "the default channel `c` is not one of the channels `a,b`",
    );
}

#[test]
fn a_further_service_account_has_to_exist() {
    check(
        "extra-account",
        &objects(),
        &["--extra-service-accounts", "operand"],
        "hint: the service accounts here are `memcached-operator-controller-manager`",
    );
    let (_, output) = bundle("extra-account", &objects(), &["--extra-service-accounts", "Operand"]);
    assert_eq!(output.status.code(), Some(2), "{}", support::said(&output));
}

#[test]
fn a_flag_that_is_missing_in_a_later_run_is_named() {
    let first = ["--channels", "fast", "--version", "1.2.3"];
    let (dir, output) = bundle("lost-flags", &objects(), &first);
    assert!(output.status.success(), "{}", support::said(&output));
    let again = |words: &str| {
        support::said(&support::operator_rs(&dir, &format!("bundle --input objects.yaml {words}")))
    };
    let said = again("--version 1.2.4 --channels slow");
    assert!(!said.contains("the last bundle"), "{said}");
    // Cargo.toml now has the version of the flag.
    let cargo = dir.join("Cargo.toml");
    let text = std::fs::read_to_string(&cargo).expect("it is there").replace("0.0.1", "1.2.4");
    std::fs::write(&cargo, text).expect("it is ours");
    let said = again("--check");
    assert!(
        said.contains(
            "the last bundle was generated with `--channels=slow`, and this one is not\n\
             hint: give the flags again, or set the channels in config/manifests/metadata/annotations.yaml"
        ),
        "{said}"
    );
    assert!(!said.contains("--version"), "{said}");
    again("");
    assert!(!again("").contains("the last bundle"), "it is no longer of any flags");
    // A value that needs quotes.
    again("--channels 1.0");
    let metadata = dir.join("config/manifests/metadata");
    std::fs::create_dir_all(&metadata).expect("it is ours");
    let channels = "annotations:\n  operators.operatorframework.io.bundle.channels.v1: \"1.0\"\n";
    std::fs::write(metadata.join("annotations.yaml"), channels).expect("it is ours");
    assert!(!again("").contains("the last bundle"), "the channels are the same");
}

#[test]
fn what_the_metadata_folder_adds_is_taken_over() {
    let dir = support::fresh("metadata");
    super::project(&dir);
    let put = |path: &str, text: &str| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it is ours");
        std::fs::write(path, text).expect("it is ours");
    };
    put("objects.yaml", &super::stream(&objects()));
    let folder = "config/manifests/metadata";
    let channels = "operators.operatorframework.io.bundle.channels.v1";
    put(
        &format!("{folder}/annotations.yaml"),
        &format!(
            "annotations:\n  com.redhat.openshift.versions: \"v4.12-v4.16\"\n  a: two words\n  {channels}: fast\n"
        ),
    );
    let dependencies = "dependencies:\n- type: olm.package\n  value:\n    packageName: other\n    version: '>=1.0.0'\n";
    put(&format!("{folder}/dependencies.yaml"), dependencies);
    let output = support::operator_rs(&dir, "bundle --input objects.yaml");
    assert!(output.status.success(), "{}", support::said(&output));
    let files = super::files(&dir.join("bundle"));
    assert_eq!(files["metadata/annotations.yaml"]["annotations"]["a"], "two words");
    assert_eq!(files["metadata/annotations.yaml"]["annotations"][channels], "fast");
    assert_eq!(files["metadata/dependencies.yaml"], super::documents(dependencies)[0]);
    let dockerfile = std::fs::read_to_string(dir.join("bundle.Dockerfile")).expect("it is there");
    assert!(
        dockerfile
            .contains("LABEL a=\"two words\"\nLABEL com.redhat.openshift.versions=v4.12-v4.16\n")
    );

    put(&format!("{folder}/notes.txt"), "");
    let output = support::operator_rs(&dir, "bundle --input objects.yaml");
    assert!(
        support::said(&output).contains(
            "config/manifests/metadata/notes.txt: bundle metadata cannot contain this file"
        )
    );
}

#[test]
fn cargo_says_what_the_base_leaves_open() {
    let dir = support::fresh("cargo");
    super::project(&dir);
    let mut objects = objects();
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    for it in ["description", "keywords", "links", "maintainers", "displayName"] {
        csv["spec"].as_object_mut().expect("it is a map").remove(it);
    }
    std::fs::write(dir.join("objects.yaml"), super::stream(&objects)).expect("it is ours");
    std::fs::write(
        dir.join("Cargo.toml"),
        "[package]\nname = \"a\"\nversion = \"1.2.3\"\ndescription = \"Runs it\"\nkeywords = [\"k\"]\nauthors = [\"A B <a@example.com>\"]\n\
         repository = \"https://example.com/r\"\n",
    )
    .expect("it is ours");
    let output = support::command(support::BINARY, &dir)
        .args(["bundle", "--input", "objects.yaml"])
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("the binary starts");
    assert!(output.status.success(), "{}", support::said(&output));
    let csv = &super::files(&dir.join("bundle"))[super::CSV];
    let spec = &csv["spec"];
    assert_eq!(
        json!([
            spec["version"],
            spec["description"],
            spec["keywords"],
            spec["links"],
            spec["maintainers"],
            spec["displayName"]
        ]),
        json!([
            "1.2.3", "Runs it", ["k"], [{ "name": "Source code", "url": "https://example.com/r" }],
            [{ "name": "A B", "email": "a@example.com" }], "Memcached Operator"
        ])
    );
    assert_eq!(csv["metadata"]["annotations"]["createdAt"], "2023-11-14T22:13:20Z");
    assert_eq!(csv["metadata"]["name"], "memcached-operator.v1.2.3");
}

#[test]
fn descriptors_follow_the_schema_under_what_the_base_says() {
    let mut objects = objects();
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    csv["spec"]["customresourcedefinitions"]["owned"] = json!([{
        "name": "memcacheds.cache.example.com", "version": "v1alpha1", "kind": "Memcached",
        "specDescriptors": [{ "path": "tls", "displayName": "Encrypted" }],
    }]);
    let files = made("descriptors", &objects, &[]);
    let owned = &files[super::CSV]["spec"]["customresourcedefinitions"]["owned"][0];
    let paths: Vec<&Value> =
        owned["specDescriptors"].as_array().expect("a list").iter().map(|it| &it["path"]).collect();
    assert_eq!(paths, ["tls", "containerPort", "eviction", "resources", "size"]);
    assert_eq!(
        owned["specDescriptors"][0],
        json!({ "path": "tls", "displayName": "Encrypted", "x-descriptors": ["urn:alm:descriptor:com.tectonic.ui:booleanSwitch"] })
    );
    assert_eq!(
        owned["specDescriptors"][4],
        json!({
            "path": "size", "displayName": "Size", "description": "How many servers there are",
            "x-descriptors": ["urn:alm:descriptor:com.tectonic.ui:podCount"],
        })
    );
    assert_eq!(owned["description"], "A set of memcached servers.\n\nThey share nothing.");
}

#[test]
fn a_bundle_that_cannot_be_read_is_reported_with_its_place() {
    let (dir, output) = bundle("unreadable", &objects(), &[]);
    assert!(output.status.success(), "{}", support::said(&output));
    let csv = dir.join("bundle").join(super::CSV);
    let text = std::fs::read_to_string(&csv).expect("it is there");
    let verdict = |bytes: &[u8]| {
        std::fs::write(&csv, bytes).expect("it is ours");
        let output = support::operator_rs(&dir, "bundle validate");
        assert!(output.status.code().is_some_and(|it| it < 2), "{}", support::said(&output));
        support::said(&output)
    };
    let name = super::CSV;
    for (bytes, expected) in [
        ([text.as_bytes(), b"a: \xff\n"].concat(), "line 2"),
        (format!("{text}a: [\n").into_bytes(), "at line "),
        (
            format!("{text}a: {}1{}\n", "[".repeat(1000), "]".repeat(1000)).into_bytes(),
            "nested in more than",
        ),
        (format!("{text}a: {}\n", "[".repeat(100_000)).into_bytes(), "nested in more than"),
        (b"# nothing\n".to_vec(), "bundle/manifests: no ClusterServiceVersion in bundle"),
        (Vec::new(), "unable to decode object: EOF"),
    ] {
        let said = verdict(&bytes);
        let start: String = String::from_utf8_lossy(&bytes).chars().take(40).collect();
        assert!(
            said.contains(expected) && (said.contains(name) || said.contains("bundle")),
            "{start}: {said}"
        );
    }
    // 2 MB are too many for OLM, compressed or not.
    let mut random = super::random_numbers::Random::new(1);
    let noise: String =
        (0..2_000_000).map(|_| char::from(b'a' + (random.next() % 26) as u8)).collect();
    let said = verdict(format!("{text}a: {noise}\n").as_bytes());
    assert!(
        said.contains("maximum bundle compressed size with gzip size exceeded"),
        "{said:.2000}"
    );
    std::fs::write(dir.join("bundle/manifests/copy.yaml"), &text).expect("it is ours");
    let said = verdict(text.as_bytes());
    for path in [name, "manifests/copy.yaml"] {
        assert!(
            said.contains(&format!("invalid bundle: contains multiple CSVs\n --> bundle/{path}:")),
            "{said}"
        );
    }
}

#[test]
fn a_version_that_no_bundle_can_have_is_refused_with_its_line() {
    for (version, expected) in [
        (
            "\"1.0\"",
            "the version must be a string with three numbers such as `\"0.0.1\"`, or inherited: `version.workspace = true`",
        ),
        ("1", "the version must be a string with three numbers"),
        (
            "\"0.0.1-99999999999999999999999\"",
            "OLM cannot read this version: each of its numbers must fit into 64 bits",
        ),
    ] {
        let (dir, _) = bundle("cargo-version", &objects(), &[]);
        let cargo = format!("[package]\nname = \"memcached-operator\"\nversion = {version}\n");
        std::fs::write(dir.join("Cargo.toml"), cargo).expect("it is ours");
        let output = support::operator_rs(&dir, "bundle --input objects.yaml");
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected) && said.contains("--> Cargo.toml:3:11"), "{said}");
    }
    check(
        "flag-version",
        &objects(),
        &["--version", "0.0.1-99999999999999999999999"],
        "OLM cannot read this version",
    );
}
