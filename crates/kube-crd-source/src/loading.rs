//! Reads packages from elsewhere, when names lead into them.

use crate::cargo::{self, Extern, Packages};
use crate::text::SourcePath;
use crate::text::sources::{Texts, outside_message};
use crate::tree::{self, Absent, ModuleId, World};
use crate::types::Types;

/// Reads what was needed since the last call; true where more is known now.
pub fn load_packages(types: &mut Types, packages: &Packages<'_>) -> bool {
    let mut more = false;
    let needs = types.take_needs();
    for (krate, name) in needs.unknown {
        more |= name_library(types, packages, krate, name);
    }
    for word in needs.crates {
        more |= load_crate(types, packages, word);
    }
    for (path, module) in needs.texts {
        more = true;
        load_text(types, packages.texts, module, path);
    }
    more
}

/// Reads a file that `include_str!` names.
fn load_text(types: &mut Types, texts: &Texts<'_>, module: ModuleId, path: SourcePath) {
    let text = if !texts.allows_path(path.as_str()) {
        Err(outside_message(path.as_str()))
    } else if !texts.contains_key(&path) {
        Err(format!("the included file `{path}` does not exist"))
    } else {
        texts.read_text(&path).ok_or_else(|| format!("{path} cannot be read"))
    };
    let world = types.world_mut();
    world.beside.push((module, path.clone()));
    world.included_texts.insert(path, text);
}

/// Lets a crate know a package by the name of its library, where that is another than the package's.
fn name_library(types: &mut Types, packages: &Packages<'_>, krate: usize, name: String) -> bool {
    let id = types.crates[krate].id;
    let Some(found) = id.and_then(|id| packages.by_library(id, &name)) else { return false };
    let word = packages.crate_word(found);
    let here = types.crates.iter().find(|krate| krate.word.as_ref() == Some(&word));
    let leads = match here {
        Some(it) => Extern::ItemLocation(it.root.clone()),
        None => Extern::Elsewhere(word),
    };
    types.world_mut().crates[krate].externs.insert(name, leads).is_none()
}

/// Reads the crate that a first word of paths leads into.
fn load_crate(types: &mut Types, packages: &Packages<'_>, word: String) -> bool {
    let is_known = types.absent.contains_key(&word)
        || types.crates.iter().any(|krate| krate.word.as_ref() == Some(&word));
    let Some(id) = packages.by_crate_word(&word).filter(|_| !is_known) else { return false };
    if let Some(fault) = packages.table_fault(id) {
        let why = format!("is of a crate that is not known: {}", fault.message);
        let hint = fault.hint.unwrap_or_default();
        types.world_mut().absent.insert(word, Absent { why, hint });
        return true;
    }
    match cargo::library_crate(packages, id) {
        Some(_) if packages.is_macros(id) => types.world_mut().macro_crates.insert(word),
        Some(krate) => {
            add_crate(types.world_mut(), packages, krate, &word);
            true
        }
        None if packages.folder_of(id).is_none() => {
            let it = &packages.all[id];
            let version = it.version.as_ref().map(ToString::to_string).unwrap_or_default();
            let why =
                format!("belongs to `{}` {version}, whose source is not on this machine", it.name);
            let hint = "run `cargo fetch`, which downloads the packages in Cargo.lock".to_owned();
            types.world_mut().absent.insert(word, Absent { why, hint });
            true
        }
        _ => false,
    }
}

fn add_crate(world: &mut World, packages: &Packages<'_>, krate: cargo::Krate, word: &str) {
    let root = krate.root.clone();
    let before = world.crates.len();
    // A problem in it matters only where a name leads there.
    tree::load_crates(world, packages.texts, vec![krate], &mut Vec::new());
    let readable = |it: &cargo::Krate| Some((it.word.clone()?, it.root.clone()));
    let all: Vec<_> = world.crates[..before].iter().filter_map(readable).collect();
    for (word, root) in all {
        cargo::link_library(&mut world.crates[before..], &word, &root);
    }
    cargo::link_library(&mut world.crates, word, &root);
}
