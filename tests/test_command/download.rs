//! What is downloaded is checked, kept, and run.

use std::{collections::BTreeMap, fs, path::Path};

use super::{
    SAY, assets, is_empty, project, support, test, variables,
    web::{Web, archive, index, platform},
};

/// Runs the downloaded programs, and again without the network.
#[test]
fn a_download_is_checked_kept_and_run() {
    let Some(assets) = assets() else { return };
    let dir = project("download");
    // The real ones weigh 130 MB: what is fetched calls them.
    let call = |name: &str| format!("#!/bin/sh\nexec '{}' \"$@\"\n", assets.join(name).display());
    let (etcd, server) = (call("etcd"), call("kube-apiserver"));
    let good = archive(&[
        ("etcd", etcd.as_bytes()),
        ("kube-apiserver", server.as_bytes()),
        ("kubectl", b"#!/bin/sh\n"),
    ]);
    let files = BTreeMap::from([
        ("/index.yaml".to_owned(), index(&[("v1.36.3", "good", &good), ("v1.35.0", "old", b"")])),
        ("/good".to_owned(), good),
    ]);
    let web = Web::serve(files);
    let list = format!("{}/index.yaml", web.address);
    let cache = tempfile::tempdir().unwrap();
    let run_with = |version: &str, list: &str, cache: &Path| {
        let words = ["--download", version, "--index", list, "--", "sh", "-c", SAY];
        test(&dir, &words).env("XDG_CACHE_HOME", cache).output().unwrap()
    };
    let run = |version: &str, list: &str| run_with(version, list, cache.path());
    let output = run("1.36", &list);
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(web.asked(), ["/index.yaml", "/good"]);
    let kept = cache.path().join(format!("operator-rs/envtest/1.36.3-{}", platform()));
    assert_eq!(variables(&dir)["KUBEBUILDER_ASSETS"], kept.to_str().unwrap());
    assert_eq!(
        support::tree(&kept).into_keys().collect::<Vec<_>>(),
        ["etcd", "kube-apiserver", "kubectl"]
    );

    let output = run("1.36", &list);
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(web.asked(), ["/index.yaml"], "what is kept is not fetched again");
    // An exact version asks nobody; another goes on with what is here, and says so.
    let nowhere = "http://127.0.0.1:1/index.yaml";
    let output = run("1.36.3", nowhere);
    assert!(output.status.success(), "{}", support::said(&output));
    let output = run("1.36", nowhere);
    assert!(output.status.success(), "{}", support::said(&output));
    assert!(support::said(&output).contains("using the cached version 1.36.3"));

    // A clone may have brought the same.
    fs::rename(&kept, dir.join("kept")).unwrap();
    std::os::unix::fs::symlink(dir.join("kept"), &kept).unwrap();
    for cache in [cache.path(), &dir.join("cache")] {
        let output = run_with("1.36.3", nowhere, cache);
        assert_ne!(output.status.code(), Some(0));
        let said = support::said(&output);
        assert!(said.contains("it cannot be the cache of downloads"), "{said}");
    }
}

#[test]
fn a_download_that_is_not_what_the_index_says_is_not_kept() {
    let dir = project("bad-download");
    let bad = archive(&[("etcd", b"1"), ("kube-apiserver", b"2")]);
    let files = BTreeMap::from([
        (
            "/index.yaml".to_owned(),
            index(&[("v1.36.3", "bad", b"another"), ("v1.35.1", "gone", b"")]),
        ),
        ("/half.yaml".to_owned(), index(&[("v1.36.3", "half", &archive(&[("etcd", b"1")]))])),
        ("/rubbish.yaml".to_owned(), b"a: [".to_vec()),
        ("/bad".to_owned(), bad),
        ("/half".to_owned(), archive(&[("etcd", b"1")])),
    ]);
    let web = Web::serve(files);
    let cache = tempfile::tempdir().unwrap().path().join("cache");
    let told = |version: &str, list: &str| {
        let list = format!("{}/{list}", web.address);
        let words = ["--download", version, "--index", &list, "--", "true"];
        let output = test(&dir, &words).env("XDG_CACHE_HOME", &cache).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert!(!cache.exists() || is_empty(&cache.join("operator-rs/envtest")), "nothing is kept");
        support::said(&output)
    };
    let said = told("1.36", "index.yaml");
    assert!(
        said.contains("does not match the index: its SHA-512 is")
            && said.contains("nothing was saved")
    );
    let said = told("1.35", "index.yaml");
    assert!(said.contains("/gone"), "{said}");
    let said = told("1.34", "index.yaml");
    assert!(said.contains(&format!("the index has no 1.34 for {}", platform())), "{said}");
    assert!(said.contains("it has 1.36, 1.35"), "{said}");
    assert!(told("1.36", "half.yaml").contains("has no kube-apiserver"));
    assert!(told("1.36", "rubbish.yaml").contains("cannot read the index"));
    assert!(
        told("1.36", "nothing.yaml").contains("the index of envtest's releases cannot be read")
    );
}
