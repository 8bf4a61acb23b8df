//! The features of cargo packages that a command reads them with.

use crate::source::{Options, Reading};
use diagnostics::Hint as _;

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
    /// What to read of a workspace: all of it, with these features.
    pub fn options(&self) -> Options {
        Options {
            features: self.features.clone(),
            all_features: self.all_features,
            no_default_features: self.no_default_features,
            ..Options::default()
        }
    }

    /// The flags that are given, with their values.
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
