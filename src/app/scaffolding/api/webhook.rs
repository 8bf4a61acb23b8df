//! A kind with webhooks: the names that the templates of `create webhook` use. `delete webhook` renders the same.

use clap::builder::PossibleValue;
use serde::Serialize;

use super::{foreign::ForeignKind, needed};
use crate::app::scaffolding::template_names::TemplateNames;
use crate::project::{Certificates, Project, Resource, Webhooks};
use diagnostics::{Diagnostic, Hint as _};
use model::{Plural, ProjectPath, Tree, Version};

/// The template sets of webhooks.
pub const FIRST: &str = "create/webhook";
pub const DEFAULTING: &str = "create/webhook-defaulting";
pub const VALIDATION: &str = "create/webhook-validation";
pub const CONVERSION: &str = "create/webhook-conversion";
pub const FIRST_CONVERSION: &str = "create/webhook-first-conversion";
pub const SPOKE: &str = "create/webhook-spoke";

pub const FIRST_POLICY: &str = "create/first-admission-policy";
/// The folder of the policies.
pub const POLICIES: &str = "config/admission-policy";
pub const POLICY: &str = "create/admission-policy";

impl clap::ValueEnum for Certificates {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::CertManager, Self::SelfManaged]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::CertManager => {
                PossibleValue::new("cert-manager").help("cert-manager, as with kubebuilder")
            }
            Self::SelfManaged => PossibleValue::new("self")
                .help("The operator itself: the cluster needs no cert-manager"),
        })
    }
}

/// Returns the template set that the first webhook needs besides `FIRST`.
pub fn certificates(made_by: Certificates) -> &'static str {
    match made_by {
        Certificates::CertManager => "create/webhook-cert-manager",
        Certificates::SelfManaged => "create/webhook-self",
    }
}

/// Returns whether the project has no webhooks yet: the first one needs files that all share.
pub fn is_first(project: &Project) -> bool {
    !project.has_webhooks()
}

/// A kind of the project or of others, in one version.
pub struct WebhookTarget {
    pub resource: Resource,
    pub namespaced: bool,
    /// The path and the name of its Rust type.
    type_path: String,
    type_name: String,
    /// The namespace of the operator, if it cannot start there without objects of this kind.
    exempt_namespace: Option<String>,
    /// config/default has the Service of the metrics.
    has_metrics_service: bool,
}

/// The variables of the templates.
#[derive(Serialize)]
pub struct WebhookContext<'a> {
    #[serde(flatten)]
    names: TemplateNames<'a>,
    api_group: String,
    api_version: String,
    /// The group in a marker: nothing would not be a value.
    marker_group: String,
    version: Version,
    kind: String,
    kind_lower: String,
    kind_snake: String,
    group_module: String,
    /// The beginning of the names of its modules.
    module: String,
    plural: Plural,
    type_path: &'a str,
    type_name: &'a str,
    /// The type is the project's own.
    own: bool,
    /// The type is one of another crate than k8s-openapi, so that its required fields are unknown.
    is_external: bool,
    exempt_namespace: Option<&'a str>,
    has_metrics_service: bool,
    api_namespaced: bool,
    /// The operator makes the certificate of the webhooks.
    self_managed: bool,
    /// The sample of the project's own kind.
    sample: String,
    path: String,
    webhook_name: String,
    policy_name: String,
    /// The line that registers the webhook is too long for one line, as rustfmt counts.
    is_long: bool,
    /// rustfmt sorts the import of the type before that of the runtime.
    is_type_first: bool,
    /// The same in tests, whose last import is that of the testing crate.
    is_before_testing: bool,
    spoke: String,
    hub_path: String,
    spoke_path: String,
    /// The code of the conversion.
    conversion: &'a str,
}

