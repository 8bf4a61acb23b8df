//! `operator-rs catalog add`

mod entry;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::render::BundleImage;
use crate::{
    app::images::{
        RegistryAccess,
        catalog_source::{self, CatalogSource},
        folder::below,
    },
    commands::{OutputMode, writing},
    plan::{Plan, WorkTree},
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::{
    kubernetes::go::format_quoted,
    yaml::{self, Value},
};
use model::{Channel, FileContent, ProjectPath, Tree};
use olm::catalog::{self, Bundle, Catalog, Ignore, Loader, blob, edit, load::Located};

/// Add a bundle to the channels of a catalog
///
/// The bundle's blob is written to a new file, and each channel gains an entry. Files that you have written keep
/// their comments and their format.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog add quay.io/example/memcached-operator-bundle:v0.0.2
  operator-rs catalog add bundle --image 'quay.io/example/memcached-operator-bundle:v{{.Version}}' --channels stable")]
pub struct Args {
    /// Directory, archive or image of the bundle
    #[arg(value_name = "BUNDLE")]
    bundle: String,
    #[command(flatten)]
    image: BundleImage,
    #[command(flatten)]
    addition: CatalogAddition,
    #[command(flatten)]
    access: RegistryAccess,
    #[command(flatten)]
    mode: OutputMode,
}

/// Where a bundle is added, and what it upgrades.
#[derive(clap::Args)]
pub struct CatalogAddition {
    /// Directory of the catalog
    #[arg(long, alias = "catalog", value_name = "DIR", default_value = "catalog", value_parser = ProjectPath::from_system)]
    pub catalog_dir: ProjectPath,
    /// Channels of the bundle, separated by commas [default: those in its annotations]
    #[arg(long, alias = "channel", value_name = "CHANNELS", value_delimiter = ',')]
    channels: Vec<Channel>,
    /// Bundle that this one replaces [default: `spec.replaces` of the ClusterServiceVersion, or the channel's head that
    /// is not skipped]
    #[arg(long, value_name = "NAME")]
    replaces: Option<String>,
    /// Bundles that upgrades skip, separated by commas [default: `spec.skips` of the ClusterServiceVersion]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skips: Vec<String>,
    /// Versions that can be upgraded to this one directly, e.g. `>=1.0.0 <1.2.0` [default: the annotation
    /// `olm.skipRange` of the ClusterServiceVersion]
    #[arg(long, value_name = "RANGE")]
    skip_range: Option<String>,
}

const BY: &str = "catalog add";
const EDIT: &str = "the bundle";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        writing(dir, &self.mode.clone(), |tree, _| {
            let source = CatalogSource::open(dir, &self.bundle, &self.access)?;
            self.access.require_use()?;
            let bundle = source.bundle()?;
            let image = self.image.resolve_reference(&source, &bundle)?;
            self.addition.write_files(tree, &bundle, &image)
        })
    }
}

/// Edits a file of the catalog, or begins it. `lines` are what to add by hand if that cannot be done.
fn edit_file(
    tree: &mut WorkTree<'_>,
    path: &ProjectPath,
    line: Option<usize>,
    lines: &str,
    change: impl FnOnce(&str) -> Result<String, edit::Refusal>,
) -> anyhow::Result<()> {
    let before = tree.read_text(path)?.unwrap_or_default();
    let after = change(&before).map_err(|edit::Refusal(why)| {
        let message = format!("this file cannot be edited: {why}");
        let problem = Diagnostic::in_file(path.as_str(), message).at_position(line.unwrap_or(1), 1);
        let hint = format!("add this by hand, and run the command again: {lines}");
        problem.with_hint(hint).into_error()
    })?;
    let mut plan = Plan::default();
    match tree.files_on_disk().read_content(path)? {
        FileContent::Nothing => plan.scaffold(path.clone(), after),
        _ => plan.edit_file(path.clone(), before, after),
    }
    tree.apply(plan)
}

