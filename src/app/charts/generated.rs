//! Charts that `generate chart` has written.

use super::{Chart, Finding, Rule};
use crate::plan;
use model::{ProjectPath, Tree};

/// The command in the first lines of their files.
pub const BY: &str = "generate chart";
/// Their directory, unless another one is given.
pub const FOLDER: &str = "chart";

/// The file that every chart of the command has.
const MANAGER: &str = "files/manager.yaml";

/// Replaces the remedy of a finding that generating the chart again corrects, as its files are not the user's.
pub fn with_remedy(chart: &Chart, finding: Finding) -> Finding {
    let rules = [Rule::CrdMissing, Rule::CrdDiffers, Rule::RightMissing];
    let path = ProjectPath::fixed(MANAGER);
    let is_generated =
        chart.text(MANAGER).is_some_and(|text| plan::is_generated_by(&path, text, BY));
    if is_generated && rules.iter().any(|rule| rule.id() == finding.rule) {
        return Finding { remedy: format!("run `operator-rs {BY}`"), ..finding };
    }
    finding
}

/// Returns whether `generate chart` has written the chart in a directory.
pub fn is_generated(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<bool> {
    let manager = folder.join(MANAGER)?;
    Ok(tree.read_text(&manager)?.is_some_and(|text| plan::is_generated_by(&manager, &text, BY)))
}
