//! `operator-rs test`

mod arguments;
mod assets;
mod control_plane;
mod download;
mod stage;

use super::{RunCommand, reading};
use crate::project::Project;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use self::{
    assets::Assets,
    control_plane::{ControlPlane, ControlPlaneOptions},
    stage::{Inputs, Stage},
};
use crate::app::{
    charts, cluster_access::cluster_args, compile, deployment::given::ManifestsArg,
    output::time_limit::TimeLimit,
};
use crate::{audit, disk::Root, process, terminal};
use diagnostics::{Diagnostic, Hint as _};
use model::{Deadline, Namespace, display_path};

/// Run tests against a temporary API server that has the CRDs
///
/// In a project, the CRDs and the role are those of config/. In any other cargo workspace, the CRDs are those that its
/// source declares, and `--manifests` gives the operator's Deployment and roles.
#[derive(clap::Args)]
#[command(
    mut_arg("timeout", of_preparation),
    after_help = "\
Examples:
  operator-rs test --download 1.37    # fetch etcd and kube-apiserver, then run `cargo test`
  operator-rs test --audit-rbac       # report unused and missing RBAC rules
  operator-rs test -- cargo test --test e2e
  helm template chart | operator-rs test --manifests - --audit-rbac    # in any cargo workspace"
)]
pub struct Args {
    /// Directory of etcd and kube-apiserver [default: $KUBEBUILDER_ASSETS]
    #[arg(long, value_name = "DIR", conflicts_with = "download")]
    assets: Option<PathBuf>,
    /// Download etcd and kube-apiserver as envtest does: 1.37, 1.37.0 or latest
    #[arg(long, value_name = "VERSION")]
    download: Option<download::VersionRequest>,
    /// URL of the list of downloads
    #[arg(long, value_name = "URL", requires = "download", default_value = download::INDEX)]
    index: String,
    /// Also start kube-controller-manager: Deployments create pods, and owned objects are garbage-collected
    #[arg(long)]
    controller_manager: bool,
    /// Leave the API server running and print the path of its kubeconfig
    #[arg(long)]
    keep: bool,
    /// Report which rules of the operator's role were used and which requests were forbidden
    #[arg(long)]
    audit_rbac: bool,
    /// Namespace of the operator [default: that of config/default; if it has none, that of the account in the role
    /// bindings; if they name none, `default`]
    #[arg(long, short)]
    namespace: Option<Namespace>,
    #[command(flatten)]
    given: ManifestsArg,
    /// Install the CRDs of these files in place of those that the source declares
    #[arg(long, value_name = "DIR|FILE")]
    crds: Option<PathBuf>,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    time: TimeLimit,
    /// Command to run instead of `cargo test`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl RunCommand for Args {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let root = &reading(dir)?;
        let project = Project::find_in(root)?;
        let stage = self.build_stage(root, project.as_ref())?;
        if self.audit_rbac && stage.account.is_none() {
            return refuse_audit(&stage.roles_in);
        }
        let assets = match &self.download {
            Some(request) => Assets::in_folder(
                &download::fetch(request, &self.index, root.resolved_path(), self.time.deadline)?,
                "--download",
            )?,
            None => Assets::find(self.assets.as_deref())?,
        };
        let wants = ControlPlaneOptions {
            controllers: self.controller_manager,
            keep: self.keep,
            deadline: self.time.deadline,
        };
        let step = terminal::Step::begin("starting etcd and kube-apiserver");
        let mut plane = ControlPlane::start(&assets, wants)?;
        // Tests that deploy must find that the objects belong to the project.
        if let Some(project) = &project {
            plane.cluster.set_owner(cluster_args::owner(project));
        }
        drop(step);
        let result = self.run_tests(root, &stage, &plane);
        if self.keep {
            // Also after a failed test, which is when users inspect the server.
            terminal::write_data(&format!("{}\n", display_path(&plane.kubeconfig())));
            terminal::print_advice(&plane.left());
        }
        result
    }
}

impl Args {
    fn build_stage(&self, root: &Root, project: Option<&Project>) -> anyhow::Result<Stage> {
        let is_given = self.given.manifests.is_some() || self.crds.is_some();
        let given = self.namespace.as_ref();
        let namespace = given.cloned().map_or_else(|| stage::NAMESPACE.parse(), Ok)?;
        let deadline = self.time.deadline;
        let crds = ManifestsArg { manifests: self.crds.clone() };
        let crds = crds.until(deadline).read(root, Some(&namespace))?;
        let manifests = match project {
            Some(project) if !project.is_adopted() && !is_given => {
                return Stage::of(root, project, given);
            }
            // Tests can do without the account and the roles of the chart.
            Some(project)
                if self.given.is_recorded_chart(project)
                    && !self.audit_rbac
                    && charts::helm::program().is_err() =>
            {
                let chart = "the tests run without the account and the roles of the chart: there is no `helm` on PATH";
                terminal::warn(Diagnostic::from(chart).with_hint("install helm, or render the chart elsewhere: `helm template … | operator-rs test --manifests -`"));
                None
            }
            Some(project) => self.given.until(deadline).of(root, project, Some(&namespace))?,
            None => self.given.until(deadline).read(root, Some(&namespace))?,
        };
        let inputs =
            Inputs { manifests, crds, namespace: self.namespace.clone(), compile: self.compile };
        Stage::of_workspace(root.resolved_path(), inputs)
    }

