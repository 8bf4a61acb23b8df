//! The rules, one file for each family. A rule compares the old state with the new one, and returns what changed and
//! what would make the change compatible.

mod bounds;
mod crds;
mod declared;
mod stored;
mod texts;
mod unhandled;
mod values;

use std::{fmt, str::FromStr};

pub use crds::{crd_removal, doubts, of_crds, refusals, removed};
pub use declared::declared;
pub use stored::pruned;

use super::{Effect, Policy, normal::Keywords};
use diagnostics::Severity;
use go_data::yaml::Value;

/// What a rule reports about a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What changed, with both values.
    pub what: String,
    /// What would make it compatible.
    pub remedy: String,
    pub effect: Effect,
    /// Further data that distinguishes it from another change.
    pub(super) context: Vec<Option<Value>>,
}

impl Change {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (what, remedy) = (what.into(), remedy.into());
        Self { what, remedy, effect: Effect::default(), context: Vec::new() }
    }

    fn with(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }
}

/// The rules: those of crdify by its names, and those of our own, which are about a CRD as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    CrdRemoval,
    ServedVersionRemoval,
    AllServedVersionsRemoval,
    Invalid,
    StorageVersionRemoval,
    StorageVersionFields,
    DeclaredField,
    Immutable,
    UnknownFields,
    Names,
    Subresources,
    SelectableFields,
    Conversion,
    Other,
    Scope,
    StoredVersionRemoval,
    ExistingFieldRemoval,
    Default,
    Description,
    Enum,
    Maximum,
    MaxItems,
    MaxLength,
    MaxProperties,
    Minimum,
    MinItems,
    MinLength,
    MinProperties,
    Nullable,
    Pattern,
    Required,
    Type,
    Unhandled,
}

/// Every rule with its name and the change that it finds.
const RULES: &[(Rule, &str, &str)] = &[
    (Rule::CrdRemoval, "crdRemoval", "A CRD is removed"),
    (Rule::ServedVersionRemoval, "servedVersionRemoval", "A version is no longer served"),
    (
        Rule::AllServedVersionsRemoval,
        "allServedVersionsRemoval",
        "No version that was served still is",
    ),
    (Rule::Invalid, "invalid", "An API server refuses the CRD"),
    (Rule::StorageVersionRemoval, "storageVersionRemoval", "The storage version is removed"),
    (
        Rule::StorageVersionFields,
        "storageVersionFields",
        "The stored version lacks a field of another version",
    ),
    (Rule::DeclaredField, "declaredField", "A field is declared where any value was allowed"),
    (Rule::Immutable, "immutable", "The group, plural or kind of a CRD changed"),
    (Rule::UnknownFields, "unknownFields", "`preserveUnknownFields` changed"),
    (Rule::Names, "names", "A short name, a category, the singular or the list's kind changed"),
    (Rule::Subresources, "subresources", "The subresources of a version changed"),
    (Rule::SelectableFields, "selectableFields", "A field is no longer selectable"),
    (Rule::Conversion, "conversion", "The conversion strategy changed"),
    (Rule::Other, "other", "Something else outside of the schemas changed"),
    (Rule::Scope, "scope", "The scope of a CRD changed"),
    (
        Rule::StoredVersionRemoval,
        "storedVersionRemoval",
        "A version with stored objects is removed",
    ),
    (Rule::ExistingFieldRemoval, "existingFieldRemoval", "A field is removed from a version"),
    (Rule::Default, "default", "The default of a field changed"),
    (Rule::Description, "description", "The description of a field changed"),
    (Rule::Enum, "enum", "The values that a field allows changed"),
    (Rule::Maximum, "maximum", "The maximum of a number is added or lowered"),
    (Rule::MaxItems, "maxItems", "The maximum length of a list is added or lowered"),
    (Rule::MaxLength, "maxLength", "The maximum length of a string is added or lowered"),
    (Rule::MaxProperties, "maxProperties", "The maximum size of a map is added or lowered"),
    (Rule::Minimum, "minimum", "The minimum of a number is added or raised"),
    (Rule::MinItems, "minItems", "The minimum length of a list is added or raised"),
    (Rule::MinLength, "minLength", "The minimum length of a string is added or raised"),
    (Rule::MinProperties, "minProperties", "The minimum size of a map is added or raised"),
    (Rule::Nullable, "nullable", "`nullable` of a field changed"),
    (Rule::Pattern, "pattern", "The pattern of a string changed"),
    (Rule::Required, "required", "A field became required"),
    (Rule::Type, "type", "The type of a field changed"),
    (Rule::Unhandled, "unhandled", "Something else in the schema of a field changed"),
];

impl Rule {
    pub fn all() -> impl Iterator<Item = Self> {
        RULES.iter().map(|it| it.0)
    }

    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// The change that it finds, in one line.
    pub fn summary(self) -> &'static str {
        self.entry().2
    }

    /// The severity of its findings, by the strictest policy.
    pub fn severity(self) -> Severity {
        match self {
            Self::ServedVersionRemoval
            | Self::Names
            | Self::Subresources
            | Self::SelectableFields
            | Self::Conversion
            | Self::Other => Severity::Warning,
            _ => Severity::Error,
        }
    }

    fn entry(self) -> &'static (Self, &'static str, &'static str) {
        RULES.iter().find(|it| it.0 == self).expect("every rule is in the list")
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all().find(|it| it.name() == text);
        found.ok_or_else(|| format!("there is no rule `{text}`"))
    }
}

type Check = fn(&Pair<'_>, &Policy) -> Option<Change>;

/// The rules for fields. Each checks the keyword of the same name.
const CHECKS: &[(Rule, Check)] = &[
    (Rule::Default, values::default),
    (Rule::Description, texts::description),
    (Rule::Enum, values::enumeration),
    (Rule::Maximum, bounds::maximum),
    (Rule::MaxItems, bounds::maximum),
    (Rule::MaxLength, bounds::maximum),
    (Rule::MaxProperties, bounds::maximum),
    (Rule::Minimum, bounds::minimum),
    (Rule::MinItems, bounds::minimum),
    (Rule::MinLength, bounds::minimum),
    (Rule::MinProperties, bounds::minimum),
    (Rule::Nullable, values::nullable),
    (Rule::Pattern, texts::pattern),
    (Rule::Required, values::required),
    (Rule::Type, texts::type_),
];

/// A keyword before and after the change.
struct Pair<'a> {
    keyword: &'static str,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
}

/// What the rules find in one field.
pub fn property(old: &Keywords, new: &Keywords, policy: &Policy) -> Vec<(Rule, Change)> {
    let mut res = Vec::new();
    for (rule, check) in CHECKS {
        let keyword = rule.name();
        let pair = Pair { keyword, old: old.get(keyword), new: new.get(keyword) };
        if pair.old != pair.new {
            res.extend(check(&pair, policy).map(|it| (*rule, it)));
        }
    }
    let handled = |it: &str| CHECKS.iter().any(|(rule, _)| rule.name() == it);
    res.extend(unhandled::check(old, new, handled).map(|it| (Rule::Unhandled, it)));
    res
}

/// A value as JSON writes it, or `nothing`.
fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), json)
}

fn json(value: &Value) -> String {
    format!("`{value}`")
}

/// A text without the quotes of JSON.
fn plain(text: &Value) -> String {
    format!("`{}`", text.as_str().unwrap_or_default())
}

/// Several of them, with commas between.
fn list<'a>(values: impl IntoIterator<Item = &'a Value>, show: fn(&Value) -> String) -> String {
    values.into_iter().map(show).collect::<Vec<_>>().join(", ")
}
