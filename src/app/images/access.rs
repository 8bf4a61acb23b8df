//! Access to registries, with the credentials that docker and podman have stored.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use anyhow::Context as _;

use crate::{
    app::{environment::proxies::proxies, output::time_limit::TimeLimit},
    disk::{self, Bounds},
    process::{self, Input, ProgramPath, Question, Reply},
    terminal,
};
use diagnostics::Hint as _;
use model::{Deadline, Image, display_path};
use oci::registry::{self, Credentials, Lookup, Proxies, Registry, Right};

/// Options for access to registries, with a time limit.
#[derive(Clone, clap::Args)]
pub struct RegistryAccess {
    #[command(flatten)]
    pub flags: RegistryFlags,
    #[command(flatten)]
    pub time: TimeLimit,
    #[arg(skip)]
    use_of_registry: RegistryUse,
}

/// Records whether a command has used a registry. Clones share it.
#[derive(Clone, Debug, Default)]
struct RegistryUse(Rc<Cell<bool>>);

/// Options for access to registries, for commands that have another option for the time limit.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Registry")]
pub struct RegistryFlags {
    /// File of registry credentials [default: those of docker and podman]
    #[arg(long, value_name = "FILE")]
    authfile: Option<PathBuf>,
    /// Trust the certificates in this PEM file, too
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tls_skip_verify", "plain_http"])]
    ca_file: Option<PathBuf>,
    /// Accept any certificate of the registry
    #[arg(long, conflicts_with = "plain_http")]
    tls_skip_verify: bool,
    /// Use HTTP without TLS; a registry on localhost needs no flag
    #[arg(long)]
    plain_http: bool,
}

impl RegistryAccess {
    pub fn new(flags: RegistryFlags, time: TimeLimit) -> Self {
        Self { flags, time, use_of_registry: RegistryUse::default() }
    }

    /// Refuses flags about registries in a command that has read its sources and used no registry.
    pub fn require_use(&self) -> anyhow::Result<()> {
        match self.flags.given().filter(|_| !self.use_of_registry.0.get()) {
            None => Ok(()),
            Some(flag) => Err(terminal::usage_error(
                clap::error::ErrorKind::ArgumentConflict,
                &format!("`{flag}` has no effect here: no image of a registry is read"),
            )),
        }
    }

    /// When the command ends.
    pub fn deadline(&self) -> Deadline {
        self.time.deadline
    }

    /// Returns the repository of an image.
    pub fn registry(&self, image: &Image, right: Right) -> anyhow::Result<Registry> {
        self.use_of_registry.0.set(true);
        let (proxies, deadline) = (proxies()?, self.time.deadline);
        let access = registry::Access {
            deadline,
            plain_http: self.flags.plain_http,
            skip_verify: self.flags.tls_skip_verify,
            ca: self
                .flags
                .ca_file
                .as_deref()
                .map(|path| read_named_file(path, deadline))
                .transpose()?,
            proxies: Proxies { http: proxies.http, https: proxies.https, none: proxies.none },
            credentials: self.flags.find_credentials(image, deadline)?,
        };
        Registry::new(image, right, access)
    }
}

/// The size limit of files of credentials and certificates.
const LONGEST: u64 = 4 << 20;

