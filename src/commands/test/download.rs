//! Downloads etcd and kube-apiserver of kubebuilder's envtest releases, verifies and caches them.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::Context as _;
use semver::Version;

use crate::{
    app::home,
    disk::{self, Own},
    terminal::{self, Step},
};
use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml::{self, Value};
use model::Deadline;
use oci::web;

/// The list that setup-envtest reads.
pub const INDEX: &str =
    "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";

/// The programs of an archive that are used.
const PROGRAMS: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];

/// The requested version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionRequest {
    Latest,
    /// The newest patch of a minor version.
    Minor(u64, u64),
    Exact(Version),
}

impl FromStr for VersionRequest {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let numbers = text.strip_prefix('v').unwrap_or(text);
        if text == "latest" {
            return Ok(Self::Latest);
        }
        if let Ok(version) = numbers.parse() {
            return Ok(Self::Exact(version));
        }
        let minor = numbers.strip_suffix(".x").unwrap_or(numbers).split_once('.');
        let minor = minor.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        minor.map(|(major, minor)| Self::Minor(major, minor)).with_context(|| {
            format!("`{text}` is not a version: use one such as 1.37, 1.37.0 or latest")
        })
    }
}

impl fmt::Display for VersionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Minor(major, minor) => write!(f, "{major}.{minor}"),
            Self::Exact(version) => version.fmt(f),
        }
    }
}

impl VersionRequest {
    fn is(&self, version: &Version) -> bool {
        match self {
            Self::Latest => version.pre.is_empty(),
            Self::Minor(major, minor) => {
                (version.major, version.minor) == (*major, *minor) && version.pre.is_empty()
            }
            Self::Exact(it) => it == version,
        }
    }

    /// The newest of these that matches.
    fn best<'a>(&self, versions: impl Iterator<Item = &'a Version>) -> Option<&'a Version> {
        versions.filter(|it| self.is(it)).max()
    }
}

/// An archive that the index lists.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Archive {
    url: String,
    /// The SHA-512 of its bytes, in hexadecimal digits.
    hash: String,
}

/// The folder of the programs, which are downloaded if they are not cached.
pub fn fetch(
    request: &VersionRequest,
    index: &str,
    dir: &Path,
    deadline: Deadline,
) -> anyhow::Result<PathBuf> {
    let kept = &home::cache(dir, "envtest")?;
    let platform = terminal::platform();
    let here = present(kept.path(), &platform)?;
    if let VersionRequest::Exact(_) = request
        && let Some(version) = request.best(here.iter())
    {
        return folder(kept, version, &platform);
    }
    let listed = match web::get(index, INDEX_LIMIT, deadline) {
        Ok(bytes) => listed(&String::from_utf8_lossy(&bytes), &platform)
            .with_context(|| format!("cannot read the index {index}"))?,
        Err(error) => {
            let Some(version) = request.best(here.iter()) else {
                return Err(error).context("the index of envtest's releases cannot be read").hint(
                    "pass another index with `--index URL`, or the programs with `--assets DIR`",
                );
            };
            let it = Diagnostic::from(&error);
            let message = format!("{}; using the cached version {version}", it.message);
            terminal::warn(Diagnostic { message, ..it });
            return folder(kept, version, &platform);
        }
    };
    let Some(version) = request.best(listed.keys()) else {
        return Err(anyhow::format_err!("the index has no {request} for {platform}"))
            .hint(format!("it has {}", minors(&listed)));
    };
    let folder = folder(kept, version, &platform)?;
    if here.contains(version) {
        return Ok(folder);
    }
    let archive = &listed[version];
    let step = Step::begin(&format!("fetching Kubernetes {version} for tests, {}", archive.url));
    let progress = |done, all| step.bytes(done, all);
    let bytes = web::get_with(&archive.url, ARCHIVE_LIMIT, deadline, progress)?;
    drop(step);
    let found = web::sha512(&bytes);
    if !found.eq_ignore_ascii_case(&archive.hash) {
        return Err(anyhow::format_err!(
            "{} does not match the index: its SHA-512 is {found}, and not {}",
            archive.url,
            archive.hash
        ))
        .hint("nothing was saved: try again, and check the proxies between this machine and the server");
    }
    let programs = web::unpack(&bytes, &PROGRAMS, PROGRAM_LIMIT);
    let programs = programs.with_context(|| format!("cannot unpack {}", archive.url))?;
    for name in ["etcd", "kube-apiserver"] {
        anyhow::ensure!(programs.contains_key(name), "{} has no {name}", archive.url);
    }
    disk::put_programs(&folder, &programs)?;
    Ok(folder)
}

