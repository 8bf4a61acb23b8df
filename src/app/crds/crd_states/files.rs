//! CRDs in files, as they are committed or printed: several documents a file, as YAML or JSON.

use std::path::Path;

use anyhow::Context as _;

use super::{Crds, StatePlaces, marks::VersionMarks};
use crate::disk::Root;
use crate::project::below;
use crate::terminal;
use crd::compatibility::Crd;
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::{
    kubernetes::{self, DecodeError, Reader},
    yaml::{self, Data, Node},
};
use model::{ProjectPath, Tree as _};

/// Returns a file, or the files of a folder, as a person names them. In the project's folder, as in one that is named,
/// no symlink is followed that leads out of it: a clone may have put it there.
pub fn on_disk(dir: &Path, path: &str) -> anyhow::Result<(Crds, StatePlaces)> {
    let whole = dir.join(path);
    let is_folder = whole.is_dir();
    let inside = below("", path);
    let is_inside = Path::new(path).is_relative() && inside.parse::<ProjectPath>().is_ok();
    let (root, inside) = match (is_inside || inside.is_empty(), is_folder) {
        (true, _) => (Root::new(dir)?, inside),
        (false, true) => (Root::new(&whole)?, String::new()),
        (false, false) => {
            let name = whole.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            (Root::new(whole.parent().unwrap_or(Path::new("")))?, name.to_owned())
        }
    };
    let text = |inside: &str, path: &str| {
        let text =
            root.read_text(&inside.parse()?).with_context(|| format!("cannot read `{path}`"))?;
        text.with_context(|| format!("there is no `{path}`"))
    };
    let mut files = CrdFiles::default();
    if !is_folder {
        files.add(path, &text(&inside, path)?, true)?;
        return Ok(files.into_side());
    }
    let folder = path.trim_end_matches('/');
    for name in root.list_names(&inside)?.iter().filter_map(|name| name.strip_suffix('/')) {
        if root.list_names(&below(&inside, name))?.iter().any(|name| is_crd_file(name)) {
            terminal::print_advice(&format!(
                "left out: {folder}/{name}/: of a directory, the files directly in it are read\n"
            ));
        }
    }
    for name in root.list_names(&inside)?.iter().filter(|name| is_crd_file(name)) {
        let path = format!("{folder}/{name}");
        files.add(&path, &text(&below(&inside, name), &path)?, false)?;
    }
    files.require_some(path)?;
    Ok(files.into_side())
}

/// Returns whether a file of a folder may hold CRDs.
pub fn is_crd_file(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

/// The CRDs of several files.
#[derive(Default)]
pub struct CrdFiles {
    crds: Crds,
    places: StatePlaces,
}

impl CrdFiles {
    /// Takes up the CRDs of a file; a file that was named must have some. What else is in it is left out.
    pub fn add(&mut self, path: &str, text: &str, is_named: bool) -> anyhow::Result<()> {
        let before = self.crds.len();
        let documents = yaml::parse_nodes(text, yaml::Dialect::Strict)
            .map_err(yaml::locate_error(path, text))?;
        for document in documents.into_iter().flat_map(list_items) {
            self.add_document(path, document)?;
        }
        if is_named && self.crds.len() == before {
            return Err(anyhow::format_err!("`{path}` has no CustomResourceDefinition"))
                .hint("name a file of CRDs, e.g. the output of `operator-rs generate crds`");
        }
        Ok(())
    }

    fn add_document(&mut self, path: &str, document: Node) -> anyhow::Result<()> {
        let mark = document.mark;
        let value = document.clone().into_value();
        if !Crd::is_crd(&value) {
            return Ok(());
        }
        let faults = kubernetes::decode_with(&value, Reader::Server).faults;
        if !faults.is_empty() {
            let diagnostic = |fault: DecodeError| {
                let mark = document.mark_at(&fault.pointer);
                let message = format!("API servers cannot decode this CRD: {fault}");
                Diagnostic::in_file(path, message).at_position(mark.line, mark.column)
            };
            let list = faults.into_iter().map(diagnostic).collect();
            return Err(Diagnostics { headline: String::new(), list }.into());
        }
        let place = || format!("{path}:{}:{}", mark.line, mark.column);
        let crd = Crd::from_object(&value).with_context(|| format!("cannot read {}", place()))?;
        if self.crds.get(&crd.name) == Some(&crd) {
            return Ok(());
        }
        if let Some((other, marks)) = self.places.documents.get(&crd.name) {
            let first = marks.find(None, None);
            let first = format!("{other}:{}:{}", first.line, first.column);
            return Err(anyhow::format_err!(
                "{}: the CRD `{}` is also at {first}",
                place(),
                crd.name
            ))
            .hint("keep only one of them");
        }
        let marks = VersionMarks::of(&document);
        self.places.documents.insert(crd.name.clone(), (path.to_owned(), marks));
        self.crds.insert(crd.name.clone(), crd);
        Ok(())
    }

    /// Fails where a folder had no CRD.
    pub fn require_some(&self, folder: &str) -> anyhow::Result<()> {
        if self.crds.is_empty() {
            Err(anyhow::format_err!("no file in `{folder}` has a CustomResourceDefinition"))
                .hint("name the directory that contains the CRDs, e.g. `config/crd/bases`")
        } else {
            Ok(())
        }
    }

    pub fn into_side(self) -> (Crds, StatePlaces) {
        (self.crds, self.places)
    }

    /// Returns the CRDs with their places in a revision.
    pub fn into_side_at(mut self, revision: &str) -> (Crds, StatePlaces) {
        self.places.revision = Some(revision.to_owned());
        (self.crds, self.places)
    }
}

/// Returns the objects of a document: `kubectl get` prints them as one list.
fn list_items(mut document: Node) -> Vec<Node> {
    let is_list =
        document.get("kind").and_then(Node::as_str).is_some_and(|it| it.ends_with("List"));
    if is_list
        && let Data::Map(entries) = &mut document.data
        && let Some(at) = entries.iter().position(|entry| entry.key == "items")
        && matches!(entries[at].value.data, Data::List(_))
        && let Data::List(items) = entries.swap_remove(at).value.data
    {
        return items;
    }
    vec![document]
}
