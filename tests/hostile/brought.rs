//! What a clone brings that would decide: the answers, downloads and credentials of its reader, where the home directory
//! is inside of it; pipes in its `.git`, which git would wait for without an end.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use sha2::{Digest as _, Sha256};

use crate::{
    commands::LINES,
    plant, run,
    world::{Base, World, put},
};

/// Commands that read what a home directory has, beside those of each clone.
const MORE: &[&str] = &[
    "crds diff cluster",
    "olm status",
    "olm install --version 0.46.0 --timeout 2s",
    "cleanup memcached-operator",
    "test --download 1.36.3 --index http://127.0.0.1:1/ -- true",
];

/// A type that cannot be read from its source, so that an answer would allow to compile it.
const UNREADABLE: &str = "\n#[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone, Debug)]\n#[kube(group = \"a.example.com\", version = \"v1\", kind = \"Unread\")]\npub struct UnreadSpec { #[schemars(schema_with = \"outside\")] pub a: String }\nfn outside(_: &mut schemars::SchemaGenerator) -> schemars::Schema {\n    let it = std::env::var(\"NOBODY\").map_or(7, |it| it.len());\n    schemars::json_schema!({ \"maxLength\": it })\n}\n";

/// Runs the cases, many at once: they wait rather than work.
fn judge<T: Sync>(cases: &[T], faults_of: impl Fn(&T) -> Vec<String> + Sync) {
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = faults_of(case);
                    faults.lock().expect("nobody panics with it").extend(found);
                }
            });
        }
    });
    let faults = faults.into_inner().expect("nobody panics with it");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn program(path: &Path, script: &str) {
    put(path, format!("#!/bin/sh\n{script}\n").as_bytes());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// The project is the home directory, with all that would decide there. Whatever runs leaves this file.
fn brought(world: &World) -> PathBuf {
    let ran = world.dir.join("tmp/ran");
    let script = format!("echo \"$0 $*\" >> '{}'; exit 1", ran.display());
    let home = &world.project;
    let top = fs::canonicalize(home).expect("it exists");
    let name = Sha256::digest(top.as_os_str().as_encoded_bytes());
    let name: String = name.iter().map(|it| format!("{it:02x}")).collect();
    let answer = format!("yes\n{}\n", top.display());
    put(&home.join(".local/state/operator-rs/allowed").join(name), answer.as_bytes());
    let arch = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
    for name in ["etcd", "kube-apiserver", "kubectl"] {
        let folder = home.join(format!(".cache/operator-rs/envtest/1.36.3-linux-{arch}"));
        program(&folder.join(name), &script);
    }
    let plugin = home.join("plugin");
    program(&plugin, &script);
    let user = format!(
        "{{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: {}}}}}",
        plugin.display()
    );
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {{server: 'https://127.0.0.1:1'}}\ncontexts:\n- name: a\n  context: {{cluster: a, user: a}}\nusers:\n- name: a\n  user: {user}\n"
    );
    put(&home.join(".kube/config"), config.as_bytes());
    program(&world.dir.join("bin/cargo"), &script);
    let types = home.join("api/src/cache/v1alpha1/memcached.rs");
    if let Ok(text) = fs::read_to_string(&types) {
        put(&types, (text + UNREADABLE).as_bytes());
    }
    ran
}

#[test]
fn nothing_runs_because_a_home_inside_of_the_clone_says_so() {
    let own = LINES.iter().filter(|it| !it.words.contains("--compile"));
    let cases: Vec<(&str, Base)> = own
        .map(|it| (it.words, it.base))
        .chain(MORE.iter().map(|it| (*it, Base::Project)))
        .collect();
    judge(&cases, |(words, base)| {
        let world = World::new(*base);
        let ran = brought(&world);
        let outcome = run::run_in(&world, words, run::LIMIT * 3, |command| {
            command.env("HOME", &world.project);
            for name in ["XDG_STATE_HOME", "XDG_CACHE_HOME", "KUBECONFIG", "KUBEBUILDER_ASSETS"] {
                command.env_remove(name);
            }
        });
        let mut res = outcome.faults();
        res.extend(fs::read_to_string(&ran).ok().map(|it| format!("this ran: {it}")));
        res.iter().map(|it| format!("{words}: {it} ({})", outcome.text())).collect()
    });
}

/// The files of a repository that git reads before it answers.
const PIPES: &[&str] = &[
    "HEAD",
    "commondir",
    "shallow",
    "config",
    "included",
    "packed-refs",
    "refs/heads/main",
    "objects/info/alternates",
];

#[test]
fn a_pipe_in_a_repository_stops_no_command() {
    let asks_git = [
        "crds diff HEAD",
        "delete api --group cache --kind Second --dry-run",
        "delete webhook --group cache --kind Memcached --defaulting --dry-run",
        "edit --group cache --kind Other --storage-version v1 --dry-run",
        "manifests --check --message-format github",
    ];
    let of_pipe = |pipe: &'static str| asks_git.map(|it| (pipe, it.to_owned()));
    let mut cases: Vec<(&str, String)> = PIPES.iter().flat_map(|it| of_pipe(it)).collect();
    // With annotations, every command asks git where its files are.
    let lines = LINES.iter().filter(|it| it.base == Base::Project && !it.words.contains(" -- "));
    cases.extend(lines.map(|it| ("HEAD", format!("{} --message-format github", it.words))));
    judge(&cases, |(pipe, words)| {
        let world = World::new(Base::Project);
        // The real git: the world has one that does nothing.
        fs::remove_file(world.dir.join("bin/git")).expect("it is ours");
        for folder in ["objects/info", "refs/heads"] {
            fs::create_dir_all(world.project.join(".git").join(folder)).expect("it is ours");
        }
        let config = "[core]\nrepositoryformatversion = 0\n[include]\npath = included\n";
        put(&world.project.join(".git/config"), config.as_bytes());
        plant::fifo(&world, &format!(".git/{pipe}")).expect("it is ours");
        let outcome = run::run_in(&world, words, Duration::from_secs(60), |_| {});
        let mut res = outcome.faults();
        res.extend(left_running(&world.project).map(|it| format!("{it} is still running")));
        res.iter().map(|it| format!("{pipe}, {words}: {it} ({})", outcome.text())).collect()
    });
}

/// A program that still runs in a folder.
fn left_running(folder: &Path) -> Option<String> {
    let mut programs = fs::read_dir("/proc").ok()?.filter_map(|it| Some(it.ok()?.path()));
    // A program that was killed is there until somebody has waited for it.
    let runs = |it: &PathBuf| fs::read_link(it.join("cwd")).is_ok_and(|it| it.starts_with(folder));
    let found = programs.find(runs)?;
    fs::read_to_string(found.join("cmdline")).ok().map(|it| it.replace('\0', " "))
}
