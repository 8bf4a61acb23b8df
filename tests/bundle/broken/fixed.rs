//! Broken bundles after `--fix`: operator-sdk finds no more in them than before, and a second run changes nothing.

use super::{Break, File, Files, Random, SUITE, breaks, good, json, oracle, put};
use crate::support;

#[test]
fn a_fix_never_makes_a_bundle_worse() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |it| it.parse().expect("a number"))
    };
    let (seed, cases) = (number("SEED", 1), number("CASES", 20));
    let good = slightly_wrong(good("broken-fixed-good"));
    let dir = support::fresh("broken-fixed");
    let names: Vec<String> = (0..cases).map(|it| format!("bundle-{it}")).collect();
    for (case, name) in names.iter().enumerate() {
        let mut random = Random::of(seed, &format!("fix {case}"));
        let breaks: Vec<Break> = (0..random.below(3)).map(|_| Break::random(&mut random)).collect();
        put(&good, &breaks, &dir.join(name));
    }
    let before = oracle::theirs(&dir, &names, SUITE);
    let mut changed = 0;
    for name in &names {
        let fix = || {
            let words = ["bundle", "validate", "--fix", name, "--select-optional", SUITE];
            support::command(support::BINARY, &dir).args(words).output().expect("it starts")
        };
        let tree = |_: ()| support::tree(&dir.join(name));
        let (broken, first) = (tree(()), fix());
        let fixed = tree(());
        changed += u64::from(broken != fixed);
        let second = fix();
        assert_eq!(first.status, second.status, "{name}: {}", support::said(&second));
        assert_eq!(tree(()), fixed, "{name}");
        assert!(!support::said(&second).contains("fixed "), "{name}");
    }
    assert!(cases / 3 < changed, "{changed} of {cases} were fixed: too few");
    let Some(before) = before else { return };
    let after = oracle::theirs(&dir, &names, SUITE).expect("it was there before");
    for ((name, before), after) in names.iter().zip(before).zip(after) {
        assert!(after.passed || !before.passed, "{name}: {:?}", after.messages);
        let is_fatal = |it: &oracle::Verdict| it.messages.len() == 1;
        let errors =
            |it: &oracle::Verdict| it.messages.iter().filter(|it| it.starts_with("error ")).count();
        // Where it could read nothing before, it may find anything now.
        assert!(
            errors(&after) <= errors(&before) || is_fatal(&before),
            "{name}: {:?}",
            after.messages
        );
    }
}

/// The good bundle with faults that can be fixed.
fn slightly_wrong(mut files: Files) -> Files {
    let changes = [
        (breaks::CSV, "/spec/minKubeVersion", json!("1.33")),
        (breaks::CSV, "/metadata/annotations/capabilities", json!("basic install")),
        (breaks::CSV, "/metadata/annotations/categories", json!("database, Logging and tracing")),
        (breaks::CSV, "/metadata/annotations/olm.skiprange", json!("<0.0.1")),
        (breaks::MAP, "/metadata/namespace", json!("a")),
        (breaks::CRD, "/metadata/namespace", json!("a")),
    ];
    for (file, pointer, value) in changes {
        if let Some(File::Data(data)) = files.get_mut(file) {
            breaks::set(data, pointer, &value);
        }
    }
    files.insert("metadata/empty.yaml".to_owned(), File::Bytes(Vec::new()));
    let copy = files.get(breaks::CRD).cloned();
    files.extend(copy.map(|it| ("manifests/copy-of-crd.yaml".to_owned(), it)));
    files
}