impl RegistryFlags {
    /// Returns the first flag that is given, by its name.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            (self.authfile.is_some(), "--authfile"),
            (self.ca_file.is_some(), "--ca-file"),
            (self.tls_skip_verify, "--tls-skip-verify"),
            (self.plain_http, "--plain-http"),
        ];
        all.into_iter().find(|pair| pair.0).map(|pair| pair.1)
    }

    fn find_credentials(
        &self,
        image: &Image,
        deadline: Deadline,
    ) -> anyhow::Result<Option<Credentials>> {
        let repository = format!("{}/{}", image.registry(), image.repository());
        for (path, text) in self.credential_files(deadline)? {
            let reading = || format!("cannot read `{}`", display_path(&path));
            let text = String::from_utf8(text).with_context(reading)?;
            match registry::lookup(&text, &repository)
                .with_context(reading)
                .hint("correct the file, or name another one with `--authfile`")?
            {
                Lookup::Nothing => {}
                Lookup::Found(credentials) => return Ok(Some(credentials)),
                Lookup::Helper { name, server } => {
                    let found = run_helper(&name, &server, deadline).with_context(reading)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the files that may have credentials, in the order in which they are looked at.
    fn credential_files(&self, deadline: Deadline) -> anyhow::Result<Vec<(PathBuf, Vec<u8>)>> {
        if let Some(path) = &self.authfile {
            return Ok(vec![(path.clone(), read_named_file(path, deadline)?)]);
        }
        let variable =
            |name: &str| Ok::<_, anyhow::Error>(terminal::variable(name)?.map(PathBuf::from));
        let home = terminal::home_folder()?;
        let at = |folder: Option<PathBuf>, path: &str| folder.map(|folder| folder.join(path));
        let docker = variable("DOCKER_CONFIG")?.or_else(|| at(home.clone(), ".docker"));
        let config = variable("XDG_CONFIG_HOME")?.or_else(|| at(home, ".config"));
        let mut pairs = Vec::new();
        if let Some(path) =
            variable("REGISTRY_AUTH_FILE")?.filter(|variable| !variable.as_os_str().is_empty())
        {
            let bytes = read_named_file(&path, deadline)
                .context("cannot read the file of REGISTRY_AUTH_FILE");
            pairs.push((path, bytes.hint("correct the variable, or unset it")?));
        }
        let paths = [
            at(variable("XDG_RUNTIME_DIR")?, "containers/auth.json"),
            at(config, "containers/auth.json"),
            at(docker, "config.json"),
        ];
        for path in paths.into_iter().flatten() {
            if let Some(bytes) = disk::read_large(&path, LONGEST)? {
                pairs.push((path, bytes));
            }
        }
        Ok(pairs)
    }
}

/// Reads a file that a flag names.
fn read_named_file(path: &Path, deadline: Deadline) -> anyhow::Result<Vec<u8>> {
    let description = format!("`{}`", display_path(&path));
    let bounds = Bounds { bytes: LONGEST, deadline: Some(deadline) };
    let bytes = disk::read_named(&description, path, bounds)?;
    bytes.with_context(|| format!("there is no {description}"))
}

/// The time limit for a credential helper.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The message with which docker's helpers fail for an unknown server.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// Asks a credential helper, such as `docker-credential-desktop`.
fn run_helper(name: &str, server: &str, deadline: Deadline) -> anyhow::Result<Option<Credentials>> {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    anyhow::ensure!(is_plain, "`{name}` is not the name of a credential helper");
    let name = format!("docker-credential-{name}");
    let Some(program) = ProgramPath::find(&name) else {
        return Err(anyhow::format_err!("the credential helper `{name}` is not on PATH"))
            .hint("install it, or give a file with credentials as `--authfile`");
    };
    // Some wait for a person who unlocks a store.
    let question = Question {
        program: &program,
        arguments: &["get"],
        variables: &[],
        input: Input::Text(&format!("{server}\n")),
        limit: 1 << 20,
        deadline: deadline.at_most(LONGEST_WAIT),
    };
    match process::answer(&question)? {
        Reply::Printed(output) => registry::of_helper(&output)
            .with_context(|| format!("cannot run the credential helper `{name}`")),
        // It knows nothing about this server.
        Reply::Failed { printed, .. } if printed.trim() == NOT_FOUND => Ok(None),
        // Its output may have a secret.
        Reply::Failed { status, message, .. } => {
            let message = registry::clean(message.lines().next().unwrap_or_default());
            let message = if message.is_empty() { message } else { format!(": {message}") };
            terminal::warn(format!(
                "`{name}` has failed ({status}){message}; no credentials of it are used for {server}"
            ));
            Ok(None)
        }
    }
}
