//! The kustomizations of config/: that of config/crd lists the CRDs of the project, and the paths in each lead to files.

use crate::plan::{LastCommit, Plan, WorkTree};
use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{self, Data, Dialect, Node, Value, json};
use model::{ProjectPath, Tree};

const FOLDER: &str = "config/crd/";
const FILE: &str = "config/crd/kustomization.yaml";
const MARKER: &str = "crds";
const RULE: &str = "kustomization";

/// Adds the items of these CRDs that the command creates, and removes those of CRDs that it deletes.
pub fn update(tree: &mut WorkTree<'_>, crds: &[ProjectPath]) -> anyhow::Result<()> {
    let list = ProjectPath::fixed(FILE);
    let Some(text) = tree.read_text(&list)? else { return Ok(()) };
    let mut plan = Plan::default();
    let nodes = yaml::parse_nodes(&text, Dialect::Kubernetes);
    let first = nodes.iter().flatten().next();
    let resources = first.and_then(|node| match &node.data {
        Data::Map(fields) => fields.iter().find(|field| field.key == "resources"),
        _ => None,
    });
    let (line, items) = match resources.map(|resource| (resource.mark.line, &resource.value.data)) {
        Some((line, Data::List(items))) => (line, &items[..]),
        Some((line, _)) => (line, &[][..]),
        None => (1, &[][..]),
    };
    // Another kustomization lists them.
    let is_folder = |node: &Node| {
        node.as_str().is_some_and(|path| path.trim_end_matches('/').ends_with("bases"))
    };
    if items.iter().any(is_folder) {
        return Ok(());
    }
    let deleted: Vec<&ProjectPath> = tree
        .changed_files()
        .filter(|changed| changed.after.is_none())
        .map(|change| &change.path)
        .collect();
    let mut lines = Lines::new(&text);
    let mut listed = Vec::new();
    for item in items {
        let Some((entry, path)) = item.as_str().and_then(|text| Some((text, crd_path(text)?)))
        else {
            continue;
        };
        if deleted.contains(&&path) {
            plan.remove_entries(list.clone(), vec![list_fragment(entry)], LastCommit::NotRead);
        }
        listed.push(path);
    }
    // A person may have commented a line out.
    for line in text.lines().filter_map(|line| line.trim().strip_prefix('#')) {
        let item = line.trim_start_matches('#').trim_start().strip_prefix("- ");
        listed.extend(item.and_then(|item| crd_path(item.split(" #").next()?.trim())));
    }
    for path in crds {
        let name = path.as_str().strip_prefix(FOLDER).unwrap_or(path.as_str());
        // An addition to a file that cannot be read is a conflict, so there must be something to add.
        if listed.contains(path) || nodes.is_err() && text.contains(name) {
            continue;
        }
        // A person has removed the line of a CRD that was there before.
        let is_new = tree.files_on_disk().read_text(path)?.is_none();
        if is_new && text.contains(&format!("+operator-rs:scaffold:{MARKER}")) {
            plan.add_entries(list.clone(), MARKER, list_fragment(name));
            continue;
        }
        let warning = Diagnostic::in_file(FILE, format!("`{name}` is not in the list `resources`"));
        let warning = warning.at_position(line, 1).with_code(RULE).quote(&mut lines);
        plan.warn(warning.with_hint(format!(
            "add it; or write `# - {name}` there if this CRD must not be installed"
        )));
    }
    tree.apply(plan)
}

/// Warns of the paths in kustomizations of config/ that lead to nothing, and of what else keeps these from being rendered.
/// What a warning quotes already is left out.
pub fn warn_of_paths(tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
    let files = tree.list_files(&ProjectPath::fixed("config"))?;
    let kustomizations = files.iter().filter(|file| kustomize::is_kustomization_name(file.name()));
    let folders = kustomizations.filter_map(ProjectPath::parent).collect();
    let mut problems = kustomize::path_problems(tree, folders);
    if !problems.is_empty() {
        let warnings = tree.changes().warnings;
        problems.retain(|problem| {
            let text = problem.to_string();
            !warnings.iter().any(|warning| warning.message.contains(&text))
        });
    }
    // A text is split into lines once, however many problems it has: they are in the order of their files.
    let mut plan = Plan::default();
    for of_file in problems.chunk_by(|one, other| one.file == other.file) {
        let file = of_file[0].file.as_ref().and_then(|file| file.parse::<ProjectPath>().ok());
        let text = file.map_or(Ok(None), |file| tree.read_text(&file))?.unwrap_or_default();
        let mut lines = Lines::new(&text);
        for problem in of_file {
            plan.warn(problem.clone().with_code(RULE).quote(&mut lines));
        }
    }
    tree.apply(plan)
}

fn list_fragment(name: &str) -> String {
    yaml::to_text(&json!({ "resources": [name] }))
}

/// Returns the CRD that an item of the list names.
fn crd_path(item: &str) -> Option<ProjectPath> {
    let path = ProjectPath::fixed("config/crd").join(item.trim_matches(['"', '\''])).ok()?;
    path.is_in(&ProjectPath::fixed("config/crd/bases")).then_some(path)
}

/// Returns whether a kustomization lists a file of its folder.
pub fn lists_file(kustomization: &str, name: &str) -> bool {
    let documents = yaml::parse_documents(kustomization, Dialect::Kubernetes).unwrap_or_default();
    let is_it = |document: &Value| {
        document.as_str().is_some_and(|text| text.trim_start_matches("./") == name)
    };
    let resources = |value: &Value| {
        value["resources"].as_array().is_some_and(|resource| resource.iter().any(is_it))
    };
    documents.iter().any(resources)
}

#[test]
fn an_item_names_a_crd() {
    let check = |item: &str, expected: Option<&str>| {
        assert_eq!(crd_path(item).map(|name| name.to_string()).as_deref(), expected, "{item}");
    };
    check("bases/a.yaml", Some("config/crd/bases/a.yaml"));
    check("./bases/a b.yaml", Some("config/crd/bases/a b.yaml"));
    check("patches/a.yaml", None);
    check("../../../x", None);
}
