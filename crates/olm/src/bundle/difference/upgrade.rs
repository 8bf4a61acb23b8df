//! Whether OLM upgrades from the one to the other: package, version, the CSVs that it replaces, channels, install
//! modes and requirements.

use std::collections::BTreeSet;

use semver::Version;

use super::{Change, Rule, State};
use crate::bundle::{annotations, object, validate::requirements::Requirement};
use go_data::{kubernetes::version, yaml::Value};

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) {
    if old.package() != new.package() {
        let what = format!("the package is `{}`, and was `{}`", new.package(), old.package());
        res.push(
            new.annotated(Rule::PackageChanged, annotations::PACKAGE, what)
                .with_remedy("OLM upgrades within one package: keep its name"),
        );
    }
    version(old, new, res);
    path(old, new, res);
    channels(old, new, res);
    install_modes(old, new, res);
    requirements(old, new, res);
    for path in new.cut.iter().filter(|it| !old.cut.contains(it)) {
        let what = "only the first document of the file is read, by OLM and here";
        let change = new.change(Rule::MoreDocuments, path, "", what.to_owned());
        let place = Some(new.place(path, ""));
        res.push(
            Change { place, ..change }.with_remedy("write each object into a file of its own"),
        );
    }
}

fn version(old: &State, new: &State, res: &mut Vec<Change>) {
    let text = |it: &State| object::text(&it.csv, "/spec/version").to_owned();
    let (before, after) = (text(old), text(new));
    let parse = |it: &str| it.parse::<Version>();
    // A version that is none is for `bundle validate` to report.
    if let (Ok(one), Ok(other)) = (parse(&before), parse(&after))
        && other.cmp_precedence(&one).is_le()
    {
        let what = match one == other {
            true => format!("the version is {after}, as before"),
            false => format!("the version went from {before} to {after}"),
        };
        res.push(
            new.change(Rule::VersionNotIncreased, "CSV", "/spec/version", what)
                .with_remedy("give the new bundle a higher version"),
        );
    }
    let kube = |it: &State| object::text(&it.csv, "/spec/minKubeVersion").to_owned();
    let (before, after) = (kube(old), kube(new));
    let is_raised = match (parse(&before), parse(&after)) {
        (Ok(one), Ok(other)) => one < other,
        (Err(_), Ok(_)) => before.is_empty(),
        _ => false,
    };
    if is_raised {
        let before = if before.is_empty() { "not set".to_owned() } else { before };
        let what = format!("`minKubeVersion` is {after}, and was {before}");
        res.push(
            new.change(Rule::MinKubeVersionRaised, "CSV", "/spec/minKubeVersion", what)
                .with_remedy("on an older cluster, the new CSV stays pending"),
        );
    } else if before != after {
        let what = format!("`minKubeVersion` is {after:?}, and was {before:?}");
        res.push(new.change(Rule::CsvChanged, "CSV", "/spec/minKubeVersion", what));
    }
}

/// `replaces`, `skips` and `skipRange`. In a file-based catalog, the channel's entries count instead.
fn path(old: &State, new: &State, res: &mut Vec<Change>) {
    let (before, name) = (object::name(&old.csv), object::name(&new.csv));
    let replaces = object::text(&new.csv, "/spec/replaces");
    let skips: Vec<&str> = object::texts(&new.csv, "/spec/skips").collect();
    let range = object::text(&new.csv, "/metadata/annotations/olm.skipRange");
    for (field, is_itself) in [("replaces", replaces == name), ("skips", skips.contains(&name))] {
        if is_itself && !name.is_empty() {
            let what = format!("`{field}` names `{name}`, the CSV itself");
            res.push(
                new.change(Rule::ReplacesItself, "CSV", &format!("/spec/{field}"), what)
                    .with_remedy(format!("name `{before}`")),
            );
            return;
        }
    }
    let is_said = !replaces.is_empty() || !skips.is_empty() || !range.is_empty();
    let of = object::text(&old.csv, "/spec/version");
    let leads_here =
        replaces == before || skips.contains(&before) || version::contains(range, of) == Some(true);
    if is_said && !leads_here {
        let what = format!("`replaces`, `skips` and `olm.skipRange` leave out `{before}`");
        res.push(
            new.change(Rule::UpgradePath, "CSV", "/spec/replaces", what).with_remedy(format!(
                "set `replaces: {before}` in the CSV base, or list the entry so in the catalog's channel"
            )),
        );
    }
}

