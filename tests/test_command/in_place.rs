//! In place: what PROJECT records is used as far as the source says the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    assets,
    support::{self, shop::SOURCE},
    test,
};

const DEPLOYMENT: &str = r#"apiVersion: v1
kind: ServiceAccount
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      serviceAccountName: shop
      containers: [{name: manager, image: "example.com/shop:1"}]
"#;

/// An operator whose manifests include its CRD, recorded in PROJECT.
fn shop(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("test-command/{name}")).join("shop");
    support::shop::put(&dir, SOURCE);
    fs::create_dir(dir.join("yaml")).unwrap();
    fs::write(dir.join("yaml/deployment.yaml"), DEPLOYMENT).unwrap();
    fs::write(dir.join("yaml/crd.yaml"), support::done(&dir, "generate crds")).unwrap();
    support::done(&dir, "adopt");
    let project = fs::read_to_string(dir.join("PROJECT")).unwrap();
    assert!(project.contains("manifests: yaml"), "{project}");
    dir
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replace(from, to)).unwrap();
}

fn check(dir: &Path, words: &str, code: i32, expected: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let output = match words.as_slice() {
        ["test", words @ ..] => {
            let Some(assets) = assets() else { return };
            test(dir, &[&["--assets", assets.to_str().unwrap()], words].concat()).output()
        }
        words => support::command(support::BINARY, dir).args(words).output(),
    }
    .unwrap();
    let said = support::said(&output);
    assert!(output.status.code() == Some(code) && said.contains(expected), "{words:?}: {said}");
}

const APPLYING: [&str; 5] = [
    "install --dry-run",
    "deploy --dry-run",
    "generate installer --image a:1",
    "generate installer --crds-only",
    "test -- true",
];

#[test]
fn crds_of_manifests_are_those_of_the_source() {
    let dir = shop("in-place-stale");
    // What only manifests know is theirs: how a cluster reaches a webhook that converts, labels, annotations.
    let webhook = "spec:\n  conversion:\n    strategy: Webhook\n    webhook:\n      conversionReviewVersions: [v1]\n      clientConfig: {service: {name: shop, namespace: shop}}\n";
    replace(&dir.join("yaml/crd.yaml"), "spec:\n  group", &format!("{webhook}  group"));
    replace(&dir.join("yaml/crd.yaml"), "metadata:\n", "metadata:\n  labels: {app: shop}\n");
    for words in APPLYING {
        check(&dir, words, 0, "");
    }
    replace(&dir.join("src/main.rs"), "size: i32", "size: i64");
    let differs = "error: the CRDs in `yaml` differ from those that the source declares:\n  yaml/crd.yaml: shops.example.com: at `spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.format`, the file has \"int32\", and the source declares \"int64\"\n";
    let patched = "hint: for CRDs that are patched on purpose: `kubectl apply --server-side` applies them, and `operator-rs test --crds DIR|FILE` tests with them\n";
    let refused = format!("{differs}hint: generate them again: `operator-rs manifests`\n{patched}");
    for words in APPLYING {
        check(&dir, words, 1, &refused);
    }
    check(&dir, "test --crds yaml -- true", 0, "");
    // Where no PROJECT says what the manifests are, too.
    fs::rename(dir.join("PROJECT"), dir.join("../saved")).unwrap();
    let replace_them = "hint: replace them with the output of `operator-rs generate crds`\n";
    check(&dir, "test --manifests yaml -- true", 1, &format!("{differs}{replace_them}{patched}"));
    fs::rename(dir.join("../saved"), dir.join("PROJECT")).unwrap();
    // Names suffice to remove them.
    for words in ["uninstall --dry-run", "undeploy --dry-run"] {
        check(&dir, words, 0, "delete     CustomResourceDefinition shops.example.com\n");
    }
    fs::write(dir.join("yaml/kustomization.yaml"), "resources: [crd.yaml, deployment.yaml]\n")
        .unwrap();
    check(&dir, "deploy --dry-run", 1, "  yaml/crd.yaml: shops.example.com: at `spec");
}

#[test]
fn crds_that_manifests_lack_are_those_of_the_source() {
    let dir = shop("in-place-new");
    let mall = SOURCE.rsplit_once("}\n\n").unwrap().1.replace("Shop", "Mall");
    fs::write(dir.join("src/main.rs"), format!("{SOURCE}{mall}")).unwrap();
    let both = "CustomResourceDefinition malls.example.com\napply      CustomResourceDefinition shops.example.com\n";
    for words in ["install --dry-run", "deploy --dry-run"] {
        check(&dir, words, 0, both);
    }
}

