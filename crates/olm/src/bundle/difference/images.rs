//! Deployments: which there are, and their selectors, images and environment. Also the other manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::{BundleSide, Change, Rule, pods};
use crate::bundle::{object, related_images};
use go_data::{
    kubernetes::immutable,
    yaml::{Value, diff_values, json},
};

const DEPLOYMENTS: &str = "/spec/install/spec/deployments";

pub fn compare(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let (before, after) = (deployments_by_name(old), deployments_by_name(new));
    let mirrored = changed_related_images(old, new);
    for (name, (at, deployment)) in &after {
        let subject = format!("Deployment/{name}");
        let Some((_, other)) = before.get(name) else {
            let what = "the Deployment is added".to_owned();
            changes.push(new.change_at(Rule::DeploymentAdded, &subject, at, what));
            pods::compare(&Value::Null, (at, deployment), new, changes);
            continue;
        };
        let object = |deployment: &Value| {
            let spec = deployment.get("spec");
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec })
        };
        for field in immutable::changed_immutable_fields(&object(other), &object(deployment)) {
            changes.push(immutable_change(new, &new.csv_path, &subject, at, field));
        }
        let pod = format!("{at}/spec/template/spec");
        let (was, is) = (object::service_account(other), object::service_account(deployment));
        if was != is {
            let what = format!("the service account is `{is}`, and was `{was}`");
            let at = format!("{pod}/serviceAccountName");
            changes.push(
                new.change_at(Rule::ServiceAccountChanged, &subject, &at, what)
                    .with_remedy("check that it has the permissions that the operator needs"),
            );
        }
        let mut tell = |rule, text| changes.push(new.change_at(rule, &subject, &pod, text));
        compare_images(other, deployment, &mut tell);
        compare_variables(other, deployment, &mirrored, &mut tell);
        pods::compare(other, (at, deployment), new, changes);
    }
    for (name, (at, _)) in before.iter().filter(|entry| !after.contains_key(entry.0)) {
        let what = "the Deployment is removed".to_owned();
        let change =
            old.change_at(Rule::DeploymentRemoved, &format!("Deployment/{name}"), at, what);
        changes.push(change.in_old());
    }
    compare_related_images(old, new, changes);
    compare_objects(old, new, changes);
}

/// Reports a change of an immutable field.
fn immutable_change(
    state: &BundleSide,
    file: &str,
    subject: &str,
    at: &str,
    field: &str,
) -> Change {
    let path = field.trim_start_matches('/').replace('/', ".");
    let what = format!("`{path}` changed, and API servers refuse that");
    let change = state.change_at(Rule::ImmutableField, subject, "", what);
    let place = Some(state.location(file, &format!("{at}{field}")));
    let remedy = format!("keep `{path}`, or give the object another name");
    Change { place, ..change }.with_remedy(remedy)
}

/// Returns the Deployments by name, each with its location in the CSV.
fn deployments_by_name(state: &BundleSide) -> BTreeMap<&str, (String, &Value)> {
    let deployments = object::list(&state.csv, DEPLOYMENTS).iter().enumerate();
    deployments
        .map(|(at, deployment)| {
            (object::name_of(deployment), (format!("{DEPLOYMENTS}/{at}"), deployment))
        })
        .collect()
}

fn containers_of(deployment: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/spec/template/spec/containers", "/spec/template/spec/initContainers"];
    lists.into_iter().flat_map(|pointer| object::list(deployment, pointer))
}

/// Compares the images of the containers and of the volumes, by name.
fn compare_images(old: &Value, new: &Value, tell: &mut impl FnMut(Rule, String)) {
    fn images_by_name(deployment: &Value) -> BTreeMap<(&str, &str), &str> {
        let of_containers = containers_of(deployment).map(|container| {
            (("container", object::name_of(container)), object::text(container, "/image"))
        });
        let of_volumes = related_images::image_volumes(deployment)
            .map(|(name, image)| (("volume", name), image));
        of_containers.chain(of_volumes).collect()
    }
    let (before, after) = (images_by_name(old), images_by_name(new));
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
    for ((kind, name), image) in before.iter().filter(|entry| !after.contains_key(entry.0)) {
        tell(Rule::Image, format!("the {kind} `{name}` with the image `{image}` is removed"));
    }
}

/// Compares the variables of the containers that both Deployments have.
fn compare_variables(
    old: &Value,
    new: &Value,
    mirrored: &BTreeSet<&str>,
    tell: &mut impl FnMut(Rule, String),
) {
    fn variables_by_name(container: &Value) -> BTreeMap<&str, &Value> {
        object::list(container, "/env")
            .iter()
            .map(|variable| (object::name_of(variable), variable))
            .collect()
    }
    let is_reported = |variable: &Value| {
        object::name_of(variable).starts_with(related_images::PREFIX)
            && mirrored.contains(object::text(variable, "/value"))
    };
    for container in containers_of(new) {
        let name = object::name_of(container);
        let Some(other) = containers_of(old).find(|container| object::name_of(container) == name)
        else {
            continue;
        };
        let (were, are) = (variables_by_name(other), variables_by_name(container));
        for (variable, value) in are.iter().filter(|entry| !is_reported(entry.1)) {
            let what = match were.get(variable) {
                None => "is added",
                Some(was) if was != value => "has another value",
                Some(_) => continue,
            };
            tell(Rule::Environment, format!("the variable `{variable}` of `{name}` {what}"));
        }
        for (variable, was) in were.iter().filter(|entry| !are.contains_key(entry.0)) {
            if !is_reported(was) {
                tell(
                    Rule::Environment,
                    format!("the variable `{variable}` of `{name}` is removed"),
                );
            }
        }
    }
}

