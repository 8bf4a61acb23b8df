//! `operator-rs bundle validate`

use std::collections::BTreeMap;

use crate::{
    bundle::validate::{Severity, validate},
    disk::Root,
    hint::Hint as _,
    model::ProjectPath,
    plan::Tree,
    terminal,
};

/// Check a bundle as `operator-sdk bundle validate` does
#[derive(clap::Args)]
pub struct Args {
    /// The bundle's folder
    #[arg(value_name = "FOLDER", default_value = "bundle")]
    folder: ProjectPath,
}

impl Args {
    pub fn report(self, root: &Root) -> anyhow::Result<String> {
        let folder = self.folder;
        if root.list(&folder)?.is_empty() {
            return Err(anyhow::format_err!("there is no bundle in `{folder}`"))
                .hint("make one first: `operator-rs bundle`");
        }
        let (errors, warnings) = findings(root, &folder)?;
        warnings.iter().for_each(|it| terminal::warn(it));
        if errors.is_empty() {
            return Ok(format!("{folder} is valid\n"));
        }
        let list: String = errors.iter().map(|it| format!("\n  {it}")).collect();
        Err(anyhow::format_err!("{folder} is not valid:{list}"))
    }
}

/// Errors and warnings of all that is in the bundle's folder.
pub fn findings(
    tree: &impl Tree,
    folder: &ProjectPath,
) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let mut files = BTreeMap::new();
    for path in tree.list(folder)? {
        if let Some(text) = tree.read(&path)? {
            files.insert(path.as_str()[folder.as_str().len() + 1..].parse()?, text);
        }
    }
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for finding in validate(&files) {
        let list = match finding.severity {
            Severity::Error => &mut errors,
            Severity::Warning => &mut warnings,
        };
        list.push(format!("{folder}/{finding}"));
    }
    Ok((errors, warnings))
}
