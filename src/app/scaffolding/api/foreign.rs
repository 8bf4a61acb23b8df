//! A type that is not the project's: a kind of Kubernetes, or one of another crate.

use serde::Serialize;

use super::context::finalizer_name;
use crate::project::{Project, Resource};
use crate::{
    app::scaffolding::template_names::TemplateNames,
    source::{BuiltInKind, kinds as built_in_kinds},
};
use diagnostics::with_hints;
use model::{Domain, GroupPrefix, Kind, Plural, RustPath, Version};

/// The hint for a kind of another crate.
pub const EXTERNAL: &str =
    "for a type of another crate, add `--external-api-path` with its Rust path";

/// The number of similar kinds that an error names.
const SUGGESTIONS: usize = 3;

/// Where the type of another crate is
#[derive(clap::Args)]
#[command(next_help_heading = "Type of another crate")]
pub struct ExternalTypeFlags {
    /// Rust path of the type or of its module, e.g. `gateway_api::gateways`
    #[arg(long, value_name = "PATH")]
    pub external_api_path: Option<RustPath>,
    /// Domain of the type's API group [default: the project's domain]
    #[arg(long, requires = "external_api_path", value_name = "DOMAIN")]
    external_api_domain: Option<Domain>,
}

impl ExternalTypeFlags {
    /// Returns the API group of the kind, if its domain is given.
    pub fn api_group(&self, group: &GroupPrefix) -> Option<String> {
        self.external_api_domain.as_ref().map(|domain| format!("{group}.{domain}"))
    }
}

/// A kind that others define.
pub struct ForeignKind {
    pub resource: Resource,
    pub namespaced: bool,
    /// The name of the Rust type, which may differ from the kind.
    type_name: String,
    module: String,
}

/// The variables of `templates/create/controller-foreign`.
#[derive(Serialize)]
pub struct ForeignContext<'a> {
    #[serde(flatten)]
    names: TemplateNames<'a>,
    /// Empty for the core group.
    api_group: String,
    api_version: String,
    kind: &'a Kind,
    kind_lower: String,
    controller_module: &'a str,
    plural: Plural,
    type_path: String,
    /// The type's name, if it differs from the kind.
    type_alias: Option<&'a str>,
    core: bool,
    /// The type is the project's own.
    own: bool,
    /// The type is one of another crate.
    external: bool,
    api_namespaced: bool,
    finalizer: bool,
    finalizer_name: String,
}

impl ForeignKind {
    /// Returns a kind that every cluster serves. The error for an unknown kind names similar ones; for an unknown
    /// group, it has these hints, too.
    pub fn built_in(
        group: &GroupPrefix,
        version: Version,
        kind: &Kind,
        hints: &[&str],
    ) -> anyhow::Result<Self> {
        let (name, number) = (kind.to_string(), version.to_string());
        let all = built_in_kinds::built_in_kinds();
        let is = |kind: &&BuiltInKind| {
            kind.kind == name && kind.version == number && kind.is_in(group.as_str())
        };
        let Some(found) = all.iter().find(is) else {
            return refuse_kind(&all, group, version, kind, hints);
        };
        let plural: Plural = found.plural.parse()?;
        Ok(Self {
            resource: Resource {
                api: None,
                controller: true,
                core: true,
                domain: found.domain().map(str::parse).transpose()?,
                external: false,
                group: Some(found.prefix().parse()?),
                kind: kind.clone(),
                path: Some(found.module.to_owned()),
                plural: Some(plural).filter(|plural| *plural != kind.plural()),
                version,
                webhooks: None,
            },
            namespaced: found.namespaced,
            type_name: name,
            module: found.module.to_owned(),
        })
    }

