//! Whole projects that were changed at random, and one or two commands in each: it ends in time with
//! an exit code of ours, and a command that fails or only looks leaves everything as it was.
//!
//! A case is made of its seed alone: `FUZZ_SEED=… FUZZ_CASES=1` repeats it.

mod mutate;
mod seeds;
mod structure;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    random::Random,
    run::{self, Outcome},
    snapshot::{self, Snapshot},
    template::Files,
    world::{self, World},
};

/// The commands by the files that they read, cheap ones first and more often.
const COMMANDS: &[(&[&str], &[&str])] = &[
    (
        &["api/", "src/", "Cargo", ".cargo/"],
        &[
            "manifests --check",
            "generate crds",
            "manifests",
            "generate crds -o json",
            "manifests --diff",
            "generate crds --output-dir deploy/crds",
            "create api --group cache --kind Fourth --dry-run",
        ],
    ),
    (
        &["bundle/", "bundle.Dockerfile"],
        &["bundle validate", "bundle validate", "bundle --dry-run", "bundle --check"],
    ),
    (
        &["config/"],
        &[
            "generate installer",
            "install --dry-run",
            "undeploy --dry-run",
            "bundle --dry-run",
            "manifests",
            "bundle",
            "create api --group cache --kind Fourth",
            "generate installer --output deploy/a.yaml",
        ],
    ),
    (
        &["PROJECT", ".operator-rs"],
        &[
            "manifests --check",
            "manifests",
            "bundle validate",
            "create api --group cache --kind Fourth --dry-run",
            "create api --group cache --kind Fourth",
            "bundle --dry-run",
            "generate --check",
            "generate",
            "uninstall --dry-run",
        ],
    ),
];

/// What is changed in a case, and what is run.
struct Case {
    seed: u64,
    files: BTreeMap<String, Vec<u8>>,
    commands: Vec<&'static str>,
}

impl Case {
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let base = seeds::files();
        let all: Vec<&[u8]> = base.values().map(Vec::as_slice).collect();
        let (group, lines) = *random.pick(COMMANDS);
        let known = |it: &str| group.iter().any(|start| it.starts_with(start));
        let mut paths: Vec<(String, Vec<u8>)> =
            base.iter().filter(|it| known(it.0)).map(|it| (it.0.clone(), it.1.clone())).collect();
        let more: Vec<(&str, String)> =
            seeds::more().into_iter().filter(|it| known(it.0)).collect();
        let mut files = BTreeMap::new();
        for _ in 0..=random.below(2) {
            // One of those that are there only now and then, or one of the project.
            let (path, bytes) = if !more.is_empty() && (paths.is_empty() || random.one_in(3)) {
                let (path, text) = random.pick(&more);
                ((*path).to_owned(), text.clone().into_bytes())
            } else {
                let at = random.below(paths.len());
                paths.swap_remove(at)
            };
            let bytes = mutate::mutate(&path, &bytes, &all, &mut random);
            if path == "api/src/third.rs" {
                let lib = [base["api/src/lib.rs"].as_slice(), b"\npub mod third;\n"].concat();
                files.insert("api/src/lib.rs".to_owned(), lib);
            }
            files.insert(path, bytes);
        }
        let mut commands = vec![*random.pick(lines)];
        if random.one_in(4) {
            commands.push(*random.pick(lines));
        }
        Self { seed, files, commands }
    }

    /// What is wrong with the commands in this world, which is as it was afterwards.
    fn faults(&self, world: &World, outside: &Snapshot, done: &AtomicU64) -> Vec<String> {
        for (path, bytes) in &self.files {
            world::put(&world.project.join(path), bytes);
        }
        let mut res = Vec::new();
        let mut before = world.inside();
        for command in &self.commands {
            let outcome = run::run(world, &run::words(command), false);
            let after = world.inside();
            done.fetch_add(u64::from(!outcome.failed()), Ordering::Relaxed);
            let mut found = outcome.faults();
            found.extend(self.changes(command, &outcome, &before, &after));
            res.extend(
                found
                    .into_iter()
                    .map(|it| format!("operator-rs {command}: {it}\n      {}", outcome.text())),
            );
            before = after;
        }
        let changed = snapshot::differences(outside, &world.outside());
        res.extend(changed.into_iter().map(|it| format!("outside: {it}")));
        restore(world, &before);
        res
    }

    fn changes(
        &self,
        command: &str,
        outcome: &Outcome,
        was: &Snapshot,
        is: &Snapshot,
    ) -> Vec<String> {
        let looks = ["--check", "--diff", "--dry-run"].iter().any(|it| command.contains(it));
        if looks {
            return snapshot::differences(was, is);
        }
        // An interrupted run may be completed before the command fails.
        if !outcome.failed() || self.files.contains_key(".operator-rs.journal") {
            return Vec::new();
        }
        let plain = |of: &Snapshot| -> Snapshot {
            let mut res = of.clone();
            res.values_mut().for_each(|it| it.stamps = [0; 6]);
            res
        };
        let changed = snapshot::differences(&plain(was), &plain(is));
        changed.into_iter().map(|it| format!("it failed, but {it}")).collect()
    }

    /// Keeps what makes the case, for a look by hand.
    fn save(&self) -> PathBuf {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(self.seed.to_string());
        let _ = fs::remove_dir_all(&dir);
        world::put(&dir.join("commands"), (self.commands.join("\n") + "\n").as_bytes());
        let mut project: Files = seeds::files().clone();
        project.extend(self.files.clone());
        world::put_all(&project, &dir.join("project"));
        let names: String = self.files.keys().map(|it| format!("{it}\n")).collect();
        world::put(&dir.join("changed"), names.as_bytes());
        dir
    }
}

