//! `operator-rs catalog add`

mod entry;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::render::BundleImage;
use crate::{
    app::{
        catalog_source::{self, Source},
        folder::below,
        images::Access,
    },
    commands::{Mode, writing},
    plan::{Plan, WorkTree},
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::{
    kubernetes::go::quoted,
    yaml::{self, Value},
};
use model::{Channel, Found, ProjectPath, Tree};
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
    addition: Addition,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    mode: Mode,
}

/// Where a bundle is added, and what it upgrades.
#[derive(clap::Args)]
pub struct Addition {
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
            let source = Source::open(dir, &self.bundle, &self.access)?;
            self.access.require_use()?;
            let bundle = source.bundle()?;
            let image = self.image.of(&source, &bundle)?;
            self.addition.write(tree, &bundle, &image)
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
    let before = tree.read(path)?.unwrap_or_default();
    let after = change(&before).map_err(|edit::Refusal(why)| {
        let message = format!("this file cannot be edited: {why}");
        let problem = Diagnostic::in_file(path.as_str(), message).at(line.unwrap_or(1), 1);
        let hint = format!("add this by hand, and run the command again: {lines}");
        problem.with_hint(hint).into_error()
    })?;
    let mut plan = Plan::default();
    match tree.before().look(path)? {
        Found::Nothing => plan.scaffold(path.clone(), after),
        _ => plan.edit(path.clone(), before, after),
    }
    tree.apply(plan)
}

