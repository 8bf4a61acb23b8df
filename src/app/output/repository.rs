//! The files of a repository at a revision, read from git's objects: nothing is checked out.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::{Context as _, bail};

use crate::project::below;
use crate::{
    disk,
    process::{Answer, Git, Object, Objects},
    terminal,
};
use diagnostics::{Hint as _, utf8_text};
use model::display_path;

/// A repository, and where in it a folder of the working tree is.
pub struct Repository {
    git: Git,
    /// The folder's path from the repository's top; empty at the top.
    pub prefix: String,
}

const SHOW_PREFIX: &[&str] = &["rev-parse", "--show-prefix"];

/// Reads the output of `git rev-parse --show-prefix`.
fn parse_prefix(bytes: Vec<u8>) -> anyhow::Result<String> {
    let text = String::from_utf8(bytes).context("cannot read the directory's name")?;
    Ok(text.trim_end_matches('\n').trim_end_matches('/').to_owned())
}

impl Repository {
    /// Returns the repository that a folder is in.
    pub fn of(folder: &Path) -> anyhow::Result<Self> {
        let git = Git::new(folder, terminal::variable_names("GIT_"))?;
        match git.run(SHOW_PREFIX)? {
            Answer::Done(bytes) => Ok(Self { git, prefix: parse_prefix(bytes)? }),
            Answer::Refused(why) if why.contains("dubious ownership") => {
                Err(anyhow::format_err!("git cannot read this repository: {why}"))
                    .hint("the repository belongs to another user; if you trust it, run `git config --global --add safe.directory DIR`")
            }
            Answer::Refused(why) => Err(if why.starts_with("not a git repository") {
                anyhow::format_err!("`{}` is not in a git repository", display_path(&folder))
            } else {
                anyhow::format_err!("git cannot read `{}`: {why}", display_path(&folder))
            })
            .hint("name files of CRDs instead of revisions: `operator-rs crds diff OLD --to NEW`"),
        }
    }

    /// Returns a folder's path from the top of its repository; none where it is in no repository that can be read.
    pub fn prefix_of(folder: &Path) -> anyhow::Result<Option<String>> {
        let Ok(git) = Git::new(folder, terminal::variable_names("GIT_")) else { return Ok(None) };
        match git.run(SHOW_PREFIX)? {
            Answer::Done(bytes) => parse_prefix(bytes).map(Some),
            Answer::Refused(_) => Ok(None),
        }
    }

    /// Returns the files of a revision.
    pub fn at(&self, revision: &str) -> anyhow::Result<RevisionTree> {
        let commit = self.commit_id(revision)?;
        let list = match self.git.run(&["ls-tree", "-r", "-z", "--full-tree", &commit])? {
            Answer::Done(bytes) => bytes,
            Answer::Refused(why) => bail!("the files of `{revision}` cannot be listed: {why}"),
        };
        let objects = RefCell::new(self.git.start_object_reader()?);
        Ok(RevisionTree {
            name: revision.to_owned(),
            entries: parse_entries(&list),
            objects,
            read: RefCell::default(),
        })
    }

    /// Returns the last tag before the commit of the working tree, or of it; none if there is none.
    pub fn last_tag(&self) -> anyhow::Result<Option<String>> {
        let answer = self.git.run(&["describe", "--tags", "--abbrev=0"])?;
        let Answer::Done(bytes) = answer else { return Ok(None) };
        let tag = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        Ok(Some(tag).filter(|tag| !tag.is_empty()))
    }

    /// Returns whether a text means a commit.
    pub fn has(&self, revision: &str) -> anyhow::Result<bool> {
        self.resolve_revision(revision).map(|commit| commit.is_some())
    }

