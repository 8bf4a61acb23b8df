//! Deployments: which there are, and their selectors, images and environment. Also the other manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Rule, State, pods};
use crate::bundle::{object, related_images};
use go_data::{
    kubernetes::immutable,
    yaml::{Value, differences, json},
};

const DEPLOYMENTS: &str = "/spec/install/spec/deployments";

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) {
    let (before, after) = (deployments(old), deployments(new));
    let mirrored = mirrored(old, new);
    for (name, (at, deployment)) in &after {
        let subject = format!("Deployment/{name}");
        let Some((_, other)) = before.get(name) else {
            let what = "the Deployment is added".to_owned();
            res.push(new.change(Rule::DeploymentAdded, &subject, at, what));
            pods::compare(&Value::Null, (at, deployment), new, res);
            continue;
        };
        let object = |it: &Value| {
            let spec = it.get("spec");
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec })
        };
        for field in immutable::changed(&object(other), &object(deployment)) {
            res.push(refused(new, &new.csv_path, &subject, at, field));
        }
        let pod = format!("{at}/spec/template/spec");
        let (was, is) = (object::service_account(other), object::service_account(deployment));
        if was != is {
            let what = format!("the service account is `{is}`, and was `{was}`");
            let at = format!("{pod}/serviceAccountName");
            res.push(
                new.change(Rule::ServiceAccountChanged, &subject, &at, what)
                    .with_remedy("check that it has the permissions that the operator needs"),
            );
        }
        let mut tell = |rule, text| res.push(new.change(rule, &subject, &pod, text));
        images(other, deployment, &mut tell);
        variables(other, deployment, &mirrored, &mut tell);
        pods::compare(other, (at, deployment), new, res);
    }
    for (name, (at, _)) in before.iter().filter(|it| !after.contains_key(it.0)) {
        let what = "the Deployment is removed".to_owned();
        let change = old.change(Rule::DeploymentRemoved, &format!("Deployment/{name}"), at, what);
        res.push(change.in_old());
    }
    related(old, new, res);
    objects(old, new, res);
}

/// A field changed that must not change.
fn refused(state: &State, file: &str, subject: &str, at: &str, field: &str) -> Change {
    let path = field.trim_start_matches('/').replace('/', ".");
    let what = format!("`{path}` changed, and API servers refuse that");
    let change = state.change(Rule::ImmutableField, subject, "", what);
    let place = Some(state.place(file, &format!("{at}{field}")));
    let remedy = format!("keep `{path}`, or give the object another name");
    Change { place, ..change }.with_remedy(remedy)
}

/// By name, with their places in the CSV.
fn deployments(state: &State) -> BTreeMap<&str, (String, &Value)> {
    let all = object::list(&state.csv, DEPLOYMENTS).iter().enumerate();
    all.map(|(at, it)| (object::name_of(it), (format!("{DEPLOYMENTS}/{at}"), it))).collect()
}

fn containers(deployment: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/spec/template/spec/containers", "/spec/template/spec/initContainers"];
    lists.into_iter().flat_map(|it| object::list(deployment, it))
}

/// Images of the containers and the volumes, by their names.
fn images(old: &Value, new: &Value, tell: &mut impl FnMut(Rule, String)) {
    fn all(deployment: &Value) -> BTreeMap<(&str, &str), &str> {
        let of_containers = containers(deployment)
            .map(|it| (("container", object::name_of(it)), object::text(it, "/image")));
        let of_volumes =
            related_images::volumes(deployment).map(|(name, image)| (("volume", name), image));
        of_containers.chain(of_volumes).collect()
    }
    let (before, after) = (all(old), all(new));
    for (key, image) in &after {
        let (kind, name) = key;
        match before.get(key) {
            Some(was) if was == image => {}
            Some(was) => tell(
                Rule::Image,
                format!("the image of the {kind} `{name}` is `{image}`, and was `{was}`"),
            ),
            None => {
                tell(Rule::Image, format!("the {kind} `{name}` with the image `{image}` is added"));
            }
        }
    }
    for ((kind, name), image) in before.iter().filter(|it| !after.contains_key(it.0)) {
        tell(Rule::Image, format!("the {kind} `{name}` with the image `{image}` is removed"));
    }
}

/// Variables of the containers that both have.
fn variables(
    old: &Value,
    new: &Value,
    mirrored: &BTreeSet<&str>,
    tell: &mut impl FnMut(Rule, String),
) {
    fn all(container: &Value) -> BTreeMap<&str, &Value> {
        object::list(container, "/env").iter().map(|it| (object::name_of(it), it)).collect()
    }
    let is_reported = |it: &Value| {
        object::name_of(it).starts_with(related_images::PREFIX)
            && mirrored.contains(object::text(it, "/value"))
    };
    for container in containers(new) {
        let name = object::name_of(container);
        let Some(other) = containers(old).find(|it| object::name_of(it) == name) else { continue };
        let (were, are) = (all(other), all(container));
        for (variable, value) in are.iter().filter(|it| !is_reported(it.1)) {
            let what = match were.get(variable) {
                None => "is added",
                Some(was) if was != value => "has another value",
                Some(_) => continue,
            };
            tell(Rule::Environment, format!("the variable `{variable}` of `{name}` {what}"));
        }
        for (variable, was) in were.iter().filter(|it| !are.contains_key(it.0)) {
            if !is_reported(was) {
                tell(
                    Rule::Environment,
                    format!("the variable `{variable}` of `{name}` is removed"),
                );
            }
        }
    }
}

/// The related images that only one of the bundles has: those changes are reported as images.
fn mirrored<'a>(old: &'a State, new: &'a State) -> BTreeSet<&'a str> {
    fn all(state: &State) -> BTreeSet<&str> {
        let list = object::list(&state.csv, "/spec/relatedImages");
        list.iter().map(|it| object::text(it, "/image")).collect()
    }
    all(old).symmetric_difference(&all(new)).copied().collect()
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
    for (path, object) in new.objects.iter().filter(compared) {
        let same = old.objects.iter().find(|it| title(&it.1) == title(object));
        let fields: Vec<_> = same.iter().flat_map(|it| immutable::changed(&it.1, object)).collect();
        for field in &fields {
            res.push(refused(new, path, &title(object), "", field));
        }
        for it in same.iter().flat_map(|it| differences(&it.1, object)) {
            let part = it.new.as_ref().or(it.old.as_ref());
            let is_reported =
                part.is_some_and(|it| fields.iter().any(|at| it.pointer.starts_with(at)));
            if is_reported || is_harmless(&it.path) {
                continue;
            }
            let change = new.change(Rule::ObjectChanged, &title(object), "", pods::text(&it));
            let at = it.new.as_ref().map_or("", |it| it.pointer.as_str());
            res.push(Change { place: Some(new.place(path, at)), ..change });
        }
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

/// Whether a difference in a manifest has rules of its own, or nobody depends on it.
fn is_harmless(path: &str) -> bool {
    let path = path.split('[').next().unwrap_or_default();
    matches!(path, "rules" | "subjects" | "roleRef" | "metadata.creationTimestamp")
        || path.starts_with("roleRef.")
        || path == "status"
        || path.starts_with("status.")
}
