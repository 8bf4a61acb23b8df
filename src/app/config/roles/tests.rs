use std::collections::BTreeMap;

use super::*;
use crate::plan::{Plan, WorkTree};
use crate::project::{Place, Rule, SourcePath};
use go_data::kubernetes::rbac::{self, Account};

/// A tree in a test's map.
#[derive(Clone, Default)]
struct Files(BTreeMap<ProjectPath, String>);

impl Tree for Files {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        Ok(self.0.get(path).map_or(FileContent::Nothing, |text| FileContent::Text(text.clone())))
    }
    fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let start = format!("{folder}/");
        let names = self.0.keys().filter_map(|path| path.as_str().strip_prefix(&start));
        Ok(names.map(|name| name.split('/').next().unwrap_or(name).to_owned()).collect())
    }
    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        Ok(self.0.keys().filter(|path| path.is_in(folder)).cloned().collect())
    }
}

const DEFAULT: &str = "\
namespace: own-system
namePrefix: own-
resources:
- ../rbac
- ../manager
replacements:
# +operator-rs:scaffold:replacements
";
const RBAC: &str = "resources:\n- role.yaml\n- others.yaml\n";
const ACCOUNT: &str = "\
{apiVersion: v1, kind: ServiceAccount, metadata: {name: controller-manager, namespace: system}}
";
const CLUSTER_BINDING: &str = "\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager-role}
subjects: [{kind: ServiceAccount, name: controller-manager, namespace: system}]
";
const MANAGER: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager, namespace: system}
spec: {template: {spec: {serviceAccountName: controller-manager, containers: []}}}
";

/// A comment for pods, with `namespace` and `roleName` unless they are empty. Its line is the number.
pub fn marker(line: usize, namespace: &str, role_name: &str) -> RbacMarker {
    let given = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
    let rule = Rule {
        groups: vec![String::new()],
        resources: vec!["pods".to_owned()],
        verbs: vec!["get".to_owned()],
        namespace: given(namespace),
        role_name: given(role_name),
        ..Rule::default()
    };
    let place = Place { path: SourcePath::fixed("src/main.rs"), line, column: 1 };
    RbacMarker { rule, place }
}

fn project(namespaced: bool) -> Project {
    let text = format!(
        "domain: example.com\nlayout: [rust.operator-rs.io/v1]\nnamespaced: {namespaced}\nprojectName: own\nversion: \"3\"\n"
    );
    let tree = Files([(ProjectPath::fixed("PROJECT"), text)].into_iter().collect());
    Project::read(&tree).expect("it can be read")
}

/// The files of a project, with others in config/rbac.
fn files(default: &str, others: &str) -> Files {
    let all = [
        ("config/default/kustomization.yaml", default),
        ("config/rbac/kustomization.yaml", RBAC),
        ("config/rbac/others.yaml", others),
        ("config/manager/kustomization.yaml", "resources:\n- manager.yaml\n"),
        ("config/manager/manager.yaml", MANAGER),
    ];
    Files(all.into_iter().map(|(path, text)| (ProjectPath::fixed(path), text.to_owned())).collect())
}

fn shown(problem: &Problem) -> String {
    let hint = problem.hint.as_deref().unwrap_or_default();
    format!("{}: {}; {hint}", problem.place.line, problem.message)
}

struct Outcome {
    /// `Role own-a in infra: own-system/own-controller-manager` for each right of a role that comments make.
    rights: Vec<String>,
    /// The warnings, with their lines if they are of comments.
    warnings: Vec<String>,
    files: Files,
}

