//! Edits of a YAML text that change one field and leave everything else as it is, comments and order included. The
//! result is read again: where it is not exactly the old data with the one change, there is no result.

use go_data::yaml::{self, Data, Dialect, Entry, Node, Value, block};

/// A change of the field that a JSON pointer names.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    Remove,
    Set(Value),
    Rename(String),
    /// One more entry at the end of a map.
    Insert(String, Value),
}

/// The text after the edit; none where it cannot be edited line by line.
pub fn edited(text: &str, pointer: &str, edit: &Edit) -> Option<String> {
    // The parser counts these as the ends of lines, too.
    if text.replace("\r\n", "\n").contains(['\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return None;
    }
    let documents = yaml::nodes(text, Dialect::Kubernetes).ok()?;
    let after = spliced(text, documents.first()?, pointer, edit)?;
    let mut expected: Vec<Value> = documents.into_iter().map(Node::into_value).collect();
    apply(expected.first_mut()?, pointer, edit)?;
    let found = yaml::documents(&after, Dialect::Kubernetes).ok()?;
    // YAML allows a comma behind the last entry.
    let is_json = |it: &str| yaml::from_json(it).is_ok();
    (found == expected && (is_json(&after) || !is_json(text))).then_some(after)
}

/// The same change of the data.
fn apply(data: &mut Value, pointer: &str, edit: &Edit) -> Option<()> {
    if let Edit::Insert(key, value) = edit {
        let map = data.pointer_mut(pointer)?.as_object_mut()?;
        return map.insert(key.clone(), value.clone()).is_none().then_some(());
    }
    let (parent, key) = pointer.rsplit_once('/')?;
    let key = unescaped(key);
    match data.pointer_mut(parent)? {
        Value::Object(map) => {
            let value = map.remove(&key)?;
            let before = match edit {
                Edit::Set(value) => map.insert(key, value.clone()),
                Edit::Rename(name) => map.insert(name.clone(), value),
                _ => None,
            };
            before.is_none().then_some(())
        }
        Value::Array(list) => {
            let at: usize = key.parse().ok().filter(|it| *it < list.len())?;
            match edit {
                Edit::Remove => drop(list.remove(at)),
                Edit::Set(value) => list[at] = value.clone(),
                _ => return None,
            }
            Some(())
        }
        _ => None,
    }
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

fn spliced(text: &str, root: &Node, pointer: &str, edit: &Edit) -> Option<String> {
    if let Edit::Insert(key, value) = edit {
        let Data::Map(entries) = &find(root, pointer)?.data else { return None };
        return inserted(text, entries, key, value);
    }
    let (parent, key) = pointer.rsplit_once('/')?;
    match &find(root, parent)?.data {
        Data::Map(entries) => {
            let key = unescaped(key);
            let entry = entries.iter().find(|it| it.key == key)?;
            match edit {
                Edit::Rename(name) => {
                    let start = block::offset(text, entry.mark)?;
                    let end = start + token(&text[start..], true)?;
                    Some(replaced(text, start, end, &Value::from(name.as_str())))
                }
                Edit::Set(value) => set(text, entry, value),
                _ => without(text, block::lines_of_field(text, entry)?, &entry.value),
            }
        }
        Data::List(items) => {
            let item = items.get(key.parse::<usize>().ok()?)?;
            let lines = block::lines_of_item(text, item)?;
            matches!(edit, Edit::Remove).then(|| without(text, lines, item)).flatten()
        }
        Data::Scalar(_) => None,
    }
}

fn find<'a>(root: &'a Node, pointer: &str) -> Option<&'a Node> {
    pointer.split('/').skip(1).try_fold(root, |node, key| match &node.data {
        Data::List(items) => items.get(key.parse::<usize>().ok()?),
        _ => node.get(&unescaped(key)),
    })
}

