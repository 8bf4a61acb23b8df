//! The built-in tests, with the messages of operator-sdk. If its program would crash, a test returns an error and has
//! no result.

use super::{
    super::{
        object as of,
        validate::{
            self, Files, Request,
            load::Loaded,
            optional,
            rules::{Origin, Suite},
        },
    },
    Outcome, TestState,
};
use diagnostics::Severity;
use go_data::yaml::{self, Map, Value};

type Checked = Result<(), String>;

pub fn check_spec(bundle: &Loaded, outcome: &mut Outcome) -> Checked {
    let examples = match parse_examples(bundle) {
        Ok(examples) => examples,
        Err(why) => {
            outcome.state = TestState::Fail;
            outcome.errors.push(format!("error getting custom resources: {why}"));
            return Ok(());
        }
    };
    if let Some(example) = examples.iter().find(|example| example["spec"].is_null()) {
        outcome.suggestions.push(format!("spec missing from [{}]", of::name(example)));
    }
    Ok(())
}

/// Format and default validators; operator-sdk leaves out those of other objects here.
pub fn check_validation(files: &Files, outcome: &mut Outcome) -> Checked {
    let values = Default::default();
    let context = optional::Context::without_images(&values);
    for finding in validate::validate(files, &Request::default(), &context) {
        let is_theirs =
            finding.rule.origin() == Origin::Sdk && !finding.rule.id().starts_with("obj-");
        if !is_theirs || finding.rule.suite() > Suite::Crd {
            continue;
        }
        if finding.severity == Severity::Error {
            outcome.state = TestState::Fail;
            outcome.errors.push(finding.message);
        } else {
            outcome.suggestions.push(finding.message);
        }
    }
    Ok(())
}

/// Checks that every field of an example is in the schema of its kind and version. The group is ignored.
pub fn crds_have_validation(bundle: &Loaded, outcome: &mut Outcome) -> Checked {
    let Some(examples) = examples_or_error(bundle, outcome) else { return Ok(()) };
    let is_beta = |path: &str| {
        let object = bundle.objects.iter().find(|object| object.path == path);
        object.is_some_and(|object| of::text(&object.object, "/apiVersion").ends_with("/v1beta1"))
    };
    let (betas, first): (Vec<_>, Vec<_>) = bundle.crds.iter().partition(|crd| is_beta(crd.path));
    let crds: Vec<&Value> = first.iter().chain(&betas).map(|crd| &crd.object).collect();
    for example in &examples {
        check_known_fields(example, &crds, outcome)?;
    }
    Ok(())
}

/// Stops at the first version of a CRD that lacks a field.
fn check_known_fields(example: &Value, crds: &[&Value], outcome: &mut Outcome) -> Checked {
    let (version, kind) = (of::group_version(example).1, of::kind(example));
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    for crd in crds {
        let names = of::text(crd, "/spec/names/kind");
        for crd_version in of::list(crd, "/spec/versions") {
            let name = of::name_of(crd_version);
            if !same(version, name) || !same(kind, names) {
                continue;
            }
            if crd_version.get("schema").is_none_or(Value::is_null) {
                outcome.suggestions.push(format!("Add CRD validation for {names}/{name}"));
                continue;
            }
            let schema =
                crd_version.pointer("/schema/openAPIV3Schema").filter(|schema| !schema.is_null());
            let mut unknown = Vec::new();
            for part in ["spec", "status"] {
                let Some(fields) =
                    mapping_field(example, part)?.filter(|fields| !fields.is_empty())
                else {
                    continue;
                };
                let schema =
                    schema.ok_or_else(|| format!("the schema of {names}/{name} is empty"))?;
                let known = schema.pointer(&format!("/properties/{part}/properties"));
                let is_unknown =
                    |key: &&String| known.is_none_or(|known| known.get(key.as_str()).is_none());
                unknown.extend(fields.keys().filter(is_unknown).map(|key| {
                    format!("Add CRD validation for {part} field `{key}` in {kind}/{version}")
                }));
            }
            if !unknown.is_empty() {
                outcome.state = TestState::Fail;
                outcome.suggestions.extend(unknown);
                return Ok(());
            }
        }
    }
    Ok(())
}

pub fn crds_have_resources(bundle: &Loaded, outcome: &mut Outcome) -> Checked {
    outcome.log = format!("Loaded ClusterServiceVersion: {}\n", of::name(&bundle.csv.object));
    if owned_entries(bundle).iter().any(|entry| of::list(entry, "/resources").is_empty()) {
        outcome.state = TestState::Fail;
        outcome.errors.push("Owned CRDs do not have resources specified".to_owned());
    }
    Ok(())
}

