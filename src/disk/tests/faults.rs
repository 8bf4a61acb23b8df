//! Tests of changes by other processes during a write, and of failing disks.

use super::*;
use crate::disk::{crash::ConcurrentChange, journal::is_temporary};

/// The history of a folder: the events of each run, of which the first writes and the others recover.
type Story = Vec<Vec<(usize, Failure)>>;

const MOVED: &str = "moved-away";

/// Files before and after a write, and its plan.
struct Case {
    before: Files,
    after: Files,
    plan: fn() -> Plan,
}

impl Case {
    fn new(before: fn() -> Plan, plan: fn() -> Plan) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |plan: Plan| {
            let root = Root::new(dir.path()).expect("it is a folder");
            root.write(&plan.changes_against(&root, false).expect("no conflict"))
                .expect("it writes");
            files(dir.path())
        };
        Self { before: write(before()), after: write(plan()), plan }
    }

    /// Runs a story, and checks how it ends. Returns the result of the write, unless it was killed, the number of its
    /// steps and looks, and that of the last rename.
    fn check(&self, story: &Story) -> (Option<bool>, usize, usize) {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in &self.before {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
            fs::write(path, text).expect("it writes");
        }
        let root = Root::new(dir.path()).expect("it is a folder");
        let changes = (self.plan)().changes_against(&root, false).expect("no conflict");
        crash::set_other_program(dir.path(), Some("a"));
        let (done, _) = crash::run_with_failures(story[0].clone(), || root.write(&changes));
        let (points, last) = crash::step_counts();
        drop(root);
        let done =
            done.map(|it| it.map_err(|it| format!("{it:#} {:?}", diagnostics::collect_hints(&it))));
        let what = format!("{story:?}\n{done:?}");
        let acts: Vec<&ConcurrentChange> =
            story.iter().flatten().filter_map(|it| act(&it.1)).collect();
        let is_interrupted = has_journal(dir.path());
        let expected = match &done {
            Some(Ok(())) => Some(&self.after),
            _ if is_interrupted => None,
            // Only the journal's removal is not on the disk yet.
            Some(Err(error)) if error.contains("all files were written") => Some(&self.after),
            Some(Err(_)) => Some(&self.before),
            None => None,
        };
        match expected {
            Some(expected) => {
                assert!(!is_interrupted, "{what}");
                self.require(dir.path(), expected, &acts, &what);
                require_moved(dir.path(), expected, &acts, &what);
            }
            None => self.recover(dir.path(), &story[1..], &acts, &what),
        }
        (done.map(|it| it.is_ok()), points, last)
    }

    /// Completes an interrupted write in several runs, of which the last ones are not disturbed.
    fn recover(
        &self,
        dir: &Path,
        runs: &[Vec<(usize, Failure)>],
        acts: &[&ConcurrentChange],
        what: &str,
    ) {
        let undisturbed = [vec![], vec![], vec![]];
        for ends in runs.iter().chain(&undisturbed) {
            let recover = || Root::new(dir).and_then(|it| it.recover_changes());
            let (done, _) = crash::run_with_failures(ends.clone(), recover);
            match done {
                None => continue,
                Some(Ok(None)) => break,
                Some(Ok(Some(found))) => {
                    for (path, _) in found.edited {
                        assert!(is_touched(path.as_str(), acts), "{path} is not edited: {what}");
                    }
                }
                Some(Err(error)) => {
                    let error = format!("{error:#}");
                    // Two edits of a file at once: the user is told where the other one is.
                    if let Some((path, _)) =
                        error.split_once(" does not have the content that the interrupted run")
                    {
                        fs::rename(dir.join(path), dir.join("saved-by-the-user")).expect(path);
                    } else {
                        assert!(!ends.is_empty(), "{error}: {what}");
                    }
                }
            }
        }
        let begun = has_journal(dir);
        assert!(!begun, "it never ends: {what}");
        let found = files(dir);
        let is_old = self.before.iter().any(|(path, text)| {
            !is_touched(path, acts)
                && Some(text) != self.after.get(path)
                && found.get(path) == Some(text)
        });
        let expected = if is_old { &self.before } else { &self.after };
        self.require(dir, expected, acts, what);
    }

    /// Requires the old files or the new ones, except where others have changed them, and all that others have added.
    #[track_caller]
    fn require(&self, dir: &Path, expected: &Files, acts: &[&ConcurrentChange], what: &str) {
        let found = files(dir);
        let paths: std::collections::BTreeSet<&String> =
            self.before.keys().chain(self.after.keys()).collect();
        for path in paths.into_iter().filter(|it| !is_touched(it, acts)) {
            assert_eq!(found.get(path), expected.get(path), "{path}: {what}\n{found:#?}");
        }
        let ran = crash::other_changes();
        for (at, act) in ran.iter().enumerate() {
            let (ConcurrentChange::Edit(path, line) | ConcurrentChange::Replace(path, line)) = act
            else {
                continue;
            };
            let is_gone = ran[at..].iter().any(|it| match it {
                ConcurrentChange::Remove(other) => is_at(path, other),
                _ => false,
            });
            let is_kept = |(at, text): (&String, &String)| {
                let can_be_found = !is_temporary(Path::new(at)) || what.contains(at.as_str());
                text.contains(line) && can_be_found
            };
            assert!(is_gone || found.iter().any(is_kept), "{line} is lost: {what}\n{found:#?}");
        }
        for path in found.keys() {
            let is_left = is_temporary(Path::new(path)) && !what.contains(path.as_str());
            assert!(!is_left || is_touched(path, acts), "{path} is left: {what}");
        }
    }
}

