//! `operator-rs bundle`

mod build;
mod diff;
mod digests;
mod flags;
mod image;
mod origins;
mod push;
mod recorded_flags;
mod renew;
mod validate;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{OutputMode, RunCommand, WorkingDirectory, reading, writing};
use crate::app::{
    cluster_access::shipped,
    config::{references, roles},
    generation::{
        derive::{self, GenerateOptions, RbacMarkers},
        samples,
    },
    images::{RegistryAccess, bundles, folder::below},
};
use crate::project::Project;
use crate::{
    disk,
    plan::{Plan, WorkTree},
    terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml;
use model::{AccountName, Channel, Image, PackageName, ProjectPath, Tree};
use olm::bundle::{self, CargoPackage, GeneratedBundle, Input, InputObject, check_version};

pub use renew::{Renewed, renew};

/// Generate and validate the OLM bundle
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  operator-rs bundle --image quay.io/example/memcached-operator:v0.0.1
  operator-rs bundle --version 0.1.0 --channels candidate,stable --default-channel stable
  operator-rs bundle validate --select default,operatorhub,good-practices"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<BundleSubcommand>,
    /// Version of the bundle [default: the version in Cargo.toml]
    #[arg(long, value_name = "VERSION")]
    version: Option<semver::Version>,
    /// Image of the manager [default: the one in config/manager]
    #[arg(long, value_name = "IMAGE", conflicts_with = "input")]
    image: Option<Image>,
    /// Channels of the bundle, separated by commas [default: alpha]
    #[arg(long, alias = "channel", value_name = "CHANNELS", value_delimiter = ',')]
    channels: Vec<Channel>,
    /// Default channel
    #[arg(long, value_name = "CHANNEL")]
    default_channel: Option<Channel>,
    /// Additional service accounts whose rules are added to the CSV, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    extra_service_accounts: Vec<AccountName>,
    /// Directory of the bundle in the project
    #[arg(long, visible_alias = "bundle-dir", value_name = "DIR", default_value = "bundle", value_parser = ProjectPath::from_system)]
    output_dir: ProjectPath,
    /// Name of the package [default: the project's name]
    #[arg(long, value_name = "NAME")]
    package: Option<PackageName>,
    /// Read manifests from this file instead of config/manifests; `-` is stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Replace the tags of images by digests from their registries; config/manifests/image-digests.yaml stores them
    #[arg(long)]
    use_image_digests: bool,
    /// Take the digests from config/manifests/image-digests.yaml, without any request
    #[arg(long, requires = "use_image_digests")]
    offline: bool,
    #[command(flatten)]
    mode: OutputMode,
    #[command(flatten)]
    access: RegistryAccess,
}

#[derive(clap::Subcommand)]
enum BundleSubcommand {
    Build(build::Args),
    Push(push::Args),
    Diff(diff::Args),
    Validate(Box<validate::Args>),
}

const EDIT: &str = "config/ and the Rust source";

/// The Dockerfile of the bundle, which is next to the bundle's folder.
const DOCKERFILE: &str = "bundle.Dockerfile";

/// The command that generates it.
const BY: &str = "bundle";

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        if self.names_a_folder() { WorkingDirectory::Exact } else { WorkingDirectory::OfProject }
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self.command {
            Some(BundleSubcommand::Build(args)) => args.run(dir),
            Some(BundleSubcommand::Diff(args)) => args.run(dir),
            Some(BundleSubcommand::Push(args)) => args.run(dir),
            Some(BundleSubcommand::Validate(args)) => args.run(dir),
            None => writing(dir, &self.mode.clone(), |tree, _| self.write_files(tree)),
        }
    }
}

impl Args {
    /// Returns whether the command reads a bundle that may be outside of any project.
    fn names_a_folder(&self) -> bool {
        match &self.command {
            Some(BundleSubcommand::Diff(_)) => true,
            Some(BundleSubcommand::Validate(args)) => args.names_a_folder(),
            _ => false,
        }
    }

