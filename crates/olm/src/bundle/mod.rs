//! Generates, validates and compares OLM bundles (`registry+v1`).
//!
//! [`assemble`] returns what `operator-sdk generate bundle` generates from the same objects, except for the
//! differences that `tests/bundle/same.rs` lists with their reasons. [`validate`] returns the verdict of
//! `operator-sdk bundle validate`. Fields that operator-sdk omits are omitted with a warning, and objects that it
//! gets wrong are refused. This module reads no files, no Rust source and no clock.

pub mod annotations;
mod collected;
mod created;
mod csv;
mod descriptors;
pub mod difference;
mod dockerfile;
mod image;
mod kinds;
mod metadata;
mod object;
mod package;
mod permissions;
mod pinned;
mod refusals;
mod related_images;
pub mod scorecard;
pub mod validate;
mod warnings;
mod webhooks;
mod words;

use std::collections::{BTreeMap, BTreeSet};

pub use created::created_at;
pub use dockerfile::parse_flags as recorded_flags;
pub use image::{Contents, ProjectFile, image_contents};
pub use package::{CargoPackage, check_version};
pub use permissions::MovedRights;
pub use pinned::Digests;

use annotations::Annotations;
use collected::SortedObjects;
use diagnostics::Diagnostic;
use go_data::{
    kubernetes::{self, Reader},
    yaml::{self, Value},
};
use model::{AccountName, Channel, PackageName, ProjectPath};
use refusals::Refusals;
use warnings::Warnings;

/// The input that a bundle is generated from.
pub struct Input<'a> {
    /// The output of `kustomize build config/manifests`.
    pub objects: Vec<InputObject>,
    pub package: &'a PackageName,
    pub version: &'a semver::Version,
    /// From flags; empty if none was given.
    pub channels: &'a [Channel],
    pub default_channel: Option<&'a Channel>,
    /// Service accounts whose rules the CSV grants as well, although no Deployment uses them.
    pub extra_accounts: &'a [AccountName],
    /// The flags that the bundle depends on, for `bundle.Dockerfile`: `--image=…`.
    pub flags: &'a [String],
    /// The package in Cargo.toml, for fields that the CSV base does not set.
    pub cargo: &'a CargoPackage,
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

impl Input<'_> {
    /// Returns whether the objects were read from one file, and not rendered from config/.
    fn is_stream(&self) -> bool {
        self.objects.iter().any(|object| !object.place.is_empty())
    }
}

pub struct InputObject {
    /// `file:line:column: `, if it was read from one file.
    pub place: String,
    pub origin: Option<ObjectOrigin>,
    pub value: Value,
}

/// The file that an object was read from.
pub struct ObjectOrigin {
    pub file: String,
    pub line: Option<usize>,
}

/// A bundle's files.
#[derive(Debug)]
pub struct GeneratedBundle {
    /// By their path inside the bundle.
    pub files: BTreeMap<ProjectPath, String>,
    /// `bundle.Dockerfile`, which is next to the bundle.
    pub dockerfile: String,
    /// Warnings and notes about a valid bundle.
    pub warnings: Vec<Diagnostic>,
    /// Rights that OLM may give in other namespaces than the objects do.
    pub moved: Vec<MovedRights>,
    csv: (ProjectPath, Value),
}

impl GeneratedBundle {
    /// Returns every image of the CSV that has no digest.
    pub fn images_by_tag(&self) -> BTreeSet<String> {
        pinned::images_without_digest(&self.csv.1)
    }

    /// Returns whether OLM installs the operator for all namespaces only: it then gives each right in every namespace.
    pub fn is_for_all_namespaces_only(&self) -> bool {
        let modes = object::list(&self.csv.1, "/spec/installModes").iter();
        let supported = modes.filter(|mode| mode["supported"] == true);
        let supported: Vec<&str> = supported.map(|mode| object::text(mode, "/type")).collect();
        supported == ["AllNamespaces"]
    }

    /// Replaces images by their digests.
    pub fn pin_images(&mut self, digests: &Digests) {
        let (path, csv) = &mut self.csv;
        pinned::replace_images(csv, digests);
        self.warnings
            .extend(pinned::unpinned_volume_warnings(csv).into_iter().map(Diagnostic::from));
        self.files.insert(path.clone(), yaml::to_text(csv));
    }
}

