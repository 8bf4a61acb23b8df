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
    app::environment::home,
    disk::{self, UserPath},
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
    fn matches_version(&self, version: &Version) -> bool {
        match self {
            Self::Latest => version.pre.is_empty(),
            Self::Minor(major, minor) => {
                (version.major, version.minor) == (*major, *minor) && version.pre.is_empty()
            }
            Self::Exact(exact) => exact == version,
        }
    }

    /// The newest of these that matches.
    fn newest_of<'a>(&self, versions: impl Iterator<Item = &'a Version>) -> Option<&'a Version> {
        versions.filter(|version| self.matches_version(version)).max()
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
    let platform = terminal::go_platform();
    let here = cached_versions(kept.path(), &platform)?;
    if let VersionRequest::Exact(_) = request
        && let Some(version) = request.newest_of(here.iter())
    {
        return program_folder(kept, version, &platform);
    }
    let listed = match web::get(index, INDEX_LIMIT, deadline) {
        Ok(bytes) => parse_index(&String::from_utf8_lossy(&bytes), &platform)
            .with_context(|| format!("cannot read the index {index}"))?,
        Err(error) => {
            let Some(version) = request.newest_of(here.iter()) else {
                return Err(error).context("the index of envtest's releases cannot be read").hint(
                    "pass another index with `--index URL`, or the programs with `--assets DIR`",
                );
            };
            let diagnostic = Diagnostic::from(&error);
            let message = format!("{}; using the cached version {version}", diagnostic.message);
            terminal::warn(Diagnostic { message, ..diagnostic });
            return program_folder(kept, version, &platform);
        }
    };
    let Some(version) = request.newest_of(listed.keys()) else {
        return Err(anyhow::format_err!("the index has no {request} for {platform}"))
            .hint(format!("it has {}", format_minors(&listed)));
    };
    let folder = program_folder(kept, version, &platform)?;
    if here.contains(version) {
        return Ok(folder);
    }
    let archive = &listed[version];
    let step = Step::begin(&format!("fetching Kubernetes {version} for tests, {}", archive.url));
    let progress = |done, all| step.update_bytes(done, all);
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
    disk::write_programs(&folder, &programs)?;
    Ok(folder)
}

/// Archives are below 100 MB, and programs below 150; the index is some 200 kB.
const ARCHIVE_LIMIT: u64 = 1 << 30;
const PROGRAM_LIMIT: u64 = 1 << 29;
const INDEX_LIMIT: u64 = 1 << 24;

/// The folder of a version's programs; an error if it or a program in it belongs to another user.
fn program_folder(kept: &UserPath, version: &Version, platform: &str) -> anyhow::Result<PathBuf> {
    let name = format!("{version}-{platform}");
    for program in PROGRAMS {
        home::cached(kept, &format!("{name}/{program}"))?;
    }
    Ok(kept.path().join(name))
}

/// The versions in the cache.
fn cached_versions(kept: &Path, platform: &str) -> anyhow::Result<Vec<Version>> {
    let end = format!("-{platform}/");
    let names = disk::list_names(kept)?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(&end)?.parse().ok()).collect())
}

/// The archives of an index for a platform: `releases: {v1.37.0: {NAME: {hash, selfLink}}}`.
fn parse_index(text: &str, platform: &str) -> anyhow::Result<BTreeMap<Version, Archive>> {
    let index = yaml::from_text(text, yaml::Dialect::Kubernetes)?;
    let releases = index["releases"].as_object().context("it has no `releases`")?;
    let mut listed = BTreeMap::new();
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
        listed.insert(version, Archive { url: url.to_owned(), hash: hash.to_owned() });
    }
    Ok(listed)
}

/// The minor versions that are listed, the newest first.
fn format_minors(listed: &BTreeMap<Version, Archive>) -> String {
    let mut minors: Vec<String> =
        listed.keys().rev().map(|version| format!("{}.{}", version.major, version.minor)).collect();
    minors.dedup();
    if minors.is_empty() { "no version for this machine".to_owned() } else { minors.join(", ") }
}

#[test]
fn the_newest_matching_version_is_used() {
    let all: Vec<Version> = ["1.36.0", "1.37.0", "1.37.2", "1.38.0-rc.1"]
        .iter()
        .map(|version| version.parse().unwrap())
        .collect();
    let best = |text: &str| {
        let request: VersionRequest = text.parse().unwrap();
        request.newest_of(all.iter()).map(ToString::to_string)
    };
    assert_eq!(best("1.37").as_deref(), Some("1.37.2"));
    assert_eq!(best("v1.37.x").as_deref(), Some("1.37.2"));
    assert_eq!(best("1.37.0").as_deref(), Some("1.37.0"));
    assert_eq!(best("latest").as_deref(), Some("1.37.2"));
    assert_eq!(best("1.38.0-rc.1").as_deref(), Some("1.38.0-rc.1"));
    assert_eq!(best("1.38"), None);
    assert!("".parse::<VersionRequest>().is_err() && "newest".parse::<VersionRequest>().is_err());
}
