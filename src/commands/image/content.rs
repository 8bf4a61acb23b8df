//! The content of the operator's image: its program, and a list of what is linked into it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::Context as _;

use super::{
    compile::{About, BuildRequest, CompiledProgram, Rust},
    sbom,
    target::ImageTarget,
};
use crate::project::Project;
use crate::{
    app::{
        images::{self, ImageFormat, RegistryAccess, SourceDateEpoch},
        output::stdout,
    },
    disk, terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use model::{Digest, Image, ProjectPath, display_path};
use oci::image::{self, Config, File, Layer, Recipe, Stored, Variant};

/// What is in the image
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Content")]
pub struct ImageContent {
    /// Put the program on top of this image [default: an empty image]
    #[arg(long, value_name = "IMAGE")]
    base: Option<Image>,
    /// Package of the program, in a workspace [default: the one that PROJECT names, or that in the project's directory]
    #[arg(long, short, value_name = "PACKAGE")]
    package: Option<String>,
    /// Program to build, if the package has several
    #[arg(long, value_name = "NAME")]
    bin: Option<String>,
    /// Fail if Cargo.lock is out of date
    #[arg(long)]
    locked: bool,
    /// Add a label (can be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<Label>,
    /// Also write the list of linked packages (CycloneDX) to this file
    #[arg(long, value_name = "FILE", value_parser = stdout::not_stdout())]
    sbom: Option<PathBuf>,
}

/// A label of an image.
#[derive(Clone)]
struct Label(String, String);

impl FromStr for Label {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, value) = text.split_once('=').ok_or("must look like `KEY=VALUE`")?;
        if key.is_empty() {
            return Err("must look like `KEY=VALUE`");
        }
        Ok(Self(key.to_owned(), value.to_owned()))
    }
}

/// The path of the program, which the Dockerfile and config/manager/manager.yaml use, too.
const PROGRAM: &str = "manager";
/// Trivy and Syft read files with this suffix from images.
const SBOM: &str = "manager.cdx.json";
/// The user and group of the program, equal to those in the Dockerfile.
const USER: &str = "65532:65532";

impl ImageContent {
    /// Refuses a file that is not to be replaced by the list of packages, before something takes minutes to build.
    pub fn refuse_foreign_sbom(&self, dir: &Path, output: Option<&Path>) -> anyhow::Result<()> {
        let Some(path) = &self.sbom else { return Ok(()) };
        let (path, shown) = (resolve_path(dir, path)?, display_path(&path));
        if let Some(output) = output
            && path.starts_with(resolve_path(dir, output)?)
        {
            return Err(anyhow::format_err!("`--sbom {shown}` and the image are the same file"))
                .hint("set `--sbom` to another file");
        }
        match disk::read_large(&path, LONGEST_SBOM)? {
            Some(bytes) if !sbom::is_ours(&bytes) => {
                Err(anyhow::format_err!("`{shown}` exists, and `--sbom` has not written it"))
                    .hint("set `--sbom` to another file, or delete this one")
            }
            _ => Ok(()),
        }
    }

