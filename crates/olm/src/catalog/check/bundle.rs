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
        channel: Option<&Located<blob::Channel>>,
        problems: &mut Vec<Diagnostic>,
    ) {
        let name = &self.entry.name;
        let title = format!("bundle {}", go::quoted(name));
        let of_channel = |it: String| match channel {
            Some(channel) => channel.fault(it),
            None => it.into(),
        };
        if self.bundle.is_none() {
            let problem = of_channel(format!("{title}: the catalog has no such bundle"));
            problems.push(problem.with_hint(
                "correct the name of the entry, or add the bundle with `operator-rs catalog add`",
            ));
        }
        for (message, about) in self.faults(package) {
            let whole = format!("{title}: {message}");
            problems.push(match (about, self.bundle) {
                (About::Bundle, Some(bundle)) => bundle.fault(whole),
                _ => of_channel(whole),
            });
        }
    }

    /// Each fault, and what it is about.
    fn faults(&self, package: &str) -> Vec<(String, About)> {
        let mut res = Vec::new();
        let name = &self.entry.name;
        if name.is_empty() {
            res.push(("name must be set".to_owned(), About::Entry));
        }
        let normal = match self.release.is_empty() {
            true => name.clone(),
            false => format!("{package}-v{}", self.version_text()),
        };
        if *name != normal {
            let (name, normal) = (go::quoted(name), go::quoted(&normal));
            res.push((
                format!("name {name} does not match normalized name {normal}"),
                About::Bundle,
            ));
        }
        for (at, _) in self.entry.skips.iter().enumerate().filter(|it| it.1.is_empty()) {
            res.push((format!("skip[{at}] is empty"), About::Entry));
        }
        let range = &self.entry.skip_range;
        if !range.is_empty() && Range::parse(range).is_none() {
            let message = format!("skipRange {} is not a range of versions", go::quoted(range));
            res.push((message, About::Entry));
        }
        if self.bundle.is_some_and(|it| it.blob.image.is_empty() && !it.blob.has_objects()) {
            res.push(("bundle image must be set".to_owned(), About::Bundle));
        }
        if self.deprecated == Some("") {
            res.push(("invalid deprecation: message must be set".to_owned(), About::Bundle));
        }
        if !self.version.build.is_empty() && !self.release.is_empty() {
            let message = "cannot use build metadata in version with a release version";
            res.push((message.to_owned(), About::Bundle));
        }
        res
    }
}

/// The name, the version and the release that the properties of a bundle give it.
pub fn package_of(bundle: &blob::Bundle) -> Result<[String; 3], String> {
    let name = go::quoted(&bundle.name);
    let properties = properties::properties(&bundle.properties)
        .map_err(|it| format!("parse properties for bundle {name}: {it}"))?;
    match <[_; 1]>::try_from(properties.packages) {
        Ok([package]) => Ok(package),
        Err(found) => Err(format!(
            "package {} bundle {name} must have exactly 1 \"olm.package\" property, found {}",
            go::quoted(&bundle.package),
            found.len()
        )),
    }
}
