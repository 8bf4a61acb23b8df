//! The support code of a project: targets of make, what its tests share, and the crates that it depends on. A project
//! depends on these by version once they are published. Until then, and if PROJECT asks for it, their source is in
//! `vendor/`.

mod manifest;

use std::borrow::Cow;

use semver::Version;
use serde::Deserialize;

use super::template_names::TemplateNames;
use crate::project::{GENERATE_COMMAND, Project};
use crate::{
    plan::{self, Plan},
    scaffold,
};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree};

/// A version of one of the crates that is in the registry, with the checksum there.
#[derive(Clone, Copy)]
pub struct Published {
    pub name: &'static str,
    pub version: &'static str,
    pub checksum: &'static str,
}

/// The crates that are published. New projects depend on them if these are the versions that operator-rs is built with.
///
/// Each release sets this, as CONTRIBUTING.md describes. A name must not be here before it is published: any
/// publisher of a crate with that name could run code in every project.
pub const PUBLISHED: &[Published] = &[];

/// The generated files of a project that do not depend on its source.
pub struct SupportCode {
    files: Vec<(ProjectPath, String)>,
    crates: Vec<SupportCrate>,
    /// True if the project has the source of the crates.
    pub is_vendored: bool,
}

/// A crate that projects depend on.
struct SupportCrate {
    name: String,
    version: Version,
    /// None if this version is not published.
    checksum: Option<&'static str>,
}

const VENDOR: &str = "vendor";

impl SupportCode {
    pub fn new(project: &Project, published: &[Published]) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        let mut crates = Vec::new();
        for (path, text) in scaffold::files("generate", &TemplateNames::new(project))? {
            if is_manifest(&path) {
                crates.push(SupportCrate::read(&text, published)?);
            }
            files.push((path, text));
        }
        let is_published = crates.iter().all(|krate| krate.checksum.is_some());
        Ok(Self { files, crates, is_vendored: project.inputs.vendor || !is_published })
    }

    /// Plans the files, and the dependencies in each Cargo.toml of the plan or else of the project.
    pub fn plan(&self, plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
        let vendor = ProjectPath::fixed(VENDOR);
        let files = self.files.iter().filter(|pair| self.is_vendored || !pair.0.is_in(&vendor));
        for (path, text) in files {
            plan.generate(path.clone(), text.clone(), &place_of_edits(path), GENERATE_COMMAND);
        }
        let folders = self.crates.iter().map(|krate| vendor.join(&krate.name));
        for folder in folders.collect::<Result<Vec<_>, _>>()? {
            plan.list_as_one(folder.clone());
            if self.is_vendored {
                plan.remove_stale(folder, &["rs"], GENERATE_COMMAND)
            } else {
                plan.remove_generated(folder, GENERATE_COMMAND, KEEP)
            }
        }
        if !self.is_vendored {
            plan.remove_generated(vendor.join(".gitattributes")?, GENERATE_COMMAND, KEEP);
        }
        self.plan_dependencies(plan, tree)
    }

    /// Makes the project depend on the crates by version or on their source.
    fn plan_dependencies(&self, plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
        let top = ProjectPath::fixed("Cargo.toml");
        let lock = ProjectPath::fixed("Cargo.lock");
        if plan.edit_scaffolded(&top, |text| manifest::depend(text, self, "")) {
            plan.edit_scaffolded(&lock, |text| self.update_lock(text));
            return Ok(());
        }
        let changes = self.plan_edit(plan, tree, top, |text| manifest::depend(text, self, ""))?;
        let vendor = ProjectPath::fixed(VENDOR);
        if changes {
            self.plan_edit(plan, tree, lock, |text| self.update_lock(text))?;
        } else if self.is_vendored || tree.list_files(&vendor)?.is_empty() {
            return Ok(());
        }
        for (path, depth) in list_manifests(tree, "", 0)? {
            let up = "../".repeat(depth);
            self.plan_edit(plan, tree, path, |text| manifest::depend(text, self, &up))?;
        }
        Ok(())
    }

    /// Plans an edit of a file of the user. Returns whether anything changes.
    fn plan_edit(
        &self,
        plan: &mut Plan,
        tree: &impl Tree,
        path: ProjectPath,
        change: impl Fn(&str) -> String,
    ) -> anyhow::Result<bool> {
        let Some(before) = tree.read_text(&path)? else { return Ok(false) };
        let text = unix_lines(&before);
        let after = change(&text);
        let changes = *text != *after;
        if changes {
            plan.edit_file(path, before, after);
        }
        Ok(changes)
    }

    /// Cargo.lock with the source of the crates, if it has their versions. Otherwise cargo updates it.
    fn update_lock(&self, text: &str) -> String {
        self.crates.iter().fold(text.to_owned(), |text, package| {
            let head = format!("name = \"{}\"\nversion = \"{}\"\n", package.name, package.version);
            let Some((before, after)) = text.split_once(&head) else { return text };
            let is_source =
                |text: &&str| text.starts_with("source = ") || text.starts_with("checksum = ");
            let rest: String = after.split_inclusive('\n').skip_while(is_source).collect();
            let checksum = package.checksum.filter(|_| !self.is_vendored);
            let source = checksum.map_or_else(String::new, |checksum| {
                format!("source = \"{REGISTRY}\"\nchecksum = \"{checksum}\"\n")
            });
            format!("{before}{head}{source}{rest}")
        })
    }
}

