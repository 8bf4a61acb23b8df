//! Objects and metadata in, the files of an OLM bundle (`registry+v1`) out.
//!
//! [`assemble`] returns what `operator-sdk generate bundle` generates from the same objects, except for the
//! differences that `tests/bundle/same.rs` lists with their reasons. [`validate`] returns the verdict of
//! `operator-sdk bundle validate`. What operator-sdk omits is omitted with a warning, and what it
//! gets wrong is refused by name. This room reads no files, no Rust source and no clock.

mod annotations;
mod collected;
mod created;
mod csv;
mod descriptors;
mod dockerfile;
mod kinds;
mod metadata;
mod object;
mod package;
mod permissions;
mod refusals;
mod related_images;
pub mod validate;
mod webhooks;
mod words;

use std::collections::BTreeMap;

pub use created::created_at;
pub use package::Package;

use crate::{
    kubernetes,
    model::{Channel, PackageName, ProjectPath},
    yaml::{self, Value},
};
use annotations::Annotations;
use collected::Collected;
use refusals::Refusals;

/// What a bundle is generated from.
pub struct Input<'a> {
    /// What `kustomize build config/manifests` gives.
    pub objects: Vec<Object>,
    pub package: &'a PackageName,
    pub version: &'a semver::Version,
    /// From flags; empty if none was given.
    pub channels: &'a [Channel],
    pub default_channel: Option<&'a Channel>,
    /// The package in Cargo.toml, for fields that the CSV base does not set.
    pub cargo: &'a Package,
    /// The files of `config/manifests/metadata`, by name.
    pub metadata: &'a BTreeMap<String, String>,
    /// The folder of the bundle, from which `bundle.Dockerfile` copies.
    pub output_dir: &'a ProjectPath,
    /// The project's layout in PROJECT.
    pub layout: &'a str,
    /// The program that generated the bundle: `operator-rs-v0.1.0`.
    pub builder: &'a str,
    /// `createdAt`, if the CSV base has none.
    pub created_at: Option<String>,
}

pub struct Object {
    /// `file:line:column: `, if it was read from one file.
    pub place: String,
    pub value: Value,
}

/// A bundle's files.
#[derive(Debug)]
pub struct Bundle {
    /// By their path inside the bundle.
    pub files: BTreeMap<ProjectPath, String>,
    /// `bundle.Dockerfile`, which is next to the bundle.
    pub dockerfile: String,
    /// Warnings about a valid bundle.
    pub warnings: Vec<String>,
}

/// Generates a bundle, or returns all reasons why that is impossible.
pub fn assemble(input: &Input) -> anyhow::Result<Bundle> {
    let mut refusals = Refusals::default();
    let mut warnings = Vec::new();
    let objects = decoded(&input.objects, &mut refusals, &mut warnings);
    let collected = Collected::new(&objects, input.package, &mut refusals, &mut warnings);
    let permissions = permissions::split(&collected, &mut refusals, &mut warnings);
    let csv = csv::assemble(input, &collected, &permissions, &mut refusals, &mut warnings);
    let annotations = Annotations::new(input, collected.scorecard.is_some(), &mut refusals);
    let metadata = metadata::taken_over(input.metadata, &mut refusals);
    let manifests = manifests(&collected, &permissions.manifests, &mut refusals);
    refusals.settled()?;

    let mut files = metadata;
    let name = format!("manifests/{}.clusterserviceversion.yaml", input.package);
    files.insert(ProjectPath::fixed(&name), yaml::to_text(&csv));
    files.extend(manifests);
    files.insert(ProjectPath::fixed("metadata/annotations.yaml"), annotations.text());
    if let Some(scorecard) = collected.scorecard {
        let path = ProjectPath::fixed("tests/scorecard/config.yaml");
        files.insert(path, yaml::to_text(scorecard));
    }
    Ok(Bundle { files, dockerfile: dockerfile::text(&annotations, input.output_dir), warnings })
}

/// The objects as operator-sdk reads them into Go's types.
fn decoded(objects: &[Object], refusals: &mut Refusals, warnings: &mut Vec<String>) -> Vec<Value> {
    let mut res = Vec::new();
    for object in objects {
        let decoded = kubernetes::decode(&object.value);
        let title = format!("{}{}", object.place, object::title(&object.value));
        for fault in decoded.faults {
            refusals.push(
                format!("{title}: {fault}"),
                "put strings that look like numbers or booleans in quotes, and write numbers and booleans without quotes",
            );
        }
        for field in decoded.unknown {
            warnings.push(format!(
                "{title}: `{field}` is left out of the bundle: its type has no such field"
            ));
        }
        res.push(decoded.value);
    }
    res
}

/// Every object that becomes a file, with operator-sdk's name for it.
fn manifests(
    collected: &Collected,
    permissions: &[&Value],
    refusals: &mut Refusals,
) -> BTreeMap<ProjectPath, String> {
    let mut res: BTreeMap<ProjectPath, String> = BTreeMap::new();
    let crds = collected.crds.iter().map(|it| (object::crd_file_name(it), *it));
    let others = [&collected.services[..], &collected.others, permissions].concat();
    let others = others.into_iter().map(|it| (object::file_name(it), it));
    for (name, object) in crds.chain(others) {
        let is_fit = !name.contains('/') && !object::name(object).is_empty();
        let path = ProjectPath::fixed("manifests").join(&name).ok().filter(|_| is_fit);
        let Some(path) = path else {
            refusals.push(
                format!("{} has no name that can be used as a file name", object::title(object)),
                "set `metadata.name`, in quotes if it looks like a number",
            );
            continue;
        };
        let text = yaml::to_text(&object::without_namespace(object));
        // Two objects with one name came from two namespaces, and OLM installs all into one.
        match res.get(&path) {
            Some(other) if *other != text => refusals.push(
                format!("{} occurs twice with different content", object::title(object)),
                "OLM installs a bundle into one namespace: rename one of them",
            ),
            _ => drop(res.insert(path, text)),
        }
    }
    res
}
