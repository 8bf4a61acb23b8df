//! Checks the fields about upgrades, as far as this is possible with one bundle.

use semver::Version;

use super::{
    super::{grammar::versions, load::Loaded},
    Faults, Rule, of,
};
use go_data::kubernetes::version::{Range, range_contains};

pub fn check(bundle: &Loaded, faults: &mut Faults) {
    let (path, csv) = (bundle.csv.path, &bundle.csv.object);
    let (name, replaces) = (of::name(csv), of::text(csv, "/spec/replaces"));
    let version = versions::parse_tolerant(of::text(csv, "/spec/version"));
    if !replaces.is_empty() && replaces == name {
        let message = format!("`{name}` replaces itself");
        faults.push(Rule::ReplacesSelf, (path, "/spec/replaces"), message);
    } else if let (Some(before), Some(version)) = (version_of(replaces), &version)
        && before.cmp_precedence(version).is_ge()
    {
        let message = format!("version {version} replaces `{replaces}`, which is not older");
        faults.push(Rule::ReplacesNewer, (path, "/spec/replaces"), message);
    }
    for (at, skipped) in of::texts(csv, "/spec/skips").enumerate() {
        if skipped == name {
            let message = format!("`{name}` skips itself");
            faults.push(Rule::ReplacesSelf, (path, format!("/spec/skips/{at}")), message);
        }
    }
    let annotation = "/metadata/annotations/olm.skipRange";
    let range = of::text(csv, annotation);
    if range.is_empty() {
        return;
    }
    if Range::parse(range).is_none() {
        let message = format!("olm.skipRange is {range:?}, which is not a range of versions");
        faults.push(Rule::SkipRangeBad, (path, annotation), message);
    } else if version
        .is_some_and(|version| range_contains(range, &version.to_string()) == Some(true))
    {
        let message = format!("olm.skipRange {range:?} contains the bundle's own version");
        faults.push(Rule::SkipRangeSelf, (path, annotation), message);
    }
}

/// The version in a CSV's name, `NAME.vVERSION`.
fn version_of(name: &str) -> Option<Version> {
    Version::parse(name.split_once(".v")?.1).ok()
}