/// Returns the related images that only one of the bundles has. Their changes are reported as changes of images.
fn changed_related_images<'a>(old: &'a BundleSide, new: &'a BundleSide) -> BTreeSet<&'a str> {
    fn related_image_set(state: &BundleSide) -> BTreeSet<&str> {
        let list = object::list(&state.csv, "/spec/relatedImages");
        list.iter().map(|related| object::text(related, "/image")).collect()
    }
    related_image_set(old).symmetric_difference(&related_image_set(new)).copied().collect()
}

fn compare_related_images(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let at = "/spec/relatedImages";
    let pairs = |state: &BundleSide| -> Vec<(String, String)> {
        let related = object::list(&state.csv, at).iter();
        related
            .map(|related| {
                (object::name_of(related).to_owned(), object::text(related, "/image").to_owned())
            })
            .collect()
    };
    let (before, after) = (pairs(old), pairs(new));
    for (place, pair) in after.iter().enumerate().filter(|entry| !before.contains(entry.1)) {
        let (name, image) = pair;
        let what = match before.iter().find(|other| other.0 == *name && !after.contains(other)) {
            Some((_, was)) => format!("the related image `{name}` is `{image}`, and was `{was}`"),
            None => format!("the related image `{image}` is added"),
        };
        let change = new.change_at(Rule::Image, "CSV", &format!("{at}/{place}"), what);
        changes.push(change.with_remedy("disconnected clusters have to mirror it"));
    }
    for (place, pair) in before.iter().enumerate() {
        if !after.iter().any(|other| other.0 == pair.0 || other.1 == pair.1) {
            let what = format!("the related image `{}` is removed", pair.1);
            changes
                .push(old.change_at(Rule::Image, "CSV", &format!("{at}/{place}"), what).in_old());
        }
    }
}

/// Compares the other manifests. CRDs are compared by their own rules, and roles as permissions.
fn compare_objects(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let title = |object: &Value| format!("{}/{}", object::kind(object), object::name(object));
    let has = |state: &BundleSide, object: &Value| {
        state.objects.iter().any(|other| title(&other.1) == title(object))
    };
    let compared = |entry: &&(String, Value)| object::kind(&entry.1) != "CustomResourceDefinition";
    for (path, object) in new.objects.iter().filter(compared).filter(|entry| !has(old, &entry.1)) {
        let change = new.change_at(
            Rule::ObjectAdded,
            &title(object),
            "",
            "the manifest is added".to_owned(),
        );
        changes.push(Change { place: Some(new.location(path, "")), ..change });
    }
    for (path, object) in new.objects.iter().filter(compared) {
        let same = old.objects.iter().find(|old_entry| title(&old_entry.1) == title(object));
        let fields: Vec<_> = same
            .iter()
            .flat_map(|old_entry| immutable::changed_immutable_fields(&old_entry.1, object))
            .collect();
        for field in &fields {
            changes.push(immutable_change(new, path, &title(object), "", field));
        }
        for difference in same.iter().flat_map(|old_entry| diff_values(&old_entry.1, object)) {
            let part = difference.new.as_ref().or(difference.old.as_ref());
            let is_reported =
                part.is_some_and(|part| fields.iter().any(|at| part.pointer.starts_with(at)));
            if is_reported || is_harmless(&difference.path) {
                continue;
            }
            let change = new.change_at(
                Rule::ObjectChanged,
                &title(object),
                "",
                pods::describe_difference(&difference),
            );
            let at = difference.new.as_ref().map_or("", |part| part.pointer.as_str());
            changes.push(Change { place: Some(new.location(path, at)), ..change });
        }
    }
    for (path, object) in old.objects.iter().filter(compared).filter(|entry| !has(new, &entry.1)) {
        let change = old.change_at(
            Rule::ObjectRemoved,
            &title(object),
            "",
            "the manifest is removed".to_owned(),
        );
        changes.push(Change { place: Some(old.location(path, "")), ..change }.in_old());
    }
}

/// Returns whether a difference in a manifest has its own rules, or has no effect.
fn is_harmless(path: &str) -> bool {
    let path = path.split('[').next().unwrap_or_default();
    matches!(path, "rules" | "subjects" | "roleRef" | "metadata.creationTimestamp")
        || path.starts_with("roleRef.")
        || path == "status"
        || path.starts_with("status.")
}
