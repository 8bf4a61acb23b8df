//! `operator-rs uninstall`

use super::{
    install, project,
    reach::{self, Reach, Sending},
};
use crate::{
    cluster::{self, Became, Cluster, Id, Live, Told, Verb},
    disk::Root,
    terminal,
};

/// Remove the CRDs from a cluster, and with them every object of their kinds
#[derive(clap::Args)]
pub struct Args {
    /// Remove objects with their CRDs without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let sending = self.reach.sending();
        let crds: Vec<Id> = install::crds(root, &project(root)?)?.iter().map(Id::of).collect();
        if sending == Sending::Nothing {
            reach::list("delete", &crds);
            return Ok(());
        }
        reach::reached(self.remove(&self.reach.connect()?, &crds, sending))
    }

    fn remove(&self, cluster: &Cluster, crds: &[Id], sending: Sending) -> anyhow::Result<()> {
        let found = cluster.find(crds)?;
        if found.is_empty() {
            terminal::advise("nothing is there to remove\n");
            return Ok(());
        }
        let problems = cluster.try_delete(&found)?;
        if !problems.is_empty() {
            return Err(cluster::refuse("nothing was removed", &problems));
        }
        let with_them = objects_of(cluster, &found)?;
        if sending == Sending::DryRun {
            with_them.iter().for_each(|it| terminal::advise(&format!("{it}\n")));
            let deletes = found.iter().map(|it| Became::new(Verb::Delete, &it.id));
            deletes.for_each(|it| reach::tell(Told::Became(it)));
            return Ok(());
        }
        confirm(&with_them, self.yes)?;
        cluster.delete(&found, self.reach.limit(), &mut reach::tell)
    }
}

/// What would go with CRDs, a line for each that holds something.
pub fn objects_of(cluster: &Cluster, found: &[Live]) -> anyhow::Result<Vec<String>> {
    let mut res = Vec::new();
    for it in found.iter().filter(|it| it.id.is_crd()) {
        let held = cluster.held(&it.object)?;
        if !held.is_empty() {
            res.push(format!("with {} goes: {}", it.id, cluster::tell_held(&held)));
        }
    }
    Ok(res)
}

/// Goes on where nothing else would go, where the flag says so, or where a person does.
pub fn confirm(losses: &[String], yes: bool) -> anyhow::Result<()> {
    losses.iter().for_each(|it| terminal::advise(&format!("{it}\n")));
    if losses.is_empty() || yes || terminal::agree("Remove all of it?", "yes")? {
        return Ok(());
    }
    anyhow::bail!("nothing was removed")
}
