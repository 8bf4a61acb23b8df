//! OCI image layouts: a directory of blobs and an `index.json`.

use std::{collections::BTreeMap, rc::Rc};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    Content, Image, Manifest, Open, Reference, Stored,
    assemble::{descriptor, platform, text},
    content::{Part, small},
};
use diagnostics::Hint as _;
use model::{Blob, Descriptor, Platform};

/// The longest manifest or configuration: registries accept 4 MiB.
pub const LONGEST_MANIFEST: u64 = 4 << 20;

/// How large all layers of an image may be; those of a base image, once they are decompressed.
pub const LONGEST_LAYERS: u64 = 2 << 30;

/// The files of a layout, by their paths in it, with `index.json` last.
pub fn layout(image: &Image, name: Option<&model::Image>) -> Vec<(String, Vec<u8>)> {
    let mut res = vec![("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec())];
    let blobs: BTreeMap<String, &Blob> = [image.blobs(), image.children(), vec![image.top()]]
        .concat()
        .into_iter()
        .map(|it| (format!("blobs/sha256/{}", it.digest().hex()), it))
        .collect();
    res.extend(blobs.into_iter().map(|(path, it)| (path, it.bytes().to_vec())));
    let mut top = descriptor(image.top());
    if image.index.is_none() {
        top["platform"] = platform(&image.singles[0].platform);
    }
    if let Some(name) = name {
        // The first is what containerd reads, the second what skopeo and umoci do.
        top["annotations"] = json!({
            FULL_NAME: full_name(name),
            REF_NAME: name.tag().unwrap_or("latest"),
        });
    }
    res.push(("index.json".to_owned(), text(&index(vec![top]))));
    res
}

const FULL_NAME: &str = "io.containerd.image.name";
const REF_NAME: &str = "org.opencontainers.image.ref.name";

fn index(manifests: Vec<Value>) -> Value {
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
    let read = |it: &[u8]| serde_json::from_slice::<Value>(it).unwrap_or_default();
    let (mut value, mut new) = (read(existing), read(new));
    let list = |it: &'_ mut Value| it.get_mut("manifests").map(Value::take);
    let (Some(Value::Array(mut all)), Some(Value::Array(new))) = (list(&mut value), list(&mut new))
    else {
        return Err(anyhow::format_err!("its `index.json` has no list of manifests"))
            .hint("name another directory");
    };
    for entry in new {
        let full = |it: &Value| it["annotations"][FULL_NAME].as_str().map(str::to_owned);
        let tag = |it: &Value| it["annotations"][REF_NAME].as_str().map(str::to_owned);
        all.retain(|it| {
            let is_same = match full(it) {
                Some(name) => Some(name) == full(&entry),
                None => it["digest"] == entry["digest"] && tag(it) == tag(&entry),
            };
            !is_same
        });
        // Tools find an image by its tag alone.
        if let Some(tag) = tag(&entry)
            && let Some(other) = all.iter().find(|it| it["annotations"][REF_NAME] == *tag)
        {
            let name = full(other).unwrap_or_else(|| "an image without a full name".to_owned());
            return Err(anyhow::format_err!("its tag `{tag}` belongs to {name} already"))
                .hint("give `--archive` another directory, or `--tag` a name with another tag");
        }
        let is_nameless = |it: &Value| full(it).or(tag(it)).is_none();
        if is_nameless(&entry) && all.iter().any(is_nameless) {
            return Err(anyhow::format_err!("it has another image without a name"))
                .hint("name the image with `--tag`, or give `--archive` another directory");
        }
        all.push(entry);
    }
    value["manifests"] = all.into();
    Ok(text(&value))
}

/// Reads the image for the first of these platforms out of a layout. Its layers are read when they are needed.
pub fn read_layout(platforms: &[Platform], files: &Rc<Open>) -> anyhow::Result<Stored> {
    let index = small(&**files, "index.json", LONGEST_MANIFEST)?;
    let index = index.context("it has no `index.json`")?;
    let path = |it: &Descriptor| format!("blobs/sha256/{}", it.digest.hex());
    let blob = |it: &Descriptor| -> anyhow::Result<Blob> {
        anyhow::ensure!(it.size <= LONGEST_MANIFEST, "its blob {} is too large", it.digest);
        let bytes = small(&**files, &path(it), LONGEST_MANIFEST)?;
        let bytes = bytes.with_context(|| format!("it lacks the blob {}", it.digest))?;
        let blob = Blob::new(&it.media_type, bytes);
        anyhow::ensure!(
            *blob.digest() == it.digest && blob.size() == it.size,
            "its blob {} has another content",
            it.digest
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
                Some(one) if all.iter().filter(|it| it.platform == one.platform).count() == 1 => {
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
                let all = layers.iter().try_fold(0_u64, |sum, it| sum.checked_add(it.size));
                if all.is_none_or(|it| LONGEST_LAYERS < it) {
                    anyhow::bail!("its layers are larger than {} MiB", LONGEST_LAYERS >> 20);
                }
                let layers = layers.into_iter().map(|it| {
                    Content::File(Part {
                        files: Rc::clone(files),
                        path: path(&it),
                        media_type: it.media_type,
                        size: it.size,
                        digest: Some(it.digest),
                    })
                });
                return Stored::new(&config, layers.collect());
            }
        }
    }
    anyhow::bail!("its indexes are nested too deep")
}
