//! Whether images run on the platforms that the CSV's labels promise, and on no others.

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
        names.into_iter().map(|it| (it.to_owned(), known(it))).collect()
    };
    let (managers, affinities) = managers(csv);
    let others = images(csv).filter(|it| !managers.contains(it)).collect();
    let related = of::list(csv, "/spec/relatedImages").iter().map(|it| of::text(it, "/image"));
    let [managers, others, related] = [managers, others, related.collect()].map(&mut inspect);
    let promised = [labels(csv, SYSTEM), labels(csv, ARCHITECTURE)];
    promises(path, &promised, [&managers, &others, &related], findings);
    let has = |part: fn(&Platform) -> &str| -> BTreeSet<String> {
        managers
            .values()
            .flatten()
            .flatten()
            .map(part)
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let names: Vec<&String> = managers.keys().collect();
    for (what, prefix, promised, default, has) in [
        ("OS", SYSTEM, &promised[0], "linux", has(|it| &it.os)),
        ("Arch", ARCHITECTURE, &promised[1], "amd64", has(|it| &it.architecture)),
    ] {
        let mut all: BTreeSet<String> = has.iter().chain(promised).cloned().collect();
        if promised.is_empty() {
            all.insert(default.to_owned());
        }
        // A manager image that is not known counts as a platform of its own.
        let is_default =
            all.len() == 1 && all.contains(default) && managers.values().all(Option::is_some);
        let missing: Vec<&String> = all
            .iter()
            .filter(|it| !is_default && !promised.iter().any(|label| label.contains(*it)))
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
            let runs = |it: &String| {
                platforms
                    .iter()
                    .any(|of| *it == if what == "OS" { &of.os } else { &of.architecture }[..])
            };
            let missing: Vec<&String> = all.iter().filter(|it| !runs(it)).collect();
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
        affinity(path, image, platforms.as_deref(), affinities.get(image.as_str()), findings);
    }
}

/// The image of every container.
fn images(csv: &Value) -> impl Iterator<Item = &str> {
    let deployments = of::list(csv, "/spec/install/spec/deployments").iter();
    let containers = deployments.flat_map(|it| of::list(it, "/spec/template/spec/containers"));
    containers.map(|it| of::text(it, "/image"))
}

/// The images of containers named `manager`, else of all but kube-rbac-proxy; and where images may run.
fn managers(csv: &Value) -> (BTreeSet<&str>, BTreeMap<&str, Vec<Platform>>) {
    let mut res = BTreeSet::new();
    let mut affinities = BTreeMap::new();
    for deployment in of::list(csv, "/spec/install/spec/deployments") {
        let pod = deployment.pointer("/spec/template/spec").unwrap_or(&Value::Null);
        let containers = of::list(pod, "/containers");
        let mut has_manager = false;
        for container in containers {
            let image = of::text(container, "/image");
            if res.contains(image) {
                continue;
            }
            if of::name_of(container) == "manager" {
                res.insert(image);
                has_manager = true;
            }
            affinities.insert(image, terms(pod));
        }
        if !has_manager {
            let others = containers.iter().filter(|it| of::name_of(it) != "kube-rbac-proxy");
            res.extend(others.map(|it| of::text(it, "/image")));
        }
    }
    (res, affinities)
}

/// The platforms that a pod's node affinity allows.
fn terms(pod: &Value) -> Vec<Platform> {
    let terms =
        "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let mut res = Vec::new();
    for term in of::list(pod, terms) {
        let values = |key: &str| -> Vec<&str> {
            let is = |it: &&Value| of::text(it, "/operator") == "In" && of::text(it, "/key") == key;
            let last = of::list(term, "/matchExpressions").iter().rfind(is);
            last.into_iter().flat_map(|it| of::texts(it, "/values")).collect()
        };
        for os in values("kubernetes.io/os") {
            for architecture in values("kubernetes.io/arch") {
                res.push(Platform { os: os.to_owned(), architecture: architecture.to_owned() });
            }
        }
    }
    res
}

/// What labels of this prefix promise.
fn labels(csv: &Value, prefix: &str) -> BTreeSet<String> {
    let labels = csv.pointer("/metadata/labels").and_then(Value::as_object);
    let promised = labels
        .into_iter()
        .flat_map(Map::iter)
        .filter(|(key, value)| key.contains(prefix) && *value == "supported");
    promised.map(|(key, _)| key.replace(prefix, "")).collect()
}

/// Every image runs on every platform that is promised.
fn promises(
    path: &str,
    promised: &[BTreeSet<String>; 2],
    images: [&Images; 3],
    findings: &mut Findings,
) {
    let or = |it: &BTreeSet<String>, default: &str| {
        if it.is_empty() { [default.to_owned()].into() } else { it.clone() }
    };
    for os in or(&promised[0], "linux") {
        for architecture in or(&promised[1], "amd64") {
            let platform = Platform { os: os.clone(), architecture };
            let lacks = |it: &&(&String, &Option<Vec<Platform>>)| {
                it.1.as_ref().is_some_and(|it| !it.contains(&platform))
            };
            let all: Vec<_> = images.iter().flat_map(|it| it.iter()).collect();
            let lacking: Vec<&String> = all.iter().filter(lacks).map(|it| it.0).collect();
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

fn affinity(
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
                Some(it) => format!(
                    "check if the CSV has a missing or invalid node affinity configuration for the image: {image:?}. The image data \
                     suggests the following platforms are supported: {:?}",
                    shown(it)
                ),
            },
        );
    }
    // Where the platforms are not known, none of the allowed ones is.
    let platforms = platforms.unwrap_or_default();
    let minus = |one: &[Platform], other: &[Platform]| -> Vec<Platform> {
        one.iter().filter(|it| !other.contains(it)).cloned().collect()
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
