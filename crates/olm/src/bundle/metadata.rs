//! Files of `config/manifests/metadata` that are copied into the bundle.

use std::collections::BTreeMap;

use super::Refusals;
use model::ProjectPath;

pub fn taken_over(
    files: &BTreeMap<String, String>,
    refusals: &mut Refusals,
) -> BTreeMap<ProjectPath, String> {
    let mut res = BTreeMap::new();
    for (name, text) in files {
        match name.as_str() {
            // Its entries are merged with the generated ones.
            "annotations.yaml" => {}
            "dependencies.yaml" | "properties.yaml" => {
                res.insert(ProjectPath::fixed(&format!("metadata/{name}")), text.clone());
            }
            _ => refusals.push(
                format!("config/manifests/metadata/{name}: bundle metadata cannot contain this file"),
                "only annotations.yaml, dependencies.yaml and properties.yaml are copied into the bundle; move the file elsewhere",
            ),
        }
    }
    res
}
