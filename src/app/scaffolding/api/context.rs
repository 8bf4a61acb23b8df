use serde::Serialize;

use super::place::ApiLocation;
use crate::app::scaffolding::template_names::TemplateNames;
use crate::project::{Options, Project};
use model::{GroupName, Kind, Plural, Version};

/// The choices for a new type and its controller.
#[derive(Clone, Debug, Default)]
pub struct ApiChoices {
    /// The items of `#[kube(…)]` that all versions of the kind share.
    pub shared: Vec<String>,
    pub options: Options,
    /// The `spec` of the sample, if the template has none.
    pub sample: String,
}

/// The variables of `templates/create/…`.
#[derive(Serialize)]
pub struct ApiContext<'a> {
    #[serde(flatten)]
    names: TemplateNames<'a>,
    group: &'a GroupName,
    group_module: String,
    api_group: String,
    version: Version,
    kind: &'a Kind,
    kind_lower: String,
    kind_snake: String,
    kind_kebab: String,
    kind_module: String,
    kind_env: String,
    /// Like the names above, but distinct from a kind of the same name in another group.
    controller_module: String,
    kind_file: String,
    kind_object: String,
    /// The sample of each version is a separate object.
    sample_name: String,
    plural: &'a Plural,
    shared: &'a [String],
    api_namespaced: bool,
    /// Objects are stored in another version of the kind.
    not_storage: bool,
    image: String,
    sample: &'a str,
    port: Option<u16>,
    run_as_user: i64,
    container_command: &'a [String],
    finalizer: bool,
    finalizer_name: String,
}

impl<'a> ApiContext<'a> {
    pub fn new(
        project: &'a Project,
        place: &'a ApiLocation,
        namespaced: bool,
        choices: &'a ApiChoices,
    ) -> Self {
        let ApiLocation { group, version, kind, plural, .. } = place;
        let (snake, lower) = (kind.to_snake_case(), kind.to_lowercase());
        let (apart, options) = (place.group_in_names, &choices.options);
        Self {
            names: TemplateNames::new(project),
            group,
            group_module: group.module_name(),
            api_group: group.qualified_name(&project.domain),
            version: *version,
            kind,
            kind_kebab: kind.to_kebab_case(),
            kind_module: kind.module_name(),
            kind_env: if apart {
                format!("{}_{}", group.module_name().to_uppercase(), kind.to_shouty_snake_case())
            } else {
                kind.to_shouty_snake_case()
            },
            controller_module: if apart {
                // The module of a group that is a keyword ends in `_`.
                format!("{}_{snake}", group.module_name().trim_end_matches('_'))
            } else {
                kind.module_name()
            },
            kind_file: if apart { format!("{group}_{lower}") } else { lower.clone() },
            kind_object: if apart { format!("{group}-{lower}") } else { lower.clone() },
            sample_name: if place.other_versions.is_empty() {
                format!("{lower}-sample")
            } else {
                format!("{lower}-{version}-sample")
            },
            kind_lower: lower,
            kind_snake: snake,
            plural,
            shared: &choices.shared,
            api_namespaced: namespaced,
            not_storage: !place.other_versions.is_empty(),
            image: options.image.as_ref().map(ToString::to_string).unwrap_or_default(),
            sample: &choices.sample,
            port: options.container_port,
            run_as_user: options.run_as_user.unwrap_or(1001),
            container_command: &options.container_command,
            finalizer: options.finalizer,
            finalizer_name: finalizer_name(&group.qualified_name(&project.domain), &place.kind),
        }
    }
}

/// Returns a finalizer as Kubernetes demands it: qualified by a domain, with at most 63 characters after the slash.
pub fn finalizer_name(domain: &str, kind: &Kind) -> String {
    let name = format!("{}-finalizer", kind.to_lowercase());
    let name = if name.len() > 63 { "finalizer" } else { &name };
    format!("{domain}/{name}")
}

#[test]
fn a_finalizer_has_a_name_that_kubernetes_takes() {
    let check = |kind: &str, expected: &str| {
        let kind = kind.parse().expect("a kind");
        assert_eq!(finalizer_name("a.io", &kind), expected);
    };
    check("Memcached", "a.io/memcached-finalizer");
    let kind = |length: usize| format!("A{}", "b".repeat(length - 1));
    check(&kind(53), &format!("a.io/a{}-finalizer", "b".repeat(52)));
    check(&kind(54), "a.io/finalizer");
}
