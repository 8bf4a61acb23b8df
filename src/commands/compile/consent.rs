//! Whether a project may be compiled: that runs its build scripts and macros, and a clone may be hostile.
//!
//! A person is asked once for a project. The answer is kept outside of it, in a file that is named for the folder of
//! the workspace, and counts until that file is deleted.

use std::path::{Path, PathBuf};

use super::{Flags, state};
use crate::{disk, terminal};

/// What a person allows.
pub enum Consent {
    Yes,
    /// With the way to change that.
    No(String),
}

/// What the flags say, or an earlier answer, or a person at the terminal now.
pub fn ask(flags: Option<Flags>, top: &Path, purpose: &str) -> anyhow::Result<Consent> {
    if flags.is_some_and(|it| it.compile) {
        return Ok(Consent::Yes);
    }
    let flag = match flags {
        Some(_) => "give `--compile`",
        None => "run `operator-rs manifests --compile` first",
    };
    let file = file(top);
    let earlier = file.as_ref().and_then(|it| disk::text_if_any(it).ok()?);
    match (earlier.as_deref().map(str::lines).and_then(|mut it| it.next()), &file) {
        (Some("yes"), _) => return Ok(Consent::Yes),
        (Some("no"), Some(file)) => {
            return Ok(Consent::No(format!(
                "{flag} to ask the compiled code: an earlier answer was no, which `rm {}` takes back",
                file.display()
            )));
        }
        _ => {}
    }
    let hint = format!(
        "{flag} to ask the compiled code: this runs build scripts and macros of the project"
    );
    if !terminal::has_person() {
        return Ok(Consent::No(hint));
    }
    let question = format!(
        "compiling {purpose}; this runs build scripts and macros of the project. Do so now and later?"
    );
    let Some(answer) = terminal::confirm(&question)? else {
        anyhow::bail!("interrupted; nothing was written");
    };
    if let Some(file) = &file {
        keep(file, top, answer);
    }
    Ok(match answer {
        true => Consent::Yes,
        false => Consent::No(hint),
    })
}

fn keep(file: &Path, top: &Path, answer: bool) {
    let word = if answer { "yes" } else { "no" };
    match disk::keep(file, &format!("{word}\n{}\n", top.display())) {
        Ok(()) => terminal::advise(&format!(
            "this answer is kept in {}; delete that file to be asked again\n",
            file.display()
        )),
        Err(error) => terminal::warn(format!("this answer cannot be kept: {error:#}")),
    }
}

/// Where the answer for a workspace is kept; `top` has no symlinks.
fn file(top: &Path) -> Option<PathBuf> {
    let name = disk::digest(top.as_os_str().as_encoded_bytes());
    Some(state::folder()?.join("allowed").join(name))
}
