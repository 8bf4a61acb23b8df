//! The kind and the webhooks that were asked for, as far as PROJECT allows them.

use std::collections::{BTreeMap, BTreeSet};

use clap::error::ErrorKind;

use super::Args;
use crate::app::scaffolding::api::{
    foreign::{EXTERNAL, ForeignKind},
    webhook::WebhookTarget,
};
use crate::project::{Certificates, Project, Resource, WebhookVersion, Webhooks};
use crate::terminal;
use diagnostics::Hint as _;
use model::{GroupPrefix, Kind, Version};

impl Args {
    /// Returns who issues the certificate. All webhooks are served with one.
    pub(super) fn choose_certificates(
        &self,
        project: &Project,
        is_first: bool,
    ) -> anyhow::Result<Certificates> {
        let found = project.inputs.certificates;
        let Some(asked) = self.certificates.filter(|certificates| *certificates != found) else {
            return Ok(found);
        };
        if is_first && found == Certificates::CertManager {
            return Ok(asked);
        }
        let message = match found {
            Certificates::CertManager => {
                "the project's webhooks use a certificate from cert-manager"
            }
            Certificates::SelfManaged => {
                "the project's webhooks use a certificate that the operator issues"
            }
        };
        Err(anyhow::format_err!("{message}, and all webhooks share one")).hint(
            "leave out `--certificates`; or commit, remove all webhooks with `operator-rs delete webhook`, create them \
             again with it, and restore src/webhook/ and tests/ from git",
        )
    }

    /// The kind, and its place in PROJECT.
    pub(super) fn find_target(
        &self,
        project: &Project,
        group: &GroupPrefix,
        kind: &Kind,
    ) -> anyhow::Result<(Option<usize>, WebhookTarget)> {
        let given = self.external.api_group(group);
        let is_group =
            |resource: &Resource| given.as_ref().is_none_or(|given| *given == resource.api_group());
        let is_kind = |resource: &Resource| resource.is_named(group, kind) && is_group(resource);
        let all: Vec<usize> =
            (0..project.resources.len()).filter(|at| is_kind(&project.resources[*at])).collect();
        let is_version = |at: &&usize| {
            self.version.is_none_or(|version| version == project.resources[**at].version)
        };
        let found: Vec<usize> = all.iter().filter(is_version).copied().collect();
        if let [at] = found[..]
            && let Some(target) = WebhookTarget::of(project, &project.resources[at])?
        {
            return Ok((Some(at), target));
        }
        if found.len() > 1 {
            let names =
                found.iter().map(|at| format!("`--version {}`", project.resources[*at].version));
            return Err(anyhow::format_err!("{kind} has {} versions", found.len()))
                .hint(format!("name one: {}", names.collect::<Vec<_>>().join(" or ")));
        }
        let is_own = project.resources.iter().any(|resource| {
            resource.api.is_some()
                && resource
                    .group
                    .as_ref()
                    .is_some_and(|prefix| prefix.to_string() == group.to_string())
        });
        let create = |version: String| {
            format!(
                "run `operator-rs create api --group {group}{version} --kind {kind}` first, if this project is to define the kind"
            )
        };
        let Some(version) = self.version else {
            let create = create(String::new());
            let create = (is_own && all.is_empty()).then_some(create);
            return refuse_missing_kind(project, group, kind, create);
        };
        // Others define versions of their kinds that PROJECT need not have.
        if let Some(own) =
            all.iter().map(|at| &project.resources[*at]).find(|resource| resource.api.is_some())
        {
            let has = own.version;
            return Err(anyhow::format_err!("{kind} has no version {version} in PROJECT, but {has}"))
                .hint(format!("run `operator-rs create api --group {group} --version {version} --kind {kind} --from {has}` first"));
        }
        if self.conversion {
            let mut hint = "only the project's own kinds can be converted".to_owned();
            if is_own {
                hint = format!("{hint}: {}", create(format!(" --version {version}")));
            }
            return Err(anyhow::format_err!("{group}/{version} {kind} is not in PROJECT"))
                .hint(hint);
        }
        let foreign = ForeignKind::external(project, group.clone(), version, kind, &self.external);
        let mut foreign = match foreign {
            Some(foreign) => foreign,
            None => {
                let create = create(format!(" --version {version}"));
                if is_own {
                    ForeignKind::built_in(group, version, kind, &[EXTERNAL]).hint(create)?
                } else {
                    ForeignKind::built_in(group, version, kind, &[EXTERNAL, &create])?
                }
            }
        };
        if self.plural.is_some() {
            foreign.resource.plural.clone_from(&self.plural);
        }
        Ok((None, WebhookTarget::foreign(foreign)))
    }

