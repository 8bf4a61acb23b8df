//! The tests, in the words of operator-sdk. An error is where its program crashes: the test fails without a result.

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
    Outcome, State,
};
use diagnostics::Severity;
use go_data::yaml::{self, Map, Value};

type Checked = Result<(), String>;

pub fn spec(bundle: &Loaded, res: &mut Outcome) -> Checked {
    let examples = match examples(bundle) {
        Ok(examples) => examples,
        Err(why) => {
            res.state = State::Fail;
            res.errors.push(format!("error getting custom resources: {why}"));
            return Ok(());
        }
    };
    if let Some(it) = examples.iter().find(|it| it["spec"].is_null()) {
        res.suggestions.push(format!("spec missing from [{}]", of::name(it)));
    }
    Ok(())
}

/// Format and default validators; operator-sdk leaves out those of other objects here.
pub fn validation(files: &Files, res: &mut Outcome) -> Checked {
    let values = Default::default();
    let context = optional::Context::without_images(&values);
    for it in validate::validate(files, &Request::default(), &context) {
        let is_theirs = it.rule.origin() == Origin::Sdk && !it.rule.id().starts_with("obj-");
        if !is_theirs || it.rule.suite() > Suite::Crd {
            continue;
        }
        if it.severity == Severity::Error {
            res.state = State::Fail;
            res.errors.push(it.message);
        } else {
            res.suggestions.push(it.message);
        }
    }
    Ok(())
}

/// Every field of an example is in the schema of its kind and version, whatever the group.
pub fn crds_have_validation(bundle: &Loaded, res: &mut Outcome) -> Checked {
    let Some(examples) = examples_or_error(bundle, res) else { return Ok(()) };
    let is_beta = |path: &str| {
        let object = bundle.objects.iter().find(|it| it.path == path);
        object.is_some_and(|it| of::text(&it.object, "/apiVersion").ends_with("/v1beta1"))
    };
    let (betas, first): (Vec<_>, Vec<_>) = bundle.crds.iter().partition(|it| is_beta(it.path));
    let crds: Vec<&Value> = first.iter().chain(&betas).map(|it| &it.object).collect();
    for example in &examples {
        known_fields(example, &crds, res)?;
    }
    Ok(())
}

/// Stops at the first version of a CRD that lacks a field.
fn known_fields(example: &Value, crds: &[&Value], res: &mut Outcome) -> Checked {
    let (version, kind) = (of::group_version(example).1, of::kind(example));
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    for crd in crds {
        let names = of::text(crd, "/spec/names/kind");
        for it in of::list(crd, "/spec/versions") {
            let name = of::name_of(it);
            if !same(version, name) || !same(kind, names) {
                continue;
            }
            if it.get("schema").is_none_or(Value::is_null) {
                res.suggestions.push(format!("Add CRD validation for {names}/{name}"));
                continue;
            }
            let schema = it.pointer("/schema/openAPIV3Schema").filter(|it| !it.is_null());
            let mut unknown = Vec::new();
            for part in ["spec", "status"] {
                let Some(fields) = map(example, part)?.filter(|it| !it.is_empty()) else {
                    continue;
                };
                let schema =
                    schema.ok_or_else(|| format!("the schema of {names}/{name} is empty"))?;
                let known = schema.pointer(&format!("/properties/{part}/properties"));
                let is_unknown =
                    |it: &&String| known.is_none_or(|known| known.get(it.as_str()).is_none());
                unknown.extend(fields.keys().filter(is_unknown).map(|it| {
                    format!("Add CRD validation for {part} field `{it}` in {kind}/{version}")
                }));
            }
            if !unknown.is_empty() {
                res.state = State::Fail;
                res.suggestions.extend(unknown);
                return Ok(());
            }
        }
    }
    Ok(())
}

pub fn crds_have_resources(bundle: &Loaded, res: &mut Outcome) -> Checked {
    res.log = format!("Loaded ClusterServiceVersion: {}\n", of::name(&bundle.csv.object));
    if owned(bundle).iter().any(|it| of::list(it, "/resources").is_empty()) {
        res.state = State::Fail;
        res.errors.push("Owned CRDs do not have resources specified".to_owned());
    }
    Ok(())
}

