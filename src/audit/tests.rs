use super::*;
use go_data::yaml::{Value, json};

const USER: &str = "system:serviceaccount:s:m";

fn event(id: &str, verb: &str, of: Value, code: u64) -> Value {
    let decision = if code == 403 { "forbid" } else { "allow" };
    json!({ "auditID": id, "stage": "ResponseComplete", "verb": verb, "user": { "username": USER },
        "requestURI": "/x?y", "objectRef": of, "responseStatus": { "code": code },
        "annotations": { "authorization.k8s.io/decision": decision } })
}

fn log(events: &[Value]) -> String {
    events.iter().map(|it| format!("{it}\n")).collect()
}

fn role(rules: Value) -> Vec<Value> {
    vec![json!({ "kind": "ClusterRole", "metadata": { "name": "manager-role" }, "rules": rules })]
}

fn known(namespace: Option<&str>) -> Known<'_> {
    let plural: &dyn Fn(&str, &str) -> Option<String> =
        &|group, kind| (group == "g" && kind == "K").then(|| "ks".to_owned());
    let role: &dyn Fn(&Access) -> Option<Value> = &|it| {
        let rules =
            json!([{ "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"] }]);
        (it.resource == "clusterroles" && it.name == "view").then(|| json!({ "rules": rules }))
    };
    Known { plural, role, namespace, roles: RolesFrom::Comments }
}

fn report_of(rules: Value, log: &str) -> String {
    report(&collect_rules(&role(rules)), &calls(log, USER), known(None)).to_string()
}

#[test]
fn an_apply_that_creates_uses_create_and_owners_use_finalizers() {
    let rules = json!([
        { "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["create", "list", "patch"] },
        { "apiGroups": ["g"], "resources": ["ks/finalizers"], "verbs": ["update"] },
    ]);
    let of =
        json!({ "apiGroup": "apps", "resource": "deployments", "namespace": "n", "name": "a" });
    let mut apply = event("1", "patch", of.clone(), 201);
    apply["requestObject"]["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "g/v1", "kind": "K", "name": "a", "blockOwnerDeletion": true }]);
    assert_eq!(
        report_of(rules.clone(), &log(&[apply])),
        "used    deployments.apps: create, patch\nunused  deployments.apps: list\n\
         used    ks.g/finalizers: update\n1 calls, 0 refused, 1 unused\n"
    );
    // One that changes what is there uses neither.
    assert_eq!(
        report_of(rules, &log(&[event("1", "patch", of, 200)])),
        "used    deployments.apps: patch\nunused  deployments.apps: create, list\n\
         unused  ks.g/finalizers: update\n1 calls, 0 refused, 3 unused\n"
    );
}

#[test]
fn a_refusal_names_the_comment_that_would_allow_it() {
    let of =
        json!({ "apiGroup": "apps", "resource": "deployments", "namespace": "n", "name": "a" });
    // Both pass the authorizer as the patches that they are, and are refused behind it.
    let allowed = json!({ "authorization.k8s.io/decision": "allow" });
    let mut create = event("1", "patch", of.clone(), 403);
    create["annotations"] = allowed.clone();
    create["responseStatus"]["message"] = json!(
        "deployments.apps \"a\" is forbidden: User \"u\" cannot create resource \"deployments\" in API group \"apps\" in the namespace \"n\""
    );
    let mut owner = event("2", "patch", of, 403);
    owner["annotations"] = allowed;
    owner["responseStatus"]["message"] =
        json!("deployments.apps \"a\" is forbidden: cannot set blockOwnerDeletion if …");
    owner["requestObject"]["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "g/v1", "kind": "K", "name": "a", "blockOwnerDeletion": true }]);
    let pods = json!({ "resource": "pods", "namespace": "n" });
    let path = json!({});
    let list = [
        create,
        owner,
        event("3", "list", pods.clone(), 403),
        event("4", "list", pods.clone(), 403),
        event("6", "watch", pods, 403),
        event("5", "get", path, 403),
    ];
    assert_eq!(
        report_of(json!([]), &log(&list)),
        "refused /x: get, once; add\n          // +kubebuilder:rbac:urls=/x,verbs=get\n\
         refused pods: list, watch, 3 times; add\n          // +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list;watch\n\
         refused deployments.apps: create, once; add\n          // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create\n\
         refused ks.g/finalizers: update, once; add\n          // +kubebuilder:rbac:groups=g,resources=ks/finalizers,verbs=update\n\
         6 calls, 6 refused, 0 unused\n"
    );
    // No role of manifests is made from comments.
    let known = Known { roles: RolesFrom::Manifests, ..known(None) };
    assert_eq!(
        report(&[], &calls(&log(&list), USER), known).refusals(),
        "refused /x: get, once; add\n          - {nonResourceURLs: [\"/x\"], verbs: [get]}\n\
         refused pods: list, watch, 3 times; add\n          - {apiGroups: [\"\"], resources: [\"pods\"], verbs: [list, watch]}\n\
         refused deployments.apps: create, once; add\n          - {apiGroups: [\"apps\"], resources: [\"deployments\"], verbs: [create]}\n\
         refused ks.g/finalizers: update, once; add\n          - {apiGroups: [\"g\"], resources: [\"ks/finalizers\"], verbs: [update]}\n"
    );
}

#[test]
fn calls_of_others_and_cut_lines_are_ignored_and_a_watch_counts_once() {
    let of = json!({ "resource": "pods" });
    let mut other = event("1", "list", of.clone(), 200);
    other["user"]["username"] = json!("admin");
    let mut begun = event("2", "watch", of.clone(), 200);
    begun["stage"] = json!("ResponseStarted");
    let ended = event("2", "watch", of, 200);
    let log = log(&[other, begun, ended]) + "{\"auditID\": \"3\", \"us";
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["*"] }]);
    assert_eq!(report_of(rules, &log), "used    pods: watch\n1 calls, 0 refused, 0 unused\n");
}

