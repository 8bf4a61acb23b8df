//! What `uninstall` and `undeploy` never remove, and what they ask for before they do.

use std::fs;

use rexpect::{reader::Options, session::spawn_with_options};
use serde_json::{Value, json};

use crate::{place::Place, server, support, trials};

trials! {
    async fn a_crd_of_another_manager_is_never_removed(it: "argo") {
        let crd = it.rendered("--crds-only").await.remove(0);
        it.apply_as("argocd-controller", &crd).await;
        it.served().await;
        it.make_memcached("default", "a", &[]).await;
        let left = "leave      CustomResourceDefinition memcacheds.g.argo.org (it is managed by `argocd-controller`)\n";
        for words in ["uninstall --dry-run=server", "uninstall", "uninstall --yes", "undeploy --yes"] {
            let done = it.done(words).await;
            assert!(done.contains(left) && !done.contains("delete"), "{words}: {done}");
        }
        // What is adopted is given back.
        let done = it.done("install").await;
        assert!(done.ends_with("memcacheds.g.argo.org (it already existed)\n"), "{done}");
        assert_eq!(it.managers(&it.crd()).await, ["argocd-controller", "operator-rs-adopted:argo.argo.org"]);
        let done = it.done("uninstall --yes").await;
        assert_eq!(done, "leave      CustomResourceDefinition memcacheds.g.argo.org (it already existed)\n");
        assert_eq!(it.managers(&it.crd()).await, ["argocd-controller"]);
        assert!(it.server.get(&it.memcached("default", "a")).await.is_some());
    }

    async fn another_manager_of_what_was_created_is_a_reason_to_ask(it: "shared") {
        it.done("install").await;
        let crd = it.rendered("--crds-only").await.remove(0);
        let path = format!("{}?fieldManager=argocd-controller&force=true", server::path(&crd));
        let answer = it.server.ask("PATCH", &path, server::APPLY, crd).await.unwrap();
        assert!(answer.code < 300, "{answer:?}");
        let reason = "CustomResourceDefinition memcacheds.g.shared.org is removed, although `argocd-controller` manages it too";
        it.refused("uninstall", 2, reason).await;
        it.refused("uninstall", 2, "`--yes` is required").await;
        assert!(it.server.get(&it.crd()).await.is_some());
        it.done("uninstall --yes").await;
        assert_eq!(it.server.get(&it.crd()).await, None);
    }

    async fn what_was_created_stays_the_projects_whoever_patches_it(it: "patched") {
        it.done("deploy").await;
        let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
        it.server.merge(&format!("{}?fieldManager=kubectl-patch", it.role()), rules.clone()).await;
        let reason = "ClusterRole patched-manager-role is removed, although `kubectl-patch` manages it too";
        it.refused("undeploy", 2, reason).await;
        it.done("deploy --force-conflicts").await;
        let tried = it.done("undeploy --dry-run=server").await;
        assert!(tried.contains("delete     ClusterRole patched-manager-role\n"), "{tried}");
        assert!(!tried.contains("leave "), "{tried}");
        // A list of managers that was removed: the annotation is left.
        it.server.merge(&it.role(), json!({"metadata": {"managedFields": [{}]}})).await;
        it.refused("undeploy", 2, "ClusterRole patched-manager-role is removed, although only its label `applied-by.").await;
        // A controller that fills in what is its own is none.
        it.done("deploy --force-conflicts").await;
        let label = json!({"metadata": {"annotations": {"controller.kubernetes.io/seen": "yes"}, "finalizers": null}});
        it.server.merge(&format!("{}?fieldManager=controller", it.role()), label).await;
        it.done("undeploy").await;
        assert_eq!(it.versions().await, []);
    }

    async fn objects_are_seen_in_whatever_version_they_are_served(it: "versions") {
        it.done("deploy").await;
        // The group's preferred version, v1, has no kind B; and A is served in two versions.
        for (kind, versions) in [("A", &["v1", "v1beta1"][..]), ("B", &["v1beta1"])] {
            it.server.apply(&crd("v.versions.org", kind, versions)).await;
            let plural = format!("{}s", kind.to_lowercase());
            let version = versions[0];
            let path = format!("/apis/v.versions.org/{version}/namespaces/versions-system/{plural}");
            it.server.until(&path, 20, "served", |it| it["kind"].is_string()).await;
            it.server.create(&path, json!({
                "apiVersion": format!("v.versions.org/{version}"), "kind": kind, "metadata": {"name": "mine"},
            })).await;
        }
        let said = it.refused("undeploy", 2, "also removes B versions-system/mine, which `deploy` did not create").await;
        assert!(said.contains("also removes A versions-system/mine, which `deploy` did not create"), "{said}");
        assert_eq!(said.matches("also removes").count(), 2, "{said}");
        assert!(it.server.get(&it.deployment("versions-system")).await.is_some());
        it.done("undeploy --yes").await;
        assert_eq!(it.server.get(&it.namespace()).await, None);
    }

    async fn an_object_in_another_version_than_config_has_is_removed(it: "older") {
        let path = it.dir.join("config/default/budget.yaml");
        let budget = |version: &str| format!(
            "apiVersion: policy/{version}\nkind: PodDisruptionBudget\nmetadata: {{name: older-budget, namespace: older-system}}\n\
             spec: {{maxUnavailable: 1, selector: {{matchLabels: {{a: b}}}}}}\n"
        );
        fs::write(&path, budget("v1")).unwrap();
        let kustomization = it.dir.join("config/default/kustomization.yaml");
        let text = fs::read_to_string(&kustomization).unwrap();
        fs::write(&kustomization, text.replace("resources:\n", "resources:\n- budget.yaml\n")).unwrap();
        it.done("deploy").await;
        // The server has dropped this version, as it did; config/ is older than the cluster.
        fs::write(&path, budget("v1beta1")).unwrap();
        let gone = it.done("undeploy").await;
        assert!(gone.contains("delete     PodDisruptionBudget older-system/"), "{gone}");
        assert_eq!(it.server.get(&it.namespace()).await, None);
    }

    async fn what_may_not_be_listed_is_asked_for(it: "unseen") {
        it.done("deploy").await;
        let user = it.limited_user("unseen").await;
        it.server.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "unseen"},
            "rules": [
                {"apiGroups": [""], "verbs": ["*"], "resources": [
                    "bindings", "configmaps", "endpoints", "limitranges", "namespaces", "persistentvolumeclaims", "pods",
                    "podtemplates", "replicationcontrollers", "resourcequotas", "serviceaccounts", "services",
                ]},
                {"apiGroups": [
                    "apps", "apiextensions.k8s.io", "autoscaling", "batch", "coordination.k8s.io", "discovery.k8s.io", "networking.k8s.io",
                    "policy", "rbac.authorization.k8s.io", "resource.k8s.io", "storage.k8s.io", "g.unseen.org",
                ], "verbs": ["*"], "resources": ["*"]},
            ],
        })).await;
        it.bind("unseen").await;
        let output = it.run_with(&user, "undeploy").await;
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let unknown = "removing Namespace unseen-system also removes its objects of secrets, which cannot be listed: User \"system:serviceaccount:default:unseen\" cannot list";
        assert!(said.contains(unknown) && said.contains("`--yes` is required"), "{said}");
        let unseen =
            " cannot be listed, so objects of these kinds that were applied earlier are not found: ";
        assert!(said.contains(unseen) && said.contains(", secrets, "), "{said}");
        assert!(it.server.get(&it.deployment("unseen-system")).await.is_some());
        let output = it.run_with(&user, "undeploy --dry-run=server").await;
        assert!(output.status.success() && support::said(&output).contains(unknown), "{said}");
        let output = it.run_with(&user, "undeploy --yes").await;
        assert!(output.status.success(), "{}", support::said(&output));
        assert_eq!(it.server.get(&it.namespace()).await, None);
    }

    async fn the_objects_of_a_crd_that_may_not_be_listed_are_asked_for(it: "unlisted") {
        it.done("install").await;
        it.make_memcached("default", "a", &[]).await;
        let user = it.limited_user("unlisted").await;
        it.server.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "unlisted"},
            "rules": [{"apiGroups": ["apiextensions.k8s.io"], "verbs": ["*"], "resources": ["*"]}],
        })).await;
        it.bind("unlisted").await;
        let output = it.run_with(&user, "uninstall").await;
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("also removes every object of its kind, and these cannot be listed: User "), "{said}");
        assert!(it.server.get(&it.memcached("default", "a")).await.is_some());
        assert!(it.run_with(&user, "uninstall --yes").await.status.success());
        assert_eq!(it.server.get(&it.crd()).await, None);
    }

    async fn two_projects_in_one_namespace_do_not_remove_each_other(it: "first") {
        let Some(other) = Place::new("second").await else { return };
        it.done("deploy --namespace both").await;
        // The namespace's label names the project.
        let done = other.done("deploy --namespace both --force-conflicts").await;
        assert!(done.contains("Namespace both (it already existed)\n"), "{done}");
        let left = "leave      Namespace both (the operator-rs project `second.second.org` has ";
        let tried = support::said(&it.run("undeploy --namespace both --dry-run=server").await);
        assert!(tried.contains(left) && !tried.contains("delete     Namespace"), "{tried}");
        for words in ["undeploy --namespace both", "undeploy --namespace both --yes"] {
            let output = it.run(words).await;
            let said = support::said(&output);
            // That its namespace is another project's, too, is asked for; that it holds the other's objects decides.
            assert!(output.status.success(), "{said}");
            assert!(said.contains(left) && !said.contains("no longer has"), "{said}");
        }
        assert_eq!(it.server.get(&it.deployment("both")).await, None);
        assert!(other.server.get(&other.deployment("both")).await.is_some());
        let done = other.done("undeploy --namespace both").await;
        assert!(done.ends_with("leave      Namespace both (it already existed)\n"), "{done}");
        let done = it.done("undeploy --namespace both").await;
        assert_eq!(done, "delete     Namespace both\n");
    }

    async fn an_object_of_others_with_a_name_of_config_is_not_deleted_without_asking(it: "inner") {
        it.done("deploy").await;
        let service = it.rendered("").await.into_iter().find(|it| it["kind"] == "Service").expect("metrics are served");
        let path = server::path(&service);
        it.server.delete(&path).await;
        it.apply_as("argocd-controller", &service).await;
        let lost = "removing Namespace inner-system also removes Service inner-system/inner-metrics-service, which `deploy` did not create";
        it.refused("undeploy", 2, lost).await;
        assert!(it.server.get(&path).await.is_some());
        let gone = it.done("undeploy --yes").await;
        assert!(!gone.contains("Service "), "{gone}");
    }

    async fn objects_that_are_created_during_the_prompt_are_not_deleted_without_asking(it: "late") {
        it.done("deploy").await;
        it.make_memcached("default", "a", &[]).await;
        it.answer_late("uninstall", "1 object of kind Memcached in 1 namespace", "b").await;
        assert!(it.server.get(&it.memcached("default", "a")).await.is_some());
        it.done("undeploy --yes").await;
        assert_eq!(it.versions().await, []);
    }
}

