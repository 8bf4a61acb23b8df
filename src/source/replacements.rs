//! The Rust attributes that replace kubebuilder's markers on Go types.

/// Markers, without their values, and how to write each in Rust. `VALUE` is replaced by the value of the marker.
const ALL: &[(&str, &str)] = &[
    ("default", "`#[serde(default = \"FUNCTION\")]`"),
    ("printcolumn", "`#[kube(printcolumn(name = …, type_ = …, json_path = …))]`"),
    (
        "pruning:PreserveUnknownFields",
        "`#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`",
    ),
    ("resource", "`#[kube(plural = …, shortname = …)]`"),
    ("storageversion", "`#[kube(storage = true)]`"),
    ("subresource:scale", "`#[kube(scale(spec_replicas_path = …, status_replicas_path = …))]`"),
    ("subresource", "`#[kube(status = …)]`"),
    ("unservedversion", "`#[kube(served = false)]`"),
    ("validation:EmbeddedResource", EMBEDDED),
    ("validation:Enum", "the type of the field: an `enum`"),
    ("validation:ExclusiveMaximum", "`#[schemars(extend(\"exclusiveMaximum\" = VALUE))]`"),
    ("validation:ExclusiveMinimum", "`#[schemars(extend(\"exclusiveMinimum\" = VALUE))]`"),
    ("validation:Format", "`#[schemars(extend(\"format\" = \"VALUE\"))]`"),
    ("validation:MaxItems", "`#[schemars(length(max = VALUE))]`"),
    ("validation:MaxLength", "`#[schemars(length(max = VALUE))]`"),
    ("validation:MaxProperties", "`#[schemars(extend(\"maxProperties\" = VALUE))]`"),
    ("validation:Maximum", "`#[schemars(range(max = VALUE))]`"),
    ("validation:MinItems", "`#[schemars(length(min = VALUE))]`"),
    ("validation:MinLength", "`#[schemars(length(min = VALUE))]`"),
    ("validation:MinProperties", "`#[schemars(extend(\"minProperties\" = VALUE))]`"),
    ("validation:Minimum", "`#[schemars(range(min = VALUE))]`"),
    ("validation:MultipleOf", "`#[schemars(extend(\"multipleOf\" = VALUE))]`"),
    ("validation:Optional", "the type of the field: `Option<…>`"),
    ("validation:Pattern", "`#[schemars(regex(pattern = r\"VALUE\"))]`"),
    ("validation:Required", "the type of the field: one that is not an `Option<…>`"),
    ("validation:Type", "`#[schemars(extend(\"type\" = \"VALUE\"))]`"),
    ("validation:UniqueItems", "`#[schemars(extend(\"x-kubernetes-list-type\" = \"set\"))]`"),
    ("validation:XEmbeddedResource", EMBEDDED),
    ("validation:XIntOrString", "the type of the field: `IntOrString` of k8s-openapi"),
    (
        "validation:XPreserveUnknownFields",
        "`#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`",
    ),
    ("validation:XValidation", "`#[x_kube(validation = (\"RULE\", \"MESSAGE\"))]`"),
    ("validation", "an attribute: `#[schemars(…)]` or `#[x_kube(…)]`"),
];

/// Markers of Kubernetes that stand on Go fields without `kubebuilder:`, and how to write each in Rust.
const OF_FIELDS: &[(&str, &str)] = &[
    ("optional", "the type of the field: `Option<…>`"),
    ("required", "the type of the field: one that is not an `Option<…>`"),
    ("nullable", "the type of the field: `Option<…>`"),
    ("default", "`#[serde(default = \"FUNCTION\")]`"),
    ("enum", "the type of the field: an `enum`"),
    ("listType", "`#[x_kube(merge_strategy = ListMerge::…)]`"),
    ("listMapKey", "`#[x_kube(merge_strategy = ListMerge::Map(…))]`"),
    ("mapType", "`#[x_kube(merge_strategy = MapMerge::…)]`"),
    ("structType", "`#[x_kube(merge_strategy = StructMerge::…)]`"),
];

