//! The programs of a control plane.

use std::path::{Path, PathBuf};

use crate::{disk, process::ProgramPath, terminal};
use diagnostics::with_hints;
use model::display_path;

/// The folder where envtest installs them.
const USUAL: &str = "/usr/local/kubebuilder/bin";

/// A folder that has etcd and kube-apiserver.
pub struct Assets {
    folder: PathBuf,
    /// The folder as the user gave it, and where, for messages.
    named: String,
}

impl Assets {
    /// The folder of the flag, else of `$KUBEBUILDER_ASSETS`, else of envtest.
    pub fn find(flag: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(folder) = flag {
            return Self::in_folder(folder, "--assets");
        }
        if let Some(folder) = terminal::variable("KUBEBUILDER_ASSETS")? {
            return Self::in_folder(Path::new(&folder), "KUBEBUILDER_ASSETS");
        }
        if Path::new(USUAL).join("kube-apiserver").is_file() {
            Self::in_folder(Path::new(USUAL), "envtest's own directory")
        } else {
            programs_missing(anyhow::format_err!("kube-apiserver was not found"))
        }
    }

    pub fn in_folder(folder: &Path, from: &str) -> anyhow::Result<Self> {
        let lacks = |name: &&str| !folder.join(name).is_file();
        let lacks: Vec<&str> = ["etcd", "kube-apiserver"].into_iter().filter(lacks).collect();
        if lacks.is_empty() {
            let named = format!("`{}` ({from})", display_path(&folder));
            return Ok(Self { folder: disk::resolve_folder(folder)?, named });
        }
        programs_missing(anyhow::format_err!(
            "`{}` ({from}) has no {}",
            display_path(&folder),
            lacks.join(" and no ")
        ))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn program(&self, name: &str) -> anyhow::Result<ProgramPath> {
        if let Some(program) = ProgramPath::find(self.folder.join(name)) {
            return Ok(program);
        }
        let error = anyhow::format_err!("{} has no {name}", self.named);
        with_hints(
            error,
            [format!(
                "envtest's archives do not include it: put the {name} of the same Kubernetes release there, or omit the flag that needs it"
            )]
            .into_iter(),
        )
    }
}

/// Adds the ways to get the programs as hints.
fn programs_missing<T>(error: anyhow::Error) -> anyhow::Result<T> {
    let ways = [
        "`--download 1.37` (or another version) downloads etcd and kube-apiserver once and caches them",
        "`--assets DIR` uses a directory that has them",
        "`export KUBEBUILDER_ASSETS=$(setup-envtest use -p path)` uses the programs of setup-envtest",
    ];
    with_hints(error, ways.into_iter().map(str::to_owned))
}
