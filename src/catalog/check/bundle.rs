//! The rules for one member of a channel.

use super::{
    super::{blob, go, load::Located, properties, version::Range},
    model::Member,
    tree::Tree,
};
use diagnostics::Diagnostic;

/// What a fault is about.
enum About {
    Entry,
    Bundle,
    /// What `opm` misses in a bundle that does not exist.
    Content,
}

impl Member<'_> {
    pub fn check(
        &self,
        package: &str,
        channel: Option<&Located<blob::Channel>>,
        problems: &mut Vec<Diagnostic>,
    ) -> Tree {
        let name = &self.entry.name;
        let title = format!("bundle {}", go::quoted(name));
        let mut tree = Tree::new(format!("invalid {title}"));
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
            match (about, self.bundle) {
                (About::Bundle | About::Content, Some(bundle)) => {
                    problems.push(bundle.fault(whole))
                }
                (About::Content, None) => {}
                _ => problems.push(of_channel(whole)),
            }
            tree.fault(message);
        }
        tree
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
        if let (false, Err(fault)) = (range.is_empty(), Range::parse(range)) {
            let message = format!("invalid skipRange {}: {fault}", go::quoted(range));
            res.push((message, About::Entry));
        }
        // Properties of bundles that exist were counted before.
        if self.bundle.is_none() {
            let message = "must be exactly one property with type \"olm.package\"";
            res.push((message.to_owned(), About::Content));
        }
        let has_content =
            self.bundle.is_some_and(|it| !it.blob.image.is_empty() || it.blob.has_objects());
        if !has_content {
            res.push(("bundle image must be set".to_owned(), About::Content));
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
