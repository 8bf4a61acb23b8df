//! Files of `config/manifests/metadata` that are copied into the bundle.

use std::collections::BTreeMap;

use super::Refusals;
use model::ProjectPath;

pub fn copied_files(
    files: &BTreeMap<String, String>,
    refusals: &mut Refusals,
) -> BTreeMap<ProjectPath, String> {
    let mut copied = BTreeMap::new();
    for (name, text) in files {
        match name.as_str() {
            // Its entries are merged with the generated ones.
            "annotations.yaml" => {}
            "dependencies.yaml" | "properties.yaml" => {
                copied.insert(ProjectPath::fixed(&format!("metadata/{name}")), text.clone());
            }
            _ => refusals.push(
                format!("config/manifests/metadata/{name}: bundle metadata cannot contain this file"),
                "only annotations.yaml, dependencies.yaml and properties.yaml are copied into the bundle; move the file elsewhere",
            ),
        }
    }
    copied
}
