//! Manifests that a command is given, in place of those in config/.

use std::path::{Path, PathBuf};

use crate::{
    disk::{self, Root},
    terminal,
};
use anyhow::Context as _;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree as _};

/// Location of the operator's manifests
#[derive(Clone, Debug, clap::Args)]
pub struct Given {
    /// Manifests of the operator: a kustomization, a directory of YAML files, a file, or `-` for stdin [default: config/]
    #[arg(long, value_name = "DIR|FILE", allow_hyphen_values = true)]
    pub manifests: Option<PathBuf>,
}

/// Manifests, and how a message names them.
pub struct Manifests {
    pub name: String,
    pub objects: Vec<Value>,
}

impl Given {
    /// The objects, with those in lists; none if the flag was not given. A kustomization is rendered.
    pub fn read(&self, root: &Root) -> anyhow::Result<Option<Manifests>> {
        let Some(path) = &self.manifests else { return Ok(None) };
        let name = match path == Path::new("-") {
            true => "stdin".to_owned(),
            false => path.display().to_string(),
        };
        let objects = objects(root, path)?;
        if objects.is_empty() {
            return Err(anyhow::format_err!("`{name}` has no manifests")).hint(
                "name a kustomization or YAML files; a chart is rendered first: `helm template … | operator-rs … --manifests -`",
            );
        }
        Ok(Some(Manifests { name, objects }))
    }
}

/// The objects at a path. `-` is stdin.
pub fn objects(root: &Root, path: &Path) -> anyhow::Result<Vec<Value>> {
    match path.is_dir() {
        _ if path == Path::new("-") => parsed("stdin", &terminal::listen()?),
        true => folder(root, path),
        false => parsed(&path.display().to_string(), &disk::piped(path)?),
    }
}

fn folder(root: &Root, path: &Path) -> anyhow::Result<Vec<Value>> {
    let real = disk::real(path)?;
    // What a kustomization refers to is beside it, or anywhere in the project.
    let (root, folder) = match real.strip_prefix(root.real()).ok().and_then(Path::to_str) {
        Some(below) if !below.is_empty() => (&Root::new(root.real())?, below.parse()?),
        _ => {
            let around = Root::around(root.real(), path)?;
            let (root, name) =
                around.with_context(|| format!("there is no `{}`", path.display()))?;
            (&{ root }, name)
        }
    };
    let has = |name: &str| anyhow::Ok(root.names(folder.as_str())?.iter().any(|it| it == name));
    if has("kustomization.yaml")? || has("kustomization.yml")? || has("Kustomization")? {
        return kustomize::build(root, &folder, &[]);
    }
    let mut res = Vec::new();
    for name in root.names(folder.as_str())? {
        if [".yaml", ".yml", ".json"].iter().any(|it| name.ends_with(it)) {
            let file: ProjectPath = folder.join(&name)?;
            let text = root.read(&file)?.unwrap_or_default();
            res.extend(parsed(&path.join(&name).display().to_string(), &text)?);
        }
    }
    Ok(res)
}

fn parsed(name: &str, text: &str) -> anyhow::Result<Vec<Value>> {
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
