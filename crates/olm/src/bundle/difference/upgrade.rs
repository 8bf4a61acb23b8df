//! Compares the fields that decide whether OLM upgrades from the old bundle to the new one: package, version,
//! replaced CSVs, channels, install modes and requirements.

use std::collections::BTreeSet;

use semver::Version;

use super::{BundleSide, Change, Rule};
use crate::bundle::{annotations, object, validate::requirements::Requirement};
use go_data::{kubernetes::version, yaml::Value};

pub fn compare(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    if old.package_name() != new.package_name() {
        let what =
            format!("the package is `{}`, and was `{}`", new.package_name(), old.package_name());
        changes.push(
            new.annotation_change(Rule::PackageChanged, annotations::PACKAGE, what)
                .with_remedy("OLM upgrades within one package: keep its name"),
        );
    }
    compare_versions(old, new, changes);
    compare_upgrade_path(old, new, changes);
    compare_channels(old, new, changes);
    compare_install_modes(old, new, changes);
    compare_requirements(old, new, changes);
    for path in new.cut.iter().filter(|path| !old.cut.contains(path)) {
        let what = "only the first document of the file is read, by OLM and here";
        let change = new.change_at(Rule::MoreDocuments, path, "", what.to_owned());
        let place = Some(new.location(path, ""));
        changes.push(
            Change { place, ..change }.with_remedy("write each object into a file of its own"),
        );
    }
}

fn compare_versions(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let text = |side: &BundleSide| object::text(&side.csv, "/spec/version").to_owned();
    let (before, after) = (text(old), text(new));
    let parse = |version: &str| version.parse::<Version>();
    // `bundle validate` reports invalid versions.
    if let (Ok(one), Ok(other)) = (parse(&before), parse(&after))
        && other.cmp_precedence(&one).is_le()
    {
        let what = if one == other {
            format!("the version is {after}, as before")
        } else {
            format!("the version went from {before} to {after}")
        };
        changes.push(
            new.change_at(Rule::VersionNotIncreased, "CSV", "/spec/version", what)
                .with_remedy("give the new bundle a higher version"),
        );
    }
    let kube = |side: &BundleSide| object::text(&side.csv, "/spec/minKubeVersion").to_owned();
    let (before, after) = (kube(old), kube(new));
    let is_raised = match (parse(&before), parse(&after)) {
        (Ok(one), Ok(other)) => one < other,
        (Err(_), Ok(_)) => before.is_empty(),
        _ => false,
    };
    if is_raised {
        let before = if before.is_empty() { "not set".to_owned() } else { before };
        let what = format!("`minKubeVersion` is {after}, and was {before}");
        changes.push(
            new.change_at(Rule::MinKubeVersionRaised, "CSV", "/spec/minKubeVersion", what)
                .with_remedy("on an older cluster, the new CSV stays pending"),
        );
    } else if before != after {
        let what = format!("`minKubeVersion` is {after:?}, and was {before:?}");
        changes.push(new.change_at(Rule::CsvChanged, "CSV", "/spec/minKubeVersion", what));
    }
}

/// `replaces`, `skips` and `skipRange`. In a file-based catalog, the channel's entries count instead.
fn compare_upgrade_path(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let (before, name) = (object::name(&old.csv), object::name(&new.csv));
    let replaces = object::text(&new.csv, "/spec/replaces");
    let skips: Vec<&str> = object::texts(&new.csv, "/spec/skips").collect();
    let range = object::text(&new.csv, "/metadata/annotations/olm.skipRange");
    for (field, is_itself) in [("replaces", replaces == name), ("skips", skips.contains(&name))] {
        if is_itself && !name.is_empty() {
            let what = format!("`{field}` names `{name}`, the CSV itself");
            changes.push(
                new.change_at(Rule::ReplacesItself, "CSV", &format!("/spec/{field}"), what)
                    .with_remedy(format!("name `{before}`")),
            );
            return;
        }
    }
    let is_said = !replaces.is_empty() || !skips.is_empty() || !range.is_empty();
    let of = object::text(&old.csv, "/spec/version");
    let leads_here = replaces == before
        || skips.contains(&before)
        || version::range_contains(range, of) == Some(true);
    if is_said && !leads_here {
        let what = format!("`replaces`, `skips` and `olm.skipRange` leave out `{before}`");
        changes.push(
            new.change_at(Rule::UpgradePath, "CSV", "/spec/replaces", what).with_remedy(format!(
                "set `replaces: {before}` in the CSV base, or list the entry so in the catalog's channel"
            )),
        );
    }
}

