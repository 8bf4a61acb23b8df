//! The conversions that PROJECT lists, beside those that the source registers: versions are converted if both have them.

use super::{CrdOptions, GeneratedManifests, versions, versions::Version};
use crate::project::{
    ConversionRegistration, Converted, DeclaredKind, Operator, Problem, is_path_of, kind_command,
};

/// Returns the differences between the two. Only a reading of the whole operator has its registrations.
pub fn generate(operator: &Operator, _: &CrdOptions) -> GeneratedManifests {
    let mut manifests = GeneratedManifests::default();
    if !unknown(operator).is_empty() {
        return manifests;
    }
    let kinds = versions::kinds(operator).into_values();
    for versions in kinds.filter(|versions| versions::duplicates(versions).is_empty()) {
        let found = check_kind(&versions, operator);
        manifests.problems.extend(found.problems);
        manifests.warnings.extend(found.warnings);
    }
    manifests
}

/// The same for one kind.
fn check_kind(versions: &[Version<'_>], operator: &Operator) -> GeneratedManifests {
    let mut res = GeneratedManifests::default();
    let conversions = Conversions { versions, all: &operator.conversions };
    let converted = listed_conversion(versions, operator);
    let unlisted: Vec<&ConversionRegistration> = conversions
        .registered_conversions()
        .filter(|registration| !conversions.is_listed(registration, converted))
        .collect();
    res.warnings
        .extend(unlisted.iter().map(|registration| conversions.unlisted_problem(registration)));
    let Some(converted) = converted else { return res };
    res.problems = conversions.unregistered_versions(converted);
    res.problems.extend(conversions.swapped_hub_and_spoke(converted));
    res.problems.extend(conversions.repeated_conversions());
    let is_unlisted = |conversion: &Version<'_>| {
        unlisted.iter().any(|unlisted| unlisted.may_convert(&conversion.declared.rust_path))
    };
    let left_out = versions.iter().filter(|version| !converted.has_version(version.name()));
    let problem = |version: &Version<'_>| left_out_problem(version, &converted.hub);
    res.warnings.extend(left_out.filter(|version| !is_unlisted(version)).map(problem));
    res
}

/// Lists the fields that objects lose between the versions of a kind without conversion.
pub fn losses(versions: &[Version<'_>], operator: &Operator) -> Vec<Problem> {
    let conversions = Conversions { versions, all: &operator.conversions };
    let is_converted = listed_conversion(versions, operator).is_some()
        || conversions.registered_conversions().next().is_some();
    if is_converted || !unknown(operator).is_empty() {
        return Vec::new();
    }
    versions::losses(versions)
}

/// Returns the conversion of a kind that PROJECT lists.
fn listed_conversion<'a>(
    versions: &[Version<'_>],
    operator: &'a Operator,
) -> Option<&'a Converted> {
    let first = versions.first()?;
    operator.converted.get(&(first.group().to_owned(), first.kind().to_owned()))
}

/// Reports the types of conversions whose kind and version are ambiguous.
pub fn unknown(operator: &Operator) -> Vec<Problem> {
    let mut problems = Vec::new();
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
            problems.push(Problem::new(it.place.clone(), message).with_hint(
                "write the path of the kind with its modules, such as `api::cache::v1::Memcached`, here or in a `use` of this file",
            ));
        }
    }
    problems
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

/// Returns a command about the conversion of a version.
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
    /// Returns the pairs of versions, each in one order.
    fn version_pairs(&self) -> impl Iterator<Item = (&'a Version<'a>, &'a Version<'a>)> {
        let all = self.versions;
        all.iter()
            .enumerate()
            .flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other)))
    }

    fn is_of(it: &ConversionRegistration, (one, other): (&Version<'_>, &Version<'_>)) -> bool {
        it.is_between(&one.declared.rust_path, &other.declared.rust_path)
    }

    /// Returns the conversions between versions of this kind.
    fn registered_conversions(&self) -> impl Iterator<Item = &'a ConversionRegistration> {
        self.all
            .iter()
            .filter(|registration| self.version_pairs().any(|pair| Self::is_of(registration, pair)))
    }

    /// Returns the conversions whose hub is a spoke in PROJECT.
    fn swapped_hub_and_spoke(&self, converted: &Converted) -> Vec<Problem> {
        let hub = self.versions.iter().find(|version| version.name() == converted.hub);
        let Some(hub) = hub else { return Vec::new() };
        let is_exchanged = |registration: &&ConversionRegistration| {
            !is_path_of(&registration.hub, &hub.declared.rust_path)
        };
        let problem = |registration: &ConversionRegistration| {
            let message = format!(
                "the first type of this conversion of `{}` is not {}, the hub that PROJECT lists",
                hub.kind(),
                hub.name()
            );
            let hint = "exchange the two types; or list the other version as the hub in PROJECT, if all others are converted to it";
            Problem::new(registration.place.clone(), message).with_hint(hint)
        };
        self.registered_conversions().filter(is_exchanged).map(problem).collect()
    }

    /// Returns the conversions between two versions that another one is between, too.
    fn repeated_conversions(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for pair in self.version_pairs() {
            let mut all = self.all.iter().filter(|registration| Self::is_of(registration, pair));
            let Some(first) = all.next() else { continue };
            problems.extend(all.map(|place| {
                let message = format!("the same two versions are converted at {}", first.place);
                Problem::new(place.place.clone(), message).with_hint("remove one of the two lines")
            }));
        }
        problems
    }

    fn is_listed(&self, it: &ConversionRegistration, converted: Option<&Converted>) -> bool {
        let Some(converted) = converted else { return false };
        let mut pairs = self.version_pairs().filter(|pair| Self::is_of(it, *pair));
        pairs.any(|(one, other)| {
            converted.has_version(one.name()) && converted.has_version(other.name())
        })
    }

    fn unlisted_problem(&self, it: &ConversionRegistration) -> Problem {
        let kind = self.versions[0].kind();
        let message = format!("PROJECT does not list this conversion of `{kind}` under `webhooks`");
        Problem::new(it.place.clone(), message)
            .with_hint(
                "add `conversion: true` and the other version under `spoke` to the hub's entry in PROJECT, or remove this line",
            )
            .with_rule("not-in-project")
    }

    /// Returns the versions that PROJECT lists, and that the operator does not convert.
    fn unregistered_versions(&self, converted: &Converted) -> Vec<Problem> {
        let Some(hub) = self.versions.iter().find(|version| version.name() == converted.hub) else {
            return Vec::new();
        };
        let spokes =
            self.versions.iter().filter(|version| converted.spokes.contains(version.name()));
        let is_missing =
            |version: &&Version<'_>| !self.all.iter().any(|one| Self::is_of(one, (hub, *version)));
        let problem = |version: &Version<'_>| {
            let (kind, name, hub) = (version.kind(), version.name(), hub.name());
            let message = format!(
                "`{kind}`: PROJECT lists a conversion between {name} and {hub}, and the operator serves none: {name} cannot be read or written"
            );
            Problem::new(version.place().clone(), message).with_hint(format!(
                "register it in src/webhook/mod.rs, with `operator_rs_runtime::conversion_webhook::<…::{hub}::{kind}, …::{name}::{kind}>()`; or run `{}`",
                conversion_command("delete webhook", version, hub)
            ))
        };
        spokes.filter(is_missing).map(problem).collect()
    }
}