impl Addition {
    pub fn write(
        &self,
        tree: &mut WorkTree<'_>,
        bundle: &Bundle,
        image: &str,
    ) -> anyhow::Result<()> {
        let before =
            catalog_source::whole(load(tree, &self.catalog_dir)?, self.catalog_dir.as_str())?;
        let channels = self.channels(bundle)?;
        let package = before.packages.iter().find(|it| it.blob.name == bundle.package);
        let mut file = match package.and_then(|it| it.place.as_ref()) {
            Some(place) => place.file.parse()?,
            None => {
                let path =
                    self.catalog_dir.join(&format!("{}.yaml", file_name(&bundle.package)?))?;
                let blob = blob::Package {
                    name: bundle.package.clone(),
                    default_channel: self.default_channel(bundle, &channels),
                    ..blob::Package::default()
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
            file = self.enter(tree, bundle, name, &before, file)?;
        }
        bundle.warnings.iter().for_each(|it| tree.warn(it));
        self.put(tree, bundle, image, &before, &file)?;
        self.require_valid(tree)
    }

    /// Adds the entry of the bundle to a channel, which is made in `file` if there is none. Returns the file of the channel.
    fn enter(
        &self,
        tree: &mut WorkTree<'_>,
        bundle: &Bundle,
        name: &str,
        before: &Catalog,
        file: ProjectPath,
    ) -> anyhow::Result<ProjectPath> {
        let is_this = |it: &&Located<blob::Channel>| {
            it.blob.package == bundle.package && it.blob.name == name
        };
        let found = before.channels.iter().find(is_this);
        let place = found.and_then(|it| it.place.as_ref()).map(|it| it.file.parse()).transpose()?;
        let entry = self.entry(bundle, found.map(|it| &it.blob), before)?;
        let (Some(found), Some(path)) = (found, place) else {
            let blob = blob::Channel {
                name: name.to_owned(),
                package: bundle.package.clone(),
                entries: Some(vec![entry]),
                properties: Vec::new(),
            };
            let value = blob.to_value();
            edit_file(tree, &file, None, &value.to_string(), |text| edit::with_blob(text, &value))?;
            return Ok(file);
        };
        if !self.has(&found.blob, &entry)? {
            let line = found.place.as_ref().map(|it| it.line);
            let lines = entry.to_value().to_string();
            let edit = |text: &str| edit::with_entry(text, &bundle.package, name, &entry);
            edit_file(tree, &path, line, &lines, edit)?;
        }
        Ok(path)
    }

    /// Writes the file of the bundle beside the one of its channel. A bundle that is elsewhere in the catalog stays there.
    fn put(
        &self,
        tree: &mut WorkTree<'_>,
        bundle: &Bundle,
        image: &str,
        before: &Catalog,
        file: &ProjectPath,
    ) -> anyhow::Result<()> {
        let blob = bundle.blob(image).to_value();
        let folder = file.parent().unwrap_or_else(|| self.catalog_dir.clone());
        let name = file_name(&bundle.name)?;
        let mut path = folder.join(&format!("{name}.yaml"))?;
        // The bundle has the name of its package, whose file is this.
        if path == *file {
            path = folder.join(&format!("{name}.bundle.yaml"))?;
        }
        let is_here = |it: &&Located<blob::Bundle>| {
            it.blob.package == bundle.package && it.blob.name == bundle.name
        };
        let existing = before.bundles.iter().find(is_here);
        match existing.and_then(|it| it.place.as_ref()).filter(|it| *it.file != *path.as_str()) {
            Some(_) if existing.is_some_and(|it| it.blob.to_value() == blob) => {}
            None => {
                if let Some(parts) = existing.and_then(|it| changed(&it.blob.to_value(), &blob)) {
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
        let mut loader = load(tree, &self.catalog_dir)?;
        if loader.faults.is_empty() {
            loader.faults.extend(catalog::check(&loader.catalog).err().into_iter().flatten());
        }
        if loader.faults.is_empty() {
            return Ok(());
        }
        let headline = "the catalog would not be valid, and nothing was written".to_owned();
        Err(Diagnostics { headline, list: loader.faults }.into())
    }

    fn channels(&self, bundle: &Bundle) -> anyhow::Result<Vec<String>> {
        let given: Vec<String> = self.channels.iter().map(ToString::to_string).collect();
        let mut res = if given.is_empty() { bundle.channels.clone() } else { given };
        let mut seen = BTreeSet::new();
        res.retain(|it| seen.insert(it.clone()));
        if res.is_empty() {
            return Err(anyhow::format_err!("the annotations of the bundle name no channel"))
                .hint("name one with `--channels`");
        }
        Ok(res)
    }

    fn default_channel(&self, bundle: &Bundle, channels: &[String]) -> String {
        let default = Some(&bundle.default_channel).filter(|it| channels.contains(it));
        default.or(channels.first()).cloned().unwrap_or_default()
    }
}

/// The catalog in a directory of the project.
fn load(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Loader> {
    let paths = tree.list(folder)?;
    let mut ignored = BTreeMap::new();
    for path in paths.iter().filter(|it| it.name() == catalog::IGNORE_FILE) {
        ignored.insert(below(path, folder)?, tree.read(path)?.unwrap_or_default());
    }
    let ignore = Ignore::read(folder.as_str(), &ignored)?;
    let mut loader = Loader::default();
    for path in paths {
        let inside = below(&path, folder)?;
        if !ignore.has(&inside)
            && let Some(bytes) = tree.bytes(&path)?
        {
            loader.file(&inside, &bytes, path.as_str());
        }
    }
    Ok(loader)
}

/// The fields of a blob that a new one changes; none if it changes nothing.
fn changed(before: &Value, after: &Value) -> Option<String> {
    let keys: BTreeSet<&String> = [before, after].iter().flat_map(|it| keys(it)).collect();
    let different = keys.into_iter().filter(|it| before.get(it) != after.get(it));
    let names: Vec<String> = different.map(|it| format!("`{it}`")).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

fn keys(blob: &Value) -> impl Iterator<Item = &String> {
    blob.as_object().into_iter().flat_map(|it| it.keys())
}

/// A name that is used as the name of a file.
fn file_name(name: &str) -> anyhow::Result<&str> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || "-_.+".contains(it));
    if is_plain {
        return Ok(name);
    }
    Err(anyhow::format_err!("{} cannot be the name of a file", quoted(name)))
        .hint("correct the name of the package or of the ClusterServiceVersion")
}
