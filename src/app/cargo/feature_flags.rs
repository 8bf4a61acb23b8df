//! The features of cargo packages that a command reads them with.

use std::collections::BTreeSet;

use crate::project::{SourcePath, below};
use crate::source::{self, Options, Reading, Sources};
use crate::terminal;
use diagnostics::{Diagnostic, Hint as _};

#[derive(Clone, Debug, Default, clap::Args)]
pub struct FeatureFlags {
    /// Features to enable, separated by commas. Features of dependencies are unified over the selected packages, as
    /// `cargo build --workspace` does
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    features: Vec<String>,
    /// Enable all features
    #[arg(long)]
    all_features: bool,
    /// Disable the default features
    #[arg(long)]
    no_default_features: bool,
}

impl FeatureFlags {
    /// Returns what to read of a workspace: all of it, with these features.
    pub fn options(&self) -> Options {
        Options {
            features: self.features.clone(),
            all_features: self.all_features,
            no_default_features: self.no_default_features,
            ..Options::default()
        }
    }

    /// Returns the flags that are given, with their values.
    pub fn given(&self) -> Vec<(&'static str, Option<String>)> {
        let features = self.features.iter().map(|name| ("--features", Some(name.clone())));
        let switches = [
            (self.all_features, "--all-features"),
            (self.no_default_features, "--no-default-features"),
        ];
        let switches = switches.into_iter().filter(|(given, _)| *given);
        features.chain(switches.map(|(_, flag)| (flag, None))).collect()
    }
}

/// Refuses features that no package has.
pub fn require_known(reading: &Reading) -> anyhow::Result<()> {
    if reading.unknown_features.is_empty() {
        return Ok(());
    }
    let list = reading.unknown_features.join("`, `");
    Err(anyhow::format_err!("no package here has the feature `{list}`"))
        .hint("name a feature of a package as `package/feature`, or choose it with `-p`")
}

/// Returns the features that are off, for each group of kinds that needs the same.
pub fn off_features(
    sources: &dyn Sources,
    reading: &Reading,
    options: &Options,
) -> BTreeSet<String> {
    let on: BTreeSet<&String> = reading.crates.iter().flat_map(|krate| &krate.features).collect();
    let all = Options { all_features: true, ..options.clone() };
    let off = source::features_of_kinds(sources, &all).into_iter().map(|mut needed| {
        needed.retain(|feature| !on.contains(feature));
        needed.into_iter().collect::<Vec<_>>().join(",")
    });
    off.filter(|features| !features.is_empty()).collect()
}

/// Says of which features kinds are left out, because these are off. Source that declares no feature is not read again.
pub fn note_off_features(label: &str, sources: &dyn Sources, reading: &Reading, options: &Options) {
    let declares_features = |folder: &String| {
        let path = below(folder, "Cargo.toml").parse::<SourcePath>().ok();
        let text = path.and_then(|path| sources.text(&path).ok().flatten());
        text.is_some_and(|text| text.contains("features]"))
    };
    if options.all_features || !reading.crates.iter().any(|krate| declares_features(&krate.folder))
    {
        return;
    }
    let off = off_features(sources, reading, options);
    if !off.is_empty() {
        let list: Vec<String> = off.iter().map(|name| format!("`--features {name}`")).collect();
        let message = format!("{label} has kinds behind features that are not enabled");
        let hint = format!("compare these kinds, too, with {}", list.join(" or "));
        terminal::warn(Diagnostic::from(message).with_hint(hint).into_note());
    }
}
