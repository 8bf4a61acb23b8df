//! `chart check` on charts that helm renders: each finding appears in a chart with its fault, and not in one without.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

const SOURCE: &str = r#"use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// +kubebuilder:rbac:groups=example.com,resources=shops,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
fn main() {}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
pub struct ShopSpec {
    #[schemars(range(min = 1.0))]
    pub size: i32,
}
"#;

const CHART: &str =
    "apiVersion: v2\nname: shop\nversion: 0.1.0\ntype: application\nappVersion: \"1.2.0\"\n";

const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-shop
spec:
  selector:
    matchLabels:
      app.kubernetes.io/instance: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/instance: {{ .Release.Name }}
    spec:
      serviceAccountName: {{ .Release.Name }}-shop
      containers:
        - name: operator
          image: "example.com/shop-operator:{{ .Values.tag | default .Chart.AppVersion }}"
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}-shop
"#;

const ROLES: &str = r#"{{- if .Values.rbac }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name }}-shops
rules:
  - apiGroups: [example.com]
    resources: [shops]
    verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name }}-workloads
rules:
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [create, patch]
{{- range list "shops" "workloads" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $.Release.Name }}-{{ . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $.Release.Name }}-{{ . }}
subjects:
  - kind: ServiceAccount
    name: {{ $.Release.Name }}-shop
    namespace: {{ $.Release.Namespace }}
{{- end }}
{{- end }}
"#;

const CRD: &str = "crds/shops.example.com.yaml";

/// A project with a chart that agrees with it.
struct Shop {
    dir: PathBuf,
    path: std::ffi::OsString,
}

impl Shop {
    fn new(name: &str) -> Option<Self> {
        let helm = support::tool("helm")?;
        let folders = env::var_os("PATH").unwrap_or_default();
        let folders =
            std::iter::once(helm.parent().unwrap().to_owned()).chain(env::split_paths(&folders));
        let path = env::join_paths(folders).unwrap();
        let dir = support::fresh(&format!("chart-check/{name}"));
        support::shop::put(&dir, SOURCE);
        let res = Self { dir, path };
        let crds = support::done(&res.dir, "generate crds");
        res.put("chart/Chart.yaml", CHART).put("chart/values.yaml", "rbac: true\ntag: \"\"\n");
        res.put("chart/templates/deployment.yaml", DEPLOYMENT)
            .put("chart/templates/roles.yaml", ROLES);
        res.put(&format!("chart/{CRD}"), &crds);
        Some(res)
    }

    fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn edit(&self, path: &str, from: &str, to: &str) -> &Self {
        let text = fs::read_to_string(self.dir.join(path)).unwrap();
        assert!(text.contains(from), "{path} has no `{from}`");
        self.put(path, &text.replacen(from, to, 1))
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(["chart", "check", "chart"]).args(words).env("PATH", &self.path);
        command
    }

    /// The exit status, and what is printed.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    /// The findings, without their hints, each in one line.
    fn findings(&self, words: &[&str]) -> Vec<String> {
        let output = self.command(&[words, &["--output", "json"]].concat()).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", support::said(&output)));
        let list = report["findings"].as_array().unwrap();
        let has_error = list.iter().any(|it| it["severity"] == "error");
        assert_eq!(output.status.code(), Some(i32::from(has_error)), "{}", support::said(&output));
        assert_eq!(report["agrees"], !has_error);
        let line = |it: &serde_json::Value| {
            let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
            let place = &it["place"];
            let line = place["line"].as_u64().map(|it| format!(":{it}")).unwrap_or_default();
            format!(
                "{}{line} {}[{}] {}: {}",
                text(&place["path"]),
                text(&it["severity"]),
                text(&it["rule"]),
                text(&it["subject"]),
                text(&it["what"])
            )
        };
        list.iter().map(line).collect()
    }

    /// The end of a chain.
    fn end(&self) {}

    #[track_caller]
    fn check(&self, expected: &[&str]) {
        assert_eq!(self.findings(&[]), expected);
    }
}

/// The same test of a chart with a fault, and of one without.
#[track_caller]
fn fault(name: &str, make: impl Fn(&Shop), expected: &[&str], mend: impl Fn(&Shop)) {
    let Some(shop) = Shop::new(name) else { return };
    make(&shop);
    shop.check(expected);
    mend(&shop);
    shop.check(&[]);
}

#[test]
fn a_chart_that_agrees_has_no_finding() {
    let Some(shop) = Shop::new("agrees") else { return };
    let before = support::tree(&shop.dir);
    assert_eq!(
        shop.run(&[]),
        (0, "chart (1 CRD of the source, 1 rendering): no finding\n".to_owned())
    );
    assert_eq!(support::difference(&before, &support::tree(&shop.dir)), None);
}

#[test]
fn a_crd_that_differs_is_shown_at_the_field() {
    fault(
        "differs",
        |it| Shop::end(it.edit(&format!("chart/{CRD}"), "minimum: 1.0", "minimum: 2")),
        &[
            "chart/crds/shops.example.com.yaml:23 error[crd-differs] shops.example.com: at `spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.size.minimum`, the chart has 2, and the source declares 1",
        ],
        |it| Shop::end(it.edit(&format!("chart/{CRD}"), "minimum: 2", "minimum: 1")),
    );
}

#[test]
fn of_several_differences_the_first_is_shown() {
    let Some(shop) = Shop::new("differences") else { return };
    let path = format!("chart/{CRD}");
    shop.edit(&path, "minimum: 1.0", "minimum: 2").edit(&path, "int32", "int64");
    let found = shop.findings(&[]);
    let what = "properties.size.format`, the chart has \"int64\", and the source declares \"int32\", and 1 more difference";
    assert!(found.len() == 1 && found[0].ends_with(what), "{found:?}");
}

#[test]
fn one_of_several_packages_has_the_version() {
    let Some(shop) = Shop::new("packages") else { return };
    let other = "[package]\nname = \"other\"\nversion = \"2.0.0\"\nedition = \"2024\"\n";
    shop.put("other/Cargo.toml", other).put("other/src/lib.rs", "");
    shop.put(
        "Cargo.toml",
        &format!("{}\n[workspace]\nmembers = [\"other\"]\n", support::shop::CARGO),
    );
    shop.check(&[]);
    shop.edit("chart/Chart.yaml", "1.2.0", "3.0.0");
    let found = shop.findings(&[]);
    let what = "`appVersion` is 3.0.0, and no package has that version: 2.0.0 of other, 1.2.0 of shop-operator";
    assert!(found.len() == 1 && found[0].ends_with(what), "{found:?}");
}

