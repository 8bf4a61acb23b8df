//! `create api --resource=false`: a controller for a type that exists.

use super::{ApiChoices, ApiContext, ApiLocation, Args};
use crate::app::scaffolding::api::foreign::{EXTERNAL, ForeignKind};
use crate::project::{Options, Project, Resource};
use crate::{app::generation::derive, plan::WorkTree, scaffold};
use diagnostics::Hint as _;
use model::{FileContent, GroupName, GroupPrefix, Kind, ProjectPath, Tree as _};

impl Args {
    pub fn controller_only(
        self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        group: GroupPrefix,
        kind: &Kind,
    ) -> anyhow::Result<()> {
        let own = group.to_name().ok().and_then(|name| {
            let is = |resource: &Resource| {
                resource.is_own_of(&name)
                    && resource.kind == *kind
                    && resource.version == self.version
                    && resource.api.is_some()
            };
            Some((project.resources.iter().position(is)?, name))
        });
        let foreign =
            ForeignKind::external(project, group.clone(), self.version, kind, &self.external);
        match (foreign, own) {
            (Some(mut foreign), _) => {
                foreign.resource.plural = self.plural.clone();
                foreign.namespaced = self.namespaced.unwrap_or(true);
                self.for_foreign(tree, project, foreign)
            }
            (None, Some((at, group))) => self.for_own(tree, project, at, group),
            (None, None) => {
                let hints = ["leave out `--resource=false` to generate the type", EXTERNAL];
                let foreign = ForeignKind::built_in(&group, self.version, kind, &hints)?;
                self.for_foreign(tree, project, foreign)
            }
        }
    }

    fn for_own(
        self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        at: usize,
        group: GroupName,
    ) -> anyhow::Result<()> {
        let resource = &project.resources[at];
        refuse_second(project, resource)?;
        let place = ApiLocation::of(project, resource, group);
        let namespaced = resource.api.as_ref().is_some_and(|api| api.namespaced);
        if !is_scaffolded(tree, &place)? {
            return self.for_adopted(tree, project, at, namespaced);
        }
        let options =
            Options { finalizer: self.options.finalizer, ..project.inputs.options_of(resource) };
        let edited = project.with_controller(at)?.with_options(resource, options.clone())?;
        let choices = ApiChoices { options, ..ApiChoices::default() };
        let context = ApiContext::new(project, &place, namespaced, &choices);
        let plan = scaffold::scaffold(&["create/controller", "create/controller-plain"], &context)?;
        derive::with_project(tree, plan, project, &edited, &self.generate_options())
    }

    /// A hand-written type: nothing is known about its status.
    fn for_adopted(
        self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        at: usize,
        namespaced: bool,
    ) -> anyhow::Result<()> {
        let resource = &project.resources[at];
        let Some((_, module)) = resource.path.as_deref().and_then(|path| path.split_once("::"))
        else {
            return Err(anyhow::format_err!("PROJECT has no `path` for {}", resource.kind))
                .hint("add the path of the module that has the type, e.g. `path: my_operator_api::cache::v1`");
        };
        let foreign = ForeignKind::own(resource.clone(), namespaced, format!("api::{module}"));
        let module = foreign.controller_module(project);
        let context = foreign.context(project, &module, self.options.finalizer);
        let plan =
            scaffold::scaffold(&["create/controller", "create/controller-foreign"], &context)?;
        let options =
            Options { finalizer: self.options.finalizer, ..project.inputs.options_of(resource) };
        let edited = project.with_controller(at)?.with_options(resource, options)?;
        derive::with_project(tree, plan, project, &edited, &self.generate_options())
    }

    fn for_foreign(
        self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        foreign: ForeignKind,
    ) -> anyhow::Result<()> {
        let resource = &foreign.resource;
        refuse_second(project, resource)?;
        if !foreign.namespaced && project.namespaced {
            return Err(anyhow::format_err!(
                "this operator watches its own namespace only, and {} is cluster-scoped",
                resource.kind
            ))
            .hint("watch it from a project that was started without `init --namespaced`");
        }
        let module = foreign.controller_module(project);
        let context = foreign.context(project, &module, self.options.finalizer);
        let plan =
            scaffold::scaffold(&["create/controller", "create/controller-foreign"], &context)?;
        let same = |other: &Resource| other.is_same_version(resource);
        let edited = match project.resources.iter().position(same) {
            // Such an entry exists for a webhook that kubebuilder has scaffolded.
            Some(at) => project.with_controller(at)?,
            None => project.with_resource(resource.clone())?,
        };
        let is_unscoped = resource.external && !foreign.namespaced;
        let options = Options {
            finalizer: self.options.finalizer,
            group_in_names: foreign.group_in_names(project),
            namespaced: is_unscoped.then_some(false),
            ..project.inputs.options_of(resource)
        };
        let edited = edited.with_options(resource, options)?;
        derive::with_project(tree, plan, project, &edited, &self.generate_options())?;
        let missing = self.external.external_api_path.as_ref().map(|path| path.crate_name());
        let add = match missing.filter(|name| !depends_on(tree, name)) {
            Some(name) => format!("  cargo add {}\n", name.replace('_', "-")),
            None => String::new(),
        };
        tree.set_next_steps(format!(
            "Next: edit the reconciler in src/controller/{module}.rs, then\n{add}  operator-rs manifests    # update the manager's role\n  cargo test"
        ));
        Ok(())
    }
}

/// Returns whether a type is where `create api` puts it, with the status that a scaffolded controller sets.
fn is_scaffolded(tree: &mut WorkTree<'_>, place: &ApiLocation) -> anyhow::Result<bool> {
    let ApiLocation { group, version, kind, .. } = place;
    let path = format!("api/src/{}/{version}/{}.rs", group.module_name(), kind.module_name());
    let text = tree.read_text(&path.parse()?)?.unwrap_or_default();
    Ok(text.contains(&format!("struct {kind}Status")) && text.contains("conditions:"))
}

/// One controller serves all versions of a kind.
fn refuse_second(project: &Project, resource: &Resource) -> anyhow::Result<()> {
    let other =
        project.resources.iter().find(|other| other.is_same_kind(resource) && other.controller);
    match other {
        Some(other) => {
            anyhow::bail!("{} already has a controller, for {}", other.kind, other.version)
        }
        None => Ok(()),
    }
}

/// Returns whether the operator's Cargo.toml has a dependency with this name in code.
fn depends_on(tree: &mut WorkTree<'_>, name: &str) -> bool {
    let Ok(FileContent::Text(text)) = tree.read_content(&ProjectPath::fixed("Cargo.toml")) else {
        return false;
    };
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    dependencies.is_some_and(|all| all.keys().any(|key| key.replace('-', "_") == name))
}
