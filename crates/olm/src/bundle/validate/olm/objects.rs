//! The manifests beside the CSV, and the CRDs that it owns.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{Files, Manifest, load::Loaded},
    Faults, Rule, of,
};
use go_data::{
    kubernetes::{self, Reader},
    yaml::{Map, Value, pointer::escaped},
};

/// What etcd takes of one object.
const MOST: usize = 3 << 19;
/// What Kubernetes takes of all annotations of an object together.
const MOST_ANNOTATIONS: usize = 256 << 10;

pub fn check(bundle: &Loaded, files: &Files, faults: &mut Faults) {
    for it in &bundle.objects {
        let (path, object) = (it.path, &it.object);
        if of::kind(object) == "PodMonitor" {
            let message = "it has no step to install a PodMonitor, and the InstallPlan fails";
            faults.push(Rule::PodMonitor, (path, "/kind"), message);
        }
        decoded(it, faults);
        let annotations = object.pointer("/metadata/annotations").and_then(Value::as_object);
        let converts = of::text(object, "/spec/conversion/strategy") == "Webhook";
        for key in annotations.into_iter().flat_map(Map::keys).filter(|_| converts) {
            if key.starts_with("cert-manager.io/inject-") {
                faults.push(
                    Rule::CertManagerAnnotation,
                    (path, format!("/metadata/annotations/{}", escaped(key))),
                    format!("`{key}` lets cert-manager replace the certificate that OLM has put into the CRD"),
                );
            }
        }
        // Text in YAML is seldom shorter than in JSON: small files are not measured.
        let length = path.parse().ok().and_then(|it| files.get(&it)).map_or(0, Vec::len);
        if MOST / 2 < length && MOST < object.to_string().len() {
            let message =
                format!("{} has more than 1.5 MiB, and etcd refuses it", of::title(object));
            faults.push(Rule::ManifestSize, path, message);
        }
    }
    annotations(bundle, faults);
    crds(bundle, faults);
    install_modes(bundle, faults);
}

/// operator-sdk makes strings of numbers and booleans, and looks at few kinds; OLM and the API server do neither.
fn decoded(manifest: &Manifest, faults: &mut Faults) {
    let Manifest { path, object } = manifest;
    let is_csv = of::kind(object) == "ClusterServiceVersion";
    let decoded = kubernetes::read(object, if is_csv { Reader::Json } else { Reader::Server });
    for it in decoded.faults {
        let message = format!("{}: {it}", of::title(object));
        faults.push(Rule::Undecodable, (*path, it.pointer), message);
    }
    for it in decoded.unknown {
        let (title, suggestion) = (of::title(object), it.suggestion());
        let message = format!("{title}: its type has no field `{}`{suggestion}", it.path);
        faults.push(Rule::UnknownField, (*path, it.pointer()), message);
    }
}

/// Validators of operator-sdk measure the annotations of other objects, not those of the CSV.
fn annotations(bundle: &Loaded, faults: &mut Faults) {
    let annotations = bundle.csv.object.pointer("/metadata/annotations").and_then(Value::as_object);
    let texts = annotations.into_iter().flatten();
    let size: usize =
        texts.map(|(key, it)| key.len() + it.as_str().unwrap_or_default().len()).sum();
    if MOST_ANNOTATIONS < size {
        let message = format!(
            "metadata.annotations: Too long: may not be more than {MOST_ANNOTATIONS} bytes"
        );
        faults.push(Rule::AnnotationsSize, (bundle.csv.path, "/metadata/annotations"), message);
    }
}

fn crds(bundle: &Loaded, faults: &mut Faults) {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for it in &bundle.crds {
        let count = names.entry(of::name(&it.object)).or_default();
        *count += 1;
        if *count == 2 {
            let message = format!(
                "bundle contains duplicate custom resource definition '{}'",
                of::name(&it.object)
            );
            faults.push(Rule::CrdNameTwice, (it.path, "/metadata/name"), message);
        }
    }
    const OWNED: &str = "/spec/customresourcedefinitions/owned";
    for (at, owned) in of::list(&bundle.csv.object, OWNED).iter().enumerate() {
        let name = of::name_of(owned);
        // Without its kind in the manifests, it is missing: that is another rule.
        let is_there = |crd: &&Manifest<'_>| {
            of::text(&crd.object, "/spec/names/kind") == of::kind(owned)
                && name
                    .split_once('.')
                    .is_some_and(|it| it.1 == of::text(&crd.object, "/spec/group"))
        };
        if !names.contains_key(name) && bundle.crds.iter().any(|it| is_there(&it)) {
            let message = format!(
                "cluster service definition references owned custom resource definition '{name}' not found in bundle"
            );
            faults.push(Rule::OwnedName, (bundle.csv.path, format!("{OWNED}/{at}/name")), message);
        }
    }
}

fn install_modes(bundle: &Loaded, faults: &mut Faults) {
    const AT: &str = "/spec/installModes";
    let mut seen = BTreeSet::new();
    for (at, mode) in of::list(&bundle.csv.object, AT).iter().enumerate() {
        let type_ = of::text(mode, "/type");
        if !seen.insert(type_) {
            let message =
                format!("InstallMode list contains duplicates, cannot make set: `{type_}`");
            faults.push(
                Rule::InstallModeTwice,
                (bundle.csv.path, format!("{AT}/{at}/type")),
                message,
            );
        }
    }
}