#[test]
fn a_crd_may_have_more_labels_and_empty_lists() {
    let Some(shop) = Shop::new("labels") else { return };
    shop.edit(
        &format!("chart/{CRD}"),
        "metadata:\n",
        "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n",
    );
    shop.edit(&format!("chart/{CRD}"), "  names:\n", "  names:\n    categories: []\n");
    shop.check(&[]);
}

#[test]
fn a_crd_that_is_missing_is_an_error_where_the_chart_has_others_of_its_group() {
    let other = SOURCE.split("\n\n").last().unwrap().replace("Shop", "Cart");
    fault(
        "missing",
        |it| Shop::end(it.put("src/main.rs", &format!("{SOURCE}\n{other}"))),
        &[
            "chart/Chart.yaml error[crd-missing] carts.example.com: the source declares it, and the chart does not have it",
        ],
        |it| Shop::end(it.put("src/main.rs", SOURCE)),
    );
    fault(
        "elsewhere",
        |it| fs::rename(it.dir.join("chart").join(CRD), it.dir.join("crd.yaml")).unwrap(),
        &[
            "chart/Chart.yaml note[crds-elsewhere] example.com: the chart has no CRD of this group, so these of the source were not compared: shops.example.com",
        ],
        |it| fs::rename(it.dir.join("crd.yaml"), it.dir.join("chart").join(CRD)).unwrap(),
    );
}

#[test]
fn a_kind_whose_crd_has_another_name_is_missing() {
    let crd = |it: &Shop| fs::read_to_string(it.dir.join("chart").join(CRD)).unwrap();
    let put = |it: &Shop, text: &str| Shop::end(it.put(&format!("chart/{CRD}"), text));
    fault(
        "old-name",
        |it| put(it, &crd(it).replace("shop", "store").replace("Shop", "Store")),
        &[
            "chart/Chart.yaml error[crd-missing] shops.example.com: the source declares it, and the chart does not have it",
            "chart/crds/shops.example.com.yaml:2 note[crd-undeclared] stores.example.com: no kind of the source declares it",
        ],
        |it| put(it, &crd(it).replace("store", "shop").replace("Store", "Shop")),
    );
    fault(
        "wrong-name",
        |it| put(it, &crd(it).replace("name: shops.example.com", "name: shop.example.com")),
        &[
            "chart/Chart.yaml error[crd-missing] shops.example.com: the source declares it, and the chart does not have it",
            "chart/crds/shops.example.com.yaml:2 note[crd-undeclared] shop.example.com: no kind of the source declares it",
        ],
        |it| put(it, &crd(it).replace("name: shop.example.com", "name: shops.example.com")),
    );
    fault(
        "api-version",
        |it| put(it, &crd(it).replace("extensions.k8s.io/v1", "extensions.k8s.io/v1beta1")),
        &[
            "chart/crds/shops.example.com.yaml:2 error[crd-differs] shops.example.com: at `apiVersion`, the chart has \"apiextensions.k8s.io/v1beta1\", and the source declares \"apiextensions.k8s.io/v1\"",
        ],
        |it| put(it, &crd(it).replace("extensions.k8s.io/v1beta1", "extensions.k8s.io/v1")),
    );
}

#[test]
fn crds_are_equal_if_an_api_server_holds_them_alike() {
    let Some(shop) = Shop::new("held") else { return };
    let path = format!("chart/{CRD}");
    shop.edit(&path, "    kind: Shop\n", "    kind: Shop\n    listKind: ShopList\n");
    shop.edit(&path, "    singular: shop\n", "");
    shop.check(&[]);
    shop.edit("src/main.rs", "min = 1.0", "min = 1, max = 9223372036854775807i64");
    for bound in ["9223372036854775807", "9223372036854775807.0", "9.223372036854775807e18"] {
        let crd = support::done(&shop.dir, "generate crds");
        let at = crd.find("maximum: ").unwrap();
        let end = at + crd[at..].find('\n').unwrap();
        shop.put(&path, &format!("{}maximum: {bound}{}", &crd[..at], &crd[end..]));
        shop.check(&[]);
    }
    shop.edit(&path, "9.223372036854775807e18", "9.3e18");
    assert_eq!(shop.findings(&[]).len(), 1);
}

#[test]
fn crds_are_read_as_helm_reads_them() {
    let Some(shop) = Shop::new("read") else { return };
    let crd = fs::read_to_string(shop.dir.join("chart").join(CRD)).unwrap();
    let items: String = crd.lines().skip(1).map(|it| format!("    {it}\n")).collect();
    let item = items.replacen("    ", "  - ", 1);
    shop.put(&format!("chart/{CRD}"), &format!("apiVersion: v1\nkind: List\nitems:\n{item}"));
    shop.check(&[]);
    shop.edit(&format!("chart/{CRD}"), "minimum: 1.0", "minimum: 2");
    let found = shop.findings(&[]);
    assert!(
        found.len() == 1
            && found[0].starts_with("chart/crds/shops.example.com.yaml:25 error[crd-differs]"),
        "{found:?}"
    );
    // JSON has escapes that YAML does not have.
    fs::remove_file(shop.dir.join("chart").join(CRD)).unwrap();
    shop.edit("src/main.rs", "    #[schemars(range", "    /// \u{1f600}\n    #[schemars(range");
    let crd = support::done(&shop.dir, "generate crds");
    let crd: serde_json::Value = serde_yaml::from_str(&crd).unwrap();
    let json = serde_json::to_string_pretty(&crd).unwrap();
    assert!(json.contains('\u{1f600}'), "{json}");
    let json = json.replace('\u{1f600}', "\\ud83d\\ude00");
    shop.put("chart/crds/shops.json", &json);
    shop.check(&[]);
    shop.put("chart/crds/shops.json", &json.replace("ude00", "ude01"));
    let found = shop.findings(&[]);
    assert!(
        found.len() == 1 && found[0].starts_with("chart/crds/shops.json error[crd-differs]"),
        "{found:?}"
    );
}

