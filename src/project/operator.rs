use std::collections::{BTreeMap, BTreeSet};

use model::Version;

use super::{
    ConfigurationArguments, DeclaredKind, KindPath, Place, Problem, Rule, WebhookArguments,
};

/// The operator that the source code declares, independent of Rust syntax and YAML.
#[derive(Clone, Debug, Default)]
pub struct Operator {
    /// Every version of every kind, in the order of their files.
    pub kinds: Vec<DeclaredKind>,
    /// Every `+kubebuilder:rbac:` comment, in the order of their files and lines.
    pub rules: Vec<RbacMarker>,
    /// Every `+kubebuilder:webhook:` comment, in the same order.
    pub webhooks: Vec<Webhook>,
    /// Every `+kubebuilder:webhookconfiguration:` comment.
    pub webhook_configurations: Vec<WebhookConfiguration>,
    /// The webhooks that the source registers to be served.
    pub registrations: Vec<Registration>,
    /// The conversions that the source registers.
    pub conversions: Vec<ConversionRegistration>,
    /// True if all webhooks are served by registrations, as `create webhook` writes them.
    pub registers_webhooks: bool,
    /// The versions of each kind, by group and name, that the operator converts between: PROJECT lists them.
    pub converted: BTreeMap<(String, String), Converted>,
    /// Parts of the source that were read but do not have the effect that a reader would expect.
    pub warnings: Vec<Problem>,
}

/// One `+kubebuilder:rbac:` comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RbacMarker {
    pub rule: Rule,
    /// The place of `namespace` or `roleName`, if one of them is given; else that of the arguments.
    pub place: Place,
}

impl Operator {
    /// Returns the rules of all `+kubebuilder:rbac:` comments.
    pub fn rbac_rules(&self) -> Vec<Rule> {
        self.rules.iter().map(|marker| marker.rule.clone()).collect()
    }
}

/// One `+kubebuilder:webhook:` comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub place: Place,
    /// The places of the arguments that are given.
    pub places: BTreeMap<String, Place>,
    pub arguments: WebhookArguments,
}

impl Webhook {
    /// Returns the place of an argument, or that of the comment if the argument is not given.
    pub fn place_of(&self, argument: &str) -> Place {
        self.places.get(argument).unwrap_or(&self.place).clone()
    }
}

/// One `+kubebuilder:webhookconfiguration:` comment: the name of the object with all mutating or all validating webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfiguration {
    pub place: Place,
    pub arguments: ConfigurationArguments,
}

/// A webhook that the operator serves: a call of the runtime's `defaulting` or `validating`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub place: Place,
    pub mutating: bool,
    pub path: String,
}

/// The versions of a kind that PROJECT says are converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    pub hub: String,
    pub spokes: BTreeSet<String>,
}

impl Converted {
    pub fn has_version(&self, version: &str) -> bool {
        self.hub == version || self.spokes.contains(version)
    }
}

/// A conversion that the operator serves: a call of the runtime's `conversion_webhook` or `lossless_conversion_webhook`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionRegistration {
    pub place: Place,
    pub lossless: bool,
    /// The path of its type, as the code writes it, with what the file imports written out.
    pub hub: Vec<String>,
    pub spoke: Vec<String>,
}

impl ConversionRegistration {
    /// Returns whether this type may be one of the two.
    pub fn may_convert(&self, defined: &KindPath) -> bool {
        is_path_of(&self.hub, defined) || is_path_of(&self.spoke, defined)
    }

    /// Returns whether it converts between these two types. A path that does not tell versions apart may be each of
    /// them, and `manifests` refuses it.
    pub fn is_between(&self, one: &KindPath, other: &KindPath) -> bool {
        let is = |hub, spoke| is_path_of(&self.hub, hub) && is_path_of(&self.spoke, spoke);
        is(one, other) || is(other, one)
    }
}

/// Returns whether code that writes a path of a type may mean the type that is defined there: exports can leave out
/// modules.
pub fn is_path_of(written: &[String], defined: &KindPath) -> bool {
    let is_within = |rest: &[String]| {
        let mut modules = defined.path.iter();
        rest.iter().all(|segment| modules.any(|module| module == segment))
    };
    let Some((first, rest)) = written.split_first() else { return false };
    // It can be the crate, by any name that the code has imported it by, but not another version.
    let may_be_crate = first.parse::<Version>().is_err();
    written.last() == defined.path.last() && (is_within(written) || may_be_crate && is_within(rest))
}
