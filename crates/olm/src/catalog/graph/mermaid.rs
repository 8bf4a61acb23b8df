//! Graphs in the format of mermaid, as `opm alpha render-graph` draws them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{
    super::{
        blob::{self, ChannelBlob},
        go::format_quoted,
        load::Catalog,
        version::{Range, Version},
    },
    bundle_versions,
};
use diagnostics::Hint as _;

/// Renders the graphs of all packages, or of the one with this name.
pub fn render_mermaid(catalog: &Catalog, package: Option<&str>) -> anyhow::Result<String> {
    let versions = bundle_versions(catalog)?;
    let mut channels: Vec<&ChannelBlob> =
        catalog.channels.iter().map(|located| &located.blob).collect();
    channels.retain(|channel| package.is_none_or(|name| channel.package == name));
    channels.sort_by(|one, other| one.name.cmp(&other.name));
    let mut deprecated: BTreeSet<(&str, &str)> = BTreeSet::new();
    for deprecations in &catalog.deprecations {
        for entry in deprecations.blob.entries.iter().flatten() {
            let name = if entry.schema == blob::PACKAGE {
                &deprecations.blob.package
            } else {
                &entry.name
            };
            deprecated.insert((&entry.schema, name));
        }
    }
    let mut drawing = MermaidDrawing { versions, deprecated, ..MermaidDrawing::default() };
    let mut packages: BTreeMap<&str, String> = BTreeMap::new();
    for channel in channels {
        drawing.draw_channel(channel, packages.entry(&channel.package).or_default())?;
    }
    let mut graph = String::from(HEAD);
    for (name, text) in &packages {
        // Names that mermaid would read as its own syntax were refused before.
        let _ =
            write!(graph, "  %% package {0}\n  subgraph {0}\n{text}  end\n", format_quoted(name));
    }
    let last = packages.keys().rfind(|name| drawing.deprecated.contains(&(blob::PACKAGE, **name)));
    if let Some(name) = last {
        let _ = writeln!(graph, "style {name} fill:#989695");
    }
    for channel in &drawing.deprecated_channels {
        let _ = writeln!(graph, "style {channel} fill:#DCD0FF");
    }
    if !drawing.deprecated_bundles.is_empty() {
        drawing.deprecated_bundles.sort();
        let _ = writeln!(graph, "class {} deprecated", drawing.deprecated_bundles.join(","));
    }
    Ok(graph)
}

const HEAD: &str = "graph LR
  classDef deprecated fill:#E8960F
  classDef skipped stroke:#FF0000,stroke-width:4px
  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px
";

#[derive(Default)]
struct MermaidDrawing<'a> {
    versions: BTreeMap<&'a str, Version>,
    /// Schema and name.
    deprecated: BTreeSet<(&'a str, &'a str)>,
    deprecated_channels: Vec<String>,
    deprecated_bundles: Vec<String>,
}

impl MermaidDrawing<'_> {
    fn draw_channel(&mut self, channel: &ChannelBlob, graph: &mut String) -> anyhow::Result<()> {
        let names = channel
            .entries()
            .iter()
            .flat_map(|entry| [&entry.name, &entry.replaces].into_iter().chain(&entry.skips));
        for name in names.chain([&channel.name, &channel.package]) {
            require_plain(name)?;
        }
        let id = format!("{}-{}", channel.package, channel.name);
        let _ = write!(
            graph,
            "    %% channel {0}\n    subgraph {id}[{0}]\n",
            format_quoted(&channel.name)
        );
        if self.deprecated.contains(&(blob::CHANNEL, &channel.name)) {
            self.deprecated_channels.push(id.clone());
        }
        let node = |name: &str| format!("{id}-{name}[{}]", format_quoted(name));
        let zero = Version::default();
        let version = |name: &str| self.versions.get(name).unwrap_or(&zero);
        let mut sorted: Vec<_> = channel.entries().iter().collect();
        sorted.sort_by(|one, other| version(&other.name).compare_precedence(version(&one.name)));
        for entry in sorted {
            let to = node(&entry.name);
            let _ = writeln!(graph, "      {to}");
            if self.deprecated.contains(&(blob::BUNDLE, &entry.name)) {
                self.deprecated_bundles.push(format!("{id}-{}", entry.name));
            }
            for skip in &entry.skips {
                let _ = writeln!(graph, "      {}-- skip --> {to}", node(skip));
            }
            // An invalid range is left out: `catalog validate` reports it.
            if let Some(range) = Range::parse(&entry.skip_range) {
                let inside = channel
                    .entries()
                    .iter()
                    .filter(|entry| range.contains_version(version(&entry.name)));
                for lower in inside {
                    let from = node(&lower.name);
                    let _ = writeln!(
                        graph,
                        "      {from}-- \"skipRange({})\" --> {to}",
                        entry.skip_range
                    );
                }
            }
            if !entry.replaces.is_empty() {
                let _ = writeln!(graph, "      {}-- replace --> {to}", node(&entry.replaces));
            }
        }
        graph.push_str("    end\n");
        Ok(())
    }
}

/// Refuses names with special characters, because names are also written without quotes.
fn require_plain(name: &str) -> anyhow::Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+".contains(letter);
    if name.chars().all(is_plain) {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "the name {} cannot be drawn: mermaid would read a part of it as its own syntax",
        format_quoted(name)
    ))
    .hint("names of packages, channels and bundles have letters, digits, `.`, `_`, `-` and `+`")
}
