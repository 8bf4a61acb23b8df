mod controller_only;
mod copy;
mod existing;
mod in_place;

use clap::error::ErrorKind;

use crate::project::{CONTROLLER_FLAGS, Operator, Options, Project};
use crate::{
    app::{
        compile,
        generation::derive::{self, GenerateOptions},
        scaffolding::api::{
            context::{ApiChoices, ApiContext},
            foreign::ExternalTypeFlags,
            place::ApiLocation,
        },
    },
    commands::OutputMode,
    manifests,
    plan::{self, WorkTree},
    scaffold, terminal,
};
use diagnostics::Hint as _;
use model::{
    Domain, FileContent, GroupName, GroupPrefix, Kind, Plural, ProjectPath, Tree, Version,
};

/// Add a custom resource and its controller
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs create api --group cache --kind Memcached
  operator-rs create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211
  operator-rs create api --group apps --version v1 --kind Deployment --resource=false
  operator-rs create api --group cache.example.com --kind Memcached --output-file src/memcached.rs")]
pub struct Args {
    /// API group without the project's domain, e.g. `cache`, or one of Kubernetes, e.g. `apps`; in an adopted operator, the
    /// whole group
    #[arg(long, allow_hyphen_values = true)]
    group: Option<GroupPrefix>,
    /// API version
    #[arg(long, default_value = "v1alpha1")]
    version: Version,
    /// Kind, e.g. `Memcached`
    #[arg(long, allow_hyphen_values = true)]
    kind: Option<Kind>,
    /// Plural of the kind [default: the English plural of the kind, in lower case]
    #[arg(long)]
    plural: Option<Plural>,
    /// Make the kind namespaced [default: true, or the scope of the kind's other versions]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    namespaced: Option<bool>,
    /// Generate the resource type; `false` for a controller only
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    resource: bool,
    /// Generate a controller [default: true, or false if another version has one]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    controller: Option<bool>,
    /// New file for the type and the controller, in an adopted operator
    #[arg(long, value_name = "FILE", value_parser = ProjectPath::from_system)]
    output_file: Option<ProjectPath>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    external: ExternalTypeFlags,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    pub mode: OutputMode,
}

impl Args {
    pub fn write_files(mut self, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        self.refuse_conflicts()?;
        let project = Project::read_any_layout(tree)?;
        if project.is_adopted() {
            return self.in_place(tree, &project);
        }
        if self.output_file.is_some() {
            return Err(terminal::usage_error(
                ErrorKind::ArgumentConflict,
                "`--output-file` is for adopted operators: leave it out; in this project, the layout says where the files are",
            ));
        }
        if !self.resource {
            let group = terminal::ask_for_value(self.group.take(), "group", "apps")?;
            let kind = terminal::ask_for_value(self.kind.take(), "kind", "Deployment")?;
            return self.controller_only(tree, &project, group, &kind);
        }
        let group = match self.group.take() {
            Some(group) => own_group(&group, &project.domain)?,
            None => terminal::ask_for_value(None, "group", "cache")?,
        };
        let kind = terminal::ask_for_value(self.kind.take(), "kind", "Memcached")?;
        let has_plural = self.plural.is_some();
        let place = ApiLocation::find(&project, group, self.version, kind, self.plural.take())?;
        let source = existing::read_source_with_kind(tree, &place)?.unwrap_or_default();
        if let Some(existing) = existing::find_type(tree, &source, &project, &place)? {
            return self.take_over(tree, &project, place, existing, has_plural);
        }
        refuse_names(tree, &place)?;
        let namespaced = place.scope(self.namespaced, &project)?;
        let has_controller = place.other_versions.iter().any(|resource| resource.controller);
        if self.controller == Some(true) && has_controller {
            return Err(anyhow::format_err!("{} has a controller already, for another version", place.kind)).hint(
                "one controller serves all versions of a kind: leave `--controller` out, and point the controller at the version it should read",
            );
        }
        if let Some(from) = self.options.from {
            return self.copy_version(tree, &project, &place, &source, namespaced, from);
        }
        let controller = self.controller.unwrap_or(!has_controller);
        self.refuse_operand(namespaced, controller, has_controller)?;
        let flavour = if self.options.image.is_some() { "image" } else { "plain" };
        let mut sets = place.sets();
        sets.push("create/sample".to_owned());
        sets.push("create/resource".to_owned());
        sets.push(format!("create/resource-{flavour}"));
        if controller {
            sets.push("create/controller".to_owned());
            sets.push(format!("create/controller-{flavour}"));
        }
        let resource = place.resource(&project, namespaced, controller);
        let shown = format!("{} {}", resource.version, resource.kind);
        let options = self.project_options(place.group_in_names);
        let edited =
            project.with_resource(resource.clone())?.with_options(&resource, options.clone())?;
        let shared = self.shared_items(&place, &source, &project)?;
        let choices = ApiChoices { shared, options, ..ApiChoices::default() };
        let context = ApiContext::new(&project, &place, namespaced, &choices);
        let plan =
            scaffold::scaffold(&sets.iter().map(String::as_str).collect::<Vec<_>>(), &context)?;
        derive::with_project(tree, plan, &project, &edited, &self.generate_options())?;
        let mut next = if controller {
            format!(
                "Next: edit the type and the reconciler of {shown}, then\n  operator-rs manifests    # update the CRD and the role\n  cargo test"
            )
        } else {
            format!(
                "Next: edit the type {shown}, then\n  operator-rs manifests    # update the CRD\n  cargo test"
            )
        };
        if let Some(other) = place.other_versions.last() {
            next += &format!(
                "\n\nTo start from a copy of {it} instead, with a conversion between the two, pass `--from {it}`.",
                it = other.version
            );
        }
        tree.set_next_steps(next);
        Ok(())
    }

