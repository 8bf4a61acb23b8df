//! `create api --from`: a new version as a copy of another one, and the conversion between them.

use super::{ApiChoices, ApiContext, ApiLocation, Args};
use crate::app::{
    generation::conversions,
    scaffolding::{
        api::{
            sample::copied_sample,
            webhook::{self, WebhookTarget},
        },
        support,
    },
};
use crate::project::{Operator, Project, Resource, WebhookVersion, Webhooks};
use crate::source::conversion::{self, VersionSource};
use crate::{app::generation::derive, manifests, plan::WorkTree, scaffold};
use diagnostics::Hint as _;
use go_data::yaml;
use model::{ProjectPath, Version};

impl Args {
    /// The first conversion of a kind has the stored version as its hub: what is stored need not be converted.
    pub fn copy_version(
        &self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        place: &ApiLocation,
        source: &Operator,
        namespaced: bool,
        from: Version,
    ) -> anyhow::Result<()> {
        let (kind, version) = (&place.kind, place.version);
        let original = find_original(place, from)?;
        let stored = stored_version(project, place, source)?;
        let hub = find_hub(project, place, &stored)?;
        let (path, text) = conversions::text(tree, source, original, from)?;
        let text = copied_text(place, from, &path, &text)?;
        let group = place.group.qualified_name(&project.domain);
        let is_original = |version: &manifests::Version<'_>| {
            version.group() == group
                && version.kind() == kind.to_string()
                && version.name() == from.to_string()
        };
        let schema =
            manifests::versions(source).find(is_original).and_then(|version| version.schema());
        let example = yaml::to_text(&manifests::example(&schema.unwrap_or_default()));
        let choices = ApiChoices { sample: example.trim_end().to_owned(), ..ApiChoices::default() };
        let context = ApiContext::new(project, place, namespaced, &choices);
        let mut sets = place.sets();
        sets.extend(["sample", "resource", "resource-existing"].map(|set| format!("create/{set}")));
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut plan = scaffold::scaffold(&sets, &context)?;
        conversions::olm_warning(project).into_iter().for_each(|warning| plan.warn(warning));
        let (group, module) = (&place.group, kind.module_name());
        let folder = format!("api/src/{}/{version}", group.module_name());
        plan.scaffold(format!("{folder}/{module}.rs").parse()?, text.clone());
        if let Some((path, sample)) = copied_sample(tree, place, from)? {
            plan.scaffold(path, sample);
        }

        let (at, hub_resource) = hub;
        let mut webhooks = hub_resource.webhooks.clone().unwrap_or_default();
        webhooks.conversion = true;
        webhooks.spoke.push(version);
        webhooks.webhook_version = Some(WebhookVersion::V1);
        let (_, hub_text) = conversions::text(tree, source, hub_resource, hub_resource.version)?;
        let written = conversions::between(hub_resource, &hub_text, version, &text)?;
        let certificates = project.inputs.certificates;
        let target = WebhookTarget::own(hub_resource)?.deployed(project, tree)?;
        let is_first = webhook::is_first(project);
        let code = Some((version, written.text.as_str()));
        let was_converted =
            hub_resource.webhooks.as_ref().is_some_and(|webhooks| webhooks.conversion);
        for (set, is_new, code) in [
            (webhook::FIRST, is_first, None),
            (webhook::certificates(certificates), is_first, None),
            (webhook::FIRST_CONVERSION, project.converted_versions().is_empty(), None),
            (webhook::CONVERSION, !was_converted, None),
            (webhook::SPOKE, true, code),
        ] {
            if is_new {
                scaffold::add(&mut plan, &[set], &target.context(project, set, &webhooks, code))?;
            }
        }
        support::feature(&mut plan, tree, &[("conversion", true)])?;
        let edited = project.with_webhooks(at, &webhooks)?;
        let resource = place.resource(project, namespaced, false);
        let edited = edited.with_resource(resource.clone())?;
        let edited = edited.with_options(&resource, self.project_options(place.group_in_names))?;
        derive::with_project(tree, plan, project, &edited, &self.generate_options())?;
        let decisions = match &written.open[..] {
            [] => ", then".to_owned(),
            open => format!("; these are yours to decide:\n  {}\nthen", open.join("\n  ")),
        };
        tree.set_next_steps(format!(
            "Next: change the type in {folder}/{module}.rs, and convert each field in {}_conversion.rs beside it{decisions}\n  operator-rs manifests    # update the CRD\n  cargo test\n\nObjects are stored in {stored} as before.",
            place.kind.to_snake_case(),
        ));
        Ok(())
    }
}

/// The file of the new version: that of another one with its types.
fn copied_text(
    place: &ApiLocation,
    from: Version,
    path: &ProjectPath,
    text: &str,
) -> anyhow::Result<String> {
    let (kind, version) = (place.kind.to_string(), place.version.to_string());
    let side = VersionSource { module: &from.to_string(), text };
    let copy = conversion::copy_version(&side, &place.group.module_name(), &kind, &version);
    let copy = copy.map_err(|why| {
        anyhow::format_err!("{path}: the type of {from} {kind} cannot be copied: {why}")
    });
    copy.hint("write the new version by hand, then run `operator-rs create api` without `--from`")
}

/// The version of the kind that is copied.
fn find_original(place: &ApiLocation, from: Version) -> anyhow::Result<&Resource> {
    let all = &place.other_versions;
    let has: Vec<String> = all.iter().map(|other| other.version.to_string()).collect();
    let has = if has.is_empty() { "no version of it".to_owned() } else { has.join(", ") };
    let found = all.iter().find(|other| other.version == from);
    let found =
        found.ok_or_else(|| anyhow::format_err!("{} has no version {from} in PROJECT", place.kind));
    found.hint(format!("PROJECT has {has}"))
}

/// The version that objects of the kind are stored in.
fn stored_version(
    project: &Project,
    place: &ApiLocation,
    source: &Operator,
) -> anyhow::Result<String> {
    let group = place.group.qualified_name(&project.domain);
    let stored = manifests::storage(source).get(&(&*group, &*place.kind.to_string())).copied();
    let stored = stored.ok_or_else(|| {
        anyhow::format_err!(
            "which version of {} is stored cannot be read from the source",
            place.kind
        )
    });
    Ok(stored.hint("run `operator-rs manifests` to see why")?.to_owned())
}

/// The hub of the kind: that of its conversion, or else the version that is stored.
fn find_hub<'a>(
    project: &'a Project,
    place: &ApiLocation,
    stored: &str,
) -> anyhow::Result<(usize, &'a Resource)> {
    let is_kind =
        |resource: &&Resource| resource.is_own_of(&place.group) && resource.kind == place.kind;
    let is_hub = |resource: &&Resource| {
        resource.webhooks.as_ref().is_some_and(|webhooks: &Webhooks| webhooks.conversion)
    };
    let all = || project.resources.iter().enumerate().filter(|entry| is_kind(&entry.1));
    let hub = all().find(|entry| is_hub(&entry.1));
    let hub = hub.or_else(|| all().find(|entry| entry.1.version.to_string() == stored));
    hub.ok_or_else(|| {
        anyhow::format_err!("PROJECT does not list {stored} of {}, which is stored", place.kind)
    })
    .hint("list it under `resources` in PROJECT, or store objects in a version that PROJECT lists")
}
