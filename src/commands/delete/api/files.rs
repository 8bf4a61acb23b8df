//! The files and entries that `create api` has added for one version of a kind.

use super::{super::files::ScaffoldedFiles, originals};
use crate::project::{Operator, Project, Resource};
use crate::{
    app::scaffolding::api::{
        context::{ApiChoices, ApiContext},
        foreign::ForeignKind,
        place::ApiLocation,
    },
    disk::Root,
    plan, scaffold,
};
use diagnostics::Hint as _;
use model::{GroupName, Kind, ProjectPath};

/// The image that a controller runs: all versions of a kind share it.
const VARIABLES: [&str; 2] = ["config/manager/manager.yaml", ".cargo/config.toml"];

impl ScaffoldedFiles {
    /// `edited` is the project without the resource.
    pub fn collect_for_api(
        root: &Root,
        source: &Operator,
        project: &Project,
        edited: &Project,
        resource: &Resource,
    ) -> anyhow::Result<Self> {
        let mut files = Self::default();
        let group = resource.group.as_ref().and_then(|prefix| prefix.to_name().ok());
        match (group, resource.api.is_some()) {
            (Some(group), true) => files.add_own(root, source, project, edited, resource, group)?,
            _ => files.add_foreign(project, edited, resource)?,
        }
        Ok(files)
    }

    fn add_own(
        &mut self,
        root: &Root,
        source: &Operator,
        project: &Project,
        edited: &Project,
        resource: &Resource,
        group: GroupName,
    ) -> anyhow::Result<()> {
        let options = project.inputs.options_of(resource);
        let mut place = ApiLocation::of(edited, resource, group);
        place.group_in_names = options.group_in_names;
        let namespaced = resource.api.as_ref().is_some_and(|api| api.namespaced);
        let module = format!("api/src/{}", place.group.module_name());
        let version = format!("{module}/{}", place.version);
        let file: ProjectPath = format!("{version}/{}.rs", place.kind.module_name()).parse()?;
        refuse_other_kinds(source, resource, &file)?;
        let default = ApiChoices::default();
        let context = ApiContext::new(edited, &place, namespaced, &default);
        let mut sets = vec!["create/sample", "create/resource-plain", "create/resource-image"];
        if place.other_versions.is_empty() {
            sets.push("create/kind");
        }
        if resource.controller {
            sets.extend([
                "create/controller",
                "create/controller-plain",
                "create/controller-image",
            ]);
        }
        // The first version of a kind has no `storage`, even if other versions were added later.
        let mut first = ApiLocation::of(edited, resource, place.group.clone());
        first.group_in_names = place.group_in_names;
        first.other_versions.clear();
        for (path, text) in
            originals::collect_copies(root, source, &place, &resource.api_group(), &file)?
        {
            self.files.entry(path).or_default().push(text);
        }
        let shared: Vec<_> = options
            .short_names
            .iter()
            .map(|name| format!("shortname = {:?}", name.to_string()))
            .collect();
        let choices = ApiChoices { shared, options, ..ApiChoices::default() };
        for place in [&place, &first] {
            let context = ApiContext::new(edited, place, namespaced, &choices);
            self.add_sets(&sets, &context)?;
        }
        if let Some(texts) = self.files.get_mut(&file) {
            let stored: Vec<String> =
                texts.iter().flat_map(|text| storage_variants(text, &place.kind)).collect();
            texts.extend(stored);
        }
        if resource.controller {
            self.add_adopted(project, edited, resource, namespaced)?;
        }
        if !place.other_versions.is_empty() && !resource.controller {
            self.fragments.retain(|(path, _), _| !VARIABLES.contains(&path.as_str()));
        }
        let template = |set: &str, path: &str| scaffold::text(set, path, &context);
        let inner = format!("{version}/mod.rs");
        let outer = format!("{module}/mod.rs");
        let snake = place.kind.module_name();
        let kinds = format!("mod {snake};\npub use self::{snake}::*;\n");
        let versions = format!("pub mod {};\n", place.version);
        self.modules.push((inner.parse()?, Some(template("create/version", &inner)?), kinds));
        self.modules.push((outer.parse()?, Some(template("create/group", &outer)?), versions));
        let groups = format!("pub mod {};\n", place.group.module_name());
        self.modules.push((ProjectPath::fixed("api/src/lib.rs"), None, groups));
        Ok(())
    }

    /// The controller of a hand-written type.
    fn add_adopted(
        &mut self,
        project: &Project,
        edited: &Project,
        resource: &Resource,
        namespaced: bool,
    ) -> anyhow::Result<()> {
        let path = resource.path.as_deref().and_then(|path| path.split_once("::"));
        let Some((_, module)) = path else { return Ok(()) };
        let foreign = ForeignKind::own(resource.clone(), namespaced, format!("api::{module}"));
        self.add_controller_of(project, edited, &foreign)
    }

    fn add_foreign(
        &mut self,
        project: &Project,
        edited: &Project,
        resource: &Resource,
    ) -> anyhow::Result<()> {
        // Another version of the kind may have the controller.
        match ForeignKind::of(project, resource).filter(|_| resource.controller) {
            Some(foreign) => self.add_controller_of(project, edited, &foreign),
            None => Ok(()),
        }
    }

    fn add_controller_of(
        &mut self,
        project: &Project,
        edited: &Project,
        foreign: &ForeignKind,
    ) -> anyhow::Result<()> {
        let module = foreign.controller_module(project);
        let finalizer = project.inputs.options_of(&foreign.resource).finalizer;
        let context = foreign.context(edited, &module, finalizer);
        self.add_sets(&["create/controller", "create/controller-foreign"], &context)
    }
}

/// Refuses a type that is not alone in the file that `create api` wrote for it.
fn refuse_other_kinds(
    source: &Operator,
    resource: &Resource,
    file: &ProjectPath,
) -> anyhow::Result<()> {
    let is_own = |declared: &&crate::project::DeclaredKind| {
        declared.kind.as_deref() == Some(&*resource.kind.to_string())
            && declared.version.as_deref() == Some(&*resource.version.to_string())
            && declared.group.as_deref() == Some(&*resource.api_group())
    };
    let own = source.kinds.iter().find(is_own);
    if let Some(own) = own.filter(|declared| declared.place.path.as_str() != file.as_str()) {
        return Err(anyhow::format_err!(
            "{} is declared at {}, in a file that `create api` has not written",
            resource.kind,
            own.place
        ))
        .hint("delete the type there, then run this again: it removes the rest");
    }
    let other = source
        .kinds
        .iter()
        .find(|declared| declared.place.path.as_str() == file.as_str() && !is_own(declared));
    match other {
        Some(other) => {
            Err(anyhow::format_err!("{file} declares {} too, at {}", other.name, other.place))
                .hint(format!("move {} to another file, then run this again", other.name))
        }
        None => Ok(()),
    }
}

/// The text of a type as `edit --storage-version` leaves it: objects are stored in its version, or no longer.
fn storage_variants(text: &str, kind: &Kind) -> Vec<String> {
    let name = format!("{kind}Spec");
    let head = format!("pub struct {name} ");
    let Some(line) = text.lines().position(|line| line.starts_with(&head)) else {
        return Vec::new();
    };
    let at = (line + 1, "pub struct ".len() + 1);
    [true, false].iter().filter_map(|is_stored| plan::with_storage(text, at, *is_stored)).collect()
}
