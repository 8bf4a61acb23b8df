//! The rules for one member of a channel.

use super::{
    super::{blob, go, load::Located, properties, version::Range},
    model::Member,
};
use diagnostics::Diagnostic;

/// The subject of a fault.
enum About {
    Entry,
    Bundle,
}

impl Member<'_> {
    pub fn check(
        &self,
        package: &str,
        channel: Option<&Located<blob::ChannelBlob>>,
        problems: &mut Vec<Diagnostic>,
    ) {
        let name = &self.entry.name;
        let title = format!("bundle {}", go::format_quoted(name));
        let of_channel = |message: String| match channel {
            Some(channel) => channel.fault(message),
            None => message.into(),
        };
        if self.bundle.is_none() {
            let problem = of_channel(format!("{title}: the catalog has no such bundle"));
            problems.push(problem.with_hint(
                "correct the name of the entry, or add the bundle with `operator-rs catalog add`",
            ));
        }
        for (message, about) in self.find_faults(package) {
            let whole = format!("{title}: {message}");
            problems.push(match (about, self.bundle) {
                (About::Bundle, Some(bundle)) => bundle.fault(whole),
                _ => of_channel(whole),
            });
        }
    }

    /// Returns each fault and its subject.
    fn find_faults(&self, package: &str) -> Vec<(String, About)> {
        let mut faults = Vec::new();
        let name = &self.entry.name;
        if name.is_empty() {
            faults.push(("name must be set".to_owned(), About::Entry));
        }
        let normal = if self.release.is_empty() {
            name.clone()
        } else {
            format!("{package}-v{}", self.version_text())
        };
        if *name != normal {
            let (name, normal) = (go::format_quoted(name), go::format_quoted(&normal));
            faults.push((
                format!("name {name} does not match normalized name {normal}"),
                About::Bundle,
            ));
        }
        for (at, _) in self.entry.skips.iter().enumerate().filter(|skip| skip.1.is_empty()) {
            faults.push((format!("skip[{at}] is empty"), About::Entry));
        }
        let range = &self.entry.skip_range;
        if !range.is_empty() && Range::parse(range).is_none() {
            let message =
                format!("skipRange {} is not a range of versions", go::format_quoted(range));
            faults.push((message, About::Entry));
        }
        if self
            .bundle
            .is_some_and(|bundle| bundle.blob.image.is_empty() && !bundle.blob.has_objects())
        {
            faults.push(("bundle image must be set".to_owned(), About::Bundle));
        }
        if self.deprecated == Some("") {
            faults.push(("invalid deprecation: message must be set".to_owned(), About::Bundle));
        }
        if !self.version.build.is_empty() && !self.release.is_empty() {
            let message = "cannot use build metadata in version with a release version";
            faults.push((message.to_owned(), About::Bundle));
        }
        faults
    }
}

/// Returns the name, the version and the release in the properties of a bundle.
pub fn package_of(bundle: &blob::BundleBlob) -> Result<[String; 3], String> {
    let name = go::format_quoted(&bundle.name);
    let properties = properties::parse_properties(&bundle.properties)
        .map_err(|error| format!("parse properties for bundle {name}: {error}"))?;
    match <[_; 1]>::try_from(properties.packages) {
        Ok([package]) => Ok(package),
        Err(found) => Err(format!(
            "package {} bundle {name} must have exactly 1 \"olm.package\" property, found {}",
            go::format_quoted(&bundle.package),
            found.len()
        )),
    }
}
