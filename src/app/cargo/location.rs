//! Where cargo keeps the source of packages on this machine: unpacked from a registry, checked out of a repository, or
//! vendored. Cargo itself is not run to find out.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use super::{
    config, home,
    source_replacement::{Place, SourceReplacement},
};
use crate::project::below;
use crate::{disk, source::Locked};

/// Cargo's own folder, and the sources that replace others.
struct Locations {
    home: Option<PathBuf>,
    replacement: SourceReplacement,
}

/// Where a package is.
struct Location {
    /// The name of the folder for messages.
    name: String,
    folder: PathBuf,
    /// The path of the package in that folder; empty if it is the folder itself.
    below: String,
}

/// The folders of packages from elsewhere, as the reader of source names them: each has a name of its own, with which
/// the paths of its files begin.
pub struct PackageDirs {
    dir: PathBuf,
    locations: OnceCell<Locations>,
    folders: RefCell<BTreeMap<String, PathBuf>>,
}

impl PackageDirs {
    /// The locations for a project in this folder.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), locations: OnceCell::new(), folders: RefCell::default() }
    }

    /// Where a path is; none where it does not begin with the name of such a folder.
    pub fn find(&self, path: &str) -> Option<PathBuf> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        self.folders.borrow().get(first).map(|it| it.join(rest))
    }

    /// The folder of a package, by its new name; none where it is not on this machine. A folder of the project may have
    /// the same name.
    pub fn add(&self, locked: &Locked, is_taken: impl Fn(&str) -> bool) -> Option<String> {
        let found = self.locations.get_or_init(|| Locations::of(&self.dir)).find(locked)?;
        let mut name = found.name;
        while is_taken(&name) {
            name += "+";
        }
        let folder = below(&name, &found.below);
        self.folders.borrow_mut().insert(name, found.folder);
        Some(folder)
    }
}

impl Locations {
    /// The locations for a project in this folder.
    fn of(dir: &Path) -> Self {
        Self { home: home(), replacement: SourceReplacement::of(&config::files(dir)) }
    }

    fn find(&self, locked: &Locked) -> Option<Location> {
        let source = locked.source.as_deref()?;
        match self.replacement.place(source) {
            Place::Directory(folder) => vendored(&folder, locked),
            Place::Unpacked(hosts) => self.unpacked(&hosts, locked),
            Place::CheckedOut => self.checked_out(source.strip_prefix("git+")?, locked),
            Place::Files => None,
        }
    }

    fn unpacked(&self, hosts: &[String], locked: &Locked) -> Option<Location> {
        let name = format!("{}-{}", locked.name, locked.version);
        let top = self.home.as_ref()?.join("registry/src");
        // The folder of a registry has the name of its host, and a hash.
        let is_of_host = |registry: &String| {
            let host = registry.trim_end_matches('/').rsplit_once('-').map(|(host, _)| host);
            host.is_some_and(|host| hosts.iter().any(|it| it == host))
        };
        let registries = disk::names(&top).ok()?.into_iter().filter(is_of_host);
        let mut folders = registries.map(|registry| top.join(registry).join(&name));
        let folder = folders.find(|folder| folder.join("Cargo.toml").is_file())?;
        Some(Location { name, folder, below: String::new() })
    }

    fn checked_out(&self, url: &str, locked: &Locked) -> Option<Location> {
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
                    return Some(Location { name: format!("{repository}-{short}"), folder, below });
                }
            }
        }
        None
    }
}

/// A package in a folder that replaces a registry.
fn vendored(folder: &Path, locked: &Locked) -> Option<Location> {
    let names = [format!("{}-{}", locked.name, locked.version), locked.name.clone()];
    names.into_iter().find_map(|name| {
        let folder = folder.join(&name);
        let text = disk::text_if_any(&folder.join("Cargo.toml")).ok()??;
        let table: Table = text.parse().ok()?;
        let version = table.get("package")?.get("version")?.as_str()?;
        let found = Location {
            name: format!("{}-{}", locked.name, locked.version),
            folder,
            below: String::new(),
        };
        (version == locked.version.to_string()).then_some(found)
    })
}

/// The path of a package in a checkout.
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
