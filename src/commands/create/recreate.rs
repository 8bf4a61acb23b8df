//! The resources of a project once more, in the order of its PROJECT file.

use clap::{FromArgMatches as _, Subcommand as _};

use super::CreateSubcommand;
use crate::{
    plan::WorkTree,
    project::{Options, Project, Resource},
};
use anyhow::Context as _;
use model::Version;

/// Creates the resources that a PROJECT file records, as the flags that it records would.
///
/// # Errors
/// What `create` refuses, such as a kind in a group that is the domain itself.
pub fn recreate_resources(recorded: &Project, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
    let mut created: Vec<&Resource> = Vec::new();
    let mut converted: Vec<&Resource> = Vec::new();
    for resource in &recorded.resources {
        let options = recorded.inputs.options_of(resource);
        if options.hand_written {
            let Resource { version, kind, .. } = resource;
            tree.warn(format!("{version} {kind} is skipped: its type is hand-written"));
            continue;
        }
        if let Some(flags) = api_flags(resource, &options) {
            run_subcommand("api", flags, resource, tree)?;
        }
        created.push(resource);
        // A version that is copied from another one joins the conversion that is there, so this one has to come first.
        for hub in created.clone() {
            let spokes = converted_spokes(recorded, hub);
            let is_there = |version: &Version| {
                created.iter().any(|other| other.is_same_kind(hub) && other.version == *version)
            };
            if !spokes.is_empty() && spokes.iter().all(is_there) && !converted.contains(&hub) {
                converted.push(hub);
                let spokes = spokes.iter().map(|spoke| format!("--spoke={spoke}"));
                let flags = ["--conversion".to_owned()].into_iter().chain(spokes).collect();
                run_subcommand("webhook", flags, hub, tree)?;
            }
        }
    }
    for resource in created {
        let flags = admission_flags(resource);
        if !flags.is_empty() {
            run_subcommand("webhook", flags, resource, tree)?;
        }
    }
    for resource in recorded.inputs.with_policies() {
        let flags = ["--admission-policy".to_owned()].into_iter().chain(external_flags(&resource));
        run_subcommand("webhook", flags.collect(), &resource, tree)?;
    }
    Ok(())
}

/// The flags of `create api`; none if the resource is only there for its webhooks.
fn api_flags(resource: &Resource, options: &Options) -> Option<Vec<String>> {
    let mut flags = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        flags.extend(value.map(|value| format!("--{name}={value}")));
    };
    match &resource.api {
        Some(api) => {
            add("plural", resource.plural.as_ref().map(ToString::to_string));
            add("namespaced", Some(api.namespaced.to_string()));
            add("controller", Some(resource.controller.to_string()));
        }
        None if resource.controller => {
            add("resource", Some("false".to_owned()));
            add("namespaced", options.namespaced.map(|namespaced| namespaced.to_string()));
        }
        None => return None,
    }
    for (name, value) in options.flags() {
        flags.push(value.map_or(format!("--{name}"), |value| format!("--{name}={value}")));
    }
    flags.extend(external_flags(resource));
    Some(flags)
}

/// The flags for a type of another crate.
fn external_flags(resource: &Resource) -> Vec<String> {
    if !resource.external {
        return Vec::new();
    }
    let value = |name: &str, value: Option<String>| value.map(|value| format!("--{name}={value}"));
    [
        value("external-api-path", resource.path.clone()),
        value("external-api-domain", resource.domain.as_ref().map(ToString::to_string)),
        value("plural", resource.plural.as_ref().map(ToString::to_string)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The versions that `create webhook --conversion` converts: not those that are copies, which bring their conversion.
fn converted_spokes(recorded: &Project, hub: &Resource) -> Vec<Version> {
    let webhooks = hub.webhooks.as_ref().filter(|webhooks| webhooks.conversion);
    let is_copy = |version: &Version| {
        let is = |other: &&Resource| other.is_same_kind(hub) && other.version == *version;
        let spoke = recorded.resources.iter().find(is);
        spoke.is_some_and(|spoke| recorded.inputs.options_of(spoke).from.is_some())
    };
    webhooks.map_or(Vec::new(), |webhooks| {
        webhooks.spoke.iter().copied().filter(|version| !is_copy(version)).collect()
    })
}

/// The flags of `create webhook` for defaults and rules.
fn admission_flags(resource: &Resource) -> Vec<String> {
    let Some(webhooks) = &resource.webhooks else { return Vec::new() };
    let mut flags = Vec::new();
    for (flag, is_there, path) in [
        ("defaulting", webhooks.defaulting, ("defaulting-path", &webhooks.defaulting_path)),
        (
            "programmatic-validation",
            webhooks.validation,
            ("validation-path", &webhooks.validation_path),
        ),
    ] {
        if is_there {
            flags.push(format!("--{flag}"));
            flags.extend(path.1.as_ref().map(|value| format!("--{}={value}", path.0)));
        }
    }
    let has_entry = resource.controller || resource.api.is_some();
    if !flags.is_empty() && !has_entry {
        flags.extend(external_flags(resource));
    }
    flags
}

/// Runs one of the subcommands of `create`.
fn run_subcommand(
    name: &str,
    flags: Vec<String>,
    resource: &Resource,
    tree: &mut WorkTree<'_>,
) -> anyhow::Result<()> {
    let Resource { group, version, kind, .. } = resource;
    let what = || format!("PROJECT: {version} {kind}");
    let group = group.as_ref().map(ToString::to_string).unwrap_or_default();
    let named =
        [format!("--group={group}"), format!("--version={version}"), format!("--kind={kind}")];
    let words = ["create".to_owned(), name.to_owned()].into_iter().chain(named).chain(flags);
    let command = CreateSubcommand::augment_subcommands(clap::Command::new("create"));
    let matches = command.try_get_matches_from(words).with_context(what)?;
    CreateSubcommand::from_arg_matches(&matches)
        .with_context(what)?
        .write_files(tree)
        .with_context(what)
}