    /// The webhooks of the resource with the new ones.
    pub(super) fn merge_webhooks(
        &self,
        project: &Project,
        target: &WebhookTarget,
    ) -> anyhow::Result<Webhooks> {
        let resource = &target.resource;
        let mut webhooks = resource.webhooks.clone().unwrap_or_default();
        let name = format!("{} {}", resource.version, resource.kind);
        let others = project.resources.iter();
        let others: Vec<&Resource> = others
            .filter(|other| other.is_same_kind(resource) && other.version != resource.version)
            .collect();
        let has = |which: fn(&Webhooks) -> bool| {
            others
                .iter()
                .find(|other| other.webhooks.as_ref().is_some_and(which))
                .map(|other| other.version)
        };
        for (what, flag, is_asked, is_there, elsewhere) in [
            (
                "defaulting",
                "--defaulting",
                self.defaulting,
                webhooks.defaulting,
                has(|webhooks| webhooks.defaulting),
            ),
            (
                "validating",
                "--programmatic-validation",
                self.programmatic_validation,
                webhooks.validation,
                has(|webhooks| webhooks.validation),
            ),
        ] {
            if is_asked && is_there {
                return Err(anyhow::format_err!("{name} already has a {what} webhook")).hint(
                    format!(
                        "edit it in src/webhook/, or remove it with `{}`",
                        resource.command_line("delete webhook", flag)
                    ),
                );
            }
            if let Some(version) = elsewhere.filter(|_| is_asked) {
                return Err(anyhow::format_err!(
                    "{} already has a {what} webhook, in {version}",
                    resource.kind
                ))
                .hint("one is enough: API servers convert objects of the other versions before they call it");
            }
        }
        webhooks.defaulting |= self.defaulting;
        webhooks.validation |= self.programmatic_validation;
        if self.defaulting_path.is_some() {
            webhooks.defaulting_path.clone_from(&self.defaulting_path);
        }
        if self.validation_path.is_some() {
            webhooks.validation_path.clone_from(&self.validation_path);
        }
        if self.conversion {
            if let Some(hub) = has(|webhooks| webhooks.conversion) {
                return Err(anyhow::format_err!("the hub of {} is {hub}", resource.kind)).hint(
                    format!(
                        "to convert more versions, pass `--version {hub}`, and name each of them with `--spoke`"
                    ),
                );
            }
            webhooks.spoke.extend(self.choose_spokes(resource, &others, &webhooks.spoke)?);
            webhooks.conversion = true;
        }
        if !webhooks.is_empty() {
            webhooks.webhook_version = Some(WebhookVersion::V1);
        }
        Ok(webhooks)
    }

