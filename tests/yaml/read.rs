//! Texts read by us and by Go.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    author,
    go::{self, READERS, Verdict},
    random::Random,
    support,
};

#[test]
fn random_documents() {
    let Some(tool) = support::tool("go-yaml") else { return };
    let (seed, cases) = (number("SEED", 1), number("CASES", 600));
    eprintln!("SEED={seed} CASES={cases}");
    let texts: Vec<String> = (0..cases).map(|case| author::text(&mut of(seed, case))).collect();
    let refused = check(&tool, &texts);
    let most = cases * 5 * 3 / 100;
    assert!(refused as u64 <= most, "we alone refuse {refused}: more than {most}");
}

/// Files as people write them, with a few signs changed.
#[test]
fn changed_files() {
    let Some(tool) = support::tool("go-yaml") else { return };
    let (seed, cases) = (number("SEED", 1), number("CASES", 600) / 3);
    let mut files = files(&support::home().join("tests/kustomize"));
    files.extend(self::files(&support::home().join("examples")));
    assert!(100 < files.len(), "{} files are too few", files.len());
    let change = |case| {
        let mut random = of(seed, case);
        let file = random.pick(&files).clone();
        author::mangle(&mut random, &file)
    };
    check(&tool, &(0..cases).map(change).collect::<Vec<_>>());
}

#[test]
fn troublesome_scalars_are_read_as_go_reads_them() {
    let Some(tool) = support::tool("go-yaml") else { return };
    let mut texts = Vec::new();
    for scalar in author::PLAIN.iter().chain(crate::TRICKY) {
        for (before, after) in
            [("a: ", ""), ("- ", ""), ("a: [", "]"), ("a: {b: ", "}"), ("", ": b")]
        {
            texts.push(format!("{before}{scalar}{after}\n"));
        }
        for tag in author::TAGS {
            texts.push(format!("a: {tag} {scalar}\nb: {tag} '{}'\n", scalar.replace('\'', "''")));
        }
    }
    check(&tool, &texts);
}

#[test]
#[ignore = "by hand: TEXTS names a folder of texts"]
fn texts_of_a_folder() {
    let Some(tool) = support::tool("go-yaml") else { return };
    let folder = env::var_os("TEXTS").expect("TEXTS names a folder");
    check(&tool, &files(Path::new(&folder)));
}

/// The YAML files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    let files = files.map(|it| it.expect("the folder can be listed").into_path());
    let is_yaml = |it: &PathBuf| it.extension().is_some_and(|it| it == "yaml" || it == "yml");
    files.filter(is_yaml).filter_map(|it| fs::read_to_string(it).ok()).collect()
}

/// Fails where a text is wrong, with the least that is; says what only we refuse, and how often.
fn check(tool: &Path, texts: &[String]) -> usize {
    let verdicts = go::compare(tool, texts);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut refused = 0;
    for (text, verdicts) in texts.iter().zip(verdicts) {
        for reader in READERS {
            let verdict = &verdicts[reader];
            let kind = format!("{verdict:?}");
            *counts.entry(kind.split('(').next().unwrap_or_default().to_owned()).or_default() += 1;
            if let Verdict::OnlyWeRefuse(why) = verdict {
                // Go leaves a second document out, and we do not.
                refused += usize::from(!why.contains("a second document"));
                let class: String = why.split(" at line ").next().unwrap_or_default().to_owned();
                let class = class.split('`').step_by(2).collect::<Vec<_>>().join("…");
                *counts.entry(format!("  {reader}: {class}")).or_default() += 1;
                if env::var_os("SHOW").is_some_and(|it| class.contains(&*it.to_string_lossy())) {
                    eprintln!("{why}:\n{text}");
                }
            }
            if verdict.is_wrong() {
                wrong.push((reader, text));
            }
        }
    }
    for (kind, count) in &counts {
        eprintln!("{count:7} {kind}");
    }
    let most = number("WRONG", 3) as usize;
    let shown: Vec<String> = wrong
        .iter()
        .take(most)
        .map(|(reader, text)| {
            let text = go::shrink(tool, text, reader);
            let verdict = &go::compare(tool, std::slice::from_ref(&text))[0][reader];
            format!("{reader}: {text:?}\n  {verdict:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), shown.join("\n"));
    refused
}

fn of(seed: u64, case: u64) -> Random {
    Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ case << 20)
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |it| it.parse().expect("it is a number"))
}
