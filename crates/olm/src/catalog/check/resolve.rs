//! Resolves blobs into packages: names that exist, once each.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        blob,
        go::format_quoted,
        load::{Catalog, Located},
        version::{Identifier, Version},
    },
    bundle::package_of,
    label,
    model::{Channel, Member, Model, Package},
};
use diagnostics::Diagnostic;
use model::Namespace;

#[derive(Default)]
struct Resolver<'a> {
    packages: BTreeMap<&'a str, Package<'a>>,
    /// The entries of a package's last channel that have no bundle. `opm` looks only at the last one.
    missing: BTreeMap<&'a str, BTreeSet<&'a str>>,
    bundles: BTreeMap<&'a str, BTreeSet<&'a str>>,
    problems: Vec<Diagnostic>,
}

pub fn resolve(catalog: &Catalog) -> Result<Model<'_>, Vec<Diagnostic>> {
    let mut resolver = Resolver::default();
    for package in &catalog.packages {
        let done = resolver.add_package(package);
        resolver.report_error(done, package);
    }
    for channel in &catalog.channels {
        let done = resolver.add_channel(channel);
        resolver.report_error(done, channel);
    }
    for bundle in &catalog.bundles {
        let done = resolver.add_bundle(bundle);
        resolver.report_error(done, bundle);
    }
    resolver.require_bundles(catalog);
    resolver.add_default_channels();
    let mut deprecated = BTreeSet::new();
    for (at, deprecations) in catalog.deprecations.iter().enumerate() {
        let done = resolver.add_deprecations(at, &deprecations.blob, &mut deprecated);
        resolver.report_error(done, deprecations);
    }
    if resolver.problems.is_empty() { Ok(Model(resolver.packages)) } else { Err(resolver.problems) }
}

impl<'a> Resolver<'a> {
    fn report_error<T>(&mut self, done: Result<(), String>, at: &Located<T>) {
        self.problems.extend(done.err().map(|message| at.fault(message)));
    }

    fn add_package(&mut self, located: &'a Located<blob::PackageBlob>) -> Result<(), String> {
        let name = located.blob.name.as_str();
        if name.is_empty() {
            return Err("config contains package with no name".to_owned());
        }
        if self.packages.contains_key(name) {
            return Err(format!("duplicate package {}", format_quoted(name)));
        }
        let package = Package { blob: located, channels: BTreeMap::new(), deprecated: None };
        self.packages.insert(name, package);
        // The rules for namespaces are the same.
        name.parse::<Namespace>()
            .map(drop)
            .map_err(|error| format!("package name {}: {error}", format_quoted(name)))
    }

    fn add_channel(&mut self, located: &'a Located<blob::ChannelBlob>) -> Result<(), String> {
        let blob::ChannelBlob { name, package, .. } = &located.blob;
        let (name_text, package_text) = (format_quoted(name), format_quoted(package));
        let Some(known_package) = self.packages.get_mut(package.as_str()) else {
            return Err(format!("unknown package {package_text} for channel {name_text}"));
        };
        if name.is_empty() {
            return Err(format!("package {package_text} contains channel with no name"));
        }
        if known_package.channels.contains_key(name.as_str()) {
            return Err(format!("package {package_text} has duplicate channel {name_text}"));
        }
        let mut members = BTreeMap::new();
        let mut duplicate = Ok(());
        for entry in located.blob.entries() {
            let member = Member {
                entry,
                bundle: None,
                version: Version::default(),
                release: Vec::new(),
                deprecated: None,
            };
            if members.insert(entry.name.as_str(), member).is_some() && duplicate.is_ok() {
                let entry = format_quoted(&entry.name);
                duplicate = Err(format!(
                    "invalid package {package_text}, channel {name_text}: duplicate entry {entry}"
                ));
            }
        }
        self.missing.insert(package, members.keys().copied().collect());
        let channel = Channel { name, blob: Some(located), members, deprecated: None };
        known_package.channels.insert(name, channel);
        duplicate
    }

