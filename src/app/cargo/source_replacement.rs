//! Source replacement: where cargo takes the packages of a source from. Pure: the configuration in, a place out.

use std::{collections::BTreeMap, path::PathBuf};

use toml::Value;

use super::config::Config;

/// The names of crates.io in Cargo.lock and in configurations.
const CRATES_IO: [&str; 2] =
    ["https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// The location of a source's packages on this machine.
#[derive(Clone, Debug, PartialEq)]
pub enum PackageSource {
    /// In a directory, with one folder for each package.
    Directory(PathBuf),
    /// Unpacked from a registry, below a directory that is named for one of these hosts.
    Unpacked(Vec<String>),
    /// Checked out of a git repository.
    CheckedOut,
    /// In a registry of files, which is not read.
    Files,
}

/// The sources that a configuration names, by their names.
#[derive(Default)]
pub struct SourceReplacement {
    sources: BTreeMap<String, Source>,
    /// The addresses of registries by their names.
    registries: BTreeMap<String, String>,
}

/// The keys of one source, each with the folder that its paths are relative to.
type Source = BTreeMap<String, (String, PathBuf)>;

impl SourceReplacement {
    /// Returns the sources of configuration files; of two values for a key the first one counts, as it is the nearest.
    pub fn of(configs: &[Config]) -> Self {
        let mut replacement = Self::default();
        for Config { base, table } in configs {
            for (name, keys) in source_tables(table.get("source")) {
                let source = replacement.sources.entry(name.clone()).or_default();
                for (key, value) in keys.as_table().into_iter().flatten() {
                    let text = value.as_str().unwrap_or_default().to_owned();
                    source.entry(key.clone()).or_insert_with(|| (text, base.clone()));
                }
            }
            for (name, keys) in source_tables(table.get("registries")) {
                let index = keys.get("index").and_then(Value::as_str).unwrap_or_default();
                replacement.registries.entry(name.clone()).or_insert_with(|| index.to_owned());
            }
        }
        replacement
    }

    /// Returns where the packages of a source are, as Cargo.lock names it.
    pub fn place(&self, locked: &str) -> PackageSource {
        let Some(mut name) = self.source_name(locked) else { return own_place(locked) };
        // Sources that replace each other in a circle are an error of cargo.
        for _ in 0..=self.sources.len() {
            let next = self.sources.get(name).and_then(|source| source.get("replace-with"));
            let Some((next, _)) = next else { break };
            name = next;
        }
        let source = self.sources.get(name);
        let value = |key: &str| source.and_then(|source| source.get(key));
        if let Some((directory, base)) = value("directory") {
            return PackageSource::Directory(base.join(directory));
        }
        if value("local-registry").is_some() {
            return PackageSource::Files;
        }
        let address = value("registry").map(|pair| &pair.0).or_else(|| self.registries.get(name));
        match address {
            Some(address) => own_place(&format!("registry+{address}")),
            None => own_place(locked),
        }
    }

    /// Returns the name of a source that Cargo.lock names by its address; none if the configuration does not name it.
    fn source_name(&self, locked: &str) -> Option<&str> {
        let address = locked.strip_prefix("registry+").unwrap_or(locked);
        if CRATES_IO.contains(&address) {
            return Some("crates-io");
        }
        let git = locked.strip_prefix("git+").and_then(|url| url.split(['?', '#']).next());
        let is = |source: &Source| {
            let is_address = |key: &str, address: &str| {
                let declared = source.get(key).map(|pair| pair.0.as_str());
                declared.is_some_and(|declared| {
                    normalize_address(declared) == normalize_address(address)
                })
            };
            match git {
                Some(url) => is_address("git", url),
                None => is_address("registry", address),
            }
        };
        self.sources.iter().find(|(_, source)| is(source)).map(|(name, _)| name.as_str())
    }
}

fn source_tables(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_table).into_iter().flatten()
}

/// Returns an address without what makes no difference.
fn normalize_address(address: &str) -> &str {
    address.trim_end_matches('/').trim_end_matches(".git")
}

/// Returns the location of the packages of a source that is not replaced.
fn own_place(locked: &str) -> PackageSource {
    if locked.starts_with("git+") {
        return PackageSource::CheckedOut;
    }
    let address = locked.strip_prefix("registry+").unwrap_or(locked);
    let host = |address: &str| {
        let authority = address.split_once("://").and_then(|(_, rest)| rest.split('/').next());
        let host = authority.and_then(|authority| authority.rsplit('@').next()?.split(':').next());
        host.unwrap_or_default().to_owned()
    };
    if CRATES_IO.contains(&address) {
        PackageSource::Unpacked(CRATES_IO.map(host).to_vec())
    } else {
        PackageSource::Unpacked(vec![host(address)])
    }
}

#[test]
fn only_a_source_that_replaces_the_own_one_counts() {
    const LOCKED: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let place = |text: &str, locked: &str| {
        let table = text.parse().expect("it is TOML");
        let configs = [Config { base: PathBuf::from("/a"), table }];
        SourceReplacement::of(&configs).place(locked)
    };
    let vendor = PackageSource::Directory(PathBuf::from("/a").join("vendor"));
    let host = |host: &str| PackageSource::Unpacked(vec![host.to_owned()]);
    let published =
        PackageSource::Unpacked(vec!["github.com".to_owned(), "index.crates.io".to_owned()]);
    let directory = "[source.vendored-sources]\ndirectory = \"vendor\"\n";
    assert_eq!(place("", LOCKED), published);
    assert_eq!(place(directory, LOCKED), published);
    let other = format!("{directory}[source.other]\nreplace-with = \"vendored-sources\"\n");
    assert_eq!(place(&other, LOCKED), published);
    let replaced = format!("{directory}[source.crates-io]\nreplace-with = \"vendored-sources\"\n");
    assert_eq!(place(&replaced, LOCKED), vendor);
    assert_eq!(place(&replaced, "sparse+https://index.crates.io/"), vendor);
    assert_eq!(place(&replaced, "registry+https://example.com/index"), host("example.com"));
    assert_eq!(place(&replaced, "git+https://example.com/a#1"), PackageSource::CheckedOut);
    let git =
        "[source.a]\ngit = \"https://example.com/a.git\"\nreplace-with = \"vendored-sources\"\n";
    let git = format!("{directory}{git}");
    assert_eq!(place(&git, "git+https://example.com/a?branch=b#1"), vendor);
    assert_eq!(place(&git, "git+https://example.com/b#1"), PackageSource::CheckedOut);
    let own = "[source.a]\nregistry = \"sparse+https://example.com/i/\"\nreplace-with = \"vendored-sources\"\n";
    assert_eq!(place(&format!("{directory}{own}"), "sparse+https://example.com/i/"), vendor);
    let mirror = "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nreplace-with = \"b\"\n[source.b]\nregistry = \"sparse+https://mirror.example/\"\n";
    assert_eq!(place(mirror, LOCKED), host("mirror.example"));
    let registry = "[source.crates-io]\nreplace-with = \"a\"\n[registries.a]\nindex = \"sparse+https://mirror.example/\"\n";
    assert_eq!(place(registry, LOCKED), host("mirror.example"));
    let files = "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nlocal-registry = \"r\"\n";
    assert_eq!(place(files, LOCKED), PackageSource::Files);
    let circle =
        "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nreplace-with = \"crates-io\"\n";
    assert_eq!(place(circle, LOCKED), published);
}
