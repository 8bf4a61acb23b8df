//! OLM's manifests: from files, from URLs, or from a release, which is downloaded once.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::Context as _;
use semver::Version;

use crate::{
    app::environment::home,
    disk::{self, Bounds, UserPath},
    terminal::{self, Step},
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Dialect, Value};
use model::{Deadline, display_path};
use oci::web;

const RELEASES: &str = "https://github.com/operator-framework/operator-lifecycle-manager/releases";

/// The files of a release. They have 2 MB together.
const FILES: [&str; 2] = ["crds.yaml", "olm.yaml"];
const LIMIT: u64 = 1 << 26;

#[derive(clap::Args)]
pub struct ManifestsSource {
    /// Version of OLM to download: 0.46.0 or latest
    #[arg(long, value_name = "VERSION", default_value = "latest", conflicts_with = "manifests")]
    version: VersionRequest,
    /// Files or URLs of OLM's manifests, which are crds.yaml and olm.yaml in a release
    #[arg(long, value_name = "FILE|URL", num_args = 1..)]
    manifests: Vec<String>,
    /// URL of the releases, for a mirror
    #[arg(long, value_name = "URL", default_value = RELEASES, conflicts_with = "manifests")]
    releases: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum VersionRequest {
    Latest,
    Exact(Version),
}

impl FromStr for VersionRequest {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if text == "latest" {
            return Ok(Self::Latest);
        }
        let version = text.strip_prefix('v').unwrap_or(text).parse();
        let version = version.ok().with_context(|| {
            format!("`{text}` is not a version: use one such as 0.46.0, or latest")
        })?;
        Ok(Self::Exact(version))
    }
}

impl ManifestsSource {
    /// Every object, in order.
    pub fn load_objects(&self, dir: &Path, deadline: Deadline) -> anyhow::Result<Vec<Value>> {
        let texts = match &self.manifests[..] {
            [] => self.fetch_release(dir, deadline)?,
            named => named
                .iter()
                .map(|name| {
                    if dir.join(name).is_dir() {
                        Err(anyhow::format_err!("`{name}` is a directory"))
                            .hint("name its files, e.g. `--manifests crds.yaml olm.yaml`")
                    } else {
                        Ok((name.clone(), read_manifest(dir, name, deadline)?))
                    }
                })
                .collect::<anyhow::Result<_>>()?,
        };
        parse_manifests(&texts)
    }

    /// The files of a release, by their names.
    fn fetch_release(
        &self,
        dir: &Path,
        deadline: Deadline,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let base = self.releases.trim_end_matches('/');
        let cache = home::cache(dir, "olm")?;
        if let VersionRequest::Exact(version) = &self.version
            && let Some(kept) = read_cached_release(&cache, &cache_slot(base, version))?
        {
            return Ok(kept);
        }
        let from = match &self.version {
            VersionRequest::Latest => format!("{base}/latest/download"),
            // Older tags have no `v`.
            VersionRequest::Exact(version) if (version.major, version.minor) < (0, 17) => {
                format!("{base}/download/{version}")
            }
            VersionRequest::Exact(version) => format!("{base}/download/v{version}"),
        };
        let mut files = Vec::new();
        for name in FILES {
            let step = Step::begin(&format!("fetching {from}/{name}"));
            let progress = |done, all| step.update_bytes(done, all);
            let bytes = web::get_with(&format!("{from}/{name}"), LIMIT, deadline, progress);
            drop(step);
            let bytes = bytes
                .context("OLM's manifests cannot be downloaded")
                .hint("pass manifests that you have with `--manifests`, a mirror with `--releases URL`, or another `--version`")?;
            let text = String::from_utf8(bytes).ok();
            files.push((
                name.to_owned(),
                text.with_context(|| format!("{from}/{name} is not text"))?,
            ));
        }
        // Files that are not a release of OLM must not be cached.
        parse_manifests(&files)?;
        let version = match &self.version {
            VersionRequest::Exact(version) => version.clone(),
            VersionRequest::Latest => olm_version(&files[1].1)
                .with_context(|| format!("{from}/olm.yaml does not say its version"))
                .hint("name a release with `--version`")?,
        };
        let (sums, slot) = (format_checksums(&files), cache_slot(base, &version));
        let before = read_cached(&cache, &slot, SUMS)?;
        if let Some(before) = before.filter(|before| *before != sums) {
            return Err(anyhow::format_err!(
                "the files of OLM {version} have changed since they were first downloaded: they were\n{before}and are\n{sums}"
            ))
            .hint(format!("a release does not change: find out why, then remove `{}`", display_path(&cache_folder(&cache, &slot))));
        }
        let folder = cache_folder(&cache, &slot);
        for (name, text) in &files {
            disk::write_private_file(&folder.join(name), text)?;
        }
        disk::write_private_file(&folder.join(SUMS), &sums)?;
        terminal::print_advice(&format!("OLM {version} from {from}, SHA-256:\n{sums}"));
        Ok(files)
    }
}

