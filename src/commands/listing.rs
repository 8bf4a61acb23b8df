//! config/crd/kustomization.yaml: it lists the CRDs of the project, and no others that are gone.

use crate::{
    hint::{Diagnostic, Lines},
    model::ProjectPath,
    plan::{Overlay, Plan, Tree},
};

const FOLDER: &str = "config/crd/";
const FILE: &str = "config/crd/kustomization.yaml";
const MARKER: &str = "crds";

/// Adds the lines that are missing for these CRDs, and removes those of CRDs that the plan deletes.
pub fn update(plan: &mut Plan, tree: &impl Tree, crds: &[ProjectPath]) -> anyhow::Result<()> {
    let changes = plan.preview(tree)?;
    let after = Overlay::new(tree, &changes);
    let list = ProjectPath::fixed(FILE);
    let Some(text) = after.read(&list)? else { return Ok(()) };
    let deleted: Vec<&ProjectPath> =
        changes.iter().filter(|it| it.after.is_none()).map(|it| &it.path).collect();
    let mut lines = Lines::of(&text);
    for (at, line) in text.lines().enumerate() {
        let Some(path) = listed(line) else { continue };
        if deleted.contains(&&path) {
            plan.remove_line(list.clone(), line);
        } else if !crds.contains(&path) && after.read(&path)?.is_none() {
            let missing = Diagnostic::in_file(FILE, format!("{path} does not exist"));
            plan.warn(missing.at(at + 1, 1).quote(&mut lines).with_hint("remove this line"));
        }
    }
    for path in crds {
        let name = path.as_str().strip_prefix(FOLDER).unwrap_or(path.as_str());
        // A person may have commented the line out.
        if text.contains(name) {
            continue;
        }
        match text.contains(&format!("+operator-rs:scaffold:{MARKER}")) {
            true => plan.insert(list.clone(), MARKER, format!("- {name}\n")),
            false => plan.warn(
                Diagnostic::in_file(FILE, format!("`{name}` is not in the list"))
                    .with_hint("add it to `resources`"),
            ),
        }
    }
    Ok(())
}

/// The CRD that a line of the list names.
fn listed(line: &str) -> Option<ProjectPath> {
    let path = ProjectPath::fixed("config/crd").join(item(line)?).ok()?;
    path.is_in(&ProjectPath::fixed("config/crd/bases")).then_some(path)
}

/// The item in a line of a list, without quotes and comment.
pub fn item(line: &str) -> Option<&str> {
    let item = line.trim().strip_prefix("- ")?.split(" #").next()?;
    Some(item.trim().trim_matches(['"', '\'']))
}

#[test]
fn a_line_lists_a_crd() {
    let check = |line: &str, expected: Option<&str>| {
        assert_eq!(listed(line).map(|it| it.to_string()).as_deref(), expected, "{line}");
    };
    check("- bases/a.yaml", Some("config/crd/bases/a.yaml"));
    check("  - \"./bases/a b.yaml\" # mine", Some("config/crd/bases/a b.yaml"));
    check("- patches/a.yaml", None);
    check("# - bases/a.yaml", None);
    check("- ../../../x", None);
}
