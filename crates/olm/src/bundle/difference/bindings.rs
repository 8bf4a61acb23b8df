//! Bindings that are manifests of their own: who has which role.

use std::collections::BTreeMap;

use super::{Change, Rule, State};
use crate::bundle::object;
use go_data::yaml::Value;

/// The binding, its subject, and its role, as texts.
type Grant = [String; 3];

/// Each grant with its file, and the JSON pointer of the subject.
type Grants<'a> = BTreeMap<Grant, (&'a str, String)>;

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) {
    let (before, after) = (grants(old), grants(new));
    for ([binding, subject, role], (path, at)) in without(&after, &before) {
        let what = format!("`{subject}` is bound to `{role}`");
        let change = new.change(Rule::PermissionAdded, binding, "", what);
        let change = change.with_remedy("check that this subject needs the role");
        res.push(Change { place: Some(new.place(path, at)), ..change });
    }
    for ([binding, subject, role], (path, at)) in without(&before, &after) {
        let what = format!("`{subject}` is no longer bound to `{role}`");
        let change = old.change(Rule::PermissionRemoved, binding, "", what);
        res.push(Change { place: Some(old.place(path, at)), ..change }.in_old());
    }
}

fn without<'a>(
    all: &'a Grants,
    others: &'a Grants,
) -> impl Iterator<Item = (&'a Grant, &'a (&'a str, String))> {
    all.iter().filter(|it| !others.contains_key(it.0))
}

fn grants(state: &State) -> Grants<'_> {
    let mut res = Grants::new();
    let is_binding = |it: &Value| matches!(object::kind(it), "RoleBinding" | "ClusterRoleBinding");
    for (path, binding) in state.objects.iter().filter(|it| is_binding(&it.1)) {
        let title = format!("{}/{}", object::kind(binding), object::name(binding));
        let role = ["/roleRef/kind", "/roleRef/name"].map(|it| object::text(binding, it)).join("/");
        for (at, subject) in object::list(binding, "/subjects").iter().enumerate() {
            let parts = ["/kind", "/namespace", "/name"].map(|it| object::text(subject, it));
            let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
            let grant = [title.clone(), parts.join("/"), role.clone()];
            res.insert(grant, (path, format!("/subjects/{at}")));
        }
    }
    res
}
