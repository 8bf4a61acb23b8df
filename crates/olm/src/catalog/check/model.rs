//! Packages, their channels, and the members of those.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    blob, go,
    load::Located,
    version::{Identifier, Version},
};
use diagnostics::Diagnostic;

/// The packages by name.
pub struct Model<'a>(pub BTreeMap<&'a str, Package<'a>>);

pub struct Package<'a> {
    pub blob: &'a Located<blob::PackageBlob>,
    pub channels: BTreeMap<&'a str, Channel<'a>>,
    /// The message of its deprecation.
    pub deprecated: Option<&'a str>,
}

pub struct Channel<'a> {
    pub name: &'a str,
    /// `None` for a default channel that does not exist.
    pub blob: Option<&'a Located<blob::ChannelBlob>>,
    pub members: BTreeMap<&'a str, Member<'a>>,
    pub deprecated: Option<&'a str>,
}

/// An entry of a channel, and its bundle.
pub struct Member<'a> {
    pub entry: &'a blob::Entry,
    pub bundle: Option<&'a Located<blob::BundleBlob>>,
    pub version: Version,
    pub release: Vec<Identifier>,
    pub deprecated: Option<&'a str>,
}

impl Package<'_> {
    pub fn check(&self, problems: &mut Vec<Diagnostic>) {
        let name = &self.blob.blob.name;
        let fault = |problems: &mut Vec<Diagnostic>, message: &str| {
            problems
                .push(self.blob.fault(format!("package {}: {message}", go::format_quoted(name))));
        };
        if self.blob.blob.default_channel.is_empty() {
            fault(problems, "default channel must be set");
        }
        if self.channels.is_empty() {
            fault(problems, "package must contain at least one channel");
        }
        for channel in self.channels.values() {
            channel.check(self.blob, problems);
        }
        if let Some(message) = self.same_versions() {
            fault(problems, &message);
        }
        if self.deprecated == Some("") {
            fault(problems, "invalid deprecation: message must be set");
        }
    }

    /// Describes bundles that have the same version.
    fn same_versions(&self) -> Option<String> {
        let mut names: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for member in self.channels.values().flat_map(|channel| channel.members.values()) {
            names.entry(member.version_text()).or_default().insert(&member.entry.name);
        }
        let several = names.iter().filter(|entry| entry.1.len() > 1);
        let list: Vec<String> = several
            .map(|(version, names)| {
                let names: Vec<&str> = names.iter().copied().collect();
                format!("{{{version}: [{}]}}", names.join(", "))
            })
            .collect();
        (!list.is_empty())
            .then(|| format!("duplicate versions found in bundles: [{}]", list.join(" ")))
    }
}

impl Member<'_> {
    /// Formats the version, followed by the release.
    pub fn version_text(&self) -> String {
        if self.release.is_empty() {
            self.version.to_string()
        } else {
            format!("{}-{}", self.version, self.release_text())
        }
    }

    fn release_text(&self) -> String {
        self.release.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }
}
