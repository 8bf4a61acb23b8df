//! Parses a `kustomization.yaml`, and refuses unknown fields.

mod fields;
mod files;
mod items;
mod reader;

pub use self::fields::REPLACEMENTS;
use self::reader::Reader;
use super::{
    budget::Budget,
    kustomization::{Kustomization, Text},
    named_files,
    origin::{Origin, diagnostic_at},
};
use diagnostics::{Diagnostic, Hint as _, Lines};
use go_data::yaml::{Data, Dialect, Entry, Mark, Node};
use model::{FileContent, ProjectPath, Tree};

pub const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Returns true if a folder has a file with the name of a kustomization, also if it is not valid.
pub fn has_kustomization(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<bool> {
    for name in NAMES {
        if matches!(tree.read_content(&folder.join(name)?)?, FileContent::Text(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn load_kustomization(
    tree: &impl Tree,
    folder: &ProjectPath,
    budget: &Budget,
) -> anyhow::Result<Kustomization> {
    let mut found = Vec::new();
    for name in NAMES {
        let path = folder.join(name)?;
        if let Some(text) = tree.read_text(&path)? {
            found.push((path, text));
        }
    }
    match found.len() {
        0 => Err(anyhow::format_err!("{folder} has no kustomization.yaml")),
        1 => {
            let (path, text) = found.remove(0);
            parse_file(tree, path, folder, &text, budget)
        }
        _ => Err(anyhow::format_err!(
            "{folder} has more than one kustomization: {} and {}",
            found[0].0,
            found[1].0
        )),
    }
}

/// Keys whose items kustomize moves to another list before it looks whether a kustomization is empty.
const FORMER_KEYS: [&str; 3] = ["bases", "helmChartInflationGenerator", "imageTags"];

fn parse_file(
    tree: &impl Tree,
    path: ProjectPath,
    folder: &ProjectPath,
    text: &str,
    budget: &Budget,
) -> anyhow::Result<Kustomization> {
    let mut nodes =
        Origin { path: &path, text, field: None }.parse_nodes(text, Dialect::Kubernetes)?;
    let top = Mark { line: 1, column: 1 };
    if nodes.len() > 1 {
        let message = "a kustomization must be one document, and this is a second one".to_owned();
        let diagnostic = diagnostic_at(&path, nodes[1].mark, message, None);
        return Err(diagnostic.quote(&mut Lines::new(text)).into_error());
    }
    let node = nodes.pop().unwrap_or(Node {
        data: Data::Map(Vec::new()),
        mark: top,
        spelling: None,
        is_quoted: false,
    });
    let mut reader = Reader::new(path, text, budget);
    reader.check_characters(&node);
    let entries = reader.expect_entries(&node);
    let is_empty_former = |entry: &Entry| {
        let is_empty = matches!(&entry.value.data, Data::List(items) if items.is_empty());
        is_empty && FORMER_KEYS.contains(&entry.key.as_str())
    };
    let has_content = entries.iter().any(|entry| {
        !matches!(entry.key.as_str(), "apiVersion" | "kind")
            && !entry.value.is_null()
            && entry.value.as_str() != Some("")
            && !is_empty_former(entry)
    });
    if !has_content && reader.problems.is_empty() {
        let message = "this kustomization is empty, and kustomize refuses empty ones";
        let hint = "list something under `resources`, or give it `metadata:` with a `name`";
        return Err(Diagnostic::in_file(reader.path.as_str(), message)
            .with_hint(hint)
            .into_error());
    }
    let (mut kustomization, files) = reader.parse_kustomization_fields(&entries, folder.clone());
    reader.ensure_no_problems()?;
    for file in &files.configurations {
        read_continuation(tree, &mut kustomization, file, Reader::parse_configuration, budget)?;
    }
    for file in &files.replacements {
        if !read_continuation(tree, &mut kustomization, file, Reader::parse_replacements, budget)? {
            return Err(
                kustomization.error_at(file.mark, &format!("`{}` has no replacements", file.text))
            )
            .hint("remove the line");
        }
    }
    Ok(kustomization)
}

/// Files that continue a kustomization.
#[derive(Default)]
struct Files {
    configurations: Vec<Text>,
    replacements: Vec<Text>,
}

/// Reads such a file into the kustomization, and returns false if the file is empty.
fn read_continuation(
    tree: &impl Tree,
    kustomization: &mut Kustomization,
    item: &Text,
    read: fn(&mut Reader, &Node, &mut Kustomization),
    budget: &Budget,
) -> anyhow::Result<bool> {
    let (path, text) = named_files::read_text(tree, kustomization, item)?;
    let origin = Origin { path: &path, text: &text, field: None };
    let nodes = origin.parse_nodes(&text, Dialect::Kubernetes)?;
    let mut reader = Reader::new(path, &text, budget);
    match nodes.as_slice() {
        [] => {}
        [node] => {
            reader.check_characters(node);
            read(&mut reader, node, kustomization);
        }
        [_, second, ..] => {
            reader.report_problem(second.mark, "this is a second document, which kustomize ignores")
        }
    }
    reader.ensure_no_problems()?;
    Ok(!nodes.is_empty())
}