#[test]
fn a_difference_in_a_template_is_shown_at_the_field_where_that_is_literal() {
    let Some(shop) = Shop::new("literal") else { return };
    let crd = fs::read_to_string(shop.dir.join("chart").join(CRD)).unwrap();
    fs::remove_file(shop.dir.join("chart").join(CRD)).unwrap();
    let place = |text: &str| {
        shop.put("chart/templates/crds.yaml", text);
        let found = shop.findings(&[]);
        assert!(
            found.len() == 1 && found[0].contains("size.minimum`, the chart has 2"),
            "{found:?}"
        );
        found[0].split(' ').next().unwrap().to_owned()
    };
    let crd = crd.replace("minimum: 1.0", "minimum: 2");
    let start = "{{- if .Values.rbac }}\n---\n";
    assert_eq!(place(&crd), "chart/templates/crds.yaml:23");
    assert_eq!(
        place(&format!("kind: ConfigMap\n{start}{crd}{{{{- end }}}}\n")),
        "chart/templates/crds.yaml:26"
    );
    let labelled = crd.replace(
        "  group:",
        "  {{- if .Values.none }}\n  conversion: {strategy: None}\n  {{- end }}\n  group:",
    );
    assert_eq!(place(&labelled), "chart/templates/crds.yaml:26");
    // The value is none of the template's own: the place is that of the object.
    assert_eq!(
        place(&crd.replace("minimum: 2", "minimum: {{ 2 }}")),
        "chart/templates/crds.yaml:3"
    );
    let twice = "{{- if .Values.rbac }}\n                minimum: 2\n                {{- else }}\n                minimum: 2\n                {{- end }}";
    assert_eq!(place(&crd.replace("minimum: 2", twice)), "chart/templates/crds.yaml:3");
}

#[test]
fn a_crd_that_the_source_does_not_declare_is_a_note() {
    fault(
        "undeclared",
        |it| {
            let crd = fs::read_to_string(it.dir.join("chart").join(CRD)).unwrap();
            it.put("chart/crds/carts.yaml", &crd.replace("shop", "cart").replace("Shop", "Cart"));
        },
        &[
            "chart/crds/carts.yaml:2 note[crd-undeclared] carts.example.com: no kind of the source declares it",
        ],
        |it| fs::remove_file(it.dir.join("chart/crds/carts.yaml")).unwrap(),
    );
}

#[test]
fn the_crds_that_artifact_hub_lists_are_those_of_the_chart() {
    let listed = |items: &str| format!("{CHART}annotations:\n  artifacthub.io/crds: |\n{items}");
    let shop = "    - {kind: Shop, name: shops.example.com, version: v1}\n";
    let place = "chart/Chart.yaml:7 warning[listed-crds] artifacthub.io/crds: ";
    for (items, expected) in [
        ("    a: b\n".to_owned(), "it is not a YAML list"),
        ("    []\n".to_owned(), "it does not list `v1` of shops.example.com"),
        (
            format!("{shop}{}", shop.replace("v1", "v2")),
            "it lists `v2` of shops.example.com, which no CRD of the chart serves",
        ),
        (
            shop.replace("shops", "carts"),
            "it lists `v1` of carts.example.com, which no CRD of the chart serves, and does not list `v1` of shops.example.com",
        ),
    ] {
        fault(
            "listed",
            |it| Shop::end(it.put("chart/Chart.yaml", &listed(&items))),
            &[&format!("{place}{expected}")],
            |it| Shop::end(it.put("chart/Chart.yaml", &listed(shop))),
        );
    }
}

#[test]
fn a_list_for_artifact_hub_that_is_wrong_has_a_remedy() {
    let Some(shop) = Shop::new("listed-remedy") else { return };
    shop.put("chart/Chart.yaml", &format!("{CHART}annotations: {{artifacthub.io/crds: \"[]\"}}\n"));
    let (code, output) = shop.run(&[]);
    let remedy = "  hint: list each served version with `kind`, `name`, `version`, `displayName` and `description`, or remove the annotation\n";
    assert!(code == 0 && output.contains(remedy), "{output}");
}

#[test]
fn the_remedy_for_a_generated_chart_is_to_generate_it_again() {
    let Some(shop) = Shop::new("remedy") else { return };
    shop.edit(&format!("chart/{CRD}"), "minimum: 1.0", "minimum: 2");
    let hint = |remedy: &str| format!("\n  hint: {remedy}\n");
    let (_, output) = shop.run(&[]);
    assert!(output.contains(&hint("write it again with `operator-rs generate crds`")), "{output}");
    let header = "# @generated by operator-rs generate chart, 0000000000000000. Do not edit: change config/ and the Rust source instead.\n";
    shop.put("chart/files/manager.yaml", &format!("{header}deployment: {{}}\n"));
    let (_, output) = shop.run(&[]);
    assert!(output.contains(&hint("run `operator-rs generate chart`")), "{output}");
}

#[test]
fn crds_are_found_in_templates_and_in_files_that_templates_include() {
    let Some(shop) = Shop::new("files") else { return };
    let crd = fs::read_to_string(shop.dir.join("chart").join(CRD)).unwrap();
    fs::remove_file(shop.dir.join("chart").join(CRD)).unwrap();
    shop.put("chart/files/shop.yaml", &crd);
    shop.check(&["chart/files/shop.yaml:2 warning[crd-not-installed] shops.example.com: helm installs CRDs from `crds/` and from templates, and this file is neither"]);
    shop.put("chart/templates/crds.yaml", "{{ .Files.Get \"files/shop.yaml\" }}");
    shop.check(&[]);
    shop.edit("chart/files/shop.yaml", "minimum: 1.0", "minimum: 2");
    assert_eq!(shop.findings(&[]).len(), 1, "the file, and not the template too");
    fs::remove_dir_all(shop.dir.join("chart/files")).unwrap();
    shop.put("chart/templates/crds.yaml", &crd.replace("minimum: 1.0", "minimum: 2"));
    shop.check(&["chart/templates/crds.yaml:23 error[crd-differs] shops.example.com: at `spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.size.minimum`, the chart has 2, and the source declares 1"]);
}

