//! Dependencies and features of a Cargo.toml, with what they inherit from the workspace.

use std::collections::BTreeMap;

use semver::VersionReq;
use toml::{Table, Value};

use super::cfg::{self, Cfg};

/// The section of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    Code,
    Build,
    Tests,
}

#[derive(Clone, Debug)]
pub struct Dependency {
    /// The key in the Cargo.toml.
    pub key: String,
    /// The package's own name.
    pub package: String,
    pub renamed: bool,
    pub use_: For,
    /// True if the target that is built for has it.
    pub there: Cfg,
    pub optional: bool,
    pub default_features: bool,
    pub features: Vec<String>,
    pub version: Option<VersionReq>,
    /// Its folder, relative to that of the Cargo.toml with the path.
    pub path: Option<String>,
    /// It is inherited from the workspace's own Cargo.toml.
    pub inherited: bool,
    pub git: Option<GitSource>,
    pub registry: Option<Registry>,
    /// The keys of its table in Cargo.toml.
    pub section: Vec<String>,
}

/// The registry that a Cargo.toml names; none if it means crates.io.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registry {
    /// By its name in cargo's configuration.
    Name(String),
    Address(String),
}

/// The git repository that a Cargo.toml names, with its key and name of what is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    pub url: String,
    pub reference: Option<(&'static str, String)>,
}

impl GitSource {
    /// The repository of a dependency or of a patch; none if it names no repository.
    pub fn declared_in(table: &Table) -> Option<Self> {
        let text = |key: &str| Some(table.get(key)?.as_str()?.to_owned());
        let references = ["branch", "tag", "rev"].into_iter();
        let reference = { references }.find_map(|key| Some((key, text(key)?)));
        Some(Self { url: text("git")?, reference })
    }
}

/// Every dependency of a package. `shared` is `workspace.dependencies`.
pub fn parse_dependencies(manifest: &Table, shared: Option<&Table>) -> Vec<Dependency> {
    const KINDS: &[(&str, For)] = &[
        ("dependencies", For::Code),
        ("dev-dependencies", For::Tests),
        ("dev_dependencies", For::Tests),
        ("build-dependencies", For::Build),
        ("build_dependencies", For::Build),
    ];
    let mut dependencies = Vec::new();
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let targets = targets.filter_map(|(name, it)| Some((Some(name), it.as_table()?)));
    for (of_target, table) in [(None, manifest)].into_iter().chain(targets) {
        let there = of_target.map_or(Cfg::Yes, |name| cfg_of_target(name));
        let above = of_target.map_or_else(Vec::new, |name| vec!["target".to_owned(), name.clone()]);
        for (kind, use_) in KINDS {
            let list = table.get(*kind).and_then(Value::as_table).into_iter().flatten();
            let section = [above.as_slice(), &[(*kind).to_owned()]].concat();
            dependencies.extend(list.map(|(key, value)| Dependency {
                there,
                use_: *use_,
                section: section.clone(),
                ..parse_dependency(key, value, shared)
            }));
        }
    }
    dependencies
}

fn parse_dependency(key: &str, value: &Value, shared: Option<&Table>) -> Dependency {
    let own = value.as_table();
    let flag = |table: Option<&Table>, key: &str| {
        let old = key.replace('-', "_");
        table.and_then(|table| table.get(key).or_else(|| table.get(&old))).and_then(Value::as_bool)
    };
    let inherited = flag(own, "workspace").unwrap_or(false);
    let declared = if inherited { shared.and_then(|table| table.get(key)) } else { Some(value) };
    let table = declared.and_then(Value::as_table);
    let text = |key: &str| table.and_then(|table| table.get(key)).and_then(Value::as_str);
    let mut features = collect_strings(table.and_then(|table| table.get("features")));
    let mut default = flag(table, "default-features").unwrap_or(true);
    if inherited {
        features.extend(collect_strings(own.and_then(|table| table.get("features"))));
        default |= flag(own, "default-features").unwrap_or(false);
    }
    let registry = text("registry").filter(|name| *name != "crates-io");
    let registry = registry.map(|name| Registry::Name(name.to_owned()));
    let address = text("registry-index").map(|address| Registry::Address(address.to_owned()));
    let version = declared.and_then(Value::as_str).or_else(|| text("version"));
    Dependency {
        key: key.to_owned(),
        package: text("package").unwrap_or(key).to_owned(),
        renamed: text("package").is_some(),
        use_: For::Code,
        there: Cfg::Yes,
        optional: flag(own, "optional").unwrap_or(false),
        default_features: default,
        features,
        version: version.and_then(|version| version.parse().ok()),
        path: text("path").map(str::to_owned),
        inherited,
        git: table.and_then(GitSource::declared_in),
        registry: registry.or(address),
        section: Vec::new(),
    }
}

/// Returns whether it is built for a target of this description: `cfg(unix)`, or the target's name.
fn cfg_of_target(text: &str) -> Cfg {
    let inner = text.strip_prefix("cfg(").and_then(|inner| inner.strip_suffix(')'));
    let features = super::Features::default();
    inner.and_then(|inner| cfg::predicate_in(inner, &features).ok()).unwrap_or(Cfg::Depends)
}

/// The features that a package declares, each with what it turns on; those of optional dependencies too.
pub fn collect_features(
    manifest: &Table,
    dependencies: &[Dependency],
) -> BTreeMap<String, Vec<String>> {
    let declared = manifest.get("features").and_then(Value::as_table).into_iter().flatten();
    let mut features: BTreeMap<String, Vec<String>> =
        declared.map(|(name, value)| (name.clone(), collect_strings(Some(value)))).collect();
    let is_explicit = |name: &str| {
        features.values().flatten().any(|feature| feature.strip_prefix("dep:") == Some(name))
    };
    let optional = dependencies
        .iter()
        .filter(|dependency| dependency.optional && !is_explicit(&dependency.key));
    let implied: Vec<String> = optional.map(|dependency| dependency.key.clone()).collect();
    for name in implied {
        let on = vec![format!("dep:{name}")];
        features.entry(name).or_insert(on);
    }
    features
}

pub fn collect_strings(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
