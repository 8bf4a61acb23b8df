//! `install`, `uninstall`, `deploy` and `undeploy` against a real API server with the controllers that make pods of
//! Deployments, and a simulated node that runs them.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(dead_code, reason = "the control plane is shared with other suites")]

mod cert_manager;
mod charts;
#[path = "../cluster/control_plane.rs"]
mod control_plane;
mod crds;
mod former;
#[path = "../support/installed.rs"]
mod installed;
mod issuer;
mod losses;
mod migrate;
mod place;
#[path = "../cluster/project.rs"]
mod project;
#[path = "../hostile/random.rs"]
mod random;
mod removals;
mod rights;
#[path = "samples/main.rs"]
mod samples;
#[path = "../cluster/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod webhooks;

use std::fs;

use place::Place;
use rexpect::{reader::Options, session::spawn_with_options};
use serde_json::json;

/// Each of them is an `async` test, of which nothing is left to say where there is no control plane.
#[macro_export]
macro_rules! trials {
    ($($(#[$doc:meta])* async fn $name:ident($place:ident: $project:literal) $body:block)*) => {
        $($(#[$doc])* #[tokio::test]
        async fn $name() {
            let Some($place) = Place::new($project).await else { return };
            $body
        })*
    };
}

trials! {
    async fn crds_are_installed_once_and_removed_with_their_objects_when_somebody_says_so(it: "crds") {
        let done = it.done("install").await;
        assert_eq!(done, "create     CustomResourceDefinition memcacheds.g.crds.org\n");
        let before = it.server.get(&it.crd()).await.unwrap();
        let done = it.done("install").await;
        assert_eq!(done, "unchanged  CustomResourceDefinition memcacheds.g.crds.org\n");
        assert_eq!(it.server.get(&it.crd()).await.unwrap(), before);

        it.server.namespace("crds-other").await;
        for (namespace, name) in [("default", "a"), ("crds-other", "a"), ("crds-other", "b")] {
            it.make_memcached(namespace, name, &[]).await;
        }
        let lost = "removing CustomResourceDefinition memcacheds.g.crds.org also removes 3 objects of kind Memcached in 2 namespaces";
        it.refused("uninstall", 2, lost).await;
        it.refused("uninstall", 2, "`--yes` is required").await;
        assert!(it.server.get(&it.memcached("default", "a")).await.is_some());
        let tried = it.done("uninstall --dry-run=server").await;
        assert_eq!(tried, "delete     CustomResourceDefinition memcacheds.g.crds.org\n");
        assert!(it.server.get(&it.crd()).await.is_some());
        it.done("uninstall --yes").await;
        assert_eq!(it.server.get(&it.crd()).await, None);
        assert_eq!(it.done("uninstall").await, "");
    }

    async fn a_status_tells_what_a_cluster_has(it: "status") {
        let crd = "CustomResourceDefinition memcacheds.g.status.org    ";
        let deployment = "Deployment status-system/status-controller-manager  ";
        let said = it.done("status").await;
        assert!(said.contains(&format!("  {crd}not installed\n  {deployment}not installed\n")), "{said}");
        it.done("deploy --image example.com/status:v1").await;
        let said = it.done("status").await;
        let expected = format!("  {crd}as the source declares it\n  {deployment}example.com/status:v1: ready\n");
        assert!(said.ends_with(&expected), "{said}");

        let path = it.dir.join("api/src/g/v1alpha1/memcached.rs");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("max = 5", "max = 4")).unwrap();
        let said = it.done("status").await;
        assert!(said.contains(&format!("{crd}differs from the source\n")), "{said}");
        assert!(said.contains("out of date: config/crd/bases/g.status.org_memcacheds.yaml\n"), "{said}");
        fs::write(&path, text).unwrap();

        // The webhook of a conversion, and what the API server adds to it.
        it.done("create api --group g --kind Memcached --version v1beta1 --from v1alpha1").await;
        assert!(it.done("status").await.contains(&format!("{crd}differs from the source\n")));
        it.done("install --force-conflicts").await;
        let said = it.done("status").await;
        assert!(said.contains(&format!("{crd}as the source declares it\n")), "{said}");

        let field = "pub struct MemcachedSpec {\n    #[schemars(schema_with = \"outside\")]\n    pub a: String,";
        let outside = "fn outside(_: &mut schemars::SchemaGenerator) -> schemars::Schema { schemars::json_schema!({ \"maxLength\": std::process::id() }) }\n";
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("pub struct MemcachedSpec {", field) + outside).unwrap();
        let said = it.done("status").await;
        assert!(said.contains(&format!("{crd}installed, and not compared\n")), "{said}");
    }

    async fn a_crd_whose_names_are_taken_is_reported_at_once(it: "taken") {
        let schema = json!({"type": "object"});
        it.server.apply(&json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "others.g.taken.org"},
            "spec": {
                "group": "g.taken.org",
                "scope": "Namespaced",
                "names": {"kind": "Memcached", "plural": "others"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
            },
        })).await;
        let established = |it: &serde_json::Value| it["status"]["conditions"].to_string().contains("Established\"");
        it.server.until("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/others.g.taken.org", 20, "established", established).await;
        it.refused("install", 1, "is already in use").await;
    }

    async fn an_operator_is_deployed_once_and_nothing_is_left_of_it(it: "whole") {
        let done = it.done("deploy --image example.com/whole:v1").await;
        assert!(done.lines().all(|it| it.starts_with("create     ")), "{done}");
        assert!(done.contains("create     Deployment whole-system/whole-controller-manager\n"), "{done}");
        let deployment = it.server.get(&it.deployment("whole-system")).await.unwrap();
        assert_eq!(deployment["status"]["availableReplicas"], 1);
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["image"], "example.com/whole:v1");
        assert!(it.server.get(&it.role()).await.is_some());

        let before = it.versions().await;
        assert_eq!(before.len(), 5);
        let again = it.done("deploy --image example.com/whole:v1").await;
        assert_eq!(again, done.replace("create   ", "unchanged"));
        assert_eq!(it.versions().await, before);

        let tried = it.done("deploy --image example.com/whole:v2 --dry-run=server").await;
        let update = "update     Deployment whole-system/whole-controller-manager\n";
        assert_eq!(tried, again.replace(&update.replace("update   ", "unchanged"), update));
        assert_eq!(it.versions().await, before);
        let tried = it.done("undeploy --dry-run=server").await;
        assert_eq!(tried.lines().count(), done.lines().count());
        assert_eq!(it.versions().await, before);

        // Nothing that is lost with it is somebody else's, so nobody is asked.
        let gone = it.done("undeploy").await;
        assert_eq!(gone, tried);
        assert!(gone.starts_with("delete     CustomResourceDefinition "), "{gone}");
        assert!(gone.ends_with("delete     Namespace whole-system\n"), "{gone}");
        assert_eq!(it.versions().await, []);
        assert_eq!(it.server.get(&it.namespace()).await, None);
        assert_eq!(it.done("undeploy").await, "");
    }

    async fn a_dry_run_on_an_empty_cluster_names_what_cannot_be_tried(it: "empty") {
        let tried = it.done("deploy --dry-run=server").await;
        assert!(tried.contains("create     ClusterRole empty-manager-role\n"), "{tried}");
        let unchecked = "unchecked  Deployment empty-system/empty-controller-manager (its namespace does not exist yet)\n";
        assert!(tried.contains(unchecked), "{tried}");
        assert_eq!(it.versions().await, []);
    }

    async fn what_was_there_before_stays_without_our_fields(it: "before") {
        it.server.apply(&json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "before-system", "labels": {"team": "caches"}},
        })).await;
        let done = it.done("deploy").await;
        assert!(done.contains("update     Namespace before-system (it already existed)\n"), "{done}");
        let labels = |it: &serde_json::Value| it["metadata"]["labels"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let namespace = it.server.get(&it.namespace()).await.unwrap();
        assert!(labels(&namespace).contains(&"pod-security.kubernetes.io/enforce".to_owned()), "{namespace:#}");
        let again = it.done("deploy").await;
        assert!(again.contains("unchanged  Namespace before-system (it already existed)\n"), "{again}");

        // What else is in it is not looked at, for it stays.
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": "before-system"}});
        it.server.apply(&map).await;
        let gone = it.done("undeploy").await;
        assert!(gone.ends_with("leave      Namespace before-system (it already existed)\n"), "{gone}");
        let namespace = it.server.get(&it.namespace()).await.unwrap();
        assert_eq!(labels(&namespace), ["kubernetes.io/metadata.name", "team"]);
        assert!(it.server.get(&server::path(&map)).await.is_some());
        assert_eq!(it.server.get(&it.deployment("before-system")).await, None);
        assert_eq!(it.server.list("/api/v1/namespaces/before-system/pods").await, [json!(null); 0]);
        assert_eq!(it.server.get(&it.crd()).await, None);
    }

    async fn undeploy_keeps_a_namespace_that_deploy_did_not_create(it: "theirs") {
        it.server.namespace("theirs-system").await;
        let output = it.run("undeploy --yes").await;
        let said = support::said(&output);
        assert!(output.status.success(), "{said}");
        assert!(said.starts_with("leave      Namespace theirs-system (this project did not create it)\n"), "{said}");
        assert!(!said.contains("kubectl"), "{said}");
        it.apply_as("kubectl-client-side-apply", &labelled("theirs-system")).await;
        let said = support::said(&it.run("undeploy --yes").await);
        assert!(said.contains("theirs-system (it is managed by `kubectl-client-side-apply`)\n"), "{said}");
        assert!(said.contains("`operator-rs generate installer | kubectl delete -f -`"), "{said}");
        assert!(it.server.get(&it.namespace()).await.is_some());
    }

    async fn objects_of_others_in_the_namespace_are_deleted_only_with_confirmation(it: "others") {
        it.done("deploy").await;
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": "others-system"}});
        it.server.apply(&map).await;
        let lost = "removing Namespace others-system also removes ConfigMap others-system/mine, which `deploy` did not create";
        let said = it.refused("undeploy", 2, lost).await;
        assert_eq!(said.matches("also removes").count(), 1, "{said}");
        assert!(it.server.get(&it.deployment("others-system")).await.is_some());
        it.done("undeploy --yes").await;
        assert_eq!(it.server.get(&it.namespace()).await, None);
    }

    async fn a_finalizer_that_nobody_serves_is_named(it: "stuck") {
        it.done("deploy").await;
        it.make_memcached("default", "a", &["example.com/hold"]).await;
        let held = "CustomResourceDefinition memcacheds.g.stuck.org waits for finalizers of Memcached default/a (example.com/hold)";
        it.refused("undeploy --yes --timeout 3s", 1, held).await;
        // The operator is there still, to serve it.
        assert!(it.server.get(&it.deployment("stuck-system")).await.is_some());
        it.refused("deploy", 1, "CustomResourceDefinition memcacheds.g.stuck.org: it is being deleted").await;
        it.server.merge(&it.memcached("default", "a"), json!({"metadata": {"finalizers": null}})).await;
        it.done("undeploy --yes").await;
        assert_eq!(it.versions().await, []);
    }

    async fn what_others_have_set_is_taken_over_only_with_force(it: "owned") {
        it.done("deploy --image example.com/owned:v1").await;
        let deployment = it.deployment("owned-system");
        let path = format!("{deployment}?fieldManager=somebody");
        it.server.merge(&path, json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 77}}}})).await;
        let before = it.versions().await;
        let said = it.refused("deploy --image example.com/owned:v2", 1, "`somebody` (.spec.template.spec.terminationGracePeriodSeconds)").await;
        assert!(said.contains("error: nothing was changed") && said.contains("--force-conflicts"), "{said}");
        assert_eq!(it.versions().await, before);
        it.done("deploy --image example.com/owned:v2 --force-conflicts").await;
        let object = it.server.get(&deployment).await.unwrap();
        assert_eq!(object["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], 40);
        assert_eq!(object["spec"]["template"]["spec"]["containers"][0]["image"], "example.com/owned:v2");
        it.done("undeploy").await;
    }

    async fn another_namespace_is_everywhere(it: "moved") {
        it.done("deploy --namespace moved-elsewhere").await;
        assert!(it.server.get(&it.deployment("moved-elsewhere")).await.is_some());
        assert_eq!(it.server.get(&it.namespace()).await, None);
        let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        let binding = it.server.get(&format!("{bindings}/moved-manager-rolebinding")).await.unwrap();
        assert_eq!(binding["subjects"][0]["namespace"], "moved-elsewhere");

        // What is there once on a cluster is not taken from it.
        let there = "ClusterRoleBinding moved-manager-rolebinding: it already exists for the operator in namespace `moved-elsewhere`";
        it.refused("deploy", 1, there).await;
        assert_eq!(it.server.get(&it.namespace()).await, None);
        it.refused("undeploy", 1, "pass `--namespace moved-elsewhere`").await;
        assert!(it.server.get(&it.role()).await.is_some());
        it.done("undeploy --namespace moved-elsewhere").await;
        assert_eq!(it.server.get("/api/v1/namespaces/moved-elsewhere").await, None);
        assert_eq!(it.server.get(&it.role()).await, None);
    }

    async fn a_user_without_permissions_sees_all_refusals_and_changes_nothing(it: "limited") {
        let user = it.limited_user("nobody").await;
        let output = it.run_with(&user, "deploy").await;
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("error: nothing was changed:\n"), "{said}");
        let deployment = "Deployment limited-system/limited-controller-manager: User \"system:serviceaccount:default:nobody\" cannot get resource \"deployments\" in API group \"apps\" in the namespace \"limited-system\"";
        assert!(said.contains(deployment), "{said}");
        assert!(said.matches(" cannot ").count() > 10, "{said}");
        assert_eq!(it.versions().await, []);
        let wrong = fs::read_to_string(&user).unwrap().replace("\"token\":\"", "\"token\":\"x");
        let path = it.dir.join("wrong");
        fs::write(&path, wrong).unwrap();
        let said = support::said(&it.run_with(&path, "install").await);
        assert!(said.contains("401 Unauthorized") && !said.contains("eyJ"), "{said}");
    }

    async fn deploy_shows_why_a_pod_does_not_run(it: "pending") {
        let manager = it.dir.join("config/manager/manager.yaml");
        let text = fs::read_to_string(&manager).unwrap();
        let place = "      serviceAccountName: controller-manager\n";
        assert!(text.contains(place));
        fs::write(&manager, text.replace(place, &format!("      nodeSelector: {{disk: none}}\n{place}"))).unwrap();
        let said = it.refused("deploy --timeout 4s", 1, "error: timed out: Deployment pending-system/pending-controller-manager: 0 of 1 replicas are available").await;
        assert!(said.contains("waiting    Deployment pending-system/pending-controller-manager: "), "{said}");
        assert!(said.contains("it is not scheduled: 0/1 nodes are available"), "{said}");
        assert!(said.contains("event of Pod pending-controller-manager-"), "{said}");

        // As a kubelet tells of an image that is not there; no other pod of it comes any further.
        let pods = it.server.list("/api/v1/namespaces/pending-system/pods").await;
        let container = json!({
            "name": "manager", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"controller:latest\""}},
        });
        let path = format!("{}/status", server::path(&with_kind(&pods[0], "Pod")));
        it.server.merge(&path, json!({"status": {"containerStatuses": [container]}})).await;
        let why = "container `manager`: ImagePullBackOff: Back-off pulling image \"controller:latest\"";
        it.refused("deploy --timeout 4s", 1, why).await;

        // As it tells of a manager that ends at its start: the last line that it wrote says why.
        let ended = json!({
            "name": "manager", "image": "x", "imageID": "", "ready": false, "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}},
            "lastState": {"terminated": {
                "exitCode": 1, "reason": "Error", "containerID": "containerd://a",
                "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z",
                "message": "probes listen on :8081\nerror: the role of the manager lacks `list` on Secrets\u{1b}[2J\n",
            }},
        });
        it.server.merge(&path, json!({"status": {"containerStatuses": [ended]}})).await;
        let why = "container `manager`: CrashLoopBackOff: back-off 40s restarting failed container; it exited with code 1 (Error): error: the role of the manager lacks `list` on Secrets\\u{1b}[2J";
        let said = it.refused("deploy --timeout 4s", 1, why).await;
        assert!(!said.contains("probes listen"), "{said}");

        // Where the cluster gives up, there is nothing to wait for.
        let pending = fs::read_to_string(&manager).unwrap();
        let hasty = pending.replace("  replicas: 1\n", "  replicas: 1\n  progressDeadlineSeconds: 1\n");
        assert_ne!(hasty, pending);
        fs::write(&manager, hasty).unwrap();
        it.refused("deploy", 1, "pending-controller-manager did not become available: ").await;

        fs::write(&manager, text).unwrap();
        let done = it.done("deploy").await;
        assert!(done.contains("update     Deployment pending-system/pending-controller-manager\n"), "{done}");
        it.done("undeploy").await;
    }

    async fn warnings_of_the_server_are_printed_once(it: "warned") {
        let manager = it.dir.join("config/manager/manager.yaml");
        let text = fs::read_to_string(&manager).unwrap();
        let warns = text.replace("pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/warn");
        let warns = warns.replace("        runAsNonRoot: true\n", "");
        assert_ne!(warns, text);
        fs::write(&manager, warns).unwrap();
        // The namespace is there at the second time, so that the Deployment is tried before it is written.
        it.done("deploy").await;
        let output = it.run("deploy --image example.com/warned:v2").await;
        let said = support::said(&output);
        assert!(output.status.success(), "{said}");
        let warning = "warning: Deployment warned-system/warned-controller-manager: would violate PodSecurity \"restricted:latest\": runAsNonRoot != true";
        assert_eq!(said.matches(warning).count(), 1, "{said}");
        it.done("undeploy").await;
    }

    async fn one_right_that_is_missing_is_reported_before_anything_is_written(it: "partly") {
        let user = it.limited_user("partly").await;
        it.server.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "partly"},
            "rules": [
                {"apiGroups": ["", "apiextensions.k8s.io"], "resources": ["*"], "verbs": ["*"]},
                {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["get", "create", "patch"]},
            ],
        })).await;
        it.server.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "partly"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "partly"},
            "subjects": [{"kind": "ServiceAccount", "name": "partly", "namespace": "default"}],
        })).await;
        let output = it.run_with(&user, "deploy").await;
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        // Nobody gives rights that he has not; a Deployment is one more thing that this one may not have.
        assert!(said.contains("  ClusterRole partly-manager-role: user \"system:serviceaccount:default:partly\""), "{said}");
        assert!(said.contains("is attempting to grant RBAC permissions not currently held: "), "{said}");
        assert!(said.contains("  Deployment partly-system/partly-controller-manager: User "), "{said}");
        assert!(!said.contains("  ServiceAccount ") && !said.contains("  CustomResourceDefinition "), "{said}");
        assert_eq!(it.versions().await, []);
    }

    async fn an_installed_crd_names_the_service_that_will_convert(it: "converted") {
        support::done(&it.dir, "create api --group g --kind Memcached --version v1 --from v1alpha1");
        it.done("install").await;
        let crd = it.server.get(&it.crd()).await.unwrap();
        let client = &crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
        assert_eq!(client["name"], "converted-webhook-service");
        assert_eq!(client["namespace"], "converted-system");
        it.done("uninstall --yes").await;
    }

    async fn deletions_are_confirmed_at_a_terminal(it: "asked") {
        it.done("install").await;
        it.make_memcached("default", "a", &[]).await;
        let asked = ["1 object of kind Memcached in 1 namespace", "Remove all of these?"];
        it.answer("uninstall", asked, "n", "nothing was removed").await;
        assert!(it.server.get(&it.memcached("default", "a")).await.is_some());
        it.answer("uninstall", asked, "y", "delete     CustomResourceDefinition memcacheds.g.asked.org").await;
        assert_eq!(it.server.get(&it.crd()).await, None);
    }

    async fn what_config_no_longer_has_is_named(it: "renamed") {
        it.done("deploy").await;
        let path = it.dir.join("config/default/kustomization.yaml");
        let text = fs::read_to_string(&path).unwrap();
        let without: String = text.lines().filter(|it| *it != "- metrics_service.yaml").map(|it| format!("{it}\n")).collect();
        assert_ne!(text, without);
        fs::write(&path, without).unwrap();
        let lost = "Service renamed-system/renamed-metrics-service is removed as well, although config/ no longer has it";
        it.refused("undeploy", 2, lost).await;
        it.done("undeploy --yes").await;
    }

    async fn a_kind_that_the_server_has_not_is_reported_before_anything_is_written(it: "monitor") {
        let path = it.dir.join("config/default/kustomization.yaml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("resources:\n"));
        fs::write(&path, text.replace("resources:\n", "resources:\n- ../prometheus\n")).unwrap();
        let reason = "ServiceMonitor monitor-system/monitor-controller-manager-metrics-monitor: the server does not serve kind ServiceMonitor of monitoring.coreos.com/v1";
        it.refused("deploy", 1, reason).await;
        assert_eq!(it.versions().await, []);
    }

    async fn objects_of_a_kind_come_behind_its_crd(it: "samples") {
        let path = it.dir.join("config/default/kustomization.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("resources:\n", "resources:\n- ../samples\n")).unwrap();
        let tried = it.done("deploy --dry-run=server").await;
        assert!(tried.contains("(its CRD does not exist yet)"), "{tried}");
        let done = it.done("deploy").await;
        assert!(done.contains("create     Memcached samples-system/samples-memcached-sample\n"), "{done}");
        it.refused("undeploy", 2, "1 object of kind Memcached in 1 namespace").await;
        it.done("undeploy --yes").await;
        assert_eq!(it.server.get(&it.namespace()).await, None);
    }
}

/// A namespace with a label.
fn labelled(name: &str) -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "caches"}}})
}

