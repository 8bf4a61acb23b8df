//! `// +kubebuilder:webhook:path=…,mutating=…,…` and `// +kubebuilder:webhookconfiguration:mutating=…,name=…`

use super::marker::{Arguments, Marker};
use crate::project::{Problem, Webhook, WebhookArguments, WebhookConfiguration};

pub const NAME: &str = "kubebuilder:webhook";
pub const CONFIGURATION: &str = "kubebuilder:webhookconfiguration";

/// How to write them.
pub const USAGE: &str = "write e.g. `// +kubebuilder:webhook:path=/validate-cache-example-com-v1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,name=vmemcached-v1.kb.io,admissionReviewVersions=v1`";
pub const CONFIGURATION_USAGE: &str = "write e.g. `// +kubebuilder:webhookconfiguration:mutating=false,name=validating-webhook-configuration`";

const REQUIRED: &[&str] = &[
    "mutating",
    "failurePolicy",
    "groups",
    "resources",
    "verbs",
    "versions",
    "name",
    "admissionReviewVersions",
];

/// The webhook of a marker.
pub fn webhook(marker: &Marker<'_>) -> Result<Webhook, Problem> {
    let mut res = WebhookArguments::default();
    let arguments = Arguments::read(marker.fields, |name, scanner| {
        match name {
            "mutating" => res.mutating = scanner.boolean()?,
            "failurePolicy" => res.failure_policy = scanner.string()?,
            "matchPolicy" => res.match_policy = scanner.string()?,
            "sideEffects" => res.side_effects = scanner.string()?,
            "timeoutSeconds" => res.timeout_seconds = scanner.integer()?,
            "groups" => res.groups = scanner.list()?,
            "resources" => res.resources = scanner.list()?,
            "verbs" => res.verbs = scanner.list()?,
            "versions" => res.versions = scanner.list()?,
            "name" => res.name = scanner.string()?,
            "serviceName" => res.service_name = scanner.string()?,
            "serviceNamespace" => res.service_namespace = scanner.string()?,
            "path" => res.path = scanner.string()?,
            "servicePort" => res.service_port = Some(scanner.integer()?),
            "webhookVersions" => res.webhook_versions = scanner.list()?,
            "admissionReviewVersions" => res.admission_review_versions = scanner.list()?,
            "reinvocationPolicy" => res.reinvocation_policy = scanner.string()?,
            "url" => res.url = scanner.string()?,
            "patch" => res.patch = scanner.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    });
    let read = arguments.and_then(|it| it.require(REQUIRED).map(|()| it));
    let arguments = read.map_err(|it| marker.problem(it, USAGE))?;
    let places = arguments.iter().map(|(name, at)| (name.clone(), marker.place(*at))).collect();
    Ok(Webhook { place: marker.place(0), places, arguments: res })
}

pub fn configuration(marker: &Marker<'_>) -> Result<WebhookConfiguration, Problem> {
    let (mut mutating, mut name) = (false, String::new());
    let arguments = Arguments::read(marker.fields, |argument, scanner| {
        match argument {
            "mutating" => mutating = scanner.boolean()?,
            "name" => name = scanner.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    });
    let read = arguments.and_then(|it| it.require(&["mutating"]));
    read.map_err(|it| marker.problem(it, CONFIGURATION_USAGE))?;
    Ok(WebhookConfiguration { place: marker.place(0), mutating, name })
}
