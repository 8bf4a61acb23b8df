//! Starts etcd and kube-apiserver on free ports of 127.0.0.1, and ends them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{arguments, assets::Assets};
use crate::{
    app::cluster_access::credential_plugin,
    audit::Access,
    disk::{self, Root, ScratchDir},
    process::{self, BackgroundProcess},
};
use cluster::{Cluster, Id, Proxies, Target};
use diagnostics::Hint as _;
use go_data::yaml::{self, Value, json};
use model::{Deadline, display_path};

/// The settings of a control plane.
#[derive(Clone, Copy)]
pub struct ControlPlaneOptions {
    pub controllers: bool,
    /// The programs keep running when this one ends.
    pub keep: bool,
    /// When the programs must be ready.
    pub deadline: Deadline,
}

/// Programs that run until this value is dropped or this process ends or, if they are kept, until the user ends them. The
/// fields are dropped in this order.
pub struct ControlPlane {
    pub cluster: Cluster,
    _running: Vec<BackgroundProcess>,
    left: Vec<u32>,
    _sweeper: Option<BackgroundProcess>,
    folder: PathBuf,
    pub assets: PathBuf,
}

pub(super) const KUBECONFIG: &str = "kubeconfig";
pub(super) const AUDIT_LOG: &str = "audit.log";
/// The certificate that kube-apiserver generates, and its key. The key also signs the tokens of service accounts, which is
/// enough for tests.
pub(super) const CERTIFICATE: &str = "certs/apiserver.crt";
pub(super) const KEY: &str = "certs/apiserver.key";
/// How often to try other ports if another program has taken one.
const TRIES: usize = 3;
const NOW_AND_THEN: Duration = Duration::from_millis(50);
/// A minute, for busy machines.
const LOOKS: usize = 1200;

impl ControlPlane {
    pub fn start(assets: &Assets, wants: ControlPlaneOptions) -> anyhow::Result<Self> {
        let mut tries = 1;
        loop {
            match Self::try_start(assets, wants) {
                Ok(plane) => return Ok(plane),
                Err(Fault::Taken) if tries < TRIES => tries += 1,
                Err(Fault::Taken) => {
                    anyhow::bail!("other programs took every free port before it could be used")
                }
                Err(Fault::Other(error)) => return Err(error),
            }
        }
    }

    fn try_start(assets: &Assets, wants: ControlPlaneOptions) -> Result<Self, Fault> {
        let folder = disk::create_temporary_folder("operator-rs-test-")?;
        let sweeper = if wants.keep { None } else { Some(BackgroundProcess::sweeping(&folder)?) };
        let [client, peer, port] = cluster::free_ports()?;
        config_files(&folder, port).put(&Root::new(&folder)?)?;
        // The client can be created only after the server has written its certificate.
        let mut programs =
            Programs { assets, folder: &folder, wants, running: vec![], left: vec![] };
        let ready = programs.server(client, peer, port);
        let Programs { running, left, .. } = programs;
        match ready {
            Ok(cluster) => Ok(Self {
                cluster,
                _running: running,
                left,
                _sweeper: sweeper,
                folder: folder.clone(),
                assets: assets.folder().to_owned(),
            }),
            Err(error) => {
                // Nothing is kept if the start fails.
                process::end(&left);
                if wants.keep {
                    drop(BackgroundProcess::sweeping(&folder));
                }
                Err(error)
            }
        }
    }

    /// The kubeconfig of an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join(KUBECONFIG)
    }

    /// The audit log of the API server.
    pub fn audit_log(&self) -> anyhow::Result<String> {
        disk::read_text(&self.folder.join(AUDIT_LOG))
    }

    /// The certificate of the API server with the authority that vouches for it, as PEM. It is for 127.0.0.1.
    pub fn certificate(&self) -> anyhow::Result<String> {
        disk::read_text(&self.folder.join(CERTIFICATE))
    }

    /// The variables that make an operator serve its webhooks with this certificate.
    pub fn serving_certificate(&self) -> [(&'static str, PathBuf); 3] {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).into();
        let folder = self.folder.join(CERTIFICATE);
        let folder = folder.parent().unwrap_or(&self.folder).to_owned();
        [
            ("WEBHOOK_CERT_PATH", folder),
            ("WEBHOOK_CERT_NAME", name(CERTIFICATE)),
            ("WEBHOOK_CERT_KEY", name(KEY)),
        ]
    }

    /// A role that a binding refers to, if it is still there.
    pub fn role(&self, access: &Access) -> Option<Value> {
        let is_of_cluster = access.resource == "clusterroles";
        let id = Id {
            api_version: "rbac.authorization.k8s.io/v1".to_owned(),
            kind: if is_of_cluster { "ClusterRole" } else { "Role" }.to_owned(),
            namespace: if is_of_cluster { String::new() } else { access.namespace.clone() },
            name: access.name.clone(),
        };
        self.cluster.read(&id).ok().flatten()
    }

    /// The kubeconfig of another user, with a token, beside the administrator's.
    pub fn kubeconfig_of(
        &self,
        user: &str,
        namespace: &str,
        token: &str,
    ) -> anyhow::Result<PathBuf> {
        let name = format!("{user}.kubeconfig");
        let text = kubeconfig(&self.folder, &self.cluster.server, user, namespace, token);
        disk::write_new_file(&self.folder.join(&name), &text)?;
        Ok(self.folder.join(name))
    }

    /// Instructions for programs that keep running.
    pub fn left(&self) -> String {
        let pids: Vec<String> = self.left.iter().map(u32::to_string).collect();
        let folder = display_path(&self.folder);
        format!(
            "\nThe API server keeps running: {}\n  export KUBECONFIG={}\nTo stop it and delete its files:\n  kill -9 {}; rm -r {folder}\n",
            self.cluster.server,
            display_path(&self.kubeconfig()),
            pids.join(" "),
        )
    }
}

