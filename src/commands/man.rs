//! Manual pages, rendered from the same definitions as `--help`.

use std::path::Path;

use super::{RunCommand, WorkingDirectory};
use clap_mangen::Man;

use crate::terminal;
use diagnostics::Hint as _;

/// Print the manual page of a command
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs man create api              # on a terminal, as text
  operator-rs man create api | man -l -")]
pub struct Args {
    /// The command, such as `create api`, or the name of its page, `operator-rs-create-api` [default: operator-rs itself]
    command: Vec<String>,
    /// List the names of all pages instead
    #[arg(long, conflicts_with = "command")]
    list: bool,
}

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Unused
    }

    fn run(self, _dir: &Path) -> anyhow::Result<()> {
        let mut root =
            <super::Cli as clap::CommandFactory>::command().disable_help_subcommand(true);
        // Gives every subcommand its full name.
        root.build();
        if self.list {
            terminal::write_data(&page_names(&root).join("\n"));
            terminal::write_data("\n");
            return Ok(());
        }
        let page = self.command.first().filter(|_| self.command.len() == 1);
        let command = match page.and_then(|name| find_by_page_name(&root, name)) {
            Some(command) => command,
            None => find_command(&root, &self.command)?,
        };
        let mut page = Vec::new();
        let version = concat!("operator-rs ", env!("CARGO_PKG_VERSION"));
        Man::new(command.clone()).source(version).render(&mut page)?;
        let page = String::from_utf8(page)?.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n");
        terminal::write_binary_or(&page, || command.clone().render_long_help().to_string());
        Ok(())
    }
}

/// The command below this one, or this one itself, whose page has the name. Dashes in it may belong to a command.
fn find_by_page_name<'a>(command: &'a clap::Command, name: &str) -> Option<&'a clap::Command> {
    if page_name(command) == name {
        return Some(command);
    }
    command.get_subcommands().find_map(|subcommand| find_by_page_name(subcommand, name))
}

fn find_command<'a>(
    root: &'a clap::Command,
    words: &[String],
) -> anyhow::Result<&'a clap::Command> {
    words.iter().try_fold(root, |command, word| {
        let Some(found) = command.find_subcommand(word) else {
            return Err(anyhow::format_err!("`{}` has no command `{word}`", page_name(command)))
                .hint("`operator-rs man --list` lists all pages");
        };
        Ok(found)
    })
}

/// The name of a command's page, and of those of the commands below it.
fn page_names(command: &clap::Command) -> Vec<String> {
    let below = command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set())
        .flat_map(page_names);
    std::iter::once(page_name(command).to_owned()).chain(below).collect()
}

/// `operator-rs-create-api` for `operator-rs create api`.
fn page_name(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}
