//! `operator-rs delete webhook`: the reverse of `create webhook`.

use super::{api, commit::Commit, files::ScaffoldedFiles};
use crate::app::{
    compile,
    generation::{
        conversions,
        derive::{self, GenerateOptions},
    },
    scaffolding::{
        api::{
            foreign::ForeignKind,
            webhook::{self, WebhookTarget},
        },
        support,
    },
};
use crate::project::{Operator, Place, Project, Resource, Webhook, Webhooks};
use crate::{
    commands::OutputMode,
    disk::Root,
    plan::{Plan, WorkTree},
    terminal,
};
use diagnostics::{Diagnostic, Hint as _};
use model::{FileContent, GroupPrefix, Kind, ProjectPath, Tree as _, Version};

/// Remove webhooks from a kind
///
/// Deletes the files and entries that `create webhook` has added: for the webhooks that are named, or for all of the kind.
/// One that was edited is deleted if its text is in the last commit; otherwise the command refuses and names it, unless
/// `--force` is given.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs delete webhook --group cache --kind Memcached --dry-run    # list what would be removed
  operator-rs delete webhook --group cache --kind Memcached --defaulting")]
pub struct Args {
    /// API group without the project's domain, e.g. `cache`
    #[arg(long, allow_hyphen_values = true)]
    group: Option<GroupPrefix>,
    /// API version [default: the only one with webhooks]
    #[arg(long)]
    version: Option<Version>,
    /// Kind, e.g. `Memcached`
    #[arg(long, allow_hyphen_values = true)]
    kind: Option<Kind>,
    /// Remove the defaulting webhook
    #[arg(long)]
    defaulting: bool,
    /// Remove the validating webhook
    #[arg(long, visible_alias = "validation")]
    programmatic_validation: bool,
    /// Remove the conversion
    #[arg(long)]
    conversion: bool,
    /// Remove the admission policy
    #[arg(long)]
    admission_policy: bool,
    /// Version that is no longer converted (can be repeated) [default: all spokes]
    #[arg(long, value_name = "VERSION", value_delimiter = ',', requires = "conversion")]
    spoke: Vec<Version>,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    pub mode: OutputMode,
}

impl Args {
    pub fn write_files(mut self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        let project = Project::read(root)?;
        let group = terminal::ask_for_value(self.group.take(), "group", "cache")?;
        let kind = terminal::ask_for_value(self.kind.take(), "kind", "Memcached")?;
        let has_code = self.defaulting || self.programmatic_validation || self.conversion;
        if self.admission_policy && !has_code {
            return self.delete_policy(tree, root, &project, &group, &kind);
        }
        let at = find_resource(&project, &group, self.version, &kind)?;
        let resource = &project.resources[at];
        let before = resource.webhooks.clone().unwrap_or_default();
        let after = self.webhooks_left(resource, &before)?;
        let mut edited = project.with_webhooks(at, &after)?;
        let has_controller = resource.controller || resource.api.is_some();
        if after.is_empty() && !has_controller {
            edited = project.without_resource(at)?;
        }
        let mut plan = Plan::default();
        if let Some(target) =
            WebhookTarget::of(&project, resource)?.filter(|_| self.admission_policy)
        {
            edited = require_policy(&mut plan, root, &project, &edited, &target)?;
        }
        let is_removed = edited.resources.len() < project.resources.len();
        if is_removed || loses_comment(project.text(), edited.text()) {
            api::refuse_edits(&mut plan, &project, at, &mut Commit::open_head(root))?;
        }
        plan_removal(&mut plan, root, &project, &edited, resource, &after)?;
        let options = GenerateOptions { flags: Some(self.compile), ..GenerateOptions::default() };
        derive::with_project(tree, plan, &project, &edited, &options)?;
        refuse_left(tree, &project, resource, &after)?;
        tree.set_next_steps("Next: see whether other code used it:\n  cargo test".to_owned());
        Ok(())
    }