/// The length of the scalar that a text starts with: of a key, or of a value on one line.
fn token(text: &str, is_key: bool) -> Option<usize> {
    let line = text.lines().next()?;
    match line.chars().next()? {
        '"' => {
            let mut is_escaped = false;
            let end = line.char_indices().skip(1).find(|(_, it)| {
                let is_end = *it == '"' && !is_escaped;
                is_escaped = *it == '\\' && !is_escaped;
                is_end
            });
            end.map(|it| it.0 + 1)
        }
        '\'' => {
            let rest = line[1..].replace("''", "  ");
            rest.find('\'').map(|it| it + 2)
        }
        '|' | '>' | '&' | '*' | '!' | '{' | '[' | '?' => None,
        _ if is_key => match line.find(": ").into_iter().chain(line.find(":\t")).min() {
            Some(end) => Some(line[..end].trim_end().len()),
            None => line.trim_end().strip_suffix(':').map(|it| it.trim_end().len()),
        },
        _ => Some(block::comment(line).map_or(line, |it| &line[..it]).trim_end().len()),
    }
}

/// A scalar in the place of another, in the same quotes.
fn replaced(text: &str, start: usize, end: usize, value: &Value) -> String {
    let new = match (value.as_str(), text[start..].chars().next()) {
        (Some(_), Some('"')) => value.to_string(),
        (Some(text), Some('\'')) => format!("'{}'", text.replace('\'', "''")),
        _ => plain(value),
    };
    format!("{}{new}{}", &text[..start], &text[end..])
}

fn plain(value: &Value) -> String {
    yaml::to_text(value).trim_end().to_owned()
}

fn set(text: &str, entry: &Entry, value: &Value) -> Option<String> {
    let key = block::offset(text, entry.mark)?;
    let colon = key + token(&text[key..], true)?;
    let colon = colon + text[colon..].find(':')? + 1;
    let rest = text[colon..].lines().next().unwrap_or_default().trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        // Nothing is written there; what follows on the next line, the comparison finds.
        return Some(format!("{} {}{}", &text[..colon], plain(value), &text[colon..]));
    }
    let start = block::offset(text, entry.value.mark)?;
    let end = start + token(&text[start..], false)?;
    Some(replaced(text, start, end, value))
}

/// The text without the lines of a value; none where a comment may be lost with them. One beside a scalar is about it.
fn without(text: &str, lines: (usize, usize), value: &Node) -> Option<String> {
    (!block::has_comment(text, lines, value)?).then(|| block::without_lines(text, lines))
}

