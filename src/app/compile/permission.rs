//! Asks whether a project may be compiled: that runs its build scripts and macros, and a clone may be hostile.
//!
//! The user is asked once for each project. The answer is stored outside of the project, in a file named after the
//! workspace's folder, and applies until that file is deleted.

use std::path::{Path, PathBuf};

use super::CompileFlags;
use crate::project::Problem;
use crate::{app::environment::home, disk, terminal};
use model::display_path;

/// The decision of the user.
pub enum Permission {
    Yes,
    /// With a hint that says how to allow it.
    No(String),
}

/// Returns the decision by the flags, by an earlier answer, or by asking at the terminal.
pub fn ask(
    flags: Option<CompileFlags>,
    top: &Path,
    problems: Vec<Problem>,
) -> anyhow::Result<Permission> {
    if flags.is_some_and(|flag| flag.compile) {
        return Ok(Permission::Yes);
    }
    let flag = match flags {
        Some(_) => "pass `--compile`",
        None => "run `operator-rs generate crds --compile` first",
    };
    let file = answer_file(top);
    let earlier = file.as_ref().and_then(|path| disk::read_text_if_exists(path).ok()?);
    match (earlier, &file) {
        (Some(it), _) if it == format_answer(top, true) => return Ok(Permission::Yes),
        (Some(it), Some(file)) if it == format_answer(top, false) => {
            return Ok(Permission::No(format!(
                "{flag} to use the compiled code: you declined earlier, and `rm {}` revokes that answer",
                display_path(&file)
            )));
        }
        _ => {}
    }
    let hint = format!(
        "{flag} to use the compiled code: this runs build scripts and macros of the project"
    );
    if !terminal::is_interactive() {
        return Ok(Permission::No(hint));
    }
    problems.into_iter().for_each(terminal::print_note);
    terminal::print_advice(
        "compiling runs the project's build scripts and macros, now and in later runs\n",
    );
    let Some(answer) = terminal::confirm("Compile this project to get its CRDs?")? else {
        anyhow::bail!("interrupted; nothing was written");
    };
    if let Some(file) = &file {
        store_answer(file, top, answer);
    }
    Ok(if answer { Permission::Yes } else { Permission::No(hint) })
}

fn store_answer(file: &Path, top: &Path, answer: bool) {
    match disk::write_private_file(file, &format_answer(top, answer)) {
        Ok(()) => terminal::print_advice(&format!(
            "the answer is stored in {}; delete that file to be asked again\n",
            display_path(&file)
        )),
        Err(error) => terminal::warn(format!("the answer cannot be stored: {error:#}")),
    }
}

fn format_answer(top: &Path, answer: bool) -> String {
    format!("{}\n{}\n", if answer { "yes" } else { "no" }, display_path(&top))
}

/// Returns the file with the answer for a workspace; `top` has no symlinks.
fn answer_file(top: &Path) -> Option<PathBuf> {
    let name = disk::sha256_hex(top.as_os_str().as_encoded_bytes());
    home::state(top, &format!("allowed/{name}"))
}
