//! In any cargo workspace: nothing of a project of ours is there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{assets, project, support, test};

/// The code of a project alone, and what its config/ had rendered, beside it.
fn workspace(name: &str) -> PathBuf {
    let dir = project(name);
    fs::write(dir.join("../all.yaml"), support::done(&dir, "generate installer")).unwrap();
    for folder in ["config", "bundle", "Makefile", "PROJECT", "operator-rs.mk"] {
        let path = dir.join(folder);
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    dir
}

/// The status of `operator-rs test` with these words, and what was said.
fn run(dir: &Path, words: &[&str]) -> (i32, String) {
    let assets = assets().unwrap();
    let words = [&["--assets", assets.to_str().unwrap()], words].concat();
    let output = test(dir, &words).output().unwrap();
    (output.status.code().unwrap(), support::said(&output))
}

/// Asks an API server with the token of a kubeconfig.
const GET: &str = "value() { sed -n \"s/.*$1: //p\" $2; }; \
    get() { curl -sk -o ../answer -H \"Authorization: Bearer $(value token $1)\" $(value server $1)/$2; }; get";

fn script(text: &str) -> [String; 4] {
    ["--", "sh", "-c", &text.replace("operator-rs", support::BINARY)].map(str::to_owned)
}

#[test]
fn the_crds_of_the_source_are_installed() {
    if assets().is_none() {
        return;
    }
    let dir = workspace("anywhere");
    let before = support::tree(&dir);
    let get = script(&format!(
        "{GET} $KUBECONFIG apis/cache.example.com/v1alpha1/memcacheds && cat ../answer"
    ));
    let get: Vec<&str> = get.iter().map(String::as_str).collect();
    let (code, said) = run(&dir, &get);
    assert!(code == 0 && said.contains("\"kind\": \"MemcachedList\""), "{said}");
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
    // Below the top of the workspace, all the same.
    let (code, said) = run(&dir.join("api"), &get);
    assert!(code == 0 && said.contains("\"kind\": \"MemcachedList\""), "{said}");
}

#[test]
fn the_role_of_a_deployment_is_audited() {
    if assets().is_none() {
        return;
    }
    let dir = workspace("anywhere-audit");
    let operator = "$E2E_OPERATOR_KUBECONFIG";
    let get = script(&format!(
        "{GET} {operator} apis/apps/v1/deployments; get {operator} api/v1/secrets"
    ));
    let words =
        [&["--manifests", "../all.yaml", "--audit-rbac"].map(str::to_owned)[..], &get].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (code, said) = run(&dir, &words);
    assert_eq!(code, 1, "{said}");
    for expected in [
        "How system:serviceaccount:memcached-operator-system:memcached-operator-controller-manager used ../all.yaml:\n",
        "used    deployments.apps: list\n",
        "refused secrets: list, once; add\n          - {apiGroups: [\"\"], resources: [\"secrets\"], verbs: [list]}\n",
        "hint: add these rights to the role in `../all.yaml`",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let (code, said) = run(&dir, &["--manifests", "../all.yaml", "--audit-rbac", "--", "true"]);
    let hint = "hint: start the operator with the kubeconfig in E2E_OPERATOR_KUBECONFIG\n";
    assert!(code == 1 && said.contains(hint), "{said}");
}

#[test]
fn what_is_missing_is_named_with_its_flag() {
    if assets().is_none() {
        return;
    }
    let dir = workspace("anywhere-refused");
    fs::write(dir.join("../none.yaml"), "# nothing\n").unwrap();
    fs::write(dir.join("../odd.yaml"), "a: b\n").unwrap();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    fs::write(dir.join("../map.yaml"), map).unwrap();
    fs::create_dir(dir.join("../empty")).unwrap();
    for (words, expected) in [
        (
            "--audit-rbac",
            "error: there is no role to audit\nhint: say where the operator's Deployment and its roles are: `--manifests DIR|FILE`\n",
        ),
        (
            "--manifests ../none.yaml",
            "error: `../none.yaml` has no manifests\nhint: name a kustomization, a chart or YAML files\n",
        ),
        ("--manifests ../empty", "error: `../empty` has no manifests\n"),
        (
            "--manifests ../odd.yaml",
            "error: ../odd.yaml:1:1: not a manifest: `kind` or `apiVersion` is missing\n",
        ),
        ("--manifests ../missing", "error: there is no `../missing`\n"),
        ("--crds ../map.yaml", "error: `../map.yaml` has no CRDs\n"),
        (
            "--manifests ../map.yaml --audit-rbac",
            "error: `../map.yaml` has no Deployment with a ServiceAccount whose requests could be audited\n",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["--", "true"]).collect();
        let (code, said) = run(&dir, &words);
        assert!(code == 1 && said.contains(expected), "{words:?}: {said}");
    }
    // A kind that cannot be read refuses all, and names the other ways.
    let file = dir.join("api/src/cache/v1alpha1/memcached.rs");
    let text = fs::read_to_string(&file).unwrap();
    let unread = text
        .replace("    pub size: i32,", "    #[schemars(transform = other)]\n    pub size: i32,");
    assert_ne!(text, unread);
    fs::write(&file, &unread).unwrap();
    let (code, said) = run(&dir, &["--", "true"]);
    let hint =
        "hint: or install CRDs from files in place of those of the source: `--crds DIR|FILE`";
    assert!(code == 1 && said.contains(hint), "{said}");
    let (code, said) = run(&dir, &["--crds", "../all.yaml", "--", "true"]);
    assert_eq!(code, 0, "{said}");
    // No kind at all is told.
    fs::write(dir.join("api/src/lib.rs"), "").unwrap();
    let (code, said) = run(&dir, &["--", "true"]);
    assert!(
        code == 0
            && said.contains(
                "warning: no kind is declared in this workspace, so no CRDs are installed\nhint: `--crds DIR|FILE` installs some"
            ),
        "{said}"
    );
}

#[test]
fn a_project_whose_crds_are_not_listed_is_told() {
    if assets().is_none() {
        return;
    }
    let dir = project("unlisted");
    fs::remove_file(dir.join("config/crd/kustomization.yaml")).unwrap();
    let default = dir.join("config/default/kustomization.yaml");
    let text = fs::read_to_string(&default).unwrap();
    fs::write(&default, text.replace("- ../crd\n", "")).unwrap();
    let (code, said) = run(&dir, &["--", "true"]);
    assert!(
        code == 0 && said.contains("warning: config/crd has no CRDs, so none are installed"),
        "{said}"
    );
}
