//! Charts that `generate chart` has written.

use crate::plan;
use model::{ProjectPath, Tree};

/// The command in the first lines of their files.
pub const BY: &str = "generate chart";
/// Their directory, unless another one is given.
pub const FOLDER: &str = "chart";

/// Returns whether `generate chart` has written the chart in a directory.
pub fn is_generated(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<bool> {
    let manager = folder.join("files/manager.yaml")?;
    Ok(tree.read(&manager)?.is_some_and(|text| plan::is_generated_by(&manager, &text, BY)))
}
