use serde::Serialize;

use super::{Args, place::Place};
use crate::{
    commands::derive::Names,
    model::{GroupName, Kind, Plural, Project, Version},
};

/// What `templates/create/…` may say.
#[derive(Serialize)]
pub struct Context<'a> {
    #[serde(flatten)]
    names: Names<'a>,
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
    /// As the names above, but told apart from a kind of the same name in another group.
    controller_module: String,
    kind_file: String,
    kind_object: String,
    plural: &'a Plural,
    /// What all versions of the kind say in `#[kube(…)]`, an item each.
    shared: Vec<String>,
    api_namespaced: bool,
    /// What `#[kube(storage = …)]` has to say, so that one version of the kind is stored.
    storage: bool,
    not_storage: bool,
    image: String,
    port: Option<u16>,
    run_as_user: i64,
    container_command: &'a [String],
    finalizer: bool,
    finalizer_name: String,
}

impl<'a> Context<'a> {
    pub fn new(
        project: &'a Project,
        place: &'a Place,
        namespaced: bool,
        shared: Vec<String>,
        args: &'a Args,
    ) -> Self {
        let Place { group, version, kind, plural, .. } = place;
        let (snake, lower) = (kind.snake(), kind.lower());
        let apart = place.shared_name;
        Self {
            names: Names::new(project),
            group,
            group_module: group.module(),
            api_group: group.qualified(&project.domain),
            version: *version,
            kind,
            kind_kebab: kind.kebab(),
            kind_module: kind.module(),
            kind_env: if apart {
                format!("{}_{}", group.module().to_uppercase(), kind.shouty())
            } else {
                kind.shouty()
            },
            controller_module: if apart {
                format!("{}_{snake}", group.module())
            } else {
                kind.module()
            },
            kind_file: if apart { format!("{group}_{lower}") } else { lower.clone() },
            kind_object: if apart { format!("{group}-{lower}") } else { lower.clone() },
            kind_lower: lower,
            kind_snake: snake,
            plural,
            shared,
            api_namespaced: namespaced,
            storage: args.storage && !place.kin.is_empty(),
            not_storage: !args.storage && !place.kin.is_empty(),
            image: args.operand.image.as_ref().map(ToString::to_string).unwrap_or_default(),
            port: args.operand.port,
            run_as_user: args.operand.run_as_user.unwrap_or(1001),
            container_command: &args.operand.container_command,
            finalizer: args.finalizer,
            finalizer_name: finalizer_name(&group.qualified(&project.domain), &place.kind),
        }
    }
}

/// A finalizer as Kubernetes demands it: qualified by a domain, with at most 63 characters after the slash.
pub fn finalizer_name(domain: &str, kind: &Kind) -> String {
    let name = format!("{}-finalizer", kind.lower());
    let name = if 63 < name.len() { "finalizer" } else { &name };
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
