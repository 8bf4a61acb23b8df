//! Gets CRDs from the compiled code if the source cannot be read exactly.
//!
//! `crate_build` compiles one crate in a throwaway workspace, which `manifest` and `library_copy` describe; finds its
//! kinds by the `symbols` of its library; and runs a `program` that prints their CRDs. Compiling runs build scripts and
//! macros of the project, so the user has to agree first (`permission`). An `answer` is cached until one of its `inputs`
//! changes. `join` combines answers with the reading of the source.

mod answer;
mod build_dir;
mod crate_build;
mod inputs;
mod join;
mod library_copy;
mod manifest;
mod permission;
mod program;
mod symbols;

use std::path::Path;

use self::{answer::CompiledKind, crate_build::CrateBuild, permission::Permission};
use crate::project::Crate;
use crate::{app::cargo::toolchain, disk, source::Reading, terminal};

/// Whether code may be compiled if the source cannot be read
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Kinds that cannot be read from source")]
pub struct CompileFlags {
    /// Compile them with cargo under target/ and run the code that prints their CRDs. This runs build scripts and macros
    /// of the project; without this flag, operator-rs asks for permission once per project, on a terminal only. With
    /// `--check`, compile all kinds and fail if source and compiled code disagree
    #[arg(long, conflicts_with = "no_compile")]
    pub compile: bool,
    /// Compile nothing, even if permission was given earlier
    #[arg(long)]
    pub no_compile: bool,
}

/// The workspace to compile in, and whether it may be compiled.
pub struct Compile<'a> {
    /// The workspace's folder.
    pub top: &'a Path,
    /// None for commands without these flags; earlier answers apply to them too.
    pub flags: Option<CompileFlags>,
    /// Compile all kinds, and compare them with the source.
    pub all: bool,
    /// The modules whose kinds are included; all if it is empty.
    pub modules: &'a [String],
    /// True if the kinds that can be read are used if the code does not compile.
    pub keeps_going: bool,
    /// True if the source on disk is the one that was read.
    pub is_on_disk: bool,
}

/// The result of completing a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The reading is as complete as possible.
    Now,
    /// Compiling is allowed, but only possible once the source is written.
    Later,
}

/// Completes a reading with the CRDs of the compiled code, if something cannot be read and compiling is allowed. If it is
/// not allowed, the reading gets a hint that says how to allow it.
pub fn complete(compile: &Compile<'_>, reading: &mut Reading) -> anyhow::Result<Completion> {
    let crates = join::crates(compile, reading);
    let is_locked = compile.top.join("Cargo.lock").is_file();
    if crates.is_empty() || !is_locked || compile.flags.is_some_and(|flag| flag.no_compile) {
        return Ok(Completion::Now);
    }
    // Problems that the compiler would report, too, are shown without compiling.
    let is_asked_for = compile.flags.is_some_and(|flag| flag.compile);
    let problems = reading.all_problems();
    if !is_asked_for && problems.iter().any(|problem| problem.does_not_compile) {
        return Ok(Completion::Now);
    }
    let top = &disk::resolve_folder(compile.top)?;
    let builds: Vec<CrateBuild> = crates.iter().map(|krate| CrateBuild::new(top, krate)).collect();
    let known = |build: &CrateBuild| build.known().filter(|_| compile.is_on_disk);
    let mut known: Vec<Option<Vec<CompiledKind>>> = builds.iter().map(known).collect();
    let missing = crates.iter().zip(&known).filter(|pair| pair.1.is_none());
    let missing: Vec<Crate> = missing.map(|pair| pair.0.clone()).collect();
    let mut step = None;
    if !missing.is_empty() {
        let purpose = join::purpose(compile, reading, &missing);
        if !toolchain::has_cargo() {
            let hint = "install Rust to use the compiled code: there is no `cargo` on PATH";
            reading.hint = Some(hint.to_owned());
            return Ok(Completion::Now);
        }
        if let Permission::No(hint) = permission::ask(compile.flags, top, problems)? {
            reading.hint = Some(hint);
            return Ok(Completion::Now);
        }
        if !compile.is_on_disk {
            return Ok(Completion::Later);
        }
        step = Some(terminal::Step::begin(&format!("compiling {purpose}")));
    }
    for (build, known) in builds.iter().zip(&mut known).filter(|pair| pair.1.is_none()) {
        match build.compile() {
            Ok(kinds) => *known = Some(kinds),
            Err(error) if compile.keeps_going => {
                terminal::warn(&error);
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
