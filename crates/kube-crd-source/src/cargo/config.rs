//! Cargo's configuration: each key is known to change nothing that a CRD depends on, is understood, or is refused.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::possible_cfgs::PossibleCfgs;
use super::rustflags;
use super::workspace::{Manifest, place_at};
use crate::text::sources::{ConfigFile, Texts};
use crate::text::{Place, Problem};

/// The configuration of a workspace.
#[derive(Default)]
pub struct Config {
    /// Keys that are not known to be harmless.
    pub problems: Vec<Problem>,
    /// The conditions that its compiler flags set.
    pub cfgs: PossibleCfgs,
}

#[derive(Clone, Copy)]
enum Effect {
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
    /// It changes what is built; with what to do in its place.
    Refused(&'static str),
}

use Effect::{Compiler, Conditions, Flags, Harmless, Refused, Variables};

const UNKNOWN: &str = "remove the key if nothing needs it";
const PATCH: &str = "remove the key, or replace the package by `[patch]` in Cargo.toml";

/// Each key that is known; the first row that fits counts. `*` is any name or end of one, `**` is anything below.
///
/// Sources are followed where packages are looked for. Of `env`, only what the reader evaluates itself matters:
/// build scripts are not run, and code with another variable is refused at its place.
const KEYS: &[(&str, Effect)] = &[
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
    ("include/**", Refused("move the keys of the included files into this file")),
    ("install/**", Harmless),
    ("net/**", Harmless),
    ("patch/**", Refused(PATCH)),
    ("paths/**", Refused(PATCH)),
    ("profile/*/rustflags", Flags),
    ("profile/*/build-override/rustflags", Harmless),
    ("profile/*/package/*/rustflags", Flags),
    ("profile/**", Harmless),
    ("registries/**", Harmless),
    ("registry/**", Harmless),
    ("resolver/**", Harmless),
    ("source/**", Harmless),
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
];

/// Programs around the compiler that only keep what it has compiled.
const CACHES: &[&str] = &["", "cachepot", "ccache", "rustc", "sccache"];

impl Config {
    /// Reads every file that cargo reads for the workspace with this Cargo.toml, whose profiles may have flags, too.
    pub fn read(texts: &Texts<'_>, root: Option<&Manifest>) -> Self {
        let mut config = Self::default();
        config.cfgs.any = root.is_some_and(|root| root.text.contains("rustflags"));
        for file in texts.cargo_configs() {
            match DeTable::parse(&file.text) {
                Ok(table) => config.take_table(&file, table.get_ref(), &mut Vec::new()),
                Err(error) => {
                    let place =
                        place_at(&file.path, &file.text, error.span().map_or(0, |it| it.start));
                    let message = format!("cannot be parsed: {}", error.message().trim());
                    config.problems.push(Problem::new(place, message));
                }
            }
        }
        config
    }

    fn take_table<'a>(
        &mut self,
        file: &ConfigFile,
        table: &'a DeTable<'_>,
        above: &mut Vec<&'a str>,
    ) {
        for (key, value) in table {
            above.push(key.get_ref());
            let effect = KEYS.iter().find(|(pattern, _)| fits(pattern, above)).map(|row| row.1);
            match (effect, value.get_ref()) {
                (_, DeValue::Table(inner)) if is_open(above) => {
                    self.take_table(file, inner, above);
                }
                (effect, _) => {
                    let effect = effect.unwrap_or(Refused(UNKNOWN));
                    self.take_value(file, above, (key, value), effect);
                }
            }
            above.pop();
        }
    }

    fn take_value(
        &mut self,
        file: &ConfigFile,
        path: &[&str],
        (key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>),
        effect: Effect,
    ) {
        let place = || place_at(&file.path, &file.text, key.span().start);
        let name = path.join(".");
        match effect {
            Harmless => {}
            Conditions => words(value.get_ref()).into_iter().for_each(|it| self.cfgs.add(it)),
            Variables => self.cfgs.variables = true,
            Compiler => {
                let program = value.get_ref().as_str().unwrap_or_default();
                let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
                self.cfgs.any |= !CACHES.contains(&program.trim_end_matches(".exe"));
            }
            Flags => {
                if let Err(flag) = rustflags::read(words(value.get_ref()), &mut self.cfgs) {
                    let message = format!("unknown compiler flag `{flag}` in `{name}`");
                    let hint = "remove the flag: types may differ with it";
                    self.refuse(place(), message, hint);
                }
            }
            Refused(hint) => {
                let message = format!("`{name}` in cargo's configuration may change what is built");
                self.refuse(place(), message, hint);
            }
        }
    }

    fn refuse(&mut self, place: Place, message: String, hint: &str) {
        self.problems.push(Problem::new(place, message).with_hint(hint));
    }
}

/// Whether a pattern fits the keys that lead to a value.
fn fits(pattern: &str, keys: &[&str]) -> bool {
    let mut keys = keys.iter();
    for part in pattern.split('/') {
        match (part, keys.next()) {
            ("**", _) => return true,
            (part, Some(key)) if part == *key => {}
            (part, Some(key)) if part.strip_suffix('*').is_some_and(|it| key.starts_with(it)) => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

/// Whether rows of the table are about certain keys below these ones.
fn is_open(keys: &[&str]) -> bool {
    KEYS.iter().any(|(pattern, _)| {
        let parts: Vec<&str> = pattern.split('/').collect();
        let fits = |(part, key): (&&str, &&str)| *part == "*" || part == key;
        let is_below = parts.get(keys.len()).is_some_and(|part| *part != "**");
        is_below && parts.iter().zip(keys).all(fits)
    })
}

/// The words of a value: of a list, or of a text with spaces between them.
fn words<'a>(value: &'a DeValue<'_>) -> Vec<&'a str> {
    match value {
        DeValue::String(text) => text.split_whitespace().collect(),
        DeValue::Array(list) => list.iter().filter_map(|it| it.get_ref().as_str()).collect(),
        _ => Vec::new(),
    }
}
