//! `// +kubebuilder:webhook:path=…,mutating=…,…` and `// +kubebuilder:webhookconfiguration:mutating=…,name=…`

use super::{marker::Marker, resources::Resources};
use crate::project::{
    DeclaredKind, Problem, Rule, Webhook, WebhookArguments, WebhookConfiguration,
};

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
    let arguments = marker.arguments(|name, scanner| {
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

/// What of a marker is probably misspelt: its groups and resources, and the versions of the project's own kinds.
pub fn doubts(it: &Webhook, resources: &Resources, kinds: &[DeclaredKind]) -> Vec<Problem> {
    let WebhookArguments { groups, resources: words, versions, .. } = &it.arguments;
    let rule = Rule { groups: groups.clone(), resources: words.clone(), ..Rule::default() };
    let of = |word: &str| if groups.iter().any(|it| it == word) { "groups" } else { "resources" };
    let problem = |it: &Webhook, argument: &str, message: String, hint: &str| {
        Problem::new(it.at(argument), message).with_hint(hint).with_rule("marker")
    };
    let mut res: Vec<Problem> = { resources.doubts(&rule) }
        .into_iter()
        .map(|doubt| problem(it, of(doubt.word), doubt.message, &doubt.hint))
        .collect();
    let names = |kind: &DeclaredKind| {
        let crd = kind.crd.as_ref().ok()?;
        Some((crd.spec.group.clone(), crd.spec.names.plural.clone(), kind.version.clone()?))
    };
    let known: Vec<(String, String, String)> = kinds.iter().filter_map(names).collect();
    // A kind that cannot be read may have any plural, and be another version of these.
    let is_unread = |it: &DeclaredKind| {
        it.crd.is_err() && it.group.as_ref().is_none_or(|it| groups.contains(it))
    };
    let known = if kinds.iter().any(is_unread) { Vec::new() } else { known };
    for word in words {
        let plural = word.split('/').next().unwrap_or_default();
        let own = known.iter().filter(|it| groups.contains(&it.0) && it.1 == plural);
        let own: Vec<&str> = own.map(|it| it.2.as_str()).collect();
        let is_unknown = |it: &&String| !own.contains(&it.as_str()) && *it != "*";
        if let Some(version) = versions.iter().find(is_unknown).filter(|_| !own.is_empty()) {
            let message = format!("`{plural}` has no version `{version}` in this project");
            let hint = format!("its versions are: {}", own.join(", "));
            res.push(problem(it, "versions", message, &hint));
        }
    }
    res
}

pub fn configuration(marker: &Marker<'_>) -> Result<WebhookConfiguration, Problem> {
    let (mut mutating, mut name) = (false, String::new());
    let arguments = marker.arguments(|argument, scanner| {
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

#[test]
fn versions_of_kinds_that_have_to_be_compiled_are_not_doubted() {
    let check = |attribute: &str, version: &str, expected: &[&str]| {
        let kind = |version: &str, attribute: &str| {
            format!(
                "pub mod {version} {{ use kube::CustomResource; use schemars::JsonSchema; use serde::{{Deserialize, Serialize}};
                #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
                #[kube(group = \"a.io\", version = \"{version}\", kind = \"Shop\")]
                pub struct ShopSpec {{ {attribute} pub size: i32 }}
                fn made(_: &mut schemars::SchemaGenerator) -> schemars::Schema {{ todo!() }} }}\n"
            )
        };
        let marker = format!(
            "// +kubebuilder:webhook:path=/a,mutating=true,failurePolicy=fail,sideEffects=None,groups=a.io,resources=shops,verbs=create,versions={version},name=a.b.io,admissionReviewVersions=v1\n"
        );
        let text = marker + &kind("v1", "") + &kind("v2", attribute);
        let sources = std::collections::BTreeMap::from([
            (crate::project::SourcePath::fixed("src/lib.rs"), text),
            (
                crate::project::SourcePath::fixed("Cargo.toml"),
                include_str!("../../tests/schemas/Cargo.toml").to_owned(),
            ),
            (
                crate::project::SourcePath::fixed("Cargo.lock"),
                include_str!("../../tests/schemas/Cargo.lock").to_owned(),
            ),
        ]);
        let operator = super::read_with_rules(&sources, &Default::default()).operator;
        assert_eq!(operator.kinds.len(), 2);
        let found: Vec<String> = operator.warnings.iter().map(|it| it.message.clone()).collect();
        assert_eq!(found, expected);
    };
    check("", "v2", &[]);
    check("", "v3", &["`shops` has no version `v3` in this project"]);
    check("#[schemars(schema_with = \"made\")]", "v2", &[]);
}
