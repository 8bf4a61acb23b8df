//! The members of a cargo workspace, found as cargo finds them: what `members` lists, and the packages in its
//! folder that a member depends on by path.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use toml::de::DeTable;
use toml::{Table, Value};

use crate::text::sources::Texts;
use crate::text::{Place, Problem, SourcePath, below, find_conflict_in_malformed};

/// One Cargo.toml.
pub struct Manifest {
    pub path: SourcePath,
    pub text: Rc<str>,
    pub table: Table,
    /// The byte at which each key starts, by the keys of the tables that it is in; found on demand.
    key_starts: OnceCell<BTreeMap<Vec<String>, usize>>,
}

impl Manifest {
    /// The one in a folder; none where there is none.
    pub fn read(texts: &Texts<'_>, folder: &str) -> Result<Option<Self>, Problem> {
        let Ok(path) = below(folder, "Cargo.toml").parse::<SourcePath>() else { return Ok(None) };
        let Some(text) = texts.read_text(&path) else { return Ok(None) };
        match text.parse() {
            Ok(table) => Ok(Some(Self { path, text, table, key_starts: OnceCell::new() })),
            Err(error) => Err(malformed_problem(&path, &text, &error)),
        }
    }

    /// The package's name; none for a workspace without a root package.
    pub fn name(&self) -> Option<&str> {
        self.table.get("package")?.get("name")?.as_str()
    }

    /// The place of a key, by the keys of the tables that it is in; the file's start where it has no such key.
    pub fn place_of(&self, keys: &[&str]) -> Place {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let start = self.key_starts.get_or_init(|| key_starts(&self.text)).get(&keys);
        place_at(&self.path, &self.text, start.copied().unwrap_or(0))
    }

    /// Every table of dependencies, of whatever kind and for whatever target.
    pub fn all_dependencies(&self) -> impl Iterator<Item = (&String, &Value)> {
        const KINDS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];
        let targets = self.table.get("target").and_then(Value::as_table).into_iter().flatten();
        let each = targets.filter_map(|(_, it)| it.as_table()).chain([&self.table]);
        each.flat_map(|table| KINDS.iter().filter_map(|kind| table.get(*kind)?.as_table()))
            .flatten()
    }
}

/// Limit of the tables around one another whose keys have places: `target.'…'.dependencies.name` are the most that are asked.
const DEEPEST_KEY: usize = 8;

/// The byte at which each key of a text starts, by the keys of the tables that it is in.
fn key_starts(text: &str) -> BTreeMap<Vec<String>, usize> {
    let mut starts = BTreeMap::new();
    let Ok(table) = DeTable::parse(text) else { return starts };
    let mut open = vec![(Vec::new(), table.get_ref())];
    while let Some((above, table)) = open.pop() {
        for (key, value) in table {
            let mut keys = above.clone();
            keys.push(key.get_ref().to_string());
            if let Some(table) = value.get_ref().as_table().filter(|_| keys.len() < DEEPEST_KEY) {
                open.push((keys.clone(), table));
            }
            starts.insert(keys, key.span().start);
        }
    }
    starts
}

/// Every member by its folder, the workspace's own at `""`.
pub fn read_members(
    texts: &Texts<'_>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Rc<Manifest>> {
    let mut members: BTreeMap<String, Rc<Manifest>> = BTreeMap::new();
    let root = match Manifest::read(texts, "") {
        Ok(Some(root)) => root,
        Ok(None) => return members,
        Err(problem) => {
            problems.push(problem);
            return members;
        }
    };
    let workspace = root.table.get("workspace").and_then(Value::as_table).cloned();
    let workspace = workspace.unwrap_or_default();
    let excluded = collect_strs(workspace.get("exclude"));
    let shared = workspace.get("dependencies").and_then(Value::as_table).cloned();
    let shared = shared.unwrap_or_default();
    let mut candidates: Vec<String> = Vec::new();
    for pattern in collect_strs(workspace.get("members")) {
        candidates.extend(expand_pattern(texts, pattern));
    }
    let mut open = vec![(String::new(), root)];
    while let Some((folder, manifest)) = open.pop() {
        for (name, value) in manifest.all_dependencies() {
            let inherited = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
            let (value, from) = match shared.get(name) {
                Some(shared) if inherited => (shared, ""),
                _ => (value, folder.as_str()),
            };
            let path = value.get("path").and_then(Value::as_str);
            // A path outside the workspace's folder is not a member.
            candidates
                .extend(path.map(|path| below(from, path)).filter(|it| !it.starts_with("..")));
        }
        members.insert(folder, Rc::new(manifest));
        for folder in std::mem::take(&mut candidates) {
            let is_out = |it: &&str| folder == **it || folder.starts_with(&format!("{it}/"));
            let known =
                members.contains_key(&folder) || open.iter().any(|member| member.0 == folder);
            if known || excluded.iter().any(is_out) {
                continue;
            }
            match Manifest::read(texts, &folder) {
                // A package that is itself a workspace is not a member of this one.
                Ok(Some(it)) if it.table.contains_key("workspace") => {}
                Ok(it) => open.extend(it.map(|manifest| (folder, manifest))),
                Err(problem) => problems.push(problem),
            }
        }
    }
    members
}

fn collect_strs(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The folders that a pattern such as `crates/*` means.
fn expand_pattern(texts: &Texts<'_>, pattern: &str) -> Vec<String> {
    let mut matching = vec![String::new()];
    for part in pattern.split('/').filter(|part| !matches!(*part, "" | ".")) {
        let mut next = Vec::new();
        for folder in matching {
            if !part.contains(['*', '?', '[']) {
                next.push(below(&folder, part));
                continue;
            }
            let Ok(pattern) = glob::Pattern::new(part) else { continue };
            let names = texts.list_names(&folder);
            let folders = names.iter().filter_map(|name| name.strip_suffix('/'));
            next.extend(folders.filter(|name| pattern.matches(name)).map(|it| below(&folder, it)));
        }
        matching = next;
    }
    matching
}

fn malformed_problem(path: &SourcePath, text: &str, error: &toml::de::Error) -> Problem {
    let place = place_at(path, text, error.span().map_or(0, |range| range.start));
    let problem = || Problem::new(place, format!("cannot be parsed: {}", error.message().trim()));
    find_conflict_in_malformed(path, text).unwrap_or_else(problem)
}

/// The place of a byte in a text.
pub fn place_at(path: &SourcePath, text: &str, byte: usize) -> Place {
    let before = text.get(..byte).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    Place { path: path.clone(), line, column }
}
