//! `operator-rs delete api`: the reverse of `create api`.

mod files;
mod originals;

use std::collections::BTreeSet;

use super::{commit::Commit, files::ScaffoldedFiles, webhook};
use crate::project::{Operator, Project, Resource, Webhooks, kind_command};
use crate::{
    app::{
        compile,
        generation::derive::{self, GenerateOptions},
        scaffolding::api::webhook::WebhookTarget,
    },
    commands::OutputMode,
    disk::Root,
    manifests,
    plan::{COMMIT, NOT_COMMITTED, Plan, WorkTree},
    terminal,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use go_data::yaml;
use model::{FileContent, GroupPrefix, Kind, ProjectPath, Tree, Version};

/// Remove a custom resource and its controller
///
/// Deletes the files and entries that `create api` has added. One that was edited is deleted if its text is in the last
/// commit; otherwise the command refuses and names it, unless `--force` is given.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs delete api --group cache --kind Memcached --dry-run    # list what would be removed
  operator-rs delete api --group cache --kind Memcached --version v1alpha1")]
pub struct Args {
    /// API group without the project's domain, e.g. `cache`
    #[arg(long, allow_hyphen_values = true)]
    group: Option<GroupPrefix>,
    /// API version [default: the only one of the kind]
    #[arg(long)]
    version: Option<Version>,
    /// Kind, e.g. `Memcached`
    #[arg(long, allow_hyphen_values = true)]
    kind: Option<Kind>,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    pub mode: OutputMode,
}

/// The number of lines that are listed if they still use the kind.
const SHOWN: usize = 5;

impl Args {
    pub fn write_files(mut self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        let project = Project::read(root)?;
        let group = terminal::ask_for_value(self.group.take(), "group", "cache")?;
        let kind = terminal::ask_for_value(self.kind.take(), "kind", "Memcached")?;
        let at = find_resource(&project, &group, self.version, &kind)?;
        let resource = &project.resources[at];
        refuse_conversion(&project, resource)?;
        let mut edited = project.without_resource(at)?;
        let mut others = project.resources.iter();
        let other = others.find(|other| other.is_same_kind(resource) && *other != resource);
        if other.is_none() {
            // The policy goes, too.
            edited = edited.without_policy(resource)?;
        }
        let (edited, resource) = &with_moved_controller(root, edited, resource, other)?;
        let source = resource.api.as_ref().map(|_| derive::operator(root)).unwrap_or_default();
        let files = ScaffoldedFiles::collect_for_api(root, &source, &project, edited, resource)?;
        if let (true, Some(other)) = (resource.controller, other)
            && !has_new_controller(root, &project, at, &files)?
        {
            return Err(anyhow::format_err!(
                "the controller of {kind} uses {}, and {} stays",
                resource.version,
                other.version
            ))
            .hint(format!(
                "let the controller in src/controller/ use {}, move `controller: true` to that entry of PROJECT, then run this again",
                other.version
            ));
        }
        let webhooks = resource.webhooks.as_ref();
        let webhooks = webhooks.filter(|webhooks| webhooks.defaulting || webhooks.validation);
        if let (Some(_), Some(other)) = (webhooks, other) {
            return Err(anyhow::format_err!(
                "the webhooks of {kind} are for {}, and {} stays",
                resource.version,
                other.version
            ))
            .hint(format!(
                "let them use {} in src/webhook/ and in their comments, and move `webhooks` to that entry of PROJECT; or remove them with `{}`",
                other.version,
                resource.command_line("delete webhook", "")
            ));
        }
        let mut plan = Plan::default();
        if let Some(other) = other {
            refuse_stored(&mut plan, &source, resource, other);
        }
        let mut commit = Commit::open_head(root);
        files.plan_removal(&mut plan, root, &mut commit)?;
        webhook::plan_removal(&mut plan, root, &project, edited, resource, &Webhooks::default())?;
        match (WebhookTarget::of(&project, resource)?, other) {
            (Some(target), None) => webhook::remove_policy(&mut plan, root, &project, &target)?,
            (Some(target), Some(other)) => warn_of_policy(&mut plan, root, &target, other)?,
            (None, _) => {}
        }
        refuse_edits(&mut plan, &project, at, &mut commit)?;
        let options = GenerateOptions { flags: Some(self.compile), ..GenerateOptions::default() };
        derive::with_project(tree, plan, &project, edited, &options)?;
        webhook::refuse_left(tree, &project, resource, &Webhooks::default())?;
        let is_gone = resource.api.is_some() && other.is_none();
        if is_gone {
            warn_of_uses(tree, edited, resource)?;
        }
        let mut next = "Next: see whether other code used it:\n  cargo test".to_owned();
        if is_gone {
            next += &format!(
                "\n\nA cluster that has the CRD keeps it. To delete it with all objects of its kind:\n  kubectl delete crd {}.{}",
                resource.plural(),
                resource.api_group()
            );
        }
        let dockerfile = ProjectPath::fixed("bundle.Dockerfile");
        if is_gone && root.read_content(&dockerfile)? != FileContent::Nothing {
            next +=
                "\n\nThe bundle still has the kind. To generate it again:\n  operator-rs generate";
        }
        tree.set_next_steps(next);
        Ok(())
    }
}

/// Moves `controller: true` in PROJECT to `other` if the controller's code uses that version already. Returns PROJECT
/// without the resource, and the resource without the controller that is no longer its own.
fn with_moved_controller(
    root: &Root,
    edited: Project,
    resource: &Resource,
    other: Option<&Resource>,
) -> anyhow::Result<(Project, Resource)> {
    let index = other
        .and_then(|other| edited.resources.iter().position(|listed| listed.is_same_version(other)));
    match (index, other) {
        (Some(index), Some(other))
            if resource.controller && controller_uses(root, resource, other)? =>
        {
            let resource = Resource { controller: false, ..resource.clone() };
            Ok((edited.with_controller(index)?, resource))
        }
        _ => Ok((edited, resource.clone())),
    }
}

/// Returns whether the controller's code reads `other` and no longer names the version of `resource`.
fn controller_uses(root: &Root, resource: &Resource, other: &Resource) -> anyhow::Result<bool> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut uses_other = false;
    for path in root.list_files(&ProjectPath::fixed("src/controller"))? {
        let text = root.read_text(&path)?.unwrap_or_default();
        let words: BTreeSet<&str> = text.split(|character| !is_part(character)).collect();
        if words.contains(&*resource.kind.to_string()) {
            if words.contains(&*resource.version.to_string()) {
                return Ok(false);
            }
            uses_other |= words.contains(&*other.version.to_string());
        }
    }
    Ok(uses_other)
}

