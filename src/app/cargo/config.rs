//! Cargo's configuration files.

use std::{
    iter,
    path::{Path, PathBuf},
    rc::Rc,
};

use toml::Table;

use super::home;
use crate::disk;
use crate::project::SourcePath;
use crate::source::ConfigFile;

/// A configuration file.
pub struct Config {
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    pub table: Table,
}

/// The names of a configuration file; cargo takes the first one that is there.
pub const NAMES: [&str; 2] = ["config", "config.toml"];

/// The files that cargo reads in a folder: those of the folder and the ones above it, then that of cargo's own folder.
/// Files that do not parse are left out: the reader of source refuses them.
pub fn files(dir: &Path) -> Vec<Config> {
    let parse = |(folder, base): (PathBuf, PathBuf)| {
        let (_, text) = text_in(&folder).ok()??;
        Some(Config { base, table: text.parse().ok()? })
    };
    folders(dir).into_iter().filter_map(parse).collect()
}

/// The texts of the same files, for a workspace in this folder, from the folder on that is this far above it.
pub fn texts(dir: &Path, skipped: usize) -> anyhow::Result<Vec<ConfigFile>> {
    let mut files = Vec::new();
    for (depth, (folder, base)) in folders(dir).into_iter().enumerate().skip(skipped) {
        let Some((name, text)) = text_in(&folder)? else { continue };
        let path = match dir.starts_with(&base) && folder != base {
            true => iter::repeat_n("../", depth).collect::<String>() + ".cargo/" + name,
            false => format!("$CARGO_HOME/{name}"),
        };
        let path = path.parse().unwrap_or_else(|_| SourcePath::fixed(".cargo/config.toml"));
        files.push(ConfigFile { path, text: Rc::from(text) });
    }
    Ok(files)
}

/// The folders that may have a configuration file, each with the folder that its paths are relative to.
fn folders(dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut folders: Vec<_> =
        dir.ancestors().map(|base| (base.join(".cargo"), base.to_owned())).collect();
    if let Some(home) = home().filter(|home| folders.iter().all(|it| it.0 != *home)) {
        folders.push((home.clone(), home));
    }
    folders
}

/// The configuration file of a folder, with its name. As for cargo, there is none where its path may not be followed,
/// e.g. in the home folder of another user.
fn text_in(folder: &Path) -> anyhow::Result<Option<(&'static str, String)>> {
    for name in NAMES {
        let path = folder.join(name);
        if disk::exists(&path)
            && let Some(text) = disk::text_if_any(&path)?
        {
            return Ok(Some((name, text)));
        }
    }
    Ok(None)
}