#[test]
fn a_file_of_crds_that_is_no_yaml_is_an_error() {
    fault(
        "no-yaml",
        |it| Shop::end(it.put("chart/crds/a.yaml", "kind: CustomResourceDefinition\n a: b: c\n")),
        &[
            "chart/crds/a.yaml:2 error[crd-unreadable] crds/a.yaml: mapping values are not allowed in this context",
        ],
        |it| fs::remove_file(it.dir.join("chart/crds/a.yaml")).unwrap(),
    );
    // The missing CRD may be in it.
    let crd = format!("chart/{CRD}");
    let Some(shop) = Shop::new("no-crd") else { return };
    shop.put(&crd, "a: [\n");
    let found = shop.findings(&[]);
    assert!(found.len() == 1 && found[0].contains("error[crd-unreadable]"), "{found:?}");
    fs::write(shop.dir.join(&crd), b"a: \xff\n").unwrap();
    let found = shop.findings(&[]);
    assert!(
        found.len() == 1
            && found[0].ends_with("line 1, byte 4 is not UTF-8: save the file in UTF-8"),
        "{found:?}"
    );
    // In crds/, helm reads every file.
    for (name, text, line, what) in [
        (
            "no-yaml-at-all",
            "a: [\n",
            2,
            "did not find expected node content while parsing a flow node",
        ),
        ("no-object", "a: 1\n", 1, "a document has no `kind`, so helm installs none of the CRDs"),
    ] {
        fault(
            name,
            |it| Shop::end(it.put("chart/crds/a.yaml", text).put("chart/files/b.yaml", text)),
            &[&format!("chart/crds/a.yaml:{line} error[crd-unreadable] crds/a.yaml: {what}")],
            |it| fs::remove_file(it.dir.join("chart/crds/a.yaml")).unwrap(),
        );
    }
}

#[test]
fn roles_must_grant_together_what_the_markers_need() {
    fault(
        "rights",
        |it| Shop::end(it.edit("chart/templates/roles.yaml", "[create, patch]", "[create]")),
        &[
            "chart/templates/roles.yaml:3 error[right-missing] deployments.apps: no role of the operator grants `patch`, which the markers need",
        ],
        |it| Shop::end(it.edit("chart/templates/roles.yaml", "[create]", "[\"*\"]")),
    );
    fault(
        "unused",
        |it| Shop::end(it.edit("chart/templates/roles.yaml", "[shops]", "[shops, carts]")),
        &[
            "chart/templates/roles.yaml:8 note[right-unused] ClusterRole chart-check-release-shops: carts.example.com: the role grants `get`, `list`, `watch`, which the markers do not need",
        ],
        |it| Shop::end(it.edit("chart/templates/roles.yaml", "[shops, carts]", "[\"*\"]")),
    );
}

#[test]
fn a_role_of_the_namespace_is_a_note() {
    let Some(shop) = Shop::new("namespaced") else { return };
    let text = fs::read_to_string(shop.dir.join("chart/templates/roles.yaml")).unwrap();
    shop.put("chart/templates/roles.yaml", &text.replace("ClusterRole", "Role"));
    let found = shop.findings(&[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].contains("roles.yaml:12 note[right-in-namespace] deployments.apps: `create`, `patch` is granted only in a namespace, and the markers need it everywhere"), "{found:?}");
}

