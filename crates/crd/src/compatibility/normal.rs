//! Normalizes schemas, so that two can be compared, to the values of Go's `JSONSchemaProps`.
//!
//! Schemas that are equal in Go are equal here: an empty list and none, `nullable: false` and nothing, `1.0` and `1`.
//! Keys that Go does not know are dropped, as the API server drops them.

use anyhow::{Context as _, bail};

use go_data::yaml::{Map, Value};

/// A schema in normal form; none if a version has no schema.
pub type Schema = Option<Keywords>;

/// The keywords of one schema, other schemas in it included.
pub type Keywords = Map<String, Value>;

/// The type of a keyword's value.
enum KeywordType {
    /// Absent when empty.
    Text,
    /// Present even when empty.
    OptionalText,
    /// Absent when false.
    Flag,
    OptionalFlag,
    Integer,
    Number,
    /// Any value.
    Any,
    AnyList,
    Texts,
    Schema,
    SchemaList,
    SchemaMap,
    SchemaOrFlag,
    SchemaOrList,
    SchemaOrTextsMap,
    Record(&'static [(&'static str, KeywordType)]),
    RecordList(&'static [(&'static str, KeywordType)]),
}

/// All keywords, in the order of the fields of Go's struct.
const KEYWORDS: &[(&str, KeywordType)] = &[
    ("id", KeywordType::Text),
    ("$schema", KeywordType::Text),
    ("$ref", KeywordType::OptionalText),
    ("description", KeywordType::Text),
    ("type", KeywordType::Text),
    ("format", KeywordType::Text),
    ("title", KeywordType::Text),
    ("default", KeywordType::Any),
    ("maximum", KeywordType::Number),
    ("exclusiveMaximum", KeywordType::Flag),
    ("minimum", KeywordType::Number),
    ("exclusiveMinimum", KeywordType::Flag),
    ("maxLength", KeywordType::Integer),
    ("minLength", KeywordType::Integer),
    ("pattern", KeywordType::Text),
    ("maxItems", KeywordType::Integer),
    ("minItems", KeywordType::Integer),
    ("uniqueItems", KeywordType::Flag),
    ("multipleOf", KeywordType::Number),
    ("enum", KeywordType::AnyList),
    ("maxProperties", KeywordType::Integer),
    ("minProperties", KeywordType::Integer),
    ("required", KeywordType::Texts),
    ("items", KeywordType::SchemaOrList),
    ("allOf", KeywordType::SchemaList),
    ("oneOf", KeywordType::SchemaList),
    ("anyOf", KeywordType::SchemaList),
    ("not", KeywordType::Schema),
    ("properties", KeywordType::SchemaMap),
    ("additionalProperties", KeywordType::SchemaOrFlag),
    ("patternProperties", KeywordType::SchemaMap),
    ("dependencies", KeywordType::SchemaOrTextsMap),
    ("additionalItems", KeywordType::SchemaOrFlag),
    ("definitions", KeywordType::SchemaMap),
    (
        "externalDocs",
        KeywordType::Record(&[("description", KeywordType::Text), ("url", KeywordType::Text)]),
    ),
    ("example", KeywordType::Any),
    ("nullable", KeywordType::Flag),
    ("x-kubernetes-preserve-unknown-fields", KeywordType::OptionalFlag),
    ("x-kubernetes-embedded-resource", KeywordType::Flag),
    ("x-kubernetes-int-or-string", KeywordType::Flag),
    ("x-kubernetes-list-map-keys", KeywordType::Texts),
    ("x-kubernetes-list-type", KeywordType::OptionalText),
    ("x-kubernetes-map-type", KeywordType::OptionalText),
    ("x-kubernetes-validations", KeywordType::RecordList(VALIDATION)),
];

/// The names of all keywords, in that order.
pub fn keyword_names() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|keyword| keyword.0)
}

const VALIDATION: &[(&str, KeywordType)] = &[
    ("fieldPath", KeywordType::Text),
    ("message", KeywordType::Text),
    ("messageExpression", KeywordType::Text),
    ("optionalOldSelf", KeywordType::OptionalFlag),
    ("reason", KeywordType::OptionalText),
    ("rule", KeywordType::Text),
];

/// Normalizes a schema. Fails where a keyword has a value of a wrong type.
pub fn normalize_schema(schema: &Value) -> anyhow::Result<Keywords> {
    normalize_record(schema, KEYWORDS)
}

fn normalize_record(
    value: &Value,
    kinds: &[(&str, KeywordType)],
) -> anyhow::Result<Map<String, Value>> {
    let Some(object) = value.as_object() else { bail!("`{value}` is not a map") };
    let mut record = Map::new();
    for (key, kind) in kinds {
        let Some(value) = object.get(*key).filter(|value| !value.is_null()) else { continue };
        let value = kind.normalize_value(value).with_context(|| format!("in `{key}`"))?;
        record.extend(value.map(|value| ((*key).to_owned(), value)));
    }
    Ok(record)
}

