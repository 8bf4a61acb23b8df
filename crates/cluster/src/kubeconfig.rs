//! Reads the kubeconfigs that kubectl would read.
//!
//! No error shows a field of a kubeconfig or the output of a credential plugin: any of it may be or contain a secret.
//! Errors name the file, the line and what is wrong.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kube::{
    Config,
    config::{InClusterError, KubeConfigOptions, Kubeconfig},
};

use super::{kubeconfig_errors::error_reason, kubeconfig_files, proxy, target::Target};
use diagnostics::Hint as _;
use model::display_path;

const KUBECONFIG_HINT: &str = "set KUBECONFIG or pass `--kubeconfig FILE`";

/// Loads the configuration with which to connect to a target. `variable` is the value of KUBECONFIG.
pub async fn load_config(target: &Target, variable: Option<&str>) -> anyhow::Result<Config> {
    let kubeconfig = match (&target.kubeconfig, variable.filter(|list| !list.is_empty())) {
        (Some(path), _) => read_file(path, target)?.with_context(|| missing_file(path))?,
        (None, Some(list)) => load_listed_files(list, target)?,
        (None, None) => {
            let path = target.kubeconfig_in_home.as_ref();
            match path.map(|path| read_file(path, target)).transpose()?.flatten() {
                Some(kubeconfig) => kubeconfig,
                None => return in_cluster(target),
            }
        }
    };
    config_for_context(kubeconfig, target).await
}

/// The files of KUBECONFIG, merged. As in kubectl, missing files are skipped as long as one exists.
fn load_listed_files(list: &str, target: &Target) -> anyhow::Result<Kubeconfig> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    let paths = list.split(separator).filter(|path| !path.is_empty()).map(PathBuf::from);
    let paths: Vec<PathBuf> = paths.collect();
    let mut merged = None;
    for path in &paths {
        if let Some(next) = read_file(path, target)? {
            merged = Some(match merged {
                None => next,
                Some(first) => Kubeconfig::merge(first, next).map_err(|error| {
                    anyhow::format_err!(
                        "`{}` cannot be merged: {}",
                        display_path(&path),
                        error_reason(&error)
                    )
                })?,
            });
        }
    }
    match (merged, &paths[..]) {
        (Some(it), _) => Ok(it),
        (None, []) => Err(anyhow::format_err!("KUBECONFIG names no file")).hint(KUBECONFIG_HINT),
        (None, _) => {
            let missing: Vec<String> = paths.iter().map(|path| missing_file(path)).collect();
            Err(anyhow::format_err!("KUBECONFIG: {}", missing.join(", "))).hint(KUBECONFIG_HINT)
        }
    }
}

fn missing_file(path: &Path) -> String {
    format!("the kubeconfig `{}` does not exist", display_path(&path))
}

/// Reads one file; none if it does not exist.
fn read_file(path: &Path, target: &Target) -> anyhow::Result<Option<Kubeconfig>> {
    let name = format!("the kubeconfig `{}`", display_path(&path));
    let Some(content) = (target.host.read)(&name, path, target.deadline)? else { return Ok(None) };
    let text = kubeconfig_files::decode_text(&content);
    let text = text.with_context(|| format!("{name} is neither UTF-8 nor UTF-16"))?;
    let mut config = Kubeconfig::from_yaml(&text)
        .map_err(|error| anyhow::format_err!("{name} cannot be read: {}", error_reason(&error)))?;
    kubeconfig_files::resolve_paths(&mut config, path);
    // kubectl refuses duplicates; kube would use the first.
    let clusters = config.clusters.iter().map(|cluster| ("cluster", &cluster.name));
    let users = config.auth_infos.iter().map(|user| ("user", &user.name));
    let contexts = config.contexts.iter().map(|context| ("context", &context.name));
    let mut names: Vec<_> = clusters.chain(users).chain(contexts).collect();
    names.sort();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let (what, named) = twice[0];
        anyhow::bail!("{name} has the {what} `{named}` twice");
    }
    // kubectl treats an empty name as unset, so the next file's counts.
    config.current_context.take_if(|name| name.is_empty());
    Ok(Some(config))
}

/// The pod's service account, if nothing else was requested.
fn in_cluster(target: &Target) -> anyhow::Result<Config> {
    let none = "there is no cluster to connect to: KUBECONFIG is not set and `~/.kube/config` does not exist";
    if target.context.is_some() {
        return Err(anyhow::format_err!("{none}")).hint(KUBECONFIG_HINT);
    }
    match Config::incluster_env() {
        Ok(it) => Ok(it),
        Err(InClusterError::ReadEnvironmentVariable(_)) => {
            Err(anyhow::format_err!("{none}")).hint(KUBECONFIG_HINT)
        }
        Err(error) => {
            Err(anyhow::format_err!("{error}")).context("cannot read the pod's service account")
        }
    }
}

async fn config_for_context(mut kubeconfig: Kubeconfig, target: &Target) -> anyhow::Result<Config> {
    let names: Vec<&str> =
        kubeconfig.contexts.iter().map(|context| context.name.as_str()).collect();
    let names = names.join(", ");
    let Some(context) = target.context.as_ref().or(kubeconfig.current_context.as_ref()) else {
        return Err(anyhow::format_err!("the kubeconfig has no current context"))
            .hint(format!("pass `--context`; its contexts are: {names}"));
    };
    if !kubeconfig.contexts.iter().any(|named| named.name == *context) {
        return Err(anyhow::format_err!("the kubeconfig has no context `{context}`"))
            .hint(format!("its contexts are: {names}"));
    }
    let context = context.clone();
    kubeconfig_files::load_credentials(&mut kubeconfig, &context, target)?;
    let proxy = proxy::kubeconfig_proxy(&kubeconfig, target.context.as_deref());
    let options = KubeConfigOptions { context: target.context.clone(), ..Default::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.map_err(|error| {
        anyhow::format_err!("the kubeconfig cannot be used: {}", error_reason(&error))
    })?;
    config.proxy_url = target.proxies.proxy_for(&config.cluster_url, proxy)?;
    Ok(config)
}
