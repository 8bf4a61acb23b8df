//! The state of this user outside of any project: `$XDG_STATE_HOME/operator-rs`.

use std::path::PathBuf;

use crate::terminal;

/// The folder; none if there is no home directory.
pub fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = terminal::variable(name).ok().flatten().map(PathBuf::from);
        path.filter(|it| it.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("operator-rs"))
}
