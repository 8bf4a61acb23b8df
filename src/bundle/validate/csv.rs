//! The ClusterServiceVersion by itself.

use super::{Findings, load::Loaded, names, of};
use crate::yaml::{self, Value};
use std::collections::BTreeSet;

/// Annotations that OLM looks for in this spelling.
const SPELLED: &[&str] = &[
    "olm.operatorGroup",
    "olm.operatorNamespace",
    "olm.targetNamespaces",
    "olm.providedAPIs",
    "olm.skipRange",
];

pub fn check(bundle: &Loaded, findings: &mut Findings) {
    let (path, csv) = (bundle.csv.path, &bundle.csv.object);
    for (field, name) in
        [("metadata.name", of::name(csv)), ("spec.replaces", of::text(csv, "/spec/replaces"))]
    {
        if field == "spec.replaces" && name.is_empty() {
            continue;
        }
        let faults = [names::subdomain(name), names::label_value(name)].concat();
        if !faults.is_empty() {
            findings.error(path, format!("{field} {name:?} is invalid: {}", faults.join(",")));
        }
    }
    required(path, csv, bundle.written_csv(), findings);
    annotations(path, csv, findings);
    examples(path, csv, findings);
    install_modes(path, csv, findings);
    min_kube_version(path, csv, findings);
}

/// Fields that Go writes even where they are empty.
fn required(path: &str, csv: &Value, written: &Value, findings: &mut Findings) {
    let mut missing =
        |field: &str| findings.error(path, format!("{field}: required field missing"));
    let is_zero = |pointer: &str| csv.pointer(pointer).is_none_or(is_zero);
    // What Go leaves out where it writes: a list or a map that is there and has nothing in it.
    let has_empty = |pointer: &str| {
        let map = written.pointer(pointer).and_then(Value::as_object);
        map.into_iter().flat_map(yaml::Map::values).any(|it| it.is_array() || it.is_object())
    };
    if is_zero("/metadata") && !has_empty("/metadata") {
        missing("ObjectMeta");
    }
    if is_zero("/spec") && !has_empty("/spec") {
        missing("Spec");
    } else {
        let is_strategy = !is_zero("/spec/install/spec") || has_empty("/spec/install/spec");
        if is_zero("/spec/install") && !is_strategy {
            missing("Spec.InstallStrategy");
        } else {
            if is_zero("/spec/install/strategy") {
                missing("Spec.InstallStrategy.StrategyName");
            }
            if is_strategy
                && csv.pointer("/spec/install/spec/deployments").is_none_or(Value::is_null)
            {
                missing("Spec.InstallStrategy.StrategySpec.DeploymentSpecs");
            }
        }
        if is_zero("/spec/displayName") {
            missing("Spec.DisplayName");
        }
    }
    if is_zero("/apiVersion") {
        findings.error(path, "'apiVersion' is missing");
    }
}

/// Whether nothing in it was given.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty() || text == "0.0.0",
        Value::Array(_) => false,
        Value::Object(map) => map.values().all(is_zero),
    }
}

fn annotations(path: &str, csv: &Value, findings: &mut Findings) {
    let annotations = csv.pointer("/metadata/annotations").and_then(Value::as_object);
    for key in annotations.into_iter().flat_map(yaml::Map::keys) {
        let spelled = SPELLED.iter().find(|it| it.eq_ignore_ascii_case(key));
        if let Some(spelled) = spelled.filter(|it| *it != key) {
            findings.error(
                path,
                format!(
                    "provided annotation {key} uses wrong case and should be {spelled} instead"
                ),
            );
        }
        if key == "olm.properties" {
            findings.warning(
                path,
                "found olm.properties annotation, please define these properties in metadata/properties.yaml instead",
            );
        }
    }
}

