//! Cargo.lock: which version of which package is locked, and on which each depends. The file is written by cargo,
//! line by line in one way, and is read so.

use std::collections::BTreeMap;

pub use crate::text::sources::Locked;

#[derive(Default)]
pub struct Lock {
    pub packages: Vec<Locked>,
    /// Patches that replace nothing.
    pub unused_patches: Vec<Locked>,
    by_name: BTreeMap<String, Vec<usize>>,
}

impl Lock {
    /// Fails with the line that is not as cargo writes it.
    pub fn read(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut lock = Self::default();
        let mut inside = false;
        let mut is_patch = false;
        let mut list = false;
        let mut open: Option<Locked> = None;
        let mut name = "";
        let close = |open: &mut Option<Locked>, is_patch: bool, lock: &mut Self| {
            let Some(it) = open.take() else { return };
            if is_patch {
                lock.unused_patches.push(it);
            } else {
                lock.by_name.entry(it.name.clone()).or_default().push(lock.packages.len());
                lock.packages.push(it);
            }
        };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end();
            let value = |key: &str| -> Option<&str> {
                line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
            };
            if line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>") {
                return Err((index + 1, diagnostics::conflict::MESSAGE));
            }
            if list {
                match line.trim().trim_end_matches(',') {
                    "]" => list = false,
                    it => {
                        match (
                            it.strip_prefix('"').and_then(|text| text.strip_suffix('"')),
                            &mut open,
                        ) {
                            (Some(it), Some(open)) => open.dependencies.push(it.to_owned()),
                            _ => return Err((index + 1, "this is not a list as cargo writes it")),
                        }
                    }
                }
            } else if line.starts_with('[') {
                close(&mut open, is_patch, &mut lock);
                is_patch = line == "[[patch.unused]]";
                inside = is_patch || line == "[[package]]";
                name = "";
            } else if !inside {
            } else if let Some(it) = value("name") {
                name = it;
            } else if let Some(it) = value("version") {
                let Ok(version) = it.parse() else {
                    return Err((index + 1, "this is not a version as cargo writes it"));
                };
                open = Some(Locked {
                    name: name.to_owned(),
                    version,
                    source: None,
                    checksum: None,
                    dependencies: Vec::new(),
                    line: index + 1,
                });
            } else if let (Some(it), Some(open)) = (value("source"), &mut open) {
                open.source = Some(it.to_owned());
            } else if let (Some(it), Some(open)) = (value("checksum"), &mut open) {
                open.checksum = Some(it.to_owned());
            } else if line.starts_with("replace = ") {
                return Err((index + 1, "`[replace]` is not supported: use `[patch]`"));
            } else if line == "dependencies = [" {
                list = true;
            }
        }
        close(&mut open, is_patch, &mut lock);
        Ok(lock)
    }

    /// Every version of a package.
    pub fn versions_of(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The packages of this name that a package depends on.
    pub fn dependencies_named(&self, by: usize, name: &str) -> Vec<usize> {
        let mut indices = Vec::new();
        for dependency in &self.packages[by].dependencies {
            let mut words = dependency.split(' ');
            if words.next() == Some(name) {
                indices.extend(self.candidates_for(name, words.next(), words.next()));
            }
        }
        indices
    }

    /// All packages that a package depends on.
    pub fn dependencies_of(&self, by: usize) -> impl Iterator<Item = usize> {
        self.packages[by].dependencies.iter().flat_map(|dependency| {
            let mut words = dependency.split(' ');
            let name = words.next().unwrap_or_default();
            self.candidates_for(name, words.next(), words.next())
        })
    }

    fn candidates_for(
        &self,
        name: &str,
        version: Option<&str>,
        source: Option<&str>,
    ) -> Vec<usize> {
        let source = source.map(|source| source.trim_matches(['(', ')']));
        let is = |it: &&usize| {
            let it = &self.packages[**it];
            version.is_none_or(|version| it.version.to_string() == version)
                && source.is_none_or(|source| {
                    let own = it.source.as_deref().unwrap_or_default();
                    // Only the package itself names the revision.
                    own == source || own.split('#').next() == Some(source)
                })
        };
        self.versions_of(name).iter().filter(is).copied().collect()
    }
}