    fn add_bundle(&mut self, located: &'a Located<blob::BundleBlob>) -> Result<(), String> {
        let blob::BundleBlob { name, package, image, related_images, .. } = &located.blob;
        let (name_text, package_text) = (format_quoted(name), format_quoted(package));
        if package.is_empty() {
            return Err(format!("package name must be set for bundle {name_text}"));
        }
        let Some(known_package) = self.packages.get_mut(package.as_str()) else {
            return Err(format!("unknown package {package_text} for bundle {name_text}"));
        };
        if !self.bundles.entry(package).or_default().insert(name) {
            return Err(format!("package {package_text} has duplicate bundle {name_text}"));
        }
        // A bundle that has another fault is not missing.
        if let Some(missing) = self.missing.get_mut(package.as_str()) {
            missing.remove(name.as_str());
        }
        let [of, raw, release] = package_of(&located.blob)?;
        if *package != of {
            return Err(format!(
                "package {package_text} does not match \"olm.package\" property {}",
                format_quoted(&of)
            ));
        }
        let spec = |image: &str, what: &str| {
            if image.is_empty() || label::is_image(image) {
                Ok(())
            } else {
                Err(format!(
                    "package {package_text} bundle {name_text} {what}: {} is not an image reference",
                    format_quoted(image)
                ))
            }
        };
        spec(image, "image")?;
        for (at, related) in related_images.iter().enumerate() {
            spec(&related.image, &format!("relatedImages[{at}].image"))?;
        }
        let invalid = |what: &str, value: &str| {
            format!("the {what} {} of bundle {name_text} is not valid", format_quoted(value))
        };
        let version = Version::parse(&raw).ok_or_else(|| invalid("version", &raw))?;
        let release = release_of(&release).ok_or_else(|| invalid("release", &release))?;
        let mut is_found = false;
        for channel in known_package.channels.values_mut() {
            if let Some(member) = channel.members.get_mut(name.as_str()) {
                is_found = true;
                member.bundle = Some(located);
                member.version = version.clone();
                member.release.clone_from(&release);
            }
        }
        if is_found {
            Ok(())
        } else {
            Err(format!(
                "package {package_text}, bundle {name_text} not found in any channel entries"
            ))
        }
    }

    fn require_bundles(&mut self, catalog: &Catalog) {
        for (package, names) in self.missing.iter().filter(|entry| !entry.1.is_empty()) {
            let list: Vec<&str> = names.iter().copied().collect();
            let message = format!(
                "no olm.bundle blobs found in package {} for olm.channel entries [{}]",
                format_quoted(package),
                list.join(" ")
            );
            let channel = catalog.channels.iter().rfind(|channel| channel.blob.package == *package);
            let problem = channel
                .map_or_else(|| Diagnostic::from(&message), |channel| channel.fault(&message));
            self.problems.push(problem.with_hint(
                "add the bundles with `operator-rs catalog add`, or remove the entries",
            ));
        }
    }

    /// Adds default channels that do not exist as empty ones.
    fn add_default_channels(&mut self) {
        for package in self.packages.values_mut() {
            let name = package.blob.blob.default_channel.as_str();
            if !name.is_empty() {
                package.channels.entry(name).or_insert_with(|| Channel {
                    name,
                    blob: None,
                    members: BTreeMap::new(),
                    deprecated: None,
                });
            }
        }
    }

    fn add_deprecations(
        &mut self,
        at: usize,
        deprecations: &'a blob::Deprecations,
        met: &mut BTreeSet<&'a str>,
    ) -> Result<(), String> {
        let text = format_quoted(&deprecations.package);
        if deprecations.package.is_empty() {
            return Err(format!("package name must be set for deprecation item {at}"));
        }
        let Some(package) = self.packages.get_mut(deprecations.package.as_str()) else {
            return Err(format!("cannot apply deprecations to an unknown package {text}"));
        };
        if !met.insert(&deprecations.package) {
            return Err(format!("expected a maximum of one deprecation per package: {text}"));
        }
        let bundles = self.bundles.get(deprecations.package.as_str());
        let mut references = BTreeSet::new();
        for (at, entry) in deprecations.entries.iter().flatten().enumerate() {
            let blob::Deprecated { schema, name, message } = entry;
            let reference = format!(
                "declcfg.PackageScopedReference{{Schema:{}, Name:{}}}",
                format_quoted(schema),
                format_quoted(name)
            );
            if schema.is_empty() {
                return Err(format!(
                    "schema must be set for deprecation entry [{at}] for package {text}"
                ));
            }
            if !references.insert((schema, name)) {
                return Err(format!("duplicate deprecation entry {reference} for package {text}"));
            }
            match schema.as_str() {
                blob::BUNDLE => {
                    if !bundles.is_some_and(|names| names.contains(name.as_str())) {
                        let name = format_quoted(name);
                        return Err(format!(
                            "cannot deprecate bundle {name} for package {text}: bundle not found"
                        ));
                    }
                    for channel in package.channels.values_mut() {
                        if let Some(member) = channel.members.get_mut(name.as_str()) {
                            member.deprecated = Some(message);
                        }
                    }
                }
                blob::CHANNEL => {
                    let Some(channel) = package.channels.get_mut(name.as_str()) else {
                        let name = format_quoted(name);
                        return Err(format!(
                            "cannot deprecate channel {name} for package {text}: channel not found"
                        ));
                    };
                    channel.deprecated = Some(message);
                }
                blob::PACKAGE if name.is_empty() => package.deprecated = Some(message),
                blob::PACKAGE => {
                    let name = format_quoted(name);
                    return Err(format!(
                        "package name must be empty for deprecated package {text} (specified {name})"
                    ));
                }
                _ => {
                    return Err(format!(
                        "cannot deprecate object {reference} referenced by entry {at} for package {text}: object schema unknown"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Parses a release: parts of a pre-release, at most 20 characters.
fn release_of(text: &str) -> Option<Vec<Identifier>> {
    match text {
        "" => Some(Vec::new()),
        text if text.len() > 20 => None,
        text => text.split('.').map(Identifier::parse).collect(),
    }
}