#[test]
fn a_role_of_the_namespace_is_shown_at_its_template() {
    let Some(shop) = Shop::new("namespaced-place") else { return };
    let roles = fs::read_to_string(shop.dir.join("chart/templates/roles.yaml")).unwrap();
    let (first, rest) = roles.split_once("---\n").unwrap();
    let role = rest.split_once("{{- range").unwrap().0;
    // The ClusterRole of one template is bound everywhere, the Role of another in a namespace.
    shop.put("chart/templates/roles.yaml", &format!("{first}{}", rest.replacen(role, "", 1)));
    shop.edit("chart/templates/roles.yaml", "list \"shops\" \"workloads\"", "list \"shops\"");
    let binding = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: local\nroleRef: {kind: Role, name: local}\nsubjects: [{kind: ServiceAccount, name: \"{{ .Release.Name }}-shop\"}]\n";
    let role =
        role.replace("ClusterRole", "Role").replace("{{ .Release.Name }}-workloads", "local");
    shop.put("chart/templates/local.yaml", &format!("{role}{binding}"));
    shop.check(&["chart/templates/local.yaml:2 note[right-in-namespace] deployments.apps: `create`, `patch` is granted only in a namespace, and the markers need it everywhere"]);
}

#[test]
fn what_api_servers_refuse_or_helm_does_not_leave_grants_nothing() {
    let subject = "    namespace: {{ $.Release.Namespace }}\n";
    let reference = "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n";
    let role = "kind: ClusterRole\nmetadata:\n  name: {{ .Release.Name }}-workloads\n";
    let hook = |events: &str, policy: &str| {
        let annotations = format!(
            "  annotations: {{helm.sh/hook: \"{events}\", helm.sh/hook-delete-policy: \"{policy}\"}}\n"
        );
        role.replace("metadata:\n", &format!("metadata:\n{annotations}"))
    };
    let refused = "; API servers refuse ClusterRoleBinding chart-check-release-workloads: ";
    for (name, from, to, why) in [
        ("no-namespace", subject, String::new(), "`subjects[0].namespace` is missing"),
        (
            "of-a-role",
            reference,
            reference.replace("ClusterRole", "Role"),
            "`roleRef.kind` is `Role`, and must be `ClusterRole`",
        ),
        (
            "of-a-group",
            reference,
            reference.replace("rbac.authorization.k8s.io", "foo"),
            "`roleRef.apiGroup` is `foo`, and must be `rbac.authorization.k8s.io`",
        ),
    ] {
        let Some(shop) = Shop::new(name) else { return };
        shop.edit("chart/templates/roles.yaml", from, &to);
        let found = shop.findings(&[]);
        assert!(
            found.len() == 2 && found.iter().all(|it| it.contains("error[right-missing]")),
            "{found:?}"
        );
        assert!(
            found[0].contains("which the markers need; API servers refuse")
                && found[0].contains(why),
            "{found:?}"
        );
        assert!(
            found[0].contains(refused.trim_end_matches(' ').split(" chart").next().unwrap()),
            "{found:?}"
        );
    }
    let Some(shop) = Shop::new("hooks") else { return };
    let original = fs::read_to_string(shop.dir.join("chart/templates/roles.yaml")).unwrap();
    for (events, policy, remains) in [
        ("post-delete", "before-hook-creation", false),
        ("test", "", false),
        ("pre-upgrade", "", false),
        ("pre-install", "hook-succeeded", false),
        ("pre-upgrade, pre-install", "", true),
    ] {
        shop.put("chart/templates/roles.yaml", &original);
        shop.edit("chart/templates/roles.yaml", role, &hook(events, policy));
        let found = shop.findings(&[]);
        assert_eq!(found.is_empty(), remains, "{events}: {found:?}");
        let why = "which the markers need; ClusterRole chart-check-release-workloads is a hook and no longer exists after `helm install`";
        assert!(remains || found.len() == 1 && found[0].ends_with(why), "{events}: {found:?}");
    }
}

#[test]
fn rights_of_every_workload_are_compared() {
    let Some(shop) = Shop::new("workloads") else { return };
    let path = "chart/templates/deployment.yaml";
    let deployment = fs::read_to_string(shop.dir.join(path)).unwrap();
    let (workload, account) = deployment.split_once("---\n").unwrap();
    let spec = workload.split_once("    spec:\n").unwrap().1;
    let of_kind = |version: &str, kind: &str| {
        workload.replace("apps/v1", version).replace("Deployment", kind)
    };
    let head = |kind: &str| {
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {{{{ .Release.Name }}}}-shop\nspec:\n"
        )
    };
    let indented: String = spec.lines().map(|it| format!("    {it}\n")).collect();
    let cron = format!(
        "{}  jobTemplate:\n    spec:\n      template:\n        spec:\n{indented}",
        head("CronJob")
    );
    for text in [
        of_kind("apps/v1", "ReplicaSet"),
        of_kind("batch/v1", "Job"),
        of_kind("example.com/v1", "Rollout"),
        cron,
        format!("{}{spec}", head("Pod")),
    ] {
        shop.put(path, &format!("{text}---\n{account}"));
        shop.check(&[]);
        shop.edit("chart/templates/roles.yaml", "[create, patch]", "[create]");
        let found = shop.findings(&[]);
        assert!(
            found.len() == 1 && found[0].contains("error[right-missing] deployments.apps"),
            "{text} {found:?}"
        );
        shop.edit("chart/templates/roles.yaml", "[create]", "[create, patch]");
    }
    // A Job beside the operator has rights of its own.
    let job = of_kind("batch/v1", "Job").replace("-shop", "-job").replace("operator:", "other:");
    shop.put(path, &format!("{deployment}---\n{job}"));
    // It has no account of its own yet.
    let missing = "Job chart-check-release-job: `spec.template.spec.serviceAccountName` names the ServiceAccount `chart-check-release-job`, which is in none of the manifests";
    let found = shop.findings(&[]);
    assert!(found.len() == 1 && found[0].ends_with(missing), "{found:?}");
    let own = account.replace("-shop", "-job");
    shop.put(path, &format!("{deployment}---\n{job}---\n{own}"));
    shop.check(&[]);
    shop.put(path, account);
    shop.check(&["chart/Chart.yaml note[rights-unknown] shop: the rights of the operator were not checked: the chart has no workload, such as a Deployment"]);
}

#[test]
fn rights_of_a_role_that_is_not_in_the_chart_are_unknown() {
    let Some(shop) = Shop::new("unknown-role") else { return };
    let binding = "name: {{ $.Release.Name }}-{{ . }}\nsubjects";
    shop.edit("chart/templates/roles.yaml", binding, "name: edit\nsubjects");
    let found = shop.findings(&[]);
    assert!(
        found
            .iter()
            .all(|it| it.contains("note[rights-unknown]") && it.contains("ClusterRole edit")),
        "{found:?}"
    );
    shop.edit(
        "chart/templates/roles.yaml",
        "name: edit\nsubjects",
        "name: cluster-admin\nsubjects",
    );
    shop.check(&[]);
}

#[test]
fn each_file_of_values_is_rendered() {
    let Some(shop) = Shop::new("values") else { return };
    shop.put("a.yaml", "rbac: false\n").put("b.yaml", "tag: 1.3.0\n").put("c.yaml", "other: 1\n");
    assert_eq!(
        shop.findings(&["--values", "a.yaml", "--values", "b.yaml", "--values", "c.yaml"]),
        [
            "chart/Chart.yaml error[right-missing] deployments.apps: no role of the operator grants `create`, `patch`, which the markers need with `--values a.yaml`; no role is bound to the ServiceAccount `chart-check-release-shop`",
            "chart/Chart.yaml error[right-missing] shops.example.com: no role of the operator grants `get`, `list`, `watch`, which the markers need with `--values a.yaml`; no role is bound to the ServiceAccount `chart-check-release-shop`",
            "chart/templates/deployment.yaml:17 error[image-tag] Deployment chart-check-release-shop: the image is `example.com/shop-operator:1.3.0`, and `appVersion` is 1.2.0 with `--values b.yaml`",
        ]
    );
    let (code, said) = shop.run(&["--values", "c.yaml"]);
    assert_eq!(
        (code, said.as_str()),
        (0, "chart (1 CRD of the source, 2 renderings): no finding\n")
    );
}

#[test]
fn observed_requests_are_what_the_operator_needs() {
    let Some(shop) = Shop::new("observed") else { return };
    shop.put("report.txt", "used    shops.example.com: get, list, watch\nused    deployments.apps: create, patch\n5 calls, 0 refused, 0 unused\n");
    assert_eq!(shop.findings(&["--observed", "report.txt"]), [""; 0]);
    shop.edit("report.txt", "create, patch", "create, delete");
    assert_eq!(
        shop.findings(&["--observed", "report.txt"]),
        [
            "chart/templates/roles.yaml:3 error[right-missing] deployments.apps: no role of the operator grants `delete`, which report.txt needs",
            "chart/templates/roles.yaml:17 note[right-unused] ClusterRole chart-check-release-workloads: deployments.apps: the role grants `patch`, which report.txt does not need",
        ]
    );
    let event = |verb: &str, user: &str| {
        format!(
            "{{\"auditID\":\"{verb}\",\"stage\":\"ResponseComplete\",\"verb\":\"{verb}\",\"user\":{{\"username\":\"{user}\"}},\"objectRef\":{{\"resource\":\"shops\",\"apiGroup\":\"example.com\",\"namespace\":\"x\"}},\"responseStatus\":{{\"code\":200}}}}\n"
        )
    };
    let log = event("delete", "system:serviceaccount:other:it") + &event("update", "admin");
    shop.put("audit.log", &log);
    let found = shop.findings(&["--observed", "audit.log"]);
    assert_eq!(
        found[0],
        "chart/templates/roles.yaml:3 error[right-missing] shops.example.com: no role of the operator grants `delete`, which audit.log needs"
    );
    shop.put("empty.txt", "nothing\n");
    let (code, said) = shop.run(&["--observed", "empty.txt"]);
    assert!(
        code == 1 && said.starts_with("error: `empty.txt` contains no request from an operator\nhint: pass the output of `operator-rs test --audit-rbac`, or the audit log of an API server as JSON lines"),
        "{said}"
    );
}

#[test]
fn without_markers_rights_are_not_checked_and_it_says_so() {
    let Some(shop) = Shop::new("no-markers") else { return };
    shop.put("src/main.rs", &SOURCE.replace("+kubebuilder", "kubebuilder"));
    shop.check(&["chart/Chart.yaml note[rights-unknown] shop: the rights of the operator were not checked: the source has no `+kubebuilder:rbac` markers, and no requests were given with `--observed FILE`"]);
}

#[test]
fn versions_must_be_the_same() {
    fault(
        "app-version",
        |it| Shop::end(it.edit("chart/Chart.yaml", "1.2.0", "1.3.0")),
        &[
            "chart/Chart.yaml:5 error[app-version] shop: `appVersion` is 1.3.0, and Cargo.toml has 1.2.0 of shop-operator",
        ],
        |it| Shop::end(it.edit("chart/Chart.yaml", "1.3.0", "v1.2.0")),
    );
    fault(
        "floating",
        |it| Shop::end(it.edit("chart/values.yaml", "tag: \"\"", "tag: latest")),
        &[
            "chart/templates/deployment.yaml:17 warning[floating-tag] Deployment chart-check-release-shop: the tag of the image `example.com/shop-operator:latest` is not a version",
        ],
        |it| Shop::end(it.edit("chart/values.yaml", "tag: latest", "tag: v1.2.0")),
    );
    let Some(shop) = Shop::new("no-app-version") else { return };
    shop.edit("chart/Chart.yaml", "appVersion: \"1.2.0\"\n", "");
    shop.edit("chart/values.yaml", "tag: \"\"", "tag: 1.3.0");
    shop.check(&[
        "chart/Chart.yaml note[version-unknown] shop: Chart.yaml has no `appVersion`, so no version was compared with it",
        "chart/templates/deployment.yaml:17 error[image-tag] Deployment chart-check-release-shop: the image is `example.com/shop-operator:1.3.0`, and Cargo.toml has 1.2.0",
    ]);
}

#[test]
fn selectors_must_distinguish_two_releases() {
    let selector = "    matchLabels:\n      app.kubernetes.io/instance: {{ .Release.Name }}";
    let shared = "    matchLabels:\n      app: shop";
    fault(
        "selectors",
        |it| Shop::end(it.edit("chart/templates/deployment.yaml", selector, shared)),
        &[
            "chart/templates/deployment.yaml:7 warning[shared-selector] Deployment chart-check-release-shop: the selector `app=shop` is the same in every release",
        ],
        // With one name, helm refuses a second release.
        |it| {
            Shop::end(it.edit(
                "chart/templates/deployment.yaml",
                "  name: {{ .Release.Name }}-shop",
                "  name: shop",
            ))
        },
    );
    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  ports: [{port: 80}]\n  selector:\n    app: shop\n";
    fault(
        "services",
        |it| Shop::end(it.put("chart/templates/service.yaml", service)),
        &[
            "chart/templates/service.yaml:7 warning[shared-selector] Service chart-check-release: the selector `app=shop` is the same in every release",
        ],
        |it| {
            Shop::end(it.edit(
                "chart/templates/service.yaml",
                "app: shop",
                "release: {{ .Release.Name }}",
            ))
        },
    );
}

/// A text that gzip cannot make smaller than half.
fn noise(bytes: usize) -> String {
    let mut state = 1_u64;
    let mut digit = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from_digit((state >> 60) as u32, 16).unwrap()
    };
    (0..bytes).map(|_| digit()).collect()
}

