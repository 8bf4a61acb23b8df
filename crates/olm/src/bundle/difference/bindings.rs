//! Compares the bindings among the manifests: which subject has which role.

use std::collections::BTreeMap;

use super::{BundleSide, Change, Rule};
use crate::bundle::object;
use go_data::yaml::Value;

/// The binding, its subject, and its role, as texts.
type Grant = [String; 3];

/// Each grant with its file, and the JSON pointer of the subject.
type Grants<'a> = BTreeMap<Grant, (&'a str, String)>;

pub fn compare(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let (before, after) = (collect_grants(old), collect_grants(new));
    for ([binding, subject, role], (path, at)) in grants_only_in(&after, &before) {
        let what = format!("`{subject}` is bound to `{role}`");
        let change = new.change_at(Rule::PermissionAdded, binding, "", what);
        let change = change.with_remedy("check that this subject needs the role");
        changes.push(Change { place: Some(new.location(path, at)), ..change });
    }
    for ([binding, subject, role], (path, at)) in grants_only_in(&before, &after) {
        let what = format!("`{subject}` is no longer bound to `{role}`");
        let change = old.change_at(Rule::PermissionRemoved, binding, "", what);
        changes.push(Change { place: Some(old.location(path, at)), ..change }.in_old());
    }
}

fn grants_only_in<'a>(
    all: &'a Grants,
    others: &'a Grants,
) -> impl Iterator<Item = (&'a Grant, &'a (&'a str, String))> {
    all.iter().filter(|grant| !others.contains_key(grant.0))
}

fn collect_grants(state: &BundleSide) -> Grants<'_> {
    let mut grants = Grants::new();
    let is_binding =
        |object: &Value| matches!(object::kind(object), "RoleBinding" | "ClusterRoleBinding");
    for (path, binding) in state.objects.iter().filter(|object| is_binding(&object.1)) {
        let title = format!("{}/{}", object::kind(binding), object::name(binding));
        let role = ["/roleRef/kind", "/roleRef/name"]
            .map(|pointer| object::text(binding, pointer))
            .join("/");
        for (at, subject) in object::list(binding, "/subjects").iter().enumerate() {
            let parts =
                ["/kind", "/namespace", "/name"].map(|pointer| object::text(subject, pointer));
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let grant = [title.clone(), parts.join("/"), role.clone()];
            grants.insert(grant, (path, format!("/subjects/{at}")));
        }
    }
    grants
}
