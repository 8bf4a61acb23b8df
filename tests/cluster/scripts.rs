//! `up` and `down` themselves: whatever happens, nothing goes on running.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{
    control_plane::{program, signal},
    lab::Lab,
    support,
};

pub async fn a_control_plane_ends_with_who_holds_it(_: Arc<Lab>) {
    let dir = support::fresh("cluster/held");
    // Stands for a test's process: its end of the pipe is all that `up` knows of it.
    let mut holder =
        Command::new("sleep").arg("300").stdout(Stdio::piped()).spawn().expect("it starts");
    let end = holder.stdout.take().expect("it is piped");
    let mut up =
        up(&dir).arg("--hold").stdin(end).stdout(Stdio::null()).spawn().expect("it starts");
    let limit = Instant::now() + Duration::from_secs(90);
    while !dir.join("kube-controller-manager.pid").exists() {
        assert!(
            Instant::now() < limit && up.try_wait().expect("it is ours").is_none(),
            "it starts"
        );
        sleep(Duration::from_millis(100)).await;
    }
    let ids = ids(&dir);
    assert_eq!(ids.len(), 3, "{ids:?}");
    signal("KILL", &holder.id().to_string());
    let _ = holder.wait();
    let limit = Instant::now() + Duration::from_secs(90);
    while up.try_wait().expect("it is ours").is_none() {
        assert!(Instant::now() < limit, "it ends");
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(running(&dir, &ids), [0; 0]);
}

pub async fn a_control_plane_that_fails_to_start_leaves_nothing(_: Arc<Lab>) {
    let dir = support::fresh("cluster/failed");
    let assets = support::fresh("cluster/failed-assets");
    let etcd = program("etcd").expect("the trials are not run without");
    symlink(etcd, assets.join("etcd")).expect("the folder is ours");
    // One that sees etcd start, and gives up.
    let server = "#!/bin/sh\nsleep 1\ncp etcd.pid seen\necho 'out of order' >&2\nexit 1\n";
    fs::write(assets.join("kube-apiserver"), server).expect("the folder is ours");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(assets.join("kube-apiserver"), executable).expect("the folder is ours");
    let up = up(&dir).env("KUBEBUILDER_ASSETS", &assets).output().expect("it starts");
    let said = support::said(&up);
    assert!(!up.status.success() && said.contains("out of order"), "{said}");
    let etcd = fs::read_to_string(dir.join("seen")).expect("etcd was started");
    assert_eq!(running(&dir, &[etcd.trim().parse().expect("it is an id")]), [0; 0]);
}

fn up(dir: &Path) -> Command {
    let mut up = Command::new(support::home().join("tests/control-plane/up"));
    up.arg(dir).stdin(Stdio::null());
    up
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let files =
        fs::read_dir(dir).expect("it is there").map(|it| it.expect("it can be read").path());
    files.filter(|it| it.extension().is_some_and(|it| it == "pid")).collect()
}

fn ids(dir: &Path) -> Vec<u32> {
    let id = |it: PathBuf| fs::read_to_string(it).ok()?.trim().parse().ok();
    files(dir).into_iter().filter_map(id).collect()
}

/// Of these processes, those that still run; no file may name one.
fn running(dir: &Path, ids: &[u32]) -> Vec<u32> {
    assert!(files(dir).is_empty(), "{:?}", files(dir));
    // One that has ended, and that nobody has asked about yet, has no folder any more.
    let runs = |it: &&u32| fs::read_link(format!("/proc/{it}/cwd")).is_ok();
    ids.iter().filter(runs).copied().collect()
}