    /// Compiles the program for each platform and builds the image.
    pub fn build_image(
        &self,
        dir: &Path,
        shape: &ImageFormat,
        access: &RegistryAccess,
    ) -> anyhow::Result<image::Image> {
        let root = &crate::commands::reading(dir)?;
        let targets = ImageTarget::from_platforms(&shape.platforms)?;
        if self.sbom.is_some() && targets.len() > 1 {
            return Err(anyhow::format_err!("`--sbom` writes the list of one platform"))
                .hint("the image contains the list of each platform, as `/manager.cdx.json`");
        }
        let rust = &Rust::detect(root, &targets)?;
        let recorded = Project::find_in(root)?.and_then(|project| project.inputs.package);
        let bases = self.pull_bases(&targets, access)?;
        let requests = targets.iter().map(|target| BuildRequest {
            root,
            rust,
            target: *target,
            package: self.package.as_deref().or(recorded.as_deref()),
            program: self.bin.as_deref(),
            locked: self.locked,
            is_from_scratch: self.base.is_none(),
        });
        let prepared =
            requests.map(|request| request.prepare_build().map(|prepared| (request, prepared)));
        let prepared = prepared.collect::<anyhow::Result<Vec<_>>>()?;
        // Anything that the machine lacks for a platform is reported before anything is compiled.
        let lacking = prepared.iter().filter_map(|entry| entry.1.toolchain.as_ref().err());
        let list: Vec<Diagnostic> = lacking.map(Into::into).collect();
        if !list.is_empty() {
            return Err(Diagnostics { headline: String::new(), list }.into());
        }
        let compiled =
            prepared.into_iter().map(|(request, prepared)| request.compile_program(prepared));
        let compiled: Vec<CompiledProgram> = compiled.collect::<anyhow::Result<_>>()?;
        if let (Some(path), [one]) = (&self.sbom, &compiled[..]) {
            images::put(dir, path, one.sbom.as_bytes())?;
        }
        let epoch = SourceDateEpoch::of_environment()?;
        let labels = self.image_labels(&compiled[0].about);
        let mut annotations = labels.clone();
        if let (Some(name), Some(base)) = (&self.base, bases.first()) {
            annotations.insert(oci_key("base.name"), name.to_string());
            annotations.insert(oci_key("base.digest"), base.0.to_string());
        }
        let bases =
            bases.into_iter().map(|base| Some(base.1)).chain(std::iter::repeat_with(|| None));
        let variants = compiled.into_iter().zip(bases);
        let variants =
            variants.map(|(compiled, base)| build_variant(compiled, base, &labels, epoch.seconds));
        let recipe = Recipe {
            format: shape.format.into(),
            created: &epoch.text,
            created_by: "operator-rs image build",
            annotations,
        };
        image::assemble(&recipe, variants.collect::<anyhow::Result<_>>()?)
    }

    /// The base image for each platform, and the digest of its name.
    fn pull_bases(
        &self,
        targets: &[ImageTarget],
        access: &RegistryAccess,
    ) -> anyhow::Result<Vec<(Digest, Stored)>> {
        let Some(name) = &self.base else { return Ok(Vec::new()) };
        // One digest for all platforms: a tag may move between two requests.
        let digest = images::resolve(name, access)?;
        let pinned: Image = format!("{}@{digest}", name.name()).parse()?;
        if name.digest().is_none() {
            terminal::warn(format!(
                "the image depends on what `{name}` is now; to make it reproducible, pass `--base {pinned}`"
            ));
        }
        targets.iter().map(|target| images::pull(&pinned, &[target.platform()], access)).collect()
    }

    fn image_labels(&self, about: &About) -> BTreeMap<String, String> {
        let all = [
            ("title", Some(&about.name)),
            ("version", Some(&about.version)),
            ("description", about.description.as_ref()),
            ("licenses", about.license.as_ref()),
            ("source", about.repository.as_ref()),
        ];
        let own = all.into_iter().filter_map(|(name, value)| Some((oci_key(name), value?.clone())));
        own.chain(self.label.iter().map(|label| (label.0.clone(), label.1.clone()))).collect()
    }
}

/// The largest list of packages that is looked at before it is replaced.
const LONGEST_SBOM: u64 = 256 << 20;

/// A path of a file with nothing in it that leads elsewhere, as far as it exists.
fn resolve_path(dir: &Path, path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(dir.join(path)).context("cannot resolve the path")?;
    Ok(match (path.parent().map(disk::resolve_folder), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path,
    })
}

/// A key of OCI.
fn oci_key(name: &str) -> String {
    format!("org.opencontainers.image.{name}")
}

fn build_variant(
    compiled: CompiledProgram,
    base: Option<Stored>,
    labels: &BTreeMap<String, String>,
    time: u64,
) -> anyhow::Result<Variant> {
    let file =
        |name, bytes, is_executable| (ProjectPath::fixed(name), File { bytes, is_executable });
    let files =
        [file(PROGRAM, compiled.program, true), file(SBOM, compiled.sbom.into_bytes(), false)];
    Ok(Variant {
        platform: compiled.target.platform(),
        base,
        layers: vec![Layer::new(&BTreeMap::from(files), time)?],
        config: Config {
            labels: labels.clone(),
            entrypoint: vec![format!("/{PROGRAM}")],
            user: USER.to_owned(),
            working_dir: "/".to_owned(),
            ..Config::default()
        },
    })
}
