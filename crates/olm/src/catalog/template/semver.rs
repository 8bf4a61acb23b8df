//! `olm.semver`: channels by major and minor versions, with the edges that the versions give.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{
    super::{
        blob::{ChannelBlob, Entry, Icon, PackageBlob},
        check::package_of,
        go,
        load::{Catalog, Located},
        properties,
        version::Version,
    },
    Bundles, find_bundle,
    read::TemplateDocument,
};
use diagnostics::Hint as _;
use go_data::yaml::{Map, Value};

pub const SCHEMA: &str = "olm.semver";

/// From the least to the most stable.
const ARCHETYPES: [&str; 3] = ["candidate", "fast", "stable"];

/// The less specific one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChannelKind {
    Major,
    Minor,
}

pub struct Semver {
    major: bool,
    minor: bool,
    preference: ChannelKind,
    /// The images of each archetype.
    images: [Vec<String>; 3],
}

impl Semver {
    pub fn read(document: &TemplateDocument) -> anyhow::Result<Self> {
        refuse_unknown_fields(
            document,
            &document.map,
            &[
                "schema",
                "generateMajorChannels",
                "generateMinorChannels",
                "defaultChannelTypePreference",
                "candidate",
                "fast",
                "stable",
            ],
        )?;
        let flag = |name: &str| match go::find_field(&document.map, name) {
            None => Ok(false),
            Some(Value::Bool(it)) => Ok(*it),
            Some(value) => Err(document.type_error(name, value, "a boolean")),
        };
        let (major, mut minor) = (flag("generateMajorChannels")?, flag("generateMinorChannels")?);
        minor |= !major;
        let preference = document.text("defaultChannelTypePreference")?;
        let mismatch = |word: &str| {
            let message = format!(
                "schema attribute mismatch: DefaultChannelTypePreference set to '{word}' doesn't make sense if not generating {word}-version channels"
            );
            Err(document.fault(message).into_error())
        };
        let preference = match preference.as_str() {
            "" if minor => ChannelKind::Minor,
            "" => ChannelKind::Major,
            "minor" if !minor => return mismatch("minor"),
            "minor" => ChannelKind::Minor,
            "major" if !major => return mismatch("major"),
            "major" => ChannelKind::Major,
            other => {
                let message =
                    format!("unknown DefaultChannelTypePreference: {}", go::format_quoted(other));
                return Err(document
                    .fault(message)
                    .with_hint("valid values are `major` and `minor`")
                    .into_error());
            }
        };
        let mut images = [const { Vec::new() }; 3];
        for (images, archetype) in images.iter_mut().zip(ARCHETYPES) {
            *images = read_images(document, archetype)?;
        }
        if images.iter().all(Vec::is_empty) {
            let message = "render: no bundles specified or no bundles could be rendered";
            return Err(document.fault(message).into_error());
        }
        Ok(Self { major, minor, preference, images })
    }

    pub fn listed_images(&self) -> Vec<&str> {
        let mut images: Vec<&str> = Vec::new();
        for image in self.images.iter().flatten() {
            if !images.contains(&image.as_str()) {
                images.push(image);
            }
        }
        images
    }

    pub fn render(self, bundles: &Bundles) -> anyhow::Result<Catalog> {
        let mut package = None;
        let mut versions = [const { BTreeMap::new() }; 3];
        for (versions, images) in versions.iter_mut().zip(&self.images) {
            *versions = self::collect_versions(images, bundles, &mut package)?;
        }
        let package = package.unwrap_or_default();
        let (channels, default_channel) = self.build_channels(&package, &versions);
        let mut described =
            PackageBlob { name: package, default_channel, ..PackageBlob::default() };
        let head = channels.iter().find(|channel| channel.name == described.default_channel);
        let head =
            head.and_then(|channel| channel.entries().last()).map(|entry| entry.name.as_str());
        if let Some(csv) = bundles
            .values()
            .find(|bundle| Some(bundle.name.as_str()) == head)
            .and_then(properties::find_csv)
        {
            set_description(&mut described, &csv);
        }
        let mut catalog = Catalog::default();
        catalog.packages.push(Located::new(described));
        catalog.channels.extend(channels.into_iter().map(Located::new));
        for image in self.listed_images() {
            catalog.bundles.push(Located::new(find_bundle(bundles, image)?.clone()));
        }
        Ok(catalog)
    }