/// The objects of manifests, each with its name and text, which must be those of OLM.
fn parse_manifests(texts: &[(String, String)]) -> anyhow::Result<Vec<Value>> {
    let mut all_objects = Vec::new();
    for (name, text) in texts {
        let objects = yaml::parse_documents(text, Dialect::Kubernetes);
        let objects = objects.with_context(|| format!("cannot read `{name}`"))?;
        if let Some(at) = objects.iter().position(|object| !is_object(object)) {
            anyhow::bail!("document {} of `{name}` is not a Kubernetes object", at + 1);
        }
        all_objects.extend(objects);
    }
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if !all_objects.iter().any(|object| name(object) == "subscriptions.operators.coreos.com") {
        let names: Vec<String> = texts.iter().map(|entry| format!("`{}`", entry.0)).collect();
        return Err(anyhow::format_err!(
            "{} are not OLM's manifests: OLM's CRDs are missing",
            names.join(", ")
        ))
        .hint("pass both files of a release: `--manifests crds.yaml olm.yaml`");
    }
    Ok(all_objects)
}

fn is_object(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let labels = &metadata["labels"];
    object["kind"].is_string()
        && object["apiVersion"].is_string()
        && metadata["name"].is_string()
        && (labels.is_null() || labels.is_object())
}

/// The checksums of the files, as `sha256sum` writes them.
const SUMS: &str = "SHA256SUMS";

fn format_checksums(files: &[(String, String)]) -> String {
    files.iter().fold(String::new(), |mut sums, (name, text)| {
        let _ = writeln!(sums, "{}  {name}", disk::sha256_hex(text.as_bytes()));
        sums
    })
}

/// The name of the folder with a version's files in the cache. Those of a mirror are apart from those of other URLs.
fn cache_slot(base: &str, version: &Version) -> String {
    match base {
        RELEASES => format!("v{version}"),
        mirror => format!("v{version}-{}", &disk::sha256_hex(mirror.as_bytes())[..16]),
    }
}

fn cache_folder(cache: &UserPath, slot: &str) -> PathBuf {
    cache.path().join(slot)
}

/// A file of an earlier download, if there was one.
fn read_cached(cache: &UserPath, slot: &str, name: &str) -> anyhow::Result<Option<String>> {
    disk::read_text_if_exists(&home::cached(cache, &format!("{slot}/{name}"))?)
}

/// The files of an earlier download, if there was one.
fn read_cached_release(
    cache: &UserPath,
    slot: &str,
) -> anyhow::Result<Option<Vec<(String, String)>>> {
    let Some(expected) = read_cached(cache, slot, SUMS)? else { return Ok(None) };
    let mut files = Vec::new();
    for name in FILES {
        let Some(text) = read_cached(cache, slot, name)? else { return Ok(None) };
        files.push((name.to_owned(), text));
    }
    if format_checksums(&files) == expected {
        return Ok(Some(files));
    }
    let folder = cache_folder(cache, slot);
    Err(anyhow::format_err!(
        "the files in `{}` have changed since they were downloaded",
        display_path(&folder)
    ))
    .hint("remove that directory: the next run downloads them again")
}

/// The version of OLM that manifests install.
fn olm_version(text: &str) -> Option<Version> {
    let objects = yaml::parse_documents(text, Dialect::Kubernetes).ok()?;
    let csv = objects.iter().find(|object| object["kind"] == "ClusterServiceVersion")?;
    csv["spec"]["version"].as_str()?.parse().ok()
}

fn read_manifest(dir: &Path, name: &str, deadline: Deadline) -> anyhow::Result<String> {
    if !name.starts_with("https://") && !name.starts_with("http://") {
        let bounds = Bounds::of_manifests(Some(deadline));
        return disk::read_named_text(&dir.join(name), bounds);
    }
    let bytes = web::get(name, LIMIT, deadline)?;
    String::from_utf8(bytes).ok().with_context(|| format!("{name} is not text"))
}

#[test]
fn versions_are_exact_or_the_latest() {
    let exact = |text: &str| Some(VersionRequest::Exact(text.parse().unwrap()));
    assert_eq!("v0.46.0".parse::<VersionRequest>().ok(), exact("0.46.0"));
    assert_eq!("latest".parse::<VersionRequest>().ok(), Some(VersionRequest::Latest));
    assert!(
        "../0.1.0".parse::<VersionRequest>().is_err() && "0.46".parse::<VersionRequest>().is_err()
    );
    let manifests = "kind: Namespace\n---\nkind: ClusterServiceVersion\nspec: {version: 0.46.0}\n";
    assert_eq!(olm_version(manifests), "0.46.0".parse().ok());
    assert_eq!(olm_version("kind: Namespace\n"), None);
}
