//! Layers that are applied, and layers that would do harm.

use super::*;

#[test]
fn layers_are_applied_one_after_the_other() {
    check(&[&[(FILE, "./a/b", "1"), (FILE, "/c", "2")], &[(FILE, "a/b", "3")]], "a/b=3 c=2");
    // Whiteouts are about lower layers, wherever they are in their own.
    check(&[&[(FILE, "a/b", "1"), (FILE, "a/c", "2")], &[(FILE, "a/.wh.b", "")]], "a/c=2");
    check(&[&[(FILE, "a/b", "1")], &[(FILE, "a/b", "2"), (FILE, "a/.wh.b", "")]], "a/b=2");
    check(&[&[(FILE, "a/b", "1")], &[(FILE, "a/c", "2"), (FILE, "a/.wh..wh..opq", "")]], "a/c=2");
    check(&[&[(FILE, "a/b/c", "1"), (FILE, "ab", "2")], &[(FILE, ".wh.a", "")]], "ab=2");
    check(&[&[(FILE, "a", "1")], &[(FILE, ".wh..wh..opq", "")]], "");
    check(&[&[(FILE, "a/x", "1"), (FILE, "a/.wh..wh.plnk", "")]], "a/x=1");
    // A file takes the place of a directory, and the other way round.
    check(&[&[(FILE, "a/b", "1")], &[(FILE, "a", "2")]], "a=2");
    check(&[&[(FILE, "a", "1")], &[(FOLDER, "a/", ""), (FILE, "a/b", "2")]], "a/b=2");
    check(&[&[(FOLDER, "a/", ""), (FILE, "a/b", "1")], &[(FOLDER, "a", "")]], "a/b=1");
    // Links within the image.
    check(&[&[(FILE, "a/b", "1"), (LINK, "c", "a/b")]], "a/b=1 c=1");
    check(
        &[&[(FILE, "a/b", "1"), (SYMLINK, "a/c", "b"), (SYMLINK, "d", "./a/../a/c")]],
        "a/b=1 a/c=1 d=1",
    );
    check(&[&[(SYMLINK, "a", "b")], &[(FILE, "b", "1"), (FILE, "a", "2")]], "a=2 b=1");
}

#[test]
fn nothing_leads_out_of_an_image() {
    let out = |name: &str| format!("`{name}` has a `..`, which could lead out of it");
    check(&[&[(FILE, "../a", "1")]], &out("../a"));
    check(&[&[(FILE, "a/../../b", "1")]], &out("a/../../b"));
    check(&[&[(LINK, "a", "../../etc/passwd")]], &out("../../etc/passwd"));
    check(&[&[(FILE, "a/.wh...", "")]], "`a/.wh...` in it removes no file");
    check(&[&[(FILE, "a/.wh.", "")]], "`a/.wh.` in it removes no file");
    for to in ["/etc/passwd", "../a", "b/../../x"] {
        check(&[&[(SYMLINK, "a", to)]], "`a` is a symlink that leads out of the image");
    }
    check(
        &[&[(SYMLINK, "a", "b"), (SYMLINK, "b", "a")]],
        "`a` is a symlink that leads to no file of the image",
    );
    check(&[&[(SYMLINK, "a", "nothing")]], "`a` is a symlink that leads to no file of the image");
    // Not through a link either.
    let through = "`a` is not a directory, and has files in it";
    check(&[&[(SYMLINK, "a", "/etc"), (FILE, "a/passwd", "1")]], through);
    check(&[&[(SYMLINK, "a", "/etc")], &[(FILE, "a/b/c", "1")]], through);
    check(
        &[&[(LINK, "a", "nothing")]],
        "`a` is a hard link to `nothing`, which is not a file there",
    );
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo, EntryType::GNUSparse] {
        check(&[&[(kind, "a", "")]], "`a` is neither a file nor a directory");
    }
    check(&[&[(FILE, "a\\b", "1")]], "the image has a file with the invalid name `a\\b`");
    check(&[&[(FILE, "a\nb", "1")]], "the image has a file with the invalid name `a\nb`");
}