pub fn spec_descriptors(bundle: &Loaded, res: &mut Outcome) -> Checked {
    res.log = format!("Loaded ClusterServiceVersion: {}\n", of::name(&bundle.csv.object));
    let Some(examples) = examples_or_error(bundle, res) else { return Ok(()) };
    for example in &examples {
        let Some(fields) = map(example, "spec")? else {
            res.state = State::Fail;
            continue;
        };
        let Some(crd) = owned_crd(bundle, example, res) else { continue };
        for key in fields.keys() {
            if of::list(crd, "/specDescriptors").iter().any(|it| of::text(it, "/path") == key) {
                continue;
            }
            res.state = State::Fail;
            res.errors.push(format!("{key} does not have a spec descriptor"));
            res.suggestions.push(format!("Add a spec descriptor for {key}"));
        }
    }
    Ok(())
}

pub fn status_descriptors(bundle: &Loaded, res: &mut Outcome) -> Checked {
    res.log = format!("Loaded ClusterServiceVersion: {}\n", of::name(&bundle.csv.object));
    let Some(examples) = examples_or_error(bundle, res) else { return Ok(()) };
    for example in &examples {
        let Some(crd) = owned_crd(bundle, example, res) else { continue };
        let name = of::name_of(crd);
        if map(example, "status")?.is_none_or(Map::is_empty) {
            res.suggestions.push(format!(
                "{name} does not have status spec. Note that all objects that represent a physical resource whose state may vary from \
                 the user's desired intent SHOULD have a spec and a status. More info: \
                 https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#spec-and-status"
            ));
        } else if of::list(crd, "/statusDescriptors").is_empty() {
            res.state = State::Fail;
            res.errors.push(format!("{name} does not have a status descriptor"));
            res.suggestions.push(format!(
                "add status descriptor for the crd {name}. If your project is built using Golang you can use the csv markers. More info: \
                 https://sdk.operatorframework.io/docs/building-operators/golang/references/markers/"
            ));
        }
    }
    Ok(())
}

/// The objects in `alm-examples`.
fn examples(bundle: &Loaded) -> Result<Vec<Value>, String> {
    let text = of::text(&bundle.csv.object, "/metadata/annotations/alm-examples");
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let fault = |why: String| format!("failed to parse alm-examples annotation: {why}");
    match yaml::from_json(text).map_err(|it| fault(format!("{it:#}")))? {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => match list.iter().find(|it| !of::has_kind(it)) {
            None => Ok(list),
            Some(it) => Err(fault(format!("Object 'Kind' is missing in '{it}'"))),
        },
        _ => Err(fault("it is not an array".to_owned())),
    }
}

fn examples_or_error(bundle: &Loaded, res: &mut Outcome) -> Option<Vec<Value>> {
    match examples(bundle) {
        Ok(examples) => {
            res.log += &format!("Loaded {} Custom Resources from alm-examples\n", examples.len());
            Some(examples)
        }
        Err(why) => {
            res.state = State::Error;
            res.errors.push(why);
            None
        }
    }
}

/// A field that is a map; Go's program crashes where it is something else.
fn map<'a>(example: &'a Value, field: &str) -> Result<Option<&'a Map<String, Value>>, String> {
    match example.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(_) => Err(format!("`{field}` of the example `{}` is not a map", of::name(example))),
    }
}

fn owned<'a>(bundle: &'a Loaded) -> &'a [Value] {
    of::list(&bundle.csv.object, "/spec/customresourcedefinitions/owned")
}

fn owned_crd<'a>(bundle: &'a Loaded, example: &Value, res: &mut Outcome) -> Option<&'a Value> {
    let (group, version) = of::group_version(example);
    let is = |it: &&Value| of::kind(it) == of::kind(example) && of::text(it, "/version") == version;
    let found = owned(bundle).iter().find(is);
    if found.is_none() {
        res.state = State::Fail;
        res.errors.push(format!(
            "Failed to find an owned CRD for CR {} with GVK {group}/{version}, Kind={}",
            of::name(example),
            of::kind(example)
        ));
    }
    found
}
