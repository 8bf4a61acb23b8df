//! What `migrate` loses, and what holds it up, on a real API server.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{place::Place, server::MERGE, support};

crate::trials! {
    async fn fields_that_would_be_lost_are_named_first(it: "lossy") {
        it.done("install").await;
        it.store_in("v1").await;
        let path = format!("/apis/g.{}.org/v1/namespaces/default/memcacheds", it.name);
        for (name, spec) in [("has", json!({"size": 1, "more": "x"})), ("has-not", json!({"size": 1}))] {
            let (api_version, metadata) = (format!("g.{}.org/v1", it.name), json!({"name": name}));
            let object = json!({"apiVersion": api_version, "kind": "Memcached", "metadata": metadata, "spec": spec});
            it.server.create(&path, object).await;
        }
        it.store_in("v1alpha1").await;
        let loss = "Memcached default/has would lose `spec.more` of v1, which v1alpha1 does not have\n";
        let said = support::said(&it.run("migrate --dry-run").await);
        assert!(said.contains(loss) && said.contains("rewrite    2 objects"), "{said}");
        let said = it.refused("migrate", 2, "`--yes` is required when stdin is not a terminal").await;
        assert!(said.contains(loss), "{said}");
        let asked = ["would lose `spec.more`", "Rewrite the objects without these fields?"];
        it.answer("migrate", asked, "n", "nothing was changed").await;
        assert_eq!(it.server.get(&format!("{path}/has")).await.unwrap()["spec"]["more"], "x");

        // Without the version, nobody can see what is stored.
        let serve = |served: bool| move |crd: &mut Value| {
            let versions = crd["spec"]["versions"].as_array_mut().unwrap();
            let v1 = versions.iter_mut().find(|it| it["name"] == "v1").unwrap();
            v1["served"] = served.into();
        };
        it.server.edit(&it.crd(), serve(false)).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let said = it.refused("migrate", 2, "`--yes` is required").await;
        let unknown = "objects of memcacheds.g.lossy.org that are stored in v1 lose `spec.more`, which v1alpha1 does not have; which objects have it is unknown, as v1 is not served\n";
        assert!(said.contains(unknown), "{said}");
        it.server.edit(&it.crd(), serve(true)).await;
        tokio::time::sleep(Duration::from_secs(2)).await;

        let said = support::said(&it.run("migrate --yes").await);
        assert!(said.contains(loss), "{said}");
        assert_eq!(it.server.get(&format!("{path}/has")).await.unwrap()["spec"]["more"], Value::Null);
        // What is not lost is not asked about.
        it.store_in("v1").await;
        it.done("migrate").await;
    }

    async fn rules_that_only_the_new_version_has_are_for_what_changes(it: "rules") {
        it.done("install").await;
        it.objects("default", 1).await;
        it.store_in("v1").await;
        let set = async |rule: &str| {
            let size = "/schema/openAPIV3Schema/properties/spec/properties/size";
            it.server.edit(&it.crd(), |crd| {
                let versions = crd["spec"]["versions"].as_array_mut().unwrap();
                let v1 = versions.iter_mut().find(|it| it["name"] == "v1").unwrap();
                let size = v1.pointer_mut(size).unwrap();
                size.as_object_mut().unwrap().remove("default");
                size["minimum"] = json!(5);
                size["x-kubernetes-validations"] = json!([{"rule": rule}]);
            }).await;
            tokio::time::sleep(Duration::from_secs(2)).await;
        };
        let write = async |what: &str, patch: Value| {
            let path = format!("/apis/g.rules.org/v1/namespaces/default/memcacheds/m-0000{what}");
            it.server.ask("PATCH", &path, MERGE, patch).await.unwrap().code
        };
        let metadata = json!({"metadata": {"labels": {"a": "b"}}});
        let status = json!({"status": {"observedGeneration": 1}});
        set("5 < self").await;
        it.done("migrate").await;
        assert_eq!(it.stored_versions().await, json!(["v1"]));
        assert_eq!(write("/status", status.clone()).await, 200);
        assert_eq!(write("", metadata.clone()).await, 200);
        assert_eq!(write("", json!({"spec": {"size": 2}})).await, 422);

        // Such a rule is evaluated at each write.
        it.store_in("v1alpha1").await;
        it.done("migrate").await;
        it.store_in("v1").await;
        let rule = "5 < self || self == oldSelf + 1";
        set(rule).await;
        it.refused("migrate", 1, &format!("Memcached default/m-0000: spec.size: Invalid value: 1: failed rule: {rule}")).await;
        assert_eq!(write("/status", json!({"status": {"observedGeneration": 2}})).await, 422);
        set(&format!("self == oldSelf || {rule}")).await;
        it.done("migrate").await;
        assert_eq!(write("/status", status).await, 200);
    }
}
