//! The files of a version that is a copy of another one.

use crate::app::api::{place::Place, sample::copied_sample};
use crate::project::Operator;
use crate::source::conversion::{self, Side};
use model::{ProjectPath, Tree};

/// The files that `create api --from` writes for a version in `file`: copies of those of the other versions.
pub fn copies(
    tree: &impl Tree,
    source: &Operator,
    place: &Place,
    group: &str,
    file: &ProjectPath,
) -> anyhow::Result<Vec<(ProjectPath, String)>> {
    let (kind, version) = (place.kind.to_string(), place.version.to_string());
    let mut res = Vec::new();
    for it in &source.kinds {
        let is_kind = it.group.as_deref() == Some(group) && it.kind.as_deref() == Some(&*kind);
        if !is_kind || it.version.as_ref() == Some(&version) {
            continue;
        }
        let text = tree.read(&it.place.path.as_str().parse()?)?.unwrap_or_default();
        let side = Side { module: it.version.as_deref().unwrap_or_default(), text: &text };
        let copy = conversion::copy(&side, &place.group.module(), &kind, &version).ok();
        res.extend(copy.map(|it| (file.clone(), it)));
    }
    for other in &place.other_versions {
        res.extend(copied_sample(tree, place, other.version)?);
    }
    Ok(res)
}
