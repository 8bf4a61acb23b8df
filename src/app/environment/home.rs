//! The folders with this user's answers and downloads, which are outside of every project. Files that a clone contains
//! do not count. On Windows, they are in `%LOCALAPPDATA%\operator-rs` unless the variables of XDG are set.

use std::{
    path::{Path, PathBuf},
    sync::Once,
};

use crate::{disk::UserPath, terminal};
use diagnostics::{Diagnostic, Hint as _};

/// A file of `$XDG_STATE_HOME/operator-rs`, for a command that works in `dir`; none if there is no such folder, or if
/// it may belong to another user.
pub fn state(dir: &Path, file: &str) -> Option<PathBuf> {
    let found = UserPath::new(&user_folder("XDG_STATE_HOME", ".local/state")?, dir);
    let file = found.and_then(|folder| folder.path_below(file));
    file.map_err(|why| {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            terminal::warn(
                Diagnostic::from(format!("{why}: it is ignored, and no answer is stored"))
                    .with_hint("set XDG_STATE_HOME to a directory of yours outside of the project"),
            );
        });
    })
    .ok()
}

/// Returns a folder of `$XDG_CACHE_HOME/operator-rs`, for a command that works in `dir`.
pub fn cache(dir: &Path, name: &str) -> anyhow::Result<UserPath> {
    let Some(folder) = user_folder("XDG_CACHE_HOME", ".cache") else {
        return Err(anyhow::format_err!("there is no directory to cache downloads in")).hint(
            if cfg!(windows) {
                "set LOCALAPPDATA or XDG_CACHE_HOME"
            } else {
                "set HOME or XDG_CACHE_HOME"
            },
        );
    };
    require_usable(UserPath::new(&folder.join(name), dir))
}

/// Returns a file in such a folder.
pub fn cached(cache: &UserPath, file: &str) -> anyhow::Result<PathBuf> {
    require_usable(cache.path_below(file))
}

fn require_usable<T>(found: Result<T, String>) -> anyhow::Result<T> {
    found
        .map_err(|why| anyhow::format_err!("{why}: it cannot be the cache of downloads"))
        .hint("set XDG_CACHE_HOME to a directory of yours outside of the project")
}

/// Refuses the kubeconfig of the home directory if another user may have written it: it names programs to run.
pub fn require_own_kubeconfig(dir: &Path) -> anyhow::Result<()> {
    let Some(path) = kubeconfig() else { return Ok(()) };
    let found = UserPath::new(&path, dir).map(drop);
    found
        .map_err(|why| anyhow::format_err!("{why}: it is not used as your kubeconfig"))
        .hint("if you trust it, name it with `--kubeconfig FILE` or KUBECONFIG")
}

/// Returns the kubeconfig of the home directory, if there is one.
pub fn kubeconfig() -> Option<PathBuf> {
    home_folder().map(|home| home.join(".kube/config")).filter(|path| path.exists())
}

fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let of_windows = || if cfg!(windows) { absolute_variable("LOCALAPPDATA") } else { None };
    let folder = absolute_variable(variable).or_else(of_windows);
    let folder = folder.or_else(|| Some(home_folder()?.join(below_home)));
    folder.map(|folder| folder.join("operator-rs"))
}

fn home_folder() -> Option<PathBuf> {
    terminal::home_folder().ok().flatten().filter(|folder| folder.is_absolute())
}

/// Returns a variable that is an absolute path; others mean nothing, as the XDG specification says.
fn absolute_variable(name: &str) -> Option<PathBuf> {
    let path = terminal::variable(name).ok().flatten().map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}