    /// The flags of a controller need one, and an image needs objects in a namespace.
    fn refuse_operand(
        &self,
        namespaced: bool,
        controller: bool,
        has_controller: bool,
    ) -> anyhow::Result<()> {
        if self.options.image.is_some() && !namespaced && controller {
            return Err(terminal::usage_error(
                ErrorKind::ArgumentConflict,
                "`--image` creates a Deployment next to each object, and objects of a cluster-scoped kind have no namespace: \
                 leave out `--image` or `--namespaced=false`",
            ));
        }
        if self.options.image.is_some() && !controller && !has_controller {
            return Err(terminal::usage_error(
                ErrorKind::ArgumentConflict,
                "`--image` configures the controller: leave out `--image` or `--controller=false`",
            ));
        }
        let flags = self.options.flags();
        let is_of_controller = |flag: &&String| CONTROLLER_FLAGS.contains(&flag.as_str());
        let given = flags.iter().map(|(flag, _)| flag).find(is_of_controller);
        if let Some(flag) = given.filter(|_| !controller) {
            return Err(terminal::usage_error(
                ErrorKind::ArgumentConflict,
                &format!(
                    "`--{flag}` configures the controller, and another version of the kind already has one: leave it out"
                ),
            ));
        }
        Ok(())
    }

    /// The options of the kind, as PROJECT records them.
    fn project_options(&self, group_in_names: bool) -> Options {
        Options { group_in_names, ..self.options.clone() }
    }

    fn generate_options(&self) -> GenerateOptions {
        GenerateOptions { flags: Some(self.compile), samples: true, ..GenerateOptions::default() }
    }

