//! Single facts: what kustomize makes of one field, one directive, one odd value. Each is in `facts.txt`, below a
//! line `#### name`; where we refuse what kustomize renders, the name ends in `(refused: our words)`.

use std::collections::BTreeMap;

use super::{
    case::{Case, Verdict},
    support,
};

#[test]
fn single_facts_are_rendered_as_kustomize_renders_them() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let dir = support::fresh("kustomize/facts");
    let only = std::env::var("FACT").unwrap_or_default();
    let mut wrong = Vec::new();
    let mut names = BTreeMap::new();
    for fact in include_str!("facts.txt").split("\n#### ").skip(1) {
        let (name, text) = fact.split_once('\n').unwrap();
        assert!(names.insert(name, ()).is_none(), "two facts are called `{name}`");
        if !name.contains(&only) {
            continue;
        }
        let (name, refusal) = match name.split_once(" (refused: ") {
            Some((name, words)) => (name, words.strip_suffix(')')),
            None => (name, None),
        };
        let case = Case::parse(&format!("{text}\n{}", include_str!("objects.txt")));
        let verdict = case.run(&kustomize, &dir, "");
        let right = match (&verdict, refusal) {
            (Verdict::Equal | Verdict::Refused(_), None) => true,
            (Verdict::OurRefusal(error), Some(words)) => error.contains(words),
            _ => false,
        };
        if !right {
            wrong.push(format!("{name}: {verdict}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