/// Makes the project what it was, and touches only what is not.
fn restore(world: &World, is: &Snapshot) {
    let files = seeds::files();
    for (path, entry) in is.iter().rev() {
        let text = path.to_string_lossy();
        let known = files.get(text.as_ref());
        let kept = text.starts_with(".git") && text != ".gitignore"
            || text.starts_with("hand-written")
            || text == ".";
        if kept || entry.kind == "file" && known == Some(&entry.bytes) {
            continue;
        }
        let path = world.project.join(path);
        if entry.kind == "folder" {
            let _ = fs::remove_dir(path); // only if it is empty
        } else {
            fs::remove_file(path).expect("it is ours");
        }
    }
    for (path, bytes) in files {
        if is.get(Path::new(path)).is_none_or(|it| it.bytes != *bytes || it.kind != "file") {
            world::put(&world.project.join(path), bytes);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|it| it.parse().expect("it is a number"))
}

#[test]
fn the_seeds_are_a_project_that_every_command_takes() {
    let world = World::around(seeds::files());
    for command in COMMANDS.iter().flat_map(|it| it.1) {
        let outcome = run::run(&world, &run::words(command), false);
        let stale = command.contains("--check") && outcome.code == Some(1);
        assert!(outcome.code == Some(0) || stale, "{command}: {}", outcome.text());
        restore(&world, &world.inside());
    }
    assert!(world.inside().len() < 110, "the project is not small");
}

#[test]
fn a_project_that_was_changed_at_random_is_taken_or_refused_and_left_alone() {
    let first = number("FUZZ_SEED").unwrap_or(1);
    let cases = number("FUZZ_CASES").unwrap_or(u64::MAX);
    let limit = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(60));
    let (next, done, start) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
    let failed: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let world = World::around(seeds::files());
                let outside = world.outside();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if cases <= number || limit < start.elapsed() && number != 0 {
                        next.fetch_sub(1, Ordering::Relaxed);
                        return;
                    }
                    let case = Case::of(first.wrapping_add(number));
                    let faults = case.faults(&world, &outside, &done);
                    if !faults.is_empty() {
                        note(&failed, &case, &faults);
                    }
                }
            });
        }
    });
    let (count, seconds) = (next.into_inner(), start.elapsed().as_secs_f64());
    let failed = failed.into_inner().expect("nobody panics with it");
    let said = format!("{count} cases in {seconds:.0} s, {:.0} a second", count as f64 / seconds);
    let done = done.into_inner();
    eprintln!(
        "fuzz: {said}, from the seed {first}: {done} commands succeeded, {} kinds of fault",
        failed.len()
    );
    let text: Vec<&str> = failed.values().map(String::as_str).collect();
    assert!(failed.is_empty(), "{said}\n{}", text.join("\n"));
}

/// Notes a fault once, by the command and the beginning of what is wrong with it.
fn note(failed: &Mutex<BTreeMap<String, String>>, case: &Case, faults: &[String]) {
    let first = faults[0].lines().next().unwrap_or("");
    let kind: String = first.chars().filter(|it| !it.is_ascii_digit()).collect();
    let mut failed = failed.lock().expect("nobody panics with it");
    failed.entry(kind).or_insert_with(|| {
        let dir = case.save();
        format!(
            "FUZZ_SEED={} FUZZ_CASES=1, in {}:\n    {}",
            case.seed,
            dir.display(),
            faults.join("\n    ")
        )
    });
}
