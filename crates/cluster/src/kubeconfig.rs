//! Reads the kubeconfigs that kubectl would read.
//!
//! No error shows a field of a kubeconfig or the output of a credential plugin: any of it may be or contain a secret.
//! Errors name the file, the line and what is wrong.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use anyhow::Context as _;
use kube::{
    Config,
    client::AuthError,
    config::{AuthInfo, InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError},
};

use super::{Target, proxy};
use diagnostics::Hint as _;
use model::{Deadline, display_path};

/// The size of the largest kubeconfig that is read, in bytes. One with a thousand clusters has some MiB.
const LARGEST: u64 = 64 * 1024 * 1024;

const NOWHERE: &str = "set KUBECONFIG or pass `--kubeconfig FILE`";

/// How to connect to a target. `variable` is the value of KUBECONFIG.
pub async fn config(target: &Target, variable: Option<&str>) -> anyhow::Result<Config> {
    let kubeconfig = match (&target.kubeconfig, variable.filter(|it| !it.is_empty())) {
        (Some(path), _) => read(path, target.deadline)?.with_context(|| missing(path))?,
        (None, Some(list)) => listed(list, target.deadline)?,
        (None, None) => match Kubeconfig::read() {
            Ok(it) => it,
            Err(error) if is_missing(&error) => return in_cluster(target),
            Err(error) => anyhow::bail!("`~/.kube/config` cannot be read: {}", reason(&error)),
        },
    };
    choose(kubeconfig, target).await
}

/// The files of KUBECONFIG, merged. As in kubectl, missing files are skipped as long as one exists.
fn listed(list: &str, deadline: Deadline) -> anyhow::Result<Kubeconfig> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    let paths = list.split(separator).filter(|it| !it.is_empty()).map(PathBuf::from);
    let paths: Vec<PathBuf> = paths.collect();
    let mut res = None;
    for path in &paths {
        if let Some(next) = read(path, deadline)? {
            res = Some(match res {
                None => next,
                Some(first) => Kubeconfig::merge(first, next).map_err(|it| {
                    anyhow::format_err!(
                        "`{}` cannot be merged: {}",
                        display_path(&path),
                        reason(&it)
                    )
                })?,
            });
        }
    }
    match (res, &paths[..]) {
        (Some(it), _) => Ok(it),
        (None, []) => Err(anyhow::format_err!("KUBECONFIG names no file")).hint(NOWHERE),
        (None, _) => {
            let missing: Vec<String> = paths.iter().map(|it| missing(it)).collect();
            Err(anyhow::format_err!("KUBECONFIG: {}", missing.join(", "))).hint(NOWHERE)
        }
    }
}

fn missing(path: &Path) -> String {
    format!("the kubeconfig `{}` does not exist", display_path(&path))
}

/// One file; none if it does not exist.
fn read(path: &Path, deadline: Deadline) -> anyhow::Result<Option<Kubeconfig>> {
    let mut config = match load(path, deadline)? {
        Ok(it) => it,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => {
            anyhow::bail!(
                "the kubeconfig `{}` cannot be read: {}",
                display_path(&path),
                reason(&error)
            )
        }
    };
    // kubectl refuses duplicates; kube would use the first.
    let clusters = config.clusters.iter().map(|it| ("cluster", &it.name));
    let users = config.auth_infos.iter().map(|it| ("user", &it.name));
    let contexts = config.contexts.iter().map(|it| ("context", &it.name));
    let mut names: Vec<_> = clusters.chain(users).chain(contexts).collect();
    names.sort();
    if let Some(twice) = names.windows(2).find(|it| it[0] == it[1]) {
        let (what, name) = twice[0];
        anyhow::bail!("the kubeconfig `{}` has the {what} `{name}` twice", display_path(&path));
    }
    // kubectl treats an empty name as unset, so the next file's counts.
    config.current_context.take_if(|it| it.is_empty());
    Ok(Some(config))
}