    /// Removes a policy alone: the kind need not be in PROJECT.
    fn delete_policy(
        &self,
        tree: &mut WorkTree<'_>,
        root: &Root,
        project: &Project,
        group: &GroupPrefix,
        kind: &Kind,
    ) -> anyhow::Result<()> {
        let is_kind = |resource: &&Resource| {
            let is_group =
                resource.group.as_ref() == Some(group) || resource.api_group() == group.to_string();
            resource.kind == *kind
                && is_group
                && self.version.is_none_or(|version| version == resource.version)
        };
        let recorded: Vec<Resource> = project.inputs.with_policies().collect();
        let known = project.resources.iter().chain(&recorded).find(is_kind);
        let known =
            known.map(|resource| WebhookTarget::of(project, resource)).transpose()?.flatten();
        let target = match (known, self.version) {
            (Some(target), _) => target,
            (None, Some(version)) => {
                WebhookTarget::foreign(ForeignKind::built_in(group, version, kind, &[])?)
            }
            (None, None) => {
                return Err(anyhow::format_err!("PROJECT has no {kind} of {group}")).hint(
                    match project.similar_kind(kind) {
                        Some(similar) => format!("did you mean `--kind {similar}`?"),
                        None => "if another project defines the kind, pass its `--version`, too"
                            .to_owned(),
                    },
                );
            }
        };
        let mut plan = Plan::default();
        let edited = require_policy(&mut plan, root, project, project, &target)?;
        plan.edit_file(Project::path(), project.text().to_owned(), edited.text().to_owned());
        tree.apply(plan)
    }

    /// The webhooks that stay.
    fn webhooks_left(&self, resource: &Resource, before: &Webhooks) -> anyhow::Result<Webhooks> {
        if !self.defaulting && !self.programmatic_validation && !self.conversion {
            return Ok(Webhooks::default());
        }
        let mut remaining = before.clone();
        for (what, is_asked, is_there) in [
            ("defaulting webhook", self.defaulting, &mut remaining.defaulting),
            ("validating webhook", self.programmatic_validation, &mut remaining.validation),
            ("conversion", self.conversion, &mut remaining.conversion),
        ] {
            if is_asked && !*is_there {
                anyhow::bail!("{} {} has no {what}", resource.version, resource.kind);
            }
            *is_there &= !is_asked;
        }
        if self.defaulting {
            remaining.defaulting_path = None;
        }
        if self.programmatic_validation {
            remaining.validation_path = None;
        }
        for spoke in &self.spoke {
            if !before.spoke.contains(spoke) {
                anyhow::bail!("{spoke} of {} is not converted by this project", resource.kind);
            }
        }
        if self.conversion {
            let stays = |version: &Version| !self.spoke.is_empty() && !self.spoke.contains(version);
            remaining.spoke.retain(stays);
            remaining.conversion = !remaining.spoke.is_empty();
        }
        Ok(remaining)
    }
}

/// Refuses to leave what `create webhook` has written in another way: API servers would go on calling a webhook, or the
/// operator would not compile.
pub fn refuse_left(
    tree: &mut WorkTree<'_>,
    project: &Project,
    resource: &Resource,
    after: &Webhooks,
) -> anyhow::Result<()> {
    let before = resource.webhooks.clone().unwrap_or_default();
    let Some(target) = WebhookTarget::of(project, resource)? else { return Ok(()) };
    if before.is_empty() {
        return Ok(());
    }
    let mut plan = Plan::default();
    let left = derive::operator(tree);
    let mut refuse = |place: &Place, message: &str, hint: &str| {
        let problem = Diagnostic::in_file(place.path.as_str(), message);
        plan.add_refusal(problem.at_position(place.line, place.column).with_hint(hint));
    };
    for (is_gone, mutating, path) in [
        (before.defaulting && !after.defaulting, true, target.defaulting_path(&before)),
        (before.validation && !after.validation, false, target.validation_path(&before)),
    ] {
        let is_it = |webhook: &&Webhook| {
            webhook.arguments.mutating == mutating && webhook.arguments.path == path
        };
        for webhook in left.webhooks.iter().filter(|_| is_gone).filter(is_it) {
            refuse(
                &webhook.place,
                "this is not the file that `create webhook` has written, so it would stay",
                "remove the file, its module and its line in src/webhook/mod.rs first; then run the command again",
            );
        }
    }
    let declared = |version| conversions::declared(&left, resource, version).ok().flatten();
    for spoke in before.spoke.iter().filter(|version| !after.spoke.contains(version)) {
        let types = declared(resource.version).zip(declared(*spoke));
        let Some((hub, spoke)) = types.map(|types| (&types.0.rust_path, &types.1.rust_path)) else {
            continue;
        };
        for conversion in
            left.conversions.iter().filter(|conversion| conversion.is_between(hub, spoke))
        {
            refuse(
                &conversion.place,
                "this is not the line that `create webhook` has written, so it would stay, without the code that converts",
                "remove the line first; then run the command again",
            );
        }
    }
    tree.apply(plan)
}