/// Returns a marker without `kubebuilder:` that a comment consists of, such as `+optional`, and what to use in place of
/// it.
///
/// A sentence that begins with one is none.
pub fn of_field(comment: &str) -> Option<(&str, &'static str)> {
    let marker = comment.trim().strip_prefix('+')?;
    let name = marker.split_once('=').map_or(marker, |pair| pair.0);
    OF_FIELDS.iter().find(|pair| pair.0 == name).map(|pair| (name, pair.1))
}

const EMBEDDED: &str = "`#[schemars(extend(\"x-kubernetes-embedded-resource\" = true))]`";

/// Returns what to use in place of a marker, which is without its `+kubebuilder:`; none if there is nothing.
pub fn replacement(marker: &str) -> Option<String> {
    let (name, value) = marker.trim_end().split_once('=').unwrap_or((marker.trim_end(), ""));
    if let Some(item) = name.strip_prefix("validation:items:") {
        let of_item = replacement(&format!("validation:{item}={value}"))?;
        let inner =
            of_item.strip_prefix("`#[schemars(").and_then(|schemars| schemars.strip_suffix(")]`"));
        return Some(match inner.filter(|inner| !inner.starts_with("extend")) {
            Some(inner) => format!("`#[schemars(inner({inner}))]`"),
            None => "a type of its own for the items".to_owned(),
        });
    }
    let is_of = |known: &str| {
        let rest = name.strip_prefix(known);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let form = ALL.iter().find(|pair| is_of(pair.0))?.1;
    let value = value.trim_matches(['"', '`']);
    // A value that would end the attribute, or the quotes around the hint, is left to the user.
    let is_plain = !value.is_empty() && !value.contains(['"', '`', '\n']);
    Some(form.replace("VALUE", if is_plain { value } else { "…" }))
}

#[test]
fn each_marker_is_answered_with_what_does_the_same() {
    for (marker, expected) in [
        ("validation:MinLength=1", "`#[schemars(length(min = 1))]`"),
        ("validation:MaxLength=63", "`#[schemars(length(max = 63))]`"),
        ("validation:MinItems=2", "`#[schemars(length(min = 2))]`"),
        ("validation:Minimum=-1", "`#[schemars(range(min = -1))]`"),
        ("validation:Maximum=1.5", "`#[schemars(range(max = 1.5))]`"),
        ("validation:Pattern=`^a=b$`", r#"`#[schemars(regex(pattern = r"^a=b$"))]`"#),
        (r#"validation:Pattern=`"`"#, r#"`#[schemars(regex(pattern = r"…"))]`"#),
        ("validation:Enum=a;b", "the type of the field: an `enum`"),
        ("validation:ExclusiveMinimum=true", r#"`#[schemars(extend("exclusiveMinimum" = true))]`"#),
        ("validation:items:MaxLength=5", "`#[schemars(inner(length(max = 5)))]`"),
        ("validation:items:Enum=a;b", "a type of its own for the items"),
        ("validation:XValidation:rule=\"a\"", "`#[x_kube(validation = (\"RULE\", \"MESSAGE\"))]`"),
        ("validation:XIntOrString", "the type of the field: `IntOrString` of k8s-openapi"),
        ("validation:Optional", "the type of the field: `Option<…>`"),
        ("validation:Required", "the type of the field: one that is not an `Option<…>`"),
        ("validation:Later=1", "an attribute: `#[schemars(…)]` or `#[x_kube(…)]`"),
        ("subresource:status", "`#[kube(status = …)]`"),
        ("default=1", "`#[serde(default = \"FUNCTION\")]`"),
    ] {
        assert_eq!(replacement(marker).as_deref(), Some(expected), "{marker}");
    }
    assert_eq!(replacement("object:root=true"), None);
    assert_eq!(replacement("defaults=1"), None);
}