/// Reads a file or a pipe until the deadline.
fn load(path: &Path, deadline: Deadline) -> anyhow::Result<Result<Kubeconfig, KubeconfigError>> {
    let (sender, receiver) = mpsc::channel();
    let file = path.to_owned();
    // A pipe is opened and read as its writer likes, so this thread may outlive the deadline.
    thread::spawn(move || drop(sender.send(load_bounded(&file))));
    let loaded = receiver.recv_timeout(deadline.left());
    loaded.map_err(|_| deadline.exceeded(format!("the kubeconfig `{}`", display_path(path))))?
}

#[expect(clippy::disallowed_methods, reason = "a kubeconfig is outside of the project")]
fn load_bounded(path: &Path) -> anyhow::Result<Result<Kubeconfig, KubeconfigError>> {
    let unreadable = |error: io::Error| KubeconfigError::ReadConfig(error, path.to_owned());
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(unreadable(error))),
    };
    let too_large = || format!("the kubeconfig `{}` has more than 64 MiB", display_path(path));
    if metadata.is_file() {
        anyhow::ensure!(metadata.len() <= LARGEST, too_large());
        return Ok(Kubeconfig::read_from(path));
    }
    // Such as the pipe of `--kubeconfig <(…)`, which can be read once only.
    let mut text = Vec::new();
    if let Err(error) = file.take(LARGEST + 1).read_to_end(&mut text) {
        return Ok(Err(unreadable(error)));
    }
    anyhow::ensure!(u64::try_from(text.len())? <= LARGEST, too_large());
    Ok(Kubeconfig::from_yaml(&String::from_utf8_lossy(&text)))
}

