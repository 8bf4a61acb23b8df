//! The flags that `run bundle` and `run bundle-upgrade` share.

use std::path::Path;

use super::{serving::Serving, source, v1};
use crate::app::{
    cluster_args::{self, ClusterArgs},
    images::Access,
};
use model::Namespace;
use olm::lifecycle::{Files, Release};

#[derive(clap::Args)]
pub struct Installation {
    /// Directory, archive or image of the bundle
    #[arg(value_name = "BUNDLE")]
    bundle: String,
    #[command(flatten)]
    pub serving: Serving,
    #[command(flatten)]
    v1: v1::Flags,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    pub cluster_args: ClusterArgs,
}

impl Installation {
    /// Installs with OLM v1 if that is requested, and otherwise with `v0`, which gets the bundle.
    pub fn run(
        &self,
        dir: &Path,
        namespace: Option<&Namespace>,
        verb: v1::Verb,
        v0: impl FnOnce(&Files, &Release) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Self { bundle, v1: flags, access, cluster_args, .. } = self;
        if flags.v1 {
            let request = v1::Request { bundle, namespace, access, cluster_args, flags, verb };
            return cluster_args::with_hint(request.run(dir));
        }
        let (files, release) = source::read(dir, bundle, access)?;
        cluster_args::with_hint(v0(&files, &release))
    }
}
