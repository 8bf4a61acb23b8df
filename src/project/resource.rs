use serde::{Deserialize, Serialize};

use model::{Domain, GroupName, GroupPrefix, Kind, Plural, Version};

/// One entry of PROJECT's `resources`, as in version 3 of kubebuilder's format. Other fields stay in the file
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of an entry of `resources`")]
pub struct Resource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub controller: bool,
    /// The type is one of Kubernetes' built-in types.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub core: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Domain>,
    /// The type comes from another crate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupPrefix>,
    pub kind: Kind,
    /// The Rust path of the module that has the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plural: Option<Plural>,
    pub version: Version,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Webhooks>,
}

/// The webhooks of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of `webhooks`")]
pub struct Webhooks {
    /// Objects are converted between this version, the hub, and `spoke`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conversion: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defaulting: bool,
    /// The path of the defaulting webhook, if it is not the one that follows from the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaulting_path: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoke: Vec<Version>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validation: bool,
    /// The path of the validating webhook, if it is not the one that follows from the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_path: Option<String>,
    /// The version of `admissionregistration.k8s.io` that registers the webhooks; only `v1` is supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_version: Option<WebhookVersion>,
}

/// The version of `admissionregistration.k8s.io` that registers the webhooks; only `v1` is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "`v1`")]
pub enum WebhookVersion {
    #[serde(rename = "v1")]
    V1,
}

impl Webhooks {
    /// Returns whether there is no webhook.
    pub fn is_empty(&self) -> bool {
        !self.conversion && !self.defaulting && !self.validation
    }
}

/// Marks a resource whose type is part of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of `api`")]
pub struct Api {
    pub crd_version: CrdVersion,
    #[serde(default)]
    pub namespaced: bool,
}

/// The version of `apiextensions.k8s.io`; only one exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "`v1`")]
pub enum CrdVersion {
    #[serde(rename = "v1")]
    V1,
}

/// Returns a group as prefix and domain: `cache.example.com` is `cache` in `example.com`, and `example.com` has no
/// prefix.
pub fn split_group(group: &str) -> (Option<&str>, &str) {
    match group.split_once('.') {
        Some((prefix, domain)) if domain.contains('.') => (Some(prefix), domain),
        _ => (None, group),
    }
}

/// Returns a command about a kind, as it can be pasted into a shell: flags that choose among groups and kinds are
/// always there.
pub fn kind_command(command: &str, group: &str, kind: &str, flags: &str) -> String {
    format!("operator-rs {command} --group {group} --kind {kind} {flags}")
}

