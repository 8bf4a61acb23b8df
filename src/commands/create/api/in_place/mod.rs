//! `create api` in an operator that others have laid out: one new file, where the person says.

mod package;

use clap::error::ErrorKind;
use serde::Serialize;

use self::package::TargetPackage;
use super::Args;
use crate::app::cargo::feature_flags::FeatureFlags;
use crate::{
    app::crds::declared,
    plan::{Plan, WorkTree},
    project::{DeclaredKind, Project, Resource},
    scaffold, terminal,
};
use diagnostics::Hint as _;
use model::{ApiGroup, FileContent, Kind, Plural, ProjectPath, Tree as _, Version};

/// The variables of `templates/create/in-place`.
#[derive(Clone, Serialize)]
struct InPlaceContext<'a> {
    controller: bool,
    api_group: &'a ApiGroup,
    version: Version,
    kind: &'a Kind,
    kind_lower: String,
    plural: &'a Plural,
    api_namespaced: bool,
}

impl Args {
    pub fn in_place(mut self, tree: &mut WorkTree<'_>, project: &Project) -> anyhow::Result<()> {
        self.refuse_scaffold_flags()?;
        let Some(path) = self.output_file.take() else {
            return Err(terminal::usage_error(
                ErrorKind::MissingRequiredArgument,
                "`--output-file` is required in an adopted operator: it names the new file, e.g. `--output-file src/memcached.rs`",
            ));
        };
        refuse_existing(tree, &path)?;
        let package = TargetPackage::find_for(tree, &path)?;
        let group = terminal::ask_for_value(self.group.take(), "group", "cache.example.com")?;
        let group: ApiGroup = group.as_str().parse().map_err(|why| {
            let message = format!("invalid value '{group}' for '--group <GROUP>': {why}; in an adopted operator, it is the whole API group");
            terminal::usage_error(ErrorKind::ValueValidation, &message)
        })?;
        let kind = terminal::ask_for_value(self.kind.take(), "kind", "Memcached")?;
        let why = "it is unknown whether the operator declares the kind already";
        let reading = declared::reading(tree, self.compile, &FeatureFlags::default(), why)?;
        let plural = self.plural.take().unwrap_or_else(|| kind.plural());
        refuse_second(project, &reading.operator.kinds, &group, &kind, &plural)?;
        let context = InPlaceContext {
            controller: self.controller != Some(false),
            api_group: &group,
            version: self.version,
            kind: &kind,
            kind_lower: kind.to_lowercase(),
            plural: &plural,
            api_namespaced: self.namespaced != Some(false),
        };
        let mut plan = Plan::default();
        plan.scaffold(path.clone(), render_file(&context)?);
        let edited = record_kind(project, &context)?;
        plan.edit_file(Project::path(), project.text().to_owned(), edited.text().to_owned());
        let mut steps = package.manual_steps(tree, &path, &context)?;
        steps.push(if project.inputs.crds.is_empty() {
            "operator-rs generate crds --output-dir DIR    # write the CRD".to_owned()
        } else {
            "operator-rs manifests    # write the CRD".to_owned()
        });
        plan.set_next_steps(format!("Next: edit {path}, then\n  {}", steps.join("\n  ")));
        tree.apply(plan)
    }

    /// Refuses flags for what a person writes into the new file.
    fn refuse_scaffold_flags(&self) -> anyhow::Result<()> {
        let other = [
            ("resource=false", !self.resource),
            ("external-api-path", self.external.external_api_path.is_some()),
        ];
        let other = other.into_iter().filter(|entry| entry.1).map(|entry| entry.0.to_owned());
        let flags = self.options.flags().into_iter().map(|(flag, _)| flag);
        match flags.chain(other).next() {
            None => Ok(()),
            Some(flag) => Err(terminal::usage_error(
                ErrorKind::ArgumentConflict,
                &format!(
                    "`--{flag}` does not work in an adopted operator: leave it out, and edit the new file"
                ),
            )),
        }
    }
}

