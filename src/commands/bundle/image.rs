//! The bundle in a project as an image.

use std::path::Path;

use crate::{
    app::images::{self, bundles, folder::below},
    disk::Root,
    plan, terminal,
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use model::{Platform, ProjectPath, Tree as _};
use oci::image::{self, Files};
use olm::bundle::{self, Contents, ProjectFile};

/// Which bundle is built.
#[derive(Clone, clap::Args)]
pub struct BundleDir {
    /// Directory of the bundle in the project
    #[arg(long, value_name = "DIR", default_value = "bundle", value_parser = ProjectPath::from_system)]
    bundle_dir: ProjectPath,
}

const DOCKERFILE: &str = "bundle.Dockerfile";
const DOCKERIGNORE: &str = ".dockerignore";

impl BundleDir {
    /// Validates the bundle and builds its image.
    pub fn build_image(
        &self,
        dir: &Path,
        format: image::Format,
        platforms: &[Platform],
    ) -> anyhow::Result<image::Image> {
        let root = super::reading(dir)?;
        let folder = &self.bundle_dir;
        if root.list_files(folder)?.is_empty() {
            return Err(anyhow::format_err!("found no bundle in `{folder}`")).hint(
                "generate a bundle with `operator-rs bundle`, or name its directory with `--bundle-dir`",
            );
        }
        let path = folder.join("metadata/annotations.yaml")?;
        let annotations = root.read_text(&path)?.unwrap_or_default();
        let annotations = ProjectFile { path: &path, text: &annotations };
        let path = ProjectPath::fixed(DOCKERFILE);
        let dockerfile = root.read_text(&path)?;
        let dockerfile = dockerfile.as_ref().map(|text| plan::without_signature(&path, text));
        let contents = bundle::image_contents(&annotations, dockerfile, folder)?;
        if dockerfile.is_some() {
            require_copied(&root, folder)?;
        }
        let files = read_image_files(&root, folder, &contents, dockerfile.is_some())?;
        ensure_valid(folder, &files)?;
        images::of_data(files, contents.labels, format, platforms, "operator-rs bundle build")
    }
}

/// Fails if a `.dockerignore` may keep a file of the bundle from docker: only docker can tell.
fn require_copied(root: &Root, folder: &ProjectPath) -> anyhow::Result<()> {
    for name in [DOCKERIGNORE, &*format!("{DOCKERFILE}{DOCKERIGNORE}")] {
        let text = root.read_text(&name.parse()?)?.unwrap_or_default();
        if let Some(line) = find_excluding_line(&text, folder) {
            let message = "this pattern may leave out files of the bundle".to_owned();
            return Err(Diagnostic::in_file(name, message)
                .at_position(line + 1, 1)
                .quote(&mut Lines::new(&text))
                .with_hint(format!(
                    "add the line `!{folder}/` below it, or build the image with docker or podman: `make bundle-build CONTAINER_TOOL=docker`"
                ))
                .into_error());
        }
    }
    Ok(())
}

/// The last line that may leave out a file of the bundle, unless a line `!bundle/` is below it.
fn find_excluding_line(dockerignore: &str, folder: &ProjectPath) -> Option<usize> {
    let top = folder.as_str().split('/').next();
    let names = |line: &str| {
        line.split('/').map(str::to_owned).filter(|name| !name.is_empty()).collect::<Vec<_>>()
    };
    let is_elsewhere = |line: &str| {
        let names = names(line);
        let is_plain =
            |name: &String| !name.contains(['*', '?', '[', '\\']) && name != "." && name != "..";
        names.iter().all(is_plain) && names.first().map(String::as_str) != top
    };
    let text = dockerignore.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let last = lines.iter().enumerate().rev().find_map(|(at, line)| match line.strip_prefix('!') {
        Some(kept) => (names(kept.trim()) == names(folder.as_str())).then_some(None),
        None if line.is_empty() || line.starts_with('#') || is_elsewhere(line) => None,
        None => Some(Some(at)),
    });
    last.flatten()
}

/// The files of the image.
fn read_image_files(
    root: &Root,
    folder: &ProjectPath,
    contents: &Contents,
    is_copied: bool,
) -> anyhow::Result<Files> {
    let mut files = Files::new();
    for part in contents.parts {
        let from = folder.join(part)?;
        let found = root.list_files(&from)?;
        if found.is_empty() && is_copied {
            return Err(anyhow::format_err!("{DOCKERFILE} copies `{from}`, which has no files"))
                .hint("run `operator-rs bundle` to generate the bundle and its Dockerfile");
        }
        for path in found {
            if let Some(bytes) = root.read_bytes(&path)? {
                files.insert(below(&path, folder)?, bytes);
            }
        }
    }
    Ok(files)
}

fn ensure_valid(folder: &ProjectPath, bundle: &Files) -> anyhow::Result<()> {
    let (errors, warnings) = bundles::found(folder.as_str(), bundle)?;
    terminal::warn_all(warnings);
    if errors.is_empty() {
        return Ok(());
    }
    let list: String = errors.iter().map(|error| format!("\n  {error}")).collect();
    Err(anyhow::format_err!("the bundle is not valid, and no image was built:{list}"))
        .hint("correct config/ or the Rust source, and run `operator-rs bundle`")
}

#[test]
fn a_pattern_that_may_leave_out_files_is_found() {
    let check = |text: &str, expected: Option<usize>| {
        assert_eq!(find_excluding_line(text, &ProjectPath::fixed("bundle")), expected, "{text}");
    };
    check("", None);
    check("**\n!bundle/\ntarget/\n.git\n", None);
    check("**\n! ./bundle\n", Some(0));
    check("**\n!/bundle\n# *\n!**/*.rs\n", None);
    check("!bundle\n\n*.bak\n", Some(2));
    check("\u{feff}bundle/metadata", Some(0));
    check("a/../bundle", Some(0));
    check("[b]undle\n", Some(0));
}
