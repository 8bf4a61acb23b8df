mod context;
mod place;

use clap::error::ErrorKind;

use self::{context::Context, place::Place};
use crate::{
    commands::{Mode, derive, project},
    disk::Root,
    hint::Hint as _,
    model::{GroupName, Image, Kind, Plural, Project, Resource, Version},
    plan::{Plan, Tree},
    scaffold, terminal,
};

/// Add a custom resource and its controller
#[derive(clap::Args)]
pub struct Args {
    /// The group, without the project's domain, e.g. `cache`
    #[arg(long, allow_hyphen_values = true)]
    group: Option<GroupName>,
    /// The version
    #[arg(long, default_value = "v1alpha1")]
    version: Version,
    /// The kind, e.g. `Memcached`
    #[arg(long, allow_hyphen_values = true)]
    kind: Option<Kind>,
    /// The plural [default: as kube-derive makes it]
    #[arg(long)]
    plural: Option<Plural>,
    /// A short name for kubectl (can be repeated)
    #[arg(long, value_name = "NAME")]
    shortname: Vec<Plural>,
    /// Whether its objects live in namespaces [default: true, or as the kind's other versions]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    namespaced: Option<bool>,
    /// Whether to make the type
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    resource: bool,
    /// Whether to make a controller [default: true, or false where another version has one]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    controller: Option<bool>,
    /// Store objects in this version [default: the kind's first version]
    #[arg(long)]
    storage: bool,
    #[command(flatten)]
    operand: Operand,
    #[command(flatten)]
    pub mode: Mode,
}

/// What the controller runs; without an image it is left to you
#[derive(clap::Args)]
#[command(next_help_heading = "A controller that runs an image")]
struct Operand {
    /// The image that the controller runs in a Deployment for each object
    #[arg(long)]
    image: Option<Image>,
    /// The port that the image listens on
    #[arg(long, requires = "image", alias = "image-container-port", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// The user that the image runs as: a number, never 0 [default: 1001]
    #[arg(long, requires = "image", value_parser = clap::value_parser!(i64).range(1..=4_294_967_295), value_name = "UID")]
    run_as_user: Option<i64>,
    /// Command and arguments, separated by commas or repeated
    #[arg(
        long,
        requires = "image",
        alias = "image-container-command",
        value_delimiter = ',',
        value_parser = word,
        value_name = "WORDS",
        allow_hyphen_values = true
    )]
    container_command: Vec<String>,
}

impl Args {
    pub fn plan(mut self, root: &Root) -> anyhow::Result<Plan> {
        if !self.resource {
            self.refuse_flags_of_types()?;
        }
        let project = project(root)?;
        let group = terminal::ask(self.group.take(), "group", "cache")?;
        let kind = terminal::ask(self.kind.take(), "kind", "Memcached")?;
        if !self.resource {
            return self.controller_only(root, &project, &group, &kind);
        }
        let place = Place::find(&project, group, self.version, kind, self.plural.take())?;
        let namespaced = place.scope(self.namespaced, &project)?;
        let has_controller = place.kin.iter().any(|it| it.controller);
        if self.controller == Some(true) && has_controller {
            return Err(anyhow::format_err!("{} has a controller already, for another version", place.kind)).hint(
                "one controller serves all versions of a kind: leave `--controller` out, and point the controller at the version it should read",
            );
        }
        let controller = self.controller.unwrap_or(!has_controller);
        if self.operand.image.is_some() && !namespaced && controller {
            return Err(terminal::usage(
                ErrorKind::ArgumentConflict,
                "`--image` makes a Deployment beside each object, and objects of a cluster-scoped kind have no namespace: \
                 leave out `--image` or `--namespaced=false`",
            ));
        }
        if self.operand.image.is_some() && !controller && !has_controller {
            return Err(terminal::usage(
                ErrorKind::ArgumentConflict,
                "`--image` is for the controller: leave out `--image` or `--controller=false`",
            ));
        }
        let operand = [
            ("run-as-user", self.operand.run_as_user.is_some()),
            ("container-command", !self.operand.container_command.is_empty()),
        ];
        if let Some((flag, _)) = operand.iter().find(|it| it.1 && !controller) {
            return Err(terminal::usage(
                ErrorKind::ArgumentConflict,
                &format!(
                    "`--{flag}` is for the controller, and another version of the kind has that already: leave it out"
                ),
            ));
        }
        let flavour = if self.operand.image.is_some() { "image" } else { "plain" };
        let mut sets = place.sets();
        sets.push("create/resource".to_owned());
        sets.push(format!("create/resource-{flavour}"));
        if controller {
            sets.push("create/controller".to_owned());
            sets.push(format!("create/controller-{flavour}"));
        }
        let resource = place.resource(&project, namespaced, controller);
        let shown = format!("{} {}", resource.version, resource.kind);
        let edited = project.with(resource)?;
        let shared = self.shared(&place, root, &project)?;
        let context = Context::new(&project, &place, namespaced, shared, &self);
        let mut plan =
            scaffold::scaffold(&sets.iter().map(String::as_str).collect::<Vec<_>>(), &context)?;
        plan.edit(Project::path(), project.text().to_owned(), edited.text().to_owned());
        derive::source(&mut plan, root, &edited)?;
        let next = if controller {
            format!(
                "Next: edit the type and the reconciler of {shown}, then\n  operator-rs manifests    # CRD and role follow\n  cargo test"
            )
        } else {
            format!(
                "Next: edit the type {shown}, then\n  operator-rs manifests    # the CRD follows\n  cargo test"
            )
        };
        plan.next(next);
        Ok(plan)
    }

