//! A workspace at a revision as the reader sees it: the project's own files from git, other packages from where cargo
//! keeps them on this machine.

use std::{collections::BTreeMap, path::Path, rc::Rc};

use anyhow::bail;

use crate::app::output::repository::RevisionTree;
use crate::project::{SourcePath, below};
use crate::{
    app::cargo::{
        PackageDirs,
        config::{self, ConfigText},
    },
    disk,
    source::{ConfigFile, Locked, ReadFile, Sources},
    terminal,
};

pub struct RevisionSources {
    tree: Rc<RevisionTree>,
    /// The workspace's folder in the repository; empty at the top.
    root: String,
    /// Cargo's configuration: at the revision in the repository, and on this machine above it.
    configs: Vec<ConfigText>,
    packages: PackageDirs,
}

impl RevisionSources {
    /// `prefix` is the path of `folder` in the repository. That folder is the working tree's own, where cargo's
    /// configuration is looked for.
    pub fn new(
        tree: Rc<RevisionTree>,
        root: &str,
        prefix: &str,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let configs = read_configs(&tree, root, prefix, folder)?;
        let parsed = config::parse(&configs);
        let packages = PackageDirs::new(move || parsed.clone());
        Ok(Self { tree, root: root.to_owned(), configs, packages })
    }

    /// Returns a path in the repository.
    fn repository_path(&self, path: &str) -> anyhow::Result<String> {
        let output = below(&self.root, path);
        if output == ".." || output.starts_with("../") {
            bail!(
                "the path is outside the repository, so its content at {} is unknown",
                self.tree.name
            );
        }
        Ok(output)
    }
}

impl Sources for RevisionSources {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        let text = match self.packages.find(path.as_str()) {
            Some(path) => disk::read_text_if_exists(&path)?,
            None => self.tree.text(&self.repository_path(path.as_str())?)?,
        };
        Ok(text.map(Rc::from))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        match self.packages.find(path.as_str()) {
            Some(path) => path.is_file(),
            // Paths outside of the repository are reported by the reader.
            None => self
                .repository_path(path.as_str())
                .map_or(true, |inside| self.tree.is_file(&inside)),
        }
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        match self.packages.find(folder) {
            Some(path) => disk::list_names(&path),
            None => self.tree.names(&self.repository_path(folder)?),
        }
    }

    fn package_folder(&self, locked: &Locked) -> Option<String> {
        let is_taken = |text: &str| {
            let is_package = self.packages.find(text).is_some();
            !is_package && !self.names(text).unwrap_or_default().is_empty()
        };
        self.packages.add(locked, is_taken)
    }

    fn cargo_configs(&self) -> anyhow::Result<Vec<ConfigFile>> {
        Ok(self.configs.iter().map(|text| text.file.clone()).collect())
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
        let (tree, folder) = (Rc::clone(&self.tree), self.repository_path(folder).ok());
        Rc::new(move |path| tree.text(&below(folder.as_ref()?, path)).ok().flatten())
    }
}

/// Returns the configuration files that cargo would read at a revision, the nearest first. Their paths are relative to
/// the folders of the working tree.
fn read_configs(
    tree: &RevisionTree,
    root: &str,
    prefix: &str,
    folder: &Path,
) -> anyhow::Result<Vec<ConfigText>> {
    let depth = |path: &str| path.split('/').filter(|part| !part.is_empty()).count();
    let mut configs = Vec::new();
    for (above, base) in folder.ancestors().take(depth(prefix) + 1).enumerate() {
        for name in config::NAMES {
            let path = format!("{}.cargo/{name}", "../".repeat(above));
            let path = below(prefix, &path);
            let Some(text) = tree.text(&path)? else { continue };
            // Messages name paths as they are seen from the workspace.
            let inside = path.strip_prefix(root).map(|path| path.trim_start_matches('/'));
            let above_root = depth(root).saturating_sub(depth(&path).saturating_sub(2));
            let outside = || format!("{}.cargo/{name}", "../".repeat(above_root));
            let shown = inside.map_or_else(outside, str::to_owned);
            let file = ConfigFile { path: shown.parse()?, text: Rc::from(text) };
            configs.push(ConfigText { base: base.to_owned(), file });
            break;
        }
    }
    configs.extend(config::texts(folder, depth(prefix) + 1)?);
    Ok(configs)
}
