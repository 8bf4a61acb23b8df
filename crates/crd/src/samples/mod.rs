//! Checks custom resources against the CRDs that define their kinds, as an API server of Kubernetes 1.36 does when they
//! are created with strict validation of fields, as by `kubectl apply`.
//!
//! It fills in defaults, then checks unknown fields, types and bounds, metadata, keys of lists, and rules (CEL). The
//! report names what is not evaluated exactly, which counts neither as valid nor as a fault. Not checked: owner
//! references, finalizers, and what admission webhooks say.
//!
//! A JSON Schema validator would not do: a structural schema has `nullable`, int-or-string, formats of Go's own and
//! bounds that Go rounds, all of which decide whether a server takes a sample, and none of which JSON Schema has.

mod format;
mod lists;
mod metadata;
mod rules;
#[cfg(test)]
mod tests;

use self::rules::Rules;
use crate::{
    expression,
    keyword::{flag, text},
    structural::{
        FieldFault, FieldPath, Findings, Step, Texts, WRONG_TYPE, fill_defaults, prune,
        remove_nulls, validate,
    },
};
use diagnostics::{Diagnostic, Lines};
use go_data::{
    kubernetes,
    yaml::{Data, Mark, Node, Value},
};

/// Patterns and formats as API servers read them.
pub const TEXTS: Texts = Texts { matches: expression::is_match, has_format: format::is_valid };

/// The rule of a sample that API servers refuse.
pub const REFUSED: &str = "sample-refused";
/// The rule of a sample that was not checked, or not wholly.
pub const UNCHECKED: &str = "sample-unchecked";

/// The message of a field that the schema does not declare.
const UNKNOWN: &str = "unknown field";

pub struct Sample<'a> {
    pub value: &'a Value,
    /// The file that has it, and its text and the document in it, if they are known.
    pub path: &'a str,
    pub text: &'a str,
    pub document: Option<&'a Node>,
}

#[derive(Debug, Default)]
pub struct SampleReport {
    /// The reasons why API servers refuse the samples.
    pub faults: Vec<Diagnostic>,
    /// The samples, or parts of them, that were not checked.
    pub unchecked: Vec<Diagnostic>,
}

/// Checks samples against these CRDs. Objects of other groups are not checked.
pub fn check(crds: &[&Value], samples: &[Sample<'_>]) -> SampleReport {
    let rules = Rules::new();
    let mut report = SampleReport::default();
    for sample in samples {
        let Some((title, findings)) = check_sample(crds, sample.value, &rules) else { continue };
        let mut lines = Lines::new(sample.text);
        let mut problem = |fault: FieldFault, rule: &'static str| {
            diagnostic_of(fault, &title, sample).with_code(rule).quote(&mut lines)
        };
        report.faults.extend(findings.faults.into_iter().map(|fault| problem(fault, REFUSED)));
        report
            .unchecked
            .extend(findings.unchecked.into_iter().map(|fault| problem(fault, UNCHECKED)));
    }
    for list in [&mut report.faults, &mut report.unchecked] {
        list.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    }
    report
}

/// Returns true if API servers certainly accept a value of a schema.
pub fn is_accepted(schema: &Value, value: &Value) -> bool {
    let findings = findings_of_value(schema, value);
    findings.faults.is_empty() && findings.unchecked.is_empty()
}

fn findings_of_value(schema: &Value, value: &Value) -> Findings {
    let mut findings = Findings::default();
    let top = FieldPath::default();
    let value = kubernetes::decode(value).value;
    remove_unknown(&mut value.clone(), schema, &top.key("default"), &mut findings);
    validate(schema, &value, &top, TEXTS, &mut findings);
    drop_unknown_in_wrong_types(&mut findings);
    if !findings.blocks_rules {
        Rules::new().check_rules(schema, &value, &mut findings);
    }
    findings
}

/// Returns the reasons why an API server refuses a value as the default of a schema, without those that cannot be
/// checked.
pub fn refusals_of_default(schema: &Value, value: &Value) -> Vec<String> {
    let findings = findings_of_value(schema, value);
    let text =
        |FieldFault { path, message, .. }: FieldFault| match (path.is_top(), message.as_str()) {
            (true, _) => message,
            (_, UNKNOWN) => format!("has the unknown field `{path}`"),
            _ => format!("has a wrong field: `{path}` {message}"),
        };
    findings.faults.into_iter().map(text).collect()
}

/// Returns the key to sort by: the source span, then the message.
fn sort_key(it: &Diagnostic) -> (&Option<String>, Option<(usize, usize)>, &str) {
    (&it.file, it.position, &it.message)
}

fn diagnostic_of(fault: FieldFault, title: &str, sample: &Sample<'_>) -> Diagnostic {
    let FieldFault { path, message, hint } = fault;
    let mark =
        sample.document.map_or(Mark { line: 1, column: 1 }, |document| mark_of(&path, document));
    let (message, field_path) = match (path.is_top(), message.as_str()) {
        (true, _) => (format!("{title} {message}"), vec![title.to_owned()]),
        (false, UNKNOWN) => {
            (format!("unknown field `{path}`"), vec![title.to_owned(), path.to_string()])
        }
        (false, _) => (format!("`{path}` {message}"), vec![title.to_owned(), path.to_string()]),
    };
    Diagnostic {
        field_paths: vec![field_path],
        hints: hint.into_iter().collect(),
        ..Diagnostic::in_file(sample.path, message).at_position(mark.line, mark.column)
    }
}