/// Returns whether the controller was created with this version, as the earlier ones have none, and is unchanged.
fn has_new_controller(
    root: &Root,
    project: &Project,
    at: usize,
    files: &ScaffoldedFiles,
) -> anyhow::Result<bool> {
    let resource = &project.resources[at];
    let mut is_new = project.resources[..at].iter().any(|earlier| earlier.is_same_kind(resource));
    for (path, texts) in &files.files {
        if path.as_str().starts_with("src/controller/") {
            let text = root.read_text(path)?.unwrap_or_default();
            is_new &= texts.iter().any(|known| known.lines().eq(text.lines()));
        }
    }
    Ok(is_new)
}

/// Refuses to remove a version that others are converted to or from.
fn refuse_conversion(project: &Project, resource: &Resource) -> anyhow::Result<()> {
    let converts = |hub: &&Resource| {
        let webhooks = hub.webhooks.as_ref().filter(|webhooks| webhooks.conversion);
        let is_spoke = webhooks.is_some_and(|webhooks| webhooks.spoke.contains(&resource.version));
        hub.is_same_kind(resource)
            && (is_spoke || webhooks.is_some() && hub.version == resource.version)
    };
    let Some(hub) = project.resources.iter().find(converts) else { return Ok(()) };
    let (kind, version) = (&resource.kind, resource.version);
    let (error, spoke) = if hub.version == version {
        (format!("the other versions of {kind} are converted to and from {version}"), String::new())
    } else {
        (
            format!("{version} of {kind} is converted to and from {}", hub.version),
            format!(" --spoke {version}"),
        )
    };
    let command = hub.command_line("delete webhook", &format!("--conversion{spoke}"));
    Err(anyhow::format_err!(error)).hint(format!("run `{command}` first"))
}

