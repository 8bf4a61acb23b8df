//! The conversions that PROJECT lists, beside those that the source registers: versions are converted if both have them.

use super::{CrdOptions, Generated, versions, versions::Version};
use crate::project::{
    ConversionRegistration, Converted, DeclaredKind, Operator, Problem, is_path_of, kind_command,
};

/// The differences between the two. Only a reading of the whole operator has its registrations.
pub fn generate(operator: &Operator, _: &CrdOptions) -> Generated {
    let mut res = Generated::default();
    if !unknown(operator).is_empty() {
        return res;
    }
    let kinds = versions::kinds(operator).into_values();
    for versions in kinds.filter(|versions| versions::duplicates(versions).is_empty()) {
        let found = check(&versions, operator);
        res.problems.extend(found.problems);
        res.warnings.extend(found.warnings);
    }
    res
}

/// The same for one kind.
fn check(versions: &[Version<'_>], operator: &Operator) -> Generated {
    let mut res = Generated::default();
    let conversions = Conversions { versions, all: &operator.conversions };
    let converted = listed(versions, operator);
    let unlisted: Vec<&ConversionRegistration> =
        conversions.registered().filter(|it| !conversions.is_listed(it, converted)).collect();
    res.warnings.extend(unlisted.iter().map(|it| conversions.unlisted(it)));
    let Some(converted) = converted else { return res };
    res.problems = conversions.unregistered(converted);
    res.problems.extend(conversions.exchanged(converted));
    res.problems.extend(conversions.repeated());
    let is_unlisted =
        |it: &Version<'_>| unlisted.iter().any(|unlisted| unlisted.has(&it.declared.rust_path));
    let left_out = versions.iter().filter(|it| !converted.has(it.name()));
    let problem = |it: &Version<'_>| left_out_problem(it, &converted.hub);
    res.warnings.extend(left_out.filter(|it| !is_unlisted(it)).map(problem));
    res
}

/// Lists the fields that objects lose between the versions of a kind without conversion.
pub fn losses(versions: &[Version<'_>], operator: &Operator) -> Vec<Problem> {
    let conversions = Conversions { versions, all: &operator.conversions };
    let is_converted =
        listed(versions, operator).is_some() || conversions.registered().next().is_some();
    if is_converted || !unknown(operator).is_empty() {
        return Vec::new();
    }
    versions::losses(versions)
}

/// The conversion of a kind that PROJECT lists.
fn listed<'a>(versions: &[Version<'_>], operator: &'a Operator) -> Option<&'a Converted> {
    let first = versions.first()?;
    operator.converted.get(&(first.group().to_owned(), first.kind().to_owned()))
}

/// The types of conversions of which nobody can tell which version of which kind they are.
pub fn unknown(operator: &Operator) -> Vec<Problem> {
    let mut res = Vec::new();
    for it in &operator.conversions {
        for written in [&it.hub, &it.spoke] {
            let is_it = |kind: &&DeclaredKind| is_path_of(written, &kind.rust_path);
            let found: Vec<&DeclaredKind> = operator.kinds.iter().filter(is_it).collect();
            let name = written.join("::");
            let message = match found[..] {
                [_] => continue,
                [] => format!("`{name}` is no kind of this project"),
                [first, second, ..] => {
                    format!(
                        "`{name}` may be the kind at {} or that at {}",
                        first.place, second.place
                    )
                }
            };
            res.push(Problem::new(it.place.clone(), message).with_hint(
                "write the path of the kind with its modules, such as `api::cache::v1::Memcached`, here or in a `use` of this file",
            ));
        }
    }
    res
}

/// API servers ask the operator about all versions of a kind that it converts.
fn left_out_problem(it: &Version<'_>, hub: &str) -> Problem {
    let (kind, name) = (it.kind(), it.name());
    let message = format!(
        "`{kind}`: {name} cannot be read or written: other versions have a conversion, and this one has none"
    );
    Problem::new(it.place().clone(), message)
        .with_hint(format!("run `{}`", conversion_command("create webhook", it, hub)))
        .with_rule("no-conversion")
}

/// A command about the conversion of a version.
fn conversion_command(command: &str, spoke: &Version<'_>, hub: &str) -> String {
    let flags = format!("--version {hub} --conversion --spoke {}", spoke.name());
    kind_command(command, spoke.group(), spoke.kind(), &flags)
}

/// The versions of one kind, and the conversions of all kinds.
struct Conversions<'a> {
    versions: &'a [Version<'a>],
    all: &'a [ConversionRegistration],
}