#[test]
fn a_release_that_does_not_fit_into_a_secret_is_an_error() {
    let Some(shop) = Shop::new("size") else { return };
    shop.put("chart/files/data.txt", &noise(1_100_000));
    let found = shop.findings(&[]);
    assert!(
        found.len() == 1 && found[0].contains("warning[release-size] shop: helm would store about"),
        "{found:?}"
    );
    shop.put("chart/files/data.txt", &noise(1_700_000));
    let found = shop.findings(&[]);
    assert!(found.len() == 1 && found[0].contains("error[release-size]"), "{found:?}");
    shop.put("chart/.helmignore", "# not packed\nfiles/\n");
    shop.check(&[]);
}

#[test]
fn three_megabytes_of_crds_are_read() {
    let Some(shop) = Shop::new("large") else { return };
    let crd = fs::read_to_string(shop.dir.join("chart").join(CRD)).unwrap();
    for at in 0..30 {
        let text = crd.replace("shop", &format!("cart{at}")).replace("Shop", &format!("Cart{at}"));
        let text = text.replacen(
            "minimum: 1.0\n",
            &format!("minimum: 1.0\n                description: {}\n", "long ".repeat(20_000)),
            1,
        );
        shop.put(&format!("chart/crds/{at}.yaml"), &text);
    }
    let found = shop.findings(&[]);
    assert_eq!(
        found.iter().filter(|it| it.contains("note[crd-undeclared]")).count(),
        30,
        "{found:?}"
    );
}

