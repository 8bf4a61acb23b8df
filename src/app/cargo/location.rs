//! Locates the source of packages on this machine, where cargo keeps it: unpacked from a registry, checked out of a
//! repository, or vendored. Cargo itself is not run to find out.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    path::{Path, PathBuf},
    rc::Rc,
};

use toml::{Table, Value};

use super::{
    config::Config,
    home,
    package::KUBERNETES,
    source_replacement::{PackageSource, SourceReplacement},
    vendored::{self, Checksums, VendoredPackages},
};
use crate::project::below;
use crate::{
    disk,
    source::{Locked, Published, ReadFile},
};

/// Cargo's own folder, and the sources that replace others.
struct CargoLocations {
    home: Option<PathBuf>,
    replacement: SourceReplacement,
    /// The packages of directories that replace a source, by those directories.
    vendored: RefCell<BTreeMap<PathBuf, Rc<VendoredPackages>>>,
}

/// The location of a package.
struct PackageLocation {
    /// The name of the folder for messages.
    name: String,
    folder: PathBuf,
    /// The path of the package in that folder; empty if it is the folder itself.
    below: String,
}

/// The folders of packages from elsewhere, as the reader of source names them: each has a unique name, with which the
/// paths of its files begin.
pub struct PackageDirs {
    configs: Box<dyn Fn() -> Vec<Config>>,
    locations: OnceCell<CargoLocations>,
    folders: RefCell<BTreeMap<String, PathBuf>>,
    /// The checksums of vendored packages, by the names of their folders.
    checksums: RefCell<BTreeMap<String, Rc<Checksums>>>,
}

impl PackageDirs {
    /// Returns the locations that these configuration files name. They are read once a package is looked for.
    pub fn new(configs: impl Fn() -> Vec<Config> + 'static) -> Self {
        let (folders, checksums) = (RefCell::default(), RefCell::default());
        Self { configs: Box::new(configs), locations: OnceCell::new(), folders, checksums }
    }

    /// Returns where a path is; none where it does not begin with the name of such a folder.
    pub fn find(&self, path: &str) -> Option<PathBuf> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        self.folders.borrow().get(first).map(|folder| folder.join(rest))
    }

    /// Returns the folder of a package, by its new name; none where it is not on this machine. A folder of the project
    /// may have the same name.
    pub fn add(&self, locked: &Locked, is_taken: impl Fn(&str) -> bool) -> Option<String> {
        let found = self.cargo_locations().find_package(locked)?;
        let mut name = found.name;
        while is_taken(&name) {
            name += "+";
        }
        let folder = below(&name, &found.below);
        if let Some(checksums) = self.vendored_checksums(locked).and_then(Result::ok) {
            self.checksums.borrow_mut().insert(name.clone(), Rc::new(checksums));
        }
        self.folders.borrow_mut().insert(name, found.folder);
        Some(folder)
    }

    fn cargo_locations(&self) -> &CargoLocations {
        self.locations.get_or_init(|| CargoLocations::from_configs(&(self.configs)()))
    }

    /// Returns the checksums of a package that is vendored; none if it is not.
    fn vendored_checksums(&self, locked: &Locked) -> Option<Result<Checksums, String>> {
        let locations = self.cargo_locations();
        let place = locations.replacement.place(locked.source.as_deref()?);
        let PackageSource::Directory(directory) = place else { return None };
        match &locations.vendored_folders(&directory, locked)[..] {
            [] => None,
            [folder] => Some(Checksums::read(folder, locked)),
            _ => Some(Err("two directories contain it".to_owned())),
        }
    }

    /// Returns why a vendored package may not be as it was published. Of k8s-openapi, which has thousands of files,
    /// those of the versions of Kubernetes are checked when they are read.
    pub fn vendoring_fault(&self, locked: &Locked) -> Option<String> {
        let passed: &[&str] = if locked.name == KUBERNETES { &["src/v1_"] } else { &[] };
        let checksums = match self.vendored_checksums(locked)? {
            Ok(checksums) => checksums,
            Err(fault) => return Some(fault),
        };
        if let Some(changed) = checksums.first_changed(passed) {
            return Some(format!("its `{changed}` is not as its `.cargo-checksum.json` says"));
        }
        let version = locked.version.to_string();
        match Published::find(&locked.name, &version) {
            None => Some(unknown_digest(&version)),
            Some(published) if checksums.code_digest() == published.code => None,
            Some(_) => Some(
                "its `.cargo-checksum.json` lists other files than the published ones".to_owned(),
            ),
        }
    }

    /// Reads the files of a package that is known by a table, as it was published; none if a path does not begin with
    /// the name of such a folder.
    pub fn reader(&self, folder: &str) -> Option<ReadFile> {
        let path = self.find(folder)?;
        let checksums = self.checksums.borrow().get(folder).cloned();
        Some(match checksums {
            Some(checksums) => Rc::new(move |below| checksums.text(below)),
            None => {
                Rc::new(move |below| disk::read_text_if_exists(&path.join(below)).ok().flatten())
            }
        })
    }
}

