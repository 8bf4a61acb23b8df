//! Additions to the text of a catalog's file. Everything else in it stays as it is, comments included: an addition is
//! inserted as lines of its own, and the result is read again and compared with what it should be.

use go_data::yaml::{self, Data, Dialect, Map, Node, Value, block};

use super::blob::{self, Entry};

/// Why lines cannot be inserted.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str);

const NOT_A_BLOCK: Refusal =
    Refusal("the entries are not a YAML list with each entry on lines of its own");

/// The text with one more entry at the end of a channel.
pub fn with_entry(
    text: &str,
    package: &str,
    channel: &str,
    entry: &Entry,
) -> Result<String, Refusal> {
    let before = documents(text)?;
    let at = before.iter().position(|it| is_channel(it, package, channel));
    let at = at.ok_or(Refusal("the channel was not found again"))?;
    let mut added = String::new();
    for (at, line) in yaml::to_text(&entry.to_value()).lines().enumerate() {
        added += &format!("{}{line}\n", if at == 0 { "- " } else { "  " });
    }
    let after = entries(&before[at]).and_then(|it| block::with_items(text, it, &added, None));
    let after = after.ok_or(NOT_A_BLOCK)?;
    let mut expected: Vec<Value> = before.into_iter().map(Node::into_value).collect();
    match expected[at]["entries"].as_array_mut() {
        Some(entries) => entries.push(entry.to_value()),
        None => return Err(NOT_A_BLOCK),
    }
    require(&after, &expected)?;
    Ok(after)
}

/// The text with one more blob after all others.
pub fn with_blob(text: &str, blob: &Value) -> Result<String, Refusal> {
    let mut expected: Vec<Value> = documents(text)?.into_iter().map(Node::into_value).collect();
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let start = if expected.is_empty() { "" } else { "---\n" };
    let added = format!("{end}{start}{}", readable(blob));
    let added = if text.contains("\r\n") { added.replace('\n', "\r\n") } else { added };
    let after = format!("{text}{added}");
    expected.push(blob.clone());
    require(&after, &expected)?;
    Ok(after)
}

/// A blob with the fields that a person looks for first.
fn readable(blob: &Value) -> String {
    const FIRST: [&str; 4] = ["schema", "package", "name", "defaultChannel"];
    let empty = Map::new();
    let map = blob.as_object().unwrap_or(&empty);
    let first = FIRST.iter().filter_map(|key| map.get_key_value(*key));
    let rest = map.iter().filter(|it| !FIRST.contains(&it.0.as_str()));
    let text = |(key, value): (&String, &Value)| {
        yaml::to_text(&Map::from_iter([(key.clone(), value.clone())]).into())
    };
    first.chain(rest).map(text).collect()
}

fn documents(text: &str) -> Result<Vec<Node>, Refusal> {
    if text.trim_start().starts_with('{') {
        return Err(Refusal("the file is JSON"));
    }
    yaml::nodes(text, Dialect::Kubernetes).map_err(|_| Refusal("the file cannot be read as YAML"))
}

/// The result must hold exactly what was there and what was added.
fn require(after: &str, expected: &[Value]) -> Result<(), Refusal> {
    let found: Option<Vec<Value>> =
        documents(after).ok().map(|it| it.into_iter().map(Node::into_value).collect());
    match found.as_deref() == Some(expected) {
        true => Ok(()),
        false => Err(Refusal("lines that are inserted there would change something else")),
    }
}

fn is_channel(node: &Node, package: &str, channel: &str) -> bool {
    let is = |key: &str, text: &str| node.get(key).and_then(Node::as_str) == Some(text);
    is("schema", blob::CHANNEL) && is("package", package) && is("name", channel)
}

/// The entries of a channel, if there are any.
fn entries(channel: &Node) -> Option<&yaml::Entry> {
    let Data::Map(fields) = &channel.data else { return None };
    let field = fields.iter().find(|it| it.key == "entries")?;
    matches!(&field.value.data, Data::List(all) if !all.is_empty()).then_some(field)
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
