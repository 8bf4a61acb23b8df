//! Graphs in the format of mermaid, as `opm alpha render-graph` draws them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{
    super::{
        blob::{self, Channel},
        go::quoted,
        load::Catalog,
        version::{Range, Version},
    },
    versions,
};
use diagnostics::Hint as _;

/// The graphs of all packages, or of the one with this name.
pub fn mermaid(catalog: &Catalog, package: Option<&str>) -> anyhow::Result<String> {
    let versions = versions(catalog)?;
    let mut channels: Vec<&Channel> = catalog.channels.iter().map(|it| &it.blob).collect();
    channels.retain(|it| package.is_none_or(|name| it.package == name));
    channels.sort_by(|one, other| one.name.cmp(&other.name));
    let mut deprecated: BTreeSet<(&str, &str)> = BTreeSet::new();
    for it in &catalog.deprecations {
        for entry in it.blob.entries.iter().flatten() {
            let name = if entry.schema == blob::PACKAGE { &it.blob.package } else { &entry.name };
            deprecated.insert((&entry.schema, name));
        }
    }
    let mut drawing = Drawing { versions, deprecated, ..Drawing::default() };
    let mut packages: BTreeMap<&str, String> = BTreeMap::new();
    for channel in channels {
        drawing.channel(channel, packages.entry(&channel.package).or_default())?;
    }
    let mut res = String::from(HEAD);
    for (name, text) in &packages {
        // A name that mermaid would read as its own syntax was refused.
        let _ = write!(res, "  %% package {0}\n  subgraph {0}\n{text}  end\n", quoted(name));
    }
    let last = packages.keys().rfind(|it| drawing.deprecated.contains(&(blob::PACKAGE, **it)));
    if let Some(name) = last {
        let _ = writeln!(res, "style {name} fill:#989695");
    }
    for channel in &drawing.deprecated_channels {
        let _ = writeln!(res, "style {channel} fill:#DCD0FF");
    }
    if !drawing.deprecated_bundles.is_empty() {
        drawing.deprecated_bundles.sort();
        let _ = writeln!(res, "class {} deprecated", drawing.deprecated_bundles.join(","));
    }
    Ok(res)
}

const HEAD: &str = "graph LR
  classDef deprecated fill:#E8960F
  classDef skipped stroke:#FF0000,stroke-width:4px
  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px
";

#[derive(Default)]
struct Drawing<'a> {
    versions: BTreeMap<&'a str, Version>,
    /// Schema and name.
    deprecated: BTreeSet<(&'a str, &'a str)>,
    deprecated_channels: Vec<String>,
    deprecated_bundles: Vec<String>,
}

impl Drawing<'_> {
    fn channel(&mut self, channel: &Channel, res: &mut String) -> anyhow::Result<()> {
        let names = channel
            .entries()
            .iter()
            .flat_map(|it| [&it.name, &it.replaces].into_iter().chain(&it.skips));
        for name in names.chain([&channel.name, &channel.package]) {
            require_plain(name)?;
        }
        let id = format!("{}-{}", channel.package, channel.name);
        let _ = write!(res, "    %% channel {0}\n    subgraph {id}[{0}]\n", quoted(&channel.name));
        if self.deprecated.contains(&(blob::CHANNEL, &channel.name)) {
            self.deprecated_channels.push(id.clone());
        }
        let node = |name: &str| format!("{id}-{name}[{}]", quoted(name));
        let zero = Version::default();
        let version = |name: &str| self.versions.get(name).unwrap_or(&zero);
        let mut sorted: Vec<_> = channel.entries().iter().collect();
        sorted.sort_by(|one, other| version(&other.name).compare(version(&one.name)));
        for entry in sorted {
            let to = node(&entry.name);
            let _ = writeln!(res, "      {to}");
            if self.deprecated.contains(&(blob::BUNDLE, &entry.name)) {
                self.deprecated_bundles.push(format!("{id}-{}", entry.name));
            }
            for skip in &entry.skips {
                let _ = writeln!(res, "      {}-- skip --> {to}", node(skip));
            }
            // One that cannot be read is left out, as `catalog validate` reports it.
            if let Some(range) = Range::parse(&entry.skip_range) {
                let inside = channel.entries().iter().filter(|it| range.has(version(&it.name)));
                for it in inside {
                    let from = node(&it.name);
                    let _ = writeln!(
                        res,
                        "      {from}-- \"skipRange({})\" --> {to}",
                        entry.skip_range
                    );
                }
            }
            if !entry.replaces.is_empty() {
                let _ = writeln!(res, "      {}-- replace --> {to}", node(&entry.replaces));
            }
        }
        res.push_str("    end\n");
        Ok(())
    }
}

/// Names are written without quotes, too.
fn require_plain(name: &str) -> anyhow::Result<()> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-+".contains(it);
    if name.chars().all(is_plain) {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "the name {} cannot be drawn: mermaid would read a part of it as its own syntax",
        quoted(name)
    ))
    .hint("names of packages, channels and bundles have letters, digits, `.`, `_`, `-` and `+`")
}
