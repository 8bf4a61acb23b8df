//! The resources that rules can name: those of Kubernetes and the project's own. Nothing is said of the resources of
//! other groups.

use std::collections::BTreeMap;

use super::kinds;
use crate::project::{DeclaredKind, Rule};

pub struct Resources {
    /// For each group its plurals: by themselves, and by their kinds in lower case.
    groups: BTreeMap<String, BTreeMap<String, String>>,
}

/// The subresources of Kubernetes' own resources, and those that roles name for owners and their finalizers.
const SUBRESOURCES: &[&str] = &[
    "",
    "*",
    "approval",
    "attach",
    "binding",
    "ephemeralcontainers",
    "eviction",
    "exec",
    "finalize",
    "finalizers",
    "log",
    "portforward",
    "proxy",
    "resize",
    "scale",
    "status",
    "token",
];

/// A word of a rule that is not what it seems to be, with a message and a hint.
pub struct RuleDoubt<'a> {
    pub word: &'a str,
    pub message: String,
    pub hint: String,
}

impl Resources {
    pub fn new(own: &[DeclaredKind]) -> Self {
        let mut resources = Self { groups: BTreeMap::new() };
        for kind in kinds::built_in_kinds() {
            resources.add_kind(kind.group, kind.kind, kind.plural);
        }
        for crd in own.iter().filter_map(|kind| kind.crd.as_ref().ok()) {
            resources.add_kind(&crd.spec.group, &crd.spec.names.kind, &crd.spec.names.plural);
        }
        // The other kinds of a group may have any plural.
        for group in
            own.iter().filter(|kind| kind.crd.is_err()).filter_map(|kind| kind.group.as_ref())
        {
            resources.groups.remove(group);
        }
        resources
    }

    fn add_kind(&mut self, group: &str, kind: &str, plural: &str) {
        let group = self.groups.entry(group.to_owned()).or_default();
        // A plural counts more than a kind of the same letters, such as `Shops` beside `Shop`.
        group.entry(kind.to_lowercase()).or_insert_with(|| plural.to_owned());
        group.insert(plural.to_owned(), plural.to_owned());
    }

    /// Returns the plural of a kind in any group.
    pub fn plural_of(&self, kind: &str) -> Option<&str> {
        let kind = kind.to_lowercase();
        self.groups.values().find_map(|group| group.get(&kind)).map(String::as_str)
    }

    /// Returns the words that are probably misspelt, and the resources that are in other groups.
    pub fn find_doubts<'a>(&self, rule: &'a Rule) -> Vec<RuleDoubt<'a>> {
        let mut doubts: Vec<RuleDoubt<'_>> =
            rule.groups.iter().filter_map(|group| self.group_doubt(group)).collect();
        let groups =
            rule.groups.iter().map(|group| if group == "core" { "" } else { group.as_str() });
        // Nothing is known of a resource that may be in a group that is not known.
        let known: Option<Vec<_>> = groups.map(|group| self.groups.get(group)).collect();
        let known = known.unwrap_or_default();
        let resources =
            rule.resources.iter().filter(|resource| !resource.contains(char::is_uppercase));
        doubts.extend(resources.filter_map(|resource| self.resource_doubt(resource, &known)));
        doubts
    }

    /// Returns the group that a word without dots is short for, or nearly.
    pub fn group_of(&self, word: &str) -> Option<&str> {
        let first = |group: &str| group.split('.').next().unwrap_or_default().to_owned();
        let all: Vec<(String, &String)> =
            self.groups.keys().map(|group| (first(group), group)).collect();
        let near = diagnostics::find_nearest(
            word,
            all.iter().map(|pair| pair.0.as_str()).filter(|group| !group.is_empty()),
        )?;
        all.iter().find(|pair| pair.0 == near).map(|pair| pair.1.as_str())
    }

    fn group_doubt<'a>(&self, word: &'a str) -> Option<RuleDoubt<'a>> {
        if !word.contains('.') || self.groups.contains_key(word) {
            return None;
        }
        // Other operators may have groups of the same domain, with names of a few letters.
        let is_near = |known: &&String| {
            diagnostics::edit_distance(word, known)
                <= if known.ends_with(".k8s.io") { 2 } else { 1 }
        };
        let near = self.groups.keys().filter(|group| group.contains('.')).find(is_near)?;
        let message = format!("`{word}` is not an API group of Kubernetes or of this project");
        Some(RuleDoubt { word, message, hint: format!("did you mean `{near}`?") })
    }

    /// `known` has the resources of the rule's groups.
    fn resource_doubt<'a>(
        &self,
        word: &'a str,
        known: &[&BTreeMap<String, String>],
    ) -> Option<RuleDoubt<'a>> {
        let (name, sub) = word.split_once('/').unwrap_or((word, ""));
        let is_plural =
            |names: &BTreeMap<String, String>| names.get(name).is_some_and(|value| value == name);
        if known.is_empty() || name == "*" {
            return None;
        }
        if known.iter().any(|plural| is_plural(plural)) {
            let near = diagnostics::find_nearest(sub, SUBRESOURCES.iter().copied());
            let near = near.filter(|_| !SUBRESOURCES.contains(&sub))?;
            let message = format!("`{sub}` is not a subresource of Kubernetes");
            return Some(RuleDoubt {
                word,
                message,
                hint: format!("did you mean `{name}/{near}`?"),
            });
        }
        let message = |text: &str| format!("`{name}` is not a resource of {text}");
        let places: Vec<String> = self
            .groups
            .iter()
            .filter(|pair| is_plural(pair.1))
            .map(|pair| group_name(pair.0))
            .collect();
        if !places.is_empty() {
            let hint = format!("it is in the group {}", places.join(" or "));
            return Some(RuleDoubt { word, message: message("this rule's groups"), hint });
        }
        let plurals = known.iter().flat_map(|kinds| kinds.values()).map(String::as_str);
        let kind = known.iter().find_map(|kinds| kinds.get(name)).map(String::as_str);
        // A kind of another group, in the singular.
        let near = kind
            .or_else(|| diagnostics::find_nearest(name, plurals))
            .or_else(|| self.plural_of(name))?;
        let message = message("Kubernetes or of this project");
        Some(RuleDoubt { word, message, hint: format!("did you mean `{near}`?") })
    }
}

