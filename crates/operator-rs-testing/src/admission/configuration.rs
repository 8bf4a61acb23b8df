//! Reads webhook configurations. What is not known here is an error: a test must not pass because something of a
//! configuration is left out.

use super::{Service, quoted};
use serde_json::{Map, Value};
use std::time::Duration;

/// A webhook of a configuration.
pub struct Webhook {
    pub configuration: String,
    pub name: String,
    pub path: String,
    pub service: Service,
    pub rules: Vec<Rule>,
    /// The namespaces whose objects it reviews: those that all of these allow.
    pub namespaces: Vec<Namespaces>,
    /// True if the object is also reviewed when a rule names another version of it.
    pub is_equivalent: bool,
    /// True if a failed call is ignored.
    pub is_ignored: bool,
    /// True if the webhook is called again after a later one has changed the object.
    pub is_invoked_again: bool,
    pub timeout: Duration,
}

/// A requirement of a `namespaceSelector` for the names of namespaces.
pub struct Namespaces {
    /// True if the namespace must be one of these names, false if it must not.
    pub is_in: bool,
    pub names: Vec<String>,
}

/// The requests that a webhook reviews.
pub struct Rule {
    pub operations: Vec<String>,
    pub groups: Vec<String>,
    pub versions: Vec<String>,
    pub resources: Vec<String>,
    pub scope: String,
}

/// The mutating and the validating webhooks of all documents.
///
/// # Errors
/// If something is invalid, or not known here.
pub fn parse_configurations(manifests: &str, service: &Service) -> Result<(Vec<Webhook>, Vec<Webhook>), String> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(manifests).map_err(|error| format!("webhooks: {error}"))?;
    let (mut mutating, mut validating) = (vec![], vec![]);
    for document in documents.into_iter().filter(|document| !document.is_null()) {
        let api_version = document["apiVersion"].as_str().unwrap_or_default();
        let kind = document["kind"].as_str().unwrap_or_default();
        let into = match (api_version, kind) {
            ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration") => &mut mutating,
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration") => &mut validating,
            _ => return Err(format!("webhooks: `{kind}` of `{api_version}` is no webhook configuration")),
        };
        let configuration = document["metadata"]["name"].as_str().ok_or("webhooks: a configuration has no name")?;
        for webhook in document["webhooks"].as_array().into_iter().flatten() {
            let name = webhook["name"].as_str().unwrap_or_default();
            let place = |why: String| format!("webhook `{name}` of `{configuration}`: {why}");
            into.push(parse_webhook(webhook, kind, configuration, service).map_err(place)?);
        }
    }
    Ok((mutating, validating))
}

fn parse_webhook(value: &Value, kind: &str, configuration: &str, service: &Service) -> Result<Webhook, String> {
    let mut fields = FieldReader::of(value)?;
    let name = fields.take_text("name")?.filter(|name| !name.is_empty()).ok_or("it has no name")?;
    // The first version that the server knows is the one that it sends.
    let versions = fields.take_texts("admissionReviewVersions")?;
    match versions.iter().find(|version| ["v1", "v1beta1"].contains(&version.as_str())) {
        Some(version) if version == "v1" => {}
        _ => return Err("admissionReviewVersions: only v1 is supported, and has to come first".into()),
    }
    match fields.take_text("sideEffects")?.as_deref() {
        Some("None" | "NoneOnDryRun") => {}
        other => return Err(format!("sideEffects: {other:?} has to be None or NoneOnDryRun")),
    }
    let path = parse_service_path(&fields.take_field("clientConfig"))?;
    let is_ignored = fields.take_choice("failurePolicy", ["Fail", "Ignore"])?;
    let is_equivalent = !fields.take_choice("matchPolicy", ["Equivalent", "Exact"])?;
    let is_invoked_again = match kind {
        "MutatingWebhookConfiguration" => fields.take_choice("reinvocationPolicy", ["Never", "IfNeeded"])?,
        _ => false,
    };
    let timeout = match fields.take_field("timeoutSeconds") {
        Value::Null => 10,
        it => it.as_u64().filter(|it| (1..=30).contains(it)).ok_or("timeoutSeconds: it has to be from 1 to 30")?,
    };
    let rules = match fields.take_field("rules") {
        Value::Array(rules) if !rules.is_empty() => rules.iter().map(parse_rule).collect::<Result<_, _>>()?,
        _ => return Err("it has no rules".into()),
    };
    // A selector that selects everything is what the server fills in.
    let selector = fields.take_field("objectSelector");
    if !selector.is_null() && selector != Value::Object(Map::new()) {
        return Err("objectSelector: operator-rs-testing does not support it".into());
    }
    let namespaces = parse_namespace_selector(&fields.take_field("namespaceSelector"))?;
    fields.expect_end()?;
    Ok(Webhook {
        configuration: configuration.to_owned(),
        name,
        path,
        service: service.clone(),
        rules,
        namespaces,
        is_equivalent,
        is_ignored,
        is_invoked_again,
        timeout: Duration::from_secs(timeout),
    })
}

