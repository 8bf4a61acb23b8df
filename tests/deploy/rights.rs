//! Rights as the API server's authorizer grants them: of an operator that is deployed in each way, and of random roles
//! and bindings, where [`rbac::collect_grants`] has to agree with the authorizer.

use go_data::kubernetes::rbac::{self, Account};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::{
    place::{self, Place},
    random::Random,
    server::Server,
};

const SEEDS: u64 = 24;
const GROUP: &str = "rbac.authorization.k8s.io";
const RESOURCES: [&str; 4] = ["configmaps", "secrets", "pods", "services"];

/// A question for the authorizer.
struct Access<'a> {
    account: (&'a str, &'a str),
    namespace: &'a str,
    verb: &'a str,
    resource: &'a str,
}

impl Access<'_> {
    /// Asks the API server with a SubjectAccessReview.
    async fn is_allowed(&self, server: &Server) -> bool {
        let (home, name) = self.account;
        let groups = ["system:serviceaccounts", "system:authenticated"].map(str::to_owned);
        let groups = groups.into_iter().chain([format!("system:serviceaccounts:{home}")]);
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": format!("system:serviceaccount:{home}:{name}"),
                "groups": groups.collect::<Vec<String>>(),
                "resourceAttributes": {
                    "namespace": self.namespace, "verb": self.verb, "group": "", "resource": self.resource,
                },
            },
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        server.create(path, review).await.body["status"]["allowed"] == true
    }

    /// The authorizer reads roles and bindings from caches, so a new right takes a moment.
    async fn until_allowed(&self, server: &Server) {
        let limit = Instant::now() + Duration::from_secs(20);
        while !self.is_allowed(server).await {
            let Self { account, namespace, verb, resource } = self;
            assert!(Instant::now() < limit, "{account:?} may not {verb} {resource} in {namespace}");
            sleep(Duration::from_millis(50)).await;
        }
    }
}

