//! Cargo's configuration files.

use std::{
    iter,
    path::{Path, PathBuf},
    rc::Rc,
};

use toml::Table;

use super::home;
use crate::project::SourcePath;
use crate::source::ConfigFile;
use crate::{disk, terminal};
use model::display_path;

/// The text of a configuration file.
pub struct ConfigText {
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    pub file: ConfigFile,
}

/// A configuration file as a table.
#[derive(Clone)]
pub struct Config {
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    pub table: Table,
}

/// The names of a configuration file; cargo takes the first one that is there.
pub const NAMES: [&str; 2] = ["config", "config.toml"];

/// Returns the files that cargo reads in a folder: those of the folder and the ones above it, then that of cargo's own
/// folder. Files that cannot be read or parsed are left out: the reader of source refuses them.
pub fn files(dir: &Path) -> Vec<Config> {
    let parse = |(folder, base): (PathBuf, PathBuf)| {
        let (_, text) = text_in(&folder).ok()??;
        Some(Config { base, table: text.parse().ok()? })
    };
    config_folders(dir).into_iter().filter_map(parse).collect()
}

/// Parses files. Those that do not parse are left out: the reader of source refuses them.
pub fn parse(texts: &[ConfigText]) -> Vec<Config> {
    let parse = |ConfigText { base, file }: &ConfigText| {
        Some(Config { base: base.clone(), table: file.text.parse().ok()? })
    };
    texts.iter().filter_map(parse).collect()
}

/// Returns the texts of the files for a workspace in this folder, from the folder on that is this far above it.
pub fn texts(dir: &Path, skipped: usize) -> anyhow::Result<Vec<ConfigText>> {
    let mut texts = Vec::new();
    for (depth, (folder, base)) in config_folders(dir).into_iter().enumerate().skip(skipped) {
        let Some((name, text)) = text_in(&folder)? else { continue };
        let path = if dir.starts_with(&base) && folder != base {
            iter::repeat_n("../", depth).collect::<String>() + ".cargo/" + name
        } else {
            format!("$CARGO_HOME/{name}")
        };
        texts.push(ConfigText { base, file: config_file(&path, text) });
    }
    Ok(texts)
}

/// Returns the texts of the files between the current directory and a workspace above it, which cargo reads there, too.
pub fn texts_below(dir: &Path) -> anyhow::Result<Vec<ConfigText>> {
    let mut texts = Vec::new();
    let current = terminal::current_folder().and_then(|folder| disk::resolve_folder(&folder).ok());
    for base in current.iter().flat_map(|current| current.ancestors()) {
        let below = match base.strip_prefix(dir) {
            Ok(below) if !below.as_os_str().is_empty() => display_path(&below),
            _ => break,
        };
        if let Some((name, text)) = text_in(&base.join(".cargo"))? {
            let file = config_file(&format!("{below}/.cargo/{name}"), text);
            texts.push(ConfigText { base: base.to_owned(), file });
        }
    }
    Ok(texts)
}

fn config_file(path: &str, text: String) -> ConfigFile {
    let path = path.parse().unwrap_or_else(|_| SourcePath::fixed(".cargo/config.toml"));
    ConfigFile { path, text: Rc::from(text) }
}

/// Returns the folders that may have a configuration file, each with the folder that its paths are relative to.
fn config_folders(dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut folders: Vec<_> =
        dir.ancestors().map(|base| (base.join(".cargo"), base.to_owned())).collect();
    if let Some(home) = home().filter(|home| folders.iter().all(|pair| pair.0 != *home)) {
        folders.push((home.clone(), home));
    }
    folders
}

/// Returns the configuration file of a folder, with its name. As for cargo, there is none where its path may not be
/// followed, e.g. in the home folder of another user.
fn text_in(folder: &Path) -> anyhow::Result<Option<(&'static str, String)>> {
    for name in NAMES {
        let path = folder.join(name);
        if disk::exists(&path)
            && let Some(text) = disk::read_text_if_exists(&path)?
        {
            return Ok(Some((name, text)));
        }
    }
    Ok(None)
}
