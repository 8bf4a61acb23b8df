//! Permissions gained and lost, by each service account and each role. Rules are taken apart into single rights, so that
//! it does not matter how they are grouped, and wildcards cover what they match.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;

use super::{Change, Rule, State};
use crate::bundle::object;
use diagnostics::Hint as _;
use go_data::yaml::Value;

/// No operator has more; a file that has is made to do harm.
const MOST: usize = 200_000;

/// In which namespaces a right holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Everywhere,
    Targets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum On<'a> {
    /// A resource of a group; an object of this name only, if there is one.
    Resource {
        group: &'a str,
        resource: &'a str,
        name: Option<&'a str>,
    },
    Url(&'a str),
}

type Right<'a> = (Scope, On<'a>, &'a str);

/// Each right with the JSON pointer of the rule that grants it.
type Rights<'a> = BTreeMap<Right<'a>, String>;

/// A service account or a role.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Holder<'a> {
    kind: &'a str,
    name: &'a str,
}

const ACCOUNT: &str = "ServiceAccount";

/// How the labels begin by which the server adds a ClusterRole's rules to another one; the rest is that one's name.
const AGGREGATION: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// The rights of every holder, and the file that grants them.
type Holders<'a> = BTreeMap<Holder<'a>, (&'a str, Rights<'a>)>;

pub fn compare(old: &State, new: &State, res: &mut Vec<Change>) -> anyhow::Result<()> {
    let (before, after) = (holders(old)?, holders(new)?);
    let none = Rights::new();
    for (holder, (path, rights)) in &after {
        let Some(other) = counterpart(&before, holder, &none) else { continue };
        let unless = match holder.selection(old) {
            Some(_) => ", unless a ClusterRole that `aggregationRule` selected allowed it before",
            None => "",
        };
        for (at, text) in grouped(rights, other) {
            let (who, remedy) = holder.words();
            let what = format!("{who} may now {text}{unless}");
            let change = new.change(Rule::PermissionAdded, &holder.title(), "", what);
            let place = Some(new.place(path, &at));
            res.push(Change { place, ..change }.with_remedy(remedy));
        }
    }
    for (holder, (path, rights)) in &before {
        let Some(other) = counterpart(&after, holder, &none) else { continue };
        let unless = match holder.selection(new) {
            Some(_) => ", unless a ClusterRole that `aggregationRule` selects allows it",
            None => "",
        };
        for (at, text) in grouped(rights, other) {
            let what = format!("{} may no longer {text}{unless}", holder.words().0);
            let change = old.change(Rule::PermissionRemoved, &holder.title(), "", what);
            res.push(Change { place: Some(old.place(path, &at)), ..change }.in_old());
        }
    }
    for (holder, (path, _)) in after.iter().filter(|it| before.contains_key(it.0)) {
        selections(holder, (old, before[holder].0), (new, path), res);
    }
    Ok(())
}

/// Reports that a role gets its rules from other ClusterRoles, or no longer from the same ones. Only a cluster knows
/// which they are.
fn selections(
    holder: &Holder<'_>,
    (old, old_path): (&State, &str),
    (new, new_path): (&State, &str),
    res: &mut Vec<Change>,
) {
    let (before, after) = (holder.selection(old), holder.selection(new));
    let at = "/aggregationRule";
    if after.is_some() && before != after {
        let what = "users with this role may now do what the ClusterRoles that `aggregationRule` selects allow, which only a cluster knows";
        let change = new.change(Rule::PermissionAdded, &holder.title(), "", what.to_owned());
        let place = Some(new.place(new_path, at));
        let remedy = "check the ClusterRoles with these labels on the clusters of your users";
        res.push(Change { place, ..change }.with_remedy(remedy));
    }
    if before.is_some() && before != after {
        let what = "users with this role may no longer do what the ClusterRoles that `aggregationRule` selected allow, which only a cluster knows";
        let change = old.change(Rule::PermissionRemoved, &holder.title(), "", what.to_owned());
        res.push(Change { place: Some(old.place(old_path, at)), ..change }.in_old());
    }
}

/// The selectors of ClusterRoles whose rules the server writes into this one, in place of its own.
fn selection(role: &Value) -> Option<&Value> {
    role.get("aggregationRule").filter(|it| !it.is_null())
}