/// The name of the public registry in Cargo.lock.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The hint about an edited file in `vendor/`.
const KEEP: &str = "commit it and pass `--force` to delete it; or keep the source in `vendor/`: set `vendor: true` for `rust.operator-rs.io/v1` under `plugins` in PROJECT";

/// The Cargo.toml of a crate.
#[derive(Deserialize)]
struct CrateManifest {
    package: ManifestPackage,
}

#[derive(Deserialize)]
struct ManifestPackage {
    name: String,
    version: Version,
}

impl SupportCrate {
    fn read(manifest: &str, published: &[Published]) -> anyhow::Result<Self> {
        let CrateManifest { package: ManifestPackage { name, version } } =
            toml::from_str(manifest)?;
        let is_this = |published: &&Published| {
            published.name == name && published.version == version.to_string()
        };
        let checksum = published.iter().find(is_this).map(|package| package.checksum);
        Ok(Self { name, version, checksum })
    }
}

/// The package that has the runtime of an operator.
const RUNTIME: &str = "operator-rs-runtime";

/// Plans to switch a feature of the runtime on or off in the operator's Cargo.toml.
///
/// # Errors
/// If Cargo.toml does not name the runtime with its features.
pub fn feature(plan: &mut Plan, tree: &impl Tree, features: &[(&str, bool)]) -> anyhow::Result<()> {
    let path = ProjectPath::fixed("Cargo.toml");
    let before = tree.read_text(&path)?.unwrap_or_default();
    let text = unix_lines(&before).into_owned();
    let mut after = text.clone();
    for (name, on) in features {
        after = match manifest::feature(&after, RUNTIME, name, *on) {
            Some(after) => after,
            None if !on => after,
            None => {
                return Err(anyhow::format_err!(
                    "webhooks need the feature `{name}` of {RUNTIME}, which Cargo.toml does not have under `dependencies`"
                ))
                .hint(format!("add `{RUNTIME} = {{ … }}` as `init` does"));
            }
        };
    }
    if text != after {
        plan.edit_file(path, before, after);
    }
    Ok(())
}

/// Returns a text of Windows with the line ends of other systems, which [`Plan::edit`] turns back.
fn unix_lines(text: &str) -> Cow<'_, str> {
    if plan::uses_crlf(text) { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Returns whether this is the Cargo.toml of a crate in `vendor/`.
fn is_manifest(path: &ProjectPath) -> bool {
    path.name() == "Cargo.toml" && path.as_str().matches('/').count() == 2
}

/// Completes "Do not edit: change … instead." for generated support code.
fn place_of_edits(path: &ProjectPath) -> String {
    let mut folders = path.as_str().split('/');
    match (folders.next(), folders.next()) {
        (Some(VENDOR), Some(name)) => format!("the code that uses this crate, {name},"),
        (Some("tests"), _) => "the tests that use it".to_owned(),
        _ => "Makefile".to_owned(),
    }
}

/// Returns every Cargo.toml below a folder, and its depth. What is hidden, built or vendored has none of the project's.
fn list_manifests(
    tree: &impl Tree,
    folder: &str,
    depth: usize,
) -> anyhow::Result<Vec<(ProjectPath, usize)>> {
    let mut pairs = Vec::new();
    for name in tree.list_names(folder)? {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if name == "Cargo.toml" && depth > 0 {
            pairs.push((path.parse()?, depth));
        }
        let is_other = name.starts_with('.') || ["target/", "vendor/"].contains(&&*name);
        if let Some(below) = path.strip_suffix('/').filter(|_| !is_other) {
            pairs.extend(list_manifests(tree, below, depth + 1)?);
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests;
