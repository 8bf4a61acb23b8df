//! Permissions gained and lost, by each service account and each role. Rules are taken apart into single rights, so that
//! it does not matter how they are grouped, and wildcards cover what they match.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;

use super::{BundleSide, Change, Rule};
use crate::bundle::object;
use diagnostics::Hint as _;
use go_data::yaml::Value;

/// The limit for single rights. No real operator has more, and a hostile bundle must not exhaust the memory.
const MOST: usize = 200_000;

/// In which namespaces a right holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Everywhere,
    Targets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RightTarget<'a> {
    /// A resource of a group; an object of this name only, if there is one.
    Resource {
        group: &'a str,
        resource: &'a str,
        name: Option<&'a str>,
    },
    Url(&'a str),
}

type Right<'a> = (Scope, RightTarget<'a>, &'a str);

/// Each right with the JSON pointer of the rule that grants it.
type Rights<'a> = BTreeMap<Right<'a>, String>;

/// A service account or a role.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Holder<'a> {
    kind: &'a str,
    name: &'a str,
}

const ACCOUNT: &str = "ServiceAccount";

/// The prefix of the labels by which the server adds the rules of a ClusterRole to another one, whose name follows
/// it.
const AGGREGATION: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// The rights of every holder, and the file that grants them.
type Holders<'a> = BTreeMap<Holder<'a>, (&'a str, Rights<'a>)>;

pub fn compare(
    old: &BundleSide,
    new: &BundleSide,
    changes: &mut Vec<Change>,
) -> anyhow::Result<()> {
    let (before, after) = (collect_holders(old)?, collect_holders(new)?);
    let none = Rights::new();
    for (holder, (path, rights)) in &after {
        let Some(other) = counterpart_rights(&before, holder, &none) else { continue };
        let unless = match holder.aggregation_rule_in(old) {
            Some(_) => ", unless a ClusterRole that `aggregationRule` selected allowed it before",
            None => "",
        };
        for (at, text) in group_rights(rights, other) {
            let (who, remedy) = holder.description_and_remedy();
            let what = format!("{who} may now {text}{unless}");
            let change = new.change_at(Rule::PermissionAdded, &holder.title(), "", what);
            let place = Some(new.location(path, &at));
            changes.push(Change { place, ..change }.with_remedy(remedy));
        }
    }
    for (holder, (path, rights)) in &before {
        let Some(other) = counterpart_rights(&after, holder, &none) else { continue };
        let unless = match holder.aggregation_rule_in(new) {
            Some(_) => ", unless a ClusterRole that `aggregationRule` selects allows it",
            None => "",
        };
        for (at, text) in group_rights(rights, other) {
            let what =
                format!("{} may no longer {text}{unless}", holder.description_and_remedy().0);
            let change = old.change_at(Rule::PermissionRemoved, &holder.title(), "", what);
            changes.push(Change { place: Some(old.location(path, &at)), ..change }.in_old());
        }
    }
    for (holder, (path, _)) in after.iter().filter(|entry| before.contains_key(entry.0)) {
        compare_aggregation(holder, (old, before[holder].0), (new, path), changes);
    }
    Ok(())
}

/// Reports that a role gets its rules from other ClusterRoles, or no longer from the same ones. Only a cluster knows
/// which they are.
fn compare_aggregation(
    holder: &Holder<'_>,
    (old, old_path): (&BundleSide, &str),
    (new, new_path): (&BundleSide, &str),
    changes: &mut Vec<Change>,
) {
    let (before, after) = (holder.aggregation_rule_in(old), holder.aggregation_rule_in(new));
    let at = "/aggregationRule";
    if after.is_some() && before != after {
        let what = "users with this role may now do what the ClusterRoles that `aggregationRule` selects allow, which only a cluster knows";
        let change = new.change_at(Rule::PermissionAdded, &holder.title(), "", what.to_owned());
        let place = Some(new.location(new_path, at));
        let remedy = "check the ClusterRoles with these labels on the clusters of your users";
        changes.push(Change { place, ..change }.with_remedy(remedy));
    }
    if before.is_some() && before != after {
        let what = "users with this role may no longer do what the ClusterRoles that `aggregationRule` selected allow, which only a cluster knows";
        let change = old.change_at(Rule::PermissionRemoved, &holder.title(), "", what.to_owned());
        changes.push(Change { place: Some(old.location(old_path, at)), ..change }.in_old());
    }
}

