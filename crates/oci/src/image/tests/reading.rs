//! Manifests and layouts of somebody else.

use std::cell::Cell;

use super::*;

#[test]
fn ambiguous_manifests_are_refused() {
    let digest = Digest::from_content(b"");
    let layer = json!({"mediaType": OCI_LAYER, "digest": digest, "size": 0});
    let index = "application/vnd.oci.image.index.v1+json";
    let manifest = "application/vnd.oci.image.manifest.v1+json";
    let parse = |value: serde_json::Value, of_type: &str| {
        let blob = Blob::new(of_type, value.to_string().into_bytes());
        Manifest::parse(&blob).map_err(|it| it.to_string().replace(blob.digest().as_str(), "D"))
    };
    let image = json!({"schemaVersion": 2, "config": layer, "layers": [layer]});
    let descriptor =
        Descriptor { media_type: OCI_LAYER.to_owned(), digest: digest.clone(), size: 0 };
    let expected = Manifest::Image { config: descriptor.clone(), layers: vec![descriptor] };
    assert_eq!(parse(image.clone(), manifest), Ok(expected));
    assert!(parse(image.clone(), "").is_ok());
    // As a list, and as an image: two tools would run two different things.
    let mut both = image.clone();
    both["manifests"] = json!([]);
    for of_type in [manifest, index] {
        let error = format!("the manifest D of type `{of_type}` is not an image");
        assert_eq!(parse(both.clone(), of_type), Err(error));
    }
    let mut other = image.clone();
    other["mediaType"] = json!(index);
    assert!(parse(other, manifest).is_err());
    assert_eq!(
        parse(json!({"schemaVersion": 1}), manifest),
        Err("the image's manifest has schema version 1".to_owned())
    );
    let mut foreign = image.clone();
    foreign["layers"][0]["urls"] = json!(["http://127.0.0.1/secret"]);
    let error = format!("the layer {digest} is not in the registry: only a URL of it is");
    assert_eq!(parse(foreign, manifest), Err(error));
    let mut bad = image.clone();
    bad["layers"][0]["digest"] = json!("sha256:../../../etc/passwd");
    assert!(parse(bad, manifest).is_err());
    for text in ["", "[]", "null", "{}", "{\"layers\": 1}"] {
        assert!(Manifest::parse(&Blob::new(manifest, text.as_bytes().to_vec())).is_err(), "{text}");
    }
}

#[test]
fn a_layout_of_somebody_else_is_read_with_care() {
    let image = built(Format::Oci, &["linux/amd64", "linux/arm64"]);
    let files: BTreeMap<String, Vec<u8>> = layout(&image, None).into_iter().collect();
    let amd = [Platform::linux("amd64")];
    let read = |files: &BTreeMap<String, Vec<u8>>| {
        let found = of_layout(files, &amd);
        found.map(|_| ()).map_err(|it| it.root_cause().to_string())
    };
    assert_eq!(read(&files), Ok(()));
    for (path, bytes) in &files {
        if !path.starts_with("blobs") {
            continue;
        }
        let hex = path.rsplit('/').next().expect("it has parts");
        let mut other = files.clone();
        other.remove(path);
        if let Err(error) = read(&other) {
            let of_layer = format!("it lacks the file `blobs/sha256/{hex}`");
            assert!(
                error == format!("it lacks the blob sha256:{hex}") || error == of_layer,
                "{error}"
            );
        }
        let mut changed = bytes.clone();
        changed[0] ^= 1;
        other.insert(path.clone(), changed);
        if let Err(error) = read(&other) {
            assert_eq!(error, format!("its blob sha256:{hex} has another content"));
        }
    }
    let with = |index: serde_json::Value| {
        let mut other = files.clone();
        other.insert("index.json".to_owned(), index.to_string().into_bytes());
        read(&other)
    };
    let entry = |blob: &Blob, size: u64| json!({"mediaType": blob.media_type(), "digest": blob.digest(), "size": size});
    let top = image.top();
    let index = |entries: &[serde_json::Value]| json!({"schemaVersion": 2, "manifests": entries});
    let size = top.size();
    assert_eq!(with(index(&[entry(top, size)])), Ok(()));
    assert_eq!(
        with(index(&[entry(top, u64::MAX)])),
        Err(format!("its blob {} is too large", top.digest()))
    );
    assert_eq!(
        with(index(&[entry(top, size + 1)])),
        Err(format!("its blob {} has another content", top.digest()))
    );
    assert_eq!(
        with(index(&[entry(top, size - 1)])),
        Err(format!("its blob {} has another content", top.digest()))
    );
    assert_eq!(
        with(index(&[])),
        Err("it has no image for this platform, and its index names no platform".to_owned())
    );
    assert!(with(json!({"schemaVersion": 2})).is_err());
}

