//! Vendored packages: whether the files of one are those that its `.cargo-checksum.json` names, as cargo checks when
//! it compiles them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;
use toml::Table;

use crate::disk;
use crate::source::Locked;
use model::Digest;

const NAME: &str = ".cargo-checksum.json";

/// The folders of vendored packages, by the name and the version of each.
pub type VendoredPackages = BTreeMap<(String, String), Vec<PathBuf>>;

/// Returns every package in a directory. Cargo looks into each folder of it, whatever that is called.
pub fn packages(directory: &Path) -> VendoredPackages {
    let mut packages = VendoredPackages::new();
    let names = disk::list_names(directory).unwrap_or_default();
    for folder in names.iter().filter_map(|name| name.strip_suffix('/')) {
        let folder = directory.join(folder);
        let text = disk::read_text_if_exists(&folder.join("Cargo.toml")).ok().flatten();
        if let Some(package) = text.and_then(|text| package_of(&text)) {
            packages.entry(package).or_default().push(folder);
        }
    }
    packages
}

/// Returns the name and the version in a Cargo.toml. One that `cargo vendor` has written has them in lines of their
/// own, and need not be parsed.
fn package_of(text: &str) -> Option<(String, String)> {
    let body = text.split_once("[package]\n").map_or("", |(_, body)| body);
    let body = body.split("\n[").next().unwrap_or_default();
    let line = |key: &str| {
        let quoted =
            { body.lines() }.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        quoted.and_then(|quoted| quoted.strip_suffix('"')).map(str::to_owned)
    };
    if let (Some(name), Some(version)) = (line("name"), line("version")) {
        return Some((name, version));
    }
    let table: Table = text.parse().ok()?;
    let value = |key: &str| Some(table.get("package")?.get(key)?.as_str()?.to_owned());
    Some((value("name")?, value("version")?))
}

/// The checksums of a vendored package.
pub struct Checksums {
    folder: PathBuf,
    files: BTreeMap<String, String>,
}

impl Checksums {
    /// Reads them; fails with the reason why they say nothing about this package.
    pub fn read(folder: &Path, locked: &Locked) -> Result<Self, String> {
        let text = disk::read_text_if_exists(&folder.join(NAME)).ok().flatten();
        let value = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let Some(value) = value else { return Err(format!("it has no `{NAME}`")) };
        let package = value.get("package").and_then(Value::as_str);
        if package.is_none() || package != locked.checksum.as_deref() {
            return Err(format!("its `{NAME}` and Cargo.lock have different checksums"));
        }
        let files = value.get("files").and_then(Value::as_object).into_iter().flatten();
        let files = files.filter_map(|(path, sum)| Some((path.clone(), sum.as_str()?.to_owned())));
        let folder = folder.to_owned();
        Ok(Self { folder, files: files.collect() })
    }

    /// Returns the first file with code that is not as its checksum says; below none of these folders.
    pub fn first_changed(&self, passed: &[&str]) -> Option<String> {
        let mut open = vec![String::new()];
        while let Some(below) = open.pop() {
            let names = disk::list_names(&self.folder.join(&below)).unwrap_or_default();
            for name in names {
                let path = if below.is_empty() { name } else { format!("{below}/{name}") };
                match path.strip_suffix('/') {
                    Some(folder) if passed.iter().any(|prefix| folder.starts_with(prefix)) => {}
                    Some(folder) => open.push(folder.to_owned()),
                    None if is_code(&path) && self.text(&path).is_none() => return Some(path),
                    None => {}
                }
            }
        }
        None
    }

    /// Returns the digest of the code that the checksums are of, as the table of published packages has it.
    pub fn code_digest(&self) -> String {
        let files = self.files.iter().filter(|(path, _)| is_code(path));
        let lines: String = files.map(|(path, sum)| format!("{path} {sum}\n")).collect();
        Digest::from_content(lines.as_bytes()).hex().to_owned()
    }

    /// Returns the text of a file; none if it is not there, or not as its checksum says.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = disk::read_text_if_exists(&self.folder.join(path)).ok()??;
        let digest = Digest::from_content(text.as_bytes());
        self.files.get(path).is_some_and(|expected| expected == digest.hex()).then_some(text)
    }
}

/// Returns whether a package's library may be compiled from a file.
fn is_code(path: &str) -> bool {
    const NOT_OF_LIBRARY: [&str; 3] = ["tests/", "benches/", "examples/"];
    path == "Cargo.toml"
        || path.ends_with(".rs") && !NOT_OF_LIBRARY.iter().any(|folder| path.starts_with(folder))
}

#[test]
fn a_package_is_known_by_its_manifest_however_it_is_written() {
    let check = |text: &str, expected: Option<(&str, &str)>| {
        let found = package_of(text);
        let found = found.as_ref().map(|(name, version)| (name.as_str(), version.as_str()));
        assert_eq!(found, expected, "{text}");
    };
    let expected = Some(("a", "1.0.0"));
    check(
        "# generated\n[package]\nedition = \"2021\"\nname = \"a\"\nversion = \"1.0.0\"\n[lib]\nname = \"b\"\n",
        expected,
    );
    check("package = { name = 'a', version = '1.0.0' }\n", expected);
    check("[package]\nname='a'\nversion='1.0.0'\n", expected);
    check("[lib]\nname = \"b\"\n[package]\nname = \"a\"\nversion = \"1.0.0\"\n", expected);
    check("[package\n", None);
}

#[test]
fn the_digests_of_published_packages_are_those_of_the_packages_on_this_machine() {
    let registries = super::home().expect("cargo has a folder").join("registry/src");
    let folders = disk::list_names(&registries).unwrap_or_default().into_iter();
    let folders: Vec<PathBuf> = folders.map(|folder| registries.join(folder)).collect();
    let mut compared = 0;
    for (name, version, published) in crate::source::Published::all() {
        let unpacked = folders.iter().map(|folder| folder.join(format!("{name}-{version}")));
        for folder in unpacked.filter(|folder| folder.join("Cargo.toml").is_file()) {
            let mut checksums = Checksums { folder, files: BTreeMap::new() };
            let mut open = vec![String::new()];
            while let Some(below) = open.pop() {
                for entry in disk::list_names(&checksums.folder.join(&below)).unwrap_or_default() {
                    match (format!("{below}{entry}"), entry.ends_with('/')) {
                        (path, true) => open.push(path),
                        (path, false) if is_code(&path) => {
                            let text = disk::read_text_if_exists(&checksums.folder.join(&path));
                            let text = text.expect("it is text").expect("it is there");
                            let sum = Digest::from_content(text.as_bytes()).hex().to_owned();
                            checksums.files.insert(path, sum);
                        }
                        _ => {}
                    }
                }
            }
            assert_eq!(checksums.code_digest(), published.code, "{name} {version}");
            compared += 1;
        }
    }
    assert!(compared > 0, "no known package is unpacked in {registries:?}");
}
