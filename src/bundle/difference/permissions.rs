//! Permissions gained and lost. Rules are taken apart into single rights, so that it does not matter how they are
//! grouped, and wildcards cover what they match.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;

use super::{Change, Rule, State};
use crate::{bundle::object, yaml::Value};

/// No operator has more; a file that has is made to do harm.
const MOST: usize = 200_000;

/// In which namespaces a right holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Everywhere,
    Targets,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum On {
    /// A resource of a group; an object of this name only, if there is one.
    Resource {
        group: String,
        resource: String,
        name: Option<String>,
    },
    Url(String),
}

type Right = (Scope, On, String);

/// Each right with the JSON pointer of the rule that grants it.
type Rights = BTreeMap<Right, String>;

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) -> anyhow::Result<()> {
    let (before, after) = (of_csv(old)?, of_csv(new)?);
    for (at, text) in grouped(&after, &before) {
        let what = format!("the operator may now {text}");
        res.push(new.change(Rule::PermissionAdded, "CSV", &at, what).with_remedy(
            "check that the operator needs it; for OLM v1, the service account that installs the operator needs it as well",
        ));
    }
    for (at, text) in grouped(&before, &after) {
        let what = format!("the operator may no longer {text}");
        res.push(old.change(Rule::PermissionRemoved, "CSV", &at, what).in_old());
    }
    of_roles(old, new, res)
}

/// Roles that are manifests of their own, by kind and name.
fn of_roles(old: &State, new: &State, res: &mut Vec<Change>) -> anyhow::Result<()> {
    let is_role = |it: &&(String, Value)| matches!(object::kind(&it.1), "Role" | "ClusterRole");
    let title = |it: &Value| format!("{}/{}", object::kind(it), object::name(it));
    for (path, role) in new.objects.iter().filter(is_role) {
        let Some((old_path, other)) =
            old.objects.iter().filter(is_role).find(|it| title(&it.1) == title(role))
        else {
            continue;
        };
        let scope = match object::kind(role) {
            "Role" => Scope::Targets,
            _ => Scope::Everywhere,
        };
        let read = |role: &Value| -> anyhow::Result<Rights> {
            let mut rights = Rights::new();
            add(role, scope, "/rules", &mut rights)?;
            Ok(rights)
        };
        let (before, after) = (read(other)?, read(role)?);
        for (at, text) in grouped(&after, &before) {
            let what = format!("users with this role may now {text}");
            let change = new.change(Rule::PermissionAdded, &title(role), "", what);
            let change = change.with_remedy("check the users with this role");
            res.push(Change { place: Some(new.place(path, &at)), ..change });
        }
        for (at, text) in grouped(&before, &after) {
            let what = format!("users with this role may no longer {text}");
            let change = old.change(Rule::PermissionRemoved, &title(role), "", what);
            res.push(Change { place: Some(old.place(old_path, &at)), ..change }.in_old());
        }
    }
    Ok(())
}

/// The rights of every service account of a CSV.
fn of_csv(state: &State) -> anyhow::Result<Rights> {
    let mut res = Rights::new();
    for (field, scope) in
        [("clusterPermissions", Scope::Everywhere), ("permissions", Scope::Targets)]
    {
        let at = format!("/spec/install/spec/{field}");
        for (place, entry) in object::list(&state.csv, &at).iter().enumerate() {
            add(entry, scope, &format!("{at}/{place}/rules"), &mut res)?;
        }
    }
    Ok(res)
}

