//! The content of the operator's image: its program, and a list of what is linked into it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::Context as _;

use super::{
    compile::{About, BuildRequest, Compiled, Rust},
    sbom,
    target::Target,
};
use crate::project::Project;
use crate::{
    app::{
        images::{self, Access, Epoch, Shape},
        stdout,
    },
    disk, terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use model::{Digest, Image, ProjectPath, display_path};
use oci::image::{self, Config, File, Layer, Recipe, Stored, Variant};

/// What is in the image
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Content")]
pub struct Content {
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

/// Where the program is, also in the Dockerfile and in config/manager/manager.yaml.
const PROGRAM: &str = "manager";
/// Trivy and Syft read files with this suffix from images.
const SBOM: &str = "manager.cdx.json";
/// As in the Dockerfile.
const USER: &str = "65532:65532";

impl Content {
    /// Refuses a file that is not to be replaced by the list of packages, before something takes minutes to build.
    pub fn require(&self, dir: &Path, output: Option<&Path>) -> anyhow::Result<()> {
        let Some(path) = &self.sbom else { return Ok(()) };
        let (path, shown) = (whole(dir, path)?, display_path(&path));
        if let Some(output) = output
            && path.starts_with(whole(dir, output)?)
        {
            return Err(anyhow::format_err!("`--sbom {shown}` and the image are the same file"))
                .hint("give `--sbom` another file");
        }
        match disk::large(&path, LONGEST_SBOM)? {
            Some(bytes) if !sbom::is_ours(&bytes) => {
                Err(anyhow::format_err!("`{shown}` exists, and `--sbom` has not written it"))
                    .hint("give `--sbom` another file, or delete this one")
            }
            _ => Ok(()),
        }
    }

    /// Compiles the program for each platform and builds the image.
    pub fn build(
        &self,
        dir: &Path,
        shape: &Shape,
        access: &Access,
    ) -> anyhow::Result<image::Image> {
        let root = &crate::commands::reading(dir)?;
        let targets = Target::all(&shape.platforms)?;
        if self.sbom.is_some() && targets.len() > 1 {
            return Err(anyhow::format_err!("`--sbom` writes the list of one platform"))
                .hint("the image contains the list of each platform, as `/manager.cdx.json`");
        }
        let rust = &Rust::of(root, &targets)?;
        let recorded = Project::find(root)?.and_then(|it| it.inputs.package);
        let bases = self.bases(&targets, access)?;
        let requests = targets.iter().map(|target| BuildRequest {
            root,
            rust,
            target: *target,
            package: self.package.as_deref().or(recorded.as_deref()),
            program: self.bin.as_deref(),
            locked: self.locked,
            is_from_scratch: self.base.is_none(),
        });
        let prepared = requests.map(|it| it.prepare().map(|prepared| (it, prepared)));
        let prepared = prepared.collect::<anyhow::Result<Vec<_>>>()?;
        // Anything that the machine lacks for a platform is reported before anything is compiled.
        let lacking = prepared.iter().filter_map(|it| it.1.toolchain.as_ref().err());
        let list: Vec<Diagnostic> = lacking.map(Into::into).collect();
        if !list.is_empty() {
            return Err(Diagnostics { headline: String::new(), list }.into());
        }
        let compiled = prepared.into_iter().map(|(request, prepared)| request.compile(prepared));
        let compiled: Vec<Compiled> = compiled.collect::<anyhow::Result<_>>()?;
        if let (Some(path), [one]) = (&self.sbom, &compiled[..]) {
            images::put(dir, path, one.sbom.as_bytes())?;
        }
        let epoch = Epoch::of_environment()?;
        let labels = self.labels(&compiled[0].about);
        let mut annotations = labels.clone();
        if let (Some(name), Some(base)) = (&self.base, bases.first()) {
            annotations.insert(key("base.name"), name.to_string());
            annotations.insert(key("base.digest"), base.0.to_string());
        }
        let bases = bases.into_iter().map(|it| Some(it.1)).chain(std::iter::repeat_with(|| None));
        let variants = compiled.into_iter().zip(bases);
        let variants = variants.map(|(it, base)| variant(it, base, &labels, epoch.seconds));
        let recipe = Recipe {
            format: shape.format.into(),
            created: &epoch.text,
            created_by: "operator-rs image build",
            annotations,
        };
        image::assemble(&recipe, variants.collect::<anyhow::Result<_>>()?)
    }

    /// The base image for each platform, and the digest of its name.
    fn bases(&self, targets: &[Target], access: &Access) -> anyhow::Result<Vec<(Digest, Stored)>> {
        let Some(name) = &self.base else { return Ok(Vec::new()) };
        // One digest for all platforms: a tag may move between two requests.
        let digest = images::resolve(name, access)?;
        let pinned: Image = format!("{}@{digest}", name.name()).parse()?;
        if name.digest().is_none() {
            terminal::warn(format!(
                "the image depends on what `{name}` is now; to make it reproducible, give `--base {pinned}`"
            ));
        }
        targets.iter().map(|it| images::pull(&pinned, &[it.platform()], access)).collect()
    }

    fn labels(&self, about: &About) -> BTreeMap<String, String> {
        let all = [
            ("title", Some(&about.name)),
            ("version", Some(&about.version)),
            ("description", about.description.as_ref()),
            ("licenses", about.license.as_ref()),
            ("source", about.repository.as_ref()),
        ];
        let own = all.into_iter().filter_map(|(name, it)| Some((key(name), it?.clone())));
        own.chain(self.label.iter().map(|it| (it.0.clone(), it.1.clone()))).collect()
    }
}

/// The largest list of packages that is looked at before it is replaced.
const LONGEST_SBOM: u64 = 256 << 20;

/// A path of a file with nothing in it that leads elsewhere, as far as it exists.
fn whole(dir: &Path, path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(dir.join(path)).context("cannot resolve the path")?;
    Ok(match (path.parent().map(disk::real), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path,
    })
}

/// A key of OCI.
fn key(name: &str) -> String {
    format!("org.opencontainers.image.{name}")
}

fn variant(
    compiled: Compiled,
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
