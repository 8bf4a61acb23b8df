//! Compiles all cases in one program, reads each alone, and compares.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kube_crd_source::{Options, Reading, SourcePath};
use serde_json::Value;

use super::Case;
use super::plants::Effect;
use crate::oracle::{self, Version};
use crate::support;

const QUIET: &str =
    "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n";
/// The fields of one kind of the compiled program.
const FIELDS: usize = 50;

const ROOT_KIND: &str = "#[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]\n#[kube(group = \"example.com\", version = \"v1\", kind = \"KIND\")]\npub struct KINDSpec {\n";

const BUILD: &str = "fn main() {
    println!(\"cargo::rerun-if-changed=made\");
    let out = std::path::PathBuf::from(std::env::var(\"OUT_DIR\").unwrap());
    for file in std::fs::read_dir(\"made\").into_iter().flatten() {
        let file = file.unwrap();
        std::fs::copy(file.path(), out.join(file.file_name())).unwrap();
    }
}
";

/// Everything but the cases.
fn frame() -> BTreeMap<String, String> {
    let mut files = Version::find("5.0.0").frame();
    for (path, text) in [
        ("build.rs", BUILD),
        ("mangle/src/lib.rs", include_str!("mangle.rs")),
        ("shared/src/lib.rs", include_str!("shared.rs")),
        ("beside/src/lib.rs", ""),
    ] {
        files.insert(path.to_owned(), text.to_owned());
    }
    files
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Crate {
    Library,
    Binary,
}

/// A kind with a field for each case.
fn kind<'a>(name: &str, cases: impl Iterator<Item = &'a Case>) -> String {
    let fields = cases.map(|case| format!("    pub k{0}: k{0}::Part,\n", case.number));
    format!("{}{}}}\n", ROOT_KIND.replace("KIND", name), fields.collect::<String>())
}

/// The roots of all crates for these cases, and their files.
fn project(cases: &[(&Case, Crate)], main: &str) -> BTreeMap<String, String> {
    let mut files = frame();
    let (mut library, mut binary) = (QUIET.to_owned(), QUIET.to_owned());
    let roots: BTreeSet<(bool, &str)> =
        cases.iter().map(|(case, place)| (*place == Crate::Library, case.root.as_str())).collect();
    for (is_library, root) in roots {
        writeln!(if is_library { &mut library } else { &mut binary }, "{root}").unwrap();
    }
    for (case, place) in cases {
        let number = case.number;
        let root = if *place == Crate::Library { &mut library } else { &mut binary };
        writeln!(root, "pub mod k{number};").unwrap();
        if case.needs_library {
            writeln!(library, "pub mod p{number};").unwrap();
        }
        for (path, text) in &case.files {
            files.insert(path.clone(), text.clone());
            for krate in ["shared", "beside"] {
                if path == &format!("{krate}/src/k{number}.rs") {
                    let root = files.get_mut(&format!("{krate}/src/lib.rs")).unwrap();
                    writeln!(root, "pub mod k{number};").unwrap();
                }
            }
        }
    }
    for (root, place) in [(&mut library, Crate::Library), (&mut binary, Crate::Binary)] {
        let cases: Vec<&Case> = cases.iter().filter(|it| it.1 == place).map(|it| it.0).collect();
        let letter = if place == Crate::Library { "L" } else { "B" };
        for (index, cases) in cases.chunks(FIELDS).enumerate() {
            *root += &kind(&format!("{letter}{index}"), cases.iter().copied());
        }
    }
    let is_library = |it: &(&Case, Crate)| it.1 == Crate::Library || it.0.needs_library;
    if cases.iter().any(is_library) {
        files.insert("src/lib.rs".to_owned(), library);
    }
    files.insert("src/main.rs".to_owned(), binary + main);
    files
}

/// Where a case is compiled.
fn compiled_in(case: &Case) -> Crate {
    if case.number.is_multiple_of(2) && !case.needs_library {
        Crate::Library
    } else {
        Crate::Binary
    }
}

/// Where a case is read: in both crates with `EXHAUSTIVE`, otherwise in one of them by turns.
fn read_in(case: &Case) -> Vec<Crate> {
    let both = [Crate::Library, Crate::Binary];
    let is_exhaustive = std::env::var_os("EXHAUSTIVE").is_some();
    let is_read = |place: &Crate| match place {
        Crate::Library if case.needs_library => false,
        Crate::Binary if case.needs_library => true,
        place => is_exhaustive || (case.number / 2).is_multiple_of(2) == (*place == Crate::Library),
    };
    both.into_iter().filter(is_read).collect()
}

/// The schema of each case's `Part`, as kube prints it; none for a case that does not compile.
fn printed(cases: &[Case]) -> (BTreeMap<usize, Value>, BTreeMap<usize, String>) {
    let _one = oracle::one_workspace();
    let dir = support::fresh("places");
    let mut failed: BTreeMap<usize, String> = BTreeMap::new();
    loop {
        let left: Vec<(&Case, Crate)> = { cases.iter() }
            .filter(|case| !failed.contains_key(&case.number))
            .map(|case| (case, compiled_in(case)))
            .collect();
        let count = |place| left.iter().filter(|it| it.1 == place).count().div_ceil(FIELDS);
        let kinds = (0..count(Crate::Library)).map(|index| format!("differential::L{index}"));
        let kinds = kinds.chain((0..count(Crate::Binary)).map(|index| format!("B{index}")));
        let print = |kind: String| {
            format!(
                "    println!(\"{{}}\", serde_json::to_value(<{kind} as kube::CustomResourceExt>::crd()).unwrap());\n"
            )
        };
        let main = format!("fn main() {{\n{}}}\n", kinds.map(print).collect::<String>());
        for folder in ["src", "shared/src", "beside/src", "made"] {
            let _ = std::fs::remove_dir_all(dir.join(folder));
        }
        oracle::write(&dir, &project(&left, &main));
        let more = oracle::build(&dir, number_of_file);
        if more.is_empty() {
            break;
        }
        failed.extend(more);
    }
    let output = oracle::cargo(&dir, &["run", "--quiet", "--locked"]);
    assert!(output.status.success(), "{}", support::said(&output));
    let mut schemas = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let crd: Value = serde_json::from_str(line).unwrap();
        for (name, schema) in fields_of(&crd) {
            schemas.insert(name.trim_start_matches('k').parse().unwrap(), schema.clone());
        }
    }
    (schemas, failed)
}

/// The case that a file is of: the last number in its path.
fn number_of_file(path: &str) -> Option<usize> {
    let digits = |c: char| !c.is_ascii_digit();
    path.rsplit(digits).find(|digits| !digits.is_empty())?.parse().ok()
}

fn fields_of(crd: &Value) -> &serde_json::Map<String, Value> {
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"]["properties"].as_object().expect("a kind has fields")
}

/// What the reader makes of a case in one of the crates.
fn read(case: &Case, place: Crate) -> Reading {
    let files = project(&[(case, place)], "fn main() {}\n");
    let path = |path: String| path.parse::<SourcePath>().expect("a path in the project");
    let files: BTreeMap<SourcePath, String> =
        files.into_iter().map(|(name, text)| (path(name), text)).collect();
    kube_crd_source::stack::with_room(|| kube_crd_source::read(&files, &Options::default()))
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Equal,
    Refused,
    Doubted,
    Different,
    Vanished,
}

fn verdict(case: &Case, reading: &Reading, expected: &Value) -> (Verdict, String) {
    let is_doubted = !reading.unexplored.is_empty()
        || !reading.unread.is_empty()
        || !reading.unknown_macros.is_empty();
    if case.plant.effect == Effect::Kind {
        let is_read = reading.kinds.iter().any(|kind| kind.kind.as_deref() == Some("Planted"));
        match (is_read, is_doubted) {
            _ if !case.is_there => {}
            (true, _) => {}
            (false, true) => return (Verdict::Doubted, String::new()),
            (false, false) => return (Verdict::Vanished, "the kind is not there".to_owned()),
        }
    }
    let is_root = |kind: &&kube_crd_source::Kind| {
        kind.kind.as_deref().is_some_and(|kind| kind == "L0" || kind == "B0")
    };
    let Some(kind) = reading.kinds.iter().find(is_root) else {
        return (Verdict::Vanished, "the kind of the root is not there".to_owned());
    };
    match &kind.crd {
        Err(problems) => (Verdict::Refused, problems.iter().map(|it| format!("{it}\n")).collect()),
        Ok(crd) => {
            let crd = serde_json::to_value(crd).unwrap();
            let found = &fields_of(&crd)[&format!("k{}", case.number)];
            if found == expected {
                return (Verdict::Equal, String::new());
            }
            (Verdict::Different, format!("expected {expected}\nfound    {found}"))
        }
    }
}

pub fn judge(cases: &[Case]) {
    let (schemas, failed) = printed(cases);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(expected) = schemas.get(&case.number) else { continue };
            for place in read_in(case) {
                let verdict = verdict(case, &read(case, place), expected);
                found.lock().unwrap().push((case, place, verdict));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|it| (it.0.number, it.1 == Crate::Binary));
    let mut count: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut wrong = String::new();
    for (case, place, (verdict, why)) in &found {
        *count.entry(*verdict).or_default() += 1;
        if matches!(verdict, Verdict::Different | Verdict::Vanished) {
            let place = if *place == Crate::Library { "library" } else { "binary" };
            writeln!(wrong, "k{} {} in a {place}: {verdict:?}\n{why}", case.number, case.name)
                .unwrap();
        }
    }
    for case in cases.iter().filter(|case| failed.contains_key(&case.number)) {
        let (number, name) = (case.number, &case.name);
        writeln!(wrong, "k{number} {name} does not compile: {}", failed[&number]).unwrap();
    }
    println!("{} cases: {count:?}", cases.len());
    assert!(wrong.is_empty(), "{wrong}");
}
