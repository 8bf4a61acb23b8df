//! Reads manifests from files and directories that the user or PROJECT names.

use std::path::Path;

use crate::disk::{self, Bounds, Root};
use anyhow::Context as _;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};
use model::{Deadline, ProjectPath, Tree as _, display_path};

/// The location of manifests.
#[derive(Clone, Copy)]
pub enum ManifestLocation<'a> {
    /// Named by the user: a directory, a file, a pipe, or `-` for stdin.
    Named(&'a Path, Option<Deadline>),
    /// Named by PROJECT: a directory or a regular file.
    Recorded(&'a Path),
}

impl<'a> ManifestLocation<'a> {
    pub fn path(self) -> &'a Path {
        match self {
            Self::Named(path, _) | Self::Recorded(path) => path,
        }
    }

    pub fn is_stdin(self) -> bool {
        matches!(self, Self::Named(path, _) if path == Path::new("-"))
    }
}

/// Returns the objects at a path that the user names.
pub fn objects(root: &Root, path: &Path) -> anyhow::Result<Vec<Value>> {
    let located = objects_with_files(root, ManifestLocation::Named(path, None))?;
    Ok(located.into_iter().map(|(_, object)| object).collect())
}

/// Returns the objects at a location, each with its file.
pub fn objects_with_files(
    root: &Root,
    location: ManifestLocation<'_>,
) -> anyhow::Result<Vec<(String, Value)>> {
    let in_file = |name: &str, text: &str| {
        let objects = parsed(name, text)?.into_iter();
        anyhow::Ok(objects.map(|object| (name.to_owned(), object)).collect())
    };
    let path = location.path();
    if !location.is_stdin() {
        if path.is_dir() {
            return read_folder(root, path);
        }
        require_no_way_out(root, path)?;
    }
    match location {
        ManifestLocation::Recorded(path) => in_file(&shown(root, path), &disk::read_text(path)?),
        ManifestLocation::Named(path, deadline) => {
            let bounds = Bounds::of_manifests(deadline);
            let (name, text) = disk::read_input(Path::new(""), path, bounds)?;
            let name = if location.is_stdin() { name } else { shown(root, path) };
            in_file(&name, &text)
        }
    }
}

/// Refuses a path in the project that leads to a file outside of it, such as a symlink that a clone has brought.
fn require_no_way_out(root: &Root, path: &Path) -> anyhow::Result<()> {
    // Pipes such as `/dev/stdin` and that of `<(…)` have no path of their own.
    if !path.is_file() {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let is_inside =
        disk::resolve_folder(folder.unwrap_or(Path::new(".")))?.starts_with(root.resolved_path());
    let real = disk::resolve_folder(path)?;
    if !is_inside || real.starts_with(root.resolved_path()) {
        return Ok(());
    }
    Err(anyhow::format_err!("`{}` leads out of the project", shown(root, path)))
        .hint(format!("name the file that it leads to: `{}`", display_path(&real)))
}

/// Returns a path as messages name it: inside of the project, from its top.
pub fn shown(root: &Root, path: &Path) -> String {
    display_path(&path.strip_prefix(root.resolved_path()).unwrap_or(path))
}

fn read_folder(root: &Root, path: &Path) -> anyhow::Result<Vec<(String, Value)>> {
    let given = shown(root, path);
    let real = disk::resolve_folder(path)?;
    // A kustomization refers to files in its folder, or anywhere in the project.
    let is_inside = real.starts_with(root.resolved_path());
    let (root, folder) = match real.strip_prefix(root.resolved_path()).ok().and_then(Path::to_str) {
        Some(below) if !below.is_empty() => {
            (&Root::new(root.resolved_path())?, ProjectPath::from_system(below)?)
        }
        _ => {
            let around = Root::open_around(root.resolved_path(), path)?;
            let (root, name) =
                around.with_context(|| format!("there is no `{}`", display_path(&path)))?;
            (&{ root }, name)
        }
    };
    let has = |name: &str| {
        anyhow::Ok(root.list_names(folder.as_str())?.iter().any(|other| other == name))
    };
    if has("kustomization.yaml")? || has("kustomization.yml")? || has("Kustomization")? {
        let rendered = kustomize::build_with_origins(root, &folder, &[])?;
        let file = |path: &ProjectPath| {
            if is_inside {
                path.to_string()
            } else {
                display_path(&root.resolved_path().join(path.as_str()))
            }
        };
        return Ok(rendered
            .into_iter()
            .map(|object| (file(&object.origin), object.value))
            .collect());
    }
    let mut pairs = Vec::new();
    for name in root.list_names(folder.as_str())? {
        if [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending)) {
            let file: ProjectPath = folder.join(&name)?;
            let text = root.read_text(&file)?.unwrap_or_default();
            let file = format!("{}/{name}", given.trim_end_matches('/'));
            let objects = parsed(&file, &text)?.into_iter();
            pairs.extend(objects.map(|object| (file.clone(), object)));
        }
    }
    Ok(pairs)
}

/// Returns the objects in the text of a file.
pub fn parsed(name: &str, text: &str) -> anyhow::Result<Vec<Value>> {
    let nodes = yaml::parse_nodes(text, yaml::Dialect::Kubernetes)
        .map_err(yaml::locate_error(name, text))?;
    let mut objects = Vec::new();
    for node in nodes {
        let mark = node.mark;
        let value = node.into_value();
        if value.is_null() {
            continue;
        }
        let items = value["items"].as_array().filter(|_| value["kind"] == "List").cloned();
        for it in items.unwrap_or_else(|| vec![value]) {
            if !it["kind"].is_string() || !it["apiVersion"].is_string() {
                return Err(anyhow::format_err!(
                    "{name}:{}:{}: not a manifest: `kind` or `apiVersion` is missing",
                    mark.line,
                    mark.column
                ));
            }
            objects.push(it);
        }
    }
    Ok(objects)
}
