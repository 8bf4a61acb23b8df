//! `bundle build`: layouts and archives, and what is refused.

use std::fs;

use crate::{digest, done, ours, printed, project, refused, support, tool};

#[test]
fn other_tools_read_what_is_built() {
    let dir = project("built");
    let name = "quay.io/example/memcached-operator-bundle:v0.0.1";
    let build = |words: &[&str]| {
        digest(&done(&dir, &[&["bundle", "build", "--tag", name], words].concat()))
    };
    let whole = build(&["--archive", "layout"]);
    let one = build(&["--archive", "one", "--platform", "linux/arm64"]);
    assert_eq!(build(&["--archive", "oci.tar"]), whole);
    assert_eq!(build(&["--archive", "again.tar"]), whole, "two builds are equal");
    assert_eq!(fs::read(dir.join("oci.tar")).unwrap(), fs::read(dir.join("again.tar")).unwrap());
    let docker =
        build(&["--archive", "docker.tar", "--format", "docker", "--platform", "linux/s390x"]);
    assert_ne!((&whole, &one), (&docker, &whole));

    let inspect = |source: &str| -> Option<serde_json::Value> {
        let words = ["--override-arch", "s390x", "inspect", source];
        let text = crate::printed(tool("skopeo", &dir, &words)?);
        Some(serde_json::from_str(&text).expect("skopeo prints JSON"))
    };
    let sources = [
        ("oci:layout:v0.0.1".to_owned(), "s390x", Some(&whole)),
        ("oci:one:v0.0.1".to_owned(), "arm64", Some(&one)),
        ("oci-archive:oci.tar:v0.0.1".to_owned(), "s390x", Some(&whole)),
        (format!("docker-archive:docker.tar:{name}"), "s390x", None),
    ];
    let labels: serde_json::Map<_, _> = labels(&dir.join("bundle"));
    for (source, architecture, digest) in &sources {
        let Some(found) = inspect(source) else { return };
        assert_eq!(found["Architecture"], *architecture, "{source}");
        assert_eq!(found["Labels"], serde_json::Value::Object(labels.clone()), "{source}");
        if let Some(digest) = digest {
            assert_eq!(found["Digest"], digest.as_str(), "{source}");
        }
    }
    for (at, (source, ..)) in sources.iter().enumerate() {
        let (copy, to) = (format!("oci:copy:{at}"), format!("unpacked-{at}"));
        let words = ["--override-arch", "s390x", "copy", source, &copy];
        let words = if at == 1 {
            [&["--override-arch", "arm64"], &words[2..]].concat()
        } else {
            words.to_vec()
        };
        crate::printed(tool("skopeo", &dir, &words).expect("it is there"));
        let words = ["unpack", "--rootless", "--image", &copy[4..], &to];
        crate::printed(tool("umoci", &dir, &words).expect("it is there"));
        let found = support::tree(&dir.join(&to).join("rootfs"));
        assert_eq!(
            support::difference(&support::tree(&dir.join("bundle")), &found),
            None,
            "{source}"
        );
    }
}

/// The annotations of a bundle.
fn labels(bundle: &std::path::Path) -> serde_json::Map<String, serde_json::Value> {
    let text = fs::read_to_string(bundle.join("metadata/annotations.yaml")).expect("it is ours");
    let lines = text.lines().filter_map(|it| it.strip_prefix("  ")?.split_once(": "));
    lines.map(|(key, it)| (key.to_owned(), it.into())).collect()
}

#[test]
fn the_time_is_that_of_the_source() {
    let dir = project("epoch");
    let build = |epoch: Option<&str>| {
        let mut command = ours(&dir, &["bundle", "build", "--archive", "a.tar"]);
        command.envs(epoch.map(|it| ("SOURCE_DATE_EPOCH", it)));
        command
    };
    let digest = |epoch| digest(&crate::printed(build(epoch)));
    assert_eq!(digest(None), digest(Some("0")));
    assert_eq!(digest(Some("1700000000")), digest(Some("1700000000")));
    assert_ne!(digest(None), digest(Some("1700000000")));
    let said = refused(build(Some("-1")));
    assert!(said.contains("SOURCE_DATE_EPOCH must not be before 1970: it is `-1`"), "{said}");
    let said = refused(build(Some("9999999999999")));
    let expected = "SOURCE_DATE_EPOCH must be between 0 and 253402207200: it is `9999999999999`";
    assert!(said.contains(expected), "{said}");
    crate::printed(build(Some("253402207200")));
    assert!(refused(build(Some("253402207201"))).contains("must be between 0 and"));
    assert!(refused(build(Some("x"))).contains("SOURCE_DATE_EPOCH must be a number of seconds"));
}

