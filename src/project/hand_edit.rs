//! Edits by hand in an entry of PROJECT.

use super::Project;
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
    /// The entry of a resource, if it was edited by hand.
    pub fn hand_edit(&self, at: usize) -> anyhow::Result<Option<HandEdit>> {
        let editor = self.editor()?;
        let Some(item) = editor.node(&format!("/0/resources/{at}")) else { return Ok(None) };
        let Some((from, to)) = block::lines_of_item(self.text(), item) else { return Ok(None) };
        let lines: Vec<&str> = self.text().split_inclusive('\n').take(to).skip(from).collect();
        let is_comment =
            |it: &&str| it.trim_start().starts_with('#') || block::comment(it).is_some();
        let comment = lines.iter().position(is_comment).map(|it| from + it + 1);
        let line = comment.into_iter().chain(self.unknown_field(at, item)).min();
        Ok(line.map(|line| HandEdit { line, text: lines.concat() }))
    }

    /// The line of the first field that is not as operator-rs would write it.
    fn unknown_field(&self, at: usize, item: &Node) -> Option<usize> {
        let own = yaml::to_value(self.resources.get(at)?);
        let Data::Map(fields) = &item.data else { return None };
        let is_own = |key: &str, value: Value| own.get(key).is_some_and(|own| has(own, &value));
        let mut fields = fields.iter().filter(|it| !is_own(&it.key, it.value.clone().into_value()));
        fields.next().map(|it| it.mark.line)
    }
}

/// Whether a value is there with everything in it.
fn has(own: &Value, value: &Value) -> bool {
    match (own, value) {
        (Value::Object(own), Value::Object(value)) => {
            value.iter().all(|it| own.get(it.0).is_some_and(|own| has(own, it.1)))
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
        let expected = line.map(|it| HandEdit { line: it, text });
        assert_eq!(project.hand_edit(0).expect("it can be read"), expected, "{entry}");
    };
    check("- api:\n    crdVersion: v1\n  kind: A\n  version: v1\n", None);
    check("- kind: A\n  version: v1\n  controller: true\n", None);
    check("- {kind: A, version: v1}\n", None);
    check("- kind: A\n  version: v1 # why\n", Some(7));
    check("- kind: A\n  # why\n  version: v1\n", Some(7));
    check("- kind: A\n  version: v1\n  webhooks: {validation: true}\n", None);
    check("- kind: A\n  version: v1\n  webhooks: {mine: true}\n", Some(8));
    check("- api: {crdVersion: v1, mine: x}\n  kind: A\n  version: v1\n", Some(6));
}