    /// The items of `#[kube(…)]` that all versions of a kind must share, as the other versions have them.
    fn shared_items(
        &self,
        place: &ApiLocation,
        source: &Operator,
        project: &Project,
    ) -> anyhow::Result<Vec<String>> {
        let group = place.group.qualified_name(&project.domain);
        // Only another version has such items.
        let is_other = |version: &manifests::Version<'_>| {
            !place.other_versions.is_empty()
                && version.group() == group
                && version.kind() == place.kind.to_string()
        };
        let other = manifests::versions(source).find(is_other);
        let asked: Vec<String> = self.options.short_names.iter().map(ToString::to_string).collect();
        let Some(other) = other else {
            return Ok(asked
                .iter()
                .map(|shortname| format!("shortname = {shortname:?}"))
                .collect());
        };
        let (names, metadata) = (&other.crd.spec.names, &other.crd.metadata);
        let list = |names: &Option<Vec<String>>| names.clone().unwrap_or_default();
        let (shortnames, categories) = (list(&names.short_names), list(&names.categories));
        if !asked.is_empty() && asked != shortnames {
            return Err(anyhow::format_err!("{} has other short names in {}", place.kind, other.name()))
                .hint("all versions of a kind share them: leave `--shortname` out, or change it there first");
        }
        let singular =
            names.singular.as_ref().filter(|singular| **singular != place.kind.to_lowercase());
        let singular = singular.map(|singular| format!("singular = {singular:?}"));
        let lists = [("shortname", &shortnames), ("category", &categories)];
        let words = lists
            .into_iter()
            .flat_map(|(key, list)| list.iter().map(move |word| format!("{key} = {word:?}")));
        let maps = [("label", &metadata.labels), ("annotation", &metadata.annotations)];
        let pairs = maps.into_iter().flat_map(|(key, map)| {
            map.iter().flatten().map(move |pair| format!("{key}({:?}, {:?})", pair.0, pair.1))
        });
        Ok(singular.into_iter().chain(words).chain(pairs).collect())
    }

    /// Refuses flags that contradict each other before anything is read.
    fn refuse_conflicts(&self) -> anyhow::Result<()> {
        let refuse =
            |message: &str| Err(terminal::usage_error(ErrorKind::ArgumentConflict, message));
        let external = self.external.external_api_path.is_some();
        if self.options.finalizer && self.controller == Some(false) {
            return refuse(
                "`--finalizer` configures the controller: leave out `--finalizer` or `--controller=false`",
            );
        }
        if self.resource {
            return if external {
                refuse(
                    "`--external-api-path` is the path of a type that exists: add `--resource=false`, or leave the path out",
                )
            } else {
                Ok(())
            };
        }
        if self.controller == Some(false) {
            return refuse(
                "with `--resource=false` and `--controller=false` there is nothing to generate",
            );
        }
        if self.options.image.is_some() {
            return refuse(
                "`--image` generates a type with the fields that its controller needs: leave out `--image` or `--resource=false`",
            );
        }
        let given = [
            ("plural", self.plural.is_some() && !external),
            ("shortname", !self.options.short_names.is_empty()),
            ("namespaced", self.namespaced.is_some() && !external),
            ("from", self.options.from.is_some()),
        ];
        match given.iter().find(|entry| entry.1) {
            None => Ok(()),
            Some((flag, _)) => refuse(&format!(
                "`--{flag}` configures a new type: leave out `--{flag}` or `--resource=false`"
            )),
        }
    }
}

/// Refuses a kind whose types would be hidden by others in the module that exports them.
fn refuse_names(tree: &impl Tree, place: &ApiLocation) -> anyhow::Result<()> {
    let path = format!("api/src/{}/{}/mod.rs", place.group.module_name(), place.version).parse()?;
    // Anything that is in the way is reported with all other conflicts.
    let FileContent::Text(text) = tree.read_content(&path)? else { return Ok(()) };
    let names = ["", "Spec", "Status"].map(|suffix| format!("{}{suffix}", place.kind));
    match plan::find_definition(&path, &text, &names) {
        None => Ok(()),
        Some(problem) => {
            let hint = "give this another name or choose another kind, and run the command again";
            Err(problem.with_hint(hint).into_error())
        }
    }
}

/// A group of the project's own.
fn own_group(group: &GroupPrefix, domain: &Domain) -> anyhow::Result<GroupName> {
    group.to_name().map_err(|why| {
        let group = group.to_string();
        let name = group.strip_suffix(&format!(".{domain}"));
        let advice = match name.filter(|name| name.parse::<GroupName>().is_ok()) {
            Some(name) => format!("leave out the project's domain: `--group {name}`"),
            None => why.to_string(),
        };
        let message = format!("invalid value '{group}' for '--group <GROUP>': {advice}");
        terminal::usage_error(ErrorKind::ValueValidation, &message)
    })
}