/// The rights of a holder in the other bundle. A role that it has not is reported as a manifest.
fn counterpart<'a, 'b>(
    holders: &'b Holders<'a>,
    holder: &Holder<'a>,
    none: &'b Rights<'a>,
) -> Option<&'b Rights<'a>> {
    match holders.get(holder) {
        Some((_, rights)) => Some(rights),
        None => (holder.kind == ACCOUNT || holder.is_aggregated()).then_some(none),
    }
}

impl Holder<'_> {
    fn selection<'a>(&self, state: &'a State) -> Option<&'a Value> {
        let is_it = |it: &&Value| {
            self.kind == "ClusterRole"
                && object::kind(it) == self.kind
                && object::name(it) == self.name
        };
        selection(state.objects.iter().map(|it| &it.1).find(is_it)?)
    }

    fn title(&self) -> String {
        let kind = if self.is_aggregated() { "ClusterRole" } else { self.kind };
        format!("{kind}/{}", self.name)
    }

    /// Whether these are the rights that a role adds to another one.
    fn is_aggregated(&self) -> bool {
        self.kind.starts_with(AGGREGATION)
    }

    /// How messages name whoever has the rights, and what to do when there are more.
    fn words(&self) -> (&'static str, &'static str) {
        match self.kind {
            ACCOUNT => (
                "the service account",
                "check that the operator needs it; for OLM v1, the service account that installs the operator needs it as well",
            ),
            _ if self.is_aggregated() => (
                "users with a role that this one is added to",
                "check that everybody with these roles of the cluster may",
            ),
            _ => ("users with this role", "check the users with this role"),
        }
    }
}

/// The service accounts of the CSV, and the roles that are manifests of their own.
fn holders(state: &State) -> anyhow::Result<Holders<'_>> {
    let mut res = Holders::new();
    let mut left = MOST;
    for (field, scope) in
        [("clusterPermissions", Scope::Everywhere), ("permissions", Scope::Targets)]
    {
        let at = format!("/spec/install/spec/{field}");
        for (place, entry) in object::list(&state.csv, &at).iter().enumerate() {
            let name = object::text(entry, "/serviceAccountName");
            let holder = Holder { kind: ACCOUNT, name };
            let (_, rights) = res.entry(holder).or_insert((&state.csv_path, Rights::new()));
            add(entry, scope, &format!("{at}/{place}/rules"), &mut left, rights)?;
        }
    }
    for (path, role) in &state.objects {
        let scope = match object::kind(role) {
            "Role" => Scope::Targets,
            "ClusterRole" => Scope::Everywhere,
            _ => continue,
        };
        let holder = Holder { kind: object::kind(role), name: object::name(role) };
        let (_, rights) = res.entry(holder).or_insert((path, Rights::new()));
        if selection(role).is_some() {
            continue;
        }
        add(role, scope, "/rules", &mut left, rights)?;
        let labels = role["metadata"]["labels"].as_object().into_iter().flatten();
        let targets = labels.filter(|(name, on)| name.starts_with(AGGREGATION) && **on == "true");
        for (kind, _) in targets.filter(|_| scope == Scope::Everywhere) {
            let holder = Holder { kind, name: object::name(role) };
            let (_, rights) = res.entry(holder).or_insert((path, Rights::new()));
            add(role, scope, "/rules", &mut left, rights)?;
        }
    }
    Ok(res)
}