    /// Builds the channels with their upgrades, and returns them with the name of the default one.
    fn build_channels(
        &self,
        package: &str,
        versions: &[BTreeMap<String, Version>; 3],
    ) -> (Vec<ChannelBlob>, String) {
        let mut channels: BTreeMap<String, ChannelBlob> = BTreeMap::new();
        let mut edges: Vec<Edge> = Vec::new();
        let mut best: Option<Candidate> = None;
        for (archetype, versions) in versions.iter().enumerate() {
            let mut sorted: Vec<(&String, &Version)> = versions.iter().collect();
            sorted.sort_by(|one, other| one.1.compare_precedence(other.1));
            for (bundle, version) in sorted {
                let kinds = [(self.major, ChannelKind::Major), (self.minor, ChannelKind::Minor)];
                for (_, kind) in kinds.into_iter().filter(|entry| entry.0) {
                    let name = channel_name(archetype, kind, version);
                    if !channels.contains_key(&name) {
                        let candidate = Candidate { archetype, kind, version, name: name.clone() };
                        if best
                            .as_ref()
                            .is_none_or(|current| candidate.is_better(current, self.preference))
                        {
                            best = Some(candidate);
                        }
                    }
                    let channel = channels.entry(name.clone()).or_insert_with(|| ChannelBlob {
                        name: name.clone(),
                        package: package.to_owned(),
                        entries: Some(Vec::new()),
                        properties: Vec::new(),
                    });
                    let entries = channel.entries.get_or_insert_default();
                    entries.push(Entry { name: bundle.clone(), ..Entry::default() });
                    let index = entries.len() - 1;
                    edges.push(Edge { archetype, kind, channel: name, bundle, version, index });
                }
            }
        }
        link_entries(&mut channels, edges);
        (channels.into_values().collect(), best.map(|candidate| candidate.name).unwrap_or_default())
    }
}

/// A channel that may be the default one.
struct Candidate<'a> {
    archetype: usize,
    kind: ChannelKind,
    /// Its first version.
    version: &'a Version,
    name: String,
}

impl Candidate<'_> {
    fn is_better(&self, other: &Self, preference: ChannelKind) -> bool {
        let rank = |kind: ChannelKind| (kind == preference, kind);
        let order = self
            .archetype
            .cmp(&other.archetype)
            .then_with(|| self.version.compare_precedence(other.version))
            .then_with(|| rank(self.kind).cmp(&rank(other.kind)));
        order.is_gt()
    }
}

/// An entry of a channel, before it is linked.
struct Edge<'a> {
    archetype: usize,
    kind: ChannelKind,
    channel: String,
    bundle: &'a str,
    version: &'a Version,
    index: usize,
}

/// Links the entries: the last version of each minor version skips all earlier ones of its major version, and
/// replaces the last of the minor version before it.
fn link_entries(channels: &mut BTreeMap<String, ChannelBlob>, mut edges: Vec<Edge>) {
    edges.sort_by(|one, other| {
        let key = |edge: &Edge| (edge.archetype, edge.kind);
        key(one).cmp(&key(other)).then_with(|| one.version.compare_precedence(other.version))
    });
    let mut replaced = String::new();
    let mut skipped: BTreeSet<&str> = BTreeSet::new();
    for (at, edge) in edges.iter().enumerate() {
        let next = edges.get(at + 1);
        let family = |edge: &Edge| (edge.archetype, edge.kind, edge.version.major);
        let same_family = next.is_some_and(|following| family(following) == family(edge));
        let same_minor = same_family
            && next.is_some_and(|following| following.version.minor == edge.version.minor);
        // The only entry of a channel has no edges.
        if !same_minor {
            let entries =
                channels.get_mut(&edge.channel).and_then(|channel| channel.entries.as_mut());
            if let Some(entry) = entries.and_then(|entries| entries.get_mut(edge.index)) {
                entry.replaces.clone_from(&replaced);
                let skips = skipped.iter().filter(|name| **name != replaced);
                entry.skips = skips.map(|name| (*name).to_owned()).collect();
            }
        }
        if !same_family {
            replaced.clear();
            skipped.clear();
            continue;
        }
        if !same_minor {
            edge.bundle.clone_into(&mut replaced);
        }
        skipped.insert(edge.bundle);
    }
}

fn channel_name(archetype: usize, kind: ChannelKind, version: &Version) -> String {
    let archetype = ARCHETYPES[archetype];
    match kind {
        ChannelKind::Major => format!("{archetype}-v{}", version.major),
        ChannelKind::Minor => format!("{archetype}-v{}.{}", version.major, version.minor),
    }
}

