//! Checks that the Secret in which helm stores a release is not too large for API servers.

use super::{Chart, Finding, Rendering, Rule};
use crate::app::charts::release_secret;
use diagnostics::Severity;

const MOST: usize = release_secret::LIMIT;

/// Near enough to the limit that a release with more values may not fit.
const NEAR: usize = MOST / 10 * 8;

/// Returns the larger of a release's sizes.
pub fn check(chart: &Chart, renderings: &[Rendering]) -> Vec<Finding> {
    let manifests = renderings.iter().map(|rendering| rendering.text.as_str());
    let manifest = manifests.max_by_key(|manifest| manifest.len()).unwrap_or_default();
    let files = chart.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let size = release_secret::size(files, manifest);
    if size < NEAR {
        return Vec::new();
    }
    let kilobytes = size >> 10;
    let what = format!(
        "helm would store about {kilobytes} KiB for a release in a Secret, which can have 1024 KiB"
    );
    let mut res =
        Rule::ReleaseSize.to_finding(&chart.name, what, Some(chart.place("Chart.yaml", 0, 0)));
    if size < MOST {
        res.severity = Severity::Warning;
    }
    vec![res]
}