impl WebhookTarget {
    /// Returns the project's own kind.
    pub fn own(resource: &Resource) -> anyhow::Result<Self> {
        let path = resource.path.as_deref().and_then(|path| path.split_once("::"));
        let Some((_, module)) = path else {
            return Err(anyhow::format_err!("PROJECT has no `path` for {}", resource.kind)).hint(
                "add the path of the module that has the type, e.g. `path: my_operator_api::cache::v1`",
            );
        };
        let type_name = resource.kind.to_string();
        Ok(Self {
            namespaced: resource.api.as_ref().is_some_and(|api| api.namespaced),
            type_path: format!("api::{module}::{type_name}"),
            type_name,
            resource: resource.clone(),
            exempt_namespace: None,
            has_metrics_service: true,
        })
    }

    /// Returns a kind that others define, for which the project needs no controller.
    pub fn foreign(foreign: ForeignKind) -> Self {
        Self {
            type_path: foreign.type_path(),
            type_name: foreign.type_name().to_owned(),
            namespaced: foreign.namespaced,
            resource: foreign.resource,
            exempt_namespace: None,
            has_metrics_service: true,
        }
    }

    /// The same, as config/default says: for the Services that it has. It leaves out the operator's own namespace where the
    /// operator needs the kind to start.
    pub fn deployed(mut self, project: &Project, tree: &impl Tree) -> anyhow::Result<Self> {
        self.has_metrics_service = needed::has_metrics_service(tree)?;
        if self.selects_namespaces() && needed::is_needed(project, &self.resource) {
            self.exempt_namespace = Some(needed::namespace(project, tree)?);
        }
        Ok(self)
    }

    /// Returns whether a webhook can leave out namespaces: selectors select the namespaces themselves, too, by their
    /// labels.
    pub fn selects_namespaces(&self) -> bool {
        self.namespaced || self.resource.kind.to_string() == "Namespace"
    }

    /// Returns what to know of a webhook for a kind that the operator needs itself, and that leaves out its namespace.
    pub fn deadlock(&self) -> Option<Diagnostic> {
        let namespace = self.exempt_namespace.as_ref()?;
        let message = format!(
            "this operator needs {} itself: while no replica answers, API servers refuse all that the webhook is for, and no replica can start",
            self.resource.kind.plural()
        );
        let hint = format!(
            "the marker in src/webhook/ has a `patch` that leaves out the namespace `{namespace}`: change it when the operator runs in another one, and add those that the cluster needs, such as `kube-system` and `kube-node-lease`"
        );
        Some(Diagnostic::from(message).with_hint(hint))
    }

    /// Returns the kind of an entry in PROJECT.
    pub fn of(project: &Project, resource: &Resource) -> anyhow::Result<Option<Self>> {
        match resource.api {
            Some(_) => Self::own(resource).map(Some),
            None => Ok(ForeignKind::of(project, resource).map(Self::foreign)),
        }
    }

    /// Returns the file of its admission policy.
    pub fn policy(&self) -> anyhow::Result<ProjectPath> {
        let module = self.module_name();
        Ok(format!("{POLICIES}/{module}_policy.yaml").parse()?)
    }

    /// Returns the file with the code of its conversion to and from a spoke.
    pub fn conversion_file(&self, spoke: Version) -> Option<ProjectPath> {
        let Resource { kind, group, .. } = &self.resource;
        let group = group.as_ref()?.module_name();
        format!("api/src/{group}/{spoke}/{}_conversion.rs", kind.to_snake_case()).parse().ok()
    }

    /// Returns the beginning of the names of its files. A kind in one word, as kubebuilder writes it, makes it the
    /// kind's alone: the words `cache_foo_bar` may be of `cache` or of `cache-foo`.
    fn module_name(&self) -> String {
        let Resource { kind, group, .. } = &self.resource;
        let group = group.as_ref().map(|group| group.module_name()).unwrap_or_default();
        // The module of a group that is a keyword ends in `_`.
        let name = format!("{}_{}", group.trim_end_matches('_'), kind.to_lowercase());
        name.trim_start_matches('_').to_owned()
    }