/// Returns whether a comment of PROJECT is gone.
fn loses_comment(before: &str, after: &str) -> bool {
    let comments = before.lines().filter_map(|line| line.split_once('#')).map(|parts| parts.1);
    { comments }.any(|comment| before.matches(comment).count() != after.matches(comment).count())
}

/// Plans the removal of what `create webhook` has added for webhooks of a resource that are not in `after`. `edited` is the
/// project afterwards.
pub fn plan_removal(
    plan: &mut Plan,
    root: &Root,
    project: &Project,
    edited: &Project,
    resource: &Resource,
    after: &Webhooks,
) -> anyhow::Result<()> {
    let before = resource.webhooks.clone().unwrap_or_default();
    if before.is_empty() {
        return Ok(());
    }
    let Some(target) = WebhookTarget::of(project, resource)? else { return Ok(()) };
    let target = target.deployed(project, root)?;
    let certificates = project.inputs.certificates;
    let mut files = ScaffoldedFiles::default();
    for (set, is_gone) in [
        (webhook::DEFAULTING, before.defaulting && !after.defaulting),
        (webhook::VALIDATION, before.validation && !after.validation),
        (webhook::CONVERSION, before.conversion && !after.conversion),
    ] {
        if is_gone {
            files.add_sets(&[set], &target.context(project, set, &before, None))?;
        }
    }
    let gone: Vec<_> =
        before.spoke.iter().filter(|version| !after.spoke.contains(version)).collect();
    let source = derive::operator(root);
    for spoke in gone {
        // Without the types as they were, only the last commit tells whether the code was edited.
        if let Some(path) = target.conversion_file(*spoke)
            && root.read_content(&path)? == FileContent::Nothing
        {
            let message = "this file of the conversion is not there: if its code is in another file, that stays";
            plan.warn(Diagnostic::in_file(path.as_str(), message));
        }
        let written = conversions::written(root, &source, resource, *spoke).unwrap_or_default();
        let code = Some((*spoke, written.text.as_str()));
        files
            .add_sets(&[webhook::SPOKE], &target.context(project, webhook::SPOKE, &before, code))?;
    }
    let is_left = |which: fn(&Webhooks) -> bool| {
        edited.resources.iter().any(|listed| listed.webhooks.as_ref().is_some_and(which))
    };
    let (admission, conversion) = (
        is_left(|webhooks| webhooks.defaulting || webhooks.validation),
        is_left(|webhooks| webhooks.conversion),
    );
    let gone = |left: bool, count: usize| if left { None } else { Some(count) };
    let counts = (
        gone(admission, usize::from(before.defaulting) + usize::from(before.validation)),
        gone(conversion, before.spoke.len()),
    );
    refuse_others(plan, &source, counts);
    if admission {
        // The file of all registrations is still needed.
        files.fragments.retain(|key, _| key.0.as_str() != "config/webhook/kustomization.yaml");
    }
    if before.conversion && !conversion {
        let set = webhook::FIRST_CONVERSION;
        files.add_sets(&[set], &target.context(project, set, &before, None))?;
    }
    if !admission && !conversion {
        for set in [webhook::FIRST, webhook::certificates(certificates)] {
            files.add_sets(&[set], &target.context(project, set, &before, None))?;
        }
    }
    files.plan_removal(plan, root, &mut Commit::open_head(root))?;
    support::feature(plan, root, &[("admission", admission), ("conversion", conversion)])
}

