//! What becomes of a project when a command is killed, the disk is full, the folder cannot be written,
//! or two commands run at once: the old tree or the new one, and the next run knows which.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

type Tree = BTreeMap<String, Vec<u8>>;

const INIT: &str = "init --domain example.com --project-name interrupted";
const CREATE: &str = "create api --group cache --kind Memcached";
const WEBHOOK: &str =
    "create webhook --group cache --kind Memcached --defaulting --programmatic-validation";
const VERSION: &str = "create api --group cache --kind Memcached --version v1 --from v1alpha1";

/// A test a writing command, so that they are killed side by side.
macro_rules! killed {
    ($($name:ident: $words:expr, $before:expr;)*) => {
        $(#[test]
        fn $name() {
            kill_and_look(stringify!($name), $words, $before);
        })*
    };
}

// Each command, and what makes the project that it is run in.
killed! {
    a_killed_init_leaves_nothing_or_what_the_next_run_completes: INIT, &[];
    a_killed_create_api_leaves_the_old_project_or_what_the_next_run_completes: CREATE, &[INIT];
    a_killed_create_webhook_leaves_the_old_project_or_what_the_next_run_completes:
        WEBHOOK, &[INIT, CREATE];
    a_killed_new_version_leaves_the_old_project_or_what_the_next_run_completes:
        VERSION, &[INIT, CREATE, WEBHOOK];
    a_killed_delete_webhook_leaves_the_old_project_or_what_the_next_run_completes:
        "delete webhook --group cache --kind Memcached", &[INIT, CREATE, WEBHOOK, VERSION];
    a_killed_delete_api_leaves_the_old_project_or_what_the_next_run_completes:
        "delete api --group cache --kind Memcached", &[INIT, CREATE];
    a_killed_manifests_leaves_the_old_project_or_what_the_next_run_completes:
        "manifests", &[INIT, CREATE, "edit"];
    a_killed_generate_leaves_the_old_project_or_what_the_next_run_completes:
        "generate", &[INIT, CREATE, "edit", "remove"];
    a_killed_bundle_leaves_the_old_project_or_what_the_next_run_completes:
        "bundle", &[INIT, CREATE];
    a_killed_installer_leaves_the_old_project_or_what_the_next_run_completes:
        "generate installer --output-file dist/install.yaml", &[INIT, CREATE];
    a_killed_folder_of_crds_is_the_old_one_or_what_the_next_run_completes:
        "generate crds --output-dir crds", &[INIT, CREATE, "create api --group cache --kind Redis"];
}

/// The tree that a command makes of another when nothing comes between.
fn after(old: &Tree, words: &str, name: &str) -> Tree {
    let dir = support::fresh(name);
    support::put(old, &dir);
    match words {
        // A field that the CRD has not yet.
        "edit" => {
            let path = dir.join("api/src/cache/v1alpha1/memcached.rs");
            let text = fs::read_to_string(&path).unwrap();
            let field = "pub struct MemcachedSpec {\n    pub added: Option<String>,\n";
            fs::write(&path, text.replace("pub struct MemcachedSpec {\n", field)).unwrap();
        }
        // Files of ours that come back.
        "remove" => {
            for path in [
                "config/rbac/role.yaml",
                "vendor/operator-rs-runtime/src/backoff.rs",
                "operator-rs.mk",
            ] {
                fs::remove_file(dir.join(path)).unwrap();
            }
        }
        words => drop(support::done(&dir, words)),
    }
    let new = support::tree(&dir);
    assert!(*old != new, "`{words}` does nothing that could be interrupted");
    new
}

