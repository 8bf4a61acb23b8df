//! Which line of a template an object is from. Text in, lines out: a template is not evaluated, and where no line can be
//! told there is none.

/// The line of an object of a kind: the only one of that kind; the one in the same order, if the template has as many as
/// were rendered; or the one whose name fits. 0 if that does not tell.
pub fn line_of(text: &str, kind: &str, name: &str, (before, all): (usize, usize)) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_kind = |it: &str| {
        let value = it.strip_prefix("kind:").unwrap_or_default();
        value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']) == kind
    };
    let found: Vec<usize> = (0..lines.len()).filter(|it| is_kind(lines[*it])).collect();
    match &found[..] {
        [only] => only + 1,
        some if some.len() == all => some[before] + 1,
        some => {
            let fits = |it: &&usize| {
                let below = lines[**it + 1..].iter().take_while(|it| !it.starts_with("---"));
                let mut names = below.filter_map(|it| it.trim_start().strip_prefix("name:"));
                names.next().is_some_and(|it| fits(it, name))
            };
            let mut fitting = some.iter().filter(fits);
            match (fitting.next(), fitting.next()) {
                (Some(only), None) => only + 1,
                _ => 0,
            }
        }
    }
}

/// Whether what a template writes literally is in a name.
fn fits(template: &str, name: &str) -> bool {
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

/// The only line of an object that has a text; `first` is the line of its kind.
pub fn line_with(text: &str, first: usize, wanted: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_end = |it: &&str| it.starts_with("---");
    let from = lines[..first.min(lines.len())].iter().rposition(is_end).unwrap_or(0);
    let from = if first == 0 { 0 } else { from };
    let to = lines.iter().skip(first).position(is_end).map_or(lines.len(), |it| it + first);
    let to = if first == 0 { lines.len() } else { to };
    let mut found = (from..to).filter(|it| lines[*it].contains(wanted));
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only + 1),
        _ => None,
    }
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
