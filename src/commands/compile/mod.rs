//! The compiled code is asked where the source cannot be read exactly.
//!
//! `subject` compiles one crate, in a throwaway workspace that `manifest`, `shadow` and `lock` describe, reads the
//! kinds that it has from the `symbols` of its library, and runs a `program` that prints them. Compiling runs build
//! scripts and macros of the project, so a person has to agree first (`consent`). An `answer` is kept until one of its
//! `inputs` changes. `join` puts answers and the reading of the source together.

mod answer;
mod consent;
mod inputs;
mod join;
mod manifest;
mod program;
mod shadow;
mod state;
mod subject;
mod symbols;
mod workshop;

use std::path::Path;

use self::{answer::Compiled, consent::Consent, subject::Subject};
use crate::{commands::cargo::toolchain, disk, model::Crate, source::Reading, terminal};

/// Whether the code may be compiled where the source cannot be read
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Kinds that cannot be read from the source")]
pub struct Flags {
    /// Compile them with cargo under target/ and ask the code. This runs build scripts and macros of the project, so
    /// without this flag a person at a terminal is asked once for each project, and nobody else. With `--check`,
    /// compile all kinds: both must agree
    #[arg(long, conflicts_with = "no_compile")]
    pub compile: bool,
    /// Compile nothing, whatever was answered earlier
    #[arg(long)]
    pub no_compile: bool,
}

/// What is to be compiled, and where.
pub struct Compile<'a> {
    /// The workspace's folder.
    pub top: &'a Path,
    /// None where the command has no such flags: earlier answers count there, too.
    pub flags: Option<Flags>,
    /// Compile all kinds, which must then be as they were read.
    pub all: bool,
    /// The modules whose kinds are wanted; all where it is empty.
    pub modules: &'a [String],
    /// Whether what can be read counts where the code does not compile.
    pub keeps_going: bool,
    /// Whether the source is the same on the disk as where it was read.
    pub is_on_disk: bool,
}

/// What a reading has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It is as complete as it will be.
    Now,
    /// Compiling is allowed, and has to wait until the source is written.
    Later,
}

/// Completes a reading with what the compiled code prints, where something cannot be read and compiling is allowed.
/// Where it is not, the reading says how to allow it.
pub fn complete(compile: &Compile<'_>, reading: &mut Reading) -> anyhow::Result<Completion> {
    let crates = join::crates(compile, reading);
    let is_locked = compile.top.join("Cargo.lock").is_file();
    if crates.is_empty() || !is_locked || compile.flags.is_some_and(|it| it.no_compile) {
        return Ok(Completion::Now);
    }
    let top = &disk::real(compile.top)?;
    let subjects: Vec<Subject> = crates.iter().map(|it| Subject::new(top, it)).collect();
    let known = |it: &Subject| it.known().filter(|_| compile.is_on_disk);
    let mut known: Vec<Option<Vec<Compiled>>> = subjects.iter().map(known).collect();
    let missing = crates.iter().zip(&known).filter(|it| it.1.is_none());
    let missing: Vec<Crate> = missing.map(|it| it.0.clone()).collect();
    let mut step = None;
    if !missing.is_empty() {
        let purpose = join::purpose(compile, reading, &missing);
        if !toolchain::has_cargo() {
            let hint =
                "install Rust, so that the compiled code can be asked: there is no `cargo` on PATH";
            reading.hint = Some(hint.to_owned());
            return Ok(Completion::Now);
        }
        if let Consent::No(hint) = consent::ask(compile.flags, top, &purpose)? {
            reading.hint = Some(hint);
            return Ok(Completion::Now);
        }
        if !compile.is_on_disk {
            return Ok(Completion::Later);
        }
        step = Some(terminal::Step::begin(&format!("compiling {purpose}")));
    }
    for (subject, known) in subjects.iter().zip(&mut known).filter(|it| it.1.is_none()) {
        match subject.compile() {
            Ok(kinds) => *known = Some(kinds),
            Err(error) if compile.keeps_going => {
                terminal::warn(format!("{error:#}"));
                return Ok(Completion::Now);
            }
            Err(error) => return Err(error),
        }
    }
    drop(step);
    let answers = crates.into_iter().zip(known.into_iter().flatten()).collect();
    join::join(compile, reading, answers)?;
    Ok(Completion::Now)
}
