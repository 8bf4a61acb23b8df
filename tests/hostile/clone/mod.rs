//! A project that somebody else has prepared: no command in any mode touches what is outside of it,
//! hangs or panics; a mode that only looks changes nothing; a command that fails has changed nothing.

mod case;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use case::{Case, faults_of, title};

use crate::{
    commands::{LINES, MODES},
    random::Random,
    tricks::{self, Trick},
};

/// How many cases of each family are run where `HOSTILE` is neither `all` nor another number.
const SAMPLE: usize = 12;
const SEED: u64 = 20_260_729;

/// The tricks; two of the first five families may be played at once.
const FAMILIES: &[fn() -> Vec<Trick>] = &[
    tricks::links::of_files,
    tricks::links::of_folders,
    tricks::files::all,
    tricks::journals::all,
    tricks::project::all,
    tricks::cargo::all,
    tricks::kustomize::all,
    tricks::names::all,
    tricks::source::all,
    tricks::bounds::all,
];

/// What is run in every sample: the ways in which a clone would do the most harm.
const ALWAYS: &[&str] = &[
    "PROJECT is followed by a temporary file that is a link: operator-rs create api --group shop --kind Fourth ",
    "a temporary file for each file is a link: operator-rs generate ",
    "a temporary file for each file is a link: operator-rs manifests --check",
    "a journal that would remove as temporary \"../victim/bashrc\": operator-rs manifests ",
    "a journal that would remove as temporary \"../victim/bashrc\": operator-rs manifests --check",
    "a journal that would replace \".git/hooks/post-checkout\": operator-rs generate ",
    "a journal that would replace \".git/hooks/post-checkout\": operator-rs deploy --timeout 2s --dry-run",
    "a journal that would replace the known \"linked/bashrc\": operator-rs init --domain example.com ",
    "a CRD is a link to the role: operator-rs manifests ",
    "a CRD is a link to the role: operator-rs manifests --force",
    "config/rbac/role.yaml is a link to the same file of another project: operator-rs manifests ",
    "config/rbac/role.yaml is a second name of another project's file: operator-rs manifests ",
    "config/rbac/role.yaml is a link to a hand-written file: operator-rs manifests --force",
    "config/crd/bases/ is a link to the same folder of another project: operator-rs manifests ",
    "vendor/operator-rs-runtime/src/ is a link upwards to another project: operator-rs generate ",
    "bundle/ is a link to the same folder of another project: operator-rs bundle --image quay.io/example/other:v0.0.2 ",
    "deploy/ is a link to an empty folder outside: operator-rs generate crds --output-dir deploy/crds ",
    "deploy/install.yaml is a link to a key: operator-rs generate installer --output-file deploy/install.yaml --force",
    "target/ is a link to an empty folder outside: operator-rs manifests --compile --check",
    "target/operator-rs/ is a link upwards to another project: operator-rs generate crds --compile ",
    "target/operator-rs/ is a link to the home: operator-rs manifests --compile ",
    "config/rbac/backup.yaml is a copy of a generated file: operator-rs manifests --force",
    "config/crd/bases/backup.yaml is a copy of a generated file: operator-rs manifests ",
    "PROJECT is a FIFO: operator-rs manifests --check",
    "PROJECT is a link to /dev/zero: operator-rs manifests ",
    "PROJECT has a terabyte: operator-rs manifests ",
    "PROJECT cannot be read: operator-rs manifests ",
    "src/ has a FIFO more: operator-rs manifests ",
    "PROJECT has \"\\u{1b}[2J\\u{7}\" as kind: operator-rs manifests ",
    "Cargo.toml is a link to a key: operator-rs generate crds ",
    "a field has \"#[doc = include_str!(\\\"../../../../../home/.ssh/id_ed25519\\\")]\": operator-rs generate crds ",
    "api/ is a link to the folder that it is in: operator-rs generate crds ",
    "api/src/cache/ is a link to the root of the disk: operator-rs manifests --check",
    "config/crd/bases/ is a link to .git: operator-rs manifests ",
    "the type's file has many comments: operator-rs manifests ",
    "the type's file has many wrong RBAC comments: operator-rs manifests ",
    "a kustomization has many unknown keys: operator-rs generate installer ",
    "a CRD has many fields that are gone: operator-rs crds diff config/crd/bases ",
    "the type's file has many imports of a name: operator-rs manifests ",
    "kustomizations that double: operator-rs generate installer ",
    "a kind has plural = \"../../../victim/bashrc\": operator-rs manifests ",
];

#[test]
fn links_in_place_of_files_lead_no_command_out_of_the_project() {
    judge("links of files", tricks::links::of_files());
}