impl CargoLocations {
    /// Returns the locations that configuration files name.
    fn from_configs(configs: &[Config]) -> Self {
        let replacement = SourceReplacement::of(configs);
        Self { home: home(), replacement, vendored: RefCell::default() }
    }

    fn find_package(&self, locked: &Locked) -> Option<PackageLocation> {
        let source = locked.source.as_deref()?;
        match self.replacement.place(source) {
            PackageSource::Directory(folder) => self.find_vendored(&folder, locked),
            PackageSource::Unpacked(hosts) => self.find_unpacked(&hosts, locked),
            PackageSource::CheckedOut => self.checked_out(source.strip_prefix("git+")?, locked),
            PackageSource::Files => None,
        }
    }

    /// Returns a package in a directory that replaces a source, whatever its own folder is called; none if two have it.
    fn find_vendored(&self, directory: &Path, locked: &Locked) -> Option<PackageLocation> {
        let [folder] = &self.vendored_folders(directory, locked)[..] else { return None };
        let name = format!("{}-{}", locked.name, locked.version);
        Some(PackageLocation { name, folder: folder.clone(), below: String::new() })
    }

    fn vendored_folders(&self, directory: &Path, locked: &Locked) -> Vec<PathBuf> {
        let mut vendored = self.vendored.borrow_mut();
        let packages = vendored
            .entry(directory.to_owned())
            .or_insert_with(|| Rc::new(vendored::packages(directory)));
        let key = (locked.name.clone(), locked.version.to_string());
        packages.get(&key).cloned().unwrap_or_default()
    }

    fn find_unpacked(&self, hosts: &[String], locked: &Locked) -> Option<PackageLocation> {
        let name = format!("{}-{}", locked.name, locked.version);
        let top = self.home.as_ref()?.join("registry/src");
        // The folder of a registry has the name of its host, and a hash.
        let is_of_host = |registry: &String| {
            let host = registry.trim_end_matches('/').rsplit_once('-').map(|(host, _)| host);
            host.is_some_and(|host| hosts.iter().any(|other| other == host))
        };
        let registries = disk::list_names(&top).ok()?.into_iter().filter(is_of_host);
        let mut folders = registries.map(|registry| top.join(registry).join(&name));
        let folder = folders.find(|folder| folder.join("Cargo.toml").is_file())?;
        Some(PackageLocation { name, folder, below: String::new() })
    }

    fn checked_out(&self, url: &str, locked: &Locked) -> Option<PackageLocation> {
        let (url, revision) = url.split_once('#')?;
        let url = url.split('?').next()?.trim_end_matches('/');
        let repository = url.rsplit('/').next()?.trim_end_matches(".git");
        let top = self.home.as_ref()?.join("git/checkouts");
        for checkout in disk::list_names(&top).ok()? {
            let name = checkout.trim_end_matches('/').rsplit_once('-').map_or("", |(name, _)| name);
            if name != repository {
                continue;
            }
            for short in disk::list_names(&top.join(&checkout)).ok()? {
                let short = short.trim_end_matches('/');
                let folder = top.join(&checkout).join(short);
                if short.len() < 7 || !revision.starts_with(short) {
                    continue;
                }
                if let Some(below) = package_in(&folder, &locked.name) {
                    return Some(PackageLocation {
                        name: format!("{repository}-{short}"),
                        folder,
                        below,
                    });
                }
            }
        }
        None
    }
}

/// Returns the path of a package in a checkout.
fn package_in(checkout: &Path, name: &str) -> Option<String> {
    let mut open = vec![String::new()];
    let mut next = 0;
    while let Some(below) = open.get(next).cloned() {
        next += 1;
        let folder = checkout.join(&below);
        if let Ok(Some(text)) = disk::read_text_if_exists(&folder.join("Cargo.toml"))
            && let Ok(table) = text.parse::<Table>()
            && table.get("package").and_then(|value| value.get("name")).and_then(Value::as_str)
                == Some(name)
        {
            return Some(below);
        }
        if below.matches('/').count() < 6 {
            let inner = disk::list_names(&folder).unwrap_or_default();
            let inner = inner.iter().filter_map(|name| name.strip_suffix('/'));
            let inner = inner.filter(|inner| !inner.starts_with('.') && *inner != "target");
            open.extend(inner.map(|inner| match below.as_str() {
                "" => inner.to_owned(),
                below => format!("{below}/{inner}"),
            }));
        }
    }
    None
}

fn unknown_digest(version: &str) -> String {
    format!("the digest of version {version} is not known")
}

#[test]
fn a_vendored_version_without_a_digest_is_not_known() {
    assert_eq!(unknown_digest("1.0.1"), "the digest of version 1.0.1 is not known");
}