/// A CRD of a kind that holds nothing.
fn crd(group: &str, kind: &str, versions: &[&str]) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let versions = versions.iter().enumerate().map(|(at, name)| {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        json!({"name": name, "served": true, "storage": at == 0, "schema": schema})
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": versions.collect::<Vec<_>>(),
        },
    })
}

fn path_of(object: &Value) -> String {
    server::path(object)
}

impl Place {
    /// Waits until the server serves the project's kind.
    async fn served(&self) {
        let path = self.memcached("default", "a");
        let list = path.rsplit_once('/').expect("it is a path").0;
        self.server.until(list, 20, "served", |it| it["kind"].is_string()).await;
    }

    /// Gives an account the ClusterRole of its name.
    async fn bind(&self, name: &str) {
        self.server.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
        })).await;
    }

    /// Agrees at a terminal, but only after another object has been made.
    async fn answer_late(&self, words: &str, asked: &'static str, name: &'static str) {
        let mut command = support::command(support::BINARY, &self.dir);
        command.stdin(std::process::Stdio::inherit());
        command.args(words.split_whitespace()).env("KUBECONFIG", &self.kubeconfig);
        command.env("TERM", "xterm");
        let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(true);
        let (runtime, server) = (tokio::runtime::Handle::current(), self.server.clone());
        let path = self.memcached("default", name);
        let object = json!({
            "apiVersion": format!("g.{}.org/v1alpha1", self.name), "kind": "Memcached",
            "metadata": {"name": name}, "spec": {"size": 1},
        });
        let talk = move || {
            let mut terminal =
                spawn_with_options(command, options).expect("there are pseudo-terminals");
            terminal.exp_string(asked).expect("it says what goes");
            terminal.exp_string("Remove all of these?").expect("it asks");
            let list = path.rsplit_once('/').expect("it is a path").0;
            runtime.block_on(server.create(list, object));
            terminal.send("y").expect("it listens");
            terminal.flush().expect("it listens");
            terminal
                .exp_string("nothing was removed: new objects have appeared")
                .expect("it looks again");
            terminal.exp_eof().expect("it ends");
        };
        tokio::task::spawn_blocking(talk).await.expect("the talk goes as expected");
    }
}