/// The place of an entry in PROJECT.
fn find_resource(
    project: &Project,
    group: &GroupPrefix,
    version: Option<Version>,
    kind: &Kind,
) -> anyhow::Result<usize> {
    let is_kind = |listed: &Resource| listed.is_named(group, kind);
    let all = project.resources.iter().enumerate().filter(|entry| is_kind(entry.1));
    let found: Vec<usize> = all
        .filter(|entry| version.is_none_or(|version| entry.1.version == version))
        .map(|entry| entry.0)
        .collect();
    let name = |listed: &Resource| {
        let group = listed.group.as_ref().map(|prefix| format!("{prefix}/")).unwrap_or_default();
        format!("{group}{} {}", listed.version, listed.kind)
    };
    match found[..] {
        [at] => Ok(at),
        [] => {
            let version = version.map(|version| format!("/{version}")).unwrap_or_default();
            let all: Vec<String> = project.resources.iter().map(name).collect();
            Err(anyhow::format_err!("{group}{version} {kind} is not in PROJECT")).hint(
                match all.len() {
                    0 => "PROJECT has no APIs".to_owned(),
                    _ => format!("PROJECT has: {}", all.join(", ")),
                },
            )
        }
        _ => {
            let versions: Vec<String> = found
                .iter()
                .map(|at| format!("`--version {}`", project.resources[*at].version))
                .collect();
            Err(anyhow::format_err!("{kind} has {} versions", found.len()))
                .hint(format!("name the one to remove: {}", versions.join(" or ")))
        }
    }
}

/// Refuses to lose a comment or a field that was added to PROJECT by hand, unless it is committed.
pub fn refuse_edits(
    plan: &mut Plan,
    project: &Project,
    at: usize,
    commit: &mut Commit,
) -> anyhow::Result<()> {
    for edit in project.hand_edits(at)? {
        let committed = commit.read_text(&Project::path(), plan).unwrap_or_default();
        if !committed.replace("\r\n", "\n").contains(&edit.text.replace("\r\n", "\n")) {
            let problem = Diagnostic::in_file("PROJECT", NOT_COMMITTED).at_position(edit.line, 1);
            plan.add_refusal(problem.quote(&mut Lines::new(project.text())).with_hint(COMMIT));
        }
    }
    Ok(())
}

/// API servers refuse a CRD without a version in which they have stored objects.
fn refuse_stored(plan: &mut Plan, source: &Operator, resource: &Resource, other: &Resource) {
    let (group, kind) = (resource.api_group(), resource.kind.to_string());
    let stored =
        manifests::storage(source).get(&(&*group, &*kind)).map(|stored| (*stored).to_owned());
    let version = resource.version.to_string();
    if stored.as_deref() != Some(&*version) {
        return;
    }
    let edit = format!("--storage-version {}", other.version);
    let message = format!(
        "objects of {kind} are stored in {version}: clusters that have the CRD would refuse one without this version"
    );
    plan.add_refusal(Diagnostic::from(message).with_hint(format!(
        "store objects in another version first: `{}`, release, and run `operator-rs migrate` on every cluster; if no cluster has the CRD, `--force` overrides this",
        kind_command("edit", &group, &kind, &edit)
    )));
}

