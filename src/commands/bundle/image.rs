//! The bundle in a project as an image.

use std::path::Path;

use super::validate;
use crate::{
    bundle::{self, Copy, Dockerignore, Source},
    commands::{folder::below, images},
    disk::Root,
    terminal,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::{Platform, ProjectPath, Tree as _};
use oci::image::{self, Files};

/// Which bundle is built.
#[derive(Clone, clap::Args)]
pub struct Subject {
    /// Directory of the bundle in the project
    #[arg(long, value_name = "DIR", default_value = "bundle")]
    bundle_dir: ProjectPath,
}

const DOCKERFILE: &str = "bundle.Dockerfile";
const DOCKERIGNORE: &str = ".dockerignore";

impl Subject {
    /// Validates the bundle and builds its image.
    pub fn build(
        &self,
        dir: &Path,
        format: image::Format,
        platforms: &[Platform],
    ) -> anyhow::Result<image::Image> {
        let root = super::reading(dir)?;
        let folder = &self.bundle_dir;
        if root.list(folder)?.is_empty() {
            return Err(anyhow::format_err!("found no bundle in `{folder}`")).hint(
                "generate a bundle with `operator-rs bundle`, or name its directory with `--bundle-dir`",
            );
        }
        let path = folder.join("metadata/annotations.yaml")?;
        let annotations = root.read(&path)?.unwrap_or_default();
        let annotations = Source { path: &path, text: &annotations };
        let path = ProjectPath::fixed(DOCKERFILE);
        let dockerfile = root.read(&path)?;
        let dockerfile = dockerfile.as_ref().map(|text| Source { path: &path, text });
        let contents = bundle::contents(&annotations, dockerfile.as_ref(), folder)?;
        let ignored = if dockerfile.is_some() { ignored(&root)? } else { Dockerignore::default() };
        let files = files(&root, &contents.copies, folder, dockerfile.as_ref(), &ignored)?;
        // The labels are those of the file in the image.
        let named = ProjectPath::fixed("metadata/annotations.yaml");
        if files.get(&named).is_none_or(|it| it != annotations.text.as_bytes()) {
            let message = format!("`/{named}` of the image would not be {}", annotations.path);
            return Err(Diagnostic::in_file(DOCKERFILE, message)
                .with_hint(format!("copy `{folder}/metadata` to `/metadata/`, and nothing else"))
                .into_error());
        }
        images::of_data(files, contents.labels, format, platforms, "operator-rs bundle build")
    }
}

/// What docker would not copy. A file that is for this Dockerfile alone comes first.
fn ignored(root: &Root) -> anyhow::Result<Dockerignore> {
    for name in [&*format!("{DOCKERFILE}{DOCKERIGNORE}"), DOCKERIGNORE] {
        let path = name.parse()?;
        if let Some(text) = root.read(&path)? {
            return Dockerignore::parse(&Source { path: &path, text: &text });
        }
    }
    Ok(Dockerignore::default())
}

/// The files of the image; those that are the bundle are validated as they will be in there.
fn files(
    root: &Root,
    copies: &[Copy],
    folder: &ProjectPath,
    dockerfile: Option<&Source<'_>>,
    ignored: &Dockerignore,
) -> anyhow::Result<Files> {
    let (mut files, mut bundle) = (Files::new(), Files::new());
    for Copy { from, to, line } in copies {
        let at = |message: String, hint: &str| {
            let text = dockerfile.map(|it| it.text).unwrap_or_default();
            let place =
                Diagnostic::in_file(DOCKERFILE, message).at(*line, 1).quote(&mut Lines::of(text));
            place.with_hint(hint.to_owned()).into_error()
        };
        let found = root.list(from)?;
        if found.is_empty() && dockerfile.is_some() {
            return Err(match root.bytes(from) {
                Ok(Some(_)) => at(
                    format!("this copies the file `{from}`, and only directories are supported"),
                    "copy the directory that it is in, or build the image with docker or podman",
                ),
                _ => at(
                    format!("this copies `{from}`, which has no files"),
                    "run `operator-rs bundle` to generate the bundle and its Dockerfile",
                ),
            });
        }
        let is_empty = found.iter().all(|it| ignored.has(it.as_str()));
        if is_empty && dockerfile.is_some() {
            return Err(at(
                format!("this copies `{from}`, and {DOCKERIGNORE} leaves out everything in it"),
                "add a line with `!` and the directory to it",
            ));
        }
        for path in found.into_iter().filter(|it| !ignored.has(it.as_str())) {
            let Some(bytes) = root.bytes(&path)? else { continue };
            let place = to.join(below(&path, from)?.as_str())?;
            match path.is_in(folder) {
                true => drop(bundle.insert(place.clone(), bytes.clone())),
                false if bundle.contains_key(&place) => {
                    let message = format!("`{path}` would replace `/{place}` of the bundle");
                    return Err(at(message, "copy it to another directory"));
                }
                false => {}
            }
            files.insert(place, bytes);
        }
    }
    let Err(error) = validate(folder, &bundle) else { return Ok(files) };
    match left_out(root, copies, folder, ignored)? {
        Some(why) => Err(error).hint(why),
        None => Err(error).hint("correct config/ or the Rust source, and run `operator-rs bundle`"),
    }
}

/// Why a file of the bundle is not in the image.
fn left_out(
    root: &Root,
    copies: &[Copy],
    folder: &ProjectPath,
    ignored: &Dockerignore,
) -> anyhow::Result<Option<String>> {
    let parts = [folder.join("manifests")?, folder.join("metadata")?];
    for path in root.list(folder)? {
        if !parts.iter().any(|it| path.is_in(it)) {
            continue;
        }
        if !copies.iter().any(|it| path.is_in(&it.from)) {
            return Ok(Some(format!(
                "the image would not have `{path}`: copy its directory in {DOCKERFILE}"
            )));
        }
        if ignored.has(path.as_str()) {
            return Ok(Some(format!(
                "the image would not have `{path}`, which {DOCKERIGNORE} leaves out: correct it"
            )));
        }
    }
    Ok(None)
}

fn validate(folder: &ProjectPath, bundle: &Files) -> anyhow::Result<()> {
    let (errors, warnings) = validate::found(folder.as_str(), bundle)?;
    warnings.into_iter().for_each(terminal::warn);
    if errors.is_empty() {
        return Ok(());
    }
    let list: String = errors.iter().map(|it| format!("\n  {it}")).collect();
    anyhow::bail!("the bundle is not valid, and no image was built:{list}")
}