#[test]
fn rules_allow_as_the_rbac_authorizer_does() {
    let access = |verb: &str, group: &str, resource: &str, name: &str| Access {
        verb: verb.to_owned(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        namespace: "n".to_owned(),
        ..Access::default()
    };
    let allows = |rule: Value, access: &Access| {
        grant::allows(&collect_rules(&role(json!([rule])))[0], access)
    };
    let get = access("get", "apps", "deployments/scale", "a");
    for (rule, expected) in [
        (json!({ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] }), true),
        (json!({ "apiGroups": ["apps"], "resources": ["*/scale"], "verbs": ["get"] }), true),
        (json!({ "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"] }), false),
        (json!({ "apiGroups": [""], "resources": ["deployments/scale"], "verbs": ["get"] }), false),
        (
            json!({ "apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get"], "resourceNames": ["b"] }),
            false,
        ),
    ] {
        assert_eq!(allows(rule.clone(), &get), expected, "{rule}");
    }
    let path =
        Access { verb: "get".to_owned(), url: "/healthz/etcd".to_owned(), ..Access::default() };
    assert!(allows(json!({ "nonResourceURLs": ["/healthz/*"], "verbs": ["get"] }), &path));
    let mut in_other =
        role(json!([{ "apiGroups": ["apps"], "resources": ["*"], "verbs": ["get"] }]));
    in_other[0]["kind"] = json!("Role");
    in_other[0]["metadata"]["namespace"] = json!("other");
    assert!(!grant::allows(&collect_rules(&in_other)[0], &get));
}

#[test]
fn a_role_of_a_namespace_is_asked_for_what_is_in_it_only() {
    let nodes = event("1", "list", json!({ "resource": "nodes" }), 403);
    let pods = event("2", "list", json!({ "resource": "pods", "namespace": "n" }), 403);
    let calls = calls(&log(&[nodes, pods]), USER);
    let report = report(&[], &calls, known(Some("n"))).to_string();
    let markers: Vec<&str> =
        report.lines().filter_map(|it| it.trim().strip_prefix("// ")).collect();
    assert_eq!(
        markers,
        [
            "+kubebuilder:rbac:groups=\"\",resources=nodes,verbs=list",
            "+kubebuilder:rbac:groups=\"\",namespace=n,resources=pods,verbs=list",
        ]
    );
}