/// API servers check a policy for no version that it does not name.
fn warn_of_policy(
    plan: &mut Plan,
    root: &Root,
    target: &WebhookTarget,
    other: &Resource,
) -> anyhow::Result<()> {
    let path = target.policy()?;
    let Resource { api, kind, version, .. } = &target.resource;
    let Some(text) = root.read_text(&path)?.filter(|_| api.is_some()) else { return Ok(()) };
    let documents = yaml::parse_documents(&text, yaml::Dialect::Kubernetes).unwrap_or_default();
    let versions = documents.iter().flat_map(|document| {
        let rules = document["spec"]["matchConstraints"]["resourceRules"].as_array();
        rules.into_iter().flatten().filter_map(|rule| rule["apiVersions"].as_array())
    });
    let version = version.to_string();
    if versions.flatten().any(|listed_version| *listed_version == version) {
        let message = format!("this policy is for {version} of {kind}, which is removed");
        let hint = format!("write `{}` under `apiVersions`", other.version);
        plan.warn(Diagnostic::in_file(path.as_str(), message).with_hint(hint));
    }
    Ok(())
}

/// Names the lines of the user's code that will no longer compile.
fn warn_of_uses(
    tree: &mut WorkTree<'_>,
    edited: &Project,
    resource: &Resource,
) -> anyhow::Result<()> {
    let kind = &resource.kind;
    // If another group has a kind of this name, only code that names the module of this group uses this one.
    let has_namesake = edited.resources.iter().any(|listed| listed.kind == *kind);
    let module = resource
        .group
        .as_ref()
        .and_then(|prefix| prefix.to_name().ok())
        .map(|name| name.module_name());
    let module = module.filter(|_| has_namesake).map(|module| format!("{module}::"));
    let mut uses = Vec::new();
    for folder in ["api/src", "src", "tests"] {
        for path in tree.list_files(&ProjectPath::fixed(folder))? {
            if path.extension() != "rs" {
                continue;
            }
            let text = tree.read_text(&path)?.unwrap_or_default();
            if module.as_ref().is_some_and(|module| !text.contains(module)) {
                continue;
            }
            let lines = text.lines().enumerate().filter(|line| mentions_kind(line.1, kind));
            uses.extend(lines.map(|line| format!("{path}:{}", line.0 + 1)));
        }
    }
    if !uses.is_empty() {
        let more = uses.len().saturating_sub(SHOWN);
        uses.truncate(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        tree.warn(format!("{kind} is still mentioned in {}{more}", uses.join(", ")));
    }
    Ok(())
}

/// Returns whether code names the kind, one of the types that belong to it, or its module in a path.
fn mentions_kind(line: &str, kind: &Kind) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (name, module) = (kind.to_string(), kind.module_name());
    let is_type = |word: &str| {
        let rest = word.strip_prefix(&name);
        rest.is_some_and(|suffix| ["", "Spec", "Status"].contains(&suffix))
    };
    let is_module = |path: &str| path.rsplit(|c| !is_word(c)).next() == Some(&module);
    let segments: Vec<&str> = code.split("::").collect();
    // A module that contains a version is the one of the API group, which may have the same name.
    let is_version = |path: &str| {
        let word = path.split(|c| !is_word(c)).next().unwrap_or_default();
        word.parse::<Version>().is_ok()
    };
    code.split(|c| !is_word(c)).any(is_type)
        || segments.windows(2).any(|pair| is_module(pair[0]) && !is_version(pair[1]))
}

#[test]
fn a_use_is_a_whole_word_in_code() {
    let kind = "Blog".parse().expect("a kind");
    for (line, expected) in [
        ("use api::cache::v1::Blog;", true),
        ("fn f(_: &BlogSpec) {}", true),
        ("let blog = Blogs::new(); // Blog", false),
        ("res.push(start(blog::run));", true),
        ("my_blog::run(blog)", false),
        ("use api::blog::v1alpha1::Post;", false),
        ("use api::blog::v1alpha1::blog::Url;", true),
    ] {
        assert_eq!(mentions_kind(line, &kind), expected, "{line}");
    }
}