#[cfg(test)]
thread_local! {
    /// The number of kinds that this thread has looked at: a measure for comparisons of kinds with kinds.
    pub static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Resource {
    /// Returns a command about this version of the kind, as [`kind_command`] writes it.
    pub fn command_line(&self, command: &str, flags: &str) -> String {
        let group = self.group.as_ref().map_or_else(|| self.api_group(), ToString::to_string);
        let group = if group.is_empty() { "core".to_owned() } else { group };
        let flags = format!("--version {} {flags}", self.version);
        kind_command(command, &group, &self.kind.to_string(), flags.trim_end())
    }

    /// Returns a kind of an operator in place, of any group; none if PROJECT cannot name the group.
    pub fn adopted(
        group: &str,
        domain: &Domain,
        kind: Kind,
        version: Version,
        namespaced: bool,
    ) -> Option<Self> {
        let domain = domain.to_string();
        let (prefix, rest) = match group.strip_suffix(&domain) {
            Some("") => (None, group),
            Some(prefix) if prefix.ends_with('.') => (prefix.strip_suffix('.'), domain.as_ref()),
            _ => split_group(group),
        };
        Some(Self {
            api: Some(Api { crd_version: CrdVersion::V1, namespaced }),
            controller: true,
            core: false,
            domain: Some(rest.parse().ok()?),
            external: false,
            group: prefix.map(str::parse).transpose().ok()?,
            kind,
            path: None,
            plural: None,
            version,
            webhooks: None,
        })
    }

    /// Returns whether both are versions of the same kind.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        self.kind == other.kind && self.api_group() == other.api_group()
    }

    /// Returns whether both are the same version of the same kind.
    pub fn is_same_version(&self, other: &Self) -> bool {
        self.is_same_kind(other) && self.version == other.version
    }

    /// Returns whether a user may mean this kind: `rbac`, `rbac.authorization` and `rbac.authorization.k8s.io` are one
    /// group of Kubernetes.
    pub fn is_named(&self, group: &GroupPrefix, kind: &Kind) -> bool {
        let prefix = self.group.as_ref().map(GroupPrefix::as_str).unwrap_or_default();
        let short = prefix.split('.').next().filter(|_| self.core);
        let group = group.as_str();
        self.kind == *kind && (prefix == group || short == Some(group) || self.api_group() == group)
    }

    /// Returns whether the project declares the type, in one of its groups.
    pub fn is_own_of(&self, group: &GroupName) -> bool {
        !self.core && !self.external && self.group.as_ref().is_some_and(|other| other == group)
    }

    pub fn plural(&self) -> Plural {
        self.plural.clone().unwrap_or_else(|| self.kind.plural())
    }

    /// Returns the API group: `cache.example.com`.
    pub fn api_group(&self) -> String {
        #[cfg(test)]
        COMPARED.set(COMPARED.get() + 1);
        match (&self.group, &self.domain) {
            (Some(group), None) if self.core && group.as_str() == "core" => String::new(),
            (Some(group), Some(domain)) => format!("{group}.{domain}"),
            (Some(group), None) => group.to_string(),
            (None, Some(domain)) => domain.to_string(),
            (None, None) => String::new(),
        }
    }
}

#[test]
fn what_kubebuilder_writes_of_others_kinds_is_read() {
    let check = |text: &str, group: &str| {
        let resource: Resource =
            go_data::yaml::parse_typed(text, go_data::yaml::Dialect::Strict).expect("a resource");
        assert_eq!(resource.api_group(), group, "{text}");
        assert!(!resource.is_own_of(&"apps".parse().expect("a group")), "{text}");
    };
    check(
        "{controller: true, core: true, group: apps, kind: Deployment, path: k8s.io/api/apps/v1, version: v1}",
        "apps",
    );
    check(
        "{core: true, group: core, kind: Pod, path: k8s.io/api/core/v1, version: v1, webhooks: {validation: true}}",
        "",
    );
    check(
        "{core: true, domain: k8s.io, group: rbac.authorization, kind: Role, version: v1}",
        "rbac.authorization.k8s.io",
    );
    check(
        "{domain: io, external: true, group: cert-manager, kind: Issuer, module: github.com/cert-manager/cert-manager@v1.20.2, \
          path: github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1, version: v1}",
        "cert-manager.io",
    );
    check(
        "{controllers: [{name: captain}], group: crew, domain: testproject.org, kind: Captain, version: v1}",
        "crew.testproject.org",
    );
}

#[test]
fn only_groups_of_kubernetes_have_short_names() {
    let check = |text: &str, group: &str| {
        let resource: Resource =
            go_data::yaml::parse_typed(text, go_data::yaml::Dialect::Strict).expect("a resource");
        resource.is_named(&group.parse().expect("a group"), &"Role".parse().expect("a kind"))
    };
    let role = "{core: true, domain: k8s.io, group: rbac.authorization, kind: Role, version: v1}";
    for group in ["rbac", "rbac.authorization", "rbac.authorization.k8s.io"] {
        assert!(check(role, group), "{group}");
    }
    assert!(!check(role, "authorization"));
    assert!(!check(&role.replace("kind: Role", "kind: Pod"), "rbac"));
    let own = "{domain: a.io, group: rbac.more, kind: Role, version: v1}";
    assert!(!check(own, "rbac") && check(own, "rbac.more.a.io"));
}
