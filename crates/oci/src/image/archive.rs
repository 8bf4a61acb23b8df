//! Images in one tar file: that of an OCI layout, and that of `docker save`.

use std::{
    cell::Cell,
    collections::BTreeMap,
    io::{self, Read},
    rc::Rc,
};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    Content, Image, Open, Stored,
    compression::{SizeLimited, decompress, is_compressed},
    content::{StoredFile, read_small_file},
    layout::{LONGEST_MANIFEST, full_name, layout, read_layout},
    tarball::{self, Kind},
};
use diagnostics::Hint as _;
use model::{Blob, Digest, Platform};

/// Limit of the size of a decompressed archive.
const LONGEST: u64 = 4 << 30;

pub fn oci_archive(image: &Image, name: Option<&model::Image>) -> anyhow::Result<Vec<u8>> {
    build_tar(layout(image, name))
}

/// Builds the archive that `docker load` reads: one platform, with decompressed layers.
pub fn docker_archive(image: &Image, name: Option<&model::Image>) -> anyhow::Result<Vec<u8>> {
    let [single] = &image.singles[..] else {
        return Err(anyhow::format_err!("a Docker archive holds one platform"))
            .hint("pass one `--platform`, or `--format oci`");
    };
    let mut files = Vec::new();
    let mut layers = Vec::new();
    for layer in &single.layers {
        let mut bytes = Vec::new();
        decompress(layer.bytes())?.read_to_end(&mut bytes)?;
        let path = format!("{}.tar", Digest::from_content(&bytes).hex());
        if !layers.contains(&path) {
            files.push((path.clone(), bytes));
        }
        layers.push(path);
    }
    let config = format!("{}.json", single.config.digest().hex());
    let tags: Vec<String> = name.iter().map(|name| full_name(name)).collect();
    let manifest = json!([{ "Config": config, "RepoTags": tags, "Layers": layers }]);
    files.push((config, single.config.bytes().to_vec()));
    files.push(("manifest.json".to_owned(), manifest.to_string().into_bytes()));
    build_tar(files)
}

fn build_tar(files: Vec<(String, Vec<u8>)>) -> anyhow::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, path, &*bytes)?;
    }
    Ok(archive.into_inner()?)
}