/// Returns the rule that selects ClusterRoles, whose rules then replace those of this one on the server.
fn aggregation_rule(role: &Value) -> Option<&Value> {
    role.get("aggregationRule").filter(|rule| !rule.is_null())
}

/// Returns the rights of a holder in the other bundle. A role that the bundle does not have is reported as a
/// manifest.
fn counterpart_rights<'a, 'b>(
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
    fn aggregation_rule_in<'a>(&self, state: &'a BundleSide) -> Option<&'a Value> {
        let is_it = |role: &&Value| {
            self.kind == "ClusterRole"
                && object::kind(role) == self.kind
                && object::name(role) == self.name
        };
        aggregation_rule(state.objects.iter().map(|entry| &entry.1).find(is_it)?)
    }

    fn title(&self) -> String {
        let kind = if self.is_aggregated() { "ClusterRole" } else { self.kind };
        format!("{kind}/{}", self.name)
    }

    /// Returns whether these are the rights that a role adds to another one.
    fn is_aggregated(&self) -> bool {
        self.kind.starts_with(AGGREGATION)
    }

    /// Returns the description of the holder for messages, and the remedy if it gains rights.
    fn description_and_remedy(&self) -> (&'static str, &'static str) {
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

/// Collects the service accounts of the CSV, and the roles among the manifests.
fn collect_holders(state: &BundleSide) -> anyhow::Result<Holders<'_>> {
    let mut holders = Holders::new();
    let mut left = MOST;
    for (field, scope) in
        [("clusterPermissions", Scope::Everywhere), ("permissions", Scope::Targets)]
    {
        let at = format!("/spec/install/spec/{field}");
        for (place, entry) in object::list(&state.csv, &at).iter().enumerate() {
            let name = object::text(entry, "/serviceAccountName");
            let holder = Holder { kind: ACCOUNT, name };
            let (_, rights) = holders.entry(holder).or_insert((&state.csv_path, Rights::new()));
            add_rights(entry, scope, &format!("{at}/{place}/rules"), &mut left, rights)?;
        }
    }
    for (path, role) in &state.objects {
        let scope = match object::kind(role) {
            "Role" => Scope::Targets,
            "ClusterRole" => Scope::Everywhere,
            _ => continue,
        };
        let holder = Holder { kind: object::kind(role), name: object::name(role) };
        let (_, rights) = holders.entry(holder).or_insert((path, Rights::new()));
        if aggregation_rule(role).is_some() {
            continue;
        }
        add_rights(role, scope, "/rules", &mut left, rights)?;
        let labels = role["metadata"]["labels"].as_object().into_iter().flatten();
        let targets = labels.filter(|(name, on)| name.starts_with(AGGREGATION) && **on == "true");
        for (kind, _) in targets.filter(|_| scope == Scope::Everywhere) {
            let holder = Holder { kind, name: object::name(role) };
            let (_, rights) = holders.entry(holder).or_insert((path, Rights::new()));
            add_rights(role, scope, "/rules", &mut left, rights)?;
        }
    }
    Ok(holders)
}

/// Adds the rights of an object's `rules`, which are at a JSON pointer of its file, while some are `left`.
fn add_rights<'a>(
    entry: &'a Value,
    scope: Scope,
    at: &str,
    left: &mut usize,
    rights: &mut Rights<'a>,
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
            .and_then(|count| count.checked_mul(names.len())?.checked_add(urls.len()))
            .and_then(|count| count.checked_mul(verbs.len()));
        let Some(rest) = count.and_then(|count| left.checked_sub(count)) else {
            return Err(anyhow::format_err!("the rules grant more than {MOST} single permissions"))
                .with_context(|| format!("cannot read `{at}/{place}`"))
                .hint("grant fewer, or write `*`");
        };
        *left = rest;
        let mut on: Vec<RightTarget> = urls.into_iter().map(RightTarget::Url).collect();
        for group in &groups {
            for resource in &resources {
                on.extend(names.iter().map(|name| RightTarget::Resource {
                    group,
                    resource,
                    name: *name,
                }));
            }
        }
        for on in on {
            for verb in &verbs {
                rights.entry((scope, on, verb)).or_insert_with(|| format!("{at}/{place}"));
            }
        }
    }
    Ok(())
}