/// How often each command is killed: as often as `KILLS` says.
fn rounds() -> u64 {
    std::env::var("KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(15)
}

const JOURNAL: &str = ".operator-rs.journal";

/// Kills the command at many moments: after some time, or some time behind the moment at which a file is there. The
/// moments are drawn from a fixed seed. Then it is either undone without a trace, or every command that writes
/// nothing says that it was interrupted and leaves all as it is, and the next that writes completes it.
#[expect(clippy::print_stdout, reason = "how many of each there were is told with `--nocapture`")]
fn kill_and_look(name: &str, words: &str, before: &[&str]) {
    let old = before.iter().fold(Tree::new(), |old, it| after(&old, it, &format!("{name}-old")));
    let new = after(&old, words, &format!("{name}-whole"));
    // Where the journal is.
    let folder = if words.contains("--output-dir") { "crds/" } else { "" };
    let journal = format!("{folder}{JOURNAL}");
    let made = new.keys().filter(|it| !old.contains_key(*it)).map(String::as_str);
    let watched: Vec<&str> = [journal.as_str(); 8].into_iter().chain(made).collect();
    let (mut undone, mut completed, mut done) = (0, 0, 0);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for round in 0..rounds() {
        let dir = support::fresh(name);
        support::put(&old, &dir);
        let mut child = support::command(support::BINARY, &dir)
            .args(words.split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        if round % 4 == 0 {
            std::thread::sleep(Duration::from_micros(draw(100_000)));
        } else {
            let file = dir.join(watched[usize::try_from(draw(watched.len() as u64)).unwrap()]);
            while fs::symlink_metadata(&file).is_err()
                && child.try_wait().unwrap().is_none()
                && start.elapsed() < Duration::from_secs(20)
            {}
            std::thread::sleep(Duration::from_micros(draw(6_000)));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let found = support::tree(&dir);
        let listed = |it: &Tree| it.get("PROJECT").cloned();
        if listed(&old) != listed(&new) && listed(&found) == listed(&new) {
            // What stood in the way of new files has temporary names until the end.
            let mut rest = found.clone();
            rest.retain(|it, _| !it.contains(".operator-rs."));
            let difference = support::difference(&new, &rest).unwrap_or_default();
            assert!(is_like(&rest, &new), "round {round}: PROJECT is not last: {difference}");
        }
        if found.contains_key(&journal) {
            completed += 1;
            let reader = if folder.is_empty() {
                "manifests --check"
            } else {
                "generate crds --output-dir crds --diff"
            };
            let next = support::operator_rs(&dir, reader);
            let said = support::said(&next);
            assert_eq!(next.status.code(), Some(1), "round {round}: {said}");
            assert!(said.contains("was interrupted"), "round {round}: {said}");
            assert!(support::tree(&dir) == found, "round {round}: `{reader}` has written");
            let next = support::operator_rs(&dir, words);
            let said = support::said(&next);
            assert!(said.contains("an earlier run was interrupted"), "round {round}: {said}");
        } else if is_like(&found, &new) {
            done += 1;
        } else {
            undone += 1;
            assert!(
                is_like(&found, &old),
                "round {round}: neither the old project nor the new one"
            );
            support::done(&dir, words);
        }
        let is = support::tree(&dir);
        // An unfinished journal may have to wait for the next command that has something to write.
        assert!(
            is_like(&is, &new),
            "round {round}: {}",
            support::difference(&new, &is).unwrap_or_default()
        );
    }
    assert!(2 < completed, "{undone} undone, {completed} completed, {done} done: too few were hit");
    println!("{name}: {undone} undone, {completed} completed, {done} done");
}

/// Whether two trees have the same files, but for a journal that was never put in place, and folders with nothing.
fn is_like(one: &Tree, other: &Tree) -> bool {
    let files = |it: &Tree| -> Tree {
        let counts =
            |path: &str| !path.ends_with(".operator-rs.journal.new") && !path.ends_with('/');
        it.iter().filter(|it| counts(it.0)).map(|it| (it.0.clone(), it.1.clone())).collect()
    };
    files(one) == files(other)
}

#[test]
fn a_disk_that_is_full_in_mid_write_leaves_the_old_project() {
    let old = after(&Tree::new(), INIT, "full-old");
    let new = after(&old, CREATE, "full-whole");
    let (init, create) = (
        fill("full-init", &Tree::new(), &after(&Tree::new(), INIT, "full-x"), INIT),
        fill("full-create", &old, &new, CREATE),
    );
    assert!(2 < init && 2 < create, "the limit was met {init} and {create} times only");
}

/// Runs a command with less and less scarce room for a file's bytes, once as an error (a write that
/// fails as on a full disk) and once as a death in mid-write. How often there was too little.
fn fill(name: &str, old: &Tree, new: &Tree, words: &str) -> usize {
    let mut res = 0;
    for kilobytes in [0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 1_000_000] {
        for signal in ["trap '' XFSZ;", "ulimit -c 0;"] {
            let dir = support::fresh(name);
            support::put(old, &dir);
            let script = format!("{signal} ulimit -f {kilobytes}; exec \"$0\" {words}");
            let output = support::command("bash", &dir)
                .args(["-c", &script, support::BINARY])
                .output()
                .unwrap();
            let said = support::said(&output);
            if output.status.success() {
                assert_eq!(support::difference(new, &support::tree(&dir)), None, "{kilobytes} kB");
                continue;
            }
            res += 1;
            if signal.starts_with("trap") {
                assert_eq!(output.status.code(), Some(1), "{said}");
                assert!(said.contains("File too large"), "{said}");
                assert!(said.contains("hint: nothing was written"), "{said}");
                // No next run is needed: it has tidied up itself.
                let is = support::tree(&dir);
                assert_eq!(support::difference(old, &is), None, "{kilobytes} kB: {said}");
            }
            support::done(&dir, words);
            assert_eq!(support::difference(new, &support::tree(&dir)), None, "{kilobytes} kB");
        }
    }
    assert!(support::difference(old, new).is_some());
    res
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_and_left_alone() {
    // Root is allowed everything, so the binary runs as somebody else, from where all may read.
    let dir = std::env::temp_dir().join(format!("operator-rs-unwritable-{}", std::process::id()));
    let project = dir.join("interrupted");
    fs::create_dir_all(&project).unwrap();
    let binary = dir.join("operator-rs");
    fs::copy(support::BINARY, &binary).unwrap();
    support::done(&project, INIT);
    support::done(&project, "create api --group ship --kind Frigate");
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let set_all = |folder: u32, file: u32| {
        for entry in walkdir::WalkDir::new(&project).contents_first(true) {
            let entry = entry.unwrap();
            mode(entry.path(), if entry.file_type().is_dir() { folder } else { file });
        }
    };
    let old = support::tree(&project);
    let root =
        fs::metadata("/proc/self").map(|it| std::os::unix::fs::MetadataExt::uid(&it)).unwrap() == 0;
    let run = |words: &str| {
        let mut command = if root {
            let mut it = support::command("setpriv", &project);
            it.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&binary);
            it
        } else {
            support::command(&binary, &project)
        };
        let output = command.args(words.split(' ')).output().expect("util-linux has setpriv");
        (output.status.code(), support::said(&output))
    };
    mode(&dir, 0o755);
    mode(&binary, 0o755);
    set_all(0o555, 0o444);
    // What only looks goes on.
    let looked = run("manifests --check");
    // A folder that cannot be written at all; then one below it.
    let whole = run(CREATE);
    mode(&project, 0o777);
    let below = run(CREATE);
    // One that can be written, in one that cannot.
    mode(&project, 0o555);
    let crds = project.join("crds");
    fs::create_dir(&crds).unwrap();
    mode(&crds, 0o777);
    let inner = run("generate crds --output-dir crds --examples");
    fs::remove_dir_all(&crds).unwrap();
    mode(&project, 0o777);
    // A file that cannot be read.
    set_all(0o755, 0o644);
    mode(&project.join("PROJECT"), 0o000);
    let unread = run(CREATE);
    mode(&project.join("PROJECT"), 0o644);
    let is = support::tree(&project);
    fs::remove_dir_all(&dir).unwrap();

    assert_eq!(looked.0, Some(0), "{}", looked.1);
    for (code, said) in [whole, below] {
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("permission denied"), "{said}");
        assert!(said.contains("hint: nothing was written"), "{said}");
    }
    assert_eq!(inner.0, Some(0), "{}", inner.1);
    assert_eq!(unread.0, Some(1), "{}", unread.1);
    assert!(unread.1.contains("PROJECT cannot be read: permission denied"), "{}", unread.1);
    assert_eq!(support::difference(&old, &is), None);
}

#[test]
fn two_commands_at_once_do_not_mix() {
    let old = after(&Tree::new(), INIT, "at-once-old");
    let words = |kind: &str| format!("create api --group cache --kind {kind}");
    let kinds = ["Alpha", "Beta", "Gamma", "Delta"];
    for round in 0..8 {
        let dir = support::fresh("at-once");
        support::put(&old, &dir);
        let all: Vec<_> = kinds
            .iter()
            .map(|kind| {
                let mut it = support::command(support::BINARY, &dir);
                it.args(words(kind).split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
                it.spawn().unwrap()
            })
            .collect();
        let mut made = Vec::new();
        for (kind, child) in kinds.iter().zip(all) {
            let output = child.wait_with_output().unwrap();
            let said = support::said(&output);
            if output.status.success() {
                made.push(*kind);
            } else {
                let known =
                    ["another operator-rs is writing here", "changed while the command ran"];
                assert!(known.iter().any(|it| said.contains(it)), "round {round}: {said}");
            }
        }
        assert!(!made.is_empty(), "round {round}: nobody got through");
        support::done(&dir, "generate --check");
        for kind in kinds.iter().filter(|it| !made.contains(it)) {
            support::done(&dir, &words(kind));
        }
        support::done(&dir, "generate --check");
        let project = fs::read_to_string(dir.join("PROJECT")).unwrap();
        for kind in kinds {
            assert!(project.contains(&format!("kind: {kind}\n")), "round {round}: {project}");
        }
    }
}
