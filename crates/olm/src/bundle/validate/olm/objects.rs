//! Checks the other manifests, and the CRDs that the CSV owns.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{Files, Manifest, load::Loaded},
    Faults, Rule, of,
};
use go_data::{
    kubernetes::{self, Reader},
    yaml::{Map, Value, pointer::escape_key},
};

/// The largest size of an object in etcd.
const MOST: usize = 3 << 19;
/// The largest size of all annotations of an object together.
const MOST_ANNOTATIONS: usize = 256 << 10;

pub fn check(bundle: &Loaded, files: &Files, faults: &mut Faults) {
    for manifest in &bundle.objects {
        let (path, object) = (manifest.path, &manifest.object);
        if of::kind(object) == "PodMonitor" {
            let message = "it has no step to install a PodMonitor, and the InstallPlan fails";
            faults.push(Rule::PodMonitor, (path, "/kind"), message);
        }
        check_decoding(manifest, faults);
        let annotations = object.pointer("/metadata/annotations").and_then(Value::as_object);
        let converts = of::text(object, "/spec/conversion/strategy") == "Webhook";
        for key in annotations.into_iter().flat_map(Map::keys).filter(|_| converts) {
            if key.starts_with("cert-manager.io/inject-") {
                faults.push(
                    Rule::CertManagerAnnotation,
                    (path, format!("/metadata/annotations/{}", escape_key(key))),
                    format!("`{key}` lets cert-manager replace the certificate that OLM has put into the CRD"),
                );
            }
        }
        // Text in YAML is seldom shorter than in JSON: small files are not measured.
        let length = path.parse().ok().and_then(|path| files.get(&path)).map_or(0, Vec::len);
        if MOST / 2 < length && MOST < object.to_string().len() {
            let message =
                format!("{} has more than 1.5 MiB, and etcd refuses it", of::title(object));
            faults.push(Rule::ManifestSize, path, message);
        }
    }
    check_annotation_size(bundle, faults);
    check_crds(bundle, faults);
    check_install_modes(bundle, faults);
}

/// Reports objects that cannot be decoded. Unlike operator-sdk, OLM and the API server do not convert numbers and
/// booleans to strings, and decode every kind.
fn check_decoding(manifest: &Manifest, faults: &mut Faults) {
    let Manifest { path, object } = manifest;
    let is_csv = of::kind(object) == "ClusterServiceVersion";
    let decoded =
        kubernetes::decode_with(object, if is_csv { Reader::Json } else { Reader::Server });
    for fault in decoded.faults {
        let message = format!("{}: {fault}", of::title(object));
        faults.push(Rule::Undecodable, (*path, fault.pointer), message);
    }
    for field in decoded.unknown {
        let (title, suggestion) = (of::title(object), field.suggestion());
        let message = format!("{title}: its type has no field `{}`{suggestion}", field.path);
        faults.push(Rule::UnknownField, (*path, field.pointer()), message);
    }
}

/// Reports annotations of the CSV that are too large. operator-sdk checks only those of other objects.
fn check_annotation_size(bundle: &Loaded, faults: &mut Faults) {
    let annotations = bundle.csv.object.pointer("/metadata/annotations").and_then(Value::as_object);
    let texts = annotations.into_iter().flatten();
    let size: usize =
        texts.map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum();
    if MOST_ANNOTATIONS < size {
        let message = format!(
            "metadata.annotations: Too long: may not be more than {MOST_ANNOTATIONS} bytes"
        );
        faults.push(Rule::AnnotationsSize, (bundle.csv.path, "/metadata/annotations"), message);
    }
}

fn check_crds(bundle: &Loaded, faults: &mut Faults) {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for crd in &bundle.crds {
        let count = names.entry(of::name(&crd.object)).or_default();
        *count += 1;
        if *count == 2 {
            let message = format!(
                "bundle contains duplicate custom resource definition '{}'",
                of::name(&crd.object)
            );
            faults.push(Rule::CrdNameTwice, (crd.path, "/metadata/name"), message);
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
                    .is_some_and(|parts| parts.1 == of::text(&crd.object, "/spec/group"))
        };
        if !names.contains_key(name) && bundle.crds.iter().any(|crd| is_there(&crd)) {
            let message = format!(
                "cluster service definition references owned custom resource definition '{name}' not found in bundle"
            );
            faults.push(Rule::OwnedName, (bundle.csv.path, format!("{OWNED}/{at}/name")), message);
        }
    }
}

fn check_install_modes(bundle: &Loaded, faults: &mut Faults) {
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
