//! Keys of a kustomization without a value, as a person leaves them behind, and as an edit does that removes the last
//! item of a list.

use super::{compare, support};
use std::fs;

const KEYS: &[&str] = &[
    "bases",
    "buildMetadata",
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "configurations",
    "crds",
    "generatorOptions",
    "generators",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "imageTags",
    "images",
    "labels",
    "metadata",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "openapi",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "resources",
    "secretGenerator",
    "sortOptions",
    "transformers",
    "validators",
    "vars",
];

#[test]
fn a_key_without_a_value_is_rendered_or_refused_as_by_kustomize() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let mut wrong = Vec::new();
    for key in KEYS {
        for value in ["", " []", " {}", " # nothing"] {
            for (name, others) in [("alone", ""), ("beside", "nameSuffix: -b\nbases: [base]\n")] {
                let others: String = others
                    .lines()
                    .filter(|it| !it.starts_with(key))
                    .map(|it| format!("{it}\n"))
                    .collect();
                let dir = support::fresh("kustomize-empty-keys/refused-by-both-or-not");
                fs::create_dir(dir.join("base")).unwrap();
                fs::write(dir.join("base/kustomization.yaml"), "resources: [a.yaml]\n").unwrap();
                fs::write(dir.join("base/a.yaml"), object).unwrap();
                fs::write(dir.join("kustomization.yaml"), format!("{others}{key}:{value}\n"))
                    .unwrap();
                let difference = compare(&kustomize, &dir);
                wrong.extend(difference.map(|it| format!("{key}:{value} {name}: {it}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