/// Updates the files for these comments, and renders them.
fn outcome(before: &Files, project: &Project, markers: &[RbacMarker]) -> Outcome {
    let operator = crate::project::Operator { rules: markers.to_vec(), ..Default::default() };
    let roles = crate::manifests::generate(&operator, &Default::default()).manifests;
    let mut plan = Plan::default();
    update(&mut plan, before, project, markers).expect("it can be planned");
    for role in roles {
        plan.generate(role.path.clone(), role.to_text(), &role.edit, MANIFESTS_COMMAND);
    }
    let mut tree = WorkTree::new(before, false);
    tree.apply(plan).expect("it can be applied");
    let problems = unheld(&tree, project, markers).expect("it can be judged");
    let mut warnings: Vec<String> = problems.iter().map(shown).collect();
    let rendered = kustomize::build(&tree, &deployed_folder(), &[]).unwrap_or_default();
    let objects: Vec<&Value> = rendered.iter().collect();
    let account = Account {
        namespace: "own-system",
        name: "own-controller-manager",
        default_namespace: "default",
    };
    let right = |grant: rbac::Grant<'_>| {
        let role = grant.role.map_or("?", |role| pointer::text(role, "/metadata/name"));
        format!("{role} in {}", grant.namespace.unwrap_or("*"))
    };
    let rights = rbac::collect_grants(&objects, account).into_iter().map(right).collect();
    let mut files = before.clone();
    let changes = tree.writable_changes().expect("there is no conflict");
    for change in changes.iter() {
        match &change.after {
            Some(text) => drop(files.0.insert(change.path.clone(), text.clone())),
            None => drop(files.0.remove(&change.path)),
        }
    }
    let advice = |it: &diagnostics::Diagnostic| format!("{}; {}", it.message, it.hints.join("; "));
    warnings.extend(changes.warnings.iter().map(advice));
    Outcome { rights, warnings, files }
}

/// Lists the rights of the operator by namespace, and the warnings.
fn check(default: &str, others: &str, markers: &[RbacMarker], rights: &[&str], warnings: &[&str]) {
    let others = format!("{ACCOUNT}{others}");
    let found = outcome(&files(default, &others), &project(false), markers);
    assert_eq!(found.rights, rights);
    assert_eq!(found.warnings.len(), warnings.len(), "{:#?}", found.warnings);
    for (found, expected) in found.warnings.iter().zip(warnings) {
        assert!(found.contains(expected), "{found}");
    }
    // A second run changes nothing, and tells the same.
    let again = outcome(&found.files, &project(false), markers);
    assert_eq!(again.files.0, found.files.0);
    assert_eq!(again.warnings, found.warnings);
}

#[test]
fn a_role_with_the_name_of_another_one_is_warned_of() {
    let other = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: metrics-reader}\nrules: []\n";
    check(
        DEFAULT,
        &format!("{CLUSTER_BINDING}{other}"),
        &[marker(1, "", ""), marker(2, "", "metrics-reader")],
        &[],
        &["2: it is unknown whether the operator gets this right: "],
    );
    let found = outcome(
        &files(DEFAULT, &format!("{ACCOUNT}{CLUSTER_BINDING}{other}")),
        &project(false),
        &[marker(2, "", "metrics-reader")],
    );
    let [warning] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    let hint = "; give the role a name that no other role of config/ has: `roleName`";
    assert!(warning.ends_with(hint), "{warning}");
    assert!(warning.contains("already exists, from"), "{warning}");
}

#[test]
fn a_role_of_a_namespace_is_bound_there_and_stays_there() {
    let everywhere = marker(1, "", "");
    let (infra, users) = (marker(2, "infra", ""), marker(3, "users", ""));
    let named = marker(4, "users", "reader");
    check(
        DEFAULT,
        CLUSTER_BINDING,
        &[everywhere.clone(), infra.clone(), users.clone(), named],
        &[
            "own-manager-role-infra in infra",
            "own-manager-role-users in users",
            "own-reader-users in users",
            "own-manager-role in *",
        ],
        &[],
    );
    // The operator's own namespace, by each of its names.
    for own in ["own-system", "system"] {
        check(
            DEFAULT,
            CLUSTER_BINDING,
            &[marker(1, own, ""), infra.clone()],
            &["own-manager-role-infra in infra", "own-manager-role in own-system", "? in *"],
            &[],
        );
    }
    // Lists of the user's, and a file without a last line end.
    for end in ["components:\n- ../c\n# +operator-rs:scaffold:components\n", "labels: []"] {
        let default = format!("{DEFAULT}{end}");
        let mut before = files(&default, &format!("{ACCOUNT}{CLUSTER_BINDING}"));
        let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {a: b}\n";
        let path = ProjectPath::fixed("config/c/kustomization.yaml");
        before.0.insert(path, component.to_owned());
        let found = outcome(&before, &project(false), std::slice::from_ref(&infra));
        assert_eq!(found.rights[0], "own-manager-role-infra in infra", "{end}");
    }
}

