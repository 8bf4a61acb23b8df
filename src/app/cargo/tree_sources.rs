//! The sources that the reader needs: a tree, the files outside of it, and the packages that cargo has downloaded.

use std::{
    collections::BTreeMap,
    iter,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    PackageDirs,
    config::{self, ConfigText},
};
use crate::project::{GENERATE_COMMAND, SourcePath};
use crate::{
    disk, plan,
    source::{ConfigFile, Locked, ReadFile, Sources},
    terminal,
};
use model::{ProjectPath, Tree};

/// The sources in a tree.
pub struct TreeSources<'a, T> {
    tree: &'a T,
    dir: PathBuf,
    packages: PackageDirs,
}

impl<'a, T: Tree> TreeSources<'a, T> {
    pub fn new(tree: &'a T) -> Self {
        let dir = tree.root_dir().unwrap_or(Path::new(".")).to_owned();
        let folder = dir.clone();
        let packages =
            PackageDirs::new(move || config::parse(&configs_of(&folder).unwrap_or_default()));
        Self { tree, dir, packages }
    }

    /// Returns the path of a file outside of the project.
    fn outside_path(&self, path: &str) -> Option<PathBuf> {
        if is_above(path) {
            return Some(self.dir.join(path));
        }
        self.packages.find(path)
    }

    /// Refuses a symlink that leads out of its package, and not into the project: it may lead to a secret.
    fn require_in_package(&self, path: &str) -> anyhow::Result<()> {
        let Ok(real) = disk::resolve_folder(&self.dir.join(path)) else { return Ok(()) };
        let mut folders =
            Path::new(path).ancestors().skip(1).map(|ancestor| self.dir.join(ancestor));
        let package = folders.find(|folder| disk::has_file(folder, "Cargo.toml"));
        let is_in =
            |path: &Path| disk::resolve_folder(path).is_ok_and(|path| real.starts_with(path));
        if package.is_some_and(|path| is_in(&path)) || is_in(&self.dir) {
            Ok(())
        } else {
            anyhow::bail!("it is a symlink that leads out of its package, and is not read")
        }
    }
}

/// Returns the configuration files for a workspace, the nearest to the current directory first.
fn configs_of(dir: &Path) -> anyhow::Result<Vec<ConfigText>> {
    let mut texts = config::texts_below(dir)?;
    texts.extend(config::texts(dir, 0)?);
    Ok(texts)
}

/// Returns whether a path leads out of the project's folder.
fn is_above(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

/// Returns a path in the project; none if it is outside.
fn project_path(path: &SourcePath) -> Option<ProjectPath> {
    path.as_str().parse().ok()
}

impl<T: Tree> Sources for TreeSources<'_, T> {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        if is_above(path.as_str()) {
            self.require_in_package(path.as_str())?;
        }
        if let Some(path) = self.outside_path(path.as_str()) {
            return Ok(disk::read_text_if_exists(&path)?.map(Rc::from));
        }
        let Some(path) = project_path(path) else { return Ok(None) };
        Ok(self.tree.read_text(&path)?.map(|text| {
            let text = if is_support_code(&path, &text) { markers_of(&text) } else { text };
            Rc::from(text)
        }))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        if let Some(path) = self.outside_path(path.as_str()) {
            return path.is_file();
        }
        let Some(path) = project_path(path) else { return false };
        !matches!(self.tree.read_text(&path), Ok(None))
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        match self.outside_path(folder) {
            Some(path) => disk::list_names(&path),
            None => self.tree.list_names(folder),
        }
    }

    fn package_folder(&self, locked: &Locked) -> Option<String> {
        let is_taken = |text: &str| !self.tree.list_names(text).unwrap_or_default().is_empty();
        self.packages.add(locked, is_taken)
    }

    fn cargo_configs(&self) -> anyhow::Result<Vec<ConfigFile>> {
        Ok(configs_of(&self.dir)?.into_iter().map(|text| text.file).collect())
    }

    fn cargo_variables(&self) -> BTreeMap<String, String> {
        terminal::cargo_variables()
    }

    fn vendoring_fault(&self, locked: &Locked) -> Option<String> {
        self.packages.vendoring_fault(locked)
    }

    fn file_reader(&self, folder: &str) -> ReadFile {
        if let Some(reader) = self.packages.reader(folder) {
            return reader;
        }
        let folder = self.outside_path(folder).unwrap_or_else(|| self.dir.join(folder));
        Rc::new(move |path| disk::read_text_if_exists(&folder.join(path)).ok().flatten())
    }
}

/// Returns whether a file is unchanged support code: it declares no API types, and parsing it would take longer than
/// parsing all the rest. The project that it belongs to may be below the workspace's folder.
fn is_support_code(path: &ProjectPath, text: &str) -> bool {
    let vendored = ProjectPath::fixed("vendor");
    let path = path.as_str();
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    iter::once(path).chain(ends).filter_map(|path| path.parse().ok()).any(|own: ProjectPath| {
        own.is_in(&vendored) && plan::is_unchanged_output(&own, text, GENERATE_COMMAND)
    })
}

/// Returns the marker comments of a text, each on its line.
fn markers_of(text: &str) -> String {
    let marker = |text: &str| {
        if text.trim_start().starts_with("// +") { text.to_owned() } else { String::new() }
    };
    text.lines().map(|line| marker(line) + "\n").collect()
}

#[test]
fn support_code_is_recognized_wherever_its_project_is() {
    // `generate` writes this first line, with a hash of the other lines.
    let ours = "// @generated by operator-rs generate, 5405e83b985b44b5. Do not edit: change the code that uses \
                this crate, operator-rs-runtime, instead.\npub type Labels = ();\n";
    let check = |place: &str, text: &str, expected: bool| {
        assert_eq!(is_support_code(&ProjectPath::fixed(place), text), expected, "{place}");
    };
    check("vendor/operator-rs-runtime/src/labels.rs", ours, true);
    check("operators/cache/vendor/operator-rs-runtime/src/labels.rs", ours, true);
    check("vendor/operator-rs-runtime/src/other.rs", ours, false);
    check("src/labels.rs", ours, false);
    check(
        "vendor/operator-rs-runtime/src/labels.rs",
        &ours.replace("pub type Labels", "pub type Other"),
        false,
    );
    check("vendor/operator-rs-runtime/src/labels.rs", "pub struct Of;\n", false);
}
