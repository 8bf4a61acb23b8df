//! Webhooks of the CSV, by their names and types.

use std::collections::{BTreeMap, BTreeSet};

use super::{BundleSide, Change, Rule};
use crate::bundle::object;
use go_data::yaml::{Value, diff_values};

const WEBHOOKS: &str = "/spec/webhookdefinitions";

pub fn compare(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let (before, after) = (webhooks_by_name(old), webhooks_by_name(new));
    for ((type_, name), (at, webhook)) in &after {
        let subject = format!("{type_}/{name}");
        let remedy = "requests that it intercepts fail while the operator is not ready, unless `failurePolicy` is `Ignore`";
        let Some((_, other)) = before.get(&(*type_, *name)) else {
            let what = "the webhook is added".to_owned();
            changes.push(new.change_at(Rule::WebhookAdded, &subject, at, what).with_remedy(remedy));
            continue;
        };
        let changed = diff_values(other, webhook);
        let changed: BTreeSet<String> = changed
            .iter()
            .filter_map(|difference| {
                Some(format!("`{}`", difference.path.split(['.', '[']).next()?))
            })
            .collect();
        if !changed.is_empty() {
            let changed: Vec<String> = changed.into_iter().collect();
            let what = format!("{} of the webhook changed", changed.join(", "));
            changes
                .push(new.change_at(Rule::WebhookChanged, &subject, at, what).with_remedy(remedy));
        }
    }
    for ((type_, name), (at, _)) in before.iter().filter(|entry| !after.contains_key(entry.0)) {
        let what = "the webhook is removed".to_owned();
        let change = old.change_at(Rule::WebhookRemoved, &format!("{type_}/{name}"), at, what);
        changes.push(change.in_old());
    }
    compare_conversions(old, new, changes);
}

/// Returns the webhooks by type and name, each with its location in the CSV.
fn webhooks_by_name(state: &BundleSide) -> BTreeMap<(&str, &str), (String, &Value)> {
    let webhooks = object::list(&state.csv, WEBHOOKS).iter().enumerate();
    let key = |webhook| (object::text(webhook, "/type"), object::text(webhook, "/generateName"));
    webhooks.map(|(at, webhook)| (key(webhook), (format!("{WEBHOOKS}/{at}"), webhook))).collect()
}

/// Reports CRDs with several versions that no webhook converts any more.
fn compare_conversions(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    fn converted_crds(state: &BundleSide) -> Vec<&str> {
        let webhooks = object::list(&state.csv, WEBHOOKS).iter();
        webhooks.flat_map(|webhook| object::texts(webhook, "/conversionCRDs")).collect()
    }
    let now = converted_crds(new);
    for name in converted_crds(old).into_iter().filter(|crd| !now.contains(crd)) {
        let is_crd = |entry: &&(String, Value)| {
            object::kind(&entry.1) == "CustomResourceDefinition" && object::name(&entry.1) == name
        };
        let Some((path, crd)) = new.objects.iter().find(is_crd) else { continue };
        let served = super::super::collected::served_versions(crd).count();
        if served > 1 {
            let what = format!(
                "the CRD serves {served} versions, and a webhook no longer converts between them"
            );
            let change = new.change_at(Rule::ConversionRemoved, name, "", what);
            let place = Some(new.location(path, "/spec/versions"));
            changes.push(Change { place, ..change }.with_remedy(
                "keep the conversion webhook as long as the CRD serves several versions",
            ));
        }
    }
}
