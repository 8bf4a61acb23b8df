//! What is not part of an output is named.

use std::fs;

use crate::{project::Project, support};

const OPERATOR: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: own}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      serviceAccountName: operator
      imagePullSecrets: [{name: registry}]
      containers:
      - {name: operator, image: 'example.com/operator:v1'}
";
const ACCOUNT: &str =
    "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: operator, namespace: own}\n";

#[test]
fn an_installer_names_the_directories_and_the_objects_that_it_lacks() {
    let top = support::fresh("effects/missing");
    let project = Project::new(&top, "", "a", &[("a.com", "Foo")]);
    for folder in ["deploy/rbac/more", "deploy/docs", "deploy/samples"] {
        fs::create_dir_all(top.join(folder)).expect("it is ours");
    }
    project.write("deploy/operator.yaml", OPERATOR);
    project.write("deploy/rbac/more/account.yaml", ACCOUNT);
    project.write("deploy/docs/values.yaml", "a: 1\n");
    let sample = "apiVersion: a.com/v1\nkind: Foo\nmetadata: {name: a}\n";
    project.write("deploy/samples/foo.yaml", sample);
    project.write("src/main.rs", "fn main() {}\n");
    project.done("adopt --package a --manifests deploy");
    let unread = "warning: `deploy` is read without its subdirectories, and these have manifests: rbac/more\n\
                  hint: name all of them as `resources` of a kustomization.yaml there, or give another directory or file: `--manifests DIR|FILE`\n";
    let missing = |field: &str, object: &str| {
        format!(
            "warning: Deployment/operator: `spec.template.spec.{field}` names the {object}, which is in none of the manifests\n\
             --> deploy/operator.yaml\n = help: add it to the manifests, or create it on the cluster before\n"
        )
    };
    let account = missing("serviceAccountName", "ServiceAccount `operator`");
    let secret = missing("imagePullSecrets[0].name", "Secret `registry`");
    for command in ["generate installer", "deploy --dry-run"] {
        let output = project.done(command);
        for expected in [unread, &account, &secret] {
            assert!(output.contains(expected), "{command} lacks {expected}in {output}");
        }
    }
    let kustomization = "resources: [operator.yaml, rbac/more/account.yaml]\n";
    project.write("deploy/kustomization.yaml", kustomization);
    let output = project.done("generate installer");
    assert!(!output.contains("subdirectories") && !output.contains("ServiceAccount `"), "{output}");
    assert!(output.contains("names the Secret `registry`"), "{output}");
}

#[test]
fn the_manifests_of_a_new_project_lack_nothing() {
    let dir = support::fresh("effects/whole");
    support::done(&dir, "init --domain example.com --project-name whole");
    support::done(&dir, "create api --group cache --kind Memcached");
    support::done(
        &dir,
        "create webhook --group cache --kind Memcached --defaulting --programmatic-validation",
    );
    for command in ["generate installer --image q/a:1", "bundle --image q.io/a/b:v1"] {
        let output = support::said(&support::operator_rs(&dir, command));
        assert!(!output.contains("in none of the manifests"), "{output}");
    }
}

#[test]
fn each_way_to_deploy_warns_of_a_right_that_nothing_binds() {
    let dir = support::fresh("effects/unbound-right");
    support::done(&dir, "init --domain example.com --project-name unbound");
    support::done(&dir, "create api --group cache --kind Memcached");
    let binding = dir.join("config/rbac/role_binding.yaml");
    let text = fs::read_to_string(&binding).unwrap();
    fs::write(&binding, text.replace("name: manager-role", "name: other-role")).unwrap();
    let warning = "warning[right-not-held]: no ClusterRoleBinding gives the ClusterRole `manager-role` to the operator";
    for line in [
        "manifests",
        "deploy --image a/b:c --dry-run",
        "generate installer --image a/b:c",
        "generate chart --image a/b:c",
        "bundle --image a/b:c",
    ] {
        let said = support::said(&support::operator_rs(&dir, line));
        assert_eq!(said.matches(warning).count(), 1, "{line}: {said}");
    }
    let said = support::said(&support::operator_rs(&dir, "undeploy --dry-run"));
    assert!(!said.contains("right-not-held"), "{said}");
}

#[test]
fn manifests_that_lead_out_of_the_project_are_refused() {
    let top = support::fresh("effects/leads-out");
    let project = Project::new(&top, "clone", "a", &[("a.com", "Foo")]);
    fs::write(top.join("outside.yaml"), OPERATOR).expect("it is ours");
    std::os::unix::fs::symlink("../outside.yaml", project.0.join("deploy.yaml"))
        .expect("it is ours");
    project.write("src/main.rs", "fn main() {}\n");
    project.done("adopt --package a");
    let refused = "`deploy.yaml` leads out of the project";
    project.refused("generate installer --manifests deploy.yaml", refused);
    let hint = "hint: name the file that it leads to: `";
    project.refused("generate installer --manifests deploy.yaml", hint);
    project.refused("generate installer --manifests /dev/zero", "it is longer than 256 MiB");
    project.done("generate installer --manifests ../outside.yaml");
}
