//! What the fuzzer starts from: a real project that was made small, so that a case is short.

use std::sync::OnceLock;

use crate::{
    support,
    template::{self, Files},
    world,
};

/// What the small project goes without.
const LEFT_OUT: &[&str] = &[
    "src/",
    "vendor/",
    "tests/",
    ".github/",
    "deploy/",
    "config/prometheus/",
    "config/network-policy/",
    "LICENSE",
    "README.md",
    "Makefile",
    "operator-rs.mk",
    "Dockerfile",
    ".dockerignore",
    "rustfmt.toml",
];

/// The crates that a CRD depends on.
const CRATES: &[&str] = &[
    "memcached-operator",
    "memcached-operator-api",
    "k8s-openapi",
    "kube",
    "kube-core",
    "kube-derive",
    "schemars",
    "schemars_derive",
    "serde",
    "serde_derive",
    "serde_json",
];

const MAIN: &str = "//! An operator.\n\n// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch\n// +kubebuilder:rbac:groups=apps;batch,resources=deployments;jobs,verbs=get;create,resourceNames=a;b\n// +kubebuilder:rbac:urls=/metrics,verbs=get\n// +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=get,namespace=other,roleName=other\nfn main() {}\n";

const CODE: &str = "use std::collections::{BTreeMap, HashMap};\n\npub const LEAST: i32 = 1 + 2 * 3;\nconst NAMES: &[&str] = &[\"a\", \"b\"];\npub type Map<T = String> = BTreeMap<String, Option<T>>;\n\n#[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]\n#[kube(group = \"cache.example.com\", version = \"v1alpha1\", kind = \"Third\", namespaced, shortname = \"th\", scale(spec_replicas_path = \".spec.size\", status_replicas_path = \".status.size\"))]\n#[kube(validation = Rule::new(\"self.spec.size > 1\").message(\"more\"))]\n#[serde(rename_all = \"camelCase\", deny_unknown_fields)]\npub struct ThirdSpec {\n    /// The first line,\n    /// and the second one.\n    #[serde(default = \"size\", alias = \"s\")]\n    #[schemars(range(min = LEAST, max = 100), extend(\"x-a\" = {\"b\": [1, null]}))]\n    pub size: i32,\n    #[schemars(length(min = 1), regex(pattern = r\"^[a-z]+$\"))]\n    pub name: Option<String>,\n    pub map: Map<Vec<Choice>>,\n    #[serde(flatten)]\n    pub inner: Inner<u8, { 2 + 3 }>,\n    pub tree: Option<Box<Tree>>,\n}\n\nfn size() -> i32 { i32::MAX - LEAST }\n\n#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, Default)]\npub struct Inner<T, const N: usize> where T: Clone {\n    #[serde(skip_serializing_if = \"Option::is_none\")]\n    pub value: Option<T>,\n    pub list: Vec<(T, String)>,\n    #[cfg(not(test))]\n    pub other: HashMap<String, serde_json::Value>,\n}\n\n#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]\n#[serde(tag = \"type\", content = \"value\")]\npub enum Choice { One, Two(i64), Three { #[serde(rename = \"b\")] a: f64 }, #[serde(other)] Other }\n\n#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]\npub struct Tree { pub left: Vec<u64>, pub right: Map }\n\nmacro_rules! kinds { ($($name:ident: $type:ty),* $(,)?) => { $(#[derive(Clone)] pub struct $name { pub a: $type })* } }\nkinds!(A: u8, B: Vec<String>,);\n";

const JOURNAL: &str = "{\"phase\":\"commit\",\"folders\":[\"config/new\"],\"steps\":[{\"path\":\"config/new/a.yaml\",\"new\":\"config/new/.a.yaml.operator-rs-new\",\"before\":null},{\"path\":\"NOTES.md\",\"new\":null,\"before\":\"0123456789abcdef0123456789abcdef\"}]}";

/// A type that is read quickly.
const TYPE: &str = "//! A kind.\n\nuse kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n\n/// Desired state.\n#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]\n#[kube(group = \"cache.example.com\", version = \"v1alpha1\", kind = \"KIND\", namespaced)]\npub struct KINDSpec {\n    /// How many.\n    #[serde(default)]\n    pub size: Option<i32>,\n    #[serde(default)]\n    pub names: Vec<String>,\n}\n";

