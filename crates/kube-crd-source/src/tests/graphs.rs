//! Random graphs of modules, in which each name is what rustc takes it for, or is not answered.
//!
//! `CASES=500 SEED=3 cargo test -p kube-crd-source graphs` tries more of them.

#![allow(clippy::disallowed_methods, reason = "the test compiles what it has made up")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::names::look;
use super::{files, types_of};
use crate::names::Space;

/// A crate of another project: `kube` by its name, and by that known to the reader.
const ELSEWHERE: &str = "pub trait Id { const ID: u32; }
impl Id for String { const ID: u32 = 1; }
pub struct A; impl Id for A { const ID: u32 = 2; }
pub struct B; impl Id for B { const ID: u32 = 3; }
#[macro_export] macro_rules! make { ($($t:tt)*) => { $($t)* } }
";
const NAMES: [&str; 4] = ["A", "B", "C", "String"];
const MODULES: [&str; 5] = ["a", "b", "c", "d", "kube"];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from((self.0 >> 33) % u64::try_from(end).unwrap()).unwrap()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

#[derive(Default)]
struct Module {
    name: String,
    parent: usize,
    lines: Vec<String>,
}

/// All modules, a parent before its children; the first is the root.
struct Graph(Vec<Module>);

/// An answer of the reader: the path in a module, and the number of the type that it found.
struct Question {
    module: usize,
    path: String,
    id: u32,
}

impl Graph {
    fn random(random: &mut Random) -> Self {
        let mut res = Self(vec![Module::default()]);
        for _ in 0..2 + random.below(4) {
            let (parent, name) = (random.below(res.0.len()), random.of(&MODULES).to_owned());
            if res.0.iter().skip(1).all(|it| it.parent != parent || it.name != name) {
                res.0.push(Module { name, parent, lines: Vec::new() });
            }
        }
        let mut structs = 9;
        for at in 0..res.0.len() {
            for _ in 0..random.below(4) {
                structs += 1;
                let item = res.item(at, structs, random);
                res.0[at].lines.push(match random.below(6) {
                    0 => format!("::kube::make! {{ {item} }}"),
                    1 => format!("own! {{ {item} }}"),
                    2 if random.below(3) == 0 => "::kube::make!();".to_owned(),
                    _ => item,
                });
            }
        }
        res
    }

    fn item(&self, at: usize, id: u32, random: &mut Random) -> String {
        let vis = random.of(&["pub ", "pub ", "pub ", "pub(crate) ", ""]);
        let name = random.of(&NAMES);
        let (from, module) = (self.path(at, random), random.of(&MODULES));
        match random.below(8) {
            0 | 1 => format!(
                "{vis}struct {name}; impl ::kube::Id for {name} {{ const ID: u32 = {id}; }}"
            ),
            2 => format!("{vis}use {from}::{name};"),
            3 => format!("{vis}use {from}::{name} as {};", random.of(&NAMES)),
            4 => format!("{vis}use {from}::{module};"),
            5 if from.contains("::") => format!("{vis}use {from} as {module};"),
            _ => format!("{vis}use {from}::*;"),
        }
    }

    /// A path from one module to any.
    fn path(&self, at: usize, random: &mut Random) -> String {
        let to = random.below(self.0.len());
        match random.below(6) {
            0 => random.of(&MODULES).to_owned(),
            1 => format!("{}::{}", random.of(&MODULES), random.of(&MODULES)),
            2 if self.0[to].parent == at && to != 0 => format!("self::{}", self.0[to].name),
            3 if at != 0 => "super".to_owned(),
            _ => ["crate".to_owned()]
                .into_iter()
                .chain(self.parts(to))
                .collect::<Vec<_>>()
                .join("::"),
        }
    }

    fn parts(&self, module: usize) -> Vec<String> {
        let mut res = Vec::new();
        let mut at = module;
        while at != 0 {
            res.push(self.0[at].name.clone());
            at = self.0[at].parent;
        }
        res.reverse();
        res
    }

    /// The text, and for each question the number of its line.
    fn text(&self, questions: &[Question]) -> (String, Vec<usize>) {
        let mut text = "macro_rules! own { ($($t:tt)*) => { $($t)* } }\nfn main() {}\n".to_owned();
        let mut lines = vec![0; questions.len()];
        self.write(0, questions, &mut text, &mut lines);
        (text, lines)
    }

    fn write(&self, at: usize, questions: &[Question], into: &mut String, lines: &mut [usize]) {
        self.0[at].lines.iter().for_each(|it| writeln!(into, "{it}").unwrap());
        for (question, line) in questions.iter().zip(lines.iter_mut()) {
            if question.module == at {
                let Question { path, id, .. } = question;
                writeln!(into, "const _: () = assert!(<{path} as ::kube::Id>::ID == {id});")
                    .unwrap();
                *line = into.lines().count();
            }
        }
        for (child, it) in self.0.iter().enumerate().skip(1).filter(|it| it.1.parent == at) {
            writeln!(into, "pub mod {} {{", it.name).unwrap();
            self.write(child, questions, into, lines);
            writeln!(into, "}}").unwrap();
        }
    }