    fn resolve_revision(&self, revision: &str) -> anyhow::Result<Option<String>> {
        let name = format!("{revision}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let Answer::Done(bytes) = self.git.run(&arguments)? else { return Ok(None) };
        let id = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        let is_id = [40, 64].contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(is_id.then_some(id))
    }

    fn has_remote(&self, name: &str) -> anyhow::Result<bool> {
        let Answer::Done(bytes) = self.git.run(&["remote"])? else { return Ok(false) };
        Ok(String::from_utf8_lossy(&bytes).lines().any(|line| line == name))
    }

    /// Returns the id of the commit that a revision means.
    fn commit_id(&self, revision: &str) -> anyhow::Result<String> {
        if let Some(id) = self.resolve_revision(revision)? {
            return Ok(id);
        }
        if revision == "HEAD" {
            return Err(anyhow::format_err!("this repository has no commit yet"))
                .hint("commit the old state, or name files of CRDs: `operator-rs crds diff OLD`");
        }
        let shallow = self.git.run(&["rev-parse", "--is-shallow-repository"])?;
        let shallow = matches!(&shallow, Answer::Done(it) if it.starts_with(b"true"));
        // A clone of one branch has no other branch of its remote repository, whether it is shallow or not.
        let of_remote = match revision.split_once('/') {
            Some((remote, branch)) if self.has_remote(remote)? => {
                let refs = format!("{branch}:refs/remotes/{remote}/{branch}");
                Some(format!(
                    "git fetch {} {}",
                    terminal::shell_word(remote),
                    terminal::shell_word(&refs)
                ))
            }
            _ => None,
        };
        Err(anyhow::format_err!("there is no revision `{revision}`")).hint(match (of_remote, shallow) {
            (Some(fetch), _) => format!("if it is a branch of the remote repository, run `{fetch}`"),
            (None, true) => "this is a shallow clone without earlier commits; run `git fetch --unshallow` or `git fetch --tags`".to_owned(),
            (None, false) => "name a commit, a tag or a branch of this repository, or a file that exists".to_owned(),
        })
    }
}

/// Every file of a revision.
pub struct RevisionTree {
    /// The revision, as it was named.
    pub name: String,
    entries: BTreeMap<String, TreeEntry>,
    objects: RefCell<Objects>,
    /// The objects that were read, by id.
    read: RefCell<BTreeMap<String, Vec<u8>>>,
}

#[derive(Clone, Debug, PartialEq)]
struct TreeEntry {
    kind: EntryKind,
    id: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum EntryKind {
    File,
    Symlink,
    Submodule,
}

/// Returns the lines of `git ls-tree -z`; a name that is not UTF-8 is none that a project could use.
fn parse_entries(list: &[u8]) -> BTreeMap<String, TreeEntry> {
    let mut entries = BTreeMap::new();
    for line in list.split(|byte| *byte == 0) {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let Some((about, path)) = line.split_once('\t') else { continue };
        let mut words = about.split(' ');
        let (Some(mode), Some(_), Some(id)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let kind = match mode {
            "120000" => EntryKind::Symlink,
            "160000" => EntryKind::Submodule,
            _ => EntryKind::File,
        };
        entries.insert(path.to_owned(), TreeEntry { kind, id: id.to_owned() });
    }
    entries
}

/// The files that a search has found.
#[derive(Default)]
pub struct FoundFiles {
    pub paths: Vec<String>,
    /// True if there are more files than are searched.
    pub is_incomplete: bool,
}

/// The object at a path.
enum FoundEntry<'a> {
    Nothing,
    File(&'a TreeEntry),
    Folder(String),
}

/// The maximum number of symlinks that are followed in a row, as on Linux.
const MOST_LINKS: usize = 40;

impl RevisionTree {
    /// Returns the text of a file; nothing where there is none.
    pub fn text(&self, path: &str) -> anyhow::Result<Option<String>> {
        let FoundEntry::File(entry) = self.resolve_path(path)? else { return Ok(None) };
        match utf8_text(&self.read_object(path, entry)?) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(problem) => anyhow::bail!("cannot read `{path}` at {}: {problem}", self.name),
        }
    }

    /// Returns the bytes of every file below a folder, by its path from there; none where there is no such folder.
    pub fn files(&self, folder: &str) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        let FoundEntry::Folder(folder) = self.resolve_path(folder)? else { return Ok(Vec::new()) };
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut pairs = Vec::new();
        for (path, entry) in self.entries_below(&start) {
            if entry.kind != EntryKind::File {
                return Err(anyhow::format_err!("`{path}` at {} is a link", self.name))
                    .hint("check the revision out into a directory: `git worktree add DIR REV`");
            }
            pairs.push((path[start.len()..].to_owned(), self.read_object(path, entry)?));
        }
        Ok(pairs)
    }

    pub fn is_file(&self, path: &str) -> bool {
        // A file that cannot be accessed is reported when it is read.
        !matches!(self.resolve_path(path), Ok(FoundEntry::Nothing | FoundEntry::Folder(_)))
    }

