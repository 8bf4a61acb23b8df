//! `create api` for a hand-written type: adds the entry in PROJECT, the manifests and a controller, and leaves the type
//! as it is.

use super::{ApiChoices, ApiContext, ApiLocation, Args};
use crate::app::scaffolding::api::foreign::ForeignKind;
use crate::project::{DeclaredKind, Operator, Options, Project, below};
use crate::{app::generation::derive, manifests, plan::WorkTree, scaffold, terminal};
use diagnostics::Hint as _;
use go_data::yaml;
use model::{Plural, ProjectPath, Tree};

/// A type in the package `api` that PROJECT does not name.
pub struct Existing {
    /// The position of its declaration, for messages.
    place: String,
    file: String,
    /// Its public module, without the crate: `cache::v1alpha1`.
    module: String,
    namespaced: bool,
    plural: Plural,
    shortnames: Vec<String>,
    /// The `spec` of a sample.
    sample: String,
}

/// The source as it is, if it may declare this kind. To read it is most of the work of this command, so its texts are
/// searched for the word first.
pub fn read_source_with_kind(
    tree: &impl Tree,
    place: &ApiLocation,
) -> anyhow::Result<Option<Operator>> {
    let word = format!("\"{}\"", place.kind);
    let mut is_named = !place.other_versions.is_empty();
    for path in tree.list_files(&ProjectPath::fixed("api/src"))? {
        is_named |= path.extension() == "rs"
            && tree.read_text(&path)?.is_some_and(|text| text.contains(&word));
    }
    Ok(is_named.then(|| derive::operator(tree)))
}

/// The type of this group, version and kind, if the source declares it.
pub fn find_type(
    tree: &impl Tree,
    operator: &Operator,
    project: &Project,
    place: &ApiLocation,
) -> anyhow::Result<Option<Existing>> {
    let (kind, version) = (place.kind.to_string(), place.version.to_string());
    let group = place.group.qualified_name(&project.domain);
    let declares = |declared: &&DeclaredKind| {
        declared.group.as_ref() == Some(&group)
            && declared.version.as_ref() == Some(&version)
            && declared.kind.as_ref() == Some(&kind)
    };
    let Some(declared) = operator.kinds.iter().find(declares) else { return Ok(None) };
    let position = declared.place.to_string();
    let Some(declared_version) =
        manifests::versions(operator).find(|candidate| candidate.place() == &declared.place)
    else {
        return Err(anyhow::format_err!(
            "{position}: {kind} is declared here, but its CRD cannot be read"
        ))
        .hint("run `operator-rs manifests` to see why");
    };
    let krate = &declared.rust_path.krate;
    if krate.folder != "api" {
        return Err(anyhow::format_err!(
            "{position}: {kind} is declared outside of the package in `api/`"
        ))
        .hint("move the type into `api/src/`, then run this again");
    }
    if declared.name != kind {
        return Err(anyhow::format_err!(
            "{position}: the Rust type of {kind} is `{}`",
            declared.name
        ))
        .hint("give the type the name of the kind: remove `root` from `#[kube(…)]`");
    }
    let names = &declared_version.crd.spec.names;
    let schema = declared_version.schema().unwrap_or_default();
    Ok(Some(Existing {
        module: public_module(tree, declared, &position)?,
        place: position,
        file: declared.place.path.to_string(),
        namespaced: declared_version.crd.spec.scope == "Namespaced",
        plural: names.plural.parse()?,
        shortnames: names.short_names.clone().unwrap_or_default(),
        sample: yaml::to_text(&manifests::example(&schema)).trim_end().to_owned(),
    }))
}

