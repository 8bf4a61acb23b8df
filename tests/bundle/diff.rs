//! What `bundle diff` finds between a bundle and an edited copy of it: every rule, and what is no change.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use super::{CSV, bundle, verdicts::set};
use crate::support;

type Files = std::collections::BTreeMap<String, Value>;

const ANNOTATIONS: &str = "metadata/annotations.yaml";
const CRD: &str = "manifests/cache.example.com_memcacheds.yaml";
const DEPLOYMENT: &str = "/spec/install/spec/deployments/0/spec";

fn put(dir: &Path, files: &Files) {
    let file = |it: (&String, &Value)| (it.0.clone(), it.1.to_string().into_bytes());
    fs::create_dir_all(dir).expect("the folder is ours");
    support::put(&files.iter().map(file).collect(), dir);
}

/// A bundle of this version, as data.
fn base(dir: &Path) -> Files {
    super::files(&dir.join("bundle"))
}

/// The changes from the old files to the new ones, as `severity rule: what`.
fn changes(name: &str, old: &Files, new: &Files, words: &[&str]) -> (Vec<String>, Option<i32>) {
    let dir = support::fresh(&format!("diff-{name}"));
    put(&dir.join("old"), old);
    put(&dir.join("new"), new);
    let output = support::command(support::BINARY, &dir)
        .args(["bundle", "diff", "old", "new", "--output", "json"])
        .args(words)
        .output()
        .expect("the binary starts");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{name}: {}", support::said(&output)));
    let text = |it: &Value, key: &str| it[key].as_str().expect("a text").to_owned();
    let line = |it: &Value| {
        assert!(it["place"]["line"].as_u64().is_some_and(|it| 0 < it), "{name}: {it}");
        format!("{} {}: {}", text(it, "severity"), text(it, "rule"), text(it, "what"))
    };
    let list = report["changes"].as_array().expect("a list").iter().map(line).collect();
    (list, output.status.code())
}

/// OLM supports a conversion webhook in the mode `AllNamespaces` alone, so the other modes cannot be kept.
#[test]
fn the_remedy_for_a_removed_install_mode_does_not_contradict_the_conversion() {
    let dir = support::fresh("diff-modes-and-conversion");
    let base = base(&super::bundle("diff-modes-base", &super::objects(), &[]).0);
    let modes = |own: bool| json!([{ "type": "OwnNamespace", "supported": own }, { "type": "AllNamespaces", "supported": true }]);
    let (mut old, mut new) = (base.clone(), base);
    set(&mut old, CSV, "/spec/installModes", modes(true));
    set(&mut new, CSV, "/spec/installModes", modes(false));
    put(&dir.join("old"), &old);
    let hint = |new: &Files| {
        put(&dir.join("new"), new);
        let output = support::said(&support::operator_rs(&dir, "bundle diff old new"));
        let after = output.split_once("error[installModeRemoved]").expect("the rule").1;
        after.split("hint: ").nth(1).expect("a hint").lines().next().unwrap_or_default().to_owned()
    };
    assert!(hint(&new).ends_with("`UnsupportedOperatorGroup`: keep the mode"), "{}", hint(&new));
    let webhooks = json!([{ "type": "ConversionWebhook", "generateName": "c.example.com" }]);
    set(&mut new, CSV, "/spec/webhookdefinitions", webhooks);
    let expected = "where the operator is installed in this mode, the new CSV fails with `UnsupportedOperatorGroup`; OLM needs `AllNamespaces` alone for its conversion webhook: delete the Subscription, the CSV and the OperatorGroup there first, and install the new version with an OperatorGroup for all namespaces";
    assert_eq!(hint(&new), expected);
}