#[test]
fn a_directory_of_project_is_generated_again() {
    let dir = shop("in-place-recorded");
    fs::remove_file(dir.join("yaml/crd.yaml")).unwrap();
    support::done(&dir, "generate crds --output-dir yaml");
    fs::remove_file(dir.join("PROJECT")).unwrap();
    support::done(&dir, "adopt");
    replace(&dir.join("src/main.rs"), "size: i32", "size: i64");
    let hint = "hint: generate them again: `operator-rs manifests`\n";
    check(&dir, "install --dry-run", 1, hint);
    support::done(&dir, "manifests");
    check(&dir, "install --dry-run", 0, "");
}

#[test]
fn a_source_that_cannot_be_read_is_told() {
    let dir = shop("in-place-unread");
    replace(
        &dir.join("src/main.rs"),
        "    pub size",
        "    #[schemars(transform = other)]\n    pub size",
    );
    let warning = "warning: the CRDs were read from `yaml` and may be out of date: the CRD cannot be read exactly";
    for words in APPLYING {
        check(&dir, words, 0, warning);
    }
    // What reads the code at once is possible wherever the CRDs are.
    let hint = "hint: run `operator-rs generate crds --compile` first to use the compiled code";
    check(&dir, "install --dry-run", 0, hint);
}

/// As `helm template -n caches` gives them: bindings name the namespace, and the account does not.
const ROLES: &str = r#"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shop}
rules: [{apiGroups: [example.com], resources: [shops], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: caches}]
"#;

#[test]
fn accounts_are_where_bindings_look_for_them() {
    let dir = shop("in-place-namespace");
    let file = dir.join("yaml/deployment.yaml");
    fs::write(&file, format!("{DEPLOYMENT}{ROLES}")).unwrap();
    let list = "curl -skH \"Authorization: Bearer $(sed -n 's/.*token: //p' $E2E_OPERATOR_KUBECONFIG)\" $(sed -n 's/.*server: //p' $E2E_OPERATOR_KUBECONFIG)/apis/example.com/v1/shops > /dev/null";
    if let Some(assets) = assets() {
        let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac", "--", "sh", "-c", list];
        let output = test(&dir, &words).output().unwrap();
        let said = support::said(&output);
        let expected = "How system:serviceaccount:caches:shop used yaml:\n";
        assert!(output.status.success() && said.contains(expected), "{said}");
        assert!(said.contains("used    shops.example.com: list\n"), "{said}");
    }
    let placed = "ServiceAccount caches/shop\napply      Deployment caches/shop\n";
    check(&dir, "deploy --dry-run", 0, placed);
    check(&dir, "undeploy --dry-run", 0, "Deployment caches/shop\n");
    let installer = "kind: ServiceAccount\nmetadata:\n  name: shop\n  namespace: caches\n";
    check(&dir, "generate installer", 0, installer);
    let binding = ROLES.rsplit_once("---").unwrap().1.replace("caches", "others");
    let binding = binding.replace("metadata: {name: shop}", "metadata: {name: other}");
    fs::write(&file, format!("{DEPLOYMENT}{ROLES}---{binding}")).unwrap();
    let refused = "error: it is unknown which namespace the manifests are for: bindings look for the ServiceAccount shop in caches, others\nhint: give it: `--namespace NAME`\n";
    for words in ["deploy --dry-run", "undeploy --dry-run", "generate installer", "test -- true"] {
        check(&dir, words, 1, refused);
    }
    check(&dir, "deploy --dry-run --namespace caches", 0, "Deployment caches/shop\n");
    check(
        &dir,
        "test --namespace shops -- sh -c grep$IFS'namespace:.shops'$IFS$E2E_OPERATOR_KUBECONFIG",
        0,
        "namespace: shops",
    );
}

const SAMPLE: &str =
    "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: lorem}\nspec: {size: 1}\n";

