//! Deployments: which there are, and their selectors, images and environment. Also the other manifests.

use std::collections::BTreeMap;

use super::{Change, Rule, State};
use crate::{bundle::object, yaml::Value};

const DEPLOYMENTS: &str = "/spec/install/spec/deployments";

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) {
    let (before, after) = (deployments(old), deployments(new));
    for (name, (at, deployment)) in &after {
        let subject = format!("Deployment/{name}");
        let Some((_, other)) = before.get(name) else {
            let what = "the Deployment is added".to_owned();
            res.push(new.change(Rule::DeploymentAdded, &subject, at, what));
            continue;
        };
        let selector = |it: &Value| it.pointer("/spec/selector").cloned();
        if selector(other) != selector(deployment) {
            let what = "the selector of the Deployment changed, and API servers refuse that";
            res.push(
                new.change(
                    Rule::SelectorChanged,
                    &subject,
                    &format!("{at}/spec/selector"),
                    what.to_owned(),
                )
                .with_remedy("keep `spec.selector`, or give the Deployment another name"),
            );
        }
        containers(other, deployment, |field, text| {
            res.push(new.change(field, &subject, &format!("{at}/spec/template/spec"), text));
        });
    }
    for (name, (at, _)) in before.iter().filter(|it| !after.contains_key(it.0)) {
        let what = "the Deployment is removed".to_owned();
        let change = old.change(Rule::DeploymentRemoved, &format!("Deployment/{name}"), at, what);
        res.push(change.in_old());
    }
    related(old, new, res);
    objects(old, new, res);
}

/// By name, with their places in the CSV.
fn deployments(state: &State) -> BTreeMap<&str, (String, &Value)> {
    let all = object::list(&state.csv, DEPLOYMENTS).iter().enumerate();
    all.map(|(at, it)| (object::name_of(it), (format!("{DEPLOYMENTS}/{at}"), it))).collect()
}

/// Images and variables of the containers, by the containers' names.
fn containers(old: &Value, new: &Value, mut tell: impl FnMut(Rule, String)) {
    fn all(deployment: &Value) -> BTreeMap<&str, &Value> {
        let lists = ["/spec/template/spec/containers", "/spec/template/spec/initContainers"];
        let all = lists.into_iter().flat_map(|it| object::list(deployment, it));
        all.map(|it| (object::name_of(it), it)).collect()
    }
    fn variables(container: &Value) -> BTreeMap<&str, &Value> {
        let all = object::list(container, "/env").iter();
        // Those with images are told as images.
        let all = all.filter(|it| !object::name_of(it).starts_with("RELATED_IMAGE_"));
        all.map(|it| (object::name_of(it), it)).collect()
    }
    let (before, after) = (all(old), all(new));
    for (name, container) in &after {
        let image = object::text(container, "/image");
        let Some(other) = before.get(name) else {
            tell(Rule::Image, format!("the container `{name}` with the image `{image}` is added"));
            continue;
        };
        let was = object::text(other, "/image");
        if was != image {
            tell(Rule::Image, format!("the image of `{name}` is `{image}`, and was `{was}`"));
        }
        let (were, are) = (variables(other), variables(container));
        for variable in are.keys().filter(|it| !were.contains_key(*it)) {
            tell(Rule::Environment, format!("the variable `{variable}` of `{name}` is added"));
        }
        for (variable, value) in &were {
            match are.get(variable) {
                None => tell(
                    Rule::Environment,
                    format!("the variable `{variable}` of `{name}` is removed"),
                ),
                Some(now) if now != value => tell(
                    Rule::Environment,
                    format!("the variable `{variable}` of `{name}` has another value"),
                ),
                Some(_) => {}
            }
        }
    }
    for name in before.keys().filter(|it| !after.contains_key(*it)) {
        tell(Rule::Image, format!("the container `{name}` is removed"));
    }
}

fn related(old: &State, new: &State, res: &mut Vec<Change>) {
    let at = "/spec/relatedImages";
    let pairs = |state: &State| -> Vec<(String, String)> {
        let all = object::list(&state.csv, at).iter();
        all.map(|it| (object::name_of(it).to_owned(), object::text(it, "/image").to_owned()))
            .collect()
    };
    let (before, after) = (pairs(old), pairs(new));
    for (place, pair) in after.iter().enumerate().filter(|it| !before.contains(it.1)) {
        let (name, image) = pair;
        let what = match before.iter().find(|it| it.0 == *name && !after.contains(it)) {
            Some((_, was)) => format!("the related image `{name}` is `{image}`, and was `{was}`"),
            None => format!("the related image `{image}` is added"),
        };
        let change = new.change(Rule::Image, "CSV", &format!("{at}/{place}"), what);
        res.push(change.with_remedy("disconnected clusters have to mirror it"));
    }
    for (place, pair) in before.iter().enumerate() {
        if !after.iter().any(|it| it.0 == pair.0 || it.1 == pair.1) {
            let what = format!("the related image `{}` is removed", pair.1);
            res.push(old.change(Rule::Image, "CSV", &format!("{at}/{place}"), what).in_old());
        }
    }
}

/// The manifests beside the CSV. CRDs are compared by their own rules, and roles as permissions.
fn objects(old: &State, new: &State, res: &mut Vec<Change>) {
    let title = |it: &Value| format!("{}/{}", object::kind(it), object::name(it));
    let has = |state: &State, object: &Value| {
        state.objects.iter().any(|it| title(&it.1) == title(object))
    };
    let compared = |it: &&(String, Value)| object::kind(&it.1) != "CustomResourceDefinition";
    for (path, object) in new.objects.iter().filter(compared).filter(|it| !has(old, &it.1)) {
        let change =
            new.change(Rule::ObjectAdded, &title(object), "", "the manifest is added".to_owned());
        res.push(Change { place: Some(new.place(path, "")), ..change });
    }
    for (path, object) in old.objects.iter().filter(compared).filter(|it| !has(new, &it.1)) {
        let change = old.change(
            Rule::ObjectRemoved,
            &title(object),
            "",
            "the manifest is removed".to_owned(),
        );
        res.push(Change { place: Some(old.place(path, "")), ..change }.in_old());
    }
}