#[test]
fn files_of_roles_go_with_the_last_comment_that_needs_them() {
    let before = files(DEFAULT, &format!("{ACCOUNT}{CLUSTER_BINDING}"));
    let (everywhere, infra) = (marker(1, "", ""), marker(2, "infra", ""));
    let with = outcome(&before, &project(false), &[everywhere.clone(), infra.clone()]);
    let without = outcome(&with.files, &project(false), std::slice::from_ref(&everywhere));
    assert_eq!(without.rights, ["own-manager-role in *"]);
    let is_ours = |path: &&ProjectPath| path.as_str().contains("namespace");
    assert_eq!(without.files.0.keys().find(is_ours), None);
    let again = outcome(&without.files, &project(false), &[everywhere.clone(), infra]);
    assert_eq!(again.files.0, with.files.0);
    // One that was edited stays.
    let mut edited = with.files;
    let path = ProjectPath::fixed("config/rbac/namespaced/role_bindings.yaml");
    edited.0.entry(path).and_modify(|text| *text += "# mine\n");
    let mut plan = Plan::default();
    update(&mut plan, &edited, &project(false), &[everywhere]).expect("it can be planned");
    let error = plan.changes_against(&edited, false).expect_err("an edit would be lost");
    let mut error = error.downcast::<diagnostics::Diagnostics>().expect("it has a place");
    let conflict = error.list.remove(0);
    assert_eq!(conflict.file.as_deref(), Some("config/rbac/namespaced/role_bindings.yaml"));
    let hint = "restore the comments, or pass `--force` to delete the file";
    assert!(conflict.hints.iter().any(|it| it.contains(hint)), "{conflict:?}");
}

#[test]
fn a_right_that_the_operator_would_not_have_is_told_at_its_comment() {
    let (everywhere, infra) = (marker(1, "", ""), marker(2, "infra", ""));
    let binding = |kind: &str, role: &str, subject: &str| {
        format!(
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: b, namespace: infra}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {role}, name: manager-role}}\nsubjects: [{subject}]\n"
        )
    };
    let account = "{kind: ServiceAccount, name: controller-manager, namespace: system}";
    let other = "{kind: ServiceAccount, name: agent, namespace: system}";
    let group = "{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:own-system'}";
    let markers = std::slice::from_ref(&everywhere);
    let unbound = "1: no ClusterRoleBinding gives the ClusterRole `manager-role` to the operator; bind it in config/rbac";
    check(DEFAULT, "", markers, &[], &[unbound]);
    let to_other = binding("ClusterRoleBinding", "ClusterRole", other);
    check(DEFAULT, &to_other, markers, &[], &[unbound]);
    let to_group = binding("ClusterRoleBinding", "ClusterRole", group);
    check(DEFAULT, &to_group, markers, &["own-manager-role in *"], &[]);
    // In one namespace only.
    let local = binding("RoleBinding", "ClusterRole", account);
    check(DEFAULT, &local, markers, &["own-manager-role in own-system"], &[unbound]);
    // A binding by hand is moved.
    let by_hand = binding("RoleBinding", "Role", account);
    let moved = "2: config/default moves the Role `manager-role` of the namespace `infra` into `own-system`; remove what else binds this Role: `operator-rs manifests` then writes a binding that keeps its namespace";
    check(
        DEFAULT,
        &by_hand,
        std::slice::from_ref(&infra),
        &["own-manager-role in own-system"],
        &[moved],
    );
    // Two Roles of one name, moved into one namespace.
    let own = marker(3, "own-system", "");
    let clash = "if config/rbac binds this Role, remove that binding";
    let by_hand_of_both = format!("{by_hand}{}", by_hand.replace("infra", "own-system"));
    check(DEFAULT, &by_hand_of_both, &[infra, own], &[], &[clash]);
    // A role with a name of its own may be for others, and is told if it is for nobody.
    let named = marker(4, "", "reader");
    let of_named = to_other.replace("name: manager-role", "name: reader");
    check(DEFAULT, &of_named, std::slice::from_ref(&named), &[], &[]);
    let unbound = "4: no ClusterRoleBinding gives the ClusterRole `reader` to the operator";
    check(DEFAULT, "", &[named], &[], &[unbound]);
}