    /// Returns a type of another crate, as the flags describe it.
    pub fn external(
        project: &Project,
        group: GroupPrefix,
        version: Version,
        kind: &Kind,
        flags: &ExternalTypeFlags,
    ) -> Option<Self> {
        let path = flags.external_api_path.as_ref()?;
        let name = kind.to_string();
        let (module, type_name) = path.type_of(&name);
        Some(Self {
            resource: Resource {
                api: None,
                controller: true,
                core: false,
                domain: flags.external_api_domain.clone().or_else(|| Some(project.domain.clone())),
                external: true,
                group: Some(group),
                kind: kind.clone(),
                // A crate alone would be no path.
                path: Some(if type_name == name && module.contains("::") {
                    module.to_owned()
                } else {
                    path.to_string()
                }),
                plural: None,
                version,
                webhooks: None,
            },
            namespaced: true,
            type_name: type_name.to_owned(),
            module: module.to_owned(),
        })
    }

    /// Returns the entry in PROJECT of a kind that others define.
    pub fn of(project: &Project, resource: &Resource) -> Option<Self> {
        let options = project.inputs.options_of(resource);
        let path: RustPath = resource.path.as_deref()?.parse().ok()?;
        let name = resource.kind.to_string();
        let (module, type_name) = path.type_of(&name);
        let is = |kind: &BuiltInKind| kind.module == module && kind.kind == name;
        let built_in = built_in_kinds::built_in_kinds().into_iter().find(is);
        Some(Self {
            resource: resource.clone(),
            namespaced: built_in.map_or(options.namespaced != Some(false), |api| api.namespaced),
            type_name: type_name.to_owned(),
            module: module.to_owned(),
        })
    }

    /// Returns a type of the project that was not scaffolded: nothing is known about its status.
    pub fn own(resource: Resource, namespaced: bool, module: String) -> Self {
        Self { type_name: resource.kind.to_string(), resource, namespaced, module }
    }

    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    pub fn type_path(&self) -> String {
        format!("{}::{}", self.module, self.type_name)
    }

    /// Returns whether the names of its files have the group, since another kind had taken the plain names.
    pub fn group_in_names(&self, project: &Project) -> bool {
        let Resource { group, kind, .. } = &self.resource;
        let is_same = |resource: &&Resource| resource.is_same_kind(&self.resource);
        let is_taken = |resource: &Resource| resource.kind.to_lowercase() == kind.to_lowercase();
        match project.resources.iter().find(is_same) {
            Some(recorded) => project.inputs.options_of(recorded).group_in_names,
            None => group.is_some() && project.resources.iter().any(is_taken),
        }
    }

    /// Returns the controller's module.
    pub fn controller_module(&self, project: &Project) -> String {
        let Resource { group, kind, .. } = &self.resource;
        match group {
            Some(group) if self.group_in_names(project) => {
                format!("{}_{}", group.module_name(), kind.to_snake_case())
            }
            _ => kind.module_name(),
        }
    }

    pub fn context<'a>(
        &'a self,
        project: &'a Project,
        controller_module: &'a str,
        finalizer: bool,
    ) -> ForeignContext<'a> {
        let Resource { kind, version, core, .. } = &self.resource;
        let api_group = self.resource.api_group();
        // A finalizer on an object of another controller names its owner.
        let owner = format!("{}.{}", project.name, project.domain);
        let owner = if owner.len() > 253 { project.domain.to_string() } else { owner };
        ForeignContext {
            names: TemplateNames::new(project),
            api_version: if api_group.is_empty() {
                version.to_string()
            } else {
                format!("{api_group}/{version}")
            },
            api_group,
            kind,
            kind_lower: kind.to_lowercase(),
            controller_module,
            plural: self.resource.plural(),
            type_path: self.type_path(),
            type_alias: (self.type_name != kind.to_string()).then_some(self.type_name.as_str()),
            core: *core,
            own: self.resource.api.is_some(),
            external: !core && self.resource.api.is_none(),
            api_namespaced: self.namespaced,
            finalizer,
            finalizer_name: finalizer_name(&owner, kind),
        }
    }
}