/// Generates a bundle, or returns all reasons why that is impossible.
pub fn assemble(input: &Input) -> anyhow::Result<GeneratedBundle> {
    let mut refusals = Refusals::default();
    let mut warnings = Warnings::default();
    let objects = decode_objects(&input.objects, &mut refusals, &mut warnings);
    let collected = SortedObjects::new(&objects, input.package, &mut refusals, &mut warnings);
    if collected.deployments.is_empty() {
        let hint = if input.is_stream() {
            "add it to the manifests that are given"
        } else {
            "add `../default`, which includes config/manager, to config/manifests/kustomization.yaml"
        };
        refusals.push("found no Deployment (apps/v1), which OLM needs to run the operator", hint);
    }
    let permissions = permissions::split_permissions(
        &collected,
        input.extra_accounts,
        &mut refusals,
        &mut warnings,
    );
    let csv = csv::build_csv(input, &collected, &permissions, &mut refusals, &mut warnings);
    let annotations =
        Annotations::new(input, collected.scorecard.is_some(), &mut refusals, &mut warnings);
    let metadata = metadata::copied_files(input.metadata, &mut refusals);
    let manifests =
        build_manifests(&collected, &csv, &permissions.manifests, &mut refusals, &mut warnings);
    refusals.into_result()?;

    let mut files = metadata;
    let name = format!("manifests/{}.clusterserviceversion.yaml", input.package);
    let path = ProjectPath::fixed(&name);
    files.insert(path.clone(), yaml::to_text(&csv));
    files.extend(manifests);
    files.insert(ProjectPath::fixed("metadata/annotations.yaml"), annotations.to_yaml());
    if let Some(scorecard) = collected.scorecard {
        let path = ProjectPath::fixed("tests/scorecard/config.yaml");
        files.insert(path, yaml::to_text(scorecard));
    }
    Ok(GeneratedBundle {
        files,
        dockerfile: dockerfile::render_dockerfile(&annotations, input.output_dir, input.flags),
        warnings: warnings.0,
        moved: permissions.moved,
        csv: (path, csv),
    })
}

/// Decodes the objects as operator-sdk reads them into Go's types.
fn decode_objects(
    objects: &[InputObject],
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<Value> {
    let mut decoded_objects = Vec::new();
    for object in objects {
        if object::kind(&object.value).is_empty() {
            let title = match &object.origin {
                Some(ObjectOrigin { file, line: Some(line) }) => {
                    format!("the document at {file}:{line}")
                }
                _ => object::title(&object.value),
            };
            warnings.push(format!("{title} is left out of the bundle: {NO_OBJECT}"));
            continue;
        }
        let decoded = kubernetes::decode(&object.value);
        let title = format!("{}{}", object.place, object::title(&object.value));
        let mut faults = decoded.faults;
        let group = object::group_version(&object.value).0;
        if faults.is_empty() && kinds::is_supported(group, object::kind(&object.value)) {
            // operator-sdk does not decode all kinds that it puts into the bundle; API servers do.
            faults = kubernetes::decode_with(&decoded.value, Reader::Server).faults;
        }
        for fault in faults {
            refusals.push(
                format!("{title}: {fault}"),
                "put strings that look like numbers or booleans in quotes, and write numbers and booleans without quotes",
            );
        }
        for field in decoded.unknown {
            warnings.push(format!(
                "{title}: `{}` is left out of the bundle: its type in operator-sdk 1.42 has no such field",
                field.path
            ));
        }
        decoded_objects.push(decoded.value);
    }
    decoded_objects
}

const NO_OBJECT: &str = "not a Kubernetes object: `apiVersion` or `kind` is missing";

/// Builds the file of every object, by the name that operator-sdk gives it.
fn build_manifests(
    collected: &SortedObjects,
    csv: &Value,
    permissions: &[&Value],
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> BTreeMap<ProjectPath, String> {
    let mut files: BTreeMap<ProjectPath, String> = BTreeMap::new();
    let crds = collected.crds.iter().map(|crd| (object::crd_file_name(crd), *crd));
    let others = [&collected.services[..], &collected.others, permissions].concat();
    let others = others.into_iter().map(|object| (object::file_name(object), object));
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
        if let Some(namespace) = collected.foreign_namespace(object)
            && !kinds::is_cluster_wide(object::kind(object))
        {
            warnings.push(format!(
                "{}: its namespace `{namespace}` is left out of the bundle: OLM creates it in the namespace of the operator",
                object::title(object)
            ));
        }
        let object = webhooks::with_service_of_olm(object::without_namespace(object), csv);
        let text = yaml::to_text(&object);
        // operator-sdk finds roles by their names, and writes a second file for any other object.
        let is_role = |object: &Value| matches!(object::kind(object), "Role" | "ClusterRole");
        match files.get(&path) {
            Some(other) if *other != text || !is_role(&object) => refusals.push(
                format!("{} occurs twice", object::title(&object)),
                "OLM installs a bundle into one namespace: rename or remove one of them",
            ),
            _ => drop(files.insert(path, text)),
        }
    }
    files
}
