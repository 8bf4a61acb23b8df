//! Cargo's configuration files.

use std::path::{Path, PathBuf};

use toml::Table;

use super::home;
use crate::disk;

/// A configuration file.
pub struct Config {
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    pub table: Table,
}

/// The files that cargo reads in a folder: those of the folder and the ones above it, then that of cargo's own folder.
/// Files that do not parse are left out: cargo itself reports them.
pub fn files(dir: &Path) -> Vec<Config> {
    let above = dir.ancestors().map(|it| (it.join(".cargo"), it.to_owned()));
    let all = above.chain(home().map(|it| (it.clone(), it)));
    all.filter_map(|(folder, base)| Some(Config { base, table: read(&folder)? })).collect()
}

fn read(folder: &Path) -> Option<Table> {
    let mut tables = ["config.toml", "config"]
        .into_iter()
        .filter_map(|name| disk::text_if_any(&folder.join(name)).ok()??.parse().ok());
    tables.next()
}
