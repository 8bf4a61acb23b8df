//! The files of a version that is a copy of another one.

use crate::app::scaffolding::api::{place::ApiLocation, sample::copied_sample};
use crate::project::Operator;
use crate::source::conversion::{self, VersionSource};
use model::{ProjectPath, Tree};

/// The files that `create api --from` writes for a version in `file`: copies of those of the other versions.
pub fn collect_copies(
    tree: &impl Tree,
    source: &Operator,
    place: &ApiLocation,
    group: &str,
    file: &ProjectPath,
) -> anyhow::Result<Vec<(ProjectPath, String)>> {
    let (kind, version) = (place.kind.to_string(), place.version.to_string());
    let mut copies = Vec::new();
    for declared in &source.kinds {
        let is_kind =
            declared.group.as_deref() == Some(group) && declared.kind.as_deref() == Some(&*kind);
        if !is_kind || declared.version.as_ref() == Some(&version) {
            continue;
        }
        let text = tree.read_text(&declared.place.path.as_str().parse()?)?.unwrap_or_default();
        let side =
            VersionSource { module: declared.version.as_deref().unwrap_or_default(), text: &text };
        let copy =
            conversion::copy_version(&side, &place.group.module_name(), &kind, &version).ok();
        copies.extend(copy.map(|text| (file.clone(), text)));
    }
    for other in &place.other_versions {
        copies.extend(copied_sample(tree, place, other.version)?);
    }
    Ok(copies)
}