/// Returns whether these bytes are an archive of either kind: the files of other archives may have the same names.
pub fn is_archive(bytes: impl Read) -> bool {
    let Ok(inner) = decompress(bytes) else { return false };
    let mut is_found = false;
    // An entry after the one that tells may be damaged.
    let _ = tarball::visit_entries(SizeLimited { inner, left: LONGEST }, |entry, content| {
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

/// Reads the image for the first of these platforms out of an archive of either kind, which `open` opens at an offset.
/// Its layers are read when they are needed.
pub fn read_archive(
    open: impl Fn(u64) -> anyhow::Result<Box<dyn Read>> + 'static,
    platforms: &[Platform],
) -> anyhow::Result<Stored> {
    let archive = Rc::new(Archive::read_index(open)?);
    let has = |path: &str| archive.position_of(path).is_some();
    let (is_layout, is_docker) = (has("index.json"), has("manifest.json"));
    let all = Rc::clone(&archive);
    let files: Rc<Open> = Rc::new(move |path: &str| all.open_file(path));
    match (is_layout, is_docker) {
        (true, _) => read_layout(platforms, &files),
        (false, true) => read_docker(&archive, &files),
        (false, false) => Err(anyhow::format_err!("it has neither an `index.json` nor a `manifest.json`"))
            .hint("name an archive that `docker save`, `podman save` or `operator-rs bundle build` has written"),
    }
}

fn read_docker(archive: &Archive, files: &Rc<Open>) -> anyhow::Result<Stored> {
    let read = |path: &str| -> anyhow::Result<Vec<u8>> {
        let found = read_small_file(&**files, path, LONGEST_MANIFEST)?;
        found.with_context(|| format!("it lacks the file `{path}`"))
    };
    let manifest: Value =
        serde_json::from_slice(&read("manifest.json")?).context("its `manifest.json`")?;
    let [image] = manifest.as_array().map_or(&[][..], |entries| entries) else {
        return Err(anyhow::format_err!("its `manifest.json` does not list exactly one image"))
            .hint("save only one image in it");
    };
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let config = name(&image["Config"]);
    let hex = config.strip_suffix(".json").unwrap_or_default().to_owned();
    let config = Blob::new("application/vnd.docker.container.image.v1+json", read(&config)?);
    // If the configuration is named by its digest, the digest has to match. The layers are compared below with the
    // digests that the configuration lists.
    let is_digest = format!("sha256:{hex}").parse::<Digest>().is_ok();
    anyhow::ensure!(
        !is_digest || config.digest().hex() == hex,
        "its configuration does not have the digest in its name"
    );
    let (mut layers, mut whole) = (Vec::new(), 0);
    for path in image["Layers"].as_array().into_iter().flatten().map(name) {
        let (_, size) =
            archive.position_of(&path).with_context(|| format!("it lacks the file `{path}`"))?;
        whole += size;
        anyhow::ensure!(whole <= LONGEST, "its layers are larger than {} MiB", LONGEST >> 20);
        let media_type = "application/vnd.docker.image.rootfs.diff.tar".to_owned();
        layers.push(Content::File(StoredFile {
            files: Rc::clone(files),
            path,
            media_type,
            size,
            digest: None,
        }));
    }
    Stored::new(&config, layers)
}

/// An archive, and the positions of its files.
struct Archive {
    open: Box<dyn Fn(u64) -> anyhow::Result<Box<dyn Read>>>,
    is_compressed: bool,
    /// The offset at which the content of each file begins, and its length.
    files: BTreeMap<String, (u64, u64)>,
    links: BTreeMap<String, String>,
    /// The number of bytes that may still be decompressed.
    left: Cell<u64>,
}

/// The limit of the bytes of a compressed archive that are decompressed: each file in it is behind all those before it.
const MOST: u64 = 16 << 30;

impl Archive {
    fn read_index(
        open: impl Fn(u64) -> anyhow::Result<Box<dyn Read>> + 'static,
    ) -> anyhow::Result<Self> {
        let is_compressed = is_compressed(open(0)?)?;
        let reader = SizeLimited { inner: decompress(open(0)?)?, left: LONGEST };
        let (mut files, mut links) = (BTreeMap::new(), BTreeMap::new());
        tarball::visit_entries(reader, |entry, content| {
            let path = tarball::path_in_root(&entry.path)?;
            match entry.kind {
                Kind::File => {
                    let found = io::copy(content, &mut io::sink())?;
                    anyhow::ensure!(found == entry.size, "it ends within `{path}`");
                    files.insert(path, (entry.offset, entry.size));
                }
                // Docker's older archives have links between equal layers.
                Kind::Symlink(to) => {
                    drop(tarball::symlink_target(&path, &to).map(|to| links.insert(path, to)))
                }
                Kind::Hardlink(to) => drop(links.insert(path, tarball::path_in_root(&to)?)),
                Kind::Folder | Kind::Special => {}
            }
            Ok(())
        })?;
        Ok(Self { open: Box::new(open), is_compressed, files, links, left: Cell::new(MOST) })
    }

    fn position_of(&self, path: &str) -> Option<(u64, u64)> {
        self.files.get(path).or_else(|| self.files.get(self.links.get(path)?)).copied()
    }

    fn open_file(&self, path: &str) -> anyhow::Result<Option<(u64, Box<dyn Read>)>> {
        let Some((offset, size)) = self.position_of(path) else { return Ok(None) };
        if !self.is_compressed {
            return Ok(Some((size, Box::new((self.open)(offset)?.take(size)))));
        }
        let left = self.left.get().checked_sub(offset + size);
        let left = left.context("the archive is too large to be read while it is compressed");
        self.left.set(left.hint("decompress it with `gunzip` or `zstd -d`, and name the result")?);
        let mut content = decompress((self.open)(0)?)?;
        io::copy(&mut content.by_ref().take(offset), &mut io::sink())?;
        Ok(Some((size, Box::new(content.take(size)))))
    }
}