    fn run_tests(&self, root: &Root, stage: &Stage, plane: &ControlPlane) -> anyhow::Result<()> {
        let variables = stage.apply_objects(plane, self.controller_manager)?;
        let cargo = ["cargo", "test"].map(OsString::from).to_vec();
        let words = if self.command.is_empty() { &cargo } else { &self.command };
        let status = process::attended(words, root.resolved_path(), &variables)?;
        // The time of the tests is theirs.
        plane.cluster.renew_deadline(Deadline::after(stage::PATIENCE));
        if let Some(account) = &stage.account {
            let calls = audit::calls(&plane.audit_log()?, &account.user());
            let known = audit::Known {
                plural: &|group, kind| stage.plural(group, kind),
                role: &|access| plane.role(access),
                namespace: stage.namespace.as_deref(),
                roles: match stage.roles_in.as_str() {
                    stage::ROLE => audit::RolesFrom::Comments,
                    _ => audit::RolesFrom::Manifests,
                },
            };
            let report = audit::report(&audit::collect_rules(&stage.roles), &calls, known);
            if self.audit_rbac {
                let user = account.user();
                terminal::print(&format!("How {user} used {}:\n{report}", stage.roles_in));
                require_bound(&user, &stage.unbound)?;
                require_audited(&user, &report, &stage.roles_in)?;
            } else if !status.success() && !report.refused.is_empty() {
                let refusals = report.refusals();
                terminal::print_advice(&format!(
                    "The operator's role does not allow these requests:\n{refusals}"
                ));
            }
        }
        if status.success() {
            Ok(())
        } else {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            Err(anyhow::format_err!("`{}` failed: {status}", words.join(" ")))
        }
    }
}

/// `--timeout` of a command that runs tests, which may take as long as they like.
fn of_preparation(flag: clap::Arg) -> clap::Arg {
    let flag =
        flag.help("Time limit of the download and of everything else before the tests start");
    flag.default_value("30m")
}

/// There is no account whose requests could be audited.
fn refuse_audit(roles_in: &str) -> anyhow::Result<()> {
    match roles_in {
        "" => Err(anyhow::format_err!("there is no role to audit"))
            .hint("say where the operator's Deployment and its roles are: `--manifests DIR|FILE`"),
        stage::ROLE => Err(anyhow::format_err!(
            "config/default has no Deployment with a ServiceAccount whose requests could be audited"
        ))
        .hint("restore config/manager and config/rbac in config/default/kustomization.yaml"),
        other => anyhow::bail!(
            "`{other}` has no Deployment with a ServiceAccount whose requests could be audited"
        ),
    }
}

/// A role that nothing binds grants nothing.
fn require_bound(user: &str, unbound: &[String]) -> anyhow::Result<()> {
    match unbound {
        [] => Ok(()),
        roles => Err(anyhow::format_err!("no binding gives {user} the {}", roles.join(", the ")))
            .hint(
                "bind it in config/rbac: `operator-rs manifests` shows the comments that need it",
            ),
    }
}

#[test]
fn a_role_that_nothing_binds_is_an_error() {
    let error = require_bound("u", &["Role `a`".to_owned(), "ClusterRole `b`".to_owned()]);
    let error = error.expect_err("nothing binds them");
    assert_eq!(error.to_string(), "no binding gives u the Role `a`, the ClusterRole `b`");
    let hint = "bind it in config/rbac: `operator-rs manifests` shows the comments that need it";
    assert_eq!(diagnostics::collect_hints(&error), [hint]);
    assert!(require_bound("u", &[]).is_ok());
}

fn require_audited(user: &str, report: &audit::Report, roles_in: &str) -> anyhow::Result<()> {
    if report.calls == 0 {
        let example = if roles_in == stage::ROLE { ", as tests/e2e.rs does" } else { "" };
        return Err(anyhow::format_err!("the tests sent no request as {user}")).hint(format!(
            "start the operator with the kubeconfig in E2E_OPERATOR_KUBECONFIG{example}"
        ));
    }
    match report.refused.len() {
        0 => Ok(()),
        _ => Err(anyhow::format_err!("the operator sent requests that its role does not allow"))
            .hint(match roles_in {
                stage::ROLE => "add the comments shown above to the code that sends the requests, then run `operator-rs manifests`".to_owned(),
                other => format!("add these rights to the role in `{other}`"),
            }),
    }
}
