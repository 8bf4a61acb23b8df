//! The flags that `run bundle` and `run bundle-upgrade` share.

use std::path::Path;

use super::{serving::Serving, source, v1};
use crate::app::{
    cluster_access::cluster_args::{self, ClusterArgs},
    images::{RegistryAccess, RegistryFlags, bundles::OlmVersion},
};
use crate::terminal;
use model::Namespace;
use olm::lifecycle::{Files, Release};

#[derive(clap::Args)]
pub struct Installation {
    /// Directory, archive or image of the bundle
    #[arg(value_name = "BUNDLE")]
    bundle: String,
    /// Version of OLM that installs the operator
    #[arg(long, value_enum, value_name = "OLM", default_value = "olmv0")]
    target: OlmVersion,
    /// `--target olmv1`, as it was called before
    #[arg(long, hide = true, conflicts_with = "target")]
    v1: bool,
    #[command(flatten)]
    pub serving: Serving,
    #[command(flatten)]
    flags: v1::V1Flags,
    #[command(flatten)]
    access: RegistryFlags,
    #[command(flatten)]
    pub cluster_args: ClusterArgs,
}

impl Installation {
    fn is_v1(&self) -> bool {
        self.v1 || self.target == OlmVersion::Olmv1
    }

    /// Refuses flags of the other version of OLM. `of_v0` is one of the command's own, if it is given.
    pub fn require_use(&self, of_v0: Option<&'static str>) -> anyhow::Result<()> {
        let message = match (
            self.is_v1(),
            of_v0.or_else(|| self.serving.first_given_flag()),
            self.flags.first_given_flag(),
        ) {
            (true, Some(flag), _) => {
                format!("`{flag}` is for OLM v0: leave it out, or leave out `--target olmv1`")
            }
            (false, _, Some(flag)) => {
                format!("`{flag}` is for OLM v1: leave it out, or add `--target olmv1`")
            }
            _ => return Ok(()),
        };
        Err(terminal::usage_error(clap::error::ErrorKind::ArgumentConflict, &message))
    }

    /// Installs with OLM v1 if that is requested, and otherwise with `v0`, which gets the bundle.
    pub fn run(
        &self,
        dir: &Path,
        namespace: Option<&Namespace>,
        verb: v1::Verb,
        v0: impl FnOnce(&Files, &Release) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Self { bundle, flags, cluster_args, .. } = self;
        let time = cluster_args.time();
        let access = &RegistryAccess::new(self.access.clone(), time);
        if self.is_v1() {
            let request =
                v1::InstallRequest { bundle, namespace, access, cluster_args, flags, verb };
            return cluster_args::with_hint(request.run(dir));
        }
        let (files, release) = source::read(dir, bundle, access)?;
        access.require_use()?;
        cluster_args::with_hint(v0(&files, &release))
    }
}
