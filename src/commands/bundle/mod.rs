//! `operator-rs bundle`

mod validate;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    Mode,
    derive::{self, How},
    project, reading, writing,
};
use crate::{
    bundle::{self, Bundle, Input, Object, Package},
    disk::{self, Root},
    hint::Hint as _,
    kustomize,
    model::{self, Channel, Image, PackageName, Project, ProjectPath},
    plan::{Overlay, Plan, Tree},
    terminal, yaml,
};

/// Make the bundle that OLM installs the operator from, and validate it
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The bundle's version [default: Cargo.toml's]
    #[arg(long, value_name = "VERSION")]
    version: Option<semver::Version>,
    /// The operator's image in this bundle [default: what config/manager says]
    #[arg(long, value_name = "IMAGE", conflicts_with = "input")]
    image: Option<Image>,
    /// The channels it is for, with commas between [default: alpha]
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    channels: Vec<Channel>,
    /// The channel that is taken where none is asked for
    #[arg(long, value_name = "CHANNEL")]
    default_channel: Option<Channel>,
    /// Where the bundle goes
    #[arg(long, value_name = "FOLDER", default_value = "bundle")]
    output_dir: ProjectPath,
    /// The package's name [default: the project's]
    #[arg(long, value_name = "NAME")]
    package: Option<PackageName>,
    /// Objects to take in place of config/manifests: a file, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    mode: Mode,
}

#[derive(clap::Subcommand)]
enum Command {
    Validate(validate::Args),
}

const EDIT: &str = "config/ and the Rust source, then run `operator-rs bundle`";

/// The command that generates it.
const BY: &str = "bundle";

impl Args {
    /// Whether it is about a bundle that may be outside of any project.
    pub fn names_a_folder(&self) -> bool {
        matches!(&self.command, Some(Command::Validate(args)) if args.names_a_folder())
    }

    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self.command {
            Some(Command::Validate(args)) => args.run(dir),
            None => writing(dir, &self.mode.clone(), |it| self.plan(it)),
        }
    }

    fn plan(self, root: &Root) -> anyhow::Result<Plan> {
        let project = project(root)?;
        if project.resources.iter().all(|it| it.api.is_none()) {
            return Err(anyhow::format_err!("there is no API yet, and a bundle is of one"))
                .hint("add one first: `operator-rs create api`");
        }
        let mut plan = Plan::default();
        if self.input.is_none() {
            derive::source(&mut plan, root, &project, &How::default())?;
        }
        // What the plan would write is what the bundle is made from. Edits by hand are told at the end.
        let changes = plan.against(root, true)?;
        let made = self.made(&Overlay::new(root, &changes), &project)?;
        self.put(made, &mut plan)?;
        // And what it would leave is what is checked: somebody may have put files beside ours.
        let changes = plan.against(root, true)?;
        let warnings = self.checked(&Overlay::new(root, &changes))?;
        warnings.into_iter().for_each(|it| plan.warn(it));
        plan.next(
            "Next: OLM takes the bundle from an image:\n  make bundle-build bundle-push BUNDLE_IMG=<registry>/<name>:<tag>"
                .to_owned(),
        );
        Ok(plan)
    }

    /// The bundle, of what the tree says.
    fn made(&self, tree: &impl Tree, project: &Project) -> anyhow::Result<Bundle> {
        let objects = self.objects(tree)?;
        let cargo = tree.read(&ProjectPath::fixed("Cargo.toml"))?.unwrap_or_default();
        let cargo = Package::from_text(&cargo)?;
        let Some(version) = self.version.as_ref().or(cargo.version.as_ref()) else {
            return Err(anyhow::format_err!("Cargo.toml has no version for the bundle"))
                .hint("put `version = \"0.0.1\"` below `[package]`, or give `--version`");
        };
        let package = match &self.package {
            Some(package) => package.clone(),
            None => project.name.to_string().parse().map_err(|it| {
                anyhow::format_err!("the project's name {it}, to be the package's too")
            })?,
        };
        let epoch = terminal::variable("SOURCE_DATE_EPOCH")?;
        bundle::assemble(&Input {
            objects,
            package: &package,
            version,
            channels: &self.channels,
            default_channel: self.default_channel.as_ref(),
            cargo: &cargo,
            metadata: &metadata(tree)?,
            output_dir: &self.output_dir,
            layout: Project::LAYOUT,
            builder: concat!("operator-rs-v", env!("CARGO_PKG_VERSION")),
            created_at: epoch.as_deref().map(bundle::created_at).transpose()?,
        })
    }

    /// What `kustomize build config/manifests` gives.
    fn objects(&self, tree: &impl Tree) -> anyhow::Result<Vec<Object>> {
        let Some(input) = &self.input else {
            let images: Vec<_> = self.image.iter().map(kustomize::Image::of_manager).collect();
            let objects = kustomize::build(tree, &ProjectPath::fixed("config/manifests"), &images)?;
            let object = |value| Object { place: String::new(), value };
            return Ok(objects.into_iter().map(object).collect());
        };
        let (text, name) = if input == Path::new("-") {
            (terminal::listen()?, "stdin".to_owned())
        } else {
            (disk::piped(input)?, input.display().to_string())
        };
        let nodes =
            yaml::nodes(&text, yaml::Dialect::Kubernetes).map_err(model::locate(&name, &text))?;
        if nodes.is_empty() {
            return Err(anyhow::format_err!("`{name}` has no objects"))
                .hint("give what `kustomize build config/manifests` prints");
        }
        let object = |node: yaml::Node| Object {
            place: format!("{name}:{}:{}: ", node.mark.line, node.mark.column),
            value: node.into_value(),
        };
        Ok(nodes.into_iter().map(object).collect())
    }

    /// Plans the bundle's files. What else of ours is in its folders goes.
    fn put(&self, made: Bundle, plan: &mut Plan) -> anyhow::Result<()> {
        let folder = &self.output_dir;
        made.warnings.into_iter().for_each(|it| plan.warn(it));
        for (path, text) in made.files {
            plan.generate(folder.join(path.as_str())?, text, EDIT, BY);
        }
        for part in ["manifests", "metadata", "tests/scorecard"] {
            plan.own(folder.join(part)?, &["yaml"], BY);
        }
        plan.generate(ProjectPath::fixed("bundle.Dockerfile"), made.dockerfile, EDIT, BY);
        Ok(())
    }

    /// A bundle with errors is none; what may stay as it is, is a warning.
    fn checked(&self, tree: &impl Tree) -> anyhow::Result<Vec<String>> {
        let (errors, warnings) = validate::findings(tree, &self.output_dir)?;
        if errors.is_empty() {
            return Ok(warnings);
        }
        let list: String = errors.iter().map(|it| format!("\n  {it}")).collect();
        Err(anyhow::format_err!("the bundle would not be valid, and was not written:{list}"))
            .hint("make the change in config/ or the Rust source: the bundle follows from them")
    }
}

/// The files of `config/manifests/metadata`, by name.
fn metadata(tree: &impl Tree) -> anyhow::Result<BTreeMap<String, String>> {
    let folder = ProjectPath::fixed("config/manifests/metadata");
    let mut res = BTreeMap::new();
    for path in tree.list(&folder)? {
        let name = path.as_str()[folder.as_str().len() + 1..].to_owned();
        if let Some(text) = tree.read(&path)? {
            res.insert(name, text);
        }
    }
    Ok(res)
}
