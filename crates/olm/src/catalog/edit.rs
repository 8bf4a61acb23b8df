//! Additions to the text of a catalog's file.

pub use go_data::yaml::edit::{NOT_A_BLOCK, Refusal};
use go_data::yaml::{self, Dialect, Map, Node, Value, edit::Editor};

use super::blob::{self, Entry};

/// Returns the text with one more entry at the end of a channel.
pub fn with_entry(
    text: &str,
    package: &str,
    channel: &str,
    entry: &Entry,
) -> Result<String, Refusal> {
    let editor = open_editor(text)?;
    let at = editor.documents().iter().position(|node| is_channel(node, package, channel));
    let at = at.ok_or(Refusal("the channel was not found again"))?;
    match editor.find_node(&format!("/{at}/entries/0")) {
        Some(_) => editor.push_item(&format!("/{at}"), "entries", entry.to_value()),
        None => Err(NOT_A_BLOCK),
    }
}

/// Returns the text with one more blob after all others.
pub fn with_blob(text: &str, blob: &Value) -> Result<String, Refusal> {
    open_editor(text)?.push_document(blob.clone(), &format_blob(blob))
}

/// Formats a blob, with the most important fields first.
fn format_blob(blob: &Value) -> String {
    const FIRST: [&str; 4] = ["schema", "package", "name", "defaultChannel"];
    let empty = Map::new();
    let map = blob.as_object().unwrap_or(&empty);
    let first = FIRST.iter().filter_map(|key| map.get_key_value(*key));
    let rest = map.iter().filter(|field| !FIRST.contains(&field.0.as_str()));
    let text = |(key, value): (&String, &Value)| {
        yaml::to_text(&Map::from_iter([(key.clone(), value.clone())]).into())
    };
    first.chain(rest).map(text).collect()
}

fn open_editor(text: &str) -> Result<Editor<'_>, Refusal> {
    if text.trim_start().starts_with('{') {
        return Err(Refusal("the file is JSON"));
    }
    Editor::new(text, Dialect::Kubernetes).map_err(|_| Refusal("the file cannot be read as YAML"))
}

fn is_channel(node: &Node, package: &str, channel: &str) -> bool {
    let is = |key: &str, text: &str| node.get(key).and_then(Node::as_str) == Some(text);
    is("schema", blob::CHANNEL) && is("package", package) && is("name", channel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    fn entry() -> Entry {
        Entry { name: "a.v2".to_owned(), replaces: "a.v1".to_owned(), ..Entry::default() }
    }

    fn check(before: &str, after: &str) {
        assert_eq!(with_entry(before, "a", "stable", &entry()).as_deref(), Ok(after));
    }

    #[test]
    fn an_entry_is_added_and_everything_else_stays() {
        check(
            "# mine\nschema: olm.channel\npackage: a\nname: stable\nentries:   # the list\n  - name: a.v1 # first\n    skips:\n    - a.v0\n\n  # the end\nproperties: []\n---\nx: y\n",
            "# mine\nschema: olm.channel\npackage: a\nname: stable\nentries:   # the list\n  - name: a.v1 # first\n    skips:\n    - a.v0\n  - name: a.v2\n    replaces: a.v1\n\n  # the end\nproperties: []\n---\nx: y\n",
        );
        check(
            "schema: olm.channel\npackage: a\nname: stable\nentries:\n- name: a.v1\n  # skips: [a.v0]\n\n# the end\n",
            "schema: olm.channel\npackage: a\nname: stable\nentries:\n- name: a.v1\n  # skips: [a.v0]\n- name: a.v2\n  replaces: a.v1\n\n# the end\n",
        );
        check(
            "x: 1\n---\nentries:\n- {name: a.v1}\nschema: olm.channel\npackage: a\nname: stable",
            "x: 1\n---\nentries:\n- {name: a.v1}\n- name: a.v2\n  replaces: a.v1\nschema: olm.channel\npackage: a\nname: stable",
        );
        check(
            "schema: olm.channel\r\npackage: a\r\nname: stable\r\nentries:\r\n- name: a.v1",
            "schema: olm.channel\r\npackage: a\r\nname: stable\r\nentries:\r\n- name: a.v1\r\n- name: a.v2\r\n  replaces: a.v1\r\n",
        );
    }

    #[test]
    fn what_cannot_be_edited_line_by_line_is_refused() {
        let channel = "schema: olm.channel\npackage: a\nname: stable\n";
        for (text, expected) in [
            (format!("{channel}entries: [{{name: a.v1}}]\n"), NOT_A_BLOCK),
            (format!("{channel}entries: []\n"), NOT_A_BLOCK),
            (channel.to_owned(), NOT_A_BLOCK),
            ("{\"schema\": \"olm.channel\"}".to_owned(), Refusal("the file is JSON")),
            ("x: 1\n".to_owned(), Refusal("the channel was not found again")),
            ("x: [\n".to_owned(), Refusal("the file cannot be read as YAML")),
        ] {
            assert_eq!(with_entry(&text, "a", "stable", &entry()), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_blob_is_added_at_the_end() {
        let add = |it: &str| with_blob(it, &json!({"a": 1}));
        assert_eq!(add("").as_deref(), Ok("a: 1\n"));
        assert_eq!(add("# x\nb: 1").as_deref(), Ok("# x\nb: 1\n---\na: 1\n"));
        assert_eq!(add("{}"), Err(Refusal("the file is JSON")));
        // A block that is kept to its end would take up the separator's line break.
        assert!(add("b: |+\n  x\n\n").is_ok_and(|it| it == "b: |+\n  x\n\n---\na: 1\n"));
    }
}
