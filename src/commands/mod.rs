//! What a person can type. The folder reads as the command line.

use std::path::PathBuf;

use crate::{
    disk::{Recovered, Root},
    hint::Hint as _,
    model::Project,
    plan::{Plan, Tree},
    terminal,
};

mod init;

/// operator-sdk for Rust
#[derive(clap::Parser)]
#[command(name = "operator-rs", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The project's directory
    #[arg(long, global = true, default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    mode: Mode,
}

#[derive(clap::Subcommand)]
enum Command {
    Init(init::Args),
}

/// What becomes of a plan.
#[derive(clap::Args)]
struct Mode {
    /// List what would change and write nothing
    #[arg(long, global = true, conflicts_with_all = ["diff", "check"])]
    dry_run: bool,
    /// Show what would change as a diff and write nothing
    #[arg(long, global = true, conflicts_with = "check")]
    diff: bool,
    /// Fail if anything would change, and write nothing
    #[arg(long, global = true)]
    check: bool,
    /// Replace files of ours even where they were edited by hand
    #[arg(long, global = true)]
    force: bool,
}

impl Cli {
    pub fn run(self) -> anyhow::Result<()> {
        let root = Root::new(&self.dir)?;
        match root.recover()? {
            Recovered::Nothing => {}
            Recovered::Undone => terminal::warn(
                "an earlier run was interrupted before it wrote; what it had begun is removed",
            ),
            Recovered::Completed => terminal::warn(
                "an earlier run was interrupted while it wrote; what it had begun is completed",
            ),
        }
        let plan = match self.command {
            Command::Init(args) => args.plan(&root)?,
        };
        settle(&plan, &root, &self.mode)
    }
}

/// The one way from a plan to the disk.
fn settle(plan: &Plan, root: &Root, mode: &Mode) -> anyhow::Result<()> {
    let changes = plan.against(root, mode.force)?;
    for warning in &changes.warnings {
        terminal::warn(warning);
    }
    match mode {
        Mode { diff: true, .. } => terminal::print(&changes.diff()),
        Mode { check: true, .. } => changes.require_none()?,
        Mode { dry_run: true, .. } => terminal::print(&changes.to_string()),
        _ => {
            root.write(&changes)?;
            terminal::print(&changes.to_string());
            if let Some(next) = &changes.next {
                terminal::advise(&format!("\n{next}\n"));
            }
        }
    }
    Ok(())
}

/// Reads the PROJECT file, which every command but `init` starts from.
fn project(tree: &impl Tree) -> anyhow::Result<Project> {
    let Some(text) = tree.read(&Project::path())? else {
        return Err(anyhow::format_err!(
            "this is not an operator-rs project: there is no PROJECT file"
        ))
        .hint("run `operator-rs init` here first, or point `--dir` at a project");
    };
    Project::from_text(&text)
}
