//! Cargo's configuration: each key is known to change nothing that a CRD depends on, is understood, or is refused. It is
//! in files and in variables of the environment, which have the names of keys: `CARGO_BUILD_RUSTFLAGS`.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::possible_cfgs::PossibleCfgs;
use super::rustflags;
use super::workspace::{Manifest, place_at};
use crate::text::sources::{ConfigFile, Texts};
use crate::text::{Place, Problem, SourcePath};

/// The configuration of a workspace.
#[derive(Default)]
pub struct Config {
    /// Keys that are not known to be harmless.
    pub problems: Vec<Problem>,
    /// The conditions that its compiler flags set.
    pub cfgs: PossibleCfgs,
    /// The addresses of registries, by their names as variables have them.
    registries: BTreeMap<String, String>,
}

/// A value of the configuration.
struct Setting<'a> {
    /// The key or the variable, for messages.
    name: String,
    place: Place,
    words: Vec<&'a str>,
}

#[derive(Clone, Copy)]
enum KeyEffect {
    /// It changes no type and no version of a package.
    Harmless,
    /// Flags of the compiler.
    Flags,
    /// Conditions that replace those of a build script.
    Conditions,
    /// Environment variables that replace those of a build script.
    Variables,
    /// A program that is run in place of the compiler, or around it.
    Compiler,
    /// The address of a registry, which dependencies name.
    Registry,
    /// It is followed where packages are looked for, but not as a variable.
    Source,
    /// It changes what is built; with what to do in its place.
    Refused(&'static str),
    /// The same, but cargo takes it from files only.
    RefusedInFiles(&'static str),
}

use KeyEffect::{
    Compiler, Conditions, Flags, Harmless, Refused, RefusedInFiles, Registry, Source, Variables,
};

const UNKNOWN: &str = "remove the key if nothing needs it";
const LOCKFILE: &str = "remove the key: Cargo.lock of the workspace is read";
const PATCH: &str = "remove the key, or replace the package by `[patch]` in Cargo.toml";

/// Each key that is known; the first row that fits counts. `*` is any name or end of one, `**` is anything below.
///
/// The reader evaluates a few of the variables in `env` itself; these are the ones listed here. It runs no build script,
/// and refuses code that reads another variable.
const KEYS: &[(&str, KeyEffect)] = &[
    ("alias/**", Harmless),
    ("build/rustflags", Flags),
    ("build/rustc", Compiler),
    ("build/rustc-wrapper", Compiler),
    ("build/rustc-workspace-wrapper", Compiler),
    ("build/artifact-dir", Harmless),
    ("build/build-dir", Harmless),
    ("build/dep-info-basedir", Harmless),
    ("build/incremental", Harmless),
    ("build/jobs", Harmless),
    ("build/out-dir", Harmless),
    ("build/pipelining", Harmless),
    ("build/rustdoc", Harmless),
    ("build/rustdocflags", Harmless),
    ("build/sbom", Harmless),
    ("build/target", Harmless),
    ("build/target-dir", Harmless),
    ("build/warnings", Harmless),
    ("cache/**", Harmless),
    ("cargo-new/**", Harmless),
    ("credential-alias/**", Harmless),
    ("doc/**", Harmless),
    ("env/CARGO_CRATE_NAME/**", Refused(UNKNOWN)),
    ("env/CARGO_MANIFEST_DIR/**", Refused(UNKNOWN)),
    ("env/CARGO_PKG_*/**", Refused(UNKNOWN)),
    ("env/**", Harmless),
    ("future-incompat-report/**", Harmless),
    ("host/**", Harmless),
    ("http/**", Harmless),
    ("include/**", RefusedInFiles("move the keys of the included files into this file")),
    ("install/**", Harmless),
    ("net/**", Harmless),
    ("patch/**", RefusedInFiles(PATCH)),
    ("paths/**", RefusedInFiles(PATCH)),
    ("profile/*/build-override/rustflags", Harmless),
    ("profile/*/rustflags", Flags),
    ("profile/*/package/*/rustflags", Flags),
    ("profile/**", Harmless),
    ("registries/*/index", Registry),
    ("registries/**", Harmless),
    ("registry/**", Harmless),
    ("resolver/lockfile-path", Refused(LOCKFILE)),
    ("resolver/**", Harmless),
    ("source/**", Source),
    ("target/*/rustflags", Flags),
    ("target/*/ar", Harmless),
    ("target/*/linker", Harmless),
    ("target/*/runner", Harmless),
    ("target/*/rustdocflags", Harmless),
    ("target/*/*/rustc-cfg", Conditions),
    ("target/*/*/rustc-env/**", Variables),
    ("target/*/*/*", Harmless),
    ("term/**", Harmless),
    ("unstable/avoid-dev-deps", Harmless),
    ("unstable/bindeps", Harmless),
    ("unstable/build-dir", Harmless),
    ("unstable/build-dir-new-layout", Harmless),
    ("unstable/build-std", Harmless),
    ("unstable/build-std-features", Harmless),
    ("unstable/cargo-lints", Harmless),
    ("unstable/check-cfg", Harmless),
    ("unstable/checksum-freshness", Harmless),
    ("unstable/codegen-backend", Harmless),
    ("unstable/direct-minimal-versions", Harmless),
    ("unstable/doctest-xcompile", Harmless),
    ("unstable/fine-grain-locking", Harmless),
    ("unstable/gc", Harmless),
    ("unstable/git/**", Harmless),
    ("unstable/gitoxide/**", Harmless),
    ("unstable/host-config", Harmless),
    ("unstable/minimal-versions", Harmless),
    ("unstable/mtime-on-use", Harmless),
    ("unstable/multitarget", Harmless),
    ("unstable/no-index-update", Harmless),
    ("unstable/panic-abort-tests", Harmless),
    ("unstable/per-package-target", Harmless),
    ("unstable/profile-hint-mostly-unused", Harmless),
    ("unstable/profile-rustflags", Harmless),
    ("unstable/public-dependency", Harmless),
    ("unstable/registry-auth", Harmless),
    ("unstable/rustdoc-map", Harmless),
    ("unstable/rustdoc-scrape-examples", Harmless),
    ("unstable/sparse-registry", Harmless),
    ("unstable/target-applies-to-host", Harmless),
    ("unstable/trim-paths", Harmless),
    ("unstable/unstable-options", Harmless),
    ("unstable/warnings", Harmless),
    ("unstable/**", Refused(UNKNOWN)),
];

/// Variables with names of their own, each with the key that it replaces.
const OTHER_VARIABLES: &[(&str, &str)] = &[
    ("CARGO_ENCODED_RUSTFLAGS", "BUILD_RUSTFLAGS"),
    ("RUSTC", "BUILD_RUSTC"),
    ("RUSTC_WORKSPACE_WRAPPER", "BUILD_RUSTC_WORKSPACE_WRAPPER"),
    ("RUSTC_WRAPPER", "BUILD_RUSTC_WRAPPER"),
    ("RUSTFLAGS", "BUILD_RUSTFLAGS"),
];

/// Programs around the compiler that only keep what it has compiled.
const CACHES: &[&str] = &["", "cachepot", "ccache", "rustc", "sccache"];

impl Config {
    /// Reads all that cargo reads for the workspace with this Cargo.toml, whose profiles may have flags, too.
    pub fn read(texts: &Texts<'_>, root: Option<&Manifest>) -> Self {
        let mut config = Self::default();
        config.cfgs.any = root.is_some_and(|root| root.text.contains("rustflags"));
        // A variable takes precedence over the files, and a nearer file over one that is further up.
        for (name, value) in texts.sources.cargo_variables() {
            config.take_variable(&name, &value);
        }
        for file in texts.cargo_configs() {
            match DeTable::parse(&file.text) {
                Ok(table) => config.take_table(&file, table.get_ref(), &mut Vec::new()),
                Err(error) => {
                    let place = place_at(
                        &file.path,
                        &file.text,
                        error.span().map_or(0, |range| range.start),
                    );
                    let message = format!("cannot be parsed: {}", error.message().trim());
                    config.problems.push(Problem::new(place, message));
                }
            }
        }
        config
    }

    /// The address of the registry that dependencies call so; none if the configuration does not have it.
    pub fn registry_address(&self, name: &str) -> Option<&str> {
        self.registries.get(&as_in_variables(name)).map(String::as_str)
    }

    /// Takes a variable. Cargo looks at those of the keys that it knows, so that others set nothing.
    fn take_variable(&mut self, name: &str, value: &str) {
        let other = OTHER_VARIABLES.iter().find(|row| row.0 == name).map(|row| row.1);
        let Some(key) = other.or_else(|| name.strip_prefix("CARGO_")) else { return };
        let row = KEYS.iter().find(|(pattern, _)| fits_variable(pattern, key));
        let is_separator = |letter: char| match name {
            "CARGO_ENCODED_RUSTFLAGS" => letter == '\x1f',
            _ => letter.is_whitespace(),
        };
        let words = value.split(is_separator).filter(|word| !word.is_empty()).collect();
        let path = format!("${name}").parse();
        let place = Place::start(path.unwrap_or_else(|_| SourcePath::fixed(".cargo/config.toml")));
        let setting = Setting { name: name.to_owned(), place, words };
        match row.map_or(Harmless, |row| row.1) {
            Registry => {
                let registry =
                    key.strip_prefix("REGISTRIES_").and_then(|name| name.strip_suffix("_INDEX"));
                self.registries.insert(registry.unwrap_or(key).to_owned(), value.to_owned());
            }
            Source | Refused(_) => {
                let message = format!("`{name}` in the environment may change what is built");
                self.report_problem(setting.place, message, "unset the variable");
            }
            RefusedInFiles(_) => {}
            effect => self.take_value(setting, effect),
        }
    }

    fn take_table<'a>(
        &mut self,
        file: &ConfigFile,
        table: &'a DeTable<'_>,
        above: &mut Vec<&'a str>,
    ) {
        for (key, value) in table {
            above.push(key.get_ref());
            let effect =
                KEYS.iter().find(|(pattern, _)| matches_keys(pattern, above)).map(|row| row.1);
            match (effect, value.get_ref()) {
                (_, DeValue::Table(inner)) if is_open(above) => {
                    self.take_table(file, inner, above);
                }
                (Some(Registry), DeValue::String(address)) => {
                    let name = as_in_variables(above.get(1).copied().unwrap_or_default());
                    self.registries.entry(name).or_insert_with(|| address.to_string());
                }
                (effect, value) => {
                    let place = place_at(&file.path, &file.text, key.span().start);
                    let setting =
                        Setting { name: above.join("."), place, words: split_words(value) };
                    self.take_value(setting, effect.unwrap_or(Refused(UNKNOWN)));
                }
            }
            above.pop();
        }
    }

    fn take_value(&mut self, setting: Setting<'_>, effect: KeyEffect) {
        let Setting { name, place, words } = setting;
        match effect {
            Harmless | Registry | Source => {}
            Conditions => words.into_iter().for_each(|cfg| self.cfgs.add_condition(cfg)),
            Variables => self.cfgs.variables = true,
            Compiler => {
                let program = words.join(" ");
                let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
                self.cfgs.any |= !CACHES.contains(&program.trim_end_matches(".exe"));
            }
            Flags => {
                if let Err(flag) = rustflags::add_conditions(words, &mut self.cfgs) {
                    let message = format!("unknown compiler flag `{flag}` in `{name}`");
                    let hint = "remove the flag: types may differ with it";
                    self.report_problem(place, message, hint);
                }
            }
            Refused(hint) | RefusedInFiles(hint) => {
                let message = format!("`{name}` in cargo's configuration may change what is built");
                self.report_problem(place, message, hint);
            }
        }
    }

    fn report_problem(&mut self, place: Place, message: String, hint: &str) {
        self.problems.push(Problem::new(place, message).with_hint(hint));
    }
}

/// A word of a key as names of variables have it.
fn as_in_variables(word: &str) -> String {
    word.replace(['/', '-'], "_").to_uppercase()
}

/// Returns whether a variable, without `CARGO_`, has the name of a key that a pattern fits. It does not show where one
/// word of the key ends, so that `*` is any text in it.
fn fits_variable(pattern: &str, variable: &str) -> bool {
    let (pattern, is_table) = match pattern.strip_suffix("/**") {
        Some(table) => (table, true),
        None => (pattern, false),
    };
    let pattern = as_in_variables(pattern);
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = variable.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() && !is_table {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || is_table && (pattern.ends_with('*') || rest.starts_with('_'))
}

/// Returns whether a pattern fits the keys that lead to a value.
fn matches_keys(pattern: &str, keys: &[&str]) -> bool {
    let mut keys = keys.iter();
    for part in pattern.split('/') {
        match (part, keys.next()) {
            ("**", _) => return true,
            (part, Some(key)) if part == *key => {}
            (part, Some(key))
                if part.strip_suffix('*').is_some_and(|prefix| key.starts_with(prefix)) => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

/// Returns whether rows of the table are about certain keys below these ones.
fn is_open(keys: &[&str]) -> bool {
    KEYS.iter().any(|(pattern, _)| {
        let parts: Vec<&str> = pattern.split('/').collect();
        let fits = |(part, key): (&&str, &&str)| *part == "*" || part == key;
        let is_below = parts.get(keys.len()).is_some_and(|part| *part != "**");
        is_below && parts.iter().zip(keys).all(fits)
    })
}

/// The words of a value: of a list, or of a text with spaces between them.
fn split_words<'a>(value: &'a DeValue<'_>) -> Vec<&'a str> {
    match value {
        DeValue::String(text) => text.split_whitespace().collect(),
        DeValue::Array(list) => list.iter().filter_map(|value| value.get_ref().as_str()).collect(),
        _ => Vec::new(),
    }
}