/// Returns the source span of a field in a document: its key, if it has one, or else the nearest value around it.
fn mark_of(path: &FieldPath, document: &Node) -> Mark {
    let (mut node, mut mark) = (document, document.mark);
    for step in path.steps() {
        let next = match (step, &node.data) {
            (Step::Key(key), Data::Map(entries)) => entries
                .iter()
                .find(|entry| entry.key == *key)
                .map(|entry| (&entry.value, entry.mark)),
            (Step::Item(index), Data::List(items)) => {
                items.get(*index).map(|item| (item, item.mark))
            }
            _ => None,
        };
        let Some(next) = next else { break };
        (node, mark) = next;
    }
    mark
}

/// Removes the fields that the schema does not have. Each of them is a fault.
fn remove_unknown(value: &mut Value, schema: &Value, path: &FieldPath, findings: &mut Findings) {
    prune(value, Some(schema), path, &mut |path, parent| {
        findings.fault(path, UNKNOWN);
        let names = parent.and_then(|parent| parent.get("properties")).and_then(Value::as_object);
        let names = names.into_iter().flatten().map(|(name, _)| name.as_str());
        let Some(Step::Key(key)) = path.steps().last() else { return };
        if let Some(fault) = findings.faults.last_mut() {
            fault.hint =
                diagnostics::find_nearest(key, names).map(|name| format!("did you mean `{name}`?"));
        }
    });
}

/// Drops the faults of unknown fields inside of a value of the wrong type, which is the only fault there.
fn drop_unknown_in_wrong_types(findings: &mut Findings) {
    let is_wrong_type = |fault: &&FieldFault| fault.message.starts_with(WRONG_TYPE);
    let wrong: Vec<FieldPath> =
        findings.faults.iter().filter(is_wrong_type).map(|fault| fault.path.clone()).collect();
    let is_inside =
        |fault: &FieldFault| wrong.iter().any(|path| fault.path.steps().starts_with(path.steps()));
    findings.faults.retain(|fault| fault.message != UNKNOWN || !is_inside(fault));
}

/// Returns a title for messages, and the findings; none for an object whose group no CRD has.
fn check_sample(crds: &[&Value], sample: &Value, rules: &Rules) -> Option<(String, Findings)> {
    let (group, version) = text(sample, "apiVersion").split_once('/')?;
    let kind = text(sample, "kind");
    let mut of_group = crds.iter().filter(|crd| text(&crd["spec"], "group") == group).peekable();
    of_group.peek()?;
    let title = format!("{kind} {version}");
    let Some(crd) = of_group.find(|crd| text(&crd["spec"]["names"], "kind") == kind) else {
        let mut findings = Findings::default();
        findings.unchecked(
            &FieldPath::default().key("kind"),
            "names a kind that no CRD of this API group defines",
        );
        return Some((title, findings));
    };
    let versions = crd["spec"]["versions"].as_array()?;
    match versions.iter().find(|entry| text(entry, "name") == version && flag(entry, "served")) {
        Some(version) => Some((title, check_against_version(version, sample, rules))),
        None => {
            let mut findings = Findings::default();
            let path = FieldPath::default().key("apiVersion");
            findings.unchecked(&path, "is a version that the CRD does not serve");
            Some((title, findings))
        }
    }
}

fn check_against_version(version: &Value, sample: &Value, rules: &Rules) -> Findings {
    let mut findings = Findings::default();
    let Some(schema) = version.pointer("/schema/openAPIV3Schema") else { return findings };
    // A client makes `2` of `2.0`.
    let mut value = kubernetes::decode(sample).value;
    let top = FieldPath::default();
    remove_unknown(&mut value, schema, &top, &mut findings);
    remove_nulls(&mut value, schema);
    fill_defaults(&mut value, schema);
    metadata::check_metadata(&value, &mut findings);
    // An API server drops the status of a created object if the status is a subresource.
    if version.pointer("/subresources/status").is_some()
        && let Some(map) = value.as_object_mut()
    {
        map.remove("status");
    }
    validate(schema, &value, &top, TEXTS, &mut findings);
    drop_unknown_in_wrong_types(&mut findings);
    metadata::check_embedded(schema, &value, &top, &mut findings);
    lists::check_lists(schema, &value, &top, &mut findings);
    check_scale(version, &value, &mut findings);
    if !findings.blocks_rules {
        rules.check_rules(schema, &value, &mut findings);
    }
    findings
}

/// Checks the number of replicas, if the CRD names the field that has it.
fn check_scale(version: &Value, value: &Value, findings: &mut Findings) {
    let Some(scale) = version.pointer("/subresources/scale") else { return };
    for key in ["specReplicasPath", "statusReplicasPath"] {
        let (mut here, mut path) = (Some(value), FieldPath::default());
        for key in text(scale, key).split('.').filter(|step| !step.is_empty()) {
            here = here.and_then(|value| value.get(key));
            path = path.key(key);
        }
        let fits = |value: &Value| {
            value.as_i64().is_some_and(|number| (0..=i64::from(i32::MAX)).contains(&number))
        };
        if here.is_some_and(|value| !fits(value)) {
            findings.fault(&path, "must be a number of replicas: an integer from 0 to 2147483647");
        }
    }
}