#[test]
fn what_helm_refuses_is_shown_at_its_place() {
    let Some(shop) = Shop::new("refused") else { return };
    let start = |shop: &Shop, words: &[&str], expected: &str| {
        let found = shop.findings(words);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    };
    shop.put("chart/templates/bad.yaml", "a: 1\nb: {{ fail \"no\" }}\n");
    start(
        &shop,
        &[],
        "chart/templates/bad.yaml:2 error[does-not-render] shop: helm cannot render the chart: execution error at (shop/templates/bad.yaml:2:6): no",
    );
    shop.put("chart/templates/bad.yaml", "a: 1\nb: {{ nothing }}\n");
    start(
        &shop,
        &[],
        "chart/templates/bad.yaml:2 error[does-not-render] shop: helm cannot render the chart: parse error at (shop/templates/bad.yaml:2): function \"nothing\" not defined",
    );
    fs::remove_file(shop.dir.join("chart/templates/bad.yaml")).unwrap();
    shop.put("values.yaml", "a: b: c\n");
    start(&shop, &["--values", "values.yaml"], "values.yaml");
    let found = shop.findings(&["--values", "values.yaml"]);
    let what = "helm cannot render the chart with `--values values.yaml`: failed to parse";
    assert!(found[0].contains(what), "{found:?}");
    shop.put("chart/values.yaml", "rbac: true\ntag: b: c\n");
    start(&shop, &[], "chart/values.yaml");
}

