//! Commands that take manifests render the chart that PROJECT or `--manifests` names.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use crate::{
    control_plane::{self, ControlPlane},
    helm::{documents, only},
    support::{self, shop::SOURCE},
};

const CHART: &str = "apiVersion: v2\nname: shop\nversion: 0.1.0\nappVersion: \"1.2.0\"\n";

const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-manager
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      serviceAccountName: shop
      containers: [{name: manager, image: "example.com/shop:{{ .Chart.AppVersion }}"}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: shop}
---
apiVersion: v1
kind: Pod
metadata:
  name: connects
  annotations: {helm.sh/hook: test}
spec: {containers: [{name: a, image: a}]}
"#;

const ROLES: &str = r#"apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shop}
rules: [{apiGroups: [example.com], resources: [shops], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: {{ .Release.Namespace }}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: shop, namespace: kube-system}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
"#;

/// An operator with a chart, and PROJECT that names it.
struct Shop {
    dir: PathBuf,
    path: OsString,
}

impl Shop {
    fn new(name: &str) -> Option<Self> {
        let helm = support::tool("helm")?;
        let folders = env::var_os("PATH").unwrap_or_default();
        let folders =
            std::iter::once(helm.parent().unwrap().to_owned()).chain(env::split_paths(&folders));
        let path = env::join_paths(folders).unwrap();
        let dir = support::fresh(&format!("chart/given-{name}"));
        support::shop::put(&dir, SOURCE);
        let res = Self { dir, path };
        res.put("charts/shop/Chart.yaml", CHART);
        res.put("charts/shop/templates/deployment.yaml", DEPLOYMENT);
        res.put("charts/shop/templates/roles.yaml", ROLES);
        res.put("charts/shop/crds/shops.yaml", &support::done(&res.dir, "generate crds"));
        support::done(&res.dir, "adopt");
        let project = fs::read_to_string(res.dir.join("PROJECT")).unwrap();
        assert!(project.contains("chart: charts/shop") && !project.contains("manifests:"));
        Some(res)
    }

    fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn run(&self, words: &str, more: &[&str]) -> Output {
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(words.split_whitespace()).args(more).env("PATH", &self.path);
        command.output().unwrap()
    }

    /// What is on stdout, and on stderr.
    fn done(&self, words: &str) -> (String, String) {
        let output = self.run(words, &[]);
        assert!(output.status.success(), "{words}: {}", support::said(&output));
        let text = |it| String::from_utf8(it).unwrap();
        (text(output.stdout), text(output.stderr))
    }

    fn refused(&self, words: &str, expected: &str) {
        let output = self.run(words, &[]);
        let said = support::said(&output);
        assert!(output.status.code() == Some(1) && said.contains(expected), "{words}: {said}");
    }

    fn on(&self, plane: &ControlPlane, words: &str) -> String {
        let kubeconfig = plane.dir.join("kubeconfig");
        self.done(&format!("{words} --kubeconfig {}", kubeconfig.display())).0
    }
}

const APPLIED: &str = "apply      CustomResourceDefinition shops.example.com
apply      ServiceAccount caches/shop
apply      ClusterRole shop
apply      ClusterRoleBinding shop
apply      Role kube-system/shop
apply      Deployment caches/shop-manager
";

#[test]
fn the_chart_that_project_names_is_rendered() {
    let Some(shop) = Shop::new("recorded") else { return };
    let (said, warnings) = shop.done("deploy --dry-run --namespace caches");
    assert_eq!(said, APPLIED);
    let hook = "Pod connects is a hook, which Helm alone creates: it is left out\n";
    assert_eq!(warnings, hook);
    assert_eq!(
        shop.done("install --dry-run").0,
        "apply      CustomResourceDefinition shops.example.com\n"
    );
    assert_eq!(
        shop.done("uninstall --dry-run").0,
        "delete     CustomResourceDefinition shops.example.com\n"
    );
    let undeployed = shop.done("undeploy --dry-run -n caches").0;
    let lines = |text: &str, verb: &str| {
        let mut res: Vec<_> =
            text.lines().map(|it| it.replace(verb, "").trim().to_owned()).collect();
        res.sort();
        res
    };
    assert_eq!(lines(&undeployed, "delete"), lines(APPLIED, "apply"));
}

/// Objects are in the namespaces where Helm puts them, and are otherwise as it renders them.
#[test]
fn an_installer_is_what_helm_would_install() {
    let Some(shop) = Shop::new("installer") else { return };
    let (text, _) = shop.done("generate installer --namespace caches");
    let rendered = support::command("helm", &shop.dir)
        .args(["template", "shop", "charts/shop", "--namespace", "caches", "--include-crds"])
        .env("PATH", &shop.path)
        .output()
        .unwrap();
    let mut expected = documents(&String::from_utf8(rendered.stdout).unwrap());
    expected.retain(|it| it["kind"] != "Pod");
    for it in &mut expected {
        if ["Deployment", "ServiceAccount"].iter().any(|kind| it["kind"] == *kind) {
            it["metadata"]["namespace"] = "caches".into();
        }
    }
    assert_eq!(documents(&text), expected);
    let image = "quay.io/example/shop:v2";
    let (text, _) = shop.done(&format!("generate installer -n caches --image {image}"));
    let objects = documents(&text);
    let pod = &only(&objects, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], image);
    assert_eq!(only(&objects, "Role")["metadata"]["namespace"], "kube-system");
}

