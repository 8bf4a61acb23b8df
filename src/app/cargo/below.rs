//! Packages and workspaces below a directory that has no Cargo.toml, such as the top of a repository.

use std::{collections::VecDeque, path::Path};

use crate::disk::Root;
use model::Tree as _;

/// The number of directories that are looked through, and how deep.
const MOST: usize = 1000;
const DEEPEST: usize = 3;
/// Directories of build tools and of other packages.
const SKIPPED: [&str; 3] = ["target/", "node_modules/", "vendor/"];

/// Returns the directories below this one with a Cargo.toml, but for those below another one. A directory that is in no
/// repository is not looked through.
pub fn packages(dir: &Path) -> Vec<String> {
    let is_repository = dir.ancestors().any(|folder| folder.join(".git").exists());
    let Ok(root) = Root::new(dir) else { return Vec::new() };
    let mut open = VecDeque::from([(String::new(), 0)]);
    let mut found = Vec::new();
    for _ in 0..MOST {
        let Some((folder, depth)) = open.pop_front().filter(|_| is_repository) else { break };
        let names = root.list_names(&folder).unwrap_or_default();
        if names.iter().any(|name| name == "Cargo.toml") {
            found.push(folder);
        } else if depth < DEEPEST {
            let is_open = |name: &&String| {
                name.ends_with('/') && !name.starts_with('.') && !SKIPPED.contains(&name.as_str())
            };
            open.extend(names.iter().filter(is_open).map(|name| {
                (crate::project::below(&folder, name.trim_end_matches('/')), depth + 1)
            }));
        }
    }
    found
}
