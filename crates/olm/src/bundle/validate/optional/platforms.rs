//! Checks that the platforms of images are those that the CSV's labels list.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    super::{Findings, Rule, load::Loaded, of},
    Context,
};
use go_data::yaml::{Map, Value};

const ARCHITECTURE: &str = "operatorframework.io/arch.";
const SYSTEM: &str = "operatorframework.io/os.";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    pub os: String,
    pub architecture: String,
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)
    }
}

/// Images with their platforms; none where they are not known.
type Images = BTreeMap<String, Option<Vec<Platform>>>;

pub fn check(bundle: &Loaded, context: &Context, findings: &mut Findings) {
    let csv = &bundle.csv.object;
    let path = bundle.csv.path;
    let mut inspect = |names: BTreeSet<&str>| -> Images {
        let mut known = |name: &str| match (context.platforms)(name) {
            Ok(list) => Some(list),
            Err(why) => {
                findings.warning(
                    Rule::ImageUnknown,
                    path,
                    format!("unable to inspect the image ({name}) : {why}"),
                );
                None
            }
        };
        names.into_iter().map(|name| (name.to_owned(), known(name))).collect()
    };
    let (managers, affinities) = manager_images(csv);
    let others = container_images(csv).filter(|image| !managers.contains(image)).collect();
    let related =
        of::list(csv, "/spec/relatedImages").iter().map(|image| of::text(image, "/image"));
    let [managers, others, related] = [managers, others, related.collect()].map(&mut inspect);
    let promised = [promised_by_labels(csv, SYSTEM), promised_by_labels(csv, ARCHITECTURE)];
    check_promises(path, &promised, [&managers, &others, &related], findings);
    let has = |part: fn(&Platform) -> &str| -> BTreeSet<String> {
        managers
            .values()
            .flatten()
            .flatten()
            .map(part)
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let names: Vec<&String> = managers.keys().collect();
    for (what, prefix, promised, default, has) in [
        ("OS", SYSTEM, &promised[0], "linux", has(|platform| &platform.os)),
        ("Arch", ARCHITECTURE, &promised[1], "amd64", has(|platform| &platform.architecture)),
    ] {
        let mut expected: BTreeSet<String> = has.iter().chain(promised).cloned().collect();
        if promised.is_empty() {
            expected.insert(default.to_owned());
        }
        // A manager image without known platforms counts as a different platform.
        let is_default = expected.len() == 1
            && expected.contains(default)
            && managers.values().all(Option::is_some);
        let missing: Vec<&String> = expected
            .iter()
            .filter(|value| !is_default && !promised.iter().any(|label| label.contains(*value)))
            .collect();
        if !missing.is_empty() {
            findings.warning(
                Rule::PlatformLabel,
                (path, "/metadata/labels"),
                format!("check if the CSV is missing the label ({prefix}<value>) for the {what}(s): {missing:?}, which the Operator manager image {names:?} provides"),
            );
        }
        for (image, platforms) in others.iter().chain(&related) {
            let Some(platforms) = platforms else { continue };
            let runs = |value: &String| {
                platforms
                    .iter()
                    .any(|of| *value == if what == "OS" { &of.os } else { &of.architecture }[..])
            };
            let missing: Vec<&String> = expected.iter().filter(|value| !runs(value)).collect();
            if !missing.is_empty() {
                findings.warning(
                    Rule::PlatformImage,
                    path,
                    format!("check if the image {image} should support the {what}(s) {missing:?}, which labels promise or the manager image {names:?} provides"),
                );
            }
        }
    }
    for (image, platforms) in managers.iter().chain(&others) {
        check_affinity(path, image, platforms.as_deref(), affinities.get(image.as_str()), findings);
    }
}

/// Returns the image of every container.
fn container_images(csv: &Value) -> impl Iterator<Item = &str> {
    let deployments = of::list(csv, "/spec/install/spec/deployments").iter();
    let containers =
        deployments.flat_map(|deployment| of::list(deployment, "/spec/template/spec/containers"));
    containers.map(|container| of::text(container, "/image"))
}

/// Returns the images of containers named `manager`, or else of all except kube-rbac-proxy; and the platforms that
/// affinity allows for each image.
fn manager_images(csv: &Value) -> (BTreeSet<&str>, BTreeMap<&str, Vec<Platform>>) {
    let mut managers = BTreeSet::new();
    let mut affinities = BTreeMap::new();
    for deployment in of::list(csv, "/spec/install/spec/deployments") {
        let pod = deployment.pointer("/spec/template/spec").unwrap_or(&Value::Null);
        let containers = of::list(pod, "/containers");
        let mut has_manager = false;
        for container in containers {
            let image = of::text(container, "/image");
            if managers.contains(image) {
                continue;
            }
            if of::name_of(container) == "manager" {
                managers.insert(image);
                has_manager = true;
            }
            affinities.insert(image, affinity_platforms(pod));
        }
        if !has_manager {
            let others =
                containers.iter().filter(|container| of::name_of(container) != "kube-rbac-proxy");
            managers.extend(others.map(|container| of::text(container, "/image")));
        }
    }
    (managers, affinities)
}

/// Returns the platforms that a pod's node affinity allows.
fn affinity_platforms(pod: &Value) -> Vec<Platform> {
    let terms =
        "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let mut platforms = Vec::new();
    for term in of::list(pod, terms) {
        let values = |key: &str| -> Vec<&str> {
            let is = |expression: &&Value| {
                of::text(expression, "/operator") == "In" && of::text(expression, "/key") == key
            };
            let last = of::list(term, "/matchExpressions").iter().rfind(is);
            last.into_iter().flat_map(|expression| of::texts(expression, "/values")).collect()
        };
        for os in values("kubernetes.io/os") {
            for architecture in values("kubernetes.io/arch") {
                platforms
                    .push(Platform { os: os.to_owned(), architecture: architecture.to_owned() });
            }
        }
    }
    platforms
}

/// Returns the values that labels with this prefix list.
fn promised_by_labels(csv: &Value, prefix: &str) -> BTreeSet<String> {
    let labels = csv.pointer("/metadata/labels").and_then(Value::as_object);
    let promised = labels
        .into_iter()
        .flat_map(Map::iter)
        .filter(|(key, value)| key.contains(prefix) && *value == "supported");
    promised.map(|(key, _)| key.replace(prefix, "")).collect()
}

/// Checks that every image runs on every platform that the labels list.
fn check_promises(
    path: &str,
    promised: &[BTreeSet<String>; 2],
    images: [&Images; 3],
    findings: &mut Findings,
) {
    let or = |values: &BTreeSet<String>, default: &str| {
        if values.is_empty() { [default.to_owned()].into() } else { values.clone() }
    };
    for os in or(&promised[0], "linux") {
        for architecture in or(&promised[1], "amd64") {
            let platform = Platform { os: os.clone(), architecture };
            let lacks = |image: &&(&String, &Option<Vec<Platform>>)| {
                image.1.as_ref().is_some_and(|platforms| !platforms.contains(&platform))
            };
            let all_images: Vec<_> = images.iter().flat_map(|images| images.iter()).collect();
            let lacking: Vec<&String> =
                all_images.iter().filter(lacks).map(|image| image.0).collect();
            if !lacking.is_empty() {
                findings.error(
                    Rule::PlatformPromised,
                    (path, "/metadata/labels"),
                    format!(
                        "not all images specified are providing the support described via the CSV labels. Note that (OS.architecture): \
                         ({}.{}) was not found for the image(s) {lacking:?}",
                        platform.os, platform.architecture
                    ),
                );
            }
        }
    }
}

fn check_affinity(
    path: &str,
    image: &str,
    platforms: Option<&[Platform]>,
    allowed: Option<&Vec<Platform>>,
    findings: &mut Findings,
) {
    let shown = |list: &[Platform]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let allowed = allowed.map_or(&[][..], Vec::as_slice);
    if allowed.is_empty() {
        return findings.warning(
            Rule::AffinityMissing,
            path,
            match platforms {
                None => format!("check if the CSV is missing a node affinity configuration for the image: {image:?}"),
                Some(platforms) => format!(
                    "check if the CSV has a missing or invalid node affinity configuration for the image: {image:?}. The image data \
                     suggests the following platforms are supported: {:?}",
                    shown(platforms)
                ),
            },
        );
    }
    // If the platforms are not known, they include none of the allowed ones.
    let platforms = platforms.unwrap_or_default();
    let minus = |one: &[Platform], other: &[Platform]| -> Vec<Platform> {
        one.iter().filter(|platform| !other.contains(platform)).cloned().collect()
    };
    let (extra, missing) = (minus(allowed, platforms), minus(platforms, allowed));
    if !extra.is_empty() {
        findings.warning(
            Rule::AffinityExtra,
            path,
            format!("the CSV includes {:?} in the node affinity configuration for the image: {image:?}, but the image data suggests the following platforms are supported: {:?}", shown(&extra), shown(platforms)),
        );
    }
    if !missing.is_empty() {
        findings.warning(
            Rule::AffinityLacking,
            path,
            format!("the image data indicates {:?} is supported for the image: {image:?}, but the node affinity configuration for the image only specifies {:?}", shown(&missing), shown(allowed)),
        );
    }
}