impl<'a> Conversions<'a> {
    /// The pairs of versions, each in one order.
    fn pairs(&self) -> impl Iterator<Item = (&'a Version<'a>, &'a Version<'a>)> {
        let all = self.versions;
        all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(move |it| (one, it)))
    }

    fn is_of(it: &ConversionRegistration, (one, other): (&Version<'_>, &Version<'_>)) -> bool {
        it.is_between(&one.declared.rust_path, &other.declared.rust_path)
    }

    /// The conversions between versions of this kind.
    fn registered(&self) -> impl Iterator<Item = &'a ConversionRegistration> {
        self.all.iter().filter(|it| self.pairs().any(|pair| Self::is_of(it, pair)))
    }

    /// The conversions whose hub is a spoke in PROJECT.
    fn exchanged(&self, converted: &Converted) -> Vec<Problem> {
        let hub = self.versions.iter().find(|it| it.name() == converted.hub);
        let Some(hub) = hub else { return Vec::new() };
        let is_exchanged =
            |it: &&ConversionRegistration| !is_path_of(&it.hub, &hub.declared.rust_path);
        let problem = |it: &ConversionRegistration| {
            let message = format!(
                "the first type of this conversion of `{}` is not {}, the hub that PROJECT lists",
                hub.kind(),
                hub.name()
            );
            let hint = "exchange the two types; or list the other version as the hub in PROJECT, if all others are converted to it";
            Problem::new(it.place.clone(), message).with_hint(hint)
        };
        self.registered().filter(is_exchanged).map(problem).collect()
    }

    /// The conversions between two versions that another one is between, too.
    fn repeated(&self) -> Vec<Problem> {
        let mut res = Vec::new();
        for pair in self.pairs() {
            let mut all = self.all.iter().filter(|it| Self::is_of(it, pair));
            let Some(first) = all.next() else { continue };
            res.extend(all.map(|it| {
                let message = format!("the same two versions are converted at {}", first.place);
                Problem::new(it.place.clone(), message).with_hint("remove one of the two lines")
            }));
        }
        res
    }

    fn is_listed(&self, it: &ConversionRegistration, converted: Option<&Converted>) -> bool {
        let Some(converted) = converted else { return false };
        let mut pairs = self.pairs().filter(|pair| Self::is_of(it, *pair));
        pairs.any(|(one, other)| converted.has(one.name()) && converted.has(other.name()))
    }

    fn unlisted(&self, it: &ConversionRegistration) -> Problem {
        let kind = self.versions[0].kind();
        let message = format!("PROJECT does not list this conversion of `{kind}` under `webhooks`");
        Problem::new(it.place.clone(), message)
            .with_hint(
                "add `conversion: true` and the other version under `spoke` to the hub's entry in PROJECT, or remove this line",
            )
            .with_rule("not-in-project")
    }

    /// The versions that PROJECT lists, and that the operator does not convert.
    fn unregistered(&self, converted: &Converted) -> Vec<Problem> {
        let Some(hub) = self.versions.iter().find(|it| it.name() == converted.hub) else {
            return Vec::new();
        };
        let spokes = self.versions.iter().filter(|it| converted.spokes.contains(it.name()));
        let is_missing =
            |it: &&Version<'_>| !self.all.iter().any(|one| Self::is_of(one, (hub, *it)));
        let problem = |it: &Version<'_>| {
            let (kind, name, hub) = (it.kind(), it.name(), hub.name());
            let message = format!(
                "`{kind}`: PROJECT lists a conversion between {name} and {hub}, and the operator serves none: {name} cannot be read or written"
            );
            Problem::new(it.place().clone(), message).with_hint(format!(
                "register it in src/webhook/mod.rs, with `operator_rs_runtime::conversion_webhook::<…::{hub}::{kind}, …::{name}::{kind}>()`; or run `{}`",
                conversion_command("delete webhook", it, hub)
            ))
        };
        spokes.filter(is_missing).map(problem).collect()
    }
}
