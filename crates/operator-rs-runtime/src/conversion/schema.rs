//! The structural schema of a version, reduced to what tells whether an object is partial, and what could be there.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::atomic::AtomicUsize};

/// The schema of one place in an object.
#[derive(Debug, Default)]
pub struct Node {
    pub kind: Kind,
    pub properties: BTreeMap<String, Node>,
    /// The schema of the other fields.
    pub additional: Option<Box<Node>>,
    pub items: Option<Box<Node>>,
    /// The fields by which API servers tell the items of a list apart.
    pub keys: Vec<String>,
    pub required: Vec<String>,
    /// The fields with a default: an API server has set them in every object that is complete.
    pub defaulted: Vec<String>,
    /// Each `oneOf` and `anyOf`: its branches. A branch repeats no types, only what is required and the values of tags.
    pub choices: Vec<Vec<Node>>,
    /// What `not` forbids.
    pub forbidden: Vec<String>,
    pub values: Vec<Value>,
    pub nullable: bool,
    pub format: String,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub min_length: usize,
    pub min_items: usize,
    /// The row of examples that the type can read, as far as tried. See `complete`.
    pub row: AtomicUsize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
    /// Not declared.
    #[default]
    Any,
}

impl Node {
    /// The schema of a version in a CRD. Without one, nothing is known of its objects.
    pub fn of(crd: CustomResourceDefinition, version: &str) -> Self {
        let version = crd.spec.versions.into_iter().find(|it| it.name == version);
        let schema = version.and_then(|it| it.schema?.open_api_v3_schema);
        schema.map(Self::new).unwrap_or_default()
    }

    fn new(schema: JSONSchemaProps) -> Self {
        let each = |it: Option<Vec<_>>| it.unwrap_or_default().into_iter().map(Self::new).collect::<Vec<_>>();
        let bound = |it: Option<f64>, exclusive: Option<bool>, step: f64| {
            it.map(|it| if exclusive == Some(true) { it + step } else { it })
        };
        let choices = [each(schema.one_of), each(schema.any_of)].into_iter();
        let mut choices: Vec<_> = choices.filter(|it| !it.is_empty()).collect();
        let is_set = |it: &JSONSchemaProps| it.default.as_ref().is_some_and(|it| !it.0.is_null());
        let defaulted = schema.properties.iter().flatten().filter(|it| is_set(it.1));
        let defaulted = defaulted.map(|it| it.0.clone()).collect();
        choices.extend(each(schema.all_of).into_iter().map(|it| vec![it]));
        Self {
            kind: match schema.type_.as_deref() {
                _ if schema.x_kubernetes_int_or_string == Some(true) => Kind::IntOrString,
                Some("object") => Kind::Object,
                Some("array") => Kind::Array,
                Some("string") => Kind::String,
                Some("integer") => Kind::Integer,
                Some("number") => Kind::Number,
                Some("boolean") => Kind::Boolean,
                _ => Kind::Any,
            },
            properties: schema.properties.unwrap_or_default().into_iter().map(|(k, v)| (k, Self::new(v))).collect(),
            additional: schema.additional_properties.and_then(|it| match it {
                JSONSchemaPropsOrBool::Schema(schema) => Some(Box::new(Self::new(*schema))),
                JSONSchemaPropsOrBool::Bool(_) => None,
            }),
            items: schema.items.and_then(|it| match it {
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
            forbidden: schema.not.and_then(|it| it.required).unwrap_or_default(),
            values: schema.enum_.unwrap_or_default().into_iter().map(|it| it.0).filter(|it| !it.is_null()).collect(),
            nullable: schema.nullable == Some(true),
            format: schema.format.unwrap_or_default(),
            minimum: bound(schema.minimum, schema.exclusive_minimum, 1.0),
            maximum: bound(schema.maximum, schema.exclusive_maximum, -1.0),
            min_length: schema.min_length.and_then(|it| usize::try_from(it).ok()).unwrap_or_default(),
            min_items: schema.min_items.and_then(|it| usize::try_from(it).ok()).unwrap_or_default(),
            row: AtomicUsize::new(0),
        }
    }

    /// The schema of a field.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// The schema of a place in an object.
    pub fn at(&self, path: &str) -> Option<&Self> {
        let names = path.split(['.', '[']).filter(|it| !it.is_empty());
        names.into_iter().try_fold(self, |it, name| match name.strip_suffix(']') {
            Some(_) => it.items.as_deref(),
            None => it.field(name),
        })
    }

    /// The branches that this object is meant to be, one of each choice that it is none of yet. If nothing in the
    /// object tells, it is the branch with the number `way`.
    pub fn missing_branches(&self, object: &Map<String, Value>, way: usize) -> impl Iterator<Item = &Self> {
        self.choices.iter().filter_map(move |branches| {
            let fitting: Vec<_> = branches.iter().filter_map(|it| Some((it, it.fit(object)?))).collect();
            let best = fitting.iter().max_by_key(|(_, fit)| fit.present)?;
            match best {
                _ if fitting.iter().any(|(_, fit)| fit.missing == 0) => {
                    // It is one already, of which parts below may still be missing.
                    let complete = fitting.iter().filter(|(_, fit)| fit.missing == 0);
                    complete.max_by_key(|(_, fit)| fit.present).map(|(it, _)| *it)
                }
                (_, fit) if fit.present == 0 => Some(fitting[way % fitting.len()].0),
                (_, most) => {
                    let most = fitting.iter().filter(|(_, fit)| fit.present == most.present);
                    most.min_by_key(|(_, fit)| fit.missing).map(|(it, _)| *it)
                }
            }
        })
    }

    /// How much of this branch an object has; nothing if it cannot be this one.
    fn fit(&self, object: &Map<String, Value>) -> Option<Fit> {
        if self.forbidden.iter().any(|it| object.contains_key(it)) {
            return None;
        }
        for (name, node) in &self.properties {
            let value = object.get(name).filter(|_| !node.values.is_empty());
            if value.is_some_and(|it| !node.values.contains(it)) {
                return None;
            }
        }
        let present = self.required.iter().filter(|it| object.contains_key(*it)).count();
        let mut fit = Fit { present, missing: self.required.len() - present };
        for branches in &self.choices {
            let best =
                branches.iter().filter_map(|it| it.fit(object)).max_by_key(|it| (it.missing == 0, it.present))?;
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