    fn write_files(self, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        let project = Project::read_any_layout(tree)?;
        if project.resources.iter().all(|resource| resource.api.is_none()) {
            return Err(anyhow::format_err!(
                "the project has no API, and a bundle needs at least one"
            ))
            .hint("add one with `operator-rs create api`");
        }
        if self.input.is_none() && project.is_adopted() {
            return Err(anyhow::format_err!(
                "the bundle of an adopted operator is generated from rendered manifests: give them with `--input FILE`, or `-` for stdin"
            ))
            .hint(format!(
                "`helm template … | operator-rs bundle --input -`, with the CRDs and a base of the ClusterServiceVersion, named `{}`",
                project.name
            ));
        }
        let markers = match self.input {
            None => derive::source(tree, &project, &GenerateOptions::default())?,
            Some(_) => RbacMarkers::default(),
        };
        self.write_bundle(tree, &project, &markers)?;
        tree.set_next_steps(
            "Next: build and push the bundle's image:\n  make bundle-build bundle-push BUNDLE_IMG=<registry>/<name>:<tag>"
                .to_owned(),
        );
        Ok(())
    }

    /// Writes the bundle of what is in the tree.
    fn write_bundle(
        &self,
        tree: &mut WorkTree<'_>,
        project: &Project,
        markers: &RbacMarkers,
    ) -> anyhow::Result<()> {
        // Edits by hand of what it is made from are reported at the end.
        tree.require_writable()?;
        let (mut bundle, warnings) = self.assemble_bundle(tree, project)?;
        let mut plan = Plan::default();
        if self.use_image_digests {
            let access = Some(&self.access).filter(|_| !self.offline);
            digests::pin_images(&mut bundle, tree, &mut plan, access)?;
        } else if let Some(flag) = self.access.flags.given() {
            return Err(terminal::usage_error(
                clap::error::ErrorKind::MissingRequiredArgument,
                &format!(
                    "`{flag}` requires `--use-image-digests`: without it, no registry is contacted"
                ),
            ));
        }
        let before = tree.read_text(&ProjectPath::fixed(DOCKERFILE))?.unwrap_or_default();
        flags::lost_flags_warning(&before, self, &bundle)
            .into_iter()
            .for_each(|warning| plan.warn(warning));
        warnings.into_iter().for_each(|warning| plan.warn(warning));
        let moved = roles::moved_by_olm(&mut bundle, &markers.list);
        markers.quote(tree, moved).into_iter().for_each(|warning| plan.warn(warning));
        self.plan_files(bundle, &mut plan)?;
        tree.apply(plan)?;
        tree.require_writable()?;
        // The whole folder is validated as it would be: it may also have files that are not generated.
        let warnings = self.validate_bundle(tree)?;
        warnings.into_iter().for_each(|warning| tree.warn(warning));
        Ok(())
    }

    /// Assembles the bundle from the tree, with warnings of what was not checked in its samples.
    fn assemble_bundle(
        &self,
        tree: &impl Tree,
        project: &Project,
    ) -> anyhow::Result<(GeneratedBundle, Vec<Diagnostic>)> {
        let (mut objects, report) = self.read_objects(tree)?;
        let warnings = samples::require(report)?.into_iter();
        let missing = references::warnings_in_bundle(&objects);
        let secrets = shipped::secrets(&mut objects);
        let placeholder = shipped::placeholder(objects.iter().map(|object| &object.value));
        let warnings = warnings.chain(missing).chain(secrets).chain(placeholder).collect();
        let cargo = tree.read_text(&ProjectPath::fixed("Cargo.toml"))?.unwrap_or_default();
        let cargo = CargoPackage::from_text(&cargo)?;
        let Some(version) = self.version.as_ref().or(cargo.version.as_ref()) else {
            return Err(anyhow::format_err!("Cargo.toml has no version for the bundle"))
                .hint("put `version = \"0.0.1\"` below `[package]`, or pass `--version`");
        };
        check_version(version).map_err(anyhow::Error::msg)?;
        let package = match &self.package {
            Some(package) => package.clone(),
            None => project.name.to_string().parse().map_err(|why| {
                anyhow::format_err!(
                    "the project's name cannot be the name of the package: it {why}"
                )
            })?,
        };
        let epoch = terminal::variable("SOURCE_DATE_EPOCH")?;
        let bundle = bundle::assemble(&Input {
            objects,
            package: &package,
            version,
            channels: &self.channels,
            default_channel: self.default_channel.as_ref(),
            extra_accounts: &self.extra_service_accounts,
            flags: &flags::to_record(self, &cargo),
            cargo: &cargo,
            metadata: &read_metadata(tree)?,
            output_dir: &self.output_dir,
            layout: Project::LAYOUT,
            builder: concat!("operator-rs-v", env!("CARGO_PKG_VERSION")),
            created_at: epoch.as_deref().map(bundle::created_at).transpose()?,
        })?;
        Ok((bundle, warnings))
    }