/// Adds the rights of an object's `rules`, which are at a JSON pointer of its file.
fn add(entry: &Value, scope: Scope, at: &str, res: &mut Rights) -> anyhow::Result<()> {
    for (place, rule) in object::list(entry, "/rules").iter().enumerate() {
        let texts = |field: &str| -> Vec<String> {
            object::texts(rule, field).map(str::to_owned).collect()
        };
        let (groups, resources) = (texts("/apiGroups"), texts("/resources"));
        let (verbs, urls) = (texts("/verbs"), texts("/nonResourceURLs"));
        let mut names: Vec<Option<String>> =
            texts("/resourceNames").into_iter().map(Some).collect();
        if names.is_empty() {
            names.push(None);
        }
        let count = [groups.len(), resources.len(), names.len(), verbs.len()]
            .into_iter()
            .try_fold(1usize, usize::checked_mul);
        if count.is_none_or(|it| MOST < it + res.len()) {
            bail!("the rules grant more than {MOST} single permissions");
        }
        let mut on: Vec<On> = urls.into_iter().map(On::Url).collect();
        for group in &groups {
            for resource in &resources {
                for name in &names {
                    let (group, resource) = (group.clone(), resource.clone());
                    on.push(On::Resource { group, resource, name: name.clone() });
                }
            }
        }
        for on in on {
            for verb in &verbs {
                res.entry((scope, on.clone(), verb.clone()))
                    .or_insert_with(|| format!("{at}/{place}"));
            }
        }
    }
    Ok(())
}

/// Whether some of these rights includes another one.
fn covers(rights: &Rights, (scope, on, verb): &Right) -> bool {
    let scopes = [Scope::Everywhere, *scope];
    let any = |text: &str| BTreeSet::from([text.to_owned(), "*".to_owned()]);
    let verbs = any(verb);
    match on {
        On::Resource { group, resource, name } => {
            let mut resources = any(resource);
            resources.extend(resource.split_once('/').map(|it| format!("*/{}", it.1)));
            let names = BTreeSet::from([name.clone(), None]);
            for scope in scopes {
                for group in any(group) {
                    for resource in &resources {
                        for name in &names {
                            for verb in &verbs {
                                let (group, resource) = (group.clone(), resource.clone());
                                let on = On::Resource { group, resource, name: name.clone() };
                                if rights.contains_key(&(scope, on, verb.clone())) {
                                    return true;
                                }
                            }
                        }
                    }
                }
            }
            false
        }
        On::Url(url) => rights.keys().any(|(other_scope, on, other_verb)| {
            let On::Url(pattern) = on else { return false };
            let prefix = pattern.strip_suffix('*');
            scopes.contains(other_scope)
                && verbs.contains(other_verb)
                && (pattern == url || prefix.is_some_and(|it| url.starts_with(it)))
        }),
    }
}

/// Where, of which group, and which verbs.
type Phrase<'a> = (Scope, String, Vec<&'a str>);

