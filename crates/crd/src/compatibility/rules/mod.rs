//! The rules, one file for each family. A rule compares the old state with the new one, and returns what changed and
//! what would make the change compatible.

mod bounds;
mod crds;
mod declared;
mod stored;
mod texts;
mod unhandled;
mod values;

pub use crds::{check_crds, crd_removal, removed_field, report_doubts, report_refusals};
pub use declared::check_declared_fields;
pub use stored::{check_pruned_fields, lost_fields, pruned_fields};

use super::{Effect, Policy, normal::Keywords};
use go_data::yaml::Value;

/// A change that a rule reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// A description of the change, with both values.
    pub what: String,
    /// The remedy that would make the change compatible.
    pub remedy: String,
    pub effect: Effect,
    /// The old and the new value, if they are all that `what` tells.
    pub values: Option<[String; 2]>,
    /// Further data that distinguishes it from another change.
    pub(super) context: Vec<Option<Value>>,
}

impl Change {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (what, remedy) = (what.into(), remedy.into());
        Self { what, remedy, effect: Effect::default(), values: None, context: Vec::new() }
    }

    fn with_values(self, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { values: Some([old.into(), new.into()]), ..self }
    }

    fn with_effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }
}

// The rules of crdify, by its names, and those of our own, which are about a CRD as a whole. Each with the change that
// it finds.
diagnostics::rules! {
    CrdRemoval "crdRemoval" Error "A CRD is removed"
    ServedVersionRemoval "servedVersionRemoval" Warning "A version is no longer served"
    AllServedVersionsRemoval "allServedVersionsRemoval" Error "None of the served versions is still served"
    Invalid "invalid" Error "An API server refuses the CRD"
    StorageVersionRemoval "storageVersionRemoval" Error "The storage version is removed"
    VersionRemoval "versionRemoval" Warning "A version is removed in which a cluster may have stored objects"
    StorageVersionChange "storageVersionChange" Note "Another version is stored"
    StorageVersionFields "storageVersionFields" Error "The stored version lacks a field of another version"
    DeclaredField "declaredField" Error "A field is declared where any value was allowed"
    Immutable "immutable" Error "The group, plural or kind of a CRD changed"
    UnknownFields "unknownFields" Error "`preserveUnknownFields` changed"
    Names "names" Warning "A short name, a category, the singular or the list's kind changed"
    Subresources "subresources" Warning "The subresources of a version changed"
    SelectableFields "selectableFields" Warning "A field is no longer selectable"
    Conversion "conversion" Warning "The conversion strategy changed"
    Other "other" Warning "Something else outside of the schemas changed"
    Scope "scope" Error "The scope of a CRD changed"
    StoredVersionRemoval "storedVersionRemoval" Error "A version with stored objects is removed"
    ExistingFieldRemoval "existingFieldRemoval" Error "A field is removed from a version"
    Default "default" Error "The default of a field changed"
    Description "description" Error "The description of a field changed"
    Enum "enum" Error "The values that a field allows changed"
    Maximum "maximum" Error "The maximum of a number is added or lowered"
    MaxItems "maxItems" Error "The maximum length of a list is added or lowered"
    MaxLength "maxLength" Error "The maximum length of a string is added or lowered"
    MaxProperties "maxProperties" Error "The maximum size of a map is added or lowered"
    Minimum "minimum" Error "The minimum of a number is added or raised"
    MinItems "minItems" Error "The minimum length of a list is added or raised"
    MinLength "minLength" Error "The minimum length of a string is added or raised"
    MinProperties "minProperties" Error "The minimum size of a map is added or raised"
    Nullable "nullable" Error "`nullable` of a field changed"
    Pattern "pattern" Error "The pattern of a string changed"
    Required "required" Error "A field became required"
    Type "type" Error "The type of a field changed"
    Unhandled "unhandled" Error "Something else in the schema of a field changed"
}

type Check = fn(&Pair<'_>, &Policy) -> Option<Change>;

/// The rules for fields. Each checks the keyword of the same name.
const CHECKS: &[(Rule, Check)] = &[
    (Rule::Default, values::check_default),
    (Rule::Description, texts::check_description),
    (Rule::Enum, values::check_enum),
    (Rule::Maximum, bounds::check_maximum),
    (Rule::MaxItems, bounds::check_maximum),
    (Rule::MaxLength, bounds::check_maximum),
    (Rule::MaxProperties, bounds::check_maximum),
    (Rule::Minimum, bounds::check_minimum),
    (Rule::MinItems, bounds::check_minimum),
    (Rule::MinLength, bounds::check_minimum),
    (Rule::MinProperties, bounds::check_minimum),
    (Rule::Nullable, values::check_nullable),
    (Rule::Pattern, texts::check_pattern),
    (Rule::Required, values::check_required),
    (Rule::Type, texts::check_type),
];

/// A keyword before and after the change.
struct Pair<'a> {
    keyword: &'static str,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
}

/// Applies the rules to one field, and returns the changes.
pub fn check_field(old: &Keywords, new: &Keywords, policy: &Policy) -> Vec<(Rule, Change)> {
    let mut changes = Vec::new();
    for (rule, check) in CHECKS {
        let keyword = rule.id();
        let pair = Pair { keyword, old: old.get(keyword), new: new.get(keyword) };
        if pair.old != pair.new {
            changes.extend(check(&pair, policy).map(|change| (*rule, change)));
        }
    }
    let handled = |keyword: &str| CHECKS.iter().any(|(rule, _)| rule.id() == keyword);
    changes.extend(
        unhandled::check_unhandled(old, new, handled).map(|change| (Rule::Unhandled, change)),
    );
    changes
}

/// Formats a value as JSON, or as `nothing`.
fn format_value(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), quoted_json)
}

fn quoted_json(value: &Value) -> String {
    format!("`{value}`")
}

/// Formats a string without the quotes of JSON.
fn quoted_text(text: &Value) -> String {
    format!("`{}`", text.as_str().unwrap_or_default())
}

/// Formats several values, with commas between them.
fn format_list<'a>(
    values: impl IntoIterator<Item = &'a Value>,
    show: fn(&Value) -> String,
) -> String {
    values.into_iter().map(show).collect::<Vec<_>>().join(", ")
}
