//! One case: which files are changed, what is run, and what is wrong afterwards.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{mutate, seeds};
use crate::{
    random::Random,
    run::{self, Outcome},
    snapshot::{self, Snapshot},
    template::Files,
    world::{self, World},
};

/// The commands by the files that they read, cheap ones first and more often.
pub const COMMANDS: &[(&[&str], &[&str])] = &[
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
            "generate installer --output-file deploy/a.yaml",
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

/// What has nothing more to do where the first command has succeeded.
const SETTLED: &[(&str, &str)] = &[
    ("manifests", "manifests --check"),
    ("bundle", "bundle --check"),
    ("generate", "generate --check"),
];

/// Files with one owner, which is a command; an edit by hand makes it refuse them.
const GENERATED: &[&str] = &[
    "api/src/crds.rs",
    "config/crd/bases/",
    "config/rbac/role.yaml",
    "bundle/manifests/",
    "bundle/metadata/annotations.yaml",
    "bundle.Dockerfile",
];

/// What is changed in a case, and what is run.
pub struct Case {
    pub seed: u64,
    files: BTreeMap<String, Vec<u8>>,
    commands: Vec<&'static str>,
}

impl Case {
    pub fn of(seed: u64) -> Self {
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
        if let Some((_, check)) = SETTLED.iter().find(|it| it.0 == commands[0]) {
            commands.push(check);
        } else if random.one_in(4) {
            commands.push(*random.pick(lines));
        }
        Self { seed, files, commands }
    }

    /// What is wrong with the commands in this world, which is as it was afterwards.
    pub fn faults(&self, world: &World, outside: &Snapshot, done: &AtomicU64) -> Vec<String> {
        for (path, bytes) in &self.files {
            world::put(&world.project.join(path), bytes);
        }
        let mut res = Vec::new();
        let mut before = world.inside();
        let mut settled = "";
        for command in &self.commands {
            let outcome = run::run(world, &run::words(command), false);
            let after = world.inside();
            done.fetch_add(u64::from(!outcome.failed()), Ordering::Relaxed);
            let mut found = outcome.faults();
            if *command == settled && outcome.failed() {
                found.push("it fails after the command itself has succeeded".to_owned());
            }
            if let Some((_, check)) = SETTLED.iter().find(|it| it.0 == *command) {
                settled = if outcome.failed() { "" } else { check };
            }
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
        if let Some(it) = self.lost_edit(is) {
            return vec![it];
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

    /// A generated file that was changed, as by hand, and then replaced without `--force`.
    fn lost_edit(&self, is: &Snapshot) -> Option<String> {
        let seeds = seeds::files();
        let edited = self.files.iter().filter(|(path, bytes)| {
            GENERATED.iter().any(|it| path.starts_with(it)) && seeds.get(*path) != Some(*bytes)
        });
        let mut lost = edited.filter(|(path, bytes)| {
            is.get(Path::new(path.as_str())).is_none_or(|it| it.bytes != **bytes)
        });
        lost.next().map(|(path, _)| format!("the edit of {path} is lost"))
    }

    /// Keeps what makes the case, for a look by hand.
    pub fn save(&self) -> PathBuf {
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
pub fn restore(world: &World, is: &Snapshot) {
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