/// Refuses to remove what serves webhooks while more are registered than PROJECT has listed: so many of each sort.
fn refuse_others(
    plan: &mut Plan,
    source: &Operator,
    (admission, conversion): (Option<usize>, Option<usize>),
) {
    let admission = admission.filter(|count| *count < source.registrations.len());
    let conversion = conversion.filter(|count| *count < source.conversions.len());
    let places = || {
        let all = source
            .registrations
            .iter()
            .map(|registration| &registration.place)
            .filter(|_| admission.is_some());
        let more = source.conversions.iter().map(|registered| &registered.place);
        all.chain(more.filter(|_| conversion.is_some()))
    };
    if let Some(place) = places().next() {
        let message = "more webhooks are registered than PROJECT lists, and this would remove what serves them";
        let problem =
            Diagnostic::in_file(place.path.as_str(), message).at_position(place.line, place.column);
        plan.add_refusal(problem.with_hint("remove the registration that PROJECT does not list first, or list its webhook in PROJECT"));
    }
}

/// Plans the removal of a kind's admission policy, which is there if its file is, and of its record.
fn require_policy(
    plan: &mut Plan,
    root: &Root,
    project: &Project,
    edited: &Project,
    target: &WebhookTarget,
) -> anyhow::Result<Project> {
    let policy = target.policy()?;
    if root.read_content(&policy)? == FileContent::Nothing {
        let kind = &target.resource.kind;
        anyhow::bail!("{kind} has no admission policy: {policy} does not exist");
    }
    remove_policy(plan, root, project, target)?;
    edited.without_policy(&target.resource)
}

/// Plans the removal of a kind's admission policy, if it has one, and of the folder with the last one.
pub fn remove_policy(
    plan: &mut Plan,
    root: &Root,
    project: &Project,
    target: &WebhookTarget,
) -> anyhow::Result<()> {
    let policy = target.policy()?;
    if root.read_content(&policy)? == FileContent::Nothing {
        return Ok(());
    }
    let others = root.list_files(&ProjectPath::fixed(webhook::POLICIES))?;
    let is_last =
        !others.iter().any(|path| path.name().ends_with("_policy.yaml") && *path != policy);
    let mut files = ScaffoldedFiles::default();
    for (set, is_gone) in [(webhook::POLICY, true), (webhook::FIRST_POLICY, is_last)] {
        if is_gone {
            files.add_sets(&[set], &target.context(project, set, &Webhooks::default(), None))?;
        }
    }
    files.plan_removal(plan, root, &mut Commit::open_head(root))
}

/// The place in PROJECT of a kind with webhooks.
fn find_resource(
    project: &Project,
    group: &GroupPrefix,
    version: Option<Version>,
    kind: &Kind,
) -> anyhow::Result<usize> {
    let is_kind = |resource: &Resource| {
        resource.is_named(group, kind)
            && resource.webhooks.as_ref().is_some_and(|webhooks| !webhooks.is_empty())
    };
    let all = project.resources.iter().enumerate().filter(|entry| is_kind(entry.1));
    let all: Vec<(usize, Version)> = all.map(|entry| (entry.0, entry.1.version)).collect();
    let found = all.iter().filter(|entry| version.is_none_or(|version| version == entry.1));
    match &found.collect::<Vec<_>>()[..] {
        [one] => Ok(one.0),
        [] => {
            let wanted = version.map(|version| format!("/{version}")).unwrap_or_default();
            let error = anyhow::format_err!("PROJECT has no webhook for {group}{wanted} {kind}");
            match &all[..] {
                [] => Err(error),
                [first, ..] => Err(error).hint(format!("it has one for {} {kind}", first.1)),
            }
        }
        found => {
            let versions = found.iter().map(|entry| format!("`--version {}`", entry.1));
            Err(anyhow::format_err!("{kind} has webhooks in several versions"))
                .hint(format!("name one: {}", versions.collect::<Vec<_>>().join(" or ")))
        }
    }
}
