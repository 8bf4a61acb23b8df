//! The modules around a type, and the variables of its image.

use crate::{
    model::ProjectPath,
    plan::{Plan, Tree},
};

/// Removes lines from the file of a module, and deletes the file if only the template is left. Returns whether it
/// deletes it.
pub fn prune(
    plan: &mut Plan,
    tree: &impl Tree,
    path: ProjectPath,
    lines: &[String],
    template: Option<&str>,
) -> anyhow::Result<bool> {
    let Some(before) = tree.read(&path)? else { return Ok(true) };
    let is_ours = |it: &&str| !lines.iter().any(|line| line.trim() == it.trim());
    let rest: Vec<&str> = before.lines().filter(is_ours).collect();
    let is_empty = template.is_some_and(|it| it.lines().eq(rest.iter().copied()));
    match is_empty {
        true => plan.delete(path, vec![before.replace("\r\n", "\n"), before]),
        false => lines.iter().for_each(|it| plan.remove_line(path.clone(), it)),
    }
    Ok(is_empty)
}

/// Removes a variable from a YAML list: the two lines that `create api` wrote, with any value.
///
/// Anything else would be a guess. The error is the number of the line with the variable in another form, or of the
/// second one if there are several.
pub fn without_entry(text: &str, variable: &str) -> Result<String, usize> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(at) = only_line(&lines, variable)? else { return Ok(text.to_owned()) };
    let indent = |it: &str| it.len() - it.trim_start().len();
    let value = lines.get(at + 1).filter(|it| indent(it) == indent(lines[at]) + 2);
    let value = value.and_then(|it| it.trim().strip_prefix("value: "));
    let rest = lines.iter().skip(at + 2).find(|it| !it.trim().is_empty());
    let is_whole = lines[at].trim() == format!("- name: {variable}")
        && value.is_some_and(is_quoted)
        && rest.is_none_or(|it| indent(it) <= indent(lines[at]));
    match is_whole {
        true => Ok([&lines[..at], &lines[at + 2..]].concat().concat()),
        false => Err(at + 1),
    }
}

/// Removes a variable from `[env]` of a TOML file: the line that `create api` wrote, with any value.
///
/// The error is the number of the line with the variable in another form, or of the second one if there are several.
pub fn without_assignment(text: &str, variable: &str) -> Result<String, usize> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(at) = only_line(&lines, variable)? else { return Ok(text.to_owned()) };
    let value = lines[at].trim().strip_prefix(variable).and_then(|it| it.strip_prefix(" = "));
    let res = [&lines[..at], &lines[at + 1..]].concat().concat();
    // The line may be in another table, or in a text of several lines.
    let is_assignment = || {
        let mut expected: toml::Table = text.parse().ok()?;
        expected.get_mut("env")?.as_table_mut()?.remove(variable)?;
        Some(res.parse::<toml::Table>().ok()? == expected)
    };
    match value.is_some_and(is_quoted) && is_assignment() == Some(true) {
        true => Ok(res),
        false => Err(at + 1),
    }
}

/// The index of the line that names a variable. The error is the number of a second such line.
fn only_line(lines: &[&str], variable: &str) -> Result<Option<usize>, usize> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let names = |line: &str| line.split(|it| !is_word(it)).any(|it| it == variable);
    let mut found = (0..lines.len()).filter(|it| names(lines[*it]));
    let first = found.next();
    found.next().map_or(Ok(first), |second| Err(second + 1))
}

/// A text in double quotes that ends on its line.
fn is_quoted(text: &str) -> bool {
    let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.is_some_and(|it| !it.contains(['"', '\\']))
}

#[test]
fn a_variable_is_removed_with_its_value() {
    let text =
        "env:\n  - name: A\n    value: \"1\"\n\n  - name: B\n    valueFrom:\n      x: y\n  # end\n";
    let check = |text: &str, variable: &str, expected: Result<&str, usize>| {
        assert_eq!(without_entry(text, variable), expected.map(str::to_owned), "{text}");
    };
    let rest = "env:\n\n  - name: B\n    valueFrom:\n      x: y\n  # end\n";
    check(text, "A", Ok(rest));
    check(&text.replace('\n', "\r\n"), "A", Ok(&rest.replace('\n', "\r\n")));
    check(text, "C", Ok(text));
    // Whatever somebody has changed stays.
    check(text, "B", Err(5));
    check("- name: A\n\n  # why\n  value: \"1\"\n", "A", Err(1));
    check("- name: A # mine\n  value: \"1\"\n", "A", Err(1));
    check("- name: \"A\"\n  value: \"1\"\n", "A", Err(1));
    check("- name: A\n  value: \"1\"\n  # mine\n", "A", Err(1));
    check("- name: A\n  value: \"1\"\n- name: A\n  value: \"2\"\n", "A", Err(3));
}

#[test]
fn an_assignment_is_removed_from_its_table() {
    let check = |text: &str, expected: Result<&str, usize>| {
        assert_eq!(without_assignment(text, "A"), expected.map(str::to_owned), "{text}");
    };
    check("[env]\nA = \"1\"\nAB = \"2\"\n", Ok("[env]\nAB = \"2\"\n"));
    check("[env]\nAB = \"2\"\n", Ok("[env]\nAB = \"2\"\n"));
    check("[other]\nA = \"1\"\n", Err(2));
    check("[env]\nA = \"\"\"\n1\"\"\"\n", Err(2));
    check("[env]\nA = \"1\"\n[other]\nA = \"1\"\n", Err(4));
    check("[env]\nB = \"\"\"\nA = \"1\"\n\"\"\"\n", Err(3));
}