/// The file. A kind whose types would have the name of something else in it is refused.
fn render_file(context: &InPlaceContext<'_>) -> anyhow::Result<String> {
    let render =
        |context: &InPlaceContext<'_>| scaffold::text("create/in-place", "file.rs", context);
    // No name in the template has this kind as its beginning.
    let other: Kind = "Xx0".parse()?;
    let others = render(&InPlaceContext { kind: &other, ..context.clone() })?;
    let code = others.lines().filter(|line| !line.trim_start().starts_with("//"));
    let kind = context.kind.to_string();
    let own = ["", "Spec", "Status"].map(|suffix| format!("{kind}{suffix}"));
    let mut words = code.flat_map(|line| {
        line.split(|character: char| !character.is_alphanumeric() && character != '_')
    });
    match words.find(|word| own.iter().any(|name| name == word)) {
        None => render(context),
        Some(word) => {
            Err(anyhow::format_err!("`{word}` is the name of something else in the new file"))
                .hint("choose another kind")
        }
    }
}

/// PROJECT with the new kind, so that its group counts as the operator's own. A list that is empty stays so, as all kinds
/// of the source are the operator's own then.
fn record_kind(project: &Project, context: &InPlaceContext<'_>) -> anyhow::Result<Project> {
    let InPlaceContext { kind, version, plural, .. } = *context;
    let new = Resource::adopted(
        &context.api_group.to_string(),
        &project.domain,
        kind.clone(),
        version,
        context.api_namespaced,
    );
    let Some(new) = new else { return Ok(project.clone()) };
    let new = Resource {
        controller: context.controller,
        plural: Some(plural.clone()).filter(|plural| *plural != kind.plural()),
        ..new
    };
    if project.resources.iter().any(|resource| resource.api.is_some()) {
        project.with_resource(new)
    } else {
        Ok(project.clone())
    }
}

fn refuse_existing(tree: &WorkTree<'_>, path: &ProjectPath) -> anyhow::Result<()> {
    match tree.read_content(path)? {
        FileContent::Nothing => Ok(()),
        FileContent::Text(_) => Err(anyhow::format_err!("`{path}` exists, and is not overwritten"))
            .hint("name a new file: `--output-file PATH`"),
        FileContent::Other(what) => Err(anyhow::format_err!("`{path}` cannot be written: {what}"))
            .hint("name a new file: `--output-file PATH`"),
    }
}

/// Refuses a kind that the source or PROJECT has already, and a plural that another kind of the group has.
fn refuse_second(
    project: &Project,
    kinds: &[DeclaredKind],
    group: &ApiGroup,
    kind: &Kind,
    plural: &Plural,
) -> anyhow::Result<()> {
    let (group, kind, plural) = (group.to_string(), kind.to_string(), plural.to_string());
    for declared in kinds
        .iter()
        .filter(|declared| declared.group.as_ref().is_none_or(|other_group| *other_group == group))
    {
        let place = &declared.place;
        if declared.kind.as_ref() == Some(&kind) {
            return Err(anyhow::format_err!("{place}: {kind}.{group} is declared here already"))
                .hint("add a version of a kind by hand");
        }
        if declared.crd.as_ref().is_ok_and(|crd| crd.spec.names.plural == plural) {
            return Err(anyhow::format_err!(
                "{place}: the plural `{plural}` is that of a kind here"
            ))
            .hint("choose another plural: `--plural NAME`");
        }
    }
    let is_listed =
        |resource: &&Resource| resource.api_group() == group && resource.kind.to_string() == kind;
    match project.resources.iter().find(is_listed) {
        None => Ok(()),
        Some(_) => Err(anyhow::format_err!(
            "PROJECT lists {kind}.{group}, and the source does not declare it"
        ))
        .hint(
            "add the `mod` lines that lead to its file, or remove it from `resources` of PROJECT",
        ),
    }
}
