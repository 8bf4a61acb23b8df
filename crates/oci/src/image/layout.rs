//! OCI image layouts: a directory of blobs and an `index.json`.

use std::{collections::BTreeMap, rc::Rc};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    Content, Image, Manifest, Open, Reference, Stored,
    assemble::{descriptor_json, json_bytes, platform_json},
    content::{StoredFile, read_small_file},
};
use diagnostics::Hint as _;
use model::{Blob, Descriptor, Platform};

/// The longest manifest or configuration: registries accept 4 MiB.
pub const LONGEST_MANIFEST: u64 = 4 << 20;

/// The size limit of all layers of an image; of those of a base image, once they are decompressed.
pub const LONGEST_LAYERS: u64 = 2 << 30;

/// The files of a layout, by their paths in it, with `index.json` last.
pub fn layout(image: &Image, name: Option<&model::Image>) -> Vec<(String, Vec<u8>)> {
    let mut layout_files =
        vec![("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec())];
    let blobs: BTreeMap<String, &Blob> = [image.blobs(), image.children(), vec![image.top()]]
        .concat()
        .into_iter()
        .map(|blob| (format!("blobs/sha256/{}", blob.digest().hex()), blob))
        .collect();
    layout_files.extend(blobs.into_iter().map(|(path, blob)| (path, blob.bytes().to_vec())));
    let mut top = descriptor_json(image.top());
    if image.index.is_none() {
        top["platform"] = platform_json(&image.singles[0].platform);
    }
    if let Some(name) = name {
        // The first is what containerd reads, the second what skopeo and umoci do.
        top["annotations"] = json!({
            FULL_NAME: full_name(name),
            REF_NAME: name.tag().unwrap_or("latest"),
        });
    }
    layout_files.push(("index.json".to_owned(), json_bytes(&index_json(vec![top]))));
    layout_files
}

const FULL_NAME: &str = "io.containerd.image.name";
const REF_NAME: &str = "org.opencontainers.image.ref.name";

fn index_json(manifests: Vec<Value>) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": manifests,
    })
}

/// The name with its tag and without Docker's abbreviations.
pub fn full_name(name: &model::Image) -> String {
    format!("{}/{}:{}", name.registry(), name.repository(), name.tag().unwrap_or("latest"))
}

/// The `index.json` of a layout that has other images already: ours replaces the one with its full name, and everything
/// else stays as it is.
pub fn index_with(existing: &[u8], new: &[u8]) -> anyhow::Result<Vec<u8>> {
    let read = |json: &[u8]| serde_json::from_slice::<Value>(json).unwrap_or_default();
    let (mut value, mut new) = (read(existing), read(new));
    let list = |index: &'_ mut Value| index.get_mut("manifests").map(Value::take);
    let (Some(Value::Array(mut all)), Some(Value::Array(new))) = (list(&mut value), list(&mut new))
    else {
        return Err(anyhow::format_err!("its `index.json` has no list of manifests"))
            .hint("name another directory");
    };
    for entry in new {
        let full = |entry: &Value| entry["annotations"][FULL_NAME].as_str().map(str::to_owned);
        let tag = |entry: &Value| entry["annotations"][REF_NAME].as_str().map(str::to_owned);
        all.retain(|existing| {
            let is_same = match full(existing) {
                Some(name) => Some(name) == full(&entry),
                None => existing["digest"] == entry["digest"] && tag(existing) == tag(&entry),
            };
            !is_same
        });
        // Tools find an image by its tag alone.
        if let Some(tag) = tag(&entry)
            && let Some(other) = all.iter().find(|entry| entry["annotations"][REF_NAME] == *tag)
        {
            let name = full(other).unwrap_or_else(|| "an image without a full name".to_owned());
            return Err(anyhow::format_err!("its tag `{tag}` belongs to {name} already"))
                .hint("set `--archive` to another directory, or `--tag` a name with another tag");
        }
        let is_nameless = |entry: &Value| full(entry).or(tag(entry)).is_none();
        if is_nameless(&entry) && all.iter().any(is_nameless) {
            return Err(anyhow::format_err!("it has another image without a name"))
                .hint("name the image with `--tag`, or set `--archive` to another directory");
        }
        all.push(entry);
    }
    value["manifests"] = all.into();
    Ok(json_bytes(&value))
}

/// Reads the image for the first of these platforms out of a layout. Its layers are read when they are needed.
pub fn read_layout(platforms: &[Platform], files: &Rc<Open>) -> anyhow::Result<Stored> {
    let index = read_small_file(&**files, "index.json", LONGEST_MANIFEST)?;
    let index = index.context("it has no `index.json`")?;
    let path = |descriptor: &Descriptor| format!("blobs/sha256/{}", descriptor.digest.hex());
    let blob = |descriptor: &Descriptor| -> anyhow::Result<Blob> {
        anyhow::ensure!(
            descriptor.size <= LONGEST_MANIFEST,
            "its blob {} is too large",
            descriptor.digest
        );
        let bytes = read_small_file(&**files, &path(descriptor), LONGEST_MANIFEST)?;
        let bytes = bytes.with_context(|| format!("it lacks the blob {}", descriptor.digest))?;
        let blob = Blob::new(&descriptor.media_type, bytes);
        anyhow::ensure!(
            *blob.digest() == descriptor.digest && blob.size() == descriptor.size,
            "its blob {} has another content",
            descriptor.digest
        );
        Ok(blob)
    };
    let index = Blob::new("application/vnd.oci.image.index.v1+json", index);
    let Manifest::Index(mut entries) = Manifest::parse(&index)? else {
        anyhow::bail!("its `index.json` is not an index");
    };
    // An index may name another one, of the platforms of one image.
    for _ in 0..4 {
        let entry = match &entries[..] {
            [one] => one,
            all => match Reference::choose(all, platforms) {
                Some(one)
                    if all.iter().filter(|entry| entry.platform == one.platform).count() == 1 =>
                {
                    one
                }
                Some(_) => {
                    return Err(anyhow::format_err!("it has several images"))
                        .hint("keep one image in it");
                }
                None => {
                    let list = Reference::list(all);
                    anyhow::bail!("it has no image for this platform, {list}");
                }
            },
        };
        match Manifest::parse(&blob(&entry.descriptor)?)? {
            Manifest::Index(inner) => entries = inner,
            Manifest::Image { config, layers } => {
                let config = blob(&config)?;
                let all = layers.iter().try_fold(0_u64, |sum, layer| sum.checked_add(layer.size));
                if all.is_none_or(|size| size > LONGEST_LAYERS) {
                    anyhow::bail!("its layers are larger than {} MiB", LONGEST_LAYERS >> 20);
                }
                let layers = layers.into_iter().map(|layer| {
                    Content::File(StoredFile {
                        files: Rc::clone(files),
                        path: path(&layer),
                        media_type: layer.media_type,
                        size: layer.size,
                        digest: Some(layer.digest),
                    })
                });
                return Stored::new(&config, layers.collect());
            }
        }
    }
    anyhow::bail!("its indexes are nested too deep")
}
