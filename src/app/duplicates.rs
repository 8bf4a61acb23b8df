//! CRDs that a directory would have twice: in a file that is written, and in another one that is there.

use std::{collections::BTreeMap, path::Path};

use super::declared::BY;
use crate::{disk::Root, manifests::Manifest, plan};
use cluster::Id;
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml;
use model::{ProjectPath, Tree as _};

/// Refuses to write CRDs that other files directly in the directory have. If the CRDs are all of the project, files of the
/// same command are removed anyway.
pub fn require_none(
    folder: &Path,
    root: &Root,
    manifests: &[Manifest],
    is_whole: bool,
) -> anyhow::Result<()> {
    let shown = |name: &str| folder.join(name).display().to_string();
    let written: BTreeMap<String, &str> = manifests
        .iter()
        .flat_map(|it| it.objects.iter().map(|crd| (Id::of(crd).name, it.path.name())))
        .collect();
    let mut list = Vec::new();
    for name in root.names("")? {
        let Ok(path) = name.parse::<ProjectPath>() else { continue };
        let is_yaml = ["yaml", "yml", "json"].contains(&path.extension());
        if !is_yaml || written.values().any(|it| *it == name) {
            continue;
        }
        let Some(text) = root.read(&path)? else { continue };
        // A file that is no YAML, as a template of a chart is not, has no CRD.
        let Ok(documents) = yaml::documents(&text, yaml::Dialect::Kubernetes) else { continue };
        if is_whole && plan::is_ours(&path, &text, BY) {
            continue;
        }
        for crd in documents.iter().map(Id::of).filter(Id::is_crd) {
            if let Some(own) = written.get(&crd.name) {
                let message = format!("has {}, which would be in {} as well", crd.name, shown(own));
                list.push(Diagnostic::in_file(shown(&name), message));
            }
        }
    }
    if list.is_empty() {
        return Ok(());
    }
    let headline = "the directory would have CRDs twice, and nothing was written".to_owned();
    Err(anyhow::Error::from(Diagnostics { headline, list })).hint(
        "delete these files, or write into another directory: `operator-rs generate crds --output-dir DIR`",
    )
}