#[test]
fn every_rule_has_its_change() {
    let (dir, output) = bundle("diff-base", &super::objects(), &["--channels", "alpha"]);
    assert!(output.status.success(), "{}", support::said(&output));
    let old = base(&dir);
    let mut seen = BTreeSet::new();
    let mut check =
        |name: &str, before: &dyn Fn(&mut Files), after: &dyn Fn(&mut Files), expected: &[&str]| {
            let (mut old, mut new) = (old.clone(), old.clone());
            set(&mut new, CSV, "/spec/version", json!("0.0.2"));
            set(&mut new, CSV, "/metadata/name", json!("memcached-operator.v0.0.2"));
            before(&mut old);
            before(&mut new);
            after(&mut new);
            let (mut found, code) = changes(name, &old, &new, &[]);
            let breaks = found.iter().any(|it| it.starts_with("error"));
            // Some changes also make a bundle that nobody can install; one case is about that.
            if !expected.iter().any(|it| it.starts_with("error invalid")) {
                found.retain(|it| !it.starts_with("error invalid"));
            }
            assert_eq!(found, expected, "{name}");
            assert_eq!(code, Some(i32::from(breaks)), "{name}");
            seen.extend(found.iter().filter_map(|it| Some(it.split_once(": ")?.0.to_owned())));
        };
    let key = |it: &str| format!("/annotations/operators.operatorframework.io.bundle.{it}.v1");
    let nothing = |_: &mut Files| {};
    check("nothing", &nothing, &nothing, &[]);
    check(
        "package",
        &nothing,
        &|it| set(it, ANNOTATIONS, &key("package"), json!("other")),
        &["error packageChanged: the package is `other`, and was `memcached-operator`"],
    );
    check(
        "version",
        &nothing,
        &|it| set(it, CSV, "/spec/version", json!("0.0.1+build")),
        &["error versionNotIncreased: the version went from 0.0.1 to 0.0.1+build"],
    );
    check(
        "replaces-itself",
        &nothing,
        &|it| set(it, CSV, "/spec/skips", json!(["memcached-operator.v0.0.2"])),
        &["error replacesItself: `skips` names `memcached-operator.v0.0.2`, the CSV itself"],
    );
    let leaves_out = "warning upgradePath: `replaces`, `skips` and `olm.skipRange` leave out `memcached-operator.v0.0.1`";
    let range = |range: &'static str| {
        move |it: &mut Files| set(it, CSV, "/metadata/annotations/olm.skipRange", json!(range))
    };
    check("range", &nothing, &range("<0.0.2"), &[]);
    check("other-range", &nothing, &range(">=0.0.2 <0.1.0"), &[leaves_out]);
    check("bad-range", &nothing, &range("?"), &[leaves_out]);
    let replaces =
        |it: &mut Files| set(it, CSV, "/spec/replaces", json!("memcached-operator.v0.0.1"));
    check("replaces", &nothing, &replaces, &[]);
    check(
        "channels",
        &|it| set(it, ANNOTATIONS, &key("channel.default"), json!("alpha")),
        &|it| {
            set(it, ANNOTATIONS, &key("channels"), json!("beta, alpha"));
            set(it, ANNOTATIONS, &key("channel.default"), json!("beta"));
        },
        &[
            "warning defaultChannelChanged: the default channel is `beta`, and was `alpha`",
            "note channelAdded: the bundle is now in the channel `beta`",
        ],
    );
    let default =
        |it: &mut Files, channel| set(it, ANNOTATIONS, &key("channel.default"), json!(channel));
    check(
        "default-empty",
        &|it| default(it, "alpha"),
        &|it| default(it, ""),
        &[
            "error invalid: Expecting annotation \"operators.operatorframework.io.bundle.channel.default.v1\" to have non-empty value",
        ],
    );
    check(
        "default-implied",
        &|it| set(it, ANNOTATIONS, &key("channels"), json!("beta,alpha")),
        &|it| default(it, "beta"),
        &["warning defaultChannelChanged: the default channel is `beta`, and was `alpha`"],
    );
    check(
        "no-channels",
        &nothing,
        &|it| set(it, ANNOTATIONS, &key("channels"), json!("")),
        &["warning channelRemoved: the bundle is no longer in the channel `alpha`"],
    );
    let mode = |type_: &'static str, supported: bool| json!([{ "type": type_, "supported": supported }, { "type": "AllNamespaces", "supported": true }]);
    check(
        "modes",
        &|it| set(it, CSV, "/spec/installModes", mode("OwnNamespace", true)),
        &|it| set(it, CSV, "/spec/installModes", mode("SingleNamespace", true)),
        &[
            "error installModeRemoved: the install mode `OwnNamespace` is no longer supported",
            "note installModeAdded: the install mode `SingleNamespace` is supported",
        ],
    );
    check(
        "kube",
        &|it| set(it, CSV, "/spec/minKubeVersion", json!("1.30.0")),
        &|it| set(it, CSV, "/spec/minKubeVersion", json!("1.33.0")),
        &["warning minKubeVersionRaised: `minKubeVersion` is 1.33.0, and was 1.30.0"],
    );
    check(
        "requirements",
        &nothing,
        &|it| {
            let api =
                json!([{ "name": "issuers.cert-manager.io", "version": "v1", "kind": "Issuer" }]);
            set(it, CSV, "/spec/customresourcedefinitions/required", api);
            let dependency = json!({ "type": "olm.package", "value": { "packageName": "a", "version": ">=1.0.0" } });
            it.insert(
                "metadata/dependencies.yaml".to_owned(),
                json!({ "dependencies": [dependency] }),
            );
        },
        &[
            "warning requirementAdded: the API `Issuer` of `cert-manager.io/v1` is required",
            "warning requirementAdded: the dependency `olm.package` is added or changed: {\"packageName\":\"a\",\"version\":\">=1.0.0\"}",
        ],
    );
    let required = |value: Value| json!([{ "type": "olm.gvk.required", "value": value }]);
    check(
        "required-properties",
        &nothing,
        &|it| {
            let list = required(json!("x")).to_string();
            set(it, CSV, "/metadata/annotations/olm.properties", json!(list));
            let package = json!([{ "type": "olm.package", "value": "y" }, { "type": "olm.label" }]);
            it.insert("metadata/deps.yml".to_owned(), json!({ "dependencies": package }));
            it.insert(
                "metadata/more.yaml".to_owned(),
                json!({ "properties": required(json!("z")) }),
            );
        },
        &[
            "warning requirementAdded: the dependency `olm.package` is added or changed: \"y\"",
            "warning requirementAdded: the dependency `olm.label` is added or changed: null",
            "warning requirementAdded: the dependency `olm.gvk.required` is added or changed: \"z\"",
            "warning requirementAdded: the dependency `olm.gvk.required` is added or changed: \"x\"",
        ],
    );
    let rules = "/spec/install/spec/permissions/0/rules/0";
    check(
        "rights",
        &nothing,
        &|it| {
            set(
                it,
                CSV,
                rules,
                json!({ "apiGroups": [""], "resources": ["secrets", "pods"], "verbs": ["get"] }),
            )
        },
        &[
            "warning permissionAdded: the service account may now `get` `pods`, `secrets` of the core group in the namespaces that it watches",
            "note permissionRemoved: the service account may no longer `create`, `get`, `update` `leases` of `coordination.k8s.io` in the namespaces that it watches",
        ],
    );
    let apis = |names: &[&str]| {
        let api = |it: &&str| json!({ "name": it, "group": "a.example.com", "version": "v1", "kind": "A", "deploymentName": "a" });
        json!({ "owned": names.iter().map(api).collect::<Vec<_>>() })
    };
    check(
        "owned",
        &|it| set(it, CSV, "/spec/apiservicedefinitions", apis(&["v1.a.example.com"])),
        &|it| set(it, CSV, "/spec/apiservicedefinitions", apis(&[])),
        &["warning ownedRemoved: `spec.apiservicedefinitions.owned` is removed"],
    );
    check(
        "cleanup",
        &nothing,
        &|it| set(it, CSV, "/spec/cleanup", json!({ "enabled": true })),
        &["warning cleanupEnabled: `spec.cleanup.enabled` changed from `false` to `true`"],
    );
    check(
        "maturity",
        &|it| set(it, CSV, "/spec/maturity", json!("alpha")),
        &|it| set(it, CSV, "/spec/maturity", json!("stable")),
        &["note csvChanged: `spec.maturity` changed from `\"alpha\"` to `\"stable\"`"],
    );
    let secret = |type_: &'static str| {
        move |it: &mut Files| {
            let object = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "type": type_ });
            it.insert("manifests/secret.yaml".to_owned(), object);
        }
    };
    check(
        "secret",
        &secret("Opaque"),
        &secret("example.com/other"),
        &["error immutableField: `type` changed, and API servers refuse that"],
    );
    let role = |labels: Value| {
        move |it: &mut Files| {
            let rules = json!([{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] }]);
            let metadata = json!({ "name": "r", "labels": labels.clone() });
            let api_version = "rbac.authorization.k8s.io/v1";
            let object = json!({ "apiVersion": api_version, "kind": "ClusterRole", "metadata": metadata, "rules": rules });
            it.insert("manifests/role.yaml".to_owned(), object);
        }
    };
    check(
        "aggregated",
        &role(json!({ "a": "b" })),
        &role(json!({ "a": "b", "rbac.authorization.k8s.io/aggregate-to-view": "true" })),
        &[
            "warning permissionAdded: users with a role that this one is added to may now `get` `secrets` of the core group in the whole cluster",
            "note objectChanged: `metadata.labels.rbac.authorization.k8s.io/aggregate-to-view` is added: `\"true\"`",
        ],
    );
    let selected = |label: &'static str| {
        move |it: &mut Files| {
            role(json!({}))(it);
            let role = it.get_mut("manifests/role.yaml").expect("it is there");
            role["rules"] = json!([]);
            let labels = json!([{ "matchLabels": { label: "true" } }]);
            role["aggregationRule"] = json!({ "clusterRoleSelectors": labels });
        }
    };
    check(
        "selected",
        &role(json!({})),
        &selected("a"),
        &[
            "warning permissionAdded: users with this role may now do what the ClusterRoles that `aggregationRule` selects allow, which only a cluster knows",
            "note permissionRemoved: users with this role may no longer `get` `secrets` of the core group in the whole cluster, unless a ClusterRole that `aggregationRule` selects allows it",
            r#"note objectChanged: `aggregationRule` is added: `{"clusterRoleSelectors":[{"matchLabels":{"a":"true"}}]}`"#,
        ],
    );
    check(
        "selected-no-longer",
        &selected("a"),
        &role(json!({})),
        &[
            "warning permissionAdded: users with this role may now `get` `secrets` of the core group in the whole cluster, unless a ClusterRole that `aggregationRule` selected allowed it before",
            "note permissionRemoved: users with this role may no longer do what the ClusterRoles that `aggregationRule` selected allow, which only a cluster knows",
            "note objectChanged: `aggregationRule` is removed",
        ],
    );
    check(
        "selected-by-another-label",
        &selected("a"),
        &selected("b"),
        &[
            "warning permissionAdded: users with this role may now do what the ClusterRoles that `aggregationRule` selects allow, which only a cluster knows",
            "note permissionRemoved: users with this role may no longer do what the ClusterRoles that `aggregationRule` selected allow, which only a cluster knows",
            r#"note objectChanged: `aggregationRule.clusterRoleSelectors` changed from `[{"matchLabels":{"a":"true"}}]` to `[{"matchLabels":{"b":"true"}}]`"#,
        ],
    );
    let container = format!("{DEPLOYMENT}/template/spec/containers/0");
    check(
        "privileged",
        &nothing,
        &|it| set(it, CSV, &format!("{container}/securityContext/privileged"), json!(true)),
        &["warning privilegeAdded: the container `manager` is privileged"],
    );
    check(
        "arguments",
        &|it| set(it, CSV, &format!("{container}/args"), json!(["--a"])),
        &|it| set(it, CSV, &format!("{container}/args"), json!(["--b"])),
        &[
            "note podChanged: `spec.template.spec.containers[manager].args` changed from `[\"--a\"]` to `[\"--b\"]`",
        ],
    );
    let service = |port: u16| {
        move |it: &mut Files| {
            let object = json!({
                "apiVersion": "v1", "kind": "Service", "metadata": { "name": "s" },
                "spec": { "ports": [{ "name": "https", "port": port }] },
            });
            it.insert("manifests/service.yaml".to_owned(), object);
        }
    };
    check(
        "port",
        &service(443),
        &service(8443),
        &["note objectChanged: `spec.ports[https].port` changed from `443` to `8443`"],
    );
    check(
        "kind",
        &nothing,
        &|it| set(it, CRD, "/spec/names/kind", json!("Cache")),
        &[
            "error immutable: `names.kind` changed from `\"Memcached\"` to `\"Cache\"`",
            "warning names: `names.listKind` changed from `\"MemcachedList\"` to `\"CacheList\"`",
        ],
    );
    check(
        "storage",
        &nothing,
        &|it| set(it, CRD, "/spec/versions/0/name", json!("v1")),
        &[
            "error storageVersionRemoval: the storage version `v1alpha1` was removed",
            "error allServedVersionsRemoval: `v1alpha1` is no longer served, and no other version was served before",
        ],
    );
    let unserved = |it: &mut Files| {
        let version = it[CRD]["spec"]["versions"][0].clone();
        let mut other = version.clone();
        (other["name"], other["served"], other["storage"]) =
            (json!("v1alpha0"), json!(false), json!(false));
        set(it, CRD, "/spec/versions", json!([version, other]));
    };
    check(
        "unserved",
        &unserved,
        &|it| {
            let version = it[CRD]["spec"]["versions"][0].clone();
            set(it, CRD, "/spec/versions", json!([version]));
        },
        &[
            "warning versionRemoval: `v1alpha0` was removed, and a cluster may still have objects stored in it",
        ],
    );
    let mut accounts = |name: &str, field: &str, value: &str, expected: &[&str]| {
        let at = format!("/spec/install/spec/{field}");
        check(name, &nothing, &|it| set(it, CSV, &at, json!(value)), expected);
    };
    let targets = "in the namespaces that it watches";
    let leases = format!("`create`, `get`, `update` `leases` of `coordination.k8s.io` {targets}");
    let events = "`create`, `patch` `events`";
    accounts(
        "rights-of-another",
        "permissions/0/serviceAccountName",
        "other",
        &[
            &format!("warning permissionAdded: the service account may now {leases}"),
            &format!(
                "warning permissionAdded: the service account may now {events} of `events.k8s.io` {targets}"
            ),
            &format!(
                "warning permissionAdded: the service account may now {events} of the core group {targets}"
            ),
            &format!("note permissionRemoved: the service account may no longer {leases}"),
        ],
    );
    accounts(
        "account",
        "deployments/0/spec/template/spec/serviceAccountName",
        "default",
        &[
            "warning serviceAccountChanged: the service account is `default`, and was `memcached-operator-controller-manager`",
        ],
    );
    let binding = |role: &'static str, kind: &'static str| {
        move |it: &mut Files| {
            let binding = json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": { "name": "extra" },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
                "subjects": [{ "kind": kind, "name": "a" }],
            });
            it.insert("manifests/binding.yaml".to_owned(), binding);
        }
    };
    check(
        "binding-of-role",
        &binding("view", "ServiceAccount"),
        &binding("cluster-admin", "ServiceAccount"),
        &[
            "error immutableField: `roleRef.name` changed, and API servers refuse that",
            "warning permissionAdded: `ServiceAccount/a` is bound to `ClusterRole/cluster-admin`",
            "note permissionRemoved: `ServiceAccount/a` is no longer bound to `ClusterRole/view`",
        ],
    );
    check(
        "binding-of-subject",
        &binding("view", "ServiceAccount"),
        &binding("view", "Group"),
        &[
            "warning permissionAdded: `Group/a` is bound to `ClusterRole/view`",
            "note permissionRemoved: `ServiceAccount/a` is no longer bound to `ClusterRole/view`",
        ],
    );
    check(
        "selector",
        &nothing,
        &|it| set(it, CSV, &format!("{DEPLOYMENT}/selector/matchLabels/a"), json!("b")),
        &["error immutableField: `spec.selector` changed, and API servers refuse that"],
    );
    let container = format!("{DEPLOYMENT}/template/spec/containers/0");
    check(
        "images",
        &|it| {
            set(
                it,
                CSV,
                "/spec/relatedImages",
                json!([{ "name": "a", "image": "a:1" }, { "name": "b", "image": "b:1" }]),
            );
            set(it, CSV, &format!("{container}/image"), json!("quay.io/example/it:v1"));
        },
        &|it| {
            set(
                it,
                CSV,
                "/spec/relatedImages",
                json!([{ "name": "a", "image": "a:2" }, { "name": "c", "image": "c:1" }]),
            );
            set(it, CSV, &format!("{container}/image"), json!("quay.io/example/it:v2"));
            let pod = format!("{DEPLOYMENT}/template/spec");
            set(
                it,
                CSV,
                &format!("{pod}/initContainers"),
                json!([{ "name": "init", "image": "i:1" }]),
            );
        },
        &[
            "note image: the container `init` with the image `i:1` is added",
            "note image: the image of the container `manager` is `quay.io/example/it:v2`, and was `quay.io/example/it:v1`",
            "note image: the related image `a` is `a:2`, and was `a:1`",
            "note image: the related image `c:1` is added",
            "note image: the related image `b:1` is removed",
        ],
    );
    let variable = |name: &str, value: &str| json!({ "name": name, "value": value });
    check(
        "environment",
        &|it| {
            set(
                it,
                CSV,
                &format!("{container}/env"),
                json!([variable("A", "1"), variable("B", "1"), variable("C", "1")]),
            )
        },
        &|it| {
            set(
                it,
                CSV,
                &format!("{container}/env"),
                json!([variable("B", "2"), variable("C", "1"), variable("D", "1")]),
            )
        },
        &[
            "note environment: the variable `B` of `manager` has another value",
            "note environment: the variable `D` of `manager` is added",
            "note environment: the variable `A` of `manager` is removed",
        ],
    );
    let mirrored = |it: &mut Files| {
        set(it, CSV, "/spec/relatedImages", json!([{ "name": "a", "image": "a:1" }]));
        set(it, CSV, &format!("{container}/env"), json!([variable("RELATED_IMAGE_A", "a:1")]));
    };
    let a = |value: &'static str| {
        let at = format!("{container}/env/0/value");
        move |it: &mut Files| set(it, CSV, &at, json!(value))
    };
    check(
        "unlisted-image",
        &mirrored,
        &a("a:2"),
        &["note environment: the variable `RELATED_IMAGE_A` of `manager` has another value"],
    );
    check(
        "listed-image",
        &mirrored,
        &|it| {
            a("a:2")(it);
            set(it, CSV, "/spec/relatedImages/0/image", json!("a:2"));
        },
        &["note image: the related image `a` is `a:2`, and was `a:1`"],
    );
    let volume = |name: &'static str, image: &'static str| {
        let at = format!("{DEPLOYMENT}/template/spec/volumes");
        let volumes = json!([{ "name": name, "image": { "reference": image } }]);
        move |it: &mut Files| set(it, CSV, &at, volumes.clone())
    };
    check(
        "volumes",
        &volume("v", "v:1"),
        &volume("v", "v:2"),
        &["note image: the image of the volume `v` is `v:2`, and was `v:1`"],
    );
    check(
        "other-volumes",
        &volume("v", "v:1"),
        &volume("w", "w:1"),
        &[
            "note image: the volume `w` with the image `w:1` is added",
            "note image: the volume `v` with the image `v:1` is removed",
        ],
    );
    check(
        "deployments",
        &nothing,
        &|it| set(it, CSV, "/spec/install/spec/deployments/0/name", json!("other")),
        &[
            "note deploymentAdded: the Deployment is added",
            "note deploymentRemoved: the Deployment is removed",
        ],
    );
    let webhook = |name: &str, type_: &str, operation: &str| {
        json!({
            "type": format!("{type_}Webhook"), "generateName": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "rules": [{ "operations": [operation], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods"] }],
        })
    };
    check(
        "webhooks",
        &|it| {
            let all = json!([
                webhook("a.kb.io", "ValidatingAdmission", "CREATE"),
                webhook("b.kb.io", "MutatingAdmission", "CREATE")
            ]);
            set(it, CSV, "/spec/webhookdefinitions", all);
        },
        &|it| {
            let all = json!([
                webhook("a.kb.io", "ValidatingAdmission", "UPDATE"),
                webhook("c.kb.io", "MutatingAdmission", "CREATE")
            ]);
            set(it, CSV, "/spec/webhookdefinitions", all);
        },
        &[
            "warning webhookAdded: the webhook is added",
            "warning webhookChanged: `rules` of the webhook changed",
            "note webhookRemoved: the webhook is removed",
        ],
    );
    check(
        "conversion",
        &|it| {
            let webhook = json!([{
                "type": "ConversionWebhook", "generateName": "c.kb.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "conversionCRDs": ["memcacheds.cache.example.com"],
            }]);
            set(it, CSV, "/spec/webhookdefinitions", webhook);
            let mut version = it[CRD]["spec"]["versions"][0].clone();
            version["name"] = json!("v1");
            version["storage"] = json!(false);
            let versions = json!([it[CRD]["spec"]["versions"][0], version]);
            set(it, CRD, "/spec/versions", versions);
        },
        &|it| set(it, CSV, "/spec/webhookdefinitions", json!([])),
        &[
            "error conversionRemoved: the CRD serves 2 versions, and a webhook no longer converts between them",
            "note webhookRemoved: the webhook is removed",
        ],
    );
    let map = |name: &str| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
    check(
        "objects",
        &|it| drop(it.insert("manifests/a.yaml".to_owned(), map("a"))),
        &|it| drop(it.insert("manifests/a.yaml".to_owned(), map("b"))),
        &["note objectAdded: the manifest is added", "note objectRemoved: the manifest is removed"],
    );
    let reader =
        "manifests/memcached-operator-metrics-reader_rbac.authorization.k8s.io_v1_clusterrole.yaml";
    check(
        "role",
        &nothing,
        &|it| {
            set(
                it,
                reader,
                "/rules",
                json!([{ "nonResourceURLs": ["/healthz"], "verbs": ["get"] }]),
            )
        },
        &[
            "warning permissionAdded: users with this role may now `get` `/healthz` in the whole cluster",
            "note permissionRemoved: users with this role may no longer `get` `/metrics` in the whole cluster",
        ],
    );
    let moved = |it: &mut Files| {
        let crd = it.remove(CRD).expect("a CRD");
        it.insert("manifests/memcacheds.crd".to_owned(), crd);
    };
    check("crd-of-another-name", &nothing, &moved, &[]);
    check(
        "elsewhere",
        &|it| {
            let manifests = it.keys().filter(|it| it.starts_with("manifests/")).cloned();
            for path in manifests.collect::<Vec<_>>() {
                let file = it.remove(&path).expect("it is there");
                it.insert(path.replace("manifests/", "mf/"), file);
            }
            set(it, ANNOTATIONS, &key("manifests"), json!("mf/"));
            let annotations = it.remove(ANNOTATIONS).expect("it is there");
            it.insert("metadata/other.yaml".to_owned(), annotations);
        },
        &|it| {
            drop(it.remove(&CRD.replace("manifests/", "mf/")));
            set(it, "metadata/other.yaml", &key("package"), json!("other"));
        },
        &[
            "error packageChanged: the package is `other`, and was `memcached-operator`",
            "error crdRemoval: the CRD was removed, with `v1alpha1`",
        ],
    );
    check(
        "crd",
        &nothing,
        &|it| drop(it.remove(CRD)),
        &["error crdRemoval: the CRD was removed, with `v1alpha1`"],
    );

    let text = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    let two = support::fresh("diff-two-documents");
    let (mut before, mut after) = (old.clone(), old.clone());
    set(&mut after, CSV, "/spec/version", json!("0.0.2"));
    before.insert("manifests/a.yaml".to_owned(), text.clone());
    after.insert("manifests/a.yaml".to_owned(), text.clone());
    put(&two.join("old"), &before);
    put(&two.join("new"), &after);
    fs::write(two.join("new/manifests/a.yaml"), format!("{text}\n---\n{text}\n")).expect("ours");
    let output = support::operator_rs(&two, "bundle diff old new");
    let said = support::said(&output);
    let row =
        "warning[moreDocuments]: only the first document of the file is read, by OLM and here";
    assert!(said.contains(row), "{said}");
    seen.insert("warning moreDocuments".to_owned());

    // Each rule of ours has been seen with its severity.
    let (dir, _) = bundle("diff-rules", &super::objects(), &[]);
    let sarif = support::command(support::BINARY, &dir)
        .args(["bundle", "diff", "bundle", "bundle", "--output", "sarif"])
        .output()
        .expect("the binary starts");
    let sarif: Value = serde_json::from_slice(&sarif.stdout).expect("SARIF is JSON");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("a list");
    let ours = rules.iter().take_while(|it| it["id"] != "crdRemoval");
    for rule in ours {
        let text = |it: &Value| it.as_str().expect("a text").to_owned();
        let row = format!("{} {}", text(&rule["defaultConfiguration"]["level"]), text(&rule["id"]));
        assert!(seen.contains(&row), "no test shows `{row}`");
    }
}

#[test]
fn what_is_no_bundle_is_refused() {
    let (dir, _) = bundle("diff-refused", &super::objects(), &[]);
    let files = base(&dir);
    let check = |change: &dyn Fn(&mut Files), expected: &str| {
        let mut files = files.clone();
        change(&mut files);
        let dir = support::fresh("diff-refused-run");
        put(&dir.join("old"), &files);
        let output = support::operator_rs(&dir, "bundle diff old old");
        let said = support::said(&output);
        assert!(output.status.code() == Some(1) && said.contains(expected), "{expected}\n{said}");
    };
    check(&|it| drop(it.remove(CSV)), "no ClusterServiceVersion in bundle");
    check(
        &|it| drop(it.insert("manifests/a.yaml".to_owned(), it[CSV].clone())),
        "contains multiple CSVs",
    );
    check(&|it| set(it, CSV, "/spec/keywords", json!("a")), "`spec.keywords` is the string `a`");
    for text in [json!("hello"), json!(["a"]), json!(3)] {
        let expected = "error[fmt-annotations-type]: `annotations` must be a map\n--> old/metadata/annotations.yaml:1:1";
        check(&|it| drop(it.insert(ANNOTATIONS.to_owned(), text.clone())), expected);
    }
    let many: Vec<String> = (0..500).map(|it| it.to_string()).collect();
    let rule = json!({ "apiGroups": many, "resources": many, "verbs": many });
    check(
        &|it| set(it, CSV, "/spec/install/spec/permissions/0/rules/0", rule.clone()),
        "error: cannot read `/spec/install/spec/permissions/0/rules/0`\n  because: the rules grant more than 200000 single permissions\nhint: grant fewer, or write `*`",
    );
    let rule = json!({ "nonResourceURLs": many, "verbs": many });
    check(
        &|it| set(it, CSV, "/spec/install/spec/permissions/0/rules/0", rule.clone()),
        "error: cannot read `/spec/install/spec/permissions/0/rules/0`\n  because: the rules grant more than 200000 single permissions\nhint: grant fewer, or write `*`",
    );
}