pub fn spec_descriptors(bundle: &Loaded, outcome: &mut Outcome) -> Checked {
    outcome.log = format!("Loaded ClusterServiceVersion: {}\n", of::name(&bundle.csv.object));
    let Some(examples) = examples_or_error(bundle, outcome) else { return Ok(()) };
    for example in &examples {
        let Some(fields) = mapping_field(example, "spec")? else {
            outcome.state = TestState::Fail;
            continue;
        };
        let Some(crd) = owned_crd(bundle, example, outcome) else { continue };
        for key in fields.keys() {
            if of::list(crd, "/specDescriptors")
                .iter()
                .any(|descriptor| of::text(descriptor, "/path") == key)
            {
                continue;
            }
            outcome.state = TestState::Fail;
            outcome.errors.push(format!("{key} does not have a spec descriptor"));
            outcome.suggestions.push(format!("Add a spec descriptor for {key}"));
        }
    }
    Ok(())
}

pub fn status_descriptors(bundle: &Loaded, outcome: &mut Outcome) -> Checked {
    outcome.log = format!("Loaded ClusterServiceVersion: {}\n", of::name(&bundle.csv.object));
    let Some(examples) = examples_or_error(bundle, outcome) else { return Ok(()) };
    for example in &examples {
        let Some(crd) = owned_crd(bundle, example, outcome) else { continue };
        let name = of::name_of(crd);
        if mapping_field(example, "status")?.is_none_or(Map::is_empty) {
            outcome.suggestions.push(format!(
                "{name} does not have status spec. Note that all objects that represent a physical resource whose state may vary from \
                 the user's desired intent SHOULD have a spec and a status. More info: \
                 https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#spec-and-status"
            ));
        } else if of::list(crd, "/statusDescriptors").is_empty() {
            outcome.state = TestState::Fail;
            outcome.errors.push(format!("{name} does not have a status descriptor"));
            outcome.suggestions.push(format!(
                "add status descriptor for the crd {name}. If your project is built using Golang you can use the csv markers. More info: \
                 https://sdk.operatorframework.io/docs/building-operators/golang/references/markers/"
            ));
        }
    }
    Ok(())
}

/// Parses the objects in `alm-examples`.
fn parse_examples(bundle: &Loaded) -> Result<Vec<Value>, String> {
    let text = of::text(&bundle.csv.object, "/metadata/annotations/alm-examples");
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let fault = |why: String| format!("failed to parse alm-examples annotation: {why}");
    match yaml::from_json(text).map_err(|error| fault(format!("{error:#}")))? {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => match list.iter().find(|example| !of::has_kind(example)) {
            None => Ok(list),
            Some(example) => Err(fault(format!("Object 'Kind' is missing in '{example}'"))),
        },
        _ => Err(fault("it is not an array".to_owned())),
    }
}

fn examples_or_error(bundle: &Loaded, outcome: &mut Outcome) -> Option<Vec<Value>> {
    match parse_examples(bundle) {
        Ok(examples) => {
            outcome.log +=
                &format!("Loaded {} Custom Resources from alm-examples\n", examples.len());
            Some(examples)
        }
        Err(why) => {
            outcome.state = TestState::Error;
            outcome.errors.push(why);
            None
        }
    }
}

/// Returns a field that is a mapping. Go's program crashes if it is another type.
fn mapping_field<'a>(
    example: &'a Value,
    field: &str,
) -> Result<Option<&'a Map<String, Value>>, String> {
    match example.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(_) => Err(format!("`{field}` of the example `{}` is not a map", of::name(example))),
    }
}

fn owned_entries<'a>(bundle: &'a Loaded) -> &'a [Value] {
    of::list(&bundle.csv.object, "/spec/customresourcedefinitions/owned")
}

fn owned_crd<'a>(bundle: &'a Loaded, example: &Value, outcome: &mut Outcome) -> Option<&'a Value> {
    let (group, version) = of::group_version(example);
    let is = |entry: &&Value| {
        of::kind(entry) == of::kind(example) && of::text(entry, "/version") == version
    };
    let entry = owned_entries(bundle).iter().find(is);
    if entry.is_none() {
        outcome.state = TestState::Fail;
        outcome.errors.push(format!(
            "Failed to find an owned CRD for CR {} with GVK {group}/{version}, Kind={}",
            of::name(example),
            of::kind(example)
        ));
    }
    entry
}
