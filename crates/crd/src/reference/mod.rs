//! Reference documentation of the kinds that CRDs define, as Markdown: a page for each kind, and an index of all.
//!
//! Given CRDs, objects as examples, and the names of Rust types, it gives pages. Nothing of a schema is left out: what has
//! no words of its own is shown as YAML. A page has all versions, because most readers look for one kind, and there is one
//! index, because most operators have a few kinds.

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
use markdown::plain;
use model::Version;

/// The index, which forges show for its directory.
const INDEX: &str = "README.md";

/// The Rust types of the fields of one version, by their paths. Lists and maps add no name of their own.
pub type TypeNames = BTreeMap<Vec<String>, String>;

/// What is known of kinds.
#[derive(Default)]
pub struct Kinds {
    pub crds: Vec<Value>,
    /// By the name of the CRD and the version.
    pub types: BTreeMap<(String, String), TypeNames>,
    /// Objects of any kinds.
    pub samples: Vec<Value>,
}

/// A Markdown file.
pub struct Page {
    pub path: String,
    pub text: String,
}

/// The pages of all kinds and their index.
pub fn pages(kinds: &Kinds) -> anyhow::Result<Vec<Page>> {
    let mut res: BTreeMap<String, (&str, String)> = BTreeMap::new();
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
        let (text, summary) = page::page(kinds, crd);
        if let Some((other, _)) = res.insert(path.clone(), (name, text)) {
            return Err(anyhow::format_err!("`{other}` and `{name}` would both be `{path}`")).hint(
                "give each kind once: `--crds` names a directory or a file with one CRD of it",
            );
        }
        let summary = if summary.is_empty() { summary } else { format!(": {summary}") };
        index.entry(group).or_default().push(format!("- [{}]({path}){summary}\n", plain(kind)));
    }
    let mut text = "\n# API reference\n".to_owned();
    for (group, mut lines) in index {
        lines.sort();
        text += &format!("\n## {}\n\n{}", plain(group), lines.concat());
    }
    let pages = res.into_iter().map(|(path, (_, text))| Page { path, text });
    Ok(pages.chain([Page { path: INDEX.to_owned(), text }]).collect())
}

/// The versions in the order of a page: those that are served, the stored one first, then by age.
fn versions(crd: &Value) -> Vec<&Value> {
    let mut res: Vec<&Value> = pointer::list(crd, "/spec/versions").iter().collect();
    res.sort_by_key(|it| {
        let version = text(it, "name").parse::<Version>().ok();
        (!flag(it, "served"), !flag(it, "storage"), Reverse(version), text(it, "name").to_owned())
    });
    res
}
