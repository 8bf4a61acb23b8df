//! Our rendering of kustomizations beside kustomize's own: equal as data, in the same order, or both
//! refuse. The trees are those in `tests/kustomize`, and whatever `init` and `create api` make.
//!
//! The tool's reading of files is taken in by path, because it is a part of a program and no library.

#![allow(clippy::print_stderr, reason = "what is refused is told")]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

#[path = "kustomize/case.rs"]
mod case;
#[path = "kustomize/empty_keys.rs"]
mod empty_keys;
#[path = "kustomize/facts.rs"]
mod facts;
#[path = "kustomize/random.rs"]
mod random;
mod support;
#[path = "kustomize/vocabulary.rs"]
mod vocabulary;
#[path = "kustomize/words.rs"]
mod words;

#[allow(dead_code, unused_imports, reason = "one room is under test")]
#[path = "../src/disk/mod.rs"]
mod disk;
#[allow(dead_code, unused_imports, reason = "one room is under test")]
#[path = "../src/plan/mod.rs"]
mod plan;
#[allow(dead_code, unused_imports, reason = "one room is under test")]
#[path = "../src/project/mod.rs"]
mod project;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use disk::Root;
use go_data::yaml::{self, Value};
use kustomize::Image;
use model::ProjectPath;

#[test]
fn trees_are_rendered_as_kustomize_renders_them() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let mut wrong = Vec::new();
    let home = support::home().join("tests/kustomize");
    for case in fs::read_dir(home).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir()) {
        let overlay = case.join("overlay");
        let folder = if overlay.is_dir() { overlay } else { case };
        wrong.extend(compare(&kustomize, &folder));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn scaffolded_trees_are_rendered_as_kustomize_renders_them() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let mut wrong = Vec::new();
    for (name, flags, certificates) in [
        ("cluster", "", ""),
        ("namespaced", " --namespaced", ""),
        ("self-managed", "", " --certificates self"),
    ] {
        let dir = support::fresh(&format!("kustomize/{name}"));
        support::done(
            &dir,
            &format!("init --project-name memcached-operator --domain example.com{flags}"),
        );
        wrong.extend(every_folder(&kustomize, &dir, "init"));
        support::done(
            &dir,
            "create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
        );
        support::done(&dir, "create api --group store --kind Memcached");
        support::done(&dir, "create api --group cache --kind Memcached --version v1beta1");
        wrong.extend(every_folder(&kustomize, &dir, "create api"));
        let memcached = "--group cache --kind Memcached --version v1alpha1";
        for webhook in
            ["--programmatic-validation", "--conversion", "--admission-policy --defaulting"]
        {
            support::done(&dir, &format!("create webhook {memcached} {webhook}{certificates}"));
            wrong.extend(every_folder(&kustomize, &dir, "create webhook"));
        }
        for folder in ["default", "prometheus"] {
            let path = dir.join(format!("config/{folder}/kustomization.yaml"));
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, with_options(&text)).unwrap();
        }
        wrong.extend(every_folder(&kustomize, &dir, "its options"));
        let rendered = yaml::json!(ours(&dir.join("config/default"), &[]).unwrap()).to_string();
        for expected in [
            "--metrics-cert-path=/tmp/k8s-metrics-server/metrics-certs",
            "secretName\":\"metrics-server-cert",
            "serverName\":\"memcached-operator-metrics-service.memcached-operator-system.svc",
            "memcached-operator-allow-metrics-traffic",
        ] {
            assert!(rendered.contains(expected), "{expected}: {rendered}");
        }
        assert!(!rendered.contains("insecureSkipVerify\":true"), "{rendered}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The certificate of the webhooks is for the names of the Services that there are.
#[test]
fn webhooks_need_no_service_of_the_metrics() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let dir = support::fresh("kustomize/without-metrics");
    support::done(&dir, "init --project-name memcached-operator --domain example.com");
    support::done(&dir, "create api --group cache --kind Memcached");
    let path = dir.join("config/default/kustomization.yaml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("- metrics_service.yaml\n"), "{text}");
    fs::write(&path, text.replace("- metrics_service.yaml\n", "")).unwrap();
    let files = || {
        let mut res = support::tree(&dir);
        res.retain(|it, _| !it.ends_with('/'));
        res
    };
    let before = files();
    support::done(&dir, "create webhook --group cache --kind Memcached --defaulting");
    let wrong = every_folder(&kustomize, &dir, "create webhook");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let rendered = yaml::json!(ours(&dir.join("config/default"), &[]).unwrap()).to_string();
    for absent in ["metrics-service", "METRICS_", "SERVICE_NAME"] {
        assert!(!rendered.contains(absent), "{absent}: {rendered}");
    }
    support::done(&dir, "delete webhook --group cache --kind Memcached");
    assert!(files() == before, "`delete webhook` leaves the files as they were");
    support::done(&dir, "create api --group cache --kind Memcached --version v1 --from v1alpha1");
    let wrong = every_folder(&kustomize, &dir, "create api --from");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    ours(&dir.join("config/default"), &[]).expect("it can be rendered");
}

/// A kustomization with all that it offers in comments.
fn with_options(text: &str) -> String {
    let is_option = |it: &str| it.starts_with("- ") || it.starts_with("  ") || it == "patches:";
    let line = |it: &str| match it.strip_prefix("# ") {
        Some(option) if is_option(option) => format!("{option}\n"),
        _ => format!("{it}\n"),
    };
    text.lines().map(line).collect()
}

/// All folders with a kustomization.
fn folders(dir: &Path) -> BTreeSet<PathBuf> {
    support::tree(dir)
        .into_keys()
        .filter(|it| it.ends_with("/kustomization.yaml"))
        .filter_map(|it| dir.join(it).parent().map(Path::to_owned))
        .collect()
}

fn every_folder(kustomize: &Path, dir: &Path, after: &str) -> Vec<String> {
    let folders = folders(dir);
    assert!(folders.len() > 8, "there are fewer kustomizations than init makes: {folders:?}");
    let wrong: Vec<String> = folders.iter().filter_map(|it| compare(kustomize, it)).collect();
    wrong.into_iter().map(|it| format!("after {after}: {it}")).collect()
}

/// What is wrong with our rendering of a folder.
fn compare(kustomize: &Path, folder: &Path) -> Option<String> {
    let output = support::command(kustomize, folder).args(["build", "."]).output().unwrap();
    let name = folder.display();
    let ours = ours(folder, &[]);
    if !output.status.success() {
        // Only of these trees a rendering is not expected.
        let expected = folder
            .components()
            .any(|it| it.as_os_str().to_string_lossy().starts_with("refused-by-both-"));
        return (ours.is_ok() || !expected)
            .then(|| format!("{name}: kustomize refuses it: {}", support::said(&output)));
    }
    let theirs = String::from_utf8(output.stdout).unwrap();
    let ours = match ours {
        Ok(ours) => ours,
        Err(error) => return Some(format!("{name}: {error:#}")),
    };
    let diff = differs(&ours, &theirs)?;
    Some(format!("{name}, kustomize's and ours:\n{diff}"))
}

/// How our objects differ from those in kustomize's text.
fn differs(ours: &[Value], theirs: &str) -> Option<String> {
    // What libyaml's descendant sees in it.
    let theirs: Vec<Value> = serde_yaml::Deserializer::from_str(theirs)
        .map(|it| serde::Deserialize::deserialize(it).unwrap())
        .filter(|it: &Value| !it.is_null())
        .collect();
    if plain(ours) == plain(&theirs) {
        return None;
    }
    let text = |it: &[Value]| it.iter().map(yaml::to_text).collect::<Vec<_>>().join("---\n");
    let (ours, theirs) = (text(&plain(ours)), text(&plain(&theirs)));
    let diff = similar::TextDiff::from_lines(&theirs, &ours);
    Some(diff.unified_diff().context_radius(8).to_string())
}

/// The folder as the project's, below a root that holds all it refers to.
fn ours(folder: &Path, images: &[Image]) -> anyhow::Result<Vec<Value>> {
    let root = folder.parent().unwrap().parent().unwrap();
    let path = folder.strip_prefix(root).unwrap().to_str().unwrap();
    kustomize::build(&Root::new(root).unwrap(), &ProjectPath::fixed(path), images)
}

/// Go prints 1.0 as 1, which is the same number.
fn plain(values: &[Value]) -> Vec<Value> {
    fn number(value: &Value) -> Value {
        match value {
            Value::Number(it) => match it.as_f64() {
                #[allow(clippy::cast_possible_truncation, reason = "it is small and whole")]
                Some(float) if it.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                    Value::from(float as i64)
                }
                _ => value.clone(),
            },
            Value::Array(items) => items.iter().map(number).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, it)| (key.clone(), number(it))).collect())
            }
            _ => value.clone(),
        }
    }
    values.iter().map(number).collect()
}
