//! Finds programs in the absolute directories of PATH.
//!
//! Commands run in clones that are not trusted, so the current directory must not decide which program runs. Operating
//! systems let it: an empty or relative entry of PATH means a directory below the current one, and Windows searches the
//! current directory before PATH. [`ProgramPath`] is therefore the only way to start a program, and only a lookup that
//! skips such entries makes one. The programs get a PATH without these entries, so the same holds for what they start.

#![expect(clippy::disallowed_methods, reason = "this module starts programs and reads PATH")]

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use diagnostics::Hint as _;
use model::display_path;

/// The endings of programs on Windows, in the order in which they are tried.
const WINDOWS_ENDINGS: &[&str] = &[".exe", ".com", ".cmd", ".bat"];
const ENDINGS: &[&str] = if cfg!(windows) { WINDOWS_ENDINGS } else { &[""] };

/// The directories of POSIX's own programs. An empty PATH would mean the current directory.
const STANDARD: &[&str] = if cfg!(windows) { &[] } else { &["/usr/bin", "/bin"] };

/// The absolute path of a program that existed when it was looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramPath(PathBuf);

impl ProgramPath {
    /// Looks a name up in the absolute directories of PATH. A path is taken as it is, relative to the current directory.
    pub fn find(name: impl AsRef<OsStr>) -> Option<Self> {
        Self::find_from(Path::new(""), name)
    }

    /// Looks a name up as `find` does, and a relative path in a directory.
    pub fn find_from(folder: &Path, name: impl AsRef<OsStr>) -> Option<Self> {
        let name = name.as_ref();
        if !is_path(name) {
            return SearchPath::of_process().find(name, ENDINGS, &is_program);
        }
        let path = std::path::absolute(folder.join(name)).ok()?;
        with_endings(&path, ENDINGS).find(|path| is_program(path)).map(Self)
    }

    /// Looks a program up as `find_from` does; it is an error if there is none.
    pub fn require_from(folder: &Path, name: impl AsRef<OsStr>) -> anyhow::Result<Self> {
        let name = name.as_ref();
        let shown = display_path(&name);
        if let Some(program) = Self::find_from(folder, name) {
            return Ok(program);
        }
        if is_path(name) {
            anyhow::bail!("there is no program `{shown}`");
        }
        let error = anyhow::format_err!("`{shown}` is not on PATH");
        Err(error).hint(SearchPath::of_process().way_out(name))
    }

    /// Looks a program up as `find` does; it is an error if there is none.
    pub fn require(name: impl AsRef<OsStr>) -> anyhow::Result<Self> {
        Self::require_from(Path::new(""), name)
    }

    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Prepares to start the program, with a PATH that has absolute entries only.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.env("PATH", SearchPath::of_process().joined());
        if cfg!(windows) {
            // The command interpreter and other programs then skip the current directory, too.
            command.env("NoDefaultCurrentDirectoryInExePath", "1");
        }
        command
    }
}

/// Returns whether a name has several parts, so that it is not looked up in PATH.
fn is_path(name: &OsStr) -> bool {
    let path = Path::new(name);
    path.is_absolute() || path.components().count() > 1
}

/// The directories in which programs are looked up.
struct SearchPath {
    folders: Vec<PathBuf>,
    /// True if PATH has entries that are left out.
    has_relative: bool,
}

impl SearchPath {
    fn of_process() -> Self {
        Self::parse(&env::var_os("PATH").unwrap_or_default())
    }

    fn parse(variable: &OsStr) -> Self {
        let (mut folders, relative): (Vec<_>, Vec<_>) =
            env::split_paths(variable).partition(|folder| folder.is_absolute());
        if folders.is_empty() {
            folders.extend(STANDARD.iter().map(PathBuf::from));
        }
        Self { folders, has_relative: !variable.is_empty() && !relative.is_empty() }
    }

    fn find(
        &self,
        name: &OsStr,
        endings: &'static [&'static str],
        is_program: &dyn Fn(&Path) -> bool,
    ) -> Option<ProgramPath> {
        let paths = self.folders.iter().map(|folder| folder.join(name));
        let mut candidates = paths.flat_map(|path| with_endings(&path, endings));
        candidates.find(|path| is_program(path)).map(ProgramPath)
    }

    /// The hint for a program that was not found.
    fn way_out(&self, name: &OsStr) -> String {
        let name = display_path(&name);
        if self.has_relative {
            return format!(
                "install `{name}`; relative and empty entries of PATH are not searched"
            );
        }
        format!("install `{name}`, or add it to PATH")
    }

    /// The value of PATH for programs.
    fn joined(&self) -> OsString {
        env::join_paths(&self.folders).unwrap_or_default()
    }
}

