use crate::project::{Api, CrdVersion, Project, Resource};
use diagnostics::Hint as _;
use model::{GroupName, Kind, Plural, Version};

/// The place of a new type, and its other versions.
pub struct ApiLocation {
    pub group: GroupName,
    pub version: Version,
    pub kind: Kind,
    pub plural: Plural,
    /// The other versions of the kind.
    pub other_versions: Vec<Resource>,
    /// True if the names of its files have the group, since a kind of another one, in the project or outside, had taken
    /// the plain names.
    pub group_in_names: bool,
    new_group: bool,
    new_version: bool,
}

impl ApiLocation {
    pub fn find(
        project: &Project,
        group: GroupName,
        version: Version,
        kind: Kind,
        plural: Option<Plural>,
    ) -> anyhow::Result<Self> {
        let in_group = |resource: &&Resource| resource.is_own_of(&group);
        let same: Vec<&Resource> = project
            .resources
            .iter()
            .filter(in_group)
            .filter(|resource| resource.kind == kind)
            .collect();
        if same.iter().any(|resource| resource.version == version) {
            let missing = if same.iter().any(|resource| resource.controller) {
                ""
            } else {
                "; `--resource=false` adds the missing controller"
            };
            return Err(anyhow::format_err!("{group}/{version} {kind} is already in this project"))
                .hint(format!(
                    "edit its type and run `operator-rs manifests`, or give another `--version`{missing}"
                ));
        }
        let differs_in_case = |other: &&Resource| {
            other.kind != kind && other.kind.to_lowercase() == kind.to_lowercase()
        };
        if let Some(other) = project.resources.iter().filter(in_group).find(differs_in_case) {
            return Err(anyhow::format_err!(
                "{kind} and {} differ in upper and lower case only: their CRDs would have the same singular, `{}`, \
                 and their files the same names",
                other.kind,
                kind.to_lowercase()
            ))
            .hint("choose a kind that differs in more than upper and lower case");
        }
        let takes = |one: &Kind, other: &Kind| {
            ["Spec", "Status"].iter().any(|name| format!("{one}{name}") == other.to_string())
        };
        let name_of_a_part = |resource: &&Resource| {
            resource.version == version
                && (takes(&resource.kind, &kind) || takes(&kind, &resource.kind))
        };
        if let Some(other) = project.resources.iter().filter(in_group).find(name_of_a_part) {
            return Err(anyhow::format_err!(
                "{kind} and {} would both name a Rust type of {group}/{version}: the spec or status of one has the same name as the other",
                other.kind
            ))
            .hint("choose another kind, or another version");
        }
        let plural = match (plural, same.first()) {
            (Some(plural), Some(other)) if plural != other.plural() => {
                return Err(anyhow::format_err!(
                    "the plural of {kind} is `{}` in {}",
                    other.plural(),
                    other.version
                ))
                .hint("all versions of a kind share one plural: leave `--plural` out");
            }
            (None, Some(other)) => other.plural(),
            (Some(plural), _) => plural,
            (None, None) => kind.plural(),
        };
        let clash = |resource: &&Resource| resource.kind != kind && resource.plural() == plural;
        if let Some(other) = project.resources.iter().filter(in_group).find(clash) {
            return Err(anyhow::format_err!(
                "the plural `{plural}` of {kind} is also the plural of {}",
                other.kind
            ))
            .hint("choose another plural with `--plural`: the name of the CRD begins with it");
        }
        Ok(Self::new(project, group, version, kind, plural))
    }

    /// Returns the place of an existing resource.
    pub fn of(project: &Project, resource: &Resource, group: GroupName) -> Self {
        Self::new(project, group, resource.version, resource.kind.clone(), resource.plural())
    }

    fn new(
        project: &Project,
        group: GroupName,
        version: Version,
        kind: Kind,
        plural: Plural,
    ) -> Self {
        let is_other_version = |resource: &&Resource| {
            resource.is_own_of(&group) && resource.kind == kind && resource.version != version
        };
        let others = || project.resources.iter().filter(|resource| resource.is_own_of(&group));
        Self {
            other_versions: project.resources.iter().filter(is_other_version).cloned().collect(),
            group_in_names: match others().find(|other| other.kind == kind) {
                Some(version) => project.inputs.options_of(version).group_in_names,
                None => project.resources.iter().any(|resource| {
                    !resource.is_own_of(&group)
                        && resource.kind.to_lowercase() == kind.to_lowercase()
                }),
            },
            new_group: others().next().is_none(),
            new_version: !others().any(|other| other.version == version),
            group,
            version,
            kind,
            plural,
        }
    }

    /// Returns the template sets for the directories around the type.
    pub fn sets(&self) -> Vec<String> {
        let sets = [
            (self.new_group, "create/group"),
            (self.new_version, "create/version"),
            (self.other_versions.is_empty(), "create/kind"),
        ];
        sets.into_iter().filter(|pair| pair.0).map(|pair| pair.1.to_owned()).collect()
    }

    /// Returns whether the kind is namespaced: as requested, and like its other versions.
    pub fn scope(&self, asked: Option<bool>, project: &Project) -> anyhow::Result<bool> {
        let other = self
            .other_versions
            .iter()
            .find_map(|version| Some((version.version, version.api.as_ref()?.namespaced)));
        let scope = match (asked, other) {
            (Some(asked), Some((version, namespaced))) if asked != namespaced => {
                return Err(anyhow::format_err!(
                    "{} has `namespaced: {namespaced}` in {version}",
                    self.kind
                ))
                .hint("all versions of a kind share one scope: leave `--namespaced` out");
            }
            (_, Some((_, namespaced))) => namespaced,
            (asked, None) => asked.unwrap_or(true),
        };
        if !scope && project.namespaced {
            return Err(anyhow::format_err!(
                "this operator watches its own namespace only, and {} would be cluster-scoped",
                self.kind
            ))
            .hint(
                "leave out `--namespaced=false`, or start a project without `init --namespaced`",
            );
        }
        Ok(scope)
    }

    pub fn resource(&self, project: &Project, namespaced: bool, controller: bool) -> Resource {
        Resource {
            api: Some(Api { crd_version: CrdVersion::V1, namespaced }),
            controller,
            core: false,
            domain: Some(project.domain.clone()),
            external: false,
            group: Some(self.group.clone().into()),
            kind: self.kind.clone(),
            path: Some(format!(
                "{}_api::{}::{}",
                project.name.crate_name(),
                self.group.module_name(),
                self.version
            )),
            plural: Some(self.plural.clone()),
            version: self.version,
            webhooks: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_kinds_that_differ_in_case_alone_have_the_group_in_their_names() {
        let text = "\
domain: example.com
layout:
- rust.operator-rs.io/v1
projectName: memo
resources:
- {api: {crdVersion: v1, namespaced: true}, domain: example.com, group: cache, kind: Memcached, version: v1}
version: \"3\"
";
        let project = Project::from_text(text).expect("a project");
        let place = |group: &str, kind: &str| {
            let group = group.parse().expect("a group");
            let (version, kind) = ("v1".parse().expect("a version"), kind.parse().expect("a kind"));
            ApiLocation::find(
                &project,
                group,
                version,
                kind,
                Some("mems".parse().expect("a plural")),
            )
        };
        assert!(place("ship", "MemCached").expect("a place").group_in_names);
        assert!(!place("ship", "Memo").expect("a place").group_in_names);
        let error = place("cache", "MemCached").map(drop).unwrap_err().to_string();
        assert!(error.contains("differ in upper and lower case only"), "{error}");
    }
}
