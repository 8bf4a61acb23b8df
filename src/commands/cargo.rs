//! Where cargo keeps the source of packages on this machine: unpacked from a registry, checked out of a
//! repository, or vendored. Cargo itself is not asked.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::{disk, source::Locked, terminal};

/// Cargo's own folder, and what stands in the place of registries.
pub struct Cargo {
    home: Option<PathBuf>,
    vendored: Vec<PathBuf>,
}

/// Where a package is.
pub struct Found {
    /// What people call the folder.
    pub name: String,
    pub folder: PathBuf,
    /// The package's own folder in there; empty where it is the same.
    pub below: String,
}

impl Cargo {
    /// As a project in this folder sees it.
    pub fn of(dir: &Path) -> Self {
        let variable = |name: &str| terminal::variable(name).ok().flatten().map(PathBuf::from);
        let home = variable("CARGO_HOME").or_else(|| Some(variable("HOME")?.join(".cargo")));
        let mut vendored = Vec::new();
        let above = dir.ancestors().map(|it| (it.join(".cargo"), it.to_owned()));
        for (folder, base) in above.chain(home.clone().map(|it| (it.clone(), it))) {
            for name in ["config.toml", "config"] {
                let Ok(Some(text)) = disk::text_if_any(&folder.join(name)) else { continue };
                let Ok(table) = text.parse::<Table>() else { continue };
                let sources = table.get("source").and_then(Value::as_table).into_iter().flatten();
                let folders = sources.filter_map(|(_, it)| it.get("directory")?.as_str());
                vendored.extend(folders.map(|it| base.join(it)));
                break;
            }
        }
        Self { home, vendored }
    }

    pub fn find(&self, locked: &Locked) -> Option<Found> {
        let source = locked.source.as_deref()?;
        if let Some(found) = self.vendored.iter().find_map(|it| vendored(it, locked)) {
            return Some(found);
        }
        match source.strip_prefix("git+") {
            Some(url) => self.checked_out(url, locked),
            None => self.unpacked(source, locked),
        }
    }

    fn unpacked(&self, source: &str, locked: &Locked) -> Option<Found> {
        let name = format!("{}-{}", locked.name, locked.version);
        let top = self.home.as_ref()?.join("registry/src");
        let mut all: Vec<(bool, PathBuf)> = Vec::new();
        for registry in disk::names(&top).ok()? {
            let folder = top.join(&registry).join(&name);
            if folder.join("Cargo.toml").is_file() {
                // Each registry's folder is named for its host, then a number.
                let host = registry.rsplit_once('-').map_or("", |(host, _)| host);
                all.push((!host.is_empty() && source.contains(host), folder));
            }
        }
        all.sort_by_key(|it| !it.0);
        let folder = all.into_iter().next()?.1;
        Some(Found { name, folder, below: String::new() })
    }

    fn checked_out(&self, url: &str, locked: &Locked) -> Option<Found> {
        let (url, revision) = url.split_once('#')?;
        let url = url.split('?').next()?.trim_end_matches('/');
        let repository = url.rsplit('/').next()?.trim_end_matches(".git");
        let top = self.home.as_ref()?.join("git/checkouts");
        for checkout in disk::names(&top).ok()? {
            let name = checkout.trim_end_matches('/').rsplit_once('-').map_or("", |(name, _)| name);
            if name != repository {
                continue;
            }
            for short in disk::names(&top.join(&checkout)).ok()? {
                let short = short.trim_end_matches('/');
                let folder = top.join(&checkout).join(short);
                if short.len() < 7 || !revision.starts_with(short) {
                    continue;
                }
                if let Some(below) = package_in(&folder, &locked.name) {
                    return Some(Found { name: format!("{repository}-{short}"), folder, below });
                }
            }
        }
        None
    }
}

/// A package in a folder that stands in the place of a registry.
fn vendored(folder: &Path, locked: &Locked) -> Option<Found> {
    let names = [format!("{}-{}", locked.name, locked.version), locked.name.clone()];
    names.into_iter().find_map(|name| {
        let folder = folder.join(&name);
        let text = disk::text_if_any(&folder.join("Cargo.toml")).ok()??;
        let table: Table = text.parse().ok()?;
        let version = table.get("package")?.get("version")?.as_str()?;
        let found = Found {
            name: format!("{}-{}", locked.name, locked.version),
            folder,
            below: String::new(),
        };
        (version == locked.version.to_string()).then_some(found)
    })
}

/// Where in a checkout a package is, as a path from there.
fn package_in(checkout: &Path, name: &str) -> Option<String> {
    let mut open = vec![String::new()];
    let mut next = 0;
    while let Some(below) = open.get(next).cloned() {
        next += 1;
        let folder = checkout.join(&below);
        if let Ok(Some(text)) = disk::text_if_any(&folder.join("Cargo.toml"))
            && let Ok(table) = text.parse::<Table>()
            && table.get("package").and_then(|it| it.get("name")).and_then(Value::as_str)
                == Some(name)
        {
            return Some(below);
        }
        if below.matches('/').count() < 6 {
            let inner = disk::names(&folder).unwrap_or_default();
            let inner = inner.iter().filter_map(|it| it.strip_suffix('/'));
            let inner = inner.filter(|it| !it.starts_with('.') && *it != "target");
            open.extend(inner.map(|it| match below.as_str() {
                "" => it.to_owned(),
                below => format!("{below}/{it}"),
            }));
        }
    }
    None
}
