//! Images in one tar file: that of an OCI layout, and that of `docker save`.

use std::{collections::BTreeMap, io::Read};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    Image, Stored,
    compression::{Limited, decompress},
    layout::{LONGEST_MANIFEST, full_name, layout, read_layout},
    tarball::{self, Kind},
};
use crate::{
    hint::Hint as _,
    model::{self, Blob, Digest, Platform},
};

/// How large an archive may be once it is decompressed.
const LONGEST: u64 = 4 << 30;

pub fn oci_archive(image: &Image, name: Option<&model::Image>) -> anyhow::Result<Vec<u8>> {
    tar(layout(image, name))
}

/// What `docker load` reads: one platform, with decompressed layers.
pub fn docker_archive(image: &Image, name: Option<&model::Image>) -> anyhow::Result<Vec<u8>> {
    let [single] = &image.singles[..] else {
        return Err(anyhow::format_err!("a Docker archive holds one platform"))
            .hint("give one `--platform`, or `--format oci`");
    };
    let mut files = Vec::new();
    let mut layers = Vec::new();
    for layer in &single.layers {
        let mut bytes = Vec::new();
        decompress(layer.bytes())?.read_to_end(&mut bytes)?;
        let path = format!("{}.tar", Digest::of(&bytes).hex());
        if !layers.contains(&path) {
            files.push((path.clone(), bytes));
        }
        layers.push(path);
    }
    let config = format!("{}.json", single.config.digest().hex());
    let tags: Vec<String> = name.iter().map(|it| full_name(it)).collect();
    let manifest = json!([{ "Config": config, "RepoTags": tags, "Layers": layers }]);
    files.push((config, single.config.bytes().to_vec()));
    files.push(("manifest.json".to_owned(), manifest.to_string().into_bytes()));
    tar(files)
}

fn tar(files: Vec<(String, Vec<u8>)>) -> anyhow::Result<Vec<u8>> {
    let mut res = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        res.append_data(&mut header, path, &*bytes)?;
    }
    Ok(res.into_inner()?)
}

/// Whether these bytes are an archive of either kind: the files of other archives may have the same names.
pub fn is_archive(bytes: impl Read) -> bool {
    let Ok(inner) = decompress(bytes) else { return false };
    let mut is_found = false;
    // An entry after the one that tells may be damaged.
    let _ = tarball::each(Limited { inner, left: LONGEST }, |entry, content| {
        let mut json = || -> Value {
            serde_json::from_reader(content.take(LONGEST_MANIFEST)).unwrap_or_default()
        };
        is_found |= match entry.path.trim_start_matches("./") {
            "oci-layout" => json()["imageLayoutVersion"].is_string(),
            "manifest.json" => json()[0]["Config"].is_string(),
            _ => false,
        };
        anyhow::ensure!(!is_found, "it is one");
        Ok(())
    });
    is_found
}

/// Reads the image for the first of these platforms out of an archive of either kind.
pub fn read_archive(bytes: impl Read, platforms: &[Platform]) -> anyhow::Result<Stored> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut links: BTreeMap<String, String> = BTreeMap::new();
    let reader = Limited { inner: decompress(bytes)?, left: LONGEST };
    tarball::each(reader, |entry, content| {
        let path = tarball::below(&entry.path)?;
        match entry.kind {
            Kind::File => {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes)?;
                anyhow::ensure!(bytes.len() as u64 == entry.size, "it ends within `{path}`");
                files.insert(path, bytes);
            }
            // Docker's older archives have links between equal layers.
            Kind::Symlink(to) => drop(tarball::target(&path, &to).map(|to| links.insert(path, to))),
            Kind::Hardlink(to) => drop(links.insert(path, tarball::below(&to)?)),
            Kind::Folder | Kind::Special => {}
        }
        Ok(())
    })?;
    // Each file is needed once, and may be large.
    let mut take = |path: &str| files.remove(path).or_else(|| files.remove(links.get(path)?));
    if let Some(index) = take("index.json") {
        let mut index = Some(index);
        return read_layout(platforms, |path, limit| {
            let found = if path == "index.json" { index.take() } else { take(path) };
            Ok(found.filter(|it| it.len() as u64 <= limit))
        });
    }
    let Some(manifest) = take("manifest.json") else {
        return Err(anyhow::format_err!("it has neither an `index.json` nor a `manifest.json`"))
            .hint("name an archive that `docker save`, `podman save` or `operator-rs bundle build` has written");
    };
    let manifest: Value = serde_json::from_slice(&manifest).context("its `manifest.json`")?;
    let [image] = manifest.as_array().map_or(&[][..], |it| it) else {
        return Err(anyhow::format_err!("its `manifest.json` does not have one image"))
            .hint("save one image");
    };
    let mut known: BTreeMap<String, Blob> = BTreeMap::new();
    let mut named = |it: &Value, media_type: &str| -> anyhow::Result<Blob> {
        let name = it.as_str().unwrap_or_default();
        let file = links.get(name).map_or(name, |it| it);
        if !known.contains_key(file) {
            let bytes = take(name).with_context(|| format!("it lacks the file `{name}`"))?;
            known.insert(file.to_owned(), Blob::new(media_type, bytes));
        }
        Ok(known[file].of_type(media_type))
    };
    let config = named(&image["Config"], "application/vnd.docker.container.image.v1+json")?;
    // The configuration's name is its digest; the layers are compared with what it says.
    let hex = image["Config"].as_str().and_then(|it| it.strip_suffix(".json")).unwrap_or_default();
    let is_digest = format!("sha256:{hex}").parse::<Digest>().is_ok();
    anyhow::ensure!(
        !is_digest || config.digest().hex() == hex,
        "its configuration does not have the digest that it is named by"
    );
    let layers = image["Layers"].as_array().into_iter().flatten();
    let (mut all, mut size) = (Vec::new(), 0);
    for layer in layers {
        all.push(named(layer, "application/vnd.docker.image.rootfs.diff.tar")?);
        size += all.last().map_or(0, Blob::size);
        anyhow::ensure!(size <= LONGEST, "its layers are larger than {} MiB", LONGEST >> 20);
    }
    Stored::new(&config, all)
}