/// Why an API server did not start.
enum Fault {
    /// Another program took a port before ours listened on it.
    Taken,
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

struct Programs<'a> {
    assets: &'a Assets,
    folder: &'a Path,
    wants: ControlPlaneOptions,
    running: Vec<BackgroundProcess>,
    left: Vec<u32>,
}

impl Programs<'_> {
    fn start(&mut self, name: &str, arguments: &[String]) -> anyhow::Result<()> {
        let (program, log) = (self.assets.program(name)?, format!("{name}.log"));
        if self.wants.keep {
            self.left.push(process::left_running(&program, arguments, self.folder, &log)?);
        } else {
            self.running.push(BackgroundProcess::start(&program, arguments, self.folder, &log)?);
        }
        Ok(())
    }

    fn server(&mut self, client: u16, peer: u16, port: u16) -> Result<Cluster, Fault> {
        if self.wants.controllers {
            self.assets.program("kube-controller-manager")?;
        }
        self.start("etcd", &arguments::etcd(client, peer))?;
        self.start("kube-apiserver", &arguments::apiserver(client, port))?;
        // It writes the key last. The certificate is still empty when it appears.
        let key = self.folder.join(KEY);
        self.wait("kube-apiserver", || key.is_file())?;
        // The server is on this machine, so no proxy is used.
        let kubeconfig = Some(self.folder.join(KUBECONFIG));
        let target = Target {
            kubeconfig,
            kubeconfig_in_home: None,
            context: None,
            proxies: Proxies::default(),
            deadline: self.wants.deadline,
            host: credential_plugin::host(),
        };
        let cluster = Cluster::connect(&target)?;
        let ready = |path: &str| cluster.get(path).is_ok_and(|response| response.is_success());
        self.wait("kube-apiserver", || ready("/readyz"))?;
        if self.wants.controllers {
            self.start("kube-controller-manager", &arguments::controller_manager())?;
            let account = "/api/v1/namespaces/default/serviceaccounts/default";
            self.wait("kube-controller-manager", || ready(account))?;
        }
        Ok(cluster)
    }

    /// Waits until something exists, as long as all programs run.
    fn wait(&mut self, name: &str, is_there: impl Fn() -> bool) -> Result<(), Fault> {
        for _ in 0..LOOKS {
            if is_there() {
                return Ok(());
            }
            let is_late = self.wants.deadline.is_over();
            if is_late || self.running.iter_mut().any(BackgroundProcess::has_ended) {
                break;
            }
            process::pause(NOW_AND_THEN);
        }
        let mut tail = String::new();
        for name in ["etcd", "kube-apiserver", "kube-controller-manager"] {
            let log = self.folder.join(format!("{name}.log"));
            let text = disk::read_text_if_exists(&log)?.unwrap_or_default();
            if text.contains("address already in use") {
                return Err(Fault::Taken);
            }
            let last: Vec<&str> = text.lines().rev().take(3).collect();
            tail.extend(last.iter().rev().map(|line| format!("\n  {name}: {line}")));
        }
        Err(anyhow::format_err!("{name} did not become ready; the last lines of the logs:{tail}"))
            .hint("check that the programs are complete and built for this machine")
            .map_err(Fault::Other)
    }
}

/// The configuration files of the programs.
fn config_files(folder: &Path, port: u16) -> ScratchDir {
    let token = cluster::random_token();
    let server = format!("https://127.0.0.1:{port}");
    let admin = kubeconfig(folder, &server, "admin", "default", &token);
    let mut dir = ScratchDir::default();
    dir.files.insert(KUBECONFIG.to_owned(), admin);
    dir.files.insert("tokens.csv".to_owned(), format!("{token},admin,admin,system:masters\n"));
    // The bodies of writes contain the owner references.
    let policy = json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {
                "level": "Request",
                "userGroups": ["system:serviceaccounts"],
                "verbs": ["create", "patch", "update"],
            },
            { "level": "Metadata", "userGroups": ["system:serviceaccounts"] },
            { "level": "None" },
        ],
    });
    dir.files.insert("audit.yaml".to_owned(), yaml::to_text(&policy));
    dir
}

fn kubeconfig(folder: &Path, server: &str, user: &str, namespace: &str, token: &str) -> String {
    yaml::to_text(&json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "test",
            "cluster": { "server": server, "certificate-authority": folder.join(CERTIFICATE) },
        }],
        "users": [{ "name": user, "user": { "token": token } }],
        "contexts": [{
            "name": "test",
            "context": { "cluster": "test", "user": user, "namespace": namespace },
        }],
        "current-context": "test",
    }))
}
