//! Reference documentation of the kinds that CRDs define, as Markdown: a page for each kind, and an index of all.
//!
//! Given CRDs, objects as examples, and the names of Rust types, it gives pages. Nothing of a schema is left out:
//! keywords without words are shown as YAML. A page has all versions, because most readers look for one kind, and there
//! is one index, because most operators have a few kinds.

mod anchors;
mod facts;
mod field;
mod markdown;
mod page;
#[cfg(test)]
mod tests;

use std::{cmp::Reverse, collections::BTreeMap};

use crate::keyword::{flag, text};
use diagnostics::Hint as _;
use go_data::yaml::{Value, pointer};
use markdown::escape_text;
use model::Version;

/// The index, which forges show for its directory.
const INDEX: &str = "README.md";

/// The Rust types of the fields of one version, by their paths. Lists and maps add no name of their own.
pub type TypeNames = BTreeMap<Vec<String>, String>;

/// The input: CRDs, the Rust types of their fields, and examples.
#[derive(Default)]
pub struct Kinds {
    pub crds: Vec<Value>,
    /// The names of types by the name of the CRD and the version.
    pub types: BTreeMap<(String, String), TypeNames>,
    /// Examples: objects of any kinds.
    pub samples: Vec<Value>,
}

/// A Markdown file.
pub struct Page {
    pub path: String,
    pub text: String,
}

/// Returns the pages of all kinds and their index.
pub fn render_pages(kinds: &Kinds) -> anyhow::Result<Vec<Page>> {
    let mut texts: BTreeMap<String, (&str, String)> = BTreeMap::new();
    let mut index: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for crd in &kinds.crds {
        let name = pointer::text(crd, "/metadata/name");
        let spec = &crd["spec"];
        let (group, kind) = (text(spec, "group"), text(&spec["names"], "kind"));
        if group.is_empty() || kind.is_empty() || pointer::list(crd, "/spec/versions").is_empty() {
            return Err(anyhow::format_err!(
                "the CRD `{name}` has no group, no kind or no versions"
            ))
            .hint("only CRDs of `apiextensions.k8s.io/v1` are read");
        }
        let path = format!("{group}/{}.md", kind.to_lowercase());
        let (text, summary) = page::render_page(kinds, crd);
        if let Some((other, _)) = texts.insert(path.clone(), (name, text)) {
            return Err(anyhow::format_err!("`{other}` and `{name}` would both be `{path}`")).hint(
                "give each kind once: `--crds` names a directory or a file with one CRD of it",
            );
        }
        let summary = if summary.is_empty() { summary } else { format!(": {summary}") };
        index
            .entry(group)
            .or_default()
            .push(format!("- [{}]({path}){summary}\n", escape_text(kind)));
    }
    let mut text = "\n# API reference\n".to_owned();
    for (group, mut lines) in index {
        lines.sort();
        text += &format!("\n## {}\n\n{}", escape_text(group), lines.concat());
    }
    let pages = texts.into_iter().map(|(path, (_, text))| Page { path, text });
    Ok(pages.chain([Page { path: INDEX.to_owned(), text }]).collect())
}

/// Returns the versions in the order of a page: served ones first, the stored one first, then by age.
fn sorted_versions(crd: &Value) -> Vec<&Value> {
    let mut versions: Vec<&Value> = pointer::list(crd, "/spec/versions").iter().collect();
    versions.sort_by_key(|version| {
        let name = text(version, "name");
        let age = Reverse(name.parse::<Version>().ok());
        (!flag(version, "served"), !flag(version, "storage"), age, name.to_owned())
    });
    versions
}
