//! Checks the ClusterServiceVersion by itself.

use super::{Findings, Rule, load::Loaded, names, of};
use go_data::{
    kubernetes::version::Version,
    yaml::{self, Value, pointer::escape_key},
};
use std::collections::{BTreeMap, BTreeSet};

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
    for (rule, field, name) in [
        (Rule::CsvName, "metadata.name", of::name(csv)),
        (Rule::CsvReplaces, "spec.replaces", of::text(csv, "/spec/replaces")),
    ] {
        if field == "spec.replaces" && name.is_empty() {
            continue;
        }
        let faults = [names::validate_subdomain(name), names::validate_label_value(name)].concat();
        if !faults.is_empty() {
            let place = (path, format!("/{}", field.replace('.', "/")));
            findings.error(
                rule,
                place,
                format!("{field} {name:?} is invalid: {}", faults.join(",")),
            );
        }
    }
    check_required_fields(path, csv, bundle.written_csv(), findings);
    check_annotations(path, csv, findings);
    check_examples(path, csv, findings);
    check_install_modes(path, csv, findings);
    check_min_kube_version(path, csv, findings);
}

/// Checks required fields. Go writes these even if they are empty.
fn check_required_fields(path: &str, csv: &Value, original: &Value, findings: &mut Findings) {
    let mut missing = |field: &str, at: &str| {
        findings.error(Rule::CsvField, (path, at), format!("{field}: required field missing"));
    };
    let is_zero = |pointer: &str| csv.pointer(pointer).is_none_or(is_zero);
    // Go does not write empty lists and mappings, so they have to be found in the original.
    let has_empty = |pointer: &str| {
        let map = original.pointer(pointer).and_then(Value::as_object);
        map.into_iter()
            .flat_map(yaml::Map::values)
            .any(|value| value.is_array() || value.is_object())
    };
    if is_zero("/metadata") && !has_empty("/metadata") {
        missing("ObjectMeta", "/metadata");
    }
    if is_zero("/spec") && !has_empty("/spec") {
        missing("Spec", "/spec");
    } else {
        let is_strategy = !is_zero("/spec/install/spec") || has_empty("/spec/install/spec");
        if is_zero("/spec/install") && !is_strategy {
            missing("Spec.InstallStrategy", "/spec/install");
        } else {
            if is_zero("/spec/install/strategy") {
                missing("Spec.InstallStrategy.StrategyName", "/spec/install/strategy");
            }
            if is_strategy
                && csv.pointer("/spec/install/spec/deployments").is_none_or(Value::is_null)
            {
                missing(
                    "Spec.InstallStrategy.StrategySpec.DeploymentSpecs",
                    "/spec/install/spec/deployments",
                );
            }
        }
        if is_zero("/spec/displayName") {
            missing("Spec.DisplayName", "/spec/displayName");
        }
    }
    if is_zero("/apiVersion") {
        findings.error(Rule::CsvApiVersion, (path, "/apiVersion"), "'apiVersion' is missing");
    }
}

/// Returns whether a value is the zero value of its Go type.
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

/// Returns OLM's spelling of an annotation of OLM.
pub fn olm_spelling(key: &str) -> Option<&'static str> {
    SPELLED.iter().copied().find(|spelling| spelling.eq_ignore_ascii_case(key))
}

fn check_annotations(path: &str, csv: &Value, findings: &mut Findings) {
    let annotations = csv.pointer("/metadata/annotations").and_then(Value::as_object);
    for key in annotations.into_iter().flat_map(yaml::Map::keys) {
        if let Some(spelled) = olm_spelling(key).filter(|spelling| spelling != key) {
            findings.error(
                Rule::CsvAnnotationCase,
                (path, format!("/metadata/annotations/{}", escape_key(key))),
                format!(
                    "provided annotation {key} uses wrong case and should be {spelled} instead"
                ),
            );
        }
        if key == "olm.properties" {
            findings.warning(
                Rule::CsvOlmProperties,
                (path, "/metadata/annotations/olm.properties"),
                "found olm.properties annotation, please define these properties in metadata/properties.yaml instead",
            );
        }
    }
}

const EXAMPLES: &str = "/metadata/annotations/alm-examples";

/// Checks that examples and provided APIs have the same kinds.
fn check_examples(path: &str, csv: &Value, findings: &mut Findings) {
    let Some(examples) = example_kinds(path, csv, findings) else { return };
    let provided = provided_kinds(path, csv, findings);
    for example in examples.iter().filter(|example| !provided.contains_key(*example)) {
        findings.error(
            Rule::CsvExampleApi,
            (path, EXAMPLES),
            format!("{example}: example must have a provided API"),
        );
    }
    for (api, at) in provided.iter().filter(|entry| !examples.contains(entry.0)) {
        findings.warning(
            Rule::CsvApiExample,
            (path, at.as_str()),
            format!("{api}: provided API should have an example annotation"),
        );
    }
}

