//! The error if no kind is declared.

use std::collections::BTreeSet;

use crate::{
    commands::{Outcome, tree_sources::TreeSources},
    disk::Root,
    hint::Hint as _,
    source::{self, Options, Reading},
};

/// Says where the command searched for kinds, and which flags would find some.
pub fn refuse(root: &Root, reading: &Reading, options: &Options) -> anyhow::Result<Outcome> {
    let packages = match &options.packages[..] {
        [] => &reading.members,
        packages => packages,
    };
    let packages = packages.join(", ");
    let features = features(root, options);
    if let Some((first, others)) = features.split_first() {
        let error = anyhow::format_err!("every kind of {packages} is behind a feature that is off");
        let others: String = others.iter().map(|it| format!(", `{it}`")).collect();
        return Err(error).hint(match others.as_str() {
            "" => format!("enable it with `--features {first}`"),
            others => format!("`--features {first}` turns one on; kinds are behind{others} too"),
        });
    }
    let hint = match options.examples {
        true => {
            "kinds are structs with `#[derive(CustomResource)]`; select their package with `--manifest-path` or `-p`"
        }
        false => {
            "kinds are structs with `#[derive(CustomResource)]`; select their package with `--manifest-path` or `-p`, or add `--examples` to include example targets"
        }
    };
    Err(anyhow::format_err!("no kind is declared in {packages}")).hint(hint)
}

/// How many features are tried one by one.
const MOST: usize = 30;

/// The features that each add kinds on their own, or all that are needed together.
fn features(root: &Root, options: &Options) -> Vec<String> {
    let sources = TreeSources::new(root);
    let read = |options: &Options| source::read(&sources, options);
    let all = read(&Options { all_features: true, ..options.clone() });
    let on = |it: &Reading| -> BTreeSet<String> {
        let kinds = it.operator.kinds.iter().map(|it| &it.rust_path.krate);
        kinds.flat_map(|it| it.features.iter().cloned()).collect()
    };
    let candidates: Vec<String> = on(&all).into_iter().filter(|it| it != "default").collect();
    let with = |feature: &String| Options {
        features: [&options.features[..], std::slice::from_ref(feature)].concat(),
        ..options.clone()
    };
    let brings_kinds = |it: &&String| !read(&with(it)).operator.kinds.is_empty();
    let found: Vec<String> = candidates.iter().take(MOST).filter(brings_kinds).cloned().collect();
    match (found.is_empty(), candidates.is_empty()) {
        (true, false) => vec![candidates.join(",")],
        _ => found,
    }
}