/// The public module of a type, which may be re-exported from private ones.
fn public_module(
    tree: &impl Tree,
    declared: &DeclaredKind,
    position: &str,
) -> anyhow::Result<String> {
    let path = &declared.rust_path;
    let Some((name, modules)) = path.path.split_last() else {
        anyhow::bail!("{position}: no path")
    };
    let mut public: Vec<&str> = Vec::new();
    for (depth, module) in modules.iter().enumerate() {
        let text = file_of(tree, &path.krate.folder, &modules[..depth])?;
        let lines = || text.lines().map(str::trim);
        let is_public = |line: &str| {
            let rest =
                line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("pub(crate) mod "));
            rest.is_some_and(|name| name.trim_end_matches([';', '{', ' ']) == module)
        };
        let exports = |line: &str| {
            line.starts_with("pub use ")
                && (line.contains(&format!("{module}::*"))
                    || line.contains(&format!("{module}::")) && line.contains(name.as_str()))
        };
        if lines().any(is_public) {
            public.push(module);
        } else if !lines().any(exports) {
            return Err(anyhow::format_err!(
                "{position}: {name} is in the private module `{module}`"
            ))
            .hint(format!(
                "re-export it next to the line `mod {module};`: `pub use self::{module}::*;`"
            ));
        }
    }
    if public.is_empty() {
        Err(anyhow::format_err!("{position}: {name} is at the top of its crate"))
            .hint("move the type into a module, e.g. `api/src/cache/v1alpha1/`")
    } else {
        Ok(public.join("::"))
    }
}

/// The file of a module of a crate.
fn file_of(tree: &impl Tree, folder: &str, modules: &[String]) -> anyhow::Result<String> {
    let source = below(folder, "src");
    let path = modules.join("/");
    let files = if modules.is_empty() {
        vec![format!("{source}/lib.rs")]
    } else {
        vec![format!("{source}/{path}/mod.rs"), format!("{source}/{path}.rs")]
    };
    for file in files {
        if let Some(text) = tree.read_text(&file.parse()?)? {
            return Ok(text);
        }
    }
    Ok(String::new())
}

impl Args {
    pub fn take_over(
        self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        mut place: ApiLocation,
        existing: Existing,
        has_plural: bool,
    ) -> anyhow::Result<()> {
        let asked: Vec<String> = self.options.short_names.iter().map(ToString::to_string).collect();
        let given = [
            ("image", self.options.image.is_some()),
            ("shortname", !asked.is_empty() && asked != existing.shortnames),
            ("plural", has_plural && place.plural != existing.plural),
            (
                "namespaced",
                self.namespaced.is_some_and(|namespaced| namespaced != existing.namespaced),
            ),
        ];
        if let Some((flag, _)) = given.iter().find(|entry| entry.1) {
            return Err(terminal::usage_error(
                clap::error::ErrorKind::ArgumentConflict,
                &format!(
                    "`--{flag}` configures a new type, and {} is already declared at {}: leave `--{flag}` out, and edit the type",
                    place.kind, existing.place
                ),
            ));
        }
        place.plural = existing.plural;
        let namespaced = place.scope(Some(existing.namespaced), project)?;
        let has_controller = place.other_versions.iter().any(|resource| resource.controller);
        let controller = self.controller.unwrap_or(!has_controller);
        if controller && has_controller {
            anyhow::bail!("{} has a controller already, for another version", place.kind);
        }
        let options = Options { hand_written: true, ..self.project_options(place.group_in_names) };
        let choices = ApiChoices {
            options: options.clone(),
            sample: existing.sample,
            ..ApiChoices::default()
        };
        let mut resource = place.resource(project, namespaced, controller);
        resource.path = Some(format!("{}_api::{}", project.name.crate_name(), existing.module));
        let context = ApiContext::new(project, &place, namespaced, &choices);
        let mut sets = vec!["create/sample", "create/resource-existing"];
        if place.other_versions.is_empty() {
            sets.push("create/kind");
        }
        let mut plan = scaffold::scaffold(&sets, &context)?;
        let mut next = format!("{} stays as it is.\n\nNext:\n", existing.file);
        if controller {
            let module = format!("api::{}", existing.module);
            let foreign = ForeignKind::own(resource.clone(), namespaced, module);
            let module = foreign.controller_module(project);
            let context = foreign.context(project, &module, self.options.finalizer);
            let sets = ["create/controller", "create/controller-foreign"];
            plan.extend(scaffold::scaffold(&sets, &context)?);
            next += &format!("  edit the reconciler in src/controller/{module}.rs\n");
        }
        let edited = project.with_resource(resource.clone())?.with_options(&resource, options)?;
        derive::with_project(tree, plan, project, &edited, &self.generate_options())?;
        tree.set_next_steps(next + "  cargo test");
        Ok(())
    }
}
