//! Evaluates the rules of a schema (`x-kubernetes-validations`) on a value.

use crate::{
    expression::{self, Evaluator, Outcome},
    keyword::{flag, text},
    structural::{FieldPath, Findings},
};
use go_data::yaml::{Map, Value, json};

pub struct Rules(Evaluator);

impl Rules {
    pub fn new() -> Self {
        Self(Evaluator::default())
    }

    pub fn check_rules(&self, schema: &Value, value: &Value, findings: &mut Findings) {
        self.0.refill_budget();
        self.visit_value(schema, schema, value, &FieldPath::default(), findings);
    }

    /// `rules` is the schema, or a branch of its `allOf`.
    fn visit_value(
        &self,
        schema: &Value,
        rules: &Value,
        value: &Value,
        path: &FieldPath,
        findings: &mut Findings,
    ) {
        if value.is_null() || self.0.is_exhausted() {
            return;
        }
        let list = |key: &str| rules.get(key).and_then(Value::as_array).into_iter().flatten();
        let validations: Vec<&Value> = list("x-kubernetes-validations").collect();
        if !validations.is_empty() {
            let schema = with_object(schema, path);
            validations
                .iter()
                .for_each(|rule| self.check_rule(rule, &schema, value, path, findings));
        }
        for branch in list("allOf") {
            self.visit_value(schema, branch, value, path, findings);
        }
        let child = |key: &str| Some((schema.get(key)?, rules.get(key)?));
        match value {
            Value::Array(items) => {
                let Some((schema, rules)) = child("items") else { return };
                for (at, item) in items.iter().enumerate() {
                    self.visit_value(schema, rules, item, &path.item(at), findings);
                }
            }
            Value::Object(map) => {
                for (key, value) in map {
                    let properties = child("properties");
                    let property = properties.and_then(|properties| {
                        Some((properties.0.get(key)?, properties.1.get(key)?))
                    });
                    let others =
                        child("additionalProperties").filter(|values| values.0.is_object());
                    if let Some((schema, rules)) = property.or(others) {
                        self.visit_value(schema, rules, value, &path.key(key), findings);
                    }
                }
            }
            _ => {}
        }
    }

    fn check_rule(
        &self,
        rule: &Value,
        schema: &Value,
        value: &Value,
        path: &FieldPath,
        findings: &mut Findings,
    ) {
        let source = text(rule, "rule");
        if self.0.is_exhausted() {
            return;
        }
        // There is no old value when an object is created.
        if expression::uses_old_self(source) && !flag(rule, "optionalOldSelf") {
            return;
        }
        let first = source.trim().lines().next().unwrap_or_default();
        match self.0.evaluate(source, schema, value) {
            Outcome::Bool(true) => {}
            Outcome::Bool(false) => {
                let message = match self.message_of_rule(rule, schema, value) {
                    it if it.is_empty() => "breaks a rule".to_owned(),
                    it => format!("breaks a rule: {it}"),
                };
                findings.fault(
                    &path_below(path, text(rule, "fieldPath")),
                    format!("{message} (`{first}`)"),
                );
            }
            Outcome::Error(error) => {
                findings.fault(
                    path,
                    format!("has a rule that cannot be evaluated: {error} (`{first}`)"),
                );
            }
            Outcome::Text(_) => {
                findings.unchecked(path, format!("is not checked by the rule `{first}`"))
            }
            Outcome::TooLong => {
                let message = format!(
                    "is not checked by the rule `{first}`, nor by the rules after it: they need more steps than \
                     operator-rs evaluates for one sample, and API servers limit the cost of rules as well"
                );
                findings.unchecked(path, message);
            }
            Outcome::Unknown(why) => {
                findings.unchecked(path, format!("is not checked by the rule `{first}`: {why}"));
            }
        }
    }

    fn message_of_rule(&self, rule: &Value, schema: &Value, value: &Value) -> String {
        let fixed = text(rule, "message").trim().to_owned();
        match text(rule, "messageExpression") {
            "" => fixed,
            source => match self.0.evaluate(source, schema, value) {
                Outcome::Text(it) if !it.trim().is_empty() && !it.trim().contains('\n') => {
                    it.trim().to_owned()
                }
                _ => fixed,
            },
        }
    }
}

/// Returns the schema with the fields that rules may read of every object at its top.
fn with_object(schema: &Value, path: &FieldPath) -> Value {
    let mut extended = schema.clone();
    if !(path.is_top() || flag(schema, "x-kubernetes-embedded-resource")) {
        return extended;
    }
    let text = json!({ "type": "string" });
    let names = json!({ "type": "object", "properties": { "name": text, "generateName": text } });
    let Some(map) = extended.as_object_mut() else { return extended };
    let properties = map.entry("properties").or_insert_with(|| Map::new().into());
    for (key, schema) in [("apiVersion", &text), ("kind", &text), ("metadata", &names)] {
        if let Some(map) = properties.as_object_mut() {
            map.insert(key.to_owned(), schema.clone());
        }
    }
    extended
}

/// Appends a rule's `fieldPath`, such as `.spec.size` or `.labels['a.b']`, to a path.
fn path_below(path: &FieldPath, more: &str) -> FieldPath {
    let keys = more.split(['.', '[']).filter(|key| !key.is_empty() && !more.contains('\''));
    keys.fold(path.clone(), |path, key| path.key(key))
}