#[test]
fn links_in_place_of_folders_lead_no_command_out_of_the_project() {
    judge("links of folders", tricks::links::of_folders());
}

#[test]
fn pipes_sockets_and_unreadable_files_stop_no_command() {
    judge("special files", tricks::files::all());
}

#[test]
fn a_journal_that_somebody_else_wrote_is_not_obeyed() {
    judge("journals", tricks::journals::all());
}

#[test]
fn a_project_file_of_strange_values_is_refused_or_read() {
    judge("PROJECT", tricks::project::all());
}

#[test]
fn manifests_and_configuration_of_cargo_lead_no_command_out_of_the_project() {
    judge("cargo", tricks::cargo::all());
}

#[test]
fn kustomizations_lead_no_command_out_of_the_project() {
    judge("kustomize", tricks::kustomize::all());
}

#[test]
fn names_that_are_hard_to_print_are_escaped() {
    judge("names", tricks::names::all());
}

#[test]
fn source_and_bundles_of_strange_text_are_refused_or_read() {
    judge("source", tricks::source::all());
}

#[test]
fn source_that_grows_when_it_is_followed_stops_no_command() {
    judge("bounds", tricks::bounds::all());
}

#[test]
fn two_combined_tricks_do_no_harm() {
    let mut random = Random::new(SEED);
    let mut pairs = Vec::new();
    for _ in 0..20 {
        let mut families: Vec<Vec<Trick>> = FAMILIES[..5].iter().map(|it| it()).collect();
        let first = random.below(families.len());
        let second = (first + 1 + random.below(families.len() - 1)) % families.len();
        for _ in 0..10 {
            let mut draw = |of: usize| {
                let family = &mut families[of];
                let at = random.below(family.len());
                family.swap_remove(at)
            };
            let (first, second) = (draw(first), draw(second));
            pairs.push(first.and(second));
        }
    }
    judge("pairs", pairs);
}

#[test]
fn every_case_in_always_exists() {
    let tricks: Vec<Trick> = FAMILIES.iter().flat_map(|it| it()).collect();
    let titles: BTreeSet<String> = cases(&tricks).iter().map(title).collect();
    for it in ALWAYS {
        assert!(titles.contains(*it), "there is no case `{it}`");
    }
    eprintln!("{} tricks, {} cases", tricks.len(), titles.len());
}

/// Each trick with the commands that it concerns, in every mode.
fn cases(tricks: &[Trick]) -> Vec<Case<'_>> {
    let mut res = Vec::new();
    for trick in tricks {
        for line in LINES.iter().filter(|it| it.touches(&trick.place)) {
            res.extend(MODES.iter().map(|mode| (trick, line, *mode)));
        }
    }
    res
}

/// Runs the cases of a family: all of them, or a sample that is the same in every run.
fn judge(family: &str, tricks: Vec<Trick>) {
    let wanted = std::env::var("HOSTILE").unwrap_or_default();
    let only = std::env::var("HOSTILE_ONLY").unwrap_or_default();
    let mut cases = cases(&tricks);
    cases.retain(|it| title(it).contains(&only));
    let total = cases.len();
    if wanted != "all" && only.is_empty() {
        let always = cases.iter().filter(|it| ALWAYS.contains(&title(it).as_str())).copied();
        let mut some: Vec<Case<'_>> = always.collect();
        some.extend(sample(family, &cases, wanted.parse().unwrap_or(SAMPLE)));
        cases = some;
    }
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = faults_of(case);
                    if !found.is_empty() {
                        let line = format!("{}\n    {}", title(case), found.join("\n    "));
                        faults.lock().expect("nobody panics with it").push(line);
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().expect("nobody panics with it");
    faults.sort();
    eprintln!("{family}: {} of {total} cases, {} failed", cases.len(), faults.len());
    let name = format!("hostile-{}.txt", family.replace(' ', "-"));
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&report, faults.join("\n")).expect("target/tmp can be written");
    assert!(
        faults.is_empty(),
        "{} of {} cases failed; the first ones of {}:\n{}",
        faults.len(),
        cases.len(),
        report.display(),
        faults.iter().take(10).cloned().collect::<Vec<_>>().join("\n")
    );
}

/// About as many cases as are wanted, from the whole of the list.
fn sample<'a>(family: &str, all: &[Case<'a>], wanted: usize) -> Vec<Case<'a>> {
    let mut random = Random::of(SEED, family);
    let stride = (all.len() / wanted.max(1)).max(1);
    let mut at = random.below(stride);
    let mut res = Vec::new();
    while let Some(case) = all.get(at) {
        res.push(*case);
        at += 1 + random.below(2 * stride - 1);
    }
    assert!(!res.is_empty(), "there is nothing to run in {family}");
    res
}
