//! The bundle that is to be installed.

use std::path::Path;

use crate::{
    app::images::{
        RegistryAccess,
        bundles::{self, source},
    },
    terminal,
};
use diagnostics::{Diagnostics, Hint as _};
use olm::{
    bundle::validate::rules::Target,
    lifecycle::{Files, Release},
};

/// Reads a bundle, which must be valid: in a directory, in an archive of an image, or in a registry.
pub fn read(dir: &Path, bundle: &str, access: &RegistryAccess) -> anyhow::Result<(Files, Release)> {
    let (files, name) = source::read(dir, bundle, access)?;
    let release = read_release(&name, &files, None)?;
    Ok((files, release))
}

/// Reads the release of a bundle, which must be valid for this version of OLM.
pub fn read_release(name: &str, files: &Files, target: Option<Target>) -> anyhow::Result<Release> {
    let (errors, warnings) = bundles::found_for(name, files, target)?;
    if !errors.is_empty() {
        let headline = "the bundle is not valid, and OLM would not install it".to_owned();
        let target = if target == Some(Target::Olmv1) { " --target olmv1" } else { "" };
        return Err(Diagnostics { headline, list: errors }.into()).hint(format!(
            "`operator-rs bundle validate{target}` shows these errors and how to fix them"
        ));
    }
    terminal::warn_all(warnings);
    Release::read(name, files)
}