/// Adds the rights of an object's `rules`, which are at a JSON pointer of its file, while some are `left`.
fn add<'a>(
    entry: &'a Value,
    scope: Scope,
    at: &str,
    left: &mut usize,
    res: &mut Rights<'a>,
) -> anyhow::Result<()> {
    for (place, rule) in object::list(entry, "/rules").iter().enumerate() {
        let texts = |field| -> Vec<&'a str> { object::texts(rule, field).collect() };
        let (groups, resources) = (texts("/apiGroups"), texts("/resources"));
        let (verbs, urls) = (texts("/verbs"), texts("/nonResourceURLs"));
        let mut names: Vec<Option<&str>> = texts("/resourceNames").into_iter().map(Some).collect();
        if names.is_empty() {
            names.push(None);
        }
        let count = groups
            .len()
            .checked_mul(resources.len())
            .and_then(|it| it.checked_mul(names.len())?.checked_add(urls.len()))
            .and_then(|it| it.checked_mul(verbs.len()));
        let Some(rest) = count.and_then(|it| left.checked_sub(it)) else {
            return Err(anyhow::format_err!("the rules grant more than {MOST} single permissions"))
                .with_context(|| format!("cannot read `{at}/{place}`"))
                .hint("grant fewer, or write `*`");
        };
        *left = rest;
        let mut on: Vec<On> = urls.into_iter().map(On::Url).collect();
        for group in &groups {
            for resource in &resources {
                on.extend(names.iter().map(|name| On::Resource { group, resource, name: *name }));
            }
        }
        for on in on {
            for verb in &verbs {
                res.entry((scope, on, verb)).or_insert_with(|| format!("{at}/{place}"));
            }
        }
    }
    Ok(())
}

/// Rights as others are looked up in them.
struct Cover<'a, 'b> {
    rights: &'b Rights<'a>,
    /// What is before the `*` of URLs. None begins with another one: the shorter one matches all that the longer one does.
    prefixes: BTreeMap<(Scope, &'a str), BTreeSet<&'a str>>,
}

impl<'a, 'b> Cover<'a, 'b> {
    fn new(rights: &'b Rights<'a>) -> Self {
        let mut all: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for (scope, on, verb) in rights.keys() {
            if let On::Url(url) = on
                && let Some(prefix) = url.strip_suffix('*')
            {
                all.entry((*scope, *verb)).or_default().insert(prefix);
            }
        }
        for prefixes in all.values_mut() {
            let mut shortest: Option<&str> = None;
            prefixes.retain(|it| {
                let is_covered = shortest.is_some_and(|short| it.starts_with(short));
                if !is_covered {
                    shortest = Some(it);
                }
                !is_covered
            });
        }
        Self { rights, prefixes: all }
    }

    /// Whether some of the rights includes another one.
    fn has(&self, (scope, on, verb): &Right) -> bool {
        let holds = |on: On| {
            let of_scope =
                |scope| ["*", verb].iter().any(|it| self.rights.contains_key(&(scope, on, it)));
            of_scope(Scope::Everywhere) || of_scope(*scope)
        };
        match *on {
            On::Resource { group, resource, name } => {
                let any = resource.split_once('/').map(|it| format!("*/{}", it.1));
                let resources = [Some(resource), Some("*"), any.as_deref()];
                [group, "*"].into_iter().any(|group| {
                    resources.iter().flatten().any(|resource| {
                        [name, None]
                            .into_iter()
                            .any(|name| holds(On::Resource { group, resource, name }))
                    })
                })
            }
            On::Url(url) => {
                let matches = |scope, verb| {
                    let prefixes = self.prefixes.get(&(scope, verb));
                    let nearest = prefixes.and_then(|it| it.range(..=url).next_back());
                    nearest.is_some_and(|it| url.starts_with(it))
                };
                let in_scope = |scope| matches(scope, "*") || matches(scope, *verb);
                holds(*on) || in_scope(Scope::Everywhere) || in_scope(*scope)
            }
        }
    }
}

/// Where, of which group, and which verbs.
type Phrase<'a> = (Scope, String, Vec<&'a str>);

/// What the one has and the other does not, as texts: verbs of the same things are told together, and things of the same
/// verbs. Each with the place of its first rule.
fn grouped(rights: &Rights, without: &Rights) -> Vec<(String, String)> {
    let without = Cover::new(without);
    let mut verbs: BTreeMap<(Scope, &On), (Vec<&str>, &str)> = BTreeMap::new();
    for (right, at) in rights.iter().filter(|it| !without.has(it.0)) {
        let (scope, on, verb) = right;
        let entry = verbs.entry((*scope, on)).or_insert_with(|| (Vec::new(), at));
        entry.0.push(verb);
    }
    let mut things: BTreeMap<Phrase, (Vec<String>, &str)> = BTreeMap::new();
    for ((scope, on), (verbs, at)) in verbs {
        let (of, thing) = match on {
            On::Resource { group, resource, name } => {
                let group = match *group {
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
mod tests;