/// What the one has and the other does not, as texts: verbs of the same things are told together, and things of the same
/// verbs. Each with the place of its first rule.
fn grouped(rights: &Rights, without: &Rights) -> Vec<(String, String)> {
    let mut verbs: BTreeMap<(Scope, &On), (Vec<&str>, &str)> = BTreeMap::new();
    for (right, at) in rights.iter().filter(|it| !covers(without, it.0)) {
        let (scope, on, verb) = right;
        let entry = verbs.entry((*scope, on)).or_insert_with(|| (Vec::new(), at));
        entry.0.push(verb);
    }
    let mut things: BTreeMap<Phrase, (Vec<String>, &str)> = BTreeMap::new();
    for ((scope, on), (verbs, at)) in verbs {
        let (of, thing) = match on {
            On::Resource { group, resource, name } => {
                let group = match group.as_str() {
                    "" => "of the core group".to_owned(),
                    "*" => "of every group".to_owned(),
                    group => format!("of `{group}`"),
                };
                let name = name.as_ref().map(|it| format!(" named `{it}`")).unwrap_or_default();
                (group, format!("`{resource}`{name}"))
            }
            On::Url(url) => (String::new(), format!("`{url}`")),
        };
        things.entry((scope, of, verbs)).or_insert_with(|| (Vec::new(), at)).0.push(thing);
    }
    let text = |((scope, of, verbs), (things, at)): (Phrase, (Vec<String>, &str))| {
        let verbs: Vec<String> = verbs.iter().map(|it| format!("`{it}`")).collect();
        let of = if of.is_empty() { of } else { format!(" {of}") };
        let scope = match scope {
            Scope::Everywhere => "in the whole cluster",
            Scope::Targets => "in the namespaces that it watches",
        };
        (at.to_owned(), format!("{} {}{of} {scope}", verbs.join(", "), things.join(", ")))
    };
    things.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::json;

    fn rights(scope: Scope, rules: Value) -> Rights {
        let mut res = Rights::new();
        add(&json!({ "rules": rules }), scope, "", &mut res).expect("few rights");
        res
    }

    /// What the new rules grant and the old ones do not.
    fn check(old: Value, new: Value, expected: &[&str]) {
        let (old, new) = (rights(Scope::Everywhere, old), rights(Scope::Everywhere, new));
        let gained: Vec<String> = grouped(&new, &old).into_iter().map(|it| it.1).collect();
        assert_eq!(gained, expected);
    }

    fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
        json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
    }

    #[test]
    fn it_does_not_matter_how_rules_are_grouped() {
        let one = json!([rule("", &["pods", "secrets"], &["get", "list"])]);
        let apart = json!([
            rule("", &["secrets"], &["list", "get"]),
            rule("", &["pods"], &["list"]),
            rule("", &["pods"], &["get"])
        ]);
        check(one.clone(), apart.clone(), &[]);
        check(apart, one, &[]);
    }

    #[test]
    fn wildcards_cover_what_they_match() {
        let all = json!([rule("*", &["*"], &["*"])]);
        check(all.clone(), json!([rule("apps", &["deployments/scale"], &["get"])]), &[]);
        check(json!([]), all, &["`*` `*` of every group in the whole cluster"]);
        let scales = json!([rule("apps", &["*/scale"], &["get"])]);
        check(scales.clone(), json!([rule("apps", &["deployments/scale"], &["get"])]), &[]);
        check(
            scales,
            json!([rule("apps", &["deployments"], &["get"])]),
            &["`get` `deployments` of `apps` in the whole cluster"],
        );
        let verbs = json!([rule("", &["pods"], &["get", "list", "watch"])]);
        check(
            verbs,
            json!([rule("", &["pods"], &["*"])]),
            &["`*` `pods` of the core group in the whole cluster"],
        );
    }

    #[test]
    fn objects_of_one_name_are_less_than_all() {
        let all = json!([rule("", &["secrets"], &["get"])]);
        let mut named = rule("", &["secrets"], &["get"]);
        named["resourceNames"] = json!(["a"]);
        check(all.clone(), json!([named.clone()]), &[]);
        check(json!([named]), all, &["`get` `secrets` of the core group in the whole cluster"]);
    }

    #[test]
    fn urls_match_by_their_beginning() {
        let urls = |urls: Value| json!([{ "nonResourceURLs": urls, "verbs": ["get"] }]);
        check(urls(json!(["/metrics*"])), urls(json!(["/metrics/a"])), &[]);
        check(
            urls(json!(["/metrics"])),
            urls(json!(["/metrics", "/healthz"])),
            &["`get` `/healthz` in the whole cluster"],
        );
    }

    #[test]
    fn a_right_in_every_namespace_is_more() {
        let rules = json!([rule("", &["pods"], &["get"])]);
        let (cluster, targets) =
            (rights(Scope::Everywhere, rules.clone()), rights(Scope::Targets, rules));
        assert!(grouped(&targets, &cluster).is_empty());
        assert_eq!(grouped(&cluster, &targets).len(), 1);
    }

    #[test]
    fn rules_that_multiply_are_refused() {
        let many: Vec<String> = (0..1000).map(|it| it.to_string()).collect();
        let rules = json!([{ "apiGroups": many, "resources": many, "verbs": many }]);
        assert!(add(&json!({ "rules": rules }), Scope::Targets, "", &mut Rights::new()).is_err());
    }
}
