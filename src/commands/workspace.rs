//! Where a cargo workspace is, and what the reader sees of it.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    iter,
    path::{Component, Path, PathBuf},
    rc::Rc,
};

use toml::{Table, Value};

use super::{cargo::Cargo, derive::SUPPORT};
use crate::{
    disk::{self, Root},
    hint::{Diagnostic, Hint as _},
    model::{ProjectPath, SourcePath},
    plan::{self, Tree},
    source::{Locked, ReadFile, Sources},
};

/// A workspace on disk, or a package that is in none.
pub struct Workspace {
    pub root: Root,
    /// The package whose Cargo.toml was named, where it is not the workspace's own.
    pub member: Option<String>,
}

impl Workspace {
    /// Finds it as cargo does: from the Cargo.toml that was named, or the next one upwards.
    pub fn find(dir: &Path, manifest: Option<&Path>) -> anyhow::Result<Self> {
        let manifest = match manifest {
            Some(path) if path.is_dir() => path.join("Cargo.toml"),
            Some(path) => path.to_owned(),
            None => next(dir)?,
        };
        if manifest.file_name().is_none_or(|it| it != "Cargo.toml") {
            return Err(anyhow::format_err!("`{}` is no Cargo.toml", manifest.display()))
                .hint("give `--manifest-path` the path of a Cargo.toml, or its folder's");
        }
        let Some(text) = disk::text_if_any(&manifest)? else {
            return Err(anyhow::format_err!("there is no `{}`", manifest.display()))
                .hint("give `--manifest-path` the path of a Cargo.toml, or its folder's");
        };
        let folder = disk::real(manifest.parent().unwrap_or(Path::new("")))?;
        let table = parse(&manifest, &text)?;
        let (root, member) = root_of(&folder, &table, &disk::text_if_any, &disk::real)?;
        Ok(Self { root: Root::new(&root)?, member })
    }
}

/// Reads a file by its path; nothing where there is none.
pub type Read<'a> = &'a dyn Fn(&Path) -> anyhow::Result<Option<String>>;

/// The root of the workspace that the package in a folder belongs to, and the package's name where it is not the
/// root's own.
pub fn root_of(
    folder: &Path,
    manifest: &Table,
    read: Read<'_>,
    real: &dyn Fn(&Path) -> anyhow::Result<PathBuf>,
) -> anyhow::Result<(PathBuf, Option<String>)> {
    let package = manifest.get("package");
    let own = package.and_then(|it| it.get("workspace")).and_then(Value::as_str);
    if own.is_none() && manifest.contains_key("workspace") {
        return Ok((folder.to_owned(), None));
    }
    let above = match own {
        Some(path) => Some(real(&folder.join(path))?),
        None => above(folder, read)?,
    };
    let member = package.and_then(|it| it.get("name")).and_then(Value::as_str);
    Ok(match above {
        Some(root) => (root, member.map(str::to_owned)),
        None => (folder.to_owned(), None),
    })
}

/// The next Cargo.toml from a folder upwards.
fn next(dir: &Path) -> anyhow::Result<PathBuf> {
    let dir = disk::real(dir)?;
    for folder in dir.ancestors() {
        let path = folder.join("Cargo.toml");
        if path.is_file() {
            return Ok(path);
        }
    }
    Err(anyhow::format_err!("there is no Cargo.toml in `{}`, nor above it", dir.display()))
        .hint("point `--manifest-path` at the Cargo.toml of a package or workspace")
}

/// The next folder above whose workspace does not exclude this one.
fn above(folder: &Path, read: Read<'_>) -> anyhow::Result<Option<PathBuf>> {
    for root in folder.ancestors().skip(1) {
        let path = root.join("Cargo.toml");
        let Some(text) = read(&path)? else { continue };
        let table = parse(&path, &text)?;
        let Some(workspace) = table.get("workspace") else { continue };
        let below = folder.strip_prefix(root).unwrap_or(folder);
        let list = |key: &str| {
            let list = workspace.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(Path::new).collect::<Vec<_>>()
        };
        let is_in = |it: &&Path| below.starts_with(plain(it));
        let excluded = list("exclude").iter().any(is_in) && !list("members").iter().any(is_in);
        return Ok((!excluded).then(|| root.to_owned()));
    }
    Ok(None)
}

/// A relative path without its `.`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|it| *it != Component::CurDir).collect()
}

