//! The objects of a project on a cluster: the objects that config/ has, and those that it no longer has.

use std::collections::{BTreeMap, BTreeSet};

use super::{RemovalOrder, RemovalRequest};
use crate::terminal;
use cluster::{Cluster, Id, LabelledObjects, Live, Removal};
use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml::Value;

/// The objects that were found, by what is done with them.
#[derive(Default)]
pub struct FoundObjects {
    pub going: Vec<Live>,
    /// They existed before: the project's fields are given up.
    pub adopted: Vec<Live>,
    /// They stay, for these reasons.
    pub kept: Vec<(Id, String)>,
    /// The objects that config/ no longer has.
    former: BTreeSet<Id>,
    /// The other namespaces that the operator is deployed to.
    elsewhere: BTreeSet<String>,
}

/// Names the kinds that cannot be listed.
pub fn warn_of_unknown(unknown: &BTreeMap<String, String>) {
    if let Some(why) = unknown.values().next() {
        let kinds: Vec<&str> = unknown.keys().map(String::as_str).collect();
        let kinds = kinds.join(", ");
        terminal::warn(format!(
            "{kinds} cannot be listed, so objects of these kinds that were applied earlier are not found: {why}"
        ));
    }
}

/// Objects that the project has applied and config/ no longer has, of all groups or of one. Others may have created an object of
/// that name since.
fn find_former(
    cluster: &Cluster,
    objects: &[Value],
    group: Option<&'static str>,
) -> anyhow::Result<LabelledObjects> {
    let named: Vec<Id> = objects.iter().map(Id::of).collect();
    let mut marked = cluster.list_labelled(group)?;
    marked.found.retain(|live| {
        let is_named = named.iter().any(|named| named.matches_object(&live.id, &cluster.namespace));
        !is_named && !matches!(live.removal, Removal::Theirs(_))
    });
    Ok(marked)
}

/// Warns after a deployment of what config/ no longer has.
pub fn warn_of_former(
    cluster: &Cluster,
    objects: &[Value],
    group: Option<&'static str>,
) -> anyhow::Result<()> {
    let (elsewhere, here): (Vec<_>, Vec<_>) = find_former(cluster, objects, group)?
        .found
        .into_iter()
        .partition(|live| cluster.other_namespace(live).is_some());
    if let Some(namespace) = elsewhere.iter().find_map(|live| cluster.other_namespace(live)) {
        terminal::print_advice(&namespace_flag(namespace));
    }
    let names: Vec<String> = here.iter().take(5).map(|live| live.id.to_string()).collect();
    let more = match here.len().saturating_sub(5) {
        _ if here.is_empty() => return Ok(()),
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let remove = match group {
        None => "`operator-rs undeploy`",
        Some(_) => "`operator-rs uninstall`",
    };
    let names = names.join(", ");
    terminal::warn(
        Diagnostic::from(format!("config/ no longer has what was applied before: {names}{more}"))
            .with_hint(format!("delete it by hand, or with everything else by {remove}")),
    );
    Ok(())
}

fn namespace_flag(namespace: &str) -> String {
    format!(
        "the operator is also deployed to namespace `{namespace}`: remove it with `operator-rs undeploy --namespace {namespace}`\n"
    )
}

impl RemovalRequest<'_> {
    /// Finds everything, and reports the kinds among which it cannot look.
    pub(super) fn find(&self) -> anyhow::Result<FoundObjects> {
        let ids: Vec<Id> = self.objects.iter().map(Id::of).collect();
        let mut all = self.cluster.find_existing(&ids)?;
        let former = find_former(self.cluster, self.objects, self.group)?;
        warn_of_unknown(&former.unknown);
        let ids = former.found.iter().map(|live| live.id.clone()).collect();
        let mut objects = FoundObjects { former: ids, ..FoundObjects::default() };
        all.extend(former.found);
        let elsewhere = all.iter().filter_map(|live| self.cluster.other_namespace(live));
        objects.elsewhere = elsewhere.map(str::to_owned).collect();
        objects.require_here(self, &all)?;
        all.into_iter().for_each(|live| objects.classify(self, live));
        Ok(objects)
    }
}

impl FoundObjects {
    pub fn is_empty(&self) -> bool {
        self.going.is_empty() && self.adopted.is_empty() && self.kept.is_empty()
    }

    /// Returns the objects to delete, in order.
    pub fn parts(&self) -> RemovalOrder<Live> {
        RemovalOrder::of(self.going.iter().map(|live| (live.id.clone(), live.clone())))
    }

    /// Fails if the operator is only deployed to other namespaces than the requested one.
    fn require_here(&self, removing: &RemovalRequest<'_>, all: &[Live]) -> anyhow::Result<()> {
        let is_here = |live: &Live| {
            live.removal.is_created()
                && !live.id.is_crd()
                && removing.cluster.other_namespace(live).is_none()
        };
        if self.elsewhere.is_empty() || all.iter().any(is_here) {
            return Ok(());
        }
        let namespaces = self.elsewhere.iter().map(|namespace| format!("`{namespace}`"));
        let namespaces = namespaces.collect::<Vec<_>>().join(", ");
        let flags = self.elsewhere.iter().map(|namespace| format!("`--namespace {namespace}`"));
        Err(anyhow::format_err!(
            "nothing was removed: the operator is deployed to namespace {namespaces}"
        ))
        .hint(format!("pass {}", flags.collect::<Vec<_>>().join(" or ")))
    }

    fn classify(&mut self, removing: &RemovalRequest<'_>, it: Live) {
        // An object that the operator in another namespace needs, or may need, is deleted with that operator.
        let is_former = self.former.contains(&it.id);
        let is_shared = it.id.is_crd() || (is_former && it.removal == Removal::Adopted);
        let needed = self.elsewhere.first().filter(|_| is_shared);
        let kept = match (&it.removal, removing.cluster.other_namespace(&it), needed) {
            (Removal::Theirs(why), ..) => why.clone(),
            (_, Some(namespace), _) => format!("the operator in namespace `{namespace}` has it"),
            (_, _, Some(namespace)) => format!("the operator in namespace `{namespace}` needs it"),
            (Removal::Adopted, ..) => return self.adopted.push(it),
            _ => return self.going.push(it),
        };
        self.kept.push((it.id, kept));
    }

    /// Returns why objects are removed although they may not belong to the project alone, or config/ does not have
    /// them.
    pub fn unclear(&self, live: &Live) -> Option<String> {
        if !self.former.contains(&live.id) {
            return super::unclear(live);
        }
        let and = match &live.removal {
            Removal::Unknown(why) => format!(", and {why}"),
            _ => String::new(),
        };
        Some(format!("{} is removed as well, although config/ no longer has it{and}", live.id))
    }

    /// Returns a note on the other namespaces that the operator is deployed to.
    pub fn advice(&self) -> Option<String> {
        self.elsewhere.first().map(|elsewhere| namespace_flag(elsewhere))
    }
}
