use clap_complete::Shell;

use crate::terminal;

/// Print a shell's completion script
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell"])]
    shell: String,
}

impl Args {
    pub fn run(self, command: &mut clap::Command) -> anyhow::Result<()> {
        let shell: Shell = self.shell.parse().map_err(|it| anyhow::format_err!("{it}"))?;
        let mut script = Vec::new();
        clap_complete::generate(shell, command, "operator-rs", &mut script);
        terminal::data(&String::from_utf8(script)?);
        Ok(())
    }
}
