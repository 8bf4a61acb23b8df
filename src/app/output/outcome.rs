//! Runs a command that writes files, and then writes, shows or checks its changes.

use std::path::Path;

use super::location;
use crate::{
    disk::{self, Root},
    plan::{Changes, WorkTree},
    terminal,
};
use model::ProjectPath;

/// Whether a command writes its changes, or only shows or checks them. Commands that write no files do not have these flags.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Output modes")]
pub struct OutputMode {
    /// List the changes and write nothing
    #[arg(long, conflicts_with_all = ["diff", "check"])]
    pub dry_run: bool,
    /// Show the changes as a diff and write nothing
    #[arg(long, conflicts_with = "check")]
    pub diff: bool,
    /// Fail if there are changes, and write nothing
    #[arg(long)]
    pub check: bool,
    /// Replace generated files even if they were edited by hand
    #[arg(long)]
    pub force: bool,
}

impl OutputMode {
    /// Returns the flags that are given, by their names.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.dry_run, "--dry-run"),
            (self.diff, "--diff"),
            (self.check, "--check"),
            (self.force, "--force"),
        ];
        all.into_iter().filter(|pair| pair.0).map(|pair| pair.1)
    }

    /// Refuses flags about files where a command has none to write, as it lacks the flag that names them.
    pub fn require(&self, output: &str) -> anyhow::Result<()> {
        match self.given().next() {
            None => Ok(()),
            Some(flag) => Err(terminal::usage_error(
                clap::error::ErrorKind::MissingRequiredArgument,
                &format!(
                    "`{flag}` requires `{output}`: without it, the result is printed and no file is written"
                ),
            )),
        }
    }

    pub fn writes(&self) -> bool {
        !(self.dry_run || self.diff || self.check)
    }
}

/// The result of a command beside the files that it has written.
pub enum Outcome {
    /// Nothing: all of it is in files.
    Files,
    /// Data for stdout.
    Text(String),
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Files
    }
}

/// Runs a command that writes into the project's folder.
pub fn writing<T: Into<Outcome>>(
    dir: &Path,
    mode: &OutputMode,
    command: impl FnOnce(&mut WorkTree<'_>, &Root) -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    let root = Root::new(dir)?;
    location::annotate(&root);
    begin(&root, mode)?;
    let mut tree = WorkTree::new(&root, mode.force);
    command(&mut tree, &root)?.into().settle(&tree, &root, mode)
}

/// Returns the project's folder, for a command that does not write there.
pub fn reading(dir: &Path) -> anyhow::Result<Root> {
    let root = Root::new(dir)?;
    location::annotate(&root);
    root.require_whole()?;
    Ok(root)
}

/// Locks a folder that is to be written into, and completes what an interrupted run has left there; in a mode that
/// writes nothing, refuses such a folder.
pub fn begin(root: &Root, mode: &OutputMode) -> anyhow::Result<()> {
    if !mode.writes() {
        return root.require_whole();
    }
    root.lock()?;
    let Some(recovered) = root.recover_changes()? else { return Ok(()) };
    let listed = |paths: &[ProjectPath]| -> String {
        paths.iter().map(|path| format!("\n  {path}")).collect()
    };
    if !recovered.restored.is_empty() {
        let list = listed(&recovered.restored);
        terminal::warn(format!("an earlier run failed; took back the rest of its changes:{list}"));
    }
    if recovered.is_taken_back {
        return Ok(());
    }
    let list = listed(&recovered.completed);
    if !list.is_empty() {
        terminal::print_note(format!(
            "an earlier run was interrupted; completed its changes:{list}"
        ));
    } else if recovered.edited.is_empty() {
        terminal::print_note("an earlier run was interrupted after it had written all files");
    }
    recovered.require_no_edits()
}

impl Outcome {
    pub fn settle(self, tree: &WorkTree<'_>, root: &Root, mode: &OutputMode) -> anyhow::Result<()> {
        match self {
            Self::Files => write_tree(tree, root, mode),
            Self::Text(text) => {
                terminal::write_data(&text);
                Ok(())
            }
        }
    }
}

/// The hint for updating what a command with `--check` found out of date.
pub fn writing_hint() -> String {
    format!("run `{}` and commit the result", writing_command(&terminal::command_arguments()))
}

/// Returns the command line that writes what this one checks, for a person.
fn writing_command(arguments: &[String]) -> String {
    let mut words = vec!["operator-rs".to_owned()];
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--check" => {}
            "--message-format" => _ = rest.next(),
            it if it.starts_with("--message-format=") => {}
            it => words.push(terminal::shell_word(it)),
        }
    }
    words.join(" ")
}

/// The one way from what a command has written to the disk.
fn write_tree(tree: &WorkTree<'_>, root: &Root, mode: &OutputMode) -> anyhow::Result<()> {
    settle_all(&[(tree, root)], mode)
}

/// The same for several directories, which are all written or none.
pub fn settle_all(all: &[(&WorkTree<'_>, &Root)], mode: &OutputMode) -> anyhow::Result<()> {
    let list = |changes: &Changes| {
        terminal::print_changes(
            &changes.to_string(),
            || changes.format_list(),
            || changes.format_short_list(),
        )
    };
    let changes = |pair: &(&WorkTree<'_>, &Root)| {
        if mode.writes() { pair.0.writable_changes() } else { Ok(pair.0.changes()) }
    };
    let changes: Vec<Changes> = all.iter().map(changes).collect::<anyhow::Result<_>>()?;
    terminal::warn_all(changes.iter().flat_map(|change| change.warnings.iter().cloned()));
    if mode.writes() {
        terminal::require_no_warnings()?;
        let roots = all.iter().map(|pair| pair.1);
        disk::write_all(&roots.zip(&changes).collect::<Vec<_>>())?;
    }
    for changes in changes {
        match mode {
            OutputMode { diff: true, .. } => terminal::print_diffs(changes.format_diffs()),
            OutputMode { check: true, .. } => changes.require_none(&writing_hint())?,
            OutputMode { dry_run: true, .. } => list(&changes),
            _ => {
                list(&changes);
                if let Some(next) = &changes.next {
                    terminal::print_advice(&format!("\n{next}\n"));
                }
            }
        }
        changes.require_no_conflicts("without this flag, nothing would be written")?;
    }
    Ok(())
}

#[test]
fn a_check_names_the_command_that_writes() {
    let check = |given: &str, expected: &str| {
        let words: Vec<String> = given.split(' ').map(str::to_owned).collect();
        assert_eq!(writing_command(&words), expected);
    };
    check("manifests --check", "operator-rs manifests");
    check("--message-format github manifests --check", "operator-rs manifests");
    check(
        "--dir a;b generate crds --check --output-dir crds --message-format=json",
        "operator-rs --dir 'a;b' generate crds --output-dir crds",
    );
}
