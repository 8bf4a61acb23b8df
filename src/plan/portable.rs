//! Names that every system can have: a project moves between systems with git.
//!
//! Windows keeps some names for devices and cannot store some others. On Windows and macOS, names that differ in case
//! alone are one file. The rules are the same on every system, so that no project is made that cannot be checked out.

use std::collections::BTreeMap;

use model::{ProjectPath, Tree, is_device_of_windows, is_file_name_on_windows};

/// The names that a project has, and those that a command adds.
#[derive(Clone, Debug, Default)]
pub struct PortableNames {
    /// The names in the directories of the disk; those of directories have no `/`.
    listed: BTreeMap<String, Vec<String>>,
    /// The paths of new files and directories, by their lower-case form.
    added: BTreeMap<String, String>,
}

/// Why a path is not created.
#[derive(Debug, PartialEq)]
pub struct NotPortable {
    pub why: String,
    pub hint: String,
}

impl PortableNames {
    /// Adds a path. Refuses it if it is new, and other systems could not have it next to what is there.
    pub fn add_path(&mut self, disk: &dyn Tree, path: &ProjectPath) -> Result<(), NotPortable> {
        let mut folder = String::new();
        let mut is_new = false;
        for name in path.as_str().split('/') {
            let listed = self.listed.entry(folder.clone()).or_insert_with(|| {
                let names = disk.list_names(&folder).unwrap_or_default();
                names.iter().map(|name| name.trim_end_matches('/').to_owned()).collect()
            });
            is_new = is_new || !listed.iter().any(|other| other == name);
            let twin = listed
                .iter()
                .find(|other| is_new && *other != name && is_same_on_windows(other, name));
            let place = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            folder = format!("{place}{name}");
            if let Some(twin) = twin {
                return Err(differs_in_case(&format!("{place}{twin}")));
            }
            // Other names that Windows lacks, such as those with `:`, are the files of a bundle in operator-sdk, too.
            let is_possible = if cfg!(windows) {
                is_file_name_on_windows(name)
            } else {
                !is_device_of_windows(name)
            };
            if is_new && !is_possible {
                return Err(NotPortable {
                    why: format!("`{name}` cannot be the name of a file on Windows"),
                    hint: "choose another name, so that the project can be checked out on every system"
                        .to_owned(),
                });
            }
            if is_new {
                let added = self.added.entry(folder.to_lowercase()).or_insert(folder.clone());
                if *added != folder {
                    return Err(differs_in_case(added));
                }
            }
        }
        Ok(())
    }
}

fn is_same_on_windows(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn differs_in_case(path: &str) -> NotPortable {
    NotPortable {
        why: format!("`{path}` differs in case alone, and is the same file on Windows and macOS"),
        hint: format!("rename or delete `{path}`, or choose another name"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FileContent;

    /// A disk with these files.
    struct Disk(&'static [&'static str]);

    impl Tree for Disk {
        fn read_content(&self, _: &ProjectPath) -> anyhow::Result<FileContent> {
            Ok(FileContent::Nothing)
        }
        fn list_files(&self, _: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
            Ok(Vec::new())
        }
        fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
            let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let below = self.0.iter().filter_map(|path| path.strip_prefix(&start));
            let name = |path: &str| match path.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => path.to_owned(),
            };
            Ok(below.map(name).collect())
        }
    }

    /// Adds paths one after another; the last one is refused with this reason, or not at all.
    fn check(disk: &'static [&'static str], paths: &[&str], expected: &str) {
        let mut names = PortableNames::default();
        let results = paths.iter().map(|path| {
            names
                .add_path(&Disk(disk), &ProjectPath::fixed(path))
                .err()
                .map_or_else(String::new, |name| name.why)
        });
        let results: Vec<String> = results.collect();
        let (last, others) = results.split_last().expect("a path is added");
        assert!(others.iter().all(String::is_empty), "{results:?}");
        assert!(last.contains(expected) && last.is_empty() == expected.is_empty(), "{results:?}");
    }

    #[test]
    fn names_that_differ_in_case_alone_are_refused() {
        check(&["Makefile"], &["Makefile"], "");
        check(&["makefile"], &["Makefile"], "`makefile` differs in case alone");
        check(&["a/Config/x"], &["a/config/y"], "`a/Config` differs in case alone");
        check(&["a/Config/x"], &["a/Config/y"], "");
        check(&[], &["a/Über.yaml", "a/über.yaml"], "`a/Über.yaml` differs in case alone");
        check(&[], &["a/B/c", "a/b/d"], "`a/B` differs in case alone");
        check(&[], &["a/b/c", "a/b/c", "a/b/d"], "");
        // Both are there already: only Linux has such a project, and it is no fault of the command.
        check(&["Makefile", "makefile"], &["Makefile"], "");
    }

    #[test]
    fn new_files_that_windows_cannot_have_are_refused() {
        for path in ["nul/x.yaml", "a/aux.rs", "COM1", "lpt9.tar.gz"] {
            check(&[], &[path], "cannot be the name of a file on Windows");
        }
        check(&["aux.rs"], &["aux.rs"], "");
        check(&[], &["console.rs", ".github/a", "a b/c", "com10"], "");
    }

    #[test]
    fn a_refusal_names_the_other_file_or_the_name_and_a_way_out() {
        let refused = |disk, path: &str| {
            let refused = PortableNames::default().add_path(&Disk(disk), &ProjectPath::fixed(path));
            refused.map_or_else(
                |refused| format!("{}\n{}", refused.why, refused.hint),
                |()| String::new(),
            )
        };
        assert_eq!(
            refused(&["makefile"], "Makefile"),
            "`makefile` differs in case alone, and is the same file on Windows and macOS\n\
             rename or delete `makefile`, or choose another name"
        );
        assert_eq!(
            refused(&[], "config/aux.yaml"),
            "`aux.yaml` cannot be the name of a file on Windows\n\
             choose another name, so that the project can be checked out on every system"
        );
    }
}