#[test]
fn samples_are_not_deployed_in_silence() {
    let dir = shop("in-place-samples");
    fs::write(dir.join("yaml/lorem.yaml"), SAMPLE).unwrap();
    let warning = "warning: the manifests have custom resources of the operator: Shop lorem\nhint: if these are samples, name the manifests without them: `--manifests DIR|FILE`\n";
    check(&dir, "deploy --dry-run", 0, warning);
    check(&dir, "generate installer", 0, warning);
    check(&dir, "generate installer --output-file dist/all.yaml", 0, warning);
    fs::remove_dir_all(dir.join("dist")).unwrap();
    fs::remove_file(dir.join("PROJECT")).unwrap();
    let note = "Not recorded: yaml, because `deploy` would also create the custom resources in it: yaml/lorem.yaml; record it with `--manifests yaml`, or name a file\n";
    check(&dir, "adopt", 0, note);
    let project = fs::read_to_string(dir.join("PROJECT")).unwrap();
    assert!(!project.contains("manifests:"), "{project}");
    check(&dir, "adopt --manifests yaml", 0, "manifests  yaml\n");
    // A kustomization names what it deploys.
    fs::remove_file(dir.join("PROJECT")).unwrap();
    let kustomization = "resources: [crd.yaml, deployment.yaml]\n";
    fs::write(dir.join("yaml/kustomization.yaml"), kustomization).unwrap();
    check(&dir, "adopt", 0, "manifests  yaml\n");
}

#[test]
fn a_crd_stays_in_the_file_that_has_it() {
    let dir = shop("in-place-named");
    let file = dir.join("yaml/crd.yaml");
    let project = fs::read_to_string(dir.join("PROJECT")).unwrap();
    assert!(project.contains("    crds:\n    - yaml\n"), "{project}");
    // The same CRD in a file of somebody else stays as it is, with its comments and without what API servers fill in.
    replace(&file, "    singular: shop\n", "");
    replace(&file, "spec:\n  group", "spec: # of shops\n  group");
    let before = fs::read_to_string(&file).unwrap();
    for words in ["manifests", "manifests --check", "generate crds --output-dir yaml"] {
        check(&dir, words, 0, "");
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    check(&dir, "status", 0, "CRDs    yaml    current\n");
    replace(&dir.join("src/main.rs"), "size: i32", "size: i64");
    let refused = "  yaml/crd.yaml: was not created by operator-rs, and differs: at `spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.size.format`, it has \"int32\", and the source declares \"int64\"\nhint: `--diff --force` shows all changes; `--force` replaces the file\n";
    check(&dir, "manifests --check", 1, "  update  yaml/crd.yaml (needs `--force`)\n");
    for words in ["manifests", "generate crds --output-dir yaml"] {
        check(&dir, words, 1, refused);
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    check(&dir, "status", 0, "CRDs    yaml    out of date: yaml/crd.yaml (needs `--force`)\n");
    check(&dir, "manifests --diff --force", 0, "-spec: # of shops\n");
    check(&dir, "manifests --force", 0, "replace yaml/crd.yaml (was edited)\n");
    // It is generated from now on.
    replace(&dir.join("src/main.rs"), "size: i64", "size: u8");
    check(&dir, "manifests", 0, "update  yaml/crd.yaml\n");
    check(&dir, "manifests --check", 0, "");
    assert!(!dir.join("yaml/example.com_shops.yaml").exists());
    // A new kind has a file of its own, and a deleted one takes its file along.
    let source = fs::read_to_string(dir.join("src/main.rs")).unwrap();
    let mall = source.rsplit_once("}\n\n").unwrap().1.replace("Shop", "Mall");
    fs::write(dir.join("src/main.rs"), format!("{source}{mall}")).unwrap();
    check(&dir, "manifests", 0, "create  yaml/example.com_malls.yaml\n");
    fs::write(dir.join("src/main.rs"), source).unwrap();
    check(&dir, "manifests", 0, "delete  yaml/example.com_malls.yaml\n");
    // In a merge conflict, it is not known which CRDs the file has.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n")).unwrap();
    check(
        &dir,
        "manifests",
        1,
        "error: cannot read yaml/crd.yaml, which operator-rs has generated\nhint: restore it from version control, or delete it\n",
    );
}

#[test]
fn a_file_with_several_crds_keeps_them_and_one_with_other_objects_is_refused() {
    let dir = shop("in-place-several");
    let mall = SOURCE.rsplit_once("}\n\n").unwrap().1.replace("Shop", "Mall");
    fs::write(dir.join("src/main.rs"), format!("{SOURCE}{mall}")).unwrap();
    let file = dir.join("yaml/crd.yaml");
    fs::write(&file, support::done(&dir, "generate crds")).unwrap();
    check(&dir, "manifests --check", 0, "");
    replace(&dir.join("src/main.rs"), "size: i32", "size: i64");
    check(&dir, "manifests --force", 0, "replace yaml/crd.yaml (was edited)\n");
    check(&dir, "generate crds --output-dir yaml --check", 0, "");
    // A kind that is gone is left over in a file of somebody else, and goes from a generated one.
    fs::write(dir.join("src/main.rs"), SOURCE.replace("i32", "i64")).unwrap();
    check(&dir, "manifests --diff", 0, "-  name: malls.example.com\n");
    let text = fs::read_to_string(&file).unwrap();
    let theirs = text.split_once('\n').unwrap().1;
    fs::write(&file, theirs).unwrap();
    let left_over =
        "warning: malls.example.com is left over: no kind declares it\n--> yaml/crd.yaml\n";
    check(&dir, "manifests", 0, left_over);
    replace(&dir.join("src/main.rs"), "size: i64", "size: u8");
    let refused = "error: CRDs are out of date in files that cannot be replaced, and nothing was written:\n  yaml/crd.yaml: has the CustomResourceDefinition malls.example.com as well, which would be lost\nhint: give the CRDs YAML files of their own, or write into another directory: `operator-rs generate crds --output-dir DIR`\n";
    check(&dir, "manifests --force", 1, refused);
    fs::write(&file, format!("{theirs}---\n{DEPLOYMENT}")).unwrap();
    check(&dir, "manifests --force", 1, "has the CustomResourceDefinition malls");
    let json = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"shops.example.com"}}"#;
    fs::remove_file(&file).unwrap();
    fs::write(dir.join("yaml/crd.json"), json).unwrap();
    check(&dir, "manifests --force", 1, "yaml/crd.json: is JSON, and CRDs are written as YAML\n");
    // Elsewhere, CRDs are files of others.
    fs::remove_file(dir.join("PROJECT")).unwrap();
    fs::remove_file(dir.join("yaml/crd.json")).unwrap();
    fs::write(&file, format!("{theirs}---\n{DEPLOYMENT}")).unwrap();
    check(&dir, "adopt", 0, "CRDs       none\n");
    check(
        &dir,
        "adopt",
        0,
        "Not recorded: CRDs that are in yaml; `--crds DIR` chooses where `manifests` writes them\n",
    );
    let refused = "error: `yaml/crd.yaml` is a file, and CRDs are written to a directory\nhint: name the directory that it is in: a CRD stays in the file that has it\n";
    check(&dir, "adopt --crds yaml/crd.yaml", 1, refused);
}