    /// The objects of `kustomize build config/manifests` or of `--input`, and the problems of their samples.
    fn read_objects(
        &self,
        tree: &impl Tree,
    ) -> anyhow::Result<(Vec<InputObject>, crd::samples::SampleReport)> {
        let Some(input) = &self.input else {
            let images: Vec<_> = self.image.iter().map(kustomize::Image::of_manager).collect();
            let folder = ProjectPath::fixed("config/manifests");
            let rendered = kustomize::build_with_origins(tree, &folder, &images)?;
            let crds = samples::crds(rendered.iter().map(|object| &object.value));
            let report = samples::of_rendered(tree, &crds, &rendered)?;
            let has_secret = rendered.iter().any(|object| object.value["kind"] == "Secret");
            let origins =
                if has_secret { origins::of_rendered(tree, &rendered)? } else { Vec::new() };
            let mut origins = origins.into_iter();
            let object = |rendered: kustomize::Rendered| InputObject {
                place: String::new(),
                origin: origins.next(),
                value: rendered.value,
            };
            return Ok((rendered.into_iter().map(object).collect(), report));
        };
        let bounds = disk::Bounds::of_manifests(Some(self.access.deadline()));
        let (name, text) = disk::read_input(Path::new(""), input, bounds)?;
        let nodes = yaml::parse_nodes(&text, yaml::Dialect::Kubernetes)
            .map_err(yaml::locate_error(&name, &text))?;
        if nodes.is_empty() {
            return Err(anyhow::format_err!("`{name}` has no manifests"))
                .hint("give the output of `kustomize build config/manifests`");
        }
        let object = |node: &yaml::Node| InputObject {
            place: format!("{name}:{}:{}: ", node.mark.line, node.mark.column),
            origin: Some(origins::of_document(&name, node)),
            value: node.clone().into_value(),
        };
        let objects: Vec<InputObject> = nodes.iter().map(object).collect();
        let report = samples::of_documents(&name, &text, &objects, &nodes)?;
        Ok((objects, report))
    }

    /// Plans the bundle's files. Other generated files in its folders are removed.
    fn plan_files(&self, bundle: GeneratedBundle, plan: &mut Plan) -> anyhow::Result<()> {
        let folder = &self.output_dir;
        bundle.warnings.into_iter().for_each(|warning| plan.warn(warning));
        bundle.moved.iter().for_each(|moved| plan.warn(moved.to_string()));
        for (path, text) in bundle.files {
            plan.generate(folder.join(path.as_str())?, text, EDIT, BY);
        }
        for part in ["manifests", "metadata", "tests/scorecard"] {
            plan.remove_stale(folder.join(part)?, &["yaml"], BY);
        }
        plan.generate(ProjectPath::fixed(DOCKERFILE), bundle.dockerfile, EDIT, BY);
        Ok(())
    }

    /// The warnings of a valid bundle.
    fn validate_bundle(&self, tree: &impl Tree) -> anyhow::Result<Vec<Diagnostic>> {
        let (errors, warnings) = bundles::findings(tree, &self.output_dir)?;
        if errors.is_empty() {
            return Ok(warnings);
        }
        let headline = "the bundle is not valid and was not written".to_owned();
        Err(Diagnostics { headline, list: errors }.into()).hint(
            "make the change in config/ or the Rust source: the bundle is generated from them",
        )
    }
}

/// The files of `config/manifests/metadata`, by name.
fn read_metadata(tree: &impl Tree) -> anyhow::Result<BTreeMap<String, String>> {
    let folder = ProjectPath::fixed("config/manifests/metadata");
    let mut texts = BTreeMap::new();
    for path in tree.list_files(&folder)? {
        let name = below(&path, &folder)?.to_string();
        if let Some(text) = tree.read_text(&path)? {
            texts.insert(name, text);
        }
    }
    Ok(texts)
}
