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
    /// Whether the object is also reviewed if a rule has another version of it.
    pub is_equivalent: bool,
    /// Whether a call that fails does not count.
    pub is_ignored: bool,
    /// Whether it is called again when a later one has changed the object.
    pub is_invoked_again: bool,
    pub timeout: Duration,
}

/// A requirement of a `namespaceSelector` for the names of namespaces.
pub struct Namespaces {
    /// Whether the name has to be one of these, or must not be.
    pub is_in: bool,
    pub names: Vec<String>,
}

/// What a webhook reviews.
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
pub fn read(manifests: &str, service: &Service) -> Result<(Vec<Webhook>, Vec<Webhook>), String> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(manifests).map_err(|it| format!("webhooks: {it}"))?;
    let (mut mutating, mut validating) = (vec![], vec![]);
    for document in documents.into_iter().filter(|it| !it.is_null()) {
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
            into.push(self::webhook(webhook, kind, configuration, service).map_err(place)?);
        }
    }
    Ok((mutating, validating))
}

fn webhook(value: &Value, kind: &str, configuration: &str, service: &Service) -> Result<Webhook, String> {
    let mut fields = Fields::of(value)?;
    let name = fields.text("name")?.filter(|it| !it.is_empty()).ok_or("it has no name")?;
    // The first version that the server knows is the one that it sends.
    let versions = fields.texts("admissionReviewVersions")?;
    match versions.iter().find(|it| ["v1", "v1beta1"].contains(&it.as_str())) {
        Some(version) if version == "v1" => {}
        _ => return Err("admissionReviewVersions: only v1 is supported, and has to come first".into()),
    }
    match fields.text("sideEffects")?.as_deref() {
        Some("None" | "NoneOnDryRun") => {}
        other => return Err(format!("sideEffects: {other:?} has to be None or NoneOnDryRun")),
    }
    let path = path(&fields.take("clientConfig"))?;
    let is_ignored = fields.choice("failurePolicy", ["Fail", "Ignore"])?;
    let is_equivalent = !fields.choice("matchPolicy", ["Equivalent", "Exact"])?;
    let is_invoked_again = match kind {
        "MutatingWebhookConfiguration" => fields.choice("reinvocationPolicy", ["Never", "IfNeeded"])?,
        _ => false,
    };
    let timeout = match fields.take("timeoutSeconds") {
        Value::Null => 10,
        it => it.as_u64().filter(|it| (1..=30).contains(it)).ok_or("timeoutSeconds: it has to be from 1 to 30")?,
    };
    let rules = match fields.take("rules") {
        Value::Array(rules) if !rules.is_empty() => rules.iter().map(rule).collect::<Result<_, _>>()?,
        _ => return Err("it has no rules".into()),
    };
    // A selector that selects everything is what the server fills in.
    let selector = fields.take("objectSelector");
    if !selector.is_null() && selector != Value::Object(Map::new()) {
        return Err("objectSelector: operator-rs-testing does not support it".into());
    }
    let namespaces = namespaces(&fields.take("namespaceSelector"))?;
    fields.end()?;
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
fn namespaces(selector: &Value) -> Result<Vec<Namespaces>, String> {
    let place = |why: String| format!("namespaceSelector: {why}");
    let mut fields = if selector.is_null() { Fields::default() } else { Fields::of(selector).map_err(place)? };
    let expressions = match fields.take("matchExpressions") {
        Value::Null => vec![],
        Value::Array(all) => all,
        other => return Err(place(format!("{} is no list", quoted(&other)))),
    };
    fields.end().map_err(place)?;
    let requirement = |it: &Value| {
        let mut fields = Fields::of(it)?;
        match fields.text("key")? {
            Some(key) if key == "kubernetes.io/metadata.name" => {}
            _ => return Err("operator-rs-testing supports only the label `kubernetes.io/metadata.name`".to_owned()),
        }
        let is_in = match fields.text("operator")?.as_deref() {
            Some("In") => true,
            Some("NotIn") => false,
            other => return Err(format!("operator: {other:?} has to be In or NotIn")),
        };
        let names = fields.texts("values")?;
        fields.end().map(|()| Namespaces { is_in, names })
    };
    expressions.iter().map(requirement).collect::<Result<_, _>>().map_err(place)
}

fn rule(value: &Value) -> Result<Rule, String> {
    let mut fields = Fields::of(value)?;
    let rule = Rule {
        operations: fields.texts("operations")?,
        groups: fields.texts("apiGroups")?,
        versions: fields.texts("apiVersions")?,
        resources: fields.texts("resources")?,
        scope: fields.text("scope")?.unwrap_or_else(|| "*".into()),
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
    if let Some(other) = rule.operations.iter().find(|it| !known.contains(&it.as_str())) {
        return Err(format!("rules: `{other}` is no operation"));
    }
    if !["*", "Namespaced", "Cluster"].contains(&rule.scope.as_str()) {
        return Err(format!("rules: `{}` is no scope", rule.scope));
    }
    fields.end().map(|()| rule)
}

/// The path of the service: which one it is does not matter, since all have one that answers.
fn path(client: &Value) -> Result<String, String> {
    let mut fields = Fields::of(client).map_err(|_| "it has no clientConfig")?;
    fields.take("caBundle");
    let mut service =
        Fields::of(&fields.take("service")).map_err(|_| "clientConfig: only a service is supported".to_owned())?;
    fields.end()?;
    for name in ["name", "namespace", "port"] {
        service.take(name);
    }
    let path = service.text("path")?.unwrap_or_else(|| "/".into());
    service.end()?;
    match path.starts_with('/') {
        true => Ok(path),
        false => Err(format!("clientConfig: the path `{path}` has to begin with `/`")),
    }
}

/// The fields of an object; each is taken once.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn of(value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Self(map.clone())),
            other => Err(format!("{} is no object", quoted(other))),
        }
    }

    fn take(&mut self, name: &str) -> Value {
        self.0.remove(name).unwrap_or_default()
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            Value::Null => Ok(None),
            Value::String(it) => Ok(Some(it)),
            other => Err(format!("{name}: {} is no text", quoted(&other))),
        }
    }

    fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let list = self.take(name);
        serde_json::from_value(list.clone()).map_err(|_| format!("{name}: {} is no list of texts", quoted(&list)))
    }

    /// Whether it is the second choice; the first one is the default.
    fn choice(&mut self, name: &str, choices: [&str; 2]) -> Result<bool, String> {
        match self.text(name)? {
            None => Ok(false),
            Some(it) if choices.contains(&it.as_str()) => Ok(it == choices[1]),
            Some(other) => Err(format!("{name}: `{other}` has to be {} or {}", choices[0], choices[1])),
        }
    }

    /// Nothing is left over.
    fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("{name}: operator-rs-testing does not support it")),
        }
    }
}