/// Two kinds of one group, with their CRDs in `crds`, which PROJECT records.
fn two(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("test-command/{name}")).join("shop");
    let mall = SOURCE.rsplit_once("}\n\n").unwrap().1.replace("Shop", "Mall");
    support::shop::put(&dir, &format!("{SOURCE}{mall}"));
    support::done(&dir, "generate crds --output-dir crds");
    support::done(&dir, "adopt");
    dir
}

const WRITE: &str = "generate crds --output-dir crds";

#[test]
fn no_crd_is_written_beside_a_file_that_has_it() {
    let dir = two("in-place-lists");
    let (shops, malls) = ("crds/example.com_shops.yaml", "crds/example.com_malls.yaml");
    let crds = support::done(&dir, "generate crds -o json");
    let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": {crds}}}"#);
    [shops, malls].iter().for_each(|it| fs::remove_file(dir.join(it)).unwrap());
    for text in [&list, &crds] {
        fs::write(dir.join("crds/all.json"), text).unwrap();
        check(&dir, &format!("{WRITE} --check"), 0, "");
        check(&dir, WRITE, 0, "");
        check(&dir, "manifests --check", 0, "");
        assert_eq!(fs::read_dir(dir.join("crds")).unwrap().count(), 1);
    }
    // What cannot be read, and names a CRD.
    fs::remove_file(dir.join("crds/all.json")).unwrap();
    support::done(&dir, WRITE);
    let text = fs::read_to_string(dir.join(shops)).unwrap();
    let template =
        format!("{{{{- if .Values.crds }}}}\n{}{{{{- end }}}}\n", text.split_once('\n').unwrap().1);
    fs::remove_file(dir.join(shops)).unwrap();
    fs::write(dir.join("crds/shops.yaml"), template).unwrap();
    check(&dir, WRITE, 1, "error: cannot read crds/shops.yaml, which may have a CRD\n");
    check(
        &dir,
        "manifests",
        1,
        "hint: write CRDs into a directory without templates, or correct the file\n",
    );
    check(
        &dir,
        "status",
        0,
        "CRDs    crds    unknown: cannot read crds/shops.yaml, which may have a CRD",
    );
    assert!(!dir.join(shops).exists());
}

