//! `operator-rs bundle validate`

use std::collections::BTreeMap;

use crate::{
    bundle::validate::{Severity, validate},
    disk::Root,
    hint::Hint as _,
    model::ProjectPath,
    plan::Tree as _,
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
        let mut files = BTreeMap::new();
        for path in root.list(&folder)? {
            if let Some(text) = root.read(&path)? {
                files.insert(path.as_str()[folder.as_str().len() + 1..].parse()?, text);
            }
        }
        if files.is_empty() {
            return Err(anyhow::format_err!("there is no bundle in `{folder}`"))
                .hint("make one first: `operator-rs bundle`");
        }
        let findings = validate(&files);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|it| it.severity == Severity::Error);
        warnings.iter().for_each(|it| terminal::warn(&format!("{folder}/{it}")));
        if errors.is_empty() {
            return Ok(format!("{folder} is valid\n"));
        }
        let list: String = errors.iter().map(|it| format!("\n  {folder}/{it}")).collect();
        Err(anyhow::format_err!("{folder} is not valid:{list}"))
    }
}
