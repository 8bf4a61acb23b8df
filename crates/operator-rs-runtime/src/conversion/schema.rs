//! The structural schema of a version, reduced to the rules by which partial objects are recognized and completed.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::atomic::AtomicUsize};

/// The schema of one value in an object.
#[derive(Debug, Default)]
pub struct Node {
    pub kind: SchemaType,
    pub properties: BTreeMap<String, Node>,
    /// The schema of the other fields.
    pub additional: Option<Box<Node>>,
    pub items: Option<Box<Node>>,
    /// The fields that identify an item of a list.
    pub keys: Vec<String>,
    pub required: Vec<String>,
    /// The fields with a default, which an API server has set in every complete object.
    pub defaulted: Vec<String>,
    /// The branches of each `oneOf` and `anyOf`. A branch repeats no types; it has only required fields and values of
    /// tags.
    pub choices: Vec<Vec<Node>>,
    /// The fields that `not` forbids.
    pub forbidden: Vec<String>,
    pub values: Vec<Value>,
    pub nullable: bool,
    pub format: String,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub min_length: usize,
    pub min_items: usize,
    /// The first row of strings that may be readable by the type. See `complete`.
    pub row: AtomicUsize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SchemaType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
    /// The schema declares no type.
    #[default]
    Any,
}

impl Node {
    /// Returns the schema of a version in a CRD, or an empty schema if the version has none.
    pub fn for_version(crd: CustomResourceDefinition, version: &str) -> Self {
        let version = crd.spec.versions.into_iter().find(|candidate| candidate.name == version);
        let schema = version.and_then(|version| version.schema?.open_api_v3_schema);
        schema.map(Self::new).unwrap_or_default()
    }

    fn new(schema: JSONSchemaProps) -> Self {
        let branches = |schemas: Option<Vec<_>>| {
            let schemas = schemas.unwrap_or_default().into_iter();
            schemas.map(Self::new).collect::<Vec<_>>()
        };
        let inclusive = |bound: Option<f64>, is_exclusive: Option<bool>, step: f64| {
            bound.map(|bound| if is_exclusive == Some(true) { bound + step } else { bound })
        };
        let choices = [branches(schema.one_of), branches(schema.any_of)].into_iter();
        let mut choices: Vec<_> = choices.filter(|branches| !branches.is_empty()).collect();
        let has_default = |field: &JSONSchemaProps| field.default.as_ref().is_some_and(|value| !value.0.is_null());
        let defaulted = schema.properties.iter().flatten().filter(|(_, field)| has_default(field));
        let defaulted = defaulted.map(|(name, _)| name.clone()).collect();
        choices.extend(branches(schema.all_of).into_iter().map(|branch| vec![branch]));
        let values = schema.enum_.unwrap_or_default().into_iter().map(|value| value.0);
        Self {
            kind: match schema.type_.as_deref() {
                _ if schema.x_kubernetes_int_or_string == Some(true) => SchemaType::IntOrString,
                Some("object") => SchemaType::Object,
                Some("array") => SchemaType::Array,
                Some("string") => SchemaType::String,
                Some("integer") => SchemaType::Integer,
                Some("number") => SchemaType::Number,
                Some("boolean") => SchemaType::Boolean,
                _ => SchemaType::Any,
            },
            properties: schema.properties.unwrap_or_default().into_iter().map(|(k, v)| (k, Self::new(v))).collect(),
            additional: schema.additional_properties.and_then(|additional| match additional {
                JSONSchemaPropsOrBool::Schema(schema) => Some(Box::new(Self::new(*schema))),
                JSONSchemaPropsOrBool::Bool(_) => None,
            }),
            items: schema.items.and_then(|items| match items {
                JSONSchemaPropsOrArray::Schema(schema) => Some(Box::new(Self::new(*schema))),
                JSONSchemaPropsOrArray::Schemas(_) => None,
            }),
            keys: match schema.x_kubernetes_list_type.as_deref() {
                Some("map") => schema.x_kubernetes_list_map_keys.unwrap_or_default(),
                _ => Vec::new(),
            },
            required: schema.required.unwrap_or_default(),
            defaulted,
            choices,
            forbidden: schema.not.and_then(|not| not.required).unwrap_or_default(),
            values: values.filter(|value| !value.is_null()).collect(),
            nullable: schema.nullable == Some(true),
            format: schema.format.unwrap_or_default(),
            minimum: inclusive(schema.minimum, schema.exclusive_minimum, 1.0),
            maximum: inclusive(schema.maximum, schema.exclusive_maximum, -1.0),
            min_length: schema.min_length.and_then(|length| usize::try_from(length).ok()).unwrap_or_default(),
            min_items: schema.min_items.and_then(|length| usize::try_from(length).ok()).unwrap_or_default(),
            row: AtomicUsize::new(0),
        }
    }

    /// Returns the schema of a field.
    pub fn field_schema(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// Returns the schema of the value at a path in an object.
    pub fn schema_at(&self, path: &str) -> Option<&Self> {
        let names = path.split(['.', '[']).filter(|name| !name.is_empty());
        names.into_iter().try_fold(self, |schema, name| match name.strip_suffix(']') {
            Some(_) => schema.items.as_deref(),
            None => schema.field_schema(name),
        })
    }

    /// Returns one branch of each choice, to which the object is completed: the branch of which it has the most fields.
    /// If it has fields of none, the number `variant` selects the branch.
    pub fn missing_branches(&self, object: &Map<String, Value>, variant: usize) -> impl Iterator<Item = &Self> {
        self.choices.iter().filter_map(move |branches| {
            let fitting = branches.iter().filter_map(|branch| Some((branch, branch.fit_branch(object)?)));
            let fitting: Vec<_> = fitting.collect();
            let best = fitting.iter().max_by_key(|(_, fit)| fit.present)?;
            match best {
                _ if fitting.iter().any(|(_, fit)| fit.missing == 0) => {
                    // The object matches a branch already, but fields of its children may still be missing.
                    let complete = fitting.iter().filter(|(_, fit)| fit.missing == 0);
                    complete.max_by_key(|(_, fit)| fit.present).map(|(branch, _)| *branch)
                }
                (_, fit) if fit.present == 0 => Some(fitting[variant % fitting.len()].0),
                (_, most) => {
                    let most = fitting.iter().filter(|(_, fit)| fit.present == most.present);
                    most.min_by_key(|(_, fit)| fit.missing).map(|(branch, _)| *branch)
                }
            }
        })
    }

    /// Counts the fields of this branch that an object has and lacks. Returns `None` if the object cannot match the
    /// branch.
    fn fit_branch(&self, object: &Map<String, Value>) -> Option<Fit> {
        if self.forbidden.iter().any(|name| object.contains_key(name)) {
            return None;
        }
        for (name, node) in &self.properties {
            let value = object.get(name).filter(|_| !node.values.is_empty());
            if value.is_some_and(|value| !node.values.contains(value)) {
                return None;
            }
        }
        let present = self.required.iter().filter(|name| object.contains_key(*name)).count();
        let mut fit = Fit { present, missing: self.required.len() - present };
        for branches in &self.choices {
            let fits = branches.iter().filter_map(|branch| branch.fit_branch(object));
            let best = fits.max_by_key(|fit| (fit.missing == 0, fit.present))?;
            fit.present += best.present;
            fit.missing += best.missing;
        }
        Some(fit)
    }
}

struct Fit {
    present: usize,
    missing: usize,
}
