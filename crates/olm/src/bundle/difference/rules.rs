//! The rules, and how bad it is to break one. An error: the upgrade fails, or OLM does not offer it.

use diagnostics::Severity;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    PackageChanged,
    VersionNotIncreased,
    ReplacesItself,
    InstallModeRemoved,
    ImmutableField,
    Invalid,
    ConversionRemoved,
    UpgradePath,
    ChannelRemoved,
    DefaultChannelChanged,
    MinKubeVersionRaised,
    RequirementAdded,
    PermissionAdded,
    PrivilegeAdded,
    MoreDocuments,
    ServiceAccountChanged,
    WebhookAdded,
    WebhookChanged,
    CleanupEnabled,
    OwnedRemoved,
    PermissionRemoved,
    ChannelAdded,
    InstallModeAdded,
    WebhookRemoved,
    DeploymentAdded,
    DeploymentRemoved,
    Image,
    Environment,
    PodChanged,
    CsvChanged,
    ObjectChanged,
    ObjectAdded,
    ObjectRemoved,
}

use Severity::{Error, Note, Warning};

/// Every rule with its name, its severity, and what it reports.
const RULES: &[(Rule, &str, Severity, &str)] = &[
    (Rule::PackageChanged, "packageChanged", Error, "The package has another name"),
    (Rule::VersionNotIncreased, "versionNotIncreased", Error, "The version is not higher"),
    (Rule::ReplacesItself, "replacesItself", Error, "The CSV replaces or skips itself"),
    (
        Rule::InstallModeRemoved,
        "installModeRemoved",
        Error,
        "An install mode is no longer supported",
    ),
    (
        Rule::ImmutableField,
        "immutableField",
        Error,
        "A field changed that API servers do not let change",
    ),
    (Rule::Invalid, "invalid", Error, "API servers or OLM refuse the new bundle"),
    (
        Rule::ConversionRemoved,
        "conversionRemoved",
        Error,
        "A CRD with several versions lost its conversion webhook",
    ),
    (Rule::UpgradePath, "upgradePath", Warning, "The CSV replaces others, but not the old one"),
    (Rule::ChannelRemoved, "channelRemoved", Warning, "The bundle left a channel"),
    (
        Rule::DefaultChannelChanged,
        "defaultChannelChanged",
        Warning,
        "Another channel is the default",
    ),
    (Rule::MinKubeVersionRaised, "minKubeVersionRaised", Warning, "A newer Kubernetes is required"),
    (Rule::RequirementAdded, "requirementAdded", Warning, "Another API or package is required"),
    (Rule::PermissionAdded, "permissionAdded", Warning, "A permission is granted"),
    (Rule::PrivilegeAdded, "privilegeAdded", Warning, "Pods may do more on their nodes"),
    (
        Rule::MoreDocuments,
        "moreDocuments",
        Warning,
        "A manifest has several documents, and only the first is read",
    ),
    (
        Rule::ServiceAccountChanged,
        "serviceAccountChanged",
        Warning,
        "A Deployment runs as another service account",
    ),
    (Rule::WebhookAdded, "webhookAdded", Warning, "A webhook intercepts requests"),
    (Rule::WebhookChanged, "webhookChanged", Warning, "A webhook intercepts other requests"),
    (
        Rule::CleanupEnabled,
        "cleanupEnabled",
        Warning,
        "Removing the operator removes all of its custom resources",
    ),
    (Rule::OwnedRemoved, "ownedRemoved", Warning, "An API is no longer provided"),
    (Rule::PermissionRemoved, "permissionRemoved", Note, "A permission is no longer granted"),
    (Rule::ChannelAdded, "channelAdded", Note, "The bundle is in another channel"),
    (Rule::InstallModeAdded, "installModeAdded", Note, "An install mode is supported"),
    (Rule::WebhookRemoved, "webhookRemoved", Note, "A webhook is removed"),
    (Rule::DeploymentAdded, "deploymentAdded", Note, "A Deployment is added"),
    (Rule::DeploymentRemoved, "deploymentRemoved", Note, "A Deployment is removed"),
    (Rule::Image, "image", Note, "Another image is used"),
    (Rule::Environment, "environment", Note, "An environment variable changed"),
    (Rule::PodChanged, "podChanged", Note, "Something else in a Deployment changed"),
    (Rule::CsvChanged, "csvChanged", Note, "Something else in the CSV changed"),
    (Rule::ObjectChanged, "objectChanged", Note, "A manifest changed"),
    (Rule::ObjectAdded, "objectAdded", Note, "A manifest is added"),
    (Rule::ObjectRemoved, "objectRemoved", Note, "A manifest is removed"),
];

impl Rule {
    pub fn all() -> impl Iterator<Item = Self> {
        RULES.iter().map(|it| it.0)
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    pub fn severity(self) -> Severity {
        self.row().2
    }

    pub fn summary(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> &'static (Self, &'static str, Severity, &'static str) {
        // The table is in the order of the enum, as the test below shows.
        &RULES[self as usize]
    }
}

#[test]
fn every_rule_has_its_row() {
    for (at, (rule, ..)) in RULES.iter().enumerate() {
        assert_eq!(*rule as usize, at);
    }
    assert_eq!(Rule::ObjectRemoved as usize + 1, RULES.len());
}