#[test]
fn a_chart_may_be_given_as_manifests() {
    let Some(shop) = Shop::new("flag") else { return };
    fs::rename(shop.dir.join("charts/shop"), shop.dir.join("shop")).unwrap();
    let words = "deploy --dry-run --namespace caches --manifests shop";
    assert_eq!(shop.done(words).0, APPLIED);
    let outside = format!("{}-outside", shop.dir.display());
    let _ = fs::remove_dir_all(&outside);
    fs::rename(shop.dir.join("shop"), &outside).unwrap();
    let words = format!("deploy --dry-run --namespace caches --manifests {outside}");
    assert_eq!(shop.done(&words).0, APPLIED);
    // The kinds of a chart's own CRDs may be outside of namespaces, as those of Kubernetes may.
    let crd = fs::read_to_string(Path::new(&outside).join("crds/shops.yaml")).unwrap();
    let crd = crd.replace("shop", "mall").replace("Shop", "Mall");
    let mall = "---\napiVersion: example.com/v1\nkind: Mall\nmetadata: {name: a}\n";
    let put = |path: &str, text: &str| fs::write(Path::new(&outside).join(path), text).unwrap();
    put("crds/malls.yaml", &crd.replace("scope: Namespaced", "scope: Cluster"));
    put("templates/mall.yaml", mall);
    let said = shop.done(&words).0;
    assert!(said.contains("apply      Mall a\n"), "{said}");
    // With a kustomization, a directory is that.
    put("kustomization.yaml", "resources: [crds/shops.yaml]\n");
    let said = shop.done(&words).0;
    assert_eq!(said, "apply      CustomResourceDefinition shops.example.com\n");
    fs::remove_dir_all(outside).unwrap();
}

#[test]
fn what_depends_on_the_namespace_needs_it() {
    let Some(shop) = Shop::new("namespace") else { return };
    let reason = "error: ClusterRoleBinding `shop` of the chart depends on the namespace of the release, and none is given\nhint: give it: `--namespace NAME`";
    for words in ["deploy --dry-run", "undeploy --dry-run", "generate installer"] {
        shop.refused(words, reason);
    }
    let crd = fs::read_to_string(shop.dir.join("charts/shop/crds/shops.yaml")).unwrap();
    fs::remove_file(shop.dir.join("charts/shop/crds/shops.yaml")).unwrap();
    let conversion = "spec:\n  conversion:\n    strategy: Webhook\n    webhook:\n      conversionReviewVersions: [v1]\n      clientConfig: {service: {name: shop, namespace: {{ .Release.Namespace }}}}\n";
    shop.put("charts/shop/templates/crd.yaml", &crd.replacen("spec:\n", conversion, 1));
    let reason = "error: CustomResourceDefinition `shops.example.com` of the chart depends on the namespace of the release, and none is given\nhint: `operator-rs deploy --namespace NAME` applies the CRDs as well; or render the chart for a namespace: `helm template … | operator-rs … --manifests -`";
    shop.refused("install --dry-run", reason);
    shop.refused("generate installer --crds-only", reason);
    // Names suffice here.
    assert!(shop.done("uninstall --dry-run").0.contains("shops.example.com"));
    fs::remove_file(shop.dir.join("charts/shop/templates/roles.yaml")).unwrap();
    fs::remove_file(shop.dir.join("charts/shop/templates/crd.yaml")).unwrap();
    let said = shop.done("deploy --dry-run").0;
    assert!(said.contains("apply      Deployment shop-manager\n"), "{said}");
}

