//! The entry of a bundle in a channel: what it replaces and skips.

use super::CatalogAddition;
use diagnostics::Hint as _;
use olm::catalog::{
    self, Bundle, Catalog,
    blob::{self, Entry},
};

impl CatalogAddition {
    /// The entry of the bundle in a channel. What neither the flags nor the bundle say stays as it is in the channel.
    pub(super) fn build_entry(
        &self,
        bundle: &Bundle,
        channel: Option<&blob::ChannelBlob>,
        catalog: &Catalog,
    ) -> anyhow::Result<Entry> {
        let entries = channel.map(blob::ChannelBlob::entries).unwrap_or_default();
        let existing = entries.iter().find(|entry| entry.name == bundle.name);
        let new = Entry { name: bundle.name.clone(), ..Entry::default() };
        let mut entry = existing.cloned().unwrap_or(new);
        let skips = if self.skips.is_empty() { bundle.skips() } else { &self.skips };
        if !skips.is_empty() {
            entry.skips = skips.to_vec();
        }
        if let Some(range) = flag_or_bundle_value(self.skip_range.as_deref(), bundle.skip_range()) {
            range.clone_into(&mut entry.skip_range);
        }
        if let (Some(channel), None, Some(replaced)) = (channel, existing, &self.replaces)
            && !entries.iter().any(|entry| entry.name == *replaced)
            && let heads = catalog::graph::heads(entries, skips)
            && !heads.is_empty()
        {
            let heads: Vec<String> = heads.iter().map(|head| format!("`{head}`")).collect();
            let message = format!("the channel `{}` has no entry `{replaced}`", channel.name);
            return Err(anyhow::Error::msg(message))
                .hint(format!("replace the channel's head: {}", heads.join(", ")));
        }
        if let Some(replaces) = flag_or_bundle_value(self.replaces.as_deref(), bundle.replaces()) {
            replaces.clone_into(&mut entry.replaces);
        } else if existing.is_none() {
            entry.replaces = find_head(bundle, entries, skips, catalog)?;
        }
        Ok(entry)
    }

    /// Returns whether the channel has the entry. An entry with other edges is refused.
    pub(super) fn has_entry(
        &self,
        channel: &blob::ChannelBlob,
        entry: &Entry,
    ) -> anyhow::Result<bool> {
        match channel.entries().iter().find(|existing| existing.name == entry.name) {
            None => Ok(false),
            Some(existing) if existing == entry => Ok(true),
            Some(_) => Err(anyhow::format_err!(
                "the channel `{}` already has the entry `{}`, with other upgrades",
                channel.name,
                entry.name
            ))
            .hint(format!(
                "write the entry as {}, or change the flags or the ClusterServiceVersion",
                entry.to_value()
            )),
        }
    }
}

/// The value of a flag, or else that of the bundle.
fn flag_or_bundle_value<'a>(flag: Option<&'a str>, own: &'a str) -> Option<&'a str> {
    flag.or(Some(own).filter(|value| !value.is_empty()))
}

/// The head of the channel, which a bundle replaces by default; empty if the channel is new.
fn find_head(
    bundle: &Bundle,
    entries: &[Entry],
    skips: &[String],
    catalog: &Catalog,
) -> anyhow::Result<String> {
    match catalog::graph::heads(entries, skips)[..] {
        [] => Ok(String::new()),
        [head] => {
            require_newer(bundle, head, catalog)?;
            Ok(head.to_owned())
        }
        ref heads => {
            Err(anyhow::format_err!("the channel has several heads: {}", heads.join(", ")))
                .hint("name the bundle that this one replaces with `--replaces`")
        }
    }
}

/// An older version must not replace a newer one without being asked to.
fn require_newer(bundle: &Bundle, head: &str, catalog: &Catalog) -> anyhow::Result<()> {
    let found = catalog
        .bundles
        .iter()
        .find(|other| other.blob.package == bundle.package && other.blob.name == head);
    let Some(found) = found else { return Ok(()) };
    if catalog::graph::is_newer(&found.blob, &bundle.version) {
        return Err(anyhow::format_err!(
            "`{head}` is the head of the channel, and newer than `{}`",
            bundle.name
        ))
        .hint("name the bundle that this one replaces with `--replaces`");
    }
    Ok(())
}
