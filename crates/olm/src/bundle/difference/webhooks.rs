//! Webhooks of the CSV, by their names and types.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Rule, State};
use crate::bundle::object;
use go_data::yaml::{Value, differences};

const WEBHOOKS: &str = "/spec/webhookdefinitions";

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) {
    let (before, after) = (all(old), all(new));
    for ((type_, name), (at, webhook)) in &after {
        let subject = format!("{type_}/{name}");
        let remedy = "requests that it intercepts fail while the operator is not ready, unless `failurePolicy` is `Ignore`";
        let Some((_, other)) = before.get(&(*type_, *name)) else {
            let what = "the webhook is added".to_owned();
            res.push(new.change(Rule::WebhookAdded, &subject, at, what).with_remedy(remedy));
            continue;
        };
        let changed = differences(other, webhook);
        let changed: BTreeSet<String> = changed
            .iter()
            .filter_map(|it| Some(format!("`{}`", it.path.split(['.', '[']).next()?)))
            .collect();
        if !changed.is_empty() {
            let changed: Vec<String> = changed.into_iter().collect();
            let what = format!("{} of the webhook changed", changed.join(", "));
            res.push(new.change(Rule::WebhookChanged, &subject, at, what).with_remedy(remedy));
        }
    }
    for ((type_, name), (at, _)) in before.iter().filter(|it| !after.contains_key(it.0)) {
        let what = "the webhook is removed".to_owned();
        let change = old.change(Rule::WebhookRemoved, &format!("{type_}/{name}"), at, what);
        res.push(change.in_old());
    }
    conversions(old, new, res);
}

/// By type and name, with their places in the CSV.
fn all(state: &State) -> BTreeMap<(&str, &str), (String, &Value)> {
    let all = object::list(&state.csv, WEBHOOKS).iter().enumerate();
    let key = |it| (object::text(it, "/type"), object::text(it, "/generateName"));
    all.map(|(at, it)| (key(it), (format!("{WEBHOOKS}/{at}"), it))).collect()
}

/// CRDs that were converted by a webhook, serve several versions, and are not converted any more.
fn conversions(old: &State, new: &State, res: &mut Vec<Change>) {
    fn converted(state: &State) -> Vec<&str> {
        let all = object::list(&state.csv, WEBHOOKS).iter();
        all.flat_map(|it| object::texts(it, "/conversionCRDs")).collect()
    }
    let now = converted(new);
    for name in converted(old).into_iter().filter(|it| !now.contains(it)) {
        let is_crd = |it: &&(String, Value)| {
            object::kind(&it.1) == "CustomResourceDefinition" && object::name(&it.1) == name
        };
        let Some((path, crd)) = new.objects.iter().find(is_crd) else { continue };
        let served = super::super::collected::served_versions(crd).count();
        if 1 < served {
            let what = format!(
                "the CRD serves {served} versions, and a webhook no longer converts between them"
            );
            let change = new.change(Rule::ConversionRemoved, name, "", what);
            let place = Some(new.place(path, "/spec/versions"));
            res.push(Change { place, ..change }.with_remedy(
                "keep the conversion webhook as long as the CRD serves several versions",
            ));
        }
    }
}
