//! Where this user's answers and downloads are: outside of every project. What a clone has brought does not count. On
//! Windows, they are in `%LOCALAPPDATA%\operator-rs` unless the variables of XDG are set.

use std::{
    path::{Path, PathBuf},
    sync::Once,
};

use crate::{disk::Own, terminal};
use diagnostics::{Diagnostic, Hint as _};

/// A file of `$XDG_STATE_HOME/operator-rs`, for a command that works in `dir`; none if there is no such folder, or if it
/// may be somebody else's.
pub fn state(dir: &Path, file: &str) -> Option<PathBuf> {
    let found = Own::new(&folder("XDG_STATE_HOME", ".local/state")?, dir);
    let file = found.and_then(|it| it.below(file));
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

/// A folder of `$XDG_CACHE_HOME/operator-rs`, for a command that works in `dir`.
pub fn cache(dir: &Path, name: &str) -> anyhow::Result<Own> {
    let Some(folder) = folder("XDG_CACHE_HOME", ".cache") else {
        return Err(anyhow::format_err!("there is no directory to cache downloads in")).hint(
            match cfg!(windows) {
                true => "set LOCALAPPDATA or XDG_CACHE_HOME",
                false => "set HOME or XDG_CACHE_HOME",
            },
        );
    };
    usable(Own::new(&folder.join(name), dir))
}

/// A file in such a folder.
pub fn cached(cache: &Own, file: &str) -> anyhow::Result<PathBuf> {
    usable(cache.below(file))
}

fn usable<T>(found: Result<T, String>) -> anyhow::Result<T> {
    found
        .map_err(|why| anyhow::format_err!("{why}: it cannot be the cache of downloads"))
        .hint("set XDG_CACHE_HOME to a directory of yours outside of the project")
}

/// Refuses the kubeconfig of the home directory where somebody else may have written it: it names programs to run.
pub fn require_own_kubeconfig(dir: &Path) -> anyhow::Result<()> {
    let Some(path) = kubeconfig() else { return Ok(()) };
    let found = Own::new(&path, dir).map(drop);
    found
        .map_err(|why| anyhow::format_err!("{why}: it is not used as your kubeconfig"))
        .hint("if you trust it, name it with `--kubeconfig FILE` or KUBECONFIG")
}

/// The kubeconfig of the home directory, if there is one.
pub fn kubeconfig() -> Option<PathBuf> {
    home().map(|it| it.join(".kube/config")).filter(|it| it.exists())
}

fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let of_windows = || if cfg!(windows) { absolute("LOCALAPPDATA") } else { None };
    let folder = absolute(variable).or_else(of_windows);
    let folder = folder.or_else(|| Some(home()?.join(below_home)));
    folder.map(|it| it.join("operator-rs"))
}

fn home() -> Option<PathBuf> {
    terminal::home_folder().ok().flatten().filter(|it| it.is_absolute())
}

/// A variable that is an absolute path; others mean nothing, as the XDG specification says.
fn absolute(name: &str) -> Option<PathBuf> {
    let path = terminal::variable(name).ok().flatten().map(PathBuf::from);
    path.filter(|it| it.is_absolute())
}
