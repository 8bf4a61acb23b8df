//! `operator-rs test`

mod arguments;
mod assets;
mod control_plane;
mod download;
mod stage;

use std::{ffi::OsString, path::PathBuf};

use self::{
    assets::Assets,
    control_plane::{ControlPlane, Wants},
    stage::Stage,
};
use super::{project, reach};
use crate::{audit, disk::Root, hint::Hint as _, process, terminal};

/// Run the tests against an API server of their own, with the CRDs installed
#[derive(clap::Args)]
pub struct Args {
    /// The folder of etcd and kube-apiserver [default: $KUBEBUILDER_ASSETS]
    #[arg(long, value_name = "DIR", conflicts_with = "download")]
    assets: Option<PathBuf>,
    /// Fetch them, as kubebuilder's envtest has them: 1.37, 1.37.0 or latest
    #[arg(long, value_name = "VERSION")]
    download: Option<download::Wanted>,
    /// Where the downloads are listed
    #[arg(long, value_name = "URL", requires = "download", default_value = download::INDEX)]
    index: String,
    /// Start kube-controller-manager too: Deployments make pods, and what is owned is collected
    #[arg(long)]
    controller_manager: bool,
    /// Leave the API server running, and print its kubeconfig
    #[arg(long)]
    keep: bool,
    /// Tell which rules of config/rbac/role.yaml were used, and what was refused
    #[arg(long)]
    audit_rbac: bool,
    /// What to run in place of `cargo test`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let project = project(root)?;
        let stage = Stage::of(root, &project)?;
        if self.audit_rbac && stage.account.is_none() {
            return Err(anyhow::format_err!(
                "config/default has no Deployment with a ServiceAccount, whose calls could be looked at"
            ))
            .hint("bring back config/manager and config/rbac in config/default/kustomization.yaml");
        }
        let assets = match &self.download {
            Some(wanted) => {
                Assets::in_folder(&download::fetch(wanted, &self.index)?, "--download")?
            }
            None => Assets::find(self.assets.as_deref())?,
        };
        let wants =
            Wants { controllers: self.controller_manager, audit: self.audit_rbac, keep: self.keep };
        let step = terminal::Step::begin("starting etcd and kube-apiserver");
        let mut plane = ControlPlane::start(&assets, wants)?;
        // So that tests which deploy find what is there to be the project's.
        plane.cluster.act_for(reach::owner(&project));
        drop(step);
        let told = self.in_it(root, &stage, &plane);
        if self.keep {
            // Also where a test failed: that is when people look around.
            terminal::data(&format!("{}\n", plane.kubeconfig().display()));
            terminal::advise(&plane.left());
        }
        told
    }

    fn in_it(&self, root: &Root, stage: &Stage, plane: &ControlPlane) -> anyhow::Result<()> {
        let variables = stage.set(plane, self.controller_manager)?;
        let cargo = ["cargo", "test"].map(OsString::from).to_vec();
        let words = if self.command.is_empty() { &cargo } else { &self.command };
        let status = process::attended(words, root.real(), &variables)?;
        if self.audit_rbac {
            self.audit(stage, plane)?;
        }
        match status.success() {
            true => Ok(()),
            false => {
                let words: Vec<_> = words.iter().map(|it| it.to_string_lossy()).collect();
                Err(anyhow::format_err!("`{}` failed: {status}", words.join(" ")))
            }
        }
    }

    fn audit(&self, stage: &Stage, plane: &ControlPlane) -> anyhow::Result<()> {
        let Some(account) = &stage.account else { return Ok(()) };
        let calls = audit::calls(&plane.audit_log()?, &account.user());
        let plural = |group: &str, kind: &str| stage.plural(group, kind);
        let report =
            audit::report(&audit::grants(&stage.roles), &calls, plural, stage.namespace.as_deref());
        terminal::print(&format!(
            "config/rbac/role.yaml, and what {} did:\n{report}",
            account.user()
        ));
        if calls.is_empty() {
            return Err(anyhow::format_err!("the tests did nothing as {}", account.user())).hint(
                "start the operator with the kubeconfig in E2E_OPERATOR_KUBECONFIG, as tests/e2e.rs does",
            );
        }
        match report.refused.len() {
            0 => Ok(()),
            _ => Err(anyhow::format_err!("the operator was refused what its role does not allow"))
                .hint(
                    "add the comments above where the calls are made, then `operator-rs manifests`",
                ),
        }
    }
}
