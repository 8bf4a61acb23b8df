//! `create api --resource=false`: a controller for a type that exists.

use super::{Args, Context, Place, foreign::Foreign};
use crate::project::{Project, Resource};
use crate::{app::derive, disk::Root, plan::Plan, scaffold};
use diagnostics::Hint as _;
use model::{Found, GroupName, GroupPrefix, Kind, ProjectPath, Tree as _};

impl Args {
    pub fn controller_only(
        self,
        root: &Root,
        project: &Project,
        group: GroupPrefix,
        kind: &Kind,
    ) -> anyhow::Result<Plan> {
        let own = group.to_name().ok().and_then(|name| {
            let is = |it: &Resource| {
                it.is_own_of(&name)
                    && it.kind == *kind
                    && it.version == self.version
                    && it.api.is_some()
            };
            Some((project.resources.iter().position(is)?, name))
        });
        let foreign = Foreign::external(project, group.clone(), self.version, kind, &self.external);
        match (foreign, own) {
            (Some(mut foreign), _) => {
                foreign.resource.plural = self.plural.clone();
                foreign.namespaced = self.namespaced.unwrap_or(true);
                self.for_foreign(root, project, foreign)
            }
            (None, Some((at, group))) => self.for_own(root, project, at, group),
            (None, None) => {
                let foreign = Foreign::built_in(&group, self.version, kind)?;
                self.for_foreign(root, project, foreign)
            }
        }
    }

    fn for_own(
        self,
        root: &Root,
        project: &Project,
        at: usize,
        group: GroupName,
    ) -> anyhow::Result<Plan> {
        let resource = &project.resources[at];
        refuse_second(project, resource)?;
        let place = Place::of(project, resource, group);
        let namespaced = resource.api.as_ref().is_some_and(|it| it.namespaced);
        if !is_scaffolded(root, &place)? {
            return self.for_adopted(root, project, at, namespaced);
        }
        let choices = self.choices(Vec::new());
        let context = Context::new(project, &place, namespaced, &choices);
        let mut plan =
            scaffold::scaffold(&["create/controller", "create/controller-plain"], &context)?;
        let edited = project.with_controller(at)?;
        plan.edit(Project::path(), project.text().to_owned(), edited.text().to_owned());
        derive::source(&mut plan, root, &edited, &self.generate_options())?;
        Ok(plan)
    }

    /// A hand-written type: nothing is known about its status.
    fn for_adopted(
        self,
        root: &Root,
        project: &Project,
        at: usize,
        namespaced: bool,
    ) -> anyhow::Result<Plan> {
        let resource = &project.resources[at];
        let Some((_, module)) = resource.path.as_deref().and_then(|it| it.split_once("::")) else {
            return Err(anyhow::format_err!("PROJECT has no `path` for {}", resource.kind))
                .hint("add the path of the module that has the type, e.g. `path: my_operator_api::cache::v1`");
        };
        let foreign = Foreign::own(resource.clone(), namespaced, format!("api::{module}"));
        let module = foreign.controller_module(project);
        let context = foreign.context(project, &module, self.finalizer);
        let mut plan =
            scaffold::scaffold(&["create/controller", "create/controller-foreign"], &context)?;
        let edited = project.with_controller(at)?;
        plan.edit(Project::path(), project.text().to_owned(), edited.text().to_owned());
        derive::source(&mut plan, root, &edited, &self.generate_options())?;
        Ok(plan)
    }

    fn for_foreign(self, root: &Root, project: &Project, foreign: Foreign) -> anyhow::Result<Plan> {
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
        let context = foreign.context(project, &module, self.finalizer);
        let mut plan =
            scaffold::scaffold(&["create/controller", "create/controller-foreign"], &context)?;
        let same = |it: &Resource| it.is_same_kind(resource) && it.version == resource.version;
        let edited = match project.resources.iter().position(same) {
            // Such an entry exists for a webhook that kubebuilder has scaffolded.
            Some(at) => project.with_controller(at)?,
            None => project.with(resource.clone())?,
        };
        plan.edit(Project::path(), project.text().to_owned(), edited.text().to_owned());
        derive::source(&mut plan, root, &edited, &self.generate_options())?;
        let missing = self.external.external_api_path.as_ref().map(|it| it.crate_name());
        let add = match missing.filter(|it| !depends_on(root, it)) {
            Some(name) => format!("  cargo add {}\n", name.replace('_', "-")),
            None => String::new(),
        };
        plan.next(format!(
            "Next: edit the reconciler in src/controller/{module}.rs, then\n{add}  \
             operator-rs manifests    # updates the manager's role\n  cargo test"
        ));
        Ok(plan)
    }
}

/// Whether a type is where `create api` puts it, with the status that a scaffolded controller sets.
fn is_scaffolded(root: &Root, place: &Place) -> anyhow::Result<bool> {
    let Place { group, version, kind, .. } = place;
    let path = format!("api/src/{}/{version}/{}.rs", group.module(), kind.module());
    let text = root.read(&path.parse()?)?.unwrap_or_default();
    Ok(text.contains(&format!("struct {kind}Status")) && text.contains("conditions:"))
}

/// One controller serves all versions of a kind.
fn refuse_second(project: &Project, resource: &Resource) -> anyhow::Result<()> {
    let other = project.resources.iter().find(|it| it.is_same_kind(resource) && it.controller);
    match other {
        Some(other) => {
            anyhow::bail!("{} already has a controller, for {}", other.kind, other.version)
        }
        None => Ok(()),
    }
}

/// Whether the operator's Cargo.toml has a dependency with this name in code.
fn depends_on(root: &Root, name: &str) -> bool {
    let Ok(Found::Text(text)) = root.look(&ProjectPath::fixed("Cargo.toml")) else { return false };
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    dependencies.is_some_and(|all| all.keys().any(|it| it.replace('-', "_") == name))
}
