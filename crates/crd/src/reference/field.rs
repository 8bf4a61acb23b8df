//! Describes a field with everything in its schema: about the field itself, and about its items or values.

use std::fmt::Write as _;

use super::{
    TypeNames,
    anchors::Anchors,
    facts::{describe_facts, describe_type},
    markdown::{code_block, code_span, escape_text, sanitize_description},
};
use crate::keyword::{flag, text};
use go_data::yaml::{self, Value};

/// A field of an object, or the object at the top.
pub struct Field<'a> {
    /// The path as it is shown: `spec.ports[].name`.
    path: String,
    /// The names in the path, without lists and maps.
    names: Vec<String>,
    anchor: String,
    is_required: bool,
    /// The field's schema, that of its items, and so on.
    layers: Vec<Layer<'a>>,
    fields: Vec<Field<'a>>,
}

struct Layer<'a> {
    /// The role in the layer before: `item` or `value`.
    what: &'static str,
    schema: &'a Value,
}

/// The state that the fields of a version share.
pub struct Context<'a> {
    pub anchors: &'a mut Anchors,
    /// The first part of each anchor.
    pub prefix: Option<&'a str>,
}

impl<'a> Field<'a> {
    /// Reads the object at the top.
    pub fn of_object(context: &mut Context<'_>, schema: &'a Value) -> Self {
        let layers = vec![Layer { what: "", schema }];
        let mut field = Self {
            path: String::new(),
            names: Vec::new(),
            anchor: String::new(),
            is_required: false,
            layers,
            fields: Vec::new(),
        };
        field.fields = field.read_fields(context);
        field
    }

    fn read_field(
        context: &mut Context<'_>,
        path: &str,
        names: Vec<String>,
        schema: &'a Value,
        is_required: bool,
    ) -> Self {
        let parts = context.prefix.into_iter().chain(names.iter().map(String::as_str));
        let anchor = context.anchors.add_anchor(parts);
        let mut path = path.to_owned();
        let mut layers = vec![Layer { what: "", schema }];
        let mut inner = schema;
        while let Some((what, suffix, next)) = item_schema(inner) {
            path += suffix;
            layers.push(Layer { what, schema: next });
            inner = next;
        }
        let mut field = Self { path, names, anchor, is_required, layers, fields: Vec::new() };
        field.fields = field.read_fields(context);
        field
    }

    fn read_fields(&self, context: &mut Context<'_>) -> Vec<Self> {
        // A map has no fields, and a list has those of its items.
        let Some(Layer { schema, .. }) = self.layers.last() else { return Vec::new() };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let field = |(name, it): (&String, &'a Value)| {
            let names = self.names.iter().chain([name]).cloned().collect();
            let path =
                if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            Self::read_field(context, &path, names, it, required.contains(&name.as_str()))
        };
        let is_top = self.names.is_empty();
        let known =
            |property: &(&String, &Value)| !(is_top && is_of_every_object(property.0, property.1));
        schema["properties"].as_object().into_iter().flatten().filter(known).map(field).collect()
    }

    /// Writes the sections of an object at the top and of all fields in it.
    pub fn write_sections(&self, types: Option<&TypeNames>, to: &mut String) {
        self.write_body(types, to);
        // Fields without fields come first, so that each is below the heading of its object.
        let (objects, leaves): (Vec<_>, Vec<_>) =
            self.fields.iter().partition(|field| !field.fields.is_empty());
        for it in leaves {
            let level = if self.names.is_empty() { "###" } else { "####" };
            it.write_heading(level, to);
            it.write_body(types, to);
        }
        for it in objects {
            it.write_heading("###", to);
            it.write_sections(types, to);
        }
    }

    fn write_heading(&self, level: &str, to: &mut String) {
        let _ = write!(to, "\n{level} <a id=\"{}\"></a>{}\n", self.anchor, code_span(&self.path));
    }