/// The files of the small project; every command of the fuzzer takes them.
pub fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut res = template::fresh().clone();
        res.retain(|path, _| {
            path.starts_with("src/webhook/") || !LEFT_OUT.iter().any(|it| path.starts_with(it))
        });
        let lock = String::from_utf8(res["Cargo.lock"].clone()).expect("it is text");
        let controllers = &template::fresh()["src/controller/mod.rs"];
        let controllers = String::from_utf8(controllers.clone()).expect("it is text");
        let controllers = controllers
            .replace("operator_rs_runtime::Component", "u8")
            .replace("pub mod memcached;", "");
        let cargo = String::from_utf8(res["Cargo.toml"].clone()).expect("it is text");
        let cargo = with_known_dependencies(&cargo.replace("\"api\", \"runtime\"", "\"api\""));
        for (path, text) in [
            ("Cargo.lock", small(&lock)),
            ("Cargo.toml", cargo),
            ("src/main.rs", MAIN.to_owned()),
            ("src/lib.rs", "pub mod controller;\n".to_owned()),
            ("src/controller/mod.rs", controllers),
            ("api/src/cache/v1alpha1/memcached.rs", TYPE.replace("KIND", "Memcached")),
            ("api/src/cache/v1alpha1/second.rs", TYPE.replace("KIND", "Second")),
            ("NOTES.md", "by hand\n".to_owned()),
        ] {
            res.insert(path.to_owned(), text.into_bytes());
        }
        // The samples are of the small types, too.
        for name in ["memcached", "second"] {
            let path = format!("config/samples/cache_v1alpha1_{name}.yaml");
            let text = String::from_utf8(res[&path].clone()).expect("it is text");
            let (head, _) = text.split_once("\nspec:").expect("it has a spec");
            res.insert(path, format!("{head}\nspec:\n  size: 1\n").into_bytes());
        }
        // What is generated follows from the small source.
        let dir = template::scratch().join("seeds").join(template::NAME);
        world::put_all(&res, &dir);
        support::done(&dir, "manifests");
        support::done(&dir, "bundle");
        support::tree(&dir)
    })
}

/// Files that are only there in some cases.
pub fn more() -> [(&'static str, String); 5] {
    [
        (".operator-rs.journal", JOURNAL.to_owned()),
        ("api/src/third.rs", CODE.to_owned()),
        ("config/default/strange.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  labels: &a {b: c}\n  annotations: *a\nstringData:\n  a: |-\n    text\n  b: >+\n    folded\n\n  \"c\": 'it''s'\n".to_owned()),
        ("bundle/manifests/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a: b}\nbinaryData: {c: aGVsbG8=}\n".to_owned()),
        ("config/default/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: a\nnamePrefix: b-\nnameSuffix: -c\nresources:\n- ../manager\n- ../rbac\n- ../crd\nlabels:\n- pairs: {a: b}\n  includeSelectors: true\n  fields: [{path: spec/a, create: true}]\ncommonAnnotations: {c: d}\nimages:\n- name: controller\n  newName: e\n  newTag: v1\nreplicas:\n- name: controller-manager\n  count: 3\nconfigMapGenerator:\n- name: f\n  literals: [g=h]\n  options: {disableNameSuffixHash: true}\npatches:\n- target: {kind: Deployment, name: controller-.*}\n  patch: |-\n    - op: replace\n      path: /spec/template/spec/containers/0/name\n      value: manager\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: controller-manager, namespace: system}\n    spec: {template: {spec: {containers: [{name: manager, env: [{name: a, $patch: delete}]}]}}}\n".to_owned()),
    ]
}

/// A Cargo.toml that depends on these crates only, as the lock file has no others.
fn with_known_dependencies(manifest: &str) -> String {
    let mut is_dependency = false;
    let is_kept = |line: &&str| {
        if line.starts_with('[') {
            is_dependency = line.trim_end().ends_with("dependencies]");
        }
        let name = line.split([' ', '.']).next().unwrap_or_default();
        !is_dependency
            || line.starts_with(['[', '#', '\n'])
            || name == "api"
            || CRATES.contains(&name)
    };
    manifest.split_inclusive('\n').filter(is_kept).collect()
}

/// A lock file of only these crates.
fn small(lock: &str) -> String {
    let mut parts = lock.split("[[package]]\n");
    let mut res = parts.next().unwrap_or("").to_owned();
    let named = |it: &str| CRATES.iter().any(|name| it.trim_matches([' ', '"', ',']) == *name);
    for part in parts {
        let name = part.lines().find_map(|it| it.strip_prefix("name = ")).unwrap_or("");
        if named(name) {
            let kept = part.lines().filter(|it| !it.starts_with(" \"") || named(it));
            res += "[[package]]\n";
            res.extend(kept.flat_map(|it| [it, "\n"]));
        }
    }
    res
}
