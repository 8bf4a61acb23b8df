//! Finds the line of a template that an object is from. Text in, lines out: a template is not evaluated, and where no
//! line can be told there is none.

use std::ops::Range;

use go_data::yaml::{self, Data, Node, Value, pointer};

/// Returns the line of an object of a kind: the only one of that kind; the one in the same order, if the template has
/// as many as were rendered; or the one whose name fits. 0 if that does not tell.
pub fn line_of(text: &str, kind: &str, name: &str, (before, all): (usize, usize)) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_kind = |line: &str| {
        let value = line.strip_prefix("kind:").unwrap_or_default();
        value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']) == kind
    };
    let found: Vec<usize> = (0..lines.len()).filter(|index| is_kind(lines[*index])).collect();
    match &found[..] {
        [only] => only + 1,
        some if some.len() == all => some[before] + 1,
        some => {
            let fits = |index: &&usize| {
                let below = lines[**index + 1..].iter().take_while(|line| !line.starts_with("---"));
                let mut names = below.filter_map(|line| line.trim_start().strip_prefix("name:"));
                names.next().is_some_and(|names| may_match(names, name))
            };
            let mut fitting = some.iter().filter(fits);
            match (fitting.next(), fitting.next()) {
                (Some(only), None) => only + 1,
                _ => 0,
            }
        }
    }
}

/// Returns whether what a template writes literally is in a name.
fn may_match(template: &str, name: &str) -> bool {
    let mut literal = template.trim().trim_matches(['"', '\'']);
    let (mut rest, mut some) = (name, false);
    loop {
        let (text, more) = literal.split_once("{{").unwrap_or((literal, ""));
        let Some(at) = rest.find(text) else { return false };
        rest = &rest[at + text.len()..];
        some |= !text.is_empty();
        match more.split_once("}}") {
            Some((_, after)) => literal = after,
            None => return some && (rest.is_empty() || template.trim_end().ends_with("}}")),
        }
    }
}

/// Returns the only line of an object that has a text; `first` is the line of its kind.
pub fn line_with(text: &str, first: usize, wanted: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found =
        document_lines(&lines, first).filter(|document| lines[*document].contains(wanted));
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only + 1),
        _ => None,
    }
}

/// Returns the line of a field of an object, or of what it would be in, if the template has that part of the object
/// literally; `first` is the line of its kind.
pub fn line_of_field(text: &str, first: usize, object: &Value, pointer: &str) -> Option<usize> {
    if first == 0 {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let document = document_lines(&lines, first);
    let is_literal =
        |text: &str| !text.contains("{{") && !text.contains("}}") && !text.starts_with("---");
    let literal =
        lines[document.clone()].iter().map(|text| if is_literal(text) { text } else { "" });
    let literal = literal.collect::<Vec<_>>().join("\n");
    // A field in two branches of an `if` is refused, as it is there twice.
    let nodes = yaml::parse_nodes(&literal, yaml::Dialect::Strict).ok()?;
    let [node] = &nodes[..] else { return None };
    Some(document.start + literal_line(node, object, pointer)?)
}

/// Returns the line of a field, unless what was rendered differs on the way to it.
fn literal_line(mut node: &Node, mut value: &Value, pointer: &str) -> Option<usize> {
    let mut line = None;
    for key in pointer.split('/').skip(1).map(pointer::unescape_key) {
        let below = match (&node.data, value) {
            (Data::Map(entries), Value::Object(map)) => {
                let entry = entries.iter().find(|entry| entry.key == key);
                (entry.map(|entry| (entry.mark, &entry.value)), map.get(&key))
            }
            (Data::List(nodes), Value::Array(items)) if nodes.len() == items.len() => {
                let at = key.parse::<usize>().ok()?;
                (nodes.get(at).map(|node| (node.mark, node)), items.get(at))
            }
            _ => return None,
        };
        match below {
            (Some((mark, inner)), Some(next)) => {
                (node, value, line) = (inner, next, Some(mark.line));
            }
            (None, None) => return line,
            _ => return None,
        }
    }
    line.filter(|_| node.clone().into_value() == *value)
}

/// Returns the lines of the document of an object; all lines if the line of its kind is not known.
fn document_lines(lines: &[&str], first: usize) -> Range<usize> {
    if first == 0 {
        return 0..lines.len();
    }
    let is_end = |index: &&str| index.starts_with("---");
    let from = lines[..first.min(lines.len())].iter().rposition(is_end).unwrap_or(0);
    let to = lines.iter().skip(first).position(is_end).map_or(lines.len(), |line| line + first);
    from..to
}

#[test]
fn objects_are_found_in_templates() {
    let text = "apiVersion: v1\nkind: Role\nmetadata:\n  name: {{ x }}-a\nroleRef:\n  kind: Role\n---\nkind: \"Role\" # b\nmetadata:\n  name: {{ x }}-b\n---\nkind: Service\n";
    assert_eq!(line_of(text, "Service", "x", (0, 1)), 12);
    assert_eq!(line_of(text, "Role", "x", (1, 2)), 8, "in the same order");
    assert_eq!(line_of(text, "Role", "r-a", (0, 1)), 2, "by the name");
    assert_eq!(line_of(text, "Role", "r-c", (0, 1)), 0, "neither");
    assert_eq!(line_of(text, "Secret", "r-c", (0, 1)), 0, "of another kind");
    assert_eq!(line_with(text, 8, "name:"), Some(10));
    assert_eq!(line_with(text, 2, "kind: Role"), None, "two lines");
    assert_eq!(line_with(text, 0, "Service"), Some(12));
}

#[test]
fn fields_are_found_where_they_are_literal() {
    use go_data::yaml::json;
    let object = json!({ "kind": "A", "spec": { "a": 1, "list": [{ "b": 2 }, { "b": 3 }] } });
    let check = |text: &str, pointer: &str, expected: Option<usize>| {
        assert_eq!(line_of_field(text, 1, &object, pointer), expected, "{text} {pointer}");
    };
    let literal =
        "kind: A\nname: {{ x }}\nspec:\n  a: 1\n  list:\n  - b: 2\n  - b: 3\n---\nkind: B\n";
    check(literal, "/spec/a", Some(4));
    check(literal, "/spec/list/1/b", Some(7));
    check(literal, "/spec/missing", Some(3));
    check(literal, "/missing", None);
    check(&literal.replace("a: 1", "a: {{ x }}"), "/spec/a", None);
    check(&literal.replace("a: 1", "a: 2"), "/spec/a", None);
    check(&literal.replace("  - b: 2\n", "{{ x }}\n"), "/spec/list/1/b", None);
    check(
        &literal.replace("  a: 1", "{{ if x }}\n  a: 1\n{{ else }}\n  a: 1\n{{ end }}"),
        "/spec/a",
        None,
    );
    assert_eq!(line_of_field(literal, 0, &object, "/spec/a"), None);
}