    /// What all versions of a kind have to say alike: as the source says it of the others.
    fn shared(
        &self,
        place: &Place,
        tree: &impl Tree,
        project: &Project,
    ) -> anyhow::Result<Vec<String>> {
        let group = place.group.qualified(&project.domain);
        let operator = derive::operator(tree);
        let kin = operator
            .resources
            .iter()
            .find(|it| it.group.as_str() == group && it.kind == place.kind);
        let asked: Vec<String> = self.shortname.iter().map(ToString::to_string).collect();
        let Some(kin) = kin else {
            return Ok(asked.iter().map(|it| format!("shortname = {it:?}")).collect());
        };
        if !asked.is_empty() && asked != kin.shortnames {
            return Err(anyhow::format_err!("{} has other short names in {}", place.kind, kin.version))
                .hint("all versions of a kind share them: leave `--shortname` out, or change it there first");
        }
        let singular =
            (kin.singular != kin.kind.lower()).then(|| format!("singular = {:?}", kin.singular));
        let lists = [("shortname", &kin.shortnames), ("category", &kin.categories)];
        let words = lists
            .into_iter()
            .flat_map(|(key, list)| list.iter().map(move |it| format!("{key} = {it:?}")));
        let maps = [("label", &kin.labels), ("annotation", &kin.annotations)];
        let pairs = maps.into_iter().flat_map(|(key, map)| {
            map.iter().map(move |it| format!("{key}({:?}, {:?})", it.0, it.1))
        });
        Ok(singular.into_iter().chain(words).chain(pairs).collect())
    }

    /// What says something of a type has nothing to say where none is made.
    fn refuse_flags_of_types(&self) -> anyhow::Result<()> {
        let refuse = |message: &str| Err(terminal::usage(ErrorKind::ArgumentConflict, message));
        if self.controller == Some(false) {
            return refuse(
                "with `--resource=false` and `--controller=false` there is nothing to make",
            );
        }
        if self.operand.image.is_some() {
            return refuse(
                "`--image` makes a type with the fields that its controller needs: leave out `--image` or `--resource=false`",
            );
        }
        let given = [
            ("plural", self.plural.is_some()),
            ("shortname", !self.shortname.is_empty()),
            ("namespaced", self.namespaced.is_some()),
            ("storage", self.storage),
        ];
        match given.iter().find(|it| it.1) {
            None => Ok(()),
            Some((flag, _)) => refuse(&format!(
                "`--{flag}` is about the type, which is there already: leave out `--{flag}` or `--resource=false`"
            )),
        }
    }

    /// `--resource=false`: a controller for a type that is there.
    fn controller_only(
        self,
        root: &Root,
        project: &Project,
        group: &GroupName,
        kind: &Kind,
    ) -> anyhow::Result<Plan> {
        let same = |it: &Resource| {
            it.group.as_ref() == Some(group)
                && it.kind == *kind
                && it.version == self.version
                && it.api.is_some()
        };
        let Some(at) = project.resources.iter().position(same) else {
            if place::is_built_in(&group.to_string()) {
                return Err(anyhow::format_err!("controllers for Kubernetes' own kinds, such as {group}/{} {kind}, are not scaffolded yet", self.version))
                    .hint("make an API of your own, and write the controller for the other kind beside it");
            }
            return Err(anyhow::format_err!(
                "there is no {group}/{} {kind} in this project",
                self.version
            ))
            .hint("leave out `--resource=false` to make the type too");
        };
        let resource = &project.resources[at];
        if let Some(has) = project.resources.iter().find(|it| it.is_kin(resource) && it.controller)
        {
            anyhow::bail!("{kind} has a controller already, for {}", has.version);
        }
        let place = Place::of(project, resource, group.clone());
        let namespaced = resource.api.as_ref().is_some_and(|it| it.namespaced);
        let context = Context::new(project, &place, namespaced, Vec::new(), &self);
        let mut plan =
            scaffold::scaffold(&["create/controller", "create/controller-plain"], &context)?;
        let edited = project.with_controller(at)?;
        plan.edit(Project::path(), project.text().to_owned(), edited.text().to_owned());
        derive::source(&mut plan, root, &edited)?;
        Ok(plan)
    }
}

/// A word of a command, as it can stand in a raw string of Rust.
fn word(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err("must not be empty: one comma goes between two words");
    }
    if text.contains("\"#") || text.contains(char::is_control) {
        return Err("must be free of control characters and of `\"#`");
    }
    Ok(text.to_owned())
}