/// Requires that a folder that somebody has moved is whole, too.
fn require_moved(dir: &Path, expected: &Files, acts: &[&ConcurrentChange], what: &str) {
    let [ConcurrentChange::Move(from, to)] = acts else { return };
    let below = |path: &str, folder: &str| {
        path.strip_prefix(folder).filter(|it| it.starts_with('/')).map(str::to_owned)
    };
    let in_folder = |files: &Files, folder: &str| -> Files {
        files.iter().filter_map(|it| Some((below(it.0, folder)?, it.1.clone()))).collect()
    };
    if dir.join(to).exists() {
        let found = files(dir);
        assert_eq!(in_folder(&found, to), in_folder(expected, from), "{what}\n{found:#?}");
    }
}

fn act(end: &Failure) -> Option<&ConcurrentChange> {
    match end {
        Failure::Other(act) => Some(act),
        _ => None,
    }
}

fn has_journal(dir: &Path) -> bool {
    [journal::NAME, journal::TAKEN_BACK].iter().any(|name| dir.join(name).exists())
}

fn is_touched(path: &str, acts: &[&ConcurrentChange]) -> bool {
    acts.iter().any(|it| match it {
        ConcurrentChange::Edit(at, _)
        | ConcurrentChange::Replace(at, _)
        | ConcurrentChange::Remove(at) => is_at(path, at),
        ConcurrentChange::Move(from, to) => is_at(path, from) || is_at(path, to),
        ConcurrentChange::EditOpened(_) => path == "a",
    })
}