/// A set of rights that can be asked whether it includes another right.
struct RightsCover<'a, 'b> {
    rights: &'b Rights<'a>,
    /// The text before the `*` of URLs. No prefix begins with another one, because the shorter one matches the same
    /// URLs.
    prefixes: BTreeMap<(Scope, &'a str), BTreeSet<&'a str>>,
}

impl<'a, 'b> RightsCover<'a, 'b> {
    fn new(rights: &'b Rights<'a>) -> Self {
        let mut prefixes_by_verb: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for (scope, on, verb) in rights.keys() {
            if let RightTarget::Url(url) = on
                && let Some(prefix) = url.strip_suffix('*')
            {
                prefixes_by_verb.entry((*scope, *verb)).or_default().insert(prefix);
            }
        }
        for prefixes in prefixes_by_verb.values_mut() {
            let mut shortest: Option<&str> = None;
            prefixes.retain(|prefix| {
                let is_covered = shortest.is_some_and(|short| prefix.starts_with(short));
                if !is_covered {
                    shortest = Some(prefix);
                }
                !is_covered
            });
        }
        Self { rights, prefixes: prefixes_by_verb }
    }

    /// Returns whether one of the rights includes this one.
    fn covers(&self, (scope, on, verb): &Right) -> bool {
        let holds = |on: RightTarget| {
            let of_scope =
                |scope| ["*", verb].iter().any(|verb| self.rights.contains_key(&(scope, on, verb)));
            of_scope(Scope::Everywhere) || of_scope(*scope)
        };
        match *on {
            RightTarget::Resource { group, resource, name } => {
                let any = resource.split_once('/').map(|parts| format!("*/{}", parts.1));
                let resources = [Some(resource), Some("*"), any.as_deref()];
                [group, "*"].into_iter().any(|group| {
                    resources.iter().flatten().any(|resource| {
                        [name, None]
                            .into_iter()
                            .any(|name| holds(RightTarget::Resource { group, resource, name }))
                    })
                })
            }
            RightTarget::Url(url) => {
                let matches = |scope, verb| {
                    let prefixes = self.prefixes.get(&(scope, verb));
                    let nearest = prefixes.and_then(|prefixes| prefixes.range(..=url).next_back());
                    nearest.is_some_and(|prefix| url.starts_with(prefix))
                };
                let in_scope = |scope| matches(scope, "*") || matches(scope, *verb);
                holds(*on) || in_scope(Scope::Everywhere) || in_scope(*scope)
            }
        }
    }
}

/// The scope, the group, and the verbs.
type Phrase<'a> = (Scope, String, Vec<&'a str>);

/// Describes the rights that are not in the other set, each with the location of its first rule. Verbs on the same
/// resource are in one description, and so are resources with the same verbs.
fn group_rights(rights: &Rights, without: &Rights) -> Vec<(String, String)> {
    let without = RightsCover::new(without);
    let mut verbs: BTreeMap<(Scope, &RightTarget), (Vec<&str>, &str)> = BTreeMap::new();
    for (right, at) in rights.iter().filter(|entry| !without.covers(entry.0)) {
        let (scope, on, verb) = right;
        let entry = verbs.entry((*scope, on)).or_insert_with(|| (Vec::new(), at));
        entry.0.push(verb);
    }
    let mut things: BTreeMap<Phrase, (Vec<String>, &str)> = BTreeMap::new();
    for ((scope, on), (verbs, at)) in verbs {
        let (of, thing) = match on {
            RightTarget::Resource { group, resource, name } => {
                let group = match *group {
                    "" => "of the core group".to_owned(),
                    "*" => "of every group".to_owned(),
                    group => format!("of `{group}`"),
                };
                let name = name.as_ref().map(|name| format!(" named `{name}`")).unwrap_or_default();
                (group, format!("`{resource}`{name}"))
            }
            RightTarget::Url(url) => (String::new(), format!("`{url}`")),
        };
        things.entry((scope, of, verbs)).or_insert_with(|| (Vec::new(), at)).0.push(thing);
    }
    let text = |((scope, of, verbs), (things, at)): (Phrase, (Vec<String>, &str))| {
        let verbs: Vec<String> = verbs.iter().map(|verb| format!("`{verb}`")).collect();
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
