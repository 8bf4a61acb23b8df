//! What config/ no longer has is found by its label, and told whatever becomes of it.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use crate::{place::Place, support, trials};

trials! {
    async fn objects_with_the_former_prefix_are_removed_with_confirmation(it: "prefix") {
        it.done("deploy").await;
        it.configure("namePrefix: prefix-", "namePrefix: changed-");
        let output = it.run("deploy").await;
        let said = support::said(&output);
        assert!(output.status.success(), "{said}");
        let told = "warning: config/ no longer has what was applied before: ";
        assert!(said.contains(told) && said.contains(" and 8 more\n"), "{said}");
        let reason = "ClusterRole prefix-manager-role is removed as well, although config/ no longer has it";
        let said = it.refused("undeploy", 2, reason).await;
        assert_eq!(said.matches("config/ no longer has it").count(), 13, "{said}");
        // What controllers copy the label of a Service to goes with the Service.
        assert!(!said.contains("Endpoint"), "{said}");
        let gone = it.done("undeploy --yes").await;
        assert!(gone.starts_with("delete     CustomResourceDefinition "), "{gone}");
        assert!(gone.ends_with("delete     Namespace prefix-system\n"), "{gone}");
        assert_eq!(it.labelled().await, [""; 0]);
        assert_eq!(it.done("undeploy").await, "");
    }

    async fn the_crd_of_a_deleted_kind_is_removed_with_confirmation(it: "deleted") {
        it.done("deploy").await;
        it.make_memcached("default", "a", &[]).await;
        it.done("delete api --group g --kind Memcached --force").await;
        let reason = "CustomResourceDefinition memcacheds.g.deleted.org is removed as well, although config/ no longer has it";
        let said = it.refused("uninstall", 2, reason).await;
        assert!(said.contains("also removes 1 object of kind Memcached in 1 namespace"), "{said}");
        // Only CRDs are `uninstall`'s.
        assert_eq!(said.matches("no longer has it").count(), 1, "{said}");
        let done = it.done("uninstall --yes").await;
        assert_eq!(done, "delete     CustomResourceDefinition memcacheds.g.deleted.org\n");
        it.refused("undeploy", 2, "ClusterRole deleted-memcached-admin-role is removed as well").await;
        it.done("undeploy --yes").await;
        assert_eq!(it.labelled().await, [""; 0]);
    }

    async fn two_deployments_of_a_project_do_not_remove_each_other(it: "twice") {
        it.done("deploy").await;
        it.configure("namePrefix: twice-", "namePrefix: other-");
        it.configure("namespace: twice-system", "namespace: other-system");
        let also = |namespace: &str| format!("the operator is also deployed to namespace `{namespace}`: remove it with `operator-rs undeploy --namespace {namespace}`\n");
        let output = it.run("deploy").await;
        assert!(support::said(&output).contains(&also("twice-system")), "{}", support::said(&output));
        let output = it.run("undeploy").await;
        let said = support::said(&output);
        assert!(output.status.success() && said.contains(&also("twice-system")), "{said}");
        for left in [
            "leave      CustomResourceDefinition memcacheds.g.twice.org (the operator in namespace `twice-system` needs it)\n",
            "leave      ClusterRole twice-manager-role (the operator in namespace `twice-system` has it)\n",
        ] {
            assert!(said.contains(left), "{said}");
        }
        assert!(said.contains("delete     ClusterRole other-manager-role\n"), "{said}");
        it.refused("undeploy --yes", 1, "pass `--namespace twice-system`").await;
        it.done("undeploy --yes --namespace twice-system").await;
        assert_eq!(it.labelled().await, [""; 0]);
    }

    async fn what_is_cluster_scoped_is_found_without_its_namespace(it: "halved") {
        it.done("deploy").await;
        it.server.delete(&it.namespace()).await;
        it.server.until_gone(&it.namespace(), 60).await;
        it.configure("namePrefix: halved-", "namePrefix: whole-");
        it.refused("undeploy", 2, "ClusterRole halved-manager-role is removed as well").await;
        it.done("undeploy --yes").await;
        assert_eq!(it.labelled().await, [""; 0]);
    }

    async fn the_fields_of_what_existed_before_are_given_up(it: "earlier") {
        it.server.namespace("earlier-team").await;
        it.done("deploy --namespace earlier-team").await;
        let path = "/api/v1/namespaces/earlier-team";
        let before = it.server.get(path).await.unwrap();
        assert_eq!(before["metadata"]["labels"][it.label()], "Adopted");
        // config/ no longer names it.
        let manager = it.dir.join("config/manager/manager.yaml");
        let text = fs::read_to_string(&manager).unwrap();
        let (_, rest) = text.split_once("\n---\n").expect("the namespace comes first");
        fs::write(&manager, rest).unwrap();
        let done = it.done("undeploy --namespace earlier-team").await;
        assert!(done.ends_with("leave      Namespace earlier-team (it already existed)\n"), "{done}");
        let labels = it.server.get(path).await.unwrap()["metadata"]["labels"].clone();
        assert_eq!(labels, json!({"kubernetes.io/metadata.name": "earlier-team"}));
    }

    async fn an_owner_reference_of_others_is_a_reason_to_ask(it: "owners") {
        it.done("deploy").await;
        let namespace = it.server.get(&it.namespace()).await.unwrap();
        let owners = json!([{"apiVersion": "v1", "kind": "Namespace", "name": "owners-system", "uid": namespace["metadata"]["uid"]}]);
        let account = format!("{}/serviceaccounts/owners-controller-manager", it.namespace());
        it.server.merge(&format!("{account}?fieldManager=backup"), json!({"metadata": {"ownerReferences": owners}})).await;
        let reason = "ServiceAccount owners-system/owners-controller-manager is removed, although `backup` manages it too";
        it.refused("undeploy", 2, reason).await;
        it.done("undeploy --yes").await;
    }

    async fn an_interrupted_deployment_tells_what_it_has_done(it: "stopped") {
        let manager = it.dir.join("config/manager/manager.yaml");
        let text = fs::read_to_string(&manager).unwrap();
        let place = "      serviceAccountName: controller-manager\n";
        fs::write(&manager, text.replace(place, &format!("      nodeSelector: {{disk: none}}\n{place}"))).unwrap();
        let mut command = support::command(support::BINARY, &it.dir);
        command.arg("deploy").env("KUBECONFIG", &it.kubeconfig);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It waits for a pod that no node runs.
        let deployment = it.deployment(&it.system());
        it.server.until(&deployment, 60, "known to its controller", |it| it["status"]["conditions"].is_array()).await;
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let output = tokio::task::spawn_blocking(move || child.wait_with_output()).await.unwrap().unwrap();
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("create     Deployment stopped-system/stopped-controller-manager\n"), "{said}");
        assert!(said.contains("error: interrupted: only the changes that are listed above were requested\n"), "{said}");
        assert!(said.contains("hint: run the command again to complete it"), "{said}");
        it.done("undeploy").await;
    }
}

impl Place {
    fn configure(&self, old: &str, new: &str) {
        let path = self.dir.join("config/default/kustomization.yaml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(&path, text.replace(old, new)).unwrap();
    }

    fn label(&self) -> String {
        format!("applied-by.rust.operator-rs.io/{0}.{0}.org", self.name)
    }

    /// The names of the objects of some kinds that carry the project's label.
    async fn labelled(&self) -> Vec<String> {
        let mut res = Vec::new();
        for list in [
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            "/api/v1/namespaces",
            "/apis/apps/v1/deployments",
        ] {
            let items = self.server.list(&format!("{list}?labelSelector={}", self.label())).await;
            let name = |it: &Value| it["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            res.extend(items.iter().map(name));
        }
        res
    }
}