crate::trials! {
    /// `deploy` applies what `generate installer` writes.
    async fn a_marker_with_a_namespace_gives_its_right_there_and_nowhere_else(it: "rights") {
        for namespace in ["rights-infra", "rights-other"] {
            it.server.namespace(namespace).await;
        }
        let path = it.dir.join("src/controller/memcached.rs");
        let text = std::fs::read_to_string(&path).unwrap();
        let marker = "// +kubebuilder:rbac:groups=\"\",namespace=rights-infra,resources=secrets,verbs=get\n";
        let at = text.find("// +kubebuilder:rbac").unwrap();
        std::fs::write(&path, format!("{}{marker}{}", &text[..at], &text[at..])).unwrap();
        it.done("manifests").await;
        it.done("deploy --image example.com/rights:v1").await;

        let system = it.system();
        let access = |namespace, verb| Access {
            account: (&system, "rights-controller-manager"), namespace, verb, resource: "secrets",
        };
        access("rights-infra", "get").until_allowed(&it.server).await;
        for (namespace, verb) in [("rights-infra", "list"), ("rights-other", "get"), (&*system, "get")] {
            assert!(!access(namespace, verb).is_allowed(&it.server).await, "{verb} in {namespace}");
        }

        it.done("undeploy --yes").await;
        let role = "/apis/rbac.authorization.k8s.io/v1/namespaces/rights-infra/roles/rights-manager-role-rights-infra";
        it.server.until_gone(role, 20).await;
        let limit = Instant::now() + Duration::from_secs(20);
        while access("rights-infra", "get").is_allowed(&it.server).await {
            assert!(Instant::now() < limit, "the right is left after `undeploy`");
            sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn random_roles_and_bindings_grant_what_the_authorizer_grants() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let (mut allowed, mut denied) = (0, 0);
    for seed in 0..SEEDS {
        let case = Case::random(seed);
        case.create(&server).await;
        for namespace in &case.namespaces {
            for resource in RESOURCES {
                let account = (&*case.namespaces[0], "operator");
                let access = Access { account, namespace, verb: "get", resource };
                let is_allowed = access.is_allowed(&server).await;
                let is_granted = case.is_granted(namespace, resource);
                let objects = serde_json::to_string_pretty(&case.objects).unwrap();
                assert_eq!(
                    is_granted, is_allowed,
                    "seed {seed}: {resource} in {namespace}\n{objects}"
                );
                *(if is_allowed { &mut allowed } else { &mut denied }) += 1;
            }
        }
        case.delete(&server).await;
    }
    assert!(allowed > 50 && denied > 50, "{allowed} allowed, {denied} denied");
}

/// Roles and bindings in three namespaces. The first one is that of the account, which is named `operator`.
struct Case {
    namespaces: [String; 3],
    objects: Vec<Value>,
}

impl Case {
    fn random(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let namespaces = ["home", "away", "third"].map(|name| format!("grants-{seed}-{name}"));
        let mut objects = Vec::new();
        for number in 0..10 {
            let is_cluster_role = random.one_in(2);
            let rules = json!([{ "apiGroups": [""], "resources": [random.pick(&RESOURCES)], "verbs": ["get"] }]);
            let kind = if is_cluster_role { "ClusterRole" } else { "Role" };
            // Roles of one name in several namespaces are told apart by the namespace of a binding.
            let name = format!("grants-{seed}-{}", number % 4);
            objects.push(object(
                kind,
                &name,
                random.pick::<String>(&namespaces),
                json!({ "rules": rules }),
            ));
        }
        objects.sort_by_key(crate::server::path);
        objects.dedup_by_key(|object| crate::server::path(object));
        for number in 0..12 {
            let is_cluster_binding = random.one_in(3);
            let kind = if is_cluster_binding { "ClusterRoleBinding" } else { "RoleBinding" };
            let role_kind =
                if is_cluster_binding || random.one_in(2) { "ClusterRole" } else { "Role" };
            let role_name = format!("grants-{seed}-{}", random.below(5));
            let subjects: Vec<Value> =
                (0..=random.below(2)).map(|_| subject(random, &namespaces)).collect();
            let rest = json!({
                "roleRef": { "apiGroup": GROUP, "kind": role_kind, "name": role_name },
                "subjects": subjects,
            });
            let name = format!("grants-{seed}-binding-{number}");
            objects.push(object(kind, &name, random.pick::<String>(&namespaces), rest));
        }
        Self { namespaces, objects }
    }

    /// Creates the objects, and waits until the authorizer knows objects of each kind that were created after them.
    async fn create(&self, server: &Server) {
        for namespace in &self.namespaces {
            server.namespace(namespace).await;
        }
        for object in &self.objects {
            server.apply(object).await;
        }
        let home = &self.namespaces[0];
        let rule = |resource: &str| json!({ "rules": [{ "apiGroups": [""], "resources": [resource], "verbs": ["list"] }] });
        let bound = |kind: &str| {
            json!({
                "roleRef": { "apiGroup": GROUP, "kind": kind, "name": format!("{home}-last") },
                "subjects": [{ "kind": "ServiceAccount", "name": "last", "namespace": home }],
            })
        };
        let last = format!("{home}-last");
        for (kind, rest) in [
            ("Role", rule("endpoints")),
            ("RoleBinding", bound("Role")),
            ("ClusterRole", rule("events")),
            ("ClusterRoleBinding", bound("ClusterRole")),
        ] {
            server.apply(&object(kind, &last, home, rest)).await;
        }
        for resource in ["endpoints", "events"] {
            let access =
                Access { account: (home, "last"), namespace: home, verb: "list", resource };
            access.until_allowed(server).await;
        }
    }

    /// Deletes the objects that are in no namespace, so that they do not count for the next case.
    async fn delete(&self, server: &Server) {
        for object in self.objects.iter().filter(|object| object["metadata"]["namespace"].is_null())
        {
            server.delete(&crate::server::path(object)).await;
        }
    }

    fn is_granted(&self, namespace: &str, resource: &str) -> bool {
        let home = &*self.namespaces[0];
        let account = Account { namespace: home, name: "operator", default_namespace: home };
        let objects: Vec<&Value> = self.objects.iter().collect();
        rbac::collect_grants(&objects, account).iter().any(|grant| {
            grant.namespace.is_none_or(|it| it == namespace)
                && grant.role.is_some_and(|role| role["rules"][0]["resources"][0] == resource)
        })
    }
}

/// A subject that is the account, or another one that is much like it.
fn subject(random: &mut Random, namespaces: &[String]) -> Value {
    let namespace = random.pick(namespaces);
    let name = *random.pick(&["operator", "operator", "operator", "other"]);
    let group = |name: String| json!({ "kind": "Group", "name": name, "apiGroup": GROUP });
    match random.below(8) {
        0 => {
            json!({ "kind": "User", "name": format!("system:serviceaccount:{namespace}:{name}"), "apiGroup": GROUP })
        }
        1 => json!({ "kind": "User", "name": name, "apiGroup": GROUP }),
        2 => group(format!("system:serviceaccounts:{namespace}")),
        3 => group(
            (*random.pick(&["system:serviceaccounts", "system:unauthenticated", name])).to_owned(),
        ),
        _ => json!({ "kind": "ServiceAccount", "name": name, "namespace": namespace }),
    }
}

/// An object of RBAC; one of a cluster-wide kind is in no namespace.
fn object(kind: &str, name: &str, namespace: &str, rest: Value) -> Value {
    let mut object = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": { "name": name },
    });
    if !kind.starts_with("Cluster") {
        object["metadata"]["namespace"] = namespace.into();
    }
    for (key, value) in rest.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}