/// Returns the name of a group as an RBAC rule has it.
fn group_name(group: &str) -> String {
    format!("`{}`", if group.is_empty() { "core" } else { group })
}

#[test]
fn a_rule_is_compared_with_the_resources_of_its_groups() {
    let resources = Resources::new(&[]);
    let check = |groups: &[&str], words: &[&str], expected: &[&str]| {
        let owned =
            |resource: &[&str]| resource.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let rule = Rule { groups: owned(groups), resources: owned(words), ..Rule::default() };
        let found: Vec<String> = { resources.find_doubts(&rule) }
            .iter()
            .map(|doubt| format!("{}; {}", doubt.message, doubt.hint))
            .collect();
        assert_eq!(found, expected, "{groups:?} {words:?}");
    };
    check(&["apps", "batch"], &["deployments", "deployments/scale", "cronjobs", "*"], &[]);
    check(&[""], &["pods/log", "users", "groups", "componentstatuses", "bindings"], &[]);
    check(&["core", "events.k8s.io"], &["events"], &[]);
    // Any resource may be in a group that is not known.
    check(&["extensions", "apps"], &["ingresses", "deployment"], &[]);
    check(&["*"], &["cronjob"], &[]);
    check(&["cert-manager.io", "metrics.k8s.io", "authorization.k8s.io"], &["issuer", "pods"], &[]);
    check(&["certificates.k8s.io"], &["signers"], &[]);
    let unknown = "is not a resource of Kubernetes or of this project";
    check(&["batch"], &["cronjob"], &[&format!("`cronjob` {unknown}; did you mean `cronjobs`?")]);
    check(
        &["apps"],
        &["cronjob/status"],
        &[&format!("`cronjob` {unknown}; did you mean `cronjobs`?")],
    );
    check(&[""], &["confimaps"], &[&format!("`confimaps` {unknown}; did you mean `configmaps`?")]);
    check(&["apps"], &["deployments/scale", "deployments/finalizers"], &[]);
    let sub = "`stauts` is not a subresource of Kubernetes; did you mean `deployments/status`?";
    check(&["apps"], &["deployments/stauts"], &[sub]);
    let other = "`cronjobs` is not a resource of this rule's groups; it is in the group `batch`";
    check(&["apps"], &["cronjobs"], &[other]);
    check(
        &["rbac.authorisation.k8s.io"],
        &["role"],
        &[
            "`rbac.authorisation.k8s.io` is not an API group of Kubernetes or of this project; did you mean `rbac.authorization.k8s.io`?",
        ],
    );
}

#[test]
fn a_kind_that_is_spelt_like_the_plural_of_another_hides_no_resource() {
    for kinds in
        [[("Shop", "shops"), ("Shops", "shopses")], [("Shops", "shopses"), ("Shop", "shops")]]
    {
        let mut resources = Resources::new(&[]);
        for (kind, plural) in kinds {
            resources.add_kind("example.com", kind, plural);
        }
        let rule = |resource: &str| Rule {
            groups: vec!["example.com".to_owned()],
            resources: vec![resource.to_owned()],
            ..Rule::default()
        };
        assert!(resources.find_doubts(&rule("shops")).is_empty());
        assert!(resources.find_doubts(&rule("shopses")).is_empty());
        assert_eq!(resources.find_doubts(&rule("shop"))[0].hint, "did you mean `shops`?");
    }
}
