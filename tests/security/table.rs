//! The table of SECURITY.md.

use std::{collections::BTreeSet, fmt};

use crate::support;

/// A command, perhaps with flags that have it do more, and what is said of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub command: String,
    pub flags: Vec<String>,
    pub claim: Claim,
    /// Whether it may run code of the project: what it names of programs, and its last cell.
    pub runs_code: [bool; 2],
}

/// What a command does, as far as it concerns others than the project.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub programs: BTreeSet<String>,
    pub network: BTreeSet<String>,
    pub writes: BTreeSet<String>,
}

impl Claim {
    pub fn add(&mut self, other: Self) {
        self.programs.extend(other.programs);
        self.network.extend(other.network);
        self.writes.extend(other.writes);
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.command)?;
        self.flags.iter().try_for_each(|it| write!(f, " {it}"))
    }
}

/// The words of the cells, besides names of programs. Text in brackets explains one.
const PROGRAMS: &[&str] = &["programs of your kubeconfig", "credential helpers", TESTS];
const NETWORK: &[&str] = &["cluster", "registries", "GitHub"];
const WRITES: &[&str] = &["project", "target directory", "output", CACHE, CLUSTER];
/// These need a server that answers.
const TESTS: &str = "your tests";
const CACHE: &str = "cache";
const CLUSTER: &str = "cluster";

pub fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(support::home().join("SECURITY.md")).expect("it is there");
    let (_, table) = text.split_once("\n| Command |").expect("the table has this column");
    let lines = table.lines().skip(2).take_while(|it| it.starts_with('|'));
    lines.flat_map(row).collect()
}

fn row(line: &str) -> Vec<Row> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [commands, programs, network, writes, clone] = cells[..] else {
        panic!("five cells: {line}")
    };
    assert!(["safe", "**not safe**"].contains(&clone), "{line}");
    let each = commands.split('`').skip(1).step_by(2);
    let of = |command: &str| {
        let is_flag = |it: &&str| it.starts_with('-') || it.chars().all(char::is_uppercase);
        let words: Vec<&str> = command.split(' ').collect();
        let end = words.iter().position(is_flag).unwrap_or(words.len());
        let mut programs = claims(programs, PROGRAMS);
        let code = ["cargo", TESTS].iter().any(|it| programs.contains(*it));
        programs.remove(TESTS);
        let mut writes = claims(writes, WRITES);
        writes.retain(|it| it != CACHE && it != CLUSTER);
        Row {
            command: words[..end].join(" "),
            flags: words[end..].iter().map(ToString::to_string).collect(),
            claim: Claim { programs, network: claims(network, NETWORK), writes },
            runs_code: [code, clone != "safe"],
        }
    };
    each.map(of).collect()
}

/// The items of a cell. Text in brackets explains one.
fn claims(cell: &str, phrases: &[&str]) -> BTreeSet<String> {
    let without_brackets: String =
        cell.split(" (").map(|it| it.split_once(')').map_or(it, |it| it.1)).collect();
    let items = without_brackets.split(", ");
    let items = items.filter(|it| *it != "none");
    let name = |it: &str| {
        let is_name = it.starts_with('`') && phrases == PROGRAMS;
        assert!(is_name || phrases.contains(&it), "`{it}` in a cell says nothing");
        it.trim_matches('`').to_owned()
    };
    items.map(name).collect()
}

/// The row with the most flags among those that a run has.
pub fn row_of<'r>(rows: &'r [Row], words: &str) -> Option<&'r Row> {
    let has = |row: &&Row| {
        let rest = words.strip_prefix(&row.command);
        rest.is_some_and(|rest| {
            (rest.is_empty() || rest.starts_with(' '))
                && row.flags.iter().all(|flag| rest.split(' ').any(|it| it == flag))
        })
    };
    rows.iter().filter(has).max_by_key(|it| (it.command.len(), it.flags.len()))
}