impl CatalogAddition {
    pub fn write_files(
        &self,
        tree: &mut WorkTree<'_>,
        bundle: &Bundle,
        image: &str,
    ) -> anyhow::Result<()> {
        let before = catalog_source::whole(
            load_catalog(tree, &self.catalog_dir)?,
            self.catalog_dir.as_str(),
        )?;
        let channels = self.choose_channels(bundle)?;
        let package = before.packages.iter().find(|package| package.blob.name == bundle.package);
        let mut file = match package.and_then(|package| package.place.as_ref()) {
            Some(place) => place.file.parse()?,
            None => {
                let path =
                    self.catalog_dir.join(&format!("{}.yaml", file_name(&bundle.package)?))?;
                let blob = blob::PackageBlob {
                    name: bundle.package.clone(),
                    default_channel: self.default_channel(bundle, &channels),
                    ..blob::PackageBlob::default()
                };
                edit_file(tree, &path, None, "", |text| edit::with_blob(text, &blob.to_value()))?;
                path
            }
        };
        let default = match package {
            Some(package) => package.blob.default_channel.clone(),
            None => self.default_channel(bundle, &channels),
        };
        if !bundle.default_channel.is_empty() && bundle.default_channel != default {
            let message = format!(
                "the bundle's default channel is `{}`, and that of the package `{}` is `{default}`",
                bundle.default_channel, bundle.package
            );
            let hint = format!("to change it, set `defaultChannel` of the package in {file}");
            tree.warn(Diagnostic::from(message).with_hint(hint));
        }
        for name in &channels {
            file = self.add_to_channel(tree, bundle, name, &before, file)?;
        }
        bundle.warnings.iter().for_each(|warning| tree.warn(warning));
        self.write_bundle_file(tree, bundle, image, &before, &file)?;
        self.require_valid(tree)
    }

    /// Adds the entry of the bundle to a channel, which is made in `file` if there is none. Returns the file of the channel.
    fn add_to_channel(
        &self,
        tree: &mut WorkTree<'_>,
        bundle: &Bundle,
        name: &str,
        before: &Catalog,
        file: ProjectPath,
    ) -> anyhow::Result<ProjectPath> {
        let is_this = |channel: &&Located<blob::ChannelBlob>| {
            channel.blob.package == bundle.package && channel.blob.name == name
        };
        let found = before.channels.iter().find(is_this);
        let place = found
            .and_then(|channel| channel.place.as_ref())
            .map(|place| place.file.parse())
            .transpose()?;
        let entry = self.build_entry(bundle, found.map(|channel| &channel.blob), before)?;
        let (Some(found), Some(path)) = (found, place) else {
            let blob = blob::ChannelBlob {
                name: name.to_owned(),
                package: bundle.package.clone(),
                entries: Some(vec![entry]),
                properties: Vec::new(),
            };
            let value = blob.to_value();
            edit_file(tree, &file, None, &value.to_string(), |text| edit::with_blob(text, &value))?;
            return Ok(file);
        };
        if !self.has_entry(&found.blob, &entry)? {
            let line = found.place.as_ref().map(|place| place.line);
            let lines = entry.to_value().to_string();
            let edit = |text: &str| edit::with_entry(text, &bundle.package, name, &entry);
            edit_file(tree, &path, line, &lines, edit)?;
        }
        Ok(path)
    }

