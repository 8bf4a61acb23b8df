//! Fields of PROJECT that are missing or of another type than they should be, in the words of PROJECT's reference.

use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{self, Node, YamlError};
use serde::de::DeserializeOwned;

/// The required fields, with the hint for adding each.
const REQUIRED: &[(&str, &str)] = &[
    ("crdVersion", "add `crdVersion: v1`"),
    ("domain", "add the domain of the API groups, e.g. `domain: example.com`"),
    ("kind", "add the name of the kind, e.g. `kind: Memcached`"),
    ("projectName", "add the name of the project, e.g. `projectName: my-operator`"),
    ("version", "add the version of the kind, e.g. `version: v1alpha1`"),
];

const RESTORE: &str = "correct it, or restore PROJECT from version control";

/// Deserializes fields of PROJECT. An error says what was met, what belongs there, and what to do.
pub fn deserialize_fields<T: DeserializeOwned>(document: Option<&Node>) -> anyhow::Result<T> {
    yaml::deserialize_document(document).map_err(|error| {
        match diagnostics::find_error::<YamlError>(&error) {
            Some(fault) => reword_error(fault).into(),
            None => error,
        }
    })
}

/// Returns an error of serde in other words.
fn reword_error(fault: &YamlError) -> YamlError {
    let YamlError { mark, message, hint } = fault;
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(field) = missing {
        let hint = REQUIRED.iter().find(|(name, _)| *name == field).map(|(_, hint)| *hint);
        let message = format!("the field `{field}` is missing");
        return YamlError::new(*mark, message, hint.or(Some(RESTORE)));
    }
    let starts = ["invalid type: ", "invalid value: ", "unknown variant "];
    let unfit =
        starts.iter().find_map(|start| message.strip_prefix(start)?.split_once(", expected "));
    let list =
        message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "));
    let message = match (unfit, list) {
        (Some((met, expected)), _) => {
            format!("expected {}, found {}", type_in_words(expected), type_in_words(met))
        }
        // Serde takes a list for the fields of a struct.
        (None, Some((_, expected))) => {
            let expected =
                expected.rsplit_once(" with ").map_or(expected, |(expected, _)| expected);
            format!("expected {}, found a list", type_in_words(expected))
        }
        (None, None) => message.clone(),
    };
    YamlError::new(*mark, message, hint.or(Some(RESTORE)))
}

/// Returns the words of YAML for a type that serde names.
fn type_in_words(serde: &str) -> &str {
    match serde {
        "sequence" | "a sequence" => "a list",
        "map" => "a map",
        "unit value" | "null" => "nothing",
        other => other,
    }
}

/// Returns why PROJECT is refused, at a place in it; at its first field, if what the place is about is missing.
pub(super) fn project_problem(
    text: &str,
    place: impl Fn(&Node) -> Option<yaml::Mark>,
    message: impl Into<String>,
) -> Diagnostic {
    let nodes = yaml::parse_nodes(text, yaml::Dialect::Strict).unwrap_or_default();
    let mark = nodes.first().map(|node| place(node).unwrap_or(node.mark));
    let (line, column) = mark.map_or((1, 1), |mark| (mark.line, mark.column));
    Diagnostic::in_file("PROJECT", message).at_position(line, column).quote(&mut Lines::new(text))
}