#[test]
fn nothing_is_written_where_something_else_is() {
    let dir = project("occupied");
    let check = |output: &str, words: &[&str], expected: &str| {
        let before = support::tree(&dir);
        let said =
            refused(ours(&dir, &[&["bundle", "build", "--archive", output], words].concat()));
        assert!(said.contains(expected), "{said}");
        assert_eq!(support::difference(&before, &support::tree(&dir)), None);
    };
    fs::create_dir(dir.join("folder.tar")).expect("it is ours");
    let replaced = "is not the archive of an image, and is not replaced";
    fs::write(dir.join("notes.tar"), "notes").expect("it is ours");
    check("notes.tar", &[], &format!("`notes.tar` {replaced}"));
    let mut backup = tar::Builder::new(fs::File::create(dir.join("backup.tar")).expect("ours"));
    backup.append_dir_all("bundle", dir.join("bundle")).expect("it is ours");
    let mut header = tar::Header::new_ustar();
    header.set_size(2);
    for name in ["manifest.json", "index.json", "oci-layout"] {
        backup.append_data(&mut header.clone(), name, &b"{}"[..]).expect("it is ours");
    }
    backup.into_inner().expect("it is written");
    check("backup.tar", &["--format", "docker"], &format!("`backup.tar` {replaced}"));
    check("b.tar.gz", &[], "an archive cannot be written with the extension `.tar.gz`");
    check("b.TGZ", &[], "set `--archive` to a name that ends in `.tar`");
    check("bundle", &[], "`bundle` is neither empty nor an OCI layout");
    check("PROJECT", &[], "PROJECT` is not a directory");
    check("folder.tar", &[], "is not a regular file, and is not replaced");
    check("a", &["--format", "docker"], "`--format docker` writes an archive");
    check(
        "a.tar",
        &["--format", "docker", "--platform", "linux/amd64,linux/arm64"],
        "a Docker archive holds one platform",
    );
    let digest = format!("a@sha256:{}", "0".repeat(64));
    check(
        "a.tar",
        &["--tag", &digest],
        "`--tag` must not have a digest: it is computed from the content",
    );
    // A layout of somebody else is added to, if it can be read.
    fs::create_dir(dir.join("layout")).expect("it is ours");
    fs::write(dir.join("layout/oci-layout"), "{}").expect("it is ours");
    fs::write(dir.join("layout/index.json"), "[]").expect("it is ours");
    let said = refused(ours(&dir, &["bundle", "build", "--archive", "layout"]));
    assert!(said.contains("its `index.json` has no list of manifests"), "{said}");
    assert_eq!(fs::read_to_string(dir.join("layout/index.json")).unwrap(), "[]");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", dir.join("linked")).expect("it is ours");
        check("linked/a.tar", &[], "is a symlink");
        check("linked", &[], "is a symlink");
    }
}