fn is_at(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn small() -> Case {
    Case::new(
        || {
            let mut plan = Plan::default();
            for it in ["a", "d/gone", "e/c"] {
                plan.generate(path(it), "old\n".to_owned(), "x", "test");
            }
            plan
        },
        plan,
    )
}

fn line(at: usize) -> String {
    format!("mine {at}\n")
}

/// Everything that somebody can do to the files and folders of a plan.
fn acts(case: &Case) -> Vec<ConcurrentChange> {
    let mut res = Vec::new();
    for it in case.before.keys().chain(case.after.keys()).map(String::as_str) {
        res.push(ConcurrentChange::Edit(it.to_owned(), line(1)));
        res.push(ConcurrentChange::Replace(it.to_owned(), line(1)));
        res.push(ConcurrentChange::Remove(it.to_owned()));
        for folder in Path::new(it).ancestors().skip(1).filter(|it| *it != Path::new("")) {
            let folder = folder.to_str().expect("UTF-8").to_owned();
            res.push(ConcurrentChange::Move(folder.clone(), MOVED.to_owned()));
            res.push(ConcurrentChange::Remove(folder));
        }
    }
    res.dedup();
    res
}

#[test]
fn concurrent_changes_at_any_step_of_a_write_are_kept() {
    let case = small();
    for plain in [false, true] {
        crash::set_can_exchange(!plain);
        for act in acts(&case) {
            // Without swaps, an edit of the last moment can be lost.
            if plain && matches!(act, ConcurrentChange::Edit(..) | ConcurrentChange::Replace(..)) {
                continue;
            }
            let mut results = [0, 0];
            for step in 0.. {
                let story = vec![vec![(step, Failure::Other(act.clone()))]];
                let (done, points, last) = case.check(&story);
                let is_done = done.expect("nobody killed it");
                results[usize::from(is_done)] += 1;
                let is_folder =
                    matches!(&act, ConcurrentChange::Move(from, _) if !from.starts_with("deep"));
                assert!(!(is_done && is_folder && step < last), "{act:?} at {step} is overlooked");
                if points <= step {
                    break;
                }
            }
            assert!(1 < results[1], "{act:?}: {results:?}");
        }
    }
    crash::set_can_exchange(true);
}

#[test]
fn an_edit_or_a_failure_at_any_step_and_a_kill_at_any_later_one_lose_nothing() {
    let case = small();
    for first in [
        Failure::Fail,
        Failure::Other(ConcurrentChange::Edit("a".to_owned(), line(1))),
        Failure::Other(ConcurrentChange::Replace("d/gone".to_owned(), line(1))),
        Failure::Other(ConcurrentChange::Edit("PROJECT".to_owned(), line(1))),
        Failure::Other(ConcurrentChange::Move("e".to_owned(), MOVED.to_owned())),
    ] {
        let points = case.check(&vec![vec![]]).1;
        for step in 0..points {
            // Kills count only what changes the disk.
            for kill in (0..).step_by(3) {
                let ends = vec![(step, first.clone()), (kill, Failure::Kill)];
                if case.check(&vec![ends]).0.is_some() {
                    break;
                }
            }
        }
    }
}

#[test]
fn an_edit_through_a_file_that_was_opened_before_is_kept() {
    let dir = old();
    for step in 0.. {
        let dir = if step == 0 { &dir } else { &old() };
        let root = Root::new(dir.path()).expect("it is a folder");
        let changes = changes(&root);
        crash::set_other_program(dir.path(), Some("a"));
        let act = Failure::Other(ConcurrentChange::EditOpened(line(1)));
        let (done, _) = crash::run_with_failures(Some((step, act)), || root.write(&changes));
        let (points, last) = crash::step_counts();
        let is_done = done.expect("nobody killed it").is_ok();
        let is_kept = files(dir.path())["a"].contains("mine");
        // Afterwards, it is a file that nobody needs any more.
        assert!(is_kept || is_done && last <= step, "at {step}");
        if points <= step {
            break;
        }
    }
}

fn large() -> Case {
    fn fill(text: &str, of: fn(usize) -> bool) -> Plan {
        let mut plan = Plan::default();
        for at in (0..14).filter(|it| of(*it)) {
            let folder = ["", "d/", "d/inner/", "e/", "f/g/"][at % 5];
            plan.generate(path(&format!("{folder}{at}")), text.to_owned(), "x", "test");
        }
        plan.generate(path("a"), text.to_owned(), "x", "test");
        for it in ["d", "e", "f"] {
            plan.remove_stale(path(it), &[""], "test");
        }
        plan
    }
    Case::new(|| fill("old\n", |it| it % 3 != 0), || fill("new\n", |it| it % 4 != 1))
}

/// Draws stories from a fixed seed; as many as `FAULTS` says.
#[test]
fn random_faults_leave_the_old_project_or_the_new_one() {
    let case = large();
    let acts = acts(&case);
    let most = case.check(&vec![vec![]]).1;
    let rounds = option_env!("FAULTS").and_then(|it| it.parse().ok()).unwrap_or(150);
    let mut draw = draw();
    let mut results = [0; 3];
    for _ in 0..rounds {
        let mut story = Story::new();
        for run in 0..3 {
            let mut ends = Vec::new();
            for event in 0..=draw(2) {
                let line = format!("mine {run}{event}\n");
                let end = match (draw(5), acts[draw(acts.len() - 1)].clone()) {
                    (0, _) => Failure::Kill,
                    (1, _) => Failure::Fail,
                    (_, ConcurrentChange::Edit(at, _)) => {
                        Failure::Other(ConcurrentChange::Edit(at, line))
                    }
                    (_, ConcurrentChange::Replace(at, _)) => {
                        Failure::Other(ConcurrentChange::Replace(at, line))
                    }
                    // One of them at a time, so that it is known where everything should be.
                    (_, ConcurrentChange::Move(..)) => Failure::Fail,
                    (_, act) => Failure::Other(act),
                };
                ends.push((draw(most), end));
            }
            story.push(ends);
        }
        let (done, ..) = case.check(&story);
        results[done.map_or(0, |it| 1 + usize::from(it))] += 1;
    }
    assert!(results.iter().all(|it| rounds / 20 < *it), "{results:?}");
}

#[test]
fn changes_of_any_size_are_completed_or_refused_before_anything_is_written() {
    let write = |dir: &Path, files: usize, length: usize| {
        let root = Root::new(dir).expect("it is a folder");
        let mut plan = Plan::default();
        for at in 0..files {
            plan.scaffold(path(&format!("crds/{at}")), "x".repeat(length));
        }
        root.write(&plan.changes_against(&root, false).expect("no conflict"))
    };
    // Both are longer than a file that is read may be.
    for (files, length) in [(12, 1_500_000), (1, 17 << 20)] {
        let mut completed = 0;
        for kill in (0..).step_by(if files == 1 { 1 } else { 9 }) {
            let dir = tempfile::tempdir().expect("a folder");
            let run = || write(dir.path(), files, length).expect("it writes");
            if crash::run_with_failures(Some((kill, Failure::Kill)), run).0.is_some() {
                break;
            }
            if dir.path().join(journal::NAME).exists() {
                completed += 1;
                let root = Root::new(dir.path()).expect("it is a folder");
                assert!(root.recover_changes().expect("it recovers").is_some());
                let found = super::files(dir.path());
                assert!(found.len() == files && found.values().all(|it| it.len() == length));
            }
        }
        assert!(2 < completed, "{completed}");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let error = write(dir.path(), 2, 17 << 20).expect_err("it is too much");
    assert!(
        diagnostics::collect_hints(&error).join(" ").contains("nothing was written"),
        "{error:#}"
    );
    assert_eq!(super::files(dir.path()).len(), 0);
}