#[test]
fn only_the_directories_that_are_named_are_kept() {
    let layers: &[&[Entry<'_>]] = &[
        &[
            (FILE, "manifests/a", "1"),
            (FILE, "manifests2/a", "2"),
            (EntryType::Char, "dev/null", ""),
        ],
        &[(SYMLINK, "bin", "/usr/bin"), (FILE, "bin/sh", "3"), (FILE, "x\\y", "4")],
    ];
    assert_eq!(unpacked(layers, &["manifests", "metadata"], Limits::default()), "manifests/a=1");
    // A link to what is not kept: nothing is known about it.
    let unfollowed = |kind: &str| {
        format!(
            "`a/b` is a {kind} to `other/c`, and no link out of the directories of a bundle or a catalog is followed"
        )
    };
    let layers: &[&[Entry<'_>]] = &[&[(FILE, "other/c", "1"), (SYMLINK, "a/b", "../other/c")]];
    assert_eq!(unpacked(layers, &["a"], Limits::default()), unfollowed("symlink"));
    let layers: &[&[Entry<'_>]] = &[&[(FILE, "other/c", "1"), (LINK, "a/b", "other/c")]];
    assert_eq!(unpacked(layers, &["a"], Limits::default()), unfollowed("hard link"));
    check(
        &[&[(FILE, "b/c", "1"), (FOLDER, "b", ""), (SYMLINK, "a", "b")]],
        "`a` is a symlink to the directory `b`, and only those to files are followed",
    );
    // A link in the way of a directory that is kept.
    let layers: &[&[Entry<'_>]] = &[&[(SYMLINK, "a", "/etc"), (FILE, "a/b/passwd", "1")]];
    let refused = "`a` is not a directory, and has files in it";
    assert_eq!(unpacked(layers, &["a/b"], Limits::default()), refused);
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let limits = Limits { whole: 1 << 20, kept: 1000, entries: 10 };
    let check = |layers: &[&[Entry<'_>]], expected: &str| {
        assert_eq!(unpacked(layers, &["a"], limits), expected);
    };
    let long = "x".repeat(1001);
    let half = "x".repeat(501);
    let larger = "it is too large once it is decompressed";
    check(&[&[(FILE, "a/b", &long)]], larger);
    check(&[&[(FILE, "a/b", &half)], &[(FILE, "a/c", &half)]], larger);
    let too_much = "its files and their paths are too large";
    check(&[&[(FILE, "a/b", &half), (LINK, "a/c", "a/b")]], too_much);
    check(&[&[(FILE, "a/b", &half), (SYMLINK, "a/c", "b")]], too_much);
    // A path of very many directories, each of which is one of the image's.
    check(&[&[(FILE, &"a/".repeat(40), "")]], too_much);
    let target = "b".repeat(90);
    let links: Vec<Entry<'_>> = (0..10).map(|_| (SYMLINK, "a", &*target)).collect();
    let tight = Limits { kept: 800, ..limits };
    assert_eq!(unpacked(&[&links], &["a"], tight), too_much);
    check(&[&[(FOLDER, "b", ""); 11]], "it has too many files");
    // Also what is not kept counts, in all layers together.
    let much = "x".repeat(600 << 10);
    check(&[&[(FILE, "b", &much)]], "");
    check(&[&[(FILE, "b", &much)], &[(FILE, "b", &much)]], larger);
    // A name that is as long as the layer.
    let long = "x".repeat((1 << 20) + 1);
    let limits = Limits { whole: 1 << 30, ..limits };
    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
        let found = unpacked(&[&[(kind, "a", &long), (FILE, "a/b", "")]], &["a"], limits);
        assert_eq!(found, "a name in it is too long");
    }
    // Zeros, a thousand times as many as bytes.
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut std::io::repeat(0).take(1 << 25), &mut bomb).expect("to memory");
    let bomb = memory(OCI_LAYER, bomb.finish().expect("to memory"));
    let layers = vec![Vec::new()];
    let stored = Stored::new(&config(&layers), vec![bomb]).expect("it is whole");
    let limits = Limits { whole: 1 << 20, ..limits };
    let error = stored.unpack(&[], limits).expect_err("it is a bomb");
    assert_eq!(error.root_cause().to_string(), larger);
}

#[test]
fn a_layer_must_be_what_the_configuration_says() {
    let tar = tarball(&[(FILE, "a", "1")]);
    let layers = vec![tar.clone()];
    for pack in [gzip, zstd, |it: &[u8]| it.to_vec()] {
        let found = stored(&layers, pack).unpack(&[], Limits::default()).expect("it is whole");
        assert_eq!(found.files[&ProjectPath::fixed("a")], b"1");
        assert!(found.folders.is_empty());
        assert_eq!(found.labels, BTreeMap::from([("a".to_owned(), "b".to_owned())]));
    }
    let refused = |bytes: Vec<u8>| {
        let image = Stored::new(&config(&layers), vec![memory(OCI_LAYER, bytes)]).expect("whole");
        let error = image.unpack(&[], Limits::default()).expect_err("it is not what it says");
        error.root_cause().to_string()
    };
    let other = tarball(&[(FILE, "a", "2")]);
    assert!(refused(gzip(&other)).starts_with("its content has the digest sha256:"));
    // Behind the last entry, too.
    assert!(refused([&tar[..], b"x"].concat()).starts_with("its content has the digest sha256:"));
    assert!(
        refused(gzip(&tar)[..40].to_vec()).contains("deflate"),
        "{}",
        refused(gzip(&tar)[..40].to_vec())
    );
    refused(zstd(&tar)[..40].to_vec());
    refused(b"not a tar file".repeat(100));
    assert_eq!(refused(b"BZh9".to_vec()), "bzip2 compression is not supported in an image");
    let error = Stored::new(&config(&layers), Vec::new()).expect_err("a layer is missing");
    assert!(error.to_string().ends_with("it names 1 layers, and the manifest 0"));
    for text in ["", "{}", "[]", "null", "{\"architecture\": 1}"] {
        let config = Blob::new("x", text.as_bytes().to_vec());
        assert!(Stored::new(&config, Vec::new()).is_err(), "{text}");
    }
}
