//! The error if no kind is declared.

use super::GeneratedCrds;
use crate::{
    app::cargo::{feature_flags::off_features, tree_sources::TreeSources},
    disk::Root,
    source::{Options, Reading},
};
use diagnostics::Hint as _;

/// Says where the command searched for kinds, and which flags would find some.
pub fn refuse(root: &Root, reading: &Reading, options: &Options) -> anyhow::Result<GeneratedCrds> {
    let packages = match &options.packages[..] {
        [] => &reading.members,
        packages => packages,
    };
    let packages = packages.join(", ");
    let features: Vec<String> =
        off_features(&TreeSources::new(root), reading, options).into_iter().collect();
    if let Some((first, others)) = features.split_first() {
        let error =
            anyhow::format_err!("every kind of {packages} is behind a feature that is not enabled");
        return Err(error).hint(match others {
            [] => format!("enable it with `--features {first}`"),
            others => format!(
                "`--features {first}` enables one; other kinds are behind `{}`",
                others.join("`, `")
            ),
        });
    }
    let hint = if options.examples {
        "kinds are structs with `#[derive(CustomResource)]`; select their package with `--manifest-path` or `-p`"
    } else {
        "kinds are structs with `#[derive(CustomResource)]`; select their package with `--manifest-path` or `-p`, or add `--examples` to include example targets"
    };
    Err(anyhow::format_err!("no kind is declared in {packages}")).hint(hint)
}
