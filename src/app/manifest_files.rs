//! Reads manifests from files and directories that the user or PROJECT names.

use std::path::Path;

use crate::disk::{self, Bounds, Root};
use anyhow::Context as _;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};
use model::{Deadline, ProjectPath, Tree as _, display_path};

/// Where manifests are.
#[derive(Clone, Copy)]
pub enum Location<'a> {
    /// Named by the user: a directory, a file, a pipe, or `-` for stdin.
    Named(&'a Path, Option<Deadline>),
    /// Named by PROJECT: a directory or a regular file.
    Recorded(&'a Path),
}

impl<'a> Location<'a> {
    pub fn path(self) -> &'a Path {
        match self {
            Self::Named(path, _) | Self::Recorded(path) => path,
        }
    }

    pub fn is_stdin(self) -> bool {
        matches!(self, Self::Named(path, _) if path == Path::new("-"))
    }
}

/// The objects at a path that the user names.
pub fn objects(root: &Root, path: &Path) -> anyhow::Result<Vec<Value>> {
    let located = objects_with_files(root, Location::Named(path, None))?;
    Ok(located.into_iter().map(|(_, object)| object).collect())
}

/// The objects at a location, each with its file.
pub fn objects_with_files(
    root: &Root,
    location: Location<'_>,
) -> anyhow::Result<Vec<(String, Value)>> {
    let in_file = |name: &str, text: &str| {
        let objects = parsed(name, text)?.into_iter();
        anyhow::Ok(objects.map(|it| (name.to_owned(), it)).collect())
    };
    let path = location.path();
    if !location.is_stdin() {
        if path.is_dir() {
            return folder(root, path);
        }
        require_no_way_out(root, path)?;
    }
    match location {
        Location::Recorded(path) => in_file(&shown(root, path), &disk::text(path)?),
        Location::Named(path, deadline) => {
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
    let is_inside = disk::real(folder.unwrap_or(Path::new(".")))?.starts_with(root.real());
    let real = disk::real(path)?;
    if !is_inside || real.starts_with(root.real()) {
        return Ok(());
    }
    Err(anyhow::format_err!("`{}` leads out of the project", shown(root, path)))
        .hint(format!("name the file that it leads to: `{}`", display_path(&real)))
}

/// A path as messages name it: inside of the project, from its top.
pub fn shown(root: &Root, path: &Path) -> String {
    display_path(&path.strip_prefix(root.real()).unwrap_or(path))
}

fn folder(root: &Root, path: &Path) -> anyhow::Result<Vec<(String, Value)>> {
    let given = shown(root, path);
    let real = disk::real(path)?;
    // What a kustomization refers to is beside it, or anywhere in the project.
    let is_inside = real.starts_with(root.real());
    let (root, folder) = match real.strip_prefix(root.real()).ok().and_then(Path::to_str) {
        Some(below) if !below.is_empty() => {
            (&Root::new(root.real())?, ProjectPath::from_system(below)?)
        }
        _ => {
            let around = Root::around(root.real(), path)?;
            let (root, name) =
                around.with_context(|| format!("there is no `{}`", display_path(&path)))?;
            (&{ root }, name)
        }
    };
    let has = |name: &str| anyhow::Ok(root.names(folder.as_str())?.iter().any(|it| it == name));
    if has("kustomization.yaml")? || has("kustomization.yml")? || has("Kustomization")? {
        let rendered = kustomize::build_with_origins(root, &folder, &[])?;
        let file = |it: &ProjectPath| match is_inside {
            true => it.to_string(),
            false => display_path(&root.real().join(it.as_str())),
        };
        return Ok(rendered.into_iter().map(|it| (file(&it.origin), it.value)).collect());
    }
    let mut res = Vec::new();
    for name in root.names(folder.as_str())? {
        if [".yaml", ".yml", ".json"].iter().any(|it| name.ends_with(it)) {
            let file: ProjectPath = folder.join(&name)?;
            let text = root.read(&file)?.unwrap_or_default();
            let file = format!("{}/{name}", given.trim_end_matches('/'));
            let objects = parsed(&file, &text)?.into_iter();
            res.extend(objects.map(|it| (file.clone(), it)));
        }
    }
    Ok(res)
}

/// The objects in the text of a file.
pub fn parsed(name: &str, text: &str) -> anyhow::Result<Vec<Value>> {
    let nodes = yaml::nodes(text, yaml::Dialect::Kubernetes).map_err(yaml::locate(name, text))?;
    let mut res = Vec::new();
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
            res.push(it);
        }
    }
    Ok(res)
}