#[test]
fn charts_that_do_not_render_are_refused_with_the_way_out() {
    let Some(shop) = Shop::new("refused") else { return };
    let dependencies =
        "dependencies:\n- {name: other, version: 1.0.0, repository: 'https://example.com'}\n";
    shop.put("charts/shop/Chart.yaml", &format!("{CHART}{dependencies}"));
    shop.refused("install --dry-run", "error: helm cannot render the chart `charts/shop`: ");
    let reason = "missing in charts/ directory: other\nhint: fetch what it depends on: `helm dependency build charts/shop`\n";
    shop.refused("install --dry-run", reason);
    shop.put("charts/shop/Chart.yaml", CHART);
    shop.put("charts/shop/templates/bad.yaml", "a: {{ required \"no domain\" .Values.domain }}\n");
    shop.refused("install --dry-run", "(shop/templates/bad.yaml:1:6): no domain\nhint: if it needs values, render the chart elsewhere: `helm template … | operator-rs deploy --manifests -`\n");
    fs::remove_file(shop.dir.join("charts/shop/templates/bad.yaml")).unwrap();
    let empty = shop.dir.join("empty");
    fs::create_dir(&empty).unwrap();
    let reason =
        "error: `empty` has no manifests\nhint: name a kustomization, a chart or YAML files\n";
    shop.refused("install --dry-run --manifests empty", reason);
    let shop = Shop { path: empty.into_os_string(), ..shop };
    let reason = "error: `helm` is not on PATH: it is needed to render the chart\nhint: install helm, or render the chart elsewhere: `helm template … | operator-rs deploy --manifests -`\n";
    for words in ["install --dry-run", "deploy -n a", "undeploy -n a", "generate installer -n a"] {
        shop.refused(words, reason);
    }
    // Manifests that are given need no helm.
    shop.put("all.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
    let said = shop.done("deploy --dry-run --manifests all.yaml").0;
    assert!(said.contains("apply      Namespace a\n"), "{said}");
}

/// Helm follows every symlink, and what it reads would go to the cluster.
#[cfg(unix)]
#[test]
fn symlinks_out_of_the_project_are_refused() {
    let Some(shop) = Shop::new("symlinks") else { return };
    for (path, target) in [
        ("charts/shop/files", "/etc"),
        ("charts/shop/name", "/etc/hostname"),
        ("charts/shop/charts/sub", "/etc"),
    ] {
        let link = shop.dir.join(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &link).unwrap();
        shop.refused("install --dry-run", &format!("cannot read `{path}`"));
        let checked = shop.run("chart check", &[]);
        assert_eq!(checked.status.code(), Some(1), "{path}: {}", support::said(&checked));
        fs::remove_file(link).unwrap();
    }
    shop.done("install --dry-run");
}

#[tokio::test]
async fn an_api_server_takes_what_a_chart_has() {
    if !control_plane::is_there() {
        return;
    }
    let Some(shop) = Shop::new("cluster") else { return };
    let plane = ControlPlane::start("chart-given", false).await;
    shop.on(&plane, "install");
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.example.com";
    assert!(plane.server.get(crd).await.is_some());
    let said = shop.on(&plane, "deploy --dry-run=server --namespace default");
    assert!(said.contains("Deployment default/shop-manager"), "{said}");
    shop.on(&plane, "uninstall --yes");
    assert!(plane.server.get(crd).await.is_none());
}

/// Tests get the account of the chart's Deployment, with the rights that it is bound to.
#[test]
fn tests_run_with_the_account_of_the_chart() {
    let Some(shop) = Shop::new("tests") else { return };
    let Some(etcd) = support::tool("etcd") else { return };
    let words = format!("test --assets {}", etcd.parent().unwrap().display());
    let output = shop.run(&words, &["--", "sh", "-c", "grep namespace: $E2E_OPERATOR_KUBECONFIG"]);
    let said = support::said(&output);
    assert!(output.status.success() && said.contains("namespace: default"), "{said}");
    // Without helm they have the CRDs of the source.
    let folders = env::var_os("PATH").unwrap_or_default();
    let has_helm = |it: &PathBuf| it.join("helm").exists();
    let folders = env::split_paths(&folders).filter(|it| !has_helm(it));
    let shop = Shop { path: env::join_paths(folders).unwrap(), ..shop };
    let output = shop.run(&words, &["--", "sh", "-c", "test -z \"$E2E_OPERATOR_KUBECONFIG\""]);
    let said = support::said(&output);
    let warning = "warning: the tests run without the account and the roles of the chart: there is no `helm` on PATH\n";
    assert!(output.status.success() && said.contains(warning), "{said}");
    let output = shop.run(&format!("{words} --audit-rbac"), &["--", "true"]);
    let said = support::said(&output);
    assert!(!output.status.success() && said.contains("`helm` is not on PATH"), "{said}");
}