    /// The versions that become spokes.
    fn choose_spokes(
        &self,
        hub: &Resource,
        others: &[&Resource],
        old: &[Version],
    ) -> anyhow::Result<Vec<Version>> {
        let kind = &hub.kind;
        let names: Vec<String> = others.iter().map(|other| other.version.to_string()).collect();
        for spoke in &self.spoke {
            if *spoke == hub.version {
                return Err(anyhow::format_err!(
                    "{spoke} of {kind} is the hub, and cannot be its own spoke"
                ))
                .hint("name another version with `--spoke`");
            }
            if !others.iter().any(|other| other.version == *spoke) {
                let has = if names.is_empty() {
                    format!("PROJECT has no other version of {kind}")
                } else {
                    format!("PROJECT has: {}", names.join(", "))
                };
                return Err(anyhow::format_err!("{kind} has no version {spoke}")).hint(has);
            }
        }
        // In the order in which they are named, as in kubebuilder.
        let mut spokes: Vec<Version> = if self.spoke.is_empty() {
            others.iter().map(|other| other.version).collect()
        } else {
            self.spoke.clone()
        };
        let mut seen = BTreeSet::from_iter(old.iter().copied());
        spokes.retain(|version| seen.insert(*version));
        match (spokes.is_empty(), names.is_empty()) {
            (true, true) => {
                Err(anyhow::format_err!("{kind} has only one version: there is nothing to convert"))
                    .hint(format!("add another one: `{}`", next_version(hub)))
            }
            (true, false) => {
                Err(anyhow::format_err!("{kind} already converts {}", names.join(", "))).hint(
                    format!(
                        "edit the conversion in api/src, or remove it with `{}`",
                        hub.command_line("delete webhook", "--conversion")
                    ),
                )
            }
            _ => Ok(spokes),
        }
    }
}

/// The command that adds a version to a kind with one.
fn next_version(only: &Resource) -> String {
    let name = if only.version.to_string() == "v1" { "v2" } else { "v1" };
    let flags = format!("--from {}", only.version);
    let command = only.command_line("create api", &flags);
    command.replacen(&format!("--version {}", only.version), &format!("--version {name}"), 1)
}

/// Refuses a webhook whose path another one has.
pub fn require_own_paths(
    project: &Project,
    target: &WebhookTarget,
    webhooks: &Webhooks,
) -> anyhow::Result<()> {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let is_target = |other: &Resource| other.is_same_version(&target.resource);
    let others = project.resources.iter().filter(|other| !is_target(other));
    let others = others.filter_map(|other| {
        Some((WebhookTarget::of(project, other).ok()??, other.webhooks.as_ref()?))
    });
    let others: Vec<(WebhookTarget, &Webhooks)> = others.collect();
    let all = others.iter().map(|other| (&other.0, other.1)).chain([(target, webhooks)]);
    for (target, webhooks) in all {
        let Resource { version, kind, .. } = &target.resource;
        let defaulting = (webhooks.defaulting, target.defaulting_path(webhooks));
        let validating = (webhooks.validation, target.validation_path(webhooks));
        for (what, flag, (is_there, path)) in [
            ("defaulting", "--defaulting-path", defaulting),
            ("validating", "--validation-path", validating),
        ] {
            if !is_there {
                continue;
            }
            let name = format!("the {what} webhook of {version} {kind}");
            if let Some(other) = taken.insert(path.clone(), name) {
                return Err(anyhow::format_err!("`{path}` is already the path of {other}"))
                    .hint(format!("choose another one: `{flag}`"));
            }
        }
    }
    Ok(())
}

/// Refuses a kind that is not in PROJECT. `create` says what to run if its group is the project's own.
fn refuse_missing_kind<T>(
    project: &Project,
    group: &GroupPrefix,
    kind: &Kind,
    create: Option<String>,
) -> anyhow::Result<T> {
    let message = format!("PROJECT has no {kind} of {group}");
    let Some(create) = create else {
        return Err(terminal::usage_error(
            ErrorKind::MissingRequiredArgument,
            &format!("{message}: if another project defines the kind, pass its `--version`, too"),
        ));
    };
    let hint = match project.similar_kind(kind) {
        Some(similar) => format!("did you mean `--kind {similar}`?"),
        None => format!("{create}; if another project defines it, pass its `--version`, too"),
    };
    Err(anyhow::format_err!(message)).hint(hint)
}