#[test]
fn an_image_takes_the_place_of_the_one_with_its_name() {
    let entry = |digest: &str, full: Option<&str>, tag: Option<&str>| {
        let mut res = json!({"digest": digest});
        if let Some(full) = full {
            res["annotations"]["io.containerd.image.name"] = full.into();
        }
        if let Some(tag) = tag {
            res["annotations"]["org.opencontainers.image.ref.name"] = tag.into();
        }
        res
    };
    let ours =
        |digest: &str, full: &str| entry(digest, Some(full), full.rsplit_once(':').map(|it| it.1));
    let index = |it: &[serde_json::Value]| {
        json!({"manifests": it, "annotations": {"theirs": "1"}}).to_string().into_bytes()
    };
    let merged = |old: &[serde_json::Value], new: serde_json::Value| {
        let bytes = index_with(&index(old), &index(&[new])).map_err(|it| it.to_string())?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(value["annotations"], json!({"theirs": "1"}), "what is theirs stays");
        let all = value["manifests"].as_array().expect("a list").iter();
        let all = all.map(|it| it["digest"].as_str().expect("a digest").to_owned());
        Ok(all.collect::<Vec<_>>().join(" "))
    };
    let old = [ours("a", "q.io/x:v1"), ours("b", "q.io/x:v2"), entry("c", None, None)];
    assert_eq!(merged(&old, ours("n", "q.io/x:v1")), Ok("b c n".to_owned()));
    assert_eq!(merged(&old, ours("n", "q.io/x:v3")), Ok("a b c n".to_owned()));
    // The same image again.
    assert_eq!(merged(&old, entry("c", None, None)), Ok("a b c".to_owned()));
    let taken = "its tag `v1` belongs to q.io/x:v1 already".to_owned();
    assert_eq!(merged(&old, ours("n", "q.io/y:v1")), Err(taken.clone()));
    // The same image under another name: it must not lose the one it has.
    assert_eq!(merged(&old, ours("a", "q.io/y:v1")), Err(taken));
    let theirs = [entry("t", None, Some("v1"))];
    let taken = "its tag `v1` belongs to an image without a full name already".to_owned();
    assert_eq!(merged(&theirs, ours("n", "q.io/y:v1")), Err(taken));
    let nameless = "it has another image without a name".to_owned();
    assert_eq!(merged(&old, entry("n", None, None)), Err(nameless));
    assert_eq!(merged(&old[..2], entry("n", None, None)), Ok("a b n".to_owned()));
    assert!(index_with(b"{}", b"{}").is_err());
}

/// An archive of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut res = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        res.append_data(&mut header, name, *bytes).expect("it is written to memory");
    }
    res.into_inner().expect("it is written to memory")
}

#[test]
fn an_archive_of_somebody_else_is_read_with_care() {
    let refused = |files: &[(&str, &[u8])]| {
        let error = of_archive(&archive(files), &[Platform::linux("amd64")]);
        error.expect_err("it is no image").to_string()
    };
    let check = |files: &[(&str, &[u8])], expected: &str| assert_eq!(refused(files), expected);
    check(&[("a", b"")], "it has neither an `index.json` nor a `manifest.json`");
    for text in ["{}", "[]", "[{}, {}]", "null"] {
        check(
            &[("manifest.json", text.as_bytes())],
            "its `manifest.json` does not list exactly one image",
        );
    }
    check(&[("manifest.json", b"[{\"Config\": \"c.json\"}]")], "it lacks the file `c.json`");
    let name = format!("{}.json", "0".repeat(64));
    let manifest = json!([{"Config": name, "Layers": []}]).to_string();
    check(
        &[("manifest.json", manifest.as_bytes()), (&name, b"{}")],
        "its configuration does not have the digest in its name",
    );
    let index = |text: &'static str| refused(&[("index.json", text.as_bytes())]);
    assert!(index("{\"schemaVersion\": 2, \"layers\": []}").contains("is not valid"));
    let read = of_layout(&BTreeMap::new(), &[]).expect_err("there is nothing");
    assert_eq!(read.to_string(), "it has no `index.json`");
    let mut cut = archive(&[("index.json", b"0123456789")]);
    cut.truncate(515);
    let error = of_archive(&cut, &[]).expect_err("it is cut off");
    assert_eq!(error.to_string(), "it ends within `index.json`");
    let other = of_archive(b"PK is a zip", &[]).expect_err("it is no tar file");
    assert!(format!("{other:#}").contains("it is not a tar file"), "{other:#}");
    // Two images for one platform, and an index in an index in an index.
    let image = built(Format::Oci, &["linux/amd64"]);
    let one = json!({"mediaType": image.top().media_type(), "digest": image.digest(), "size": image.top().size(), "platform": {"os": "linux", "architecture": "amd64"}});
    let two = json!({"schemaVersion": 2, "manifests": [one, one]}).to_string();
    check(&[("index.json", two.as_bytes())], "it has several images");
}

