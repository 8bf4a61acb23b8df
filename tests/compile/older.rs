//! A kube that the reader does not know: the project's own code prints.

use std::{env, fs, path::PathBuf};

use toml::Value;

use crate::{
    project::{FUNCTION, HEAD, OUTSIDE, Project, kind, versions},
    support,
};

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn kube_1_with_schemars_0_8_prints_as_it_does() {
    let code = "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n".to_owned()
        + &kind("Older", "pub size: Option<i32>,");
    let lock = include_str!("locks/kube-1.1.0.lock");
    let manifest = "[package]\nname = \"asked\"\nversion = \"0.1.0\"\nedition = \"2021\"\n
[dependencies]
k8s-openapi = { version = \"0.25\", features = [\"v1_32\"] }
kube = { version = \"1.1\", default-features = false, features = [\"derive\"] }
schemars = \"0.8\"
serde = { version = \"1\", features = [\"derive\"] }
serde_json = \"1\"
";
    let project =
        Project::new(&[("src/lib.rs", &code), ("Cargo.toml", manifest), ("Cargo.lock", lock)]);
    support::generated::fetch(project.folder.path());
    let (printed, text) = project.crds(&[]);
    assert_eq!(printed, None);
    assert!(text.contains("`kube-core` 1.1.0 is locked"), "{text}");
    let (printed, text) = project.crds(&["--compile"]);
    let printed = printed.expect(&text);
    assert_eq!(versions(&printed), ["Older v1*"]);
    // As kube before 4.2 writes what is not set.
    assert_eq!(printed[0]["spec"]["names"]["shortNames"], serde_json::json!([]));
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn a_patched_kube_6_is_compiled_and_its_output_used() {
    let code = [HEAD, &kind("Newer", OUTSIDE), FUNCTION].concat();
    let project = Project::new(&[("src/lib.rs", &code)]);
    support::generated::fetch(&support::home().join("tests/schemas"));
    let mut lock: toml_edit::DocumentMut = project.text("Cargo.lock").parse().unwrap();
    let mut patch = String::from("\n[patch.crates-io]\n");
    for name in ["kube", "kube-core", "kube-derive"] {
        copy(name, &project);
        patch += &format!("{name} = {{ path = \"{name}\" }}\n");
        let packages = lock["package"].as_array_of_tables_mut().unwrap();
        let package = packages.iter_mut().find(|it| it["name"].as_str() == Some(name)).unwrap();
        package.remove("source");
        package.remove("checksum");
        package.insert("version", toml_edit::value("6.0.0"));
    }
    project.edit("Cargo.toml", "kube = { version = \"5\"", "kube = { version = \"6\"");
    project.put("Cargo.toml", &(project.text("Cargo.toml") + &patch));
    project.put("Cargo.lock", &lock.to_string());
    let (printed, text) = project.crds(&[]);
    assert_eq!(printed, None);
    assert!(text.contains("`kube-core`"), "{text}");
    let (printed, text) = project.crds(&["--compile"]);
    assert_eq!(versions(&printed.expect(&text)), ["Newer v1*"]);
}

/// Copies a crate out of cargo's sources, and has it call itself 6.0.0.
fn copy(name: &str, project: &Project) {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| PathBuf::from(env::var_os("HOME").unwrap()).join(".cargo"));
    let registries = fs::read_dir(home.join("registry/src")).unwrap();
    let folders = registries.map(|it| it.unwrap().path().join(format!("{name}-5.0.0")));
    let folder = { folders }.find(|it| it.is_dir()).expect("cargo has fetched it");
    support::put(&support::tree(&folder), &project.at(name));
    let mut manifest: toml::Table = project.text(&format!("{name}/Cargo.toml")).parse().unwrap();
    manifest["package"]["version"] = "6.0.0".into();
    for other in ["kube-core", "kube-derive"] {
        if let Some(Value::Table(it)) = manifest["dependencies"].get_mut(other) {
            it.insert("version".to_owned(), "=6.0.0".into());
        }
    }
    manifest.remove("dev-dependencies");
    project.put(&format!("{name}/Cargo.toml"), &manifest.to_string());
}