/// A Cargo.toml as a table; an error names the place of what is malformed.
pub fn parse(path: &Path, text: &str) -> anyhow::Result<Table> {
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|it| text.get(..it.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
        // Not its text: a clone may have linked any file here.
        let message = format!("does not parse: {}", error.message().trim());
        Diagnostic::in_file(path.display().to_string(), message).at(line, column).into_error()
    })
}

/// A tree as the reader sees it, with what is beside it and the packages that cargo has brought.
pub struct TreeSources<'a, T> {
    tree: &'a T,
    dir: PathBuf,
    /// The folders of packages, by the first word of paths in them.
    shelves: RefCell<BTreeMap<String, PathBuf>>,
    cargo: OnceCell<Cargo>,
}

impl<'a, T: Tree> TreeSources<'a, T> {
    pub fn new(tree: &'a T) -> Self {
        let dir = tree.dir().unwrap_or(Path::new(".")).to_owned();
        Self { tree, dir, shelves: RefCell::default(), cargo: OnceCell::new() }
    }

    /// Where a path is that is not inside of the project.
    fn outside(&self, path: &str) -> Option<PathBuf> {
        if path == ".." || path.starts_with("../") {
            return Some(self.dir.join(path));
        }
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        self.shelves.borrow().get(first).map(|it| it.join(rest))
    }
}

/// The path in the project, where it is inside.
fn inside(path: &SourcePath) -> Option<ProjectPath> {
    path.as_str().parse().ok()
}

impl<T: Tree> Sources for TreeSources<'_, T> {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        if let Some(path) = self.outside(path.as_str()) {
            return Ok(disk::text_if_any(&path)?.map(Rc::from));
        }
        let Some(path) = inside(path) else { return Ok(None) };
        Ok(self.tree.read(&path)?.map(|text| {
            let text = if is_support_code(&path, &text) { markers_of(&text) } else { text };
            Rc::from(text)
        }))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        if let Some(path) = self.outside(path.as_str()) {
            return path.is_file();
        }
        let Some(path) = inside(path) else { return false };
        !matches!(self.tree.read(&path), Ok(None))
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        match self.outside(folder) {
            Some(path) => disk::names(&path),
            None => self.tree.names(folder),
        }
    }

    fn package_folder(&self, locked: &Locked) -> Option<String> {
        let found = self.cargo.get_or_init(|| Cargo::of(&self.dir)).find(locked)?;
        let mut name = found.name;
        // A folder of the project may have the same name.
        while !self.tree.names(&name).unwrap_or_default().is_empty() {
            name += "+";
        }
        let folder = match found.below.as_str() {
            "" => name.clone(),
            below => format!("{name}/{below}"),
        };
        self.shelves.borrow_mut().insert(name, found.folder);
        Some(folder)
    }

    fn file_reader(&self, folder: &str) -> ReadFile {
        let folder = self.outside(folder).unwrap_or_else(|| self.dir.join(folder));
        Rc::new(move |path| disk::text_if_any(&folder.join(path)).ok().flatten())
    }
}

/// Support code as we wrote it: it declares no types of an API, and reading its syntax would take
/// longer than reading all the rest. The project that it is part of may be below the workspace's folder.
fn is_support_code(path: &ProjectPath, text: &str) -> bool {
    let folders = ["runtime", "src/runtime"].map(ProjectPath::fixed);
    let path = path.as_str();
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    iter::once(path).chain(ends).filter_map(|it| it.parse().ok()).any(|own: ProjectPath| {
        folders.iter().any(|it| own.is_in(it)) && plan::is_ours(&own, text, SUPPORT)
    })
}

/// The marker comments of a text, each in its line.
fn markers_of(text: &str) -> String {
    let marker =
        |it: &str| if it.trim_start().starts_with("// +") { it.to_owned() } else { String::new() };
    text.lines().map(|it| marker(it) + "\n").collect()
}

#[test]
fn support_code_is_known_wherever_its_project_is() {
    let ours = include_str!("../../examples/memcached-operator/runtime/src/labels.rs");
    let check = |place: &str, text: &str, expected: bool| {
        assert_eq!(is_support_code(&ProjectPath::fixed(place), text), expected, "{place}");
    };
    check("runtime/src/labels.rs", ours, true);
    check("operators/cache/runtime/src/labels.rs", ours, true);
    check("runtime/src/other.rs", ours, false);
    check("src/labels.rs", ours, false);
    check("runtime/src/labels.rs", &ours.replace("pub type Labels", "pub type Other"), false);
    check("runtime/src/labels.rs", "pub struct Of;\n", false);
}