#[test]
fn only_the_start_of_a_large_file_is_read_to_detect_its_format() {
    struct Counted<R>(R, u64);
    impl<R: std::io::Read> std::io::Read for Counted<R> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let found = self.0.read(buffer)?;
            self.1 += found as u64;
            Ok(found)
        }
    }
    let nothing = || Counted(std::io::repeat(0).take(4 << 30), 0);
    let mut file = nothing();
    assert!(!is_archive(&mut file));
    assert!(file.1 < 1 << 20, "{}", file.1);
    let read = Rc::new(Cell::new(0));
    let all = Rc::clone(&read);
    let open = move |_| -> anyhow::Result<Box<dyn Read>> {
        let zeros = std::io::repeat(0).take(4 << 30);
        let all = Rc::clone(&all);
        Ok(Box::new(Watched(zeros, Box::new(move |found| all.set(all.get() + found)))))
    };
    read_archive(open, &[]).expect_err("there is nothing in it");
    assert!(read.get() < 1 << 20, "{}", read.get());
    // What follows the first file of an image's archive may be large.
    let layout = archive(&[("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)]);
    let mut file = Counted(layout[..1024].chain(std::io::repeat(1).take(4 << 30)), 0);
    assert!(is_archive(&mut file));
    assert!(file.1 < 1 << 20, "{}", file.1);
}

#[test]
fn readers_agree_on_what_is_in_a_tar_file() {
    let record = |key: &str, value: &str| {
        let text = format!(" {key}={value}\n");
        let length = (1..).find(|it: &usize| it.to_string().len() + text.len() == *it);
        format!("{}{text}", length.expect("there is one"))
    };
    let check = |header: &str, expected: &str| {
        let entries: &[super::Entry<'_>] = &[(EntryType::XHeader, "x", header), (FILE, "a", "1")];
        let stored = stored(&[tarball(entries)], |it| it.to_vec());
        let found = stored.unpack(&[], Limits::default());
        let found = found.map_or_else(
            |it| it.root_cause().to_string(),
            |it| it.files.keys().map(ToString::to_string).collect(),
        );
        assert_eq!(found, expected, "{header}");
    };
    check(&record("path", "b/c"), "b/c");
    check(&record("size", "1"), "a");
    check(&record("size", "9"), "an entry in it has two sizes");
    check(&record("path", "../b"), "`../b` has a `..`, which could lead out of it");
    check(&record("GNU.sparse.major", "1"), "it has a sparse file");
}

#[test]
fn a_base_image_must_fit() {
    let error = assemble(&recipe(Format::Oci), Vec::new()).expect_err("there is no platform");
    assert_eq!(error.to_string(), "an image needs at least one platform");
    let layers = vec![tarball(&[(FILE, "a", "1")])];
    let zstd_layer = Blob::new("application/vnd.oci.image.layer.v1.tar+zstd", zstd(&layers[0]));
    let base =
        Stored::new(&config(&layers), vec![Content::Memory(zstd_layer)]).expect("it is whole");
    let platform = Platform::linux("amd64");
    let variant = |base| Variant {
        platform: platform.clone(),
        base,
        layers: Vec::new(),
        config: Config::default(),
    };
    assert!(assemble(&recipe(Format::Oci), vec![variant(Some(base.clone()))]).is_ok());
    let error = assemble(&recipe(Format::Docker), vec![variant(Some(base))]).expect_err("no zstd");
    assert_eq!(
        error.to_string(),
        "the base image has a layer of type `application/vnd.oci.image.layer.v1.tar+zstd`, which this format does not have"
    );
    assert_eq!(diagnostics::collect_hints(&error), ["pass `--format oci`, or another base image"]);
    let other = Blob::new(OCI_LAYER, gzip(&tarball(&[(FILE, "a", "2")])));
    let base = Stored::new(&config(&layers), vec![Content::Memory(other)]).expect("it is whole");
    let error = assemble(&recipe(Format::Oci), vec![variant(Some(base))]).expect_err("another");
    let chain = format!("{error:#}");
    assert!(chain.starts_with("cannot read the base image: the layer sha256:"), "{chain}");
    assert!(chain.contains(" cannot be used: its content has the digest sha256:"), "{chain}");
    assert_eq!(diagnostics::collect_hints(&error), ["choose another base image"]);
    let base = stored(&layers, gzip);
    assert!(base.ensure_layers_match(layers[0].len() as u64).is_ok());
    let error = base.ensure_layers_match(layers[0].len() as u64 - 1).expect_err("it is too large");
    assert_eq!(error.root_cause().to_string(), "it is too large once it is decompressed");
}

#[test]
fn a_layer_that_is_named_many_times_counts_each_time() {
    let layer = archive(&[("a", b"b")]);
    let of = |bytes: &[u8]| Digest::from_content(bytes);
    let config = json!({"architecture": "amd64", "os": "linux", "config": {},
        "rootfs": {"type": "layers", "diff_ids": vec![of(&layer).to_string(); 50]}});
    let config = config.to_string().into_bytes();
    let entry = |bytes: &[u8], size: u64| {
        json!({"digest": of(bytes).to_string(), "size": size,
        "mediaType": "application/vnd.oci.image.layer.v1.tar"})
    };
    let read = |size: u64| {
        let manifest = json!({"schemaVersion": 2, "config": entry(&config, config.len() as u64),
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "layers": vec![entry(&layer, size); 50]});
        let manifest = manifest.to_string().into_bytes();
        let mut top = entry(&manifest, manifest.len() as u64);
        top["mediaType"] = "application/vnd.oci.image.manifest.v1+json".into();
        let index = json!({"schemaVersion": 2, "manifests": [top]}).to_string().into_bytes();
        let mut files = BTreeMap::from([("index.json".to_owned(), index)]);
        for bytes in [&layer, &config, &manifest] {
            files.insert(format!("blobs/sha256/{}", of(bytes).hex()), bytes.clone());
        }
        of_layout(&files, &[])
    };
    let image = read(layer.len() as u64).expect("it is whole");
    assert_eq!(image.layers.len(), 50);
    for size in [1 << 30, u64::MAX / 2] {
        let error = read(size).expect_err("it is too large").to_string();
        assert_eq!(error, "its layers are larger than 2048 MiB");
    }
    let hex = of(&config).hex().to_owned();
    let manifest = json!([{"Config": format!("{hex}.json"), "Layers": vec!["l.tar"; 50]}]);
    let files = [
        (&*format!("{hex}.json"), &*config),
        ("l.tar", &*layer),
        ("manifest.json", manifest.to_string().as_bytes()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, it)| (&**name, &**it)).collect();
    let image = of_archive(&archive(&files), &[]).expect("it is whole");
    assert_eq!(image.layers.len(), 50);
}

/// Content that counts what is read of it.
struct Watched<R>(R, Box<dyn Fn(u64)>);

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let found = self.0.read(buffer)?;
        (self.1)(found as u64);
        Ok(found)
    }
}

#[test]
fn layers_are_read_from_the_archive_when_they_are_needed() {
    const SIZE: usize = 1 << 20;
    let text = "x".repeat(SIZE);
    let layers: Vec<Vec<u8>> =
        ["a", "b", "c", "d"].iter().map(|it| tarball(&[(FILE, it, &text)])).collect();
    let config = config(&layers);
    let names: Vec<String> = (0..layers.len()).map(|it| format!("{it}.tar")).collect();
    let manifest = json!([{"Config": "config.json", "Layers": names}]).to_string();
    let mut files: Vec<(&str, &[u8])> =
        names.iter().map(|it| &**it).zip(layers.iter().map(|it| &**it)).collect();
    files.extend([("config.json", config.bytes()), ("manifest.json", manifest.as_bytes())]);
    let plain = archive(&files);
    for bytes in [plain.clone(), gzip(&plain)] {
        let (read, bytes) = (Rc::new(Cell::new(0)), Rc::<[u8]>::from(bytes));
        let all = Rc::clone(&read);
        let open = move |at: u64| -> anyhow::Result<Box<dyn Read>> {
            let all = Rc::clone(&all);
            let rest = Cursor::new(bytes[usize::try_from(at)?..].to_vec());
            Ok(Box::new(Watched(rest, Box::new(move |found| all.set(all.get() + found)))))
        };
        let image = read_archive(open, &[]).expect("it is whole");
        // Where the files are is known; none of them is kept.
        let of_index = read.get();
        assert!(image.layers.iter().all(|it| matches!(it, Content::File(_))), "{image:?}");
        // Nothing is kept of directories that nobody needs, and each layer is read once.
        let found = image.unpack(&["manifests"], Limits::default()).expect("it is whole");
        assert!(found.files.is_empty());
        let size = (read.get() - of_index) / SIZE as u64;
        assert!(size <= 4, "{size} MiB");
    }
}