impl KeywordType {
    /// Returns the normalized value; none if it is absent to Go.
    fn normalize_value(&self, value: &Value) -> anyhow::Result<Option<Value>> {
        let schema = |value: &Value| normalize_schema(value).map(Value::Object);
        Ok(match self {
            Self::Text => Some(require_text(value)?).filter(|text| text != ""),
            Self::OptionalText => Some(require_text(value)?),
            Self::Flag => Some(require_flag(value)?).filter(|flag| *flag != false),
            Self::OptionalFlag => Some(require_flag(value)?),
            Self::Integer => Some(require_integer(value)?),
            Self::Number => match value.as_f64() {
                Some(number) => Some(normalize_any(&number.into())),
                None => bail!("`{value}` is not a number"),
            },
            Self::Any => Some(normalize_any(value)),
            Self::AnyList => normalize_list(value, |value| Ok(normalize_any(value)))?,
            Self::Texts => normalize_list(value, require_text)?,
            Self::Schema => Some(schema(value)?),
            Self::SchemaList => normalize_list(value, schema)?,
            Self::SchemaMap => normalize_map(value, schema)?,
            Self::SchemaOrFlag => match value {
                Value::Bool(_) => Some(value.clone()),
                value => Some(schema(value)?),
            },
            Self::SchemaOrList => match value {
                Value::Array(_) => normalize_list(value, schema)?,
                value => Some(schema(value)?),
            },
            Self::SchemaOrTextsMap => normalize_map(value, |value| match value {
                Value::Array(_) => Ok(normalize_list(value, require_text)?.unwrap_or_default()),
                value => schema(value),
            })?,
            Self::Record(kinds) => Some(Value::Object(normalize_record(value, kinds)?)),
            Self::RecordList(kinds) => {
                normalize_list(value, |value| normalize_record(value, kinds).map(Value::Object))?
            }
        })
    }
}

fn require_text(value: &Value) -> anyhow::Result<Value> {
    match value {
        Value::String(_) => Ok(value.clone()),
        value => bail!("`{value}` is not a string"),
    }
}

fn require_flag(value: &Value) -> anyhow::Result<Value> {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        value => bail!("`{value}` is neither `true` nor `false`"),
    }
}

fn require_integer(value: &Value) -> anyhow::Result<Value> {
    match normalize_any(value).as_i64() {
        Some(number) => Ok(number.into()),
        None => bail!("`{value}` is not an integer"),
    }
}

fn normalize_list(
    value: &Value,
    item: impl Fn(&Value) -> anyhow::Result<Value>,
) -> anyhow::Result<Option<Value>> {
    let Some(items) = value.as_array() else { bail!("`{value}` is not a list") };
    let items: Vec<Value> = items.iter().map(item).collect::<anyhow::Result<_>>()?;
    Ok(Some(items).filter(|items| !items.is_empty()).map(Value::Array))
}

fn normalize_map(
    value: &Value,
    item: impl Fn(&Value) -> anyhow::Result<Value>,
) -> anyhow::Result<Option<Value>> {
    let Some(entries) = value.as_object() else { bail!("`{value}` is not a map") };
    let mut map = Map::new();
    for (key, value) in entries {
        map.insert(key.clone(), item(value).with_context(|| format!("in `{key}`"))?);
    }
    Ok(Some(map).filter(|entries| !entries.is_empty()).map(Value::Object))
}

/// Returns a value with its numbers as Go writes them: a whole number has no fraction.
fn normalize_any(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(normalize_any).collect(),
        Value::Object(entries) => Value::Object(
            entries.iter().map(|(key, it)| (key.clone(), normalize_any(it))).collect(),
        ),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "compared with what it came from")]
            let whole = float as i64;
            #[expect(clippy::cast_precision_loss, reason = "compared with what it came from")]
            let same = whole as f64 == float && whole.unsigned_abs() < 1 << 53;
            // Go writes the zero with a sign as `-0`.
            if same && !(whole == 0 && float.is_sign_negative()) {
                whole.into()
            } else {
                value.clone()
            }
        }
        value => value.clone(),
    }
}

#[test]
fn schemas_that_are_equal_in_go_are_equal() {
    use go_data::yaml::json;
    let check = |one: Value, other: Value, same: bool| {
        let (a, b) = (normalize_schema(&one).unwrap(), normalize_schema(&other).unwrap());
        assert_eq!(a == b, same, "{one} and {other}");
    };
    check(json!({"nullable": false, "enum": [], "description": ""}), json!({}), true);
    check(json!({"default": null, "unknown": 1, "items": null}), json!({}), true);
    check(json!({"default": 1.0}), json!({"default": 1}), true);
    check(json!({"maximum": 1.0}), json!({"maximum": 1}), true);
    check(json!({"default": {"a": [1.0]}}), json!({"default": {"a": [1]}}), true);
    check(json!({"default": "1"}), json!({"default": 1}), false);
    check(json!({"x-kubernetes-preserve-unknown-fields": false}), json!({}), false);
    check(json!({"x-kubernetes-list-type": ""}), json!({}), false);
    check(json!({"additionalProperties": true}), json!({"additionalProperties": {}}), false);
    check(json!({"not": {"nullable": false}}), json!({"not": {}}), true);
}

#[test]
fn what_no_schema_can_hold_is_refused_with_its_place() {
    use go_data::yaml::json;
    let check = |schema: Value, expected: &str| {
        assert_eq!(format!("{:#}", normalize_schema(&schema).unwrap_err()), expected);
    };
    check(json!({"minLength": "3"}), "in `minLength`: `\"3\"` is not an integer");
    check(json!({"maxItems": 1.5}), "in `maxItems`: `1.5` is not an integer");
    check(
        json!({"properties": {"a": {"type": 1}}}),
        "in `properties`: in `a`: in `type`: `1` is not a string",
    );
    check(json!({"items": true}), "in `items`: `true` is not a map");
    check(json!({"enum": {}}), "in `enum`: `{}` is not a list");
}
