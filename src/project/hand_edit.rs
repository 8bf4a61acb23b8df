//! Edits by hand in an entry of PROJECT.

use super::{LAYOUT, Project};
use go_data::yaml::{self, Data, Node, Value, block};

/// An entry with a comment or a field that operator-rs does not write.
#[derive(Debug, PartialEq)]
pub struct HandEdit {
    /// The line of the first of them, from 1.
    pub line: usize,
    /// The text of the entry.
    pub text: String,
}

impl Project {
    /// Returns the entry of a resource, and that with its options, if they were edited by hand.
    pub fn hand_edits(&self, at: usize) -> anyhow::Result<Vec<HandEdit>> {
        let (editor, resource) = (self.yaml_editor()?, &self.resources[at]);
        let entry = editor.find_node(&format!("/0/resources/{at}"));
        let edit = entry.and_then(|node| self.hand_edit(node, &yaml::to_value(resource)));
        let record = self.inputs.find_record(resource).and_then(|(at, record)| {
            let path = format!("/0/plugins/{}/resources/{at}", LAYOUT.replace('/', "~1"));
            self.hand_edit(editor.find_node(&path)?, &yaml::to_value(record))
        });
        Ok(edit.into_iter().chain(record).collect())
    }

    fn hand_edit(&self, item: &Node, own: &Value) -> Option<HandEdit> {
        let lines: Vec<&str> = self.text().lines().collect();
        let (from, to) = block::lines_of_item(&lines, item)?;
        let lines: Vec<&str> = self.text().split_inclusive('\n').take(to).skip(from).collect();
        let is_comment = |text: &&str| {
            text.trim_start().starts_with('#') || block::comment_start(text).is_some()
        };
        let comment = lines.iter().position(is_comment).map(|index| from + index + 1);
        let line = comment.into_iter().chain(unknown_field(own, item)).min();
        line.map(|line| HandEdit { line, text: lines.concat() })
    }
}

/// Returns the line of the first field that is not as operator-rs would write it.
fn unknown_field(own: &Value, item: &Node) -> Option<usize> {
    let Data::Map(fields) = &item.data else { return None };
    let is_own =
        |key: &str, value: Value| own.get(key).is_some_and(|own| contains_value(own, &value));
    let mut fields =
        fields.iter().filter(|field| !is_own(&field.key, field.value.clone().into_value()));
    fields.next().map(|field| field.mark.line)
}

/// Returns whether a value is there with everything in it.
fn contains_value(own: &Value, value: &Value) -> bool {
    match (own, value) {
        (Value::Object(own), Value::Object(value)) => {
            value.iter().all(|pair| own.get(pair.0).is_some_and(|own| contains_value(own, pair.1)))
        }
        _ => own == value,
    }
}

#[test]
fn comments_and_fields_of_others_are_edits() {
    let head = "domain: a.io\nlayout: rust.operator-rs.io/v1\nprojectName: p\nresources:\n";
    let check = |entry: &str, line: Option<usize>| {
        let text = format!("{head}# mine\n{entry}# end\nversion: \"3\"\n");
        let project = Project::from_text(&text).expect("a project");
        let text = entry.to_owned();
        let expected: Vec<_> = line.map(|line| HandEdit { line, text }).into_iter().collect();
        assert_eq!(project.hand_edits(0).expect("it can be read"), expected, "{entry}");
    };
    check("- api:\n    crdVersion: v1\n  kind: A\n  version: v1\n", None);
    check("- kind: A\n  version: v1\n  controller: true\n", None);
    check("- {kind: A, version: v1}\n", None);
    check("- kind: A\n  version: v1 # why\n", Some(7));
    check("- kind: A\n  # why\n  version: v1\n", Some(7));
    check("- kind: A\n  version: v1\n  webhooks: {validation: true}\n", None);
    check("- kind: A\n  version: v1\n  webhooks: {mine: true}\n", Some(8));
    check("- api: {crdVersion: v1, mine: x}\n  kind: A\n  version: v1\n", Some(6));
    let record = "    - kind: A\n      options: {finalizer: true} # why\n      version: v1\n";
    let text = format!(
        "plugins:\n  {LAYOUT}:\n    resources:\n{record}{head}- kind: A\n  version: v1\nversion: \"3\"\n"
    );
    let project = Project::from_text(&text).expect("a project");
    let edit = HandEdit { line: 5, text: record.to_owned() };
    assert_eq!(project.hand_edits(0).expect("it can be read"), [edit]);
}