#[test]
fn without_helm_rendered_manifests_are_taken() {
    let Some(shop) = Shop::new("input") else { return };
    let rendered = support::command("helm", &shop.dir)
        .args(["template", "one", "chart", "--namespace", "two"])
        .env("PATH", &shop.path)
        .output()
        .unwrap();
    assert!(rendered.status.success(), "{}", support::said(&rendered));
    let mut rendered = String::from_utf8(rendered.stdout).unwrap();
    rendered = rendered.replace(
        "  name: one-shop\nspec",
        "  name: one-shop\n  labels: {app.kubernetes.io/instance: one}\nspec",
    );
    shop.put("all.yaml", &rendered);
    let empty = shop.dir.join("empty");
    fs::create_dir(&empty).unwrap();
    let shop = Shop { path: empty.into_os_string(), ..shop };
    let (code, said) = shop.run(&[]);
    assert_eq!(code, 1);
    assert_eq!(
        said,
        "error: `helm` is not on PATH: it is needed to render the chart\nhint: install helm, or render the chart elsewhere and pass the result with `--input FILE`, or with `--input -` from stdin\n"
    );
    assert_eq!(shop.findings(&["--input", "all.yaml"]), [""; 0]);
    let mut child = shop
        .command(&["--input", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let rendered = rendered
        .replace("[create, patch]", "[create]")
        .replace("  - patch\n", "")
        .replace("verbs: [\"create\",\"patch\"]", "verbs: []");
    child.stdin.take().unwrap().write_all(rendered.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = support::said(&output);
    assert!(
        output.status.code() == Some(1)
            && said.contains("error[right-missing]: no role of the operator grants `patch`"),
        "{said}"
    );
    shop.put("bad.yaml", "---\n# Source: shop/templates/a.yaml\na: b: c\n");
    let (code, said) = shop.run(&["--input", "bad.yaml"]);
    assert!(
        code == 1
            && said.contains("cannot read bad.yaml")
            && said.contains("the document at line 1, which is from shop/templates/a.yaml"),
        "{said}"
    );
    shop.put("none.yaml", "# nothing\n");
    let (code, said) = shop.run(&["--input", "none.yaml"]);
    assert!(code == 1 && said.starts_with("error: none.yaml has no objects\nhint: `helm template` may have failed; with bash, `set -o pipefail` stops there"), "{said}");
}

#[test]
fn what_of_the_source_cannot_be_read_is_no_success() {
    let Some(shop) = Shop::new("unread") else { return };
    shop.edit("src/main.rs", "pub size: i32", "pub size: other::Size");
    shop.edit("chart/Chart.yaml", "1.2.0", "1.3.0");
    let (code, said) = shop.run(&["--no-compile"]);
    assert!(code == 1 && said.contains("error[app-version]"), "{said}");
    assert!(said.contains(", and the chart was not compared with what cannot be read"), "{said}");
    assert!(!said.contains("crd-undeclared"), "{said}");
}

const SUMMARIES: [&str; 21] = [
    "The chart renders",
    "The files of CRDs are YAML",
    "The chart has every CRD of the source",
    "The CRDs of the chart are those of the source",
    "Helm installs the CRDs of the chart",
    "The source declares every CRD of the chart",
    "`artifacthub.io/crds` lists the CRDs of the chart",
    "The chart has CRDs of every group",
    "The source serves the versions that controllers use",
    "The operator's roles grant what it needs",
    "Rights that are needed everywhere are granted everywhere",
    "The operator needs every right that it has",
    "It is known which rights the operator needs and has",
    "The chart has what its objects refer to",
    "`appVersion` is the version in Cargo.toml",
    "The tag of the operator's image is `appVersion`",
    "The tag of the operator's image names a version",
    "The versions are known",
    "Selectors distinguish two releases in a namespace",
    "It is known whether selectors distinguish two releases",
    "The release fits into a Secret",
];

#[test]
fn rules_are_allowed_and_shown_in_each_format() {
    let Some(shop) = Shop::new("formats") else { return };
    shop.edit("chart/Chart.yaml", "1.2.0", "1.3.0");
    shop.edit("chart/values.yaml", "tag: \"\"", "tag: 1.3.0");
    let text = "chart/Chart.yaml:5:1: error[app-version]: `appVersion` is 1.3.0, and Cargo.toml has 1.2.0 of shop-operator\n  shop\n  hint: set both to the same version\n\nerror: chart does not agree with the source (1 CRD of the source, 1 rendering): 1 error\nhint: accept findings of a rule that you have reviewed with `--allow RULE`\n";
    assert_eq!(shop.run(&[]), (1, text.to_owned()));
    assert_eq!(shop.run(&["--allow", "app-version"]).0, 0);
    let (_, github) = shop.run(&["--output", "github"]);
    assert!(
        github.contains("::error file=chart/Chart.yaml,line=5,col=1,title=app-version"),
        "{github}"
    );
    let output = shop.command(&["--output", "sarif"]).output().unwrap();
    let sarif: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "app-version");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let summaries: Vec<&str> =
        rules.iter().map(|it| it["shortDescription"]["text"].as_str().unwrap()).collect();
    assert_eq!(summaries, SUMMARIES);
}

#[test]
fn a_folder_that_is_no_chart_is_refused() {
    let Some(shop) = Shop::new("no-chart") else { return };
    shop.put("chart/Chart.yaml", "apiVersion: v2\nversion: 0.1.0\n");
    let (code, said) = shop.run(&[]);
    assert!(
        code == 1
            && said.starts_with(
                "error: `chart/Chart.yaml` has no `name`\nhint: helm refuses a chart without a name"
            ),
        "{said}"
    );
    fs::remove_file(shop.dir.join("chart/Chart.yaml")).unwrap();
    let (code, said) = shop.run(&[]);
    assert!(
        code == 1
            && said.starts_with(
                "error: `chart` is not the directory of a chart: it has no Chart.yaml"
            ),
        "{said}"
    );
    fs::remove_dir_all(shop.dir.join("chart")).unwrap();
    let (code, said) = shop.run(&[]);
    assert!(code == 1 && said.starts_with("error: there is no directory `chart`\nhint: name the directory that has the Chart.yaml, e.g. `charts/my-operator`"), "{said}");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_not_followed() {
    let Some(shop) = Shop::new("links") else { return };
    let link = |target: &Path| {
        let _ = fs::remove_file(shop.dir.join("chart/link.yaml"));
        std::os::unix::fs::symlink(target, shop.dir.join("chart/link.yaml")).unwrap();
    };
    link(Path::new("../Cargo.toml"));
    shop.check(&[]);
    link(Path::new("/etc/hostname"));
    let (code, said) = shop.run(&[]);
    assert!(code == 1 && said.contains("leads out of the project"), "{said}");
}

#[test]
fn objects_of_subcharts_are_not_judged() {
    let Some(shop) = Shop::new("subcharts") else { return };
    shop.put("chart/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n");
    let text = DEPLOYMENT
        .replace("-shop", "-sub")
        .replace("example.com/shop-operator", "sub")
        .replace(".Values.tag | default .Chart.AppVersion", "\"latest\"");
    shop.put("chart/charts/sub/templates/a.yaml", &text);
    shop.check(&[]);
}

#[test]
fn what_is_unknown_is_a_note() {
    let Some(shop) = Shop::new("unknown") else { return };
    let has = |shop: &Shop, words: &[&str], expected: &str| {
        let found = shop.findings(words);
        assert!(found.iter().any(|it| it.contains(expected)), "{found:?}");
    };
    let sidecar = "      containers:\n        - {name: proxy, image: proxy}\n";
    shop.edit("chart/templates/deployment.yaml", "      containers:\n", sidecar);
    shop.edit("chart/templates/deployment.yaml", "example.com/shop-operator", "example.com/x");
    let unknown = "note[version-unknown] Deployment chart-check-release-shop: it is unknown which of its containers is the operator, so no tag was compared";
    has(&shop, &[], unknown);
    shop.edit("chart/templates/deployment.yaml", sidecar, "      containers:\n");
    let tag = ":{{ .Values.tag | default .Chart.AppVersion }}";
    shop.edit("chart/templates/deployment.yaml", tag, "");
    has(&shop, &[], "the image `example.com/x` has no tag, which means `latest`");
    shop.put("all.yaml", "---\n# Source: shop/templates/deployment.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: []}}}\n");
    let unknown = "note[selector-unknown] shop: no object has the label `app.kubernetes.io/instance`, so it is unknown which label identifies the release";
    has(&shop, &["--input", "all.yaml"], unknown);
    let role = "  name: {{ .Release.Name }}-workloads\nrules";
    let aggregated = "  name: {{ .Release.Name }}-workloads\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\nrules";
    shop.edit("chart/templates/roles.yaml", role, aggregated);
    shop.edit("chart/templates/roles.yaml", "[create, patch]", "[create]");
    let unknown = "note[rights-unknown] deployments.apps: no role in the chart grants `patch`, which the markers need; it is unknown what ClusterRole chart-check-release-workloads, which is aggregated grants";
    has(&shop, &[], unknown);
}

/// What is advised, by rule.
const HINTS: &[(&str, &str)] = &[
    ("crd-missing", "write it with `operator-rs generate crds`"),
    ("crd-not-installed", "move it to `crds/`, or include it in a template"),
    ("floating-tag", "leave the tag to `.Chart.AppVersion`"),
    ("image-tag", "leave the tag to `.Chart.AppVersion`, or set both to the same version"),
    ("release-size", "leave files out with .helmignore, or move the CRDs to a chart of their own"),
    (
        "shared-selector",
        "add the label `app.kubernetes.io/instance: {{ .Release.Name }}` to the selector and to the pods",
    ),
];

#[test]
fn findings_have_hints() {
    let Some(shop) = Shop::new("hints") else { return };
    let other = SOURCE.split("\n\n").last().unwrap().replace("Shop", "Cart");
    shop.put("src/main.rs", &format!("{SOURCE}\n{other}"));
    let crd = fs::read_to_string(shop.dir.join("chart").join(CRD)).unwrap();
    shop.put("chart/crds.yaml", &crd.replace("shop", "card").replace("Shop", "Card"));
    shop.put("chart/data.txt", &noise(1_100_000)).put("b.yaml", "tag: 1.3.0\n");
    shop.edit("chart/values.yaml", "tag: \"\"", "tag: latest");
    let selector = "    matchLabels:\n      app.kubernetes.io/instance: {{ .Release.Name }}";
    shop.edit("chart/templates/deployment.yaml", selector, "    matchLabels:\n      app: shop");
    let (_, said) = shop.run(&["--values", "b.yaml"]);
    for (rule, hint) in HINTS {
        let (_, rest) =
            said.split_once(&format!("[{rule}]: ")).unwrap_or_else(|| panic!("{rule}: {said}"));
        let paragraph = rest.split("\n\n").next().unwrap();
        assert!(paragraph.ends_with(&format!("  hint: {hint}")), "{paragraph}");
    }
    assert!(said.contains("KiB for a release in a Secret, which can have 1024 KiB"), "{said}");
}