/// Returns the resource with this index.
pub(super) fn nth_resource(file: &Node, at: usize) -> Option<&Node> {
    match &file.get("resources")?.data {
        yaml::Data::List(list) => list.get(at),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Project;
    use diagnostics::Diagnostics;
    use go_data::yaml::{self, Value};

    const TEXT: &str = "\
cliVersion: 0.1.0
domain: example.com
layout:
- rust.operator-rs.io/v1
namespaced: true
plugins:
  rust.operator-rs.io/v1:
    certificates: self
    license: none
    resources:
    - group: cache
      kind: Memcached
      options:
        containerCommand:
        - a
        containerPort: 80
        image: example.com/a:1
        shortNames:
        - mc
      version: v1
    vendor: true
    with:
    - agents
projectName: my-operator
resources:
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.com
  group: cache
  kind: Memcached
  plural: memcacheds
  version: v1
  webhooks:
    conversion: true
    spoke:
    - v2
    webhookVersion: v1
version: \"3\"
";

    /// The paths of all values in a document.
    fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
        into.push(at.to_owned());
        let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(key, value)| pointers(value, &format!("{at}/{}", escaped(key)), into)),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .for_each(|(index, value)| pointers(value, &format!("{at}/{index}"), into)),
            _ => {}
        }
    }

    fn check(document: &Value, change: &str) {
        let text = yaml::to_text(document);
        let Err(error) = Project::from_text(&text) else { return };
        let found = diagnostics::find_error::<Diagnostics>(&error);
        let diagnostic = &found.unwrap_or_else(|| panic!("{change}: {error:?}")).list[0];
        let shown = format!("{change}: {diagnostic:?}");
        assert_eq!(diagnostic.file.as_deref(), Some("PROJECT"), "{shown}");
        assert!(diagnostic.position.is_some() && !diagnostic.hints.is_empty(), "{shown}");
        for word in [
            "struct ",
            "enum ",
            "Option",
            "sequence",
            "variant",
            "unit value",
            "missing field `",
            "invalid",
        ] {
            assert!(!diagnostic.message.contains(word), "{shown}");
        }
    }

    #[test]
    fn a_field_that_has_to_be_there_is_named_with_an_example() {
        for (removed, field, hint) in [
            ("  kind: Memcached\n", "kind", "add the name of the kind, e.g. `kind: Memcached`"),
            ("  version: v1\n", "version", "add the version of the kind, e.g. `version: v1alpha1`"),
            (
                "projectName: my-operator\n",
                "projectName",
                "add the name of the project, e.g. `projectName: my-operator`",
            ),
        ] {
            let (before, after) = TEXT.rsplit_once(removed).unwrap();
            let error = Project::from_text(&format!("{before}{after}")).unwrap_err();
            let problem = &diagnostics::find_error::<Diagnostics>(&error).unwrap().list[0];
            assert_eq!(problem.message, format!("the field `{field}` is missing"));
            assert_eq!(problem.hints, [hint]);
        }
    }

    #[test]
    fn a_list_in_place_of_fields_is_named() {
        let error = Project::from_text("- a\n").unwrap_err();
        let problem = &diagnostics::find_error::<Diagnostics>(&error).unwrap().list[0];
        assert_eq!(problem.message, "expected the fields of a PROJECT file, found a list");
    }

    #[test]
    fn a_field_that_is_missing_or_of_another_type_is_refused_in_words_of_project() {
        let document = yaml::from_text(TEXT, yaml::Dialect::Strict).unwrap();
        Project::from_text(&yaml::to_text(&document)).unwrap();
        let mut all = Vec::new();
        pointers(&document, "", &mut all);
        assert!(all.len() > 40);
        let others = [
            Value::Null,
            serde_json::json!([]),
            serde_json::json!([1]),
            serde_json::json!({ "a": 1 }),
            serde_json::json!(-7),
            serde_json::json!("some text"),
            serde_json::json!(true),
        ];
        for pointer in &all {
            for other in &others {
                let mut changed = document.clone();
                *changed.pointer_mut(pointer).unwrap() = other.clone();
                check(&changed, &format!("{pointer} = {other}"));
            }
            let Some((above, name)) = pointer.rsplit_once('/') else { continue };
            let mut changed = document.clone();
            if let Some(Value::Object(map)) = changed.pointer_mut(above) {
                map.remove(&name.replace("~1", "/").replace("~0", "~"));
                check(&changed, &format!("without {pointer}"));
            }
        }
    }
}
