//! The sample of a version that is a copy of another one.

use super::place::ApiLocation;
use model::{ProjectPath, Tree, Version};

/// Returns the sample of the new version: that of the other one, under another name.
pub fn copied_sample(
    tree: &impl Tree,
    place: &ApiLocation,
    from: Version,
) -> anyhow::Result<Option<(ProjectPath, String)>> {
    let lower = place.kind.to_lowercase();
    let path = |version: Version| -> anyhow::Result<ProjectPath> {
        Ok(format!("config/samples/{}_{version}_{lower}.yaml", place.group).parse()?)
    };
    let Some(text) = tree.read_text(&path(from)?)? else { return Ok(None) };
    let version = place.version;
    let mut is_renamed = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let bare = line.trim_end();
        let end = &line[bare.len()..];
        match bare {
            _ if bare.starts_with("apiVersion: ") && bare.ends_with(&format!("/{from}")) => {
                is_renamed = true;
                format!("{}/{version}{end}", &bare[..bare.len() - format!("/{from}").len()])
            }
            _ if bare.starts_with("  name: ") => format!("  name: {lower}-{version}-sample{end}"),
            _ => line.to_owned(),
        }
    });
    let sample: String = lines.collect();
    Ok(is_renamed.then_some((path(version)?, sample)))
}