fn channels(old: &State, new: &State, res: &mut Vec<Change>) {
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (old.channels().collect(), new.channels().collect());
    for channel in before.difference(&after) {
        let what = format!("the bundle is no longer in the channel `{channel}`");
        res.push(
            new.annotated(Rule::ChannelRemoved, annotations::CHANNELS, what)
                .with_remedy("subscribers of this channel are not upgraded"),
        );
    }
    for channel in after.difference(&before) {
        let what = format!("the bundle is now in the channel `{channel}`");
        res.push(new.annotated(Rule::ChannelAdded, annotations::CHANNELS, what));
    }
    // Where a bundle names none, catalogs keep the one that they have, and begin with the first in alphabetical order.
    let first = old.channels().min().unwrap_or_default();
    let before = Some(old.default_channel()).filter(|it| !it.is_empty()).unwrap_or(first);
    let after = new.default_channel();
    if before != after && !before.is_empty() && !after.is_empty() {
        let what = format!("the default channel is `{after}`, and was `{before}`");
        res.push(
            new.annotated(Rule::DefaultChannelChanged, annotations::DEFAULT_CHANNEL, what)
                .with_remedy("new subscriptions that name no channel follow another one"),
        );
    }
}

fn install_modes(old: &State, new: &State, res: &mut Vec<Change>) {
    fn supported(state: &State) -> BTreeSet<&str> {
        let modes = object::list(&state.csv, "/spec/installModes").iter();
        let modes = modes.filter(|it| it.get("supported") == Some(&Value::Bool(true)));
        modes.map(|it| object::text(it, "/type")).collect()
    }
    let (before, after) = (supported(old), supported(new));
    let remedy = if new.has_conversion() {
        "where the operator is installed in this mode, the new CSV fails with `UnsupportedOperatorGroup`; OLM needs `AllNamespaces` alone for its conversion webhook: delete the Subscription, the CSV and the OperatorGroup there first, and install the new version with an OperatorGroup for all namespaces"
    } else {
        "where the operator is installed in this mode, the new CSV fails with `UnsupportedOperatorGroup`: keep the mode"
    };
    for mode in before.difference(&after) {
        let what = format!("the install mode `{mode}` is no longer supported");
        res.push(
            new.change(Rule::InstallModeRemoved, "CSV", "/spec/installModes", what)
                .with_remedy(remedy),
        );
    }
    for mode in after.difference(&before) {
        let what = format!("the install mode `{mode}` is supported");
        res.push(new.change(Rule::InstallModeAdded, "CSV", "/spec/installModes", what));
    }
}

const NATIVE: &str = "/spec/nativeAPIs";

fn requirements(old: &State, new: &State, res: &mut Vec<Change>) {
    let remedy = "OLM v0 installs the new version only if the requirement is met, and OLM v1 refuses bundles with dependencies";
    for at in
        ["/spec/customresourcedefinitions/required", "/spec/apiservicedefinitions/required", NATIVE]
    {
        let title = |it: &Value| {
            let text = |field| object::text(it, field);
            let group = text("/name").split_once('.').map_or(text("/group"), |it| it.1);
            format!("`{}` of `{group}/{}`", text("/kind"), text("/version"))
        };
        let before: BTreeSet<String> = object::list(&old.csv, at).iter().map(title).collect();
        for (place, api) in object::list(&new.csv, at).iter().enumerate() {
            let api = title(api);
            if !before.contains(&api) {
                let what = format!("the API {api} is required");
                let change =
                    new.change(Rule::RequirementAdded, "CSV", &format!("{at}/{place}"), what);
                res.push(change.with_remedy(remedy));
            }
        }
        let after: BTreeSet<String> = object::list(&new.csv, at).iter().map(title).collect();
        for api in before.difference(&after).filter(|_| at == NATIVE) {
            let what = format!("the API {api} is no longer required");
            res.push(old.change(Rule::CsvChanged, "CSV", at, what).in_old());
        }
    }
    let is_new = |it: &&Requirement| old.requirements.iter().all(|other| other.entry != it.entry);
    for it in new.requirements.iter().filter(is_new) {
        let type_ = object::text(&it.entry, "/type");
        let value = it.entry.get("value").cloned().unwrap_or_default();
        let what = format!("the dependency `{type_}` is added or changed: {value}");
        let change = new.change(Rule::RequirementAdded, &it.file, "", what);
        let place = Some(new.place(&it.file, &it.field));
        res.push(Change { place, ..change.with_remedy(remedy) });
    }
}