    /// Returns what is in a folder, sorted, folders with a `/` behind their names; empty where there is no such folder.
    pub fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let FoundEntry::Folder(folder) = self.resolve_path(folder)? else { return Ok(Vec::new()) };
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut res = BTreeSet::new();
        for (path, entry) in self.entries_below(&start) {
            let rest = &path[start.len()..];
            let name = match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None if entry.kind == EntryKind::Symlink && self.leads_down(&folder, path) => {
                    format!("{rest}/")
                }
                None if entry.kind == EntryKind::Submodule => format!("{rest}/"),
                None => rest.to_owned(),
            };
            res.insert(name);
        }
        Ok(res.into_iter().collect())
    }

    /// Returns the files whose text contains a word, among those that have the right name. Symlinks are followed.
    pub fn files_with(&self, word: &str, has_name: impl Fn(&str) -> bool) -> FoundFiles {
        const MOST: usize = 10_000;
        let of_name = |path: &&String| has_name(path);
        let mut res = FoundFiles::default();
        for (index, path) in self.entries.keys().filter(of_name).enumerate() {
            if index == MOST {
                res.is_incomplete = true;
                break;
            }
            let Ok(FoundEntry::File(entry)) = self.resolve_path(path) else { continue };
            let bytes = self.read_object(path, entry).unwrap_or_default();
            if String::from_utf8_lossy(&bytes).contains(word) {
                res.paths.push(path.clone());
            } else {
                self.read.borrow_mut().remove(&entry.id);
            }
        }
        res
    }

    /// Returns whether a symlink leads to a folder, and not back to one that it is in.
    fn leads_down(&self, folder: &str, link: &str) -> bool {
        let inside = |text: &str| {
            text.is_empty() || folder == text || folder.starts_with(&format!("{text}/"))
        };
        matches!(self.resolve_path(link), Ok(FoundEntry::Folder(it)) if !inside(&it))
    }

    fn entries_below<'a>(
        &'a self,
        start: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a TreeEntry)> {
        let from = self.entries.range(start.to_owned()..);
        from.take_while(move |pair| pair.0.starts_with(start))
    }

    /// Goes along a path, one name after the other; symlinks are followed within the repository.
    fn resolve_path(&self, path: &str) -> anyhow::Result<FoundEntry<'_>> {
        let mut open: Vec<String> = path_names(path);
        let mut here = String::new();
        let mut links = 0;
        while let Some(part) = open.pop() {
            if part == ".." {
                if here.is_empty() {
                    bail!(
                        "`{path}` is a symlink out of the repository, so its content at {} is unknown",
                        self.name
                    );
                }
                here = here.rsplit_once('/').map_or(String::new(), |pair| pair.0.to_owned());
                continue;
            }
            let next = below(&here, &part);
            match self.entries.get(&next) {
                Some(entry) if entry.kind == EntryKind::Submodule => {
                    bail!("`{next}` is a submodule: its files are in another repository")
                }
                Some(entry) if entry.kind == EntryKind::Symlink => {
                    links += 1;
                    if MOST_LINKS < links {
                        bail!("`{path}` leads through more than {MOST_LINKS} symlinks");
                    }
                    open.extend(self.symlink_target(&next, entry)?);
                }
                Some(entry) if open.is_empty() => return Ok(FoundEntry::File(entry)),
                Some(_) => return Ok(FoundEntry::Nothing),
                None if self.entries_below(&format!("{next}/")).next().is_some() => here = next,
                None => return Ok(FoundEntry::Nothing),
            }
        }
        Ok(FoundEntry::Folder(here))
    }

    /// Returns where a symlink leads from the folder that it is in, its last name first.
    fn symlink_target(&self, path: &str, entry: &TreeEntry) -> anyhow::Result<Vec<String>> {
        let target = String::from_utf8(self.read_object(path, entry)?);
        let target = target.with_context(|| format!("cannot read the symlink `{path}`"))?;
        if target.starts_with('/') {
            bail!(
                "`{path}` is a symlink out of the repository, so its content at {} is unknown",
                self.name
            );
        }
        Ok(path_names(&target))
    }

    fn read_object(&self, path: &str, entry: &TreeEntry) -> anyhow::Result<Vec<u8>> {
        if let Some(bytes) = self.read.borrow().get(&entry.id) {
            return Ok(bytes.clone());
        }
        let bytes = match self.objects.borrow_mut().read(&entry.id, disk::LONGEST)? {
            Object::Content(bytes) => bytes,
            Object::TooLong(size) => {
                bail!(
                    "`{path}` has {size} bytes at {}, more than {} MiB",
                    self.name,
                    disk::LONGEST >> 20
                )
            }
            // The reader of the source keeps the message alone.
            Object::Missing => bail!(
                "this clone lacks `{path}` as of {}: in a partial clone, fetch the files of that revision with git first, e.g. with `git checkout`",
                self.name
            ),
        };
        self.read.borrow_mut().insert(entry.id.clone(), bytes.clone());
        Ok(bytes)
    }
}

/// Returns the names on a path, the last one first.
fn path_names(path: &str) -> Vec<String> {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.rev().map(str::to_owned).collect()
}

#[test]
fn a_list_of_git_is_read_whatever_the_names_are() {
    let list = b"100644 blob 01\ta b\x00120000 blob 02\tlink\x00160000 commit 03\tsub\x00100644 blob 04\t\xff\x00";
    let entry = |kind, id: &str| TreeEntry { kind, id: id.to_owned() };
    let expected = [
        ("a b", entry(EntryKind::File, "01")),
        ("link", entry(EntryKind::Symlink, "02")),
        ("sub", entry(EntryKind::Submodule, "03")),
    ];
    assert_eq!(
        parse_entries(list),
        expected.map(|(path, expected)| (path.to_owned(), expected)).into()
    );
}