    fn write_body(&self, types: Option<&TypeNames>, to: &mut String) {
        let name = types.and_then(|types| types.get(&self.names)).map(String::as_str);
        for (at, Layer { what, schema }) in self.layers.iter().enumerate() {
            let is_last = at + 1 == self.layers.len();
            let (facts, rest) = describe_facts(schema);
            let mut words = Vec::new();
            // Every kind is an object at the top.
            let is_top = at == 0 && self.names.is_empty();
            words.extend((!is_top).then(|| describe_type(schema, name.filter(|_| is_last))));
            words.extend((at == 0 && self.is_required).then(|| "required".to_owned()));
            words.extend(facts);
            let start = if at == 0 { String::new() } else { format!("Each {what}: ") };
            if !words.is_empty() {
                let _ = write!(to, "\n{start}{}\n", words.join(" · "));
            }
            let about = sanitize_description(text(schema, "description"));
            if !about.is_empty() {
                let _ = write!(to, "\n{about}\n");
            }
            write_rules(schema, to);
            let is_title_alone = self.names.is_empty() && rest.keys().all(|key| key == "title");
            if !(rest.is_empty() || is_title_alone) {
                let _ = write!(
                    to,
                    "\nFurther conditions:\n\n{}",
                    code_block(&yaml::to_text(&Value::Object(rest)), "yaml")
                );
            }
        }
        if !self.fields.is_empty() {
            to.push_str("\nFields:\n\n");
        }
        for it in &self.fields {
            let name = it.names.last().map(String::as_str).unwrap_or_default();
            let kind = it.describe_type(types);
            let required = if it.is_required { ", required" } else { "" };
            let _ = writeln!(to, "- [{}](#{}): {kind}{required}", code_span(name), it.anchor);
        }
    }

    /// Returns the type in a few words: `list of Port (object)`.
    fn describe_type(&self, types: Option<&TypeNames>) -> String {
        let name = types.and_then(|types| types.get(&self.names)).map(String::as_str);
        let last = self.layers.len() - 1;
        let each = self.layers.iter().enumerate();
        let each = each.map(|(at, it)| describe_type(it.schema, name.filter(|_| at == last)));
        each.collect::<Vec<_>>().join(" of ")
    }
}

/// Returns the items of a list or the values of a map: their name, their part of a path, and their schema.
pub fn item_schema(schema: &Value) -> Option<(&'static str, &'static str, &Value)> {
    let has_fields =
        schema["properties"].as_object().is_some_and(|properties| !properties.is_empty());
    match (&schema["items"], &schema["additionalProperties"]) {
        _ if has_fields => None,
        (items @ Value::Object(_), _) => Some(("item", "[]", items)),
        (_, values @ Value::Object(_)) => Some(("value", ".*", values)),
        _ => None,
    }
}

/// Returns true if a field at the top only declares what every object has.
fn is_of_every_object(name: &str, schema: &Value) -> bool {
    let is_plain = |kind: &str| {
        text(schema, "type") == kind
            && schema
                .as_object()
                .is_some_and(|map| map.keys().all(|key| key == "type" || key == "description"))
    };
    match name {
        "apiVersion" | "kind" => is_plain("string"),
        "metadata" => is_plain("object"),
        _ => false,
    }
}

/// Writes the rules of a schema (CEL), each with the server's message for a value that breaks it.
fn write_rules(schema: &Value, to: &mut String) {
    let rules =
        schema["x-kubernetes-validations"].as_array().map(Vec::as_slice).unwrap_or_default();
    if rules.is_empty() {
        return;
    }
    to.push_str("\nRules:\n\n");
    for rule in rules {
        let expression = text(rule, "rule").trim();
        let mut more = Vec::new();
        if !text(rule, "message").is_empty() {
            more.push(escape_text(text(rule, "message")));
        }
        for (key, words) in
            [("messageExpression", "message"), ("reason", "reason"), ("fieldPath", "field")]
        {
            if !text(rule, key).is_empty() {
                more.push(format!("{words} {}", code_span(text(rule, key))));
            }
        }
        more.extend(
            flag(rule, "optionalOldSelf").then(|| "also when the object is created".to_owned()),
        );
        let more = if more.is_empty() { String::new() } else { format!(": {}", more.join(" · ")) };
        if expression.contains('\n') {
            let about = if more.is_empty() { "Expression" } else { &more[2..] };
            let block = code_block(expression, "text");
            let indented: String = block.lines().map(|line| format!("  {line}\n")).collect();
            let _ = write!(to, "- {about}\n\n{indented}");
        } else {
            let _ = writeln!(to, "- {}{more}", code_span(expression));
        }
    }
}