fn is_missing(error: &KubeconfigError) -> bool {
    match error {
        KubeconfigError::FindPath => true,
        KubeconfigError::ReadConfig(error, _) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// The pod's service account, if nothing else was requested.
fn in_cluster(target: &Target) -> anyhow::Result<Config> {
    let none = "there is no cluster to connect to: KUBECONFIG is not set and `~/.kube/config` does not exist";
    if target.context.is_some() {
        return Err(anyhow::format_err!("{none}")).hint(NOWHERE);
    }
    match Config::incluster_env() {
        Ok(it) => Ok(it),
        Err(InClusterError::ReadEnvironmentVariable(_)) => {
            Err(anyhow::format_err!("{none}")).hint(NOWHERE)
        }
        Err(error) => {
            Err(anyhow::format_err!("{error}")).context("cannot read the pod's service account")
        }
    }
}

async fn choose(kubeconfig: Kubeconfig, target: &Target) -> anyhow::Result<Config> {
    let names: Vec<&str> = kubeconfig.contexts.iter().map(|it| it.name.as_str()).collect();
    let names = names.join(", ");
    let Some(context) = target.context.as_ref().or(kubeconfig.current_context.as_ref()) else {
        return Err(anyhow::format_err!("the kubeconfig has no current context"))
            .hint(format!("pass `--context`; its contexts are: {names}"));
    };
    if !kubeconfig.contexts.iter().any(|it| it.name == *context) {
        return Err(anyhow::format_err!("the kubeconfig has no context `{context}`"))
            .hint(format!("its contexts are: {names}"));
    }
    let proxy = proxy::own(&kubeconfig, target.context.as_deref());
    let options = KubeConfigOptions { context: target.context.clone(), ..Default::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config
        .map_err(|it| anyhow::format_err!("the kubeconfig cannot be used: {}", reason(&it)))?;
    config.proxy_url = target.proxies.to(&config.cluster_url, proxy)?;
    // As kubectl, which sends no credentials without TLS. On this machine, nobody can read them on the way.
    let host = config.cluster_url.host().unwrap_or_default();
    if config.cluster_url.scheme_str() == Some("http") && !proxy::is_loopback(host) {
        config.auth_info = AuthInfo::default();
    }
    Ok(config)
}

/// What is wrong with a kubeconfig, without its content except the names of contexts and clusters.
pub fn reason(error: &KubeconfigError) -> String {
    use KubeconfigError as E;
    match error {
        E::ReadConfig(error, _) => error.to_string(),
        E::Parse(error) => match error.location() {
            Some(at) => {
                format!("it is not a valid kubeconfig (line {}, column {})", at.line(), at.column())
            }
            None => "it is not a valid kubeconfig".to_owned(),
        },
        E::LoadContext(name) => format!("it has no context `{name}`"),
        E::LoadClusterOfContext(name) => format!("it has no cluster `{name}`"),
        E::CurrentContextNotSet => "it has no current context".to_owned(),
        E::KindMismatch | E::ApiVersionMismatch => {
            "its `kind` or `apiVersion` is not that of the other files".to_owned()
        }
        E::MissingClusterUrl => "the cluster has no `server`".to_owned(),
        E::ParseClusterUrl(_) => "the `server` of the cluster is not a URL".to_owned(),
        E::ParseProxyUrl(_) => "the proxy, of `proxy-url` or HTTPS_PROXY, is not a URL".to_owned(),
        E::LoadCertificateAuthority(error) => {
            unloaded("the cluster's certificate authority", error)
        }
        E::LoadClientCertificate(error) => unloaded("the user's client certificate", error),
        E::LoadClientKey(error) => unloaded("the user's client key", error),
        E::ParseCertificates(_) => "the cluster's certificate authority is not PEM".to_owned(),
        E::ParseNoProxy(_) => "NO_PROXY cannot be read".to_owned(),
        E::FindPath => "there is no home directory".to_owned(),
    }
}

fn unloaded(what: &str, error: &kube::config::LoadDataError) -> String {
    use kube::config::LoadDataError as E;
    match error {
        E::DecodeBase64(_) => format!("{what} is not base64"),
        E::ReadFile(error, _) => format!("{what} cannot be read: {error}"),
        E::NoBase64DataOrFile => format!("{what} is missing"),
    }
}

/// Describes an error in credentials without showing the credentials.
pub fn auth_reason(error: &AuthError) -> String {
    use AuthError as E;
    let text = match error {
        E::ReadTokenFile(error, _) => {
            return format!("the user's token file cannot be read: {error}");
        }
        E::MalformedTokenExpirationDate(_) => UNREADABLE_EXPIRY,
        E::InvalidBasicAuth(_) | E::InvalidBearerToken(_) => INVALID_TOKEN,
        _ => "the user's `auth-provider` gives no token: use a credential plugin (`exec`) instead",
    };
    text.to_owned()
}

pub const UNREADABLE_EXPIRY: &str = "the time at which the user's token expires is malformed";

pub const INVALID_TOKEN: &str = "the user's token or password contains a character that HTTP headers do not allow, such as a line break";

#[test]
fn credentials_are_sent_without_tls_to_this_machine_only() {
    let has_token = |server: &str| {
        let text = format!(
            "current-context: a\nclusters: [{{name: a, cluster: {{server: '{server}'}}}}]\nusers: [{{name: a, user: {{token: x}}}}]\n\
             contexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n"
        );
        let target = Target {
            kubeconfig: None,
            context: None,
            proxies: proxy::Proxies::default(),
            deadline: Deadline::after(std::time::Duration::from_secs(60)),
            plugins: super::Plugins { run: |_, _| Ok(String::new()), has_terminal: false },
        };
        let runtime = super::executor::Executor::new().unwrap();
        let kubeconfig = Kubeconfig::from_yaml(&text).unwrap();
        runtime.block_on(choose(kubeconfig, &target)).unwrap().auth_info.token.is_some()
    };
    assert!(has_token("https://api.example.com:6443"));
    assert!(has_token("http://127.0.0.1:8080") && has_token("http://[::1]:8080"));
    assert!(!has_token("http://api.example.com:8080") && !has_token("http://192.0.2.2"));
}