/// What is in a list does not say what it is.
fn with_kind(object: &serde_json::Value, kind: &str) -> serde_json::Value {
    let mut res = object.clone();
    res["apiVersion"] = json!("v1");
    res["kind"] = json!(kind);
    res
}

impl Place {
    /// Answers the question of a command, at a terminal.
    pub async fn answer(
        &self,
        words: &str,
        asked: [&'static str; 2],
        answer: &'static str,
        expected: &'static str,
    ) {
        let mut command = support::command(support::BINARY, &self.dir);
        command.stdin(std::process::Stdio::inherit());
        command
            .args(words.split_whitespace())
            .env("KUBECONFIG", &self.kubeconfig)
            .env("TERM", "xterm");
        let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(true);
        let talk = move || {
            let mut terminal =
                spawn_with_options(command, options).expect("there are pseudo-terminals");
            for text in asked {
                terminal.exp_string(text).expect("it says what goes, and asks");
            }
            terminal.send(answer).expect("it listens");
            terminal.flush().expect("it listens");
            terminal.exp_string(expected).expect("it does as it was told");
            terminal.exp_eof().expect("it ends");
        };
        tokio::task::spawn_blocking(talk).await.expect("the talk goes as expected");
    }

    /// A kubeconfig of an account that may do nothing.
    pub async fn limited_user(&self, name: &str) -> std::path::PathBuf {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}});
        self.server.apply(&account).await;
        let path = format!("/api/v1/namespaces/default/serviceaccounts/{name}/token");
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}});
        let token = self.server.create(&path, request).await.body["status"]["token"].clone();
        self.kubeconfig_with(name, &token)
    }
}