/// Collects the versions of an archetype's bundles by name. All bundles are of one package.
fn collect_versions(
    images: &[String],
    bundles: &Bundles,
    package: &mut Option<String>,
) -> anyhow::Result<BTreeMap<String, Version>> {
    let mut versions: BTreeMap<String, Version> = BTreeMap::new();
    let mut images_by_name: BTreeMap<&str, &str> = BTreeMap::new();
    for image in images {
        let bundle = find_bundle(bundles, image)?;
        let name = go::format_quoted(&bundle.name);
        let [of, raw, _] = package_of(bundle).map_err(anyhow::Error::msg)?;
        let version = Version::parse(&raw).ok_or_else(|| {
            anyhow::format_err!(
                "the version {} of bundle {name} is not valid",
                go::format_quoted(&raw)
            )
        })?;
        let first = package.get_or_insert_with(|| of.clone());
        anyhow::ensure!(
            *first == of,
            "bundle {} does not belong to this package: {}",
            go::format_quoted(&of),
            go::format_quoted(first)
        );
        if let Some(other) = images_by_name.insert(&bundle.name, image) {
            let where_from = if other == image {
                format!("the image `{image}` is listed twice")
            } else {
                format!("the images `{other}` and `{image}` both have it")
            };
            return Err(anyhow::format_err!("duplicate bundle name {name}: {where_from}"))
                .hint("leave all but one of them out of the template");
        }
        if let Some(other) =
            versions.values().find(|known| known.compare_precedence(&version).is_eq())
        {
            let plain = version.without_build();
            return Err(anyhow::format_err!(
                "encountered bundle versions which differ only by build metadata, which cannot be ordered: \"{version}\" and \"{other}\" are both \"{plain}\""
            ))
            .hint("give each bundle of a channel a version of its own");
        }
        versions.insert(bundle.name.clone(), version);
    }
    Ok(versions)
}

fn read_images(document: &TemplateDocument, archetype: &str) -> anyhow::Result<Vec<String>> {
    let map = match go::find_field(&document.map, archetype) {
        None => return Ok(Vec::new()),
        Some(Value::Object(map)) => map,
        Some(value) => return Err(document.type_error(archetype, value, "an object")),
    };
    refuse_unknown_fields(document, map, &["bundles"])?;
    let items = match go::find_field(map, "bundles") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(value) => return Err(document.type_error("bundles", value, "a list")),
    };
    let mut images = Vec::new();
    for item in items {
        let Value::Object(map) = item else {
            return Err(document.type_error("bundles", item, "an object with `image`"));
        };
        refuse_unknown_fields(document, map, &["image"])?;
        match go::find_field(map, "image") {
            Some(Value::String(it)) if !it.is_empty() => images.push(it.clone()),
            Some(value) if !value.is_string() => {
                return Err(document.type_error("image", value, "a string"));
            }
            _ => {
                return Err(document
                    .fault(format!("a bundle of `{archetype}` has no `image`"))
                    .into_error());
            }
        }
    }
    Ok(images)
}

fn refuse_unknown_fields(
    document: &TemplateDocument,
    map: &Map<String, Value>,
    names: &[&str],
) -> anyhow::Result<()> {
    match map.keys().find(|key| !names.iter().any(|name| name.eq_ignore_ascii_case(key))) {
        None => Ok(()),
        Some(key) => {
            let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            Err(document
                .fault(format!("unknown field {}", go::format_quoted(key)))
                .with_hint(format!("the fields here are {known}"))
                .into_error())
        }
    }
}

/// Sets the description and the icon from a ClusterServiceVersion.
fn set_description(package: &mut PackageBlob, csv: &Value) {
    let Some(spec) = csv.get("spec").and_then(Value::as_object) else { return };
    if let Some(text) = go::find_field(spec, "description").and_then(Value::as_str) {
        text.clone_into(&mut package.description);
    }
    let icons = go::find_field(spec, "icon").and_then(Value::as_array);
    let Some(Value::Object(icon)) = icons.and_then(|icons| icons.first()) else { return };
    let text = |name: &str| go::find_field(icon, name).and_then(Value::as_str).unwrap_or_default();
    let bytes = BASE64_STANDARD.decode(text("base64data").replace(['\r', '\n'], ""));
    if let Ok(bytes) = bytes {
        let data = go::find_field(icon, "base64data").map(|_| BASE64_STANDARD.encode(bytes));
        package.icon = Some(Icon { data, media_type: text("mediatype").to_owned() });
    }
}