/// Archives are below 100 MB, and programs below 150; the index is some 200 kB.
const ARCHIVE_LIMIT: u64 = 1 << 30;
const PROGRAM_LIMIT: u64 = 1 << 29;
const INDEX_LIMIT: u64 = 1 << 24;

/// The folder of a version's programs; an error if it or a program in it belongs to somebody else.
fn folder(kept: &Own, version: &Version, platform: &str) -> anyhow::Result<PathBuf> {
    let name = format!("{version}-{platform}");
    for program in PROGRAMS {
        home::cached(kept, &format!("{name}/{program}"))?;
    }
    Ok(kept.path().join(name))
}

/// The versions in the cache.
fn present(kept: &Path, platform: &str) -> anyhow::Result<Vec<Version>> {
    let end = format!("-{platform}/");
    let names = disk::names(kept)?;
    Ok(names.iter().filter_map(|it| it.strip_suffix(&end)?.parse().ok()).collect())
}

/// The archives of an index for a platform: `releases: {v1.37.0: {NAME: {hash, selfLink}}}`.
fn listed(text: &str, platform: &str) -> anyhow::Result<BTreeMap<Version, Archive>> {
    let index = yaml::from_text(text, yaml::Dialect::Kubernetes)?;
    let releases = index["releases"].as_object().context("it has no `releases`")?;
    let mut res = BTreeMap::new();
    for (name, archives) in releases {
        let Ok(version) = name.strip_prefix('v').unwrap_or(name).parse::<Version>() else {
            continue;
        };
        let file = format!("envtest-{name}-{platform}.tar.gz");
        let Some(archive) = archives.get(&file) else { continue };
        let text = |key: &str| archive.get(key).and_then(Value::as_str);
        let (Some(url), Some(hash)) = (text("selfLink"), text("hash")) else {
            anyhow::bail!("`{file}` has no `selfLink` or no `hash`");
        };
        res.insert(version, Archive { url: url.to_owned(), hash: hash.to_owned() });
    }
    Ok(res)
}

/// The minor versions that are listed, the newest first.
fn minors(listed: &BTreeMap<Version, Archive>) -> String {
    let mut res: Vec<String> =
        listed.keys().rev().map(|it| format!("{}.{}", it.major, it.minor)).collect();
    res.dedup();
    match res.is_empty() {
        true => "no version for this machine".to_owned(),
        false => res.join(", "),
    }
}

#[test]
fn the_newest_matching_version_is_used() {
    let all: Vec<Version> = ["1.36.0", "1.37.0", "1.37.2", "1.38.0-rc.1"]
        .iter()
        .map(|it| it.parse().unwrap())
        .collect();
    let best = |text: &str| {
        let request: VersionRequest = text.parse().unwrap();
        request.best(all.iter()).map(ToString::to_string)
    };
    assert_eq!(best("1.37").as_deref(), Some("1.37.2"));
    assert_eq!(best("v1.37.x").as_deref(), Some("1.37.2"));
    assert_eq!(best("1.37.0").as_deref(), Some("1.37.0"));
    assert_eq!(best("latest").as_deref(), Some("1.37.2"));
    assert_eq!(best("1.38.0-rc.1").as_deref(), Some("1.38.0-rc.1"));
    assert_eq!(best("1.38"), None);
    assert!("".parse::<VersionRequest>().is_err() && "newest".parse::<VersionRequest>().is_err());
}
