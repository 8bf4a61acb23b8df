//! `migrate` against a real API server: what is stored is read from etcd.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    control_plane::signal,
    place::Place,
    server::{JSON, MERGE, Server},
    support,
};

/// As many as six pages of a list.
const MANY: usize = 3000;

impl Place {
    /// The versions in which the objects of the kind are stored, with their number.
    async fn stored(&self) -> BTreeMap<String, usize> {
        let run = self.kubeconfig.with_file_name("etcd.run");
        let run = std::fs::read_to_string(run).expect("`up` has written it");
        let url = run.split("--advertise-client-urls ").nth(1).and_then(|it| it.split(' ').next());
        let url = format!("{}/v3/kv/range", url.expect("it says where etcd listens"));
        let prefix = format!("/registry/g.{}.org/memcacheds/", self.name);
        let end = prefix.replace("memcacheds/", "memcacheds0");
        let body = json!({"key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end)});
        let answer = tokio::task::spawn_blocking(move || {
            let mut answer = ureq::post(&url).send(body.to_string()).expect("etcd answers");
            let text = answer.body_mut().with_config().limit(64 << 20).read_to_string();
            text.expect("it is text")
        });
        let answer: Value = serde_json::from_str(&answer.await.unwrap()).expect("it is JSON");
        let mut res = BTreeMap::new();
        for it in answer["kvs"].as_array().into_iter().flatten() {
            let object = STANDARD.decode(it["value"].as_str().unwrap()).expect("it is base64");
            let object: Value = serde_json::from_slice(&object).expect("it is JSON");
            let version = object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap();
            *res.entry(version.to_owned()).or_default() += 1;
        }
        res
    }

    /// The versions that the CRD says objects may be stored in.
    pub async fn stored_versions(&self) -> Value {
        self.server.get(&self.crd()).await.unwrap()["status"]["storedVersions"].clone()
    }

    /// Stores the kind in `v1alpha1` or in `v1`, which has one field more.
    pub async fn store_in(&self, stored: &str) {
        let edit = |crd: &mut Value| {
            let versions = crd["spec"]["versions"].as_array_mut().unwrap();
            if versions.len() == 1 {
                let mut v1 = versions[0].clone();
                v1["name"] = json!("v1");
                let spec = "/schema/openAPIV3Schema/properties/spec/properties";
                v1.pointer_mut(spec).unwrap()["more"] = json!({"type": "string"});
                versions.push(v1);
            }
            for it in versions {
                it["storage"] = (it["name"] == stored).into();
            }
        };
        self.server.edit(&self.crd(), edit).await;
        // Nothing tells when the handler of the kind has begun to store in the other version.
        let path = format!("/apis/g.{}.org/v1/memcacheds", self.name);
        self.server.until(&path, 20, "served", Value::is_object).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }

    /// Creates objects by v1alpha1.
    pub async fn objects(&self, namespace: &str, many: usize) {
        let path = self.memcached(namespace, "");
        let create = |at: usize| {
            let object = json!({
                "apiVersion": format!("g.{}.org/v1alpha1", self.name),
                "kind": "Memcached",
                "metadata": {"name": format!("m-{at:04}")},
                "spec": {"size": 1},
            });
            let (server, path) = (self.server.clone(), path.trim_end_matches('/').to_owned());
            async move { server.create(&path, object).await }
        };
        for at in 0..many {
            create(at).await;
        }
    }

    /// Starts the command, and returns when it has done a page.
    async fn begin(&self, words: &str) -> Child {
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(words.split_whitespace()).env("KUBECONFIG", &self.kubeconfig);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let begin = move || {
            let mut child = command.spawn().expect("the binary starts");
            let mut line = String::new();
            let stderr = child.stderr.take().expect("it is piped");
            let mut reader = BufReader::new(stderr);
            reader.read_line(&mut line).expect("it is text");
            assert!(line.starts_with("rewriting  500 of 3000 objects"), "{line}");
            child.stderr = Some(reader.into_inner());
            child
        };
        tokio::task::spawn_blocking(begin).await.expect("it begins")
    }
}

/// Changes, deletes and creates objects through both versions until it is told to end. Returns how many there are more.
async fn write(server: Server, name: String, end: Arc<AtomicBool>) -> isize {
    let (mut res, mut at) = (0, 0);
    while !end.load(Ordering::Relaxed) {
        at += 1;
        let version = if at % 2 == 0 { "v1" } else { "v1alpha1" };
        let all = format!("/apis/g.{name}.org/{version}/namespaces/default/memcacheds");
        let path = format!("{all}/m-{:04}", at * 37 % MANY);
        match at % 5 {
            0 => {
                let answer = server.ask("DELETE", &path, JSON, Value::Null).await.unwrap();
                res -= isize::from(answer.code == 200);
            }
            1 => {
                let object = json!({
                    "apiVersion": format!("g.{name}.org/{version}"),
                    "kind": "Memcached",
                    "metadata": {"name": format!("m-{:04}", at * 37 % MANY)},
                    "spec": {"size": 2},
                });
                let answer = server.ask("POST", &all, JSON, object).await.unwrap();
                res += isize::from(answer.code == 201);
            }
            _ => {
                let patch = json!({"spec": {"size": at % 5 + 1}});
                let answer = server.ask("PATCH", &path, MERGE, patch).await.unwrap();
                assert!([200, 404].contains(&answer.code), "{answer:?}");
            }
        }
    }
    res
}

crate::trials! {
    async fn objects_are_rewritten_whatever_happens_meanwhile(it: "migrate") {
        it.done("install").await;
        let stored = |v1: usize, v1alpha1: usize| {
            let all = [("v1", v1), ("v1alpha1", v1alpha1)].into_iter().filter(|it| 0 < it.1);
            all.map(|(version, many)| (version.to_owned(), many)).collect::<BTreeMap<_, _>>()
        };
        let name = "memcacheds.g.migrate.org";
        let unchanged = format!("unchanged  CustomResourceDefinition {name} (all objects are stored in v1alpha1)\n");
        assert_eq!(it.done("migrate").await, unchanged);
        it.objects("default", MANY).await;
        it.store_in("v1").await;
        assert_eq!(it.stored().await, stored(0, MANY));
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));
        let rewrite = format!("rewrite    3000 objects of {name} in v1\n");
        let update = format!("update     CustomResourceDefinition {name} (status.storedVersions: v1)\n");
        assert_eq!(it.done("migrate --dry-run").await, format!("{rewrite}{update}"));
        assert_eq!(it.done("migrate --dry-run=server").await, format!("{rewrite}{update}"));
        assert_eq!(it.stored().await, stored(0, MANY));

        // It is killed halfway.
        let mut child = it.begin("migrate").await;
        child.kill().unwrap();
        child.wait().unwrap();
        let found = it.stored().await;
        assert!(500 <= found["v1"] && 500 <= found["v1alpha1"], "{found:?}");
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));

        // Ctrl-C says how far it came, and how to go on.
        let child = it.begin("migrate").await;
        signal("INT", &child.id().to_string());
        let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(130), "{said}");
        let early = format!("error: the migration of {name} ended early, with ");
        assert!(said.contains(&early) && said.contains(&format!("`operator-rs migrate {name}`")), "{said}");

        // Somebody stores objects in the former version again.
        let child = it.begin("migrate").await;
        it.store_in("v1alpha1").await;
        let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("error: not everything can be migrated:\n  {name}: the CRD was changed during the migration\nhint: run the command again: objects may be stored in another version now\n")), "{said}");
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));
        it.store_in("v1").await;

        // Somebody writes all the time.
        let end = Arc::<AtomicBool>::default();
        let writer = tokio::spawn(write(it.server.clone(), it.name.clone(), end.clone()));
        let done = it.done("migrate").await;
        end.store(true, Ordering::Relaxed);
        let more = writer.await.unwrap();
        assert!(done.starts_with("rewrite    ") && done.ends_with(&update), "{done}");
        let objects = MANY.checked_add_signed(more).unwrap();
        assert_eq!(it.stored().await, stored(objects, 0));
        assert_eq!(it.stored_versions().await, json!(["v1"]));

        let version = it.server.get(&it.crd()).await.unwrap()["metadata"]["resourceVersion"].clone();
        assert_eq!(it.done(&format!("migrate {name}")).await, unchanged.replace("v1alpha1", "v1"));
        let other = "the CRD on the cluster stores objects in v1, and that of the project in v1alpha1";
        let said = it.refused("migrate", 1, other).await;
        let hint = "deploy the operator with its CRDs first, then run the command again";
        assert!(said.contains(hint), "{said}");
        assert_eq!(it.server.get(&it.crd()).await.unwrap()["metadata"]["resourceVersion"], version);
    }

    async fn what_cannot_be_rewritten_is_named_and_the_rest_goes_on(it: "refused") {
        it.done("install").await;
        it.server.namespace("refused-other").await;
        for (namespace, many) in [("default", 30), ("refused-other", 12)] {
            it.objects(namespace, many).await;
        }
        it.store_in("v1").await;

        // The one namespace is without rights.
        let user = it.limited_user("refused").await;
        let said = support::said(&it.run_with(&user, "migrate").await);
        let missing = "cannot get resource \"customresourcedefinitions\" in API group \"apiextensions.k8s.io\" at the cluster scope";
        assert!(said.contains("error: nothing was changed:\n"), "{said}");
        assert!(said.contains(missing), "{said}");
        let grant = |kind: &str, namespace: Option<&str>, rules: Value| {
            let mut metadata = json!({"name": "refused"});
            if let Some(namespace) = namespace {
                metadata["namespace"] = json!(namespace);
            }
            let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules});
            let binding = json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": format!("{kind}Binding"),
                "metadata": metadata,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "refused"},
                "subjects": [{"kind": "ServiceAccount", "name": "refused", "namespace": "default"}],
            });
            [role, binding]
        };
        let read = json!({"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get"]});
        let list = json!({"apiGroups": ["g.refused.org"], "resources": ["memcacheds"], "verbs": ["list"]});
        let patch = json!({"apiGroups": ["g.refused.org"], "resources": ["memcacheds"], "verbs": ["patch"]});
        let all = grant("ClusterRole", None, json!([read, list])).into_iter().chain(grant("Role", Some("default"), json!([patch])));
        for object in all {
            it.server.apply(&object).await;
        }
        let said = support::said(&it.run_with(&user, "migrate").await);
        assert!(said.contains("error: nothing was changed"), "{said}");
        assert!(said.contains("`status.storedVersions` of CustomResourceDefinition memcacheds.g.refused.org cannot be changed: User "), "{said}");
        assert!(said.contains("cannot patch resource \"customresourcedefinitions/status\""), "{said}");
        let status = json!({"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions/status"], "verbs": ["patch"]});
        for object in grant("ClusterRole", None, json!([read, list, status])) {
            it.server.apply(&object).await;
        }
        let output = it.run_with(&user, "migrate").await;
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("Memcached refused-other/m-0000, Memcached refused-other/m-0001, "), "{said}");
        assert!(said.contains("m-0009 and 2 more: User \"system:serviceaccount:default:refused\" cannot patch resource \"memcacheds\" in API group \"g.refused.org\" in the namespace \"refused-other\""), "{said}");
        let found = it.stored().await;
        assert_eq!((found["v1"], found["v1alpha1"]), (30, 12));
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));

        // Admission refuses one object.
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "refused"},
            "spec": {
                "matchConstraints": {"resourceRules": [{"apiGroups": ["g.refused.org"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["memcacheds"]}]},
                "validations": [{"expression": "object.metadata.name != 'm-0007'", "message": "seven stays"}],
            },
        });
        let path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
        it.server.create(path, policy).await;
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "refused"},
            "spec": {"policyName": "refused", "validationActions": ["Deny"]},
        });
        it.server.create(&path.replace("policies", "policybindings"), binding).await;
        let seven = format!("{}?dryRun=All", it.memcached("default", "m-0007"));
        for _ in 0..100 {
            let patch = json!({"spec": {"size": 3}});
            if it.server.ask("PATCH", &seven, MERGE, patch).await.unwrap().code != 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let tried = it.refused("migrate --dry-run=server", 1, "seven stays").await;
        let found = it.stored().await;
        assert_eq!((found["v1"], found["v1alpha1"]), (30, 12));
        let said = it.refused("migrate", 1, "seven stays").await;
        assert_eq!(tried, said);
        assert!(said.contains("Memcached default/m-0007, Memcached refused-other/m-0007: "), "{said}");
        let found = it.stored().await;
        assert_eq!((found["v1"], found["v1alpha1"]), (41, 1));
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));
        it.server.delete(&format!("{}/refused", path.replace("policies", "policybindings"))).await;
        it.server.delete(&format!("{path}/refused")).await;
        for _ in 0..100 {
            let patch = json!({"spec": {"size": 3}});
            if it.server.ask("PATCH", &seven, MERGE, patch).await.unwrap().code == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }

        // One namespace says nothing about the others.
        let name = "memcacheds.g.refused.org";
        let leave = format!("leave      CustomResourceDefinition {name} (other namespaces may have objects in former versions)\n");
        let done = format!("rewrite    12 objects of {name} in v1 (11 of them were stored in it before)\n{leave}");
        assert_eq!(it.done("migrate --namespace refused-other").await, done);
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));
        it.done("migrate").await;
        assert_eq!(it.stored_versions().await, json!(["v1"]));

        let missing = "memcacheds.g.nowhere.org: the cluster does not have the CRD";
        it.refused(&format!("migrate {name} memcacheds.g.nowhere.org {name}x"), 1, missing).await;
    }

    async fn a_conversion_that_fails_is_reported(it: "convert") {
        it.done("install").await;
        it.objects("default", 3).await;
        it.store_in("v1").await;
        it.server.edit(&it.crd(), |crd| {
            crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://127.0.0.1:1/convert"},
            }});
        }).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        for words in ["migrate --dry-run", "migrate"] {
            let failed = "conversion webhook for g.convert.org/v1alpha1, Kind=Memcached failed";
            let said = it.refused(words, 1, failed).await;
            let hint = "correct it in the version that it is stored in, e.g. `kubectl edit memcacheds.v1alpha1.g.convert.org NAME -n NAMESPACE`";
            assert!(said.contains(hint) && !said.contains("again"), "{said}");
        }
        assert_eq!(it.stored_versions().await, json!(["v1alpha1", "v1"]));
        // No namespace of the cluster can be deleted while objects of a kind cannot be read.
        it.server.edit(&it.crd(), |crd| crd["spec"]["conversion"] = json!({"strategy": "None"})).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        it.done("uninstall --yes").await;
    }
}
