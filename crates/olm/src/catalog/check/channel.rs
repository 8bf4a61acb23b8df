//! The graph of upgrades of a channel: one head, from which `replaces` leads to every bundle that is not skipped.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{blob, go, graph::correction_hint, load::Located},
    model::{Channel, Member},
};
use diagnostics::Diagnostic;

impl Channel<'_> {
    pub fn check(&self, package: &Located<blob::PackageBlob>, problems: &mut Vec<Diagnostic>) {
        let title = format!("channel {}", go::format_quoted(self.name));
        let fault = |message: &str| {
            let whole = format!("{title}: {message}");
            self.blob.map_or_else(|| package.fault(&whole), |blob| blob.fault(&whole))
        };
        match self.blob {
            None => {
                let problem = package.fault(format!("the default {title} does not exist"));
                problems.push(problem.with_hint(
                    "correct `defaultChannel`, or add a bundle to this channel with `operator-rs catalog add`",
                ));
            }
            Some(_) if self.members.is_empty() => {
                let hint = "add a bundle with `operator-rs catalog add`, or remove the channel";
                problems.push(fault("channel must contain at least one bundle").with_hint(hint));
            }
            Some(blob) => {
                if let Err(message) = self.check_chain() {
                    let hint = correction_hint(blob.blob.entries())
                        + "; `operator-rs catalog graph` draws the channel";
                    problems.push(fault(&message).with_hint(hint));
                }
            }
        }
        for member in self.members.values() {
            member.check(&package.blob.name, self.blob, problems);
        }
        if self.deprecated == Some("") {
            problems.push(fault("invalid deprecation: message must be set"));
        }
    }

    fn check_chain(&self) -> Result<(), String> {
        let head = find_head(&self.members)?;
        let skipped: BTreeSet<&str> = skipped_names(&self.members).collect();
        let mut chain: Vec<&str> = vec![&head.entry.name];
        let mut visited: BTreeSet<&str> = chain.iter().copied().collect();
        let mut current = Some(head);
        while let Some(member) = current {
            let next = member.entry.replaces.as_str();
            if skipped.contains(next) {
                break;
            }
            chain.push(next);
            if !visited.insert(next) {
                let start = chain.iter().position(|name| *name == next).unwrap_or_default();
                return Err(format!(
                    "detected cycle in replaces chain of upgrade graph: {}",
                    chain[start..].join(" -> ")
                ));
            }
            current = self.members.get(next);
        }
        let is_stranded = |name: &&str| !visited.contains(name) && !skipped.contains(name);
        let stranded: Vec<&str> = self.members.keys().copied().filter(is_stranded).collect();
        if stranded.is_empty() {
            Ok(())
        } else {
            Err(format!("channel contains one or more stranded bundles: {}", stranded.join(", ")))
        }
    }
}

fn skipped_names<'a>(members: &'a BTreeMap<&str, Member<'_>>) -> impl Iterator<Item = &'a str> {
    members.values().flat_map(|member| member.entry.skips.iter().map(String::as_str))
}

/// Returns the only member that no other one replaces or skips.
pub fn find_head<'a, 'b>(
    members: &'a BTreeMap<&str, Member<'b>>,
) -> Result<&'a Member<'b>, String> {
    let replaced = members
        .values()
        .map(|member| member.entry.replaces.as_str())
        .filter(|name| !name.is_empty());
    let lower: BTreeSet<&str> = replaced.chain(skipped_names(members)).collect();
    let heads: Vec<&Member> =
        members.values().filter(|member| !lower.contains(member.entry.name.as_str())).collect();
    match heads[..] {
        [] => Err("no channel head found in graph".to_owned()),
        [head] => Ok(head),
        _ => {
            let names: Vec<&str> = heads.iter().map(|member| member.entry.name.as_str()).collect();
            Err(format!("multiple channel heads found in graph: {}", names.join(", ")))
        }
    }
}
