//! Bundles for tests: that of the Memcached example under another name, so that tests share a cluster.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::support;

pub struct Bundle {
    pub dir: PathBuf,
    name: String,
    files: BTreeMap<String, String>,
}

impl Bundle {
    /// The operator `NAME-operator`, with the group `NAME.example.com`, in version 0.0.1.
    pub fn new(dir: &Path, name: &str) -> Self {
        let tree = support::tree(&support::home().join("examples/memcached-operator/bundle"));
        let rename = |it: &str| {
            it.replace("memcached-operator", &format!("{name}-operator"))
                .replace("cache.example.com", &format!("{name}.example.com"))
        };
        let files = tree.into_iter().filter(|it| !it.0.starts_with("tests"));
        let files =
            files.map(|(path, bytes)| (rename(&path), rename(&String::from_utf8(bytes).unwrap())));
        let res = Self {
            dir: dir.join(format!("{name}-0.0.1")),
            name: name.into(),
            files: files.collect(),
        };
        res.write();
        res
    }

    /// That of a project, in its folder, for the operator `NAME-operator`.
    pub fn read(dir: &Path, name: &str) -> Self {
        let files = support::tree(dir).into_iter().filter(|it| !it.0.starts_with("tests"));
        let files = files.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap()));
        Self { dir: dir.into(), name: name.into(), files: files.collect() }
    }

    /// The next version.
    pub fn next(&self) -> Self {
        let mut files = self.files.clone();
        let csv = files.get_mut(&self.csv()).unwrap();
        *csv =
            csv.replace(".v0.0.1", ".v0.0.2").replace("\n  version: 0.0.1", "\n  version: 0.0.2");
        *csv = csv.replace("-operator:v0.0.1", "-operator:v0.0.2");
        let res = Self {
            dir: self.dir.with_file_name(format!("{}-0.0.2", self.name)),
            name: self.name.clone(),
            files,
        };
        res.write();
        res
    }

    fn csv(&self) -> String {
        format!("manifests/{}-operator.clusterserviceversion.yaml", self.name)
    }

    /// With another text in its ClusterServiceVersion.
    pub fn replacing(mut self, from: &str, to: &str) -> Self {
        let csv = self.files.get_mut(&self.csv()).unwrap();
        assert!(csv.contains(from), "{from}");
        *csv = csv.replace(from, to);
        self.write();
        self
    }

    /// The text of one of its files.
    pub fn text(&self, path: &str) -> &str {
        &self.files[path]
    }

    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.into());
        self.write();
        self
    }

    fn write(&self) {
        let _ = fs::remove_dir_all(&self.dir);
        let files = self.files.iter().map(|it| (it.0.clone(), it.1.clone().into_bytes()));
        support::put(&files.collect(), &self.dir);
    }

    /// A catalog of these bundles beside the first, each of which replaces the one before.
    pub fn catalog(all: &[&Self], properties: Value) -> PathBuf {
        let (mut entries, mut blobs, mut last) = (Vec::new(), Vec::new(), String::new());
        let package = format!("{}-operator", all[0].name);
        for it in all {
            let objects = it.files.iter().filter(|it| it.0.starts_with("manifests/"));
            let objects: Vec<Value> =
                objects.map(|it| serde_yaml::from_str(it.1).unwrap()).collect();
            let csv = objects.iter().find(|it| it["kind"] == "ClusterServiceVersion").unwrap();
            let (name, version) = (&csv["metadata"]["name"], &csv["spec"]["version"]);
            let mut list = vec![
                json!({"type": "olm.package", "value": {"packageName": package, "version": version}}),
            ];
            for crd in objects.iter().filter(|it| it["kind"] == "CustomResourceDefinition") {
                for version in crd["spec"]["versions"].as_array().unwrap() {
                    let value = json!({"group": crd["spec"]["group"], "kind": crd["spec"]["names"]["kind"], "version": version["name"]});
                    list.push(json!({"type": "olm.gvk", "value": value}));
                }
            }
            list.extend(properties.as_array().into_iter().flatten().cloned());
            for object in &objects {
                let data = BASE64_STANDARD.encode(object.to_string());
                list.push(json!({"type": "olm.bundle.object", "value": {"data": data}}));
            }
            entries.push(match last.as_str() {
                "" => json!({"name": name}),
                last => json!({"name": name, "replaces": last}),
            });
            name.as_str().unwrap().clone_into(&mut last);
            blobs.push(json!({"schema": "olm.bundle", "name": name, "package": package, "image": "", "properties": list}));
        }
        blobs.push(json!({"schema": "olm.package", "name": package, "defaultChannel": "alpha"}));
        blobs.push(json!({"schema": "olm.channel", "name": "alpha", "package": package, "entries": entries}));
        let folder = all[0].dir.with_extension("catalog");
        let text: String = blobs.iter().map(ToString::to_string).collect();
        support::put(&BTreeMap::from([("catalog.json".to_owned(), text.into_bytes())]), &folder);
        folder
    }
}