    /// Returns the path that the API server calls a webhook at, as kubebuilder derives it.
    pub fn path(&self, verb: &str) -> String {
        let Resource { kind, version, .. } = &self.resource;
        let group = self.resource.api_group().replace('.', "-");
        format!("/{verb}-{group}-{version}-{}", kind.to_lowercase())
    }

    /// Returns the path of its defaulting webhook.
    pub fn defaulting_path(&self, webhooks: &Webhooks) -> String {
        webhooks.defaulting_path.clone().unwrap_or_else(|| self.path("mutate"))
    }

    /// Returns the path of its validating webhook.
    pub fn validation_path(&self, webhooks: &Webhooks) -> String {
        webhooks.validation_path.clone().unwrap_or_else(|| self.path("validate"))
    }

    /// Returns the variables for one kind of webhook, which is at `path`.
    pub fn context<'a>(
        &'a self,
        project: &'a Project,
        set: &str,
        webhooks: &Webhooks,
        spoke: Option<(Version, &'a str)>,
    ) -> WebhookContext<'a> {
        let Resource { kind, version, group, .. } = &self.resource;
        let api_group = self.resource.api_group();
        let group_module = group.as_ref().map(|group| group.module_name()).unwrap_or_default();
        let (letter, path) = match set {
            DEFAULTING => ("m", self.defaulting_path(webhooks)),
            _ => ("v", self.validation_path(webhooks)),
        };
        let module = self.module_name();
        let spoke_name = spoke.map(|pair| pair.0.to_string()).unwrap_or_default();
        let type_in = |version: &str| {
            let module = self.type_path.rsplit("::").nth(1).unwrap_or_default();
            self.type_path.replace(&format!("::{module}::"), &format!("::{version}::"))
        };
        let type_name = &self.type_name;
        let spoke_path = type_in(&spoke_name);
        let line = match set {
            SPOKE => format!(
                "        operator_rs_runtime::conversion_webhook::<{}, {spoke_path}>(),",
                self.type_path
            ),
            DEFAULTING => format!(
                "        operator_rs_runtime::mutating_webhook(\"{path}\", {module}_defaulter::{type_name}Defaulter),"
            ),
            _ => format!(
                "        operator_rs_runtime::validating_webhook(\"{path}\", {module}_validator::{type_name}Validator),"
            ),
        };
        let prefix = group.as_ref().map(|group| format!("{group}.")).unwrap_or_default();
        WebhookContext {
            names: TemplateNames::new(project),
            api_version: if api_group.is_empty() {
                version.to_string()
            } else {
                format!("{api_group}/{version}")
            },
            marker_group: if api_group.is_empty() { "\"\"".to_owned() } else { api_group.clone() },
            api_group,
            version: *version,
            kind: kind.to_string(),
            kind_lower: kind.to_lowercase(),
            kind_snake: kind.to_snake_case(),
            policy_name: module.replace('_', "-"),
            module,
            is_long: line.chars().count() > 120,
            is_type_first: self.type_path.as_str() < "operator_rs_runtime",
            is_before_testing: self.type_path.as_str() < "operator_rs_testing",
            sample: match group {
                Some(group) if self.resource.api.is_some() => {
                    format!("config/samples/{group}_{version}_{}.yaml", kind.to_lowercase())
                }
                _ => String::new(),
            },
            group_module,
            plural: self.resource.plural(),
            type_path: &self.type_path,
            type_name: &self.type_name,
            own: self.resource.api.is_some(),
            is_external: self.resource.api.is_none()
                && !self.type_path.starts_with("k8s_openapi::"),
            exempt_namespace: self.exempt_namespace.as_deref(),
            has_metrics_service: self.has_metrics_service,
            api_namespaced: self.namespaced,
            self_managed: project.inputs.certificates == Certificates::SelfManaged,
            path,
            webhook_name: format!("{letter}{}-{version}.{prefix}kb.io", kind.to_lowercase()),
            hub_path: self.type_path.clone(),
            spoke_path,
            spoke: spoke_name,
            conversion: spoke.map(|pair| pair.1).unwrap_or_default(),
        }
    }
}
