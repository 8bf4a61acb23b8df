//! Images that are built.

use super::*;

#[test]
fn what_is_built_is_read_back_from_every_kind_of_archive() {
    let name: model::Image = "quay.io/example/x:v1".parse().expect("a name");
    let arm = [Platform::linux("arm64")];
    let read = |stored: Stored, platform: &str| {
        let found = stored.unpack(&[], Limits::default()).expect("it is whole");
        assert_eq!((found.files, stored.platform.to_string()), (files(), platform.to_owned()));
    };
    for format in [Format::Oci, Format::Docker] {
        let image = built(format, &["linux/amd64", "linux/arm64"]);
        assert_eq!(image, built(format, &["linux/amd64", "linux/arm64"]), "two builds are equal");
        assert_eq!(image.blobs().len(), 3, "one layer for both");
        let archive = oci_archive(&image, Some(&name)).expect("it is written to memory");
        read(of_archive(&archive, &arm).expect("it is whole"), "linux/arm64");
        read(of_archive(&gzip(&archive), &arm).expect("it is whole"), "linux/arm64");
        assert!(docker_archive(&image, Some(&name)).is_err(), "it has two platforms");
        let one = built(format, &["linux/s390x"]);
        let archive = docker_archive(&one, Some(&name)).expect("it is written to memory");
        read(of_archive(&archive, &arm).expect("the only image"), "linux/s390x");
        let other = [Platform::linux("s390x")];
        let error = of_archive(&oci_archive(&image, None).expect("to memory"), &other);
        let error = error.expect_err("there is no such platform").to_string();
        assert_eq!(error, "it has no image for this platform, but for: linux/amd64, linux/arm64");
    }
}

#[test]
fn the_bytes_of_an_image_never_change() {
    // A change here, as by another version of the compression library, is a change of every user's digests.
    let digest =
        |format, platforms: &[&str]| built(format, platforms).digest().hex()[..16].to_owned();
    let found = [
        digest(Format::Oci, &["linux/amd64"]),
        digest(Format::Oci, &["linux/amd64", "linux/arm/v7"]),
        digest(Format::Docker, &["linux/amd64", "linux/arm/v7"]),
    ];
    assert_eq!(found, ["d80f22e2287bd5fa", "333d7ec75aef3f44", "c0b48548dcaba35c"]);
}

#[test]
fn a_base_image_keeps_what_the_new_one_does_not_set() {
    let layers = vec![tarball(&[(FILE, "etc/base", "1")])];
    let base = stored(&layers, gzip);
    let layer = Layer::of_data(files(), 0).expect("it is written to memory");
    let config = Config {
        labels: BTreeMap::from([("c".to_owned(), "d".to_owned())]),
        entrypoint: vec!["/manager".to_owned()],
        environment: vec!["A=1".to_owned()],
        user: "65532:65532".to_owned(),
        working_dir: String::new(),
    };
    let platform = Platform::linux("amd64");
    let arm = Platform::linux("arm64");
    let other = Variant {
        platform: arm,
        base: Some(base.clone()),
        layers: Vec::new(),
        config: Config::default(),
    };
    let error = assemble(&recipe(Format::Oci), vec![other]).expect_err("it is for another machine");
    assert_eq!(error.to_string(), "the base image is for linux/amd64, not for linux/arm64");
    let variant = Variant { platform, base: Some(base), layers: vec![layer], config };
    let image = assemble(&recipe(Format::Docker), vec![variant]).expect("it is whole");
    let single = &image.singles[0];
    let config: serde_json::Value = serde_json::from_slice(single.config.bytes()).expect("JSON");
    let expected = json!({
        "Labels": {"a": "b", "c": "d"}, "Entrypoint": ["/manager"], "Env": ["A=1"], "User": "65532:65532",
    });
    assert_eq!(config["config"], expected);
    assert_eq!(config["rootfs"]["diff_ids"].as_array().map(Vec::len), Some(2));
    let stored = single.layers.iter().cloned().map(Content::Memory).collect();
    let stored = Stored::new(&single.config, stored).expect("it is whole");
    let found = stored.unpack(&[], Limits::default()).expect("it is whole").files;
    assert_eq!((found.len(), &*found[&ProjectPath::fixed("etc/base")]), (6, &b"1"[..]));
}
