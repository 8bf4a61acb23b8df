use crate::terminal;

/// Print the version, and what it makes projects for
#[derive(clap::Args)]
pub struct Args;

impl Args {
    pub fn run(self) -> anyhow::Result<()> {
        terminal::print(&format!(
            "operator-rs {} (kube 5, Kubernetes 1.33 and newer)\n",
            env!("CARGO_PKG_VERSION")
        ));
        Ok(())
    }
}
