//! The graph of upgrades of a channel: one head, from which `replaces` leads to every bundle that is not skipped.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{blob, go, graph::way_out, load::Located},
    model::{Channel, Member},
};
use diagnostics::Diagnostic;

impl Channel<'_> {
    pub fn check(&self, package: &Located<blob::Package>, problems: &mut Vec<Diagnostic>) {
        let title = format!("channel {}", go::quoted(self.name));
        let fault = |message: &str| {
            let whole = format!("{title}: {message}");
            self.blob.map_or_else(|| package.fault(&whole), |it| it.fault(&whole))
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
                if let Err(message) = self.chain() {
                    let hint = way_out(blob.blob.entries())
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

    fn chain(&self) -> Result<(), String> {
        let head = head(&self.members)?;
        let skipped: BTreeSet<&str> = skips(&self.members).collect();
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
                let start = chain.iter().position(|it| *it == next).unwrap_or_default();
                return Err(format!(
                    "detected cycle in replaces chain of upgrade graph: {}",
                    chain[start..].join(" -> ")
                ));
            }
            current = self.members.get(next);
        }
        let is_stranded = |it: &&str| !visited.contains(it) && !skipped.contains(it);
        let stranded: Vec<&str> = self.members.keys().copied().filter(is_stranded).collect();
        match stranded.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "channel contains one or more stranded bundles: {}",
                stranded.join(", ")
            )),
        }
    }
}

fn skips<'a>(members: &'a BTreeMap<&str, Member<'_>>) -> impl Iterator<Item = &'a str> {
    members.values().flat_map(|it| it.entry.skips.iter().map(String::as_str))
}

/// The only member that no other one replaces or skips.
pub fn head<'a, 'b>(members: &'a BTreeMap<&str, Member<'b>>) -> Result<&'a Member<'b>, String> {
    let replaced =
        members.values().map(|it| it.entry.replaces.as_str()).filter(|it| !it.is_empty());
    let lower: BTreeSet<&str> = replaced.chain(skips(members)).collect();
    let heads: Vec<&Member> =
        members.values().filter(|it| !lower.contains(it.entry.name.as_str())).collect();
    match heads[..] {
        [] => Err("no channel head found in graph".to_owned()),
        [head] => Ok(head),
        _ => {
            let names: Vec<&str> = heads.iter().map(|it| it.entry.name.as_str()).collect();
            Err(format!("multiple channel heads found in graph: {}", names.join(", ")))
        }
    }
}