fn compare_channels(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (old.channels().collect(), new.channels().collect());
    for channel in before.difference(&after) {
        let what = format!("the bundle is no longer in the channel `{channel}`");
        changes.push(
            new.annotation_change(Rule::ChannelRemoved, annotations::CHANNELS, what)
                .with_remedy("subscribers of this channel are not upgraded"),
        );
    }
    for channel in after.difference(&before) {
        let what = format!("the bundle is now in the channel `{channel}`");
        changes.push(new.annotation_change(Rule::ChannelAdded, annotations::CHANNELS, what));
    }
    // If a bundle has no default channel, a catalog keeps its own, which is at first the first one in alphabetical
    // order.
    let first = old.channels().min().unwrap_or_default();
    let before = Some(old.default_channel()).filter(|channel| !channel.is_empty()).unwrap_or(first);
    let after = new.default_channel();
    if before != after && !before.is_empty() && !after.is_empty() {
        let what = format!("the default channel is `{after}`, and was `{before}`");
        changes.push(
            new.annotation_change(Rule::DefaultChannelChanged, annotations::DEFAULT_CHANNEL, what)
                .with_remedy("new subscriptions that name no channel follow another one"),
        );
    }
}

fn compare_install_modes(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    fn supported_modes(state: &BundleSide) -> BTreeSet<&str> {
        let modes = object::list(&state.csv, "/spec/installModes").iter();
        let modes = modes.filter(|mode| mode.get("supported") == Some(&Value::Bool(true)));
        modes.map(|mode| object::text(mode, "/type")).collect()
    }
    let (before, after) = (supported_modes(old), supported_modes(new));
    let remedy = if new.has_conversion() {
        "where the operator is installed in this mode, the new CSV fails with `UnsupportedOperatorGroup`; OLM needs `AllNamespaces` alone for its conversion webhook: delete the Subscription, the CSV and the OperatorGroup there first, and install the new version with an OperatorGroup for all namespaces"
    } else {
        "where the operator is installed in this mode, the new CSV fails with `UnsupportedOperatorGroup`: keep the mode"
    };
    for mode in before.difference(&after) {
        let what = format!("the install mode `{mode}` is no longer supported");
        changes.push(
            new.change_at(Rule::InstallModeRemoved, "CSV", "/spec/installModes", what)
                .with_remedy(remedy),
        );
    }
    for mode in after.difference(&before) {
        let what = format!("the install mode `{mode}` is supported");
        changes.push(new.change_at(Rule::InstallModeAdded, "CSV", "/spec/installModes", what));
    }
}

const NATIVE: &str = "/spec/nativeAPIs";

fn compare_requirements(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let remedy = "OLM v0 installs the new version only if the requirement is met, and OLM v1 refuses bundles with dependencies";
    for at in
        ["/spec/customresourcedefinitions/required", "/spec/apiservicedefinitions/required", NATIVE]
    {
        let title = |api: &Value| {
            let text = |field| object::text(api, field);
            let group = text("/name").split_once('.').map_or(text("/group"), |parts| parts.1);
            format!("`{}` of `{group}/{}`", text("/kind"), text("/version"))
        };
        let before: BTreeSet<String> = object::list(&old.csv, at).iter().map(title).collect();
        for (place, api) in object::list(&new.csv, at).iter().enumerate() {
            let api = title(api);
            if !before.contains(&api) {
                let what = format!("the API {api} is required");
                let change =
                    new.change_at(Rule::RequirementAdded, "CSV", &format!("{at}/{place}"), what);
                changes.push(change.with_remedy(remedy));
            }
        }
        let after: BTreeSet<String> = object::list(&new.csv, at).iter().map(title).collect();
        for api in before.difference(&after).filter(|_| at == NATIVE) {
            let what = format!("the API {api} is no longer required");
            changes.push(old.change_at(Rule::CsvChanged, "CSV", at, what).in_old());
        }
    }
    let is_new = |requirement: &&Requirement| {
        old.requirements.iter().all(|other| other.entry != requirement.entry)
    };
    for requirement in new.requirements.iter().filter(is_new) {
        let type_ = object::text(&requirement.entry, "/type");
        let value = requirement.entry.get("value").cloned().unwrap_or_default();
        let what = format!("the dependency `{type_}` is added or changed: {value}");
        let change = new.change_at(Rule::RequirementAdded, &requirement.file, "", what);
        let place = Some(new.location(&requirement.file, &requirement.field));
        changes.push(Change { place, ..change.with_remedy(remedy) });
    }
}