    /// What the reader answers for certain.
    fn questions(&self) -> Vec<Question> {
        let text = self.text(&[]).0;
        let world = types_of(&files(&[("src/main.rs", &text)]), None, &mut Vec::new());
        let mut res = Vec::new();
        for module in 0..self.0.len() {
            let from = [vec!["project".to_owned()], self.parts(module)].concat().join("::");
            let fronts = [""].into_iter().chain(MODULES);
            for (front, name) in fronts.flat_map(|it| NAMES.map(|name| (it, name))) {
                let path =
                    if front.is_empty() { name.to_owned() } else { format!("{front}::{name}") };
                if let Some(id) = id_of(&look(&world, &from, &path, Space::Types), &text) {
                    res.push(Question { module, path, id });
                }
            }
        }
        res
    }
}

/// The number of what the reader found; none where nothing is certain.
fn id_of(found: &str, text: &str) -> Option<u32> {
    match found {
        "::std::string::String" => return Some(1),
        "::kube::A" => return Some(2),
        "::kube::B" => return Some(3),
        "::kube::String" | "::kube::C" => return Some(0),
        _ => {}
    }
    let parts: Vec<&str> = found.strip_prefix("project::")?.split("::").collect();
    let (name, modules) = parts.split_last()?;
    let mut open: Vec<&str> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("pub mod ").and_then(|it| it.strip_suffix(" {")) {
            Some(module) => open.push(module),
            None if line == "}" => drop(open.pop()),
            None if open == modules
                && line.contains(&format!("struct {name};"))
                && !line.contains('!') =>
            {
                let (_, id) = line.split_once("ID: u32 = ")?;
                return id.split(';').next()?.parse().ok();
            }
            None => {}
        }
    }
    None
}

/// What rustc says of a text, each error as `<file>:<line>:<column>: error[<code>]`.
fn compile(folder: &Path, text: &str) -> Vec<(usize, String)> {
    let path = folder.join("main.rs");
    fs::write(&path, text).unwrap();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition=2024", "--emit=metadata", "--error-format=short", "-Awarnings"]);
    command.arg(format!("--extern=kube={}", folder.join("libkube.rlib").display()));
    let output = command.arg("--out-dir").arg(folder).arg(&path).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines = errors.lines().filter(|it| it.contains(": error"));
    let lines = lines.filter_map(|it| {
        let line = it.rsplit_once("main.rs:")?.1.split(':').next()?.parse().ok()?;
        Some((line, it.to_owned()))
    });
    let res: Vec<_> = lines.collect();
    assert!(output.status.success() || !res.is_empty(), "{errors}");
    res
}

fn folder() -> PathBuf {
    let folder = env::temp_dir().join(format!("kube-crd-source-graphs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("kube.rs"), ELSEWHERE).unwrap();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition=2024", "--crate-type=rlib", "--crate-name=kube", "--out-dir"]);
    let status = command.arg(&folder).arg(folder.join("kube.rs")).status().unwrap();
    assert!(status.success());
    folder
}

#[test]
fn what_is_answered_of_random_graphs_is_what_rustc_finds() {
    let number = |name: &str, or: u64| env::var(name).map_or(or, |it| it.parse().unwrap());
    let (cases, mut random) = (number("CASES", 10), Random(number("SEED", 1)));
    let folder = folder();
    let (mut tried, mut answers, mut wrong) = (0, 0, Vec::new());
    while tried < cases {
        let graph = Graph::random(&mut random);
        let mut questions = graph.questions();
        if questions.is_empty() || !compile(&folder, &graph.text(&[]).0).is_empty() {
            continue;
        }
        tried += 1;
        loop {
            let (text, lines) = graph.text(&questions);
            let errors = compile(&folder, &text);
            let is_wrong = |it: &&(usize, String)| it.1.contains("E0080");
            // What no name resolves leaves nothing for rustc to evaluate.
            if errors.iter().all(|it| is_wrong(&it)) || questions.is_empty() {
                answers += questions.len();
                wrong.extend(errors.iter().map(|it| format!("{}\n{text}", it.1)));
                break;
            }
            let before = questions.len();
            let mut lines = lines.iter();
            questions.retain(|_| {
                let line = lines.next().unwrap();
                errors.iter().all(|it| it.0 != *line)
            });
            assert!(questions.len() < before, "{errors:?}\n{text}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(tried * 2 < answers as u64, "only {answers} answers");
    assert!(wrong.is_empty(), "{} of {answers} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