#[test]
fn a_kustomization_without_a_place_is_left_alone_and_the_lines_are_told() {
    let default = DEFAULT.replace("# +operator-rs:scaffold:replacements\n", "");
    check(
        &default,
        "",
        &[marker(2, "infra", "")],
        &[],
        &[
            "2: config/default moves the Role `manager-role` of the namespace `infra` into `own-system`",
            "it does not list what binds the Roles of `namespace=`, and has no place for it; add to its lists `{\"components\":[\"../rbac/namespaced\"]}` and `{\"replacements\":[{\"path\":\"role_namespaces.yaml\"}]}`",
        ],
    );
    // Without lists that say otherwise, nothing is to be moved back.
    let rbac = "resources:\n- others.yaml\n".to_owned();
    let mut before = files(DEFAULT, ACCOUNT);
    before.0.insert(ProjectPath::fixed("config/rbac/kustomization.yaml"), rbac);
    let found = outcome(&before, &project(false), &[marker(2, "", "")]);
    assert_eq!(
        found.warnings,
        [
            "2: the ClusterRole `manager-role` is not part of config/default; list `role.yaml` in config/rbac/kustomization.yaml, and `../rbac` in config/default/kustomization.yaml"
        ]
    );
    // Without the account, there is nobody to bind the Role to.
    let before = files(DEFAULT, CLUSTER_BINDING);
    let found = outcome(&before, &project(false), &[marker(3, "own-system", "")]);
    assert_eq!(
        found.warnings,
        [
            "3: no RoleBinding in `own-system` gives the Role `manager-role` of the namespace `own-system` to the operator; bind it in config/rbac"
        ]
    );
}

#[test]
fn roles_that_config_default_makes_one_are_refused() {
    let tree = files(DEFAULT, ACCOUNT);
    let check = |markers: &[RbacMarker], expected: &[&str]| {
        let problems = rivals(&project(false), &tree, markers).expect("it can be judged");
        assert_eq!(problems.iter().map(shown).collect::<Vec<_>>(), expected);
    };
    check(&[marker(1, "system", ""), marker(2, "infra", ""), marker(3, "system", "")], &[]);
    check(
        &[marker(1, "own-system", ""), marker(2, "system", ""), marker(3, "system", "")],
        &[
            "2: `system` and `own-system` are both names of the operator's own namespace here; write `namespace=own-system` in all of these comments",
        ],
    );
    check(
        &[marker(1, "b-c", "a"), marker(2, "c", "a-b")],
        &[
            "2: the Role `a-b` of `c` and the Role `a` of `b-c` have one name in config/default; give one of them another `roleName`",
        ],
    );
}

#[test]
fn bindings_are_read_only_for_roles_in_namespaces() {
    /// A tree in which the directory with bindings cannot be listed.
    struct Unreadable(Files);
    impl Tree for Unreadable {
        fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
            self.0.read_content(path)
        }
        fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
            self.0.list_names(folder)
        }
        fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
            anyhow::bail!("{folder} was listed")
        }
    }
    let project = project(false);
    let files = BTreeMap::from([(ProjectPath::fixed(DEPLOYED), DEFAULT.to_owned())]);
    let tree = Unreadable(Files(files));
    let update = |namespace: &str| {
        let updated = update(&mut Plan::default(), &tree, &project, &[marker(1, namespace, "")]);
        updated.map_err(|error| error.to_string())
    };
    assert_eq!(update(""), Ok(()));
    assert_eq!(update("other"), Err("config/rbac was listed".to_owned()));
}
