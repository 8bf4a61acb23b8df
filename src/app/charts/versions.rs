//! One version in Cargo.toml, in Chart.yaml and as the tag of the operator's image.

use super::{Chart, ChartSource, Finding, Rendering, Rule, rendering::RenderedObject, workloads};
use crate::app::findings::SourceSpan;
use go_data::yaml::Value;

/// `appVersion` against the versions of the packages. A chart without workloads, such as one of CRDs, has an
/// independent version.
pub fn check(chart: &Chart, renderings: &[Rendering], source: &ChartSource) -> Vec<Finding> {
    let has_workload = |rendering: &Rendering| !workloads::all(rendering).is_empty();
    if !renderings.is_empty() && !renderings.iter().any(has_workload) {
        return Vec::new();
    }
    let finding = |rule: Rule, what: String, place: SourceSpan| {
        vec![rule.to_finding(&chart.name, what, Some(place))]
    };
    let Some(version) = &chart.app_version else {
        let what = "Chart.yaml has no `appVersion`, so no version was compared with it".to_owned();
        return finding(Rule::VersionUnknown, what, chart.place("Chart.yaml", 0, 0));
    };
    let place = chart.field("appVersion");
    if source.versions.is_empty() {
        let what =
            "no package could be read, so `appVersion` was not compared with Cargo.toml".to_owned();
        return finding(Rule::VersionUnknown, what, place);
    }
    if source.versions.values().any(|text| is_same_version(text, version)) {
        return Vec::new();
    }
    let versions: Vec<String> =
        source.versions.iter().map(|pair| format!("{} of {}", pair.1, pair.0)).collect();
    let what = match &versions[..] {
        [only] => format!("`appVersion` is {version}, and Cargo.toml has {only}"),
        many => format!(
            "`appVersion` is {version}, and no package has that version: {}",
            many.join(", ")
        ),
    };
    finding(Rule::AppVersion, what, place)
}

/// Returns the tags of the operator's images against `appVersion`, or against Cargo.toml if there is none.
pub fn check_images(chart: &Chart, rendering: &Rendering, source: &ChartSource) -> Vec<Finding> {
    let mut findings = Vec::new();
    for workload in workloads::operators(rendering) {
        let containers =
            workloads::pod(workload).and_then(|workload| workload["containers"].as_array());
        let containers: Vec<&Value> = containers.into_iter().flatten().collect();
        let chosen = match &containers[..] {
            [only] => vec![*only],
            many => {
                many.iter().copied().filter(|value| is_operator(chart, source, value)).collect()
            }
        };
        if chosen.is_empty() {
            let what =
                "it is unknown which of its containers is the operator, so no tag was compared"
                    .to_owned();
            findings.push(Rule::VersionUnknown.to_finding(
                workload.subject(),
                what,
                workload.place(chart, None),
            ));
        }
        let images = chosen.iter().filter_map(|object| object["image"].as_str());
        findings.extend(
            images.filter_map(|text| check_image(chart, rendering, source, workload, text)),
        );
    }
    findings
}

fn check_image(
    chart: &Chart,
    rendering: &Rendering,
    source: &ChartSource,
    workload: &RenderedObject,
    image: &str,
) -> Option<Finding> {
    // A digest names one image, whatever its tag.
    if image.contains('@') {
        return None;
    }
    let with = rendering.with_values();
    let place = workload.place(chart, Some("image:"));
    let finding = |rule: Rule, what: String| Some(rule.to_finding(workload.subject(), what, place));
    let name = image.rsplit('/').next().unwrap_or(image);
    let Some((_, tag)) = name.split_once(':').filter(|pair| !pair.1.is_empty()) else {
        return finding(
            Rule::FloatingTag,
            format!("the image `{image}` has no tag, which means `latest`{with}"),
        );
    };
    if ["latest", "main", "master", "edge", "nightly", "dev"].contains(&tag) {
        return finding(
            Rule::FloatingTag,
            format!("the tag of the image `{image}` is not a version{with}"),
        );
    }
    match &chart.app_version {
        Some(version) if is_same_version(version, tag) => None,
        Some(version) => finding(
            Rule::ImageTag,
            format!("the image is `{image}`, and `appVersion` is {version}{with}"),
        ),
        None if source.versions.is_empty()
            || source.versions.values().any(|version| is_same_version(version, tag)) =>
        {
            None
        }
        None => {
            let versions: Vec<&str> = source.versions.values().map(String::as_str).collect();
            finding(
                Rule::ImageTag,
                format!("the image is `{image}`, and Cargo.toml has {}{with}", versions.join(", ")),
            )
        }
    }
}

/// Returns whether a container has the name of the chart, or of a package.
fn is_operator(chart: &Chart, source: &ChartSource, container: &Value) -> bool {
    let image = container["image"].as_str().unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or_default();
    let image = image.split([':', '@']).next().unwrap_or_default();
    let names = source.versions.keys().map(String::as_str).chain([chart.name.as_str()]);
    let container = container["name"].as_str().unwrap_or_default();
    { names }.any(|name| name == image || name == container)
}

fn is_same_version(one: &str, other: &str) -> bool {
    one.trim_start_matches('v') == other.trim_start_matches('v')
}