/// Returns the kinds of the examples, or reports that they cannot be read.
fn example_kinds(path: &str, csv: &Value, findings: &mut Findings) -> Option<BTreeSet<String>> {
    let text = example_text(path, csv, findings)?;
    let mut refuse = |message: &str| {
        findings.error(Rule::CsvExamplesJson, (path, EXAMPLES), message);
        None
    };
    let examples = match text {
        "" => Value::Array(Vec::new()),
        // operator-sdk reads it as YAML, which has no control characters.
        _ if text.contains(|c| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}')) => {
            return refuse("error decoding example CustomResource: it has a control character");
        }
        _ => match yaml::from_json(text) {
            Ok(examples) => examples,
            Err(_) => return refuse("invalid example"),
        },
    };
    match &examples {
        Value::Null => Some(BTreeSet::new()),
        Value::Array(list) if list.iter().all(of::has_kind) => {
            Some(list.iter().map(format_gvk).collect())
        }
        _ => refuse("error decoding example CustomResource"),
    }
}

/// Returns the annotation with the examples, or reports that there is none.
fn example_text<'a>(path: &str, csv: &'a Value, findings: &mut Findings) -> Option<&'a str> {
    let annotations = csv.pointer("/metadata/annotations").and_then(Value::as_object);
    let Some(annotations) = annotations.filter(|annotations| !annotations.is_empty()) else {
        findings.warning(Rule::CsvNoAnnotations, (path, "/metadata"), "annotations not found");
        return None;
    };
    let text = match (annotations.get("alm-examples"), annotations.get("olm.examples")) {
        (None, None) => {
            findings.warning(
                Rule::CsvNoExamples,
                (path, EXAMPLES),
                "example annotations not found",
            );
            return None;
        }
        (Some(text), other) => {
            if other.is_some() {
                findings.warning(
                    Rule::CsvBothExamples,
                    (path, "/metadata/annotations/olm.examples"),
                    "both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`",
                );
            }
            text
        }
        (None, Some(text)) => text,
    };
    Some(text.as_str().unwrap_or_default())
}

/// Returns the kinds that the CSV provides, with their locations.
fn provided_kinds(path: &str, csv: &Value, findings: &mut Findings) -> BTreeMap<String, String> {
    const OWNED: &str = "/spec/customresourcedefinitions/owned";
    let mut provided = BTreeMap::new();
    for (at, owned) in of::list(csv, OWNED).iter().enumerate() {
        let name = of::text(owned, "/name");
        let Some((_, group)) = name.split_once('.') else {
            findings.error(
                Rule::CsvCrdName,
                (path, format!("{OWNED}/{at}/name")),
                format!("couldn't parse plural.group from crd name: {name}"),
            );
            continue;
        };
        let kind = format_kind(group, of::text(owned, "/version"), of::kind(owned));
        provided.insert(kind, format!("{OWNED}/{at}"));
    }
    const SERVICES: &str = "/spec/apiservicedefinitions/owned";
    for (at, api) in of::list(csv, SERVICES).iter().enumerate() {
        let [group, version] = ["/group", "/version"].map(|pointer| of::text(api, pointer));
        provided.insert(format_kind(group, version, of::kind(api)), format!("{SERVICES}/{at}"));
    }
    provided
}

fn check_install_modes(path: &str, csv: &Value, findings: &mut Findings) {
    const AT: &str = "/spec/installModes";
    let modes = of::list(csv, AT);
    if modes.is_empty() {
        return findings.error(Rule::CsvInstallModes, (path, AT), "install modes not found");
    }
    let supported =
        |mode: &Value| mode.get("supported").and_then(Value::as_bool).unwrap_or_default();
    let converts = |webhook: &Value| !of::list(webhook, "/conversionCRDs").is_empty();
    let all_only =
        modes.iter().all(|mode| supported(mode) == (of::text(mode, "/type") == "AllNamespaces"));
    if of::list(csv, "/spec/webhookdefinitions").iter().any(converts) && !all_only {
        findings.error(
            Rule::CsvConversionModes,
            (path, AT),
            "only AllNamespaces InstallModeType is supported when conversionCRDs is present",
        );
    }
    if !modes.iter().any(supported) {
        findings.error(
            Rule::CsvInstallModesNone,
            (path, AT),
            "none of InstallModeTypes are supported",
        );
    }
}

/// Returns whether the CSV gives permissions to a service account. OLM creates only these accounts.
pub fn has_permissions(csv: &Value, account: &str) -> bool {
    ["permissions", "clusterPermissions"].iter().any(|list| {
        let entries = of::list(csv, &format!("/spec/install/spec/{list}"));
        entries.iter().any(|entry| of::text(entry, "/serviceAccountName") == account)
    })
}

pub fn check_min_kube_version(path: &str, csv: &Value, findings: &mut Findings) {
    const AT: &str = "/spec/minKubeVersion";
    let version = of::text(csv, AT);
    if version.trim().is_empty() {
        findings.warning(
            Rule::CsvMinKube,
            (path, AT),
            "csv.Spec.minKubeVersion is not informed. It is recommended you provide this information. Otherwise, it would mean that your \
             operator project can be distributed and installed in any cluster version available, which is not necessarily the case for all \
             projects.",
        );
    } else if Version::parse(version).is_none() {
        findings.error(
            Rule::CsvMinKubeBad,
            (path, AT),
            format!("csv.Spec.MinKubeVersion has an invalid value: {version}"),
        );
    }
}

/// `cache.example.com/v1alpha1, Kind=Memcached`.
pub fn format_kind(group: &str, version: &str, kind: &str) -> String {
    let slash = if group.is_empty() { "" } else { "/" };
    format!("{group}{slash}{version}, Kind={kind}")
}

pub fn format_gvk(object: &Value) -> String {
    let (group, version) = of::group_version(object);
    format_kind(group, version, of::kind(object))
}