/// Examples and provided APIs have to be of the same kinds.
fn examples(path: &str, csv: &Value, findings: &mut Findings) {
    let annotations = csv.pointer("/metadata/annotations").and_then(Value::as_object);
    let Some(annotations) = annotations.filter(|it| !it.is_empty()) else {
        return findings.warning(path, "annotations not found");
    };
    let text = match (annotations.get("alm-examples"), annotations.get("olm.examples")) {
        (None, None) => return findings.warning(path, "example annotations not found"),
        (Some(text), other) => {
            if other.is_some() {
                findings.warning(
                    path,
                    "both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`",
                );
            }
            text
        }
        (None, Some(text)) => text,
    };
    let text = text.as_str().unwrap_or_default();
    let examples = match text {
        "" => Value::Array(Vec::new()),
        // They read it as YAML, which has no control characters.
        _ if text.contains(|c| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}')) => {
            return findings
                .error(path, "error decoding example CustomResource: it has a control character");
        }
        _ => match yaml::from_json(text) {
            Ok(examples) => examples,
            Err(_) => return findings.error(path, "invalid example"),
        },
    };
    let decoded = match &examples {
        Value::Null => Some(&[][..]),
        Value::Array(list) if list.iter().all(|it| !of::kind(it).is_empty()) => Some(&list[..]),
        _ => None,
    };
    let Some(decoded) = decoded else {
        return findings.error(path, "error decoding example CustomResource");
    };
    let examples: BTreeSet<String> = decoded.iter().map(gvk).collect();
    let mut provided = BTreeSet::new();
    for owned in of::list(csv, "/spec/customresourcedefinitions/owned") {
        let name = of::text(owned, "/name");
        let Some((_, group)) = name.split_once('.') else {
            findings.error(path, format!("couldn't parse plural.group from crd name: {name}"));
            continue;
        };
        provided.insert(kind_of(group, of::text(owned, "/version"), of::kind(owned)));
    }
    for api in of::list(csv, "/spec/apiservicedefinitions/owned") {
        let [group, version] = ["/group", "/version"].map(|it| of::text(api, it));
        provided.insert(kind_of(group, version, of::kind(api)));
    }
    for example in examples.difference(&provided) {
        findings.error(path, format!("{example}: example must have a provided API"));
    }
    for api in provided.difference(&examples) {
        findings.warning(path, format!("{api}: provided API should have an example annotation"));
    }
}

fn install_modes(path: &str, csv: &Value, findings: &mut Findings) {
    let modes = of::list(csv, "/spec/installModes");
    if modes.is_empty() {
        return findings.error(path, "install modes not found");
    }
    let supported = |it: &Value| it.get("supported").and_then(Value::as_bool).unwrap_or_default();
    let converts = |it: &Value| !of::list(it, "/conversionCRDs").is_empty();
    let all_only =
        modes.iter().all(|it| supported(it) == (of::text(it, "/type") == "AllNamespaces"));
    if of::list(csv, "/spec/webhookdefinitions").iter().any(converts) && !all_only {
        findings.error(
            path,
            "only AllNamespaces InstallModeType is supported when conversionCRDs is present",
        );
    }
    if !modes.iter().any(supported) {
        findings.error(path, "none of InstallModeTypes are supported");
    }
}

pub fn min_kube_version(path: &str, csv: &Value, findings: &mut Findings) {
    let version = of::text(csv, "/spec/minKubeVersion");
    if version.trim().is_empty() {
        findings.warning(
            path,
            "csv.Spec.minKubeVersion is not informed. It is recommended you provide this information. Otherwise, it would mean that your \
             operator project can be distributed and installed in any cluster version available, which is not necessarily the case for all \
             projects.",
        );
    } else if semver::Version::parse(version).is_err() {
        findings.error(path, format!("csv.Spec.MinKubeVersion has an invalid value: {version}"));
    }
}

/// `cache.example.com/v1alpha1, Kind=Memcached`.
pub fn kind_of(group: &str, version: &str, kind: &str) -> String {
    let slash = if group.is_empty() { "" } else { "/" };
    format!("{group}{slash}{version}, Kind={kind}")
}

pub fn gvk(object: &Value) -> String {
    let (group, version) = of::group_version(object);
    kind_of(group, version, of::kind(object))
}
