//! Limits such as `length` and `range`: the keywords that they write into a schema, and the limits that write nothing.
//!
//! schemars writes a limit only into a schema of the type that the limit is for, and is silent otherwise.

use proc_macro2::Span;
use schemars::{_private as upstream, Schema};
use serde_json::Value;

use super::validation::{Bounds, Validation};

/// The keywords that limits write.
const KEYWORDS: [&str; 8] =
    ["format", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern"];

/// An item of an attribute that writes nothing into the schema of its field.
pub struct Ineffective {
    pub item: &'static str,
    pub span: Span,
    /// Why it writes nothing.
    pub reason: String,
    /// An attribute that does what it is meant to do.
    pub hint: String,
}

/// A limit of a field.
enum Limit<'a> {
    Length(&'a Bounds),
    Range(&'a Bounds),
    Pattern(&'static str, &'a str),
    Inner(&'a Validation),
}

impl Validation {
    /// Writes all limits into the schema of a field. Returns those that it does not have a place for.
    pub fn apply_to(&self, schema: &mut Schema) -> Vec<Ineffective> {
        let mut ineffective = Vec::new();
        for (limit, span) in self.collect_limits() {
            ineffective.extend(limit.apply_to(span, schema));
        }
        if let Some(format) = self.format {
            schema.insert("format".to_owned(), format.into());
        }
        ineffective
    }

    /// All items as ineffective ones, for a field that schemars merges into the struct around it.
    pub fn all_ineffective(&self, reason: &str, hint: &str) -> Vec<Ineffective> {
        let each = self.collect_limits().into_iter().map(|(limit, span)| Ineffective {
            item: limit.name(),
            span,
            reason: reason.to_owned(),
            hint: hint.to_owned(),
        });
        each.collect()
    }

    fn collect_limits(&self) -> Vec<(Limit<'_>, Span)> {
        let length = self.length.iter().map(|(bounds, span)| (Limit::Length(bounds), *span));
        let range = self.range.iter().map(|(bounds, span)| (Limit::Range(bounds), *span));
        let text = self.text.iter().map(|(item, text, span)| (Limit::Pattern(item, text), *span));
        let inner = self.inner.iter().map(|(inner, span)| (Limit::Inner(inner), *span));
        length.chain(range).chain(text).chain(inner).collect()
    }
}

impl Limit<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Length(_) => "length",
            Self::Range(_) => "range",
            Self::Pattern(item, _) => item,
            Self::Inner(_) => "inner",
        }
    }

    /// Writes the limit into a schema. Whether it has an effect is seen on a copy without any limits, so that one that
    /// repeats what the schema says already has an effect, too.
    fn apply_to(&self, span: Span, schema: &mut Schema) -> Vec<Ineffective> {
        let items = schema.get_mut("items").and_then(|items| <&mut Schema>::try_from(items).ok());
        if let (Self::Inner(inner), Some(items)) = (self, items) {
            return inner.apply_to(items);
        }
        let mut without = schema.clone();
        KEYWORDS.iter().for_each(|keyword| drop(without.remove(*keyword)));
        let mut with = without.clone();
        self.write_to(&mut with);
        self.write_to(schema);
        if with != without {
            return Vec::new();
        }
        let node = Node::from_schema(schema);
        let reason = format!("{}, and this is {}", self.purpose(), node.name());
        vec![Ineffective { item: self.name(), span, reason, hint: self.hint_for(node) }]
    }

    fn write_to(&self, schema: &mut Schema) {
        match self {
            Self::Length(bounds) => {
                bounds.write_to(schema, "string", "Length");
                bounds.write_to(schema, "array", "Items");
            }
            Self::Range(bounds) => bounds.write_to(schema, "number", "imum"),
            Self::Pattern("contains", text) => upstream::must_contain(schema, text),
            Self::Pattern(_, text) => {
                upstream::insert_validation_property(
                    schema,
                    "string",
                    "pattern",
                    (*text).to_owned(),
                );
            }
            Self::Inner(_) => {}
        }
    }

    fn purpose(&self) -> &'static str {
        match self {
            Self::Length(_) => "it limits strings and lists",
            Self::Range(_) => "it limits numbers",
            Self::Pattern(..) => "it limits strings",
            Self::Inner(_) => "it limits the items of lists",
        }
    }

    /// The attribute that limits such a value.
    fn hint_for(&self, node: Node) -> String {
        let extend = |keywords: String| format!("use `#[schemars(extend({keywords}))]`");
        match (self, node) {
            (Self::Length(bounds) | Self::Range(bounds), Node::Map) => {
                extend(bounds.format_with(|bound| format!("\"{bound}Properties\"")))
            }
            (Self::Length(bounds), Node::Number) => {
                format!("use `#[schemars(range({}))]`", bounds.format_with(str::to_owned))
            }
            (Self::Range(bounds), Node::List) => {
                format!("use `#[schemars(length({}))]`", bounds.format_with(str::to_owned))
            }
            (Self::Range(_), Node::Text) => {
                "use `#[schemars(length(…))]` or `#[schemars(regex(pattern = …))]`".to_owned()
            }
            (Self::Pattern(_, text), Node::List) => {
                format!("use `#[schemars(inner(regex(pattern = {text:?})))]`")
            }
            (Self::Pattern(..) | Self::Inner(_), Node::Map) => {
                extend("\"additionalProperties\" = { … }".to_owned())
            }
            _ => "remove it, or write a CEL rule with `#[x_kube(validation = …)]` and `#[derive(KubeSchema)]`".to_owned(),
        }
    }
}

impl Bounds {
    fn named_bounds(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let bounds = [("min", &self.min), ("max", &self.max)].into_iter();
        bounds.filter_map(|(name, bound)| Some((name, bound.as_ref().or(self.equal.as_ref())?)))
    }

    fn write_to(&self, schema: &mut Schema, of: &str, suffix: &str) {
        for (name, bound) in self.named_bounds() {
            let key = format!("{name}{suffix}");
            upstream::insert_validation_property(schema, of, &key, bound.clone());
        }
    }

    fn format_with(&self, name_of: impl Fn(&str) -> String) -> String {
        let each = self.named_bounds().map(|(name, bound)| format!("{} = {bound}", name_of(name)));
        each.collect::<Vec<_>>().join(", ")
    }
}

/// The sort of value that a schema describes.
#[derive(Clone, Copy)]
enum Node {
    Map,
    Struct,
    List,
    Text,
    Number,
    Bool,
    Any,
}

impl Node {
    fn from_schema(schema: &Schema) -> Self {
        let schema = schema.as_value();
        let is = |name: &str| match &schema["type"] {
            Value::String(own) => own == name,
            Value::Array(all) => all.iter().any(|own| own == name),
            _ => false,
        };
        match () {
            () if is("object") && schema["properties"].is_null() => Self::Map,
            () if is("object") => Self::Struct,
            () if is("array") => Self::List,
            () if is("string") => Self::Text,
            () if is("integer") || is("number") => Self::Number,
            () if is("boolean") => Self::Bool,
            () => Self::Any,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Map => "a map",
            Self::Struct => "a struct",
            Self::List => "a list",
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Bool => "a bool",
            Self::Any => "of no single type",
        }
    }
}
