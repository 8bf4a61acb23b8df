//! What an operator may do, held against what it did; and what never starts it.

use std::{fs, net::TcpListener};

use super::{alone, assets, project, support, test};

/// The untouched scaffold asks for what its role allows, and its role allows nothing else.
#[test]
fn the_scaffold_is_refused_nothing_and_uses_every_rule() {
    let Some(assets) = assets() else { return };
    let _alone = alone();
    let dir = project("audit");
    let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac"];
    let cargo = ["--", env!("CARGO"), "test", "--locked", "--test", "e2e"];
    let mut command = test(&dir, &[&words[..], &cargo[..]].concat());
    let _target = support::alone_in_target();
    let output = support::building(&mut command).output().unwrap();
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("every_sample_becomes_available ... ok"), "{said}");
    assert!(!said.contains(": skipped"), "{said}");
    let report = said.split_once("used config/rbac/role.yaml:\n").expect(&said).1;
    assert!(report.contains("calls, 0 refused, 0 unused\n"), "{report}");
    assert!(report.contains("used    deployments.apps: create, list, patch, watch\n"), "{report}");
}

#[test]
fn what_is_refused_comes_with_the_comment_to_add() {
    let Some(assets) = assets() else { return };
    let dir = project("refused");
    let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac", "--", "sh", "-c"];
    // The operator's account reaches for CRDs, which no comment asks for.
    let script = format!("{} install --kubeconfig $E2E_OPERATOR_KUBECONFIG", support::BINARY);
    let output = test(&dir, &[&words[..], &[&script]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = support::said(&output);
    let comment = "// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get";
    assert!(said.contains(comment), "{said}");
    assert!(said.contains("unused  deployments.apps: create, list, patch, watch\n"), "{said}");
}

/// A role that hands on rights which the operator has not: the API server refuses it behind the authorizer.
#[test]
fn what_an_operator_may_not_grant_is_refused_and_what_it_holds_to_grant_is_not_unused() {
    let Some(assets) = assets() else { return };
    let dir = project("grants");
    let controller = dir.join("src/controller/memcached.rs");
    let rule = |group: &str, resources: &str, verbs: &str| {
        let text = fs::read_to_string(&controller).unwrap();
        let comment =
            format!("// +kubebuilder:rbac:groups={group},resources={resources},verbs={verbs}\n");
        fs::write(
            &controller,
            text.replacen("// +kubebuilder", &format!("{comment}// +kubebuilder"), 1),
        )
        .unwrap();
        support::done(&dir, "manifests");
    };
    rule("rbac.authorization.k8s.io", "roles;rolebindings", "create");
    let post = |resource: &str, rest: &str| {
        format!(
            "curl -sk -o ../answer -H \"Authorization: Bearer $token\" -H 'Content-Type: application/json' \
             $server/apis/rbac.authorization.k8s.io/v1/namespaces/default/{resource} \
             -d '{{\"metadata\": {{\"name\": \"a\"}}, {rest}}}'"
        )
    };
    let role = post(
        "roles",
        r#""rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}]"#,
    );
    let binding = post(
        "rolebindings",
        r#""roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:service-account-issuer-discovery"}"#,
    );
    let script = format!(
        "value() {{ sed -n \"s/.*$1: //p\" $E2E_OPERATOR_KUBECONFIG; }}; server=$(value server); token=$(value token); {role}; {binding}"
    );
    let audit = || {
        let words =
            ["--assets", assets.to_str().unwrap(), "--audit-rbac", "--", "sh", "-c", &script];
        support::said(&test(&dir, &words).output().unwrap())
    };
    let said = audit();
    let because = "once, because the operator may grant only rights that it has; add";
    let expected = format!(
        "refused secrets: get, list, {because}\n          // +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=get;list\n"
    );
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("2 calls, "), "{said}");

    rule("\"\"", "secrets", "get;list");
    let said = audit();
    assert!(said.contains("granted secrets: get, list\n"), "{said}");
    assert!(!said.contains("secrets,verbs"), "{said}");
    assert!(!said.contains("unused  secrets"), "{said}");
}

/// What config/ has is what is tested: a role that the source no longer declares is refused.
#[test]
fn a_role_that_is_out_of_date_is_not_tested() {
    let Some(assets) = assets() else { return };
    let dir = project("forgotten");
    let controller = dir.join("src/controller/memcached.rs");
    let text = fs::read_to_string(&controller).unwrap();
    fs::write(&controller, text.replacen("verbs=list;watch", "verbs=get;list;watch", 1)).unwrap();
    let words = ["--assets", assets.to_str().unwrap(), "--", "true"];
    let output = test(&dir, &words).output().unwrap();
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("config/rbac/role.yaml")
            && said.contains("run `operator-rs manifests` first"),
        "{said}"
    );
}

/// A failing test comes with the requests that were refused, and the object's conditions.
#[test]
fn a_failing_test_shows_what_was_refused() {
    let Some(assets) = assets() else { return };
    let _alone = alone();
    let dir = project("failing");
    let controller = dir.join("src/controller/memcached.rs");
    let text = fs::read_to_string(&controller).unwrap();
    let less = text.replacen(
        "groups=apps,resources=deployments,verbs=list;watch;",
        "groups=apps,resources=deployments,verbs=",
        1,
    );
    fs::write(&controller, less).unwrap();
    support::done(&dir, "manifests");
    let words = ["--assets", assets.to_str().unwrap()];
    let cargo = ["--", env!("CARGO"), "test", "--locked", "--test", "e2e"];
    let mut command = test(&dir, &[&words[..], &cargo[..]].concat());
    let _target = support::alone_in_target();
    let output = support::building(&mut command).output().unwrap();
    let said = support::said(&output);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("the operator has ended: "), "{said}");
    assert!(said.contains("Memcached memcached-sample: not available"), "{said}");
    let comment = "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list";
    assert!(said.contains(comment), "{said}");
}

/// Nobody asks as the operator: a report of nothing would look like one that is content.
#[test]
fn an_audit_of_no_calls_is_an_error() {
    let Some(assets) = assets() else { return };
    let dir = project("idle");
    let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac", "--", "true"];
    let output = test(&dir, &words).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        support::said(&output)
            .contains("error: the tests sent no request as system:serviceaccount:")
    );
}

/// With a KUBECONFIG of somebody's cluster, the project's own tests touch nothing.
#[test]
fn a_kubeconfig_alone_never_starts_the_end_to_end_tests() {
    let _alone = alone();
    let dir = project("guarded");
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let kubeconfig = dir.with_file_name("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: 'http://{}'}}}}]\nusers: [{{name: a, user: {{}}}}]\n",
        listener.local_addr().unwrap()
    );
    fs::write(&kubeconfig, text).unwrap();
    let mut command = support::command(env!("CARGO"), &dir);
    command.args(["test", "--locked", "--test", "e2e"]).env("KUBECONFIG", &kubeconfig);
    let _target = support::alone_in_target();
    let output = support::building(&mut command).env_remove("E2E_KUBECONFIG").output().unwrap();
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("every_sample_becomes_available: skipped"), "{said}");
    assert!(listener.accept().is_err(), "nobody called");
}