fn refuse_kind<T>(
    all: &[BuiltInKind],
    group: &GroupPrefix,
    version: Version,
    kind: &Kind,
    more: &[&str],
) -> anyhow::Result<T> {
    let is_group = all.iter().any(|kind| kind.is_in(group.as_str()));
    let what = format!("{group}/{version} {kind}");
    let error = if is_group {
        anyhow::format_err!("Kubernetes {} has no {what}", built_in_kinds::KUBERNETES)
    } else {
        anyhow::format_err!(
            "{what} is not in this project and not part of Kubernetes {}",
            built_in_kinds::KUBERNETES
        )
    };
    let mut hints: Vec<String> = similar_kinds(all, group, kind);
    if !is_group {
        hints.extend(more.iter().map(|version| (*version).to_owned()));
    }
    with_hints(error, hints.into_iter())
}

/// Returns the flags for the kinds that a misspelt one is closest to, in one hint.
fn similar_kinds(all: &[BuiltInKind], group: &GroupPrefix, kind: &Kind) -> Vec<String> {
    let lower = kind.to_lowercase();
    let mut near: Vec<(usize, &BuiltInKind)> = all
        .iter()
        .map(|known| (diagnostics::edit_distance(&lower, known.kind), known))
        .filter(|(distance, _)| *distance <= diagnostics::max_edit_distance(&lower))
        .collect();
    // The nearest first; at the same distance, first those of the group, then the stable versions.
    near.sort_by_key(|(distance, known)| {
        let version = known.version.parse::<Version>().ok();
        (*distance, !known.is_in(group.as_str()), std::cmp::Reverse(version))
    });
    let flags: Vec<String> = near
        .iter()
        .take(SUGGESTIONS)
        .map(|(_, kind)| {
            format!("`--group {} --version {} --kind {}`", kind.prefix(), kind.version, kind.kind)
        })
        .collect();
    if flags.is_empty() { Vec::new() } else { vec![format!("similar kinds: {}", flags.join(", "))] }
}

#[test]
fn a_misspelt_kind_is_answered_with_the_nearest() {
    use diagnostics::collect_hints;
    let check = |group: &str, version: &str, kind: &str, expected: &[&str]| {
        let (group, version) =
            (group.parse().expect("a group"), version.parse().expect("a version"));
        let kind = kind.parse().expect("a kind");
        let error = ForeignKind::built_in(&group, version, &kind, &["create it"])
            .err()
            .expect("it is refused");
        assert_eq!([&[error.to_string().as_str()], &collect_hints(&error)[..]].concat(), expected);
    };
    check(
        "apps",
        "v1",
        "Deploymet",
        &[
            "Kubernetes 1.33 has no apps/v1 Deploymet",
            "similar kinds: `--group apps --version v1 --kind Deployment`",
        ],
    );
    check(
        "apps",
        "v1beta1",
        "Deployment",
        &[
            "Kubernetes 1.33 has no apps/v1beta1 Deployment",
            "similar kinds: `--group apps --version v1 --kind Deployment`",
        ],
    );
    check(
        "autoscaling",
        "v3",
        "HorizontalPodAutoscaler",
        &[
            "Kubernetes 1.33 has no autoscaling/v3 HorizontalPodAutoscaler",
            "similar kinds: `--group autoscaling --version v2 --kind HorizontalPodAutoscaler`, \
             `--group autoscaling --version v1 --kind HorizontalPodAutoscaler`",
        ],
    );
    check("core", "v1", "Memcached", &["Kubernetes 1.33 has no core/v1 Memcached"]);
    check(
        "cache",
        "v1",
        "Memcached",
        &["cache/v1 Memcached is not in this project and not part of Kubernetes 1.33", "create it"],
    );
}

#[test]
fn every_built_in_kind_can_be_named() {
    for it in built_in_kinds::built_in_kinds() {
        let (version, kind) =
            (it.version.parse().expect("a version"), it.kind.parse().expect("a kind"));
        let group: GroupPrefix = it.prefix().parse().expect("a group");
        let foreign = ForeignKind::built_in(&group, version, &kind, &[]).expect("it is there");
        assert_eq!(foreign.resource.api_group(), it.group);
        assert_eq!(foreign.resource.plural().to_string(), it.plural);
        assert_eq!(foreign.namespaced, it.namespaced);
    }
}