#[test]
fn nothing_in_a_file_with_crds_is_lost() {
    let dir = two("in-place-lost");
    let (shops, malls) = ("crds/example.com_shops.yaml", "crds/example.com_malls.yaml");
    let text = fs::read_to_string(dir.join(shops)).unwrap();
    // A renamed file is where the other kind would be.
    fs::rename(dir.join(shops), dir.join(malls)).unwrap();
    let refused = "  crds/example.com_malls.yaml: has shops.example.com, and is where malls.example.com would be written: rename it\n";
    check(&dir, &format!("{WRITE} --force"), 1, refused);
    fs::remove_file(dir.join(malls)).unwrap();
    support::done(&dir, WRITE);
    // An object of a person below the line of the generator.
    fs::write(dir.join(shops), format!("{text}---\n{DEPLOYMENT}")).unwrap();
    let refused =
        "  crds/example.com_shops.yaml: has the ServiceAccount shop as well, which would be lost\n";
    check(&dir, &format!("{WRITE} --force"), 1, refused);
    fs::write(dir.join(shops), &text).unwrap();
    // What API servers set is no difference.
    let theirs = text.split_once('\n').unwrap().1;
    let held = theirs
        .replace("metadata:\n", "status: {conditions: []}\nmetadata:\n  creationTimestamp: null\n");
    fs::write(dir.join(shops), &held).unwrap();
    check(&dir, WRITE, 0, "");
    assert_eq!(fs::read_to_string(dir.join(shops)).unwrap(), held);
    fs::write(dir.join(shops), &text).unwrap();
    // A version of another module.
    let first = SOURCE.rsplit_once("}\n\n").unwrap().1;
    let second =
        first.replace("\"v1\"", "\"v2\"").replace("namespaced)", "namespaced, storage = false)");
    let source = SOURCE.replace(first, "");
    let source = format!(
        "{source}mod v1 {{\n    use super::*;\n{first}}}\nmod v2 {{\n    use super::*;\n{second}}}\n"
    );
    fs::write(dir.join("src/main.rs"), source).unwrap();
    support::done(&dir, WRITE);
    let refused =
        "  crds/example.com_shops.yaml: has the version v2 as well, which would be lost\n";
    for words in [" --module v1", " --module v1 --force"] {
        check(&dir, &format!("{WRITE}{words}"), 1, refused);
    }
    check(&dir, &format!("{WRITE} --check"), 0, "");
}

#[test]
fn what_was_written_and_what_is_to_be_listed_is_told() {
    let dir = two("in-place-told");
    fs::write(dir.join("crds/kustomization.yaml"), "resources: [example.com_malls.yaml]\n")
        .unwrap();
    fs::remove_file(dir.join("crds/example.com_shops.yaml")).unwrap();
    check(
        &dir,
        WRITE,
        0,
        "warning: does not list example.com_shops.yaml: add it to `resources`\n--> crds/kustomization.yaml\n",
    );
    fs::write(dir.join("src/main.rs"), SOURCE).unwrap();
    check(
        &dir,
        WRITE,
        0,
        "warning: lists example.com_malls.yaml, which is deleted: remove it from `resources`\n--> crds/kustomization.yaml\n",
    );
    // Where one directory cannot be written, nothing is.
    let words = "generate crds --output-dir other --output-dir /proc/operator";
    check(&dir, words, 1, "error: cannot create the directory `/proc/operator`");
    assert_eq!(fs::read_dir(dir.join("other")).unwrap().count(), 0);
    support::done(&dir, "generate crds --output-dir other");
    // Another directory is recorded in place of the first.
    support::done(&dir, "adopt --crds other");
    support::done(&dir, "adopt --crds crds --crds other");
    check(&dir, "adopt --crds other --crds crds", 0, "CRDs       other, crds\n");
    check(&dir, "adopt --crds crds", 0, "CRDs       crds\n");
}

#[test]
fn adopt_names_the_kinds_that_project_cannot_list() {
    let dir = shop("in-place-version");
    let mall = SOURCE.rsplit_once("}\n\n").unwrap().1.replace("Shop", "Mall");
    let mall = mall.replace("version = \"v1\"", "version = \"V 1\"");
    fs::write(dir.join("src/main.rs"), format!("{SOURCE}{mall}")).unwrap();
    fs::remove_file(dir.join("PROJECT")).unwrap();
    let warning = "warning: PROJECT cannot list this kind: its version `V 1` does not look like `v1`, `v1beta1` or `v1alpha1`\n";
    check(&dir, "adopt", 0, &format!("{warning}--> src/main.rs:"));
    check(
        &dir,
        "adopt",
        0,
        "= help: rename the version, e.g. to `v1alpha1`; commands that read the source alone",
    );
}