#[test]
fn a_refusal_by_a_quota_or_a_policy_is_no_missing_rule() {
    let mut pod = event("1", "create", json!({ "resource": "pods", "namespace": "n" }), 403);
    pod["annotations"] = json!({ "authorization.k8s.io/decision": "allow" });
    pod["responseStatus"]["message"] = json!(
        "pods \"a\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1"
    );
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["create"] }]);
    assert_eq!(
        report_of(rules, &log(&[pod])),
        "used    pods: create\n1 calls, 0 refused, 0 unused\n"
    );
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// An event of a write of an RBAC object.
fn writes(id: &str, resource: &str, object: &Value, code: u64) -> Value {
    let of = json!({ "apiGroup": RBAC, "resource": resource, "namespace": "n", "name": "a" });
    let mut res = event(id, "patch", of, code);
    res["requestObject"] = object.clone();
    res["annotations"] = json!({ "authorization.k8s.io/decision": "allow" });
    res
}

#[test]
fn an_operator_may_grant_what_it_holds_only() {
    let rule = |group: &str, resource: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs });
    let pods = json!({ "kind": "Role", "metadata": { "name": "a" }, "rules": [rule("", "pods", &["get", "list"])] });
    let binding = |name: &str| json!({ "roleRef": { "kind": "ClusterRole", "name": name } });
    let write = [rule(RBAC, "roles", &["patch"]), rule(RBAC, "rolebindings", &["patch"])];
    let with = |more: &[Value]| Value::Array([&write[..], more].concat());
    // As kube-apiserver 1.36 has it.
    let mut refused = writes("1", "roles", &pods, 403);
    refused["responseStatus"]["message"] = json!(
        "roles.rbac.authorization.k8s.io \"a\" is forbidden: user \"u\" (groups=[\"g\"]) is attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}\n\
         {APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"s\"], Verbs:[\"get\"]}\n\
         {NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}"
    );
    let because = "once, because the operator may grant only rights that it has; add";
    assert_eq!(
        report_of(with(&[]), &log(&[refused])),
        format!(
            "unused  roles.rbac.authorization.k8s.io: patch\nunused  rolebindings.rbac.authorization.k8s.io: patch\n\
             refused /x: get, {because}\n          // +kubebuilder:rbac:urls=/x,verbs=get\n\
             refused pods: get, list, {because}\n          // +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get;list\n\
             refused secrets: get, {because}\n          // +kubebuilder:rbac:groups=\"\",resources=secrets,resourceNames=s,verbs=get\n\
             1 calls, 1 refused, 2 unused\n"
        )
    );
    // The role of the second binding is the cluster's.
    let all =
        [writes("1", "roles", &pods, 200), writes("2", "rolebindings", &binding("view"), 201)];
    let held = [rule("", "pods", &["*"]), rule("apps", "deployments", &["get", "list"])];
    assert_eq!(
        report_of(with(&held), &log(&all)),
        "used    roles.rbac.authorization.k8s.io: patch\nused    rolebindings.rbac.authorization.k8s.io: patch\n\
         granted pods: get, list\ngranted deployments.apps: get\nunused  deployments.apps: list\n\
         2 calls, 0 refused, 1 unused\n"
    );
    // With these verbs, nothing has to be held.
    let bypass = [
        rule(RBAC, "roles", &["escalate"]),
        rule(RBAC, "clusterroles", &["bind"]),
        rule("", "pods", &["get", "list"]),
    ];
    let report = report_of(with(&bypass), &log(&all));
    assert!(report.contains("used    clusterroles.rbac.authorization.k8s.io: bind\n"), "{report}");
    assert!(report.contains("used    roles.rbac.authorization.k8s.io: escalate\n"), "{report}");
    assert!(report.contains("unused  pods: get, list\n"), "{report}");
}