fn inserted(text: &str, entries: &[Entry], key: &str, value: &Value) -> Option<String> {
    let last = entries.last()?;
    let indent = last.mark.column.checked_sub(1)?;
    // The only entry of a list's item stands behind the dash.
    let item = Node { mark: last.mark, ..last.value.clone() };
    let lines = block::lines_of_field(text, last).or_else(|| block::lines_of_item(text, &item));
    let to = lines?.1;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut res: String = text.split_inclusive('\n').take(to).collect();
    if !res.ends_with('\n') {
        res += end;
    }
    let line = format!("{}{}: {}{end}", " ".repeat(indent), plain(&key.into()), plain(value));
    Some(res + &line + &text.split_inclusive('\n').skip(to).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    fn check(before: &str, pointer: &str, edit: &Edit, after: &str) {
        assert_eq!(edited(before, pointer, edit).as_deref(), Some(after), "{before}");
    }

    #[test]
    fn a_field_is_removed_with_its_lines_and_comments_stay() {
        let remove = |before: &str, pointer: &str, after: &str| {
            check(before, pointer, &Edit::Remove, after);
        };
        remove("a:\n  # x\n  b: 1 # y\n\n  # z\n  c: 2\n", "/a/b", "a:\n  # x\n\n  # z\n  c: 2\n");
        remove("a: 1\r\nb:\r\n- 1\r\n- 2\r\nc: 3\r\n", "/b", "a: 1\r\nc: 3\r\n");
        remove("a: 1\nb: |\n  # x\n\n  y\n# z\n", "/b", "a: 1\n# z\n");
        remove("a: 1\nb:\n  c: 1\n# of d\n---\nd: 1\n", "/b", "a: 1\n# of d\n---\nd: 1\n");
        remove("{\n \"a\": 1,\n \"b\": 2\n}\n", "/a", "{\n \"b\": 2\n}\n");
        remove("a: 1\nb: \"x\n  y\"", "/b", "a: 1\n");
        remove("- a: 1\n  b: 2\n- a: 3\n", "/1", "- a: 1\n  b: 2\n");
        remove("x:\n- a\n# c\n- b\n", "/x/0", "x:\n# c\n- b\n");
    }

    #[test]
    fn a_value_is_set_in_its_quotes() {
        let set = |before: &str, pointer: &str, after: &str| {
            check(before, pointer, &Edit::Set(json!("it's")), after);
        };
        set("a: b # c\n", "/a", "a: it's # c\n");
        set("a: 'b ''c'' d'   # e\n", "/a", "a: 'it''s'   # e\n");
        set(
            "{\"ü\": 1, \"a\": \"b \\\" c\", \"d\": 2}",
            "/a",
            "{\"ü\": 1, \"a\": \"it's\", \"d\": 2}",
        );
        set("a: b\t# c\n", "/a", "a: it's\t# c\n");
        set("a:\tb \t# c: d\n", "/a", "a:\tit's \t# c: d\n");
        set("a:\nb: 1\n", "/a", "a: it's\nb: 1\n");
        set("- a: # b\n  c: 1\n", "/0/a", "- a: it's # b\n  c: 1\n");
        check("a:\n- b: true # x\n", "/a/0/b", &Edit::Set(json!(false)), "a:\n- b: false # x\n");
        check("a: \"x\"\n", "/a", &Edit::Set(json!("1.10")), "a: \"1.10\"\n");
        check("a: x\n", "/a", &Edit::Set(json!("1.10")), "a: \"1.10\"\n");
    }

    #[test]
    fn a_key_is_renamed_in_its_place_and_an_entry_is_added_at_the_end() {
        let rename = |before: &str, pointer: &str, after: &str| {
            check(before, pointer, &Edit::Rename("New".to_owned()), after);
        };
        rename("a/b: 1 # x\nc: 2\n", "/a~1b", "New: 1 # x\nc: 2\n");
        rename("- 'a': |-\n    x\n", "/0/a", "- 'New': |-\n    x\n");
        let insert = |before: &str, pointer: &str, after: &str| {
            check(before, pointer, &Edit::Insert("new".to_owned(), json!("v")), after);
        };
        insert("a:\n  b: 1\n\n# x\nc: 2\n", "/a", "a:\n  b: 1\n  new: v\n\n# x\nc: 2\n");
        insert("a:\n- b: 1", "/a/0", "a:\n- b: 1\n  new: v\n");
    }

    #[test]
    fn what_would_change_something_else_is_refused() {
        let none = |before: &str, pointer: &str, edit: &Edit| {
            assert_eq!(edited(before, pointer, edit), None, "{before}");
        };
        none("{a: 1, b: 2}", "/a", &Edit::Remove);
        none("a: {b: 1}\n", "/a/b", &Edit::Remove);
        none("a:\n  b: 1\n", "/a/b", &Edit::Remove);
        none("a: &x {b: c}\nd: *x\n", "/a/b", &Edit::Set(json!("e")));
        none("a: |\n  b\n", "/a", &Edit::Set(json!("e")));
        none("a: b\n  c\n", "/a", &Edit::Set(json!("e")));
        none("a: 1\nA: 2\n", "/a", &Edit::Rename("A".to_owned()));
        none("a: 1\nb: 2\n", "", &Edit::Insert("b".to_owned(), json!("v")));
        none("a: 1\rb: 2\r", "/a", &Edit::Remove);
        none("a: 1\n", "/b", &Edit::Remove);
        none("", "/b", &Edit::Remove);
        // A comment beside other data would be lost.
        none("a: 1\nb:\n  c: 1\n  # of c\n---\nd: 1\n", "/b", &Edit::Remove);
        none("a: 1\nb:\n  # d: 2\n  c: 1\n", "/b", &Edit::Remove);
        none("- a: 1\n- b: 2 # why\n  c: 3\n", "/1", &Edit::Remove);
        none("a:\n  b: 1\n    # of c\n  c: 2\n", "/a/b", &Edit::Remove);
        none("a:\n  b:\n    # of b\n    1\n  c: 2\n", "/a/b", &Edit::Remove);
        none("a:\n  b: |\n      x\n    # of c\n  c: 2\n", "/a/b", &Edit::Remove);
        none("a:\n- 1\n  # of 2\n- 2\n", "/a/0", &Edit::Remove);
        // A comma would be left, which JSON does not allow.
        none("{\n \"a\": 1,\n \"b\": 2\n}\n", "/b", &Edit::Remove);
    }
}