/// The files that a path without its ending may mean.
fn with_endings(
    path: &Path,
    endings: &'static [&'static str],
) -> impl Iterator<Item = PathBuf> + use<> {
    let path = path.as_os_str().to_owned();
    let lower = path.as_encoded_bytes().to_ascii_lowercase();
    let has_ending = endings.iter().any(|ending| lower.ends_with(ending.as_bytes()));
    let endings = if has_ending { &[""] } else { endings };
    endings.iter().map(move |ending| {
        let mut candidate = path.clone();
        candidate.push(ending);
        PathBuf::from(candidate)
    })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of some existing files that a lookup in a PATH of this system leads to.
    fn find(
        path: &[&str],
        name: &str,
        endings: &'static [&'static str],
        files: &[&str],
    ) -> Option<String> {
        let path = env::join_paths(path).unwrap();
        let is_there = |path: &Path| files.iter().any(|file| path == Path::new(file));
        let found = SearchPath::parse(&path).find(OsStr::new(name), endings, &is_there)?;
        Some(display_path(&found.as_path()))
    }

    #[cfg(unix)]
    #[test]
    fn only_absolute_directories_of_path_are_searched() {
        let relative = ["git", "./git", "bin/git", "../git"];
        for path in [&["", "."][..], &["bin", "..", "./bin"], &["", "/none", "bin"]] {
            assert_eq!(find(path, "git", &[""], &relative), None, "{path:?}");
        }
        let files = ["bin/git", "/b/git", "/c/git"];
        assert_eq!(find(&["bin", "/a", "/b", "/c"], "git", &[""], &files).unwrap(), "/b/git");
        // The standard directories stand in for a PATH without an absolute one.
        assert_eq!(find(&["."], "git", &[""], &["/usr/bin/git"]).unwrap(), "/usr/bin/git");
    }

    #[cfg(unix)]
    #[test]
    fn windows_endings_are_tried_directory_by_directory() {
        let find = |name: &str, files: &[&str]| find(&["/a", "/b"], name, WINDOWS_ENDINGS, files);
        assert_eq!(find("helm", &["/a/helm.cmd", "/b/helm.exe"]).unwrap(), "/a/helm.cmd");
        assert_eq!(find("helm", &["/a/helm.bat", "/a/helm.exe"]).unwrap(), "/a/helm.exe");
        assert_eq!(find("helm.EXE", &["/b/helm.EXE"]).unwrap(), "/b/helm.EXE");
        assert_eq!(find("helm", &["/a/helm"]), None, "a file without an ending is no program");
        assert_eq!(find("helm-3.16", &["/a/helm-3.16.exe"]).unwrap(), "/a/helm-3.16.exe");
    }

    #[cfg(unix)]
    #[test]
    fn programs_get_a_path_of_absolute_entries() {
        let joined = |path: &[&str]| SearchPath::parse(&env::join_paths(path).unwrap()).joined();
        assert_eq!(joined(&["", "/a", ".", "b", "/c"]), "/a:/c");
        assert_eq!(joined(&[".", "b"]), "/usr/bin:/bin", "an empty PATH is the current directory");
        assert_eq!(joined(&[]), "/usr/bin:/bin");
        let command = ProgramPath::find("sh").unwrap().command();
        assert!(Path::new(command.get_program()).is_absolute());
        assert!(command.get_envs().any(|(name, value)| name == "PATH" && value.is_some()));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_is_taken_as_it_is_and_must_be_a_program() {
        let found = ProgramPath::find_from(Path::new("/bin"), "./sh").unwrap();
        assert_eq!(found.as_path(), Path::new("/bin/sh"));
        assert_eq!(ProgramPath::find("/bin/sh").unwrap().as_path(), Path::new("/bin/sh"));
        assert_eq!(ProgramPath::find("/etc/passwd"), None, "it is not executable");
        assert_eq!(ProgramPath::find("/usr/bin"), None, "it is a directory");
        let error = ProgramPath::require("./none").unwrap_err();
        assert_eq!(error.to_string(), "there is no program `./none`");
        let error = ProgramPath::require("no-such-program").unwrap_err();
        assert_eq!(error.to_string(), "`no-such-program` is not on PATH");
        let way_out = |path: &str| SearchPath::parse(OsStr::new(path)).way_out(OsStr::new("git"));
        assert_eq!(way_out("/a:/b"), "install `git`, or add it to PATH");
        assert_eq!(way_out(""), "install `git`, or add it to PATH");
        let other = "install `git`; relative and empty entries of PATH are not searched";
        assert_eq!(way_out("bin:/a"), other);
    }
}
