//! The kinds that are certainly the operator's own. Code also has types for objects that others define, such as those of
//! cert-manager, and repositories have CRDs of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    project::{DeclaredKind, Project, split_group},
    source::KindUses,
};

/// The kinds of an operator, and those that nothing shows to be its own.
#[derive(Default)]
pub struct OwnKinds<'a> {
    pub own: Vec<&'a DeclaredKind>,
    pub others: Vec<&'a DeclaredKind>,
    /// The domain that more than half of the own groups have.
    pub domain: Option<String>,
}

impl<'a> OwnKinds<'a> {
    /// The kinds of groups that PROJECT lists, as a person has decided.
    pub fn listed_in_project(kinds: &'a [DeclaredKind], project: &Project) -> Self {
        let (own, others) = kinds.iter().partition(|kind| project.owns_kind(kind));
        Self { own, others, domain: None }
    }
}

/// Facts about the kinds of a repository.
pub struct Evidence<'a, 'e> {
    pub kinds: &'a [DeclaredKind],
    pub uses: &'e KindUses,
    /// The domain that the user gave.
    pub domain: Option<&'e str>,
    /// True if the repository has a CRD of this kind.
    pub is_committed: &'e dyn Fn(&DeclaredKind) -> bool,
}

impl<'a> Evidence<'a, '_> {
    /// Own is a kind that the code uses as one: it has a controller, or its CRD is printed or applied. Without such code,
    /// it is a kind with a committed CRD, and without those, any kind. To these come the kinds of the same groups, and of
    /// the domain that most of them have; without a use of their own, those of other domains are not certain.
    pub fn classify_kinds(&self) -> OwnKinds<'a> {
        let possible = || self.kinds.iter().filter(|kind| !self.is_foreign(kind));
        let is_same = |kind: &DeclaredKind, other: &DeclaredKind| {
            (&kind.group, &kind.kind) == (&other.group, &other.kind)
        };
        let is_used = |kind: &DeclaredKind| {
            let versions = self.kinds.iter().filter(|other| is_same(kind, other));
            { versions }.any(|version| {
                self.uses.is_controlled(version, self.kinds)
                    || self.uses.has_crd(version, self.kinds)
            })
        };
        let used: Vec<_> = possible().filter(|kind| is_used(kind)).collect();
        let committed: Vec<_> = possible().filter(|kind| (self.is_committed)(kind)).collect();
        let certain = [used.clone(), committed, possible().collect()];
        let certain = certain.into_iter().find(|kinds| !kinds.is_empty()).unwrap_or_default();
        // The domain that marks the operator's objects may be none of its kinds.
        let has_kinds = |domain: &&str| {
            possible()
                .any(|kind| kind.group.as_ref().is_some_and(|group| is_in_domain(group, domain)))
        };
        let given = self.domain.filter(has_kinds).map(str::to_owned);
        let domain = given.or_else(|| majority_domain(&certain));
        let groups: BTreeSet<&String> =
            used.iter().filter_map(|kind| kind.group.as_ref()).collect();
        let is_own = |kind: &&DeclaredKind| {
            let Some(group) = &kind.group else { return !self.is_foreign(kind) };
            let has_domain = match &domain {
                Some(domain) => is_in_domain(group, domain),
                None => certain.iter().any(|kind| kind.group.as_ref() == Some(group)),
            };
            !self.is_foreign(kind) && (has_domain || groups.contains(group))
        };
        let (own, others) = self.kinds.iter().partition(is_own);
        OwnKinds { own, others, domain }
    }

    /// A type that was generated from a CRD is of others, as is one in a group that API servers keep for Kubernetes, unless
    /// its CRD is used.
    fn is_foreign(&self, kind: &DeclaredKind) -> bool {
        let is_protected = kind.group.as_ref().is_some_and(|group| {
            ["k8s.io", "kubernetes.io"].iter().any(|domain| is_in_domain(group, domain))
        });
        self.uses.is_generated(kind) || is_protected && !self.uses.has_crd(kind, self.kinds)
    }
}

fn is_in_domain(group: &str, domain: &str) -> bool {
    group.strip_suffix(domain).is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('.'))
}

/// The domain that more than half of the groups have.
fn majority_domain(kinds: &[&DeclaredKind]) -> Option<String> {
    let groups: BTreeSet<&str> = kinds.iter().filter_map(|kind| kind.group.as_deref()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for group in &groups {
        *counts.entry(split_group(group).1).or_default() += 1;
    }
    let (domain, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count * 2 > groups.len()).then(|| domain.to_owned())
}