/// Every namespace has the label `kubernetes.io/metadata.name`; of other labels, nothing is known.
fn parse_namespace_selector(selector: &Value) -> Result<Vec<Namespaces>, String> {
    let place = |why: String| format!("namespaceSelector: {why}");
    let mut fields =
        if selector.is_null() { FieldReader::default() } else { FieldReader::of(selector).map_err(place)? };
    let expressions = match fields.take_field("matchExpressions") {
        Value::Null => vec![],
        Value::Array(all) => all,
        other => return Err(place(format!("{} is no list", quoted(&other)))),
    };
    fields.expect_end().map_err(place)?;
    let requirement = |it: &Value| {
        let mut fields = FieldReader::of(it)?;
        match fields.take_text("key")? {
            Some(key) if key == "kubernetes.io/metadata.name" => {}
            _ => return Err("operator-rs-testing supports only the label `kubernetes.io/metadata.name`".to_owned()),
        }
        let is_in = match fields.take_text("operator")?.as_deref() {
            Some("In") => true,
            Some("NotIn") => false,
            other => return Err(format!("operator: {other:?} has to be In or NotIn")),
        };
        let names = fields.take_texts("values")?;
        fields.expect_end().map(|()| Namespaces { is_in, names })
    };
    expressions.iter().map(requirement).collect::<Result<_, _>>().map_err(place)
}

fn parse_rule(value: &Value) -> Result<Rule, String> {
    let mut fields = FieldReader::of(value)?;
    let rule = Rule {
        operations: fields.take_texts("operations")?,
        groups: fields.take_texts("apiGroups")?,
        versions: fields.take_texts("apiVersions")?,
        resources: fields.take_texts("resources")?,
        scope: fields.take_text("scope")?.unwrap_or_else(|| "*".into()),
    };
    for (name, list) in [
        ("operations", &rule.operations),
        ("apiGroups", &rule.groups),
        ("apiVersions", &rule.versions),
        ("resources", &rule.resources),
    ] {
        if list.is_empty() {
            return Err(format!("rules: {name} is empty"));
        }
    }
    let known = ["CREATE", "UPDATE", "DELETE", "CONNECT", "*"];
    if let Some(other) = rule.operations.iter().find(|operation| !known.contains(&operation.as_str())) {
        return Err(format!("rules: `{other}` is no operation"));
    }
    if !["*", "Namespaced", "Cluster"].contains(&rule.scope.as_str()) {
        return Err(format!("rules: `{}` is no scope", rule.scope));
    }
    fields.expect_end().map(|()| rule)
}

/// The path of the service: which one it is does not matter, since all have one that answers.
fn parse_service_path(client: &Value) -> Result<String, String> {
    let mut fields = FieldReader::of(client).map_err(|_| "it has no clientConfig")?;
    fields.take_field("caBundle");
    let mut service = FieldReader::of(&fields.take_field("service"))
        .map_err(|_| "clientConfig: only a service is supported".to_owned())?;
    fields.expect_end()?;
    for name in ["name", "namespace", "port"] {
        service.take_field(name);
    }
    let path = service.take_text("path")?.unwrap_or_else(|| "/".into());
    service.expect_end()?;
    if path.starts_with('/') {
        return Ok(path);
    }
    Err(format!("clientConfig: the path `{path}` has to begin with `/`"))
}

/// The fields of an object; each is taken once.
#[derive(Default)]
struct FieldReader(Map<String, Value>);

impl FieldReader {
    fn of(value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Self(map.clone())),
            other => Err(format!("{} is no object", quoted(other))),
        }
    }

    fn take_field(&mut self, name: &str) -> Value {
        self.0.remove(name).unwrap_or_default()
    }

    fn take_text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take_field(name) {
            Value::Null => Ok(None),
            Value::String(it) => Ok(Some(it)),
            other => Err(format!("{name}: {} is no text", quoted(&other))),
        }
    }

    fn take_texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let list = self.take_field(name);
        serde_json::from_value(list.clone()).map_err(|_| format!("{name}: {} is no list of texts", quoted(&list)))
    }

    /// Returns true for the second choice; the first one is the default.
    fn take_choice(&mut self, name: &str, choices: [&str; 2]) -> Result<bool, String> {
        match self.take_text(name)? {
            None => Ok(false),
            Some(it) if choices.contains(&it.as_str()) => Ok(it == choices[1]),
            Some(other) => Err(format!("{name}: `{other}` has to be {} or {}", choices[0], choices[1])),
        }
    }

    /// Nothing is left over.
    fn expect_end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("{name}: operator-rs-testing does not support it")),
        }
    }
}
