//! Kustomizations that point upwards, at URLs, at pipes and at themselves.

use super::Trick;
use crate::plant;

const RESOURCES: &[&str] = &[
    "../../../victim/bashrc",
    "../../../home/.kube/config",
    "../../../home/.ssh/id_ed25519",
    "../../../victim/mirror/config/crd",
    "/etc/passwd",
    "/dev/zero",
    "/dev/stdin",
    "/",
    "../../..",
    ".",
    "..",
    "",
    "kustomization.yaml",
    "fifo",
    "linked",
    "https://127.0.0.1:1/a.yaml",
    "https://github.com/example/a//b?ref=c",
    "git@127.0.0.1:a/b.git",
    "file:///etc/passwd",
    "\"\\e[2J\"",
    "\"a\\0b\"",
    "\"a\\nb\"",
    "*a",
    "[]",
    "{a: b}",
    "locked",
];

const BLOCKS: &[&str] = &[
    "patches:\n- path: VICTIM\n",
    "components:\n- VICTIM\n",
    "generators:\n- VICTIM\n",
    "transformers:\n- VICTIM\n",
    "crds:\n- VICTIM\n",
    "openapi:\n  path: VICTIM\n",
    "replacements:\n- path: VICTIM\n",
    "configMapGenerator:\n- name: a\n  files:\n  - VICTIM\n",
    "secretGenerator:\n- name: a\n  envs:\n  - VICTIM\n",
    "secretGenerator:\n- name: a\n  files: [key=VICTIM]\n",
];

const WHOLE: &[&str] = &[
    "namePrefix: \"../../\"\nresources: [../rbac]\n",
    "namePrefix: \"\\e[2J\"\nresources: [../rbac]\n",
    "namespace: \"../../victim\"\nresources: [../rbac]\n",
    "namespace: \"\\e[2J\"\nresources: [../rbac]\n",
    "helmCharts:\n- name: a\n  repo: https://127.0.0.1:1\n",
    "resources: &a [*a]\n",
    "resources: [../default]\n",
    "a: &a\n  <<: *a\n",
    "patches:\n- patch: \"\\e[2J\"\n",
    "patches:\n- target: {kind: \"(((((((((((((((a*)*)*)*)*)*)*)*)*)*)*)*)*)*)*$\"}\n  patch: '[]'\nresources: [../rbac]\n",
    "images:\n- name: \"\\e[2J\"\n  newTag: \"../..\"\nresources: [../manager]\n",
    "replicas:\n- name: controller-manager\n  count: 99999999999999999999\nresources: [../manager]\n",
    "resources: 1\n",
    "[",
    "\u{1b}[2J: a\n",
];

const OBJECTS: &[&str] = &[
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"../../../../victim/bashrc\"\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"\\e[2J\\a\"\ndata: {a: \"\\e[2J\"}\n",
    "apiVersion: v1\nkind: \"../../../victim/bashrc\"\nmetadata: {name: a}\n",
    "apiVersion: \"../../victim/v1\"\nkind: Service\nmetadata: {name: \"../../../victim/bashrc\"}\n",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: \"/../../../victim/bashrc\"}\nrules: []\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &a\n  b: *a\n",
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ../../../victim/bashrc}\nspec: {group: ../.., names: {plural: /x, kind: \"\\e[2J\"}, scope: Namespaced, versions: []}\n",
    "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: [null, 1, []]}]\n",
    "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: ../../../victim/bashrc}\nspec: {version: ../.., displayName: \"\\e[2J\"}\n",
];

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for folder in ["config/default", "config/crd", "config/rbac", "config/manifests"] {
        let path = format!("{folder}/kustomization.yaml");
        let mut add = |title: String, text: String, whole: bool| {
            let (path, folder) = (path.clone(), folder.to_owned());
            res.push(Trick::new(format!("{folder}: {title}"), "config", move |world| {
                plant::fifo(world, &format!("{folder}/fifo"))?;
                plant::link(world, &format!("{folder}/linked"), world.dir.join("victim/bashrc"))?;
                if whole {
                    return plant::file(world, &path, text.as_bytes());
                }
                let old = plant::text(world, &path);
                let key = text.split_inclusive('\n').next().unwrap_or("");
                let new = if old.contains(&format!("\n{key}")) {
                    old.replacen(key, &text, 1)
                } else {
                    format!("{old}\n{text}")
                };
                plant::file(world, &path, new.as_bytes())
            }));
        };
        for resource in RESOURCES {
            add(format!("the resource {resource}"), format!("resources:\n- {resource}\n"), false);
            if matches!(folder, "config/crd" | "config/rbac") {
                continue;
            }
            for block in BLOCKS {
                let text = block.replace("VICTIM", resource);
                add(format!("the block {text:?}"), text, false);
            }
        }
        for text in WHOLE {
            add(format!("nothing but {text:?}"), (*text).to_owned(), true);
        }
    }
    res.push(Trick::new("kustomizations that double", "config", |world| {
        for depth in 0..30 {
            for side in ["a", "b"] {
                let next = depth + 1;
                let text = format!("resources: [../a{next}, ../b{next}]\n");
                let text = if depth == 29 { "resources: []\n" } else { &text };
                let path = format!("config/{side}{depth}/kustomization.yaml");
                plant::file(world, &path, text.as_bytes())?;
            }
        }
        let path = "config/default/kustomization.yaml";
        plant::replace(world, path, "resources:\n", "resources:\n- ../a0\n")
    }));
    for text in OBJECTS {
        for folder in ["config/rbac", "config/samples", "config/crd/bases", "bundle/manifests"] {
            let title = format!("an object in {folder}: {text:?}");
            res.push(Trick::new(title, folder, move |world| {
                plant::file(world, &format!("{folder}/strange.yaml"), text.as_bytes())?;
                let listing = format!("{}/kustomization.yaml", folder.trim_end_matches("/bases"));
                let entry =
                    if folder.ends_with("bases") { "bases/strange.yaml" } else { "strange.yaml" };
                plant::replace(world, &listing, "resources:\n", &format!("resources:\n- {entry}\n"))
            }));
        }
    }
    res
}
