//! `// +kubebuilder:webhook:path=…,mutating=…,…` and `// +kubebuilder:webhookconfiguration:mutating=…,name=…`

use super::{marker::Marker, resources::Resources};
use crate::project::{
    DeclaredKind, Problem, Rule, Webhook, WebhookArguments, WebhookConfiguration,
};

/// Returns the webhook of a marker.
pub fn webhook(marker: &Marker<'_>) -> Result<Webhook, Problem> {
    let (arguments, offsets) = marker.parse_arguments()?;
    let place = |(name, at): &(String, usize)| (name.clone(), marker.place_at(*at));
    let places = offsets.iter().map(place).collect();
    Ok(Webhook { place: marker.place_at(0), places, arguments })
}

/// Returns what of a marker is probably misspelt: its groups and resources, and the versions of the project's own
/// kinds.
pub fn doubts(it: &Webhook, resources: &Resources, kinds: &[DeclaredKind]) -> Vec<Problem> {
    let WebhookArguments { groups, resources: words, versions, .. } = &it.arguments;
    let rule = Rule { groups: groups.clone(), resources: words.clone(), ..Rule::default() };
    let of =
        |word: &str| if groups.iter().any(|group| group == word) { "groups" } else { "resources" };
    let problem = |group: &Webhook, argument: &str, message: String, hint: &str| {
        Problem::new(group.place_of(argument), message).with_hint(hint).with_rule("marker")
    };
    let mut problems: Vec<Problem> = { resources.find_doubts(&rule) }
        .into_iter()
        .map(|doubt| problem(it, of(doubt.word), doubt.message, &doubt.hint))
        .collect();
    let names = |kind: &DeclaredKind| {
        let crd = kind.crd.as_ref().ok()?;
        Some((crd.spec.group.clone(), crd.spec.names.plural.clone(), kind.version.clone()?))
    };
    let known: Vec<(String, String, String)> = kinds.iter().filter_map(names).collect();
    // A kind that cannot be read may have any plural, and be another version of these.
    let is_unread = |kind: &DeclaredKind| {
        kind.crd.is_err() && kind.group.as_ref().is_none_or(|group| groups.contains(group))
    };
    let known = if kinds.iter().any(is_unread) { Vec::new() } else { known };
    for word in words {
        let plural = word.split('/').next().unwrap_or_default();
        let own = known.iter().filter(|pair| groups.contains(&pair.0) && pair.1 == plural);
        let own: Vec<&str> = own.map(|resource| resource.2.as_str()).collect();
        let is_unknown = |name: &&String| !own.contains(&name.as_str()) && *name != "*";
        if let Some(version) = versions.iter().find(is_unknown).filter(|_| !own.is_empty()) {
            let message = format!("`{plural}` has no version `{version}` in this project");
            let hint = format!("its versions are: {}", own.join(", "));
            problems.push(problem(it, "versions", message, &hint));
        }
    }
    problems
}

/// Returns the name of a configuration.
pub fn configuration(marker: &Marker<'_>) -> Result<WebhookConfiguration, Problem> {
    let (arguments, _) = marker.parse_arguments()?;
    Ok(WebhookConfiguration { place: marker.place_at(0), arguments })
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
        let operator = super::read_workspace_with_rules(&sources, &Default::default()).operator;
        assert_eq!(operator.kinds.len(), 2);
        let found: Vec<String> =
            operator.warnings.iter().map(|warning| warning.message.clone()).collect();
        assert_eq!(found, expected);
    };
    check("", "v2", &[]);
    check("", "v3", &["`shops` has no version `v3` in this project"]);
    check("#[schemars(schema_with = \"made\")]", "v2", &[]);
}
