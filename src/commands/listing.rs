//! config/crd/kustomization.yaml: it lists the CRDs of the project, and no others that are gone.

use crate::{
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
    for (at, line) in text.lines().enumerate() {
        let Some(path) = listed(line) else { continue };
        if deleted.contains(&&path) {
            plan.remove_line(list.clone(), line);
        } else if !crds.contains(&path) && after.read(&path)?.is_none() {
            plan.warn(format!("{FILE}:{}: {path} does not exist: remove this line", at + 1));
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
            false => plan.warn(format!("{FILE} does not list `{name}`: add it to `resources`")),
        }
    }
    Ok(())
}

/// The CRD that a line of the list names.
fn listed(line: &str) -> Option<ProjectPath> {
    let item = line.trim().strip_prefix("- ")?;
    let item = item.split(" #").next()?.trim().trim_matches(['"', '\'']);
    let path = ProjectPath::fixed("config/crd").join(item).ok()?;
    path.is_in(&ProjectPath::fixed("config/crd/bases")).then_some(path)
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
