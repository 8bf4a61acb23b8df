//! CRDs in files that are committed at a revision. They are found by their content: any YAML or JSON file can have them.

use std::collections::BTreeSet;

use anyhow::Context as _;

use super::{
    Crds, StatePlaces,
    files::{CrdFiles, is_crd_file},
};
use crate::app::output::repository::RevisionTree;
use crate::project::below;
use diagnostics::{Diagnostic, Hint as _};

/// The CRDs that a revision has in files.
#[derive(Default)]
pub struct CommittedCrds {
    pub crds: Crds,
    pub places: StatePlaces,
    /// The files that are passed over, with the reasons.
    pub passed_over: Vec<String>,
    /// The directories and files whose CRDs can all be read.
    pub paths: Vec<String>,
}

/// The text that a file with a CRD contains.
const WORD: &str = "CustomResourceDefinition";

/// Finds the CRDs of a revision, but none that differs between two files. Files whose path names CRDs go before others,
/// such as bundles and tests.
pub fn find(tree: &RevisionTree) -> anyhow::Result<CommittedCrds> {
    let names_crds = |path: &str| path.to_lowercase().contains("crd");
    let named = tree.files_with(WORD, |path| is_crd_file(path) && names_crds(path));
    let others = tree.files_with(WORD, |path| is_crd_file(path) && !names_crds(path));
    let is_incomplete = named.is_incomplete || others.is_incomplete;
    let mut res = read_each(tree, &named.paths);
    let others = read_each(tree, &others.paths);
    let CommittedCrds { crds, mut places, passed_over, paths } = others;
    for (name, crd) in crds {
        if !res.crds.contains_key(&name) {
            res.places.documents.extend(places.documents.remove_entry(&name));
            res.crds.insert(name, crd);
        }
    }
    res.passed_over.extend(passed_over);
    if res.paths.is_empty() {
        res.paths = paths;
    }
    if is_incomplete {
        res.passed_over
            .push("there are more YAML and JSON files than are searched for CRDs".into());
    }
    Ok(res)
}

fn read_each(tree: &RevisionTree, paths: &[String]) -> CommittedCrds {
    let (mut res, mut ambiguous) = (CommittedCrds::default(), BTreeSet::new());
    let mut readable = Vec::new();
    for path in paths {
        let mut file = CrdFiles::default();
        let text = tree.text(path);
        // A template of a chart is no YAML.
        let is_template = matches!(&text, Ok(Some(text)) if text.contains("{{"));
        let added = text.and_then(|text| file.add(path, &text.unwrap_or_default(), false));
        let (crds, mut places) = file.into_side();
        if let Err(error) = added {
            if !is_template {
                let why = Diagnostic::from(&error).message;
                res.passed_over.push(format!("{path} is not compared: {why}"));
            }
            continue;
        }
        if !crds.is_empty() {
            readable.push(path);
        }
        for (name, crd) in crds {
            match res.crds.get(&name) {
                Some(other) if *other != crd => {
                    if ambiguous.insert(name.clone()) {
                        res.passed_over.push(format!(
                            "{name} is not compared: several files have it, and they differ"
                        ));
                    }
                }
                Some(_) => {}
                None => {
                    res.places.documents.extend(places.documents.remove_entry(&name));
                    res.crds.insert(name, crd);
                }
            }
        }
    }
    res.crds.retain(|name, _| !ambiguous.contains(name));
    res.paths = comparable_paths(tree, &readable);
    res
}

/// Returns the directories of these files, or the files of a directory that cannot be read as a whole: each can be
/// compared as `REV:PATH`.
fn comparable_paths(tree: &RevisionTree, files: &[&String]) -> Vec<String> {
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let folders: BTreeSet<String> = files.iter().map(|path| folder(path)).collect();
    let (whole, broken): (BTreeSet<String>, BTreeSet<String>) =
        folders.into_iter().partition(|folder| read(tree, folder).is_ok());
    let single = files.iter().filter(|path| broken.contains(&folder(path)));
    whole.into_iter().chain(single.map(|path| (*path).clone())).collect()
}

/// Reads a file of CRDs, or the files of a directory. The path is relative to the repository's top, as for git.
pub fn read(tree: &RevisionTree, path: &str) -> anyhow::Result<CrdFiles> {
    let mut files = CrdFiles::default();
    let revision = &tree.name;
    if let Some(text) = tree.text(path)? {
        files.add(path, &text, true).with_context(|| format!("at {revision}"))?;
        return Ok(files);
    }
    let names = tree.names(path)?;
    if names.is_empty() {
        return Err(anyhow::format_err!("there is no `{path}` at {revision}"))
            .hint("a path after a revision is relative to the top of the repository");
    }
    for name in names.iter().filter(|name| is_crd_file(name)) {
        let path = below(path, name);
        let text = tree.text(&path)?.unwrap_or_default();
        files.add(&path, &text, false).with_context(|| format!("at {revision}"))?;
    }
    files.require_some(path)?;
    Ok(files)
}
