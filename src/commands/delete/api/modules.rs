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
        true => plan.delete(path, vec![before]),
        false => lines.iter().for_each(|it| plan.remove_line(path.clone(), it)),
    }
    Ok(is_empty)
}

/// Removes a variable from a YAML list: its line `- name: …`, and the indented lines below.
pub fn without_entry(text: &str, variable: &str) -> String {
    let mut res = String::new();
    let mut inside = None;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if inside.is_some_and(|it| it < indent && !line.trim().is_empty()) {
            continue;
        }
        inside = (line.trim() == format!("- name: {variable}")).then_some(indent);
        if inside.is_none() {
            res += line;
        }
    }
    res
}

/// Removes a variable from `[env]` of a TOML file.
pub fn without_assignment(text: &str, variable: &str) -> String {
    let is_other = |it: &&str| it.split('=').next().is_none_or(|it| it.trim() != variable);
    text.split_inclusive('\n').filter(is_other).collect()
}

#[test]
fn a_variable_is_removed_with_its_value() {
    let text =
        "env:\n  - name: A\n    value: 1\n  - name: B\n    valueFrom:\n      x: y\n  # end\n";
    assert_eq!(
        without_entry(text, "A"),
        "env:\n  - name: B\n    valueFrom:\n      x: y\n  # end\n"
    );
    assert_eq!(without_entry(text, "B"), "env:\n  - name: A\n    value: 1\n  # end\n");
    assert_eq!(without_entry(text, "C"), text);
    assert_eq!(without_assignment("[env]\nA = \"1\"\nAB = \"2\"\n", "A"), "[env]\nAB = \"2\"\n");
}