#[test]
fn images_are_added_to_a_layout_at_the_same_time() {
    let dir = project("together");
    let name = |at: usize| format!("quay.io/example/bundle:v0.0.{at}");
    let build = |at: usize| {
        let mut command =
            ours(&dir, &["bundle", "build", "--archive", "layout", "--tag", &name(at)]);
        command.env("SOURCE_DATE_EPOCH", at.to_string()).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::piped()).spawn().expect("it starts")
    };
    let all: Vec<_> = (0..6).map(build).collect();
    for child in all {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", support::said(&output));
    }
    let names = || {
        let text = fs::read_to_string(dir.join("layout/index.json")).expect("it was written");
        let index: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let all = index["manifests"].as_array().expect("a list").iter();
        let all = all.map(|it| it["annotations"]["io.containerd.image.name"].to_string());
        let mut all: Vec<String> = all.map(|it| it.trim_matches('"').to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(names(), (0..6).map(name).collect::<Vec<_>>());
    // Another image with a tag that is there.
    let words = ["bundle", "build", "--archive", "layout", "--tag", "quay.io/other/x:v0.0.1"];
    let before = support::tree(&dir);
    let said = refused(ours(&dir, &words));
    assert!(
        said.contains("its tag `v0.0.1` belongs to quay.io/example/bundle:v0.0.1 already"),
        "{said}"
    );
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
}

#[test]
fn a_bundle_that_cannot_be_an_image_is_refused() {
    let dir = project("refused");
    let write = |path: &str, text: &str| fs::write(dir.join(path), text).expect("it is ours");
    let build = || refused(ours(&dir, &["bundle", "build", "--archive", "a.tar"]));
    let dockerfile = fs::read_to_string(dir.join("bundle.Dockerfile")).expect("it is ours");
    let edited = "this is not the Dockerfile that `operator-rs bundle` generates for `bundle`";
    for other in [
        dockerfile.replace("channels.v1=alpha", "channels.v1=beta"),
        dockerfile.replace("COPY bundle/metadata", "COPY other/metadata"),
        format!("{dockerfile}RUN true\n"),
    ] {
        write("bundle.Dockerfile", &other);
        let said = build();
        assert!(said.contains(edited), "{said}");
    }
    write("bundle.Dockerfile", &dockerfile);
    // The labels are those of the annotations.
    let path = "bundle/metadata/annotations.yaml";
    let annotations = fs::read_to_string(dir.join(path)).expect("it is ours");
    write(path, &annotations.replace(": alpha", ": beta"));
    assert!(build().contains(edited));
    write(path, &annotations);
    fs::rename(dir.join("bundle/tests"), dir.join("elsewhere")).expect("it is ours");
    let said = build();
    assert!(said.contains("copies `bundle/tests/scorecard`, which has no files"), "{said}");
    fs::rename(dir.join("elsewhere"), dir.join("bundle/tests")).expect("it is ours");
    write("bundle/manifests/broken.yaml", "a: [");
    assert!(build().contains("the bundle is not valid, and no image was built"));
    fs::remove_dir_all(dir.join("bundle")).expect("it is ours");
    assert!(build().contains("found no bundle in `bundle`"));
    assert!(!dir.join("a.tar").exists());
}

#[cfg(unix)]
#[test]
fn a_build_that_is_killed_leaves_the_old_archive_or_the_new_one() {
    let dir = project("killed");
    // What is there is replaced, as it is an image: an older one.
    let mut older = ours(&dir, &["bundle", "build", "--archive", "a.tar", "--format", "docker"]);
    older.env("SOURCE_DATE_EPOCH", "5");
    printed(older);
    let old = fs::read(dir.join("a.tar")).expect("it was written");
    let digest = done(&dir, &["bundle", "build", "--archive", "a.tar"]);
    let new = fs::read(dir.join("a.tar")).expect("it was written");
    for round in 0..40_u64 {
        fs::write(dir.join("a.tar"), &old).expect("it is ours");
        let mut command = ours(&dir, &["bundle", "build", "--archive", "a.tar"]);
        let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(round * 3));
        let _ = child.kill();
        let _ = child.wait();
        let found = fs::read(dir.join("a.tar")).expect("there always is one");
        assert!(found == old || found == new, "round {round}: {} bytes", found.len());
    }
    // What is left over does no harm, and goes away.
    assert_eq!(done(&dir, &["bundle", "build", "--archive", "a.tar"]), digest);
    let names: Vec<_> =
        support::tree(&dir).into_keys().filter(|it| it.contains("unfinished")).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_dockerignore_that_may_leave_out_files_is_refused() {
    let dir = project("dockerignore");
    let write = |path: &str, text: &str| fs::write(dir.join(path), text).expect("it is ours");
    let words = ["bundle", "build", "--archive", "a.tar"];
    let build = || printed(ours(&dir, &words));
    let plain = build();
    write(".dockerignore", "**\n!bundle/\ntarget/\n");
    assert_eq!(build(), plain);
    let expected = "this pattern may leave out files of the bundle";
    for name in [".dockerignore", "bundle.Dockerfile.dockerignore"] {
        write(name, "!bundle/\n**/*.bak\n");
        let said = refused(ours(&dir, &words));
        assert!(said.contains(expected) && said.contains(&format!("{name}:2:1")), "{said}");
        fs::remove_file(dir.join(name)).expect("it is ours");
    }
    // Without a Dockerfile, docker has no part in it.
    write(".dockerignore", "**\n");
    fs::remove_file(dir.join("bundle.Dockerfile")).expect("it is ours");
    printed(ours(&dir, &words));
}

#[test]
fn a_catalog_that_cannot_be_written_is_refused_before_it_is_read() {
    let dir = project("catalog-output");
    for words in [["--archive", "a.tar.gz"], ["--tag", &format!("a@sha256:{}", "0".repeat(64))]] {
        let said =
            refused(ours(&dir, &[&["catalog", "build", "--catalog", "none"], &words[..]].concat()));
        assert!(!said.contains("there is no directory `none`"), "{said}");
    }
}