    /// Writes the file of the bundle beside the one of its channel. A bundle that is elsewhere in the catalog stays there.
    fn write_bundle_file(
        &self,
        tree: &mut WorkTree<'_>,
        bundle: &Bundle,
        image: &str,
        before: &Catalog,
        file: &ProjectPath,
    ) -> anyhow::Result<()> {
        let blob = bundle.to_blob(image).to_value();
        let folder = file.parent().unwrap_or_else(|| self.catalog_dir.clone());
        let name = file_name(&bundle.name)?;
        let mut path = folder.join(&format!("{name}.yaml"))?;
        // The bundle has the name of its package, whose file is this.
        if path == *file {
            path = folder.join(&format!("{name}.bundle.yaml"))?;
        }
        let is_here = |other: &&Located<blob::BundleBlob>| {
            other.blob.package == bundle.package && other.blob.name == bundle.name
        };
        let existing = before.bundles.iter().find(is_here);
        match existing
            .and_then(|bundle| bundle.place.as_ref())
            .filter(|place| *place.file != *path.as_str())
        {
            Some(_) if existing.is_some_and(|bundle| bundle.blob.to_value() == blob) => {}
            None => {
                if let Some(parts) = existing
                    .and_then(|bundle| format_changed_fields(&bundle.blob.to_value(), &blob))
                {
                    tree.warn(format!(
                        "the catalog already has the bundle `{}`, and this changes its {parts}: clusters that have installed it keep the old content; if it was published, give the new bundle another version",
                        bundle.name
                    ));
                }
                let mut plan = Plan::default();
                plan.generate(path, yaml::to_text(&blob), EDIT, BY);
                tree.apply(plan)?;
            }
            Some(place) => {
                let message = format!(
                    "the catalog already has the bundle `{}`, with other content",
                    bundle.name
                );
                return Err(place
                    .fault(message)
                    .with_hint("remove it there, or give the new bundle another version")
                    .into_error());
            }
        }
        Ok(())
    }

    /// The result is a catalog that OLM takes.
    fn require_valid(&self, tree: &WorkTree<'_>) -> anyhow::Result<()> {
        let mut loader = load_catalog(tree, &self.catalog_dir)?;
        if loader.faults.is_empty() {
            loader.faults.extend(catalog::check(&loader.catalog).err().into_iter().flatten());
        }
        if loader.faults.is_empty() {
            return Ok(());
        }
        let headline = "the catalog would not be valid, and nothing was written".to_owned();
        Err(Diagnostics { headline, list: loader.faults }.into())
    }

    fn choose_channels(&self, bundle: &Bundle) -> anyhow::Result<Vec<String>> {
        let given: Vec<String> = self.channels.iter().map(ToString::to_string).collect();
        let mut channels = if given.is_empty() { bundle.channels.clone() } else { given };
        let mut seen = BTreeSet::new();
        channels.retain(|channel| seen.insert(channel.clone()));
        if channels.is_empty() {
            return Err(anyhow::format_err!("the annotations of the bundle name no channel"))
                .hint("name one with `--channels`");
        }
        Ok(channels)
    }

    fn default_channel(&self, bundle: &Bundle, channels: &[String]) -> String {
        let default = Some(&bundle.default_channel).filter(|channel| channels.contains(channel));
        default.or(channels.first()).cloned().unwrap_or_default()
    }
}

/// The catalog in a directory of the project.
fn load_catalog(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Loader> {
    let paths = tree.list_files(folder)?;
    let mut ignored = BTreeMap::new();
    for path in paths.iter().filter(|path| path.name() == catalog::IGNORE_FILE) {
        ignored.insert(below(path, folder)?, tree.read_text(path)?.unwrap_or_default());
    }
    let ignore = Ignore::parse(folder.as_str(), &ignored)?;
    let mut loader = Loader::default();
    for path in paths {
        let inside = below(&path, folder)?;
        if !ignore.excludes(&inside)
            && let Some(bytes) = tree.read_bytes(&path)?
        {
            loader.load_file(&inside, &bytes, path.as_str());
        }
    }
    Ok(loader)
}

/// The fields of a blob that a new one changes; none if it changes nothing.
fn format_changed_fields(before: &Value, after: &Value) -> Option<String> {
    let keys: BTreeSet<&String> =
        [before, after].iter().flat_map(|blob| field_names(blob)).collect();
    let different = keys.into_iter().filter(|key| before.get(key) != after.get(key));
    let names: Vec<String> = different.map(|key| format!("`{key}`")).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

fn field_names(blob: &Value) -> impl Iterator<Item = &String> {
    blob.as_object().into_iter().flat_map(|fields| fields.keys())
}

/// A name that is used as the name of a file.
fn file_name(name: &str) -> anyhow::Result<&str> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "-_.+".contains(character));
    if is_plain {
        return Ok(name);
    }
    Err(anyhow::format_err!("{} cannot be the name of a file", format_quoted(name)))
        .hint("correct the name of the package or of the ClusterServiceVersion")
}
